/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long jobs that share a network with each other and with running jobs
 * communicate, as `traffic` and `compare` show it. */
#pragma once

#include "job_traffic.h"
#include "traffic/times.h"

/* Of one job. */
struct communication {
	bool known; /* its matrix is stored */
	struct cpl_times_result times;
	struct cpl_run_times run;
	const struct cpl_routing *routing; /* that it was judged by */
	double utilisation; /* of its busiest link by itself, over its run; -1:
	                     * no bandwidths are stated */
};

/*
 * n placed jobs, each with the routing of its own or (not NULL) this one, on
 * top of running ones (bytes/s; NULL: none), into out[n]. Where the time of one
 * is not known, none is. 0, or -1 with err (memory). O(messages + links).
 */
int communication_judge(const struct cpl_network *net,
                        const struct job_traffic *job, int n,
                        const struct cpl_routing *routing,
                        const struct cpl_load *running,
                        struct communication *out, struct cpl_error *err);

/* The phases of a job, *n of them: all of its signature, or the one asked for, once,
 * in *one. */
const struct cpl_phase *communication_phases(const struct job_traffic *job,
                                             struct cpl_phase *one, int *n);

/* The head of a column of such seconds: by which routing they are, where that
 * is not the one in force. */
const char *communication_head(const struct cpl_routing *routing);

/* seconds / reference; 1 where nothing is sent. */
double communication_slowdown(double seconds, double reference);

/* {"seconds": ..., "alone": ..., "slowdown": ..., ...}, the slowdown against
 * `reference` seconds; null where it is not known. NULL: memory. */
json_t *communication_json(const struct cpl_network *net,
                           const struct communication *c, double reference);

/* What a link of an accelerator is called: "domain from n17 accelerator 2",
 * "node to n17 accelerator 0". */
void communication_accelerator(const struct cpl_network *net, int64_t link,
                               char *text, size_t size);

/* What a link is called: "row 3 -> 4", "from n17", "to n17", "-" for none; into
 * text[size]. */
void communication_link(const struct cpl_network *net, int64_t link, char *text,
                        size_t size);
