/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "routing/adaptive/solver.h"

/* Where paths are not kept, they are drawn for so many flows at a time. */
#define BATCH 16

/* Some of the flows of one row. */
struct some {
	int row;
	int64_t m;
	int n;
	struct cpl_paths *paths;
};

/* Places two cells of a group; their order does not matter. */
static inline void place_two(const struct cpl_path_table *w, int group,
                             uint64_t cells, unsigned *to)
{
	uint64_t base = (uint64_t)(group * w->cells) * 0x100000001;
	uint64_t both = (base + cells) << 1;

	memcpy(to, &both, sizeof(both));
}

static inline void locate(const struct cpl_path_table *w,
                          struct cpl_group_router a, struct cpl_group_router b,
                          unsigned code, unsigned *to)
{
	struct cpl_gateway gateway;
	int k = (int)(code >> 2);

	if (a.group == b.group) {
		place_two(w, a.group,
		          cpl_segment_of(w, a.local, b.local, code & 1), to);
		to[2] = to[3] = to[4] = 2 * (unsigned)cpl_none(w, b);
		return;
	}
	gateway = cpl_path_table_gateway(w, a.group, b.group, k);
	place_two(w, a.group, cpl_segment_of(w, a.local, gateway.own, code & 1),
	          to);
	to[2] = 2 * (unsigned)cpl_global_cell(w, a.group, b.group, k);
	place_two(w, b.group,
	          cpl_segment_of(w, gateway.far, b.local, code >> 1 & 1),
	          to + 3);
}

/* Counts how many of a leg's cells are links. */
static inline int count_links(const struct cpl_path_table *w,
                              const unsigned *at)
{
	int links = 0;

#pragma GCC unroll 5
	for (int i = 0; i < CPL_LEG; i++)
		links += w->is_link[at[i] / 2];
	return links;
}

static void keep_direct(const struct cpl_path_table *w, int from, int to,
                        struct cpl_direct *direct)
{
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);

	direct->n = cpl_leg_count(w, from, to);
	if (direct->n > CPL_DIRECT_KEPT)
		direct->n = 0;
	for (int i = 0; i < direct->n; i++)
		locate(w, a, b, cpl_direct_path(w, from, to, i).first,
		       direct->cell[i]);
	direct->links = direct->n ? count_links(w, direct->cell[0]) : 0;
}

/* direct has the direct paths that are kept, or is NULL. */
static inline void draw(const struct cpl_path_table *w,
                        const struct cpl_solver_job *job, int from, int to,
                        int iteration, const struct cpl_direct *direct,
                        struct cpl_paths *paths)
{
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	uint64_t key = cpl_draw_key(w, job->seed, from, to);
	bool known = direct && direct->n;
	unsigned *at = paths->cell;
	int n = 0;

	if (job->direct) {
		int count = known ? direct->n : cpl_leg_count(w, from, to);
		int two[2];

		n = count < 2 ? count : 2;
		cpl_draw_two(count, key, iteration, two);
		for (int i = 0; i < 2 && known; i++)
			memcpy(at + i * CPL_LEG, direct->cell[two[i]],
			       CPL_LEG * sizeof(*at));
		for (int i = 0; i < n && !known; i++)
			locate(w, a, b,
			       cpl_direct_path(w, from, to, two[i]).first,
			       at + i * CPL_LEG);
		at += n * CPL_LEG;
	}
	paths->n_direct = n;
	if (known)
		paths->direct_links = direct->links;
	else
		paths->direct_links = n ? count_links(w, paths->cell) : 0;
	for (; n < CPL_DRAWN; n++, at += 2 * CPL_LEG) {
		struct cpl_drawn p =
		        cpl_draw_indirect(w, from, to, a, b, key, iteration, n);
		struct cpl_group_router over = cpl_path_table_router(w, p.over);

		locate(w, a, over, p.first, at);
		locate(w, over, b, p.second, at + CPL_LEG);
	}
}

static inline struct cpl_paths *kept_paths(const struct cpl_solver_job *job,
                                           int iteration)
{
	return job->kept + (int64_t)iteration * job->n;
}

