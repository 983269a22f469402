/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/arena.h"
#include "mapping/mapping_internal.h"

struct cpl_comm *cpl_map_router_graph(const struct cpl_network *net,
                                      struct cpl_error *err)
{
	struct cpl_comm_entry *entry =
	        malloc(((size_t)net->n_links + 1) * sizeof(*entry));
	struct cpl_comm *graph;

	if (!entry)
		return cpl_fail_null_memory(err);
	for (int64_t l = 0; l < net->n_links; l++)
		entry[l] = (struct cpl_comm_entry){
		        net->link_from[l], net->link_to[l],
		        cpl_network_link_bandwidth(net, l), 1};
	graph = cpl_comm_build_symmetric(net->n_routers, entry, net->n_links,
	                                 err);
	free(entry);
	return graph;
}

/* Each router without hosts of the job belongs to the nearest one that has
 * some, so that the hosts' graph holds together: owner[router] is the first
 * host there, far[router] the number of links between. */
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

struct cpl_comm *cpl_map_host_graph(const struct cpl_map_request *req,
                                    const int *host, int n,
                                    struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	struct cpl_comm *routers = cpl_map_router_graph(net, err);
	struct cpl_comm *graph = NULL;
	struct cpl_arena arena = {0};
	int *owner = cpl_arena_take(&arena, net->n_routers, sizeof(*owner));
	int *far = cpl_arena_take(&arena, net->n_routers, sizeof(*far));
	int *queue = cpl_arena_take(&arena, net->n_routers, sizeof(*queue));
	struct cpl_comm_entry *entry = cpl_arena_take(
	        &arena, (routers ? routers->n_entries : 0) + n, sizeof(*entry));
	double widest = 0;
	int64_t used = 0;

	if (!routers || arena.failed)
		goto out;
	for (int64_t e = 0; e < routers->n_entries; e++)
		if (routers->bytes[e] > widest)
			widest = routers->bytes[e];
	for (int r = 0; r < net->n_routers; r++)
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
	graph = cpl_comm_build_symmetric(n, entry, used, err);
out:
	cpl_comm_free(routers);
	cpl_arena_end(&arena, 0, err);
	return graph;
}
