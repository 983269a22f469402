/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the engine. Two locks: `api` is held by a caller for the whole of a
 * call and guards all that decisions use; `lock` is held briefly by callers
 * and by the worker and guards the queue, the profile cache and what the
 * worker has staged. The worker never takes `api`: it stages results, and the
 * next caller adopts them.
 */
#ifndef CPL_SITE_ENGINE_INTERNAL_H
#define CPL_SITE_ENGINE_INTERNAL_H

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "network/network.h"
#include "routing/routing.h"
#include "signature/comm.h"
#include "signature/signature.h"
#include "site/config.h"
#include "site/engine.h"
#include "traffic/traffic.h"

/* What identifies a version of a file. */
struct file_stamp {
	struct timespec mtime;
	off_t size;
	ino_t inode;
};

/* Configuration, network and routing that belong together; never changed. */
struct snapshot {
	struct cpl_config *config;
	struct cpl_network *net; /* NULL only with Mode=off */
	const struct cpl_routing *routing;
	struct file_stamp config_stamp, net_stamp;
};

/* A profile's file as loaded, or why it could not be. refs under `lock`. */
struct cpl_engine_profile {
	int refs;
	char *path;
	struct file_stamp stamp;
	bool missing; /* there is no such file */
	int ranks;
	struct cpl_comm *comm, *graph; /* NULL: error says why */
	struct cpl_error error;
	uint64_t used; /* larger: used later */
};

/* Profiles kept, and entries of all their matrices: about 60 bytes each. */
#define ENGINE_PROFILES_MAX 64
#define ENGINE_ENTRIES_MAX (2 * (int64_t)CPL_SIGNATURE_DAEMON_ENTRIES)
#define ENGINE_QUEUE_MAX 20000

enum task_kind {
	TASK_LOAD,    /* configuration and network */
	TASK_PROFILE, /* path */
	TASK_WRITE,   /* json to path */
	TASK_END,     /* rename path to path2 */
	TASK_RESTORE, /* records of path (StateDir), profiles of path2 */
};

struct task {
	struct task *next;
	enum task_kind kind;
	int refs; /* queue and waiting callers; under `lock` */
	bool done;
	int rc;
	struct cpl_error err;
	char *path, *path2;
	json_t *json;
	int64_t *id; /* TASK_RESTORE: jobs that run */
	int n_ids;
	struct cpl_engine_profile *profile; /* TASK_PROFILE: result */
};

/* A record taken back after a restart. */
struct restored {
	struct restored *next;
	struct cpl_record *record;
	struct cpl_engine_profile *profile;
};

/* One number of a sparse load; index runs over links, injection, ejection. */
struct load_entry {
	int64_t index;
	double bytes;
};

struct running {
	int64_t id;
	struct cpl_record *record;          /* hosts and plan */
	struct cpl_engine_profile *profile; /* NULL: no load */
	bool plan;      /* rank_host is for steps to follow */
	bool load_made; /* entry[] is for the snapshot in force */
	struct load_entry *entry;
	int64_t n_entries;
};

struct decided {
	struct decided *next;
	struct cpl_engine_answer answer;
};

struct cpl_engine {
	char *config_path;
	void (*log)(enum cpl_engine_log level, const char *text);

	pthread_mutex_t api;
	struct snapshot *snapshot; /* in force, NULL: none yet */
	char **host_name;          /* [n_hosts] */
	int n_hosts;
	int *host_node; /* [n_hosts] node id, -1: unknown to the network */
	int *node_host; /* [net->n_nodes] host index or -1 */
	struct running *running; /* in id order */
	int n_running, max_running;
	struct cpl_load background;
	bool background_made;
	struct decided *decided; /* newest first */
	int64_t *restore_id;     /* asked for before a configuration stood */
	int n_restore;
	bool restore_waits;

	pthread_mutex_t lock;
	pthread_cond_t change; /* CLOCK_MONOTONIC */
	pthread_t worker;
	bool worker_started, quit, abandoned;
	pid_t owner;
	struct task *head, *tail, *current;
	int n_queued;
	int64_t current_since; /* ns */
	struct snapshot *staged;
	struct file_stamp config_stamp, net_stamp; /* of the last good load */
	bool stamped, loaded;                      /* loaded: ever */
	char *last_network; /* file of that load; the worker's */
	struct restored *restored;
	struct cpl_engine_profile *cache[ENGINE_PROFILES_MAX];
	int n_cached;
	uint64_t clock;
	struct cpl_error last_logged;
};

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t engine_now(void);
/* Budget of core requests; arg is a deadline (int64_t, engine_now). */
bool engine_expired(void *arg);

