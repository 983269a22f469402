/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping_internal.h"

struct state {
	const struct cpl_map_request *req;
	int *rank_host;
};

static bool expired(const struct state *s)
{
	return s->req->expired && s->req->expired(s->req->expired_arg);
}

/* Ranks and hosts of one side of a bisection, or of the whole. */
struct half {
	const struct cpl_comm *ranks, *hosts;
	int *rank; /* [ranks->ranks] their numbers in the request */
	int *host; /* [hosts->ranks] */
};

static void block_order(const struct state *s, const struct half *h)
{
	int at = 0;

	for (int i = 0; i < h->hosts->ranks; i++)
		for (int k = 0; k < s->req->slots[h->host[i]]; k++)
			s->rank_host[h->rank[at++]] = h->host[i];
}

/* The vertices of one side, in order; returns how many. */
static int pick(const unsigned char *side, int n, int want, int *vertex)
{
	int used = 0;

	for (int v = 0; v < n; v++)
		if (side[v] == want)
			vertex[used++] = v;
	return used;
}

static int split(const struct state *s, const struct half *h,
                 struct cpl_error *err);

static int descend(const struct state *s, const struct half *whole,
                   const unsigned char *rank_side,
                   const unsigned char *host_side, int side, int *vertex,
                   struct cpl_error *err)
{
	struct cpl_comm *ranks = NULL, *hosts = NULL;
	struct half h = {0};
	int n, rc = -1;

	n = pick(rank_side, whole->ranks->ranks, side, vertex);
	h.rank = malloc(((size_t)n + 1) * sizeof(*h.rank));
	if (!h.rank) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++)
		h.rank[i] = whole->rank[vertex[i]];
	h.ranks = ranks = cpl_comm_subset(whole->ranks, vertex, n, err);
	n = pick(host_side, whole->hosts->ranks, side, vertex);
	h.host = malloc(((size_t)n + 1) * sizeof(*h.host));
	if (!h.host) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++)
		h.host[i] = whole->host[vertex[i]];
	if (ranks)
		h.hosts = hosts = cpl_comm_subset(whole->hosts, vertex, n, err);
	if (hosts)
		rc = split(s, &h, err);
out:
	cpl_comm_free(ranks);
	cpl_comm_free(hosts);
	free(h.rank);
	free(h.host);
	return rc;
}

static int split(const struct state *s, const struct half *h,
                 struct cpl_error *err)
{
	int n_ranks = h->ranks->ranks, n_hosts = h->hosts->ranks, room = 0;
	unsigned char *rank_side, *host_side;
	int *vertex, rc = -1;

	if (n_hosts == 1 || expired(s)) {
		block_order(s, h);
		return 0;
	}
	rank_side = malloc((size_t)n_ranks);
	host_side = malloc((size_t)n_hosts);
	/* Every host has a slot, so there are no more of them. */
	vertex = malloc((size_t)n_ranks * sizeof(*vertex));
	if (!rank_side || !host_side || !vertex) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_map_bisect(h->hosts, n_hosts / 2, s->req->seed, s->req->expired,
	                   s->req->expired_arg, host_side, err))
		goto out;
	for (int i = 0; i < n_hosts; i++)
		if (!host_side[i])
			room += s->req->slots[h->host[i]];
	if (cpl_map_bisect(h->ranks, room, s->req->seed, s->req->expired,
	                   s->req->expired_arg, rank_side, err))
		goto out;
	rc = descend(s, h, rank_side, host_side, 0, vertex, err);
	if (!rc)
		rc = descend(s, h, rank_side, host_side, 1, vertex, err);
out:
	free(rank_side);
	free(host_side);
	free(vertex);
	return rc;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	struct state s = {.req = req, .rank_host = rank_host};
	struct half whole = {.ranks = req->graph};
	struct cpl_comm *hosts = NULL;
	int n = 0, rc = -1;

	whole.rank = malloc((size_t)req->graph->ranks * sizeof(*whole.rank));
	whole.host = malloc((size_t)req->n_hosts * sizeof(*whole.host));
	if (!whole.rank || !whole.host) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int r = 0; r < req->graph->ranks; r++)
		whole.rank[r] = r;
	for (int h = 0; h < req->n_hosts; h++)
		if (req->slots[h])
			whole.host[n++] = h;
	whole.hosts = hosts = cpl_map_host_graph(req, whole.host, n, err);
	if (hosts)
		rc = split(&s, &whole, err);
out:
	cpl_comm_free(hosts);
	free(whole.rank);
	free(whole.host);
	return rc;
}

const struct cpl_mapper cpl_mapper_recursive = {
        .name = "recursive",
        .summary = "LibTopoMap's bisection of ranks and of the host graph",
        .map = map,
};
