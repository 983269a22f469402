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
	int from, to; /* of the job's ends */
	double late;  /* seconds that its last packets take besides */
	double alone; /* seconds of a round's without others, late not among them */
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
	double packets;   /* of a message, the mean */
	uint32_t *packed; /* instead of pair, where they are kept, */
	struct times_pair *alike; /* with what they have */
	/* By cpl_times_put. */
	int64_t n_flows; /* between hosts, on the network */
	struct times_link *link;
	int64_t n_links, max_links;
	struct times_stages quiet; /* without others */
	struct times_met *met; /* of n_met links, by cpl_times_share */
	int64_t n_met, max_met;
	bool chained; /* a round of few flows, gone through host by host */
	double own;   /* of a round of many: seconds of the mean flow by itself */
	double bound; /* of rounds in their first: the busiest link's, without others, */
	int64_t bound_link; /* and which that is, or -1 */
	double whole; /* seconds without others; of rounds the first has those of all */
	double alone;            /* seconds of one execution, latency not among them */
	double latency;          /* of one execution */
	bool exact;              /* flows are solved */
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
	double end; /* seconds */
	bool growing;
};

/* When an end is through with its rounds so far, and what of that was waiting and
 * latency. */
struct times_chain {
	double seconds, waiting, latency;
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
	double at_once; /* CPL_TIMES_AT_ONCE, or of packets that adapt */
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
	/* For rounds: [max_per_byte] seconds of a byte on the phase's links beside
	 * others, [max_chain] of ends, now and after the round, or of all together,
	 * [max_passed] by rate, or shared rate, seconds of all rounds so far, and the most
	 * of these. */
	double *per_byte;
	struct times_chain *chain, together;
	double *passed, busiest;
	int64_t max_per_byte, max_chain, max_passed, busiest_link;
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
	/* [n_stations] of a round: the most bytes, and seconds of one on a port. */
	double *most, *slow;
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
	/* Sums over the flows of which there are n. */
	double latency, own;
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

/* The messages' last packets take so many times as long. */
void times_stretch_latency(struct times_phase *phase, double factor);

/* In place of the links of paths by flow, those that packets adapt to; then the same
 * beside others, of what they send while the phase lasts at least. 0, or -1 with err. */
int times_adapt(struct times_placing *p);
int times_adapt_to_others(struct times_placing *p);

/* Sets phase->alone and phase->quiet of one that was placed. */
void times_alone(struct cpl_times *times, struct times_phase *phase);
/* Sets phase->whole of all of them, and of rounds phase->bound, once the job's links are
 * known. */
void times_whole(struct cpl_times *times);

/* Seconds of one execution whose link i has times->share[i].capacity; each flow's are in
 * times->progress. */
double times_fill(struct cpl_times *times, const struct times_phase *phase);

extern const struct times_stages times_no_links;
/* Which of the stages a link is of. */
static inline int times_stage_of(const struct cpl_times *times, int link)
{
	const struct cpl_network *net = times->net;
	int64_t port = link - net->n_links, n = cpl_network_port_cables(net);

	if (port >= 0)
		return port >= 2 * n ? 2 : port >= n;
	return 3 + (times->staged ? net->link_class_of[link] : 0);
}

/* The most seconds of a link, and the lowest of those that have them. */
static inline void times_keep_busiest(double *busiest, int64_t *busiest_link,
                                      int64_t link, double seconds)
{
	if (*busiest_link >= 0 && seconds <= *busiest &&
	    (seconds < *busiest || link >= *busiest_link))
		return;
	*busiest = seconds;
	*busiest_link = link;
}

/* A link takes so many seconds for what it has to pass. */
static inline void times_pass_link(struct times_stages *s, const struct cpl_times *times,
                                   int link, double seconds)
{
	double *most = &s->most[times_stage_of(times, link)];

	*most = seconds > *most ? seconds : *most;
	times_keep_busiest(&s->busiest, &s->link, link, seconds);
}

/* How many they are. */
static inline int times_count_stages(const struct cpl_times *times)
{
	return times->staged ? 3 + times->net->n_classes : 4;
}

/* How long many flows of a phase take that pass these one after the other. */
double times_pass_all(const struct cpl_times *times, const struct times_phase *phase,
                      const struct times_stages *s);

/* What a phase comes to, or its rounds, in one execution. */
struct times_judged {
	double seconds, waiting, latency, busiest;
	int64_t link;
};

/* A link takes so many seconds more in the rounds so far: i is its place in times->passed. */
static inline void times_pass_again(struct cpl_times *times, int i, int64_t link,
                                    double seconds)
{
	times->passed[i] += seconds;
	times_keep_busiest(&times->busiest, &times->busiest_link, link,
	                   times->passed[i]);
}

/* From this phase on, so many are rounds of one, or it is one by itself. */
int times_rounds_from(const struct cpl_times *times, int first);
/* Makes room for what follows. 0, or -1 with err (memory). */
int times_rounds_room(struct cpl_times *times, const struct times_phase *phase,
                      struct cpl_error *err);
/* Sets what a round takes without others, by its quiet, or by times->share and
 * times->per_byte. */
void times_round_alone(struct cpl_times *times, struct times_phase *phase);
/* All rounds, one after the other, among: those that meet: the links of each go through
 * times_pass_again before it ends, by these stages, or times->share and times->per_byte,
 * where there are others, for whom a mean flow's messages wait so long. O(links + ends),
 * and with others what the round's flows take. */
void times_begin_rounds(struct cpl_times *times, const struct times_phase *first,
                        bool among);
void times_end_round(struct cpl_times *times, const struct times_phase *phase,
                     const struct times_stages *stages, bool others, double waits);
struct times_judged times_end_rounds(const struct cpl_times *times,
                                     const struct times_phase *phase);

/* What hosts, twins as one, or on a network whose ranks have ports of their own
 * (NULL: none) these, send each other. 0, or -1 with err (memory). */
int times_pair_up(struct cpl_times *times, const struct cpl_network *ported,
                  struct cpl_error *err);

/* Make room for n items of so many bytes in *array, which has *max. 0, or -1
 * with err (memory). */
int times_room(void *array, int64_t *max, int64_t n, size_t size,
               struct cpl_error *err);