void engine_log(struct cpl_engine *engine, enum cpl_engine_log level,
                const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* engine_worker.c */

/* Identify the version of a file that path names now. -1: errno. */
int engine_stamp(const char *path, struct file_stamp *stamp);
bool engine_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/* A task of this kind with copies of the paths (may be NULL); NULL: memory. */
struct task *engine_task_new(enum task_kind kind, const char *path,
                             const char *path2);
/* Queue it (starting the worker). The caller keeps a reference of its own
 * when `wait`. -1 with err when the queue is full or no thread can start; the
 * task is then freed. */
int engine_task_queue(struct cpl_engine *engine, struct task *task, bool wait,
                      struct cpl_error *err);
/* Wait until done or the deadline (ns). True: done. */
bool engine_task_wait(struct cpl_engine *engine, struct task *task,
                      int64_t deadline);
void engine_task_drop(struct cpl_engine *engine, struct task *task);
/* Is the worker held up by something that began before `since`? */
bool engine_worker_stuck(struct cpl_engine *engine, int64_t since);
/* End the worker. False: it is held by a file system; it disposes of the
 * engine when that lets it go. */
bool engine_worker_stop(struct cpl_engine *engine);
/* Free everything; no worker runs. */
void engine_dispose(struct cpl_engine *engine);

/* engine_profile.c */

void engine_profile_drop(struct cpl_engine *engine,
                         struct cpl_engine_profile *profile);
struct cpl_engine_profile *
engine_profile_hold(struct cpl_engine *engine,
                    struct cpl_engine_profile *profile);
/* On the worker: the file's current content, from the cache when unchanged.
 * Never NULL but when memory is out; look at comm. */
struct cpl_engine_profile *engine_profile_read(struct cpl_engine *engine,
                                               const char *path);
/* For callers: a reference to the profile as it is on disk; the version in
 * memory when the deadline passes before the file was looked at, NULL with err
 * when there is none. */
struct cpl_engine_profile *engine_profile_get(struct cpl_engine *engine,
                                              const char *path,
                                              int64_t deadline,
                                              struct cpl_error *err);
void engine_profile_flush(struct cpl_engine *engine);

/* engine_running.c */

struct running *engine_running_find(struct cpl_engine *engine, int64_t id);
/* Takes record and the profile's reference, also when it fails. */
struct running *engine_running_add(struct cpl_engine *engine,
                                   struct cpl_record *record,
                                   struct cpl_engine_profile *profile);
void engine_running_remove(struct cpl_engine *engine, struct running *job);
void engine_running_free(struct cpl_engine *engine);
/* The network changed: all loads are to be made anew. */
void engine_running_stale(struct cpl_engine *engine);
/*
 * The summed load of the running jobs, NULL when none has any, or with err
 * when memory is out or the deadline (ns) passed before it was made. Fills id[]
 * (up to n_running entries) with the jobs counted.
 */
const struct cpl_load *engine_background(struct cpl_engine *engine, int64_t *id,
                                         int64_t *n_ids, int64_t deadline,
                                         struct cpl_error *err);
/* The names of hosts (indexes): an array to free(), the names are the
 * engine's. NULL: memory, or an index that is no host. */
char **engine_host_names(const struct cpl_engine *engine, const int *host,
                         int n);
/* Copy n names into the record's hosts. -1: memory, nothing changed. */
int engine_record_hosts(struct cpl_record *record, char *const *name, int n);
/* Queue the writing of a job's record to StateDir/running. */
void engine_record_write(struct cpl_engine *engine,
                         const struct cpl_record *record);

/* snapshots, engine.c */
void engine_snapshot_free(struct snapshot *snapshot);

/* Take what the worker has staged; with `api` held, at the start of calls. */
void engine_adopt(struct cpl_engine *engine);

/* Replace *field by a copy of text (NULL stays NULL). -1: memory. */
int engine_set(char **field, const char *text);

#endif
