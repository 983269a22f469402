/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/random.h"

uint64_t cpl_random(uint64_t seed, uint64_t stream, uint64_t counter)
{
	return cpl_random_at(cpl_random_key(seed, stream), counter);
}

uint64_t cpl_random_below(uint64_t seed, uint64_t stream, uint64_t counter,
			  uint64_t n)
{
	return cpl_random_scale(cpl_random(seed, stream, counter), n);
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
