/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This gives the messages of a phase in the order of its algorithm. A collective
 * operation goes round by round, and a rank begins the next round when its own
 * messages of this one have arrived (Thakur, Rabenseifner, Gropp, IJHPCA 2005). */
#pragma once

#include <stdint.h>

struct cpl_phase;

/* In one round a rank sends a message to one rank and gets one from another; -1
 * means none. */
struct cpl_exchange {
	int to, from;
	double bytes; /* to `to` */
};

/* This returns the rounds of one execution, or 0 if its messages have no order and
 * all of the phase's rows are sent at once. It costs O(log ranks). */
int64_t cpl_phase_rounds(const struct cpl_phase *phase);
/* round is below that number, rank below the signature's. It costs O(log ranks). */
struct cpl_exchange cpl_phase_round(const struct cpl_phase *phase,
                                    int64_t round, int rank);
