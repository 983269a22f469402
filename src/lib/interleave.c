/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "interleave/turn.h"

struct commplace_turn {
	struct cpl_turn turn;
};

struct commplace_turn *commplace_turn_new(const char *text,
                                          struct commplace_error *err)
{
	struct commplace_turn *turn = calloc(1, sizeof(*turn));
	struct cpl_error why = {""};

	if (!text)
		text = getenv("COMMPLACE_INTERLEAVE");
	if (!turn)
		cpl_fail_memory(&why);
	else if (!cpl_turn_parse(&turn->turn, text, &why))
		return turn;
	free(turn);
	cpl_lib_fail(err, &why);
	return NULL;
}

void commplace_turn_free(struct commplace_turn *turn)
{
	free(turn);
}

double commplace_turn_wait(struct commplace_turn *turn)
{
	struct timespec now, until;
	double seconds;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	seconds = cpl_turn_wait(&turn->turn,
	                        (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
	if (!(seconds > 0))
		return 0;
	ns = now.tv_nsec + (int64_t)(seconds * 1e9);
	until.tv_sec = now.tv_sec + (time_t)(ns / 1000000000);
	until.tv_nsec = (long)(ns % 1000000000);
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
	return seconds;
}
