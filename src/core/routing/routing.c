/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "network/type.h"

const struct cpl_routing *cpl_routing_at(int i)
{
	return (const struct cpl_routing *)cpl_registry_at(&cpl_routings, i);
}

/* It goes by the type alone; the file may yet lack a table of routes. */
static bool is_for(const struct cpl_entry *entry, const void *type)
{
	const struct cpl_routing *r = (const struct cpl_routing *)entry;
	const struct cpl_network_type *t = type;
	unsigned has = t->flags | (t->spread ? CPL_NETWORK_SPREAD : 0);

	return r->type ? r->type == type
	               : !(r->flags & CPL_NETWORK_FLAGS & ~has);
}

bool cpl_routing_takes(const struct cpl_routing *routing,
                       const struct cpl_network *net)
{
	return is_for(&routing->entry, net->type) &&
	       (!(routing->flags & CPL_NETWORK_TABLES) || net->routes);
}

const struct cpl_routing *cpl_routing_minimal(const struct cpl_network *net)
{
	int i = 0;

	while (!cpl_routing_takes(cpl_routing_at(i), net))
		i++;
	return cpl_routing_at(i);
}

const struct cpl_routing *cpl_routing_find(const struct cpl_network *net,
                                           const char *name,
                                           struct cpl_error *err)
{
	bool stated = !name && net->routing;
	const struct cpl_routing *routing;
	char names[CPL_ERROR_MAX / 2];

	if (!name && !net->routing)
		return cpl_routing_minimal(net);
	if (stated)
		name = net->routing;
	routing = (const struct cpl_routing *)cpl_registry_find(
	        &cpl_routings, name, strlen(name), is_for, net->type);
	if (!routing)
		cpl_fail(err, "%s'%.60s' does not exist; this network has %s",
		         stated ? "\"routing\" of the network description: "
		                : "routing ",
		         name,
		         cpl_registry_names(&cpl_routings, CPL_NAMES_SHORT,
		                            is_for, net->type, names,
		                            sizeof(names)));
	else if (cpl_routing_takes(routing, net))
		return routing;
	else
		cpl_fail(err, "routing 'table' needs \"routing_table\" in the "
		              "network description");
	return NULL;
}

const struct cpl_routing *cpl_routing_find_quick(const struct cpl_network *net,
                                                 const char *name,
                                                 struct cpl_error *err)
{
	const struct cpl_routing *routing = cpl_routing_find(net, name, err);

	return routing && !name && !(routing->flags & CPL_ROUTING_PROGRESSIVE)
	               ? cpl_routing_by_flow(net, routing)
	               : routing;
}

const struct cpl_routing *cpl_routing_by_flow(const struct cpl_network *net,
                                              const struct cpl_routing *routing)
{
	if (routing->add)
		return routing;
	return routing->by_flow ? routing->by_flow : cpl_routing_minimal(net);
}

void cpl_flows_free(struct cpl_flows *flows)
{
	cpl_free_all(flows->from, flows->row, flows->to, flows->bytes);
	memset(flows, 0, sizeof(*flows));
}
