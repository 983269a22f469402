/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/traffic_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Between calls head is all -1, row all 0 and the bitmaps are empty, so that a
 * small job on a large machine need not clear the whole machine's arrays.
 */
struct cpl_traffic_work {
	int n_words;     /* of a bitmap over routers */
	int *head;       /* [n_routers] lowest rank on the router, or -1 */
	int *next;       /* [ranks] next rank on the same router, or -1 */
	int *router;     /* [ranks] */
	double *row;     /* [n_routers] bytes to each router from this one */
	uint64_t *used;  /* routers that hold ranks */
	uint64_t *heard; /* routers with an entry in row */
	/* For routings that solve all pairs together. */
	struct cpl_pairs pairs;
	void *scratch;
};

int cpl_load_init(struct cpl_load *load, const struct cpl_network *net,
                  struct cpl_error *err)
{
	/* One more: a network may have no links. */
	load->link = calloc((size_t)net->n_links + 1, sizeof(double));
	load->injection = calloc((size_t)net->n_nodes, sizeof(double));
	load->ejection = calloc((size_t)net->n_nodes, sizeof(double));
	if (load->link && load->injection && load->ejection)
		return 0;
	cpl_load_free(load);
	return cpl_fail_memory(err);
}

void cpl_load_clear(struct cpl_load *load, const struct cpl_network *net)
{
	memset(load->link, 0, (size_t)net->n_links * sizeof(double));
	memset(load->injection, 0, (size_t)net->n_nodes * sizeof(double));
	memset(load->ejection, 0, (size_t)net->n_nodes * sizeof(double));
}

void cpl_load_free(struct cpl_load *load)
{
	free(load->link);
	free(load->injection);
	free(load->ejection);
	memset(load, 0, sizeof(*load));
}

void cpl_load_add(struct cpl_load *into, const struct cpl_load *from,
                  const struct cpl_network *net)
{
	for (int64_t i = 0; i < net->n_links; i++)
		into->link[i] += from->link[i];
	for (int i = 0; i < net->n_nodes; i++) {
		into->injection[i] += from->injection[i];
		into->ejection[i] += from->ejection[i];
	}
}

/*
 * Large blocks that are not touched take address space only: nothing here is
 * cleared, and routings with add use none of it.
 */
static int reserve_pairs(struct cpl_traffic_work *work,
                         const struct cpl_network *net,
                         const struct cpl_comm *comm)
{
	int64_t most = (int64_t)net->n_routers * net->n_routers;
	size_t routers = (size_t)net->n_routers, pairs, scratch;

	if (comm->n_entries < most)
		most = comm->n_entries;
	scratch = cpl_routing_scratch_size(net, most);
	if (!scratch)
		return 0;
	pairs = (size_t)most + 1;
	work->pairs.from = malloc(routers * sizeof(*work->pairs.from));
	work->pairs.row = malloc((routers + 1) * sizeof(*work->pairs.row));
	work->pairs.to = malloc(pairs * sizeof(*work->pairs.to));
	work->pairs.bytes = malloc(pairs * sizeof(*work->pairs.bytes));
	work->scratch = malloc(scratch);
	return work->pairs.from && work->pairs.row && work->pairs.to &&
	                       work->pairs.bytes && work->scratch
	               ? 0
	               : -1;
}

struct cpl_traffic_work *cpl_traffic_work_new(const struct cpl_network *net,
                                              const struct cpl_comm *comm,
                                              struct cpl_error *err)
{
	struct cpl_traffic_work *work = calloc(1, sizeof(*work));
	size_t routers = (size_t)net->n_routers, ranks = (size_t)comm->ranks;

	if (!work)
		goto fail;
	work->n_words = (net->n_routers + 63) / 64;
	work->head = malloc(routers * sizeof(*work->head));
	work->next = malloc(ranks * sizeof(*work->next));
	work->router = malloc(ranks * sizeof(*work->router));
	work->row = calloc(routers, sizeof(*work->row));
	work->used = calloc((size_t)work->n_words, sizeof(*work->used));
	work->heard = calloc((size_t)work->n_words, sizeof(*work->heard));
	if (!work->head || !work->next || !work->router || !work->row ||
	    !work->used || !work->heard || reserve_pairs(work, net, comm))
		goto fail;
	for (size_t i = 0; i < routers; i++)
		work->head[i] = -1;
	return work;
fail:
	cpl_traffic_work_free(work);
	cpl_fail_memory(err);
	return NULL;
}

void cpl_traffic_work_free(struct cpl_traffic_work *work)
{
	if (!work)
		return;
	free(work->head);
	free(work->next);
	free(work->router);
	free(work->row);
	free(work->used);
	free(work->heard);
	free(work->pairs.from);
	free(work->pairs.row);
	free(work->pairs.to);
	free(work->pairs.bytes);
	free(work->scratch);
	free(work);
}

/* Lists of ranks by router, lowest rank first. */
static void list_ranks(const struct cpl_network *net,
                       const struct cpl_comm *comm, const int *rank_node,
                       struct cpl_traffic_work *work)
{
	for (int rank = comm->ranks - 1; rank >= 0; rank--) {
		int router = cpl_network_router(net, rank_node[rank]);

		work->router[rank] = router;
		work->next[rank] = work->head[router];
		work->head[router] = rank;
		work->used[router / 64] |= UINT64_C(1) << (router % 64);
	}
}

