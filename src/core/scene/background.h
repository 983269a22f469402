/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running jobs put on the links, kept as jobs come and go: on each
 * link the sum over the jobs that use it in the order of their ids, which is to
 * the bit what a sum over all jobs from scratch comes to. One job more or less
 * costs what its links are, times the jobs that share them. One thread at a
 * time.
 */
#pragma once

#include "traffic/harm.h"
#include "traffic/times.h"
#include "traffic/traffic.h"
#include "traffic/workload.h"

/* A job on a link; in the background the next one there by id. */
struct cpl_job_link {
	double bytes;
	struct cpl_job_load *next; /* NULL: none */
	int link;                  /* as cpl_times_links numbers them */
	int next_at;               /* which of its links */
};

/* A job's bytes on the links that it uses: of a whole run. */
struct cpl_job_load {
	int64_t id;
	double period; /* seconds in which it sends them */
	bool many;     /* it stands for jobs that are not known one by one */
	int n_links;
	bool counted;               /* it is in a background: */
	struct cpl_job_load *after; /* there the next one by id, or NULL */
	struct cpl_job_link on[];
};

/* What of a load is not 0; the id is still to be set. Period 0: what the
 * busiest link takes for it. free() it. NULL with err (memory). O(links +
 * nodes). */
struct cpl_job_load *cpl_job_load_new(const struct cpl_network *net,
                                      const struct cpl_load *load,
                                      double period, struct cpl_error *err);

/* The same of a job's traffic, summed up by a workload for one job. NULL with
 * err. As cpl_workload_solve besides. */
struct cpl_job_load *cpl_job_load_of(struct cpl_workload *workload,
                                     const struct cpl_network *net,
                                     const struct cpl_job *placed,
                                     double period, struct cpl_error *err);

/* The same of so many links with rates: of a period of a second. O(n). */
struct cpl_job_load *cpl_job_load_of_rates(const struct cpl_times_rate *rate,
                                           int64_t n, struct cpl_error *err);

/* What a job of the background is called that stands for all that is not known:
 * before all others. */
#define CPL_MEASURED_ID INT64_MIN

/* The same of what no known job has, under CPL_MEASURED_ID. It frees rate; NULL:
 * memory is out. */
struct cpl_job_load *cpl_job_load_of_rest(struct cpl_times_rate *rate, int64_t n,
                                          struct cpl_error *err);

struct cpl_background;

/* Of no jobs. NULL with err (memory). O(links + nodes). */
struct cpl_background *cpl_background_new(const struct cpl_network *net,
                                          struct cpl_error *err);
/* Job loads stay with their owners. NULL is allowed. */
void cpl_background_free(struct cpl_background *background);

/* A job begins or ends to count; it stays where it is in between. Twice is
 * once. O(its links * jobs on them). */
void cpl_background_add(struct cpl_background *background,
                        struct cpl_job_load *job);
void cpl_background_remove(struct cpl_background *background,
                           struct cpl_job_load *job);

/* The bytes of jobs that count are others now, on the links that they had. O(links of
 * all jobs). */
void cpl_background_changed(struct cpl_background *background);

/* How many jobs count, and which does first, by id, or NULL. */
int cpl_background_jobs(const struct cpl_background *background);
struct cpl_job_load *
cpl_background_first(const struct cpl_background *background);
/* The jobs that count (NULL: none do) to tell what another one does to them, to
 * be freed. NULL with err (memory). O(links + their links). */
struct cpl_harm *cpl_background_harm(const struct cpl_background *background,
                                     const struct cpl_network *net,
                                     struct cpl_error *err);
/* Bytes of whole runs, and bytes/s: bytes over each job's period, with squares. O(1). */
const struct cpl_load *
cpl_background_bytes(const struct cpl_background *background);
const struct cpl_load *
cpl_background_rates(const struct cpl_background *background);

/*
 * Rates times seconds, valid until this was asked CPL_BACKGROUND_TIMES times
 * for other seconds. NULL with err (memory). O(1) for seconds asked lately,
 * else O(links + nodes).
 */
#define CPL_BACKGROUND_TIMES 4
const struct cpl_load *cpl_background_during(struct cpl_background *background,
                                             double seconds,
                                             struct cpl_error *err);
