/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/timed.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/logarithm.h"
#include "base/sort.h"

/* What is usual is the median of so many jobs before and behind. */
#define AROUND 16
#define WINDOW (2 * AROUND + 1)
#define CLIP 4.0
#define ROBUST 1.4826 /* deviations of a normal one in its median distance */
#define SURE 1.645     /* standard errors: chance alone has 5 % */

const char *const cpl_plain_feature[CPL_PLAINS] = {
        [CPL_PLAIN_BUSIEST] = "link_max", [CPL_PLAIN_TIME] = "model"};

struct timed {
	const struct cpl_samples *samples;
	const struct cpl_learn_options *options;
	const int *group;
	int target, first; /* rows that are learned from before the test */
	int plain[CPL_PLAINS]; /* columns, or -1 */
	struct cpl_samples scaled; /* with times in proportion */
	double *log_time;          /* [n] of the target */
	int *order;                /* [n] rows by group, then by time */
	double *apart;             /* [n] log_time less what is usual */
	double *sorted;            /* [n] */
	double *told, *sum[CPL_PLAINS]; /* [held] */
	struct cpl_error *err;
};

struct timed_row {
	int group, row;
};

static CPL_SORT_BY(by_group, struct timed_row, CPL_UP(group), CPL_UP(row))

static int sort_rows(struct timed *t)
{
	int n = t->samples->n;
	struct timed_row *row = malloc(((size_t)n + 1) * sizeof(*row));

	if (!row)
		return cpl_fail_memory(t->err);
	for (int i = 0; i < n; i++)
		row[i] = (struct timed_row){t->group[i], i};
	qsort(row, (size_t)n, sizeof(*row), by_group);
	for (int i = 0; i < n; i++)
		t->order[i] = row[i].row;
	free(row);
	return 0;
}

