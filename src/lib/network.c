/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

#include "base/hostlist.h"

static struct commplace_network *wrap(struct cpl_network *inside,
                                      const struct cpl_error *why,
                                      struct commplace_error *err)
{
	struct commplace_network *net = NULL;
	struct cpl_error memory = {""};

	if (inside) {
		net = malloc(sizeof(*net));
		cpl_fail_memory(&memory);
		why = &memory;
	}
	if (net)
		net->net = inside;
	else {
		cpl_network_free(inside);
		cpl_lib_fail(err, why);
	}
	return net;
}

struct commplace_network *commplace_network_load(const char *path,
                                                 struct commplace_error *err)
{
	struct cpl_error why = {""};

	return wrap(cpl_network_load(path, &why), &why, err);
}

struct commplace_network *commplace_network_parse(const char *text,
                                                  size_t length,
                                                  const char *name,
                                                  struct commplace_error *err)
{
	struct cpl_error why = {""};

	return wrap(cpl_network_parse(text, length, name, &why), &why, err);
}

void commplace_network_free(struct commplace_network *net)
{
	if (net)
		cpl_network_free(net->net);
	free(net);
}

const char *commplace_network_name(const struct commplace_network *net)
{
	return net->net->name;
}

const char *commplace_network_type(const struct commplace_network *net)
{
	return cpl_network_type_name(net->net->type);
}

int commplace_network_nodes(const struct commplace_network *net)
{
	return net->net->n_nodes;
}

int commplace_network_routers(const struct commplace_network *net)
{
	return net->net->n_routers;
}

int64_t commplace_network_links(const struct commplace_network *net)
{
	return net->net->n_links;
}

const char *commplace_network_host(const struct commplace_network *net,
                                   int node)
{
	return node < 0 || node >= net->net->n_nodes
	               ? NULL
	               : net->net->node_name[node];
}

int commplace_network_node(const struct commplace_network *net,
                           const char *host)
{
	return cpl_network_node(net->net, host);
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
		node[i] = cpl_network_node(net->net, list.name[i]);
		if (node[i] >= 0)
			continue;
		cpl_fail(&why, "network %s has no host %.60s", net->net->name,
		         list.name[i]);
		free(node);
		node = NULL;
	}
	if (node)
		*n = list.count;
out:
	cpl_hostlist_free(&list);
	if (!node)
		cpl_lib_fail(err, &why);
	return node;
}

int commplace_network_classes(const struct commplace_network *net)
{
	return net->net->n_classes;
}

const char *commplace_network_class_name(const struct commplace_network *net,
                                         int class_id)
{
	return class_id < 0 || class_id >= net->net->n_classes
	               ? NULL
	               : net->net->link_class[class_id].name;
}

static bool has_link(const struct commplace_network *net, int64_t link)
{
	return link >= 0 && link < net->net->n_links;
}

int commplace_network_link_from(const struct commplace_network *net,
                                int64_t link)
{
	return has_link(net, link) ? net->net->link_from[link] : -1;
}

int commplace_network_link_to(const struct commplace_network *net, int64_t link)
{
	return has_link(net, link) ? net->net->link_to[link] : -1;
}

int commplace_network_link_class(const struct commplace_network *net,
                                 int64_t link)
{
	return has_link(net, link) ? net->net->link_class_of[link] : -1;
}

double commplace_network_link_bandwidth(const struct commplace_network *net,
                                        int64_t link)
{
	return has_link(net, link) ? cpl_network_link_bandwidth(net->net, link)
	                           : -1;
}

const char *commplace_network_routing(const struct commplace_network *net,
                                      int i)
{
	const struct cpl_routing *routing;

	for (int k = 0; (routing = cpl_routing_at(k)); k++)
		if (cpl_routing_takes(routing, net->net) && i-- == 0)
			return routing->name;
	return NULL;
}
