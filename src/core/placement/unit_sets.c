/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/unit_sets.h"

#include <stdlib.h>

#include "base/sort.h"
#include "graph/arena.h"
#include "graph/members.h"

/* Steps from router to router that looking for a start may take. */
#define BALL_WORK 2000000

/* The levels, the routers last, with the free nodes of their units. */
struct unit_counts {
	const struct cpl_network *net;
	const unsigned char *free;
	int n_levels;
	/* NULL: the routers. */
	const struct cpl_level *level[CPL_NETWORK_MAX_LEVELS + 1];
	int n_units[CPL_NETWORK_MAX_LEVELS + 1];
	int *count[CPL_NETWORK_MAX_LEVELS + 1]; /* free and not taken */
	int *in_domain; /* [domains + 1] 0; the first of nodes in none */
	int *out, used;
	struct cpl_arena arena;
};

static void add_level(struct unit_counts *r, const struct cpl_level *level)
{
	int n = level ? level->n_units : r->net->n_node_routers;

	r->level[r->n_levels] = level;
	r->n_units[r->n_levels] = n;
	r->count[r->n_levels++] = cpl_arena_take(&r->arena, n, sizeof(int));
}

static int unit_of(const struct unit_counts *r, int level, int router)
{
	return r->level[level] ? cpl_level_unit(r->level[level], router)
	                       : router;
}

static int open_counts(struct unit_counts *r, const struct cpl_network *net,
                      const unsigned char *free, int *out,
                      struct cpl_error *err)
{
	*r = (struct unit_counts){.net = net, .free = free, .out = out};
	for (int l = 0; l < net->n_levels; l++)
		if (net->level[l].n_units < net->n_node_routers)
			add_level(r, &net->level[l]);
	add_level(r, NULL);
	r->in_domain = cpl_arena_take(&r->arena,
	                              net->accelerators.n_domains + 1,
	                              sizeof(*r->in_domain));
	if (r->arena.failed)
		return cpl_arena_end(&r->arena, -1, err);
	for (int i = 0; i < net->n_nodes; i++)
		for (int l = 0; l < r->n_levels && free[i]; l++)
			r->count[l][unit_of(r, l, cpl_network_router(net, i))]++;
	return 0;
}

static int close_counts(struct unit_counts *r, struct cpl_error *err)
{
	qsort(r->out, (size_t)r->used, sizeof(*r->out), cpl_by_int);
	return cpl_arena_end(&r->arena, 0, err);
}

static int first_router(const struct unit_counts *r, int level, int u)
{
	return r->level[level]->first_router[u];
}

/* The units of the next level in unit u: *first up to the one returned. */
static int inside(const struct unit_counts *r, int level, int u, int *first)
{
	*first = unit_of(r, level + 1, first_router(r, level, u));
	return unit_of(r, level + 1, first_router(r, level, u + 1) - 1) + 1;
}

/* Take n of a router's free nodes, of one domain (-2: of any). */
static void take_nodes(struct unit_counts *r, struct cpl_nodes nodes,
                       int domain, int n)
{
	const int *of = r->net->accelerators.domain_of;

	for (int i = 0; i < nodes.n && n > 0; i++)
		if (r->free[nodes.node[i]] &&
		    (domain == -2 || of[nodes.node[i]] == domain)) {
			r->out[r->used++] = nodes.node[i];
			n--;
		}
}

/* The domain among a router's nodes of which most are free, or of those that
 * hold n the one with the fewest; ties to the lowest node. *size: how many. Those
 * that were taken have count 0, others their free nodes. */
static int pick_domain(const struct unit_counts *r, struct cpl_nodes nodes,
                       const int *count, int n, int *size)
{
	const int *of = r->net->accelerators.domain_of;
	int best = -1;

	*size = 0;
	for (int i = 0; i < nodes.n; i++) {
		int domain = of[nodes.node[i]], free = count[domain + 1];
		bool better = *size >= n ? free >= n && free < *size
		                         : free > *size;

		if (r->free[nodes.node[i]] && better) {
			best = domain;
			*size = free;
		}
	}
	return best;
}

