/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/store_internal.h"

#include <stdlib.h>
#include <string.h>

#include "signature/install.h"

#define FRESH_NS (STORE_FRESH_S * INT64_C(1000000000))
/* A damaged file is tried again: a side file may have come. */
#define RETRY_NS (60 * INT64_C(1000000000))
/* Files known, also those that are missing: users make up names. */
#define ENTRIES_MAX 256
/* The part of the limit in which profiles are kept, beside the last one. */
#define KEPT_PART 4

struct request {
	struct cpl_request head;
	struct cpl_store *store;
	struct store_entry *entry;
};

/* Files of an entry */

static void free_files(struct cpl_signature_file *file, int n)
{
	for (int i = 0; i < n; i++)
		free(file[i].path);
	free(file);
}

/* The files of an entry that was only looked at. NULL: memory. */
static struct cpl_signature_file *one_file(const char *path,
                                           const struct cpl_file_stamp *stamp)
{
	struct cpl_signature_file *file = malloc(sizeof(*file));

	if (!file)
		return NULL;
	file->path = strdup(path);
	file->stamp = *stamp;
	if (file->path)
		return file;
	free(file);
	return NULL;
}

static struct cpl_signature_file *
copy_files(const struct cpl_signature_file *file, int n)
{
	struct cpl_signature_file *copy = calloc((size_t)n + 1, sizeof(*copy));
	bool failed = !copy;

	for (int i = 0; i < n && !failed; i++) {
		copy[i].stamp = file[i].stamp;
		copy[i].path = strdup(file[i].path);
		failed = !copy[i].path;
	}
	if (!failed)
		return copy;
	if (copy)
		free_files(copy, n);
	return NULL;
}

/* Entries */

static bool in_hand(const struct store_entry *e)
{
	return e->looking || e->loading;
}

static void entry_free(struct store_entry *e)
{
	cpl_profile_drop(e->profile);
	free_files(e->file, e->n_files);
	free(e->dir);
	free(e->name);
	free(e->path);
	free(e);
}

static void drop_profile(struct store_entry *e)
{
	cpl_profile_drop(e->profile);
	e->profile = NULL;
	e->current = false;
}

static void forget(struct cpl_store *store, struct store_entry *e)
{
	struct store_entry **at = &store->entry;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	store->n_entries--;
	entry_free(e);
}

/* The least used entry that nobody has in hand, other than one; NULL: none. */
static struct store_entry *least_used(struct cpl_store *store,
                                      const struct store_entry *other,
                                      bool with_profile)
{
	struct store_entry *least = NULL;

	for (struct store_entry *e = store->entry; e; e = e->next)
		if (e != other && !in_hand(e) && !e->waiting &&
		    (e->profile || !with_profile) &&
		    (!least || e->used < least->used))
			least = e;
	return least;
}

/* Does an entry before this one hold the same profile? */
static bool is_shared(const struct cpl_store *store,
                      const struct store_entry *e)
{
	for (const struct store_entry *o = store->entry; o != e; o = o->next)
		if (o->profile == e->profile)
			return true;
	return false;
}

/* Keep within a part of the limit; the one that came last stays in any case. */
static void shrink(struct cpl_store *store, const struct store_entry *last)
{
	uint64_t bytes = 0;
	struct store_entry *e;

	for (e = store->entry; e; e = e->next)
		bytes += e->profile && !is_shared(store, e) ? e->profile->bytes
		                                            : 0;
	while (bytes > store->max_bytes / KEPT_PART &&
	       (e = least_used(store, last, true))) {
		bytes -= is_shared(store, e) ? 0 : e->profile->bytes;
		drop_profile(e);
	}
}

/* NULL: memory. */
static struct store_entry *get_entry(struct cpl_store *store,
                                     const struct cpl_store_query *query,
                                     bool own)
{
	const char *dir = own ? query->user_dir : query->dir;
	struct store_entry *e = store->entry;

	while (e && (e->ranks != query->ranks || e->own != own ||
	             (own && e->uid != query->uid) ||
	             strcmp(e->name, query->name) || strcmp(e->dir, dir)))
		e = e->next;
	if (e)
		return e;
	if (store->n_entries >= ENTRIES_MAX &&
	    (e = least_used(store, NULL, false)))
		forget(store, e);
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->dir = strdup(dir);
	e->name = strdup(query->name);
	e->own = own;
	e->uid = own ? query->uid : 0;
	e->ranks = query->ranks;
	if (!e->dir || !e->name) {
		entry_free(e);
		return NULL;
	}
	e->next = store->entry;
	store->entry = e;
	store->n_entries++;
	return e;
}

/* Requests */

static void run_look(struct cpl_request *head);
static void run_load(struct cpl_request *head);

