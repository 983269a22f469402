/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state that levels and ranks share. */
#pragma once

#include "base/random.h"
#include "graph/arena.h"
#include "simulate/events.h"
#include "simulate/latencies.h"
#include "simulate/program.h"
#include "simulate/simulate.h"
#include "simulate/trace.h"
#include "traffic/times.h"

/* The kinds of events; a level's own come after these. */
enum {
	CPL_EVENT_RANK,    /* rank `item` goes on */
	CPL_EVENT_START,   /* transfer `item` begins on the network */
	CPL_EVENT_ARRIVED, /* transfer `item`, which needs no network, has
	                    * arrived */
	CPL_EVENT_TAKEN,   /* the receiver's software is through with transfer
	                    * `item` */
	CPL_EVENT_LEVEL,
};

/* The most messages and packets, since doubles count exactly up to here. */
#define CPL_SIM_MAX_COUNT 0x1p53

enum cpl_transfer_flags {
	CPL_TRANSFER_SENT = 1,     /* there was a send */
	CPL_TRANSFER_RECEIVED = 2, /* there was a receive */
	CPL_TRANSFER_STARTED = 4,
	CPL_TRANSFER_DELIVERED = 8,
	CPL_TRANSFER_ALONE = 16, /* the other side takes no part */
	CPL_TRANSFER_TAKEN = 32, /* by the receiver's software */
};

/* What the end of a transfer belongs to; other numbers are requests. */
enum {
	CPL_REQUEST_CALL = -1, /* what the rank does now */
	CPL_REQUEST_NONE = -2, /* nobody waits for it */
};

/* The transfers that a later call of the rank waits for. */
struct cpl_sim_request {
	int open;    /* transfers */
	bool joined; /* the rank waits for it: it is one of its own `open` */
	int next;    /* of the same rank, or free */
};

/* A send, a receive, or both when met. Ranks are numbered over all jobs. */
struct cpl_transfer {
	int from, to; /* from CPL_OP_ANY: an unmet receive */
	int next; /* waiting in the same bucket, or free */
	unsigned flags;
	int context;
	int send_request, receive_request;
	double bytes, count; /* bytes of all its messages; their number */
	double posted;       /* when it was sent */
};

/* A hash table of transfers that lack their send or receive. Chains alternate
 * between receives, which wait for a send, and sends, so that what comes need
 * not pass others of its kind. */
struct cpl_waiting {
	int *first, *last; /* [2 * (mask + 1)], -1: none */
	uint32_t mask;
	int64_t n;
};

struct cpl_rank_state {
	struct cpl_op_cursor at;
	int node;
	int slot;   /* number among its job's ranks of the node */
	double software; /* when its software is free */
	int cable;  /* node * n_ports + its first port */
	int open;   /* transfers and requests that it waits for */
	int oldest, newest; /* requests, -1: none */
	int flying; /* its transfers that are under way */
	bool blocked;
	double since; /* the last update of blocked */
	int phase;    /* in the program; -1: none yet */
};

struct cpl_sim_job_state {
	const struct cpl_sim_job *of;
	struct cpl_program program;
	struct cpl_trace *trace; /* in place of program, or NULL */
	int n_ranks;
	int first; /* number of its first rank among all */
	int running;
};

struct cpl_simulation {
	const struct cpl_sim_options *options;
	const struct cpl_network *net;
	struct cpl_sim_result *result;
	struct cpl_error *err;
	bool failed; /* with err */
	double now;
	struct cpl_events events;
	int n_jobs, n_ranks;
	struct cpl_sim_job_state *job;
	int *rank_job;               /* [n_ranks] */
	struct cpl_rank_state *rank; /* [n_ranks] */
	struct cpl_transfer *transfer;
	int n_transfers, free_transfer; /* -1: none is free */
	struct cpl_sim_request *request;
	int n_requests, free_request; /* -1: none is free */
	struct cpl_waiting waiting;
	struct cpl_latencies latencies;
	struct cpl_route_finder paths; /* where classes of links have latencies
	                                * of their own */
	struct cpl_arena arena;
	void *own; /* belongs to the level */
};

/* The ports of a node over which each rank spreads its messages; 1 where each
 * rank has one of its own (cpl_rank_state). Links are numbered as in
 * traffic/times.h. */
