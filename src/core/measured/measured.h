/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes per second on links as switches or network adapters counted them, and
 * what is left of them for others when the jobs that are known are taken out.
 *
 * The text is CSV, its first line one of
 *
 *	time,from,to,bytes_per_second	rates
 *	time,from,to,bytes		counters of 64 bits, from any start
 *	time,from,to,bytes32		counters of 32 bits
 *
 * with "#" comments. time is in seconds since 1970. from and to are routers by
 * number, as `commplace network links` prints them, or by name, as the
 * network's "router_names" has it; "[PORT]" behind a name, as ibnetdiscover
 * writes it, is passed over, and so are quotes. Links of nodes have the host's
 * name ("HOST", or "HOST:PORT", from 0, where nodes have several ports) as one
 * end and the router or nothing as the other. Parallel cables have a row each,
 * in the order of `commplace network links`, or one together.
 *
 * Of each link the newest time counts; of counters what it is more than at the
 * time before. Counters may wrap once between these.
 *
 * A link's rows that cannot be right leave it unmeasured, so that no load is
 * wrong: numbers that are none or negative, times that are too old or to come,
 * fewer or more rows than cables, a counter without a sample before it, or that
 * was reset, or may have wrapped twice, and more than the link carries. The
 * first reason is kept.
 */
/* Tests: measured names rows in test_measured; unknown in test_unknown; http io
 * source in test_measured_site. */
#pragma once

#include <stdio.h>

#include "scene/background.h"

/* Times the bandwidth: more was not measured, but is a mistake. Samples are not
 * taken to the millisecond. */
#define CPL_MEASURED_MOST 1.25
/* Part of the bandwidth below which what is left of a link is nothing. */
#define CPL_MEASURED_LEAST 0.001
/* Seconds that a sample may be ahead of our clock. */
#define CPL_MEASURED_AHEAD 60
/* Longer texts are refused. */
#define CPL_MEASURED_MAX_BYTES (UINT64_C(256) << 20)

/* What the decider read last, in a state directory, for commands. */
#define CPL_MEASURED_FILE "measured.csv"

/* When it is read; now 0: times do not matter. */
struct cpl_measured_at {
	double now, max_age; /* seconds */
};

/* A link that was measured and is not in the network as it was: names of its ends, by
 * the text or the network. */
struct cpl_measured_odd {
	char from[64], to[64];
	int counted, cables; /* cables; 0: the network has no such link */
};
#define CPL_MEASURED_ODDS 32

struct cpl_measured {
	int64_t n;
	struct cpl_times_rate *rate; /* [n] by link; may be 0 */
	/* Of the links' samples the oldest, in seconds since 1970; and of
	 * counters since when they count, else the same. */
	double time, since;
	int64_t rows, left_out; /* that were to count, and do not */
	struct cpl_error why;   /* of the first of these, or "" */
	/* Of these, links of another cabling; one direction of each, and no more
	 * than there is room for. */
	int n_odds;
	struct cpl_measured_odd odd[CPL_MEASURED_ODDS];
};

/*
 * 0, or -1 with err, and *out empty: no such text, most of its rows are left
 * out, or nothing was measured; memory; the network states no bandwidths in
 * bytes/s. cpl_measured_free in either case. name for messages. O(rows *
 * log(rows) + links * log(links)).
 */
int cpl_measured_parse(struct cpl_measured *out, const struct cpl_network *net,
                       const char *text, size_t length, const char *name,
                       const struct cpl_measured_at *at, struct cpl_error *err);
/* The same of a file. */
int cpl_measured_load(struct cpl_measured *out, const struct cpl_network *net,
                      const char *path, const struct cpl_measured_at *at,
                      struct cpl_error *err);
/* The same as rates, which reads as what was written; of what was left out odd links
 * only. Errors show at the stream. O(links). */
void cpl_measured_write(const struct cpl_measured *measured,
                        const struct cpl_network *net, FILE *out);
void cpl_measured_free(struct cpl_measured *measured);

/* In which part of the sample's time (seconds since 1970) a job ran, 0 .. 1. */
double cpl_measured_coverage(const struct cpl_measured *links, double began,
                             double ended);

/*
 * What others than the known jobs, which send `own` (bytes/s; NULL: nothing),
 * were measured to send, for a background: never below 0. free() it. NULL with
 * err (memory). O(measured links).
 */
struct cpl_job_load *cpl_measured_rest(const struct cpl_measured *measured,
                                       const struct cpl_network *net,
                                       const struct cpl_load *own,
                                       struct cpl_error *err);
