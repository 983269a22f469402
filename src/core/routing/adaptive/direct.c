/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "routing/adaptive/solver.h"

/* Finds the shortest paths of a flow and returns the number of bundles. */
static int find(const struct cpl_path_table *w, int from, int to,
                struct cpl_bundle *bundle)
{
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	int fewest = 0, n = 0;

	if (a.group == b.group) {
		bundle->n_starts = cpl_local_paths(
		        cpl_path_table_local(w, a.local, b.local));
		bundle->n_ends = 1;
		for (unsigned turn = 0; turn < 2; turn++)
			cpl_segment(w, a.group, a.local, b.local, turn,
			            bundle->start[turn]);
		bundle->link = bundle->end[0][0] = bundle->end[0][1] =
		        bundle->end[1][0] = bundle->end[1][1] = cpl_none(w, b);
		return 1;
	}
	if (w->k_links > 1)
		fewest = cpl_path_table_fewest(w, a, b);
	for (int k = 0; k < w->k_links; k++) {
		struct cpl_gateway gateway =
		        cpl_path_table_gateway(w, a.group, b.group, k);
		int before = cpl_path_table_local(w, a.local, gateway.own);
		int after = cpl_path_table_local(w, gateway.far, b.local);

		if (w->k_links > 1 && before + after != fewest)
			continue;
		bundle->n_starts = cpl_local_paths(before);
		bundle->n_ends = cpl_local_paths(after);
		bundle->link = cpl_global_cell(w, a.group, b.group, k);
		for (unsigned turn = 0; turn < 2; turn++) {
			cpl_segment(w, a.group, a.local, gateway.own, turn,
			            bundle->start[turn]);
			cpl_segment(w, b.group, gateway.far, b.local, turn,
			            bundle->end[turn]);
		}
		bundle++;
		n++;
	}
	return n;
}

/* Finds the least on each path (0: no path) and returns their sum. */
static inline double least(const struct cpl_cell *cell,
                           const struct cpl_bundle *b, double value[4])
{
	double first = cell[b->link].view, sum = 0;
	double end[2];

	for (int j = 0; j < 2; j++)
		end[j] = cpl_lesser(cell[b->end[j][0]].view,
		                    cell[b->end[j][1]].view);
	for (int i = 0; i < 2; i++) {
		double start = cpl_lesser(cell[b->start[i][0]].view,
		                          cell[b->start[i][1]].view);

		start = cpl_lesser(start, first);
		for (int j = 0; j < 2; j++) {
			double x = i < b->n_starts && j < b->n_ends
			                   ? cpl_lesser(start, end[j])
			                   : 0;

			value[i * 2 + j] = x;
			sum += x;
		}
	}
	return sum;
}

static inline void add_bundle(struct cpl_cell *cell, const struct cpl_bundle *b,
                              const double x[4])
{
	double start[2] = {x[0] + x[1], x[2] + x[3]};
	double end[2] = {x[0] + x[2], x[1] + x[3]};

	for (int i = 0; i < 2; i++) {
		cell[b->start[i][0]].sum += start[i];
		cell[b->start[i][1]].sum += start[i];
		cell[b->end[i][0]].sum += end[i];
		cell[b->end[i][1]].sum += end[i];
	}
	cell[b->link].sum += start[0] + start[1];
}

/* Calls each() with all flows of a shard and their n bundles. */
static inline __attribute__((always_inline)) void
over_flows(struct cpl_solver *s, struct cpl_solver_job *job,
           struct cpl_shard *shard,
           void (*each)(const struct cpl_solver *s, struct cpl_solver_job *job,
                        struct cpl_shard *shard, int64_t m, int n))
{
	const struct cpl_flows *flows = job->flows;
	const struct cpl_path_table w = s->table;

	for (int i = job->cut[shard->number]; i < job->cut[shard->number + 1];
	     i++)
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++)
			each(s, job, shard, m,
			     find(&w, flows->from[i], flows->to[m],
			          shard->bundle));
}

