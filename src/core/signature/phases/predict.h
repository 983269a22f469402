/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of phases goes, and what it would be with the ranks on other
 * hosts (Rangel, Wong, Rexachs, Luque, equations 1 to 3):
 *
 *   PET = sum of weight * time;  time = computation + communication;
 *   communication = transfer + idle
 *
 * Transfer is what a rank's messages take at the least on an idle machine where
 * the ranks are (machine.h): each keeps it for its occupancy, the last one is under
 * way for the latency and its receiver's overhead, and each that it receives but one
 * costs its own overhead (LogGP: Alexandrov, Ionescu, Schauser, Scheiman). Where
 * these were not measured, their whole times added up. A phase's is that of the rank with most,
 * but no more than its communication. Where the network is known, the least that
 * a phase communicates is the larger one of that transfer and of what its bytes
 * take on the links (traffic/times.h). Elsewhere the phase is taken to need
 * computation + communication * least there / least here: an estimate.
 */
#ifndef CPL_SIGNATURE_PHASES_PREDICT_H
#define CPL_SIGNATURE_PHASES_PREDICT_H

#include "signature/phases/machine.h"
#include "signature/phases/phases.h"

/* Where a rank runs; equal numbers: the same. */
struct cpl_rank_location {
	int node, socket;  /* sockets of other nodes have other numbers */
	int router, group; /* 0 of all where the network is not known */
};

/* Where a run's ranks are. */
struct cpl_run_location {
	const struct cpl_rank_location *rank; /* [ranks] */
	/* Seconds that one execution of each phase takes on the links at the
	 * least, [n_phases]; NULL: the network is not known. */
	const double *network;
};

/* Seconds of one execution. */
struct cpl_predicted_phase {
	double time, compute, transfer, idle;
	double elsewhere; /* its time there */
	double network[2]; /* on the links, here and there; 0: not known */
	/* Each rank's, [ranks]; NULL where events are not known. */
	double *rank_idle, *rank_compute;
	int waited_for; /* the rank that computes longest; -1: not known */
	double most_idle; /* of a rank */
};

/*
 * What becomes of n_phases of sig in out, where ranks are here, and would be there
 * (NULL: the same). phases: those that sig was made
 * of, or NULL. 0, or -1 with err (memory, a phase without a matrix or time).
 * Free with cpl_predict_free in either case. O(pairs * log sizes).
 */
int cpl_predict(const struct cpl_signature *sig,
                const struct cpl_phases *phases,
                const struct cpl_machine *machine,
                const struct cpl_run_location *here,
                const struct cpl_run_location *there,
                struct cpl_predicted_phase *out, struct cpl_error *err);
void cpl_predict_free(struct cpl_predicted_phase *phase, int n);

/* Does a rank wait? It does if it is idle for more than half as long as the one
 * that is idle most, and for more than a twentieth of the phase. */
bool cpl_predict_waits(const struct cpl_predicted_phase *phase, int rank);

#endif
