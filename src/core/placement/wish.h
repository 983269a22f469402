/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job is to get: what chooses its nodes, what lays out its ranks, and
 * what both are judged by. Names are looked up here, once, where text comes in:
 * a command line, a submission with the configuration's lines, a record. From
 * there on the wish is handed on.
 */
#pragma once

#include "mapping/mapping.h"
#include "placement/cut.h"
#include "placement/placement.h"
#include "traffic/objective.h"

struct cpl_wish {
	const struct cpl_placement_policy *policy; /* NULL: none */
	const char *option;                        /* of that policy, or NULL */
	/* How the ranks will be laid out; NULL and linear: in blocks. */
	const struct cpl_mapper *mapper;
	const char *map_option; /* as in cpl_map_request */
	enum cpl_objective objective;
	/* Of "interference": own slowdown and that of others, summed so. */
	double own_weight, others_weight;
	/* Units to be kept whole for other jobs, without a name: none; and the
	 * price, in percent. */
	struct cpl_cut keep;
	int keep_price;
};

/*
 * Each sets what its name says, and nothing where it fails: 0, or -1 with err,
 * which lists the right names. Options and names of units point into the text,
 * which is to last as long as the wish. A policy is one for this network (NULL:
 * for any); units are the network's, none for NULL and "none".
 */
int cpl_wish_policy(struct cpl_wish *wish, const struct cpl_network *net,
                    const char *name, struct cpl_error *err);
int cpl_wish_mapper(struct cpl_wish *wish, const char *name,
                    struct cpl_error *err);
int cpl_wish_units(struct cpl_wish *wish, const struct cpl_network *net,
                   const char *name, struct cpl_error *err);

/* Does its policy search among what the others find, for the job's traffic? */
static inline bool cpl_wish_searches(const struct cpl_wish *wish)
{
	return wish->policy && wish->policy->flags & CPL_PLACEMENT_SEARCH;
}
