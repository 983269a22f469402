/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping_internal.h"

#define PASSES 4
/* Edges looked at by the swaps between parts, per edge of the graph. */
#define WORK 200
#define GAIN 1e-9
/* Ranks between two looks at the clock. */
#define CHECK_EVERY 64

struct partition {
	const struct cpl_comm *graph;
	const int *slots;
	const int *first; /* [parts + 1] sums of slots */
	uint64_t seed;
	bool (*expired)(void *arg);
	void *expired_arg;
	int *part;
};

static bool expired(const struct partition *p)
{
	return p->expired && p->expired(p->expired_arg);
}

/* The ranks in their order over the parts from low on. */
static void block_order(struct partition *p, const int *rank, int n, int low)
{
	int start = p->first[low];

	for (int i = 0; i < n; i++) {
		while (start + i >= p->first[low + 1])
			low++;
		p->part[rank[i]] = low;
	}
}

/* Split the ranks of graph (rank[i] of the whole) over parts low .. high - 1,
 * reordering rank[] so that each half is contiguous. */
static int split(struct partition *p, const struct cpl_comm *graph, int *rank,
                 int low, int high, struct cpl_error *err)
{
	int middle = low + (high - low) / 2;
	int n = graph->ranks, n_left = p->first[middle] - p->first[low];
	unsigned char *side;
	int *half;
	int at[2] = {0, n_left}, rc = -1;

	if (high - low == 1 || n == 0 || expired(p)) {
		block_order(p, rank, n, low);
		return 0;
	}
	side = malloc((size_t)n);
	half = malloc((size_t)n * sizeof(*half));
	if (!side || !half) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_map_bisect(graph, n_left, p->seed + (uint64_t)low, p->expired,
	                   p->expired_arg, side, err))
		goto out;
	for (int i = 0; i < n; i++)
		half[at[side[i]]++] = i;
	for (int s = 0; s < 2; s++) {
		int from = s ? n_left : 0, count = s ? n - n_left : n_left;
		struct cpl_comm *sub =
		        cpl_comm_subset(graph, half + from, count, err);
		int *inner = malloc(((size_t)count + 1) * sizeof(*inner));

		for (int i = 0; inner && i < count; i++)
			inner[i] = rank[half[from + i]];
		rc = !sub     ? -1
		     : !inner ? cpl_fail_memory(err)
		              : split(p, sub, inner, s ? middle : low,
		                      s ? high : middle, err);
		cpl_comm_free(sub);
		free(inner);
		if (rc)
			break;
	}
out:
	free(side);
	free(half);
	return rc;
}

struct swaps {
	const struct partition *p;
	int *member;   /* [ranks] ranks by part */
	int *position; /* [ranks] index into member */
	double *bytes; /* [parts] of the rank at hand; 0 between uses */
	int *heard;    /* [parts] parts with an entry in bytes */
	int64_t work;
};

/* What the cut loses when rank goes from its part to another, and the rank's
 * traffic with `other`. */
static double gain_of(struct swaps *s, int rank, int to, int other,
                      double *between)
{
	const struct cpl_comm *graph = s->p->graph;
	const int *part = s->p->part;
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

static void swap(struct swaps *s, int a, int b)
{
	int *part = s->p->part, t = part[a];

	part[a] = part[b];
	part[b] = t;
	t = s->position[a];
	s->position[a] = s->position[b];
	s->position[b] = t;
	s->member[s->position[a]] = a;
	s->member[s->position[b]] = b;
}

static bool improve(struct swaps *s, int rank)
{
	const struct cpl_comm *graph = s->p->graph;
	const int *part = s->p->part, *first = s->p->first;
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
			int other = s->member[i];
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
	swap(s, rank, best);
	return true;
}

static int swaps(struct partition *p, int n_parts, struct cpl_error *err)
{
	size_t ranks = (size_t)p->graph->ranks, parts = (size_t)n_parts;
	struct swaps s = {
	        .p = p,
	        .member = malloc((ranks + 1) * sizeof(int)),
	        .position = malloc((ranks + 1) * sizeof(int)),
	        .bytes = calloc(parts, sizeof(double)),
	        .heard = malloc(parts * sizeof(int)),
	        .work = WORK * (p->graph->n_entries + 1),
	};
	int *at = malloc(parts * sizeof(*at)), rc = -1;
	bool gained = true;

	if (!s.member || !s.position || !s.bytes || !s.heard || !at) {
		cpl_fail_memory(err);
		goto out;
	}
	memcpy(at, p->first, parts * sizeof(*at));
	for (int r = 0; r < p->graph->ranks; r++) {
		s.position[r] = at[p->part[r]]++;
		s.member[s.position[r]] = r;
	}
	for (int i = 0; i < PASSES && gained; i++) {
		gained = false;
		for (int r = 0; r < p->graph->ranks && s.work > 0; r++) {
			if (r % CHECK_EVERY == 0 && expired(p))
				s.work = 0;
			else
				gained |= improve(&s, r);
		}
	}
	rc = 0;
out:
	free(s.member);
	free(s.position);
	free(s.bytes);
	free(s.heard);
	free(at);
	return rc;
}

int cpl_map_partition(const struct cpl_comm *graph, const int *slots,
                      int n_parts, uint64_t seed, bool (*is_over)(void *arg),
                      void *arg, int *part, struct cpl_error *err)
{
	struct partition p = {.graph = graph,
	                      .slots = slots,
	                      .seed = seed,
	                      .expired = is_over,
	                      .expired_arg = arg,
	                      .part = part};
	int *first = calloc((size_t)n_parts + 1, sizeof(*first));
	int *rank = malloc(((size_t)graph->ranks + 1) * sizeof(*rank));
	int rc = -1;

	if (!first || !rank) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n_parts; i++)
		first[i + 1] = first[i] + slots[i];
	for (int r = 0; r < graph->ranks; r++)
		rank[r] = r;
	p.first = first;
	rc = split(&p, graph, rank, 0, n_parts, err);
	if (!rc && n_parts > 1)
		rc = swaps(&p, n_parts, err);
out:
	free(first);
	free(rank);
	return rc;
}
