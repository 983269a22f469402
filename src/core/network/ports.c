/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes with several ports: "ports" of the file, and who is on which router. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/sort.h"
#include "network/type.h"

static const char *const uses[] = {
        [CPL_PORTS_SPREAD] = "spread",
        [CPL_PORTS_ROUND_ROBIN] = "round-robin",
        [CPL_PORTS_NEAREST] = "nearest",
        [CPL_PORTS_FIRST] = "first",
        [CPL_PORTS_AFFINITY] = "affinity",
};
/* Those that can be stated. */
#define N_USES CPL_PORTS_AFFINITY

static const char *const keys[] = {"count", "use", "bandwidth", NULL};

const char *cpl_port_use_name(enum cpl_port_use use)
{
	return uses[use];
}

static int read_use(struct cpl_network *net, const json_t *ports,
                    struct cpl_error *err)
{
	const char *name = uses[0];

	if (cpl_json_string(ports, "use", &name, err) < 0)
		return -1;
	for (int i = 0; i < (int)N_USES; i++)
		if (!strcmp(name, uses[i])) {
			net->port_use = (enum cpl_port_use)i;
			return 0;
		}
	return cpl_fail(err,
	                "\"use\" is \"%.60s\"; it must be spread, round-robin, "
	                "nearest or first",
	                name);
}

/* One bandwidth for each port; without, that of injection. */
static int read_bandwidths(struct cpl_network *net, const json_t *ports,
                           struct cpl_error *err)
{
	const json_t *list = json_object_get(ports, "bandwidth");

	if (!list)
		return 0;
	if (json_array_size(list) != (size_t)net->n_ports)
		return cpl_fail(err,
		                "\"bandwidth\": an array of %d numbers is "
		                "needed, one for each port",
		                net->n_ports);
	for (int p = 0; p < net->n_ports; p++) {
		double value = json_number_value(json_array_get(list, (size_t)p));

		if (!(value > 0))
			return cpl_fail(err,
			                "\"bandwidth\"[%d]: a number of "
			                "bytes/s above 0 is needed",
			                p);
		net->port_bandwidth[p] = value;
	}
	return 0;
}

static void share_out(struct cpl_network *net)
{
	double most = 0, sum = 0;

	for (int p = 0; p < net->n_ports; p++)
		most = fmax(most, net->port_bandwidth[p]);
	/* Taken as parts of the largest, so that a number holds their sum. */
	for (int p = 0; p < net->n_ports; p++)
		sum += net->port_bandwidth[p] / most;
	for (int p = 0; p < net->n_ports; p++)
		net->port_share[p] =
		        net->port_use == CPL_PORTS_FIRST ? p == 0
		        : net->port_use == CPL_PORTS_SPREAD
		                ? net->port_bandwidth[p] / most / sum
		                : 1.0 / net->n_ports;
}

int cpl_ports_read(struct cpl_network *net, const json_t *root,
                   struct cpl_error *err)
{
	const json_t *ports = json_object_get(root, "ports");
	double bandwidth = 1.0;

	if (cpl_network_bandwidth(json_object_get(root, "bandwidth"),
	                          "injection", &bandwidth, err))
		return -1;
	if (ports && !json_is_object(ports))
		return cpl_fail(err, "\"ports\" must be an object");
	net->n_ports = 1;
	if (ports && cpl_json_known_keys(ports, "ports", keys, err))
		return -1;
	if (ports && cpl_json_take_int(ports, "count", 1,
	                               CPL_NETWORK_MAX_PORTS, &net->n_ports,
	                               err))
		return cpl_fail_prefix(err, "ports: ");
	for (int p = 0; p < net->n_ports; p++)
		net->port_bandwidth[p] = bandwidth;
	if (ports &&
	    (read_use(net, ports, err) || read_bandwidths(net, ports, err)))
		return cpl_fail_prefix(err, "ports: ");
	share_out(net);
	return 0;
}

/* A host as a router's list has it. */
struct port_entry {
	char *name; /* the entry's, until it is a node's */
	int router;
	int number; /* of all, by router */
	int node;
};

static CPL_SORT_BY(by_router, struct port_entry, CPL_UP(router), CPL_UP(number))

static CPL_SORT_BY(by_name, struct port_entry, CPL_TEXT(name), CPL_UP(number))

static CPL_SORT_BY(by_number, struct port_entry, CPL_UP(number))

struct port_list {
	struct port_entry *entry;
	int n;
};

static void free_port_list(struct port_list *all)
{
	for (int i = 0; i < all->n; i++)
		free(all->entry[i].name);
	free(all->entry);
}

static int read_router_ports(struct cpl_network *net, int router,
                             const json_t *hosts, struct port_list *all,
                             struct cpl_error *err)
{
	struct cpl_hostlist list;

