/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counter-based random numbers: every draw is a pure function of (seed,
 * stream, counter), so results do not depend on order, threads or machine.
 * The mixer is SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
 */
#ifndef CPL_BASE_RANDOM_H
#define CPL_BASE_RANDOM_H

#include <stdint.h>

/* 64 random bits for this (seed, stream, counter). O(1). */
uint64_t cpl_random(uint64_t seed, uint64_t stream, uint64_t counter);

/*
 * A uniform integer in [0, n), n >= 1; unbiased enough for n < 2^32
 * (multiply-shift of the upper bits, bias below n / 2^64). O(1).
 */
uint64_t cpl_random_below(uint64_t seed, uint64_t stream, uint64_t counter,
			  uint64_t n);

/*
 * Fisher-Yates: shuffle item[0..n) in place, from the draws (seed, stream,
 * 0..n-2). O(n).
 */
void cpl_random_shuffle(int *item, int n, uint64_t seed, uint64_t stream);

#endif
