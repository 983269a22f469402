/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a job on a placement may tell its time: the figures of Jain 2016,
 * chapter 4 (Table 4.2), without a machine's counters. AO: over those above the
 * mean of all; TO: over the largest twentieth.
 */
#ifndef CPL_LEARN_FEATURES_H
#define CPL_LEARN_FEATURES_H

#include <stdbool.h>

#include "traffic/times.h"
#include "traffic/traffic.h"

/* Five figures of n values. */
struct cpl_feature_five {
	double mean, mean_ao, mean_to, max;
	double n_ao; /* how many are above the mean */
};

/* 0, or -1 with err (memory). O(n log n). */
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
	CPL_FEATURE_DEVIATION,  /* and their standard deviation */
	CPL_FEATURE_NODE_MAX,   /* seconds of the busiest link of a node */
	CPL_FEATURE_MODEL,      /* seconds of cpl_times: max-min shares */
	CPL_FEATURES
};

/* "hops", "hops_ao", ...: heads of columns. */
extern const char *const cpl_feature_name[CPL_FEATURES];

/* A job where it is: rank r on node[rank_host[r]], or where rank_host is NULL
 * on node[r / ranks_per_node]. */
struct cpl_feature_job {
	const struct cpl_network *net;
	const struct cpl_routing *routing; /* by flow */
	const struct cpl_comm *comm;       /* of the whole run */
	const struct cpl_phase *phase;     /* its phases, for cpl_times */
	int n_phases, ranks_per_node;
	const int *node, *rank_host;
	/* Bytes of others meanwhile, NULL: none. Or all bytes, with the job's,
	 * which are then not made anew. */
	const struct cpl_load *background, *total;
	/* The seconds of cpl_times are known already: those. */
	bool judged;
	double seconds;
};

/* 0, or -1 with err (memory). O(links + used links * log + pairs * log pairs).
 */
int cpl_features(const struct cpl_feature_job *job, double value[CPL_FEATURES],
                 struct cpl_error *err);

#endif
