/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "signature/signature.h"

#define FRESH_NS (STORE_FRESH_S * INT64_C(1000000000))
/* A damaged file is tried again: a side file may have come. */
#define RETRY_NS (60 * INT64_C(1000000000))
/* Files known, also those that are missing: users make up names. */
#define ENTRIES_MAX 256
/* The part of the limit in which profiles are kept, beside the last one. */
#define KEPT_PART 4
/* Where "ranks" stands, unless it comes after the traffic. */
#define HEAD_BYTES 65536

/* What a look at the files says. */
struct state {
	enum cpl_found found; /* LOADING: there, no matrix yet; READY never */
	int ranks;            /* 0: not known */
	struct cpl_error err;
};

/* One path. All under the store's lock, but files only by the request that has
 * the entry in hand (looking or loading, never both). */
struct entry {
	struct entry *next;
	char *dir, *name, *path;
	struct state state;
	struct cpl_profile *profile; /* of `file`, or of a version before */
	bool current;                /* the profile is what the files hold */
	struct cpl_signature_file *file;
	int n_files;
	int64_t looked; /* ns, 0: must be looked at */
	int64_t failed; /* when it was found DAMAGED */
	bool looking, loading;
	int waiting;      /* callers */
	bool no_memory;   /* it failed for that: nothing to remember */
	bool wanted;      /* load it after the look, if the ranks fit ... */
	int wanted_ranks; /* ... these, 0: any */
	uint64_t used;    /* larger: used later */
};

struct cpl_store {
	struct cpl_worker *worker;
	cpl_log_line *log;
	void *log_arg;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct entry *entry;
	int n_entries;
	uint64_t clock;
	_Atomic uint64_t max_bytes;
};

struct request {
	struct cpl_request head;
	struct cpl_store *store;
	struct entry *entry;
};

/* Profiles */

struct cpl_profile *cpl_profile_hold(struct cpl_profile *profile)
{
	if (profile)
		atomic_fetch_add(&profile->refs, 1);
	return profile;
}

void cpl_profile_drop(struct cpl_profile *profile)
{
	if (!profile || atomic_fetch_sub(&profile->refs, 1) > 1)
		return;
	cpl_comm_free(profile->comm);
	cpl_comm_free(profile->graph);
	cpl_signature_free(profile->sig);
	free(profile);
}

/* Several phases are kept; of one the run has all. Takes the signature. */
static void take_phases(struct cpl_profile *profile, struct cpl_signature *sig)
{
	profile->run = cpl_run_times(sig->phase, sig->n_phases);
	if (sig->n_phases > 1) {
		profile->sig = sig;
		profile->phase = sig->phase;
		profile->n_phases = sig->n_phases;
		return;
	}
	profile->whole = (struct cpl_phase){
	        .weight = 1,
	        .time = profile->run.seconds,
	        .compute_time =
	                profile->run.seconds - profile->run.communication,
	        .comm = profile->comm};
	profile->phase = &profile->whole;
	profile->n_phases = 1;
	cpl_signature_free(sig);
}

static uint64_t phases_bytes(const struct cpl_signature *sig)
{
	uint64_t bytes = 0;

	for (int i = 0; sig && i < sig->n_phases; i++)
		if (sig->phase[i].comm)
			bytes += cpl_comm_bytes(sig->phase[i].comm);
	return bytes;
}

/* Takes the signature. */
static struct cpl_profile *profile_make(struct cpl_signature *sig,
                                        struct cpl_error *err)
{
	struct cpl_profile *profile = calloc(1, sizeof(*profile));

	if (!profile) {
		cpl_signature_free(sig);
		cpl_fail_memory(err);
		return NULL;
	}
	profile->refs = 1;
	profile->ranks = sig->ranks;
	profile->comm = cpl_signature_total(sig, err);
	take_phases(profile, sig);
	if (profile->comm)
		profile->graph = cpl_comm_symmetric(profile->comm, err);
	if (!profile->graph) {
		cpl_profile_drop(profile);
		return NULL;
	}
	profile->bytes = sizeof(*profile) + cpl_comm_bytes(profile->comm) +
	                 cpl_comm_bytes(profile->graph) +
	                 phases_bytes(profile->sig);
	return profile;
}

/* Reading, without any lock */

