/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "network_links.h"
#include "plot/plot.h"
#include "network_links.h"

static const char *how(const struct job_traffic *job)
{
	return job->policy ? job->policy : job->hosts ? "hosts" : "node-file";
}

/* Rows [node, number, bytes] of the ports or accelerators, each so many of a
 * node, that carry any. */
static json_t *json_of_nodes(const struct cpl_network *net, int each,
                             const double *bytes)
{
	json_t *rows = json_array();

	for (int64_t i = 0; i < (int64_t)net->n_nodes * each; i++)
		if (bytes[i] > 0)
			cpl_json_append(rows, "[s, i, f]",
			                net->node_name[i / each],
			                (int)(i % each), bytes[i]);
	return rows;
}

/* Rows [class, from, to, bytes] of the links that a job uses, and its ports;
 * null for a job that adapts to others. */
static json_t *json_load(const struct cpl_network *net,
                         const struct cpl_load *load)
{
	struct inside_links inside[2 * CPL_INSIDES];
	int n = inside_links(net, inside);
	json_t *rows, *root;

	if (!load->link)
		return json_null();
	rows = json_array();
	for (int64_t l = 0; l < net->n_links; l++)
		if (load->link[l] > 0)
			cpl_json_append(
			        rows, "[s, i, i, f]",
			        net->link_class[net->link_class_of[l]].name,
			        net->link_from[l], net->link_to[l],
			        load->link[l]);
	root = json_pack("{s:o, s:o, s:o}", "links", rows, "injection",
	                 json_of_nodes(net, net->n_ports, load->injection),
	                 "ejection",
	                 json_of_nodes(net, net->n_ports, load->ejection));
	for (int i = 0; i < n; i++)
		json_object_set_new(
		        root, inside[i].name,
		        json_of_nodes(net, net->accelerators.per_node,
		                      inside_links_of(load, &inside[i])));
	return root;
}

/* Of the jobs. */
static const char *routing_name(const struct traffic *t)
{
	return t->mixed ? "mixed" : t->jobs.job->routing->name;
}

static json_t *json_jobs(const struct traffic *t)
{
	json_t *jobs = json_array();

	for (int i = 0; i < t->jobs.n; i++) {
		const struct job_traffic *job = &t->jobs.job[i];
		json_t *one = json_pack(
		        "{s:s, s:i, s:i, s:s, s:s, s:o}", "signature",
		        job->sig->name, "ranks", job->ranks, "ranks_per_node",
		        job->ranks_per_node, "placement", how(job), "routing",
		        job->routing->name, "hosts",
		        cmd_hosts_json(t->net, job->node, job->n_nodes));

		if (job->policy)
			json_object_set_new(
			        one, "seed",
			        json_integer((json_int_t)job->seed));
		json_object_set_new(
		        one, "communication",
		        communication_json(t->net, &t->communication[i],
		                           t->communication[i].times.alone));
		if (t->job_load)
			json_object_set_new(one, "load",
			                    json_load(t->net,
			                              &t->job_load[i]));
		json_array_append_new(jobs, one);
	}
	return jobs;
}

int traffic_print_json(const struct cmd *self, const struct traffic *t)
{
	json_t *root =
	        json_pack("{s:s, s:s, s:o}", "network", t->net->name, "routing",
	                  routing_name(t), "jobs", json_jobs(t));

	if (json_object_update_new(root, evaluation_json(&t->of)) ||
	    cpl_json_update(root, "{s:f, s:f, s:f}", "average_dilation",
	                    t->dilation.average,
	                    "average_dilation_above_average",
	                    t->dilation.above_average, "seconds", t->seconds)) {
		json_decref(root);
		root = NULL;
	}
	return cmd_print_json(self, root);
}

static int print_jobs(const struct traffic *t)
{
	struct cmd_table *table = cmd_table_new("lrrll");

	cmd_table_row(table, "signature|ranks|nodes|placement|hosts");
	for (int i = 0; i < t->jobs.n; i++) {
		const struct job_traffic *job = &t->jobs.job[i];
		char *hosts = cmd_hosts_text(t->net, job->node, job->n_nodes);

		if (hosts && strlen(hosts) > 60)
			strcpy(hosts + 57, "...");
		cmd_table_row(table, "%s|%d|%d|%s|%s", job->sig->name,
		              job->ranks, job->n_nodes, how(job),
		              hosts ? hosts : "");
		free(hosts);
	}
	return cmd_table_print(table);
}

