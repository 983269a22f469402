/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/adaptive/adaptive_solver.h"

#define SEED 1
#define ITERATIONS_KEPT (CPL_EXPOSURE + CPL_AFTER_EXPOSURE)
/* Pairs of all jobs up to which one shard does. */
#define ONE_LANE 20000
/* Pairs up to which the paths of all iterations are kept, 80 MB; beyond, they
 * are drawn again. */
#define MAX_KEPT 8192
/* Pairs up to which the grants of all iterations are kept, 1 GB; beyond, what
 * links show is kept, or all is iterated again. */
#define MAX_REMEMBERED (INT64_C(1) << 20)
/* Pairs to each group that fill blocks of transits. */
#define FILL (CPL_SHARDS * CPL_TRANSITS / 2)

static void *take(struct cpl_arena *arena, size_t n, size_t size)
{
	void *at = arena->at ? arena->at + arena->used : NULL;

	arena->used += (n * size + 63) / 64 * 64;
	return at;
}

/* Direct paths of a pair; -1: all of them. Without a third router there are no
 * others. */
static int direct_paths(const struct cpl_network *net,
                        const struct cpl_routing *routing)
{
	if (net->n_routers < 3 || routing == &cpl_routing_adaptive_direct)
		return -1;
	return routing == &cpl_routing_adaptive_hybrid ? 2 : 0;
}

/* Grants are kept of as many iterations as there usually are. */
static bool keeps_grants(const struct cpl_solver *s,
                         const struct cpl_job_flows *flows)
{
	return flows->n <= MAX_REMEMBERED &&
	       s->a->iterations <= ITERATIONS_KEPT;
}

/* Give the arrays of a job their memory. */
static void allot_flows(const struct cpl_solver *s, struct cpl_job_flows *flows,
                        struct cpl_arena *arena)
{
	size_t count = (size_t)flows->n, groups = (size_t)s->table.groups;
	size_t blocks = groups * groups;

	flows->slots = flows->direct < 0 ? 4 * s->table.k_links : CPL_DRAWN;
	if (!flows->by_blocks && !flows->by_transits)
		flows->weight =
		        take(arena, count,
		             (size_t)flows->slots * sizeof(*flows->weight));
	if (flows->direct < 0) {
		flows->path_total =
		        take(arena, count,
		             (size_t)flows->slots * sizeof(*flows->path_total));
		if (!flows->by_blocks)
			return;
		flows->start = take(arena, blocks + 1, sizeof(*flows->start));
		flows->alive = take(arena, blocks, sizeof(*flows->alive));
		flows->ends = take(arena, count, sizeof(*flows->ends));
		flows->bytes = take(arena, count, sizeof(*flows->bytes));
		return;
	}
	flows->total = take(arena, count, sizeof(*flows->total));
	flows->hops = take(arena, count, sizeof(*flows->hops));
	if (flows->by_transits) {
		flows->route = take(arena, count, sizeof(*flows->route));
		for (int i = 0; i < CPL_SHARDS; i++)
			flows->transits[i] =
			        take(arena, (size_t)flows->n_transits[i],
			             sizeof(*flows->transits[i]));
		flows->transit_from = take(arena, CPL_SHARDS * groups,
		                           sizeof(*flows->transit_from));
		return;
	}
	if (!keeps_grants(s, flows))
		return;
	flows->grants =
	        take(arena, count,
	             ITERATIONS_KEPT * CPL_DRAWN * sizeof(*flows->grants));
	if (flows->n > MAX_KEPT)
		return;
	flows->direct_kept = take(arena, count, sizeof(*flows->direct_kept));
	flows->kept =
	        take(arena, count * ITERATIONS_KEPT, sizeof(*flows->kept));
}

/* The same for what belongs to no job. */
static void allot_rest(struct cpl_solver *s, int64_t pairs,
                       struct cpl_arena *arena)
{
	void *tables = take(arena, 1, cpl_path_table_size(s->a->net));
	size_t cells = cpl_solver_cells(s), alike, near, far;

