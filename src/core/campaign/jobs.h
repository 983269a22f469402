/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map from a log's jobs to what they send, commplace-jobs(5): a line
 *
 *	Match Name=vasp* Nodes=1-64 Signature=vasp.json Share=40
 *	Mix Weight=2 Pattern=stencil-3d Share=30 RanksPerNode=4
 *
 * each. The first Match whose conditions hold has the job; those that none has
 * draw one of the Mix lines by their weights, from (seed, job) alone.
 */
#ifndef CPL_CAMPAIGN_JOBS_H
#define CPL_CAMPAIGN_JOBS_H

#include <stdint.h>

#include "base/error.h"
#include "campaign/log.h"
#include "graph/comm_gather.h"

#define CPL_JOBS_MAX_BYTES (1 << 20)
#define CPL_JOBS_MAX_RANKS_PER_NODE 1024

/* Traffic that is made for any number of ranks. */
struct cpl_jobs_pattern {
	const char *name, *summary;
	/* Entries of n ranks, the same each time. */
	void (*make)(int n, struct cpl_comm_gather *out);
};

/* By number, NULL behind the last; by name, NULL with err that lists them. */
const struct cpl_jobs_pattern *cpl_jobs_pattern_at(int i);
const struct cpl_jobs_pattern *cpl_jobs_pattern_find(const char *name,
                                                     struct cpl_error *err);
/* Its matrix, which is symmetric: what n ranks send each other in one round, the
 * largest message 1 MB. NULL with err (memory; more than 200 million entries). */
struct cpl_comm *cpl_jobs_pattern_comm(const struct cpl_jobs_pattern *pattern,
                                       int n, struct cpl_error *err);

struct cpl_jobs_rule {
	double weight; /* of a Mix line, 0: Match */
	/* Shell patterns (fnmatch(3)), or NULL: any. */
	char *name, *user, *account, *partition, *qos;
	int low, high; /* nodes */
	char *class;   /* for reports; never NULL */
	/* At most one of the two; neither: the job sends nothing. */
	char *signature; /* path or name */
	const struct cpl_jobs_pattern *pattern;
	double share; /* communication's part of the run time, -1: not stated */
	int ranks_per_node; /* >= 1 */
	int line;
};

struct cpl_jobs {
	int n_rules;
	struct cpl_jobs_rule *rule; /* as in the file */
	double weight;              /* of all Mix lines */
};

/* 0, or -1 with err "FILE:LINE: reason" and *out {0}. */
int cpl_jobs_load(const char *path, struct cpl_jobs *out,
                  struct cpl_error *err);
int cpl_jobs_parse(const char *text, size_t length, const char *name,
                   struct cpl_jobs *out, struct cpl_error *err);
void cpl_jobs_free(struct cpl_jobs *jobs);

/* The rule that has the job, NULL: none, it sends nothing. O(rules). */
const struct cpl_jobs_rule *cpl_jobs_rule_of(const struct cpl_jobs *jobs,
                                             const struct cpl_log_job *job,
                                             uint64_t seed);

#endif
