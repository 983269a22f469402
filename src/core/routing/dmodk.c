/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/fattree/fattree.h"
#include "routing/routing.h"

/* Lists the links of the one route to a node and returns their number. The
 * paths up and down take the same choices, so the path down needs no other
 * arithmetic. */
static int find(const struct cpl_network *net, int from, int to, int node,
                int *link)
{
	const struct cpl_fattree *tree = cpl_fattree_of(net);
	int levels = cpl_fattree_climb(tree, from, to), replica = 0, n = 0;

	for (int l = 0; l < levels; l++) {
		int below = replica * tree->subtrees[l];
		int choice = node % (tree->up[l] * tree->ports[l]);
		int parent = choice % tree->up[l], port = choice / tree->up[l];

		link[n++] = (int)cpl_fattree_link(net, l, below + from, parent,
		                                  port, 0);
		link[n++] = (int)cpl_fattree_link(net, l, below + to, parent,
		                                  port, 1);
		replica = replica * tree->up[l] + parent;
		node /= tree->up[l];
		from /= tree->down[l];
		to /= tree->down[l];
	}
	return n;
}

/* Counts the nodes of a leaf that traffic may be for, which is all where none
 * is named. Nodes with several ports count at each leaf as nodes with one port
 * would. */
static int count_nodes(const struct cpl_network *net, int leaf)
{
	struct cpl_node_slots places = cpl_network_slots(net, leaf);
	int n = 0;

	for (int p = 0; p < places.n && net->n_ports == 1 && net->node_name; p++)
		n += net->node_name[places.first + p] != NULL;
	return n;
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	int named = count_nodes(net, to), link[2 * CPL_NETWORK_MAX_LEVELS];
	struct cpl_node_slots places = cpl_network_slots(net, to);
	double part = bytes / (named ? named : places.n);

	for (int p = 0; p < places.n; p++) {
		int node = places.first + p, n;

		if (named && !net->node_name[node])
			continue;
		n = find(net, from, to, node, link);
		for (int i = 0; i < n; i++)
			load[link[i]] += part;
	}
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	int named = count_nodes(net, to), link[2 * CPL_NETWORK_MAX_LEVELS];
	struct cpl_node_slots places = cpl_network_slots(net, to);
	int n_shares = 0;

	for (int p = 0; p < places.n; p++) {
		int node = places.first + p, n;

		if (named && !net->node_name[node])
			continue;
		n = find(net, from, to, node, link);
		for (int i = 0; i < n; i++) {
			int k = named == 1 ? n_shares : 0;

			/* The list has room for each link once. */
			while (k < n_shares && share[k].link != link[i])
				k++;
			if (k == n_shares)
				share[n_shares++] =
				        (struct cpl_share){link[i], 0};
			share[k].part += 1.0 / (named ? named : places.n);
		}
	}
	return n_shares;
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return 2 * cpl_fattree_climb(cpl_fattree_of(net), from, to);
}

const struct cpl_routing cpl_routing_dmodk = {
        .name = "dmodk",
        .short_name = "DMODK",
        .type = &cpl_network_fattree,
        .summary = "the way up by the destination node's number, modulo ports",
        .add = add_flow,
        .links = links,
        .hops = hops,
};
