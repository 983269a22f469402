/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit/benefit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/logarithm.h"
#include "base/sort.h"
#include "benefit/sequence.h"

/* Halves differ where chance alone would do it once in 370 trials. */
#define DRIFT_DEVIATIONS 3.0

static const char *const verdicts[] = {"unknown", "better", "worse"};

const char *cpl_gain_verdict_name(enum cpl_gain_verdict verdict)
{
	return verdicts[verdict];
}

/* Of an effect on logarithms. */
static double gain_of(enum cpl_measure measure, double effect)
{
	return measure == CPL_MEASURE_MERIT ? cpl_exp_less_one(effect) : -cpl_exp_less_one(effect);
}

/* Strata that are taken together: n of them, in any order. */
struct taken {
	const struct cpl_stratum *const *stratum;
	int64_t n;
	enum cpl_measure measure;
};

static const struct cpl_comparison *at(const struct taken *t, int64_t i)
{
	return &t->stratum[i]->measure[t->measure];
}

/* Without a spread: strata by how many jobs of both arms they have. */
static void set_plain(const struct taken *t, struct cpl_gain *out)
{
	double sum = 0, weights = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct cpl_comparison *c = at(t, i);
		double all = (double)(c->n[0] + c->n[1]), weight;

		if (!c->n[0] || !c->n[1])
			continue;
		weight = (double)c->n[0] * (double)c->n[1] / all;
		sum += weight * c->effect;
		weights += weight;
	}
	out->known = weights > 0;
	if (out->known)
		out->effect = sum / weights;
}

/* The variance between strata. What their own variances explain of the
 * differences is more where these are estimated from few jobs. */
static double between(const struct taken *t)
{
	double w1 = 0, w2 = 0, sum = 0, q = 0, expected = 0, mean;

	for (int64_t i = 0; i < t->n; i++) {
		const struct cpl_comparison *c = at(t, i);

		if (!(c->df > 0))
			continue;
		w1 += 1 / c->variance;
		w2 += 1 / (c->variance * c->variance);
		sum += c->effect / c->variance;
	}
	mean = sum / w1;
	for (int64_t i = 0; i < t->n; i++) {
		const struct cpl_comparison *c = at(t, i);
		double away = c->effect - mean;

		if (!(c->df > 0))
			continue;
		q += away * away / c->variance;
		expected += c->df / (c->df - 2) * (1 - 1 / c->variance / w1);
	}
	return w1 > w2 / w1 ? fmax(0, (q - expected) / (w1 - w2 / w1)) : 0;
}

/* The hierarchical mean of strata with a spread; its df in the end, or 0. */
static double set_weighted(const struct taken *t, struct cpl_gain *out)
{
	double tau2 = between(t), weights = 0, sum = 0, variance = 0;
	double unsure = 0, by_df = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct cpl_comparison *c = at(t, i);
		double weight = 1 / (c->variance + tau2);

		if (!(c->df > 0))
			continue;
		weights += weight;
		sum += weight * c->effect;
		variance += weight * weight * c->variance;
	}
	if (!(weights > 0))
		return 0;
	for (int64_t i = 0; i < t->n; i++) {
		const struct cpl_comparison *c = at(t, i);
		double weight = 1 / (c->variance + tau2), share, of_all;

		if (!(c->df > 0))
			continue;
		share = weight / weights;
		of_all = weight * weight * c->variance / variance;
		unsure += 4 / c->df * share * (1 - share) *
		          (weight * c->variance);
		by_df += of_all * of_all / c->df;
	}
	out->known = true;
	out->effect = sum / weights;
	out->between = sqrt(tau2);
	out->precision = weights * weights / variance / (1 + unsure);
	return 1 / by_df;
}

static void set_interval(enum cpl_measure measure, double radius,
                         struct cpl_gain *out)
{
	double a = gain_of(measure, out->effect - radius);
	double b = gain_of(measure, out->effect + radius);

	out->low = fmin(a, b);
	out->high = fmax(a, b);
	out->bounded = isfinite(out->low) && isfinite(out->high);
	if (out->bounded && out->low > 0)
		out->verdict = CPL_GAIN_BETTER;
	else if (out->bounded && out->high < 0)
		out->verdict = CPL_GAIN_WORSE;
}

/* wanted: the precision at which `more` ends. */
static struct cpl_gain combine(const struct taken *t, double wanted,
                               double alpha)
{
	struct cpl_gain out = {.more = -1};
	double df = set_weighted(t, &out), jobs = 0;

	if (!(df > 0))
		set_plain(t, &out);
	if (!out.known)
		return out;
	out.gain = gain_of(t->measure, out.effect);
	if (!(df > 0))
		return out;
	set_interval(t->measure, cpl_sequence_radius(out.precision, df, alpha),
	             &out);
	for (int64_t i = 0; i < t->n; i++)
		jobs += (double)(at(t, i)->n[0] + at(t, i)->n[1]);
	out.more = fmax(0, ceil(jobs * (wanted / out.precision - 1)));
	return out;
}

