/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision for one job: candidates of the policies asked for, evaluated on
 * top of the jobs already running, the best one taken. Ranks of one node are
 * added up first, so a candidate costs as much as its nodes talk to each other.
 * Policy "traffic" goes on from the best of "auto", see traffic_search.h.
 */
#ifndef CPL_PLACEMENT_DECIDE_H
#define CPL_PLACEMENT_DECIDE_H

#include "placement/placement.h"
#include "signature/signature.h"
#include "traffic/objective.h"
#include "traffic/times.h"

/* Seeds tried for each random policy under "auto": seed, seed + 1, ... */
#define CPL_DECIDE_SEEDS 4

struct cpl_decide_request {
	struct cpl_placement_request place;
	const char *policy; /* a policy's name, "auto" or "traffic" */
	const struct cpl_routing *routing;
	/*
	 * The job's traffic; NULL when it has no signature: "auto" and
	 * "traffic" then fall back to linear, and nothing is evaluated.
	 */
	const struct cpl_comm *comm;
	int ranks_per_node; /* block: ranks i*K .. on the i-th node; the
	                     * last node may have fewer */
	const struct cpl_load *background; /* running jobs, or NULL */
	/*
	 * To tell the seconds of candidates: the phases that comm is the sum
	 * of, NULL: they are not told; and what the running jobs send, in
	 * bytes/s, or NULL.
	 */
	const struct cpl_phase *phase;
	int n_phases;
	const struct cpl_load *rates;
	enum cpl_objective objective;
	/* Fill all metrics of candidates, not only those of objectives and
	 * max_injection: O(links) for each. The decision is the same. */
	bool all_metrics;
	/*
	 * Optional budget: called between evaluations with `arg`; true ends
	 * the search and the best answer so far is returned.
	 */
	bool (*expired)(void *arg);
	void *expired_arg;
};

struct cpl_candidate {
	const struct cpl_placement_policy *policy;
	uint64_t seed;
	struct cpl_metrics metrics; /* with background; see all_metrics */
	struct cpl_job_sums sums;   /* of this job alone */
	struct cpl_times_result times; /* with phases */
	bool evaluated;             /* false: no signature, or budget */
};

struct cpl_decision {
	int n_nodes;
	int *node;  /* [n_nodes] in rank order */
	int chosen; /* index into candidate */
	int n_candidates;
	struct cpl_candidate *candidate;
	bool cut_short; /* the budget ended the search */
};

/*
 * Fills *out (free with cpl_decision_free). 0, or -1 with err: unknown policy,
 * too few free nodes, required node not free, ranks that do not fit
 * n_nodes_wanted * ranks_per_node, memory. Deterministic: same request, same
 * decision. O(candidates * (policy + evaluation)).
 */
int cpl_decide(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err);
void cpl_decision_free(struct cpl_decision *decision);

/* Seconds alone on the candidate that is best so: slowdowns are against it. 0:
 * none has times, or nothing is sent. */
double cpl_decision_reference(const struct cpl_decision *decision);

/* Evaluate one given node order like a candidate; for baselines ("what stock
 * Slurm would have chosen"). 0, or -1 with err. */
int cpl_decide_evaluate(const struct cpl_decide_request *req, const int *node,
                        struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                        struct cpl_error *err);

#endif
