/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/domain_layout.h"

#include <math.h>
#include <string.h>

#include "graph/arena.h"
#include "mapping/domain_search.h"
#include "mapping/group_layout.h"
#include "mapping/mapping_internal.h"

/* Orders of hosts: by node; as they are given, which may be where a policy has ranks;
 * domain by domain, those with most hosts first. */
enum block_order { BY_NODE, AS_GIVEN, LARGEST };

static int order_hosts(const struct cpl_domain_layout *how, enum block_order order,
                       struct cpl_keyed *host, struct cpl_arena *arena)
{
	const struct cpl_accelerators *acc = &how->net->accelerators;
	int n = how->n_hosts;
	int *room = cpl_arena_take(arena, acc->n_domains, sizeof(*room));
	int *by_node = cpl_arena_take(arena, n, sizeof(*by_node));

	if (arena->failed)
		return -1;
	for (int h = 0; h < n; h++)
		host[h] = (struct cpl_keyed){(uint64_t)how->host[h], h};
	if (order == AS_GIVEN)
		return 0;
	cpl_keyed_sort(host, n);
	if (order == BY_NODE)
		return 0;
	for (int i = 0; i < n; i++) {
		int d = acc->domain_of[host[i].key];

		by_node[i] = host[i].item;
		room[d < 0 ? 0 : d] += d >= 0;
	}
	for (int i = 0; i < n; i++) {
		int d = acc->domain_of[host[i].key];
		int less = n - (d < 0 ? 1 : room[d]);

		host[i].key = (uint64_t)less << 32 |
		              (uint32_t)(d < 0 ? acc->n_domains + i : d);
		host[i].item = i;
	}
	cpl_keyed_sort(host, n);
	for (int i = 0; i < n; i++)
		host[i].item = by_node[host[i].item];
	return 0;
}

/* Ranks in their order on hosts in theirs. */
static int put_blocks(const struct cpl_domain_layout *how, enum block_order order,
                      int *rank_host, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct cpl_keyed *host = cpl_arena_take(&arena, how->n_hosts, sizeof(*host));

	if (host && !order_hosts(how, order, host, &arena))
		for (int r = 0; r < how->comm->ranks; r++)
			rank_host[r] = host[r / how->per_host].item;
	return cpl_arena_end(&arena, 0, err);
}

/* The best layout so far, and what else is needed to find a better one. */
struct layout_room {
	const struct cpl_domain_layout *how;
	double most_port;
	int *rank_host, *other, *of; /* [ranks] the best, another, room */
	struct cpl_domain_cost *best;
};

/* Takes the other layout in place of the best where that sends more between domains,
 * unless it has a port that is busier than it may be, of which blocks as given may have
 * more. */
static int take_better(struct layout_room *l, bool given, struct cpl_error *err)
{
	struct cpl_domain_cost cost;

	if (cpl_domain_cost_of(l->how, l->other, l->of, &cost, err))
		return -1;
	if (given)
		l->most_port = fmax(l->most_port, cost.port);
	if (cost.port > l->most_port * (1 + 1e-9) || !(cost.bytes < l->best->bytes))
		return 0;
	*l->best = cost;
	memcpy(l->rank_host, l->other, (size_t)l->how->comm->ranks * sizeof(int));
	return 0;
}

static bool in_order(const struct cpl_domain_layout *how)
{
	for (int h = 1; h < how->n_hosts; h++)
		if (how->host[h] < how->host[h - 1])
			return false;
	return true;
}

/* Other blocks than by node, if they are better. */
static int take_blocks(struct layout_room *l, struct cpl_error *err)
{
	bool given = !in_order(l->how);

	return put_blocks(l->how, given ? AS_GIVEN : LARGEST, l->other, err) ||
	                       take_better(l, given, err)
	               ? -1
	               : 0;
}

/* From the best blocks, then from groups where they are known. */
static int take_layouts(struct layout_room *l, struct cpl_error *err)
{
	const struct cpl_domain_layout *how = l->how;
	struct cpl_group_layout groups = {how->net,     how->grid, how->comm,
	                                  how->n_hosts, how->host, how->per_host};

	if (take_blocks(l, err))
		return -1;
	memcpy(l->other, l->rank_host, (size_t)how->comm->ranks * sizeof(int));
	for (int turn = 0; turn < (how->grid ? 2 : 1); turn++)
		if ((turn && (cpl_group_layout(&groups, l->other, err) ||
		              take_better(l, false, err))) ||
		    cpl_domain_search(how, l->most_port, l->other, l->of, err) ||
		    take_better(l, false, err))
			return -1;
	return 0;
}

int cpl_domain_layout(const struct cpl_domain_layout *how, int *rank_host,
                      struct cpl_domain_cost *blocks, struct cpl_domain_cost *out,
                      struct cpl_error *err)
{
	int ranks = how->comm->ranks, rc = 0;
	struct cpl_arena arena = {0};
	struct layout_room l = {.how = how,
	                        .rank_host = rank_host,
	                        .other = cpl_arena_take(&arena, ranks, sizeof(int)),
	                        .of = cpl_arena_take(&arena, ranks, sizeof(int)),
	                        .best = out};

	if ((ranks - 1) / how->per_host >= how->n_hosts)
		rc = cpl_fail(err, "%d ranks need more than %d hosts", ranks,
		              how->n_hosts);
	if (rc || arena.failed || put_blocks(how, BY_NODE, rank_host, err) ||
	    cpl_domain_cost_of(how, rank_host, l.of, blocks, err))
		return cpl_arena_end(&arena, -1, err);
	*out = *blocks;
	l.most_port = blocks->port;
	rc = take_layouts(&l, err);
	return cpl_arena_end(&arena, rc, err);
}
