/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Router by router: what it sends to each other router, added up, then routed
 * or kept as pairs. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "traffic/stream_internal.h"

/* Routers are cut into so many chunks, fewer where their loads would take more
 * than MAX_MEMORY bytes. */
#define MAX_CHUNKS 32
#define MIN_CHUNKS 4
#define MAX_MEMORY (INT64_C(1) << 29)
/* Pairs that are handed over together. */
#define SOME_PAIRS (1 << 14)

/* What one chunk of routers gave. */
struct chunk {
	double *injection; /* of all; disjoint, so shared by the chunks */
	double *ejection;  /* [n_seats] */
	double **load;     /* [n][n_links] */
	struct cpl_job_sums sums;     /* the same for all routings */
	double *hop_bytes, *max_hops; /* [n] */
	struct cpl_pairs pairs;
	int64_t room; /* for pairs */
	bool out_of_memory;
};

/* Holds nothing from one router to the next. */
struct lane {
	struct cpl_comm_entry *entry;
	double *row;     /* [n_routers of the network] */
	uint64_t *heard; /* bit map over them: entries of row */
	int low, high;   /* words that may hold bits */
};

struct walk {
	struct stream s;
	int n; /* routings to add */
	const struct cpl_routing *const *routing;
	bool keep; /* pairs */
	double *injection;
	int n_chunks;
	struct chunk *chunk;
	int n_lanes;
	struct lane *lane;
	/* Where pairs are handed over: what is done, what is collected, and
	 * where that stands. */
	const struct stream_sinks *sinks;
	struct cpl_pairs full;
	int at;       /* chunk */
	int64_t next; /* router of it */
};

/* One seat at work. */
struct seat {
	const struct stream *s;
	struct chunk *chunk;
	struct lane *lane;
	int seat, router;
	double stays, leaves;
};

static inline void soon(void *arg, int to)
{
	const struct seat *seat = arg;

	__builtin_prefetch(&seat->chunk->ejection[to], 1);
	__builtin_prefetch(&seat->lane->row[seat->s->seat_router[to]], 1);
}

static inline void piece(void *arg, int to, double bytes)
{
	struct seat *seat = arg;
	int there = seat->s->seat_router[to];

	if (to == seat->seat) {
		seat->stays += bytes;
		return;
	}
	seat->leaves += bytes;
	seat->chunk->ejection[to] += bytes;
	if (there == seat->router)
		return;
	seat->lane->row[there] += bytes;
	seat->lane->heard[there / 64] |= UINT64_C(1) << (there % 64);
	if (there / 64 < seat->lane->low)
		seat->lane->low = there / 64;
	if (there / 64 > seat->lane->high)
		seat->lane->high = there / 64;
}

static void gather(const struct walk *w, struct chunk *chunk, struct lane *lane,
                   int router)
{
	const struct stream *s = &w->s;
	int ports = s->net->nodes_per_router;

	lane->low = s->net->n_routers;
	lane->high = -1;
	for (int node = router * ports; node < (router + 1) * ports; node++) {
		struct seat seat = {.s = s,
		                    .chunk = chunk,
		                    .lane = lane,
		                    .seat = s->seat_of[node],
		                    .router = router};

		if (seat.seat < 0)
			continue;
		stream_seat(s, seat.seat, lane->entry, soon, piece, &seat);
		w->injection[node] = seat.leaves;
		chunk->sums.bytes += seat.stays + seat.leaves;
		chunk->sums.bytes_in_node += seat.stays;
		chunk->sums.bytes_on_network += seat.leaves;
	}
}

/* Room for n more pairs. */
static int make_room(struct chunk *chunk, int64_t n)
{
	struct cpl_pairs *pairs = &chunk->pairs;
	int64_t need = pairs->row[pairs->n_from] + n, room = chunk->room;
	int *to;
	double *bytes;

	if (need <= room)
		return 0;
	room = room + room / 2 > need ? room + room / 2 : need;
	to = realloc(pairs->to, (size_t)room * sizeof(*to));
	if (!to)
		return -1;
	pairs->to = to;
	bytes = realloc(pairs->bytes, (size_t)room * sizeof(*bytes));
	if (!bytes)
		return -1;
	pairs->bytes = bytes;
	chunk->room = room;
	return 0;
}

