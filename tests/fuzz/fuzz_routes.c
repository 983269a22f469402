/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of routes, for a graph of two leaves under two switches. */
#include <stdlib.h>
#include <string.h>

#include "network/type.h"
#include "routing/routing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char graph[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"graph\", \"routers\": 4, \"node_routers\": 2, "
        "\"nodes\": \"n[0-1]\", \"links\": [[0, 2], [0, 3], [0, 3], [1, 2], "
        "[1, 3]]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(graph, strlen(graph), "net", &err);
	double load[16] = {0};

	if (!net)
		abort();
	if (cpl_network_parse_routes(net, (const char *)data, size, "r",
	                             &err)) {
		if (strncmp(err.text, "r:", 2))
			abort();
	} else {
		const struct cpl_routing *routing =
		        cpl_routing_find(net, "table", &err);

		if (!routing)
			abort();
		routing->add(net, 0, 1, 1, load);
		if (!(routing->hops(net, 1, 0) >= 1))
			abort();
	}
	cpl_network_free(net);
	return 0;
}
