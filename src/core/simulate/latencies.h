/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times of very many messages, in bins that are each less than 1 % wide. */
#pragma once

#include <stdint.h>

/* A bin has 2^-CPL_LATENCY_BITS of a power of two; bins go from
 * 2^CPL_LATENCY_LOW seconds to 2^CPL_LATENCY_HIGH. */
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

/* Adds seconds >= 0, `count` times. O(1). */
void cpl_latencies_add(struct cpl_latencies *latencies, double seconds,
                       int64_t count);
/* The time that a share q of messages does not exceed, to the upper end of its
 * bin, and above all bins the maximum; 0 without messages. O(bins). */
double cpl_latencies_quantile(const struct cpl_latencies *latencies, double q);