static void route(const struct walk *w, struct chunk *chunk, int from, int to,
                  double bytes)
{
	const struct cpl_network *net = w->s.net;

	for (int i = 0; i < w->n; i++) {
		double hops = w->routing[i]->hops(net, from, to);

		w->routing[i]->add(net, from, to, bytes, chunk->load[i]);
		chunk->hop_bytes[i] += bytes * hops;
		if (hops > chunk->max_hops[i])
			chunk->max_hops[i] = hops;
	}
}

/* Route or keep what gather left in the lane, and clear it. */
static void empty(const struct walk *w, struct chunk *chunk, struct lane *lane,
                  int from)
{
	struct cpl_pairs *pairs = &chunk->pairs;
	int64_t n = 0, more = 0;

	if (w->keep) {
		for (int word = lane->low; word <= lane->high; word++)
			more += __builtin_popcountll(lane->heard[word]);
		if (make_room(chunk, more)) {
			chunk->out_of_memory = true;
			return;
		}
		n = pairs->row[pairs->n_from];
	}
	for (int word = lane->low; word <= lane->high; word++) {
		uint64_t bits = lane->heard[word];

		lane->heard[word] = 0;
		for (; bits; bits &= bits - 1) {
			int to = word * 64 + __builtin_ctzll(bits);
			double bytes = lane->row[to];

			lane->row[to] = 0;
			route(w, chunk, from, to, bytes);
			if (w->keep) {
				pairs->to[n] = to;
				pairs->bytes[n++] = bytes;
			}
		}
	}
	if (!more)
		return;
	pairs->from[pairs->n_from++] = from;
	pairs->row[pairs->n_from] = n;
}

static void run_chunk(void *arg, int64_t index, int thread)
{
	struct walk *w = arg;
	struct chunk *chunk = &w->chunk[index];
	int64_t first = cpl_parallel_first(w->s.n_routers, w->n_chunks, index);
	int64_t last =
	        cpl_parallel_first(w->s.n_routers, w->n_chunks, index + 1);

	for (int64_t i = first; i < last && !chunk->out_of_memory; i++) {
		gather(w, chunk, &w->lane[thread], w->s.router[i]);
		empty(w, chunk, &w->lane[thread], w->s.router[i]);
	}
}

/* Collect the next ones of a chunk. */
static void collect(struct walk *w, int thread)
{
	struct chunk *chunk = &w->chunk[w->at];
	int64_t last =
	        cpl_parallel_first(w->s.n_routers, w->n_chunks, w->at + 1);
	const struct cpl_pairs *pairs = &chunk->pairs;

	while (w->next < last && pairs->row[pairs->n_from] < SOME_PAIRS &&
	       !chunk->out_of_memory) {
		int router = w->s.router[w->next++];

		gather(w, chunk, &w->lane[thread], router);
		empty(w, chunk, &w->lane[thread], router);
	}
}

static void hand_over_or_collect(void *arg, int64_t index, int thread)
{
	struct walk *w = arg;

	if (index)
		collect(w, thread);
	else if (w->full.n_from)
		w->sinks->take(w->sinks->arg, &w->full);
}

/* Without room for pairs yet. */
static int open_pairs(const struct walk *w, struct cpl_pairs *pairs)
{
	size_t routers = (size_t)w->s.n_routers / (size_t)w->n_chunks + 1;

	pairs->from = malloc(routers * sizeof(int));
	pairs->row = malloc((routers + 1) * sizeof(int64_t));
	if (!pairs->from || !pairs->row)
		return -1;
	pairs->row[0] = 0;
	return 0;
}

