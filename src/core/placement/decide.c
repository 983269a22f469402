/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/decide.h"

#include <stdlib.h>

#include "placement/bounds.h"
#include "placement/cut.h"
#include "placement/judge.h"
#include "placement/repair.h"

static int check_phases(const struct cpl_decide_request *req,
                        struct cpl_error *err)
{
	if (cpl_objective_of_whole(req->wish.objective) && !req->phase)
		return cpl_fail(err, "objective %s needs a job's phases",
		                cpl_objective_name(req->wish.objective));
	return req->learned || req->wish.objective != CPL_OBJECTIVE_LEARNED
	               ? 0
	               : cpl_fail(err, "objective learned needs a model");
}

/* Can the scheduler's own nodes be taken as they are? */
static int check_stock(const struct cpl_decide_request *req,
                       struct cpl_error *err)
{
	const struct cpl_placement_request *place = &req->place;
	const struct cpl_network *net = place->net;
	int missing;

	for (int i = 0; i < place->n_nodes_wanted; i++) {
		int node = req->stock[i];

		if (node < 0 || node >= net->n_nodes)
			return cpl_fail(err, "stock node %d is not in network "
			                     "'%s'",
			                node, net->name);
		if (!place->free[node])
			return cpl_fail(err, "stock node %s is not free",
			                net->node_name[node]);
	}
	missing = cpl_placement_missing(place, req->stock);
	if (missing >= 0)
		return cpl_fail(err,
		                "required node %s is not among the stock nodes",
		                net->node_name[place->required[missing]]);
	return 0;
}

static int check_ranks(const struct cpl_decide_request *req,
                       struct cpl_error *err)
{
	int nodes = req->place.n_nodes_wanted;

	if (req->ranks_per_node < 1)
		return cpl_fail(err,
		                "%d ranks per node; there must be 1 or more",
		                req->ranks_per_node);
	if ((int64_t)nodes * req->ranks_per_node < req->comm->ranks)
		return cpl_fail(err,
		                "%d ranks do not fit %d nodes with %d ranks "
		                "each",
		                req->comm->ranks, nodes, req->ranks_per_node);
	return 0;
}

/* Without traffic there is nothing to search for. */
static const struct cpl_placement_policy *
resolve(const struct cpl_decide_request *req)
{
	return !req->wish.policy->place && !req->comm ? &cpl_placement_linear
	                                              : req->wish.policy;
}

static void add_candidate(struct cpl_decision *out,
                          const struct cpl_placement_policy *policy,
                          uint64_t seed)
{
	out->candidate[out->n_candidates++] =
	        (struct cpl_candidate){.policy = policy, .seed = seed};
}

/* Is it a class other than those that keeping units whole, known groups, and domains
 * ask for? */
static bool is_left_out(const struct cpl_decide_request *req,
                        const struct cpl_placement_policy *policy)
{
	return policy->flags & CPL_PLACEMENT_CLASS &&
	       !(req->wish.keep.name && policy == &cpl_placement_keep_whole) &&
	       !(req->place.grid.n && policy == &cpl_placement_groups) &&
	       !(req->place.net->accelerators.n_domains &&
	         (policy == &cpl_placement_compact ||
	          policy == &cpl_placement_segments));
}

/* List the candidates of a policy; before a search there is linear. */
static int list(const struct cpl_decide_request *req,
                const struct cpl_placement_policy *asked,
                struct cpl_decision *out, struct cpl_error *err)
{
	const struct cpl_placement_policy *policy;
	uint64_t seed = req->place.seed;
	size_t n = 2;