/* Words of `heard` that may hold bits. */
struct span {
	int low, high;
};

/* Add the rows of the ranks on one router into work->row. */
static struct span gather(const struct cpl_comm *comm, const int *rank_node,
                          int router, struct cpl_traffic_work *work,
                          struct cpl_load *load, struct cpl_job_sums *sums)
{
	struct span span = {work->n_words, -1};

	for (int rank = work->head[router]; rank >= 0;
	     rank = work->next[rank]) {
		int node = rank_node[rank];
		double leaves = 0, stays = 0;

		for (int64_t i = comm->row[rank]; i < comm->row[rank + 1];
		     i++) {
			int to = comm->to[i], there = work->router[to];
			double bytes = comm->bytes[i];

			if (rank_node[to] == node || !(bytes > 0)) {
				stays += bytes;
				continue;
			}
			leaves += bytes;
			load->ejection[rank_node[to]] += bytes;
			if (there == router)
				continue;
			work->row[there] += bytes;
			work->heard[there / 64] |= UINT64_C(1) << (there % 64);
			if (there / 64 < span.low)
				span.low = there / 64;
			if (there / 64 > span.high)
				span.high = there / 64;
		}
		load->injection[node] += leaves;
		sums->bytes += leaves + stays;
		sums->bytes_on_network += leaves;
		sums->bytes_in_node += stays;
	}
	return span;
}

/* Keep what gather left in work->row as a row of pairs, and clear it. */
static void keep(int from, struct span span, struct cpl_traffic_work *work)
{
	struct cpl_pairs *pairs = &work->pairs;
	int64_t n = pairs->row[pairs->n_from];

	for (int word = span.low; word <= span.high; word++) {
		uint64_t bits = work->heard[word];

		work->heard[word] = 0;
		for (; bits; bits &= bits - 1) {
			int to = word * 64 + __builtin_ctzll(bits);

			pairs->to[n] = to;
			pairs->bytes[n++] = work->row[to];
			work->row[to] = 0;
		}
	}
	if (n == pairs->row[pairs->n_from])
		return;
	pairs->from[pairs->n_from++] = from;
	pairs->row[pairs->n_from] = n;
}

/* Route what gather left in work->row, and clear it. */
static void route(const struct cpl_network *net,
                  const struct cpl_routing *routing, int from, struct span span,
                  struct cpl_traffic_work *work, struct cpl_load *load,
                  struct cpl_job_sums *sums)
{
	for (int word = span.low; word <= span.high; word++) {
		uint64_t bits = work->heard[word];

		work->heard[word] = 0;
		for (; bits; bits &= bits - 1) {
			int to = word * 64 + __builtin_ctzll(bits);
			double bytes = work->row[to];
			double hops = routing->hops(net, from, to);

			work->row[to] = 0;
			routing->add(net, from, to, bytes, load->link);
			sums->hop_bytes += bytes * hops;
			if (hops > sums->max_dilation)
				sums->max_dilation = hops;
		}
	}
}

/* Go through the routers that hold ranks: keep what each sends as pairs, or
 * route it where there is a routing. */
static void walk(const struct cpl_network *net,
                 const struct cpl_routing *routing, const struct cpl_comm *comm,
                 const int *rank_node, struct cpl_traffic_work *work,
                 struct cpl_load *load, struct cpl_job_sums *sums)
{
	if (!routing) {
		work->pairs.n_from = 0;
		work->pairs.row[0] = 0;
	}
	list_ranks(net, comm, rank_node, work);
	for (int word = 0; word < work->n_words; word++) {
		uint64_t bits = work->used[word];

		work->used[word] = 0;
		for (; bits; bits &= bits - 1) {
			int router = word * 64 + __builtin_ctzll(bits);
			struct span span = gather(comm, rank_node, router, work,
			                          load, sums);

			if (routing)
				route(net, routing, router, span, work, load,
				      sums);
			else
				keep(router, span, work);
			work->head[router] = -1;
		}
	}
}

const struct cpl_pairs *cpl_traffic_pairs(const struct cpl_network *net,
                                          const struct cpl_comm *comm,
                                          const int *rank_node,
                                          struct cpl_traffic_work *work,
                                          struct cpl_load *load,
                                          struct cpl_job_sums *sums)
{
	walk(net, NULL, comm, rank_node, work, load, sums);
	return &work->pairs;
}

void cpl_traffic_add(const struct cpl_network *net,
                     const struct cpl_routing *routing,
                     const struct cpl_comm *comm, const int *rank_node,
                     struct cpl_traffic_work *work, struct cpl_load *load,
                     struct cpl_job_sums *sums)
{
	struct cpl_job_sums total = {0};
	struct cpl_routed routed = {0, 0};

	walk(net, routing->solve ? NULL : routing, comm, rank_node, work, load,
	     &total);
	if (routing->solve) {
		routing->solve(net, &work->pairs, work->scratch, load->link,
		               &routed);
		total.hop_bytes = routed.hop_bytes;
		total.max_dilation = routed.max_hops;
	}
	if (sums)
		*sums = total;
}
