/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These figures of a job on a placement may tell its time. They are those of Jain
 * 2016, chapter 4 (Table 4.2), without a machine's counters. AO means over those
 * above the mean of all; TO means over the largest twentieth. */
#pragma once

#include <stdbool.h>

#include "traffic/times.h"
#include "traffic/traffic.h"

/* These are five figures of n values. */
struct cpl_feature_five {
	double mean, mean_ao, mean_to, max;
	double n_ao; /* how many are above the mean */
};

/* This returns 0, or -1 with err when memory is out. It costs O(n log n). */
int cpl_feature_five(const double *value, int64_t n,
                     struct cpl_feature_five *out, struct cpl_error *err);

enum cpl_feature {
	CPL_FEATURE_HOPS,       /* mean of all bytes */
	CPL_FEATURE_HOPS_AO,    /* of pairs of ranks */
	CPL_FEATURE_HOPS_MAX,   /* the same */
	CPL_FEATURE_HOPS_SUM,   /* the same: AO, their sum */
	CPL_FEATURE_LINK,       /* seconds that a link's bytes take: mean */
	CPL_FEATURE_LINK_AO,
	CPL_FEATURE_LINK_TO,
	CPL_FEATURE_LINK_MAX,
	CPL_FEATURE_LINKS_AO,   /* how many links */
	CPL_FEATURE_USED,       /* of links that are used: mean */
	CPL_FEATURE_DEVIATION,  /* of links that are used: standard deviation */
	CPL_FEATURE_NODE_MAX,   /* seconds of the busiest link of a node */
	CPL_FEATURE_MODEL,      /* seconds of cpl_times: max-min shares */
	CPL_FEATURE_QUEUES,     /* seconds of cpl_queues_seconds */
	CPL_FEATURES
};

/* The names "hops", "hops_ao", ... are heads of columns. */
extern const char *const cpl_feature_name[CPL_FEATURES];

/* This is a job on its nodes: rank r is on node[rank_host[r]], or if rank_host is
 * NULL on node[r / ranks_per_node]. */
struct cpl_feature_job {
	const struct cpl_network *net;
	const struct cpl_routing *routing; /* by flow */
	const struct cpl_comm *comm;       /* of the whole run */
	const struct cpl_phase *phase;     /* its phases, for cpl_times */
	int n_phases, ranks_per_node;
	const int *node, *rank_host;
	/* These are the bytes of others meanwhile, or NULL for none; or all bytes
	 * with the job's, which then are not computed again. */
	const struct cpl_load *background, *total;
	/* If the seconds of cpl_times are known already, these are they. */
	bool judged;
	double seconds;
};

/* This returns 0, or -1 with err when memory is out. It costs O(links + used links
 * * log + pairs * (log pairs + links of a route)). */
int cpl_features(const struct cpl_feature_job *job, double value[CPL_FEATURES],
                 struct cpl_error *err);

/* These are the most bytes that the nodes of a router send by one of its links, on
 * which their routes begin: what the fullest injection FIFO of a Blue Gene/Q takes,
 * which has one for each direction. No model of a site has it. It returns 0, or -1
 * with err when memory is out. It costs O(links + pairs * links of a route). */
int cpl_feature_first_links(const struct cpl_feature_job *job, double *bytes,
                            struct cpl_error *err);
