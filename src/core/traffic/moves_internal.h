/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of moves.h: flows one by one (moves.c), the routes that
 * they take (moves_routes.c), a job whose ranks move (moves_job.c) and the
 * congestion that comes of it (moves_watch.c). */
#pragma once

#include "traffic/moves.h"

/* Of a node. */
static inline int moves_stop_at(const struct cpl_moves *m, int node)
{
	return m->stop_of[cpl_network_station(m->net, node)];
}

/* moves_routes.c */

/* moves_route of a route that was not kept: it is found, and kept where there
 * is room. O(route + links of its routers). */
const struct cpl_share *moves_find(struct cpl_moves *m, int from, int to,
                                   int *n, double *hops);

/* The route at share[at]. */
static inline const struct cpl_share *moves_kept(const struct cpl_moves *m,
                                                 int at, int *n, double *hops)
{
	*n = m->share[at].link;
	*hops = m->share[at].part;
	return m->share + at + 1;
}

/* The links between two stops, *n of them; *hops: their parts added up. O(1),
 * or as moves_find. */
static inline const struct cpl_share *moves_route(struct cpl_moves *m, int from,
                                                  int to, int *n, double *hops)
{
	if (m->known) {
		int at = m->known[(size_t)from * (size_t)m->n_stops +
		                  (size_t)to];

		if (at)
			return moves_kept(m, at, n, hops);
	}
	return moves_find(m, from, to, n, hops);
}

/* The same of an entry of rank's row, faster for one entry after the other.
 * O(1), or as moves_find. */
const struct cpl_share *moves_route_of(struct cpl_moves *m, int rank, int64_t e,
                                       int *n, double *hops);

/* These are inline, since each step of a search puts many flows: */

/* Put a flow on n links, tentatively. O(n). */
static inline void moves_put(struct cpl_moves *m, const struct cpl_share *share,
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

/* Routes that are not kept, in sums that are not exact, are put without a
 * list. */
static inline bool moves_put_at_once(const struct cpl_moves *m)
{
	return m->finder.routing->put && !m->known && m->rounder == 0 &&
	       !m->net->station_of;
}

/* Put a flow between two stops, tentatively. O(route), and as moves_find. */
static inline void moves_flow(struct cpl_moves *m, int from, int to,
                              double bytes)
{
	const struct cpl_share *share;
	double hops;
	int n;

	if (from == to || bytes == 0)
		return;
	if (moves_put_at_once(m)) {
		struct cpl_put_on sums = {m->change, m->mark, m->touched,
		                          &m->n_touched};

		n = m->finder.routing->put(m->net, m->station[from],
		                           m->station[to], bytes, &sums);
		m->more_hop_bytes += bytes * n;
		return;
	}
	share = moves_route(m, from, to, &n, &hops);
	moves_put(m, share, n, hops, bytes);
}

/* To be called when flows were kept on the link. */
static inline void moves_note_laden(struct cpl_moves *m, int link)
{
	if (m->is_laden[link])
		return;
	m->is_laden[link] = 1;
	m->laden[m->n_laden++] = link;
}

/* Note that the rank is on that node, whatever its flows. */
static inline void moves_settle(struct cpl_moves *m, int rank, int node)
{
	m->node[rank] = node;
	m->stop[rank] = moves_stop_at(m, node);
}

/* moves_watch.c */

/* From now on the tree has n links' loads with what is tentative. O(n log
 * links), at most O(links). */
void moves_show_kept(struct cpl_moves *m, const int *link, int n);