static int open_chunk(struct walk *w, struct chunk *chunk)
{
	const struct cpl_network *net = w->s.net;
	size_t n = (size_t)w->n + 1;

	chunk->ejection = calloc((size_t)w->s.n_seats, sizeof(double));
	chunk->load = calloc(n, sizeof(*chunk->load));
	chunk->hop_bytes = calloc(2 * n, sizeof(double));
	if (!chunk->ejection || !chunk->load || !chunk->hop_bytes)
		return -1;
	chunk->max_hops = chunk->hop_bytes + n;
	for (int i = 0; i < w->n; i++) {
		chunk->load[i] =
		        calloc((size_t)net->n_links + 1, sizeof(double));
		if (!chunk->load[i])
			return -1;
	}
	return w->keep && !w->sinks->take ? open_pairs(w, &chunk->pairs) : 0;
}

static int open_lane(const struct walk *w, struct lane *lane)
{
	size_t routers = (size_t)w->s.net->n_routers;

	lane->entry =
	        malloc((size_t)w->s.job->rows->room * sizeof(*lane->entry));
	lane->row = calloc(routers, sizeof(*lane->row));
	lane->heard = calloc(routers / 64 + 1, sizeof(*lane->heard));
	return lane->entry && lane->row && lane->heard ? 0 : -1;
}

static void close_walk(struct walk *w)
{
	for (int i = 0; i < w->n_chunks && w->chunk; i++) {
		struct chunk *chunk = &w->chunk[i];

		free(chunk->ejection);
		for (int k = 0; k < w->n && chunk->load; k++)
			free(chunk->load[k]);
		free(chunk->load);
		free(chunk->hop_bytes);
		cpl_pairs_free(&chunk->pairs);
	}
	free(w->chunk);
	for (int i = 0; i < w->n_lanes && w->lane; i++) {
		free(w->lane[i].entry);
		free(w->lane[i].row);
		free(w->lane[i].heard);
	}
	free(w->lane);
	free(w->injection);
	cpl_pairs_free(&w->full);
	cpl_stream_close(&w->s);
}

static int open_walk(struct walk *w, const struct cpl_network *net,
                     const struct cpl_stream *job, struct cpl_error *err)
{
	int64_t each;

	if (cpl_stream_open(&w->s, net, job, err))
		return -1;
	each = 8 * (w->n * net->n_links + w->s.n_seats);
	w->n_chunks = MAX_CHUNKS;
	if (each * MAX_CHUNKS > MAX_MEMORY)
		w->n_chunks = (int)(MAX_MEMORY / each);
	if (w->n_chunks < MIN_CHUNKS)
		w->n_chunks = MIN_CHUNKS;
	w->n_lanes = job->threads < 1             ? 1
	             : job->threads > w->n_chunks ? w->n_chunks
	                                          : job->threads;
	w->chunk = calloc((size_t)w->n_chunks, sizeof(*w->chunk));
	w->lane = calloc((size_t)w->n_lanes, sizeof(*w->lane));
	w->injection = calloc((size_t)net->n_nodes, sizeof(double));
	if (!w->chunk || !w->lane || !w->injection)
		return cpl_fail_memory(err);
	for (int i = 0; i < w->n_chunks; i++)
		if (open_chunk(w, &w->chunk[i]))
			return cpl_fail_memory(err);
	for (int i = 0; i < w->n_lanes; i++)
		if (open_lane(w, &w->lane[i]))
			return cpl_fail_memory(err);
	return 0;
}

/* The chunks' pairs, in order; each chunk's are freed as they are moved. */
static int join_pairs(struct walk *w, struct cpl_pairs *out)
{
	int64_t n = 0;

	out->from = malloc(((size_t)w->s.n_routers + 1) * sizeof(*out->from));
	out->row = malloc(((size_t)w->s.n_routers + 1) * sizeof(*out->row));
	if (!out->from || !out->row)
		return -1;
	out->row[0] = 0;
	for (int i = 0; i < w->n_chunks; i++) {
		struct cpl_pairs *part = &w->chunk[i].pairs;
		int64_t more = part->row[part->n_from];
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
			memcpy(to + n, part->to, (size_t)more * sizeof(*to));
			memcpy(bytes + n, part->bytes,
			       (size_t)more * sizeof(*bytes));
		}
		for (int k = 0; k < part->n_from; k++) {
			out->from[out->n_from++] = part->from[k];
			out->row[out->n_from] = n + part->row[k + 1];
		}
		n += more;
		cpl_pairs_free(part);
	}
	return 0;
}

