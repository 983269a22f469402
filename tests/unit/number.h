/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmocka compares floats only; this compares doubles, |got - want| <= within.
 */
#pragma once

#define assert_number(got, want, within)                                       \
	do {                                                                   \
		double got_ = (got), want_ = (want);                           \
                                                                               \
		if (!(got_ >= want_ - (within) && got_ <= want_ + (within)))   \
			fail_msg("%s is %.17g, not %.17g", #got, got_, want_); \
	} while (0)
