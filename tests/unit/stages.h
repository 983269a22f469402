/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What many flows take that pass links in stages. */
#pragma once

#include <math.h>

#include "traffic/times.h"

/* power: the sum of the stages' fourth powers, the busiest being 1; bytes of a message. */
static inline double in_stages(double busiest, double power, double bytes,
                               double at_once)
{
	return busiest * (1 + (pow(power, 0.25) - 1) /
	                              (1 + bytes / CPL_TIMES_PACKET / at_once));
}
