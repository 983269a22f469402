/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/fattree/fattree.h"
#include "routing/backlog.h"

/* The least loaded port from a switch to its parent, or back from that; the first of
 * several. */
static int64_t choose_port(const struct cpl_backlog *q, int level, int below,
                           int parent, int down)
{
	int ports = cpl_fattree_of(q->net)->ports[level];
	int64_t first = cpl_fattree_link(q->net, level, below, parent, 0, down);
	int64_t best = first;

	for (int64_t link = first + 1; link < first + ports; link++)
		if (cpl_backlog_wait(q, link) < cpl_backlog_wait(q, best))
			best = link;
	return best;
}

/* Any parent will do upwards, and the way back from it is given. A queue on that fills
 * the buffers before it, so that packets see it on their way up: what waits on both
 * counts. */
static double send(struct cpl_backlog *q, const struct cpl_queued *p)
{
	const struct cpl_fattree *tree = cpl_fattree_of(q->net);
	int levels = cpl_fattree_climb(tree, p->from, p->to);
	int from = p->from, to = p->to, replica = 0;

	for (int l = 0; l < levels; l++) {
		int first = replica * tree->subtrees[l], parent = 0;
		int64_t best_up = -1, best_down = -1;
		double least = 0;

		for (int up = 0; up < tree->up[l]; up++) {
			int64_t out = choose_port(q, l, first + from, up, 0);
			int64_t back = choose_port(q, l, first + to, up, 1);
			double wait = cpl_backlog_wait(q, out) +
			              cpl_backlog_wait(q, back);

			if (best_up >= 0 && wait >= least)
				continue;
			least = wait;
			best_up = out;
			best_down = back;
			parent = up;
		}
		cpl_backlog_put(q, best_up, p->bytes);
		cpl_backlog_put(q, best_down, p->bytes);
		replica = replica * tree->up[l] + parent;
		from /= tree->down[l];
		to /= tree->down[l];
	}
	return 2 * levels;
}

/* Classes are up and down in turn. */
static bool is_up(const struct cpl_network *net, int64_t link)
{
	return net->link_class_of[link] % 2 == 0;
}

const struct cpl_routing cpl_routing_adaptive_up = {
        .name = "adaptive",
        .type = &cpl_network_fattree,
        .flags = CPL_ROUTING_ADAPTIVE | CPL_ROUTING_SAMPLED,
        .summary = "at each switch the least loaded link upwards",
        .send = send,
        .chooses = is_up,
        .by_flow = &cpl_routing_ecmp,
        .hops = cpl_backlog_hops,
};
