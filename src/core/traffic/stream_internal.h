/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Going over the messages of a job that are not stored. Host s is the s-th
 * node of the job in rank order and holds ranks s * ranks_per_node and on.
 */
#pragma once

#include "graph/arena.h"
#include "traffic/workload.h"

/* Division of numbers below 2^24 by one below 2^16 through multiplication. */
#define STREAM_SHIFT 40

/*
 * A job whose messages are made when they are looked at: rank r is on node[r /
 * ranks_per_node], nodes distinct, ranks_per_node 1 .. 65536.
 */
struct cpl_stream {
	const struct cpl_rows *rows;
	const int *node;
	int ranks_per_node;
	int threads;
};

/*
 * Under n routings: routing i adds to load[i] and fills sums[i]; adaptive ones
 * only what no routing changes. flows (NULL: not wanted) gets what the routers
 * send each other, which adaptive routings need; to be freed with
 * cpl_flows_free. Messages of nodes of one router and those without bytes make
 * no flow. 0, or -1 with err (memory), with loads that are then not to be used.
 * O(messages + flows * what the routings cost); 12 bytes a flow and 1/32 more
 * while they are collected.
 */
int cpl_stream_add(const struct cpl_network *net, const struct cpl_stream *job,
                   int n, const struct cpl_routing *const *routing,
                   struct cpl_load *const *load, struct cpl_job_sums *sums,
                   struct cpl_flows *flows, struct cpl_error *err);

struct stream {
	const struct cpl_network *net;
	const struct cpl_stream *job;
	int n_hosts;
	uint64_t per_host; /* 2^STREAM_SHIFT / ranks_per_node, rounded up */
	int *host_of;      /* [n_nodes], -1: not the job's */
	int n_routers;     /* that hold ranks */
	int *router;       /* [n_routers] of the network, increasing */
	int *host_router;  /* [n_hosts] */
	struct cpl_arena arena;
};

/* 0, or -1 with err. The arena may take other arrays. O(nodes). */
int cpl_stream_open(struct stream *s, const struct cpl_network *net,
                    const struct cpl_stream *job, struct cpl_error *err);
void cpl_stream_close(struct stream *s);

static inline int stream_host_of(const struct stream *s, int rank)
{
	return (int)(((uint64_t)rank * s->per_host) >> STREAM_SHIFT);
}

/*
 * Where a pass puts what it finds: injection, ejection and the sums that no
 * routing changes are added to all of load[] and sums[]; with `route` flows are
 * routed, one by one, by the add of each routing. flows may be NULL; else, take
 * may be: it gets all flows, some at a time, in the order of flows, while the
 * next are collected.
 */
struct stream_sinks {
	int n;
	const struct cpl_routing **routing; /* [n] */
	struct cpl_load **load;             /* [n] */
	struct cpl_job_sums *sums;          /* [n], zeroed */
	bool route;
	struct cpl_flows *flows; /* zeroed */
	void (*take)(void *arg, const struct cpl_flows *some);
	void *arg;
};

/* 0, or -1 with err (memory). O(messages + flows); memory of the flows that are
 * kept, with take of a few of them. */
int cpl_stream_pass(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct stream_sinks *sinks, struct cpl_error *err);

/*
 * Call piece(arg, to, bytes, n) for what the ranks of a host send to ranks of
 * host `to`, itself included, bytes > 0 in n messages of a rank to another; a
 * host may come several times, always in the same order. Before that,
 * soon(arg, to) for some of them, to fetch memory that piece will need:
 * partners drawn from all ranks are in no cache. entry[rows->max_entries] is
 * scratch.
 */
static inline __attribute__((always_inline)) void
stream_host(const struct stream *s, int host, struct cpl_comm_entry *entry,
            void (*soon)(void *arg, int to),
            void (*piece)(void *arg, int to, double bytes, int n), void *arg)
{
	const struct cpl_rows *rows = s->job->rows;
	const int *node = s->job->node;
	int each = s->job->ranks_per_node, first = host * each;
	int last = rows->ranks - first < each ? rows->ranks : first + each;
	struct cpl_rows_iter iter = cpl_rows_iter(first, last);
	struct cpl_rows_batch batch;

	while (cpl_rows_next(rows, &iter, &batch, entry)) {
		for (int64_t i = 0; i < batch.n; i++)
			__builtin_prefetch(
			        &node[stream_host_of(s, entry[i].to)]);
		for (int64_t i = 0; i < batch.n; i++)
			soon(arg, stream_host_of(s, entry[i].to));
		for (int64_t i = 0; i < batch.n; i++) {
			double bytes = entry[i].bytes * batch.weight;
			int to = entry[i].to, left = batch.count;

			if (!(bytes > 0))
				continue;
			while (left > 0) {
				int there = stream_host_of(s, to);
				int n = (there + 1) * each - to;

				n = n < left ? n : left;
				piece(arg, there, bytes * n, n);
				to += n;
				left -= n;
			}
		}
	}
}
