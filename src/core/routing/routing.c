/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/routing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

/* The first one of a type is its minimal routing, the default. */
static const struct cpl_routing *const table[] = {
        &cpl_routing_static_direct,
        &cpl_routing_dimension_order,
        NULL,
};

/* Names a network description may state although they come in a later release;
 * the type's minimal routing stands in for them. */
static const struct {
	const char *name, *short_name;
	enum cpl_network_type type;
} later[] = {
        {"static-indirect", "SI", CPL_NETWORK_DRAGONFLY},
        {"adaptive-direct", "AD", CPL_NETWORK_DRAGONFLY},
        {"adaptive-indirect", "AI", CPL_NETWORK_DRAGONFLY},
        {"adaptive-hybrid", "AH", CPL_NETWORK_DRAGONFLY},
        {"adaptive-minimal", "AM", CPL_NETWORK_TORUS},
};

static bool is_name(const char *name, const char *long_name,
                    const char *short_name)
{
	return !strcasecmp(name, long_name) || !strcasecmp(name, short_name);
}

static bool is_later(enum cpl_network_type type, const char *name)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (later[i].type == type &&
		    is_name(name, later[i].name, later[i].short_name))
			return true;
	return false;
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

const struct cpl_routing *cpl_routing_find(const struct cpl_network *net,
                                           const char *name,
                                           struct cpl_error *err)
{
	bool stated = !name && net->routing;
	char names[CPL_ERROR_MAX / 2];

	if (!name && (!net->routing || is_later(net->type, net->routing)))
		return minimal(net->type);
	if (stated)
		name = net->routing;
	for (int i = 0; table[i]; i++)
		if (table[i]->type == net->type &&
		    is_name(name, table[i]->name, table[i]->short_name))
			return table[i];
	list_names(net->type, names, sizeof(names));
	cpl_fail(err, "%s'%.60s' %s; this network has %s",
	         stated ? "\"routing\" of the network description: "
	                : "routing ",
	         name,
	         is_later(net->type, name) ? "comes in a later release"
	                                   : "does not exist",
	         names);
	return NULL;
}

const struct cpl_routing *const *cpl_routing_all(void)
{
	return table;
}
