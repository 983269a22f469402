/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows between groups summed up, and the state of a solve; for
 * progressive-adaptive only. */
#pragma once

#include "routing/dragonfly_paths.h"
#include "routing/progressive/equilibrium.h"
#include "routing/progressive/progressive.h"

/* The bytes that a router sends to one other group (out), or gets from one
 * (in). All flows of a run have the same gateways to choose from, and their
 * paths inside groups lead to and from these, so paths are summed up by run
 * before they are put on links. */
struct gateway_run {
	int router, own, other; /* own: the router's group */
	int hops;               /* out: of the flow that goes farthest, in
	                         * links */
	double gone;            /* bytes on detours */
	double reach;           /* mean links to or from gateways on detours */
	int64_t next;           /* in: the next of the same router, or -1 */
};

struct runs {
	int64_t n;
	struct gateway_run *run;
	/* [n * width] The bytes of the minimal paths on each of the K links, or
	 * only their sum where they are even. */
	double *bytes;
};

struct job_runs {
	struct runs out; /* by router */
	struct runs in;  /* by the other group */
};

struct solve {
	struct cpl_linked_groups g;
	int64_t links; /* between groups */
	bool even;     /* minimal paths are even over the links between
	                * groups */
	int width;     /* numbers of a run: K, or 1 where even */
	bool masks;    /* cpl_gateways() shows all links of two groups at
	                * once */
	const struct cpl_routing *minimal;
	struct cpl_share *share;
	double *on, *moved; /* [links] minimal bytes; those diverted, later
	                     * their share */
	double *load;
	int *group_of;      /* [routers with nodes] */
	int *ports;         /* [groups * members] a router's links to other
	                     * groups */
	int64_t *slot;      /* [routers] their runs in, of the group at hand */
	int *stamp;         /* [routers] the group that slot and enter are valid
	                     * for, or -1 */
	/* [routers] With masks: links to the group at hand. */
	struct cpl_gateways *enter;
	double inverse[129]; /* 1 / i */
	double *scratch;    /* [2 * width] */
	/* The job at hand. */
	struct job_runs *at;
	struct cpl_detours d;
	double *group;     /* [groups] a router's diverted bytes */
	double *place;     /* [members] */
	int *far;          /* [members] links from the gateways to a group */
	bool *seen;        /* [members] false */
	int *onward;       /* [members] */
	int *first;        /* [groups + 1] into target */
	int *target;       /* [pairs] */
	int *gate;         /* [members] their numbers as gateways, or -1 */
	int *gates;        /* [n_gates] a group's gateways in order */
	int n_gates;
	double *way;       /* [n_gates * n_gates] between them */
	double *between;   /* [pairs] mean links inside middle groups */
	int64_t *head;     /* [routers] first run in of each, or -1 */
	struct cpl_arena arena;
};

/* The job's flows inside groups are put on their paths and count in
 * job->routed. The others are summed up into runs, whose minimal bytes are
 * added to on[]. If the arena fails, they are incomplete. O(flows * paths). */
void cpl_runs_sum(struct solve *s, struct cpl_adaptive_job *job,
                  struct job_runs *runs);

/* For the runs of s->at, puts the bytes that stay on minimal paths on links,
 * and the others into the runs and s->d. Returns the hop-bytes of those that
 * stay. O(runs * K). */
double cpl_runs_keep(struct solve *s);

/* The mean links of the flow of s->at that goes farthest; all reach must be
 * known. O(flows * paths of those with detours). */
double cpl_runs_farthest(struct solve *s, const struct cpl_flows *flows);