/* Why a file of the directory did not open. */
static enum cpl_found why_closed(int error, const char *dir,
                                 struct cpl_error *err)
{
	switch (error) {
	case ELOOP:
	case EINVAL:
	case EFBIG:
		return CPL_FOUND_DAMAGED;
	case ENOENT:
		/* Is it the file that is missing, or the directory? */
		if (!access(dir, X_OK))
			return CPL_FOUND_MISSING;
		cpl_fail(err, "%s: %s", dir, strerror(errno));
		return CPL_FOUND_UNREADABLE;
	default:
		return CPL_FOUND_UNREADABLE;
	}
}

/* Open and look at the beginning: is it there, for how many ranks? */
static void look(const struct entry *e, uint64_t max,
                 struct cpl_file_stamp *stamp, struct state *state)
{
	size_t length;
	char *head;
	int fd = cpl_file_open(e->path, CPL_LINKS_REFUSE, max, stamp,
	                       &state->err);

	if (fd < 0) {
		state->found = why_closed(errno, e->dir, &state->err);
		return;
	}
	head = cpl_file_read_open(fd, e->path, HEAD_BYTES, &length,
	                          &state->err);
	state->found = head ? CPL_FOUND_LOADING : CPL_FOUND_UNREADABLE;
	if (head)
		state->ranks = cpl_signature_peek(head, length);
	free(head);
	close(fd);
}

/* Read all of it; the files it was read from go to *file. NULL: see state. */
static struct cpl_profile *load(const struct entry *e,
                                const struct cpl_signature_limits *limits,
                                struct cpl_signature_file **file, int *n_files,
                                struct state *state)
{
	struct cpl_signature *sig =
	        cpl_signature_load_within(e->path, limits, &state->err);
	struct cpl_profile *profile = NULL;

	state->found = CPL_FOUND_DAMAGED;
	if (sig) {
		*file = sig->file;
		*n_files = sig->n_files;
		sig->file = NULL;
		sig->n_files = 0;
		profile = profile_make(sig, &state->err);
	} else if (errno && errno != ENOMEM) {
		state->found = why_closed(errno, e->dir, &state->err);
	}
	if (profile) {
		state->found = CPL_FOUND_LOADING;
		state->ranks = profile->ranks;
	}
	return profile;
}

/* Does each file still have its stamp? */
static bool unchanged(const struct cpl_signature_file *file, int n,
                      uint64_t max)
{
	for (int i = 0; i < n; i++) {
		struct cpl_file_stamp stamp;
		int fd = cpl_file_open(file[i].path, CPL_LINKS_REFUSE, max,
		                       &stamp, NULL);

		if (fd < 0)
			return false;
		close(fd);
		if (!cpl_file_stamp_equal(&stamp, &file[i].stamp))
			return false;
	}
	return n > 0;
}

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

/* Entries */

static bool in_hand(const struct entry *e)
{
	return e->looking || e->loading;
}

static void entry_free(struct entry *e)
{
	cpl_profile_drop(e->profile);
	free_files(e->file, e->n_files);
	free(e->dir);
	free(e->name);
	free(e->path);
	free(e);
}

static void drop_profile(struct entry *e)
{
	cpl_profile_drop(e->profile);
	e->profile = NULL;
	e->current = false;
}

static void forget(struct cpl_store *store, struct entry *e)
{
	struct entry **at = &store->entry;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	store->n_entries--;
	entry_free(e);
}

/* The least used entry that nobody has in hand, other than one; NULL: none. */
static struct entry *least_used(struct cpl_store *store,
                                const struct entry *other, bool with_profile)
{
	struct entry *least = NULL;

	for (struct entry *e = store->entry; e; e = e->next)
		if (e != other && !in_hand(e) && !e->waiting &&
		    (e->profile || !with_profile) &&
		    (!least || e->used < least->used))
			least = e;
	return least;
}

/* Keep within a part of the limit; the one that came last stays in any case. */
static void shrink(struct cpl_store *store, const struct entry *last)
{
	uint64_t bytes = 0;
	struct entry *e;

	for (e = store->entry; e; e = e->next)
		bytes += e->profile ? e->profile->bytes : 0;
	while (bytes > store->max_bytes / KEPT_PART &&
	       (e = least_used(store, last, true))) {
		bytes -= e->profile->bytes;
		drop_profile(e);
	}
}

