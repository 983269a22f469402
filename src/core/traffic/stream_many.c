/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dragonflies with several links per pair of groups: how a flow divides its
 * bytes depends on both its routers, so that each flow is routed, once for both
 * routings, while others are collected. */
#include <stdlib.h>

#include "routing/static_indirect.h"
#include "traffic/stream_internal.h"

bool cpl_stream_by_many(const struct cpl_network *net,
                        const struct cpl_routing *routing)
{
	(void)net;
	return routing == &cpl_routing_static_direct ||
	       routing == &cpl_routing_static_indirect;
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

int cpl_stream_many(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct stream_sinks *sinks,
                    const struct cpl_routing *const *routing,
                    struct cpl_error *err)
{
	void *scratch = malloc(cpl_indirect_size(net));
	struct cpl_indirect in;
	struct stream_sinks each = *sinks;
	bool direct_only = true;
	int rc = -1;

	if (!scratch)
		return cpl_fail_memory(err);
	for (int i = 0; i < sinks->n_more; i++)
		direct_only =
		        direct_only && routing[i] == &cpl_routing_static_direct;
	cpl_indirect_start(&in, net, direct_only, scratch);
	each.take = take;
	each.arg = &in;
	if (cpl_stream_pass(net, job, &each, err))
		goto out;
	for (int i = 0; i < sinks->n_more; i++) {
		struct cpl_routed routed = {0, 0};

		if (routing[i] == &cpl_routing_static_direct) {
			add_direct(&in, sinks->load[i], &sinks->sums[i]);
			continue;
		}
		cpl_indirect_finish(&in, sinks->load[i]->link, &routed);
		sinks->sums[i].hop_bytes = routed.hop_bytes;
		sinks->sums[i].max_dilation = routed.max_hops;
	}
	rc = 0;
out:
	free(scratch);
	return rc;
}
