/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes with several ports that are alike to routings. */
#include <stdlib.h>
#include <string.h>

#include "base/packed.h"
#include "network/type.h"

/* Number stations in the order of their first nodes; they are found by open
 * addressing. */
static int share_stations(struct cpl_network *net, struct cpl_error *err)
{
	size_t ports = (size_t)net->n_ports, slots = 8;
	int *slot;

	while (slots < 2 * (size_t)net->n_nodes)
		slots *= 2;
	slot = malloc(slots * sizeof(*slot));
	if (!slot)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < slots; i++)
		slot[i] = -1;
	for (int i = 0; i < net->n_nodes; i++) {
		const int *router = net->port_router + (size_t)i * ports;
		size_t at = cpl_fnv(CPL_FNV, router, ports * sizeof(*router)) &
		            (slots - 1);

		while (slot[at] >= 0 &&
		       memcmp(net->station_router + (size_t)slot[at] * ports,
		              router, ports * sizeof(*router)))
			at = (at + 1) & (slots - 1);
		if (slot[at] < 0) {
			slot[at] = net->n_stations++;
			memcpy(net->station_router + (size_t)slot[at] * ports,
			       router, ports * sizeof(*router));
		}
		net->station_of[i] = slot[at];
	}
	free(slot);
	return 0;
}

/* Where bytes also go to ports of other numbers, there are links between any
 * two nodes, and each node is a station. */
int cpl_ports_find_stations(struct cpl_network *net, struct cpl_error *err)
{
	if (net->port_use == CPL_PORTS_SPREAD ||
	    net->port_use == CPL_PORTS_FIRST)
		return share_stations(net, err);
	net->n_stations = net->n_nodes;
	for (int i = 0; i < net->n_nodes; i++)
		net->station_of[i] = i;
	memcpy(net->station_router, net->port_router,
	       (size_t)cpl_network_port_cables(net) *
	               sizeof(*net->station_router));
	return 0;
}
