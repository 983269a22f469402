/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stops up to which routes are kept, in a view too, and shares of links that
 * are kept at the most: 16, 1 and 64 MB. */
#define KNOWN_STOPS 2048
#define KNOWN_STOPS_VIEW 512
#define KNOWN_MAX (4 << 20)

/* A job's bytes are less than so many bits of grains; bytes times links, of
 * which no way has more than there are routers, of coarser ones. */
#define BITS 49
/* 1.5 * 2^52 grains: adding them rounds to whole ones. */
#define ROUNDER(exponent) ldexp(1.5, 52 + (exponent)-BITS)
/* So that neither is too small or too large for a number. */
#define MIN_EXPONENT (-900)
#define MAX_EXPONENT 950

static void make_stops(struct cpl_moves *m, const int *node, int n)
{
	int routers = m->net->n_routers;

	m->stop_of =
	        cpl_arena_take_raw(&m->arena, routers, sizeof(*m->stop_of));
	m->router = cpl_arena_take_raw(&m->arena, routers, sizeof(*m->router));
	if (m->arena.failed)
		return;
	for (int i = 0; i < routers; i++)
		m->stop_of[i] = -1;
	if (!node)
		n = m->net->n_nodes;
	for (int i = 0; i < n; i++) {
		int router = cpl_network_router(m->net, node ? node[i] : i);

		if (m->stop_of[router] >= 0)
			continue;
		m->stop_of[router] = m->n_stops;
		m->router[m->n_stops++] = router;
	}
}

/* What each thread has for itself; where memory was out before, too, it is all
 * given back. */
static int make_own(struct cpl_moves *m, const struct cpl_routing *routing,
                    int known_stops, struct cpl_error *err)
{
	int64_t n = m->net->n_links, stops = m->n_stops;
	int rc;

	m->change = cpl_arena_take(&m->arena, n, sizeof(*m->change));
	m->mark = cpl_arena_take(&m->arena, n, 1);
	m->touched = cpl_arena_take_raw(&m->arena, n, sizeof(*m->touched));
	if (stops <= known_stops)
		m->known = cpl_arena_take(&m->arena, stops * stops,
		                          sizeof(*m->known));
	m->n_share = 1;
	rc = m->arena.failed
	             ? cpl_fail_memory(err)
	             : cpl_route_finder_init(&m->finder, m->net, routing, err);
	if (rc)
		cpl_moves_free(m);
	return rc;
}

int cpl_moves_init(struct cpl_moves *moves, const struct cpl_network *net,
                   const struct cpl_routing *routing, const int *node, int n,
                   const double *start, struct cpl_error *err)
{
	*moves = (struct cpl_moves){.net = net, .start = start};
	if (!routing->add)
		return cpl_fail(err,
		                "routing '%s' finds the paths of all pairs "
		                "together; changes by increments need one that "
		                "routes each pair alone",
		                routing->name);
	moves->load = cpl_arena_take(&moves->arena, net->n_links,
	                             sizeof(*moves->load));
	make_stops(moves, node, n);
	/* Among all nodes the same routes are seldom met again. */
	if (make_own(moves, routing, node ? KNOWN_STOPS : 0, err))
		return -1;
	if (start)
		memcpy(moves->load, start,
		       (size_t)net->n_links * sizeof(*start));
	return 0;
}

int cpl_moves_view(const struct cpl_moves *m, struct cpl_moves *view,
                   struct cpl_error *err)
{
	*view = (struct cpl_moves){.view = true,
	                           .net = m->net,
	                           .load = m->load,
	                           .stop_of = m->stop_of,
	                           .router = m->router,
	                           .n_stops = m->n_stops,
	                           .hop_bytes = m->hop_bytes};
	return make_own(view, m->finder.routing, KNOWN_STOPS_VIEW, err);
}

void cpl_moves_free(struct cpl_moves *m)
{
	cpl_arena_free(&m->arena);
	free(m->share);
	cpl_route_finder_free(&m->finder);
	cpl_load_tree_free(m->tree);
	*m = (struct cpl_moves){0};
}

/* Keep a route when there is room; else it is found anew from now on. */
static void remember(struct cpl_moves *m, size_t pair,
                     const struct cpl_share *share, int n, double hops)
{
	int need = m->n_share + 1 + n;

	if (need > KNOWN_MAX)
		return;
	if (need > m->max_share) {
		struct cpl_share *more =
		        realloc(m->share, (size_t)(2 * need) * sizeof(*more));

		if (!more)
			return;
		m->share = more;
		m->max_share = 2 * need;
	}
	m->known[pair] = m->n_share;
	m->share[m->n_share++] = (struct cpl_share){.link = n, .part = hops};
	memcpy(m->share + m->n_share, share, (size_t)n * sizeof(*share));
	m->n_share += n;
}

static const struct cpl_share *find(struct cpl_moves *m, int from, int to,
                                    int *n, double *hops)
{
	const struct cpl_share *share =
	        cpl_route_find(&m->finder, m->router[from], m->router[to], n);

	*hops = 0;
	for (int i = 0; i < *n; i++)
		*hops += share[i].part;
	if (m->known)
		remember(m, (size_t)from * (size_t)m->n_stops + (size_t)to,
		         share, *n, *hops);
	return share;
}

