/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This finds the phases of a recorded run, after PAS2P (Wong, Rexachs, Luque; the
 * tables of Rangel, Wong, Rexachs, Luque, "Mapping Policies based on Application
 * Signature and Communication Clustering for HPC").
 *
 * A phase is a recurring piece between two communications. Here it is the body of a
 * loop of the events (events.h), without the loops inside it that are phases of
 * their own.
 *
 *   1. In a rank, a loop is a candidate when an entry has min_rounds rounds in
 *      the mean, or when no loop around it has so many and it has two in the
 *      run; what other loops do belongs to the loop around them. A stretch
 *      outside of all loops, from one to the next, is a candidate if it happens
 *      twice. What stands beside a loop and is like the end or the beginning of
 *      its round belongs to it, since steps are folded wherever they begin to
 *      repeat. Candidates are one phase when they call the same functions with
 *      the same partners and communicators in the same order, and when bytes
 *      and computation of each round differ by no more than the factor
 *      `similarity` (computation: or by 100 us). The factor is needed since
 *      these are means over a whole loop.
 *   2. Ranks have phases of their own, since fewer calls are made at the ends of
 *      a grid. They are the same phase when their rounds are (within 5 %, or 2);
 *      those with the same functions are compared first, then the others in the
 *      order of the run.
 *   3. The steps of a run are from the first to the last round of its main loop
 *      (steps.c). A loop before or after them is a phase of its own, "start1" or
 *      "end1", that a longer run is taken to have as often as this one. All else
 *      before them is "start", all else after them, with the time after the last
 *      call, is "end"; both happen once.
 *   4. A phase with less than `relevant` of the run's time goes to the one around
 *      it. The shortest of those in no other go to "rest", as long as they have
 *      no more than that together. The rest is what no phase explains among the
 *      steps; it has weight 1, and gets all bytes and time that no phase has. So
 *      the sum over phases of weight * traffic is the run's traffic, and that of
 *      weight * time (PET, equation 1) is its time.
 *
 * A phase's weight is the median of its ranks' rounds, and its times are means over
 * all ranks of the run.
 */
#pragma once

#include "signature/phases/events.h"
#include "signature/signature.h"

struct cpl_phase_options {
	double min_rounds; /* >= 2 */
	double similarity; /* >= 1 */
	double relevant;   /* 0 .. 1 */
};

#define CPL_PHASE_OPTIONS                                                      \
	((struct cpl_phase_options){                                           \
	        .min_rounds = 10, .similarity = 2, .relevant = 0.01})

/* This is a call of a phase in one rank, as in the paper's Table II, for one round.
 * Of loops in a phase it tells what one round of the phase does. */
struct cpl_phase_call {
	int function; /* of cpl_run_events */
	int partner;  /* the first it sends to, else its source; -1: none */
	int partners; /* how many it sends to */
	double count; /* calls */
	double bytes; /* sent; of a receive those of its buffer */
	double compute, duration;
};

/* This is one rank in one phase; the seconds are of all rounds. */
struct cpl_phase_rank {
	double rounds; /* 0: the rank is not in it */
	double compute, communication;
};

enum cpl_phase_kind {
	CPL_PHASE_REPEATS,    /* with the steps of the run */
	CPL_PHASE_START_LOOP, /* repeats before them */
	CPL_PHASE_END_LOOP,   /* repeats after them */
	CPL_PHASE_START,      /* all else before them */
	CPL_PHASE_END,        /* all else after them */
	CPL_PHASE_REST,       /* among them, but in no phase */
};

/* This returns the kind of a phase by its name: of "start1", "end12", "start", "end"
 * and "rest" theirs, of any other CPL_PHASE_REPEATS. */
enum cpl_phase_kind cpl_phase_kind_of(const char *name);

struct cpl_found_phase {
	enum cpl_phase_kind kind;
	char name[24];
	double weight;
	double compute, communication; /* of one execution, mean over ranks */
	struct cpl_phase_rank *rank;   /* [n of events] */
};

struct phase_rank_segments;

struct cpl_phases {
	const struct cpl_run_events *events;
	int n; /* the last is "rest" */
	struct cpl_found_phase *phase;
	double time; /* of the run */
	struct phase_rank_segments *segments; /* [n of events] */
};

/* This returns NULL with err when memory is out, or no rank has events. It costs
 * O(nodes + phases^2 * ranks). events must live as long. */
struct cpl_phases *cpl_phases_find(const struct cpl_run_events *events,
                                   const struct cpl_phase_options *options,
                                   struct cpl_error *err);
void cpl_phases_free(struct cpl_phases *phases);

/* This gives the calls of a phase in the i-th rank of the events, in order. It
 * returns how many (0: the rank is not in it), or -1 with err. The caller frees
 * *calls. */
int cpl_phase_calls(const struct cpl_phases *phases, int phase, int i,
                    struct cpl_phase_call **calls, struct cpl_error *err);

/* This makes a signature with the phases as they are named, or if phases is NULL, with one phase "run" of all that the ranks' totals say. "recorded" has the
 * number of `incomplete` ranks (missing, or ended without MPI_Finalize). It returns
 * NULL with err. */
struct cpl_signature *cpl_phases_signature(const struct cpl_run_events *events,
                                           const struct cpl_phases *phases,
                                           const char *name,
                                           const char *application,
                                           struct cpl_error *err);
