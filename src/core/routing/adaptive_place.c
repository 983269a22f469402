/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/adaptive_solver.h"

#define SEED 1
#define ITERATIONS_KEPT (CPL_EXPOSURE + CPL_AFTER_EXPOSURE)
/* Pairs of all jobs up to which one lane does. */
#define ONE_LANE 20000
/* Pairs up to which the paths of all iterations are kept, 80 MB; beyond, they
 * are drawn again. */
#define MAX_KEPT 8192
/* Pairs up to which the grants of all iterations are kept, 1 GB; beyond, what
 * links show is kept, or all is iterated again. */
#define MAX_REMEMBERED (INT64_C(1) << 20)
/* Pairs to each group that fill blocks of passages. */
#define FILL (CPL_LANES * CPL_PASSAGES / 2)

static void *take(struct cpl_room *room, size_t n, size_t size)
{
	void *at = room->at ? room->at + room->used : NULL;

	room->used += (n * size + 63) / 64 * 64;
	return at;
}

static int64_t at_most(int64_t n, int64_t limit)
{
	return n < limit ? n : limit;
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

/* Give the arrays of a part of n pairs their places. Never less room for more
 * pairs. */
static void place_part(const struct cpl_network *net, struct cpl_part *part,
                       int64_t n, struct cpl_room *room)
{
	size_t count = (size_t)n, few = (size_t)at_most(n, MAX_KEPT);
	size_t blocks =
	        (size_t)net->dragonfly.groups * (size_t)net->dragonfly.groups;

	part->slots = part->direct < 0 ? 4 * net->dragonfly.global_per_pair
	                               : CPL_DRAWN;
	if (!part->by_blocks && !part->by_passages)
		part->weight =
		        take(room, count,
		             (size_t)part->slots * sizeof(*part->weight));
	part->path_total = NULL;
	part->kept = NULL;
	part->grants = NULL;
	if (part->direct < 0) {
		part->path_total =
		        take(room, count,
		             (size_t)part->slots * sizeof(*part->path_total));
		if (!part->by_blocks)
			return;
		part->start = take(room, blocks + 1, sizeof(*part->start));
		part->alive = take(room, blocks, sizeof(*part->alive));
		part->ends = take(room, count, sizeof(*part->ends));
		part->bytes = take(room, count, sizeof(*part->bytes));
		return;
	}
	part->total = take(room, count, sizeof(*part->total));
	part->hops = take(room, count, sizeof(*part->hops));
	if (part->by_passages) {
		part->route = take(room, count, sizeof(*part->route));
		for (int i = 0; i < CPL_LANES; i++)
			part->passages[i] =
			        take(room, (size_t)part->n_passages[i],
			             sizeof(*part->passages[i]));
		part->passage_from =
		        take(room, CPL_LANES * (size_t)net->dragonfly.groups,
		             sizeof(*part->passage_from));
		return;
	}
	part->direct_kept = take(room, few, sizeof(*part->direct_kept));
	part->kept = take(room, few * ITERATIONS_KEPT, sizeof(*part->kept));
	part->grants =
	        take(room, (size_t)at_most(n, MAX_REMEMBERED),
	             ITERATIONS_KEPT * CPL_DRAWN * sizeof(*part->grants));
	if (n > MAX_KEPT)
		part->kept = NULL;
	if (n > MAX_REMEMBERED)
		part->grants = NULL;
}

/* The same for what belongs to no part. */
static void place_rest(struct cpl_solver *s, const struct cpl_network *net,
                       int64_t pairs, struct cpl_room *room)
{
	void *tables = take(room, 1, cpl_ways_size(net));
	size_t cells, alike, near, far;

	cpl_ways_init(&s->ways, net);
	cells = (size_t)s->ways.groups * (size_t)s->ways.cells;
	s->n_lanes = pairs > ONE_LANE ? CPL_LANES : 1;
	s->left = take(room, cells, sizeof(*s->left));
	near = s->blocks ? 2 * (size_t)s->ways.per_group *
	                           (size_t)s->ways.per_group
	                 : 0;
	far = near * (size_t)s->ways.groups;
	alike = (size_t)((s->ways.groups - 1) / s->ways.per_group + 1);
	s->far = take(room, far, sizeof(*s->far));
	for (int i = 0; i < s->n_lanes; i++) {
		struct cpl_lane *lane = &s->lane[i];

		lane->number = i;
		lane->cell = take(room, cells, sizeof(*lane->cell));
		lane->bytes = take(room, cells, sizeof(*lane->bytes));
		lane->bundle =
		        take(room, (size_t)net->dragonfly.global_per_pair,
		             sizeof(*lane->bundle));
		if (s->passages) {
			lane->cursor = take(room, (size_t)s->ways.groups,
			                    sizeof(*lane->cursor));
			lane->start = take(room, (size_t)s->ways.groups + 1,
			                   sizeof(*lane->start));
		}
		lane->left = s->left;
		lane->far = s->far;
		lane->far_flow = take(room, far, sizeof(*lane->far_flow));
		lane->near = take(room, alike * near, sizeof(*lane->near));
		lane->near_flow =
		        take(room, alike * near, sizeof(*lane->near_flow));
	}
	s->seen = NULL;
	if (s->passages)
		s->seen = take(room, ITERATIONS_KEPT * cells, sizeof(*s->seen));
	if (room->at)
		cpl_ways_fill(&s->ways, tables);
}

size_t cpl_adaptive_scratch_size(const struct cpl_network *net, int64_t pairs)
{
	struct cpl_solver s = {.a = NULL};
	struct cpl_room drawn = {NULL, 64}, direct = {NULL, 64};
	struct cpl_part part = {.direct = 0};

	place_rest(&s, net, pairs, &drawn);
	place_part(net, &part, pairs, &drawn);
	part.direct = -1;
	place_rest(&s, net, pairs, &direct);
	place_part(net, &part, pairs, &direct);
	return drawn.used > direct.used ? drawn.used : direct.used;
}

static int64_t count_pairs(const struct cpl_pairs *pairs)
{
	return pairs->n_from ? pairs->row[pairs->n_from] : 0;
}

/* What a job is to the solver; returns its pairs. */
static int64_t make_part(const struct cpl_adaptive *a, int job,
                         struct cpl_part *part)
{
	*part = (struct cpl_part){
	        .pairs = a->job[job].pairs,
	        .n = count_pairs(a->job[job].pairs),
	        .direct = direct_paths(a->net, a->job[job].routing),
	        .seed = SEED + (uint64_t)job,
	};
	a->job[job].routed = (struct cpl_routed){0, 0};
	return part->n;
}

/* How the pairs of a part are gone over. */
static int choose(struct cpl_solver *s, struct cpl_part *part,
                  struct cpl_error *err)
{
	if (part->n <= ONE_LANE)
		return 0;
	part->by_blocks = cpl_blocks_pay(&s->ways, part);
	part->by_passages = (part->n > MAX_REMEMBERED ||
	                     part->n >= FILL * (int64_t)s->ways.groups) &&
	                    s->a->iterations <= ITERATIONS_KEPT &&
	                    cpl_passages_pay(&s->ways, part);
	s->blocks = s->blocks || part->by_blocks;
	s->passages = s->passages || part->by_passages;
	return part->by_passages ? cpl_passages_cut(s->a->net, part, err) : 0;
}

int64_t cpl_solver_parts(struct cpl_solver *s, struct cpl_error *err)
{
	int64_t pairs = 0;

	cpl_ways_init(&s->ways, s->a->net);
	for (int i = 0; i < s->a->n_jobs; i++) {
		pairs += make_part(s->a, i, &s->part[i]);
		if (choose(s, &s->part[i], err))
			return -1;
	}
	return pairs;
}

int64_t cpl_solver_part(struct cpl_solver *s)
{
	return make_part(s->a, 0, s->part);
}

/* Grants are kept of as many iterations as there usually are. */
void cpl_solver_place(struct cpl_solver *s, int64_t pairs,
                      struct cpl_room *room)
{
	place_rest(s, s->a->net, pairs, room);
	for (int i = 0; i < s->a->n_jobs; i++) {
		place_part(s->a->net, &s->part[i], s->part[i].n, room);
		if (s->a->iterations > ITERATIONS_KEPT)
			s->part[i].grants = NULL;
		if (!s->part[i].grants)
			s->part[i].kept = NULL;
	}
}
