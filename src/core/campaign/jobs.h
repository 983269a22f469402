/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This maps a log's jobs to what they send, see commplace-jobs(5). Each line reads
 * like
 *
 *	Match Name=vasp* Nodes=1-64 Signature=vasp.json Share=40
 *	Mix Weight=2 Pattern=stencil-3d Share=30 RanksPerNode=4
 *	Match Name=train* Pattern=none Options="--segment=16 --spread-segments"
 *
 * The first Match whose conditions hold has the job. The other jobs draw one of the
 * Mix lines by their weights, from (seed, job) alone.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "campaign/asked.h"
#include "campaign/log.h"
#include "graph/comm_gather.h"

#define CPL_JOBS_MAX_BYTES (1 << 20)
#define CPL_JOBS_MAX_RANKS_PER_NODE 1024

/* This traffic can be made for any number of ranks. */
struct cpl_jobs_pattern {
	const char *name;
	/* This makes the entries of n ranks, the same each time. */
	void (*make)(int n, struct cpl_comm_gather *out);
};

/* This finds a pattern by name, or returns NULL with an err that lists them. */
const struct cpl_jobs_pattern *cpl_jobs_pattern_find(const char *name,
                                                     struct cpl_error *err);
/* This returns its matrix, which is symmetric: what n ranks send each other in one
 * round, where the largest message is 1 MB. It returns NULL with err (memory; more
 * than 200 million entries). */
struct cpl_comm *cpl_jobs_pattern_comm(const struct cpl_jobs_pattern *pattern,
                                       int n, struct cpl_error *err);

struct cpl_jobs_rule {
	double weight; /* of a Mix line; 0: Match */
	/* These are shell patterns (fnmatch(3)), or NULL for any. */
	char *name, *user, *account, *partition, *qos;
	int low, high; /* nodes */
	char *class;   /* for reports; never NULL */
	/* A rule has at most one of these two; with neither the job sends nothing. */
	char *signature; /* path or name */
	const struct cpl_jobs_pattern *pattern;
	/* part of the run time that is communication, -1: not stated */
	double share;
	int ranks_per_node; /* >= 1 */
	struct cpl_asked asked; /* of nodes, where the log's job asks nothing */
	int line;
};

struct cpl_jobs {
	int n_rules;
	struct cpl_jobs_rule *rule; /* as in the file */
	double weight;              /* sum over all Mix lines */
};

/* This returns 0, or -1 with err "FILE:LINE: reason" and *out {0}. */
int cpl_jobs_load(const char *path, struct cpl_jobs *out,
                  struct cpl_error *err);
int cpl_jobs_parse(const char *text, size_t length, const char *name,
                   struct cpl_jobs *out, struct cpl_error *err);
void cpl_jobs_free(struct cpl_jobs *jobs);

/* This returns the rule for the job, or NULL if it has none and sends nothing. It
 * costs O(rules). */
const struct cpl_jobs_rule *cpl_jobs_rule_of(const struct cpl_jobs *jobs,
                                             const struct cpl_log_job *job,
                                             uint64_t seed);
