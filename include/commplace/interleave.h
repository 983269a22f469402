/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periodic jobs that share links send in each other's pauses: `commplace interleave`
 * says when, by COMMPLACE_INTERLEAVE=PERIOD:OFFSET in the job's environment, and the
 * program keeps to it:
 *
 *	struct commplace_turn *turn = commplace_turn_new(NULL, &err);
 *	for (...) {
 *		commplace_turn_wait(turn);
 *		... compute, and send ...
 *	}
 *	commplace_turn_free(turn);
 *
 * One process waits for the others of the job, or all do: clocks of nodes are taken
 * to agree to a part of a period, as with NTP.
 */
#ifndef COMMPLACE_INTERLEAVE_H
#define COMMPLACE_INTERLEAVE_H

#include "error.h"

COMMPLACE_BEGIN

struct commplace_turn;

/* text: PERIOD:OFFSET in seconds; NULL: of the environment, and where there is none
 * nothing waits. NULL with err: what is no such text, memory. */
COMMPLACE_API struct commplace_turn *
commplace_turn_new(const char *text, struct commplace_error *err);
COMMPLACE_API void commplace_turn_free(struct commplace_turn *turn);

/* Wait until an iteration may begin, and return for how many seconds. It may at once
 * if it is at most 10 % of a period late; and if one in the 20 calls before has waited
 * longer than that, since the iterations are then not as long as was said. */
COMMPLACE_API double commplace_turn_wait(struct commplace_turn *turn);

COMMPLACE_END

#endif