/* Print the times of each job among the others. */
static int print_communication(const struct traffic *t)
{
	struct cmd_table *table = cmd_table_new("lrrrrrrl");
	bool timed = true;

	cmd_table_row(table,
	              "signature|communication|alone|slowdown|waiting|of the "
	              "run|link used|busiest link");
	for (int i = 0; i < t->jobs.n; i++) {
		const struct communication *c = &t->communication[i];
		const char *name = t->jobs.job[i].sig->name;
		char link[96], share[24] = "-", used[24] = "-";

		timed = timed && (!c->known || c->run.seconds > 0);
		if (!c->known) {
			cmd_table_row(table, "%s|-|-|-|-|-|-|-", name);
			continue;
		}
		communication_link(t->net, c->times.link, link, sizeof(link));
		if (c->run.seconds > 0)
			snprintf(share, sizeof(share), "%.1f %%",
			         100 * c->run.share);
		if (c->utilisation >= 0)
			snprintf(used, sizeof(used), "%.1f %%",
			         100 * c->utilisation);
		cmd_table_row(
		        table, "%s|%.4g s|%.4g s|%.3f|%.3g s|%s|%s|%s",
		        name, c->times.seconds, c->times.alone,
		        communication_slowdown(c->times.seconds,
		                               c->times.alone),
		        c->times.waiting, share, used, link);
	}
	if (cmd_table_print(table))
		return CMD_FAILED;
	if (!timed)
		printf("A signature without times counts for others as if it "
		       "did nothing but communicate.\n");
	return CMD_OK;
}

static int print_links(const struct evaluation *e)
{
	struct cmd_table *table = cmd_table_new("lrrrrrrrr");

	cmd_table_row(table, "links|count|used|min|q1|median|mean|q3|max");
	for (int i = 0; i < e->n_stats; i++) {
		const struct cpl_class_stats *s = &e->stats[i].stats;

		cmd_table_row(table, "%s|%" PRId64 "|%" PRId64 "|" SIX_CELLS,
		              e->stats[i].name, s->count, s->used,
		              SIX_BYTES(s));
	}
	return cmd_table_print(table);
}

static int print_numbers(const struct traffic *t)
{
	/* The paths that are taken differ from those that could be. */
	bool apart = t->mixed || !t->jobs.job->routing->add;
	const char *taken = apart ? "hops, paths taken" : "hops";
	const char *shortest = apart ? "hops, shortest paths" : "hops";
	const struct cpl_metrics *metrics = &t->of.metrics;
	const struct cpl_job_sums *sums = &t->of.sums;
	const struct {
		const char *name, *unit;
		double value;
	} number[] = {
	        {"max congestion", "s", metrics->max_congestion},
	        {"mean congestion", "s", metrics->mean_congestion},
	        {"nonzero congestion average", "s", metrics->nonzero_average},
	        {"nonzero congestion variance", "s^2",
	         metrics->nonzero_variance},
	        {"max injection congestion", "s", metrics->max_injection},
	        {"hop-bytes", "B", sums->hop_bytes},
	        {"average hops", taken, evaluation_average_hops(&t->of)},
	        {"max dilation", taken, sums->max_dilation},
	        {"average dilation", shortest, t->dilation.average},
	        {"of those above average", shortest, t->dilation.above_average},
	        {"bytes on the network", "B", sums->bytes_on_network},
	        {"bytes inside nodes", "B", sums->bytes_in_node},
	        {t->net->accelerators.domain_of ? "bytes inside domains" : NULL,
	         "B", sums->bytes_in_domain},
	        {"evaluation", "s", t->seconds},
	};
	struct cmd_table *table = cmd_table_new("lrl");

	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		if (number[i].name)
			cmd_table_row(table, "%s|%.6g|%s", number[i].name,
			              number[i].value, number[i].unit);
	return cmd_table_print(table);
}

int traffic_print_text(const struct traffic *t)
{
	printf("network %s, routing %s\n\n", t->net->name, routing_name(t));
	if (print_jobs(t))
		return CMD_FAILED;
	putchar('\n');
	if (print_links(&t->of))
		return CMD_FAILED;
	putchar('\n');
	if (print_communication(t))
		return CMD_FAILED;
	putchar('\n');
	return print_numbers(t);
}

static int plot(const struct traffic *t, FILE *out, struct cpl_error *err)
{
	char title[160], subtitle[320];
	size_t n;

	snprintf(title, sizeof(title), "Link loads on %.100s", t->net->name);
	n = (size_t)snprintf(subtitle, sizeof(subtitle), "%.60s (%s)",
	                     t->jobs.job->sig->name, how(t->jobs.job));
	if (t->jobs.n > 1)
		n += (size_t)snprintf(subtitle + n, sizeof(subtitle) - n,
		                      " and %d more", t->jobs.n - 1);
	snprintf(subtitle + n, sizeof(subtitle) - n, ", %s", routing_name(t));
	return plot_write_map(t->net, t->load->link, false, title, subtitle,
	                      out, err);
}

int traffic_write(const struct traffic *t, const char *links,
                  struct cpl_error *err)
{
	struct cmd_file file[] = {{.path = links}, {.path = t->jobs.plot}};
	int rc = cmd_files_open(file, 2, err);

	if (rc)
		return rc;
	if (links)
		network_write_links(t->net, t->load,
		                    cpl_file_stream(file[0].writer));
	if (t->jobs.plot)
		rc = plot(t, cpl_file_stream(file[1].writer), err);
	return cmd_files_close(file, 2, rc, err);
}
