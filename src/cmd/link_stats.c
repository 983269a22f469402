/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link_stats.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of the node links; ports without a node have none. */
static int node_stats(const struct cpl_network *net, const double *value,
                      struct cpl_class_stats *out, struct cpl_error *err)
{
	double *used = malloc((size_t)net->n_nodes * sizeof(*used));
	int n = 0, rc;

	if (!used)
		return cpl_fail_memory(err);
	for (int node = 0; node < net->n_nodes; node++)
		if (net->node_name[node])
			used[n++] = value[node];
	rc = cpl_class_stats(used, n, out, err);
	free(used);
	return rc;
}

int link_stats_make(const struct cpl_network *net, const struct cpl_load *load,
                    struct link_stats row[LINK_STATS_MAX],
                    struct cpl_error *err)
{
	int n = 0;

	row[n].name = "all";
	if (cpl_load_stats(net, load, -1, &row[n++].stats, err))
		return -1;
	for (int c = 0; c < net->n_classes; c++) {
		row[n].name = net->link_class[c].name;
		if (cpl_load_stats(net, load, c, &row[n++].stats, err))
			return -1;
	}
	row[n].name = "injection";
	if (node_stats(net, load->injection, &row[n++].stats, err))
		return -1;
	row[n].name = "ejection";
	if (node_stats(net, load->ejection, &row[n++].stats, err))
		return -1;
	return n;
}

json_t *link_stats_json(const struct cpl_class_stats *s)
{
	return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "count",
	                 (json_int_t)s->count, "used", (json_int_t)s->used,
	                 "min", s->min, "q1", s->q1, "median", s->median,
	                 "mean", s->mean, "q3", s->q3, "max", s->max);
}

json_t *link_stats_links_json(const struct link_stats *row, int n)
{
	json_t *links = json_object();

	for (int i = 0; i < n - 2; i++)
		json_object_set_new(links, row[i].name,
		                    link_stats_json(&row[i].stats));
	return links;
}

void link_stats_add_sums(struct cpl_job_sums *into,
                         const struct cpl_job_sums *from)
{
	into->bytes += from->bytes;
	into->bytes_in_node += from->bytes_in_node;
	into->bytes_on_network += from->bytes_on_network;
	into->hop_bytes += from->hop_bytes;
	into->max_dilation = fmax(into->max_dilation, from->max_dilation);
}

double link_stats_average_hops(const struct cpl_job_sums *sums)
{
	return sums->bytes_on_network > 0
	               ? sums->hop_bytes / sums->bytes_on_network
	               : 0;
}
