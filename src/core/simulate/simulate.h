/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates how long jobs take on a network: their ranks compute, send, receive
 * and wait as their signatures say, and their messages share the links. The
 * level says how messages move: as flows that share links max-min fairly, or
 * packet by packet. The same input always has the same result.
 */
/* Tests: * in test_simulate; packet* in test_simulate_packet; trace* in
 * test_simulate_trace. */
#pragma once

#include "base/registry.h"
#include "routing/routing.h"
#include "signature/phases/events.h"
#include "signature/signature.h"
#include "simulate/timeline.h"
#include "traffic/traffic.h"

struct cpl_simulation;

enum cpl_sim_level_flags {
	/* Latencies of links and routers pass before a transfer starts. */
	CPL_SIM_LATENCY_FIRST = 1,
};

/* A level says how messages move. Each is a file, and a line in simulate.mk. */
struct cpl_sim_level {
	CPL_ENTRY; /* flags: enum cpl_sim_level_flags */
	/* Opens memory of its own, which close() frees in either case. Returns
	 * 0, or -1 with the simulation's err. */
	int (*open)(struct cpl_simulation *sim);
	void (*close)(struct cpl_simulation *sim);
	/* Begins transfer t between two nodes; it calls cpl_sim_sent when the
	 * source has its buffer back, and later cpl_sim_delivered. */
	void (*start)(struct cpl_simulation *sim, int t);
	/* Handles an event of the level's own. */
	void (*event)(struct cpl_simulation *sim, uint32_t kind, uint32_t item);
};

extern const struct cpl_registry cpl_sim_levels;
extern const struct cpl_sim_level cpl_sim_flow, cpl_sim_packet;

/* How a packet's path is chosen. */
struct cpl_sim_routing {
	CPL_ENTRY;
	/* The traffic model's routing that this choice simulates, or NULL. */
	const char *stands_for;
	/* How many paths are looked at: those of the network's minimal routing,
	 * and those over a router that is drawn. */
	int direct, indirect;
	bool global;     /* all queues of a path count, not only the first */
	bool again;      /* it chooses again while the packet is in its group */
	bool hop_by_hop; /* it chooses at each router */
};

extern const struct cpl_registry cpl_sim_routings;
extern const struct cpl_sim_routing cpl_sim_static, cpl_sim_valiant,
        cpl_sim_ugal_local, cpl_sim_ugal_global, cpl_sim_progressive,
        cpl_sim_adaptive;

/* For whom messages queue for a rank's software, which does one at a time. */
enum cpl_sim_queue {
	CPL_SIM_QUEUE_NONE,   /* each is only late by its cost */
	CPL_SIM_QUEUE_SENDER, /* the sender's */
	CPL_SIM_QUEUE_BOTH,   /* and the receiver's, at the same cost again */
};

/* A level inside of nodes, such as NUMA domains or sockets: each `ranks` ranks
 * of a job that follow each other on a node share one. */
struct cpl_sim_inside {
	int ranks;        /* >= 1 */
	double latency;   /* seconds of a message between two of them */
	double bandwidth; /* bytes/s of each message; 0: without limit */
};

#define CPL_SIM_MAX_INSIDE 8

/* A job and its nodes. */
struct cpl_sim_job {
	const struct cpl_signature *sig;
	/* What the job's ranks do instead, see trace.h; then only name and
	 * ranks of sig count. NULL: they do as sig says. */
	const struct cpl_run_events *trace;
	const char *phase;    /* only that one; NULL: all */
	const int *rank_node; /* [sig->ranks] */
	double start;         /* seconds, >= 0 */
};

