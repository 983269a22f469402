/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/rank_compute.h"

#include <math.h>
#include <stdlib.h>

/* One rank of many may be the only one that computes. */
#define MAX_PERCENT 2000000000L

/* This reads a number at *at, which moves behind it. It returns -1 if there is none
 * or it is larger. */
static long take_number(const char **at, long most)
{
	const char *p = *at;
	long n = 0;

	if (*p < '0' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = 10 * n + (*p - '0');
		if (n > most)
			return -1;
	}
	*at = p;
	return n;
}

/* This reads the percents, for at most `ranks` ranks. It returns how many ranks it
 * has, or -1 if the text is malformed. */
static int take_ranks(const char *text, int ranks, double mean, double *out)
{
	int n = 0;

	for (;;) {
		long percent = take_number(&text, MAX_PERCENT), run = 1;

		if (percent >= 0 && *text == 'x') {
			text++;
			run = take_number(&text, ranks);
		}
		if (percent < 0 || run < 1 || run > ranks - n)
			return -1;
		for (; run > 0; run--)
			out[n++] = mean * (double)percent / 100;
		if (!*text)
			return n;
		if (*text++ != ',')
			return -1;
	}
}

double *rank_compute_parse(const char *text, int ranks, double mean,
                           struct cpl_error *err)
{
	double *out = malloc(sizeof(*out) * (size_t)ranks);

	if (!out)
		return cpl_fail_null_memory(err);
	if (take_ranks(text, ranks, mean, out) == ranks)
		return out;
	cpl_fail(err,
	         "\"compute_percent\" is not a list of %d percents such as "
	         "100x14,230,95",
	         ranks);
	free(out);
	return NULL;
}

static long percent_of(double seconds, double mean)
{
	return (long)fmin(MAX_PERCENT, fmax(0, round(100 * seconds / mean)));
}

void rank_compute_print(FILE *f, const double *seconds, int ranks, double mean)
{
	for (int r = 0, next; r < ranks; r = next) {
		long percent = percent_of(seconds[r], mean);

		for (next = r + 1;
		     next < ranks && percent_of(seconds[next], mean) == percent;)
			next++;
		fprintf(f, "%s%ld", r ? "," : "", percent);
		if (next - r > 1)
			fprintf(f, "x%d", next - r);
	}
}
