/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nodes have inside and above them: "accelerators" of the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "network/type.h"

/* Of a machine: reports have four numbers for each. */
#define MAX_ALL (1 << 24)

static const char *const keys[] = {"per_node", "node_bandwidth", "domain",
                                   "affinity", "pxn",            NULL};
static const char *const domain_keys[] = {"nodes", "bandwidth", NULL};

/* A port of accelerator a, whose entry is an id or a list of ids. */
static int read_port(struct cpl_network *net, int a, int i, const json_t *value,
                     struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	json_int_t port = json_is_integer(value) ? json_integer_value(value)
	                                         : -1;

	if (port < 0 || port >= net->n_ports)
		return cpl_fail(err,
		                "\"affinity\"[%d]: a port is needed, an "
		                "integer in 0 to %d",
		                a, net->n_ports - 1);
	for (int k = 0; k < i; k++)
		if (acc->port[a][k] == port)
			return cpl_fail(err,
			                "\"affinity\"[%d] names port %d twice",
			                a, (int)port);
	acc->port[a][i] = (unsigned char)port;
	return 0;
}

static int read_ports(struct cpl_network *net, int a, const json_t *entry,
                      struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	size_t n = json_is_array(entry) ? json_array_size(entry) : 1;

	if (n < 1 || n > (size_t)net->n_ports)
		return cpl_fail(err,
		                "\"affinity\"[%d]: 1 to %d ports are needed", a,
		                net->n_ports);
	if (a && (int)n != acc->ports)
		return cpl_fail(err,
		                "\"affinity\"[%d] has %d ports, the first "
		                "accelerator %d; all must have as many",
		                a, (int)n, acc->ports);
	acc->ports = (int)n;
	for (int i = 0; i < acc->ports; i++)
		if (read_port(net, a, i,
		              json_is_array(entry)
		                      ? json_array_get(entry, (size_t)i)
		                      : entry,
		              err))
			return -1;
	return 0;
}

static int read_affinity(struct cpl_network *net, const json_t *root,
                         const json_t *list, struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	const json_t *ports = json_object_get(root, "ports");

	if (!ports)
		return cpl_fail(err, "\"affinity\" needs \"ports\" of nodes");
	if (json_object_get(ports, "use"))
		return cpl_fail(err, "\"affinity\" says which ports ranks use, "
		                     "and so does \"use\" of \"ports\"; state "
		                     "one of them");
	if (json_array_size(list) != (size_t)acc->per_node)
		return cpl_fail(err,
		                "\"affinity\": an array of %d is needed, the "
		                "ports of each accelerator",
		                acc->per_node);
	for (int a = 0; a < acc->per_node; a++)
		if (read_ports(net, a, json_array_get(list, (size_t)a), err))
			return -1;
	net->port_use = CPL_PORTS_AFFINITY;
	return 0;
}

/* What accelerators that are not told apart do with ports. */
static void share_out(struct cpl_network *net)
{
	struct cpl_accelerators *acc = &net->accelerators;
	int n = acc->per_node;
	double each = 1.0 / (n * n);

	memset(net->port_share, 0, sizeof(net->port_share));
	for (int a = 0; a < n; a++) {
		for (int i = 0; i < acc->ports; i++)
			net->port_share[acc->port[a][i]] +=
			        1.0 / (n * acc->ports);
		for (int b = 0; b < n; b++) {
			const unsigned char *to = acc->port[b];
			const unsigned char *from = acc->pxn ? to
			                                     : acc->port[a];

			for (int i = 0; i < acc->ports; i++)
				acc->part[from[i]][to[i]] += each / acc->ports;
			if (acc->pxn && memcmp(to, acc->port[a],
			                       (size_t)acc->ports))
				acc->passes += each;
		}
	}
}

static int read_domain_rate(struct cpl_accelerators *acc, const json_t *domain,
                            struct cpl_error *err)
{
	if (!domain)
		return 0;
	if (!json_is_object(domain))
		return cpl_fail(err, "\"domain\" must be an object");
	acc->bandwidth[CPL_INSIDE_DOMAIN] = 1.0;
	if (cpl_json_known_keys(domain, "domain", domain_keys, err))
		return -1;
	if (cpl_network_bandwidth(domain, "bandwidth",
	                          &acc->bandwidth[CPL_INSIDE_DOMAIN], err))
		return cpl_fail_prefix(err, "domain: ");
	return 0;
}

