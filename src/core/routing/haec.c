/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/haec/haec.h"

#include <stdlib.h>

#include "routing/routing.h"

static void add_board(const struct cpl_network *net, int from, int to,
                      double bytes, double *load)
{
	const struct cpl_haec *haec = cpl_haec_of(net);
	int length[] = {haec->x, haec->y}, stride[] = {1, haec->x};
	int router = from;

	for (int d = 0; d < 2; d++) {
		int n = length[d], at = router / stride[d] % n;
		int left = cpl_ring_steps(n, at, to / stride[d] % n),
		    minus = left < 0;

		for (left = abs(left); left; left--) {
			int next = (at + (minus ? n - 1 : 1)) % n;

			load[cpl_haec_optical(net, router, d, minus)] += bytes;
			router += (next - at) * stride[d];
			at = next;
		}
	}
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	int places = cpl_haec_of(net)->x * cpl_haec_of(net)->y;
	int place = to % places, board = from / places, last = to / places;
	int step = last < board ? -1 : 1;

	if (board == last) {
		add_board(net, from, to, bytes, load);
		return;
	}
	for (int router = from; board != last; board += step) {
		load[cpl_haec_wireless(net, router, place, step < 0)] += bytes;
		router = (board + step) * places + place;
	}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_haec *haec = cpl_haec_of(net);
	int places = haec->x * haec->y;
	int boards = abs(from / places - to / places);

	if (boards)
		return boards;
	return abs(cpl_ring_steps(haec->x, from % haec->x, to % haec->x)) +
	       abs(cpl_ring_steps(haec->y, from / haec->x % haec->y,
	                          to / haec->x % haec->y));
}

const struct cpl_routing cpl_routing_haec = {
        .name = "haec-box",
        .short_name = "HB",
        .type = &cpl_network_haec,
        .summary = "wireless to the destination's column, then board by board",
        .add = add_flow,
        .hops = hops,
};
