/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "measured/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

/* Longer names of hosts are none of a network. */
#define HOST_MAX 256

static int by_name(const void *a, const void *b, void *arg)
{
	const struct cpl_network *net = arg;

	return strcmp(net->router_name[*(const int *)a],
	              net->router_name[*(const int *)b]);
}

int measured_names_open(struct measured_names *names,
                        const struct cpl_network *net, struct cpl_error *err)
{
	size_t links = (size_t)net->n_links, routers = (size_t)net->n_routers;

	*names = (struct measured_names){
	        .net = net, .link = malloc((links + 1) * sizeof(int))};
	if (!names->link)
		return cpl_fail_memory(err);
	cpl_network_sort_links(net, names->link);
	if (!net->router_name)
		return 0;
	names->router = malloc((routers + 1) * sizeof(int));
	if (!names->router)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < routers; i++)
		names->router[i] = (int)i;
	qsort_r(names->router, routers, sizeof(int), by_name, (void *)net);
	return 0;
}

void measured_names_close(struct measured_names *names)
{
	cpl_free_all(names->link, names->router);
}

/* A number of at most 9 digits that is all of the text, or -1. */
static int number(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n && n < 10 && !text[n] ? atoi(text) : -1;
}

/* By its name, which no other one has, or its number; -1: it is none. */
static int find_router(const struct measured_names *names, const char *text)
{
	const struct cpl_network *net = names->net;
	int low = 0, high = names->router ? net->n_routers : 0, end = high, id;

	CPL_BISECT(low, high, mid,
	           strcmp(net->router_name[names->router[mid]], text) < 0);
	if (low < end &&
	    !strcmp(net->router_name[names->router[low]], text))
		return low + 1 < end &&
		                       !strcmp(net->router_name
		                                       [names->router[low + 1]],
		                               text)
		               ? -1
		               : names->router[low];
	id = number(text);
	return id < net->n_routers ? id : -1;
}

/* The cable of a host's port; -1: it is none. */
static int64_t find_cable(const struct cpl_network *net, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	int port = colon ? number(colon + 1) : net->n_ports == 1 ? 0 : -1;
	char host[HOST_MAX];
	int node;

	if (n >= sizeof(host) || port < 0 || port >= net->n_ports)
		return -1;
	memcpy(host, text, n);
	host[n] = '\0';
	node = cpl_network_node(net, host);
	return node < 0 ? -1 : (int64_t)node * net->n_ports + port;
}

/* Of a host, whose other end may be left out. */
static int64_t find_node_link(const struct measured_names *names,
                              const char *host, const char *router, bool in)
{
	const struct cpl_network *net = names->net;
	int64_t cable = find_cable(net, host);

	if (cable < 0 ||
	    (*router && find_router(names, router) != net->port_router[cable]))
		return -1;
	return net->n_links + cable + (in ? cpl_network_port_cables(net) : 0);
}

static int64_t find_link(const struct measured_names *names, int from, int to)
{
	const struct cpl_network *net = names->net;
	int64_t at = cpl_network_link_at(net, names->link, from, to);

	return at < net->n_links && net->link_from[names->link[at]] == from &&
	                       net->link_to[names->link[at]] == to
	               ? at
	               : -1;
}

int64_t measured_find(const struct measured_names *names, const char *from,
                      const char *to)
{
	int a = find_router(names, from), b = find_router(names, to);

	if (a >= 0 && b >= 0)
		return find_link(names, a, b);
	return a < 0 && *from ? find_node_link(names, from, to, false)
	                      : find_node_link(names, to, from, true);
}

struct measured_group measured_group(const struct measured_names *names,
                                     int64_t id)
{
	const struct cpl_network *net = names->net;
	struct measured_group out = {.id = id, .n_links = 1, .cables = 1};
	int first, at;

	if (id >= net->n_links)
		return out;
	out.link = &names->link[id];
	first = *out.link;
	out.n_links = out.cables = 0;
	while (id + out.n_links < net->n_links) {
		at = out.link[out.n_links];
		if (net->link_from[at] != net->link_from[first] ||
		    net->link_to[at] != net->link_to[first])
			break;
		out.n_links++;
		out.cables += cpl_network_link_cables(net, at);
	}
	return out;
}