	while (cpl_placement_at((int)n))
		n++;
	out->candidate = calloc(n * CPL_DECIDE_SEEDS, sizeof(*out->candidate));
	if (!out->candidate)
		return cpl_fail_memory(err);
	for (int i = 0; !asked->place && (policy = cpl_placement_at(i)); i++) {
		bool random = policy->flags & CPL_PLACEMENT_RANDOM;

		if (!policy->place || is_left_out(req, policy) ||
		    !cpl_placement_takes(policy, req->place.net->type))
			continue;
		for (int k = 0; k < (random ? CPL_DECIDE_SEEDS : 1); k++)
			add_candidate(out, policy, seed + (uint64_t)k);
	}
	/* What was found for another job like this one is not certain to be
	 * better than stock. */
	if (asked->place)
		add_candidate(out, asked, seed);
	if (req->stock)
		add_candidate(out, &cpl_placement_stock, seed);
	if (!asked->place && asked != &cpl_placement_auto)
		add_candidate(out, asked, seed);
	return 0;
}

static int count_broken(const struct cpl_decide_request *req,
                        struct cpl_decision *out, struct cpl_error *err)
{
	struct cpl_whole_units units;

	if (!req->wish.keep.name)
		return 0;
	if (cpl_whole_units_open(&units, req->place.net, req->place.free,
	                         &req->wish.keep, err))
		return -1;
	out->candidate[0].broken =
	        cpl_whole_units_broken(&units, out->node, out->n_nodes);
	cpl_whole_units_close(&units);
	return 0;
}

/* A job without a signature gets the first of the list. */
static int place_first(const struct cpl_decide_request *req,
                       struct cpl_decision *out, struct cpl_error *err)
{
	struct cpl_placement_request place = req->place;

	place.option = req->wish.option;
	out->node = malloc((size_t)out->n_nodes * sizeof(*out->node));
	if (!out->node)
		return cpl_fail_memory(err);
	if (out->candidate[0].policy->place(&place, out->node, err) ||
	    cpl_bounds_keep(&place, req->stock, out->node, err))
		return -1;
	return count_broken(req, out, err);
}

int cpl_decide(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err)
{
	int rc = -1;

	*out = (struct cpl_decision){.n_nodes = req->place.n_nodes_wanted};
	if (cpl_placement_check(req->place.net, req->wish.policy,
	                        req->wish.option, err) ||
	    cpl_placement_check_request(&req->place, err) ||
	    (req->stock && check_stock(req, err)) ||
	    (req->comm && (check_ranks(req, err) || check_phases(req, err))))
		return -1;
	if (!list(req, resolve(req), out, err))
		rc = !req->comm ? place_first(req, out, err)
		     : cpl_judge(req, out, err) || cpl_repair(req, out, err)
		             ? -1
		             : 0;
	if (rc)
		cpl_decision_free(out);
	return rc;
}

void cpl_decision_free(struct cpl_decision *decision)
{
	cpl_free_all(decision->node, decision->rank_host, decision->candidate);
	*decision = (struct cpl_decision){0};
}

int cpl_decide_given(const struct cpl_decide_request *req, const int *node,
                     struct cpl_decision *out, struct cpl_error *err)
{
	struct cpl_decide_request one = *req;

	*out = (struct cpl_decision){.n_nodes = req->place.n_nodes_wanted};
	if (!req->comm)
		return cpl_fail(err, "no traffic to evaluate: the job has no "
		                     "signature");
	if (check_ranks(req, err))
		return -1;
	for (int i = 0; i < req->place.n_nodes_wanted; i++)
		if (node[i] < 0 || node[i] >= req->place.net->n_nodes)
			return cpl_fail(err,
			                "node %d at position %d is not in "
			                "network '%s'",
			                node[i], i, req->place.net->name);
	out->candidate = calloc(1, sizeof(*out->candidate));
	if (!out->candidate)
		return cpl_fail_memory(err);
	add_candidate(out, &cpl_placement_stock, req->place.seed);
	one.stock = node;
	one.wish.keep.name = NULL;
	if (!cpl_judge(&one, out, err))
		return 0;
	cpl_decision_free(out);
	return -1;
}

int cpl_decide_evaluate(const struct cpl_decide_request *req, const int *node,
                        struct cpl_candidate *out, struct cpl_error *err)
{
	struct cpl_decision d;

	if (cpl_decide_given(req, node, &d, err))
		return -1;
	*out = d.candidate[0];
	cpl_decision_free(&d);
	return 0;
}
