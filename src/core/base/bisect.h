/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one binary search: of low .. high - 1, for whose first ones `is_before`, said of
 * `middle`, holds and for the others not, low becomes the first other one (high: none),
 * and so does high. O(log(high - low)). */
#pragma once

#define CPL_BISECT(low, high, middle, is_before)                               \
	while ((low) < (high)) {                                               \
		__typeof__(low) middle = (low) + ((high) - (low)) / 2;         \
                                                                               \
		if (is_before)                                                 \
			(low) = middle + 1;                                    \
		else                                                           \
			(high) = middle;                                       \
	}
