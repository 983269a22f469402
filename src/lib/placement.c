/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

#include "scene/scene.h"

struct commplace_placement {
	struct cpl_decision decision;
	int *rank_node; /* [ranks], or NULL */
};

static unsigned char *free_nodes(const struct commplace_network *net,
                                 const struct commplace_options *o,
                                 struct cpl_error *err)
{
	int n = cpl_lib_network(net)->n_nodes;
	unsigned char *flag = calloc((size_t)n, 1);

	if (!flag)
		return cpl_fail_null_memory(err);
	for (int i = 0; !o->free_node && i < n; i++)
		flag[i] = cpl_lib_network(net)->node_name[i] != NULL;
	for (int i = 0; i < o->n_free; i++) {
		if (cpl_lib_check_nodes(cpl_lib_network(net), &o->free_node[i],
		                        1, err)) {
			free(flag);
			return NULL;
		}
		flag[o->free_node[i]] = 1;
	}
	return flag;
}

/* What the jobs that run already send, as one job: their bytes as fast as their
 * busiest link lets them. */
static int add_running(struct cpl_scene *scene, const struct cpl_load *bytes,
                       struct cpl_error *err)
{
	double period = bytes ? cpl_load_seconds(bytes, scene->net) : 0;
	struct cpl_job_load *job;

	if (!(period > 0))
		return 0;
	job = cpl_job_load_new(scene->net, bytes, period, err);
	return job ? cpl_scene_add(scene, job, err) : -1;
}

static int choose(const struct commplace_network *net,
                  const struct commplace_signature *signature, int n,
                  int ranks_per_node, const char *policy,
                  const struct commplace_options *o,
                  struct cpl_decision *decision, struct cpl_error *err)
{
	const struct cpl_signature *sig = cpl_lib_signature(signature);
	struct cpl_lib_deadline deadline;
	unsigned char *flag = free_nodes(net, o, err);
	struct cpl_comm *comm =
	        flag ? cpl_signature_total(sig, err) : NULL;
	struct cpl_scene scene = {
	        .net = cpl_lib_network(net),
	        .routing = cpl_routing_find_quick(cpl_lib_network(net),
	                                          o->routing, err),
	        .stated = cpl_routing_find(cpl_lib_network(net), o->routing,
	                                   NULL),
	};
	const struct cpl_scene_job job = {.comm = comm,
	                                  .ranks_per_node = ranks_per_node,
	                                  .phase = sig->phase,
	                                  .n_phases = sig->n_phases};
	const struct cpl_placement_request nodes = {
	        .free = flag, .n_nodes_wanted = n, .seed = o->seed};
	const struct cpl_budget budget = {.expired =
	                                          cpl_lib_start(o, &deadline),
	                                  .expired_arg = &deadline};
	struct cpl_wish wish = {
	        .objective = o->objective, .own_weight = 1, .others_weight = 1};
	int rc = -1;

	if (comm && scene.routing &&
	    (!o->mapping || !cpl_wish_mapper(&wish, o->mapping, err)) &&
	    !cpl_wish_policy(&wish, scene.net, policy, err) &&
	    !add_running(&scene, cpl_lib_background(o->background), err))
		rc = cpl_scene_decide(&scene, &job, &wish, &nodes, NULL,
		                      &budget, decision, err);
	cpl_scene_close(&scene);
	cpl_comm_free(comm);
	free(flag);
	return rc;
}

static int keep_ranks(struct commplace_placement *placement, int ranks,
                      struct cpl_error *err)
{
	const struct cpl_decision *d = &placement->decision;

	if (!d->rank_host)
		return 0;
	placement->rank_node =
	        malloc((size_t)ranks * sizeof(*placement->rank_node));
	if (!placement->rank_node)
		return cpl_fail_memory(err);
	for (int r = 0; r < ranks; r++)
		placement->rank_node[r] = d->node[d->rank_host[r]];
	return 0;
}

struct commplace_placement *
commplace_placement_choose(const struct commplace_network *net,
                           const struct commplace_signature *signature, int n,
                           int ranks_per_node, const char *policy,
                           const struct commplace_options *options,
                           struct commplace_error *err)
{
	struct commplace_placement *placement = calloc(1, sizeof(*placement));
	struct cpl_error why = {""};

	if (!placement)
		cpl_fail_memory(&why);
	else if (!choose(net, signature, n, ranks_per_node, policy,
	                 options ? options : &cpl_lib_defaults,
	                 &placement->decision, &why) &&
	         !keep_ranks(placement, cpl_lib_signature(signature)->ranks,
	                     &why))
		return placement;
	commplace_placement_free(placement);
	return cpl_lib_made(NULL, &why, err);
}

void commplace_placement_free(struct commplace_placement *placement)
{
	if (!placement)
		return;
	cpl_decision_free(&placement->decision);
	cpl_free_all(placement->rank_node, placement);
}

static const struct cpl_candidate *
chosen(const struct commplace_placement *placement)
{
	return &placement->decision.candidate[placement->decision.chosen];
}

static const char *policy_of(const struct cpl_candidate *candidate)
{
	return candidate->policy ? candidate->policy->name : "traffic";
}

const char *
commplace_placement_policy(const struct commplace_placement *placement)
{
	return policy_of(chosen(placement));
}

int commplace_placement_candidate(const struct commplace_placement *placement,
                                  int i, struct commplace_candidate *out)
{
	const struct cpl_decision *d = &placement->decision;
	const struct cpl_candidate *c;

	if (i < 0 || i >= d->n_candidates)
		return -1;
	c = &d->candidate[i];
	*out = (struct commplace_candidate){
	        .policy = policy_of(c),
	        .seed = c->seed,
	        .max_congestion = c->metrics.max_congestion,
	        .mean_congestion = c->metrics.mean_congestion,
	        .hop_bytes = c->sums.hop_bytes,
	        .mapped_max_congestion =
	                c->is_mapped ? c->mapped.metrics.max_congestion : -1,
	        .evaluated = c->evaluated,
	        .chosen = i == d->chosen,
	};
	return 0;
}

READ(const int *, placement_nodes, placement, placement->decision.node)
READ(const int *, placement_rank_node, placement, placement->rank_node)
READ(double, placement_max_congestion, placement,
     chosen(placement)->metrics.max_congestion)
READ(double, placement_mean_congestion, placement,
     chosen(placement)->metrics.mean_congestion)
READ(double, placement_hop_bytes, placement, chosen(placement)->sums.hop_bytes)

const char *commplace_placement_policy_name(const struct commplace_network *net,
                                            int i)
{
	const struct cpl_placement_policy *policy;

	for (int k = 0; (policy = cpl_placement_at(k)); k++)
		if (!policy->check &&
		    cpl_placement_takes(policy, cpl_lib_network(net)->type) &&
		    i-- == 0)
			return policy->name;
	return NULL;
}
