/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Elements of a job array, which are alike: their nodes are searched for once in a
 * pass, then chosen as the first one's were. */
#include <string.h>

#include "site/engine_deciding.h"

/* What chooses the nodes of others as it did those of the record, or NULL. The
 * scheduler's own nodes stand next to whatever policy there is. */
static const struct cpl_placement_policy *policy_of(const char *name)
{
	return strcmp(name, cpl_placement_stock.name)
	               ? cpl_placement_find(NULL, name, NULL)
	               : &cpl_placement_linear;
}

void engine_shape_note(struct desk *desk, int64_t array,
                       const struct cpl_record *record)
{
	struct shape *shape = &desk->shape;
	const struct cpl_placement_policy *policy = NULL;

	/* What it was a search for, and what stands by itself. */
	if (record->outcome == CPL_OUTCOME_PLACED && !record->cut_short &&
	    !record->keep_whole &&
	    cpl_placement_is_search(record->policy_asked))
		policy = policy_of(record->policy);
	if (!policy || !policy->place)
		return;
	*shape = (struct shape){.array = array,
	                        .pass = desk->pass,
	                        .policy = policy,
	                        .seed = record->seed};
}

bool engine_shape_known(const struct desk *desk, int64_t array)
{
	const struct shape *shape = &desk->shape;

	return shape->policy && array && shape->array == array &&
	       shape->pass == desk->pass;
}

struct cpl_wish engine_wish(const struct deciding *d, uint64_t *seed)
{
	const struct shape *shape = &d->desk->shape;
	struct cpl_wish wish = d->want.wish;

	if (!engine_shape_known(d->desk, d->req->array_id) || wish.keep.name ||
	    !cpl_wish_searches(&wish))
		return wish;
	*seed = shape->seed;
	wish.policy = shape->policy;
	return wish;
}
