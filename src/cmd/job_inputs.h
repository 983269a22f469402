/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `place` and `map` both start from: network, the job's traffic, routing,
 * objective, and the jobs that already run.
 */
#ifndef CPL_CMD_JOB_INPUTS_H
#define CPL_CMD_JOB_INPUTS_H

#include "cmd.h"
#include "placement/decide.h"

/* Option texts; NULL: not given. */
struct job_options {
	const char *network, *signature, *profile_dir;
	const char *routing, *objective, *running;
};

/* The same as entries of a table of struct cmd_option. */
#define JOB_OPTIONS(job) \
	{"network", .text = &(job).network, .needed = true}, \
	{"signature", .text = &(job).signature}, \
	{"profile-dir", .text = &(job).profile_dir}, \
	{"routing", .text = &(job).routing}, \
	{"objective", .text = &(job).objective}, \
	{"running", .text = &(job).running}

struct job_inputs {
	struct cpl_network *net;
	const struct cpl_routing *routing;
	enum cpl_objective objective;
	struct cpl_comm *comm; /* NULL: no signature */
	unsigned char *free;   /* [n_nodes] hosts without a running job */
	struct cpl_load background;
	int n_running; /* background is theirs; 0: no load */
};

/* 0, or -1 with err. Free with job_inputs_free in either case. */
int job_inputs_load(struct job_inputs *in, const struct job_options *options,
                    struct cpl_error *err);
void job_inputs_free(struct job_inputs *in);

/* The background for the core's requests: NULL without running jobs. */
const struct cpl_load *job_background(const struct job_inputs *in);

/*
 * Hosts of a Slurm hostlist as node ids, each once; the count goes to *n and
 * the caller frees the array. NULL with err that names the option.
 */
int *job_hosts(const struct cpl_network *net, const char *option,
               const char *text, int *n, struct cpl_error *err);
/* The same for a list that is read already; -1 when a host stands twice. */
int job_hosts_distinct(const struct cpl_network *net, const char *option,
                       const int *node, int n, struct cpl_error *err);

/* {"max_congestion": ..., ..., "hop_bytes": ...}; NULL when memory is out. */
json_t *job_metrics_json(const struct cpl_metrics *metrics,
                         const struct cpl_job_sums *sums);

/* Seconds of the monotonic clock. */
double job_clock(void);

#endif