	s->n_shards = pairs > ONE_LANE ? CPL_SHARDS : 1;
	s->left = take(arena, cells, sizeof(*s->left));
	near = s->blocks ? 2 * (size_t)s->table.per_group *
	                           (size_t)s->table.per_group
	                 : 0;
	far = near * (size_t)s->table.groups;
	alike = (size_t)((s->table.groups - 1) / s->table.per_group + 1);
	s->far = take(arena, far, sizeof(*s->far));
	for (int i = 0; i < s->n_shards; i++) {
		struct cpl_shard *shard = &s->shard[i];

		shard->number = i;
		shard->cell = take(arena, cells, sizeof(*shard->cell));
		shard->bytes = take(arena, cells, sizeof(*shard->bytes));
		shard->bundle = take(arena, (size_t)s->table.k_links,
		                     sizeof(*shard->bundle));
		if (s->transits) {
			shard->cursor = take(arena, (size_t)s->table.groups,
			                     sizeof(*shard->cursor));
			shard->start = take(arena, (size_t)s->table.groups + 1,
			                    sizeof(*shard->start));
		}
		shard->left = s->left;
		shard->far = s->far;
		shard->far_flow = take(arena, far, sizeof(*shard->far_flow));
		shard->near = take(arena, alike * near, sizeof(*shard->near));
		shard->near_flow =
		        take(arena, alike * near, sizeof(*shard->near_flow));
	}
	if (s->transits)
		s->seen =
		        take(arena, ITERATIONS_KEPT * cells, sizeof(*s->seen));
	if (arena->at)
		cpl_path_table_fill(&s->table, tables);
}

static int64_t count_pairs(const struct cpl_pairs *pairs)
{
	return pairs->n_from ? pairs->row[pairs->n_from] : 0;
}

/* What a job is to the solver; returns its pairs. */
static int64_t make_flows(const struct cpl_adaptive *a, int job,
                          struct cpl_job_flows *flows)
{
	*flows = (struct cpl_job_flows){
	        .pairs = a->job[job].pairs,
	        .n = count_pairs(a->job[job].pairs),
	        .direct = direct_paths(a->net, a->job[job].routing),
	        .seed = SEED + (uint64_t)job,
	};
	a->job[job].routed = (struct cpl_routed){0, 0};
	return flows->n;
}

/* How the pairs of a job are gone over. */
static int choose(struct cpl_solver *s, struct cpl_job_flows *flows,
                  struct cpl_error *err)
{
	if (flows->n <= ONE_LANE || s->a->by_pairs)
		return 0;
	flows->by_blocks = cpl_blocks_pay(&s->table, flows);
	flows->by_transits = (flows->n > MAX_REMEMBERED ||
	                      flows->n >= FILL * (int64_t)s->table.groups) &&
	                     s->a->iterations <= ITERATIONS_KEPT &&
	                     cpl_transits_pay(&s->table, flows);
	s->blocks = s->blocks || flows->by_blocks;
	s->transits = s->transits || flows->by_transits;
	return flows->by_transits ? cpl_transits_cut(s->a->net, flows, err) : 0;
}

int64_t cpl_solver_jobs(struct cpl_solver *s, struct cpl_error *err)
{
	int64_t pairs = 0;

	cpl_path_table_init(&s->table, s->a->net);
	for (int i = 0; i < s->a->n_jobs; i++) {
		pairs += make_flows(s->a, i, &s->flows[i]);
		if (choose(s, &s->flows[i], err))
			return -1;
	}
	return pairs;
}

void cpl_solver_allot(struct cpl_solver *s, int64_t pairs,
                      struct cpl_arena *arena)
{
	allot_rest(s, pairs, arena);
	for (int i = 0; i < s->a->n_jobs; i++)
		allot_flows(s, &s->flows[i], arena);
}
