/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the candidates of a decision are compared by. */
#include "placement/decide.h"

const struct cpl_placement_policy cpl_placement_stock = {
        .name = "stock",
        .summary = "the scheduler's own nodes",
};

bool cpl_decide_is_timed(const struct cpl_comm *comm, int nodes)
{
	return (long)comm->ranks * nodes <= CPL_DECIDE_TIMED &&
	       comm->n_entries <= CPL_DECIDE_TIMED_ENTRIES;
}

double cpl_candidate_objective(const struct cpl_decide_request *req,
                               const struct cpl_decision *decision,
                               const struct cpl_candidate *c,
                               const struct cpl_figures *figures)
{
	switch (req->wish.objective) {
	case CPL_OBJECTIVE_INTERFERENCE:
		return cpl_candidate_interference(
		        req, c, cpl_decision_reference(decision));
	case CPL_OBJECTIVE_ISOLATION:
		return (double)c->shared;
	case CPL_OBJECTIVE_LEARNED:
		return c->told;
	case CPL_OBJECTIVE_TIME:
		if (cpl_decide_by_times(req) && c->times.seconds > 0)
			return c->times.seconds;
		/* fall through */
	default:
		return cpl_objective_first(req->wish.objective,
		                           &figures->metrics,
		                           figures->sums.hop_bytes);
	}
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
