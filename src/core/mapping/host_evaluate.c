/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/host_evaluate.h"

#include "traffic/load_blocks.h"

/* A link of a route, and noting it, costs as much as this many links in a pass
 * over all; flows are few while they cost less than such passes. */
#define ROUTE_WORK 8

/* Keeps what is on the links and nodes without the job. */
static int open_few(struct cpl_evaluator *ev, struct cpl_error *err)
{
	const struct cpl_network *net = ev->net;

	ev->few = true;
	ev->injection = cpl_arena_take_long(&ev->arena, net->n_nodes,
	                                    sizeof(double), true);
	ev->ejection = cpl_arena_take_long(&ev->arena, net->n_nodes,
	                                   sizeof(double), true);
	if (ev->arena.failed)
		return cpl_fail_memory(err);
	if (ev->background)
		cpl_load_top(net, ev->background, &ev->under);
	return cpl_moves_init(&ev->moves, net, ev->routing, NULL, 0, NULL, err);
}

int cpl_evaluator_open(struct cpl_evaluator *ev, const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       const struct cpl_load *background,
                       const struct cpl_load *rates, int64_t flows,
                       bool all_metrics, struct cpl_error *err)
{
	/* What accelerators exchange is on no link of the network. */
	bool few = routing->add && flows < net->n_links / ROUTE_WORK &&
	           !net->accelerators.per_node;

	*ev = (struct cpl_evaluator){
	        .net = net, .routing = routing, .background = background,
	        .rates = rates};
	if (few && open_few(ev, err))
		return -1;
	if (few && !all_metrics)
		return 0;
	ev->workload = cpl_workload_new(net, 1, err);
	return ev->workload ? 0 : -1;
}

