/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement.h"

#include <string.h>

const struct cpl_placement_policy *cpl_placement_at(int i)
{
	return (const struct cpl_placement_policy *)cpl_registry_at(
	        &cpl_placements, i);
}

bool cpl_placement_takes(const struct cpl_placement_policy *policy,
                         const struct cpl_network_type *type)
{
	return !policy->takes || policy->takes(type);
}

static bool takes(const struct cpl_entry *entry, const void *type)
{
	return cpl_placement_takes((const struct cpl_placement_policy *)entry,
	                           type);
}

const struct cpl_placement_policy *cpl_placement_named(const char *name)
{
	return (const struct cpl_placement_policy *)cpl_registry_find(
	        &cpl_placements, name, strlen(name), NULL, NULL);
}

bool cpl_placement_is_search(const char *name)
{
	const struct cpl_placement_policy *policy = cpl_placement_named(name);

	return policy && policy->flags & CPL_PLACEMENT_SEARCH;
}

const struct cpl_placement_policy *
cpl_placement_find(const struct cpl_network_type *type, const char *name,
                   struct cpl_error *err)
{
	const struct cpl_placement_policy *policy = cpl_placement_named(name);
	char list[256];

	if (policy && cpl_placement_takes(policy, type))
		return policy;
	cpl_fail(err, "placement policy '%.64s' is %s; it must be one of %s",
	         name, policy ? "not for this network type" : "unknown",
	         cpl_registry_names(&cpl_placements, CPL_NAMES_SHORT, takes,
	                            type, list, sizeof(list)));
	return NULL;
}
