/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of times.h: a job's traffic, and where it was placed. */
#pragma once

#include "graph/arena.h"
#include "traffic/times.h"

/* What a host sends another one in one execution. */
struct times_pair {
	int to;
	double pairs; /* of ranks */
	double bytes;
	double messages; /* of the pair of ranks that has most */
};

/* Pairs that are kept: the host in the low bits, and which of those alike it is. */
#define TIMES_HOST_BITS 20
#define TIMES_HOSTS (1 << TIMES_HOST_BITS)
#define TIMES_ALIKE (1 << (32 - TIMES_HOST_BITS))

/* A link that a phase uses. */
struct times_link {
	int link;
	int rate; /* index into rates */
	double bytes, bandwidth;
	double messages; /* of all flows, by the parts that they have here */
	double packet; /* seconds of one */
};

/* Links of a phase that others are on, too, so many at a time, with all that judging them
 * takes in a row. Where there are fewer the rest has no bytes. */
#define TIMES_TOGETHER 8
struct times_met {
	double bytes[TIMES_TOGETHER], bandwidth[TIMES_TOGETHER];
	double inverse[TIMES_TOGETHER]; /* 1 / bandwidth */
	double messages[TIMES_TOGETHER], packet[TIMES_TOGETHER];
	int shared[TIMES_TOGETHER]; /* index into the job's */
	int at[TIMES_TOGETHER];     /* the phase's link */
	int stage[TIMES_TOGETHER];  /* of times_stages */
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

/* The most seconds of a link from nodes, to nodes, inside them, and between routers: of
 * each class, where packets pass those in turn; and of all, with the lowest of the links
 * that have them, or -1. */
struct times_stages {
	double most[3 + CPL_NETWORK_MAX_CLASSES], busiest;
	int64_t link;
};

struct times_phase {
	double weight;
	int stated;          /* which of the caller's it is of, */
	struct cpl_phase of; /* that one, */
	int64_t round;       /* and a round of it, or -1: all of it, */
	struct cpl_rows *rows; /* by these, where it has no comm */
	/* By cpl_times_order: pair[first[host]] up to the next host's. */
	int64_t *first;
	struct times_pair *pair;
	int64_t max_pairs;
	uint32_t *packed; /* instead of pair, where they are kept, */
	struct times_pair *alike; /* with what they have */
	/* By cpl_times_put. */
	int64_t n_flows; /* between hosts, on the network */
	struct times_link *link;
	int64_t n_links, max_links;
	struct times_stages quiet; /* without others */
	struct times_met *met; /* of n_met links, by cpl_times_share */
	int64_t n_met, max_met;
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
	double level;   /* left / demand */
	int growing;
	int first; /* into flow_of, up to the next's */
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
	bool lent; /* first, packed and alike are another one's, or gone */
	int *rank_host; /* [ranks], or none where pairs are packed */
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
	const struct cpl_routing *choosing; /* whose packets chose their ways, or NULL */
	bool staged;  /* they pass links of each class in turn */
	struct cpl_times_rate *rate;
	int64_t n_rates, max_rates;
	double period; /* s over which the rates are: those of the run as
	                * stated, or else what the busiest link takes for all
	                * its bytes */
	/* By cpl_times_share: [n_shared] where it meets others, its rates there, and what
	 * these are over its stretch; [n_rates] the place of each in these, or -1. */
	int n_shared, *meeting, *place;
	double *shared_rate, *own;
	int64_t max_meeting, max_place, max_shared_rate, max_own;
	/* For flows that are solved exactly. */
	struct times_share *share; /* [max_share + 1] */
	int *open; /* [max_open] those on which flows grow */
	int64_t max_share, max_open;
	struct times_path *flow_of; /* [max_flow_of] by link: flow, part */
	int64_t max_flow_of;
	struct times_progress *progress; /* [max_progress] by flow */
	int64_t max_progress;
	int64_t exact; /* flows of a phase that are; CPL_TIMES_EXACT */
};

struct cpl_times_space {
	int *seen; /* [nodes] host + 1, 0 between calls */
	/* The network of cpl_network_judged, and the caller's where they
	 * differ. */
	const struct cpl_network *net, *ported;
	struct cpl_route_finder finder;
	int *at; /* [all links] place in a list + 1, 0 between uses */
	/* Sums of pairs of stations, cleared between uses. */
	double *bytes, *messages; /* [n_stations] */
	double *packet;           /* [n_stations] the most bytes of last ones */
	double *ports;            /* [n_stations] the most seconds on ports */
	int *touched;             /* [n_stations] */
	int *head;                /* [n_stations] a host there + 1, or 0 */
	int *next;                /* [max_hosts] the next one there + 1 */
	int64_t max_hosts;
	bool timed; /* bandwidths are stated */
	/* For a routing that finds the paths of all flows together, or NULL. */
	struct cpl_workload *workload;
	const struct cpl_routing *routing;
	/* Others' bytes while a phase lasts: made with their first rates. */
	struct cpl_load meanwhile;
	struct cpl_arena arena;
};

/* One phase being placed. */
struct times_placing {
	struct cpl_times *times;
	struct cpl_times_space *space;
	struct times_phase *phase;
	const int *node;
	const struct cpl_load *others; /* what packets adapt to, or NULL */
	double latency;                /* sum over the flows of which there are n */
	int64_t n;
	struct cpl_error *err;
};

static inline struct times_pair times_pair_at(const struct times_phase *phase,
                                              int64_t i)
{
	struct times_pair pair;

	if (!phase->packed)
		return phase->pair[i];
	pair = phase->alike[phase->packed[i] >> TIMES_HOST_BITS];
	pair.to = (int)(phase->packed[i] % TIMES_HOSTS);
	return pair;
}

/* The phase's entry of a link, or -1 with err. */
int64_t times_use_link(struct times_placing *p, int64_t link);

/* In place of the links of paths by flow, those that packets adapt to; then the same
 * beside others, of what they send while the phase lasts at least. 0, or -1 with err. */
int times_adapt(struct times_placing *p);
int times_adapt_to_others(struct times_placing *p);

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