/* NULL: memory. */
static struct entry *get_entry(struct cpl_store *store, const char *dir,
                               const char *name, const char *path)
{
	struct entry *e = store->entry;

	while (e && strcmp(e->path, path))
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
	e->name = strdup(name);
	e->path = strdup(path);
	if (!e->dir || !e->name || !e->path) {
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

static int queue(struct cpl_store *store, struct entry *e, bool whole,
                 struct cpl_error *err)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return cpl_fail_memory(err);
	request->head.run = whole ? run_load : run_look;
	request->store = store;
	request->entry = e;
	if (cpl_worker_queue(store->worker,
	                     whole ? CPL_QUEUE_LOAD : CPL_QUEUE_LOOK,
	                     &request->head, false, err))
		return -1;
	if (whole)
		e->loading = true;
	else
		e->looking = true;
	return 0;
}

static bool ranks_fit(const struct state *state, int ranks)
{
	return !ranks || !state->ranks || state->ranks == ranks;
}

/* Start to load what is there, unless that is done or under way. */
static int start_load(struct cpl_store *store, struct entry *e, int ranks,
                      struct cpl_error *err)
{
	if (e->state.found != CPL_FOUND_LOADING || e->current || in_hand(e) ||
	    !ranks_fit(&e->state, ranks))
		return 0;
	return queue(store, e, true, err);
}

static void tell(struct cpl_store *store, const struct state *state)
{
	if (state->found == CPL_FOUND_UNREADABLE && store->log)
		store->log(store->log_arg, true, state->err.text);
}

static void run_look(struct cpl_request *head)
{
	struct request *request = (struct request *)head;
	struct cpl_store *store = request->store;
	struct entry *e = request->entry;
	struct cpl_signature_file *file = NULL;
	struct cpl_file_stamp stamp;
	struct state state = {0};
	bool same;

	pthread_mutex_lock(&store->lock);
	same = !e->failed || cpl_now() - e->failed < RETRY_NS;
	pthread_mutex_unlock(&store->lock);
	same = same && unchanged(e->file, e->n_files, store->max_bytes);
	if (!same) {
		look(e, store->max_bytes, &stamp, &state);
		if (state.found == CPL_FOUND_LOADING)
			file = one_file(e->path, &stamp);
		tell(store, &state);
	}
	pthread_mutex_lock(&store->lock);
	e->looking = false;
	e->looked = cpl_now();
	if (!same) {
		free_files(e->file, e->n_files);
		e->file = file;
		e->n_files = file != NULL;
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
		start_load(store, e, e->wanted_ranks, NULL);
	e->wanted = false;
	pthread_cond_broadcast(&store->change);
	pthread_mutex_unlock(&store->lock);
}

static void say_reads(void *arg, bool reads)
{
	cpl_worker_files(arg, CPL_QUEUE_LOAD, reads);
}

static void run_load(struct cpl_request *head)
{
	struct request *request = (struct request *)head;
	struct cpl_store *store = request->store;
	struct entry *e = request->entry;
	const struct cpl_signature_limits limits = {
	        .max_bytes = store->max_bytes,
	        .reads = say_reads,
	        .arg = store->worker,
	};
	struct cpl_signature_file *file = NULL;
	struct cpl_profile *profile;
	struct state state = {0};
	int n_files = 0;

	profile = load(e, &limits, &file, &n_files, &state);
	tell(store, &state);
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
		for (struct entry *e = store->entry; e; e = e->next)
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
	for (struct entry *e = store->entry; e; e = e->next)
		e->looked = 0;
	pthread_mutex_unlock(&store->lock);
}

/* Fill the answer by what is known now. False: a matrix is still to come. */
static bool answer_now(const struct entry *e, int ranks,
                       struct cpl_store_answer *answer)
{
	answer->found = e->state.found;
	if (e->state.found != CPL_FOUND_LOADING) {
		answer->err = e->state.err;
		return true;
	}
	if (!ranks_fit(&e->state, ranks)) {
		answer->found = CPL_FOUND_OTHER_RANKS;
		cpl_fail(&answer->err,
		         "profile %s was recorded at %d ranks, the job has %d",
		         e->name, e->state.ranks, ranks);
		return true;
	}
	if (!e->current)
		return false;
	answer->found = CPL_FOUND_READY;
	answer->profile = cpl_profile_hold(e->profile);
	return true;
}

/* The deadline has passed, or files hang: what is in memory, or why not. */
static void answer_late(const struct entry *e, bool stuck, int ranks,
                        struct cpl_store_answer *answer)
{
	if (e->profile && (!ranks || e->profile->ranks == ranks)) {
		answer->found = CPL_FOUND_READY;
		answer->ranks = e->profile->ranks;
		answer->profile = cpl_profile_hold(e->profile);
	} else if (stuck) {
		answer->found = CPL_FOUND_TIMED_OUT;
		cpl_fail(&answer->err,
		         "%s: the file system does not answer within "
		         "MaxDecisionTime",
		         e->path);
	} else {
		answer->found = CPL_FOUND_LOADING;
		cpl_fail(&answer->err, "%s: is still being read", e->path);
	}
}

/* Ask for what is missing for an answer. 1: nothing is, 0: it is under way. */
static int pursue(struct cpl_store *store, struct entry *e, int64_t looked,
                  int ranks, struct cpl_store_answer *answer)
{
	if (e->looking)
		return 0;
	if (e->looked <= looked && !e->loading)
		return queue(store, e, false, &answer->err);
	if (e->looked > looked && answer_now(e, ranks, answer))
		return 1;
	return start_load(store, e, ranks, &answer->err);
}

static bool queue_stuck(const struct cpl_store *store, const struct entry *e,
                        int64_t since)
{
	return cpl_worker_stuck(store->worker,
	                        e->loading ? CPL_QUEUE_LOAD : CPL_QUEUE_LOOK,
	                        since);
}

static void find(struct cpl_store *store, struct entry *e,
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
		rc = pursue(store, e, looked, query->ranks, answer);
		if (rc)
			break;
		/* What does not come back would cost every job its budget. */
		stuck = queue_stuck(store, e,
		                    begin - (budget > 0 ? budget : 0));
		if (stuck || budget <= 0)
			break;
		if (!cpl_cond_wait_until(&store->change, &store->lock,
		                         query->deadline)) {
			rc = pursue(store, e, looked, query->ranks, answer);
			stuck = queue_stuck(store, e, begin + budget / 2);
			break;
		}
	}
	e->waiting--;
	if (rc < 0) {
		answer->found = CPL_FOUND_UNREADABLE;
		return;
	}
	answer->ranks = e->state.ranks;
	if (e->n_files)
		answer->stamp = e->file[0].stamp;
	if (!rc)
		answer_late(e, stuck, query->ranks, answer);
}

void cpl_store_find(struct cpl_store *store,
                    const struct cpl_store_query *query,
                    struct cpl_store_answer *answer)
{
	struct entry *e;
	char *path;

	*answer = (struct cpl_store_answer){.found = CPL_FOUND_BAD_NAME};
	if (cpl_profile_name_check(query->name, &answer->err))
		return;
	answer->found = CPL_FOUND_UNREADABLE;
	path = cpl_profile_path(query->dir, query->name, &answer->err);
	if (!path)
		return;
	pthread_mutex_lock(&store->lock);
	e = get_entry(store, query->dir, query->name, path);
	if (e)
		find(store, e, query, answer);
	else
		cpl_fail_memory(&answer->err);
	pthread_mutex_unlock(&store->lock);
	free(path);
}

void cpl_store_prefetch(struct cpl_store *store, const char *dir,
                        const char *name, int ranks)
{
	char *path = cpl_profile_path(dir, name, NULL);
	struct entry *e = NULL;

	if (!path)
		return;
	pthread_mutex_lock(&store->lock);
	e = get_entry(store, dir, name, path);
	if (e && (!e->looked || cpl_now() - e->looked > FRESH_NS)) {
		e->wanted_ranks =
		        e->wanted && e->wanted_ranks != ranks ? 0 : ranks;
		e->wanted = true;
		if (!in_hand(e))
			queue(store, e, false, NULL);
	} else if (e) {
		start_load(store, e, ranks, NULL);
	}
	pthread_mutex_unlock(&store->lock);
	free(path);
}
