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
/* Room for the first of them, which need not move: 1 MB. */
#define FIRST_ROOM (1 << 16)

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
	int stations = m->net->n_stations;

	m->stop_of =
	        cpl_arena_take_raw(&m->arena, stations, sizeof(*m->stop_of));
	m->station =
	        cpl_arena_take_raw(&m->arena, stations, sizeof(*m->station));
	if (m->arena.failed)
		return;
	for (int i = 0; i < stations; i++)
		m->stop_of[i] = -1;
	if (!node)
		n = m->net->n_nodes;
	for (int i = 0; i < n; i++) {
		int station = cpl_network_station(m->net, node ? node[i] : i);

		if (m->stop_of[station] >= 0)
			continue;
		m->stop_of[station] = m->n_stops;
		m->station[m->n_stops++] = station;
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
	if (!m->view) {
		m->laden = cpl_arena_take_raw(&m->arena, n, sizeof(*m->laden));
		m->is_laden = cpl_arena_take(&m->arena, n, 1);
	}
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
	                           .station = m->station,
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

/* Keep a route when there is room; else, 0, it is found anew from now on. */
static int remember(struct cpl_moves *m, const struct cpl_share *share, int n,
                    double hops)
{
	int need = m->n_share + 1 + n, at = m->n_share;

	if (need > KNOWN_MAX)
		return 0;
	if (need > m->max_share) {
		int room = 2 * need > FIRST_ROOM ? 2 * need : FIRST_ROOM;
		struct cpl_share *more =
		        realloc(m->share, (size_t)room * sizeof(*more));

		if (!more)
			return 0;
		m->share = more;
		m->max_share = room;
	}
	m->share[at] = (struct cpl_share){.link = n, .part = hops};
	memcpy(m->share + at + 1, share, (size_t)n * sizeof(*share));
	m->n_share = need;
	return at;
}

/* Two sums: one addition need not wait for the other. */
static double add_up_parts(const struct cpl_share *share, int n)
{
	double even = 0, odd = 0;
	int i;

	for (i = 0; i + 1 < n; i += 2) {
		even += share[i].part;
		odd += share[i + 1].part;
	}
	return i < n ? even + odd + share[i].part : even + odd;
}

static const struct cpl_share *find(struct cpl_moves *m, int from, int to,
                                    int *n, double *hops)
{
	const struct cpl_share *share =
	        cpl_route_find(&m->finder, m->station[from], m->station[to], n);

	*hops = add_up_parts(share, *n);
	if (m->known)
		m->known[(size_t)from * (size_t)m->n_stops + (size_t)to] =
		        remember(m, share, *n, *hops);
	return share;
}

static const struct cpl_share *kept(const struct cpl_moves *m, int at, int *n,
                                    double *hops)
{
	*n = m->share[at].link;
	*hops = m->share[at].part;
	return m->share + at + 1;
}

/* The links between two stops, *n of them; *hops: their parts added up. */
static inline const struct cpl_share *route(struct cpl_moves *m, int from,
                                            int to, int *n, double *hops)
{
	if (m->known) {
		int at = m->known[(size_t)from * (size_t)m->n_stops +
		                  (size_t)to];

		if (at)
			return kept(m, at, n, hops);
	}
	return find(m, from, to, n, hops);
}

/* The same of an entry of rank's row, whose route is kept beside those of its
 * neighbours: in a large table each look-up would miss the cache. */
static const struct cpl_share *route_of(struct cpl_moves *m, int rank,
                                        int64_t e, int *n, double *hops)
{
	int from = m->stop[rank], to = m->stop[m->comm->to[e]];
	struct cpl_moves_route *known = &m->entry_route[e];
	const struct cpl_share *share;
	size_t pair = (size_t)from * (size_t)m->n_stops + (size_t)to;

	if (known->at && known->from == from && known->to == to)
		return kept(m, known->at, n, hops);
	share = route(m, from, to, n, hops);
	*known = (struct cpl_moves_route){
	        from, to,
	        m->known ? m->known[pair] : remember(m, share, *n, *hops)};
	return share;
}

static inline void put(struct cpl_moves *m, const struct cpl_share *share,
                       int n, double hops, double bytes)
{
	double rounder = m->rounder;

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

/* Routes that are not kept, in sums that are not exact: without a list. */
static bool puts_at_once(const struct cpl_moves *m)
{
	return m->finder.routing->put && !m->known && m->rounder == 0 &&
	       !m->net->station_of;
}

static inline void flow(struct cpl_moves *m, int from, int to, double bytes)
{
	const struct cpl_share *share;
	double hops;
	int n;

	if (from == to || bytes == 0)
		return;
	if (puts_at_once(m)) {
		struct cpl_put_on sums = {m->change, m->mark, m->touched,
		                          &m->n_touched};

		n = m->finder.routing->put(m->net, m->station[from],
		                           m->station[to], bytes, &sums);
		m->more_hop_bytes += bytes * n;
		return;
	}
	share = route(m, from, to, &n, &hops);
	put(m, share, n, hops, bytes);
}

static int stop_at(const struct cpl_moves *m, int node)
{
	return m->stop_of[cpl_network_station(m->net, node)];
}

void cpl_moves_flow(struct cpl_moves *m, int from_node, int to_node,
                    double bytes)
{
	flow(m, stop_at(m, from_node), stop_at(m, to_node), bytes);
}

static int open_lists(struct cpl_moves *m, int ranks, struct cpl_error *err)
{
	struct cpl_arena *arena = &m->arena;
	int n = m->n_stops;

	if (ranks > m->max_next) {
		m->next_on = cpl_arena_take_raw(arena, ranks,
		                                sizeof(*m->next_on));
		m->max_next = ranks;
	}
	if (!m->first_on) {
		m->first_on = cpl_arena_take_raw(arena, n, sizeof(int));
		m->to_bytes = cpl_arena_take(arena, n, sizeof(double));
		m->to_stop = cpl_arena_take_raw(arena, n, sizeof(int));
		for (int i = 0; i < n && !arena->failed; i++)
			m->first_on[i] = -1;
	}
	return arena->failed ? cpl_fail_memory(err) : 0;
}

/* What the ranks of a stop send to others. */
static void send_from(struct cpl_moves *m, const struct cpl_comm *comm,
                      const int *node, int stop)
{
	for (int r = m->first_on[stop]; r >= 0; r = m->next_on[r])
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int to = stop_at(m, node[comm->to[e]]);

			if (to == stop || !(comm->bytes[e] > 0))
				continue;
			if (m->to_bytes[to] == 0)
				m->to_stop[m->n_to++] = to;
			m->to_bytes[to] += comm->bytes[e];
		}
	for (int i = 0; i < m->n_to; i++) {
		flow(m, stop, m->to_stop[i], m->to_bytes[m->to_stop[i]]);
		m->to_bytes[m->to_stop[i]] = 0;
	}
	m->n_to = 0;
	m->first_on[stop] = -1;
}

int cpl_moves_flows(struct cpl_moves *m, const struct cpl_comm *comm,
                    const int *node, struct cpl_error *err)
{
	if (open_lists(m, comm->ranks, err))
		return -1;
	for (int r = comm->ranks - 1; r >= 0; r--) {
		int stop = stop_at(m, node[r]);

		m->next_on[r] = m->first_on[stop];
		m->first_on[stop] = r;
	}
	for (int r = 0; r < comm->ranks; r++) {
		int stop = stop_at(m, node[r]);

		if (m->first_on[stop] >= 0)
			send_from(m, comm, node, stop);
	}
	return 0;
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

double cpl_moves_entry_part(struct cpl_moves *m, int rank, int64_t e,
                            int64_t link)
{
	const struct cpl_share *share;
	double hops, part = 0;
	int n;

	if (m->stop[rank] == m->stop[m->comm->to[e]])
		return 0;
	share = route_of(m, rank, e, &n, &hops);
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
static double value_of(const struct cpl_moves *m, int64_t link)
{
	double bandwidth = cpl_network_link_bandwidth(m->net, link);
	double bytes = m->load[link] + m->change[link];

	if (m->watched)
		bytes += m->watched->link[link];
	if (m->slow)
		bytes *= m->slow[link];
	return bytes / bandwidth;
}

static void show(struct cpl_moves *m, int64_t link)
{
	cpl_load_tree_set(m->tree, link, value_of(m, link));
}

/* Links that change from which on all are summed up anew: one in so many. */
#define MANY 8

/* The same of n links, kept. */
static void show_kept(struct cpl_moves *m, const int *link, int n)
{
	bool many = n > m->net->n_links / MANY;

	for (int i = 0; i < n; i++)
		if (many)
			cpl_load_tree_put(m->tree, link[i],
			                  value_of(m, link[i]));
		else
			show(m, link[i]);
	if (many)
		cpl_load_tree_sum(m->tree);
	else
		cpl_load_tree_keep(m->tree);
}

static void refresh(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_touched; i++)
		show(m, m->touched[i]);
}

static inline void note_laden(struct cpl_moves *m, int link)
{
	if (m->is_laden[link])
		return;
	m->is_laden[link] = 1;
	m->laden[m->n_laden++] = link;
}

void cpl_moves_keep(struct cpl_moves *m)
{
	if (m->tree)
		show_kept(m, m->touched, m->n_touched);
	for (int i = 0; i < m->n_touched; i++) {
		m->load[m->touched[i]] += m->change[m->touched[i]];
		note_laden(m, m->touched[i]);
	}
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

/* The flows of a rank but those to `to` and those from `from`; -1: none. */
static void flows(struct cpl_moves *m, int rank, int to, int from, double sign)
{
	const struct cpl_comm *comm = m->comm;
	int here = m->stop[rank];

	for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++)
		if (comm->to[e] != to)
			flow(m, here, m->stop[comm->to[e]],
			     sign * comm->bytes[e]);
	for (int64_t e = m->in_row[rank]; e < m->in_row[rank + 1]; e++)
		if (m->in_from[e] != from)
			flow(m, m->stop[m->in_from[e]], here,
			     sign * m->in_bytes[e]);
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
	flows(m, rank, -1, -1, -1);
	go(m, rank, node);
	flows(m, rank, -1, -1, 1);
}

void cpl_moves_swap(struct cpl_moves *m, int a, int b)
{
	int node = m->node[a];

	if (node == m->node[b])
		return;
	/* Those to the other one are left to its turn. */
	flows(m, a, b, -1, -1);
	flows(m, b, a, -1, -1);
	go(m, a, m->node[b]);
	go(m, b, node);
	flows(m, a, b, -1, 1);
	flows(m, b, a, -1, 1);
}

void cpl_moves_lift(struct cpl_moves *m, int rank)
{
	flows(m, rank, -1, -1, -1);
	cpl_moves_keep(m);
}

void cpl_moves_put(struct cpl_moves *m, int rank, int node)
{
	go(m, rank, node);
	flows(m, rank, -1, -1, 1);
}

void cpl_moves_put_swap(struct cpl_moves *m, int rank, int with)
{
	int node = m->node[rank];

	flows(m, with, rank, rank, -1);
	go(m, rank, m->node[with]);
	go(m, with, node);
	flows(m, with, rank, rank, 1);
	flows(m, rank, -1, -1, 1);
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
			for (int i = 0; i < n; i++) {
				m->load[share[i].link] +=
				        (bytes * share[i].part + rounder) -
				        rounder;
				note_laden(m, share[i].link);
			}
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

/* All entries, tentatively. */
static void put_entries(struct cpl_moves *m)
{
	const struct cpl_comm *comm = m->comm;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			const struct cpl_share *share;
			double hops;
			int n;

			if (!(comm->bytes[e] > 0) ||
			    m->stop[r] == m->stop[comm->to[e]])
				continue;
			share = route_of(m, r, e, &n, &hops);
			put(m, share, n, hops, comm->bytes[e]);
		}
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
	m->entry_route = cpl_arena_take(arena, entries,
	                                sizeof(*m->entry_route));
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
	put_entries(m);
	cpl_moves_keep(m);
	return 0;
}

void cpl_moves_leave(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_laden; i++) {
		int link = m->laden[i];

		m->is_laden[link] = 0;
		m->load[link] = m->start ? m->start[link] : 0;
	}
	if (m->tree)
		show_kept(m, m->laden, m->n_laden);
	m->n_laden = 0;
	m->hop_bytes = m->rounder = m->hop_rounder = 0;
	/* Those that are in no table were this job's. */
	if (!m->known)
		m->n_share = 1;
	m->comm = NULL;
}

/* How often each link's own time what it takes beside others. */
static int slow_links(struct cpl_moves *m, const struct cpl_load *rates)
{
	m->slow = cpl_arena_take_raw(&m->arena, m->net->n_links,
	                             sizeof(*m->slow));
	for (int64_t l = 0; m->slow && l < m->net->n_links; l++)
		m->slow[l] = 1 + rates->link[l] /
		                         cpl_network_link_bandwidth(m->net, l);
	return m->slow ? 0 : -1;
}

int cpl_moves_watch(struct cpl_moves *m, const struct cpl_load *background,
                    const struct cpl_load *rates, struct cpl_error *err)
{
	m->watched = background;
	if (rates && slow_links(m, rates))
		return cpl_fail_memory(err);
	m->tree = cpl_load_tree_new(m->net->n_links, err);
	if (!m->tree)
		return -1;
	for (int64_t l = 0; l < m->net->n_links; l++)
		cpl_load_tree_put(m->tree, l, value_of(m, l));
	cpl_load_tree_sum(m->tree);
	return 0;
}

const struct cpl_load_summary *cpl_moves_links(struct cpl_moves *m)
{
	refresh(m);
	return cpl_load_tree_all(m->tree);
}

static double fourth(double x)
{
	double square = x * x;

	return square * square;
}

struct cpl_load_summary cpl_moves_change(const struct cpl_moves *m,
                                         int64_t link, double limit)
{
	struct cpl_load_summary all = {0};

	if (link >= 0 && !m->mark[link])
		all.max = cpl_load_tree_get(m->tree, link);
	for (int i = 0; i < m->n_touched && !(all.max > limit); i++) {
		double before = cpl_load_tree_get(m->tree, m->touched[i]);
		double now = value_of(m, m->touched[i]);

		all.max = now > all.max ? now : all.max;
		all.sum += now - before;
		all.powers += fourth(now) - fourth(before);
	}
	return all;
}

int64_t cpl_moves_busiest(struct cpl_moves *m)
{
	refresh(m);
	return cpl_load_tree_largest(m->tree);
}
