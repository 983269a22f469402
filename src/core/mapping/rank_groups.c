/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/rank_groups.h"

#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"
#include "graph/contract.h"
#include "graph/heap.h"
#include "mapping/rank_boxes.h"
#include "traffic/ports.h"

/* Traffic between groups must fall by more than this share to count. */
#define GAIN 1e-9
/* The weight of traffic with a partner's partner. */
#define SECOND (1.0 / 64)
/* That weight is left out where it needs a look at more entries: some 5 ms. */
#define FAR_WORK 5e5

void cpl_rank_groups_list_blocks(const int *size, int n, int ranks, int *of)
{
	int rank = 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < size[i] && rank < ranks; k++)
			of[rank++] = i;
}

/* Traffic between ports of one host stays inside and goes to the diagonal. */
static void keep_inside(struct cpl_comm *comm, int ports)
{
	int64_t n = 0, e = 0;

	for (int i = 0; i < comm->ranks; i++) {
		int64_t end = comm->row[i + 1], inside = -1;

		comm->row[i] = n;
		for (; e < end; e++) {
			bool stays = comm->to[e] / ports == i / ports;
			int64_t at = stays && inside >= 0 ? inside : n++;

			bool more = at == inside;

			comm->to[at] = stays ? i : comm->to[e];
			comm->bytes[at] = comm->bytes[e] +
			                  (more ? comm->bytes[at] : 0);
			if (comm->messages)
				comm->messages[at] =
				        comm->messages[e] +
				        (more ? comm->messages[at] : 0);
			inside = stays ? at : inside;
		}
	}
	comm->row[comm->ranks] = comm->n_entries = n;
}

/* Adds up the traffic of the groups of[] by port. */
static int split_ports(struct cpl_rank_groups *groups,
                      const struct cpl_network *net,
                      const struct cpl_comm *comm, const int *of,
                      struct cpl_error *err)
{
	int *cable = malloc((size_t)comm->ranks * sizeof(*cable));
	struct cpl_comm *split = NULL;

	if (!cable)
		return cpl_fail_memory(err);
	if (!cpl_port_pin(net, of, groups->n, comm->ranks, cable, err))
		split = cpl_comm_contract(comm, cable, groups->n * net->n_ports,
		                          CPL_CONTRACT_INSIDE, err);
	free(cable);
	if (!split)
		return -1;
	keep_inside(split, net->n_ports);
	*(net->by_port ? &groups->ports : &groups->rails) = split;
	return 0;
}

/* Have ranks ports of their own, each, or those of their accelerators? */
static bool are_split(const struct cpl_network *net)
{
	return net->by_port ||
	       (net->n_ports > 1 && net->port_use == CPL_PORTS_AFFINITY);
}

double cpl_rank_groups_rail(const struct cpl_rank_groups *groups,
                            const struct cpl_network *net, const int *node,
                            double *load)
{
	const struct cpl_comm *c = groups->ports   ? groups->ports
	                           : groups->rails ? groups->rails
	                                           : groups->hosts;
	int p = c->ranks / groups->n;
	bool pxn = p > 1 && net->accelerators.pxn;
	double *in = load + c->ranks, most = 0;

	memset(load, 0, 2 * (size_t)c->ranks * sizeof(*load));
	for (int from = 0; from < c->ranks; from++)
		for (int64_t e = c->row[from]; e < c->row[from + 1]; e++) {
			int to = c->to[e], a = node[from / p], b = node[to / p];

			if (a == b || cpl_network_share_domain(net, a, b))
				continue;
			load[pxn ? from - from % p + to % p : from] +=
			        c->bytes[e];
			in[to] += c->bytes[e];
		}
	for (int i = 0; i < 2 * c->ranks; i++)
		most = load[i] > most ? load[i] : most;
	return most;
}

/* Adds up the traffic of the groups of[]. */
static int contract(struct cpl_rank_groups *groups,
                    const struct cpl_network *net, const struct cpl_comm *comm,
                    const int *of, struct cpl_error *err)
{
	groups->hosts = cpl_comm_contract(comm, of, groups->n,
	                                  CPL_CONTRACT_INSIDE, err);
	if (!groups->hosts)
		return -1;
	return net && are_split(net) ? split_ports(groups, net, comm, of, err)
	                             : 0;
}

int cpl_rank_groups_given(struct cpl_rank_groups *groups,
                          const struct cpl_network *net,
                          const struct cpl_comm *comm, const int *of, int n,
                          struct cpl_error *err)
{
	size_t size = (size_t)comm->ranks * sizeof(*of);

