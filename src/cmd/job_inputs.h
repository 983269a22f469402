/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `place` and `map` both start from: network, the job's traffic, routing,
 * objective, and the jobs that already run.
 */
#pragma once

#include "cmd.h"
#include "measured/measured.h"
#include "scene/scene.h"
#include "spread.h"
#include "traffic/workload.h"

/* Texts of options; NULL: the option was not given. */
struct job_options {
	const char *network, *signature, *profile_dir;
	const char *routing, *objective, *running;
	/* Only of `place`: */
	const char *measured, *sample;
	double volume; /* bytes/s of each of so many nodes; 0: it has another */
	int64_t nodes;
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
	const struct cpl_routing *stated; /* what it may stand in for */
	enum cpl_objective objective;
	struct cpl_signature *sig; /* NULL: none */
	struct cpl_comm *comm;     /* of its whole run, or NULL */
	struct cpl_run_times run;
	unsigned char *free; /* [n_nodes] hosts without a running job */
	int n_running;
	struct cpl_scene scene; /* with the running jobs, and with what was
	                         * measured besides: */
	struct cpl_measured measured;
	double others; /* bytes/s of it on all links that are not theirs */
	struct cpl_load load;   /* their whole runs, for a job without times */
	/* cpl_scene_loads of it while the job runs. */
	const struct cpl_load *background, *running;
};

/* 0, or -1 with err. Free with job_inputs_free in either case. */
int job_inputs_load(struct job_inputs *in, const struct job_options *options,
                    struct cpl_error *err);
void job_inputs_free(struct job_inputs *in);

/* 1 for each node that has a host, else 0; the caller frees it. NULL with err:
 * memory. */
unsigned char *cmd_usable_nodes(const struct cpl_network *net,
                                struct cpl_error *err);

/*
 * --running: the jobs of STATE.json. Their hosts are not free any more, and
 * they send in the scene, which has the network, by the routing or what stands
 * in for it (cpl_routing_by_flow). Their whole runs under the routing itself go
 * into load, which is {0} and to be freed in either case. Where they shall
 * adapt to others, they are added to `adaptive` (else NULL) as jobs, and load
 * is what searches go by. How many there are, or -1 with err.
 */
int cmd_load_running(const char *path, const char *profile_dir,
                     const struct cpl_routing *routing, struct cpl_scene *scene,
                     unsigned char *free_nodes, struct cpl_load *load,
                     struct cpl_workload *adaptive, struct cpl_error *err);

/* {"max_congestion": ..., ..., "hop_bytes": ...}; NULL when memory is out. */
json_t *job_metrics_json(const struct cpl_metrics *metrics,
                         const struct cpl_job_sums *sums);