static int read_object(struct cpl_network *net, const json_t *root,
                       const json_t *object, struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	const json_t *affinity = json_object_get(object, "affinity");

	if (cpl_json_known_keys(object, "", keys, err) ||
	    cpl_json_take_int(object, "per_node", 1,
	                      CPL_NETWORK_MAX_ACCELERATORS, &acc->per_node,
	                      err) ||
	    cpl_network_bandwidth(object, "node_bandwidth",
	                          &acc->bandwidth[CPL_INSIDE_NODE], err) ||
	    read_domain_rate(acc, json_object_get(object, "domain"), err) ||
	    cpl_json_bool(object, "pxn", &acc->pxn, err) < 0)
		return -1;
	if (affinity && read_affinity(net, root, affinity, err))
		return -1;
	if (acc->pxn && !affinity)
		return cpl_fail(err, "\"pxn\" needs \"affinity\"");
	if (affinity)
		share_out(net);
	return 0;
}

int cpl_accelerators_read(struct cpl_network *net, const json_t *root,
                          struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	const json_t *object = json_object_get(root, "accelerators");

	acc->split = 1;
	acc->bandwidth[CPL_INSIDE_NODE] = INFINITY;
	acc->bandwidth[CPL_INSIDE_DOMAIN] = INFINITY;
	if (!object)
		return 0;
	if (!json_is_object(object))
		return cpl_fail(err, "\"accelerators\" must be an object");
	if (!json_object_get(object, "per_node"))
		return cpl_fail(err,
		                "accelerators: \"per_node\" is missing; it "
		                "says how many a node has");
	return read_object(net, root, object, err)
	               ? cpl_fail_prefix(err, "accelerators: ")
	               : 0;
}

/* So many hosts in the order of their ids are a domain. */
static void cut_domains(struct cpl_network *net, int nodes)
{
	struct cpl_accelerators *acc = &net->accelerators;
	int hosts = 0;

	for (int i = 0; i < net->n_nodes; i++)
		if (net->node_name[i])
			acc->domain_of[i] = hosts++ / nodes;
	acc->n_domains = hosts ? (hosts - 1) / nodes + 1 : 0;
}

/* The hosts of a list are a domain. */
static int list_domain(struct cpl_network *net, const json_t *text,
                       struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	struct cpl_hostlist list;
	int rc = 0;

	if (!json_is_string(text))
		return cpl_fail(err, "a string with a host list is needed");
	if (cpl_hostlist_parse(&list, json_string_value(text), err))
		return -1;
	for (int i = 0; i < list.count && !rc; i++) {
		int node = cpl_network_node(net, list.name[i]);

		if (node < 0)
			rc = cpl_fail(err,
			              "host %.60s is not in the network",
			              list.name[i]);
		else if (acc->domain_of[node] >= 0)
			rc = cpl_fail(err, "host %.60s is in a domain already",
			              list.name[i]);
		else
			acc->domain_of[node] = acc->n_domains;
	}
	acc->n_domains++;
	cpl_hostlist_free(&list);
	return rc;
}

static int read_domains(struct cpl_network *net, const json_t *nodes,
                        struct cpl_error *err)
{
	if (json_is_integer(nodes) && json_integer_value(nodes) > 0) {
		json_int_t n = json_integer_value(nodes);

		cut_domains(net, n < net->n_nodes ? (int)n : net->n_nodes);
		return 0;
	}
	if (!json_is_array(nodes) || !json_array_size(nodes))
		return cpl_fail(err, "\"nodes\": how many hosts each domain "
		                     "has, or an array of host lists, is "
		                     "needed");
	for (size_t i = 0; i < json_array_size(nodes); i++)
		if (list_domain(net, json_array_get(nodes, i), err))
			return cpl_fail_prefix(err, "\"nodes\"[%zu]: ", i);
	return 0;
}

int cpl_accelerators_join(struct cpl_network *net, const json_t *root,
                          struct cpl_error *err)
{
	struct cpl_accelerators *acc = &net->accelerators;
	const json_t *domain = json_object_get(
	        json_object_get(root, "accelerators"), "domain");

	acc->n = (int64_t)net->n_nodes * acc->per_node;
	if (acc->n > MAX_ALL)
		return cpl_fail(err,
		                "accelerators: %d nodes of \"per_node\" %d make "
		                "more than %d accelerators",
		                net->n_nodes, acc->per_node, MAX_ALL);
	if (!domain)
		return 0;
	acc->domain_of = malloc((size_t)net->n_nodes * sizeof(int));
	if (!acc->domain_of)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_nodes; i++)
		acc->domain_of[i] = -1;
	return read_domains(net, json_object_get(domain, "nodes"), err)
	               ? cpl_fail_prefix(err, "accelerators: domain: ")
	               : 0;
}