/* What a chunk has collected takes the place of what was handed over, and the
 * other way round. */
static void swap(struct walk *w, int64_t *room)
{
	struct chunk *chunk = &w->chunk[w->at];
	struct cpl_pairs pairs = w->full;
	int64_t old = *room;

	w->full = chunk->pairs;
	*room = chunk->room;
	pairs.n_from = 0;
	pairs.row[0] = 0;
	chunk->pairs = pairs;
	chunk->room = old;
}

/* Chunk by chunk, in order. */
static int run_in_order(struct walk *w)
{
	struct cpl_pairs *full = &w->full;
	int64_t room = 0;

	if (open_pairs(w, full))
		return -1;
	for (w->at = 0; w->at < w->n_chunks; w->at++) {
		struct chunk *chunk = &w->chunk[w->at];
		int64_t last = cpl_parallel_first(w->s.n_routers, w->n_chunks,
		                                  w->at + 1);

		if (open_pairs(w, &chunk->pairs))
			return -1;
		while (w->next < last) {
			cpl_parallel(w->n_lanes, 2, hand_over_or_collect, w);
			if (chunk->out_of_memory)
				return -1;
			swap(w, &room);
		}
		cpl_pairs_free(&chunk->pairs);
		chunk->room = 0;
	}
	if (full->n_from)
		w->sinks->take(w->sinks->arg, full);
	return 0;
}

static void add_routed(const struct walk *w, int i, struct cpl_load *load,
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

/* What does not depend on the routing. */
static void add_nodes(const struct walk *w, struct cpl_load *load,
                      struct cpl_job_sums *sums)
{
	const struct stream *s = &w->s;

	for (int seat = 0; seat < s->n_seats; seat++) {
		int node = s->job->node[seat];
		double in = 0;

		for (int c = 0; c < w->n_chunks; c++)
			in += w->chunk[c].ejection[seat];
		load->ejection[node] += in;
		load->injection[node] += w->injection[node];
	}
	for (int c = 0; c < w->n_chunks; c++) {
		const struct cpl_job_sums *part = &w->chunk[c].sums;

		sums->bytes += part->bytes;
		sums->bytes_in_node += part->bytes_in_node;
		sums->bytes_on_network += part->bytes_on_network;
	}
}

int cpl_stream_walk(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct stream_sinks *sinks, struct cpl_error *err)
{
	struct walk w = {.n = sinks->n_add,
	                 .routing = sinks->add,
	                 .keep = sinks->pairs || sinks->take,
	                 .sinks = sinks};
	int rc = open_walk(&w, net, job, err);

	if (rc)
		goto out;
	if (!sinks->take)
		cpl_parallel(w.n_lanes, w.n_chunks, run_chunk, &w);
	else if (run_in_order(&w))
		rc = cpl_fail_memory(err);
	for (int i = 0; i < w.n_chunks && !rc; i++)
		if (w.chunk[i].out_of_memory)
			rc = cpl_fail_memory(err);
	if (!rc && sinks->pairs && join_pairs(&w, sinks->pairs))
		rc = cpl_fail_memory(err);
	if (rc)
		goto out;
	for (int i = 0; i < sinks->n_add; i++)
		add_routed(&w, i, sinks->load[i], &sinks->sums[i]);
	for (int i = 0; i < sinks->n_add + sinks->n_more; i++)
		add_nodes(&w, sinks->load[i], &sinks->sums[i]);
out:
	close_walk(&w);
	return rc;
}
