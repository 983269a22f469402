/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long jobs take on a network: their ranks compute, send, receive and wait
 * as their signatures say, and their messages share the links, in a simulation
 * of events. The level says how messages move: as flows that share links
 * max-min fairly, or packet by packet.
 *
 * Always the same result for the same input.
 */
/* Tests: * in test_simulate; packet* in test_simulate_packet; trace* in
 * test_simulate_trace. */
#ifndef CPL_SIMULATE_SIMULATE_H
#define CPL_SIMULATE_SIMULATE_H

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

/* How messages move. One file and one line in simulate.mk each. */
struct cpl_sim_level {
	CPL_ENTRY; /* flags: enum cpl_sim_level_flags */
	/* Memory of its own, for close() in either case. 0, or -1 with the
	 * simulation's err. */
	int (*open)(struct cpl_simulation *sim);
	void (*close)(struct cpl_simulation *sim);
	/* Transfer t begins now, between two nodes: calls cpl_sim_sent when the
	 * source has its buffer back, and cpl_sim_delivered. */
	void (*start)(struct cpl_simulation *sim, int t);
	/* An event of the level's own. */
	void (*event)(struct cpl_simulation *sim, uint32_t kind, uint32_t item);
};

extern const struct cpl_registry cpl_sim_levels;
extern const struct cpl_sim_level cpl_sim_flow, cpl_sim_packet;

/* How a packet's path is chosen. */
struct cpl_sim_routing {
	CPL_ENTRY;
	/* The routing of the traffic model that this choice simulates, NULL:
	 * none. */
	const char *stands_for;
	/* Paths that are looked at: of the network's minimal routing, and over
	 * a router that is drawn. */
	int direct, indirect;
	bool global;     /* all queues of a path count, not the first */
	bool again;      /* again while the packet is in its group */
	bool hop_by_hop; /* at each router anew */
};

extern const struct cpl_registry cpl_sim_routings;
extern const struct cpl_sim_routing cpl_sim_static, cpl_sim_valiant,
        cpl_sim_ugal_local, cpl_sim_ugal_global, cpl_sim_progressive,
        cpl_sim_adaptive;

/* A job and where it is. */
struct cpl_sim_job {
	const struct cpl_signature *sig;
	/* What the job's ranks do instead, see trace.h; only name and ranks of
	 * sig count then. NULL: they do as sig says. */
	const struct cpl_run_events *trace;
	const char *phase;    /* that alone, or NULL: all */
	const int *rank_node; /* [sig->ranks] */
	double start;         /* seconds, >= 0 */
};

/* Seconds unless said otherwise; 0 where nothing is said. */
struct cpl_sim_options {
	const struct cpl_network *net;
	const struct cpl_sim_level *level;
	const struct cpl_routing *routing;
	/* A phase runs as often as its weight says, but at most so often; the
	 * whole run is scaled up from there. >= 1. */
	int executions;
	double speed;          /* of computing, 1: as the signature has it */
	double overhead;       /* of software, a message */
	double link_latency;   /* a link, those of nodes too */
	double router_latency; /* a router */
	double memory;         /* bytes/s inside a node; 0: infinitely many */
	double eager; /* bytes up to which a message does not wait for its
	               * receive; beyond it goes when both are there, after two
	               * latencies */
	/* flow: by how much the time of a flow may be overstated, where that
	 * saves computing all shares anew. */
	double tolerance;
	/* packet: */
	const struct cpl_sim_routing *choice; /* NULL: static */
	double packet;                        /* bytes of a packet, > 0 */
	double buffer; /* bytes of a channel's buffers at a link's end; at
	                * least one packet */
	int lanes;     /* channels that serve alike, 1 to 64 */
	bool in_order; /* a node sends all of a message before the next one;
	                * false: a packet of each in turn */
	uint64_t seed; /* of what is drawn */
	int bins;      /* of the result's timeline, 0: none; at least 2 */
	/* Called now and then, or NULL. */
	void (*progress)(void *arg, double now, int64_t messages);
	/* Called when `messages` of one send, at the time `posted`, have
	 * arrived, or NULL. */
	void (*arrived)(void *arg, double posted, double now, double messages);
	void *arg;
};

/* The values where nobody says otherwise. */
#define CPL_SIM_DEFAULTS                                                       \
	.executions = 1, .speed = 1, .eager = 65536, .tolerance = 0.001,       \
	.packet = 4096, .buffer = 65536, .lanes = 1

/* Of one rank, in seconds: computing; waiting with a message of its own under
 * way; waiting with none, for others. */
struct cpl_sim_rank {
	double compute, communication, waiting;
	double end; /* when it was done */
};

struct cpl_sim_phase {
	const char *name;
	double weight;
	int executions;
	double end;     /* when the last rank was through with all of them */
	double seconds; /* from the end of the phase before to that */
	/* Means over the ranks, of all executions. */
	double compute, communication, waiting;
};

struct cpl_sim_job_times {
	double start, end;
	double run; /* seconds scaled up to all executions */
	int n_phases, n_ranks;
	struct cpl_sim_phase *phase;
	struct cpl_sim_rank *rank;
};

/* Messages' times from the send to the last byte's arrival. Quantiles are those
 * of bins that are at most 1 % wide. */
struct cpl_sim_latency {
	int64_t n;
	double min, mean, max;
	double q1, median, q3, p99;
};

struct cpl_sim_result {
	double seconds; /* until the last job has ended */
	int64_t events, messages;
	/* packet: how often packets came to a link's end; packets that arrived
	 * behind one of their message that was sent after them. */
	int64_t hops, overtaken;
	int n_jobs;
	struct cpl_sim_job_times *job;
	struct cpl_sim_latency latency;
	struct cpl_load bytes; /* of links and nodes */
	/* Seconds in which a link carried something; in which it stood still
	 * with bytes that had no buffer to go to. */
	struct cpl_load busy, stalled;
	/* Ranks are numbered over all jobs, links as in traffic/times.h. */
	struct cpl_timeline timeline;
};

/*
 * Run the jobs until all have ended. 0, or -1 with err: memory; a phase too
 * large to be stored; more messages, packets of one or seconds than are counted
 * (2^53, 2^53, 1e100); a trace that is not whole; ranks that wait for what never
 * comes, with their numbers and calls. *result is to be freed in either case.
 * flow: O(solves * (flows * links on the way)).
 */
int cpl_simulate(const struct cpl_sim_options *options,
                 const struct cpl_sim_job *job, int n_jobs,
                 struct cpl_sim_result *result, struct cpl_error *err);
void cpl_sim_result_free(struct cpl_sim_result *result);

#endif
