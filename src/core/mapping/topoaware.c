/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/tasks.h"

/* The table has tasks * places numbers: 512 MB. */
#define PLACES_MAX 8192
/* Rows of the table between two looks at the clock. */
#define CHECK_EVERY 64

/*
 * Numbers stay whole where bytes and hops are, so that ties are ties: the
 * means of orders 2 and 3 are left multiplied by their divisor, and so is the
 * criticality.
 */
struct table {
	struct cpl_tasks *t;
	int order;
	double *f;        /* [n * n] estimate, order 1 or 2 */
	double *sum;      /* [n] over free places that fit */
	double *min;      /* [n] the same */
	int *n_min;       /* [n] how many attain it */
	int *arg;         /* [n] the first of them */
	double *unmapped; /* [n] traffic to unmapped tasks */
	double *far;      /* [n] sum of hops from a place to all (order 2)
	                   * or to the free places (order 3) */
	int *free_place;  /* [n_free] ascending */
	int n_free;
	int *n_fit;   /* [n] free places that fit a task */
	bool *used;   /* [n] places */
	bool *mapped; /* [n] */
};

/* Sum, minimum and its place of one row. */
static void scan(struct table *s, int task)
{
	const double *f = s->f + (size_t)task * (size_t)s->t->n;
	double sum = 0, min = 0;
	double order3 = s->order == 3 ? s->unmapped[task] : 0;
	double scale = s->order == 3 ? s->n_free : 1;
	int n = 0, fit = 0, arg = -1;

	for (int i = 0; i < s->n_free; i++) {
		int p = s->free_place[i];
		double value = f[p] * scale + order3 * s->far[p];

		if (!cpl_tasks_fit(s->t, task, p))
			continue;
		fit++;
		sum += value;
		if (arg < 0 || value < min) {
			min = value;
			n = 0;
			arg = p;
		}
		n += value == min;
	}
	s->sum[task] = sum;
	s->min[task] = min;
	s->n_min[task] = n;
	s->arg[task] = arg;
	s->n_fit[task] = fit;
}

/* Is task a's mean further above its minimum than b's? */
static bool more_critical(const struct table *s, int a, int b)
{
	double x = s->sum[a] - s->n_fit[a] * s->min[a];
	double y = s->sum[b] - s->n_fit[b] * s->min[b];

	if (s->n_fit[a] != s->n_fit[b])
		return x * s->n_fit[b] > y * s->n_fit[a];
	return x > y;
}

/* -1: out of time. */
static int most_critical(struct table *s)
{
	int best = -1;

	for (int task = 0; task < s->t->n; task++) {
		if (s->mapped[task])
			continue;
		if (s->order == 3) {
			if (task % CHECK_EVERY == 0 && cpl_tasks_expired(s->t))
				return -1;
			scan(s, task);
		}
		if (best < 0 || more_critical(s, task, best))
			best = task;
	}
	return best;
}

static void take_place(struct table *s, int place)
{
	struct cpl_tasks *t = s->t;
	int i = 0;

	while (s->free_place[i] != place)
		i++;
	s->used[place] = true;
	s->n_free--;
	for (; i < s->n_free; i++)
		s->free_place[i] = s->free_place[i + 1];
	if (s->order != 3)
		return;
	for (int p = 0; p < t->n; p++)
		s->far[p] -= cpl_tasks_hops(t, place, p);
}

/* The row of a task whose partner came to lie on `place`. */
static void update_row(struct table *s, int task, int place, double bytes)
{
	struct cpl_tasks *t = s->t;
	const float *row =
	        cpl_distance_row(&t->distance, t->distance.spot[place]);
	double *f = s->f + (size_t)task * (size_t)t->n;
	double scale = s->order == 2 ? t->n : 1;

	s->unmapped[task] -= bytes;
	for (int p = 0; p < t->n; p++)
		f[p] += bytes * scale * (double)row[t->distance.spot[p]];
	if (s->order == 2)
		for (int p = 0; p < t->n; p++)
			f[p] -= bytes * s->far[p];
}

/* The next place that attains the minimum, which there is. */
static int next_arg(const struct table *s, int task)
{
	const double *f = s->f + (size_t)task * (size_t)s->t->n;
	int p = s->arg[task];

	do {
		p++;
	} while (s->used[p] || !cpl_tasks_fit(s->t, task, p) ||
	         f[p] != s->min[task]);
	return p;
}

