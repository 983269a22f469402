/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int add_placement(struct compare *c,
                         const struct cpl_placement_policy *policy,
                         const char *name, struct cpl_error *err)
{
	struct compare_placement *grown;

	for (int i = 0; i < c->n_placements; i++)
		if (!strcmp(c->placement[i].name, name))
			return 0;
	grown = realloc(c->placement,
	                ((size_t)c->n_placements + 1) * sizeof(*grown));
	if (!grown)
		return cpl_fail_memory(err);
	c->placement = grown;
	c->placement[c->n_placements++] = (struct compare_placement){
	        .policy = policy,
	        .name = name,
	        .short_name = policy ? policy->short_name : name,
	};
	return 0;
}

static int one_placement(struct compare *c, const char *name,
                         struct cpl_error *err)
{
	const struct cpl_placement_policy *const *all = cpl_placement_all();
	const struct cpl_placement_policy *policy;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; all[i]; i++)
			if (all[i]->types & (1U << c->net->type) &&
			    add_placement(c, all[i], all[i]->name, err))
				return -1;
		return 0;
	}
	if (!strcasecmp(name, "auto"))
		return add_placement(c, NULL, "auto", err);
	if (!strcasecmp(name, "traffic"))
		return add_placement(c, NULL, "traffic", err);
	policy = cpl_placement_find(c->net->type, name, err);
	if (!policy)
		return cpl_fail_prefix(err, "--placements: ");
	return add_placement(c, policy, policy->name, err);
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
	const struct cpl_routing *const *all = cpl_routing_all();
	const struct cpl_routing *routing;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; all[i]; i++)
			if (all[i]->type == c->net->type && !all[i]->sampled &&
			    (!all[i]->table || c->net->routes) &&
			    add_routing(c, all[i], err))
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
			              "%s: '%.60s' has an empty name; NAME,NAME"
			              " or all is right",
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