/*
 * The queue of a user's files: that which has one of this user's in hand, so
 * that no home holds up more than one; else the one with the least to do.
 */
static enum cpl_queue home_queue(const struct cpl_store *store,
                                 const struct store_entry *e)
{
	int n[CPL_HOME_QUEUES] = {0}, best = 0;

	for (const struct store_entry *o = store->entry; o; o = o->next) {
		if (!o->own || !in_hand(o))
			continue;
		if (o->uid == e->uid)
			return o->queue;
		n[o->queue - CPL_QUEUE_HOME]++;
	}
	for (int i = 1; i < CPL_HOME_QUEUES; i++)
		if (n[i] < n[best])
			best = i;
	return (enum cpl_queue)(CPL_QUEUE_HOME + best);
}

static int queue(struct cpl_store *store, struct store_entry *e, bool whole,
                 struct cpl_error *err)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return cpl_fail_memory(err);
	e->queue = e->own  ? home_queue(store, e)
	           : whole ? CPL_QUEUE_LOAD
	                   : CPL_QUEUE_LOOK;
	request->head.run = whole ? run_load : run_look;
	request->store = store;
	request->entry = e;
	if (cpl_worker_queue(store->worker, e->queue, &request->head, false,
	                     err))
		return -1;
	if (whole)
		e->loading = true;
	else
		e->looking = true;
	return 0;
}

/* The same file is in memory for jobs that state other ranks, or none: it is as
 * good. */
static bool take_loaded(struct cpl_store *store, struct store_entry *e)
{
	for (const struct store_entry *o = store->entry; o; o = o->next) {
		struct cpl_signature_file *file;

		if (o == e || !o->current || !o->path || !e->n_files ||
		    strcmp(o->path, e->path) || o->own != e->own ||
		    o->uid != e->uid ||
		    !cpl_file_stamp_equal(&o->file[0].stamp,
		                          &e->file[0].stamp) ||
		    o->profile->recorded_ranks != o->profile->ranks ||
		    (e->ranks && e->ranks != o->profile->ranks) ||
		    !(file = copy_files(o->file, o->n_files)))
			continue;
		drop_profile(e);
		free_files(e->file, e->n_files);
		e->file = file;
		e->n_files = o->n_files;
		e->state = o->state;
		e->profile = cpl_profile_hold(o->profile);
		e->current = true;
		return true;
	}
	return false;
}

/* Start to load what is there, unless that is done or under way. */
static int start_load(struct cpl_store *store, struct store_entry *e,
                      struct cpl_error *err)
{
	if (e->state.found != CPL_FOUND_LOADING || e->current || in_hand(e) ||
	    take_loaded(store, e))
		return 0;
	return queue(store, e, true, err);
}

/* What is wrong with a user's folder is that user's to know. */
static void tell(struct cpl_store *store, const struct store_entry *e,
                 const struct store_state *state)
{
	if (state->found == CPL_FOUND_UNREADABLE && !e->own && store->log)
		store->log(store->log_arg, true, state->err.text);
}

static void run_look(struct cpl_request *head)
{
	struct request *request = (struct request *)head;
	struct cpl_store *store = request->store;
	struct store_entry *e = request->entry;
	struct cpl_signature_file *file = NULL;
	struct store_look at = {0};
	struct store_state state = {0};
	bool same, again = false;

	pthread_mutex_lock(&store->lock);
	same = !e->failed || cpl_now() - e->failed < RETRY_NS;
	pthread_mutex_unlock(&store->lock);
	same = same && store_files_same(store, e);
	if (!same || !store_same_choice(e)) {
		again = same;
		store_look(store, e, &at, &state);
		/* The same file of a folder in which others have changed. */
		again = again && at.path && !strcmp(at.path, e->path) &&
		        cpl_file_stamp_equal(&at.stamp, &e->file[0].stamp) &&
		        e->state.found == CPL_FOUND_LOADING;
		same = again;
		if (state.found == CPL_FOUND_LOADING && !same)
			file = one_file(at.path, &at.stamp);
		tell(store, e, &state);
	}
	pthread_mutex_lock(&store->lock);
	e->looking = false;
	e->looked = cpl_now();
	if (again)
		e->folder = at.folder;
	if (!same) {
		free_files(e->file, e->n_files);
		e->file = file;
		e->n_files = file != NULL;
		e->folder = at.folder;
		memcpy(e->sizes, at.sizes, sizeof(e->sizes));
		free(e->path);
		e->path = at.path;
		at.path = NULL;
		e->state = state;
		e->failed = 0;
		e->no_memory = cpl_error_is_memory(&state.err);
		e->current = false;
		/* While a new version is read the old one is better than none,
		 * but not while there is no file at all. */
		if (state.found != CPL_FOUND_LOADING)
			drop_profile(e);
	}
	if (e->wanted)
		start_load(store, e, NULL);
	e->wanted = false;
	pthread_cond_broadcast(&store->change);
	pthread_mutex_unlock(&store->lock);
	free(at.path);
}

