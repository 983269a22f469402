/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages of a phase in the order of its algorithm: a collective operation
 * goes round by round, and a rank begins the next round when its own messages
 * of this one are through (Thakur, Rabenseifner, Gropp, IJHPCA 2005).
 */
#ifndef CPL_SIGNATURE_ROUNDS_H
#define CPL_SIGNATURE_ROUNDS_H

#include <stdint.h>

struct cpl_phase;

/* What one rank does in one round: a message to one rank, one from another;
 * -1: none. */
struct cpl_exchange {
	int to, from;
	double bytes; /* to `to` */
};

/* Rounds of one execution; 0: its messages have no order, all of the phase's
 * rows are sent at once. O(log ranks). */
int64_t cpl_phase_rounds(const struct cpl_phase *phase);
/* Round below that, rank below the signature's. O(log ranks). */
struct cpl_exchange cpl_phase_round(const struct cpl_phase *phase,
                                    int64_t round, int rank);

#endif
