/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the files that find phases and make signatures of them. */
#ifndef CPL_SIGNATURE_PHASES_INTERNAL_H
#define CPL_SIGNATURE_PHASES_INTERNAL_H

#include "signature/phases/phases.h"

/* The part of one rank that is a phase, before and after equal phases are
 * joined. */
struct phase_segment {
	int parent;     /* the segment around it; 0, which is no loop, has -1 */
	int same;       /* an earlier segment that it is one with, or itself */
	int phase;      /* of all ranks; -1: none yet */
	bool own;       /* that phase is this segment, not one around it */
	double rounds;
	uint64_t functions; /* hash of the functions that it calls, in order */
	uint64_t shape;     /* and with whom */
	double bytes, compute, communication; /* of all rounds */
	int next;                             /* of the same shape */
};

struct phase_rank_segments {
	struct phase_segment *segment; /* [n] */
	int n;
	int *of_node; /* [nodes]: segment; a loop that is one: its own */
	/* [nodes]: the node of a loop of which this one, next to the loop, is a
	 * round; else itself */
	int64_t *as_node;
};

/* The phase that node i of a rank is in. */
static inline int phase_of_node(const struct phase_rank_segments *s, int64_t i)
{
	return s->segment[s->segment[s->of_node[i]].same].phase;
}

#endif
