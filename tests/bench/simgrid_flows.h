/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SimGrid's fluid simulation of flows that start together, or (moments_flows.c)
 * our own. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct flow {
	int path;
	double bytes;
	int message; /* that it is a way of: those of one come after each other */
};

/* Flows first .. first + n - 1 start at once. */
struct flow_run {
	int first, n;
	double start;   /* of those with a period */
	double seconds; /* out: until the last one has ended */
};

struct flow_problem {
	int n_links;
	const double *bandwidth; /* [n_links] bytes/s */
	int n_paths;
	const int *path_first; /* [n_paths + 1] */
	const int *path_link;  /* [path_first[n_paths]] */
	const struct flow *flow;
	/* Links as they are, without latency; else SimGrid's default model of
	 * TCP (LV08) and `latency` seconds a link. */
	bool ideal;
	double latency;
	int n_runs;
	struct flow_run *run;
	bool together; /* all runs start at once, else one after the other */
	/* > 0: runs start when they say, and again so much later, or when they
	 * have ended, and again; seconds are of the second time, when the others
	 * come and go. */
	double period;
	/* Our own alone: the ways of a message keep their proportions; runs have
	 * equal shares of a link that all of them use most. */
	bool whole, jobs;
};

extern const bool flows_are_ours;

/* Once a process. */
void flows_simulate(const struct flow_problem *problem);

#ifdef __cplusplus
}
#endif
