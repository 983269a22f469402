/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link_stats.h"

#include <math.h>

#include "base/parallel.h"

struct making {
	const struct cpl_network *net;
	const struct cpl_load *load;
	struct link_stats *row;
	int failed[LINK_STATS_MAX];
	struct cpl_error err[LINK_STATS_MAX];
};

static void make_row(void *arg, int64_t i, int thread)
{
	struct making *m = arg;
	const struct cpl_network *net = m->net;
	struct link_stats *row = &m->row[i];
	struct cpl_error *err = &m->err[i];
	int class = (int)i - 1;

	if (class < net->n_classes) {
		row->name = class < 0 ? "all" : net->link_class[class].name;
		m->failed[i] =
		        cpl_load_stats(net, m->load, class, &row->stats, err);
		return;
	}
	row->name = class == net->n_classes ? "injection" : "ejection";
	m->failed[i] = cpl_load_node_stats(
	        net,
	        class == net->n_classes ? m->load->injection
	                                : m->load->ejection,
	        &row->stats, err);
}

int link_stats_make(const struct cpl_network *net, const struct cpl_load *load,
                    int threads, struct link_stats row[LINK_STATS_MAX],
                    struct cpl_error *err)
{
	struct making m = {.net = net, .load = load, .row = row};
	int n = net->n_classes + 3;

	cpl_parallel(threads, n, make_row, &m);
	for (int i = 0; i < n; i++)
		if (m.failed[i])
			return cpl_fail(err, "%s", m.err[i].text);
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
