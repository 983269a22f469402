/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of record_dir.h: calls and what is logged (record_dir.c),
 * what the worker makes of them (record_dir_queue.c) and the folders of a
 * directory, and whose it is (record_dir_folder.c). */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "site/record_dir.h"

/* A directory as it was configured; never changed but by the queue. */
struct state_dir {
	struct state_dir *next;
	char *path, *cluster; /* cluster NULL: not asked for */
	enum cpl_record_access access;
	struct cpl_record_keep keep;
	/* The queue's: */
	int ends;      /* since the last look at what may go */
	atomic_bool ours; /* found to be so; others read it */
	bool foreign;  /* told that it is not */
	int64_t *late; /* [n_late] ends to be tried again */
	int n_late;
	int64_t tried;  /* ns */
	int64_t pruned; /* ns */
	/* Of looks at what may go: */
	int64_t sure_since; /* ns, 0: no clock was looked at yet */
	int64_t ahead;      /* seconds, of the clock against cpl_now */
};

/* An owner in CPL_QUEUE_HOME, whose others are users: no user has this
 * number. */
#define RECORD_PRUNE_OWNER UINT64_MAX

struct cpl_record_dir {
	struct cpl_worker *worker;
	cpl_log_line *log;
	void *log_arg;
	pthread_mutex_t lock;
	struct state_dir *state; /* the first is in use; NULL: none */
	bool none;
	size_t queued; /* bytes */
	int lost;      /* records since the last complaint */
	int64_t complained;
	struct cpl_counters *counters; /* or NULL */
	struct cpl_counters counted;   /* of them, in the file: the queue's */
	bool count_failed;             /* and said so: the queue's */
};

struct request {
	struct cpl_request head;
	struct cpl_record_dir *dir;
	struct state_dir *state;
	int64_t id;
	uid_t user;
	char *text; /* of a record */
	size_t length;
	int64_t *ids; /* of a restore */
	int n_ids;
	void (*take)(void *arg, struct cpl_record *record);
	void *take_arg;
};

/* record_dir_say.c */

/* NULL: memory. */
struct request *record_dir_request(struct cpl_record_dir *dir,
                                   struct state_dir *state, int64_t id,
                                   void (*run)(struct cpl_request *head));
/* A line of the log. */
void record_dir_say(struct cpl_record_dir *dir, bool failure, const char *fmt,
                    ...) __attribute__((format(printf, 3, 4)));
/* A record is lost. The first one is reported, then once a minute how many
 * there were. */
void record_dir_complain(struct cpl_record_dir *dir, const char *why);
/* A record could be written. True: the one before could not. */
bool record_dir_relieve(struct cpl_record_dir *dir);

/* record_dir_folder.c */

/* Make the folder of a file below the directory; failures show at the file. */
void record_dir_make(const struct state_dir *state, const char *name);
/* May this directory be used? If not, err says why, or that was said before. */
bool record_dir_check(struct cpl_record_dir *dir, struct state_dir *state,
                      struct cpl_error *err);
/* Remove the records and counters that a process ended before it had written
 * them. Not to be called while any of ours is being written. */
void record_dir_sweep(const struct state_dir *state);
/* Clear away what has a record's name and is no file; a folder with something
 * in it is renamed to NAME.json.aside. False: nothing of that kind is there, or
 * errno. */
bool record_dir_clear(const char *path);
/* Move running/ID.json to another folder. 0, 1: there was none, -1: errno. */
int record_dir_move(const struct state_dir *state, int64_t id,
                    const char *folder, struct cpl_error *err);

/* record_dir_queue.c: requests of struct request, and the counters of a struct
 * cpl_record_dir. Whatever fails is logged. */

void record_dir_run_write(struct cpl_request *head);
void record_dir_run_end(struct cpl_request *head);
void record_dir_run_restore(struct cpl_request *head);
void record_dir_run_forget(struct cpl_request *head);
void record_dir_run_count(void *dir);
