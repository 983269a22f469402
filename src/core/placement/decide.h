/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision for one job: candidates of the policies asked for, evaluated on
 * top of the jobs already running, the best one taken. Ranks of one node are
 * added up first, so a candidate costs as much as its nodes talk to each other.
 *
 * With a mapper candidates are judged in the order that their ranks will have:
 * all in blocks (what is before mapping) and, for the default mapper, in a
 * quick order; the most promising, linear, best-fit and the stock nodes among
 * them, with the mapper itself. How many is set by the job's size; for large
 * ones, and for searches without an end ("best"), the default mapper stands in
 * for another, which has yet to lay out the ranks then.
 *
 * Policy "traffic" goes on from the best of "auto" by a search over node set
 * and rank order, see mapping/host_search.h.
 *
 * By "interference" and "isolation" candidates are compared as a whole, by what
 * the times and harm of them are: the sum of own_weight times the own slowdown
 * and others_weight times what the running jobs are slowed down; or the links
 * between routers shared with running jobs, on minimal paths, and of equals the
 * seconds. By "learned" they are likewise compared by the seconds that a model
 * tells of them, and of equals by those of the times. All three need the
 * phases.
 *
 * Of candidates whose first number is the same the one with the fewest seconds
 * is taken, where these are known and the job is no larger than
 * CPL_DECIDE_TIMED; then the one with the smallest mean congestion; then the
 * scheduler's own nodes; then the first. By "time" such jobs are compared by
 * those seconds, which `traffic` tells as communication, and searches by
 * cpl_traffic_seconds.
 *
 * Where the network states an adaptive routing, for which its minimal one
 * stands in, what was chosen and the scheduler's own nodes are judged by the
 * stated one in the end, of jobs and machines for which that takes few
 * milliseconds; what is not better so, or was not judged in time, is not taken.
 * Running jobs are beside it, as bytes, and do not adapt to the job. (Not by
 * "time", which has its minimal paths in `traffic`, too, nor with units to be
 * kept.)
 *
 * On a network with rails or domains, by an objective that does not look at these
 * (max-congestion, mean-congestion, hop-bytes), what has a busier rail than the
 * scheduler's own nodes in blocks, or linear where these are not known, or sends more
 * between domains, comes after what has not: in every comparison of candidates and of
 * rank orders, and first. By busiest, which counts the rail among links, what has a
 * busier one does.
 *
 * With units to be kept, candidates that break few of the wholly free units of
 * the machine are preferred, for a price: of those that are by the objective's
 * first number at most so much worse than the best, the one that breaks fewest
 * is taken, ties by the objective, then the first. One more candidate is made
 * for it (keep_whole.c). "traffic" searches on from the set that was taken,
 * where it breaks no more than that, and what it finds is a candidate like the
 * others.
 *
 * Where the scheduler's own nodes are known and ranks are to be mapped, a
 * budget that ends before they were mapped ends the decision with them: nothing
 * else is known to be better.
 *
 * Where the rank order may not arrive (CPL_ORDER_MAY) candidates are judged
 * twice: as above, and in blocks on their nodes in the scheduler's own order,
 * which is how a launcher runs them that does not take ours. What is worse so
 * than the scheduler's own nodes, or best-fit where these are not known, is not
 * taken: by the objective, or by the product of busiest link, mean and seconds;
 * of the others the one whose product of both ways is least, or, where
 * candidates are compared as a whole, the best so. What "traffic" finds then
 * may not be worse in blocks than where it began. Where it does not arrive
 * (CPL_ORDER_NOT) candidates are judged in the second way alone.
 *
 * Work is limited by counts, not by the clock: of the stages by themselves, and
 * of all together where the request says so (judge_work.c). Where that is not
 * enough for all, what lies all over the machine is judged before other
 * candidates; "traffic" keeps work for its search, and where the rest is not
 * enough to map the scheduler's own nodes and another candidate, it goes on
 * from the best in blocks, in the better of the orders that need no search. A
 * budget that runs out before ends the decision at the last of these points
 * that was reached: the stock nodes, without them linear; the better of both;
 * the best before mapping; the best with its rank order; the search's own
 * points; the end. Each is the same for the same request, whatever the
 * machine's speed, but that between the third and the fourth what is known by
 * then to be better with its rank order is taken.
 */
#pragma once

#include "base/team.h"
#include "learn/learned.h"
#include "mapping/host_evaluate.h"
#include "mapping/mapping.h"
#include "placement/placement.h"
#include "placement/wish.h"
#include "signature/signature.h"
#include "traffic/harm.h"
#include "traffic/objective.h"
#include "traffic/times.h"

