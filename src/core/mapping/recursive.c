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

/* All routers and their links, weighted by bandwidth. */
static struct cpl_comm *router_graph(const struct cpl_network *net,
                                     struct cpl_error *err)
{
	struct cpl_comm_entry *entry =
	        malloc(((size_t)net->n_links + 1) * sizeof(*entry));
	struct cpl_comm *directed, *graph;

	if (!entry) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int64_t l = 0; l < net->n_links; l++)
		entry[l] = (struct cpl_comm_entry){
		        net->link_from[l], net->link_to[l],
		        cpl_network_link_bandwidth(net, l), 1};
	directed = cpl_comm_build(net->n_routers, entry, net->n_links, err);
	free(entry);
	if (!directed)
		return NULL;
	graph = cpl_comm_symmetric(directed, err);
	cpl_comm_free(directed);
	return graph;
}

/*
 * Each router without hosts of the job belongs to the nearest one that has
 * some, so that the hosts' graph holds together: owner[router] = the first
 * host there, far[router] = links between.
 */
static void claim_routers(const struct cpl_comm *routers, int *owner, int *far,
                          int *queue)
{
	int n = 0;

	for (int r = 0; r < routers->ranks; r++)
		if (owner[r] >= 0)
			queue[n++] = r;
	for (int head = 0; head < n; head++) {
		int at = queue[head];

		for (int64_t e = routers->row[at]; e < routers->row[at + 1];
		     e++) {
			int to = routers->to[e];

			if (owner[to] >= 0)
				continue;
			owner[to] = owner[at];
			far[to] = far[at] + 1;
			queue[n++] = to;
		}
	}
}

/* Hosts with slots (host[i] is the vertex i). Those of one router hold on to
 * its first, routers by their links, the weaker the longer the way. */
static struct cpl_comm *host_graph(const struct cpl_map_request *req,
                                   const int *host, int n,
                                   struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	struct cpl_comm *routers = router_graph(net, err);
	struct cpl_comm *directed = NULL, *graph = NULL;
	struct cpl_comm_entry *entry = NULL;
	size_t size = (size_t)net->n_routers;
	int *owner = malloc(size * sizeof(*owner));
	int *far = calloc(size, sizeof(*far));
	int *queue = malloc(size * sizeof(*queue));
	double widest = 0;
	int64_t used = 0;

	if (!routers)
		goto out;
	entry = malloc(((size_t)routers->n_entries + (size_t)n + 1) *
	               sizeof(*entry));
	if (!owner || !far || !queue || !entry) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int64_t e = 0; e < routers->n_entries; e++)
		if (routers->bytes[e] > widest)
			widest = routers->bytes[e];
	for (size_t r = 0; r < size; r++)
		owner[r] = -1;
	for (int i = 0; i < n; i++) {
		int *at = &owner[cpl_network_router(net, req->host[host[i]])];

		if (*at < 0)
			*at = i;
		else
			entry[used++] = (struct cpl_comm_entry){
			        *at, i, 4 * widest + 1, 1};
	}
	claim_routers(routers, owner, far, queue);
	for (int r = 0; r < net->n_routers; r++) {
		for (int64_t e = routers->row[r]; e < routers->row[r + 1];
		     e++) {
			int to = routers->to[e];

			if (owner[r] < 0 || owner[r] == owner[to])
				continue;
			entry[used++] = (struct cpl_comm_entry){
			        owner[r], owner[to],
			        routers->bytes[e] / (1 + far[r] + far[to]), 1};
		}
	}
	directed = cpl_comm_build(n, entry, used, err);
	if (directed)
		graph = cpl_comm_symmetric(directed, err);
out:
	cpl_comm_free(directed);
	cpl_comm_free(routers);
	free(entry);
	free(owner);
	free(far);
	free(queue);
	return graph;
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
	if (cpl_map_bisect(h->hosts, n_hosts / 2, s->req->seed, host_side, err))
		goto out;
	for (int i = 0; i < n_hosts; i++)
		if (!host_side[i])
			room += s->req->slots[h->host[i]];
	if (cpl_map_bisect(h->ranks, room, s->req->seed, rank_side, err))
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
	whole.hosts = hosts = host_graph(req, whole.host, n, err);
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