	if (!json_is_string(hosts))
		return cpl_fail(err, "a string with a host list is needed");
	if (cpl_hostlist_parse(&list, json_string_value(hosts), err))
		return -1;
	if (list.count > cpl_network_slots_of(net, router)) {
		cpl_fail(err, "%d ports of hosts; nodes_per_router is %d",
		         list.count, cpl_network_slots_of(net, router));
		cpl_hostlist_free(&list);
		return -1;
	}
	for (int i = 0; i < list.count; i++) {
		all->entry[all->n] = (struct port_entry){.name = list.name[i],
		                                         .router = router,
		                                         .number = all->n};
		all->n++;
		list.name[i] = NULL;
	}
	cpl_hostlist_free(&list);
	return 0;
}

static int read_object(struct cpl_network *net, const json_t *object,
                       struct port_list *all, struct cpl_error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		int router = cpl_network_router_key(net, key, err);

		if (router < 0)
			return -1;
		if (read_router_ports(net, router, value, all, err))
			return cpl_fail_prefix(
			        err, "\"nodes\": router %d: ", router);
	}
	return all->n ? 0 : cpl_fail(err, "\"nodes\" names no host");
}

/* Each host has as many entries as ports; its first takes its name. */
static int count_host_ports(struct cpl_network *net, struct port_list *all,
                            struct cpl_error *err)
{
	struct port_entry *entry = all->entry;

	qsort(entry, (size_t)all->n, sizeof(*entry), by_router);
	for (int i = 0; i < all->n; i++)
		entry[i].number = i;
	qsort(entry, (size_t)all->n, sizeof(*entry), by_name);
	for (int i = 0, end; i < all->n; i = end) {
		for (end = i + 1;
		     end < all->n && !strcmp(entry[end].name, entry[i].name);
		     end++)
			entry[end].node = entry[i].number;
		entry[i].node = -1;
		if (end - i != net->n_ports)
			return cpl_fail(err,
			                "\"nodes\": host %.60s is on %d "
			                "router%s; \"ports\" says %d",
			                entry[i].name, end - i,
			                end - i > 1 ? "s" : "", net->n_ports);
	}
	qsort(entry, (size_t)all->n, sizeof(*entry), by_number);
	net->n_nodes = all->n / net->n_ports;
	return 0;
}

static int take_arrays(struct cpl_network *net, struct cpl_error *err)
{
	size_t n = (size_t)net->n_nodes;

	net->node_name = calloc(n, sizeof(*net->node_name));
	net->port_router =
	        malloc(n * (size_t)net->n_ports * sizeof(*net->port_router));
	net->router_node = malloc(n * sizeof(*net->router_node));
	net->router_first = calloc((size_t)net->n_routers + 1,
	                           sizeof(*net->router_first));
	return net->node_name && net->port_router && net->router_node &&
	                       net->router_first
	               ? 0
	               : cpl_fail_memory(err);
}

/* Go through ports in the order of routers: nodes are numbered by their first,
 * ports in that order. */
static int attach_nodes(struct cpl_network *net, struct port_list *all,
                        struct cpl_error *err)
{
	int n = 0;
	int *next;

	if (count_host_ports(net, all, err) || take_arrays(net, err))
		return -1;
	next = calloc((size_t)net->n_nodes, sizeof(*next));
	if (!next)
		return cpl_fail_memory(err);
	for (int i = 0; i < all->n; i++) {
		struct port_entry *entry = &all->entry[i];

		if (entry->node < 0) {
			entry->node = n;
			net->node_name[n++] = entry->name;
			entry->name = NULL;
		} else {
			entry->node = all->entry[entry->node].node;
		}
		net->port_router[(int64_t)entry->node * net->n_ports +
		                 next[entry->node]++] = entry->router;
	}
	free(next);
	return 0;
}

/* How many nodes each of a block's routers has, or -1 where these differ. */
static int nodes_of_block(const struct cpl_network *net, int block)
{
	int first = block * net->n_ports;
	int n = cpl_network_slots_of(net, first);

	for (int p = 1; p < net->n_ports; p++)
		if (cpl_network_slots_of(net, first + p) != n)
			return -1;
	return n;
}

/* Node i of every block of as many routers as there are ports: port p on the
 * block's router p. */
static int block_nodes(struct cpl_network *net, const char *text,
                       struct cpl_error *err)
{
	int blocks = net->n_node_routers / net->n_ports;
	struct cpl_hostlist list;
	int n = 0;

	if (net->n_node_routers % net->n_ports)
		return cpl_fail(err,
		                "%d routers with nodes are no multiple of "
		                "\"ports\" %d; \"nodes\" must be an object "
		                "router id -> host list",
		                net->n_node_routers, net->n_ports);
	net->n_nodes = 0;
	for (int b = 0; b < blocks; b++) {
		if (nodes_of_block(net, b) < 0)
			return cpl_fail(err,
			                "\"nodes\": routers %d to %d are for "
			                "the ports of the same nodes, but have "
			                "different numbers of them; it must be "
			                "an object router id -> host list",
			                b * net->n_ports,
			                (b + 1) * net->n_ports - 1);
		net->n_nodes += nodes_of_block(net, b);
	}
	if (cpl_hostlist_parse(&list, text, err))
		return cpl_fail_prefix(err, "\"nodes\": ");
	if (list.count != net->n_nodes)
		cpl_fail(err,
		         "\"nodes\" names %d hosts; the sizes make %d nodes "
		         "(%d blocks of %d routers, of %s%d)",
		         list.count, net->n_nodes, blocks, net->n_ports,
		         net->type->slots ? "up to " : "",
		         net->nodes_per_router);
	if (list.count != net->n_nodes || take_arrays(net, err)) {
		cpl_hostlist_free(&list);
		return -1;
	}
	for (int b = 0; b < blocks; b++)
		for (int i = nodes_of_block(net, b); i > 0; i--) {
			int *router = net->port_router +
			              (int64_t)n * net->n_ports;

			net->node_name[n] = list.name[n];
			list.name[n++] = NULL;
			for (int p = 0; p < net->n_ports; p++)
				router[p] = b * net->n_ports + p;
		}
	cpl_hostlist_free(&list);
	return 0;
}

