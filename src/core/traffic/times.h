/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a job communicates where it is, in seconds.
 *
 * Phases of a job do not overlap: each is judged by itself and counts as often
 * as it runs, and so does each round of a collective operation that has
 * CPL_TIMES_ROUNDS at the most (signature/rounds.h; with more, like those of a ring,
 * all are sent at once, as their links and packets come to the same). The flows of
 * a phase, between hosts, start together and share the links max-min fairly, a flow in
 * proportion to the pairs of ranks that it stands for; one that a routing splits takes
 * a part of each link. As flows end the others get their shares (progressive filling:
 * Bertsekas, Gallager, Data Networks, 6.5.2). The phase has communicated when the last
 * has ended.
 *
 * - Few flows (CPL_TIMES_EXACT at the most): so, exactly.
 * - More: what the busiest links from nodes, between routers and to nodes take for
 *   their bytes, s, passed one after the other: (s1^4 + s2^4 + s3^4)^(1/4). Were the
 *   busiest of them never idle, it would take no more than that one; but packets
 *   that wait before one of them come late to the next, and where all three are as
 *   busy as each other they take 1.32 times as long. Messages of many packets are on all
 *   links at once: what they take longer than the busiest link counts for half with
 *   CPL_TIMES_AT_ONCE packets, and so on (1 / (1 + packets / that)). The power and these
 *   are those of packets simulated (doc/reproduction/time.md).
 *
 * Rounds of one phase, of CPL_TIMES_EXACT flows each at the most, do not wait for each
 * other but host by host: one goes on to the next when its own flows of this have ended,
 * and the last host's end is the phase's, or what the busiest link takes for all rounds, if
 * that is longer. Hosts come to a round one by one, and packets are served as they
 * come: a flow ends half way between what it takes by itself and with all others
 * of its round, where packets adapt by the stages above on its own way. With more flows
 * all hosts are the mean one, and a round ends half way between its flow by itself and all
 * by the stages: each flow's own way takes two to three times the time of a decision on a
 * fat tree.
 *
 * Background is what others send, in bytes per second; over a link's bandwidth
 * it is its utilisation u. Where own flows want all of a link, they take 1 + u times as
 * long beside one other job, which shares with them, fair and in turn, and longer beside
 * several that come to the same (cpl_slowed). Packets that choose between ways by
 * queues (routing/backlog.h) wait for others where both are busy: then u counts as u^2 on
 * links where they had a choice, as u^(13/8) if it is of two ways that are drawn.
 *
 * Besides, a message waits at each link of its way for packets of others that
 * are in front of it (M/D/1: u / (2 (1 - u)) of what comes at once, a train of
 * CPL_TIMES_TRAIN packets, u at most CPL_TIMES_SATURATED). The messages of a phase's
 * mean flow, each after the other, add that to the phase.
 *
 * And the last byte of a message comes later than it was sent: each link passes
 * packets on when it has them whole, so that a message takes the time of a packet (of
 * itself, where that is smaller) on each link of its way besides, and links and routers
 * take what the network states as their latency, once. The phase takes what
 * is halfway between the mean flow's and that of the one that has most of it, its
 * messages each after the other. Of many flows it is told by pairs of routers: the most
 * on the routers' way and the most on nodes' own links. A flow of a round takes none for
 * its slowest link, whose time it has already. Where packets adapt it is that of the job
 * alone. Where the network states no bandwidths there are neither stages nor this: seconds
 * are the bytes of the busiest link.
 *
 * A job's rates are what it is to others: its bytes over the run's time, which
 * the signature states. Of a signature without times they are as high as they
 * can be: its busiest link is never idle.
 *
 * Results depend on the arguments alone, to the bit. Entries of a pattern that
 * makes a pair of ranks in several pieces count as pairs each.
 */
#pragma once

#include <stdbool.h>

#include "routing/backlog.h"
#include "routing/routing.h"
#include "signature/rows.h"
#include "signature/signature.h"
#include "traffic/traffic.h"

/* Flows of a phase that are solved exactly. */
#define CPL_TIMES_EXACT 64
/* Rounds of a phase that are judged each by itself. */
#define CPL_TIMES_ROUNDS 32
/* Bytes of a packet, on every link: doc/reproduction/time.md has what the times
 * that follow from it are beside simulated ones. */
#define CPL_TIMES_PACKET CPL_BACKLOG_PACKET
/* Packets of a message with which half of that counts by which stages in turn take longer
 * than the busiest of them, on fixed ways and where packets adapt. */
