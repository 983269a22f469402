/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes with several ports, or in domains, that are alike to routings. */
#include <stdlib.h>
#include <string.h>

#include "base/packed.h"
#include "network/type.h"

static bool alike(const struct cpl_network *net, int a, int b)
{
	size_t ports = (size_t)net->n_ports;
	const int *of = net->accelerators.domain_of;

	return !memcmp(net->port_router + (size_t)a * ports,
	               net->port_router + (size_t)b * ports,
	               ports * sizeof(*net->port_router)) &&
	       (!of || of[a] == of[b]);
}

static uint64_t hash(const struct cpl_network *net, int node)
{
	size_t ports = (size_t)net->n_ports;
	const int *of = net->accelerators.domain_of;
	uint64_t h = cpl_fnv(CPL_FNV, net->port_router + (size_t)node * ports,
	                     ports * sizeof(*net->port_router));

	return of ? cpl_fnv(h, &of[node], sizeof(*of)) : h;
}

static void add_station(struct cpl_network *net, int node)
{
	size_t ports = (size_t)net->n_ports, station = (size_t)net->n_stations;

	memcpy(net->station_router + station * ports,
	       net->port_router + (size_t)node * ports,
	       ports * sizeof(*net->port_router));
	if (net->station_domain)
		net->station_domain[station] =
		        net->accelerators.domain_of[node];
	net->station_of[node] = net->n_stations++;
}

/* Number stations in the order of their first nodes; they are found by open
 * addressing. */
static int share_stations(struct cpl_network *net, struct cpl_error *err)
{
	size_t slots = 8;
	int *slot;

	while (slots < 2 * (size_t)net->n_nodes)
		slots *= 2;
	slot = malloc(slots * sizeof(*slot));
	if (!slot)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < slots; i++)
		slot[i] = -1;
	for (int i = 0; i < net->n_nodes; i++) {
		size_t at = hash(net, i) & (slots - 1);

		while (slot[at] >= 0 && !alike(net, slot[at], i))
			at = (at + 1) & (slots - 1);
		if (slot[at] < 0) {
			slot[at] = i;
			add_station(net, i);
		} else {
			net->station_of[i] = net->station_of[slot[at]];
		}
	}
	free(slot);
	return 0;
}

/* Do bytes go only between ports of the same number? */
static bool is_straight(const struct cpl_network *net)
{
	return net->n_ports == 1 || net->port_use == CPL_PORTS_SPREAD ||
	       net->port_use == CPL_PORTS_FIRST ||
	       (net->port_use == CPL_PORTS_AFFINITY && net->accelerators.pxn);
}

/* Where bytes also go to ports of other numbers, there are links between any
 * two nodes, and each node is a station. */
int cpl_ports_find_stations(struct cpl_network *net, struct cpl_error *err)
{
	size_t n = (size_t)net->n_nodes;
	bool domains = net->accelerators.domain_of;

	if (net->n_ports == 1 && !domains)
		return 0;
	net->n_stations = 0;
	net->station_of = malloc(n * sizeof(*net->station_of));
	net->station_router = malloc(n * (size_t)net->n_ports *
	                             sizeof(*net->station_router));
	if (domains)
		net->station_domain = malloc(n * sizeof(*net->station_domain));
	if (!net->station_of || !net->station_router ||
	    (domains && !net->station_domain))
		return cpl_fail_memory(err);
	if (is_straight(net))
		return share_stations(net, err);
	for (int i = 0; i < net->n_nodes; i++)
		add_station(net, i);
	return 0;
}
