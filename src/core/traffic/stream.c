/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "routing/adaptive.h"
#include "traffic/stream_internal.h"

int cpl_stream_open(struct stream *s, const struct cpl_network *net,
                    const struct cpl_stream *job, struct cpl_error *err)
{
	int per_node = job->ranks_per_node, last = -1;

	memset(s, 0, sizeof(*s));
	s->net = net;
	s->job = job;
	s->n_seats = (job->rows->ranks - 1) / per_node + 1;
	s->per_seat =
	        ((UINT64_C(1) << STREAM_SHIFT) - 1) / (uint64_t)per_node + 1;
	s->seat_of = malloc((size_t)net->n_nodes * sizeof(*s->seat_of));
	s->router = malloc((size_t)net->n_node_routers * sizeof(*s->router));
	s->seat_router = malloc((size_t)s->n_seats * sizeof(*s->seat_router));
	if (!s->seat_of || !s->router || !s->seat_router) {
		cpl_stream_close(s);
		return cpl_fail_memory(err);
	}
	for (int node = 0; node < net->n_nodes; node++)
		s->seat_of[node] = -1;
	for (int seat = 0; seat < s->n_seats; seat++) {
		s->seat_of[job->node[seat]] = seat;
		s->seat_router[seat] = cpl_network_router(net, job->node[seat]);
	}
	for (int node = 0; node < net->n_nodes; node++) {
		int router = cpl_network_router(net, node);

		if (s->seat_of[node] >= 0 && router != last)
			s->router[s->n_routers++] = last = router;
	}
	return 0;
}

void cpl_stream_close(struct stream *s)
{
	free(s->seat_of);
	free(s->router);
	free(s->seat_router);
	memset(s, 0, sizeof(*s));
}

void cpl_pairs_free(struct cpl_pairs *pairs)
{
	free(pairs->from);
	free(pairs->row);
	free(pairs->to);
	free(pairs->bytes);
	memset(pairs, 0, sizeof(*pairs));
}

int cpl_stream_pairs(const struct cpl_network *net,
                     const struct cpl_stream *job, struct cpl_pairs *pairs,
                     struct cpl_error *err)
{
	struct stream_sinks sinks = {.pairs = pairs};

	memset(pairs, 0, sizeof(*pairs));
	return cpl_stream_walk(net, job, &sinks, err);
}

/* How a routing is served. */
enum way { BY_GROUPS, BY_MANY, BY_ADD, BY_SOLVE, N_WAYS };

/* Routings of one way, packed for it. */
struct batch {
	int n;
	int *index; /* [n] of the caller's arrays */
	const struct cpl_routing **routing;
	struct cpl_load **load;
	struct cpl_job_sums *sums;
};

static enum way way_of(const struct cpl_network *net,
                       const struct cpl_routing *routing)
{
	return cpl_stream_by_groups(net, routing) ? BY_GROUPS
	       : cpl_stream_by_many(net, routing) ? BY_MANY
	       : routing->add                     ? BY_ADD
	                                          : BY_SOLVE;
}

static int solve(const struct cpl_network *net,
                 const struct cpl_routing *routing, int threads,
                 const struct cpl_pairs *pairs, double *load,
                 struct cpl_routed *routed, struct cpl_error *err)
{
	struct cpl_adaptive_job job = {.pairs = pairs, .routing = routing};
	struct cpl_adaptive adaptive = {.net = net,
	                                .job = &job,
	                                .n_jobs = 1,
	                                .threads = threads,
	                                .load = load};
	int64_t n = pairs->row[pairs->n_from];
	void *scratch;

	if (cpl_routing_is_adaptive(routing)) {
		if (cpl_adaptive_solve(&adaptive, err))
			return -1;
		*routed = job.routed;
		return 0;
	}
	scratch = malloc(routing->scratch_size(net, n) + 1);
	if (!scratch)
		return cpl_fail_memory(err);
	routing->solve(net, pairs, scratch, load, routed);
	free(scratch);
	return 0;
}

/* Both kinds that go pair by pair share the walk. */
static int by_pairs(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct batch *batch, int n_add, struct cpl_error *err)
{
	struct cpl_pairs pairs = {0};
	struct stream_sinks sinks = {.n_add = n_add,
	                             .n_more = batch->n - n_add,
	                             .add = batch->routing,
	                             .load = batch->load,
	                             .sums = batch->sums};
	int rc;

	if (batch->n > n_add)
		sinks.pairs = &pairs;
	rc = cpl_stream_walk(net, job, &sinks, err);
	for (int i = n_add; i < batch->n && !rc; i++) {
		struct cpl_routed routed = {0, 0};

		rc = solve(net, batch->routing[i], job->threads, &pairs,
		           batch->load[i]->link, &routed, err);
		batch->sums[i].hop_bytes = routed.hop_bytes;
		batch->sums[i].max_dilation = routed.max_hops;
	}
	cpl_pairs_free(&pairs);
	return rc;
}

static int batch_open(struct batch *batch, int n)
{
	size_t room = (size_t)n + 1;

	memset(batch, 0, sizeof(*batch));
	batch->index = malloc(room * sizeof(*batch->index));
	batch->routing = malloc(room * sizeof(*batch->routing));
	batch->load = malloc(room * sizeof(*batch->load));
	batch->sums = calloc(room, sizeof(*batch->sums));
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
	/* Those with add or solve share the walk, those with add first. */
	struct batch batch[BY_SOLVE];
	struct stream_sinks sinks;
	int n_add = 0, rc = 0;

	memset(batch, 0, sizeof(batch));
	for (int b = 0; b < BY_SOLVE; b++)
		if (batch_open(&batch[b], n)) {
			rc = cpl_fail_memory(err);
			goto out;
		}
	for (int way = 0; way < N_WAYS; way++)
		for (int i = 0; i < n; i++) {
			if ((int)way_of(net, routing[i]) != way)
				continue;
			batch_take(&batch[way < BY_SOLVE ? way : BY_ADD], i,
			           routing[i], load[i]);
			n_add += way == BY_ADD;
		}
	if (batch[BY_GROUPS].n) {
		sinks = (struct stream_sinks){.n_add = batch[BY_GROUPS].n,
		                              .add = batch[BY_GROUPS].routing,
		                              .load = batch[BY_GROUPS].load,
		                              .sums = batch[BY_GROUPS].sums};
		rc = cpl_stream_groups(net, job, &sinks, err);
	}
	if (!rc && batch[BY_MANY].n) {
		sinks = (struct stream_sinks){.n_more = batch[BY_MANY].n,
		                              .load = batch[BY_MANY].load,
		                              .sums = batch[BY_MANY].sums};
		rc = cpl_stream_many(net, job, &sinks, batch[BY_MANY].routing,
		                     err);
	}
	if (!rc && batch[BY_ADD].n)
		rc = by_pairs(net, job, &batch[BY_ADD], n_add, err);
	for (int b = 0; b < BY_SOLVE; b++)
		for (int i = 0; i < batch[b].n && !rc; i++)
			sums[batch[b].index[i]] = batch[b].sums[i];
out:
	for (int b = 0; b < BY_SOLVE; b++)
		batch_close(&batch[b]);
	return rc;
}
