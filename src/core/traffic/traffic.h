/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on links and what they come to. workload.h fills them.
 */
/* Tests: accelerators in test_accelerators; dilation stream* in test_stream; distance in test_ports; queues in test_learn; load* in
 * test_background test_moves; matrix metrics in test_traffic; moves_* in
 * test_moves; objective in test_decide_objectives; times_* in test_times. */
#pragma once

#include "network/network.h"

struct cpl_load_blocks;

/* Bytes per link; the arrays belong to the struct, and follow one another. */
struct cpl_load {
	double *link;      /* [n_links] */
	/* Of each port, by cpl_network_port_cables. */
	double *injection; /* node to router */
	double *ejection;  /* router to node */
	/* Of each accelerator, by cpl_network_accelerator: to and from the
	 * others of its node, and of its domain (enum cpl_inside). */
	double *out[CPL_INSIDES], *in[CPL_INSIDES];
	/* Of rates, in the order of the above: on each link the sum of the squares
	 * of single jobs' rates; NULL: each is of many jobs. */
	double *squares;
	/* Sums by blocks of a load whose links change one by one, kept by those
	 * who change them; or NULL: see load_blocks.h. */
	struct cpl_load_blocks *blocks;
};

/* Sums over one job's messages, independent of other jobs. */
struct cpl_job_sums {
	double bytes;            /* all traffic of the matrix */
	double bytes_in_node;    /* between ranks of one node */
	double bytes_in_domain;  /* between nodes of one domain */
	double bytes_on_network; /* bytes - bytes_in_node - bytes_in_domain;
	                          * includes traffic between nodes of one router
	                          * (0 hops) */
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
	double max_congestion;   /* largest bytes / bandwidth, seconds */
	double job_congestion;   /* that of links the job is on; 0: not known */
	double mean_congestion;  /* over all links */
	double nonzero_average;  /* NZCA: over links that carry traffic */
	double nonzero_variance; /* NZCV: population variance over the same */
	double max_injection;    /* largest bytes / bandwidth of node links */
	double seconds; /* cpl_traffic_seconds, where it is asked for, or 0 */
};

/*
 * How many times as long as alone a link takes that others use for the part u of the
 * time, each at its full rate, shared in turn. One of them holds up by its part, and is
 * there longer, as others hold it up meanwhile: of n alike, whose parts' squares come to
 * `squares` = u^2 / n, by the products of two and of three different ones, the first
 * terms of 1 / (1 - u), to which infinitely many come (processor sharing). Where all are
 * always there it is 1 + n. Squares 0: of infinitely many.
 * doc/reproduction/communication.md, "Others as utilisation", has it beside simulations.
 */
static inline double cpl_slowed(double u, double squares)
{
	double two = u * u - squares, three = 2 * two - u * u;
	double more = two > 0 ? two : 0;

	if (two > 0 && three > 0)
		more += two * three / u;
	/* No longer than where all are there, which with u > n would be shorter. */
	if ((u + more) * squares > u * u)
		more = u * squares < u * u ? u * u / squares - u : 0;
	return 1 + u + more;
}

/* The same where others send rates (NULL: nothing); of a link as cpl_times_links numbers
 * them. Bandwidth in bytes/s. */
static inline double cpl_slowed_by(const struct cpl_load *rates, int64_t link,
                                   double bandwidth)
{
	double squares = 0;

	if (!rates)
		return 1;
	if (rates->squares)
		squares = rates->squares[link] /
		          (bandwidth * bandwidth);
	return cpl_slowed(rates->link[link] / bandwidth, squares);
}

/* Of seconds, by which links that are passed in turn add up. */
static inline double cpl_fourth_power(double x)
{
	return x * x * x * x;
}

/*
 * How long one job's bytes (own) take: the largest bytes / bandwidth of links,
 * node links and links of accelerators, where others send rates (bytes/s; NULL: nothing).
 * O(links + nodes).
 */
double cpl_traffic_seconds(const struct cpl_network *net,
                           const struct cpl_load *own,
                           const struct cpl_load *rates);

/* No bytes anywhere, for cpl_load_free. 0, or -1 with err (memory), and nothing
 * to free. O(links + nodes). */
int cpl_load_init(struct cpl_load *load, const struct cpl_network *net,
                  struct cpl_error *err);
/* The same of rates, with squares. */
int cpl_load_init_rates(struct cpl_load *load, const struct cpl_network *net,
                        struct cpl_error *err);
/* Set all bytes back to 0. O(links + nodes). */
void cpl_load_clear(struct cpl_load *load, const struct cpl_network *net);
/* One of zeros, too. */
void cpl_load_free(struct cpl_load *load);
/* into += from; those of from are of many jobs where it has no squares. O(links +
 * nodes). */
void cpl_load_add(struct cpl_load *into, const struct cpl_load *from,
                  const struct cpl_network *net);
/* into = from * factor. O(links + nodes). */
void cpl_load_scale(struct cpl_load *into, const struct cpl_load *from,
                    double factor, const struct cpl_network *net);
/* Seconds that the busiest link takes, whatever its kind. O(links + nodes). */
double cpl_load_seconds(const struct cpl_load *load,
                        const struct cpl_network *net);

/*
 * max, mean and the PTRAM metrics of load + background (background may be
 * NULL). O(links).
 */
void cpl_traffic_metrics(const struct cpl_network *net,
                         const struct cpl_load *load,
                         const struct cpl_load *background,
                         struct cpl_metrics *out);

/* 0, or -1 with err where a sum is larger than a number can be: nothing can be
 * compared by it. */
int cpl_traffic_finite(const struct cpl_metrics *metrics,
                       const struct cpl_job_sums *sums, struct cpl_error *err);

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
int cpl_class_stats(const double *value, int64_t n, struct cpl_class_stats *out,
                    struct cpl_error *err);

/* The same of a class's links, or (-1) of all, cable by cable. O(cables). */
int cpl_load_stats(const struct cpl_network *net, const struct cpl_load *load,
                   int class, struct cpl_class_stats *out,
                   struct cpl_error *err);

/* The same of the accelerators of nodes, load->out or in of a kind. 0, or -1
 * with err (memory). O(accelerators). */
int cpl_load_inside_stats(const struct cpl_network *net, const double *value,
                          struct cpl_class_stats *out, struct cpl_error *err);

/* The same of the cables of nodes, load->injection or load->ejection; ports
 * without a node have none. 0, or -1 with err (memory). O(cables of nodes). */
int cpl_load_node_stats(const struct cpl_network *net, const double *value,
                        struct cpl_class_stats *out, struct cpl_error *err);
