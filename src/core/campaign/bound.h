/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is what jobs keep their nodes to (asked.h), on the units of the machine:
 * racks, or domains of accelerators, or what the campaign calls so. A job in segments
 * has each of them in one unit, or on as few as hold it. A job without has all its
 * nodes in a row, or on so many switches, which are the units. placement/bounds.h
 * makes choices fit, as it does for slurmctld.
 */
#pragma once

#include "campaign/asked.h"
#include "campaign/easy.h"
#include "placement/bounds.h"
#include "placement/cut.h"

/* Jobs that ask for the same. */
struct job_bound {
	struct cpl_asked asked;
	const struct cpl_level *within; /* of consolidated segments, or NULL */
	bool bounded; /* false: it only asks for whole units */
	struct cpl_bounds bounds;
	int fits, fits_not; /* nodes of jobs on the empty machine; 0: not known */
};

struct bounds {
	const struct cpl_network *net;
	unsigned char *all; /* [n_nodes] those that there are */
	struct cpl_whole_units units; /* of the empty machine */
	int least;                    /* nodes of the smallest unit */
	int *row;  /* [n_nodes] where each stands in the row of all */
	int *zero; /* [n_nodes + units] */
	int smallest; /* segment that any job asks for; 0: none does */
	int leaves;   /* nodes of the empty machine that no such segment has */
	int n;
	struct job_bound *bound;
	int *of; /* [n_jobs] -1: none */
};

/* This finds the units by their name, NULL for cut.h's auto. It returns 0, or -1 with
 * err; close it in either case. O(nodes). */
int bounds_open(struct bounds *out, const struct cpl_network *net,
                const char *units, int n_jobs, struct cpl_error *err);
void bounds_close(struct bounds *bounds);

/* This sets what a job of n nodes asks for. It returns 0, or -1 with err when memory
 * is out. O(those that ask for something else). */
int bounds_ask(struct bounds *bounds, int job, int n,
               const struct cpl_asked *asked, struct cpl_error *err);

/* This says whether such a job of n nodes finds nodes on the empty machine: 1 or 0, or
 * -1 with err when memory is out. As bound_find. */
int bound_ever(const struct bounds *bounds, struct job_bound *bound, int n,
               struct cpl_error *err);

/* This is the job's, or NULL for none. */
static inline const struct job_bound *bound_of(const struct bounds *bounds, int job)
{
	return bounds->of[job] < 0 ? NULL : &bounds->bound[bounds->of[job]];
}

static inline bool bound_in_segments(const struct bounds *bounds, int job)
{
	return bound_of(bounds, job) && bound_of(bounds, job)->asked.segment;
}

/* Is a job in segments among these n, of which some may have job -1? O(n). */
bool bounds_wait(const struct bounds *bounds, const struct cpl_easy_job *waits,
                 int n);

/* This takes out of free[n_nodes] the nodes of units that are not wholly free, if the
 * job asks for whole ones. It returns how many nodes are left. count[] has room for
 * the units. O(nodes). */
int bound_narrow(const struct bounds *bounds, const struct job_bound *bound,
                 unsigned char *free, int *count);

/* This writes n free nodes that the job may have into out[], those that are first[]
 * before others where they fit; both are [n_nodes], first NULL: none. free[] is as
 * bound_narrow leaves it. It returns 0, 1 if there are none, or -1 with err when
 * memory is out. It costs as much as cpl_bounds_fit. */
int bound_find(const struct bounds *bounds, const struct job_bound *bound,
               const unsigned char *free, const unsigned char *first, int n,
               int *out, struct cpl_error *err);

/* This counts those of the job's segments that do not lie in as few units as could
 * hold them, even if its nodes are divided among them in the best way. count[] has
 * room for the units. O(n + segments * units). */
int bound_crossed(const struct bounds *bounds, const struct job_bound *bound,
                  const int *node, int n, int *count);
