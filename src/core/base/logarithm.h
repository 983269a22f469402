/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logarithm and exponential function from additions, multiplications and
 * divisions alone: the same bits on every machine, which a C library's need not
 * give. Within 1e-15 of the true value. For means, not for inner loops.
 */
#pragma once

#include <math.h>

#define CPL_LN2 0.69314718055994530942

/* Of x > 0 and finite: ln m + e ln 2, x = m 2^e, by the series of artanh. */
static inline double cpl_log_natural(double x)
{
	int e;
	double m = frexp(x, &e), y, term, sum = 0;

	if (m < 0.70710678118654752440) {
		m *= 2;
		e--;
	}
	y = (m - 1) / (m + 1); /* within 0.172: 13 terms are enough */
	term = y;
	for (int k = 1; k < 27; k += 2) {
		sum += term / k;
		term *= y * y;
	}
	return 2 * sum + e * CPL_LN2;
}

/* e^x, |x| below 700: 2^k e^r by Taylor's series. */
static inline double cpl_exp_natural(double x)
{
	double k = floor(x / CPL_LN2 + 0.5), r = x - k * CPL_LN2;
	double term = 1, sum = 1;

	for (int i = 1; i < 20; i++) {
		term *= r / i;
		sum += term;
	}
	return ldexp(sum, (int)k);
}

/* e^x - 1 for any x, also where x is small. */
static inline double cpl_exp_less_one(double x)
{
	double term = 1, sum = 0;

	if (!(fabs(x) < 0.5))
		return x > 700    ? INFINITY
		       : x > -700 ? cpl_exp_natural(x) - 1
		                  : -1;
	for (int i = 1; i < 20; i++) {
		term *= x / i;
		sum += term;
	}
	return sum;
}
