/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Router by router: what it sends to each other router, added up, then routed
 * or kept as flows. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
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
	s->router = cpl_arena_take_raw(&s->arena, s->n_hosts,
	                               sizeof(*s->router));
	s->host_router = cpl_arena_take_raw(&s->arena, s->n_hosts,
	                                    sizeof(*s->host_router));
	if (s->arena.failed)
		return cpl_arena_end(&s->arena, -1, err);
	for (int node = 0; node < net->n_nodes; node++)
		s->host_of[node] = -1;
	for (int host = 0; host < s->n_hosts; host++) {
		s->host_of[job->node[host]] = host;
		s->host_router[host] =
		        cpl_network_station(net, job->node[host]);
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

/* Routers are cut into so many chunks, fewer where their loads would take more
 * than MAX_MEMORY bytes. */
#define MAX_CHUNKS 32
#define MIN_CHUNKS 4
#define MAX_MEMORY (INT64_C(1) << 29)
/* Flows that are handed over together. */
#define SOME_FLOWS (1 << 14)

/* The results of one chunk of routers. */
struct chunk {
	double *injection; /* of all; disjoint, so shared by the chunks */
	double *ejection;  /* [n_hosts] */
	double **load;     /* [n][n_links] */
	struct cpl_job_sums sums;     /* the same for all routings */
	double *hop_bytes, *max_hops; /* [n] */
	struct cpl_flows flows;
	int64_t capacity; /* for flows */
	bool out_of_memory;
};

/* Holds nothing from one router to the next. */
struct worker {
	struct cpl_comm_entry *entry;
	double *row;     /* [n_routers of the network] */
	uint64_t *heard; /* bit map over them: entries of row */
	int low, high;   /* words that may hold bits */
};

struct flow_pass {
	struct stream s;
	int n;     /* routings to add */
	bool keep; /* flows */
	double *injection;
	int n_chunks;
	struct chunk *chunk;
	int n_workers;
	struct worker *worker;
	const struct stream_sinks *sinks;
	/* Where flows are handed over: the ones at hand, and how far the next
	 * ones are collected. */
	struct cpl_flows full;
	int at;       /* chunk */
	int64_t next; /* router of it */
};

/* One host at work. */
struct stream_host {
	const struct stream *s;
	struct chunk *chunk;
	struct worker *worker;
	int host, router;
	double stays, leaves;
};

static inline void soon(void *arg, int to)
{
	const struct stream_host *host = arg;

	__builtin_prefetch(&host->chunk->ejection[to], 1);
	__builtin_prefetch(&host->worker->row[host->s->host_router[to]], 1);
}

static inline void piece(void *arg, int to, double bytes, int n)
{
	struct stream_host *host = arg;
	int there = host->s->host_router[to];

	if (to == host->host) {
		host->stays += bytes;
		return;
	}
	host->leaves += bytes;
	host->chunk->ejection[to] += bytes;
	if (there == host->router)
		return;
	host->worker->row[there] += bytes;
	host->worker->heard[there / 64] |= UINT64_C(1) << (there % 64);
	if (there / 64 < host->worker->low)
		host->worker->low = there / 64;
	if (there / 64 > host->worker->high)
		host->worker->high = there / 64;
}

static void gather(const struct flow_pass *w, struct chunk *chunk,
                   struct worker *worker, int router)
{
	const struct stream *s = &w->s;
	struct cpl_nodes nodes = cpl_network_nodes(s->net, router);

	worker->low = s->net->n_routers;
	worker->high = -1;
	for (int i = 0; i < nodes.n; i++) {
		int node = nodes.node[i];
		struct stream_host host = {.s = s,
		                           .chunk = chunk,
		                           .worker = worker,
		                           .host = s->host_of[node],
		                           .router = router};

		if (host.host < 0)
			continue;
		stream_host(s, host.host, worker->entry, soon, piece, &host);
		w->injection[node] = host.leaves;
		chunk->sums.bytes += host.stays + host.leaves;
		chunk->sums.bytes_in_node += host.stays;
		chunk->sums.bytes_on_network += host.leaves;
	}
}

/* Room for n more flows. */
static int make_room(struct chunk *chunk, int64_t n)
{
	struct cpl_flows *flows = &chunk->flows;
	int64_t need = flows->row[flows->n_from] + n,
	        capacity = chunk->capacity;
	int *to;
	double *bytes;

	if (need <= capacity)
		return 0;
	capacity =
	        capacity + capacity / 2 > need ? capacity + capacity / 2 : need;
	to = realloc(flows->to, (size_t)capacity * sizeof(*to));
	if (!to)
		return -1;
	flows->to = to;
	bytes = realloc(flows->bytes, (size_t)capacity * sizeof(*bytes));
	if (!bytes)
		return -1;
	flows->bytes = bytes;
	chunk->capacity = capacity;
	return 0;
}

static void route(const struct flow_pass *w, struct chunk *chunk, int from,
                  int to, double bytes)
{
	const struct cpl_network *net = w->s.net;

	for (int i = 0; i < w->n; i++) {
		double hops = w->sinks->routing[i]->hops(net, from, to);

		w->sinks->routing[i]->add(net, from, to, bytes, chunk->load[i]);
		chunk->hop_bytes[i] += bytes * hops;
		if (hops > chunk->max_hops[i])
			chunk->max_hops[i] = hops;
	}
}

/* Route or keep what gather left in the worker, and clear it. */
static void empty(const struct flow_pass *w, struct chunk *chunk,
                  struct worker *worker, int from)
{
	struct cpl_flows *flows = &chunk->flows;
	int64_t n = 0, more = 0;

	if (w->keep) {
		for (int word = worker->low; word <= worker->high; word++)
			more += __builtin_popcountll(worker->heard[word]);
		if (make_room(chunk, more)) {
			chunk->out_of_memory = true;
			return;
		}
		n = flows->row[flows->n_from];
	}
	for (int word = worker->low; word <= worker->high; word++) {
		uint64_t bits = worker->heard[word];

		worker->heard[word] = 0;
		for (; bits; bits &= bits - 1) {
			int to = word * 64 + __builtin_ctzll(bits);
			double bytes = worker->row[to];

			worker->row[to] = 0;
			route(w, chunk, from, to, bytes);
			if (w->keep) {
				flows->to[n] = to;
				flows->bytes[n++] = bytes;
			}
		}
	}
	if (!more)
		return;
	flows->from[flows->n_from++] = from;
	flows->row[flows->n_from] = n;
}

static void run_chunk(void *arg, int64_t index, int thread)
{
	struct flow_pass *w = arg;
	struct chunk *chunk = &w->chunk[index];
	int64_t first = cpl_parallel_first(w->s.n_routers, w->n_chunks, index);
	int64_t last =
	        cpl_parallel_first(w->s.n_routers, w->n_chunks, index + 1);

	for (int64_t i = first; i < last && !chunk->out_of_memory; i++) {
		gather(w, chunk, &w->worker[thread], w->s.router[i]);
		empty(w, chunk, &w->worker[thread], w->s.router[i]);
	}
}

/* Collect the next flows of a chunk. */
static void collect(struct flow_pass *w, int thread)
{
	struct chunk *chunk = &w->chunk[w->at];
	int64_t last =
	        cpl_parallel_first(w->s.n_routers, w->n_chunks, w->at + 1);
	const struct cpl_flows *flows = &chunk->flows;

	while (w->next < last && flows->row[flows->n_from] < SOME_FLOWS &&
	       !chunk->out_of_memory) {
		int router = w->s.router[w->next++];

		gather(w, chunk, &w->worker[thread], router);
		empty(w, chunk, &w->worker[thread], router);
	}
}

static void hand_over_or_collect(void *arg, int64_t index, int thread)
{
	struct flow_pass *w = arg;

	if (index)
		collect(w, thread);
	else if (w->full.n_from)
		w->sinks->take(w->sinks->arg, &w->full);
}

/* Without room for flows yet. */
static int open_flows(const struct flow_pass *w, struct cpl_flows *flows)
{
	size_t routers = (size_t)w->s.n_routers / (size_t)w->n_chunks + 1;

	flows->from = malloc(routers * sizeof(int));
	flows->row = malloc((routers + 1) * sizeof(int64_t));
	if (!flows->from || !flows->row)
		return -1;
	flows->row[0] = 0;
	return 0;
}

static int open_chunk(struct flow_pass *w, struct chunk *chunk)
{
	struct cpl_arena *arena = &w->s.arena;

	chunk->ejection = cpl_arena_take(arena, w->s.n_hosts, sizeof(double));
	chunk->load = cpl_arena_take(arena, w->n, sizeof(*chunk->load));
	chunk->hop_bytes = cpl_arena_take(arena, w->n, sizeof(double));
	chunk->max_hops = cpl_arena_take(arena, w->n, sizeof(double));
	for (int i = 0; i < w->n && chunk->load; i++)
		chunk->load[i] = cpl_arena_take(arena, w->s.net->n_links,
		                                sizeof(double));
	return w->keep && !w->sinks->take ? open_flows(w, &chunk->flows) : 0;
}

static void open_worker(struct flow_pass *w, struct worker *worker)
{
	struct cpl_arena *arena = &w->s.arena;
	int routers = w->s.net->n_routers;

	worker->entry = cpl_arena_take_raw(arena, w->s.job->rows->max_entries,
	                                   sizeof(*worker->entry));
	worker->row = cpl_arena_take(arena, routers, sizeof(*worker->row));
	worker->heard =
	        cpl_arena_take(arena, routers / 64 + 1, sizeof(*worker->heard));
}

static void close_pass(struct flow_pass *w)
{
	for (int i = 0; i < w->n_chunks && w->chunk; i++)
		cpl_flows_free(&w->chunk[i].flows);
	cpl_flows_free(&w->full);
	cpl_stream_close(&w->s);
}

static int open_pass(struct flow_pass *w, const struct cpl_network *net,
                     const struct cpl_stream *job, struct cpl_error *err)
{
	struct cpl_arena *arena = &w->s.arena;
	int64_t each;
	int rc = 0;

	if (cpl_stream_open(&w->s, net, job, err))
		return -1;
	each = 8 * (w->n * net->n_links + w->s.n_hosts);
	w->n_chunks = MAX_CHUNKS;
	if (each * MAX_CHUNKS > MAX_MEMORY)
		w->n_chunks = (int)(MAX_MEMORY / each);
	if (w->n_chunks < MIN_CHUNKS)
		w->n_chunks = MIN_CHUNKS;
	w->n_workers = job->threads < 1             ? 1
	               : job->threads > w->n_chunks ? w->n_chunks
	                                            : job->threads;
	w->chunk = cpl_arena_take(arena, w->n_chunks, sizeof(*w->chunk));
	w->worker = cpl_arena_take(arena, w->n_workers, sizeof(*w->worker));
	w->injection = cpl_arena_take(arena, net->n_nodes, sizeof(double));
	for (int i = 0; i < w->n_chunks && !rc && !arena->failed; i++)
		rc = open_chunk(w, &w->chunk[i]);
	for (int i = 0; i < w->n_workers && !arena->failed; i++)
		open_worker(w, &w->worker[i]);
	return rc || arena->failed ? cpl_fail_memory(err) : 0;
}

/* Join the chunks' flows in order; each chunk's are freed as they are moved. */
static int join_flows(struct flow_pass *w, struct cpl_flows *out)
{
	int64_t n = 0;

	out->from = malloc(((size_t)w->s.n_routers + 1) * sizeof(*out->from));
	out->row = malloc(((size_t)w->s.n_routers + 1) * sizeof(*out->row));
	if (!out->from || !out->row)
		return -1;
	out->row[0] = 0;
	for (int i = 0; i < w->n_chunks; i++) {
		struct cpl_flows *some = &w->chunk[i].flows;
		int64_t more = some->row[some->n_from];
		size_t total = (size_t)(n + more + 1);
		double *bytes;
		int *to = realloc(out->to, total * sizeof(*to));

		if (!to)
			return -1;
		out->to = to;
		bytes = realloc(out->bytes, total * sizeof(*bytes));
		if (!bytes)
			return -1;
		out->bytes = bytes;
		if (more) {
			memcpy(to + n, some->to, (size_t)more * sizeof(*to));
			memcpy(bytes + n, some->bytes,
			       (size_t)more * sizeof(*bytes));
		}
		for (int k = 0; k < some->n_from; k++) {
			out->from[out->n_from++] = some->from[k];
			out->row[out->n_from] = n + some->row[k + 1];
		}
		n += more;
		cpl_flows_free(some);
	}
	return 0;
}

/* Exchange what a chunk has collected and what was handed over. */
static void swap(struct flow_pass *w, int64_t *capacity)
{
	struct chunk *chunk = &w->chunk[w->at];
	struct cpl_flows flows = w->full;
	int64_t old = *capacity;

	w->full = chunk->flows;
	*capacity = chunk->capacity;
	flows.n_from = 0;
	flows.row[0] = 0;
	chunk->flows = flows;
	chunk->capacity = old;
}

/* Chunk by chunk, in order. */
static int run_in_order(struct flow_pass *w)
{
	struct cpl_flows *full = &w->full;
	int64_t capacity = 0;

	if (open_flows(w, full))
		return -1;
	for (w->at = 0; w->at < w->n_chunks; w->at++) {
		struct chunk *chunk = &w->chunk[w->at];
		int64_t last = cpl_parallel_first(w->s.n_routers, w->n_chunks,
		                                  w->at + 1);

		if (open_flows(w, &chunk->flows))
			return -1;
		while (w->next < last) {
			cpl_parallel(w->n_workers, 2, hand_over_or_collect, w);
			if (chunk->out_of_memory)
				return -1;
			swap(w, &capacity);
		}
		cpl_flows_free(&chunk->flows);
		chunk->capacity = 0;
	}
	if (full->n_from)
		w->sinks->take(w->sinks->arg, full);
	return 0;
}

static void add_routed(const struct flow_pass *w, int i, struct cpl_load *load,
                       struct cpl_job_sums *sums)
{
	for (int c = 0; c < w->n_chunks; c++) {
		const struct chunk *chunk = &w->chunk[c];
		const double *link = chunk->load[i];

		for (int64_t l = 0; l < w->s.net->n_links; l++)
			load->link[l] += link[l];
		sums->hop_bytes += chunk->hop_bytes[i];
		if (chunk->max_hops[i] > sums->max_dilation)
			sums->max_dilation = chunk->max_hops[i];
	}
}

/* Add what does not depend on the routing. */
static void add_nodes(const struct flow_pass *w, struct cpl_load *load,
                      struct cpl_job_sums *sums)
{
	const struct stream *s = &w->s;

	for (int host = 0; host < s->n_hosts; host++) {
		int node = s->job->node[host];
		double in = 0;

		for (int c = 0; c < w->n_chunks; c++)
			in += w->chunk[c].ejection[host];
		load->ejection[node] += in;
		load->injection[node] += w->injection[node];
	}
	for (int c = 0; c < w->n_chunks; c++) {
		const struct cpl_job_sums *some = &w->chunk[c].sums;

		sums->bytes += some->bytes;
		sums->bytes_in_node += some->bytes_in_node;
		sums->bytes_on_network += some->bytes_on_network;
	}
}

int cpl_stream_pass(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct stream_sinks *sinks, struct cpl_error *err)
{
	struct flow_pass w = {.n = sinks->route ? sinks->n : 0,
	                      .keep = sinks->flows || sinks->take,
	                      .sinks = sinks};
	int rc = open_pass(&w, net, job, err);

	if (rc)
		goto out;
	if (!sinks->take)
		cpl_parallel(w.n_workers, w.n_chunks, run_chunk, &w);
	else if (run_in_order(&w))
		rc = cpl_fail_memory(err);
	for (int i = 0; i < w.n_chunks && !rc; i++)
		if (w.chunk[i].out_of_memory)
			rc = cpl_fail_memory(err);
	if (!rc && sinks->flows && join_flows(&w, sinks->flows))
		rc = cpl_fail_memory(err);
	if (rc)
		goto out;
	for (int i = 0; i < w.n; i++)
		add_routed(&w, i, sinks->load[i], &sinks->sums[i]);
	for (int i = 0; i < sinks->n; i++)
		add_nodes(&w, sinks->load[i], &sinks->sums[i]);
out:
	close_pass(&w);
	return rc;
}
