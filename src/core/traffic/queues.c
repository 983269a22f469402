/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/queues.h"

#include <math.h>

/* Of one flow so far. */
struct flow_sum {
	double bytes;
	double sum;  /* of others' seconds, in the fourth power */
	double most; /* of the flow's own on a link, the same */
};

/* `all`: bytes on the link, of bandwidth bytes/s. */
static void pass(struct flow_sum *flow, double part, double all, double bandwidth)
{
	double own = cpl_fourth_power(part * flow->bytes / bandwidth);

	flow->sum += part * (cpl_fourth_power(all / bandwidth) - own);
	flow->most = own > flow->most ? own : flow->most;
}

static void pass_ports(const struct cpl_queues *q, struct flow_sum *flow, int node,
                       const double *load, const double *others)
{
	const struct cpl_network *net = q->net;

	for (int k = 0; k < net->n_ports; k++) {
		int64_t cable = (int64_t)node * net->n_ports + k;

		if (net->port_share[k] > 0)
			pass(flow, net->port_share[k],
			     load[cable] + (others ? others[cable] : 0),
			     cpl_network_port_bandwidth(net, cable));
	}
}

static double seconds_of(const struct cpl_queues *q,
                         struct cpl_route_finder *finder, int from, int to,
                         double bytes)
{
	const struct cpl_network *net = q->net;
	const struct cpl_load *others = q->others;
	struct flow_sum flow = {.bytes = bytes};
	int n;
	const struct cpl_share *share =
	        cpl_route_find(finder, cpl_network_station(net, from),
	                       cpl_network_station(net, to), &n);

	pass_ports(q, &flow, from, q->load->injection,
	           others ? others->injection : NULL);
	pass_ports(q, &flow, to, q->load->ejection,
	           others ? others->ejection : NULL);
	for (int i = 0; i < n; i++)
		pass(&flow, share[i].part,
		     q->load->link[share[i].link] +
		             (others ? others->link[share[i].link] : 0),
		     cpl_network_link_bandwidth(net, share[i].link));
	/* Rounding may leave less than nothing of a link that is the flow's. */
	return sqrt(sqrt(fmax(flow.sum, 0) + flow.most));
}

int cpl_queues_seconds(const struct cpl_queues *q, double *seconds,
                       struct cpl_error *err)
{
	const struct cpl_comm *comm = q->comm;
	struct cpl_route_finder finder;

	*seconds = 0;
	if (cpl_route_finder_init(&finder, q->net, q->routing, err))
		return -1;
	for (int h = 0; h < comm->ranks; h++)
		for (int64_t i = comm->row[h]; i < comm->row[h + 1]; i++) {
			int from = q->node[h], to = q->node[comm->to[i]];

			if (from != to && comm->bytes[i] > 0 &&
			    !cpl_network_share_domain(q->net, from, to))
				*seconds = fmax(*seconds,
				                seconds_of(q, &finder, from, to,
				                           comm->bytes[i]));
		}
	cpl_route_finder_free(&finder);
	return 0;
}