static inline int cpl_sim_ports(const struct cpl_network *net)
{
	return net->port_use == CPL_PORTS_SPREAD ? net->n_ports : 1;
}

static inline int64_t cpl_sim_injection(const struct cpl_network *net,
                                        int64_t cable)
{
	return net->n_links + cable;
}

static inline int64_t cpl_sim_ejection(const struct cpl_network *net,
                                       int64_t cable)
{
	return net->n_links + cpl_network_port_cables(net) + cable;
}

/* The times of a rank's job, and next its own. */
static inline struct cpl_sim_job_times *
cpl_sim_times_of(const struct cpl_simulation *sim, int rank)
{
	return &sim->result->job[sim->rank_job[rank]];
}

static inline struct cpl_sim_rank *
cpl_sim_rank_times(const struct cpl_simulation *sim, int rank)
{
	const struct cpl_sim_job_state *job = &sim->job[sim->rank_job[rank]];

	return &cpl_sim_times_of(sim, rank)->rank[rank - job->first];
}

/* A hash for tables of pairs. */
static inline uint32_t cpl_sim_hash(int from, int to)
{
	return (uint32_t)cpl_random_mix((uint64_t)(uint32_t)from << 32 |
	                                (uint32_t)to);
}

/* Levels call these: the source may use its buffer again; the last byte has
 * arrived, after which t may be another transfer. */
void cpl_sim_sent(struct cpl_simulation *sim, int t);
void cpl_sim_delivered(struct cpl_simulation *sim, int t);

/* From ranks.c: the rank does all that it can without waiting. */
void cpl_sim_run_rank(struct cpl_simulation *sim, int rank);

/* From rank_times.c: memory is out, which ends the simulation. */
void cpl_sim_fail_memory(struct cpl_simulation *sim);
/* Brings the rank's times up to now. */
void cpl_sim_account(struct cpl_simulation *sim, int rank);
/* Notes that one of the rank's transfers is through. */
void cpl_sim_done_one(struct cpl_simulation *sim, int rank);

/* From transfers.c. */
int cpl_sim_transfers_init(struct cpl_simulation *sim);
void cpl_sim_transfers_free(struct cpl_simulation *sim);
/* A send by `from` that `rank` asked for: its own, or by CPL_OP_GET. */
void cpl_sim_send(struct cpl_simulation *sim, int rank, int from, int to,
                  const struct cpl_op *op);
/* from may be CPL_OP_ANY. */
void cpl_sim_receive(struct cpl_simulation *sim, int rank, int from,
                     const struct cpl_op *op);

/* From costs.c: what messages take besides their bytes on links. */
int cpl_sim_costs_init(struct cpl_simulation *sim);
void cpl_sim_costs_free(struct cpl_simulation *sim);
/* Seconds from a message's first byte's start to its arrival, without those of
 * its bytes. */
double cpl_sim_path_latency(struct cpl_simulation *sim,
                            const struct cpl_transfer *t);
/* Seconds of a message between two ranks of one node. */
double cpl_sim_inside_seconds(const struct cpl_simulation *sim,
                              const struct cpl_transfer *t);
/* When the rank's software is through with the messages, which come now. */
double cpl_sim_software_end(struct cpl_simulation *sim, int rank,
                            const struct cpl_transfer *t);

/* The latency of a link, numbered as in traffic/times.h. */
static inline double cpl_sim_link_latency(const struct cpl_simulation *sim,
                                          int64_t link)
{
	const double *class = sim->options->class_latency;

	if (!class)
		return sim->options->link_latency;
	return class[link < sim->net->n_links ? sim->net->link_class_of[link]
	                                      : sim->net->n_classes];
}

/* From requests.c: makes a new request of the rank. */
void cpl_sim_request(struct cpl_simulation *sim, int rank);
/* Notes one more transfer under way for the rank, and returns its request. */
int cpl_sim_hold(struct cpl_simulation *sim, int rank, unsigned flags);
/* Notes one less. */
void cpl_sim_release(struct cpl_simulation *sim, int rank, int request);
/* The rank waits for its oldest request from now on. */
void cpl_sim_join_oldest(struct cpl_simulation *sim, int rank);

/* From stuck.c, when nothing happens any more. Returns 0 when all ranks are
 * done, else -1 with err, which names the first that wait for ever. */
int cpl_sim_stuck(struct cpl_simulation *sim);
