/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counter-based random numbers: every draw is a pure function of (seed,
 * stream, counter), so results do not depend on order, threads or machine.
 * The mixer is SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
 */
#ifndef CPL_BASE_RANDOM_H
#define CPL_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t cpl_random_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* What the draws of one (seed, stream) have in common, for loops over the
 * counter: cpl_random(seed, stream, c) is cpl_random_at(key, c). */
static inline uint64_t cpl_random_key(uint64_t seed, uint64_t stream)
{
	uint64_t key = cpl_random_mix(seed + 0x9e3779b97f4a7c15ULL);

	return cpl_random_mix(key ^ (stream + 0xd1b54a32d192ed03ULL));
}

static inline uint64_t cpl_random_at(uint64_t key, uint64_t counter)
{
	return cpl_random_mix(key + (counter + 1) * 0x9e3779b97f4a7c15ULL);
}

/* 64 random bits r as an integer in [0, n). */
static inline uint64_t cpl_random_scale(uint64_t r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)r * n) >> 64);
}

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
