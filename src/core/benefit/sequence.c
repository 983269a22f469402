/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit/sequence.h"

#include <math.h>

#include "base/logarithm.h"

/* The mixture's own precision: 1.2 / log(1 - 0.05)^2, at which the interval's
 * width is least, for alpha of 5 %, when it is as wide as that effect. */
#define MIXTURE 456.0
#define MOST 1e30

double cpl_sequence_radius(double precision, double df, double alpha)
{
	double sum = precision + MIXTURE, a, t2, rest;

	if (!(precision > 0) || !(df > 0))
		return INFINITY;
	a = (cpl_log_natural(sum / MIXTURE) - 2 * cpl_log_natural(alpha)) / (df + 1);
	/* e^a - 1 and 1 - e^a * MIXTURE / sum, also where a is small. */
	rest = precision / sum - cpl_exp_less_one(a) * MIXTURE / sum;
	if (!(rest > 0))
		return INFINITY;
	t2 = df * cpl_exp_less_one(a) / rest;
	return sqrt(t2 / precision);
}

double cpl_sequence_precision(double effect, double alpha)
{
	double low = 1e-30, high = MOST;

	for (int i = 0; i < 80; i++) {
		double middle = sqrt(low * high);

		if (cpl_sequence_radius(middle, 1e12, alpha) > effect)
			low = middle;
		else
			high = middle;
	}
	return high;
}
