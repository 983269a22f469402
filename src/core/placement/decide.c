/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/decide.h"

#include <stdlib.h>
#include <string.h>

#include "placement/evaluate.h"
#include "placement/traffic_search.h"

static int check_nodes(const struct cpl_placement_request *req,
                       struct cpl_error *err)
{
	int n_free = 0;

	for (int i = 0; i < req->net->n_nodes; i++)
		n_free += req->free[i] != 0;
	if (req->n_nodes_wanted < 1)
		return cpl_fail(err, "%d nodes wanted; there must be 1 or more",
		                req->n_nodes_wanted);
	if (req->n_nodes_wanted > n_free)
		return cpl_fail(err,
		                "%d nodes wanted, but only %d of %d are free",
		                req->n_nodes_wanted, n_free, req->net->n_nodes);
	if (req->n_required > req->n_nodes_wanted)
		return cpl_fail(err, "%d nodes required, but only %d wanted",
		                req->n_required, req->n_nodes_wanted);
	for (int i = 0; i < req->n_required; i++) {
		int node = req->required[i];

		if (node < 0 || node >= req->net->n_nodes)
			return cpl_fail(err,
			                "required node %d is not in network "
			                "'%s'",
			                node, req->net->name);
		if (!req->free[node])
			return cpl_fail(err, "required node %s is not free",
			                req->net->node_name[node]);
	}
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

static bool no_budget(const struct cpl_decide_request *req)
{
	return req->expired && req->expired(req->expired_arg);
}

/* Without traffic there is nothing to search for. */
static const struct cpl_placement_policy *
resolve(const struct cpl_decide_request *req, struct cpl_error *err)
{
	const struct cpl_placement_policy *policy =
	        cpl_placement_find(req->place.net->type, req->policy, err);

	if (policy && cpl_placement_check(req->place.net, req->policy, err))
		return NULL;
	if (policy && !policy->place && !req->comm)
		return &cpl_placement_linear;
	return policy;
}

static void add_candidate(struct cpl_decision *out,
                          const struct cpl_placement_policy *policy,
                          uint64_t seed)
{
	out->candidate[out->n_candidates++] =
	        (struct cpl_candidate){.policy = policy, .seed = seed};
}

/* The candidates of a policy, of a search linear first. */
static int list(const struct cpl_decide_request *req,
                const struct cpl_placement_policy *asked,
                struct cpl_decision *out, struct cpl_error *err)
{
	const struct cpl_placement_policy *policy;
	uint64_t seed = req->place.seed;
	size_t n = 1;

	while (cpl_placement_at((int)n))
		n++;
	out->candidate = calloc(n * CPL_DECIDE_SEEDS, sizeof(*out->candidate));
	if (!out->candidate)
		return cpl_fail_memory(err);
	for (int i = 0; !asked->place && (policy = cpl_placement_at(i)); i++) {
		bool random = policy->flags & CPL_PLACEMENT_RANDOM;

		if (!policy->place || policy->flags & CPL_PLACEMENT_CLASS ||
		    !cpl_placement_takes(policy, req->place.net->type))
			continue;
		for (int k = 0; k < (random ? CPL_DECIDE_SEEDS : 1); k++)
			add_candidate(out, policy, seed + (uint64_t)k);
	}
	if (asked != &cpl_placement_auto)
		add_candidate(out, asked, seed);
	return 0;
}

static bool better(const struct cpl_decide_request *req,
                   const struct cpl_candidate *a, const struct cpl_candidate *b)
{
	if (!b->evaluated)
		return a->evaluated;
	return cpl_objective_better(req->objective, &a->metrics,
	                            a->sums.hop_bytes, &b->metrics,
	                            b->sums.hop_bytes);
}

/* Fill scratch with the nodes of candidate i. */
static int place_candidate(const struct cpl_decide_request *req,
                           const struct cpl_evaluator *ev,
                           struct cpl_decision *out, int i, int *scratch,
                           struct cpl_error *err)
{
	struct cpl_candidate *c = &out->candidate[i];

	if (c->policy->place) {
		struct cpl_placement_request place = req->place;

		place.seed = c->seed;
		place.option = cpl_placement_option(req->policy);
		return c->policy->place(&place, scratch, err);
	}
	memcpy(scratch, out->node, (size_t)out->n_nodes * sizeof(*scratch));
	return cpl_traffic_search(req, ev->hosts, scratch, &out->cut_short,
	                          err);
}

static int try_all(const struct cpl_decide_request *req,
                   struct cpl_evaluator *ev, struct cpl_decision *out,
                   struct cpl_error *err)
{
	int *scratch = malloc((size_t)out->n_nodes * sizeof(*scratch));
	int rc = -1;

	if (!scratch)
		return cpl_fail_memory(err);
	for (int i = 0; i < out->n_candidates; i++) {
		struct cpl_candidate *c = &out->candidate[i];

		/* The first candidate is placed whatever the budget. */
		if (i > 0 && no_budget(req)) {
			out->cut_short = true;
			break;
		}
		if (place_candidate(req, ev, out, i, i ? scratch : out->node,
		                    err))
			goto out;
		if (!ev)
			break;
		if (i == 0 && no_budget(req)) {
			out->cut_short = true;
			break;
		}
		if (cpl_evaluate(ev, i ? scratch : out->node, &c->metrics,
		                 &c->sums, err) ||
		    cpl_evaluate_times(ev, i ? scratch : out->node, &c->times,
		                       err))
			goto out;
		c->evaluated = true;
		if (i > 0 && better(req, c, &out->candidate[out->chosen])) {
			int *node = out->node;

			out->node = scratch;
			scratch = node;
			out->chosen = i;
		}
	}
	rc = 0;
out:
	free(scratch);
	return rc;
}

int cpl_decide(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err)
{
	const struct cpl_placement_policy *policy = resolve(req, err);
	struct cpl_evaluator ev = {0};
	int rc = -1;

	*out = (struct cpl_decision){.n_nodes = req->place.n_nodes_wanted};
	if (!policy || check_nodes(&req->place, err) ||
	    (req->comm && check_ranks(req, err)))
		return -1;
	out->node = malloc((size_t)out->n_nodes * sizeof(*out->node));
	if (!out->node) {
		cpl_fail_memory(err);
		goto out;
	}
	if (list(req, policy, out, err))
		goto out;
	if (req->comm && cpl_evaluator_open(&ev, req, err))
		goto out;
	rc = try_all(req, req->comm ? &ev : NULL, out, err);
out:
	cpl_evaluator_close(&ev);
	if (rc)
		cpl_decision_free(out);
	return rc;
}

void cpl_decision_free(struct cpl_decision *decision)
{
	free(decision->node);
	free(decision->candidate);
	*decision = (struct cpl_decision){0};
}

double cpl_decision_reference(const struct cpl_decision *decision)
{
	double least = 0;

	for (int i = 0; i < decision->n_candidates; i++) {
		double alone = decision->candidate[i].times.alone;

		if (alone > 0 && (!(least > 0) || alone < least))
			least = alone;
	}
	return least;
}

int cpl_decide_evaluate(const struct cpl_decide_request *req, const int *node,
                        struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                        struct cpl_error *err)
{
	struct cpl_evaluator ev;
	int rc;

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
	rc = cpl_evaluator_open(&ev, req, err);
	if (!rc)
		rc = cpl_evaluate(&ev, node, metrics, sums, err);
	cpl_evaluator_close(&ev);
	return rc;
}