static void say_reads(void *arg, bool reads)
{
	const struct request *request = arg;

	cpl_worker_files(request->store->worker, request->entry->queue, reads);
}

static void run_load(struct cpl_request *head)
{
	struct request *request = (struct request *)head;
	struct cpl_store *store = request->store;
	struct store_entry *e = request->entry;
	struct cpl_signature_limits limits = {
	        .max_bytes = store->max_bytes,
	        .reads = say_reads,
	        .arg = request,
	};
	struct cpl_signature_file *file = NULL;
	struct cpl_profile *profile;
	struct store_state state = {0};
	int n_files = 0;

	profile = store_load(store, e, &limits, &file, &n_files, &state);
	tell(store, e, &state);
	pthread_mutex_lock(&store->lock);
	e->loading = false;
	e->state = state;
	drop_profile(e);
	e->profile = profile;
	e->current = profile != NULL;
	e->failed = state.found == CPL_FOUND_DAMAGED ? cpl_now() : 0;
	e->no_memory = cpl_error_is_memory(&state.err);
	/* Of what could not be read the stamp of the look stays. */
	if (file) {
		free_files(e->file, e->n_files);
		e->file = file;
		e->n_files = n_files;
	}
	e->used = ++store->clock;
	shrink(store, e);
	pthread_cond_broadcast(&store->change);
	pthread_mutex_unlock(&store->lock);
}

/* Callers */

struct cpl_store *cpl_store_new(struct cpl_worker *worker, cpl_log_line *log,
                                void *log_arg, struct cpl_error *err)
{
	struct cpl_store *store = calloc(1, sizeof(*store));

	if (!store) {
		cpl_fail_memory(err);
		return NULL;
	}
	store->worker = worker;
	store->log = log;
	store->log_arg = log_arg;
	store->max_bytes = CPL_STORE_DEFAULT_BYTES;
	pthread_mutex_init(&store->lock, NULL);
	cpl_cond_init(&store->change);
	return store;
}

