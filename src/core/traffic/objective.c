/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/objective.h"

#include <math.h>
#include <strings.h>

/* Numbers closer than this, relative to the larger, count as equal: the sums
 * behind them may differ in their last bits. */
#define SAME 1e-9

#define N_FIRST 4

/* Which numbers of layouts come first. */
enum { NONE, MAX, JOB, MEAN, HOP_BYTES, BUSIEST, SECONDS, N_NUMBERS };

static const struct {
	const char *name;
	int first[N_FIRST];
} table[] = {
        [CPL_OBJECTIVE_MAX] = {"max-congestion", {MAX, JOB, MEAN, HOP_BYTES}},
        [CPL_OBJECTIVE_MEAN] = {"mean-congestion", {MEAN, MAX, HOP_BYTES}},
        [CPL_OBJECTIVE_HOP_BYTES] = {"hop-bytes", {HOP_BYTES, MAX, MEAN}},
        [CPL_OBJECTIVE_BUSIEST] = {"busiest", {BUSIEST, MAX, HOP_BYTES}},
        [CPL_OBJECTIVE_TIME] = {"time", {SECONDS, MEAN, HOP_BYTES}},
        [CPL_OBJECTIVE_INTERFERENCE] = {"interference",
                                        {SECONDS, MEAN, HOP_BYTES}},
        [CPL_OBJECTIVE_ISOLATION] = {"isolation", {SECONDS, MEAN, HOP_BYTES}},
        [CPL_OBJECTIVE_LEARNED] = {"learned", {SECONDS, MEAN, HOP_BYTES}},
        [CPL_OBJECTIVE_AUTO] = {"auto", {MAX, JOB, MEAN, HOP_BYTES}},
};
#define N_OBJECTIVES ((int)(sizeof(table) / sizeof(*table)))

int cpl_objective_parse(const char *name, enum cpl_objective *out,
                        struct cpl_error *err)
{
	for (int i = 0; i < N_OBJECTIVES; i++) {
		if (!strcasecmp(name, table[i].name)) {
			*out = (enum cpl_objective)i;
			return 0;
		}
	}
	return cpl_fail(
	        err,
	        "unknown objective '%.64s'; it must be one of max-congestion, "
	        "mean-congestion, hop-bytes, busiest, time, interference, "
	        "isolation, learned, auto",
	        name);
}

enum cpl_objective cpl_objective_for(enum cpl_objective objective,
                                     const struct cpl_routing *stated)
{
	if (objective != CPL_OBJECTIVE_AUTO)
		return objective;
	return stated && ((stated->send && !stated->chooses) ||
	                  stated->flags & CPL_ROUTING_PROGRESSIVE)
	               ? CPL_OBJECTIVE_TIME
	               : CPL_OBJECTIVE_MAX;
}

const char *cpl_objective_name(enum cpl_objective objective)
{
	return table[objective].name;
}

/* -1: a is smaller (better), 1: larger, 0: the same. */
static int compare(double a, double b)
{
	if (fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)))
		return 0;
	return a < b ? -1 : 1;
}

/* Where both know it. */
static int compare_job(const struct cpl_metrics *a, const struct cpl_metrics *b)
{
	if (!(a->job_congestion > 0) || !(b->job_congestion > 0))
		return 0;
	return compare(a->job_congestion, b->job_congestion);
}

static double busiest(const struct cpl_metrics *metrics)
{
	return fmax(metrics->max_congestion, metrics->max_injection);
}

bool cpl_objective_better(enum cpl_objective objective,
                          const struct cpl_metrics *a, double a_hop_bytes,
                          const struct cpl_metrics *b, double b_hop_bytes)
{
	const int *first = table[objective].first;
	int order[N_NUMBERS] = {
	        [MAX] = compare(a->max_congestion, b->max_congestion),
	        [JOB] = compare_job(a, b),
	        [MEAN] = compare(a->mean_congestion, b->mean_congestion),
	        [HOP_BYTES] = compare(a_hop_bytes, b_hop_bytes),
	        [BUSIEST] = compare(busiest(a), busiest(b)),
	        [SECONDS] = compare(a->seconds, b->seconds)};

	for (int i = 0; i < N_FIRST; i++)
		if (order[first[i]])
			return order[first[i]] < 0;
	return false;
}

double cpl_objective_first(enum cpl_objective objective,
                           const struct cpl_metrics *metrics, double hop_bytes)
{
	const double number[N_NUMBERS] = {
	        [MAX] = metrics->max_congestion,
	        [JOB] = metrics->job_congestion,
	        [MEAN] = metrics->mean_congestion,
	        [HOP_BYTES] = hop_bytes,
	        [BUSIEST] = busiest(metrics),
	        [SECONDS] = metrics->seconds};

	return number[table[objective].first[0]];
}

int cpl_objective_compare(double a, double b)
{
	return compare(a, b);
}
