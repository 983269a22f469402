/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `commplace traffic`: the workload that is evaluated, between reading the
 * options and reporting.
 */
#ifndef CMD_TRAFFIC_H
#define CMD_TRAFFIC_H

#include "cmd.h"
#include "job_traffic.h"
#include "placement/decide.h"
#include "traffic/dilation.h"

/* One --signature with the options that follow it. */
struct traffic_job {
	/* From the command line; at most one of the three is set. */
	const char *signature;
	const char *placement, *node_file, *hosts;
	const char *phase;
	const char *routing_name; /* NULL: the network's */
	int ranks_per_node;
	/* What became of it. */
	const struct cpl_routing *routing;
	const struct cpl_routing *placing; /* what its placement goes by */
	int number;                        /* in the workload */
	struct cpl_signature *sig;
	struct job_traffic traffic;
	int *node;          /* [traffic.n_nodes] in rank order */
	const char *policy; /* taken policy's name, or NULL: hosts were given */
	uint64_t seed;      /* of the taken policy */
	struct cpl_job_sums sums;
};

struct traffic {
	const struct cpl_network *net;
	const struct cpl_routing *routing; /* of the running jobs */
	bool mixed;                        /* not that of all jobs */
	const char *profile_dir;           /* NULL: the default */
	uint64_t seed;
	int threads;
	int n_jobs;
	struct traffic_job *job;
	unsigned char *free;           /* [n_nodes] */
	struct cpl_workload *workload; /* running jobs and all of these */
	/* Where any routing is adaptive: those placed so far under the minimal
	 * one, which placements go by; else NULL. */
	struct cpl_workload *guess;
	const struct cpl_load *load;   /* of workload */
	struct cpl_job_sums sums;      /* of these jobs */
	struct cpl_dilation dilation;  /* of these jobs */
	struct cpl_metrics metrics;    /* of load */
	double seconds; /* the evaluation took, without placing */
};

/*
 * Load the signatures, place the jobs (those with given hosts first, then the
 * others in order, each knowing the load of those before it) and evaluate.
 * `free`, `workload` and `guess` come in holding the running jobs. 0, or -1 with
 * err.
 */
int traffic_evaluate(struct traffic *t, struct cpl_error *err);

/* Release what traffic_evaluate made. */
void traffic_release(struct traffic *t);

/* Print as one JSON object or as tables; an exit code. */
int traffic_print_json(const struct cmd *self, const struct traffic *t);
int traffic_print_text(const struct cmd *self, const struct traffic *t);

/* "class,from,to,bandwidth,bytes" of every network link, header first. */
int traffic_write_links(const struct traffic *t, const char *path,
                        struct cpl_error *err);

/* Map of the link loads as SVG. */
int traffic_plot(const struct traffic *t, const char *path,
                 struct cpl_error *err);

#endif
