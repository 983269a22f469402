/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interleave/turn.h"

#include <math.h>
#include <stdio.h>

int cpl_turn_parse(struct cpl_turn *turn, const char *text,
                   struct cpl_error *err)
{
	double period, offset;
	int end = -1;

	*turn = (struct cpl_turn){0};
	if (!text)
		return 0;
	if (sscanf(text, "%lf:%lf%n", &period, &offset, &end) != 2 ||
	    end < 0 || text[end])
		return cpl_fail(err,
		                "\"%.60s\" is not PERIOD:OFFSET in seconds",
		                text);
	if (!(period > 0 && period <= 1e6 && offset >= 0 && offset < period))
		return cpl_fail(err,
		                "\"%.60s\": the period is above 0 and at most "
		                "1000000 seconds, the offset from 0 to below it",
		                text);
	turn->period = period;
	turn->offset = offset;
	return 0;
}

double cpl_turn_wait(struct cpl_turn *turn, double now)
{
	double late, left, most = CPL_TURN_PART * turn->period;

	turn->calls++;
	if (!(turn->period > 0))
		return 0;
	late = fmod(now - turn->offset, turn->period);
	late += late < 0 ? turn->period : 0;
	left = turn->period - late;
	if (late <= most)
		return 0;
	if (left > most) {
		if (turn->waited && turn->calls - turn->waited < CPL_TURN_CALLS)
			return 0;
		turn->waited = turn->calls;
	}
	return left;
}
