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

const char *cpl_placement_option(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : NULL;
}

static int fail_name(const struct cpl_network_type *type, const char *name,
                     bool known, struct cpl_error *err)
{
	char list[400];

	if (!type)
		return cpl_fail(err, "no policy '%.64s'", name);
	return cpl_fail(err,
	                "placement policy '%.64s' is %s; it must be one of %s",
	                name, known ? "not for this network type" : "unknown",
	                cpl_registry_names(&cpl_placements, CPL_NAMES_SHORT,
	                                   takes, type, list, sizeof(list)));
}

static int check_option(const struct cpl_placement_policy *policy,
                        const struct cpl_network *net, const char *option,
                        struct cpl_error *err)
{
	if (!policy->check)
		return option ? cpl_fail(err,
		                         "placement policy '%s' takes no "
		                         "option, but there is '%.64s'",
		                         policy->name, option)
		              : 0;
	if (!policy->check(net, option, err))
		return 0;
	return cpl_fail_prefix(err,
	                       "placement policy '%s%s%.64s': ", policy->name,
	                       option ? ":" : "", option ? option : "");
}

const struct cpl_placement_policy *
cpl_placement_find(const struct cpl_network_type *type, const char *name,
                   struct cpl_error *err)
{
	const struct cpl_placement_policy *policy =
	        (const void *)cpl_registry_find(&cpl_placements, name,
	                                        strcspn(name, ":"), NULL, NULL);

	if (!policy || (type && !cpl_placement_takes(policy, type))) {
		fail_name(type, name, policy, err);
		return NULL;
	}
	return check_option(policy, NULL, cpl_placement_option(name), err)
	               ? NULL
	               : policy;
}

int cpl_placement_check(const struct cpl_network *net,
                        const struct cpl_placement_policy *policy,
                        const char *option, struct cpl_error *err)
{
	return cpl_placement_takes(policy, net->type)
	               ? check_option(policy, net, option, err)
	               : fail_name(net->type, policy->name, true, err);
}

bool cpl_placement_is_search(const char *name)
{
	const struct cpl_placement_policy *policy =
	        cpl_placement_find(NULL, name, NULL);

	return policy && policy->flags & CPL_PLACEMENT_SEARCH;
}

int cpl_placement_check_request(const struct cpl_placement_request *req,
                                struct cpl_error *err)
{
	int n_free = 0;

	for (int i = 0; i < req->net->n_nodes; i++)
		n_free += req->free[i] != 0;
	if (req->n_nodes_wanted < 1)
		return cpl_fail(err, "%d nodes wanted; there must be 1 or more",
		                req->n_nodes_wanted);
	if (req->n_nodes_wanted > n_free)
		return cpl_fail(err,
		                "%d nodes wanted, but only %d of %d are free",
		                req->n_nodes_wanted, n_free, req->net->n_nodes);
	if (req->n_required > req->n_nodes_wanted)
		return cpl_fail(err, "%d nodes required, but only %d wanted",
		                req->n_required, req->n_nodes_wanted);
	for (int i = 0; i < req->n_required; i++) {
		int node = req->required[i];

		if (node < 0 || node >= req->net->n_nodes)
			return cpl_fail(err,
			                "required node %d is not in network "
			                "'%s'",
			                node, req->net->name);
		if (!req->free[node])
			return cpl_fail(err, "required node %s is not free",
			                req->net->node_name[node]);
	}
	return 0;
}

int cpl_placement_missing(const struct cpl_placement_request *req,
                          const int *node)
{
	for (int i = 0; i < req->n_required; i++) {
		int k = 0;

		while (k < req->n_nodes_wanted && node[k] != req->required[i])
			k++;
		if (k == req->n_nodes_wanted)
			return i;
	}
	return -1;
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