/* Times are in seconds; 0 is the default where none is stated. */
struct cpl_sim_options {
	const struct cpl_network *net;
	const struct cpl_sim_level *level;
	const struct cpl_routing *routing;
	/* The most executions of a phase, >= 1, which otherwise runs as often
	 * as its weight says. The whole run is scaled up from there. */
	int executions;
	double speed;          /* of computing; 1: as in the signature */
	double overhead;       /* of software, for each message */
	double byte_overhead;  /* of software, for each byte */
	enum cpl_sim_queue queue;
	double link_latency;   /* of a link, also of nodes */
	/* In place of link_latency: of links of each class of the network, and
	 * behind these of nodes' links; NULL: there are none. */
	const double *class_latency;
	double router_latency; /* of a router */
	double memory;         /* bytes/s inside a node; 0: without limit */
	/* Levels inside of nodes, whose ranks grow, each a multiple of the one
	 * before; memory is for ranks that share none. */
	struct cpl_sim_inside inside[CPL_SIM_MAX_INSIDE];
	int n_inside;
	double eager; /* a message of up to so many bytes does not wait for its
	               * receive; a larger one goes when both are there, after
	               * two latencies */
	/* Level flow: the share by which a flow's time may be overstated, where
	 * that saves computing all shares anew. */
	double tolerance;
	/* Level packet: */
	const struct cpl_sim_routing *choice; /* NULL: static */
	double packet;                        /* bytes of a packet, > 0 */
	double buffer; /* bytes of a channel's buffers at a link's end, at least
	                * a packet */
	int lanes;     /* channels that serve alike, 1 to 64 */
	bool in_order; /* a node sends all of a message before the next one;
	                * false: a packet of each in turn */
	uint64_t seed; /* for all draws */
	int bins;      /* of the timeline, at least 2; 0: it has none */
	/* Called from time to time, or NULL. */
	void (*progress)(void *arg, double now, int64_t messages);
	/* NULL, or called when `messages` of a send at time `posted` arrived. */
	void (*arrived)(void *arg, double posted, double now, double messages);
	void *arg;
};

/* The values of options that nobody sets. */
#define CPL_SIM_DEFAULTS                                                       \
	.executions = 1, .speed = 1, .eager = 65536, .tolerance = 0.001,       \
	.packet = 4096, .buffer = 65536, .lanes = 1

/* Sets the latencies of links of each class of the network, then of nodes' links, to
 * numbers that have to outlive the options: where all are alike they are one number.
 * O(classes). */
void cpl_sim_set_latencies(struct cpl_sim_options *options,
                           const double *class_latency);

/* A rank's seconds: computing; waiting with a message of its own under way;
 * waiting for others without one. */
struct cpl_sim_rank {
	double compute, communication, waiting;
	double end; /* when it ended */
};

struct cpl_sim_phase {
	const char *name;
	double weight;
	int executions;
	double end;     /* when the last rank was through with all of it */
	double seconds; /* from the end of the phase before to its own */
	/* Means over the ranks, for all executions. */
	double compute, communication, waiting;
};

struct cpl_sim_job_times {
	double start, end;
	double run; /* scaled up to all executions */
	int n_phases, n_ranks;
	struct cpl_sim_phase *phase;
	struct cpl_sim_rank *rank;
};

/* The times of messages from the send to the last byte's arrival. Quantiles are
 * those of bins that are at most 1 % wide. */
struct cpl_sim_latency {
	int64_t n;
	double min, mean, max;
	double q1, median, q3, p99;
};

struct cpl_sim_result {
	double seconds; /* until the end of the last job */
	int64_t events, messages;
	/* Level packet: how often packets reached a link's end, and packets
	 * that arrived behind a later one of their message. */
	int64_t hops, overtaken;
	int n_jobs;
	struct cpl_sim_job_times *job;
	struct cpl_sim_latency latency;
	struct cpl_load bytes; /* of links and nodes */
	/* The seconds in which a link carried something, and in which it stood
	 * still with bytes that had no buffer to go to. */
	struct cpl_load busy, stalled;
	/* Ranks are numbered over all jobs, links as in traffic/times.h. */
	struct cpl_timeline timeline;
};

/* Runs the jobs until all have ended. Returns 0, or -1 with err: memory; a
 * phase too large to be stored; more messages, packets of one or seconds than
 * can be counted (2^53, 2^53, 1e100); a trace that is not whole; or ranks that
 * wait for ever, with their numbers and calls. Free *result in either case.
 * Level flow takes O(solves * (flows * links of their paths)). */
int cpl_simulate(const struct cpl_sim_options *options,
                 const struct cpl_sim_job *job, int n_jobs,
                 struct cpl_sim_result *result, struct cpl_error *err);
void cpl_sim_result_free(struct cpl_sim_result *result);