static void put(struct table *s, int task, int place)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;

	s->mapped[task] = true;
	take_place(s, place);
	for (int k = 0; s->order != 3 && k < t->n; k++) {
		double value = s->f[(size_t)k * (size_t)t->n + (size_t)place];

		if (s->mapped[k] || !cpl_tasks_fit(t, k, place))
			continue;
		s->sum[k] -= value;
		s->n_fit[k]--;
		s->n_min[k] -= value == s->min[k];
		if (!s->n_min[k])
			scan(s, k);
		else if (s->arg[k] == place)
			s->arg[k] = next_arg(s, k);
	}
	for (int64_t e = graph->row[task]; e < graph->row[task + 1]; e++) {
		int other = graph->to[e];

		if (s->mapped[other])
			continue;
		update_row(s, other, place, graph->bytes[e]);
		if (s->order != 3)
			scan(s, other);
	}
}

/* False: out of time. */
static bool start(struct table *s)
{
	struct cpl_tasks *t = s->t;
	const struct cpl_comm *graph = t->graph;
	size_t n = (size_t)t->n;

	s->n_free = t->n;
	for (int p = 0; p < t->n; p++) {
		if (p % CHECK_EVERY == 0 && cpl_tasks_expired(t))
			return false;
		s->free_place[p] = p;
		for (int q = 0; s->order > 1 && q < t->n; q++)
			s->far[p] += cpl_tasks_hops(t, p, q);
	}
	for (int task = 0; task < t->n; task++) {
		if (task % CHECK_EVERY == 0 && cpl_tasks_expired(t))
			return false;
		for (int64_t e = graph->row[task]; e < graph->row[task + 1];
		     e++)
			s->unmapped[task] += graph->bytes[e];
		for (size_t p = 0; s->order == 2 && p < n; p++)
			s->f[(size_t)task * n + p] =
			        s->unmapped[task] * s->far[p];
		if (s->order != 3)
			scan(s, task);
	}
	return true;
}

static int place_by(struct cpl_tasks *t, int *place_of, int order,
                    struct cpl_error *err)
{
	size_t n = (size_t)t->n;
	struct table s = {.t = t, .order = order};
	int rc = -1;

	if (t->n > PLACES_MAX)
		return cpl_fail(err,
		                "topoaware keeps a table of tasks by hosts; "
		                "%d hosts are too many, at most %d are right",
		                t->n, PLACES_MAX);
	s.f = calloc(n * n, sizeof(*s.f));
	s.sum = calloc(n, sizeof(*s.sum));
	s.min = calloc(n, sizeof(*s.min));
	s.n_min = calloc(n, sizeof(*s.n_min));
	s.arg = calloc(n, sizeof(*s.arg));
	s.unmapped = calloc(n, sizeof(*s.unmapped));
	s.far = calloc(n, sizeof(*s.far));
	s.free_place = calloc(n, sizeof(*s.free_place));
	s.n_fit = calloc(n, sizeof(*s.n_fit));
	s.mapped = calloc(n, sizeof(*s.mapped));
	s.used = calloc(n, sizeof(*s.used));
	if (!s.f || !s.sum || !s.min || !s.n_min || !s.arg || !s.unmapped ||
	    !s.far || !s.free_place || !s.n_fit || !s.mapped || !s.used) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int k = start(&s) ? 0 : t->n; k < t->n; k++) {
		int task;

		if (k % 8 == 7 && cpl_tasks_expired(t))
			break;
		task = most_critical(&s);
		if (task < 0)
			break;
		place_of[task] = s.arg[task];
		put(&s, task, s.arg[task]);
	}
	rc = 0;
out:
	free(s.f);
	free(s.sum);
	free(s.min);
	free(s.n_min);
	free(s.arg);
	free(s.unmapped);
	free(s.far);
	free(s.free_place);
	free(s.n_fit);
	free(s.mapped);
	free(s.used);
	return rc;
}

static int place_1(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	return place_by(t, place_of, 1, err);
}

static int place_2(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	return place_by(t, place_of, 2, err);
}

static int place_3(struct cpl_tasks *t, int *place_of, struct cpl_error *err)
{
	return place_by(t, place_of, 3, err);
}

const struct cpl_mapper cpl_mapper_topoaware_1 = {
        .name = "topoaware-1",
        .summary = "TopoLB: most critical task first, mapped partners only",
        .place = place_1,
};

const struct cpl_mapper cpl_mapper_topoaware_2 = {
        .name = "topoaware-2",
        .summary = "TopoLB: unmapped partners at the mean of all hosts",
        .place = place_2,
};

const struct cpl_mapper cpl_mapper_topoaware_3 = {
        .name = "topoaware-3",
        .summary = "TopoLB: unmapped partners at the mean of free hosts",
        .place = place_3,
};
