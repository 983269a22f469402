/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "network/network.h"
#include "routing/routing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Numbers of four digits make networks that are right, but take seconds. */
static int has_long_number(const uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 3)
			return 1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing;
	struct cpl_network *net;
	double *load;

	if (has_long_number(data, size))
		return 0;
	net = cpl_network_parse((const char *)data, size, "net", &err);
	if (!net)
		return err.text[0] ? 0 : (abort(), 0);
	/* Every route of the first and the last router must stay in bounds. */
	routing = cpl_routing_find_quick(net, NULL, &err);
	if (routing)
		routing = cpl_routing_by_flow(net, routing);
	load = calloc((size_t)net->n_links + 1, sizeof(*load));
	for (int to = 0; routing && load && to < net->n_node_routers; to++) {
		routing->add(net, 0, to, 1, load);
		routing->add(net, to, net->n_node_routers - 1, 1, load);
		routing->hops(net, 0, to);
	}
	for (int node = 0; routing && node < net->n_nodes; node++)
		cpl_station_hops(net, routing, cpl_network_station(net, 0),
		                 cpl_network_station(net, node));
	free(load);
	cpl_network_free(net);
	return 0;
}
