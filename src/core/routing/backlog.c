/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/backlog.h"

#include <math.h>

double cpl_backlog_hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_minimal(net)->hops(net, from, to);
}

/* Others' bytes come at the pace of the packets. */
static void others_send(struct cpl_backlog *q, const double *others)
{
	for (int64_t l = 0; l < q->net->n_links; l++)
		if (others[l] > 0)
			cpl_backlog_come(q, l, others[l] / CPL_BACKLOG_PACKETS);
}

/* Those of a flow. */
static int count_packets(double bytes)
{
	return (int)fmax(1, fmin(ceil(bytes / CPL_BACKLOG_PACKET), CPL_BACKLOG_PACKETS));
}

/* The packets of a turn; hops: [flows] the links of those before. */
static void send_packets(struct cpl_backlog *q,
                         const struct cpl_adaptive_job *job, int turn,
                         double *hops)
{
	const struct cpl_flows *f = job->flows;

	for (int i = 0; i < f->n_from; i++)
		for (int64_t k = f->row[i]; k < f->row[i + 1]; k++) {
			int n = count_packets(f->bytes[k]);
			struct cpl_queued p = {
			        f->from[i], f->to[k], f->bytes[k] / n,
			        turn * n / CPL_BACKLOG_PACKETS};

			if ((turn + 1) * n / CPL_BACKLOG_PACKETS > p.number)
				hops[k] += job->routing->send(q, &p);
		}
}

static void sum_hops(struct cpl_adaptive_job *job, const double *hops)
{
	const struct cpl_flows *f = job->flows;

	job->routed = (struct cpl_routed){0};
	for (int64_t k = 0; k < f->row[f->n_from]; k++) {
		double mean = hops[k] / count_packets(f->bytes[k]);

		job->routed.hop_bytes += f->bytes[k] * mean;
		job->routed.max_hops = fmax(job->routed.max_hops, mean);
	}
}

int cpl_backlog_solve(const struct cpl_network *net,
                     struct cpl_adaptive_job *job, int n, double seconds,
                     double *load, struct cpl_error *err)
{
	struct cpl_backlog q = {.net = net};
	struct cpl_arena arena = {0};
	double **hops = cpl_arena_take(&arena, n, sizeof(*hops));
	int rc = -1;

	q.until = cpl_arena_take(&arena, net->n_links, sizeof(*q.until));
	q.load = cpl_arena_take(&arena, net->n_links, sizeof(*q.load));
	for (int j = 0; j < n && !arena.failed; j++)
		hops[j] = cpl_arena_take(
		        &arena, job[j].flows->row[job[j].flows->n_from],
		        sizeof(**hops));
	if (arena.failed || cpl_route_finder_init(&q.minimal, net,
	                                          cpl_routing_minimal(net), err))
		goto out;
	for (int k = 0; k < CPL_BACKLOG_PACKETS; k++) {
		q.now = seconds * k / CPL_BACKLOG_PACKETS;
		others_send(&q, load);
		for (int j = 0; j < n; j++)
			send_packets(&q, &job[j], k, hops[j]);
	}
	for (int j = 0; j < n; j++)
		sum_hops(&job[j], hops[j]);
	for (int64_t l = 0; l < net->n_links; l++)
		load[l] += q.load[l];
	rc = 0;
out:
	cpl_route_finder_free(&q.minimal);
	return cpl_arena_end(&arena, rc, err);
}