/* Whole domains first, as far as there are some. */
static void take_router(struct unit_counts *r, int router, int n)
{
	struct cpl_nodes nodes = cpl_network_nodes(r->net, router);
	const int *of = r->net->accelerators.domain_of;

	for (int i = 0; i < nodes.n && of; i++)
		r->in_domain[of[nodes.node[i]] + 1] +=
		        r->free[nodes.node[i]] != 0;
	while (of && n > 0) {
		int size, domain = pick_domain(r, nodes, r->in_domain, n, &size);

		if (!size)
			break;
		size = size < n ? size : n;
		take_nodes(r, nodes, domain, size);
		r->in_domain[domain + 1] = 0;
		n -= size;
	}
	for (int i = 0; i < nodes.n && of; i++)
		r->in_domain[of[nodes.node[i]] + 1] = 0;
	if (!of)
		take_nodes(r, nodes, -2, n);
}

/* Of units first .. end - 1 that with the fewest free nodes that hold n, or
 * (holds false) that with the most; ties to the lowest. -1: none. */
static int pick(const struct unit_counts *r, int level, int first, int end, int n,
                bool holds)
{
	const int *count = r->count[level];
	int best = -1;

	for (int u = first; u < end; u++)
		if (holds ? count[u] >= n &&
		                    (best < 0 || count[u] < count[best])
		          : count[u] > 0 &&
		                    (best < 0 || count[u] > count[best]))
			best = u;
	return best;
}

/* n nodes of units first .. end - 1, which have them. */
static void fill(struct unit_counts *r, int level, int first, int end, int n)
{
	while (n > 0) {
		int u = pick(r, level, first, end, n, true), inner, last, some;

		if (u < 0)
			u = pick(r, level, first, end, n, false);
		some = r->count[level][u] < n ? r->count[level][u] : n;
		if (level == r->n_levels - 1) {
			take_router(r, u, some);
		} else {
			last = inside(r, level, u, &inner);
			fill(r, level + 1, inner, last, some);
		}
		r->count[level][u] = 0;
		n -= some;
	}
}

static int by_levels(const struct cpl_network *net, const unsigned char *free,
                     int n, int *out, struct cpl_error *err)
{
	struct unit_counts r;
	int level, u = -1;

	if (open_counts(&r, net, free, out, err))
		return -1;
	for (level = r.n_levels - 1; level >= 0 && u < 0; level--)
		u = pick(&r, level, 0, r.n_units[level], n, true);
	level++;
	if (u < 0)
		fill(&r, 0, 0, r.n_units[0], n);
	else
		fill(&r, level, u, u + 1, n);
	return close_counts(&r, err);
}

/* The routers of a graph with those beside them. */
struct beside {
	int *row; /* [n_routers + 2] */
	int *to;
};

/* A ball around a router that grows until it has n free nodes. */
struct ball {
	const struct beside *graph;
	const int *count; /* [n_counted] free nodes of a router; others have none */
	int n_counted, n;
	int *queue, *hops; /* [n_routers] */
	int *seen, turn;   /* [n_routers] the last turn it was seen in */
	int length;        /* of queue: the routers that were reached */
	int64_t work;
};

/* Hops of the nodes together; -1: there are not so many, or they are more. */
static int64_t grow(struct ball *b, int start, int64_t less_than)
{
	int have = 0;
	int64_t sum = 0;

	b->turn++;
	b->length = 0;
	b->queue[b->length++] = start;
	b->seen[start] = b->turn;
	b->hops[start] = 0;
	for (int i = 0; i < b->length && have < b->n; i++) {
		int v = b->queue[i];
		int some = v < b->n_counted ? b->count[v] : 0;

		some = some < b->n - have ? some : b->n - have;
		have += some;
		sum += (int64_t)some * b->hops[v];
		if (sum >= less_than)
			return -1;
		b->work += b->graph->row[v + 1] - b->graph->row[v] + 1;
		for (int e = b->graph->row[v]; e < b->graph->row[v + 1]; e++) {
			int to = b->graph->to[e];

			if (b->seen[to] == b->turn)
				continue;
			b->seen[to] = b->turn;
			b->hops[to] = b->hops[v] + 1;
			b->queue[b->length++] = to;
		}
	}
	return have == b->n ? sum : -1;
}