/* Seeds tried for each random policy under "auto": seed, seed + 1, ... */
#define CPL_DECIDE_SEEDS 4
/* Work (see there) that an ordinary machine of today does in a millisecond, with
 * room for a slow one. */
#define CPL_DECIDE_WORK_MS 85000L

/* Ranks times nodes, and entries, of jobs whose candidates' seconds are
 * computed within the time of a decision, whatever the objective is. */
#define CPL_DECIDE_TIMED 65536L
#define CPL_DECIDE_TIMED_ENTRIES 131072L

/* Does the order of ranks that is found reach the job's tasks? */
enum cpl_order {
	CPL_ORDER_REACHES,
	CPL_ORDER_MAY, /* it is not known; rates are to be there */
	CPL_ORDER_NOT,
};

struct cpl_former;

/* What became of it (placement/repair.h). */
struct cpl_repaired {
	bool judged;  /* with that the next counts */
	double worse; /* than the fresh plan by the objective, in parts of that;
	               * < 0: better */
};

struct cpl_decide_request {
	struct cpl_placement_request place;
	/* What the job is to get, with a policy, whose option is in `place`. */
	struct cpl_wish wish;
	const struct cpl_routing *routing;
	/* What `traffic` goes by where routing stands in for it
	 * (cpl_routing_find), or NULL: see above. */
	const struct cpl_routing *stated;
	/*
	 * The job's traffic; NULL when it has no signature: "auto" and
	 * "traffic" then fall back to linear, and nothing is evaluated.
	 */
	const struct cpl_comm *comm;
	int ranks_per_node; /* block: ranks i*K .. on the i-th node; the
	                     * last node may have fewer */
	const struct cpl_comm *graph; /* of comm, both ways; NULL: made here */
	/* By cpl_decide_groups, for the default mapper, and cpl_decide_blocks;
	 * NULL: made here. */
	const struct cpl_rank_groups *grown, *block;
	/* [n_nodes_wanted] the scheduler's own nodes, a candidate of the
	 * searches; NULL: not known. Free, the required ones among them. */
	const int *stock;
	/* Its run before, whose layout is kept where that is little worse
	 * (placement/repair.h); NULL: none is known. */
	const struct cpl_former *former;
	const struct cpl_load *background; /* running jobs, or NULL */
	/*
	 * For the seconds of candidates: the phases that comm is the sum of
	 * (NULL: no seconds); and what the running jobs send, in bytes/s, or
	 * NULL.
	 */
	const struct cpl_phase *phase;
	int n_phases;
	const struct cpl_load *rates;
	struct cpl_times_space *space; /* of net and routing; NULL: made here */
	/* The running jobs, for what candidates do to them; NULL: none. */
	struct cpl_harm *harm;
	enum cpl_order order;
	/* [nodes of the network] increasing in the scheduler's own order of
	 * nodes; NULL: by id. */
	const int *turn;
	const struct cpl_learned *learned; /* of "learned", or NULL */
	/* Fill all metrics and sums of candidates, not only those of
	 * objectives, max_injection and bytes: O(links) for each. The decision
	 * is the same. */
	bool all_metrics;
	/*
	 * Optional: work, in links of routes looked at, some 5 to 10 ns each.
	 * What would be beyond it is left out, and the decision is cut_short;
	 * that is the same on every machine, so that no clock matters where the
	 * work ends before the budget. 0: no limit but those that every
	 * decision has.
	 */
	long work;
	/* Optional budget: called between evaluations with `arg`; true ends
	 * the decision at the last point reached, see above. */
	bool (*expired)(void *arg);
	void *expired_arg;
	/* Optional, without a budget: candidates are judged by its threads, with
	 * the same decision for any number. */
	struct cpl_team *team;
};

struct cpl_candidate {
	const struct cpl_placement_policy *policy;
	uint64_t seed;
	struct cpl_metrics metrics; /* with background, ranks in blocks on the
	                             * policy's order; see all_metrics */
	struct cpl_job_sums sums;   /* of this job alone */
	double rail;                /* its busiest, see cpl_figures */
	bool evaluated;             /* false: no signature, or budget */
	bool is_mapped;             /* it was judged with its rank order: */
	struct cpl_figures mapped;
	bool is_stated; /* and by the routing that the network states: */
	struct cpl_figures stated;
	/* With phases: with the rank order if it was judged so, else in
	 * blocks. */
	struct cpl_times_result times;
	/* With phases and harm, of the same order: links between routers that
	 * it shares with running jobs, and what these are slowed down in sum
	 * (harm.h). */
	int64_t shared;
	double harm;
	double told; /* by "learned": the model's seconds, of the same order */
	int broken;  /* with units to be kept: wholly free units of which it
	              * takes some  nodes and not all; 0 until it is placed */
	/* With CPL_ORDER_MAY, where evaluated: in blocks on its nodes in the
	 * scheduler's order; and that is worse than the scheduler's own nodes,
	 * or of the search than where it began. */
	struct cpl_figures plain;
	bool barred;
};

