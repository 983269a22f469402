/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit/strata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/logarithm.h"
#include "base/random.h"
#include "base/sort.h"

/* The spread of an arm is drawn to that of both as if by so many jobs. */
#define SHARED 8.0
/* With fewer degrees of freedom a stratum has no spread yet. */
#define LEAST_DF 4
/* A deviation of logarithms below which none is believed: clocks tick. */
#define LEAST_DEVIATION 1e-4

static int text_order(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int by_key(const struct cpl_trial_job *a, const struct cpl_trial_job *b)
{
	int order = text_order(a->profile, b->profile);

	if (!order)
		order = (a->ranks > b->ranks) - (a->ranks < b->ranks);
	if (!order)
		order = text_order(a->partition, b->partition);
	if (!order)
		order = (a->nodes > b->nodes) - (a->nodes < b->nodes);
	return order;
}

bool cpl_trial_jobs_alike(const struct cpl_trial_job *a,
                          const struct cpl_trial_job *b)
{
	return !by_key(a, b);
}

static CPL_SORT_BY(by_order, struct cpl_trial_job, CPL_ORDER(by_key(x, y)),
                   CPL_UP(time), CPL_UP(arm),
                   CPL_ORDER(memcmp(x->value, y->value, sizeof(x->value))))

static bool is_in_order(const struct cpl_trial_job *job, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (by_order(&job[i - 1], &job[i]) > 0)
			return false;
	return true;
}

/* Put the k-th smallest of n values at its place, none larger before it (Hoare's
 * FIND, 1961). Pivots are drawn: no order of the values is a bad one. O(n). */
static double find(double *value, int64_t n, int64_t k)
{
	uint64_t draw = cpl_random_key((uint64_t)n, CPL_STREAM_PIVOTS);
	int64_t low = 0, high = n - 1;

	while (low < high) {
		int64_t i = low, j = high;
		double pivot = value[low + (int64_t)cpl_random_scale(
		                                   cpl_random_next(&draw),
		                                   (uint64_t)(high - low + 1))];

		while (i <= j) {
			while (value[i] < pivot)
				i++;
			while (value[j] > pivot)
				j--;
			if (i <= j) {
				double swap = value[i];

				value[i++] = value[j];
				value[j--] = swap;
			}
		}
		if (k > j)
			low = i <= k ? i : k;
		if (k < i)
			high = j >= k ? j : k;
	}
	return value[k];
}

static double median(double *value, int64_t n)
{
	double upper = find(value, n, n / 2), lower = value[0];

	if (n % 2)
		return upper;
	for (int64_t i = 1; i < n / 2; i++)
		lower = fmax(lower, value[i]);
	return (lower + upper) / 2;
}

/* Logarithms of the arms, one behind the other, and room for as many. */
struct logs {
	double *value[CPL_ARMS], *scratch;
};

static void clip(struct cpl_comparison *c, const struct logs *logs)
{
	double middle[CPL_ARMS], limit;
	int64_t n = 0;

	for (int a = 0; a < CPL_ARMS; a++) {
		if (c->n[a] < CPL_CLIP_JOBS)
			return;
		middle[a] = median(logs->value[a], c->n[a]);
		for (int64_t i = 0; i < c->n[a]; i++)
			logs->scratch[n++] = fabs(logs->value[a][i] - middle[a]);
	}
	limit = CPL_CLIP_DEVIATIONS * 1.4826 * median(logs->scratch, n);
	/* More than half of them are alike: there is no scale. */
	if (!(limit > 0))
		return;
	for (int a = 0; a < CPL_ARMS; a++)
		for (int64_t i = 0; i < c->n[a]; i++) {
			double *v = &logs->value[a][i];
			double at = *v - middle[a];

			if (fabs(at) <= limit)
				continue;
			*v = middle[a] + copysign(limit, at);
			c->clipped++;
		}
}

static double squares(const double *value, int64_t n, double mean)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (value[i] - mean) * (value[i] - mean);
	return sum;
}

