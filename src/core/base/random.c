/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t cpl_random(uint64_t seed, uint64_t stream, uint64_t counter)
{
	uint64_t key = mix(seed + 0x9e3779b97f4a7c15ULL);

	key = mix(key ^ (stream + 0xd1b54a32d192ed03ULL));
	return mix(key + (counter + 1) * 0x9e3779b97f4a7c15ULL);
}

uint64_t cpl_random_below(uint64_t seed, uint64_t stream, uint64_t counter,
			  uint64_t n)
{
	uint64_t r = cpl_random(seed, stream, counter);

	return (uint64_t)(((unsigned __int128)r * n) >> 64);
}

void cpl_random_shuffle(int *item, int n, uint64_t seed, uint64_t stream)
{
	for (int i = n - 1; i > 0; i--) {
		int j = (int)cpl_random_below(seed, stream,
					      (uint64_t)(n - 1 - i),
					      (uint64_t)i + 1);
		int t = item[i];

		item[i] = item[j];
		item[j] = t;
	}
}
