/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "routing/static_indirect.h"
#include "traffic/stream_internal.h"

static void take_flows(void *arg, const struct cpl_flows *some)
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
 * static-direct and static-indirect of any dragonfly. Each flow is routed, once
 * for both routings, while others are collected; none is kept. The bits are
 * those of the routings' add and solve.
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
	each.take = take_flows;
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
enum strategy { KEPT, BY_FLOWS, ROUTED, N_STRATEGIES };

static enum strategy strategy_of(const struct cpl_routing *routing)
{
	if (routing->flags & CPL_ROUTING_ADAPTIVE)
		return KEPT;
	return routing == &cpl_routing_static_direct ||
	                       routing == &cpl_routing_static_indirect
	               ? BY_FLOWS
	               : ROUTED;
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
			if (strategy_of(routing[i]) != k)
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
		rc = k == BY_FLOWS ? add_by_flows(net, job, &sinks, err)
		                   : cpl_stream_pass(net, job, &sinks, err);
		for (int i = 0; i < sinks.n; i++)
			sums[index[i]] = sinks.sums[i];
	}
	return cpl_arena_end(&arena, rc, err);
}