#define CPL_TIMES_AT_ONCE 32.0
#define CPL_TIMES_ADAPTING_AT_ONCE 4.0
/* Packets that others send in one piece: of 1 to 8, with this what others add is
 * nearest to simulations (the same document). */
#define CPL_TIMES_TRAIN 4.0
/* Utilisation beyond which nothing waits longer. */
#define CPL_TIMES_SATURATED 0.85

/*
 * Links by number: those of the network, then from each node's ports to their
 * routers, then from the routers to the ports; then, for each enum cpl_inside,
 * those from accelerators, then those to them.
 */
int64_t cpl_times_links(const struct cpl_network *net);
/* The first of those of accelerators of a kind. O(1). */
int64_t cpl_times_inside(const struct cpl_network *net, enum cpl_inside kind);
/* Bytes/s of one. O(1). */
double cpl_times_bandwidth(const struct cpl_network *net, int64_t link);

/* Where a load has the bytes of one: the arrays of a load that cpl_load_init made
 * follow one another. O(1). */
static inline double *cpl_times_at(const struct cpl_load *load, int64_t link)
{
	return &load->link[link];
}

/* The memory with which several jobs on one network under one routing are
 * judged, one after the other; each thread has its own. An adaptive routing
 * counts as cpl_routing_by_flow has it. Both have to outlive it. */
struct cpl_times_space;

/* NULL with err (memory). O(links + nodes). */
struct cpl_times_space *cpl_times_space_new(const struct cpl_network *net,
                                            const struct cpl_routing *routing,
                                            struct cpl_error *err);
/* The same, but where the routing finds the paths of all flows together
 * (CPL_ROUTING_ADAPTIVE, and others without add) the links have the bytes
 * that this puts on them for the job alone, as many flows' they are judged, and its
 * rates are on those, too: for what is told, as each place costs what
 * cpl_workload_solve does besides. */
struct cpl_times_space *
cpl_times_space_adaptive(const struct cpl_network *net,
                         const struct cpl_routing *routing,
                         struct cpl_error *err);
void cpl_times_space_free(struct cpl_times_space *space);

/* One job; its memory is that of its pairs of hosts and of the links that it
 * uses. */
struct cpl_times;

/*
 * Of the phases of a signature, or others of as many ranks (a name is not
 * needed); what they point to has to outlive it. NULL with err (memory).
 * O(phases).
 */
struct cpl_times *cpl_times_open(const struct cpl_phase *phase, int n,
                                 int ranks, struct cpl_error *err);
void cpl_times_close(struct cpl_times *times);

/* What hosts send each other of one that was ordered, in a few bytes a pair: *out, of
 * so many bytes, needs what phases point to no more, and is for networks with as many
 * ports, with each host on a node of its own. *out is NULL where that takes more than
 * `most`, or pairs are not alike. 0, or -1 with err (memory). O(messages + pairs of
 * hosts). */
int cpl_times_pack(struct cpl_times *times, const struct cpl_network *net,
                   uint64_t most, struct cpl_times **out, uint64_t *bytes,
                   struct cpl_error *err);
/* One to be placed by such pairs, which have to outlive it. NULL with err (memory).
 * O(phases + hosts). */
struct cpl_times *cpl_times_again(const struct cpl_times *packed,
                                  struct cpl_error *err);
/* It is placed no more: what that needs is freed. O(phases). */
void cpl_times_stay(struct cpl_times *times);

/* What is said of the run. */
const struct cpl_run_times *cpl_times_run(const struct cpl_times *times);

/*
 * Ranks to hosts: rank r runs on host rank_host[r] of n_hosts, or where
 * rank_host is NULL on host r / ranks_per_node. To be called before the first
 * place, and for each rank order. 0, or -1 with err (a host number). O(ranks),
 * and O(messages of the phases) for the next place.
 */
int cpl_times_order(struct cpl_times *times, const int *rank_host,
                    int ranks_per_node, int n_hosts, struct cpl_error *err);

/*
 * Hosts to nodes: host h is node[h], hosts on one node being the same; where
 * ranks have ports of their own each is on the port that cpl_port_pin gives it
 * among those of its node. 0, or -1 with err (memory: what earlier calls took
 * is used again, so that searches soon take none). O(pairs of hosts + links of
 * the paths between their routers); of hosts on one node O(messages) besides.
 */
