/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Job logs: who asked for how many nodes, when, and how long it ran. Two forms
 * are read, either of them gzipped, too:
 *
 * - the Standard Workload Format of the Parallel Workloads Archive: lines of 18
 *   numbers, comments behind ";". Name, user, group (as account), queue (as
 *   partition) are its numbers as text;
 * - what `sacct -P` prints: a line that names the columns, in any order, then a
 *   line a job, "|" between fields. Needed are JobID (or JobIDRaw), Submit,
 *   Elapsed (or ElapsedRaw) and NNodes (or AllocNodes); read, too, are
 *   Timelimit (or TimelimitRaw), JobName, User, Account, Partition and QOS,
 *   and Share: the percentage of the run time that is communication, which is
 *   no column of sacct's. Other columns are passed over, and lines of steps.
 *   Times are seconds, or of the form 2026-11-22T12:00:00, which is taken for
 *   UTC: where clocks are changed an hour is lost or won.
 */
#ifndef CPL_CAMPAIGN_LOG_H
#define CPL_CAMPAIGN_LOG_H

#include <stdint.h>

#include "base/error.h"

/* Larger logs are refused before they are read. */
#define CPL_LOG_MAX_BYTES (1ULL << 30)
/* Seconds, and nodes, above these are refused. */
#define CPL_LOG_MAX_SECONDS 1e11
#define CPL_LOG_MAX_NODES 16777216

struct cpl_log_job {
	int64_t id;     /* from 1, in the order of the log's jobs here */
	double submit;  /* seconds, the first job's is 0 */
	double run;     /* seconds, > 0 */
	double limit;   /* seconds asked for, >= run; run where not stated */
	double share;   /* of run that is communication, 0 .. 1; -1: not stated
			 */
	int nodes;      /* > 0 */
	/* "" where the log has none; point into the log's text. */
	const char *label; /* the log's own id */
	const char *name, *user, *account, *partition, *qos;
};

struct cpl_log {
	int n_jobs;
	struct cpl_log_job *job; /* by submission, then as in the log */
	int left_out;            /* never ran, or on no node */
	char *text;              /* what the names point into */
};

/*
 * Load a log, or parse the text: `length` bytes and a NUL, of malloc, which is
 * taken over in either case. procs_per_node: what a node counts as in SWF, whose
 * jobs have processors; rounded up. 0, or -1 with err and *out {0}: "FILE:LINE:
 * reason", or no job that ran. O(bytes log jobs).
 */
int cpl_log_load(const char *path, int procs_per_node, struct cpl_log *out,
                 struct cpl_error *err);
int cpl_log_parse(char *text, size_t length, const char *name,
                  int procs_per_node, struct cpl_log *out,
                  struct cpl_error *err);
void cpl_log_free(struct cpl_log *log);

#endif
