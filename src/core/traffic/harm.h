/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job would do to those that run: how much longer each of them would
 * communicate next to it.
 *
 * A running job takes what its slowest link takes: its bytes/s there over the
 * bandwidth, as much longer as all others make it (cpl_slowed), all its phases
 * as one. Its slowdown by a new job is that with the new one's
 * bytes/s over that without. Results depend on the arguments alone.
 */
#pragma once

#include "traffic/times.h"

/* The running jobs, link by link. One thread at a time. */
struct cpl_harm;

/* Make one without jobs. NULL with err (memory). O(links + nodes). */
struct cpl_harm *cpl_harm_new(const struct cpl_network *net,
                              struct cpl_error *err);
void cpl_harm_free(struct cpl_harm *harm);

/* Add one more job; returns its number, from 0 on. */
int cpl_harm_job(struct cpl_harm *harm);
/* What that job, the last one, sends over a link (as cpl_times_links numbers
 * them): bytes/s, > 0, each link once. 0, or -1 with err (memory). O(1). */
int cpl_harm_add(struct cpl_harm *harm, int64_t link, double rate,
                 struct cpl_error *err);
/* To be called when no more jobs come. 0, or -1 with err (memory). O(links +
 * what was added). */
int cpl_harm_ready(struct cpl_harm *harm, struct cpl_error *err);

/* The sum, over the running jobs, of their slowdown minus 1 that a job would
 * cause which sends this. O(its links * jobs on them). */
double cpl_harm_by(struct cpl_harm *harm, const struct cpl_times_rate *rate,
                   int64_t n);
/* On how many of these links between routers others send. O(n). */
int64_t cpl_harm_shared(const struct cpl_harm *harm,
                        const struct cpl_times_rate *rate, int64_t n);
