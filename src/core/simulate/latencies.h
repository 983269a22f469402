/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of very many messages, in bins of which each is less than 1 % wide. */
#ifndef CPL_SIMULATE_LATENCIES_H
#define CPL_SIMULATE_LATENCIES_H

#include <stdint.h>

/* Bins of 2^-CPL_LATENCY_BITS of a power of two, from 2^CPL_LATENCY_LOW
 * seconds to 2^CPL_LATENCY_HIGH. */
#define CPL_LATENCY_BITS 7
#define CPL_LATENCY_LOW (-50)
#define CPL_LATENCY_HIGH 50
#define CPL_LATENCY_BINS                                                       \
	((CPL_LATENCY_HIGH - CPL_LATENCY_LOW) << CPL_LATENCY_BITS)

/* Starts as {0}. */
struct cpl_latencies {
	int64_t n;
	double min, max, sum;
	int64_t bin[CPL_LATENCY_BINS + 2]; /* below, the bins, above */
};

/* Add seconds >= 0, `count` times. O(1). */
void cpl_latencies_add(struct cpl_latencies *latencies, double seconds,
                       int64_t count);
/* The time at or below which a part q of them is, to the upper end of its bin,
 * above all bins the maximum; 0 without any. O(bins). */
double cpl_latencies_quantile(const struct cpl_latencies *latencies, double q);

#endif
