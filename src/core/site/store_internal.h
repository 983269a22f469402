/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the store: what is asked for (store_find.c), what is kept
 * of it (store_entries.c), requests to the worker (store.c), how files are read
 * (store_read.c), and profiles in memory (store_profile.c). */
#pragma once

#include "site/store.h"

/* Profiles known: of the site, of all homes, of one; of that, being looked at or
 * read. Those of no use, as users make up names and ranks, have few places of
 * their own among the site's. */
#define STORE_SITE_ENTRIES 1024
#define STORE_SITE_USELESS 32
#define STORE_HOME_ENTRIES 512
#define STORE_USER_ENTRIES 64
#define STORE_USER_IN_HAND 8

/* Profiles of homes that are read at a time, besides those of which no more than
 * a small file has been read: one of this part of the limit. */
#define STORE_TURNS 4
#define STORE_SMALL_PART 32
/* One whose files hang for so long gives others its turn. */
#define STORE_TURN_NS (10 * INT64_C(1000000000))

/* What a look at the files says. */
struct store_state {
	enum cpl_found found; /* LOADING: there, no matrix yet; READY never */
	int ranks;            /* 0: not known */
	struct cpl_error err;
	struct cpl_error why; /* of OTHER_RANKS: not rescaled, or "" */
};

/* One profile for one number of ranks (0: whatever it has). All under the
 * store's lock, but files only by the request that has the entry in hand
 * (looking or loading, never both). */
struct store_entry {
	struct store_entry *next;
	char *dir, *name; /* dir: a pattern where it is a user's own */
	bool own;
	uid_t uid;
	int ranks;
	char *path; /* the file that was chosen, NULL: not looked yet */
	struct cpl_file_stamp folder; /* when that was */
	bool folder_fresh;            /* cpl_file_stamp_fresh then */
	struct cpl_file_stamp seen; /* of the file then; all 0: none was opened */
	char sizes[128]; /* "16 and 64", where there is none of the ranks */
	struct store_state state;
	struct cpl_profile *profile; /* of `file`, or of a version before */
	bool current;                /* the profile is what the files hold */
	struct cpl_signature_file *file;
	int n_files;
	int64_t looked; /* ns, 0: must be looked at */
	int64_t failed; /* when it was found DAMAGED */
	bool looking, loading;
	bool has_turn;
	int64_t reads_since; /* ns, 0: it reads no file now */
	enum cpl_queue queue; /* while it is in hand */
	int waiting;      /* callers */
	bool no_memory;   /* it failed for that: nothing to remember */
	bool wanted;      /* load it after the look */
	int64_t of_job;   /* when a job that waits or runs last asked for it */
	uint64_t used;    /* larger: used later */
};

struct cpl_store {
	struct cpl_worker *worker;
	cpl_log_line *log;
	void *log_arg;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct store_entry *entry;
	struct store_user *user; /* see store_rights.c */
	int turns; /* taken */
	int64_t turn_ns; /* STORE_TURN_NS, but in tests */
	uint64_t clock;
	_Atomic uint64_t max_bytes;
	atomic_bool rescale;
};

/* What a look found, besides the state. */
struct store_look {
	char *path;
	struct cpl_file_mark mark; /* of the file's head */
	struct cpl_file_stamp folder;
	bool folder_fresh;
	char sizes[128];
	bool groups; /* cpl_signature_peek_groups */
};

/* Of the worker's request. */
static inline uint64_t store_owner(const struct store_entry *e)
{
	return e->own ? e->uid : 0;
}

/* store_entries.c, under the store's lock */

/* The entry of a query, made where there is none; NULL: memory, or *full: all
 * that could go are in hand. O(entries). */
struct store_entry *store_entry_get(struct cpl_store *store,
                                    const struct cpl_store_query *query,
                                    bool own, bool *full);
void store_forget(struct cpl_store *store, struct store_entry *e);
void store_drop_profile(struct store_entry *e);
bool store_in_hand(const struct store_entry *e);
/* Keep within a part of the limit; the one that came last stays in any case. */
void store_shrink(struct cpl_store *store, const struct store_entry *last);
void store_files_free(struct cpl_signature_file *file, int n);

/* store_rights.c */

/* What the query's user may not read is DENIED. Without the store's lock. */
void store_check_rights(struct cpl_store *store,
                        const struct cpl_store_query *query,
                        struct cpl_store_answer *answer);
void store_users_free(struct cpl_store *store);

/* store.c, under the store's lock: -1 with err */

/* Have it looked at, or read. */
int store_queue(struct cpl_store *store, struct store_entry *e, bool whole,
                struct cpl_error *err);
/* Start to load what is there, unless that is done or under way. */
int store_start_load(struct cpl_store *store, struct store_entry *e,
                     struct cpl_error *err);

/* store_profile.c */

/* Takes the signature. NULL with err: memory. */
struct cpl_profile *store_profile_make(struct cpl_signature *sig,
                                       struct cpl_error *err);

/* store_read.c: without any lock, by the request that has the entry in hand. */

/* Choose the file, open it and look. */
void store_look(struct cpl_store *store, const struct store_entry *e,
                struct store_look *out, struct store_state *state);

/* Read all of it; the files it was read from go to *file. NULL: see state. */
struct cpl_profile *store_load(struct cpl_store *store,
                               const struct store_entry *e,
                               struct cpl_signature_limits *limits,
                               struct cpl_signature_file **file, int *n_files,
                               struct store_state *state);

/* Is each file of the entry still the one that was read? *settled: and none of
 * them fresh any more, see struct cpl_file_mark. */
bool store_files_same(const struct cpl_store *store,
                      const struct store_entry *e, bool *settled);

/* Is the file still the right one of the name? One of another size, or without
 * a size in its name, need not be when files come and go. */
bool store_same_choice(const struct store_entry *e);