/*
 * Arms may differ in spread, which is part of what placement does. Of few jobs it
 * is drawn to that of both.
 */
static void compare(struct cpl_comparison *c, const struct logs *logs)
{
	double square[CPL_ARMS], pooled;
	double df = (double)(c->n[0] + c->n[1] - CPL_ARMS);

	for (int a = 0; a < CPL_ARMS; a++) {
		double sum = 0;

		for (int64_t i = 0; i < c->n[a]; i++)
			sum += logs->value[a][i];
		c->mean[a] = c->n[a] ? sum / (double)c->n[a] : 0;
		square[a] = squares(logs->value[a], c->n[a], c->mean[a]);
		if (c->n[a] > 1)
			c->deviation[a] =
			        sqrt(square[a] / (double)(c->n[a] - 1));
	}
	c->effect = c->mean[CPL_ARM_PLACED] - c->mean[CPL_ARM_STOCK];
	if (c->n[0] < 2 || c->n[1] < 2 || df < LEAST_DF)
		return;
	pooled = (square[0] + square[1]) / df;
	pooled = fmax(pooled, LEAST_DEVIATION * LEAST_DEVIATION);
	for (int a = 0; a < CPL_ARMS; a++)
		c->variance += (SHARED * pooled + square[a]) /
		               (SHARED + (double)(c->n[a] - 1)) /
		               (double)c->n[a];
	c->df = df;
}

static void fill_measure(struct cpl_stratum *s, enum cpl_measure measure,
                         const struct cpl_trial_job *job, int64_t n,
                         double *room)
{
	struct cpl_comparison *c = &s->measure[measure];
	struct logs logs;

	for (int64_t i = 0; i < n; i++)
		c->n[job[i].arm] += job[i].value[measure] > 0;
	logs.value[0] = room;
	logs.value[1] = room + c->n[0];
	logs.scratch = room + n;
	c->n[0] = c->n[1] = 0;
	for (int64_t i = 0; i < n; i++)
		if (job[i].value[measure] > 0)
			logs.value[job[i].arm][c->n[job[i].arm]++] =
			        cpl_log_natural(job[i].value[measure]);
	clip(c, &logs);
	compare(c, &logs);
}

static void fill(struct cpl_stratum *s, const struct cpl_trial_job *job,
                 int64_t n, double *room)
{
	*s = (struct cpl_stratum){.profile = job->profile,
	                          .partition = job->partition,
	                          .ranks = job->ranks,
	                          .nodes = job->nodes};
	for (int64_t i = 0; i < n; i++) {
		s->jobs[job[i].arm]++;
		s->node_seconds +=
		        job[i].nodes * job[i].value[CPL_MEASURE_SECONDS];
		if (isfinite(job[i].predicted)) {
			s->predicted += job[i].predicted;
			s->n_predicted++;
		}
	}
	for (int m = 0; m < CPL_MEASURES; m++)
		fill_measure(s, (enum cpl_measure)m, job, n, room);
}

int cpl_strata_make(struct cpl_strata *out, struct cpl_trial_job *job,
                    int64_t n, struct cpl_error *err)
{
	double *room = malloc((2 * (size_t)n + 1) * sizeof(*room));
	int64_t end;

	*out = (struct cpl_strata){0};
	if (!room)
		return cpl_fail_memory(err);
	if (!is_in_order(job, n))
		qsort(job, (size_t)n, sizeof(*job), by_order);
	for (int64_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !by_key(&job[i], &job[end]);)
			end++;
		if (cpl_array_grow(&out->stratum, out->n, sizeof(*out->stratum),
		                   err)) {
			cpl_free_all(room, out->stratum);
			*out = (struct cpl_strata){0};
			return -1;
		}
		fill(&out->stratum[out->n++], &job[i], end - i, room);
	}
	free(room);
	return 0;
}
