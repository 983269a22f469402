/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks on hosts that are given, at the start of a job and of its steps. */
#include <string.h>

#include "mapping/quick.h"
#include "site/engine_internal.h"

/* What an entry of the matrix takes to be evaluated, for all layouts that a
 * mapper is compared with. */
#define ENTRY_NS 30

/* Of hosts with as many ranks each, but for the last: what is kept of them. */
static void use_groups(struct desk *desk, struct cpl_profile *profile,
                       const struct cpl_mapper *mapper,
                       struct cpl_map_request *req)
{
	const struct kept_groups *kept;
	int each = req->slots[0], left = profile->ranks;

	for (int h = 0; h < req->n_hosts; h++, left -= each)
		if (req->slots[h] != (left < each ? left : each))
			return;
	kept = mapper == &cpl_mapper_quick
	               ? engine_groups(desk, profile, mapper, each,
	                               req->n_hosts)
	               : NULL;
	if (kept) {
		req->block = &kept->block;
		req->grown = &kept->grown;
	}
}

int engine_map_ranks(struct desk *desk, struct ledger *ledger,
                     struct cpl_profile *profile,
                     const struct cpl_record *record, const int *node,
                     const int *slots, const int *turn, int n,
                     struct cpl_map_result *out, struct cpl_error *err)
{
	const char *mapping = record->mapping ? record->mapping : "linear";
	const struct snapshot *now = desk->snapshot;
	int64_t deadline = engine_deadline(desk), n_slots = 0;
	/* What the mapper leaves is evaluated after it. */
	int64_t until = deadline - ENTRY_NS * profile->comm->n_entries;
	struct cpl_error why = {""};
	const struct cpl_mapper *mapper = cpl_mapper_find(mapping, &why);
	enum cpl_objective objective =
	        cpl_objective_for(now->config->objective, now->stated);
	struct cpl_scene *scene;
	int rc = -1;

	/* A record that was read may state none. */
	if (!mapper ||
	    (record->objective &&
	     cpl_objective_parse(record->objective, &objective, &why)))
		goto out;
	if (engine_expired(&deadline)) {
		cpl_fail(&why, "no time is left of MaxPassTime");
		goto out;
	}
	/* A step has a task in every slot. */
	for (int i = 0; i < n; i++)
		n_slots += slots[i];
	if (n_slots != profile->comm->ranks) {
		cpl_fail(&why, "%lld slots on %d hosts, but %d ranks",
		         (long long)n_slots, n, profile->comm->ranks);
		goto out;
	}
	struct cpl_map_request req = {
	        .net = now->net,
	        .routing = now->routing,
	        .comm = profile->comm,
	        .graph = profile->graph,
	        .n_hosts = n,
	        .host = node,
	        .slots = slots,
	        /* Blocks on the nodes as they were chosen are asked for then.
	         */
	        .turn = mapper == &cpl_mapper_linear ? NULL : turn,
	        .objective = objective,
	        .option = cpl_mapper_option(mapping),
	        .seed = now->config->seed,
	        .expired = engine_expired,
	        .expired_arg = &until,
	};
	scene = engine_scene(ledger, NULL, deadline, &why);
	if (!scene || cpl_scene_loads(scene, profile->run.seconds,
	                              &req.background, &req.rates, &why))
		goto out;
	use_groups(desk, profile, mapper, &req);
	rc = cpl_map(mapper, &req, out, &why);
out:
	if (rc)
		cpl_fail(err, "%s", why.text);
	return rc;
}

const struct cpl_mapper *engine_order(const struct cpl_record *record)
{
	const struct cpl_mapper *mapper =
	        record->mapping && !record->profile && !record->own_order &&
	                        record->outcome != CPL_OUTCOME_OBSERVED
	                ? cpl_mapper_find(record->mapping, NULL)
	                : NULL;

	return mapper && mapper->flags & CPL_MAPPER_HOSTS ? mapper : NULL;
}

int engine_order_ranks(const struct cpl_network *net,
                       const struct cpl_mapper *order, const int *node,
                       const int *slots, int n, int *rank_host,
                       struct cpl_error *err)
{
	struct cpl_map_request req = {
	        .net = net,
	        .n_hosts = n,
	        .host = node,
	        .slots = slots,
	};

	return cpl_mapper_map(order, &req, rank_host, err);
}
