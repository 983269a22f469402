/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This plays a job log on a network under placement policies. Jobs come when the
 * log says and wait as easy.h says. They are placed by the core that slurmctld uses
 * (cpl_decide, with what the running jobs send as background, and cpl_map). They
 * run as long as the log says, stretched by what the traffic model predicts: the
 * share of the run time that is communication grows as much as the time that
 * communication takes here, among the running jobs, exceeds its reference. The
 * running jobs are judged anew at each start and end.
 *
 * The same input gives the same results, to the bit, for any number of threads;
 * only decision times differ.
 */
/* Tests: asked bound nodes in test_campaign_bounds; backfill passes in
 * test_campaign_backfill; choose kind* policies in
 * test_campaign_kinds; easy patterns play stock study in test_campaign; jobs log in
 * test_campaign_log; running summary in test_campaign_parts. */
#pragma once

#include <stdbool.h>

#include "campaign/backfill.h"
#include "campaign/jobs.h"
#include "campaign/log.h"
#include "campaign/stock.h"
#include "network/network.h"
#include "placement/wish.h"
#include "routing/routing.h"
#include "signature/signature.h"

/* The site's rules say which policy each job has. */
#define CPL_CAMPAIGN_SITE "site"

/* This checks for the name of a policy: one of campaigns alone (flat, tree,
 * tree-rank, greedy, balanced, adaptive, blind, leftovers, site) or of placement/,
 * perhaps with "+MAPPER" or "+mapping" behind it, which site does not have. It returns
 * 0, or -1 with err. */
int cpl_campaign_policy_check(const struct cpl_network *net, const char *name,
                              struct cpl_error *err);

#define CPL_CAMPAIGN_KEPT (UINT64_C(512) << 20)

/* This model stretches jobs. */
enum cpl_campaign_model {
	CPL_CAMPAIGN_TIMES, /* traffic/times.h */
	CPL_CAMPAIGN_STUDY, /* the study's cost at the start, stock.h */
};

/* The log's run times are those of this reference. */
enum cpl_campaign_reference {
	/* The job is alone on the empty machine, on the best of auto's sets by
	 * three objectives, with ranks in blocks. The policies differ from it by
	 * what they and the others cost, and by better sets that they find. */
	CPL_CAMPAIGN_ALONE,
	/* The jobs of the first policy run as long as the log says. */
	CPL_CAMPAIGN_FIRST,
};

/* This is what a site's rules say of one job. */
struct cpl_campaign_rule {
	struct cpl_wish wish;
	bool stock; /* the job gets the stock nodes */
	/* Where the policy searches, stock nodes are judged, too, with at most so
	 * many free nodes. */
	int compare_nodes;
	long work; /* of a decision, as in cpl_decide_request; 0: any */
};

struct cpl_campaign {
	const struct cpl_network *net;
	const struct cpl_routing *routing;
	const struct cpl_log *log;
	const struct cpl_jobs *jobs;
	/* [jobs->n_rules] has the signatures of rules that name one, else NULL. */
	struct cpl_signature *const *signature;
	/* Jobs get this. Its mapper is what "+mapping" means, and its policy is the
	 * one that is played. */
	struct cpl_wish wish;
	/* Jobs without traffic under our policies are placed as by tree, not flat. */
	bool stock_is_tree;
	bool backfill;
	/* Jobs wait as backfill.h says, instead; NULL: as easy.h does. No job may
	 * ask for anything of its nodes then. */
	const struct cpl_slurm_queue *slurm;
	/* What segments lie in and switches are, as of cut.h; NULL: its auto. */
	const char *units;
	/* Jobs that ask for nothing of their nodes get the segments that their
	 * traffic implies (mapping/segments.h). */
	bool segments;
	enum cpl_campaign_model model;
	enum cpl_study_pattern study; /* of the model, and of adaptive */
	enum cpl_campaign_reference reference; /* of STUDY: FIRST */
	uint64_t seed;
	/* This tells what policy "site" gives a job of the log, from any thread.
	 * NULL means that there is no such policy. */
	void (*rule)(void *arg, const struct cpl_log_job *job,
	             struct cpl_campaign_rule *out);
	void *rule_arg;
	int threads;     /* policies at a time */
	/* If the traffic of all kinds of jobs takes more bytes of memory, it is
	 * made anew when it is needed. 0 means CPL_CAMPAIGN_KEPT. Results are the
	 * same. */
	uint64_t kept;
	bool keep_nodes; /* in results */
	/* This is called after each start, from any thread, unless it is NULL;
	 * there are `of` starts in all. */
	void (*progress)(void *arg, int64_t done, int64_t of);
	void *progress_arg;
};

struct cpl_campaign_job {
	double start, end;     /* seconds; -1: never, see too_large */
	double communication;  /* seconds of end - start */
	/* This is communication over its reference, mean over the run, or 1 for a
	 * job that sends nothing. */
	double slowdown;
	double cost;           /* the study's, by its pattern; 0: none */
	/* This is what its start adds to the run times of the running jobs, each
	 * relative to its own. */
	double interference;
	double decision;       /* seconds on this machine */
	/* Its segments, and those that cross the border of a unit that could hold
	 * them. */
	int groups, crossed;
	int *node;             /* [nodes] in rank order, or NULL */
};

/* This is a time between two events. */
struct cpl_campaign_span {
	double seconds;
	double busiest; /* utilisation of the busiest link */
};

/* These are sums over spans, each weighted by its seconds. */
struct cpl_campaign_sums {
	double passed; /* 1 */
	/* This is of the part of the free nodes that are on leaf switches where other
	 * jobs have nodes; 0 if none is free. */
	double fragmented;
	/* While jobs wait, until the last submission: 1, and the part of the nodes
	 * that run jobs. */
	double waited, used;
};

struct cpl_campaign_result {
	const char *policy; /* as asked for */
	struct cpl_campaign_job *job; /* [log->n_jobs] */
	struct cpl_campaign_span *span;
	int n_spans;
	struct cpl_campaign_sums sums;
	/* These depend on the map, and are the same for all policies. */
	int too_large;   /* jobs that the empty machine has no nodes for */
	bool bounded;    /* some jobs ask for something of their nodes */
	int other_ranks; /* jobs whose signature is for other ranks */
};

/* This plays the log under each of n policies, out[i] for policy[i], to be freed
 * with cpl_campaign_free in either case. It returns 0, or -1 with err: an unknown
 * policy; a job without a share; memory. It costs O(jobs * (decision + running jobs
 * * their links)) for each policy. */
int cpl_campaign_run(const struct cpl_campaign *campaign,
                     const char *const *policy, int n,
                     struct cpl_campaign_result *out, struct cpl_error *err);
void cpl_campaign_free(struct cpl_campaign_result *result, int n_jobs);
