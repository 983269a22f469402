/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "link_stats.h"
#include "plot/plot.h"

static const char *how(const struct traffic_job *job)
{
	return job->policy ? job->policy : job->hosts ? "hosts" : "node-file";
}

/* Of the jobs. */
static const char *routing_name(const struct traffic *t)
{
	return t->mixed ? "mixed" : t->job[0].routing->name;
}

static json_t *json_jobs(const struct traffic *t)
{
	json_t *jobs = json_array();

	for (int i = 0; i < t->n_jobs; i++) {
		const struct traffic_job *job = &t->job[i];
		json_t *hosts = json_array(), *one;

		for (int k = 0; k < job->traffic.n_nodes; k++)
			json_array_append_new(
			        hosts,
			        json_string(t->net->node_name[job->node[k]]));
		one = json_pack("{s:s, s:i, s:i, s:s, s:s, s:o}", "signature",
		                job->sig->name, "ranks", job->traffic.ranks,
		                "ranks_per_node", job->ranks_per_node,
		                "placement", how(job), "routing",
		                job->routing->name, "hosts", hosts);
		if (job->policy)
			json_object_set_new(
			        one, "seed",
			        json_integer((json_int_t)job->seed));
		json_array_append_new(jobs, one);
	}
	return jobs;
}

int traffic_print_json(const struct cmd *self, const struct traffic *t)
{
	struct link_stats row[LINK_STATS_MAX];
	struct cpl_error err = {""};
	json_t *root, *links;
	int n = link_stats_make(t->net, t->load, t->threads, row, &err);

	if (n < 0)
		return cmd_fail(self, &err);
	links = link_stats_links_json(row, n);
	root = json_pack(
	        "{s:s, s:s, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, "
	        "s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
	        "network", t->net->name, "routing", routing_name(t), "jobs",
	        json_jobs(t), "links", links, "injection",
	        link_stats_json(&row[n - 2].stats), "ejection",
	        link_stats_json(&row[n - 1].stats), "hop_bytes",
	        t->sums.hop_bytes, "average_hops",
	        link_stats_average_hops(&t->sums), "max_dilation",
	        t->sums.max_dilation, "average_dilation", t->dilation.average,
	        "average_dilation_above_average", t->dilation.above_average,
	        "max_congestion", t->metrics.max_congestion, "mean_congestion",
	        t->metrics.mean_congestion, "nonzero_congestion_average",
	        t->metrics.nonzero_average, "nonzero_congestion_variance",
	        t->metrics.nonzero_variance, "max_injection_congestion",
	        t->metrics.max_injection, "bytes_on_network",
	        t->sums.bytes_on_network, "bytes_in_node",
	        t->sums.bytes_in_node, "seconds", t->seconds);
	return cmd_print_json(self, root);
}

static int print_jobs(const struct traffic *t)
{
	struct cmd_table *table = cmd_table_new(5, "lrrll");
	int rc;

	cmd_table_row(table, "signature", "ranks", "nodes", "placement",
	              "hosts");
	for (int i = 0; i < t->n_jobs; i++) {
		const struct traffic_job *job = &t->job[i];
		char ranks[16], nodes[16], *hosts;
		char **name =
		        malloc((size_t)job->traffic.n_nodes * sizeof(*name));

		if (!name)
			break;
		for (int k = 0; k < job->traffic.n_nodes; k++)
			name[k] = t->net->node_name[job->node[k]];
		hosts = cpl_hostlist_format(name, job->traffic.n_nodes);
		snprintf(ranks, sizeof(ranks), "%d", job->traffic.ranks);
		snprintf(nodes, sizeof(nodes), "%d", job->traffic.n_nodes);
		if (hosts && strlen(hosts) > 60)
			strcpy(hosts + 57, "...");
		cmd_table_row(table, job->sig->name, ranks, nodes, how(job),
		              hosts ? hosts : "");
		free(hosts);
		free(name);
	}
	rc = cmd_table_print(table);
	putchar('\n');
	return rc;
}

static int print_rows(const struct link_stats *row, int n)
{
	struct cmd_table *table = cmd_table_new(9, "lrrrrrrrr");
	int rc;

	cmd_table_row(table, "links", "count", "used", "min", "q1", "median",
	              "mean", "q3", "max");
	for (int i = 0; i < n; i++) {
		const struct cpl_class_stats *s = &row[i].stats;
		const double value[] = {s->min,  s->q1, s->median,
		                        s->mean, s->q3, s->max};
		char count[2][24], text[6][24];

		snprintf(count[0], sizeof(count[0]), "%" PRId64, s->count);
		snprintf(count[1], sizeof(count[1]), "%" PRId64, s->used);
		for (int k = 0; k < 6; k++)
			cmd_bytes(value[k], text[k], sizeof(text[k]));
		cmd_table_row(table, row[i].name, count[0], count[1], text[0],
		              text[1], text[2], text[3], text[4], text[5]);
	}
	rc = cmd_table_print(table);
	putchar('\n');
	return rc;
}