/* The links between two stops, *n of them; *hops: their parts added up. */
static inline const struct cpl_share *route(struct cpl_moves *m, int from,
                                            int to, int *n, double *hops)
{
	if (m->known) {
		int at = m->known[(size_t)from * (size_t)m->n_stops +
		                  (size_t)to];

		if (at) {
			*n = m->share[at].link;
			*hops = m->share[at].part;
			return m->share + at + 1;
		}
	}
	return find(m, from, to, n, hops);
}

static inline void flow(struct cpl_moves *m, int from, int to, double bytes)
{
	double rounder = m->rounder, hops;
	const struct cpl_share *share;
	int n;

	if (from == to || bytes == 0)
		return;
	share = route(m, from, to, &n, &hops);
	for (int i = 0; i < n; i++) {
		int link = share[i].link;

		m->change[link] += (bytes * share[i].part + rounder) - rounder;
		if (!m->mark[link]) {
			m->mark[link] = 1;
			m->touched[m->n_touched++] = link;
		}
	}
	m->more_hop_bytes += (bytes * hops + m->hop_rounder) - m->hop_rounder;
}

static int stop_at(const struct cpl_moves *m, int node)
{
	return m->stop_of[cpl_network_router(m->net, node)];
}

void cpl_moves_flow(struct cpl_moves *m, int from_node, int to_node,
                    double bytes)
{
	flow(m, stop_at(m, from_node), stop_at(m, to_node), bytes);
}

double cpl_moves_part(struct cpl_moves *m, int from_node, int to_node,
                      int64_t link)
{
	int from = stop_at(m, from_node), to = stop_at(m, to_node), n;
	const struct cpl_share *share;
	double hops, part = 0;

	if (from == to)
		return 0;
	share = route(m, from, to, &n, &hops);
	for (int i = 0; i < n; i++)
		if (share[i].link == link)
			part += share[i].part;
	return part;
}

bool cpl_moves_uses(struct cpl_moves *m, int from_node, int to_node, int link)
{
	return cpl_moves_part(m, from_node, to_node, link) > 0;
}

static void forget(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_touched; i++) {
		m->change[m->touched[i]] = 0;
		m->mark[m->touched[i]] = 0;
	}
	m->n_touched = 0;
	m->more_hop_bytes = 0;
	for (int i = 0; i < m->n_moved; i++)
		m->has_moved[m->moved[i]] = 0;
	m->n_moved = 0;
}

/* The tree's value of a link. */
static void show(struct cpl_moves *m, int64_t link)
{
	double bandwidth = cpl_network_link_bandwidth(m->net, link);
	double bytes = m->load[link] + m->change[link];

	if (m->watched)
		bytes += m->watched->link[link];
	if (m->rates)
		bytes *= 1 + m->rates->link[link] / bandwidth;
	cpl_load_tree_set(m->tree, link, bytes / bandwidth);
}

static void refresh(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_touched; i++)
		show(m, m->touched[i]);
}

void cpl_moves_keep(struct cpl_moves *m)
{
	if (m->tree) {
		refresh(m);
		cpl_load_tree_keep(m->tree);
	}
	for (int i = 0; i < m->n_touched; i++)
		m->load[m->touched[i]] += m->change[m->touched[i]];
	m->hop_bytes += m->more_hop_bytes;
	forget(m);
}

static void settle(struct cpl_moves *m, int rank, int node)
{
	m->node[rank] = node;
	m->stop[rank] = stop_at(m, node);
}

void cpl_moves_undo(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_moved; i++)
		settle(m, m->moved[i], m->old_node[i]);
	if (m->tree)
		cpl_load_tree_undo(m->tree);
	forget(m);
}

/* All flows of a rank; those to `other` are left to its own turn. */
static void flows(struct cpl_moves *m, int rank, int other, double sign)
{
	const struct cpl_comm *comm = m->comm;
	int here = m->stop[rank];

	for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++)
		if (comm->to[e] != other)
			flow(m, here, m->stop[comm->to[e]],
			     sign * comm->bytes[e]);
	for (int64_t e = m->in_row[rank]; e < m->in_row[rank + 1]; e++)
		flow(m, m->stop[m->in_from[e]], here, sign * m->in_bytes[e]);
}

static void go(struct cpl_moves *m, int rank, int node)
{
	if (!m->has_moved[rank]) {
		m->has_moved[rank] = 1;
		m->old_node[m->n_moved] = m->node[rank];
		m->moved[m->n_moved++] = rank;
	}
	settle(m, rank, node);
}

void cpl_moves_move(struct cpl_moves *m, int rank, int node)
{
	if (m->node[rank] == node)
		return;
	flows(m, rank, -1, -1);
	go(m, rank, node);
	flows(m, rank, -1, 1);
}

