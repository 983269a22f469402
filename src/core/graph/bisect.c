/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/partition.h"

#include <string.h>

#include "base/random.h"
#include "graph/arena.h"
#include "graph/heap.h"
#include "graph/members.h"

#define MAX_LEVELS 40
/* Vertices below which halves are grown directly. */
#define COARSE 40
#define GROW_STARTS 6
#define PASSES 6
/* Moves without gain after which a pass gives up. */
#define STALL 100
#define GAIN 1e-9

/* A graph of one level; the finest borrows its rows. */
struct bisect_level {
	struct cpl_arena arena;
	int n;
	int64_t *row;
	int *to;
	double *bytes;
	int *weight;         /* [n] ranks in a vertex */
	int *up;             /* [n] vertex of the next coarser level */
	unsigned char *side; /* [n] */
	int heaviest;        /* largest weight */
};

struct bisect {
	int n_left, ranks;
	uint64_t seed;
	bool (*expired)(void *arg);
	void *expired_arg;
	int n_levels;
	struct bisect_level level[MAX_LEVELS];
	double *gain;            /* [ranks] */
	struct cpl_heap heap[2]; /* movable vertices of each side */
	int *moved;              /* [ranks] */
	int *mark;               /* [ranks] all -1 between uses */
	unsigned char *kept;     /* [ranks] best halves so far */
	unsigned char *grown;    /* [ranks] vertices that halves were grown from */
};

static bool expired(const struct bisect *b)
{
	return b->expired && b->expired(b->expired_arg);
}

/* Heavy-edge matching; returns the vertices of the coarser level. */
static int match(struct bisect *b, struct bisect_level *l, int depth)
{
	int *order = b->moved, n = 0, lonely = -1;
	int limit = b->ranks / (COARSE / 4) + 1;

	for (int i = 0; i < l->n; i++) {
		order[i] = i;
		l->up[i] = -1;
	}
	cpl_random_shuffle(order, l->n, b->seed,
	                   CPL_STREAM_BISECT_LEVEL + (uint64_t)depth);
	for (int i = 0; i < l->n; i++) {
		int v = order[i], with = -1;
		double most = 0;

		if (l->up[v] >= 0)
			continue;
		for (int64_t e = l->row[v]; e < l->row[v + 1]; e++) {
			int u = l->to[e];

			if (u == v || l->up[u] >= 0 || l->bytes[e] <= most ||
			    l->weight[u] + l->weight[v] > limit)
				continue;
			most = l->bytes[e];
			with = u;
		}
		if (l->row[v] == l->row[v + 1]) {
			with = lonely;
			if (lonely < 0) {
				lonely = v;
				continue;
			}
			if (l->weight[with] + l->weight[v] > limit)
				with = -1;
			else
				lonely = -1;
		}
		l->up[v] = n;
		if (with >= 0)
			l->up[with] = n;
		n++;
	}
	if (lonely >= 0)
		l->up[lonely] = n++;
	return n;
}

/* Sum the vertices of a level up into the next coarser one. */
static int contract(struct bisect *b, const struct bisect_level *fine,
                    struct bisect_level *coarse, int n)
{
	struct cpl_arena *arena = &coarse->arena;
	int64_t entries = fine->row[fine->n], used = 0;
	int *first = cpl_arena_take(arena, n + 2, sizeof(*first));
	int *member = cpl_arena_take_raw(arena, fine->n, sizeof(*member));

	coarse->n = n;
	coarse->row = cpl_arena_take_raw(arena, n + 1, sizeof(*coarse->row));
	coarse->to = cpl_arena_take_raw(arena, entries, sizeof(*coarse->to));
	coarse->bytes =
	        cpl_arena_take_raw(arena, entries, sizeof(*coarse->bytes));
	coarse->weight = cpl_arena_take(arena, n, sizeof(*coarse->weight));
	coarse->up = cpl_arena_take_raw(arena, n, sizeof(*coarse->up));
	coarse->side = cpl_arena_take_raw(arena, n, 1);
	if (arena->failed)
		return -1;
	cpl_members_list(fine->up, fine->n, n, first, member);
	coarse->row[0] = 0;
	for (int c = 0; c < n; c++) {
		int64_t start = used;

		for (int i = first[c]; i < first[c + 1]; i++) {
			int v = member[i];

			coarse->weight[c] += fine->weight[v];
			for (int64_t e = fine->row[v]; e < fine->row[v + 1];
			     e++) {
				int to = fine->up[fine->to[e]];

				if (to == c)
					continue;
				if (b->mark[to] < 0) {
					b->mark[to] = (int)(used - start);
					coarse->to[used] = to;
					coarse->bytes[used++] = 0;
				}
				coarse->bytes[start + b->mark[to]] +=
				        fine->bytes[e];
			}
		}
		for (int64_t e = start; e < used; e++)
			b->mark[coarse->to[e]] = -1;
		coarse->row[c + 1] = used;
		if (coarse->weight[c] > coarse->heaviest)
			coarse->heaviest = coarse->weight[c];
	}
	return 0;
}

