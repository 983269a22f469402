/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "job_traffic.h"
#include "options.h"
#include "routing/routing.h"
#include "site/record.h"
#include "site/state.h"
#include "site_files.h"
#include "traffic/traffic.h"

/* Links shown by --links. */
#define BUSIEST 20

struct options {
	const char *state_dir, *config, *network, *state_out;
	bool json, links;
};

struct picture {
	const struct cpl_config *config; /* may be NULL */
	struct cpl_state state;
	char **left_out; /* [n_jobs] why a job is not in the load, or NULL */
	int skipped;
	struct cpl_network *net; /* NULL: no network to load */
	const struct cpl_routing *routing;
	struct cpl_load load;
	struct cpl_metrics metrics;
	struct cpl_class_stats stats[CPL_NETWORK_MAX_CLASSES];
	int n_busiest;
	int64_t busiest[BUSIEST];
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"json", .flag = &o->json},
	        {"links", .flag = &o->links},
	        {"network", .text = &o->network},
	        {"state-dir", .text = &o->state_dir},
	        {"config", .text = &o->config},
	        {"state", .text = &o->state_out},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_NO_WORDS);
}

static double congestion(const struct picture *p, int64_t link)
{
	return p->load.link[link] / cpl_network_link_bandwidth(p->net, link);
}

/* The largest by insertion; ties keep the lowest link id first. */
static void find_busiest(struct picture *p)
{
	for (int64_t link = 0; link < p->net->n_links; link++) {
		double c = congestion(p, link);
		int at = p->n_busiest;

		if (c <= 0)
			continue;
		while (at > 0 && congestion(p, p->busiest[at - 1]) < c)
			at--;
		if (at == BUSIEST)
			continue;
		if (p->n_busiest < BUSIEST)
			p->n_busiest++;
		memmove(p->busiest + at + 1, p->busiest + at,
		        (size_t)(p->n_busiest - at - 1) * sizeof(*p->busiest));
		p->busiest[at] = link;
	}
}

static int measure(struct picture *p, const char *network,
                   struct cpl_error *err)
{
	const char *dir = p->config ? p->config->profile_dir : ".";

	p->net = cpl_network_load(network, err);
	if (!p->net)
		return -1;
	p->routing = cpl_routing_find_quick(
	        p->net, p->config ? p->config->routing : NULL, err);
	if (!p->routing || cpl_load_init(&p->load, p->net, err))
		return -1;
	p->left_out = calloc((size_t)p->state.n_jobs + 1, sizeof(*p->left_out));
	if (!p->left_out)
		return cpl_fail_memory(err);
	if (cpl_state_apply_each(&p->state, p->net, p->routing, dir, &p->load,
	                         p->left_out, err))
		return -1;
	cpl_traffic_metrics(p->net, &p->load, NULL, &p->metrics);
	for (int i = 0; i < p->net->n_classes; i++)
		if (cpl_load_stats(p->net, &p->load, i, &p->stats[i], err))
			return -1;
	find_busiest(p);
	return 0;
}

static json_t *class_json(const struct cpl_class_stats *s, double bandwidth)
{
	json_t *class = class_stats_json(s);

	json_object_set_new(class, "max_congestion",
	                    json_real(s->max / bandwidth));
	return class;
}

static const char *left_out(const struct picture *p, int job)
{
	return p->left_out ? p->left_out[job] : NULL;
}

static json_t *jobs_json(const struct picture *p)
{
	json_t *jobs = json_array();

	for (int i = 0; i < p->state.n_jobs; i++) {
		const struct cpl_running_job *job = &p->state.job[i];
		json_t *hosts = json_array(), *one;

		for (int h = 0; h < job->n_hosts; h++)
			json_array_append_new(hosts, json_string(job->host[h]));
		one = json_pack("{s:I,s:s?,s:o,s:i,s:i}", "id",
		                (json_int_t)job->id, "signature",
		                job->signature, "hosts", hosts,
		                "ranks_per_node", job->ranks_per_node, "ranks",
		                job->ranks);
		if (left_out(p, i))
			json_object_set_new(one, "left_out",
			                    json_string(left_out(p, i)));
		json_array_append_new(jobs, one);
	}
	return jobs;
}

static json_t *busiest_json(const struct picture *p)
{
	const struct cpl_network *net = p->net;
	json_t *busiest = json_array();

	for (int i = 0; i < p->n_busiest; i++) {
		int64_t link = p->busiest[i];

		json_array_append_new(
		        busiest,
		        json_pack(
		                "{s:s, s:i, s:i, s:f, s:f}", "class",
		                net->link_class[net->link_class_of[link]].name,
		                "from", net->link_from[link], "to",
		                net->link_to[link], "bytes", p->load.link[link],
		                "congestion", congestion(p, link)));
	}
	return busiest;
}

