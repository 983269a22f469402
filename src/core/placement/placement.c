/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/placement.h"

#include <stdlib.h>
#include <string.h>

const struct cpl_placement_policy *cpl_placement_at(int i)
{
	return (const struct cpl_placement_policy *)cpl_registry_at(
	        &cpl_placements, i);
}

bool cpl_placement_takes(const struct cpl_placement_policy *policy,
                         const struct cpl_network_type *type)
{
	for (int i = 0; i < 2; i++)
		if (policy->levels[i] &&
		    !cpl_network_type_has(type, policy->levels[i]))
			return false;
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

enum { CHOSEN = 1, REQUIRED = 2 };

int cpl_placement_require(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err)
{
	int n = req->n_nodes_wanted;
	int n_missing = 0, next = 0, at;
	unsigned char *mark;

	if (!req->n_required)
		return 0;
	mark = calloc((size_t)req->net->n_nodes, 1);
	if (!mark)
		return cpl_fail_memory(err);
	for (int i = 0; i < req->n_required; i++)
		mark[req->required[i]] |= REQUIRED;
	for (int i = 0; i < n; i++)
		mark[out[i]] |= CHOSEN;
	for (int i = 0; i < req->net->n_nodes; i++)
		n_missing += mark[i] == REQUIRED;

	at = n;
	for (int left = n_missing; left > 0;)
		left -= !(mark[out[--at]] & REQUIRED);
	for (; at < n && n_missing > 0; at++) {
		if (mark[out[at]] & REQUIRED)
			continue;
		while (mark[next] != REQUIRED)
			next++;
		out[at] = next++;
	}
	free(mark);
	return 0;
}