static int coarsen(struct bisect *b)
{
	b->n_levels = 1;
	while (b->n_levels < MAX_LEVELS) {
		struct bisect_level *l = &b->level[b->n_levels - 1];
		int n;

		if (l->n <= COARSE || expired(b))
			break;
		n = match(b, l, b->n_levels);
		if (n > l->n - l->n / 20)
			break;
		b->n_levels++;
		if (contract(b, l, l + 1, n))
			return -1;
	}
	return 0;
}

static double cut_of(const struct bisect_level *l)
{
	double cut = 0;

	for (int v = 0; v < l->n; v++)
		for (int64_t e = l->row[v]; e < l->row[v + 1]; e++)
			if (l->side[v] < l->side[l->to[e]])
				cut += l->bytes[e];
	return cut;
}

static void flip(struct bisect *b, struct bisect_level *l, int v, int64_t *left)
{
	int side = l->side[v];

	*left += side ? l->weight[v] : -l->weight[v];
	l->side[v] = (unsigned char)!side;
	b->gain[v] = -b->gain[v];
	for (int64_t e = l->row[v]; e < l->row[v + 1]; e++) {
		int u = l->to[e];

		if (u == v)
			continue;
		/* The edge was inside for u on the side that v left. */
		if (l->side[u] == side) {
			b->gain[u] += 2 * l->bytes[e];
			if (cpl_heap_has(&b->heap[side], u))
				cpl_heap_raise(&b->heap[side], u);
		} else {
			b->gain[u] -= 2 * l->bytes[e];
			if (cpl_heap_has(&b->heap[!side], u))
				cpl_heap_lower(&b->heap[!side], u);
		}
	}
}

static int64_t set_gains(struct bisect *b, struct bisect_level *l)
{
	int64_t left = 0;

	for (int v = 0; v < l->n; v++) {
		b->gain[v] = 0;
		left += l->side[v] ? 0 : l->weight[v];
		for (int64_t e = l->row[v]; e < l->row[v + 1]; e++)
			if (l->to[e] != v)
				b->gain[v] += l->side[v] == l->side[l->to[e]]
				                      ? -l->bytes[e]
				                      : l->bytes[e];
	}
	return left;
}

/* The side to move from; -1 when no move keeps to the tolerance. */
static int pick_side(const struct bisect *b, const struct bisect_level *l,
                     int64_t left, int64_t slack)
{
	bool may[2];

	for (int s = 0; s < 2; s++) {
		int64_t now = s ? b->n_left - left : left - b->n_left;

		may[s] = b->heap[s].n &&
		         (now > 0 ||
		          l->weight[b->heap[s].item[0]] - now <= slack);
	}
	if (left - b->n_left > slack)
		may[1] = false;
	if (b->n_left - left > slack)
		may[0] = false;
	if (may[0] && may[1])
		return b->gain[b->heap[1].item[0]] >
		       b->gain[b->heap[0].item[0]];
	return may[0] ? 0 : may[1] ? 1 : -1;
}

static int64_t excess(const struct bisect *b, int64_t left, int64_t tolerance)
{
	int64_t off = left > b->n_left ? left - b->n_left : b->n_left - left;

	return off > tolerance ? off - tolerance : 0;
}

/* One pass of Fiduccia and Mattheyses; true when it gained. */
static bool pass(struct bisect *b, struct bisect_level *l, int64_t tolerance)
{
	int64_t left = set_gains(b, l), off = excess(b, left, tolerance);
	int64_t slack = tolerance > l->heaviest ? tolerance : l->heaviest;
	double change = 0, best = 0, scale = 0;
	int n_moved = 0, n_best = 0;
	bool gained = false;

	cpl_heap_clear(&b->heap[0]);
	cpl_heap_clear(&b->heap[1]);
	for (int v = 0; v < l->n; v++) {
		cpl_heap_add(&b->heap[l->side[v]], v);
		if (b->gain[v] > scale || -b->gain[v] > scale)
			scale = b->gain[v] > 0 ? b->gain[v] : -b->gain[v];
	}
	cpl_heap_order(&b->heap[0]);
	cpl_heap_order(&b->heap[1]);
	while (n_moved - n_best < STALL) {
		int side = pick_side(b, l, left, slack), v;
		int64_t off_now;

		if (side < 0)
			break;
		v = b->heap[side].item[0];
		cpl_heap_remove(&b->heap[side], v);
		change -= b->gain[v];
		flip(b, l, v, &left);
		b->moved[n_moved++] = v;
		off_now = excess(b, left, tolerance);
		if (off_now < off ||
		    (off_now == off && change < best - GAIN * scale)) {
			off = off_now;
			best = change;
			n_best = n_moved;
			gained = true;
		}
	}
	while (n_moved > n_best) {
		int v = b->moved[--n_moved];

		l->side[v] = (unsigned char)!l->side[v];
	}
	return gained;
}

static void refine(struct bisect *b, struct bisect_level *l, int depth)
{
	int64_t tolerance = depth ? l->heaviest : 0;

	for (int i = 0; i < PASSES && !expired(b) && pass(b, l, tolerance); i++)
		;
}

