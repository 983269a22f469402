/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/decide.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "placement/decide_internal.h"

enum search { ONE_POLICY, AUTO, TRAFFIC };

static int check_nodes(const struct cpl_placement_request *req,
                       struct cpl_error *err)
{
	int n_free = 0;

	for (int i = 0; i < req->net->n_nodes; i++)
		n_free += req->free[i] != 0;
	if (req->n_nodes_wanted < 1)
		return cpl_fail(err, "%d nodes wanted, not 1 or more",
		                req->n_nodes_wanted);
	if (req->n_nodes_wanted > n_free)
		return cpl_fail(err, "%d nodes wanted, but %d of %d are free",
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
		return cpl_fail(err, "%d ranks per node, not 1 or more",
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

/* What the policy's name stands for; *policy is set for ONE_POLICY. */
static int resolve(const struct cpl_decide_request *req, enum search *search,
                   const struct cpl_placement_policy **policy,
                   struct cpl_error *err)
{
	bool is_auto = !strcasecmp(req->policy, "auto");
	bool is_traffic = !strcasecmp(req->policy, "traffic");

	*search = is_auto ? AUTO : is_traffic ? TRAFFIC : ONE_POLICY;
	*policy = NULL;
	if (*search == ONE_POLICY || !req->comm) {
		const char *name =
		        *search == ONE_POLICY ? req->policy : "linear";

		*search = ONE_POLICY;
		*policy = cpl_placement_find(req->place.net->type, name, err);
		if (!*policy)
			return -1;
	}
	return 0;
}

/* The candidates of a search, linear first. NULL when memory is out. */
static struct cpl_candidate *list(const struct cpl_decide_request *req,
                                  enum search search,
                                  const struct cpl_placement_policy *policy,
                                  int *n)
{
	const struct cpl_placement_policy *const *all = cpl_placement_all();
	struct cpl_candidate *c;
	int size = 2;

	for (int i = 0; all[i]; i++)
		size += CPL_DECIDE_SEEDS;
	c = calloc((size_t)size, sizeof(*c));
	*n = 0;
	if (!c)
		return NULL;
	if (search == ONE_POLICY) {
		c[*n].seed = req->place.seed;
		c[(*n)++].policy = policy;
		return c;
	}
	for (int i = 0; all[i]; i++) {
		int seeds = all[i]->random ? CPL_DECIDE_SEEDS : 1;

		if (!(all[i]->types & (1U << req->place.net->type)))
			continue;
		for (int k = 0; k < seeds; k++) {
			c[*n].seed = req->place.seed + (uint64_t)k;
			c[(*n)++].policy = all[i];
		}
	}
	if (search == TRAFFIC)
		c[(*n)++].seed = req->place.seed;
	return c;
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
                           struct cpl_evaluator *ev, struct cpl_decision *out,
                           int i, int *scratch, struct cpl_error *err)
{
	struct cpl_candidate *c = &out->candidate[i];

	if (c->policy) {
		struct cpl_placement_request place = req->place;

		place.seed = c->seed;
		return c->policy->place(&place, scratch, err);
	}
	memcpy(scratch, out->node, (size_t)out->n_nodes * sizeof(*scratch));
	return cpl_traffic_search(ev, scratch, &out->cut_short, err);
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
		cpl_evaluator_run(ev, i ? scratch : out->node, &c->metrics,
		                  &c->sums);
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
	const struct cpl_placement_policy *policy;
	struct cpl_evaluator ev = {0};
	enum search search;
	int rc = -1;

	*out = (struct cpl_decision){.n_nodes = req->place.n_nodes_wanted};
	if (resolve(req, &search, &policy, err) ||
	    check_nodes(&req->place, err) ||
	    (req->comm && check_ranks(req, err)))
		return -1;
	out->node = malloc((size_t)out->n_nodes * sizeof(*out->node));
	out->candidate = list(req, search, policy, &out->n_candidates);
	if (!out->node || !out->candidate) {
		cpl_fail_memory(err);
		goto out;
	}
	if (req->comm && cpl_evaluator_init(&ev, req, err))
		goto out;
	rc = try_all(req, req->comm ? &ev : NULL, out, err);
out:
	cpl_evaluator_free(&ev);
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
	rc = cpl_evaluator_init(&ev, req, err);
	if (!rc)
		cpl_evaluator_run(&ev, node, metrics, sums);
	cpl_evaluator_free(&ev);
	return rc;
}