	*groups = (struct cpl_rank_groups){.n = n, .of = malloc(size)};
	if (!groups->of)
		return cpl_fail_memory(err);
	memcpy(groups->of, of, size);
	return contract(groups, net, comm, of, err);
}

int cpl_rank_groups_blocks(struct cpl_rank_groups *groups,
                           const struct cpl_network *net,
                           const struct cpl_comm *comm, const int *size, int n,
                           struct cpl_error *err)
{
	int *of = malloc((size_t)comm->ranks * sizeof(*of));
	int rc;

	*groups = (struct cpl_rank_groups){.n = n};
	if (!of)
		return cpl_fail_memory(err);
	cpl_rank_groups_list_blocks(size, n, comm->ranks, of);
	rc = contract(groups, net, comm, of, err);
	free(of);
	return rc;
}

void cpl_rank_groups_free(struct cpl_rank_groups *groups)
{
	free(groups->of);
	cpl_comm_free(groups->hosts);
	cpl_comm_free(groups->ports);
	cpl_comm_free(groups->rails);
	*groups = (struct cpl_rank_groups){0};
}

/* What is known of ranks while groups grow. */
struct group_growing {
	const struct cpl_comm *graph;
	int *of;            /* -1: free */
	double *pull;       /* traffic with the group, and SECOND of far */
	double *far;        /* with ranks that talk with the group, by the share
	                     * of their traffic that does; NULL: too much
	                     * work */
	int *far_of;        /* the group that far[] is valid for */
	double *all;        /* a rank's traffic */
	double *taken;      /* the part of it with ranks that are not free */
	struct cpl_heap near;
	struct cpl_heap rim; /* free ranks that have any, by it: groups begin
	                      * there, so that no single ranks are left over */
	int group;
};

/* A free rank is pulled more. */
static void pull_more(struct group_growing *g, int rank, double more, bool near)
{
	if (cpl_heap_has(&g->near, rank)) {
		g->pull[rank] += more;
		cpl_heap_raise(&g->near, rank);
	} else if (near) {
		g->pull[rank] = more;
		if (g->far && g->far_of[rank] == g->group)
			g->pull[rank] += SECOND * g->far[rank];
		cpl_heap_push(&g->near, rank);
	}
}

/* Those that `via` talks with count as near, though less: without that all
 * ranks of a stencil pull alike, and groups grow as lines. */
static void pull_far(struct group_growing *g, int via, double part)
{
	const struct cpl_comm *graph = g->graph;

	for (int64_t e = graph->row[via]; e < graph->row[via + 1]; e++) {
		int rank = graph->to[e];
		double more = part * graph->bytes[e];

		if (g->of[rank] >= 0 || rank == via)
			continue;
		if (g->far_of[rank] != g->group) {
			g->far_of[rank] = g->group;
			g->far[rank] = 0;
		}
		g->far[rank] += more;
		pull_more(g, rank, SECOND * more, false);
	}
}

static void take_rank(struct group_growing *g, int rank)
{
	const struct cpl_comm *graph = g->graph;

	g->of[rank] = g->group;
	if (cpl_heap_has(&g->near, rank))
		cpl_heap_remove(&g->near, rank);
	if (cpl_heap_has(&g->rim, rank))
		cpl_heap_remove(&g->rim, rank);
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int other = graph->to[e];

		if (g->of[other] >= 0 || !(graph->bytes[e] > 0))
			continue;
		g->taken[other] += graph->bytes[e];
		if (cpl_heap_has(&g->rim, other))
			cpl_heap_raise(&g->rim, other);
		else
			cpl_heap_push(&g->rim, other);
		pull_more(g, other, graph->bytes[e], true);
		if (g->far)
			pull_far(g, other, graph->bytes[e] / g->all[other]);
	}
}

static void grow(struct group_growing *g, const int *size, int n)
{
	int lowest = 0, left = g->graph->ranks;

	for (g->group = 0; g->group < n; g->group++) {
		cpl_heap_clear(&g->near);
		for (int k = 0; k < size[g->group] && left > 0; k++, left--) {
			while (g->of[lowest] >= 0)
				lowest++;
			take_rank(g, g->near.n  ? g->near.item[0]
			             : g->rim.n ? g->rim.item[0]
			                        : lowest);
		}
	}
}

