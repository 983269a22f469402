/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"
#include "routing/adaptive_solver.h"

#define MAX_ITERATIONS 30
#define CONVERGED 1e-4

/* Of a huge page. */
#define BLOCK ((size_t)1 << 21)

bool cpl_routing_is_adaptive(const struct cpl_routing *routing)
{
	return routing == &cpl_routing_adaptive_direct ||
	       routing == &cpl_routing_adaptive_indirect ||
	       routing == &cpl_routing_adaptive_hybrid;
}

static void run_lane(void *arg, int64_t chunk, int thread)
{
	struct cpl_solver *s = arg;

	s->pass(s, s->at, &s->lane[chunk]);
}

static void over_lanes(struct cpl_solver *s, struct cpl_part *part,
                       void (*pass)(struct cpl_solver *, struct cpl_part *,
                                    struct cpl_lane *))
{
	s->pass = pass;
	s->at = part;
	cpl_parallel(s->a->threads, s->n_lanes, run_lane, s);
}

/* One pass over all parts. */
static void over_parts(struct cpl_solver *s,
                       void (*pass)(struct cpl_solver *, struct cpl_part *))
{
	for (int i = 0; i < s->a->n_jobs; i++)
		pass(s, &s->part[i]);
}

/* The same with ways between links and pairs that go by blocks. */
static void over_parts_and_ways(struct cpl_solver *s,
                                void (*pass)(struct cpl_solver *,
                                             struct cpl_part *),
                                bool bytes)
{
	if (s->blocks)
		cpl_blocks_see(&s->ways, &s->lane[0], s->a->threads, s->far);
	over_parts(s, pass);
	if (s->blocks)
		cpl_blocks_put(&s->ways, s->lane, s->a->threads, bytes);
}

static void ask_lane(struct cpl_solver *s, struct cpl_part *part,
                     struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_ask(&s->ways, part, lane, s->scale, s->steps == 1);
	else if (part->direct < 0)
		cpl_direct_ask(&s->ways, part, lane, s->scale);
	else
		cpl_drawn_ask(&s->ways, part, lane, s->scale, s->iteration);
}

static void ask(struct cpl_solver *s, struct cpl_part *part)
{
	if (part->by_passages)
		cpl_passages_ask(&s->ways, part, s->lane, s->a->threads,
		                 s->scale, s->iteration);
	else
		over_lanes(s, part, ask_lane);
}

static void grant_lane(struct cpl_solver *s, struct cpl_part *part,
                       struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_grant(&s->ways, part, lane, s->scale);
	else if (part->direct < 0)
		cpl_direct_grant(&s->ways, part, lane);
	else
		cpl_drawn_grant(&s->ways, part, lane, s->iteration,
		                s->delivers);
}

static void grant(struct cpl_solver *s, struct cpl_part *part)
{
	if (part->by_passages)
		cpl_passages_grant(&s->ways, part, s->lane, s->a->threads);
	else
		over_lanes(s, part, grant_lane);
}

static void replay_lane(struct cpl_solver *s, struct cpl_part *part,
                        struct cpl_lane *lane)
{
	cpl_drawn_replay(&s->ways, part, lane, s->iteration);
}

static void replay(struct cpl_solver *s, struct cpl_part *part)
{
	if (part->by_passages)
		cpl_passages_deliver(&s->ways, part, s->lane, s->a->threads,
		                     s->scale, s->iteration);
	else if (part->grants)
		over_lanes(s, part, replay_lane);
}

/* One iteration; returns what it grants. */
static double step(struct cpl_solver *s)
{
	double granted = 0;

	for (int i = 0; i < s->n_lanes; i++)
		s->lane[i].granted = 0;
	over_parts_and_ways(s, ask, false);
	cpl_links_divide(s);
	if (s->seen)
		cpl_links_keep(s);
	over_parts_and_ways(s, grant, false);
	cpl_links_settle(s);
	for (int i = 0; i < s->n_lanes; i++)
		granted += s->lane[i].granted;
	return granted;
}