/* Deviations in strata, by their jobs. */
static void set_spread(struct cpl_benefit_pool *pool,
                       const struct cpl_stratum *const *stratum, int64_t n)
{
	for (int a = 0; a < CPL_ARMS; a++) {
		double sum = 0, jobs = 0;

		for (int64_t i = 0; i < n; i++) {
			const struct cpl_comparison *c =
			        &stratum[i]->measure[CPL_MEASURE_SECONDS];

			if (c->n[a] < 2)
				continue;
			sum += (double)(c->n[a] - 1) * c->deviation[a] *
			       c->deviation[a];
			jobs += (double)(c->n[a] - 1);
		}
		pool->spread[a] = jobs > 0 ? sqrt(sum / jobs) : 0;
	}
}

static void set_pool(struct cpl_benefit_pool *pool,
                     const struct cpl_stratum *const *stratum, int64_t n,
                     double wanted)
{
	double predicted = 0, n_predicted = 0;

	for (int64_t i = 0; i < n; i++) {
		for (int a = 0; a < CPL_ARMS; a++)
			pool->jobs[a] += stratum[i]->jobs[a];
		pool->clipped +=
		        stratum[i]->measure[CPL_MEASURE_SECONDS].clipped;
		pool->node_seconds += stratum[i]->node_seconds;
		predicted += stratum[i]->predicted;
		n_predicted += (double)stratum[i]->n_predicted;
	}
	pool->has_predicted = n_predicted > 0;
	if (pool->has_predicted)
		pool->predicted = predicted / n_predicted;
	set_spread(pool, stratum, n);
	for (int m = 0; m < CPL_MEASURES; m++) {
		const struct taken t = {stratum, n, (enum cpl_measure)m};

		pool->measure[m] = combine(&t, wanted, CPL_BENEFIT_ALPHA);
	}
}

/* Do they belong to one pool? */
typedef bool same_pool(const struct cpl_stratum *a, const struct cpl_stratum *b);

static bool same_profile(const struct cpl_stratum *a,
                         const struct cpl_stratum *b)
{
	return !strcmp(a->profile, b->profile);
}

static bool same_group(const struct cpl_stratum *a, const struct cpl_stratum *b)
{
	return same_profile(a, b) && a->ranks == b->ranks;
}

static bool same_partition(const struct cpl_stratum *a,
                           const struct cpl_stratum *b)
{
	return !strcmp(a->partition, b->partition);
}

/* A pool for each run of strata that belong together. */
static int make_pools(const struct cpl_stratum *const *stratum, int64_t n,
                      same_pool *same, double wanted,
                      struct cpl_benefit_pool **pool, int64_t *n_pools,
                      struct cpl_error *err)
{
	int64_t end;

	for (int64_t i = 0; i < n; i = end) {
		const struct cpl_stratum *first = stratum[i];
		struct cpl_benefit_pool *new;

		for (end = i + 1; end < n && same(first, stratum[end]);)
			end++;
		if (cpl_array_grow(pool, *n_pools, sizeof(**pool), err))
			return -1;
		new = &(*pool)[(*n_pools)++];
		*new = (struct cpl_benefit_pool){0};
		if (same == same_partition)
			new->partition = first->partition;
		else
			new->profile = first->profile;
		if (same == same_group)
			new->ranks = first->ranks;
		set_pool(new, &stratum[i], end - i, wanted);
	}
	return 0;
}

/* Profiles that are worse in intervals wide enough for all of them at once. */
static void set_stops(struct cpl_benefit *b,
                      const struct cpl_stratum *const *stratum, int64_t n)
{
	double alpha = CPL_BENEFIT_ALPHA / (double)b->n_profiles;
	int64_t end;

	for (int64_t i = 0, p = 0; i < n; i = end, p++) {
		struct taken t = {&stratum[i], 0, CPL_MEASURE_SECONDS};

		for (end = i + 1; end < n && same_profile(stratum[i],
		                                          stratum[end]);)
			end++;
		t.n = end - i;
		b->profile[p].stop =
		        combine(&t, 0, alpha).verdict == CPL_GAIN_WORSE;
	}
}

static CPL_SORT_BY(by_partition, struct cpl_stratum *,
                   CPL_ORDER(strcmp((*x)->partition, (*y)->partition)),
                   CPL_KEY(*x, *y))

/* Groups by the predicted and the measured logarithm of their gain; a line
 * through 0, weighted by what is known of the latter. */
static void calibrate(struct cpl_benefit *b)
{
	double xx = 0, xy = 0;

	for (int64_t i = 0; i < b->n_groups; i++) {
		const struct cpl_benefit_pool *g = &b->group[i];
		const struct cpl_gain *m = &g->measure[CPL_MEASURE_SECONDS];
		double x;

		if (!g->has_predicted || !(m->precision > 0))
			continue;
		x = cpl_log_natural(1 - g->predicted);
		xx += m->precision * x * x;
		xy += m->precision * x * m->effect;
		b->n_calibrated++;
	}
	if (!(xx > 0)) {
		b->n_calibrated = 0;
		return;
	}
	b->slope = xy / xx;
	b->slope_error = 1 / sqrt(xx);
}

