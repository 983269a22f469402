/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `compare` and `traffic` have in common: jobs, one for each --signature
 * with the options that follow it, and what an evaluation of them gave. A
 * job's traffic is its matrix, or where that is too large to be stored its
 * messages one by one.
 */
#pragma once

#include "base/parallel.h"
#include "cmd.h"
#include "scene/scene.h"
#include "signature/phases/events.h"
#include "traffic/workload.h"

struct job_traffic {
	/* From the command line. */
	const char *signature, *phase; /* phase NULL: the whole run */
	bool is_trace; /* signature is a file of events, by --trace */
	int ranks_per_node;            /* 0: not given */
	/* At most one of the four; only `traffic` and `simulate` have these
	 * options, and the last two only `simulate`. */
	const char *placement, *node_file, *hosts, *rank_file;
	bool where_said;          /* by the job itself */
	double start;             /* seconds */
	const char *routing_name; /* NULL: the network's */
	const struct cpl_routing *routing, *quick; /* what searches go by */
	struct cpl_wish wish; /* of placement, where hosts are to be chosen */
	/* Of job_traffic_open. */
	struct cpl_signature *sig;
	struct cpl_run_events *trace; /* NULL: none */
	int ranks, n_nodes;
	struct cpl_rows *rows;
	struct cpl_comm *comm; /* NULL: not stored, and not asked for */
	bool stored;
	/* Of job_traffic_choose. */
	int *node;          /* [n_nodes] in rank order; of --rank-file [ranks] */
	const char *policy; /* NULL: hosts were given */
	uint64_t seed;
	int number; /* in the workload */
};

/* The jobs, and what is said of all of them. */
struct job_list {
	struct job_traffic common; /* options before the first --signature */
	struct job_traffic *job;
	int n;
	const char *network;
	const char *running; /* STATE.json, or NULL */
	const char *profile_dir, *plot;
	int64_t seed, threads;
	bool json;
};

/* The same as entries of a table of struct cmd_option, and what they start
 * with. */
#define JOB_LIST_OPTIONS(list)                                                 \
	{"network", .text = &(list)->network, .needed = true},                 \
	{"signature", .take = job_list_add, .into = (list)},                   \
	{"ranks-per-node", .take = job_list_take_ranks, .into = (list)},       \
	{"phase", .take = job_list_take_phase, .into = (list)},                \
	{"running", .text = &(list)->running},                                 \
	{"profile-dir", .text = &(list)->profile_dir},                         \
	{"seed", .integer = &(list)->seed, .low = 0, .high = INT64_MAX},       \
	{"threads", .integer = &(list)->threads, .low = 1,                     \
	 .high = CPL_PARALLEL_MAX},                                            \
	{"plot", .text = &(list)->plot},                                       \
	{"json", .flag = &(list)->json}
#define JOB_LIST_DEFAULTS .seed = 1, .threads = cpl_parallel_cpus()

/* --signature, and --trace, which only `simulate` has. */
int job_list_add(const struct cmd *self, void *into, const char *option,
                 const char *value);
int job_list_take_ranks(const struct cmd *self, void *into, const char *option,
                        const char *value);
int job_list_take_phase(const struct cmd *self, void *into, const char *option,
                        const char *value);

/* --placement, --node-file, --hosts and --rank-file. */
int job_list_take_where(const struct cmd *self, void *into, const char *option,
                        const char *value);

/* The job that the last --signature began, or the common one. */
struct job_traffic *job_list_last(struct job_list *list);

/* Load all signatures. 0, or -1 with err; free in either case. */
int job_list_open(struct job_list *list, struct cpl_error *err);
void job_list_free(struct job_list *list);

/* Place each job as its --placement asks. 0, or -1 with err. */
int job_list_wishes(struct job_list *list, const struct cpl_network *net,
                    struct cpl_error *err);

/* The nodes of --hosts or --node-file, which are not free any more; only the
 * first n_nodes are used. 0, or -1 with err. */
int job_traffic_given(struct job_traffic *job, const struct cpl_network *net,
                      unsigned char *free_nodes, struct cpl_error *err);

/* Choose the job's nodes, as it wishes; they are not free any more. The scene
 * has the routing that a search goes by. 0, or -1 with err. */
int job_traffic_choose(struct job_traffic *job, struct cpl_scene *scene,
                      uint64_t seed, unsigned char *free_nodes,
                      struct cpl_error *err);

/* The job on its nodes as a workload takes it. */
struct cpl_job job_traffic_placed(struct job_traffic *job,
                                  const struct cpl_routing *routing);

/* All links, the classes, then injection and ejection, then those of
 * accelerators. */
#define LINK_STATS_MAX (CPL_NETWORK_MAX_CLASSES + 3 + 2 * CPL_INSIDES)

struct link_stats {
	const char *name; /* "all", class name, "injection", "ejection",
	                   * "domain_out" ... */
	struct cpl_class_stats stats;
};

/* Links of accelerators as reports name them. */
struct inside_links {
	const char *name; /* "node_out", "node_in", "domain_out", "domain_in" */
	enum cpl_inside kind;
	bool in;
};

/* Those that a network has; the number of them. */
int inside_links(const struct cpl_network *net,
                 struct inside_links link[2 * CPL_INSIDES]);
/* The load's values of one. */
const double *inside_links_of(const struct cpl_load *load,
                              const struct inside_links *link);

struct evaluation {
	int n_stats, n_inside; /* the last of stats */
	struct link_stats stats[LINK_STATS_MAX];
	struct cpl_metrics metrics; /* with the running jobs */
	struct cpl_job_sums sums;   /* of these jobs */
};

/* Add one job's sums to `sums`; of the dilations the larger one is kept. */
void evaluation_add(struct evaluation *e, const struct cpl_job_sums *job);

/* To be called after all jobs' sums: what the load comes to, without ports that
 * have no node. 0, or -1 with err: memory, or a sum is infinite. O(links). */
int evaluation_finish(struct evaluation *e, const struct cpl_network *net,
                      const struct cpl_load *load, int threads,
                      struct cpl_error *err);

/* hop_bytes / bytes_on_network, 0 without traffic. */
double evaluation_average_hops(const struct evaluation *e);

/* {"links": {"all": {...}, ...}, "injection": ..., "hop_bytes": ..., ...};
 * NULL: memory. */
json_t *evaluation_json(const struct evaluation *e);

/* {"count": ..., "used": ..., "min": ..., ..., "max": ...} */
json_t *class_stats_json(const struct cpl_class_stats *stats);

/* Of a row of a table. */
#define SIX_CELLS "%s|%s|%s|%s|%s|%s"
#define SIX_BYTES(s)                                                           \
	CMD_BYTES((s)->min), CMD_BYTES((s)->q1), CMD_BYTES((s)->median),       \
	        CMD_BYTES((s)->mean), CMD_BYTES((s)->q3), CMD_BYTES((s)->max)