int cpl_times_put(struct cpl_times *times, struct cpl_times_space *space,
                    const int *node, struct cpl_error *err);

/*
 * In a space whose packets adapt, once all jobs have been put and their rates added
 * to `rates`: put this one again, on the same nodes, its packets adapting to what the
 * others send meanwhile; in `rates` its new rates take the place of the old ones.
 * Nothing is done in other spaces. 0, or -1 with err. As cpl_times_put, and two
 * solves for each phase.
 */
int cpl_times_adapt(struct cpl_times *times, struct cpl_times_space *space,
                    const int *node, struct cpl_load *rates,
                    struct cpl_error *err);

/* The result for a job's nodes; seconds are of the whole run. */
struct cpl_times_result {
	double seconds; /* of communication, under the background */
	double alone;   /* the same without it */
	double waiting; /* of seconds, in queues */
	double latency; /* of both, messages' last packets on their ways,
	                 * with the latencies of these */
	double busiest; /* of seconds, what the phases' busiest links take at
	                 * least: seconds is no less than it and, but for rounds,
	                 * the two above */
	int64_t link;   /* the busiest of the phase that takes longest; the
	                 * lowest of several, -1 where nothing is sent */
	int phase;      /* that phase, or -1 */
	bool exact;     /* all phases of few flows */
};

/*
 * Judge the job under what others send (bytes/s; NULL: nothing). With own_in
 * the job's own rates are among these, and do not count. No allocation. O(links
 * that the job uses), for rounds the links of flows' ways, and for phases of few
 * flows (flows^2 * their links) at the most.
 */
void cpl_times_judge(struct cpl_times *times, const struct cpl_load *background,
                     bool own_in, struct cpl_times_result *out);

/* Where several jobs are on a link: what all of them send there, in bytes/s, each over
 * its stretch, and the squares of that. */
struct cpl_meeting {
	double rate, squares;
};

struct cpl_meetings {
	struct cpl_meeting *sum;
	bool *anew; /* of each, whether it is to be summed up */
};

/*
 * This job among others that are told of by their meetings alone, until it is placed
 * again, in a space whose packets do not adapt. meeting[link] says where a link's is that
 * others are on, too, -1 of the others. Its rates count over `stretch`. 0, or -1 with err
 * (memory), which only the first call after a place can come to. O(links that the job
 * uses). The second tells how many it shares, the third stretches it otherwise: O(these).
 */
int cpl_times_share(struct cpl_times *times, const int *meeting, double stretch,
                    struct cpl_error *err);
int cpl_times_shared(const struct cpl_times *times);
void cpl_times_stretch(struct cpl_times *times, double stretch);

/* What is sent where it meets others is to be summed up anew: call it for those that
 * changed, then the second for all, in the order in which they are added up. It returns
 * whether this one is on any of these links. O(links that the job shares). */
void cpl_times_sum_anew(const struct cpl_times *times,
                        const struct cpl_meetings *meetings);
bool cpl_times_send(const struct cpl_times *times,
                    const struct cpl_meetings *meetings);

/* Its seconds among these, as of cpl_times_judge beside what the others send. No
 * allocation. O(links that the job shares), and as there for phases of few flows. */
double cpl_times_among(struct cpl_times *times, const struct cpl_meeting *sum);

/* A job whose seconds are asked for once: phases, order of ranks and hosts as
 * above. */
struct cpl_times_job {
	const struct cpl_phase *phase;
	int n_phases, ranks;
	const int *rank_host;
	int ranks_per_node, n_hosts;
	const int *node;
};

/* What it comes to: all of the above, with a background of others alone. 0, or
 * -1 with err. */
int cpl_times_of(struct cpl_times_space *space, const struct cpl_times_job *job,
                 const struct cpl_load *background,
                 struct cpl_times_result *out, struct cpl_error *err);

/* What the job puts on a link. */
struct cpl_times_rate {
	int64_t link; /* as numbered by cpl_times_links */
	double rate;  /* bytes/s, > 0 */
};

/* Rates where the job was placed last; *n of them, valid until it is placed
 * again. O(1). */
const struct cpl_times_rate *cpl_times_rates(const struct cpl_times *times,
                                             int64_t *n);
/* Add sign (1 or -1) times the rates to load, and squares if it has these. O(links of
 * the job). */
void cpl_times_add(const struct cpl_times *times, double sign,
                   struct cpl_load *load);