static CPL_SORT_BY(by_time, struct cpl_trial_job, CPL_UP(time))

/* All strata of n jobs, and pointers to them for qsort. -1: memory. */
static int point(const struct cpl_strata *strata,
                 const struct cpl_stratum ***out, struct cpl_error *err)
{
	*out = malloc(((size_t)strata->n + 1) * sizeof(**out));
	if (!*out)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < strata->n; i++)
		(*out)[i] = &strata->stratum[i];
	return 0;
}

static int make_half(struct cpl_gain *out, struct cpl_trial_job *job, int64_t n,
                     double wanted, struct cpl_error *err)
{
	const struct cpl_stratum **pointer = NULL;
	struct cpl_strata strata;
	int rc = cpl_strata_make(&strata, job, n, err);

	if (!rc)
		rc = point(&strata, &pointer, err);
	if (!rc) {
		const struct taken t = {pointer, strata.n, CPL_MEASURE_SECONDS};

		*out = combine(&t, wanted, CPL_BENEFIT_ALPHA);
	}
	cpl_free_all(pointer, strata.stratum);
	return rc;
}

static bool is_by_time(const struct cpl_trial_jobs *jobs)
{
	for (int64_t i = 1; i < jobs->n; i++)
		if (jobs->job[i].time < jobs->job[i - 1].time)
			return false;
	return true;
}

static int make_halves(struct cpl_benefit *b, struct cpl_trial_jobs *jobs,
                       double wanted, struct cpl_error *err)
{
	const struct cpl_gain *h = b->half;
	int64_t middle = jobs->n / 2;

	if (!is_by_time(jobs))
		qsort(jobs->job, (size_t)jobs->n, sizeof(*jobs->job), by_time);
	if (make_half(&b->half[0], jobs->job, middle, wanted, err) ||
	    make_half(&b->half[1], jobs->job + middle, jobs->n - middle, wanted,
	              err))
		return -1;
	if (h[0].precision > 0 && h[1].precision > 0)
		b->drifts = fabs(h[0].effect - h[1].effect) >
		            DRIFT_DEVIATIONS * sqrt(1 / h[0].precision +
		                                    1 / h[1].precision);
	return 0;
}

static int make_all(struct cpl_benefit *b, const struct cpl_stratum **pointer,
                    int64_t n, double wanted, struct cpl_error *err)
{
	set_pool(&b->overall, pointer, n, wanted);
	if (make_pools(pointer, n, same_group, wanted, &b->group, &b->n_groups,
	               err) ||
	    make_pools(pointer, n, same_profile, wanted, &b->profile,
	               &b->n_profiles, err))
		return -1;
	set_stops(b, pointer, n);
	calibrate(b);
	qsort(pointer, (size_t)n, sizeof(*pointer), by_partition);
	if (make_pools(pointer, n, same_partition, wanted, &b->partition,
	               &b->n_partitions, err))
		return -1;
	b->has_partitions = b->n_partitions > 1 ||
	                    (b->n_partitions && *b->partition[0].partition);
	return 0;
}

int cpl_benefit_make(struct cpl_benefit *out, struct cpl_trial_jobs *jobs,
                     double effect, struct cpl_error *err)
{
	const struct cpl_stratum **pointer = NULL;
	struct cpl_strata strata;
	double wanted;
	int rc;

	*out = (struct cpl_benefit){0};
	wanted = cpl_sequence_precision(-cpl_log_natural(1 - effect), CPL_BENEFIT_ALPHA);
	if (make_halves(out, jobs, wanted, err))
		return -1;
	rc = cpl_strata_make(&strata, jobs->job, jobs->n, err);
	if (!rc)
		out->beside = cpl_benefit_beside(jobs->job, jobs->n);
	if (!rc)
		rc = point(&strata, &pointer, err);
	if (!rc && strata.n)
		rc = make_all(out, pointer, strata.n, wanted, err);
	cpl_free_all(pointer, strata.stratum);
	return rc;
}

void cpl_benefit_free(struct cpl_benefit *benefit)
{
	cpl_free_all(benefit->group, benefit->profile, benefit->partition);
	*benefit = (struct cpl_benefit){0};
}

struct cpl_trial_plan cpl_benefit_plan(double effect, double share,
                                       double spread, double node_hours)
{
	double wanted = cpl_sequence_precision(-cpl_log_natural(1 - effect),
	                                       CPL_BENEFIT_ALPHA);
	struct cpl_trial_plan plan = {0};

	plan.jobs = ceil(wanted * spread * spread / (share * (1 - share)));
	plan.cost = plan.jobs * share * node_hours * effect;
	plan.node_hours =
	        plan.jobs * node_hours * (share + (1 - share) * (1 - effect));
	return plan;
}
