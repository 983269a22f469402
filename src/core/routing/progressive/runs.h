/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows between groups summed up, and the state of a solve. Private to
 * progressive-adaptive. */
#ifndef CPL_ROUTING_RUNS_H
#define CPL_ROUTING_RUNS_H

#include "routing/dragonfly_paths.h"
#include "routing/progressive/equilibrium.h"
#include "routing/progressive/progressive.h"

/*
 * What a router sends to one other group (out), or gets from one (in). All
 * flows of a run have the same gateways to choose from, and their paths inside
 * groups go to and from these, so that paths are summed up by run before they
 * are put on links.
 */
struct gateway_run {
	int router, own, other; /* own: the router's group */
	int hops;               /* out: links of the flow that goes farthest */
	double gone;            /* bytes on detours */
	double reach;           /* links to, or from, gateways on detours, mean */
	int64_t next;           /* in: of the same router, or -1 */
};

struct runs {
	int64_t n;
	struct gateway_run *run;
	/* [n * width] bytes of the minimal paths on each of the K links; one
	 * number, their sum, where they are even. */
	double *bytes;
};

struct job_runs {
	struct runs out; /* by router */
	struct runs in;  /* by the other group */
};

struct solve {
	struct cpl_linked_groups g;
	int64_t links; /* between groups */
	bool even;     /* minimal paths are, over the links between groups */
	int width;     /* numbers of a run: K, or where they are even 1 */
	bool masks;    /* cpl_gateways() has all links of two groups at once */
	const struct cpl_routing *minimal;
	struct cpl_share *share;
	double *on, *moved; /* [links] minimal bytes; of these diverted, then the
	                     * part of them */
	double *load;
	int *group_of;      /* [routers with nodes] */
	int *ports;         /* [groups * members] a router's links to others */
	int64_t *slot;      /* [routers] run in, of the group at hand */
	int *stamp;         /* [routers] group that slot and enter are of, -1 */
	/* masks: [routers] links to the group at hand. */
	struct cpl_gateways *enter;
	double inverse[129]; /* 1 / i */
	double *scratch;    /* [2 * width] */
	/* Of one job. */
	struct job_runs *at;
	struct cpl_detours d;
	double *group;     /* [groups] diverted bytes of a router */
	double *place;     /* [members] */
	int *far;          /* [members] links from the gateways to a group */
	bool *seen;        /* [members] false */
	int *onward;       /* [members] */
	int *first;        /* [groups + 1] into target */
	int *target;       /* [pairs] */
	int *gate;         /* [members] number of a gateway, or -1 */
	int *gates;        /* [n_gates] gateways of a group, places in order */
	int n_gates;
	double *way;       /* [n_gates * n_gates] between them */
	double *between;   /* [pairs] links inside middle groups, mean */
	int64_t *head;     /* [routers] runs in by router, -1 */
	struct cpl_arena arena;
};

/* The job's flows inside groups go their way, and count in job->routed; the
 * others into runs, whose minimal bytes are added to on[]. A failed arena
 * leaves them unfinished. O(flows * paths). */
void cpl_runs_sum(struct solve *s, struct cpl_progressive_job *job,
                  struct job_runs *runs);

/* Of the runs of s->at: what stays on its minimal paths goes on the links, what
 * does not into the runs and s->d. Hop-bytes of what stays. O(runs * K). */
double cpl_runs_keep(struct solve *s);

/* Of the flows of s->at mean links of the one that goes farthest, once all
 * reach is known. O(flows * paths of those with detours). */
double cpl_runs_farthest(struct solve *s, const struct cpl_flows *flows);

#endif
