/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/backlog.h"

/* The links on from a router that are on a shortest way, in one dimension: one, or
 * two where both ways round a ring are as short. How many. */
static int list_shortest(const struct cpl_product *torus, int router, int d,
                     int go, int64_t *link)
{
	const int64_t *out =
	        torus->out + ((int64_t)router * torus->n_dims + d) * 2;
	int n = 0;

	if (go > 0 || (torus->wrap[d] && -2 * go == torus->dim[d]))
		link[n++] = out[0];
	if (go < 0 || (torus->wrap[d] && 2 * go == torus->dim[d]))
		link[n++] = out[1];
	return n;
}

/* A queue behind a link fills buffers on this side of it: so much of it counts. */
#define BEHIND 0.5

struct wait_choice {
	int64_t link;
	double wait;
};

/* The least loaded of a router's links on shortest ways, the first of several; with
 * `ahead` what waits behind it counts, too. The router may be the end. */
static struct wait_choice choose_link(const struct cpl_backlog *q, int router, int to,
                                      bool ahead)
{
	const struct cpl_product *torus = &q->net->product;
	struct wait_choice best = {-1, 0};
	int64_t way[2];
	int stride = 1;

	for (int d = 0; d < torus->n_dims; d++) {
		int length = torus->dim[d];
		int at = router / stride % length, goal = to / stride % length;
		int go = cpl_dimension_steps(torus, d, at, goal);
		int n = list_shortest(torus, router, d, go, way);

		for (int i = 0; i < n; i++) {
			double wait = cpl_backlog_wait(q, way[i]);

			if (ahead)
				wait += BEHIND * choose_link(q, q->net->link_to[way[i]],
				                             to, false)
				                         .wait;
			if (best.link < 0 || wait < best.wait)
				best = (struct wait_choice){way[i], wait};
		}
		stride *= length;
	}
	return best;
}

static double send(struct cpl_backlog *q, const struct cpl_queued *p)
{
	int hops = 0;

	for (int at = p->from; at != p->to; hops++) {
		int64_t link = choose_link(q, at, p->to, true).link;

		cpl_backlog_put(q, link, p->bytes);
		at = q->net->link_to[link];
	}
	return hops;
}

const struct cpl_routing cpl_routing_adaptive_hops = {
        .name = "adaptive",
        .flags = CPL_ROUTING_ADAPTIVE | CPL_ROUTING_SAMPLED |
                 CPL_NETWORK_PRODUCT,
        .summary = "at each router the least loaded link of a shortest way",
        .send = send,
        .by_flow = &cpl_routing_o1turn,
        .hops = cpl_backlog_hops,
};