struct cpl_decision {
	int n_nodes;
	int *node;      /* [n_nodes] in rank order */
	int *rank_host; /* [ranks] index into node; NULL: in blocks */
	bool mapped;    /* that is the mapper's order, or none reaches the job:
	                 * nothing is left to map */
	int chosen;     /* index into candidate */
	int best;       /* the same by the objective alone, see keep */
	double price;   /* how much worse chosen is than that, by the objective's
	                 * first number, in parts of it */
	int n_candidates;
	struct cpl_candidate *candidate;
	struct cpl_repaired repaired;
	bool cut_short; /* the budget ended the search */
};

/*
 * Fills *out (free with cpl_decision_free). 0, or -1 with err: unknown policy,
 * units that the network does not have, too few free nodes, required node not
 * free, ranks that do not fit n_nodes_wanted * ranks_per_node, a mapper that
 * cannot do the job, memory. O(candidates * (policy + evaluation) + mapping of
 * some).
 */
int cpl_decide(const struct cpl_decide_request *req, struct cpl_decision *out,
               struct cpl_error *err);

/*
 * Which ranks share a host: the same for all decisions with this comm, graph,
 * ranks_per_node and n_nodes_wanted, for callers that keep it. 0, to be freed
 * by cpl_rank_groups_free, or -1 with err (memory). O(entries * log(ranks)).
 */
int cpl_decide_groups(const struct cpl_decide_request *req,
                      struct cpl_rank_groups *out, struct cpl_error *err);
/* The same of blocks of ranks. O(entries). */
int cpl_decide_blocks(const struct cpl_decide_request *req,
                      struct cpl_rank_groups *out, struct cpl_error *err);
void cpl_decision_free(struct cpl_decision *decision);

/* The number for "interference", with the slowdown against `reference`. */
static inline double
cpl_candidate_interference(const struct cpl_decide_request *req,
                           const struct cpl_candidate *c, double reference)
{
	double own = reference > 0 ? c->times.seconds / reference : 1;

	return req->wish.own_weight * own + req->wish.others_weight * c->harm;
}

/* Is a job of such traffic on so many nodes no larger than CPL_DECIDE_TIMED? */
bool cpl_decide_is_timed(const struct cpl_comm *comm, int nodes);

/* Do seconds of candidates count, and not only as a part of "interference" and
 * its like? */
static inline bool cpl_decide_by_times(const struct cpl_decide_request *req)
{
	return req->phase && !cpl_objective_of_whole(req->wish.objective) &&
	       cpl_decide_is_timed(req->comm, req->place.n_nodes_wanted);
}

/* What candidates of a decision are compared by first, by its objective: with
 * figures of the candidate, in blocks or with its rank order. */
double cpl_candidate_objective(const struct cpl_decide_request *req,
                               const struct cpl_decision *decision,
                               const struct cpl_candidate *c,
                               const struct cpl_figures *figures);

/* Seconds of the job alone on the candidate that has fewest: slowdowns are
 * against these. 0: none has times, or nothing is sent. */
double cpl_decision_reference(const struct cpl_decision *decision);

/* Does the default mapper judge candidates, as itself or in place of this
 * one? */
bool cpl_decide_by_quick(const struct cpl_mapper *mapper, int ranks,
                         int n_hosts);

/* The decision where the nodes are given: they are the one candidate, and ranks
 * are mapped to them like to others. As cpl_decide. */
int cpl_decide_given(const struct cpl_decide_request *req, const int *node,
                     struct cpl_decision *out, struct cpl_error *err);

/* The candidate of given nodes, for baselines ("what stock Slurm would have
 * chosen"). 0, or -1 with err. */
int cpl_decide_evaluate(const struct cpl_decide_request *req, const int *node,
                        struct cpl_candidate *out, struct cpl_error *err);

/* What it comes to in blocks. */
static inline struct cpl_figures
cpl_candidate_in_blocks(const struct cpl_candidate *c)
{
	return (struct cpl_figures){c->metrics, c->sums, c->rail};
}

/* The figures by which a candidate is chosen: with its rank order, if it was
 * judged so. */
static inline void cpl_candidate_figures(const struct cpl_candidate *c,
                                         struct cpl_figures *out)
{
	*out = c->is_mapped ? c->mapped : cpl_candidate_in_blocks(c);
}