/* Returns how many iterations it took. */
static int iterate(struct cpl_solver *s)
{
	int limit = s->a->iterations;
	double sum = 0;

	if (!limit)
		limit = s->steps > 1 ? CPL_EXPOSURE + CPL_AFTER_EXPOSURE
		                     : MAX_ITERATIONS;
	cpl_links_start(s);
	for (s->iteration = 0; s->iteration < limit;) {
		double granted = step(s);

		sum += granted;
		s->iteration++;
		if (s->iteration >= s->steps && granted <= CONVERGED * sum)
			break;
	}
	return s->iteration;
}

static void deliver_lane(struct cpl_solver *s, struct cpl_part *part,
                         struct cpl_lane *lane)
{
	if (part->by_blocks)
		cpl_blocks_deliver(&s->ways, part, lane);
	else
		cpl_direct_deliver(&s->ways, part, lane);
}

static void deliver_direct(struct cpl_solver *s, struct cpl_part *part)
{
	if (part->direct < 0)
		over_lanes(s, part, deliver_lane);
}

static void clear_lane(struct cpl_solver *s, struct cpl_part *part,
                       struct cpl_lane *lane)
{
	int64_t first;
	size_t n;

	if (part->by_blocks) {
		cpl_blocks_keep(&s->ways, part, lane);
		return;
	}
	if (part->by_passages) {
		cpl_passages_sort(&s->ways, part, lane);
		return;
	}
	first = part->pairs->row[part->cut[lane->number]];
	n = (size_t)(part->pairs->row[part->cut[lane->number + 1]] - first);
	if (part->direct < 0) {
		memset(part->path_total + first * part->slots, 0,
		       n * (size_t)part->slots * sizeof(*part->path_total));
		return;
	}
	memset(part->total + first, 0, n * sizeof(*part->total));
	memset(part->hops + first, 0, n * sizeof(*part->hops));
}

static void clear(struct cpl_solver *s, struct cpl_part *part)
{
	over_lanes(s, part, clear_lane);
}

/* The bytes, once it is known what each pair gets in all. */
static void deliver(struct cpl_solver *s, int iterations)
{
	bool again = false;

	for (int i = 0; i < s->n_lanes; i++)
		memset(s->lane[i].bytes, 0,
		       cpl_solver_cells(s) * sizeof(double));
	over_parts_and_ways(s, deliver_direct, true);
	for (int i = 0; i < s->a->n_jobs && !s->seen; i++)
		again = again || (s->part[i].direct >= 0 && s->part[i].n &&
		                  !s->part[i].grants);
	s->delivers = true;
	if (again)
		cpl_links_start(s);
	for (s->iteration = 0; s->iteration < iterations; s->iteration++) {
		if (again) {
			step(s);
			continue;
		}
		if (s->seen)
			cpl_links_recall(s);
		over_parts(s, replay);
	}
}

static void finish(struct cpl_solver *s, int job)
{
	struct cpl_part *part = &s->part[job];
	struct cpl_routed *routed = &s->a->job[job].routed;

	for (int i = 0; i < s->n_lanes; i++) {
		routed->hop_bytes += part->routed[i].hop_bytes;
		routed->max_hops =
		        fmax(routed->max_hops, part->routed[i].max_hops);
	}
	for (int64_t m = 0; part->direct >= 0 && m < part->n; m++)
		routed->max_hops = fmax(routed->max_hops, part->hops[m]);
}

static void count_lane(struct cpl_solver *s, struct cpl_part *part,
                       struct cpl_lane *lane)
{
	cpl_blocks_count(&s->ways, part, lane);
}

static void count(struct cpl_solver *s, struct cpl_part *part)
{
	if (part->by_blocks)
		over_lanes(s, part, count_lane);
}