static int by_links(const struct cpl_network *net, const unsigned char *free,
                    int n, int *out, struct cpl_error *err)
{
	struct unit_counts r;
	struct beside graph;
	struct ball ball = {
	        .n = n, .n_counted = net->n_node_routers, .graph = &graph};
	int64_t least = INT64_MAX;
	int best = -1;

	if (open_counts(&r, net, free, out, err))
		return -1;
	ball.count = r.count[r.n_levels - 1];
	graph.row = cpl_arena_take(&r.arena, net->n_routers + 2,
	                           sizeof(*graph.row));
	graph.to = cpl_arena_take(&r.arena, net->n_links, sizeof(*graph.to));
	ball.queue = cpl_arena_take(&r.arena, net->n_routers, sizeof(int));
	ball.hops = cpl_arena_take(&r.arena, net->n_routers, sizeof(int));
	ball.seen = cpl_arena_take(&r.arena, net->n_routers, sizeof(int));
	if (r.arena.failed)
		return cpl_arena_end(&r.arena, -1, err);
	cpl_members_list(net->link_from, (int)net->n_links, net->n_routers,
	                 graph.row, graph.to);
	for (int64_t e = 0; e < net->n_links; e++)
		graph.to[e] = net->link_to[graph.to[e]];
	for (int v = 0; v < net->n_node_routers && ball.work < BALL_WORK; v++) {
		int64_t sum = ball.count[v] ? grow(&ball, v, least) : -1;

		if (sum >= 0) {
			least = sum;
			best = v;
		}
	}
	/* Routers that no link joins to enough others. */
	if (best < 0) {
		fill(&r, 0, 0, r.n_units[0], n);
		return close_counts(&r, err);
	}
	grow(&ball, best, INT64_MAX);
	for (int i = 0; i < ball.length && r.used < n; i++)
		if (ball.queue[i] < net->n_node_routers)
			take_router(&r, ball.queue[i], n - r.used);
	return close_counts(&r, err);
}

int cpl_units_compact(const struct cpl_network *net, const unsigned char *free,
                      int n, int *out, struct cpl_error *err)
{
	const struct cpl_placement_request req = {
	        .net = net, .free = free, .n_nodes_wanted = n};

	if (cpl_network_product(net))
		return cpl_placement_blocked.place(&req, out, err);
	return cpl_network_type_is_irregular(net->type)
	               ? by_links(net, free, n, out, err)
	               : by_levels(net, free, n, out, err);
}

/* As many of each unit, no more than it has, as make n or fewer. */
static int even_share(const int *count, int n_units, int n)
{
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low + 1) / 2;
		int64_t sum = 0;

		for (int u = 0; u < n_units; u++)
			sum += count[u] < middle ? count[u] : middle;
		if (sum <= n)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static void share(struct unit_counts *r, int level, int first, int end, int n)
{
	int *count = r->count[level];
	int each = even_share(count + first, end - first, n);
	int left = n, able = 0, seen = 0, given = 0;

	for (int u = first; u < end; u++) {
		left -= count[u] < each ? count[u] : each;
		able += count[u] > each;
	}
	for (int u = first; u < end; u++) {
		int some = count[u] < each ? count[u] : each, inner, last;

		if (count[u] > each) {
			if (given < left &&
			    seen == (int)((int64_t)given * able / left)) {
				some++;
				given++;
			}
			seen++;
		}
		if (!some)
			continue;
		if (level == r->n_levels - 1) {
			take_router(r, u, some);
		} else {
			last = inside(r, level, u, &inner);
			share(r, level + 1, inner, last, some);
		}
	}
}

int cpl_units_spread(const struct cpl_network *net, const unsigned char *free,
                     int n, int *out, struct cpl_error *err)
{
	struct unit_counts r;

	if (open_counts(&r, net, free, out, err))
		return -1;
	share(&r, 0, 0, r.n_units[0], n);
	return close_counts(&r, err);
}
