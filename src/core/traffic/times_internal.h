/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of times.h: a job's traffic, and where it was placed. */
#ifndef CPL_TRAFFIC_TIMES_INTERNAL_H
#define CPL_TRAFFIC_TIMES_INTERNAL_H

#include "graph/arena.h"
#include "traffic/times.h"

/* What a host sends another one in one execution. */
struct times_pair {
	int to;
	double pairs; /* of ranks */
	double bytes;
	double messages; /* of the pair of ranks that has most */
};

/* A link that a phase uses. */
struct times_link {
	int link;
	int rate; /* index into rates */
	double bytes, bandwidth;
	double messages; /* of all flows, by the parts that they have here */
	double packet;      /* seconds of one */
	double utilisation; /* by others, as last judged */
};

/* A flow of a phase that is solved exactly. */
struct times_flow {
	double bytes, pairs;
	int first; /* into way, up to the next flow's */
};

struct times_path {
	int at; /* the phase's link */
	double part;
};

/* The most seconds of a link from nodes, between routers (or inside nodes) and to
 * nodes; and of all, with the lowest of the links that have them, or -1. */
struct times_stages {
	double most[3], busiest;
	int64_t link;
};

struct times_phase {
	double weight;
	const struct cpl_comm *comm; /* or rows */
	struct cpl_rows *rows;
	/* By cpl_times_order: pair[first[host]] up to the next host's. */
	int64_t *first;
	struct times_pair *pair;
	int64_t max_pairs;
	/* By cpl_times_put. */
	int64_t n_flows; /* between hosts, on the network */
	struct times_link *link;
	int64_t n_links, max_links;
	struct times_stages quiet; /* without others */
	int *shared; /* [n_shared] links that others use, by cpl_times_share */
	int64_t n_shared, max_shared;
	double alone;            /* seconds of one execution, latency not among them */
	double latency;          /* of one execution */
	bool exact;              /* has flows */
	struct times_flow *flow; /* [max_flows], one more than flows */
	int64_t max_flows;
	struct times_path *way;
	int64_t max_ways;
};

/* One link while flows share it. */
struct times_share {
	double capacity, left,
	        demand; /* demand: of the flows that still grow */
	int growing;
	int first; /* into flow_of, up to the next's */
	int next;  /* that others still grow on, in a list, or -1 */
};

/* Of one flow meanwhile. */
struct times_progress {
	double left, rate;
	bool growing;
};

struct cpl_times {
	struct cpl_run_times run;
	int ranks, n_phases;
	struct times_phase *phase;
	int n_hosts;
	int *rank_host; /* [ranks] */
	/* Hosts that share a node where the job was placed last count as the
	 * first of them: [n_hosts] of each that one. */
	bool twins;
	int *twin;
	int64_t max_twin;
	/* Pairs are of hosts, of their ports on ported, or yet to be made. */
	bool paired;
	const struct cpl_network *ported; /* NULL: of hosts */
	int n_ends;                       /* hosts, or their ports */
	int *end_node; /* [max_ends] where each is: node, or its cable */
	int64_t max_ends;
	const struct cpl_network *net; /* of the last place */
	bool timed;                    /* which states bandwidths */
	struct cpl_times_rate *rate;
	int64_t n_rates, max_rates;
	double period;
	bool shares; /* others are on these alone: */
	int *shared; /* [n_shared] rates */
	int64_t n_shared, max_shared;
	/* For flows that are solved exactly. */
	struct times_share *share; /* [max_share + 1] */
	int64_t max_share;
	struct times_path *flow_of; /* [max_flow_of] by link: flow, part */
	int64_t max_flow_of;
	struct times_progress *progress; /* [max_progress] by flow */
	int64_t max_progress;
	int64_t exact; /* flows of a phase that are; CPL_TIMES_EXACT */
};

/* Sets phase->alone and phase->quiet of one that was placed. */
void times_alone(struct cpl_times *times, struct times_phase *phase);

/* What hosts, twins as one, or on a network whose ranks have ports of their own
 * (NULL: none) these, send each other. 0, or -1 with err (memory). */
int times_pair_up(struct cpl_times *times, const struct cpl_network *ported,
                  struct cpl_error *err);

/* Make room for n items of so many bytes in *array, which has *max. 0, or -1
 * with err (memory). */
int times_room(void *array, int64_t *max, int64_t n, size_t size,
               struct cpl_error *err);

#endif
