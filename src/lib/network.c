/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

#include "base/hostlist.h"

struct commplace_network *commplace_network_load(const char *path,
                                                 struct commplace_error *err)
{
	struct cpl_error why = {""};

	return cpl_lib_made(cpl_network_load(path, &why), &why, err);
}

struct commplace_network *commplace_network_parse(const char *text,
                                                  size_t length,
                                                  const char *name,
                                                  struct commplace_error *err)
{
	struct cpl_error why = {""};

	return cpl_lib_made(cpl_network_parse(text, length, name, &why), &why,
	                    err);
}

void commplace_network_free(struct commplace_network *net)
{
	cpl_network_free((struct cpl_network *)net);
}

READ(const char *, network_name, network, cpl_lib_network(network)->name)
READ(const char *, network_type, network,
     cpl_network_type_name(cpl_lib_network(network)->type))
READ(int, network_nodes, network, cpl_lib_network(network)->n_nodes)
READ(int, network_routers, network, cpl_lib_network(network)->n_routers)
READ(int64_t, network_links, network, cpl_lib_network(network)->n_links)
READ(int, network_classes, network, cpl_lib_network(network)->n_classes)

const char *commplace_network_host(const struct commplace_network *net,
                                   int node)
{
	return node < 0 || node >= cpl_lib_network(net)->n_nodes
	               ? NULL
	               : cpl_lib_network(net)->node_name[node];
}

int commplace_network_node(const struct commplace_network *net,
                           const char *host)
{
	return cpl_network_node(cpl_lib_network(net), host);
}

int *commplace_network_hostlist(const struct commplace_network *net,
                                const char *hosts, int *n,
                                struct commplace_error *err)
{
	struct cpl_hostlist list = {0};
	struct cpl_error why = {""};
	int *node = NULL;

	*n = 0;
	if (cpl_hostlist_parse(&list, hosts, &why))
		goto out;
	node = malloc(((size_t)list.count + 1) * sizeof(*node));
	if (!node)
		cpl_fail_memory(&why);
	for (int i = 0; node && i < list.count; i++) {
		node[i] = cpl_network_node(cpl_lib_network(net), list.name[i]);
		if (node[i] >= 0)
			continue;
		cpl_fail(&why, "network %s has no host %.60s",
		         cpl_lib_network(net)->name, list.name[i]);
		free(node);
		node = NULL;
	}
	if (node)
		*n = list.count;
out:
	cpl_hostlist_free(&list);
	return cpl_lib_made(node, &why, err);
}

const char *commplace_network_class_name(const struct commplace_network *net,
                                         int class_id)
{
	return class_id < 0 || class_id >= cpl_lib_network(net)->n_classes
	               ? NULL
	               : cpl_lib_network(net)->link_class[class_id].name;
}

/* commplace_network_link_FUNCTION, which reads a value of a link. */
#define READ_LINK(type, function, value)                                       \
	type commplace_network_link_##function(                                \
	        const struct commplace_network *network, int64_t link)         \
	{                                                                      \
		const struct cpl_network *net = cpl_lib_network(network);      \
		return link < 0 || link >= net->n_links ? -1 : value;          \
	}
READ_LINK(int, from, net->link_from[link])
READ_LINK(int, to, net->link_to[link])
READ_LINK(int, class, net->link_class_of[link])
READ_LINK(double, bandwidth, cpl_network_link_bandwidth(net, link))

void commplace_network_read_links(const struct commplace_network *net,
                                  int *from, int *to, int *class_id,
                                  double *bandwidth)
{
	for (int64_t i = 0; i < cpl_lib_network(net)->n_links; i++) {
		if (from)
			from[i] = commplace_network_link_from(net, i);
		if (to)
			to[i] = commplace_network_link_to(net, i);
		if (class_id)
			class_id[i] = commplace_network_link_class(net, i);
		if (bandwidth)
			bandwidth[i] = commplace_network_link_bandwidth(net, i);
	}
}

const char *commplace_network_routing(const struct commplace_network *net,
                                      int i)
{
	const struct cpl_routing *routing;

	for (int k = 0; (routing = cpl_routing_at(k)); k++)
		if (cpl_routing_takes(routing, cpl_lib_network(net)) &&
		    i-- == 0)
			return routing->name;
	return NULL;
}
