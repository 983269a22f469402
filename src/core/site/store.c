/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/store_internal.h"

#include <stdlib.h>
#include <string.h>

/* A damaged file is tried again: a side file may have come. */
#define RETRY_NS (60 * INT64_C(1000000000))
/* Between two looks whether the worker ends. */
#define TURN_LOOK_NS (100 * INT64_C(1000000))

struct store_request {
	struct cpl_request head;
	struct cpl_store *store;
	struct store_entry *entry;
};

/* The files of an entry that was only looked at. NULL: memory. */
static struct cpl_signature_file *one_file(const char *path,
                                           const struct cpl_file_mark *mark)
{
	struct cpl_signature_file *file = malloc(sizeof(*file));

	if (!file)
		return NULL;
	file->path = strdup(path);
	file->mark = *mark;
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
		copy[i].mark = file[i].mark;
		copy[i].path = strdup(file[i].path);
		failed = !copy[i].path;
	}
	if (!failed)
		return copy;
	if (copy)
		store_files_free(copy, n);
	return NULL;
}

static void run_look(struct cpl_request *head);
static void run_load(struct cpl_request *head);

int store_queue(struct cpl_store *store, struct store_entry *e, bool whole,
                struct cpl_error *err)
{
	struct store_request *request = calloc(1, sizeof(*request));

	if (!request)
		return cpl_fail_memory(err);
	e->queue = e->own  ? CPL_QUEUE_HOME
	           : whole ? CPL_QUEUE_LOAD
	                   : CPL_QUEUE_LOOK;
	request->head.run = whole ? run_load : run_look;
	request->store = store;
	request->entry = e;
	request->head.owner = store_owner(e);
	if (cpl_worker_queue(store->worker, e->queue, &request->head, false,
	                     err))
		return -1;
	if (whole)
		e->loading = true;
	else
		e->looking = true;
	return 0;
}

/* As far as both were marked; of a fresh one the look has seen the head only.
 */
static bool is_same(const struct cpl_file_mark *a,
                    const struct cpl_file_mark *b)
{
	return cpl_file_stamp_equal(&a->stamp, &b->stamp) &&
	       a->fresh == b->fresh && a->content == b->content;
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
		    !is_same(&o->file[0].mark, &e->file[0].mark) ||
		    o->profile->recorded_ranks != o->profile->ranks ||
		    (e->ranks && e->ranks != o->profile->ranks) ||
		    !(file = copy_files(o->file, o->n_files)))
			continue;
		store_drop_profile(e);
		store_files_free(e->file, e->n_files);
		e->file = file;
		e->n_files = o->n_files;
		e->state = o->state;
		e->profile = cpl_profile_hold(o->profile);
		e->current = true;
		return true;
	}
	return false;
}

int store_start_load(struct cpl_store *store, struct store_entry *e,
                     struct cpl_error *err)
{
	if (e->state.found != CPL_FOUND_LOADING || e->current || store_in_hand(e) ||
	    take_loaded(store, e))
		return 0;
	return store_queue(store, e, true, err);
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
	struct store_request *request = (struct store_request *)head;
	struct cpl_store *store = request->store;
	struct store_entry *e = request->entry;
	struct cpl_signature_file *file = NULL;
	struct store_look at = {0};
	struct store_state state = {0};
	bool same, settled = false, again = false;

	pthread_mutex_lock(&store->lock);
	same = !e->failed || cpl_now() - e->failed < RETRY_NS;
	pthread_mutex_unlock(&store->lock);
	same = same && store_files_same(store, e, &settled);
	if (!same || !store_same_choice(e)) {
		again = same;
		store_look(store, e, &at, &state);
		/* The same file of a folder in which others have changed. */
		again = again && at.path && !strcmp(at.path, e->path) &&
		        cpl_file_stamp_equal(&at.mark.stamp,
		                             &e->file[0].mark.stamp) &&
		        e->state.found == CPL_FOUND_LOADING;
		same = again;
		if (state.found == CPL_FOUND_LOADING && !same)
			file = one_file(at.path, &at.mark);
		tell(store, e, &state);
	}
	pthread_mutex_lock(&store->lock);
	e->looking = false;
	e->looked = cpl_now();
	if (again) {
		e->folder = at.folder;
		e->folder_fresh = at.folder_fresh;
	}
	for (int i = 0; i < e->n_files && same && settled; i++)
		e->file[i].mark.fresh = false;
	if (!same) {
		store_files_free(e->file, e->n_files);
		e->file = file;
		e->n_files = file != NULL;
		e->folder = at.folder;
		e->folder_fresh = at.folder_fresh;
		e->seen = at.mark.stamp;
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
			store_drop_profile(e);
	}
	if (e->wanted)
		store_start_load(store, e, NULL);
	e->wanted = false;
	pthread_cond_broadcast(&store->change);
	pthread_mutex_unlock(&store->lock);
	free(at.path);
}

