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

double cpl_random_exponential(uint64_t r)
{
	const double ln2 = 0.69314718055994531;
	uint64_t u = r | 1;
	int zeros = __builtin_clzll(u);
	/* In [1/2, 1). */
	double m = (double)((u << zeros) >> 11) / 9007199254740992.0;
	double t = (1 - m) / (1 + m), t2 = t * t;

	/* -ln(m) = 2 artanh(t), t <= 1/3. */
	return zeros * ln2 +
	       2 * t * (1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 / 7)));
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
