/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was chosen against the scheduler's own nodes, by the routing that the
 * network states where a faster one stood in for it. */
#include "placement/judge_internal.h"

/* Of both, in about nanoseconds: on a machine of 1,440 routers jobs of some 120
 * pairs of hosts. */
#define STATED_WORK 8000000L
/* Of a solve; of a pair of hosts in an iteration, where a link is 1. */
#define ITERATIONS 60L
#define FLOW_WORK 300L

static long work_of(const struct judge *j)
{
	const struct cpl_rank_groups *block = &j->quick.block;
	long flows = (long)cpl_rank_groups_judged(block)->n_entries;

	return 2 * ITERATIONS *
	       (FLOW_WORK * flows + (long)j->req->place.net->n_links);
}

/* Candidate i as its ranks are laid out. */
static int evaluate(struct judge *j, int i, struct cpl_error *err)
{
	struct cpl_candidate *c = &j->out->candidate[i];
	const struct layout *l = &j->layout[i];
	const int *of = c->is_mapped ? l->mapped.of : NULL;
	struct cpl_rank_groups given = {0};
	int rc = 0;

	if (of)
		rc = cpl_rank_groups_given(&given, j->req->place.net,
		                           j->req->comm, of, j->n, err);
	if (!rc)
		rc = cpl_quick_evaluate(&j->quick,
		                        of ? &given : &j->quick.block,
		                        c->is_mapped ? l->mapped.node : l->node,
		                        &c->stated, err);
	cpl_rank_groups_free(&given);
	c->is_stated = !rc;
	return rc;
}

/* Both, in the place of what the decision went by. */
static int evaluate_both(struct judge *j, int chosen, int stock,
                         struct cpl_error *err)
{
	const struct cpl_decide_request *req = j->req;
	struct cpl_evaluator was = j->quick.ev;
	int rc;

	rc = cpl_evaluator_open(&j->quick.ev,
	                        cpl_network_judged(req->place.net), req->stated,
	                        req->background, req->rates, 0, true, err);
	if (!rc)
		rc = evaluate(j, chosen, err);
	if (!rc && chosen != stock)
		rc = evaluate(j, stock, err);
	cpl_evaluator_close(&j->quick.ev);
	j->quick.ev = was;
	return rc;
}

int cpl_judge_stated(struct judge *j, int stock, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	int chosen = out->chosen;

	if (!j->req->stated || j->req->stated == j->req->routing ||
	    j->req->wish.keep.name ||
	    cpl_objective_by_time(j->req->wish.objective) ||
	    work_of(j) > STATED_WORK || !c[stock].evaluated)
		return 0;
	if (!cpl_judge_no_budget(j) && evaluate_both(j, chosen, stock, err))
		return -1;
	/* What is not known to be better is not taken. */
	if (chosen != stock &&
	    !(c[chosen].is_stated && c[stock].is_stated &&
	      cpl_figures_better(j->req->wish.objective, &c[chosen].stated,
	                         &c[stock].stated)))
		out->best = out->chosen = stock;
	return 0;
}