/* Weights and grants are floats: scaled to near 1 they stay in range. */
static void set_scales(struct cpl_solver *s)
{
	const struct cpl_network *net = s->a->net;
	double most = 0;

	s->unit = 0;
	for (int c = 0; c < net->n_classes; c++)
		if (net->link_class[c].count > 0)
			s->unit = fmax(s->unit, net->link_class[c].bandwidth);
	for (int i = 0; i < s->a->n_jobs; i++)
		for (int64_t m = 0; m < s->part[i].n; m++)
			most = fmax(most, s->part[i].pairs->bytes[m]);
	s->scale = 1 / most;
}

/* Rows for each lane, with about as many pairs. */
static void cut(struct cpl_part *part, int n_lanes)
{
	const struct cpl_pairs *pairs = part->pairs;
	int row = 0;

	for (int i = 0; i < n_lanes; i++) {
		part->cut[i] = row;
		while (row < pairs->n_from &&
		       pairs->row[row] < part->n * (i + 1) / n_lanes)
			row++;
	}
	part->cut[n_lanes] = pairs->n_from;
}

/* Parts are known; the arrays have their places. */
static void solve(struct cpl_solver *s)
{
	struct cpl_adaptive *a = s->a;

	s->steps = 1;
	over_parts(s, count);
	for (int i = 0; s->blocks && i < s->n_lanes; i++)
		memset(s->lane[i].far_flow, 0,
		       2 * (size_t)s->ways.groups * (size_t)s->ways.per_group *
		               (size_t)s->ways.per_group *
		               sizeof(*s->lane[i].far_flow));
	for (int i = 0; i < a->n_jobs; i++) {
		struct cpl_part *part = &s->part[i];

		if (part->by_blocks)
			cpl_blocks_cut(&s->ways, part);
		else if (!part->by_passages)
			cut(part, s->n_lanes);
		if (part->direct >= 0 && part->n)
			s->steps = CPL_EXPOSURE;
	}
	set_scales(s);
	over_parts(s, clear);
	a->iterations_taken = iterate(s);
	deliver(s, a->iterations_taken);
	cpl_links_add_bytes(s);
	for (int i = 0; i < a->n_jobs; i++)
		finish(s, i);
}

int cpl_adaptive_solve(struct cpl_adaptive *a, struct cpl_error *err)
{
	struct cpl_solver s = {.a = a};
	struct cpl_room room = {NULL, 0};
	int64_t pairs;
	char *block = NULL;
	int rc = -1;

	a->iterations_taken = 0;
	s.part = malloc(((size_t)a->n_jobs + 1) * sizeof(*s.part));
	if (!s.part)
		return cpl_fail_memory(err);
	pairs = cpl_solver_parts(&s, err);
	if (pairs <= 0) {
		rc = pairs < 0 ? -1 : 0;
		goto out;
	}
	cpl_solver_place(&s, pairs, &room);
	block = aligned_alloc(BLOCK, (room.used / BLOCK + 1) * BLOCK);
	if (!block) {
		cpl_fail_memory(err);
		goto out;
	}
	/* Cells are looked at all over the place; refused does no harm. */
	madvise(block, (room.used / BLOCK + 1) * BLOCK, MADV_HUGEPAGE);
	room = (struct cpl_room){block, 0};
	cpl_solver_place(&s, pairs, &room);
	solve(&s);
	rc = 0;
out:
	free(block);
	free(s.part);
	return rc;
}

void cpl_adaptive_solve_in(struct cpl_adaptive *a, void *scratch)
{
	struct cpl_part part;
	struct cpl_solver s = {.a = a, .part = &part};
	struct cpl_room room = {scratch, (64 - (uintptr_t)scratch % 64) % 64};
	int64_t pairs = cpl_solver_part(&s);

	a->iterations_taken = 0;
	if (!pairs)
		return;
	cpl_solver_place(&s, pairs, &room);
	solve(&s);
}
