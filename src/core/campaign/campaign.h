/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job log played on a network under placement policies. Jobs come when the
 * log says, wait as easy.h says, are placed by the core that slurmctld uses
 * (cpl_decide, with what the running jobs send as background, and cpl_map), and
 * run as long as the log says, stretched by what the traffic model predicts:
 * the share of the run time that is communication grows with the time that
 * communication takes here, among the jobs that run meanwhile, over its
 * reference. The running jobs are judged anew at each start and end.
 *
 * The same input gives the same results, to the bit, whatever the number of
 * threads; decision times are the exception.
 */
/* Tests: choose kind* policies in test_campaign_kinds; easy patterns stock
 * study in test_campaign; jobs log in test_campaign_log; running summary in
 * test_campaign_parts. */
#ifndef CPL_CAMPAIGN_CAMPAIGN_H
#define CPL_CAMPAIGN_CAMPAIGN_H

#include <stdbool.h>

#include "campaign/jobs.h"
#include "campaign/log.h"
#include "campaign/stock.h"
#include "network/network.h"
#include "placement/wish.h"
#include "routing/routing.h"
#include "signature/signature.h"

/* Of each job what the site's rules say of it. */
#define CPL_CAMPAIGN_SITE "site"

/* Is it the name of a policy: one of campaigns alone (flat, tree, tree-rank,
 * greedy, balanced, adaptive, site) or of placement/, perhaps with "+MAPPER" or
 * "+mapping" behind it, which site has not? 0, or -1 with err. */
int cpl_campaign_policy_check(const struct cpl_network *net, const char *name,
                              struct cpl_error *err);

#define CPL_CAMPAIGN_KEPT (UINT64_C(512) << 20)

/* What jobs are stretched by. */
enum cpl_campaign_model {
	CPL_CAMPAIGN_TIMES, /* traffic/times.h */
	CPL_CAMPAIGN_STUDY, /* the study's cost at the start, stock.h */
};

/* What the log's run times are those of. */
enum cpl_campaign_reference {
	/* The job alone on the empty machine, on the best of auto's sets by
	 * three objectives, with ranks in blocks: the policies differ from it by
	 * what they and the others cost, and by what they find that is better.
	 */
	CPL_CAMPAIGN_ALONE,
	/* The first policy: its jobs run as long as the log says. */
	CPL_CAMPAIGN_FIRST,
};

/* What a site's rules say of one job. */
struct cpl_campaign_rule {
	struct cpl_wish wish;
	bool stock; /* its nodes are the stock ones */
	/* The most free nodes with which stock nodes are judged, too, where the
	 * policy searches. */
	int compare_nodes;
	long work; /* of a decision, as of cpl_decide_request; 0: any */
};

struct cpl_campaign {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_log *log;
	const struct cpl_jobs *jobs;
	/* [jobs->n_rules] of rules that name one, else NULL. */
	struct cpl_signature *const *signature;
	/* What jobs are to get: its mapper is what "+mapping" means, and the
	 * policy that which is played. */
	struct cpl_wish wish;
	bool stock_is_tree;  /* jobs without traffic, of our policies: as tree,
	                      * not flat */
	bool backfill;
	enum cpl_campaign_model model;
	enum cpl_study_pattern study; /* of the model, and of adaptive */
	enum cpl_campaign_reference reference; /* of STUDY: FIRST */
	uint64_t seed;
	/* What policy "site" gives a job of the log; from any thread. NULL: there
	 * is no such policy. */
	void (*rule)(void *arg, const struct cpl_log_job *job,
	             struct cpl_campaign_rule *out);
	void *rule_arg;
	int threads;     /* policies at a time */
	/* What kinds of jobs send is made anew for who wants it where all of it
	 * takes more bytes of memory; 0: CPL_CAMPAIGN_KEPT. Results are the
	 * same. */
	uint64_t kept;
	bool keep_nodes; /* in results */
	/* Optional: after each start, from any thread. `of` starts in all. */
	void (*progress)(void *arg, int64_t done, int64_t of);
	void *progress_arg;
};

struct cpl_campaign_job {
	double start, end;     /* seconds; -1: larger than the machine */
	double communication;  /* seconds of end - start */
	double slowdown;       /* communication over its reference, mean over
	                        * the run; 1 of a job that sends nothing */
	double cost;           /* the study's, by its pattern; 0: none */
	double interference;   /* what its start adds to the run times of the
	                        * jobs that run, each in parts of itself */
	double decision;       /* seconds of this machine */
	int *node;             /* [nodes] in rank order, or NULL */
};

/* A time between two events. */
struct cpl_campaign_span {
	double seconds;
	double busiest;    /* utilisation of the busiest link */
	double used;       /* nodes that run jobs, of all */
	double fragmented; /* free nodes on leaf switches that others have
	                    * nodes of, of the free nodes; 0 of none */
};

struct cpl_campaign_result {
	const char *policy; /* as asked */
	struct cpl_campaign_job *job; /* [log->n_jobs] */
	struct cpl_campaign_span *span;
	int n_spans;
	/* Of the map: the same for all policies. */
	int too_large;   /* jobs larger than the machine */
	int other_ranks; /* jobs whose signature is for other ranks */
};

/*
 * Play the log under each of n policies, out[i] of policy[i], to be freed with
 * cpl_campaign_free in either case. 0, or -1 with err: an unknown policy; a job
 * without a share; memory. O(jobs * (decision + running jobs * their links)) a
 * policy.
 */
int cpl_campaign_run(const struct cpl_campaign *campaign,
                     const char *const *policy, int n,
                     struct cpl_campaign_result *out, struct cpl_error *err);
void cpl_campaign_free(struct cpl_campaign_result *result, int n_jobs);

#endif
