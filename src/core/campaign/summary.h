/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This sums up the results of a campaign. */
#pragma once

#include "campaign/campaign.h"

/* Jobs that run for fewer seconds count as running so long in bounded slowdowns
 * (Feitelson 2001). */
#define CPL_CAMPAIGN_BOUND 10.0

/* These are weighted quantiles: the smallest value that so much of the weight does
 * not exceed. */
struct cpl_campaign_spread {
	double mean, median, q95, max;
};

struct cpl_campaign_summary {
	int jobs, sending; /* that ran; that send anything */
	struct cpl_campaign_spread wait; /* seconds */
	/* This is (wait + run time here) / (run time of the log). */
	struct cpl_campaign_spread bounded_slowdown;
	double makespan;    /* seconds from the first submission */
	double utilisation; /* node-seconds used, of all until makespan */
	/* Nodes that run jobs, of all, while jobs wait, until the last submission;
	 * 0: none does. */
	double occupancy;
	int64_t groups, crossed; /* segments, and those that cross a border */
	double useful;      /* the same of the log's run times */
	double run;         /* sum of run times, seconds */
	double node_seconds;
	double communication; /* sum of it, seconds */
	/* These are geometric means over jobs: of their communication here over
	 * that under the first policy, and of the mean slowdowns. */
	double communication_ratio, slowdown;
	double cost;                        /* the study's, sum */
	double interference;                /* mean over starts */
	struct cpl_campaign_spread busiest; /* over time, utilisation */
	double fragmented;                  /* mean over time */
	struct cpl_campaign_spread decision; /* seconds */
};

/* These are the jobs of one class of the map under a policy, and under the first. */
struct cpl_campaign_class {
	const char *name;
	int jobs, sending;
	double run_ratio; /* sum of run times over the first's */
	double communication_ratio; /* as above; 1 where nothing is sent */
	double wait;      /* mean */
};

/* This returns 0, or -1 with err when memory is out. It costs O(jobs log jobs). */
int cpl_campaign_summarise(const struct cpl_campaign *campaign,
                           const struct cpl_campaign_result *result,
                           const struct cpl_campaign_result *first,
                           struct cpl_campaign_summary *out,
                           struct cpl_error *err);

/* This returns the *n classes in the order of the map, with jobs of no rule last,
 * to free(), or NULL with err when memory is out. It costs O(jobs * rules). */
struct cpl_campaign_class *
cpl_campaign_classes(const struct cpl_campaign *campaign,
                     const struct cpl_campaign_result *result,
                     const struct cpl_campaign_result *first, int *n,
                     struct cpl_error *err);
