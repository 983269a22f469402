/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walking over the messages of a job that are not stored. Seat s is the s-th
 * node of the job in rank order and holds ranks s * ranks_per_node and on.
 */
#ifndef CPL_TRAFFIC_STREAM_INTERNAL_H
#define CPL_TRAFFIC_STREAM_INTERNAL_H

#include "signature/rows.h"
#include "traffic/traffic.h"

/* Division of numbers below 2^24 by one below 2^16 through multiplication. */
#define STREAM_SHIFT 40

struct stream {
	const struct cpl_network *net;
	const struct cpl_stream *job;
	int n_seats;
	uint64_t per_seat; /* 2^STREAM_SHIFT / ranks_per_node, rounded up */
	int *seat_of;      /* [n_nodes], -1: not the job's */
	int n_routers;     /* that hold ranks */
	int *router;       /* [n_routers] of the network, increasing */
	int *seat_router;  /* [n_seats] */
};

/* 0, or -1 with err. O(nodes). */
int cpl_stream_open(struct stream *s, const struct cpl_network *net,
                    const struct cpl_stream *job, struct cpl_error *err);
void cpl_stream_close(struct stream *s);

static inline int stream_seat_of(const struct stream *s, int rank)
{
	return (int)(((uint64_t)rank * s->per_seat) >> STREAM_SHIFT);
}

/*
 * Where a walk puts what it finds: the first n_add routings have add and get
 * it pair by pair; the next n_more have only injection, ejection and the sums
 * that no routing changes added to load[] and sums[]. pairs may be NULL; else,
 * take may be: it gets all pairs, some at a time, in the order of pairs, while
 * the next are collected.
 */
struct stream_sinks {
	int n_add, n_more;
	const struct cpl_routing *const *add; /* [n_add] */
	struct cpl_load *const *load;         /* [n_add + n_more] */
	struct cpl_job_sums *sums;            /* [n_add + n_more], zeroed */
	struct cpl_pairs *pairs;              /* zeroed */
	void (*take)(void *arg, const struct cpl_pairs *some);
	void *arg;
};

/* 0, or -1 with err (memory). O(messages + pairs); memory of the pairs that are
 * kept, with take of a few of them. */
int cpl_stream_walk(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct stream_sinks *sinks, struct cpl_error *err);

/*
 * static-direct (sinks->add[i]) and static-indirect of a dragonfly with one
 * link per pair of groups; n_more 0, no pairs. See stream_groups.c. 0, or -1
 * with err (memory).
 */
int cpl_stream_groups(const struct cpl_network *net,
                      const struct cpl_stream *job,
                      const struct stream_sinks *sinks, struct cpl_error *err);
/* Is it for this network and routing? */
bool cpl_stream_by_groups(const struct cpl_network *net,
                          const struct cpl_routing *routing);

/*
 * The same (sinks->n_more routings) of any dragonfly: pair by pair, none of
 * which is kept. The bits are those of the routings' add and solve with all
 * pairs. See stream_many.c. 0, or -1 with err (memory). O(messages + pairs * K
 * + what static-indirect's legs cost).
 */
int cpl_stream_many(const struct cpl_network *net, const struct cpl_stream *job,
                    const struct stream_sinks *sinks,
                    const struct cpl_routing *const *routing,
                    struct cpl_error *err);
/* Is it for this network and routing? */
bool cpl_stream_by_many(const struct cpl_network *net,
                        const struct cpl_routing *routing);

/*
 * Call piece(arg, to, bytes) for what the ranks of a seat send to ranks of seat
 * `to`, itself included, bytes > 0; a seat may come several times, always in
 * the same order. Before that, soon(arg, to) for some of them, to fetch memory
 * that piece will need: partners drawn from all ranks are in no cache.
 * entry[rows->room] is scratch.
 */
static inline __attribute__((always_inline)) void
stream_seat(const struct stream *s, int seat, struct cpl_comm_entry *entry,
            void (*soon)(void *arg, int to),
            void (*piece)(void *arg, int to, double bytes), void *arg)
{
	const struct cpl_rows *rows = s->job->rows;
	const int *node = s->job->node;
	int each = s->job->ranks_per_node, first = seat * each;
	int last = rows->ranks - first < each ? rows->ranks : first + each;
	struct cpl_rows_walk walk = cpl_rows_walk(first, last);
	struct cpl_rows_bunch bunch;

	while (cpl_rows_next(rows, &walk, &bunch, entry)) {
		for (int64_t i = 0; i < bunch.n; i++)
			__builtin_prefetch(
			        &node[stream_seat_of(s, entry[i].to)]);
		for (int64_t i = 0; i < bunch.n; i++)
			soon(arg, stream_seat_of(s, entry[i].to));
		for (int64_t i = 0; i < bunch.n; i++) {
			double bytes = entry[i].bytes * bunch.weight;
			int to = entry[i].to, left = bunch.count;

			if (!(bytes > 0))
				continue;
			while (left > 0) {
				int there = stream_seat_of(s, to);
				int n = (there + 1) * each - to;

				n = n < left ? n : left;
				piece(arg, there, bytes * n);
				to += n;
				left -= n;
			}
		}
	}
}

#endif
