/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

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
	s->host_of = malloc((size_t)net->n_nodes * sizeof(*s->host_of));
	s->router = malloc((size_t)net->n_node_routers * sizeof(*s->router));
	s->host_router = malloc((size_t)s->n_hosts * sizeof(*s->host_router));
	if (!s->host_of || !s->router || !s->host_router) {
		cpl_stream_close(s);
		return cpl_fail_memory(err);
	}
	for (int node = 0; node < net->n_nodes; node++)
		s->host_of[node] = -1;
	for (int host = 0; host < s->n_hosts; host++) {
		s->host_of[job->node[host]] = host;
		s->host_router[host] = cpl_network_router(net, job->node[host]);
	}
	for (int node = 0; node < net->n_nodes; node++) {
		int router = cpl_network_router(net, node);

		if (s->host_of[node] >= 0 && router != last)
			s->router[s->n_routers++] = last = router;
	}
	return 0;
}

void cpl_stream_close(struct stream *s)
{
	free(s->host_of);
	free(s->router);
	free(s->host_router);
	memset(s, 0, sizeof(*s));
}

int cpl_stream_flows(const struct cpl_network *net,
                     const struct cpl_stream *job, struct cpl_flows *flows,
                     struct cpl_error *err)
{
	struct stream_sinks sinks = {.flows = flows};

	memset(flows, 0, sizeof(*flows));
	return cpl_stream_pass(net, job, &sinks, err);
}

/* How a routing is served. */
enum strategy { BY_GROUPS, BY_MANY, BY_ADD, N_STRATEGIES };

/* Routings of one strategy, packed for it. */
struct batch {
	int n;
	int *index; /* [n] of the caller's arrays */
	const struct cpl_routing **routing;
	struct cpl_load **load;
	struct cpl_job_sums *sums;
};

static enum strategy strategy_of(const struct cpl_network *net,
                                 const struct cpl_routing *routing)
{
	return cpl_stream_by_groups(net, routing) ? BY_GROUPS
	       : cpl_stream_by_many(net, routing) ? BY_MANY
	                                          : BY_ADD;
}

static int batch_open(struct batch *batch, int n)
{
	size_t most = (size_t)n + 1;

	memset(batch, 0, sizeof(*batch));
	batch->index = malloc(most * sizeof(*batch->index));
	batch->routing = malloc(most * sizeof(*batch->routing));
	batch->load = malloc(most * sizeof(*batch->load));
	batch->sums = calloc(most, sizeof(*batch->sums));
	return batch->index && batch->routing && batch->load && batch->sums
	               ? 0
	               : -1;
}

static void batch_close(struct batch *batch)
{
	free(batch->index);
	free(batch->routing);
	free(batch->load);
	free(batch->sums);
}

static void batch_take(struct batch *b, int index,
                       const struct cpl_routing *routing, struct cpl_load *load)
{
	b->index[b->n] = index;
	b->routing[b->n] = routing;
	b->load[b->n++] = load;
}

int cpl_stream_add(const struct cpl_network *net, const struct cpl_stream *job,
                   int n, const struct cpl_routing *const *routing,
                   struct cpl_load *const *load, struct cpl_job_sums *sums,
                   struct cpl_error *err)
{
	struct batch batch[N_STRATEGIES];
	int rc = 0;

	memset(batch, 0, sizeof(batch));
	for (int b = 0; b < N_STRATEGIES; b++)
		if (batch_open(&batch[b], n)) {
			rc = cpl_fail_memory(err);
			goto out;
		}
	for (int i = 0; i < n; i++)
		batch_take(&batch[strategy_of(net, routing[i])], i, routing[i],
		           load[i]);
	for (int b = 0; b < N_STRATEGIES && !rc; b++) {
		struct stream_sinks sinks = {.add = batch[b].routing,
		                             .load = batch[b].load,
		                             .sums = batch[b].sums};

		if (!batch[b].n)
			continue;
		if (b == BY_MANY)
			sinks.n_more = batch[b].n;
		else
			sinks.n_add = batch[b].n;
		rc = b == BY_GROUPS ? cpl_stream_groups(net, job, &sinks, err)
		     : b == BY_MANY ? cpl_stream_many(net, job, &sinks,
		                                      batch[b].routing, err)
		                    : cpl_stream_pass(net, job, &sinks, err);
		for (int i = 0; i < batch[b].n && !rc; i++)
			sums[batch[b].index[i]] = batch[b].sums[i];
	}
out:
	for (int b = 0; b < N_STRATEGIES; b++)
		batch_close(&batch[b]);
	return rc;
}
