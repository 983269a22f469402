/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/timeline.h"

#include <math.h>
#include <stdlib.h>

int cpl_timeline_init(struct cpl_timeline *t, int bins, int64_t n_ranks,
                      int64_t n_links, struct cpl_error *err)
{
	*t = (struct cpl_timeline){
	        .bins = bins, .n_ranks = n_ranks, .n_links = n_links};
	t->rank = calloc((size_t)n_ranks * CPL_TIMELINE_STATES * (size_t)bins +
	                         1,
	                 sizeof(*t->rank));
	t->link = calloc((size_t)n_links * (size_t)bins + 1, sizeof(*t->link));
	return t->rank && t->link ? 0 : cpl_fail_memory(err);
}

void cpl_timeline_free(struct cpl_timeline *t)
{
	cpl_free_all(t->rank, t->link);
	*t = (struct cpl_timeline){0};
}

/* Joins bins in pairs. */
static void halve(float *row, int64_t n, int bins)
{
	for (; n > 0; n--, row += bins)
		for (int i = 0; i < bins; i++)
			row[i] = 2 * i + 1 < bins ? row[2 * i] + row[2 * i + 1]
			         : 2 * i < bins   ? row[2 * i]
			                          : 0;
}

/* The least power of two that is not below x > 0; exact everywhere. */
static double power_of_two(double x)
{
	int exponent;
	double part = frexp(x, &exponent);

	return ldexp(1, part > 0.5 ? exponent : exponent - 1);
}

static void fit(struct cpl_timeline *t, double to)
{
	while (to > t->width * t->bins) {
		if (!(t->width > 0)) {
			t->width = power_of_two(to / t->bins);
			continue;
		}
		halve(t->rank, t->n_ranks * CPL_TIMELINE_STATES, t->bins);
		halve(t->link, t->n_links, t->bins);
		t->width *= 2;
	}
}

static int bin_of(const struct cpl_timeline *t, double time)
{
	double bin = floor(time / t->width);

	return bin < t->bins - 1 ? (int)bin : t->bins - 1;
}

static void add_use(struct cpl_timeline *t, float *row, double part,
                    double from, double to)
{
	int last = bin_of(t, to);

	for (int i = bin_of(t, from); i <= last; i++) {
		double begin = fmax(from, i * t->width);
		double end = i < last ? (i + 1) * t->width : to;

		row[i] += (float)(part * (end - begin));
	}
}

void cpl_timeline_rank(struct cpl_timeline *t, int64_t rank,
                       enum cpl_timeline_state state, double from, double to)
{
	if (!t->bins || !(to > from))
		return;
	fit(t, to);
	add_use(t,
	        t->rank +
	                (rank * CPL_TIMELINE_STATES + (int64_t)state) * t->bins,
	        1, from, to);
}

void cpl_timeline_link(struct cpl_timeline *t, int64_t link, double part,
                       double from, double to)
{
	if (!t->bins || !(to > from))
		return;
	fit(t, to);
	add_use(t, t->link + link * t->bins, part, from, to);
}

int cpl_timeline_used(const struct cpl_timeline *t, double seconds)
{
	double n = t->width > 0 ? ceil(seconds / t->width) : 1;

	return n < 1 ? 1 : n < t->bins ? (int)n : t->bins;
}
