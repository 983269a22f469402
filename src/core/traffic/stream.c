/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "routing/static_indirect.h"
#include "traffic/stream_internal.h"

int cpl_stream_open(struct stream *s, const struct cpl_network *net,
                    const struct cpl_stream *job, struct cpl_error *err)
{
	int per_node = job->ranks_per_node, last = -1;

	memset(s, 0, sizeof(*s));
	s->net = net;
	s->job = job;
	s->n_hosts = (job->rows->ranks - 1) / per_node + 1;
	s->per_host =
	        ((UINT64_C(1) << STREAM_SHIFT) - 1) / (uint64_t)per_node + 1;
	s->host_of = cpl_arena_take_raw(&s->arena, net->n_nodes,
	                                sizeof(*s->host_of));
	s->router = cpl_arena_take_raw(&s->arena, net->n_stations,
	                               sizeof(*s->router));
	s->host_router = cpl_arena_take_raw(&s->arena, s->n_hosts,
	                                    sizeof(*s->host_router));
	if (s->arena.failed)
		return cpl_arena_end(&s->arena, -1, err);
	for (int node = 0; node < net->n_nodes; node++)
		s->host_of[node] = -1;
	for (int host = 0; host < s->n_hosts; host++) {
		s->host_of[job->node[host]] = host;
		s->host_router[host] = cpl_network_station(net, job->node[host]);
	}
	for (int node = 0; node < net->n_nodes; node++) {
		int router = cpl_network_station(net, node);

		if (s->host_of[node] >= 0 && router != last)
			s->router[s->n_routers++] = last = router;
	}
	return 0;
}

void cpl_stream_close(struct stream *s)
{
	cpl_arena_free(&s->arena);
	*s = (struct stream){0};
}

static void take(void *arg, const struct cpl_flows *some)
{
	struct cpl_indirect *in = arg;

	for (int i = 0; i < some->n_from; i++)
		for (int64_t e = some->row[i]; e < some->row[i + 1]; e++)
			cpl_indirect_flow(in, some->from[i], some->to[e],
			                  some->bytes[e]);
}

static void add_direct(const struct cpl_indirect *in, struct cpl_load *load,
                       struct cpl_job_sums *sums)
{
	for (int64_t l = 0; l < in->net->n_links; l++)
		load->link[l] += in->direct[l];
	sums->hop_bytes = in->direct_hop_bytes;
	sums->max_dilation = in->max_direct_hops;
}

/*
 * static-direct and static-indirect of any dragonfly. With several links per
 * pair of groups how a flow divides its bytes depends on both its routers, so
 * that each flow is routed, once for both routings, while others are collected;
 * none is kept. The bits are those of the routings' add and solve.
 */
static int add_by_flows(const struct cpl_network *net,
                        const struct cpl_stream *job,
                        const struct stream_sinks *sinks, struct cpl_error *err)
{
	void *scratch = malloc(cpl_indirect_size(net));
	struct cpl_indirect in;
	struct stream_sinks each = *sinks;
	bool direct_only = true;
	int rc;

	if (!scratch)
		return cpl_fail_memory(err);
	for (int i = 0; i < sinks->n; i++)
		direct_only = direct_only && sinks->routing[i]->add;
	cpl_indirect_start(&in, net, direct_only, scratch);
	each.take = take;
	each.arg = &in;
	rc = cpl_stream_pass(net, job, &each, err);
	for (int i = 0; i < sinks->n && !rc; i++) {
		struct cpl_routed routed = {0, 0};

		if (sinks->routing[i]->add) {
			add_direct(&in, sinks->load[i], &sinks->sums[i]);
			continue;
		}
		cpl_indirect_finish(&in, sinks->load[i]->link, &routed);
		sinks->sums[i].hop_bytes = routed.hop_bytes;
		sinks->sums[i].max_dilation = routed.max_hops;
	}
	free(scratch);
	return rc;
}

/* How a routing is served; those of one kind share a pass. */
enum strategy { KEPT, BY_GROUPS, BY_FLOWS, ROUTED, N_STRATEGIES };

static enum strategy strategy_of(const struct cpl_network *net,
                                 const struct cpl_routing *routing)
{
	if (routing->flags & CPL_ROUTING_ADAPTIVE)
		return KEPT;
	if (routing != &cpl_routing_static_direct &&
	    routing != &cpl_routing_static_indirect)
		return ROUTED;
	return cpl_stream_by_groups(net) ? BY_GROUPS : BY_FLOWS;
}

int cpl_stream_add(const struct cpl_network *net, const struct cpl_stream *job,
                   int n, const struct cpl_routing *const *routing,
                   struct cpl_load *const *load, struct cpl_job_sums *sums,
                   struct cpl_flows *flows, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *index = cpl_arena_take(&arena, n, sizeof(*index));
	struct stream_sinks sinks = {
	        .routing = cpl_arena_take(&arena, n, sizeof(*sinks.routing)),
	        .load = cpl_arena_take(&arena, n, sizeof(*sinks.load)),
	        .sums = cpl_arena_take(&arena, n, sizeof(*sinks.sums))};
	int rc = arena.failed;

	if (flows)
		*flows = (struct cpl_flows){0};
	for (enum strategy k = 0; k < N_STRATEGIES && !rc; k++) {
		sinks.n = 0;
		for (int i = 0; i < n; i++) {
			if (strategy_of(net, routing[i]) != k)
				continue;
			index[sinks.n] = i;
			sinks.routing[sinks.n] = routing[i];
			sinks.load[sinks.n] = load[i];
			sinks.sums[sinks.n++] = (struct cpl_job_sums){0};
		}
		sinks.flows = k == KEPT ? flows : NULL;
		sinks.route = k == ROUTED;
		if (!sinks.n && !sinks.flows)
			continue;
		rc = k == BY_GROUPS  ? cpl_stream_groups(net, job, &sinks, err)
		     : k == BY_FLOWS ? add_by_flows(net, job, &sinks, err)
		                     : cpl_stream_pass(net, job, &sinks, err);
		for (int i = 0; i < sinks.n; i++)
			sums[index[i]] = sinks.sums[i];
	}
	return cpl_arena_end(&arena, rc, err);
}