void cpl_evaluator_close(struct cpl_evaluator *ev)
{
	cpl_workload_free(ev->workload);
	if (ev->few)
		cpl_moves_free(&ev->moves);
	/* Evaluations leave zeros. */
	cpl_arena_clean(&ev->arena, ev->injection);
	cpl_arena_clean(&ev->arena, ev->ejection);
	cpl_arena_free(&ev->arena);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

void cpl_figures_count_rail(struct cpl_figures *figures, const struct cpl_network *net,
                            enum cpl_objective objective, double rail)
{
	int alike = net->port_use == CPL_PORTS_AFFINITY ? net->accelerators.ports : 1;

	figures->rail = rail;
	if (objective != CPL_OBJECTIVE_BUSIEST || !(rail > 0))
		return;
	figures->metrics.max_injection =
	        larger(figures->metrics.max_injection,
	               rail / (alike > 1 ? alike : 1) / net->fastest_port);
}

/* Adds the bytes of host i to its node, and to the sums. */
static void add_host(struct cpl_evaluator *ev, const struct cpl_comm *hosts,
                     const int *node, int i, struct cpl_job_sums *sums)
{
	double leaves = 0, stays = 0;

	for (int64_t e = hosts->row[i]; e < hosts->row[i + 1]; e++) {
		int to = node[hosts->to[e]];
		double bytes = hosts->bytes[e];

		if (to == node[i] || !(bytes > 0)) {
			stays += bytes;
			continue;
		}
		leaves += bytes;
		ev->ejection[to] += bytes;
	}
	ev->injection[node[i]] += leaves;
	sums->bytes += leaves + stays;
	sums->bytes_on_network += leaves;
	sums->bytes_in_node += stays;
}

/* The seconds of own bytes on a link beside what others send. */
static double slowed(const struct cpl_evaluator *ev, double bytes, int64_t link,
                     double bandwidth)
{
	return bytes / bandwidth * cpl_slowed_by(ev->rates, link, bandwidth);
}

/* Adds one port of a node to the metrics. */
static void sum_up_port(const struct cpl_evaluator *ev, int node, int port,
                        struct cpl_metrics *m)
{
	const struct cpl_network *net = ev->net;
	const struct cpl_load *under = ev->background;
	int cable = node * net->n_ports + port;
	double bandwidth = cpl_network_port_bandwidth(net, cable);
	double in = ev->injection[node] * net->port_share[port];
	double out = ev->ejection[node] * net->port_share[port];
	double most = larger(in + (under ? under->injection[cable] : 0),
	                     out + (under ? under->ejection[cable] : 0));

	m->max_injection = larger(m->max_injection, most / bandwidth);
	m->seconds = larger(
	        m->seconds,
	        larger(slowed(ev, in, net->n_links + cable, bandwidth),
	               slowed(ev, out,
	                      net->n_links + cpl_network_port_cables(net) +
	                              cable,
	                      bandwidth)));
}

/* Adds up the links and nodes that the job is on, and clears them. */
static void sum_up(struct cpl_evaluator *ev, int n, const int *node,
                   struct cpl_metrics *m)
{
	const struct cpl_network *net = ev->net;
	const struct cpl_load *under = ev->background;
	const struct cpl_moves *moves = &ev->moves;
	double sum = 0;

	for (int i = 0; i < moves->n_touched; i++) {
		int link = moves->touched[i];
		double bandwidth = cpl_network_link_bandwidth(net, link);
		double bytes = moves->change[link];

		sum += bytes / bandwidth;
		m->seconds = larger(m->seconds,
		                    slowed(ev, bytes, link, bandwidth));
		if (under)
			bytes += under->link[link];
		m->job_congestion =
		        larger(m->job_congestion, bytes / bandwidth);
	}
	m->max_congestion = larger(m->max_congestion, m->job_congestion);
	if (net->n_links)
		m->mean_congestion += sum / (double)net->n_links;
	for (int i = 0; i < n; i++) {
		for (int port = 0; port < net->n_ports; port++)
			sum_up_port(ev, node[i], port, m);
		ev->injection[node[i]] = ev->ejection[node[i]] = 0;
	}
}

static int evaluate_few(struct cpl_evaluator *ev, const struct cpl_comm *hosts,
                        const int *node, struct cpl_figures *out,
                        struct cpl_error *err)
{
	if (cpl_moves_flows(&ev->moves, hosts, node, err))
		return -1;
	out->sums = (struct cpl_job_sums){0};
	for (int i = 0; i < hosts->ranks; i++)
		add_host(ev, hosts, node, i, &out->sums);
	out->sums.hop_bytes = ev->moves.more_hop_bytes;
	out->metrics = (struct cpl_metrics){
	        .max_congestion = ev->under.max_congestion,
	        .mean_congestion = ev->under.mean_congestion,
	        .max_injection = ev->under.max_injection};
	sum_up(ev, hosts->ranks, node, &out->metrics);
	cpl_moves_undo(&ev->moves);
	return 0;
}

int cpl_evaluate(struct cpl_evaluator *ev, const struct cpl_comm *hosts,
                 const int *node, struct cpl_figures *out,
                 struct cpl_error *err)
{
	struct cpl_job job = {.routing = ev->routing,
	                      .comm = hosts,
	                      .node = node,
	                      .of_hosts = true};
	struct cpl_figures all = {0};

	if (ev->workload &&
	    cpl_workload_evaluate(ev->workload, &job, ev->background,
	                          &all.metrics, &all.sums, err))
		return -1;
	if (ev->workload)
		all.metrics.seconds = cpl_traffic_seconds(
		        ev->net, cpl_workload_load(ev->workload), ev->rates);
	*out = all;
	if (!ev->few)
		return 0;
	if (evaluate_few(ev, hosts, node, out, err))
		return -1;
	out->sums.max_dilation = all.sums.max_dilation;
	out->metrics.nonzero_average = all.metrics.nonzero_average;
	out->metrics.nonzero_variance = all.metrics.nonzero_variance;
	return 0;
}
