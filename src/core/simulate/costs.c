/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What messages take besides their bytes on links: latencies of the path,
 * software, and the levels inside of a node. */
#include <math.h>

#include "simulate/simulate_internal.h"

void cpl_sim_set_latencies(struct cpl_sim_options *options,
                           const double *class_latency)
{
	bool differ = false;

	for (int k = 0; k < options->net->n_classes; k++)
		differ |= class_latency[k] != class_latency[k + 1];
	options->link_latency = class_latency[0];
	options->class_latency = differ ? class_latency : NULL;
}

int cpl_sim_costs_init(struct cpl_simulation *sim)
{
	if (!sim->options->class_latency)
		return 0;
	return cpl_route_finder_init(&sim->paths, sim->net,
	                             sim->options->routing, sim->err);
}

void cpl_sim_costs_free(struct cpl_simulation *sim)
{
	if (sim->options->class_latency)
		cpl_route_finder_free(&sim->paths);
}

/* Adds the path between two routers, times its part. */
static double links_latency(struct cpl_simulation *sim, int from, int to,
                            double part, double *hops)
{
	int n;
	const struct cpl_share *share =
	        cpl_route_find_routers(&sim->paths, from, to, &n);
	double seconds = 0;

	for (int i = 0; i < n; i++) {
		*hops += share[i].part * part;
		seconds += cpl_sim_link_latency(sim, share[i].link) *
		           share[i].part * part;
	}
	return seconds;
}

double cpl_sim_path_latency(struct cpl_simulation *sim,
                            const struct cpl_transfer *t)
{
	const struct cpl_sim_options *o = sim->options;
	const struct cpl_network *net = sim->net;
	int ports = cpl_sim_ports(net);
	double hops = 0, links = 0;

	if (!o->class_latency &&
	    !(o->link_latency > 0 || o->router_latency > 0))
		return 0;
	for (int p = 0; p < ports; p++) {
		int from = net->port_router[sim->rank[t->from].cable + p];
		int to = net->port_router[sim->rank[t->to].cable + p];
		double part = ports > 1 ? net->port_share[p] : 1;

		if (from == to)
			continue;
		if (o->class_latency)
			links += links_latency(sim, from, to, part, &hops);
		else
			hops += o->routing->hops(net, from, to) * part;
	}
	if (o->class_latency)
		return links + 2 * o->class_latency[net->n_classes] +
		       (hops + 1) * o->router_latency;
	return (hops + 2) * o->link_latency + (hops + 1) * o->router_latency;
}

double cpl_sim_inside_seconds(const struct cpl_simulation *sim,
                              const struct cpl_transfer *t)
{
	const struct cpl_sim_options *o = sim->options;
	bool one_job = sim->rank_job[t->from] == sim->rank_job[t->to];
	int from = sim->rank[t->from].slot, to = sim->rank[t->to].slot;

	for (int i = 0; i < o->n_inside && one_job; i++) {
		const struct cpl_sim_inside *in = &o->inside[i];

		if (from / in->ranks != to / in->ranks)
			continue;
		return in->latency +
		       (in->bandwidth > 0 ? t->bytes / in->bandwidth : 0);
	}
	return o->memory > 0 ? t->bytes / o->memory : 0;
}

double cpl_sim_software_end(struct cpl_simulation *sim, int rank,
                            const struct cpl_transfer *t)
{
	const struct cpl_sim_options *o = sim->options;
	double cost = o->overhead * t->count + o->byte_overhead * t->bytes;
	double *free_at = &sim->rank[rank].software;

	if (o->queue == CPL_SIM_QUEUE_NONE)
		return sim->now + cost;
	*free_at = fmax(*free_at, sim->now) + cost;
	return *free_at;
}
