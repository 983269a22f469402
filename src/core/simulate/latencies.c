/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/latencies.h"

#include <math.h>
#include <string.h>

#define SHIFT (52 - CPL_LATENCY_BITS)
#define BIAS ((uint64_t)(1023 + CPL_LATENCY_LOW) << CPL_LATENCY_BITS)

/* Bins go by the exponent and the highest bits of the mantissa. */
static int bin_of(double seconds)
{
	uint64_t bits;

	if (seconds < ldexp(1, CPL_LATENCY_LOW))
		return 0;
	if (seconds >= ldexp(1, CPL_LATENCY_HIGH))
		return CPL_LATENCY_BINS + 1;
	memcpy(&bits, &seconds, sizeof(bits));
	return (int)((bits >> SHIFT) - BIAS) + 1;
}

void cpl_latencies_add(struct cpl_latencies *l, double seconds, int64_t count)
{
	if (!l->n || seconds < l->min)
		l->min = seconds;
	if (!l->n || seconds > l->max)
		l->max = seconds;
	l->n += count;
	l->sum += seconds * (double)count;
	l->bin[bin_of(seconds)] += count;
}

double cpl_latencies_quantile(const struct cpl_latencies *l, double q)
{
	int64_t rank = (int64_t)ceil(q * (double)l->n), seen = 0;
	uint64_t bits;
	double end;
	int i = 0;

	if (!l->n)
		return 0;
	for (; i <= CPL_LATENCY_BINS; i++) {
		seen += l->bin[i];
		if (seen >= rank)
			break;
	}
	if (i > CPL_LATENCY_BINS)
		return l->max;
	bits = ((uint64_t)i + BIAS) << SHIFT;
	memcpy(&end, &bits, sizeof(end));
	return fmin(fmax(end, l->min), l->max);
}