static double median_of(double *value, int n)
{
	qsort(value, (size_t)n, sizeof(*value), cpl_by_double);
	return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

/* What is usual around the k-th of n rows of a group. */
static double usual(const struct timed *t, const int *row, int n, int k)
{
	double window[WINDOW];
	int from = k > AROUND ? k - AROUND : 0, m = 0;

	for (int i = from; i < n && i <= k + AROUND; i++)
		window[m++] = t->log_time[row[i]];
	return median_of(window, m);
}

/* The rows before `end` of the group that begins at order[at]; *next: of the group
 * behind it. */
static int rows_of_group(const struct timed *t, int at, int end, int *next)
{
	int i = at, n = 0;

	for (; i < t->samples->n &&
	       t->group[t->order[i]] == t->group[t->order[at]];
	     i++)
		n += t->order[i] < end;
	*next = i;
	return n;
}

/* Set the target of the first `end` rows to their times in proportion. Rows that are
 * alone in their group tell that they take as long as usual, which is nothing. */
static void scale(struct timed *t, int end)
{
	double mean = 0, bound;

	for (int at = 0, next; at < t->samples->n; at = next) {
		int n = rows_of_group(t, at, end, &next);

		for (int k = 0; k < n; k++)
			t->apart[t->order[at + k]] =
			        t->log_time[t->order[at + k]] -
			        usual(t, t->order + at, n, k);
	}
	for (int i = 0; i < end; i++) {
		mean += t->log_time[i] / end;
		t->sorted[i] = fabs(t->apart[i]);
	}
	bound = CLIP * ROBUST * median_of(t->sorted, end);
	for (int i = 0; i < end; i++) {
		double apart = bound > 0 ? fmax(-bound, fmin(bound, t->apart[i]))
		                         : t->apart[i];

		t->scaled.value[(int64_t)i * t->scaled.n_columns + t->target] =
		        cpl_exp_natural(mean + apart);
	}
}

static const double *row_of(const struct timed *t, int i)
{
	return t->samples->value + (int64_t)i * t->samples->n_columns;
}

/* What the model tells of the jobs held out. */
static void ask(const struct timed *t, const struct cpl_model *m)
{
	double x[CPL_SAMPLES_MAX_COLUMNS];

	for (int i = t->first; i < t->samples->n; i++) {
		for (int f = 0; f < t->options->n_features; f++)
			x[f] = row_of(t, i)[t->options->feature[f]];
		t->told[i - t->first] = cpl_model_value(m, x);
	}
}

/* Of a pair whose first job was shorter: is it told so? */
static double right(double a, double b)
{
	return a < b ? 1 : a > b ? 0 : 0.5;
}

struct timed_sums {
	double learned, plain[CPL_PLAINS];
};

/* Job i of the last tenth, with those of its group: how many pairs. */
static int count_pairs(const struct timed *t, int i, struct timed_sums *s)
{
	double time = t->log_time[i];
	int n = 0;

	*s = (struct timed_sums){0};
	for (int j = t->first; j < t->samples->n; j++) {
		int a = time < t->log_time[j] ? i : j, b = a == i ? j : i;

		if (j == i || t->group[j] != t->group[i] ||
		    !(time < t->log_time[j] || time > t->log_time[j]))
			continue;
		n++;
		s->learned += right(t->told[a - t->first], t->told[b - t->first]);
		for (int p = 0; p < CPL_PLAINS; p++)
			if (t->plain[p] >= 0)
				s->plain[p] += right(row_of(t, a)[t->plain[p]],
				                     row_of(t, b)[t->plain[p]]);
	}
	return n;
}

/* The error of a lead: each job's pairs are taken together, since what is told of a
 * job stands in all of them. n[i]: its pairs, sum[i]: their leads. */
static double error_of(const double *sum, const int *n, int jobs, double lead,
                       double pairs)
{
	double squares = 0;
	int some = 0;

	for (int i = 0; i < jobs; i++) {
		double rest = sum[i] - lead * n[i];

		some += n[i] > 0;
		squares += rest * rest;
	}
	return some > 1 ? 2 * sqrt(squares * some / (some - 1)) / pairs : 0;
}

static int compare(struct timed *t, struct cpl_learn_test *test)
{
	int jobs = t->samples->n - t->first;
	int *n = calloc((size_t)jobs + 1, sizeof(*n));
	struct timed_sums all = {0};
	double pairs = 0;

	if (!n)
		return cpl_fail_memory(t->err);
	for (int i = 0; i < jobs; i++) {
		struct timed_sums s;

		n[i] = count_pairs(t, t->first + i, &s);
		pairs += n[i];
		all.learned += s.learned;
		for (int p = 0; p < CPL_PLAINS; p++) {
			all.plain[p] += s.plain[p];
			t->sum[p][i] = s.learned - s.plain[p];
		}
	}
	test->pairs = (int64_t)pairs / 2;
	test->better = pairs > 0;
	if (pairs > 0)
		test->learned = all.learned / pairs;
	for (int p = 0; p < CPL_PLAINS && pairs > 0; p++) {
		test->known[p] = t->plain[p] >= 0;
		if (!test->known[p])
			continue;
		test->plain[p] = all.plain[p] / pairs;
		test->lead[p] = test->learned - test->plain[p];
		test->error[p] = error_of(t->sum[p], n, jobs, test->lead[p],
		                          pairs);
		test->better &= test->lead[p] > SURE * test->error[p];
	}
	free(n);
	return pairs > 0
	               ? 0
	               : cpl_fail(t->err,
	                          "of the last %d jobs, no two are alike but "
	                          "for where and how long they ran: there is "
	                          "nothing to compare",
	                          jobs);
}

/* The model's errors on the test, of times in proportion as all jobs tell it. */
static void set_score(struct timed *t, const struct cpl_learn_test *test,
                      struct cpl_model_score *s)
{
	int n = t->samples->n - t->first;
	double mean = 0, rest = 0, all = 0;
	const double *held = t->scaled.value +
	                     (int64_t)t->first * t->scaled.n_columns + t->target;

	s->concordant = test->learned;
	for (int i = 0; i < n; i++)
		mean += held[(int64_t)i * t->scaled.n_columns] / n;
	for (int i = 0; i < n; i++) {
		double time = held[(int64_t)i * t->scaled.n_columns];

		rest += (time - t->told[i]) * (time - t->told[i]);
		all += (time - mean) * (time - mean);
		t->sorted[i] = (time - t->told[i]) / t->told[i];
	}
	s->r2 = all > 0 ? 1 - rest / all : 1;
	qsort(t->sorted, (size_t)n, sizeof(*t->sorted), cpl_by_double);
	s->low = t->sorted[n / 10];
	s->high = t->sorted[n - 1 - n / 10];
}

static int learn(struct timed *t, struct cpl_learn_test *test,
                 struct cpl_model **model)
{
	struct cpl_model *m;
	int rc;

	scale(t, t->first);
	m = cpl_learn_first(&t->scaled, t->first, t->options, t->err);
	if (!m)
		return -1;
	ask(t, m);
	cpl_model_free(m);
	rc = compare(t, test);
	if (rc || !test->better)
		return rc;
	scale(t, t->samples->n);
	*model = cpl_learn_first(&t->scaled, t->samples->n, t->options, t->err);
	if (!*model)
		return -1;
	set_score(t, test, &(*model)->score);
	return 0;
}

/* -1 with err. */
static int check(struct timed *t)
{
	const struct cpl_samples *s = t->samples;
	bool some = false;

	if (s->n < CPL_LEARN_TIMED_LEAST)
		return cpl_fail(t->err, "%d jobs; at least %d are needed", s->n,
		                CPL_LEARN_TIMED_LEAST);
	for (int p = 0; p < CPL_PLAINS; p++) {
		t->plain[p] = cpl_samples_column(s, cpl_plain_feature[p]);
		some |= t->plain[p] >= 0;
	}
	if (!some)
		return cpl_fail(t->err,
		                "neither %s nor %s is there, which a model has "
		                "to be better than",
		                cpl_plain_feature[CPL_PLAIN_BUSIEST],
		                cpl_plain_feature[CPL_PLAIN_TIME]);
	for (int i = 0; i < s->n; i++) {
		double time = row_of(t, i)[t->target];

		if (!(time > 0))
			return cpl_fail(t->err,
			                "%.60s of row %d is %g: times are "
			                "above 0",
			                t->options->target, i + 1, time);
		t->log_time[i] = cpl_log_natural(time);
	}
	return sort_rows(t);
}

int cpl_learn_timed(const struct cpl_samples *samples,
                    const struct cpl_learn_options *options, const int *group,
                    struct cpl_learn_test *test, struct cpl_model **model,
                    struct cpl_error *err)
{
	size_t n = (size_t)samples->n + 1;
	int held = samples->n / 10;
	struct timed t = {.samples = samples,
	                  .options = options,
	                  .group = group,
	                  .target = cpl_samples_column(samples, options->target),
	                  .scaled = *samples,
	                  .err = err};
	size_t bytes = n * (size_t)samples->n_columns * sizeof(double);
	int rc = -1;

	*test = (struct cpl_learn_test){0};
	*model = NULL;
	held = held > CPL_LEARN_TIMED_HELD ? CPL_LEARN_TIMED_HELD : held;
	test->jobs = held;
	t.first = samples->n - held;
	t.scaled.value = malloc(bytes);
	t.log_time = malloc(n * sizeof(double));
	t.apart = malloc(n * sizeof(double));
	t.sorted = malloc(n * sizeof(double));
	t.order = malloc(n * sizeof(int));
	t.told = malloc(((size_t)held + 1) * sizeof(double));
	for (int p = 0; p < CPL_PLAINS; p++)
		t.sum[p] = calloc((size_t)held + 1, sizeof(double));
	if (cpl_out_of_memory(!t.scaled.value || !t.log_time || !t.apart ||
	                      !t.sorted || !t.order || !t.told || !t.sum[0] ||
	                      !t.sum[1], err))
		goto out;
	memcpy(t.scaled.value, samples->value,
	       (n - 1) * (size_t)samples->n_columns * sizeof(double));
	if (!check(&t))
		rc = learn(&t, test, model);
out:
	cpl_free_all(t.scaled.value, t.log_time, t.apart, t.sorted, t.order,
	             t.told);
	for (int p = 0; p < CPL_PLAINS; p++)
		free(t.sum[p]);
	return rc;
}
