/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "learn/concordant.h"

/* Up to here, sums of squares of figures and quotients of times remain numbers;
 * beyond, no model can be written. */
#define MOST_FIGURE 1e100
#define LEAST_TIME 1e-30
#define MOST_TIME 1e30

struct learning {
	const struct cpl_samples *samples;
	const struct cpl_learn_options *options;
	struct cpl_learn_task task;
	double *x, *y; /* [n][n_features], [n] */
	int *row;      /* [n] */
	double *told, *held; /* [n] of a division */
	double *part;        /* [divisions * n] errors of all divisions */
	int n_parts;
	struct cpl_error *err;
};

static int take_time(struct learning *l, int i, double time)
{
	const char *target = l->options->target;

	l->y[i] = time;
	if (!(time > 0))
		return cpl_fail(l->err,
		                "%.60s of row %d is %g: times are above 0",
		                target, i + 1, time);
	if (time < LEAST_TIME || time > MOST_TIME)
		return cpl_fail(l->err,
		                "%.60s of row %d is %g: times are %g to %g "
		                "seconds", target, i + 1, time, LEAST_TIME,
		                MOST_TIME);
	return 0;
}

static int take_samples(struct learning *l)
{
	const struct cpl_samples *s = l->samples;
	const struct cpl_learn_options *o = l->options;
	int target = cpl_samples_column(s, o->target);

	for (int i = 0; i < s->n; i++) {
		const double *row = s->value + (int64_t)i * s->n_columns;
		double *x = l->x + (int64_t)i * o->n_features;

		for (int f = 0; f < o->n_features; f++) {
			x[f] = row[o->feature[f]];
			if (fabs(x[f]) > MOST_FIGURE)
				return cpl_fail(l->err,
				                "%.60s of row %d is %g: "
				                "figures beyond %g are not "
				                "learned from",
				                s->name[o->feature[f]], i + 1,
				                x[f], MOST_FIGURE);
		}
		if (take_time(l, i, row[target]))
			return -1;
	}
	return 0;
}

static struct cpl_model *empty_model(const struct learning *l)
{
	const struct cpl_learn_options *o = l->options;
	struct cpl_model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->method = strdup(o->learner->name);
	m->target = strdup(o->target);
	m->feature = calloc((size_t)o->n_features + 1, sizeof(*m->feature));
	m->importance =
	        calloc((size_t)o->n_features + 1, sizeof(*m->importance));
	if (!m->method || !m->target || !m->feature || !m->importance)
		goto fail;
	while (m->n_features < o->n_features) {
		int column = o->feature[m->n_features];

		m->feature[m->n_features] = strdup(l->samples->name[column]);
		if (!m->feature[m->n_features++])
			goto fail;
	}
	return m;
fail:
	cpl_model_free(m);
	return NULL;
}

/* This grows a model from the first n rows in the order of row[], or returns NULL
 * with err. */
static struct cpl_model *grow(struct learning *l, int n)
{
	const struct cpl_learn_options *o = l->options;
	struct cpl_model *m = empty_model(l);
	double sum = 0;

	if (!m) {
		cpl_fail_memory(l->err);
		return NULL;
	}
	l->task = (struct cpl_learn_task){
	        .n = n,
	        .n_features = o->n_features,
	        .x = l->x,
	        .y = l->y,
	        .row = l->row,
	        .trees = o->trees ? o->trees : o->learner->trees,
	        .seed = o->seed};
	m->samples = n;
	m->least = INFINITY;
	for (int i = 0; i < n; i++) {
		m->least = fmin(m->least, l->y[l->row[i]]);
		m->most = fmax(m->most, l->y[l->row[i]]);
	}
	if (o->learner->grow(&l->task, m, l->err)) {
		cpl_model_free(m);
		return NULL;
	}
	for (int f = 0; f < m->n_features; f++)
		sum += m->importance[f];
	for (int f = 0; f < m->n_features && sum > 0; f++)
		m->importance[f] /= sum;
	return m;
}

