/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in commplace.conf, for programs that have the things of these names. */
#include <string.h>

#include "base/suggest.h"
#include "mapping/mapping.h"
#include "placement/placement.h"
#include "routing/routing.h"
#include "site/config_internal.h"

static int policy(struct config_parser *p, const char *value)
{
	const unsigned search = CPL_PLACEMENT_SEARCH;
	const char *words[64] = {CPL_NONE}, *nearest;
	char searches[64], others[CPL_ERROR_MAX / 2];
	struct cpl_error why = {""};

	if (cpl_placement_find(NULL, value, &why))
		return 0;
	if (cpl_registry_find(&cpl_placements, value, strcspn(value, ":"), NULL,
	                      NULL))
		return cpl_fail(p->err, ": %s", why.text);
	cpl_registry_words(&cpl_placements, words + 1, 63);
	nearest = cpl_suggest(value, words);
	if (nearest)
		return cpl_fail(p->err,
		                " is not a placement policy; did you mean %s?",
		                nearest);
	return cpl_fail(p->err,
	                " is not a placement policy; use one of %s, " CPL_NONE
	                ", %s",
	                cpl_registry_names(&cpl_placements, 0, cpl_entry_has,
	                                   &search, searches, sizeof(searches)),
	                cpl_registry_names(&cpl_placements, 0, cpl_entry_lacks,
	                                   &search, others, sizeof(others)));
}

static int mapping(struct config_parser *p, const char *value)
{
	return cpl_mapper_find(value, p->err) ? 0 : -1;
}

static int order(struct config_parser *p, const char *value)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(value, p->err);

	if (mapper && !(mapper->flags & CPL_MAPPER_HOSTS))
		return cpl_fail(p->err,
		                "%s needs a job's traffic; use network-order "
		                "or " CPL_NONE,
		                mapper->name);
	return mapper ? 0 : -1;
}

static int routing(struct config_parser *p, const char *value)
{
	char list[CPL_ERROR_MAX / 2];

	if (cpl_registry_find(&cpl_routings, value, strlen(value), NULL, NULL))
		return 0;
	return cpl_fail(p->err, " is not known; use one of %s",
	                cpl_registry_names(&cpl_routings, 0, NULL, NULL, list,
	                                   sizeof(list)));
}

const struct config_names config_names = {
        .policy = policy,
        .mapping = mapping,
        .order = order,
        .routing = routing,
};