/* List nodes, which are in the order of their first routers. */
static void list_first_ports(struct cpl_network *net)
{
	for (int i = 0; i < net->n_nodes; i++) {
		net->router_node[i] = i;
		net->router_first[cpl_network_router(net, i) + 1]++;
	}
	for (int r = 0; r < net->n_routers; r++)
		net->router_first[r + 1] += net->router_first[r];
}

int cpl_ports_join(struct cpl_network *net, const json_t *root,
                   struct cpl_error *err)
{
	const json_t *nodes = json_object_get(root, "nodes");
	struct port_list all = {0};
	int rc;

	if (json_is_string(nodes)) {
		rc = block_nodes(net, json_string_value(nodes), err);
	} else if (json_is_object(nodes)) {
		all.entry = malloc((size_t)net->n_nodes * sizeof(*all.entry));
		rc = !all.entry ? cpl_fail_memory(err)
		     : read_object(net, nodes, &all, err)
		             ? -1
		             : attach_nodes(net, &all, err);
		free_port_list(&all);
	} else {
		rc = cpl_fail(err,
		              "\"nodes\" %s; a string with a host list, or an "
		              "object router id -> host list is needed",
		              nodes ? "has the wrong type" : "is missing");
	}
	if (rc)
		return -1;
	list_first_ports(net);
	return 0;
}

/* The bandwidths of cables in the order of the nodes of `part`, where they
 * differ. */
static int list_bandwidths(const struct cpl_network *net,
                           struct cpl_network *part, struct cpl_error *err)
{
	int64_t cables = cpl_network_port_cables(net);

	part->cable_bandwidth =
	        malloc((size_t)cables * sizeof(*part->cable_bandwidth));
	if (!part->cable_bandwidth)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < cables; i++)
		part->cable_bandwidth[i] = cpl_network_port_bandwidth(net, i);
	return 0;
}

/* Domains of the ports, and their stations. */
static int list_domains(const struct cpl_network *net, struct cpl_network *part,
                        struct cpl_error *err)
{
	int *of = malloc((size_t)part->n_nodes * sizeof(*of));

	if (!of)
		return cpl_fail_memory(err);
	for (int i = 0; i < part->n_nodes; i++)
		of[i] = net->accelerators.domain_of[i / net->n_ports];
	part->accelerators.domain_of = of;
	return cpl_ports_find_stations(part, err);
}

/* Has each rank one port of its own, whatever the other rank's is? */
static bool pins(const struct cpl_network *net)
{
	const struct cpl_accelerators *a = &net->accelerators;

	return net->port_use == CPL_PORTS_ROUND_ROBIN ||
	       net->port_use == CPL_PORTS_NEAREST ||
	       (net->port_use == CPL_PORTS_AFFINITY && a->ports == 1 &&
	        !a->pxn);
}

/* The network by ports does not own what it shares with net, but for its
 * bandwidths. */
int cpl_ports_fractions(struct cpl_network *net, struct cpl_error *err)
{
	size_t size = sizeof(*net) + net->type->size;
	struct cpl_network *part;

	if (net->n_ports == 1 || !pins(net))
		return 0;
	part = malloc(size);
	if (!part)
		return cpl_fail_memory(err);
	memcpy(part, net, size);
	part->n_nodes = net->n_nodes * net->n_ports;
	part->n_ports = 1;
	part->port_share[0] = 1;
	part->n_stations = net->n_routers;
	part->station_of = part->station_router = part->station_domain = NULL;
	part->accelerators.domain_of = NULL;
	part->accelerators.split = net->n_ports;
	part->accelerators.part[0][0] = 1;
	part->router_first = part->router_node = NULL;
	part->node_name = NULL;
	part->index = NULL;
	part->cable_bandwidth = NULL;
	net->by_port = part;
	if (list_bandwidths(net, part, err))
		return -1;
	return net->accelerators.domain_of ? list_domains(net, part, err) : 0;
}

static void free_stations(struct cpl_network *net)
{
	cpl_free_all(net->accelerators.domain_of, net->station_of,
	             net->station_router, net->station_domain);
}

void cpl_ports_free(struct cpl_network *net)
{
	if (net->by_port) {
		free(net->by_port->cable_bandwidth);
		free_stations(net->by_port);
	}
	free(net->by_port);
	free_stations(net);
}