/* Draws the paths of all flows of a shard, where they are kept. */
static void draw_kept(const struct cpl_solver *s,
                      const struct cpl_solver_job *job,
                      const struct cpl_shard *shard)
{
	const struct cpl_flows *flows = job->flows;
	const struct cpl_path_table w = s->table;
	struct cpl_paths *paths = kept_paths(job, s->iteration);

	for (int i = job->cut[shard->number]; i < job->cut[shard->number + 1];
	     i++)
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			struct cpl_direct *direct =
			        job->direct ? &job->direct_kept[m] : NULL;

			if (!s->iteration && direct)
				keep_direct(&w, flows->from[i], flows->to[m],
				            direct);
			draw(&w, job, flows->from[i], flows->to[m],
			     s->iteration, direct, &paths[m]);
		}
}

/* Finds the next flows of a shard with their paths, for which `own` has room
 * where they are not kept. It starts with n 0 and the shard's first row and m.
 * False after the last. */
static inline bool next_some(const struct cpl_path_table *w,
                             const struct cpl_solver_job *job,
                             const struct cpl_shard *shard, int iteration,
                             struct cpl_paths own[BATCH], struct some *some)
{
	const struct cpl_flows *flows = job->flows;
	int64_t left;

	some->m += some->n;
	while (some->row < job->cut[shard->number + 1] &&
	       some->m == flows->row[some->row + 1])
		some->row++;
	if (some->row == job->cut[shard->number + 1])
		return false;
	left = flows->row[some->row + 1] - some->m;
	some->n = left < BATCH ? (int)left : BATCH;
	if (job->kept) {
		some->paths = kept_paths(job, iteration) + some->m;
		return true;
	}
	some->paths = own;
	for (int i = 0; i < some->n; i++)
		draw(w, job, flows->from[some->row], flows->to[some->m + i],
		     iteration, NULL, &own[i]);
	return true;
}

static inline struct some first_some(const struct cpl_solver_job *job,
                                     const struct cpl_shard *shard)
{
	int row = job->cut[shard->number];

	return (struct some){.row = row, .m = job->flows->row[row]};
}

/* The least that the links of a leg show. */
static inline double least(const double *view, const unsigned *at)
{
	double a = cpl_lesser(view[at[0]], view[at[1]]);
	double b = cpl_lesser(view[at[3]], view[at[4]]);

	return cpl_lesser(cpl_lesser(a, b), view[at[2]]);
}

static inline void add_amount(double *sum, const unsigned *at, double amount)
{
#pragma GCC unroll 5
	for (int i = 0; i < CPL_LEG; i++)
		sum[at[i]] += amount;
}

static inline void put_bytes(double *load, const unsigned *at, double bytes)
{
#pragma GCC unroll 5
	for (int i = 0; i < CPL_LEG; i++)
		load[at[i] / 2] += bytes;
}

/* Computes what the links of each path show. */
static inline void least_of(const struct cpl_cell *cell,
                            const struct cpl_paths *paths,
                            double value[CPL_DRAWN])
{
	const double *view = &cell->view;
	const unsigned *at = paths->cell;
	int k = 0;

	for (; k < paths->n_direct; k++, at += CPL_LEG)
		value[k] = least(view, at);
	for (; k < CPL_DRAWN; k++, at += 2 * CPL_LEG)
		value[k] =
		        cpl_lesser(least(view, at), least(view, at + CPL_LEG));
}

static inline void add_to(struct cpl_cell *cell, const struct cpl_paths *paths,
                          const double amount[CPL_DRAWN])
{
	double *sum = &cell->sum;
	const unsigned *at = paths->cell;
	int k = 0;

	for (; k < paths->n_direct; k++, at += CPL_LEG)
		add_amount(sum, at, amount[k]);
	for (; k < CPL_DRAWN; k++, at += 2 * CPL_LEG) {
		add_amount(sum, at, amount[k]);
		add_amount(sum, at + CPL_LEG, amount[k]);
	}
}

static void ask(struct cpl_solver *s, struct cpl_solver_job *job,
                struct cpl_shard *shard)
{
	const struct cpl_path_table w = s->table;
	int iteration = s->iteration;
	struct cpl_paths own[BATCH];
	struct some some = first_some(job, shard);

	if (job->kept)
		draw_kept(s, job, shard);
	while (next_some(&w, job, shard, iteration, own, &some))
		for (int i = 0; i < some.n; i++) {
			float *weight = job->weight + (some.m + i) * CPL_DRAWN;
			double value[CPL_DRAWN], sum = 0;

			least_of(shard->cell, &some.paths[i], value);
			for (int k = 0; k < CPL_DRAWN; k++)
				sum += value[k];
			sum = sum > CPL_NOTHING
			              ? job->flows->bytes[some.m + i] *
			                        s->scale / sum
			              : 0;
			for (int k = 0; k < CPL_DRAWN; k++) {
				weight[k] = (float)(value[k] * sum);
				value[k] = (double)weight[k];
			}
			add_to(shard->cell, &some.paths[i], value);
		}
}