void cpl_moves_swap(struct cpl_moves *m, int a, int b)
{
	int node = m->node[a];

	if (node == m->node[b])
		return;
	flows(m, a, b, -1);
	flows(m, b, a, -1);
	go(m, a, m->node[b]);
	go(m, b, node);
	flows(m, a, b, 1);
	flows(m, b, a, 1);
}

void cpl_moves_afresh(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;
	size_t size = (size_t)m->net->n_links * sizeof(*m->load);
	double rounder = m->rounder;

	if (m->start)
		memcpy(m->load, m->start, size);
	else
		memset(m->load, 0, size);
	m->hop_bytes = 0;
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int from = m->stop[r], to = m->stop[comm->to[e]], n;
			double bytes = comm->bytes[e], hops;
			const struct cpl_share *share;

			if (from == to || !(bytes > 0))
				continue;
			share = route(m, from, to, &n, &hops);
			for (int i = 0; i < n; i++)
				m->load[share[i].link] +=
				        (bytes * share[i].part + rounder) -
				        rounder;
			m->hop_bytes += (bytes * hops + m->hop_rounder) -
			                m->hop_rounder;
		}
}

static void index_columns(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;

	for (int64_t e = 0; e < comm->n_entries; e++)
		m->in_row[comm->to[e] + 2]++;
	for (int r = 0; r < comm->ranks; r++)
		m->in_row[r + 2] += m->in_row[r + 1];
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int64_t at = m->in_row[comm->to[e] + 1]++;

			m->in_from[at] = r;
			m->in_bytes[at] = comm->bytes[e];
		}
}

static int choose_grain(struct cpl_moves *m, struct cpl_error *err)
{
	double sum = 0;
	int exponent, ways;

	for (int64_t e = 0; e < m->comm->n_entries; e++)
		sum += m->comm->bytes[e];
	frexp(sum, &exponent);
	if (!isfinite(sum) || exponent > MAX_EXPONENT)
		return cpl_fail(err, "the bytes of all ranks add up to more "
		                     "than a number holds");
	if (exponent < MIN_EXPONENT)
		exponent = MIN_EXPONENT;
	frexp(m->net->n_routers, &ways);
	m->rounder = ROUNDER(exponent);
	m->hop_rounder = ROUNDER(exponent + ways);
	return 0;
}

int cpl_moves_job(struct cpl_moves *m, const struct cpl_comm *comm,
                  const int *node, bool exact, struct cpl_error *err)
{
	struct cpl_arena *arena = &m->arena;
	int64_t ranks = comm->ranks, entries = comm->n_entries;

	m->comm = comm;
	m->node = cpl_arena_take_raw(arena, ranks, sizeof(*m->node));
	m->stop = cpl_arena_take_raw(arena, ranks, sizeof(*m->stop));
	m->in_row = cpl_arena_take(arena, ranks + 2, sizeof(*m->in_row));
	m->in_from = cpl_arena_take_raw(arena, entries, sizeof(*m->in_from));
	m->in_bytes = cpl_arena_take_raw(arena, entries, sizeof(*m->in_bytes));
	m->moved = cpl_arena_take_raw(arena, ranks, sizeof(*m->moved));
	m->old_node = cpl_arena_take_raw(arena, ranks, sizeof(*m->old_node));
	m->has_moved = cpl_arena_take(arena, ranks, 1);
	if (arena->failed)
		return cpl_fail_memory(err);
	if (exact && choose_grain(m, err))
		return -1;
	for (int r = 0; r < comm->ranks; r++)
		settle(m, r, node[r]);
	index_columns(m);
	if (!m->tree) {
		cpl_moves_afresh(m);
		return 0;
	}
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (comm->bytes[e] > 0)
				flow(m, m->stop[r], m->stop[comm->to[e]],
				     comm->bytes[e]);
	cpl_moves_keep(m);
	return 0;
}

void cpl_moves_leave(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int from = m->stop[r], to = m->stop[comm->to[e]], n;
			const struct cpl_share *share;
			double hops;

			if (from == to || !(comm->bytes[e] > 0))
				continue;
			share = route(m, from, to, &n, &hops);
			for (int i = 0; i < n; i++) {
				int link = share[i].link;

				m->load[link] = m->start ? m->start[link] : 0;
				if (m->tree)
					show(m, link);
			}
		}
	if (m->tree)
		cpl_load_tree_keep(m->tree);
	m->hop_bytes = m->rounder = m->hop_rounder = 0;
	m->comm = NULL;
}

int cpl_moves_watch(struct cpl_moves *m, const struct cpl_load *background,
                    const struct cpl_load *rates, struct cpl_error *err)
{
	m->watched = background;
	m->rates = rates;
	m->tree = cpl_load_tree_new(m->net->n_links, err);
	if (!m->tree)
		return -1;
	for (int64_t l = 0; l < m->net->n_links; l++)
		show(m, l);
	cpl_load_tree_keep(m->tree);
	return 0;
}

const struct cpl_load_summary *cpl_moves_links(struct cpl_moves *m)
{
	refresh(m);
	return cpl_load_tree_all(m->tree);
}

int64_t cpl_moves_busiest(struct cpl_moves *m)
{
	refresh(m);
	return cpl_load_tree_largest(m->tree);
}
