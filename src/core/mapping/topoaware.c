/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/clusters.h"

/* The table has clusters * targets numbers: 512 MB for so many. */
#define TARGETS_MAX 8192
/* The clock is looked at once in this many rows of the table. */
#define CHECK_EVERY 64

/* Numbers stay whole where bytes and hops are, so that ties are exact. For that
 * the means of orders 2 and 3, and the criticality, are left multiplied by
 * their divisor. */
struct estimate_table {
	struct cpl_clusters *t;
	int order;
	double *f;        /* [n * n] estimate of order 1 or 2 */
	double *sum;      /* [n] over the free targets that fit */
	double *min;      /* [n] the same */
	int *n_min;       /* [n] how many of them have the minimum */
	int *arg;         /* [n] the first of them */
	double *unmapped; /* [n] traffic to unmapped clusters */
	double *far;      /* [n] sum of hops from a target to all (order 2)
	                   * or to the free targets (order 3) */
	int *free_target; /* [n_free] ascending */
	int n_free;
	int *n_fit;   /* [n] free targets that fit a cluster */
	bool *used;   /* [n] targets */
	bool *mapped; /* [n] */
};

/* Computes sum, minimum and its target of one row. */
static void scan(struct estimate_table *s, int cluster)
{
	const double *f = s->f + (size_t)cluster * (size_t)s->t->n;
	double sum = 0, min = 0;
	double order3 = s->order == 3 ? s->unmapped[cluster] : 0;
	double scale = s->order == 3 ? s->n_free : 1;
	int n = 0, fit = 0, arg = -1;

	for (int i = 0; i < s->n_free; i++) {
		int p = s->free_target[i];
		double value = f[p] * scale + order3 * s->far[p];

		if (!cpl_clusters_fit(s->t, cluster, p))
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
	s->sum[cluster] = sum;
	s->min[cluster] = min;
	s->n_min[cluster] = n;
	s->arg[cluster] = arg;
	s->n_fit[cluster] = fit;
}

/* Is cluster a's mean further above its minimum than b's? */
static bool more_critical(const struct estimate_table *s, int a, int b)
{
	double x = s->sum[a] - s->n_fit[a] * s->min[a];
	double y = s->sum[b] - s->n_fit[b] * s->min[b];

	if (s->n_fit[a] != s->n_fit[b])
		return x * s->n_fit[b] > y * s->n_fit[a];
	return x > y;
}

/* Returns -1 when the time is over. */
static int most_critical(struct estimate_table *s)
{
	int best = -1;

	for (int cluster = 0; cluster < s->t->n; cluster++) {
		if (s->mapped[cluster])
			continue;
		if (s->order == 3) {
			if (cluster % CHECK_EVERY == 0 &&
			    cpl_map_expired(s->t->req))
				return -1;
			scan(s, cluster);
		}
		if (best < 0 || more_critical(s, cluster, best))
			best = cluster;
	}
	return best;
}

static void take_target(struct estimate_table *s, int target)
{
	struct cpl_clusters *t = s->t;
	int i = 0;

	while (s->free_target[i] != target)
		i++;
	s->used[target] = true;
	s->n_free--;
	for (; i < s->n_free; i++)
		s->free_target[i] = s->free_target[i + 1];
	if (s->order != 3)
		return;
	for (int p = 0; p < t->n; p++)
		s->far[p] -= cpl_clusters_hops(t, target, p);
}

/* Updates the row of a cluster whose partner was put on `target`. */
static void update_row(struct estimate_table *s, int cluster, int target,
                       double bytes)
{
	struct cpl_clusters *t = s->t;
	const float *row = cpl_clusters_row(t, target);
	double *f = s->f + (size_t)cluster * (size_t)t->n;
	double scale = s->order == 2 ? t->n : 1;

	s->unmapped[cluster] -= bytes;
	for (int p = 0; p < t->n; p++)
		f[p] += bytes * scale * (double)row[t->distance.leaf[p]];
	if (s->order == 2)
		for (int p = 0; p < t->n; p++)
			f[p] -= bytes * s->far[p];
}

/* The next target with the minimum; there always is one. */
static int next_arg(const struct estimate_table *s, int cluster)
{
	const double *f = s->f + (size_t)cluster * (size_t)s->t->n;
	int p = s->arg[cluster];

	do {
		p++;
	} while (s->used[p] || !cpl_clusters_fit(s->t, cluster, p) ||
	         f[p] != s->min[cluster]);
	return p;
}

static void put_cluster(struct estimate_table *s, int cluster, int target)
{
	struct cpl_clusters *t = s->t;
	const struct cpl_comm *graph = t->graph;

	s->mapped[cluster] = true;
	take_target(s, target);
	for (int k = 0; s->order != 3 && k < t->n; k++) {
		double value = s->f[(size_t)k * (size_t)t->n + (size_t)target];

		if (s->mapped[k] || !cpl_clusters_fit(t, k, target))
			continue;
		s->sum[k] -= value;
		s->n_fit[k]--;
		s->n_min[k] -= value == s->min[k];
		if (!s->n_min[k])
			scan(s, k);
		else if (s->arg[k] == target)
			s->arg[k] = next_arg(s, k);
	}
	for (int64_t e = graph->row[cluster]; e < graph->row[cluster + 1];
	     e++) {
		int other = graph->to[e];

		if (s->mapped[other])
			continue;
		update_row(s, other, target, graph->bytes[e]);
		if (s->order != 3)
			scan(s, other);
	}
}

/* Returns false when the time is over. */
static bool start(struct estimate_table *s)
{
	struct cpl_clusters *t = s->t;
	const struct cpl_comm *graph = t->graph;
	size_t n = (size_t)t->n;

	s->n_free = t->n;
	for (int p = 0; p < t->n; p++) {
		if (p % CHECK_EVERY == 0 && cpl_map_expired(t->req))
			return false;
		s->free_target[p] = p;
		for (int q = 0; s->order > 1 && q < t->n; q++)
			s->far[p] += cpl_clusters_hops(t, p, q);
	}
	for (int cluster = 0; cluster < t->n; cluster++) {
		if (cluster % CHECK_EVERY == 0 && cpl_map_expired(t->req))
			return false;
		for (int64_t e = graph->row[cluster];
		     e < graph->row[cluster + 1]; e++)
			s->unmapped[cluster] += graph->bytes[e];
		for (size_t p = 0; s->order == 2 && p < n; p++)
			s->f[(size_t)cluster * n + p] =
			        s->unmapped[cluster] * s->far[p];
		if (s->order != 3)
			scan(s, cluster);
	}
	return true;
}

static int assign_by(struct cpl_clusters *t, int *target_of, int order,
                     struct cpl_error *err)
{
	struct estimate_table s = {.t = t, .order = order};

	if (t->n > TARGETS_MAX)
		return cpl_fail(err,
		                "topoaware keeps a table of tasks by hosts; %d "
		                "hosts are too many; at most %d are possible",
		                t->n, TARGETS_MAX);
	s.f = cpl_arena_take(&t->arena, (int64_t)t->n * t->n, sizeof(double));
	s.sum = cpl_clusters_take(t, sizeof(double));
	s.min = cpl_clusters_take(t, sizeof(double));
	s.n_min = cpl_clusters_take(t, sizeof(int));
	s.arg = cpl_clusters_take(t, sizeof(int));
	s.unmapped = cpl_clusters_take(t, sizeof(double));
	s.far = cpl_clusters_take(t, sizeof(double));
	s.free_target = cpl_clusters_take(t, sizeof(int));
	s.n_fit = cpl_clusters_take(t, sizeof(int));
	s.mapped = cpl_clusters_take(t, sizeof(bool));
	s.used = cpl_clusters_take(t, sizeof(bool));
	if (t->arena.failed)
		return cpl_fail_memory(err);
	for (int k = start(&s) ? 0 : t->n; k < t->n; k++) {
		int cluster;

		if (k % 8 == 7 && cpl_map_expired(t->req))
			break;
		cluster = most_critical(&s);
		if (cluster < 0)
			break;
		target_of[cluster] = s.arg[cluster];
		put_cluster(&s, cluster, s.arg[cluster]);
	}
	return 0;
}

static int assign_1(struct cpl_clusters *t, int *target_of,
                    struct cpl_error *err)
{
	return assign_by(t, target_of, 1, err);
}

static int assign_2(struct cpl_clusters *t, int *target_of,
                    struct cpl_error *err)
{
	return assign_by(t, target_of, 2, err);
}

static int assign_3(struct cpl_clusters *t, int *target_of,
                    struct cpl_error *err)
{
	return assign_by(t, target_of, 3, err);
}

const struct cpl_mapper cpl_mapper_topoaware_1 = {
        .name = "topoaware-1",
        .summary = "TopoLB: most critical task first, mapped partners only",
        .assign = assign_1,
};

const struct cpl_mapper cpl_mapper_topoaware_2 = {
        .name = "topoaware-2",
        .summary = "TopoLB: unmapped partners at the mean of all hosts",
        .assign = assign_2,
};

const struct cpl_mapper cpl_mapper_topoaware_3 = {
        .name = "topoaware-3",
        .summary = "TopoLB: unmapped partners at the mean of free hosts",
        .assign = assign_3,
};
