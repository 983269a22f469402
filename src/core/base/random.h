/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counter-based random numbers: every draw is a pure function of (seed,
 * stream, counter), so results do not depend on order, threads or machine.
 * The mixer is SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
 */
#pragma once

#include <stdint.h>

/* Streams of those that draw from a seed. Others have a stream for each of
 * their items (a rank, a pair of routers, a round). */
enum cpl_random_stream {
	/* Of a placement's seed. */
	CPL_STREAM_RANDOM_NODES = 1,
	CPL_STREAM_RANDOM_ROUTERS = 2,
	CPL_STREAM_RANDOM_CHASSIS = 3,
	CPL_STREAM_RANDOM_GROUPS = 4,
	CPL_STREAM_TRAFFIC = 5,
	/* Of a mapping's seed. */
	CPL_STREAM_BEST_SWAPS = 0,
	CPL_STREAM_BEST_THREES = 2000,
	CPL_STREAM_BISECT_LEVEL = 0,     /* + level */
	CPL_STREAM_BISECT_START = 1000,
	CPL_STREAM_MAPPER_ROUND = 0,     /* + round */
	CPL_STREAM_DOMAINS = 0x646f6d, /* "dom" */
	CPL_STREAM_RANDOM_MAP = 0x6d6170, /* "map" */
	/* Of a binding's seed. */
	CPL_STREAM_BIND_KICK = 5,
	CPL_STREAM_BIND_MOVES = 11,
	CPL_STREAM_BIND_CHANCES = 12,
	CPL_STREAM_BIND_NOISE = 13,
	/* Of a pattern's seed; umesh and spread: the rank. */
	CPL_STREAM_PERMUTATION = 0,
	/* Of a campaign's seed: the job. */
	CPL_STREAM_CAMPAIGN_MIX = 0x6d6978, /* "mix" */
	/* Of a job's number of nodes: the message. */
	CPL_STREAM_UNKNOWN = 0x756e6b6e, /* "unkn" */
	/* Of a trial's seed: the job. */
	CPL_STREAM_TRIAL = 0x747269616c, /* "trial" */
	/* Pivots of quartiles: of the number of values. */
	CPL_STREAM_PIVOTS = 0,           /* + 0, 1, 2 */
};

#define CPL_RANDOM_STEP 0x9e3779b97f4a7c15ULL

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
	uint64_t key = cpl_random_mix(seed + CPL_RANDOM_STEP);

	return cpl_random_mix(key ^ (stream + 0xd1b54a32d192ed03ULL));
}

static inline uint64_t cpl_random_at(uint64_t key, uint64_t counter)
{
	return cpl_random_mix(key + (counter + 1) * CPL_RANDOM_STEP);
}

/* The same one after the other: state starts as a key, and call c gives
 * cpl_random_at(key, c). */
static inline uint64_t cpl_random_next(uint64_t *state)
{
	return cpl_random_mix(*state += CPL_RANDOM_STEP);
}

/* 64 random bits r as an integer in [0, n). */
static inline uint64_t cpl_random_scale(uint64_t r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)r * n) >> 64);
}

/* 64 random bits for this (seed, stream, counter). O(1). */
uint64_t cpl_random(uint64_t seed, uint64_t stream, uint64_t counter);

/* A uniform integer in [0, n), n >= 1, with a bias below n / 2^64. O(1). */
uint64_t cpl_random_below(uint64_t seed, uint64_t stream, uint64_t counter,
			  uint64_t n);

/* 64 random bits r as a draw of the exponential distribution of mean 1, to
 * about 1e-5; by basic arithmetic only, so that it is the same everywhere. */
double cpl_random_exponential(uint64_t r);

/* Fisher-Yates: shuffle item[0..n) by the draws (seed, stream, 0..n-2). O(n). */
void cpl_random_shuffle(int *item, int n, uint64_t seed, uint64_t stream);
