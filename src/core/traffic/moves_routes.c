/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes between stops, and which of them are kept. */
#include "traffic/moves_internal.h"

#include <stdlib.h>
#include <string.h>

/* Shares of links that are kept at the most: 64 MB. */
#define KNOWN_MAX (4 << 20)
/* Room for the first of them, which need not move: 1 MB. */
#define FIRST_ROOM (1 << 16)

/* Keep a route when there is room. 0: there is none, and the route is found
 * anew each time. */
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
static double sum_fractions(const struct cpl_share *share, int n)
{
	double even = 0, odd = 0;
	int i;

	for (i = 0; i + 1 < n; i += 2) {
		even += share[i].part;
		odd += share[i + 1].part;
	}
	return i < n ? even + odd + share[i].part : even + odd;
}

const struct cpl_share *moves_find(struct cpl_moves *m, int from, int to,
                                   int *n, double *hops)
{
	const struct cpl_share *share =
	        cpl_route_find(&m->finder, m->station[from], m->station[to], n);

	*hops = sum_fractions(share, *n);
	if (m->known)
		m->known[(size_t)from * (size_t)m->n_stops + (size_t)to] =
		        remember(m, share, *n, *hops);
	return share;
}

/* The route is kept next to those of its neighbours: in a large table each
 * look-up would miss the cache. */
const struct cpl_share *moves_route_of(struct cpl_moves *m, int rank, int64_t e,
                                       int *n, double *hops)
{
	int from = m->stop[rank], to = m->stop[m->comm->to[e]];
	struct cpl_moves_route *known = &m->entry_route[e];
	const struct cpl_share *share;
	size_t pair = (size_t)from * (size_t)m->n_stops + (size_t)to;

	if (known->at && known->from == from && known->to == to)
		return moves_kept(m, known->at, n, hops);
	share = moves_route(m, from, to, n, hops);
	*known = (struct cpl_moves_route){
	        from, to,
	        m->known ? m->known[pair] : remember(m, share, *n, *hops)};
	return share;
}
