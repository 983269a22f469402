/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which node has which name, and is on which router. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/packed.h"
#include "network/type.h"

int cpl_network_join_nodes(struct cpl_network *net, struct cpl_error *err)
{
	int per_router = net->nodes_per_router;

	net->node_is_router = per_router == 1;
	net->n_stations = net->n_routers;
	net->port_router =
	        malloc((size_t)net->n_nodes * sizeof(*net->port_router));
	net->router_node =
	        malloc((size_t)net->n_nodes * sizeof(*net->router_node));
	net->router_first = malloc(((size_t)net->n_routers + 1) *
	                           sizeof(*net->router_first));
	if (!net->port_router || !net->router_node || !net->router_first)
		return cpl_fail_memory(err);
	for (int node = 0; node < net->n_nodes; node++) {
		net->port_router[node] = node / per_router;
		net->router_node[node] = node;
	}
	for (int router = 0; router <= net->n_routers; router++)
		net->router_first[router] =
		        (router < net->n_node_routers ? router
		                                      : net->n_node_routers) *
		        per_router;
	return 0;
}

/* A host list's names from node `first` on, where there are at most `most`; how
 * many it has, or -1. */
static int take_hosts(struct cpl_network *net, const char *text, int first,
                      int most, struct cpl_error *err)
{
	struct cpl_hostlist list;
	int n;

	if (cpl_hostlist_parse(&list, text, err))
		return -1;
	n = list.count;
	for (int i = 0; i < n && n <= most; i++) {
		net->node_name[first + i] = list.name[i];
		list.name[i] = NULL;
	}
	cpl_hostlist_free(&list);
	return n;
}

/* Give nodes the names in the order of routers and their slots. */
static void attach_hosts(struct cpl_network *net, struct cpl_hostlist *list)
{
	int n = 0;

	for (int router = 0; router < net->n_node_routers; router++)
		for (int p = 0; p < cpl_network_slots_of(net, router); p++) {
			net->node_name[router * net->nodes_per_router + p] =
			        list->name[n];
			list->name[n++] = NULL;
		}
}

static int read_node_list(struct cpl_network *net, const char *text,
                          struct cpl_error *err)
{
	struct cpl_hostlist list;
	int places = 0, n;

	for (int router = 0; router < net->n_node_routers; router++)
		places += cpl_network_slots_of(net, router);
	if (cpl_hostlist_parse(&list, text, err))
		return cpl_fail_prefix(err, "\"nodes\": ");
	n = list.count;
	if (n == places)
		attach_hosts(net, &list);
	cpl_hostlist_free(&list);
	if (n == places)
		return 0;
	if (net->type->slots)
		return cpl_fail(err,
		                "\"nodes\" names %d hosts; the sizes make %d "
		                "nodes",
		                n, places);
	return cpl_fail(err,
	                "\"nodes\" names %d hosts; the sizes make %d nodes "
	                "(%d routers of %d)",
	                n, places, net->n_node_routers, net->nodes_per_router);
}

int cpl_network_router_key(const struct cpl_network *net, const char *key,
                           struct cpl_error *err)
{
	char *end, canonical[24];
	long long router = strtoll(key, &end, 10);

	snprintf(canonical, sizeof(canonical), "%lld", router);
	if (*end || strcmp(canonical, key) || router < 0 ||
	    router >= net->n_node_routers)
		return cpl_fail(err,
		                "\"nodes\": key \"%.60s\" is not a router id; "
		                "it must lie in 0 to %d",
		                key, net->n_node_routers - 1);
	return (int)router;
}

static int read_node_object(struct cpl_network *net, const json_t *object,
                            struct cpl_error *err)
{
	const char *key;
	json_t *value;
	int nodes = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		int router = cpl_network_router_key(net, key, err);
		int most, n;

		if (router < 0)
			return -1;
		most = cpl_network_slots_of(net, router);
		if (!json_is_string(value))
			return cpl_fail(err,
			                "\"nodes\": router %d: a string with a "
			                "host list is needed",
			                router);
		n = take_hosts(net, json_string_value(value),
		               router * net->nodes_per_router, most, err);
		if (n < 0)
			return cpl_fail_prefix(
			        err, "\"nodes\": router %d: ", router);
		if (n > most)
			return cpl_fail(err,
			                "\"nodes\": router %d has %d hosts; "
			                "nodes_per_router is %d",
			                router, n, most);
		nodes += n;
	}
	if (!nodes)
		return cpl_fail(err, "\"nodes\" names no host");
	return 0;
}

int cpl_network_read_nodes(struct cpl_network *net, const json_t *root,
                           struct cpl_error *err)
{
	const json_t *nodes = json_object_get(root, "nodes");

	net->node_name = calloc((size_t)net->n_nodes, sizeof(*net->node_name));
	if (!net->node_name)
		return cpl_fail_memory(err);
	if (json_is_string(nodes))
		return read_node_list(net, json_string_value(nodes), err);
	if (json_is_object(nodes))
		return read_node_object(net, nodes, err);
	return cpl_fail(err,
	                "\"nodes\" %s; a string with a host list in node-id "
	                "order, or an object router id -> host list is needed",
	                nodes ? "has the wrong type" : "is missing");
}

/* Open addressing; slots hold node ids or -1, their number is a power of 2. */
struct cpl_node_index {
	size_t mask;
	int slot[];
};

static size_t find_slot(const struct cpl_network *net, const char *host)
{
	size_t i = cpl_fnv(CPL_FNV, host, strlen(host)) & net->index->mask;

	while (net->index->slot[i] >= 0 &&
	       strcmp(net->node_name[net->index->slot[i]], host))
		i = (i + 1) & net->index->mask;
	return i;
}

int cpl_network_hosts(const struct cpl_network *net)
{
	int hosts = 0;

	for (int node = 0; node < net->n_nodes; node++)
		hosts += net->node_name[node] != NULL;
	return hosts;
}

int cpl_network_node(const struct cpl_network *net, const char *host)
{
	return net->index->slot[find_slot(net, host)];
}

int cpl_network_index_nodes(struct cpl_network *net, struct cpl_error *err)
{
	size_t slots = 8;

	while (slots < 2 * (size_t)net->n_nodes)
		slots *= 2;
	net->index = malloc(sizeof(*net->index) + slots * sizeof(int));
	if (!net->index)
		return cpl_fail_memory(err);
	net->index->mask = slots - 1;
	for (size_t i = 0; i < slots; i++)
		net->index->slot[i] = -1;
	for (int node = 0; node < net->n_nodes; node++) {
		size_t i;

		if (!net->node_name[node])
			continue;
		i = find_slot(net, net->node_name[node]);
		if (net->index->slot[i] >= 0)
			return cpl_fail(err,
			                "\"nodes\": host %s is given twice, as "
			                "node %d and as node %d",
			                net->node_name[node],
			                net->index->slot[i], node);
		net->index->slot[i] = node;
	}
	return 0;
}