static inline void ask_flow(const struct cpl_solver *s,
                            struct cpl_solver_job *job, struct cpl_shard *shard,
                            int64_t m, int n)
{
	const struct cpl_bundle *bundle = shard->bundle;
	float *weight = job->weight + m * job->slots;
	double value[4], sum = 0;

	for (int k = 0; k < n; k++)
		sum += least(shard->cell, &bundle[k], value);
	sum = sum > CPL_NOTHING ? job->flows->bytes[m] * s->scale / sum : 0;
	for (int k = 0; k < n; k++) {
		if (n > 1)
			least(shard->cell, &bundle[k], value);
		for (int j = 0; j < 4; j++) {
			weight[4 * k + j] = (float)(value[j] * sum);
			value[j] = (double)weight[4 * k + j];
		}
		add_bundle(shard->cell, &bundle[k], value);
	}
}

static void ask(struct cpl_solver *s, struct cpl_solver_job *job,
                struct cpl_shard *shard)
{
	over_flows(s, job, shard, ask_flow);
}

static inline void grant_flow(const struct cpl_solver *s,
                              struct cpl_solver_job *job,
                              struct cpl_shard *shard, int64_t m, int n)
{
	const struct cpl_bundle *bundle = shard->bundle;
	const float *weight = job->weight + m * job->slots;
	float *total = job->path_total + m * job->slots;

	for (int k = 0; k < n; k++) {
		double got[4];

		least(shard->cell, &bundle[k], got);
		for (int j = 0; j < 4; j++) {
			got[j] *= (double)weight[4 * k + j];
			total[4 * k + j] += (float)got[j];
			shard->granted += got[j];
		}
		add_bundle(shard->cell, &bundle[k], got);
	}
}

static void grant(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	double others = shard->granted;

	shard->granted = 0;
	over_flows(s, job, shard, grant_flow);
	shard->granted += others;
}

static int real_links(const struct cpl_path_table *w, const int link[2])
{
	return w->is_link[link[0]] + w->is_link[link[1]];
}

static inline void deliver_flow(const struct cpl_solver *s,
                                struct cpl_solver_job *job,
                                struct cpl_shard *shard, int64_t m, int n)
{
	const struct cpl_path_table *w = &s->table;
	const float *total = job->path_total + m * job->slots;
	struct cpl_routed *routed = &job->routed[shard->number];
	double bytes = job->flows->bytes[m], sum = 0, paths = 0;
	const struct cpl_bundle *b = shard->bundle;
	double *load = shard->bytes;
	/* All paths are equally long. */
	int hops = real_links(w, b->start[0]) + real_links(w, b->end[0]) +
	           w->is_link[b->link];

	routed->hop_bytes += bytes * hops;
	if (hops > routed->max_hops)
		routed->max_hops = hops;
	for (int k = 0; k < n; k++) {
		paths += b[k].n_starts * b[k].n_ends;
		for (int j = 0; j < 4; j++)
			sum += (double)total[4 * k + j];
	}
	for (int k = 0; k < n; k++, b++) {
		double x[4];

		for (int j = 0; j < 4; j++) {
			double even = j / 2 < b->n_starts && j % 2 < b->n_ends;

			x[j] = bytes * (sum > 0 ? (double)total[4 * k + j] / sum
			                        : even / paths);
		}
		for (int j = 0; j < 2; j++) {
			load[b->start[0][j]] += x[0] + x[1];
			load[b->start[1][j]] += x[2] + x[3];
			load[b->end[0][j]] += x[0] + x[2];
			load[b->end[1][j]] += x[1] + x[3];
		}
		load[b->link] += x[0] + x[1] + x[2] + x[3];
	}
}

static void deliver(struct cpl_solver *s, struct cpl_solver_job *job,
                    struct cpl_shard *shard)
{
	over_flows(s, job, shard, deliver_flow);
}

static void start(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	const int *cut = job->cut + shard->number;
	int64_t first = job->flows->row[cut[0]], last = job->flows->row[cut[1]];

	memset(job->path_total + first * job->slots, 0,
	       (size_t)(last - first) * (size_t)job->slots *
	               sizeof(*job->path_total));
}

const struct cpl_passes cpl_by_direct = {
        .cut = cpl_solver_cut,
        .pass = {[CPL_START] = start,
                 [CPL_ASK] = ask,
                 [CPL_GRANT] = grant,
                 [CPL_DELIVER] = deliver},
};
