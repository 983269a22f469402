/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link-traffic model: expected bytes on every link when all traffic of the
 * jobs at hand is in flight (Jain 2016, 3.2.1-3.2.2; Damselfly). Messages are
 * added up per router pair before they are routed.
 */
#ifndef CPL_TRAFFIC_TRAFFIC_H
#define CPL_TRAFFIC_TRAFFIC_H

#include "network/network.h"
#include "routing/routing.h"
#include "signature/comm.h"
#include "signature/rows.h"

/* Bytes per link; the arrays belong to the struct. */
struct cpl_load {
	double *link;      /* [n_links] */
	double *injection; /* [n_nodes], node to router */
	double *ejection;  /* [n_nodes], router to node */
};

/* Sums over one job's messages, independent of other jobs. */
struct cpl_job_sums {
	double bytes;            /* all traffic of the matrix */
	double bytes_in_node;    /* between ranks of one node */
	double bytes_on_network; /* bytes - bytes_in_node; includes traffic
				  * between nodes of one router (0 hops) */
	double hop_bytes;        /* sum of bytes * router-to-router hops */
	double max_dilation;     /* hops of the farthest pair that talks; both
				  * are expectations where paths are drawn */
};

/* Number of links, six numbers and totals of one link class, in bytes. */
struct cpl_class_stats {
	int64_t count, used; /* used: links with more than 0 bytes */
	double min, q1, median, mean, q3, max, total;
};

/* PTRAM's and Damselfly's objective numbers over all network links. */
struct cpl_metrics {
	double max_congestion;  /* largest bytes / bandwidth, seconds */
	double mean_congestion; /* over all links */
	double nonzero_average; /* NZCA: over links that carry traffic */
	double nonzero_variance; /* NZCV: population variance over the same */
	double max_injection;   /* largest bytes / bandwidth of node links */
};

int cpl_load_init(struct cpl_load *load, const struct cpl_network *net,
		  struct cpl_error *err);
void cpl_load_clear(struct cpl_load *load, const struct cpl_network *net);
void cpl_load_free(struct cpl_load *load);
/* into += from. O(links + nodes). */
void cpl_load_add(struct cpl_load *into, const struct cpl_load *from,
		  const struct cpl_network *net);

/*
 * Reusable buffers for evaluating placements of jobs of up to `ranks` ranks
 * and `entries` matrix entries on one network: no allocation in evaluations.
 */
struct cpl_traffic_work;
struct cpl_traffic_work *cpl_traffic_work_new(const struct cpl_network *net,
					      const struct cpl_comm *comm,
					      struct cpl_error *err);
void cpl_traffic_work_free(struct cpl_traffic_work *work);

/*
 * Add the traffic of comm with rank r on node rank_node[r] to load (not
 * cleared first). sums may be NULL. A router pair's bytes are summed in
 * (source rank, destination rank) order and the pairs routed in (source
 * router, destination router) order, so the result is the same to the last bit
 * on every machine. O(entries + used router pairs * path length), or what the
 * routing's solve says. An adaptive routing adapts to this job's own traffic
 * only, not to what load holds already.
 */
void cpl_traffic_add(const struct cpl_network *net,
		     const struct cpl_routing *routing,
		     const struct cpl_comm *comm, const int *rank_node,
		     struct cpl_traffic_work *work, struct cpl_load *load,
		     struct cpl_job_sums *sums);

/*
 * A job whose messages are made when they are looked at (rows.h): rank r is on
 * node[r / ranks_per_node], nodes distinct, ranks_per_node 1 .. 65536. threads:
 * see base/parallel.h; no result depends on it. Inside a daemon: 1.
 */
struct cpl_stream {
	const struct cpl_rows *rows;
	const int *node;
	int ranks_per_node;
	int threads;
};

/*
 * What the routers send each other, for routings that need all pairs at once.
 * Free with cpl_pairs_free in either case. Messages of nodes of one router and
 * those without bytes make no pair. 0, or -1 with err (memory). Twelve bytes a
 * pair and 1/32 more while they are collected; O(messages + pairs), messages
 * of neighbouring ranks between the same nodes counting once where the pattern
 * says that they are alike.
 */
int cpl_stream_pairs(const struct cpl_network *net,
                     const struct cpl_stream *job, struct cpl_pairs *pairs,
                     struct cpl_error *err);
void cpl_pairs_free(struct cpl_pairs *pairs);

/*
 * cpl_traffic_add for such a job under n routings at once: routing i adds to
 * load[i] and fills sums[i]. One walk over the messages serves static-direct
 * and static-indirect of a dragonfly: with one link per pair of groups they are
 * added up by (router, group) and (group, node), else pair by pair, in the order
 * of cpl_stream_pairs, none of which is kept. One serves all other routings
 * that have add; one collects the pairs for those that have solve only. 0, or -1 with err (memory), with loads that are then not to be used.
 */
int cpl_stream_add(const struct cpl_network *net, const struct cpl_stream *job,
                   int n, const struct cpl_routing *const *routing,
                   struct cpl_load *const *load, struct cpl_job_sums *sums,
                   struct cpl_error *err);

/*
 * Links on the way (routing->hops: where the routing solves, the shortest one),
 * over all ordered pairs of ranks of which the first sends the second bytes;
 * pairs of one router count 0 (Jain 2016, 2.4 and 4.1).
 */
struct cpl_dilation {
	double average;
	double above_average; /* mean of those above the average, or 0 */
	int64_t pairs, pairs_above;
};

/* Of n such jobs together. 0, or -1 with err (memory). O(messages * log of
 * those of a rank). */
int cpl_stream_dilation(const struct cpl_network *net,
                        const struct cpl_routing *routing,
                        const struct cpl_stream *job, int n,
                        struct cpl_dilation *out, struct cpl_error *err);

/*
 * max, mean and the PTRAM metrics of load + background (background may be
 * NULL). O(links).
 */
void cpl_traffic_metrics(const struct cpl_network *net,
			 const struct cpl_load *load,
			 const struct cpl_load *background,
			 struct cpl_metrics *out);

/* NZCV of `used` links from the sum of their squared distances from the
 * average; 0 where that is rounding only. O(1). */
double cpl_metrics_variance(double squares, int64_t used, double average);

/*
 * PTRAM's hybrid metric (Mirsadeghi, Afsahi, eq 3), each term over that of a
 * reference layout: hop-bytes + largest congestion + NZCA + NZCV. Terms whose
 * reference is 0 are left out; the reference itself scores 4, or the number of
 * terms left. O(1).
 */
double cpl_metrics_hybrid(const struct cpl_metrics *metrics, double hop_bytes,
                          const struct cpl_metrics *reference,
                          double reference_hop_bytes);

/*
 * Six numbers of n values. Quartiles by linear interpolation between order
 * statistics (position q * (n - 1); R's type 7, numpy's default). 0, or -1
 * when memory is out. O(n).
 */
int cpl_class_stats(const double *value, int64_t n,
		    struct cpl_class_stats *out, struct cpl_error *err);

/* The same of a class's links, or (-1) of all, cable by cable. */
int cpl_load_stats(const struct cpl_network *net, const struct cpl_load *load,
                   int class, struct cpl_class_stats *out,
                   struct cpl_error *err);

#endif
