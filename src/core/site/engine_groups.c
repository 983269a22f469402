/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ranks share a host: of large jobs kept from one decision to the next. */
#include <string.h>

#include "mapping/quick.h"
#include "placement/decide.h"
#include "site/engine_internal.h"

static void forget(struct kept_groups *kept)
{
	cpl_rank_groups_free(&kept->groups);
	cpl_profile_drop(kept->profile);
	*kept = (struct kept_groups){.used = 0};
}

void engine_groups_free(struct cpl_engine *engine)
{
	for (int i = 0; i < ENGINE_GROUPS; i++)
		forget(&engine->groups[i]);
}

static bool is_of(const struct kept_groups *kept,
                  const struct cpl_decide_request *req,
                  const struct cpl_profile *profile)
{
	return kept->profile == profile &&
	       kept->ranks_per_node == req->ranks_per_node &&
	       kept->n_hosts == req->place.n_nodes_wanted;
}

const struct cpl_rank_groups *
engine_groups(struct cpl_engine *engine, const struct cpl_decide_request *req,
              struct cpl_profile *profile)
{
	struct kept_groups *kept = &engine->groups[0];
	long n = req->place.n_nodes_wanted;

	/* What does not fit is the decision's to tell. */
	if (!profile || req->mapper != &cpl_mapper_quick ||
	    profile->ranks * n <= CPL_QUICK_SMALL ||
	    n * req->ranks_per_node < profile->ranks)
		return NULL;
	for (int i = 0; i < ENGINE_GROUPS; i++) {
		struct kept_groups *at = &engine->groups[i];

		if (is_of(at, req, profile)) {
			at->used = ++engine->groups_used;
			return &at->groups;
		}
		if (at->used < kept->used)
			kept = at;
	}
	forget(kept);
	if (cpl_decide_groups(req, &kept->groups, NULL)) {
		forget(kept);
		return NULL;
	}
	kept->profile = cpl_profile_hold(profile);
	kept->ranks_per_node = req->ranks_per_node;
	kept->n_hosts = req->place.n_nodes_wanted;
	kept->used = ++engine->groups_used;
	return &kept->groups;
}
