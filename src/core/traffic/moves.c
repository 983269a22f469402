/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads that change by single flows. */
#include "traffic/moves_internal.h"

#include <stdlib.h>
#include <string.h>

/* Stops up to which routes are kept, in a view too: 16 and 1 MB. */
#define KNOWN_STOPS 2048
#define KNOWN_STOPS_VIEW 512

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

/* Make what each thread has for itself; where memory is out, all of it is given
 * back. */
static int make_own(struct cpl_moves *m, const struct cpl_routing *routing,
                    int known_stops, struct cpl_error *err)
{
	int64_t n = m->net->n_links, stops = m->n_stops;
	int rc;

	m->change = cpl_arena_take_long(&m->arena, n, sizeof(*m->change), true);
	m->mark = cpl_arena_take_long(&m->arena, n, 1, true);
	m->touched = cpl_arena_take_long(&m->arena, n, sizeof(*m->touched), false);
	if (!m->view) {
		m->laden = cpl_arena_take_long(&m->arena, n, sizeof(*m->laden),
		                               false);
		m->is_laden = cpl_arena_take_long(&m->arena, n, 1, true);
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
	*moves = (struct cpl_moves){.net = net, .start = start, .ports = 1};
	if (!routing->add)
		return cpl_fail(err,
		                "routing '%s' finds the paths of all pairs "
		                "together; changes by increments need one that "
		                "routes each pair alone",
		                routing->name);
	moves->load = cpl_arena_take_long(&moves->arena, net->n_links,
	                                  sizeof(*moves->load), true);
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

/* What is as long as the network's links goes back as it came, so that whoever comes
 * next pays for the links of his job and not for all. */
static void clean(struct cpl_moves *m)
{
	if (m->arena.failed || m->start || !m->mark)
		return;
	forget(m);
	cpl_arena_clean(&m->arena, m->change);
	cpl_arena_clean(&m->arena, m->mark);
	if (m->view)
		return;
	for (int i = 0; i < m->n_laden; i++) {
		m->load[m->laden[i]] = 0;
		m->is_laden[m->laden[i]] = 0;
	}
	cpl_arena_clean(&m->arena, m->load);
	cpl_arena_clean(&m->arena, m->is_laden);
}

void cpl_moves_free(struct cpl_moves *m)
{
	clean(m);
	cpl_arena_free(&m->arena);
	free(m->share);
	cpl_route_finder_free(&m->finder);
	cpl_load_tree_free(m->tree);
	*m = (struct cpl_moves){0};
}

void cpl_moves_flow(struct cpl_moves *m, int from_node, int to_node,
                    double bytes)
{
	moves_flow(m, moves_stop_at(m, from_node), moves_stop_at(m, to_node),
	           bytes);
}

static int open_lists(struct cpl_moves *m, int ranks, struct cpl_error *err)
{
	struct cpl_arena *arena = &m->arena;
	int n = m->n_stops;

	if (ranks > m->max_next) {
		m->next_on =
		        cpl_arena_take_raw(arena, ranks, sizeof(*m->next_on));
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

/* Put what the ranks of a stop send to others. */
static void send_from(struct cpl_moves *m, const struct cpl_comm *comm,
                      const int *node, int stop)
{
	for (int r = m->first_on[stop]; r >= 0; r = m->next_on[r])
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int to = moves_stop_at(m, node[comm->to[e]]);

			if (to == stop || !(comm->bytes[e] > 0))
				continue;
			if (m->to_bytes[to] == 0)
				m->to_stop[m->n_to++] = to;
			m->to_bytes[to] += comm->bytes[e];
		}
	for (int i = 0; i < m->n_to; i++) {
		moves_flow(m, stop, m->to_stop[i], m->to_bytes[m->to_stop[i]]);
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
		int stop = moves_stop_at(m, node[r]);

		m->next_on[r] = m->first_on[stop];
		m->first_on[stop] = r;
	}
	for (int r = 0; r < comm->ranks; r++) {
		int stop = moves_stop_at(m, node[r]);

		if (m->first_on[stop] >= 0)
			send_from(m, comm, node, stop);
	}
	return 0;
}

double cpl_moves_fraction(struct cpl_moves *m, int from_node, int to_node,
                      int64_t link)
{
	int from = moves_stop_at(m, from_node);
	int to = moves_stop_at(m, to_node), n;
	const struct cpl_share *share;
	double hops, part = 0;

	if (from == to)
		return 0;
	share = moves_route(m, from, to, &n, &hops);
	for (int i = 0; i < n; i++)
		if (share[i].link == link)
			part += share[i].part;
	return part;
}

double cpl_moves_entry_fraction(struct cpl_moves *m, int rank, int64_t e,
                            int64_t link)
{
	const struct cpl_share *share;
	double hops, part = 0;
	int n;

	if (m->stop[rank] == m->stop[m->comm->to[e]])
		return 0;
	share = moves_route_of(m, rank, e, &n, &hops);
	for (int i = 0; i < n; i++)
		if (share[i].link == link)
			part += share[i].part;
	return part;
}

bool cpl_moves_uses(struct cpl_moves *m, int from_node, int to_node, int link)
{
	return cpl_moves_fraction(m, from_node, to_node, link) > 0;
}

void cpl_moves_keep(struct cpl_moves *m)
{
	if (m->tree)
		moves_show_kept(m, m->touched, m->n_touched);
	for (int i = 0; i < m->n_touched; i++) {
		m->load[m->touched[i]] += m->change[m->touched[i]];
		moves_note_laden(m, m->touched[i]);
	}
	m->hop_bytes += m->more_hop_bytes;
	forget(m);
}

void cpl_moves_undo(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_moved; i++)
		moves_settle(m, m->moved[i], m->old_node[i]);
	if (m->tree)
		cpl_load_tree_undo(m->tree);
	forget(m);
}
