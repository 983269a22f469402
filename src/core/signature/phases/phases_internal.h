/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared between the files that find phases and make signatures of them. */
#ifndef CPL_SIGNATURE_PHASES_INTERNAL_H
#define CPL_SIGNATURE_PHASES_INTERNAL_H

#include "signature/phases/phases.h"

/* This is the part of one rank that is a phase, before and after equal phases are
 * joined. */
struct phase_segment {
	int parent;     /* the segment around it; 0, which is no loop, has -1 */
	int same;       /* an earlier segment that it equals, or itself */
	int phase;      /* number over all ranks; -1: none yet */
	bool own;       /* the phase is this segment, not one around it */
	double rounds;
	uint64_t functions; /* hash of the functions that it calls, in order */
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

/* This returns the phase that node i of a rank is in. */
static inline int phase_of_node(const struct phase_rank_segments *s, int64_t i)
{
	return s->segment[s->segment[s->of_node[i]].same].phase;
}

#endif
