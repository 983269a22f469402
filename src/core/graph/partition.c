/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/partition.h"

#include <string.h>

#include "graph/arena.h"
#include "graph/members.h"

#define PASSES 4
/* Edges looked at by the swaps between parts, per edge of the graph. */
#define WORK 200
#define GAIN 1e-9
/* Ranks between two looks at the clock. */
#define CHECK_EVERY 64

static int middle(const struct cpl_halving *how, int low, int high)
{
	if (high - low < 2)
		return 0;
	return how->middle ? how->middle(how->arg, low, high)
	                   : low + (high - low) / 2;
}

/* The ranks of graph, which are order[] of the whole, go to the targets low ..
 * high. */
static int halve(const struct cpl_halving *how, const struct cpl_comm *graph,
                 int low, int high, int *order, struct cpl_error *err)
{
	int n = graph->ranks, cut = n ? middle(how, low, high) : 0;
	int n_left = how->first ? how->first[cut] - how->first[low] : cut - low;
	int at[2] = {0, n_left}, rc = -1;
	uint64_t seed = how->seed + (how->seed_by_target ? (uint64_t)low : 0);
	struct cpl_arena arena = {0};
	unsigned char *side;
	int *vertex, *moved;

	if (!cut || (how->expired && how->expired(how->expired_arg)))
		return 0;
	side = cpl_arena_take_raw(&arena, n, 1);
	vertex = cpl_arena_take_raw(&arena, n, sizeof(*vertex));
	moved = cpl_arena_take_raw(&arena, n, sizeof(*moved));
	if (arena.failed ||
	    cpl_graph_bisect(graph, n_left, seed, how->runs, how->expired,
	                     how->expired_arg, side, err))
		goto out;
	for (int v = 0; v < n; v++) {
		moved[at[side[v]]] = order[v];
		vertex[at[side[v]]++] = v;
	}
	memcpy(order, moved, (size_t)n * sizeof(*order));
	for (int s = 0; s < 2; s++) {
		int from = s ? n_left : 0, count = s ? n - n_left : n_left;
		struct cpl_comm *half =
		        cpl_comm_subset(graph, vertex + from, count, err);

		rc = half ? halve(how, half, s ? cut : low, s ? high : cut,
		                  order + from, err)
		          : -1;
		cpl_comm_free(half);
		if (rc)
			break;
	}
out:
	return cpl_arena_end(&arena, rc, err);
}

int cpl_graph_halve(const struct cpl_comm *graph, const struct cpl_halving *how,
                    int *order, struct cpl_error *err)
{
	for (int r = 0; r < graph->ranks; r++)
		order[r] = r;
	return halve(how, graph, 0, how->n, order, err);
}

struct partition_swaps {
	const struct cpl_comm *graph;
	struct cpl_members ranks; /* in parts */
	double *bytes; /* [parts] of the rank at hand; 0 between uses */
	int *heard;    /* [parts] parts with an entry in bytes */
	int64_t work;
};

/* What the cut loses when rank goes from its part to another, and the rank's
 * traffic with `other`. */
static double gain_of(struct partition_swaps *s, int rank, int to, int other,
                      double *between)
{
	const struct cpl_comm *graph = s->graph;
	const int *part = s->ranks.set;
	double gain = 0;

	*between = 0;
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int u = graph->to[e];

		if (u == rank)
			continue;
		if (part[u] == to)
			gain += graph->bytes[e];
		else if (part[u] == part[rank])
			gain -= graph->bytes[e];
		if (u == other)
			*between += graph->bytes[e];
	}
	s->work -= graph->row[rank + 1] - graph->row[rank];
	return gain;
}

static bool improve(struct partition_swaps *s, int rank)
{
	const struct cpl_comm *graph = s->graph;
	const int *part = s->ranks.set, *first = s->ranks.first;
	int own = part[rank], n_heard = 0, best = -1;
	double sum = 0, most;

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int to = part[graph->to[e]];

		if (graph->to[e] == rank || !(graph->bytes[e] > 0))
			continue;
		if (s->bytes[to] == 0)
			s->heard[n_heard++] = to;
		s->bytes[to] += graph->bytes[e];
		sum += graph->bytes[e];
	}
	most = GAIN * sum;
	for (int k = 0; k < n_heard && s->work > 0; k++) {
		int to = s->heard[k];

		if (to == own)
			continue;
		for (int i = first[to]; i < first[to + 1]; i++) {
			int other = s->ranks.member[i];
			double between;
			double gain = gain_of(s, other, own, rank, &between);

			gain += s->bytes[to] - s->bytes[own] - 2 * between;
			if (gain > most) {
				most = gain;
				best = other;
			}
		}
	}
	for (int k = 0; k < n_heard; k++)
		s->bytes[s->heard[k]] = 0;
	if (best < 0)
		return false;
	cpl_members_swap(&s->ranks, rank, best);
	return true;
}

static int swaps(const struct cpl_comm *graph, const struct cpl_halving *how,
                 int *part, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct partition_swaps s = {
	        .graph = graph,
	        .bytes = cpl_arena_take(&arena, how->n, sizeof(double)),
	        .heard = cpl_arena_take(&arena, how->n, sizeof(int)),
	        .work = WORK * (graph->n_entries + 1),
	};
	bool gained = true;
	int rc = -1;

	if (arena.failed ||
	    cpl_members_init(&s.ranks, part, graph->ranks, how->n, err))
		goto out;
	for (int i = 0; i < PASSES && gained; i++) {
		gained = false;
		for (int r = 0; r < graph->ranks && s.work > 0; r++) {
			if (r % CHECK_EVERY == 0 && how->expired &&
			    how->expired(how->expired_arg))
				s.work = 0;
			else
				gained |= improve(&s, r);
		}
	}
	rc = 0;
out:
	cpl_members_free(&s.ranks);
	return cpl_arena_end(&arena, rc, err);
}

int cpl_graph_partition(const struct cpl_comm *graph, const int *slots,
                        int n_parts, uint64_t seed, int runs,
                        bool (*is_over)(void *arg), void *arg, int *part,
                        struct cpl_error *err)
{
	struct cpl_halving how = {.n = n_parts,
	                          .seed = seed,
	                          .seed_by_target = true,
	                          .runs = runs,
	                          .expired = is_over,
	                          .expired_arg = arg};
	struct cpl_arena arena = {0};
	int *first = cpl_arena_take(&arena, n_parts + 1, sizeof(*first));
	int *rank = cpl_arena_take(&arena, graph->ranks, sizeof(*rank));
	int rc = -1;

	for (int i = 0; i < n_parts && !arena.failed; i++)
		first[i + 1] = first[i] + slots[i];
	how.first = first;
	if (!arena.failed)
		rc = cpl_graph_halve(graph, &how, rank, err);
	for (int i = 0; !rc && i < n_parts; i++)
		for (int k = first[i]; k < first[i + 1]; k++)
			part[rank[k]] = i;
	if (!rc && n_parts > 1)
		rc = swaps(graph, &how, part, err);
	return cpl_arena_end(&arena, rc, err);
}

double cpl_graph_cut(const struct cpl_comm *graph, const int *part)
{
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (part[r] != part[graph->to[e]])
				sum += graph->bytes[e];
	return sum;
}