static double r2_of(const double *told, const double *held, int n)
{
	double mean = 0, rest = 0, all = 0;

	for (int i = 0; i < n; i++)
		mean += held[i] / n;
	for (int i = 0; i < n; i++) {
		rest += (held[i] - told[i]) * (held[i] - told[i]);
		all += (held[i] - mean) * (held[i] - mean);
	}
	return all > 0 ? 1 - rest / all : 1;
}

/* This grows a model from two thirds, and lets it tell the last third. */
static int divide(struct learning *l, int division,
                  struct cpl_model_score *score)
{
	int n = l->samples->n, first = n - n / 3, held = n / 3;
	struct cpl_model *m;
	double part;

	cpl_random_shuffle(l->row, n, l->options->seed, (uint64_t)division + 1);
	m = grow(l, first);
	if (!m)
		return -1;
	for (int i = 0; i < held; i++) {
		int r = l->row[first + i];

		l->held[i] = l->y[r];
		l->told[i] = cpl_model_value(
		        m, l->x + (int64_t)r * l->options->n_features);
		l->part[l->n_parts++] =
		        (l->held[i] - l->told[i]) / l->told[i];
	}
	cpl_model_free(m);
	if (cpl_concordant(l->told, l->held, held, &part, l->err))
		return -1;
	score->concordant += part / CPL_LEARN_DIVISIONS;
	score->r2 += r2_of(l->told, l->held, held) / CPL_LEARN_DIVISIONS;
	return 0;
}

static int score(struct learning *l, struct cpl_model_score *score)
{
	*score = (struct cpl_model_score){0};
	for (int d = 0; d < CPL_LEARN_DIVISIONS; d++)
		if (divide(l, d, score))
			return -1;
	qsort(l->part, (size_t)l->n_parts, sizeof(*l->part), cpl_by_double);
	score->low = l->part[l->n_parts / 10];
	score->high = l->part[l->n_parts - 1 - l->n_parts / 10];
	return 0;
}

static struct cpl_model *learn(struct learning *l)
{
	struct cpl_model_score s;
	struct cpl_model *m;

	if (score(l, &s))
		return NULL;
	for (int i = 0; i < l->samples->n; i++)
		l->row[i] = i;
	m = grow(l, l->samples->n);
	if (m)
		m->score = s;
	return m;
}

static void free_learning(struct learning *l)
{
	cpl_free_all(l->x, l->y, l->row, l->told, l->held, l->part);
}

/* This takes over the samples. It returns -1 with err; free_learning in either
 * case. */
static int begin(struct learning *l, const struct cpl_samples *samples,
                 const struct cpl_learn_options *options, struct cpl_error *err)
{
	size_t n = (size_t)samples->n + 1;

	*l = (struct learning){
	        .samples = samples,
	        .options = options,
	        .x = malloc(n * (size_t)options->n_features * sizeof(double)),
	        .y = malloc(n * sizeof(double)),
	        .row = malloc(n * sizeof(int)),
	        .err = err};
	if (!l->x || !l->y || !l->row)
		return cpl_fail_memory(err);
	for (int i = 0; i < samples->n; i++)
		l->row[i] = i;
	return take_samples(l);
}

struct cpl_model *cpl_learn(const struct cpl_samples *samples,
                            const struct cpl_learn_options *options,
                            struct cpl_error *err)
{
	size_t n = (size_t)samples->n;
	struct learning l;
	struct cpl_model *m = NULL;

	if (samples->n < CPL_LEARN_LEAST) {
		cpl_fail(err, "%d rows; at least %d are needed", samples->n,
		         CPL_LEARN_LEAST);
		return NULL;
	}
	if (!begin(&l, samples, options, err)) {
		l.told = malloc(n * sizeof(double));
		l.held = malloc(n * sizeof(double));
		l.part = malloc(n * CPL_LEARN_DIVISIONS * sizeof(double));
		if (!l.told || !l.held || !l.part)
			cpl_fail_memory(err);
		else
			m = learn(&l);
	}
	free_learning(&l);
	return m;
}

struct cpl_model *cpl_learn_first(const struct cpl_samples *samples, int n,
                                  const struct cpl_learn_options *options,
                                  struct cpl_error *err)
{
	struct learning l;
	struct cpl_model *m = NULL;

	if (!begin(&l, samples, options, err))
		m = grow(&l, n);
	free_learning(&l);
	return m;
}