void cpl_store_free(struct cpl_store *store)
{
	if (!store)
		return;
	while (store->entry)
		forget(store, store->entry);
	pthread_cond_destroy(&store->change);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

void cpl_store_limit(struct cpl_store *store, uint64_t max_bytes)
{
	pthread_mutex_lock(&store->lock);
	/* What was too large before may not be so now. */
	if (store->max_bytes != max_bytes)
		for (struct store_entry *e = store->entry; e; e = e->next)
			if (e->failed) {
				e->failed = 1;
				e->looked = 0;
			}
	store->max_bytes = max_bytes;
	shrink(store, NULL);
	pthread_mutex_unlock(&store->lock);
}

void cpl_store_refresh(struct cpl_store *store)
{
	pthread_mutex_lock(&store->lock);
	for (struct store_entry *e = store->entry; e; e = e->next)
		e->looked = 0;
	pthread_mutex_unlock(&store->lock);
}

static void answer_ready(const struct store_entry *e,
                         struct cpl_store_answer *answer)
{
	struct cpl_profile *profile = cpl_profile_hold(e->profile);

	answer->found = CPL_FOUND_READY;
	answer->profile = profile;
	answer->ranks = profile->ranks;
	answer->recorded_ranks = profile->recorded_ranks;
	answer->rescaled = profile->recorded_ranks != profile->ranks;
	answer->rescale_error = profile->rescale_error;
	answer->change = profile->change;
}

/* Fill the answer by what is known now. False: a matrix is still to come. */
static bool answer_now(const struct store_entry *e,
                       struct cpl_store_answer *answer)
{
	answer->found = e->state.found;
	if (e->state.found != CPL_FOUND_LOADING) {
		answer->err = e->state.err;
		answer->why = e->state.why;
		return true;
	}
	if (!e->current)
		return false;
	answer_ready(e, answer);
	return true;
}

/* The deadline has passed, or files hang: what is in memory, or why not. */
static void answer_late(const struct store_entry *e, bool stuck,
                        struct cpl_store_answer *answer)
{
	const char *file = e->path ? e->path : e->name;

	if (e->profile) {
		answer_ready(e, answer);
	} else if (stuck) {
		answer->found = CPL_FOUND_TIMED_OUT;
		cpl_fail(&answer->err,
		         "%s: the file system does not answer within "
		         "MaxDecisionTime",
		         file);
	} else {
		answer->found = CPL_FOUND_LOADING;
		cpl_fail(&answer->err, "%s: is still being read", file);
	}
}

/* Ask for what is missing for an answer. 1: nothing is, 0: it is under way. */
static int pursue(struct cpl_store *store, struct store_entry *e,
                  int64_t looked, struct cpl_store_answer *answer)
{
	if (e->looking)
		return 0;
	if (e->looked <= looked && !e->loading)
		return queue(store, e, false, &answer->err);
	if (e->looked > looked && answer_now(e, answer))
		return 1;
	if (start_load(store, e, &answer->err))
		return -1;
	return e->current && e->looked > looked && answer_now(e, answer);
}

static bool queue_stuck(const struct cpl_store *store,
                        const struct store_entry *e, int64_t since)
{
	return in_hand(e) && cpl_worker_stuck(store->worker, e->queue, since);
}

static void find(struct cpl_store *store, struct store_entry *e,
                 const struct cpl_store_query *query,
                 struct cpl_store_answer *answer)
{
	int64_t begin = cpl_now(), budget = query->deadline - begin;
	/* Looks that ended before this are too old. */
	int64_t looked = query->fresh ? begin : begin - FRESH_NS;
	bool stuck = false;
	int rc;

	e->used = ++store->clock;
	e->waiting++;
	if (e->no_memory) {
		e->no_memory = false;
		e->looked = 0;
		e->failed = e->failed ? 1 : 0;
	}
	for (;;) {
		rc = pursue(store, e, looked, answer);
		if (rc)
			break;
		/* What does not come back would cost every job its budget. */
		stuck = queue_stuck(store, e,
		                    begin - (budget > 0 ? budget : 0));
		if (stuck || budget <= 0)
			break;
		if (!cpl_cond_wait_until(&store->change, &store->lock,
		                         query->deadline)) {
			rc = pursue(store, e, looked, answer);
			stuck = queue_stuck(store, e, begin + budget / 2);
			break;
		}
	}
	e->waiting--;
	if (rc < 0) {
		answer->found = CPL_FOUND_UNREADABLE;
		return;
	}
	answer->own = e->own;
	answer->ranks = e->state.ranks;
	if (e->n_files)
		answer->stamp = e->file[0].stamp;
	if (!rc)
		answer_late(e, stuck, answer);
}

static void find_in(struct cpl_store *store,
                    const struct cpl_store_query *query, bool own,
                    struct cpl_store_answer *answer)
{
	struct store_entry *e;

	*answer = (struct cpl_store_answer){.found = CPL_FOUND_UNREADABLE};
	pthread_mutex_lock(&store->lock);
	e = get_entry(store, query, own);
	if (e)
		find(store, e, query, answer);
	else
		cpl_fail_memory(&answer->err);
	pthread_mutex_unlock(&store->lock);
}

void cpl_store_find(struct cpl_store *store,
                    const struct cpl_store_query *query,
                    struct cpl_store_answer *answer)
{
	struct cpl_store_answer own = {.found = CPL_FOUND_MISSING};

	*answer = (struct cpl_store_answer){.found = CPL_FOUND_BAD_NAME};
	if (cpl_profile_name_check(query->name, &answer->err))
		return;
	if (query->user_dir)
		find_in(store, query, true, &own);
	if (own.found == CPL_FOUND_MISSING || own.found == CPL_FOUND_UNREADABLE)
		find_in(store, query, false, answer);
	else
		*answer = own;
	/* It may be the user's that was meant. */
	if (answer->found == CPL_FOUND_MISSING &&
	    own.found == CPL_FOUND_UNREADABLE)
		*answer = own;
}

void cpl_store_prefetch(struct cpl_store *store,
                        const struct cpl_store_query *query)
{
	struct store_entry *e;

	if (cpl_profile_name_check(query->name, NULL))
		return;
	pthread_mutex_lock(&store->lock);
	e = get_entry(store, query, query->user_dir != NULL);
	if (e && (!e->looked || cpl_now() - e->looked > FRESH_NS)) {
		e->wanted = true;
		if (!in_hand(e))
			queue(store, e, false, NULL);
	} else if (e) {
		start_load(store, e, NULL);
	}
	pthread_mutex_unlock(&store->lock);
}

void cpl_store_rescale(struct cpl_store *store, bool rescale)
{
	pthread_mutex_lock(&store->lock);
	/* What did not fit may do now, or the other way round. */
	if (store->rescale != rescale)
		for (struct store_entry *e = store->entry; e; e = e->next) {
			e->failed = 1;
			e->looked = 0;
		}
	store->rescale = rescale;
	pthread_mutex_unlock(&store->lock);
}