/* Are entries few enough for pull_far, which looks at those of all partners? */
static bool looks_far(const struct cpl_comm *graph)
{
	double work = 0;

	for (int r = 0; r < graph->ranks; r++) {
		double degree = (double)(graph->row[r + 1] - graph->row[r]);

		work += degree * degree;
	}
	return work <= FAR_WORK;
}

static int open_growing(struct group_growing *g, const struct cpl_comm *graph,
                        struct cpl_arena *arena, struct cpl_error *err)
{
	int n = graph->ranks;

	*g = (struct group_growing){.graph = graph};
	g->of = cpl_arena_take_raw(arena, n, sizeof(*g->of));
	g->pull = cpl_arena_take(arena, n, sizeof(*g->pull));
	g->taken = cpl_arena_take(arena, n, sizeof(*g->taken));
	if (looks_far(graph)) {
		g->far = cpl_arena_take(arena, n, sizeof(*g->far));
		g->far_of = cpl_arena_take_raw(arena, n, sizeof(*g->far_of));
		g->all = cpl_arena_take(arena, n, sizeof(*g->all));
	}
	if (arena->failed)
		return cpl_fail_memory(err);
	for (int r = 0; r < n; r++)
		g->of[r] = -1;
	for (int r = 0; r < n && g->far; r++) {
		g->far_of[r] = -1;
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			g->all[r] += graph->bytes[e];
	}
	return cpl_heap_init(&g->near, n, g->pull, err) ||
	                       cpl_heap_init(&g->rim, n, g->taken, err)
	               ? -1
	               : 0;
}

/* Is the largest, or the sum, less in a? */
static bool gains(const struct cpl_group_cut *a, const struct cpl_group_cut *b)
{
	return a->most < b->most * (1 - GAIN) || a->all < b->all * (1 - GAIN);
}

/* Takes columns if blocks are no better than they. Returns 1; 0; or -1. */
static int try_columns(const struct cpl_comm *comm,
                       const struct cpl_comm *graph, const int *size, int n,
                       const struct cpl_group_cut *block, double *sums, int *of,
                       struct cpl_error *err)
{
	int rc = size[0] > 1 ? cpl_rank_columns(graph, size, n, of, err) : 0;
	struct cpl_group_cut cut;

	if (rc <= 0)
		return rc;
	cut = cpl_group_cut(comm, of, n, sums);
	return !gains(block, &cut);
}

/* Puts the better of grown groups and boxes into of[] if it beats blocks, or
 * columns if they are no worse. Returns 1; 0; or -1 with err. */
static int choose(struct group_growing *g, const struct cpl_comm *comm,
                  const int *size, int n, struct cpl_arena *arena, int **of,
                  struct cpl_error *err)
{
	int *other = cpl_arena_take_raw(arena, comm->ranks, sizeof(*other));
	double *sums = cpl_arena_take_raw(arena, 2 * (int64_t)n, sizeof(*sums));
	struct cpl_group_cut block, best, boxes;
	int rc;

	if (arena->failed)
		return cpl_fail_memory(err);
	cpl_rank_groups_list_blocks(size, n, comm->ranks, other);
	block = cpl_group_cut(comm, other, n, sums);
	best = cpl_group_cut(comm, g->of, n, sums);
	*of = g->of;
	rc = size[0] > 1 ? cpl_rank_boxes(comm, g->graph, size, n, other,
	                                  &boxes, err)
	                 : 0;
	if (rc < 0)
		return -1;
	if (rc && cpl_group_cut_better(&boxes, &best)) {
		*of = other;
		best = boxes;
	}
	if (gains(&best, &block))
		return 1;
	*of = other;
	return try_columns(comm, g->graph, size, n, &block, sums, other, err);
}

int cpl_rank_groups_grow(struct cpl_rank_groups *groups,
                    const struct cpl_network *net, const struct cpl_comm *comm,
                    const struct cpl_comm *graph, const int *size, int n,
                    struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct group_growing g;
	int rc = -1, *of = NULL;

	*groups = (struct cpl_rank_groups){0};
	if (open_growing(&g, graph, &arena, err))
		goto out;
	grow(&g, size, n);
	rc = choose(&g, comm, size, n, &arena, &of, err);
	if (rc > 0 && cpl_rank_groups_given(groups, net, comm, of, n, err)) {
		cpl_rank_groups_free(groups);
		rc = -1;
	}
out:
	cpl_heap_free(&g.near);
	cpl_heap_free(&g.rim);
	cpl_arena_free(&arena);
	return rc;
}
