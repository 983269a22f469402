/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the results of a campaign come to. */
#ifndef CPL_CAMPAIGN_SUMMARY_H
#define CPL_CAMPAIGN_SUMMARY_H

#include "campaign/campaign.h"

/* Jobs that run less count as running so long in bounded slowdowns (Feitelson
 * 2001), seconds. */
#define CPL_CAMPAIGN_BOUND 10.0

/* Of values, by their weights: the smallest that so much of the weight is not
 * above. */
struct cpl_campaign_spread {
	double mean, median, q95, max;
};

struct cpl_campaign_summary {
	int jobs, sending; /* that ran; that send anything */
	struct cpl_campaign_spread wait; /* seconds */
	/* (wait + run time here) / (run time of the log). */
	struct cpl_campaign_spread bounded_slowdown;
	double makespan;    /* seconds from the first submission */
	double utilisation; /* node-seconds used, of all until makespan */
	double useful;      /* the same of the log's run times */
	double run;         /* sum of run times, seconds */
	double node_seconds;
	double communication; /* sum of it, seconds */
	/* Geometric mean over jobs of their communication here over that under
	 * the first policy; of the mean slowdowns. */
	double communication_ratio, slowdown;
	double cost;                        /* the study's, sum */
	double interference;                /* mean over starts */
	struct cpl_campaign_spread busiest; /* over time, utilisation */
	double fragmented;                  /* mean over time */
	struct cpl_campaign_spread decision; /* seconds */
};

/* Jobs of one class of the map under a policy, and under the first. */
struct cpl_campaign_class {
	const char *name;
	int jobs, sending;
	double run_ratio; /* sum of run times over the first's */
	double communication_ratio; /* as above; 1 where nothing is sent */
	double wait;      /* mean */
};

/* 0, or -1 with err (memory). O(jobs log jobs). */
int cpl_campaign_summarise(const struct cpl_campaign *campaign,
                           const struct cpl_campaign_result *result,
                           const struct cpl_campaign_result *first,
                           struct cpl_campaign_summary *out,
                           struct cpl_error *err);

/* The classes in the order of the map, jobs of no rule last; *n of them, to
 * free(). NULL with err (memory). O(jobs * rules). */
struct cpl_campaign_class *
cpl_campaign_classes(const struct cpl_campaign *campaign,
                     const struct cpl_campaign_result *result,
                     const struct cpl_campaign_result *first, int *n,
                     struct cpl_error *err);

#endif
