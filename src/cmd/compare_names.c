/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int add_placement(struct compare *c,
                         const struct cpl_placement_policy *policy,
                         struct cpl_error *err)
{
	const struct cpl_placement_policy **grown;

	for (int i = 0; i < c->n_placements; i++)
		if (c->placement[i] == policy)
			return 0;
	grown = realloc(c->placement,
	                ((size_t)c->n_placements + 1) * sizeof(*grown));
	if (!grown)
		return cpl_fail_memory(err);
	c->placement = grown;
	c->placement[c->n_placements++] = policy;
	return 0;
}

static int one_placement(struct compare *c, const char *name,
                         struct cpl_error *err)
{
	const struct cpl_placement_policy *policy;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; (policy = cpl_placement_at(i)); i++)
			if (policy->place &&
			    cpl_placement_takes(policy, c->net->type) &&
			    add_placement(c, policy, err))
				return -1;
		return 0;
	}
	policy = cpl_placement_find(c->net->type, name, err);
	if (!policy)
		return cpl_fail_prefix(err, "--placements: ");
	return add_placement(c, policy, err);
}

static int add_routing(struct compare *c, const struct cpl_routing *routing,
                       struct cpl_error *err)
{
	const struct cpl_routing **grown;

	for (int i = 0; i < c->n_routings; i++)
		if (c->routing[i] == routing)
			return 0;
	grown = realloc(c->routing,
	                ((size_t)c->n_routings + 1) * sizeof(*grown));
	if (!grown)
		return cpl_fail_memory(err);
	c->routing = grown;
	c->routing[c->n_routings++] = routing;
	return 0;
}

static int one_routing(struct compare *c, const char *name,
                       struct cpl_error *err)
{
	const struct cpl_routing *routing;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; (routing = cpl_routing_at(i)); i++)
			if (cpl_routing_takes(routing, c->net) &&
			    !(routing->flags & CPL_ROUTING_SAMPLED) &&
			    add_routing(c, routing, err))
				return -1;
		return 0;
	}
	routing = cpl_routing_find(c->net, name, err);
	if (!routing)
		return cpl_fail_prefix(err, "--routings: ");
	return add_routing(c, routing, err);
}

static int each_name(struct compare *c, const char *option, const char *list,
                     int (*take)(struct compare *, const char *,
                                 struct cpl_error *),
                     struct cpl_error *err)
{
	char *text = strdup(list), *rest = text, *name;
	int rc = 0;

	if (!text)
		return cpl_fail_memory(err);
	while (!rc && (name = strsep(&rest, ","))) {
		if (*name)
			rc = take(c, name, err);
		else
			rc = cpl_fail(err,
			              "%s: '%.60s' has an empty name; give "
			              "NAME,NAME,... or all",
			              option, list);
	}
	free(text);
	return rc;
}

int compare_placements(struct compare *c, const char *list,
                       struct cpl_error *err)
{
	return each_name(c, "--placements", list, one_placement, err);
}

int compare_routings(struct compare *c, const char *list, struct cpl_error *err)
{
	return each_name(c, "--routings", list, one_routing, err);
}

void compare_release_names(struct compare *c)
{
	free(c->placement);
	free(c->routing);
}