/* Grow the left half from one vertex, always by the one that gains most. */
static void grow(struct bisect *b, struct bisect_level *l, int start)
{
	struct cpl_heap *heap = &b->heap[1];
	int64_t left;

	memset(l->side, 1, (size_t)l->n);
	left = set_gains(b, l);
	cpl_heap_clear(&b->heap[0]);
	cpl_heap_clear(heap);
	for (int v = 0; v < l->n; v++)
		cpl_heap_add(heap, v);
	cpl_heap_order(heap);
	while (left < b->n_left && heap->n) {
		int v = left ? heap->item[0] : start;

		cpl_heap_remove(heap, v);
		if (left && left + l->weight[v] - b->n_left > b->n_left - left)
			break;
		flip(b, l, v, &left);
	}
}

static void start_halves(struct bisect *b)
{
	struct bisect_level *l = &b->level[b->n_levels - 1];
	double least = 0;
	bool any = false;

	/* Coarser graphs are others in each run. */
	if (b->n_levels > 1)
		memset(b->grown, 0, (size_t)l->n);
	for (int i = 0; i < GROW_STARTS; i++) {
		int start = (int)cpl_random_below(
		        b->seed, CPL_STREAM_BISECT_START, (uint64_t)i,
		        (uint64_t)l->n);
		double cut;

		if (b->grown[start])
			continue;
		b->grown[start] = 1;
		grow(b, l, start);
		refine(b, l, b->n_levels - 1);
		cut = cut_of(l);
		if (any && cut >= least)
			continue;
		any = true;
		least = cut;
		memcpy(b->kept, l->side, (size_t)l->n);
	}
	if (any)
		memcpy(l->side, b->kept, (size_t)l->n);
}

/* Compute the halves in the finest level's side[]. 1: time is out, and they are
 * not exact. */
static int bisect_levels(struct bisect *b)
{
	int rc = coarsen(b);

	if (!rc && !(rc = expired(b))) {
		start_halves(b);
		for (int d = b->n_levels - 2; d >= 0; d--) {
			struct bisect_level *l = &b->level[d];

			for (int v = 0; v < l->n; v++)
				l->side[v] = b->level[d + 1].side[l->up[v]];
			refine(b, l, d);
		}
		rc = expired(b);
	}
	for (int d = 1; d < b->n_levels; d++) {
		cpl_arena_free(&b->level[d].arena);
		b->level[d] = (struct bisect_level){0};
	}
	return rc;
}

static int init(struct bisect *b, const struct cpl_comm *graph)
{
	struct bisect_level *l = &b->level[0];
	struct cpl_arena *arena = &l->arena;
	int n = graph->ranks;

	l->n = n;
	l->row = graph->row;
	l->to = graph->to;
	l->bytes = graph->bytes;
	l->weight = cpl_arena_take(arena, n, sizeof(*l->weight));
	l->up = cpl_arena_take(arena, n, sizeof(*l->up));
	l->side = cpl_arena_take(arena, n, 1);
	l->heaviest = 1;
	b->gain = cpl_arena_take(arena, n, sizeof(*b->gain));
	b->moved = cpl_arena_take(arena, n, sizeof(*b->moved));
	b->mark = cpl_arena_take(arena, n, sizeof(*b->mark));
	b->kept = cpl_arena_take(arena, n, 1);
	b->grown = cpl_arena_take(arena, n, 1);
	if (arena->failed || cpl_heap_init(&b->heap[0], n, b->gain, NULL) ||
	    cpl_heap_init(&b->heap[1], n, b->gain, NULL))
		return -1;
	for (int i = 0; i < n; i++) {
		l->weight[i] = 1;
		b->mark[i] = -1;
	}
	return 0;
}

int cpl_graph_bisect(const struct cpl_comm *graph, int n_left, uint64_t seed,
                     int runs, bool (*is_over)(void *arg), void *arg,
                     unsigned char *side, struct cpl_error *err)
{
	struct bisect b = {
	        .n_left = n_left,
	        .ranks = graph->ranks,
	        .expired = is_over,
	        .expired_arg = arg,
	};
	double least = 0;
	int rc = -1;

	if (n_left <= 0 || n_left >= graph->ranks) {
		memset(side, n_left <= 0, (size_t)graph->ranks);
		return 0;
	}
	for (int v = 0; v < graph->ranks; v++)
		side[v] = v >= n_left;
	/* Of two, either may be left. */
	if (graph->ranks == 2)
		return 0;
	if (init(&b, graph))
		goto out;
	for (int i = 0; i < runs; i++) {
		double cut;

		b.seed = seed + (uint64_t)i * 7919;
		rc = bisect_levels(&b);
		if (rc)
			break;
		cut = cut_of(&b.level[0]);
		if (i && cut >= least)
			continue;
		least = cut;
		memcpy(side, b.level[0].side, (size_t)graph->ranks);
	}
out:
	cpl_arena_free(&b.level[0].arena);
	cpl_heap_free(&b.heap[0]);
	cpl_heap_free(&b.heap[1]);
	return rc < 0 ? cpl_fail_memory(err) : 0;
}
