/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/evaluate.h"

#include <stdlib.h>

#include "graph/contract.h"

/* Links of a route and what noting them costs, against one more link in passes
 * over all: below it flows are few. */
#define ROUTE_WORK 8

static struct cpl_comm *between_hosts(const struct cpl_decide_request *req,
                                      struct cpl_error *err)
{
	int ranks = req->comm->ranks;
	int *host = malloc((size_t)ranks * sizeof(*host));
	struct cpl_comm *hosts;

	if (!host) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int r = 0; r < ranks; r++)
		host[r] = r / req->ranks_per_node;
	hosts = cpl_comm_contract(req->comm, host, req->place.n_nodes_wanted,
	                          CPL_CONTRACT_INSIDE, err);
	free(host);
	return hosts;
}

/* What is on the links and nodes without the job. */
static int open_few(struct cpl_evaluator *ev, struct cpl_error *err)
{
	const struct cpl_decide_request *req = ev->req;
	const struct cpl_network *net = req->place.net;

	ev->few = true;
	ev->injection =
	        cpl_arena_take(&ev->arena, net->n_nodes, sizeof(double));
	ev->ejection = cpl_arena_take(&ev->arena, net->n_nodes, sizeof(double));
	if (ev->arena.failed)
		return cpl_fail_memory(err);
	if (req->background)
		cpl_traffic_metrics(net, req->background, NULL, &ev->under);
	return cpl_moves_init(&ev->moves, net, req->routing, NULL, 0, NULL,
	                      err);
}

static int open_times(struct cpl_evaluator *ev, struct cpl_error *err)
{
	const struct cpl_decide_request *req = ev->req;

	if (!req->phase)
		return 0;
	ev->space = cpl_times_space_new(req->place.net, req->routing, err);
	ev->times = cpl_times_open(req->phase, req->n_phases, req->comm->ranks,
	                           err);
	if (!ev->space || !ev->times)
		return -1;
	return cpl_times_order(ev->times, NULL, req->ranks_per_node,
	                       req->place.n_nodes_wanted, err);
}

int cpl_evaluator_open(struct cpl_evaluator *ev,
                       const struct cpl_decide_request *req,
                       struct cpl_error *err)
{
	const struct cpl_network *net = req->place.net;
	bool few;

	*ev = (struct cpl_evaluator){.req = req};
	ev->hosts = between_hosts(req, err);
	if (!ev->hosts || open_times(ev, err))
		return -1;
	few = req->routing->add &&
	      ev->hosts->n_entries < net->n_links / ROUTE_WORK;
	if (few && open_few(ev, err))
		return -1;
	if (few && !req->all_metrics)
		return 0;
	ev->workload = cpl_workload_new(net, 1, err);
	return ev->workload ? 0 : -1;
}

void cpl_evaluator_close(struct cpl_evaluator *ev)
{
	cpl_comm_free(ev->hosts);
	cpl_workload_free(ev->workload);
	if (ev->few)
		cpl_moves_free(&ev->moves);
	cpl_times_close(ev->times);
	cpl_times_space_free(ev->space);
	cpl_arena_free(&ev->arena);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* The flows of host i on the links; bytes of nodes and sums. */
static void add_host(struct cpl_evaluator *ev, const int *node, int i,
                     struct cpl_job_sums *sums)
{
	const struct cpl_routing *routing = ev->req->routing;
	const struct cpl_network *net = ev->req->place.net;
	const struct cpl_comm *hosts = ev->hosts;
	int router = cpl_network_router(net, node[i]);
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
		cpl_moves_flow(&ev->moves, node[i], to, bytes);
		sums->max_dilation = larger(
		        sums->max_dilation,
		        routing->hops(net, router,
		                      cpl_network_router(net, to)));
	}
	ev->injection[node[i]] += leaves;
	sums->bytes += leaves + stays;
	sums->bytes_on_network += leaves;
	sums->bytes_in_node += stays;
}

/* Of the links and nodes that the job is on; clears them. */
static void sum_up(struct cpl_evaluator *ev, const int *node,
                   struct cpl_metrics *m)
{
	const struct cpl_network *net = ev->req->place.net;
	const struct cpl_load *under = ev->req->background;
	const struct cpl_moves *moves = &ev->moves;
	double sum = 0;

	for (int i = 0; i < moves->n_touched; i++) {
		int link = moves->touched[i];
		double bandwidth = cpl_network_link_bandwidth(net, link);
		double bytes = moves->change[link];

		sum += bytes / bandwidth;
		if (under)
			bytes += under->link[link];
		m->max_congestion =
		        larger(m->max_congestion, bytes / bandwidth);
	}
	if (net->n_links)
		m->mean_congestion += sum / (double)net->n_links;
	for (int i = 0; i < ev->hosts->ranks; i++) {
		double *in = &ev->injection[node[i]];
		double *out = &ev->ejection[node[i]];
		double most = larger(
		        *in + (under ? under->injection[node[i]] : 0),
		        *out + (under ? under->ejection[node[i]] : 0));

		m->max_injection = larger(m->max_injection,
		                          most / net->injection_bandwidth);
		*in = *out = 0;
	}
}

static void evaluate_few(struct cpl_evaluator *ev, const int *node,
                         struct cpl_metrics *metrics, struct cpl_job_sums *sums)
{
	*sums = (struct cpl_job_sums){0};
	for (int i = 0; i < ev->hosts->ranks; i++)
		add_host(ev, node, i, sums);
	sums->hop_bytes = ev->moves.more_hop_bytes;
	*metrics = (struct cpl_metrics){
	        .max_congestion = ev->under.max_congestion,
	        .mean_congestion = ev->under.mean_congestion,
	        .max_injection = ev->under.max_injection};
	sum_up(ev, node, metrics);
	cpl_moves_undo(&ev->moves);
}

int cpl_evaluate(struct cpl_evaluator *ev, const int *node,
                 struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                 struct cpl_error *err)
{
	const struct cpl_decide_request *req = ev->req;
	struct cpl_job job = {
	        .routing = req->routing, .comm = ev->hosts, .node = node};
	struct cpl_metrics all = {0};

	if (ev->workload &&
	    cpl_workload_evaluate(ev->workload, &job, req->background, &all,
	                          sums, err))
		return -1;
	if (!ev->few) {
		*metrics = all;
		return 0;
	}
	evaluate_few(ev, node, metrics, sums);
	metrics->nonzero_average = all.nonzero_average;
	metrics->nonzero_variance = all.nonzero_variance;
	return 0;
}

int cpl_evaluate_times(struct cpl_evaluator *ev, const int *node,
                       struct cpl_times_result *out, struct cpl_error *err)
{
	*out = (struct cpl_times_result){0};
	if (!ev->times)
		return 0;
	if (cpl_times_place(ev->times, ev->space, node, err))
		return -1;
	cpl_times_judge(ev->times, ev->req->rates, false, out);
	return 0;
}
