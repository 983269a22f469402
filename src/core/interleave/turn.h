/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a job keeps to the offset that interleave.h found for it: its iterations begin
 * at times of the day that are the offset and a whole number of periods, so that jobs
 * of one circle need to know nothing of each other. As CASSINI's agents do (NSDI 2024,
 * section 4.2), a job that has drifted off its turn waits for the next one.
 */
/* Tests: turn in test_interleave. */
#pragma once

#include "base/error.h"

/* Iterations begin up to this part of a period late without a wait. */
#define CPL_TURN_PART 0.1
/* An iteration that is longer than its period drifts again and again: no more than
 * one in so many calls waits for longer than that part of a period. */
#define CPL_TURN_CALLS 20
/* Turns are this part longer than periods, so that what is a little late catches
 * up. */
#define CPL_TURN_SPARE 0.05

struct cpl_turn {
	double period, offset; /* seconds; period 0: there are no turns */
	long calls, waited;    /* waited: the call that waited last, or 0 */
};

/* "PERIOD:OFFSET" in seconds, 0 <= OFFSET < PERIOD; NULL: no turns. 0, or -1 with
 * err. */
int cpl_turn_parse(struct cpl_turn *turn, const char *text,
                   struct cpl_error *err);

/* Seconds to wait before an iteration that could begin now (seconds since 1970). */
double cpl_turn_wait(struct cpl_turn *turn, double now);