/*
 * Homes are read side by side, and each profile may take the whole limit while
 * it is read: so only so many are that take more than the text of a small file.
 * A home that hangs between two files of a profile keeps its turn for a while,
 * and has to take another one when it goes on.
 */
static void give_turn(struct cpl_store *store, struct store_entry *e)
{
	store->turns -= e->has_turn;
	e->has_turn = false;
}

static void take_from_stuck(struct cpl_store *store)
{
	int64_t since = cpl_now() - store->turn_ns;

	for (struct store_entry *e = store->entry; e; e = e->next)
		if (e->has_turn && e->reads_since && e->reads_since < since)
			give_turn(store, e);
}

/* With the lock held. */
static void take_turn(struct cpl_store *store, struct store_entry *e)
{
	if (e->has_turn || !e->own)
		return;
	take_from_stuck(store);
	while (store->turns >= STORE_TURNS && !cpl_worker_ends(store->worker)) {
		cpl_cond_wait_until(&store->change, &store->lock,
		                    cpl_now() + TURN_LOOK_NS);
		take_from_stuck(store);
	}
	store->turns++;
	e->has_turn = true;
}

static void say_reads(void *arg, bool reads)
{
	struct store_request *request = arg;
	struct cpl_store *store = request->store;

	cpl_worker_files(store->worker, request->entry->queue, reads);
	pthread_mutex_lock(&store->lock);
	request->entry->reads_since = reads ? cpl_now() : 0;
	if (!reads)
		take_turn(store, request->entry);
	pthread_mutex_unlock(&store->lock);
}

static void run_load(struct cpl_request *head)
{
	struct store_request *request = (struct store_request *)head;
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

	if (e->n_files && (uint64_t)e->file[0].mark.stamp.size >
	                          limits.max_bytes / STORE_SMALL_PART)
		say_reads(request, false);
	profile = store_load(store, e, &limits, &file, &n_files, &state);
	tell(store, e, &state);
	pthread_mutex_lock(&store->lock);
	give_turn(store, e);
	e->reads_since = 0;
	e->loading = false;
	e->state = state;
	store_drop_profile(e);
	e->profile = profile;
	e->current = profile != NULL;
	e->failed = state.found == CPL_FOUND_DAMAGED ? cpl_now() : 0;
	e->no_memory = cpl_error_is_memory(&state.err);
	/* Of what could not be read the stamp of the look stays. */
	if (file) {
		store_files_free(e->file, e->n_files);
		e->file = file;
		e->n_files = n_files;
	}
	if (profile && e->n_files)
		profile->stamp = e->file[0].mark.stamp;
	e->used = ++store->clock;
	store_shrink(store, e);
	pthread_cond_broadcast(&store->change);
	pthread_mutex_unlock(&store->lock);
}

struct cpl_store *cpl_store_new(struct cpl_worker *worker, cpl_log_line *log,
                                void *log_arg, struct cpl_error *err)
{
	struct cpl_store *store = calloc(1, sizeof(*store));

	if (!store)
		return cpl_fail_null_memory(err);
	store->worker = worker;
	store->log = log;
	store->log_arg = log_arg;
	store->max_bytes = CPL_STORE_DEFAULT_BYTES;
	store->turn_ns = STORE_TURN_NS;
	pthread_mutex_init(&store->lock, NULL);
	cpl_cond_init(&store->change);
	return store;
}

void cpl_store_free(struct cpl_store *store)
{
	if (!store)
		return;
	while (store->entry)
		store_forget(store, store->entry);
	store_users_free(store);
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
	store_shrink(store, NULL);
	pthread_mutex_unlock(&store->lock);
}

void cpl_store_refresh(struct cpl_store *store)
{
	pthread_mutex_lock(&store->lock);
	for (struct store_entry *e = store->entry; e; e = e->next)
		e->looked = 0;
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
