/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of next links by a search from each router with nodes. */
#include <stdlib.h>

#include "network/type.h"

/* Entries at the most: 256 MB. */
#define MAX_TABLE (1 << 26)

int cpl_network_check_ways(const struct cpl_network *net, struct cpl_error *err)
{
	if ((int64_t)net->n_node_routers * net->n_routers <= MAX_TABLE)
		return 0;
	return cpl_fail(
	        err,
	        "%d \"routers\", %d of them with nodes, make a table of "
	        "routes above %d entries",
	        net->n_routers, net->n_node_routers, MAX_TABLE);
}

/* Links by the router they lead to. */
static void sort_links(const struct cpl_network *net, int *first, int *link)
{
	for (int64_t i = 0; i < net->n_links; i++)
		first[net->link_to[i] + 1]++;
	for (int r = 0; r < net->n_routers; r++)
		first[r + 1] += first[r];
	for (int64_t i = net->n_links - 1; i >= 0; i--)
		link[--first[net->link_to[i] + 1]] = (int)i;
	for (int r = 0; r < net->n_routers; r++)
		first[r] = first[r + 1];
	first[net->n_routers] = (int)net->n_links;
}

/* Next links towards `to`, breadth first against the links' direction. */
static void search(const struct cpl_network *net, const int *first,
                   const int *link, int to, int *hops, int *queue)
{
	int *next = net->ways.next + (int64_t)to * net->n_routers;
	int n = 0;

	for (int r = 0; r < net->n_routers; r++)
		hops[r] = next[r] = -1;
	hops[to] = 0;
	queue[n++] = to;
	for (int done = 0; done < n; done++) {
		int at = queue[done];

		for (int i = first[at]; i < first[at + 1]; i++) {
			int from = net->link_from[link[i]];

			if (hops[from] < 0) {
				hops[from] = hops[at] + 1;
				queue[n++] = from;
			}
			if (hops[from] == hops[at] + 1 &&
			    (next[from] < 0 || at < net->link_to[next[from]]))
				next[from] = link[i];
		}
	}
}

/* Chain parallel links; last is scratch. */
static void pair_links(struct cpl_network *net, const int *first,
                       const int *link, int *last)
{
	for (int r = 0; r < net->n_routers; r++)
		last[r] = -1;
	for (int to = 0; to < net->n_routers; to++) {
		for (int i = first[to]; i < first[to + 1]; i++) {
			int from = net->link_from[link[i]];

			net->ways.twin[link[i]] = -1;
			if (last[from] >= 0)
				net->ways.twin[last[from]] = link[i];
			last[from] = link[i];
		}
		for (int i = first[to]; i < first[to + 1]; i++)
			last[net->link_from[link[i]]] = -1;
	}
}

int cpl_network_find_ways(struct cpl_network *net, struct cpl_error *err)
{
	size_t n = (size_t)net->n_routers;
	int *first = calloc(n + 1, sizeof(*first));
	int *link = malloc(((size_t)net->n_links + 1) * sizeof(*link));
	int *hops = malloc(n * sizeof(*hops));
	int *queue = malloc(n * sizeof(*queue));
	int rc = -1;

	net->ways.next = malloc((size_t)net->n_node_routers * n *
	                        sizeof(*net->ways.next));
	net->ways.twin =
	        malloc(((size_t)net->n_links + 1) * sizeof(*net->ways.twin));
	if (!first || !link || !hops || !queue || !net->ways.next ||
	    !net->ways.twin) {
		cpl_fail_memory(err);
		goto out;
	}
	sort_links(net, first, link);
	pair_links(net, first, link, hops);
	for (int to = 0; to < net->n_node_routers; to++) {
		search(net, first, link, to, hops, queue);
		for (int r = 0; r < net->n_node_routers; r++) {
			if (hops[r] >= 0)
				continue;
			cpl_fail(err,
			         "\"links\" leave no path from router %d to "
			         "router %d",
			         r, to);
			goto out;
		}
	}
	rc = 0;
out:
	free(first);
	free(link);
	free(hops);
	free(queue);
	return rc;
}
