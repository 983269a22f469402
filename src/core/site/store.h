/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place that reads, checks and keeps profiles, for the scheduler, its
 * submission check and the nodes.
 *
 * A profile is the file NAME.json of a directory, of several sizes
 * NAME@RANKS.json (signature/install.h), with its side files; all are
 * regular files, none a symbolic link. Its ranks are known long before its
 * matrix, which is loaded only for a job that it may fit, or that it can be
 * rescaled for (signature/rescale.h). What is in memory
 * serves STORE_FRESH_S seconds without a look at the files; they are read again
 * where their stamps differ, or, of files that have changed lately, their
 * content (struct cpl_file_mark). One limit bounds what a profile may take and
 * what all take together, the least used going first; too large ones are
 * refused before they are read or their patterns expanded.
 *
 * No profile is handed out to whom its file is not readable: struct
 * cpl_store_query says for whom it is, by default for everybody.
 *
 * A user's own profiles are read with the user's rights (site/user_dir.h), and
 * are the user's own files. Where homes hang, fewer than CPL_HOME_THREADS of
 * them hold up their own users only, who have the site's profiles meanwhile.
 * What all homes together may take while they are read is four times the limit,
 * besides the texts of small files and what homes hold that hang between two
 * files.
 *
 * No caller touches a file: the worker's queues do, and the caller waits for
 * them until its deadline.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "graph/comm.h"
#include "signature/signature.h"
#include "site/worker.h"

#define STORE_FRESH_S 5

/* A profile in memory. It never changes; a changed file makes another one. */
struct cpl_profile {
	int ranks;
	struct cpl_comm *comm;  /* the whole run */
	struct cpl_comm *graph; /* cpl_comm_symmetric(comm) */
	/* What comm is the sum of: those of sig, or, where sig is NULL, one
	 * that is comm itself. Nameless. */
	const struct cpl_phase *phase;
	int n_phases;
	struct cpl_signature *sig;
	int recorded_ranks;    /* others than ranks: it was rescaled, */
	double rescale_error; /* see struct cpl_rescaled */
	double change;        /* cpl_profile_change */
	struct cpl_phase whole;
	struct cpl_run_times run;
	uint64_t bytes;         /* of memory that it takes */
	struct cpl_file_stamp stamp; /* of its file, out of a store */
	atomic_int refs;
};

/* References; NULL is allowed. Any thread. */
struct cpl_profile *cpl_profile_hold(struct cpl_profile *profile);
void cpl_profile_drop(struct cpl_profile *profile);

/* Of a job of which it is known how much each of its nodes sends (bytes/s) alone: a
 * rank is a node, and the run a second. NULL with err (memory). As
 * cpl_unknown_comm. */
struct cpl_signature *cpl_signature_of_volume(int nodes, double volume,
                                              struct cpl_error *err);
struct cpl_profile *cpl_profile_of_volume(int nodes, double volume,
                                          struct cpl_error *err);

enum cpl_found {
	CPL_FOUND_READY,       /* here it is */
	CPL_FOUND_OTHER_RANKS, /* it is there, for another number of ranks */
	CPL_FOUND_LOADING,     /* it is there and being read */
	CPL_FOUND_MISSING,    /* no such file in a directory that can be read */
	CPL_FOUND_DAMAGED,    /* a file, but no valid profile, or too large */
	CPL_FOUND_UNREADABLE, /* directory or file cannot be opened or read */
	CPL_FOUND_BAD_NAME,   /* no name of a profile */
	/* The file system, or the database of users, does not answer. */
	CPL_FOUND_TIMED_OUT,
	CPL_FOUND_DENIED, /* not to whom it is asked for: nothing else is told */
};

/* For whom a profile is asked: what owner, group and mode of its file let
 * everybody read; or a user; or the caller itself, that is by the site's word,
 * such as a Match rule, or for its own account. A user's own ones are for that
 * user in any case. */
enum cpl_whom { CPL_FOR_ALL, CPL_FOR_USER, CPL_FOR_US };

struct cpl_store_query {
	const char *dir; /* of the profiles; NULL: the user's own ones only */
	/* A pattern, see user_dir.h, and who: this user's own ones come first.
	 * NULL: none. */
	const char *user_dir;
	enum cpl_whom whom;
	uid_t uid;
	gid_t gid;           /* of FOR_USER, besides the groups: */
	const gid_t *groups; /* [n_groups]; NULL: as the system has them */
	int n_groups;
	const char *name; /* untrusted */
	int ranks;  /* of the job, 0: not known, whatever it has is right */
	bool job;   /* it waits or runs: what it needs is not to be forgotten */
	bool fresh; /* look at the file, whenever it was looked at last */
	int64_t deadline; /* cpl_now(); one that has passed: never wait */
};

struct cpl_store_answer {
	enum cpl_found found;
	int ranks;                   /* of the profile, 0: not known yet */
	struct cpl_file_stamp stamp; /* of its file; all 0: none was opened */
	bool own;                    /* the user's */
	bool home_hangs; /* the user's folder did not answer: the site's counts */
	/* READY: as in the profile. */
	bool rescaled;
	int recorded_ranks;
	double rescale_error;
	double change; /* cpl_profile_change */
	struct cpl_profile *profile; /* READY: a reference for the caller */
	struct cpl_error err;        /* every other: one line, with the file */
	struct cpl_error why; /* OTHER_RANKS: it cannot be rescaled, or "" */
};

/* The answer for that profile, but for whose it is; takes a reference. */
void cpl_store_answer_ready(struct cpl_profile *profile,
                            struct cpl_store_answer *answer);

struct cpl_store;

/*
 * An empty store. The worker must outlive it, with no request of it queued any
 * more. Any thread may call log (may be NULL). NULL with err: memory.
 */
struct cpl_store *cpl_store_new(struct cpl_worker *worker, cpl_log_line *log,
                                void *log_arg, struct cpl_error *err);
void cpl_store_free(struct cpl_store *store);

/* Bytes of memory that a profile may take. Several are kept in a quarter of it,
 * those used last; the one that came last stays whatever it takes. */
#define CPL_STORE_DEFAULT_BYTES (UINT64_C(256) << 20)
void cpl_store_limit(struct cpl_store *store, uint64_t max_bytes);

/*
 * Find a profile, or wait for it until the deadline; what was begun goes on
 * after it. When files do not answer in time, a version in memory is READY all
 * the same. O(entries) for one that was looked at lately.
 */
void cpl_store_find(struct cpl_store *store,
                    const struct cpl_store_query *query,
                    struct cpl_store_answer *answer);

/* May who the query is for read a file? 1, 0, or -1 with err: the groups of the
 * user did not come before the deadline. They are remembered for a minute. */
int cpl_store_may_read(struct cpl_store *store,
                       const struct cpl_store_query *query,
                       const struct cpl_file_stamp *stamp,
                       struct cpl_error *err);

/* Have a profile looked at and, where its ranks fit, loaded, without waiting:
 * for jobs that will be decided on soon. With user_dir, the user's own one. */
void cpl_store_prefetch(struct cpl_store *store,
                        const struct cpl_store_query *query);

/* Whether profiles of other ranks are rescaled; they are not at first. */
void cpl_store_rescale(struct cpl_store *store, bool rescale);

/* Look at every file again when it is asked for next. */
void cpl_store_refresh(struct cpl_store *store);
