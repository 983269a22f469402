/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "placement/placement_internal.h"

/* The order is the order of candidates under "auto": linear is the baseline
 * and comes first. */
static const struct cpl_placement_policy *const table[] = {
        &cpl_placement_linear,
        &cpl_placement_random_nodes,
        &cpl_placement_random_routers,
        &cpl_placement_random_chassis,
        &cpl_placement_random_groups,
        &cpl_placement_round_robin_nodes,
        &cpl_placement_round_robin_routers,
        &cpl_placement_blocked,
        NULL,
};

static bool is_name(const struct cpl_placement_policy *policy, const char *name)
{
	return !strcasecmp(policy->name, name) ||
	       !strcasecmp(policy->short_name, name);
}

const struct cpl_placement_policy *
cpl_placement_find(enum cpl_network_type type, const char *name,
                   struct cpl_error *err)
{
	char list[256] = "";
	bool other_type = false;

	for (int i = 0; table[i]; i++) {
		size_t n = strlen(list);

		if (!(table[i]->types & (1U << type))) {
			other_type |= is_name(table[i], name);
			continue;
		}
		if (is_name(table[i], name))
			return table[i];
		snprintf(list + n, sizeof(list) - n, "%s%s (%s)", n ? ", " : "",
		         table[i]->name, table[i]->short_name);
	}
	cpl_fail(err,
	         "placement policy '%.64s' is %s; known: %s, auto, "
	         "traffic",
	         name, other_type ? "not for this network type" : "unknown",
	         list);
	return NULL;
}

bool cpl_placement_name_known(const char *name)
{
	if (!strcasecmp(name, "auto") || !strcasecmp(name, "traffic"))
		return true;
	for (int i = 0; table[i]; i++)
		if (is_name(table[i], name))
			return true;
	return false;
}

const struct cpl_placement_policy *const *cpl_placement_all(void)
{
	return table;
}