static int print_json(const struct cmd *self, const struct picture *p,
                      bool links)
{
	const char *mode = p->config ? cpl_mode_name(p->config->mode) : NULL;
	json_t *root = json_pack("{s:s?, s:o, s:i}", "mode", mode, "jobs",
	                         jobs_json(p), "skipped", p->skipped);
	json_t *classes;

	if (!p->net)
		return cmd_print_json(self, root);
	classes = json_object();
	for (int i = 0; i < p->net->n_classes; i++) {
		const struct cpl_link_class *k = &p->net->link_class[i];

		json_object_set_new(
		        classes, k->name,
		        class_json(&p->stats[i], k->bandwidth / k->cables));
	}
	json_object_update_new(
	        root,
	        json_pack("{s:s, s:s, s:f, s:f, s:o}", "network", p->net->name,
	                  "routing", p->routing->name, "max_congestion",
	                  p->metrics.max_congestion, "mean_congestion",
	                  p->metrics.mean_congestion, "links", classes));
	if (links)
		json_object_set_new(root, "busiest", busiest_json(p));
	return cmd_print_json(self, root);
}

static int print_jobs(const struct picture *p)
{
	const struct cpl_state *state = &p->state;
	struct cmd_table *table = cmd_table_new("rlrrl");

	cmd_table_row(table, "job|profile|nodes|ranks|hosts");
	for (int i = 0; i < state->n_jobs; i++) {
		const struct cpl_running_job *job = &state->job[i];
		char *hosts = cpl_hostlist_format(job->host, job->n_hosts);

		cmd_table_row(table, "%" PRId64 "|%s|%d|%d|%s", job->id,
		              job->signature ? job->signature : "-",
		              job->n_hosts,
		              job->ranks ? job->ranks
		                         : job->n_hosts * job->ranks_per_node,
		              hosts ? hosts : "?");
		free(hosts);
	}
	if (cmd_table_print(table))
		return CMD_FAILED;
	for (int i = 0; i < state->n_jobs; i++)
		if (left_out(p, i))
			printf("job %" PRId64 " is not in the load: %s\n",
			       state->job[i].id, left_out(p, i));
	return CMD_OK;
}

static int print_classes(const struct picture *p)
{
	struct cmd_table *table = cmd_table_new("lrrrrr");

	cmd_table_row(table, "links|count|used|mean|largest|busiest (s)");
	for (int i = 0; i < p->net->n_classes; i++) {
		const struct cpl_link_class *k = &p->net->link_class[i];
		const struct cpl_class_stats *s = &p->stats[i];

		cmd_table_row(table, "%s|%" PRId64 "|%" PRId64 "|%s|%s|%.6g",
		              k->name, s->count, s->used, CMD_BYTES(s->mean),
		              CMD_BYTES(s->max),
		              s->max / (k->bandwidth / k->cables));
	}
	return cmd_table_print(table);
}

static int print_busiest(const struct picture *p)
{
	const struct cpl_network *net = p->net;
	struct cmd_table *table = cmd_table_new("lrrrr");

	cmd_table_row(table, "link|from router|to router|bytes|congestion (s)");
	for (int i = 0; i < p->n_busiest; i++) {
		int64_t link = p->busiest[i];

		cmd_table_row(table, "%s|%d|%d|%s|%.6g",
		              net->link_class[net->link_class_of[link]].name,
		              net->link_from[link], net->link_to[link],
		              CMD_BYTES(p->load.link[link]),
		              congestion(p, link));
	}
	return cmd_table_print(table);
}

static int print_text(const struct cmd *self, const struct picture *p,
                      bool links)
{
	int rc = CMD_OK;

	if (p->config)
		printf("mode     %s (%s)\n", cpl_mode_name(p->config->mode),
		       p->config->path);
	if (p->net)
		printf("network  %s, routing %s\n", p->net->name,
		       p->routing->name);
	if (p->skipped)
		printf("skipped  %d unreadable records\n", p->skipped);
	printf("jobs     %d running with a record\n", p->state.n_jobs);
	if (p->state.n_jobs) {
		printf("\n");
		rc = print_jobs(p);
	}
	if (p->net && rc == CMD_OK) {
		printf("\n");
		rc = print_classes(p);
	}
	if (p->net && links && rc == CMD_OK) {
		printf("\n");
		rc = print_busiest(p);
	}
	return rc;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {0};
	struct cpl_error err = {{0}};
	struct cpl_config *config;
	struct picture p = {0};
	const char *state_dir, *network;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	state_dir = cmd_state_dir(o.state_dir, o.config, &config, &err);
	if (!state_dir)
		return cmd_fail(self, &err);
	p.config = config;
	network = o.network ? o.network : config ? config->network_file : NULL;
	if (cpl_record_state(state_dir, &p.state, &p.skipped, &err) ||
	    (o.state_out &&
	     cmd_write_state(&p.state, config, o.state_out, &err)) ||
	    (network && !o.state_out && measure(&p, network, &err)))
		rc = cmd_fail(self, &err);
	else if (o.state_out)
		rc = CMD_OK;
	else if (o.json)
		rc = print_json(self, &p, o.links);
	else
		rc = print_text(self, &p, o.links);
	for (int i = 0; p.left_out && i < p.state.n_jobs; i++)
		free(p.left_out[i]);
	free(p.left_out);
	cpl_load_free(&p.load);
	cpl_network_free(p.net);
	cpl_state_free(&p.state);
	cpl_config_free(config);
	return rc;
}

const struct cmd cmd_status = {"status", run};
