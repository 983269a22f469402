/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/objective.h"

#include <math.h>
#include <strings.h>

/* Numbers closer than this, relative to the larger, count as equal: the sums
 * behind them may differ in their last bits. */
#define SAME 1e-9

static const char *const name_of[] = {
        [CPL_OBJECTIVE_MAX] = "max-congestion",
        [CPL_OBJECTIVE_MEAN] = "mean-congestion",
        [CPL_OBJECTIVE_HOP_BYTES] = "hop-bytes",
        [CPL_OBJECTIVE_TIME] = "time",
};

int cpl_objective_parse(const char *name, enum cpl_objective *out,
                        struct cpl_error *err)
{
	for (int i = CPL_OBJECTIVE_MAX; i <= CPL_OBJECTIVE_TIME; i++) {
		if (!strcasecmp(name, name_of[i])) {
			*out = (enum cpl_objective)i;
			return 0;
		}
	}
	return cpl_fail(
	        err,
	        "unknown objective '%.64s'; it must be one of max-congestion, "
	        "mean-congestion, hop-bytes, time",
	        name);
}

const char *cpl_objective_name(enum cpl_objective objective)
{
	return name_of[objective];
}

/* -1: a is smaller (better), 1: larger, 0: the same. */
static int compare(double a, double b)
{
	if (fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)))
		return 0;
	return a < b ? -1 : 1;
}

bool cpl_objective_better(enum cpl_objective objective,
                          const struct cpl_metrics *a, double a_hop_bytes,
                          const struct cpl_metrics *b, double b_hop_bytes)
{
	static const int first[][3] = {
	        [CPL_OBJECTIVE_MAX] = {0, 1, 2},
	        [CPL_OBJECTIVE_MEAN] = {1, 0, 2},
	        [CPL_OBJECTIVE_HOP_BYTES] = {2, 0, 1},
	        [CPL_OBJECTIVE_TIME] = {3, 1, 2},
	};
	int order[4] = {compare(a->max_congestion, b->max_congestion),
	                compare(a->mean_congestion, b->mean_congestion),
	                compare(a_hop_bytes, b_hop_bytes),
	                compare(a->seconds, b->seconds)};

	for (int i = 0; i < 3; i++)
		if (order[first[objective][i]])
			return order[first[objective][i]] < 0;
	return false;
}
