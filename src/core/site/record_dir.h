/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's side of a state directory: records are written to
 * running/ID.json, moved to ended/ID.json, and taken back after a restart, by
 * the worker, in the order of the calls. No call waits for a file or fails:
 * what goes wrong is logged, of many alike one line a minute.
 *
 * A directory belongs to the cluster that its file "cluster" names (made by the
 * first that uses it). In that of another nothing is read or changed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "site/config.h"
#include "site/counters.h"
#include "site/record.h"
#include "site/record_prune.h"
#include "site/worker.h"

/* Bytes of records that may wait to be written; more are lost. */
#define RECORD_DIR_QUEUE_BYTES (64 << 20)

struct cpl_record_dir;

/* As cpl_store_new. */
struct cpl_record_dir *cpl_record_dir_new(struct cpl_worker *worker,
                                          cpl_log_line *log, void *log_arg,
                                          struct cpl_error *err);
void cpl_record_dir_free(struct cpl_record_dir *dir);

/* Use this directory from now on (NULL: none), for this cluster (NULL: whoever
 * owns it), to be read by these (CPL_RECORDS_SLURM is no answer here). Records
 * of ended jobs beyond `keep` are removed at each restore and now and then. */
void cpl_record_dir_use(struct cpl_record_dir *dir, const char *path,
                        const char *cluster, enum cpl_record_access access,
                        const struct cpl_record_keep *keep);

/* Is that directory there, and this cluster's? It is not before the first
 * request. */
bool cpl_record_dir_is_ours(struct cpl_record_dir *dir);

/* Have these counters in counters.json of the directory in use: what they count
 * is added to it every RECORD_DIR_COUNT_NS, once there was another call, and
 * in the end (which slurmctld does not wait for: it exits). Before the first
 * call. */
#define RECORD_DIR_COUNT_NS INT64_C(1000000000)
void cpl_record_dir_count(struct cpl_record_dir *dir,
                          struct cpl_counters *counters);
/* Queue what was counted since, behind the records. */
void cpl_record_dir_flush(struct cpl_record_dir *dir);

/* Queue the record of a running job. O(its size). */
void cpl_record_dir_write(struct cpl_record_dir *dir,
                          const struct cpl_record *record);

/* The job has ended. Unlike records, ends are never lost while the process
 * lives: those that fail are tried again. */
void cpl_record_dir_end(struct cpl_record_dir *dir, int64_t job);

/* Ends that are still to be tried again are not, any more: another has had the
 * directory since, and their jobs may run again. */
void cpl_record_dir_forget(struct cpl_record_dir *dir);

/* The records of these jobs (id NULL: memory) go to take(arg, record), which
 * owns them, as they run (cpl_record_as_it_runs); all others are moved to
 * ended/, what is no valid record of its job to damaged/. */
void cpl_record_dir_restore(struct cpl_record_dir *dir, const int64_t *id,
                            int n,
                            void (*take)(void *arg, struct cpl_record *record),
                            void *arg);
