/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Elements of a job array, which are alike: their nodes are searched for once in a
 * pass, then chosen as the first one's were. */
#include <string.h>

#include "site/engine_deciding.h"

/* What chooses the nodes of others as it did those of the record, or NULL. The
 * scheduler's own nodes are beside whatever policy there is. */
static const struct cpl_placement_policy *policy_of(const char *name)
{
	return strcmp(name, cpl_placement_stock.name)
	               ? cpl_placement_named(name)
	               : &cpl_placement_linear;
}

void engine_shape_note(struct cpl_engine *engine, int64_t array,
                       const struct cpl_record *record)
{
	struct shape *shape = &engine->shape;
	const struct cpl_placement_policy *policy = NULL;

	/* What it was a search for, and what stands by itself. */
	if (record->outcome == CPL_OUTCOME_PLACED && !record->cut_short &&
	    !record->keep_whole &&
	    cpl_placement_is_search(record->policy_asked))
		policy = policy_of(record->policy);
	if (!policy || !policy->place)
		return;
	*shape = (struct shape){.array = array,
	                        .pass = engine->pass,
	                        .policy = policy->name,
	                        .seed = record->seed};
}

bool engine_shape_known(const struct cpl_engine *engine, int64_t array)
{
	const struct shape *shape = &engine->shape;

	return shape->policy && array && shape->array == array &&
	       shape->pass == engine->pass;
}

const char *engine_policy(const struct deciding *d, uint64_t *seed)
{
	const struct shape *shape = &d->engine->shape;

	if (!engine_shape_known(d->engine, d->req->array_id) ||
	    d->out->record->keep_whole ||
	    !cpl_placement_is_search(d->want.policy.value))
		return d->want.policy.value;
	*seed = shape->seed;
	return shape->policy;
}
