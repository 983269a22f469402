/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit/benefit.h"

#include <math.h>

#include "base/logarithm.h"
#include "benefit/sequence.h"

/* With fewer jobs an arm of a stratum tells nothing of a slope. */
#define LEAST_JOBS 10

/* Sums over an arm of a stratum: x is `beside`, y the log seconds. */
struct line {
	double n, x, y, xx, xy, yy;
};

static bool has_both(const struct cpl_trial_job *job)
{
	return isfinite(job->beside) && job->value[CPL_MEASURE_SECONDS] > 0;
}

/* Means first, so that what is left of the squares is no difference of large
 * numbers. */
static struct line line_of(const struct cpl_trial_job *job, int64_t n,
                           enum cpl_arm arm)
{
	struct line l = {0};
	double x = 0, y = 0;

	for (int64_t i = 0; i < n; i++) {
		if (job[i].arm != arm || !has_both(&job[i]))
			continue;
		l.n++;
		x += job[i].beside;
		y += cpl_log_natural(job[i].value[CPL_MEASURE_SECONDS]);
	}
	if (l.n < LEAST_JOBS)
		return (struct line){0};
	l.x = x / l.n;
	l.y = y / l.n;
	for (int64_t i = 0; i < n; i++) {
		double dx, dy;

		if (job[i].arm != arm || !has_both(&job[i]))
			continue;
		dx = job[i].beside - l.x;
		dy = cpl_log_natural(job[i].value[CPL_MEASURE_SECONDS]) - l.y;
		l.xx += dx * dx;
		l.xy += dx * dy;
		l.yy += dy * dy;
	}
	return l;
}

struct cpl_gain cpl_benefit_beside(const struct cpl_trial_job *job, int64_t n)
{
	struct cpl_gain out = {.more = -1};
	double weights = 0, sum = 0, df = 0, radius;
	int64_t end;

	for (int64_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && cpl_trial_jobs_alike(&job[i],
		                                                  &job[end]);)
			end++;
		for (int a = 0; a < CPL_ARMS; a++) {
			struct line l =
			        line_of(&job[i], end - i, (enum cpl_arm)a);
			double s2 = l.xx > 0 ? (l.yy - l.xy * l.xy / l.xx) /
			                               (l.n - 2)
			                     : 0;

			if (!(s2 > 1e-12))
				continue;
			weights += l.xx / s2;
			sum += l.xy / s2;
			df += l.n - 2;
		}
	}
	if (!(weights > 0))
		return out;
	out.known = true;
	out.effect = sum / weights;
	out.precision = weights;
	out.gain = -cpl_exp_less_one(out.effect);
	radius = cpl_sequence_radius(weights, df, CPL_BENEFIT_ALPHA);
	out.low = -cpl_exp_less_one(out.effect + radius);
	out.high = -cpl_exp_less_one(out.effect - radius);
	out.bounded = isfinite(out.low) && isfinite(out.high);
	if (out.bounded && out.low > 0)
		out.verdict = CPL_GAIN_BETTER;
	else if (out.bounded && out.high < 0)
		out.verdict = CPL_GAIN_WORSE;
	return out;
}