static int print_numbers(const struct traffic *t)
{
	/* Of the ways taken, and of those that could be. */
	bool apart = t->mixed || !t->job[0].routing->add;
	const char *taken = apart ? "hops, ways taken" : "hops";
	const char *shortest = apart ? "hops, shortest ways" : "hops";
	const struct {
		const char *name, *unit;
		double value;
	} number[] = {
	        {"max congestion", "s", t->metrics.max_congestion},
	        {"mean congestion", "s", t->metrics.mean_congestion},
	        {"nonzero congestion average", "s", t->metrics.nonzero_average},
	        {"nonzero congestion variance", "s^2",
	         t->metrics.nonzero_variance},
	        {"max injection congestion", "s", t->metrics.max_injection},
	        {"hop-bytes", "B", t->sums.hop_bytes},
	        {"average hops", taken, link_stats_average_hops(&t->sums)},
	        {"max dilation", taken, t->sums.max_dilation},
	        {"average dilation", shortest, t->dilation.average},
	        {"of those above average", shortest, t->dilation.above_average},
	        {"bytes on the network", "B", t->sums.bytes_on_network},
	        {"bytes inside nodes", "B", t->sums.bytes_in_node},
	        {"evaluation", "s", t->seconds},
	};
	struct cmd_table *table = cmd_table_new(3, "lrl");

	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++) {
		char text[32];

		snprintf(text, sizeof(text), "%.6g", number[i].value);
		cmd_table_row(table, number[i].name, text, number[i].unit);
	}
	return cmd_table_print(table);
}

int traffic_print_text(const struct cmd *self, const struct traffic *t)
{
	struct link_stats row[LINK_STATS_MAX];
	struct cpl_error err = {""};
	int n = link_stats_make(t->net, t->load, t->threads, row, &err);

	if (n < 0)
		return cmd_fail(self, &err);
	printf("network %s, routing %s\n\n", t->net->name, routing_name(t));
	if (print_jobs(t) || print_rows(row, n) || print_numbers(t))
		return CMD_FAILED;
	return CMD_OK;
}

int traffic_write_links(const struct traffic *t, const char *path,
                        struct cpl_error *err)
{
	const struct cpl_network *net = t->net;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int rc = -1;

	if (!out)
		return cpl_fail_memory(err);
	fprintf(out, "class,from,to,bandwidth,bytes\n");
	for (int64_t link = 0; link < net->n_links; link++) {
		int cables = cpl_network_link_cables(net, link);

		for (int i = 0; i < cables; i++)
			fprintf(out, "%s,%d,%d,%.17g,%.17g\n",
			        net->link_class[net->link_class_of[link]].name,
			        net->link_from[link], net->link_to[link],
			        cpl_network_link_bandwidth(net, link) / cables,
			        t->load->link[link] / cables);
	}
	if (fclose(out))
		cpl_fail_memory(err);
	else
		rc = cpl_file_write_atomic(path, text, length, 0644, err);
	free(text);
	return rc;
}

int traffic_plot(const struct traffic *t, const char *path,
                 struct cpl_error *err)
{
	struct cpl_file_writer *writer = cpl_file_open_atomic(path, err);
	char title[160], subtitle[320];
	size_t n;

	if (!writer)
		return -1;
	snprintf(title, sizeof(title), "Link loads on %.100s", t->net->name);
	n = (size_t)snprintf(subtitle, sizeof(subtitle), "%.60s (%s)",
	                     t->job[0].sig->name, how(&t->job[0]));
	if (t->n_jobs > 1)
		n += (size_t)snprintf(subtitle + n, sizeof(subtitle) - n,
		                      " and %d more", t->n_jobs - 1);
	snprintf(subtitle + n, sizeof(subtitle) - n, ", %s", routing_name(t));
	if (plot_write_map(t->net, t->load->link, title, subtitle,
	                   cpl_file_stream(writer), err)) {
		cpl_file_abandon(writer);
		return -1;
	}
	return cpl_file_commit(writer, 0644, err);
}