/* Puts the shares of a flow's bytes on its paths, where share[] adds up to 1
 * over all iterations. Returns bytes times links. */
static inline double deliver(const struct cpl_path_table *w,
                             struct cpl_solver_job *job,
                             struct cpl_shard *shard, int64_t m,
                             const struct cpl_paths *paths, const double *share)
{
	double bytes = job->flows->bytes[m], hops = 0;
	const unsigned *at = paths->cell;
	int k = 0;

	for (; k < paths->n_direct; k++, at += CPL_LEG) {
		put_bytes(shard->bytes, at, share[k] * bytes);
		hops += share[k] * paths->direct_links;
	}
	for (; k < CPL_DRAWN; k++, at += 2 * CPL_LEG) {
		put_bytes(shard->bytes, at, share[k] * bytes);
		put_bytes(shard->bytes, at + CPL_LEG, share[k] * bytes);
		hops += share[k] *
		        (count_links(w, at) + count_links(w, at + CPL_LEG));
	}
	job->hops[m] += hops;
	return hops * bytes;
}

static void grant(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	const struct cpl_path_table w = s->table;
	int iteration = s->iteration;
	float *grants = job->grants;
	double granted = 0, hop_bytes = 0;
	struct cpl_paths own[BATCH];
	struct some some = first_some(job, shard);

	if (grants)
		grants += (int64_t)iteration * job->n * CPL_DRAWN;
	while (next_some(&w, job, shard, iteration, own, &some))
		for (int i = 0; i < some.n; i++) {
			int64_t m = some.m + i;
			const float *weight = job->weight + m * CPL_DRAWN;
			double value[CPL_DRAWN], share[CPL_DRAWN], sum = 0;
			float got[CPL_DRAWN];

			least_of(shard->cell, &some.paths[i], value);
			for (int k = 0; k < CPL_DRAWN; k++) {
				value[k] *= (double)weight[k];
				got[k] = (float)value[k];
				sum += (double)got[k];
			}
			add_to(shard->cell, &some.paths[i], value);
			granted += sum;
			if (grants)
				memcpy(grants + m * CPL_DRAWN, got,
				       sizeof(got));
			if (!s->delivers)
				job->total[m] += sum;
			else if (cpl_shares(job->total[m], iteration, got, share))
				hop_bytes += deliver(&w, job, shard, m,
				                     &some.paths[i], share);
		}
	shard->granted += granted;
	job->routed[shard->number].hop_bytes += hop_bytes;
}

static void replay(struct cpl_solver *s, struct cpl_solver_job *job,
                   struct cpl_shard *shard)
{
	const struct cpl_path_table w = s->table;
	int iteration = s->iteration;
	const float *grants =
	        job->grants + (int64_t)iteration * job->n * CPL_DRAWN;
	double hop_bytes = 0;
	struct cpl_paths own[BATCH];
	struct some some = first_some(job, shard);

	if (!job->grants)
		return;
	while (next_some(&w, job, shard, iteration, own, &some))
		for (int i = 0; i < some.n; i++) {
			int64_t m = some.m + i;
			double share[CPL_DRAWN];

			if (cpl_shares(job->total[m], iteration,
			               grants + m * CPL_DRAWN, share))
				hop_bytes += deliver(&w, job, shard, m,
				                     &some.paths[i], share);
		}
	job->routed[shard->number].hop_bytes += hop_bytes;
}

static void start(struct cpl_solver *s, struct cpl_solver_job *job,
                  struct cpl_shard *shard)
{
	const int *cut = job->cut + shard->number;
	int64_t first = job->flows->row[cut[0]];
	size_t n = (size_t)(job->flows->row[cut[1]] - first);

	memset(job->total + first, 0, n * sizeof(*job->total));
	memset(job->hops + first, 0, n * sizeof(*job->hops));
}

const struct cpl_passes cpl_by_drawn = {
        .cut = cpl_solver_cut,
        .pass = {[CPL_START] = start,
                 [CPL_ASK] = ask,
                 [CPL_GRANT] = grant,
                 [CPL_REPLAY] = replay},
};
