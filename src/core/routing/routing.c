/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

/* The first one of a type is its minimal routing, the default. */
static const struct cpl_routing *const table[] = {
        &cpl_routing_static_direct,    &cpl_routing_static_indirect,
        &cpl_routing_static_indirect_sampled,
        &cpl_routing_adaptive_direct,  &cpl_routing_adaptive_indirect,
        &cpl_routing_adaptive_hybrid,  &cpl_routing_dimension_order,
        &cpl_routing_adaptive_minimal, &cpl_routing_dmodk,
        &cpl_routing_fattree_table,    &cpl_routing_shortest_path,
        &cpl_routing_graph_table,      &cpl_routing_haec,
        NULL,
};

static bool is_name(const char *name, const char *long_name,
                    const char *short_name)
{
	return !strcasecmp(name, long_name) || !strcasecmp(name, short_name);
}

/* "static-direct (SD), ..." of one type. */
static void list_names(enum cpl_network_type type, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; table[i] && n < size; i++)
		if (table[i]->type == type)
			n += (size_t)snprintf(text + n, size - n, "%s%s (%s)",
			                      n ? ", " : "", table[i]->name,
			                      table[i]->short_name);
}

static const struct cpl_routing *minimal(enum cpl_network_type type)
{
	int i = 0;

	while (table[i]->type != type)
		i++;
	return table[i];
}

const struct cpl_routing *cpl_routing_minimal(const struct cpl_network *net)
{
	return minimal(net->type);
}

const struct cpl_routing *cpl_routing_find(const struct cpl_network *net,
                                           const char *name,
                                           struct cpl_error *err)
{
	bool stated = !name && net->routing;
	char names[CPL_ERROR_MAX / 2];

	if (!name && !net->routing)
		return minimal(net->type);
	if (stated)
		name = net->routing;
	for (int i = 0; table[i]; i++) {
		if (table[i]->type != net->type ||
		    !is_name(name, table[i]->name, table[i]->short_name))
			continue;
		if (!table[i]->table || net->routes)
			return table[i];
		cpl_fail(err, "routing 'table' needs \"routing_table\" in the "
		              "network description");
		return NULL;
	}
	list_names(net->type, names, sizeof(names));
	cpl_fail(err, "%s'%.60s' does not exist; this network has %s",
	         stated ? "\"routing\" of the network description: "
	                : "routing ",
	         name, names);
	return NULL;
}

const struct cpl_routing *cpl_routing_find_quick(const struct cpl_network *net,
                                                 const char *name,
                                                 struct cpl_error *err)
{
	const struct cpl_routing *routing = cpl_routing_find(net, name, err);

	return routing && !name ? cpl_routing_by_pairs(routing) : routing;
}

const struct cpl_routing *
cpl_routing_by_pairs(const struct cpl_routing *routing)
{
	return routing->add ? routing : minimal(routing->type);
}

size_t cpl_routing_scratch_size(const struct cpl_network *net, int64_t pairs)
{
	size_t most = 0;

	for (int i = 0; table[i]; i++) {
		size_t size = 0;

		if (table[i]->type == net->type && table[i]->scratch_size)
			size = table[i]->scratch_size(net, pairs);
		if (size > most)
			most = size;
	}
	return most;
}

const struct cpl_routing *const *cpl_routing_all(void)
{
	return table;
}
