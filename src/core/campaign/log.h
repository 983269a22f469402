/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Job logs tell who asked for how many nodes, when, and how long the job ran. Two
 * forms are read, also gzipped:
 *
 *   - the Standard Workload Format of the Parallel Workloads Archive: lines of 18
 *     numbers, comments behind ";". Name, user, group (as account) and queue (as
 *     partition) are its numbers as text;
 *   - what `sacct -P` prints: a line that names the columns, in any order, then a
 *     line for each job, with "|" between fields. It needs JobID (or JobIDRaw),
 *     Submit, Elapsed (or ElapsedRaw) and NNodes (or AllocNodes), and may have
 *     Timelimit (or TimelimitRaw), JobName, User, Account, Partition and QOS,
 *     SubmitLine, whose options of asked.h count, and Share, the percentage of
 *     the run time that is communication, which sacct does not print. Other
 *     columns are passed over, and lines of steps. A SubmitLine that is the last
 *     column may have "|" in it.
 *     Times are seconds, or of the form 2026-11-22T12:00:00, which is taken as
 *     UTC, so that an hour is lost or gained where clocks are changed.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "campaign/asked.h"

/* Larger logs are refused before they are read. */
#define CPL_LOG_MAX_BYTES (1ULL << 30)
/* More seconds or nodes than these are refused. */
#define CPL_LOG_MAX_SECONDS 1e11
#define CPL_LOG_MAX_NODES 16777216

struct cpl_log_job {
	int64_t id;     /* from 1, in the order of the log's jobs here */
	double submit;  /* seconds, the first job's is 0 */
	double run;     /* seconds, > 0 */
	double limit;   /* seconds asked for, >= run; run where not stated */
	/* part of run that is communication, 0 .. 1; -1: not stated */
	double share;
	int nodes;      /* > 0 */
	struct cpl_asked asked; /* of these, as far as the log states it */
	/* These point into the log's text, and are "" where the log has none. */
	const char *label; /* the log's own id */
	const char *name, *user, *account, *partition, *qos;
};

struct cpl_log {
	int n_jobs;
	struct cpl_log_job *job; /* by submission, then as in the log */
	double first; /* seconds of the log's clock at the first submission */
	int left_out;            /* jobs that never ran, or on no node */
	char *text;              /* the names point into it */
};

/* These load a log, or parse the text, which has `length` bytes and a NUL, was
 * allocated with malloc, and is taken over in either case. procs_per_node is the
 * number of processors of a node in SWF, whose jobs have processors; the nodes are
 * rounded up. They return 0, or -1 with err and *out {0}: "FILE:LINE: reason", or
 * no job that ran. They cost O(bytes log jobs). */
int cpl_log_load(const char *path, int procs_per_node, struct cpl_log *out,
                 struct cpl_error *err);
int cpl_log_parse(char *text, size_t length, const char *name,
                  int procs_per_node, struct cpl_log *out,
                  struct cpl_error *err);
void cpl_log_free(struct cpl_log *log);
