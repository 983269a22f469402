/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This tells where the time of phases goes, and what it would be with the ranks on
 * other hosts (Rangel, Wong, Rexachs, Luque, equations 1 to 3):
 *
 *   PET = sum of weight * time;  time = computation + communication;
 *   communication = transfer + idle
 *
 * Transfer is what a rank's messages take at the least on an idle machine where the
 * ranks are (machine.h). Each message keeps the rank for its occupancy, the last
 * one is under way for the latency and its receiver's overhead, and each received
 * one but the last costs its own overhead (LogGP: Alexandrov, Ionescu, Schauser,
 * Scheiman). Where these were not measured, the whole times are added up. A phase's
 * transfer is that of the rank with most, but no more than its communication. Where
 * the network is known, the least that a phase communicates is the larger one of
 * that transfer and of what its bytes take on the links (traffic/times.h).
 * Elsewhere the phase is taken to need computation + communication * least there /
 * least here: an estimate.
 */
#pragma once

#include "signature/phases/machine.h"
#include "signature/phases/phases.h"

/* A rank runs here; equal numbers mean the same place. */
struct cpl_rank_location {
	int node, socket;  /* sockets of other nodes have other numbers */
	int router, group; /* all 0 where the network is not known */
};

/* This says where a run's ranks are. */
struct cpl_run_location {
	const struct cpl_rank_location *rank; /* [ranks] */
	/* [n_phases] is what one execution of each phase takes on the links at the
	 * least, in seconds; NULL means that the network is not known. */
	const double *network;
};

/* These are seconds of one execution. */
struct cpl_predicted_phase {
	double time, compute, transfer, idle;
	double elsewhere; /* its time there */
	double network[2]; /* on the links, here and there; 0: not known */
	/* [ranks] has the values of each rank; NULL means that events are not
	 * known. */
	double *rank_idle, *rank_compute;
	int waited_for; /* the rank that computes longest; -1: not known */
	double most_idle; /* of one rank */
};

/* This fills out with what becomes of n_phases of sig whose ranks are here and
 * would be there (NULL: the same). sig was made of phases, or they are NULL. It
 * returns 0, or -1 with err (memory, a phase without a matrix or time). Free with
 * cpl_predict_free in either case. It costs O(pairs * log sizes). */
int cpl_predict(const struct cpl_signature *sig,
                const struct cpl_phases *phases,
                const struct cpl_machine *machine,
                const struct cpl_run_location *here,
                const struct cpl_run_location *there,
                struct cpl_predicted_phase *out, struct cpl_error *err);
void cpl_predict_free(struct cpl_predicted_phase *phase, int n);

/* This says whether a rank waits: it is idle for more than half as long as the one
 * that is idle most, and for more than a twentieth of the phase. */
bool cpl_predict_waits(const struct cpl_predicted_phase *phase, int rank);

/* These are times of a run that steps more often. */
struct cpl_foreseen {
	double time;      /* seconds */
	double low, high; /* what is not known to repeat does not, or does */
};

/* A longer run has a phase `most` times as often at the most, `least` times at the
 * least, and `likely` times as far as one can say. A phase of a weight above 1
 * repeats with the steps, and "rest", which is among them, goes on as they do, or
 * does not. Loops of the start and the end ("start1", "end1") are there as often as
 * before, or repeat as well, if they are steps. "start" and "end" happen once. Any
 * other phase of weight 1 likely does. */
struct cpl_phase_times {
	double least, likely, most;
};

struct cpl_phase_times cpl_phase_times(const char *name, double weight,
                                       double times);

/* This foresees the time of a run with `times` times the steps. O(phases). */
struct cpl_foreseen cpl_foresee(const struct cpl_signature *sig, double times);
