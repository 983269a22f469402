/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared between the files that find phases and make signatures of them. */
#pragma once

#include "signature/phases/phases.h"

#define SAME_COMPUTE 1e-4 /* seconds */

/* This is the part of one rank that is a phase, before and after equal phases are
 * joined. */
struct phase_segment {
	int parent;     /* the segment around it; 0, which is no loop, has -1 */
	int same;       /* an earlier segment that it equals, or itself */
	int phase;      /* number over all ranks; -1: none yet */
	bool own;       /* the phase is this segment, not one around it */
	double rounds;
	double own_rounds; /* without those of equal ones */
	double from, to;   /* seconds of the rank's events before and with it */
	double all_from, all_to; /* of all equal ones */
	enum cpl_phase_kind place; /* of what goes to no phase: one of the last
	                              three */
	uint64_t functions; /* hash of the functions that it calls, in order */
	uint64_t any_order; /* hash of them in any order */
	uint64_t shape;     /* hash that also has their partners */
	double bytes, compute, communication; /* of all rounds */
	/* the next segment of the same shape */
	int next;
};

struct phase_rank_segments {
	struct phase_segment *segment; /* [n] */
	int n;
	int *of_node; /* [nodes]: segment; a loop that is one has its own */
	/* [nodes] is the node of the loop next to this one of which this is a
	 * round, else the node itself. */
	int64_t *as_node;
};

/* This is a phase while ranks are brought together. */
struct phase_candidate {
	uint64_t functions, any_order;
	double weight; /* of the rank that had it first */
	double from, to; /* the same */
	int parent;
	int rank; /* the last one that has it */
	double time;
	int phase; /* in the result; or that of the candidate it goes to */
	enum cpl_phase_kind kind; /* one of the first three */
	bool own;
};

/* This says whether two amounts differ by no more than a factor. */
bool phase_alike(double a, double b, double factor);

/* This puts all nodes of a rank into segments, in the order of the run, and unites
 * those that are alike. It returns 0, or -1 with err. It costs O(nodes + segments *
 * those of one shape). */
int phase_segments(const struct cpl_run_rank *rank,
                   const struct cpl_phase_options *options,
                   struct phase_rank_segments *s, struct cpl_error *err);

/* This returns the seconds of node i of a rank with all that is in it. */
double phase_seconds_of(const struct cpl_run_rank *rank, int64_t i);

/* This adds a segment without parts, and returns its number, or -1 with err. */
int phase_add_segment(struct phase_rank_segments *s, int parent, double rounds,
                      struct cpl_error *err);

/* This finds the steps of the run, and sets the kinds of the candidates (0 is none).
 * What is in none goes to segments of its own, by its place. It returns 0, or -1
 * with err when memory is out. It costs O(nodes + segments + candidates). */
int phase_find_steps(const struct cpl_run_events *events, double similarity,
                 struct phase_rank_segments *ranks,
                 struct phase_candidate *candidate, int n,
                 struct cpl_error *err);

/* This returns the phase that node i of a rank is in. */
static inline int phase_of_node(const struct phase_rank_segments *s, int64_t i)
{
	return s->segment[s->segment[s->of_node[i]].same].phase;
}
