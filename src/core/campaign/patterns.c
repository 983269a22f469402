/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These patterns make traffic for any number of ranks. A matrix has no steps, so
 * what the steps of a collective operation send is added up. Recursive halving and
 * doubling, and the binomial tree, are those of "Communication-aware job scheduling
 * using SLURM" (Mishra, Agrawal, Malakar 2020); its 2-D pattern is 30 % of
 * recursive doubling and 70 % of the tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "campaign/jobs.h"

#define MAX_ENTRIES 200000000
#define MEGABYTE 1e6

static void put_entry(struct cpl_comm_gather *out, int from, int to,
                      double bytes)
{
	if (from != to)
		cpl_comm_gather(out, from, to, bytes);
}

/* This writes n as a product of k sides that are as equal as its divisors allow. */
static void sides(int n, int k, int *side)
{
	for (int d = k; d > 0; d--) {
		int best = 1;

		for (int s = 1; s <= n; s++) {
			int64_t power = 1;

			for (int i = 0; i < d && power <= n; i++)
				power *= s;
			if (power > n)
				break;
			if (n % s == 0)
				best = s;
		}
		side[d - 1] = d == 1 ? n : best;
		n /= side[d - 1];
	}
}

/* The stencil is periodic, with both neighbours in each dimension. */
static void stencil(int n, int dims, struct cpl_comm_gather *out)
{
	int side[4];

	sides(n, dims, side);
	for (int r = 0; r < n; r++) {
		int stride = 1;

		for (int d = 0; d < dims; d++) {
			int at = r / stride % side[d];
			int up = (at + 1) % side[d] - at;
			int down = (at + side[d] - 1) % side[d] - at;

			put_entry(out, r, r + up * stride, 1);
			if (down != up)
				put_entry(out, r, r + down * stride, 1);
			stride *= side[d];
		}
	}
}

static void ring(int n, struct cpl_comm_gather *out)
{
	stencil(n, 1, out);
}

static void stencil_2d(int n, struct cpl_comm_gather *out)
{
	stencil(n, 2, out);
}

static void stencil_3d(int n, struct cpl_comm_gather *out)
{
	stencil(n, 3, out);
}

static void stencil_4d(int n, struct cpl_comm_gather *out)
{
	stencil(n, 4, out);
}

/* This is an all-to-all in the rows, and in the columns, of a rectangle of ranks. */
static void pencil(int n, struct cpl_comm_gather *out)
{
	int side[2];

	sides(n, 2, side);
	for (int r = 0; r < n; r++) {
		int x = r % side[0], y = r / side[0];

		for (int i = 0; i < side[0]; i++)
			put_entry(out, r, y * side[0] + i, 1);
		for (int i = 0; i < side[1]; i++)
			put_entry(out, r, i * side[0] + x, 1);
	}
}

static void all_to_all(int n, struct cpl_comm_gather *out)
{
	for (int r = 0; r < n; r++)
		for (int i = 0; i < n; i++)
			put_entry(out, r, i, 1);
}

static int power_of_two(int n)
{
	int p = 1;

	while (p < n && p < 1 << 30)
		p *= 2;
	return p;
}

/* There are partners at every distance that is a power of two, in blocks of twice
 * that, and those behind the last rank are left out. Each gets `each` bytes, or
 * those at distance 1 get `most` and the others less by their distance. */
static void exchange(int n, double each, double most,
                     struct cpl_comm_gather *out)
{
	for (int d = power_of_two(n) / 2; d >= 1; d /= 2) {
		double bytes = most > 1 ? most / d : each;

		for (int r = 0; r < n; r++)
			if ((r ^ d) < n)
				put_entry(out, r, r ^ d, bytes);
	}
}

static void doubling(int n, struct cpl_comm_gather *out)
{
	exchange(n, 1, 1, out);
}

static void halving(int n, struct cpl_comm_gather *out)
{
	exchange(n, 1, n > 2 ? power_of_two(n) / 2 : 1, out);
}

static void tree(int n, double bytes, struct cpl_comm_gather *out)
{
	for (int d = 1; d < n; d *= 2)
		for (int r = 0; r + d < n; r += 2 * d) {
			put_entry(out, r + d, r, bytes);
			put_entry(out, r, r + d, bytes);
		}
}

static void binomial(int n, struct cpl_comm_gather *out)
{
	tree(n, 1, out);
}

static void two_d(int n, struct cpl_comm_gather *out)
{
	exchange(n, 0.3, 1, out);
	tree(n, 0.7, out);
}

static const struct cpl_jobs_pattern table[] = {
	{"ring", ring},
	{"stencil-2d", stencil_2d}, /* the neighbours on a torus */
	{"stencil-3d", stencil_3d},
	{"stencil-4d", stencil_4d},
	{"pencil", pencil}, /* all-to-all in rows and in columns of a rectangle */
	{"all-to-all", all_to_all},
	{"recursive-doubling", doubling}, /* partners at distances 1, 2, 4 ... */
	{"recursive-halving", halving},   /* the same, the nearer the more bytes */
	{"binomial", binomial},           /* up and down a tree */
	{"2-d", two_d}, /* 30 % recursive-doubling, 70 % binomial */
	{NULL, NULL},
};

const struct cpl_jobs_pattern *cpl_jobs_pattern_find(const char *name,
                                                     struct cpl_error *err)
{
	char list[256] = "none"; /* "none" is no pattern of ours */
	size_t used = strlen(list);

	for (int i = 0; table[i].name; i++) {
		if (!strcasecmp(table[i].name, name))
			return &table[i];
		used += (size_t)snprintf(list + used, sizeof(list) - used,
		                         ", %s", table[i].name);
	}
	cpl_fail(err, "there is no pattern '%.40s'; it must be one of %s", name,
	         list);
	return NULL;
}

/* The largest message is a megabyte. */
static void scale(struct cpl_comm *comm)
{
	double largest = 1;

	for (int64_t i = 0; i < comm->n_entries; i++)
		if (comm->bytes[i] > largest)
			largest = comm->bytes[i];
	for (int64_t i = 0; i < comm->n_entries; i++)
		comm->bytes[i] *= MEGABYTE / largest;
}

struct cpl_comm *cpl_jobs_pattern_comm(const struct cpl_jobs_pattern *pattern,
                                       int n, struct cpl_error *err)
{
	struct cpl_comm_gather gather;
	struct cpl_comm *comm = NULL;

	if (pattern->make == all_to_all && (int64_t)n * n > MAX_ENTRIES) {
		cpl_fail(err, "%s of %d ranks has more than %d entries",
		         pattern->name, n, MAX_ENTRIES);
		return NULL;
	}
	if (cpl_comm_gather_open(&gather, n, err))
		goto out;
	pattern->make(n, &gather);
	if (cpl_comm_gather_counted(&gather, err))
		goto out;
	pattern->make(n, &gather);
	scale(gather.comm);
	comm = cpl_comm_gather_end(&gather, err);
out:
	cpl_comm_gather_free(&gather);
	return comm;
}
