/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records, ends, restores and counters, as the worker has them done. */
#include "commplace-config.h"
#include "site/record_dir_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sort.h"
#include "site/site_internal.h"

#define RETRY_NS (10 * INT64_C(1000000000))
/* What may be removed is looked for after so many ends, or with the first end
 * after so long. */
#define PRUNE_ENDS 1000
#define PRUNE_NS (3600 * INT64_C(1000000000))
/* Records are removed for their age only once the clock has run like the
 * monotonic one for so long: a clock that is wrong at a start is put right
 * soon. */
#define SURE_NS PRUNE_NS
#define SURE_SECONDS 60

static void remember_end(struct state_dir *state, int64_t id)
{
	if (cpl_array_grow(&state->late, state->n_late, sizeof(*state->late),
	                   NULL))
		return;
	state->late[state->n_late++] = id;
}

/* What is in running/ now is of the job's next run. */
static void forget_end(struct state_dir *state, int64_t id)
{
	int n = 0;

	for (int i = 0; i < state->n_late; i++)
		if (state->late[i] != id)
			state->late[n++] = state->late[i];
	state->n_late = n;
}

static int end_one(struct cpl_record_dir *dir, struct state_dir *state,
                   int64_t id)
{
	struct cpl_error err = {""};

	if (!record_dir_check(dir, state, &err) && !err.text[0])
		return 0;
	if (!err.text[0] && record_dir_move(state, id, "ended", &err) >= 0)
		return 0;
	record_dir_complain(dir, err.text);
	return -1;
}

static void retry_ends(struct cpl_record_dir *dir, struct state_dir *state)
{
	int n = state->n_late;

	if (!n || cpl_now() - state->tried < RETRY_NS)
		return;
	state->tried = cpl_now();
	state->n_late = 0;
	for (int i = 0; i < n; i++) {
		int64_t id = state->late[i];

		if (!end_one(dir, state, id))
			continue;
		/* Whatever keeps this record where it is most likely keeps the
		 * others, too, so none of them is tried now. Next time they come
		 * first, in case that it was this one alone. */
		memmove(state->late, state->late + i + 1,
		        (size_t)(n - i - 1) * sizeof(*state->late));
		state->late[n - i - 1] = id;
		state->n_late = n - i;
		return;
	}
}

static void write_one(const struct request *r, struct cpl_error *err)
{
	struct state_dir *state = r->state;
	bool all = state->access == CPL_RECORDS_ALL;
	char *path = cpl_record_path(state->path, false, r->id, err);
	struct cpl_file_writer *w;

	if (!path)
		return;
	w = cpl_file_open_atomic(path, err);
	if (!w && errno == ENOENT) {
		err->text[0] = '\0';
		record_dir_make(state, "running");
		w = cpl_file_open_atomic(path, err);
	}
	if (!w && record_dir_clear(path)) {
		err->text[0] = '\0';
		w = cpl_file_open_atomic(path, err);
	}
	free(path);
	if (!w)
		return;
	cpl_file_sync(w);
	if (!all)
		cpl_file_share(w, r->user);
	fwrite(r->text, 1, r->length, cpl_file_stream(w));
	if (cpl_file_commit(w, all ? 0644 : 0600, err))
		return;
	forget_end(state, r->id);
	/* What could not be written could not be removed, either. */
	if (record_dir_relieve(r->dir))
		record_dir_sweep(state);
}

void record_dir_run_write(struct cpl_request *head)
{
	struct request *r = (struct request *)head;
	struct cpl_error err = {""};

	retry_ends(r->dir, r->state);
	if (record_dir_check(r->dir, r->state, &err))
		write_one(r, &err);
	if (err.text[0])
		record_dir_complain(r->dir, err.text);
}

static bool clock_is_sure(struct state_dir *state)
{
	int64_t now = cpl_now();
	int64_t ahead = time(NULL) - now / 1000000000;

	if (!state->sure_since || llabs(ahead - state->ahead) > SURE_SECONDS) {
		state->sure_since = now;
		state->ahead = ahead;
	}
	return now - state->sure_since >= SURE_NS;
}

/* On a thread of its own: listing the folders may take long. */
static void run_prune(struct cpl_request *head)
{
	static const char *const folder[] = {"ended", "damaged"};
	struct request *r = (struct request *)head;
	struct cpl_record_keep keep = r->state->keep;
	struct cpl_error err = {""};

	if (!clock_is_sure(r->state))
		keep.days = 0;
	for (int i = 0; i < 2; i++)
		if (cpl_record_prune(r->state->path, folder[i], &keep,
		                     time(NULL), &err) < 0)
			record_dir_complain(r->dir, err.text);
}

static void prune(struct cpl_record_dir *dir, struct state_dir *state)
{
	struct cpl_error err = {""};
	struct request *r = record_dir_request(dir, state, 0, run_prune);

	state->ends = 0;
	state->pruned = cpl_now();
	if (r)
		r->head.owner = RECORD_PRUNE_OWNER;
	/* No harm if it cannot be: the next look finds the same. */
	cpl_worker_queue(dir->worker, CPL_QUEUE_HOME, r ? &r->head : NULL,
	                 false, &err);
}

void record_dir_run_end(struct cpl_request *head)
{
	struct request *r = (struct request *)head;
	struct state_dir *state = r->state;

	retry_ends(r->dir, state);
	if (end_one(r->dir, state, r->id)) {
		remember_end(state, r->id);
		return;
	}
	if (state->ours && (++state->ends >= PRUNE_ENDS ||
	                    cpl_now() - state->pruned >= PRUNE_NS))
		prune(r->dir, state);
}

/* The record in a text; NULL with err. */
static struct cpl_record *parse_record(const char *text, size_t length,
                                       const char *path, int64_t id,
                                       struct cpl_error *err)
{
	json_t *root = cpl_json_parse(text, length, path, err);
	struct cpl_record *record;

	if (!root)
		return NULL;
	record = cpl_record_from_json(root, err);
	json_decref(root);
	if (record && record->job == id && !cpl_record_as_it_runs(record, err))
		return record;
	if (record && record->job != id)
		cpl_fail(err, "\"job\" is %lld", (long long)record->job);
	cpl_fail_prefix(err, "%s: ", path);
	cpl_record_free(record);
	return NULL;
}

/* 0: taken, 1: no valid record, -1: it cannot be read now. */
static int take_back(const struct request *r, int64_t id, struct cpl_error *err)
{
	char *path = cpl_record_path(r->state->path, false, id, err);
	size_t length;
	char *text = path ? cpl_file_read(path, RECORD_MAX_BYTES, &length, err)
	                  : NULL;
	struct cpl_record *record =
	        text ? parse_record(text, length, path, id, err) : NULL;
	/* Where memory was out, nothing is known about the record. */
	int rc = text && !cpl_error_is_memory(err) ? 1 : -1;

	cpl_free_all(text, path);
	if (!record)
		return rc;
	r->take(r->take_arg, record);
	return 0;
}

static void restore_one(const struct request *r, int64_t id)
{
	struct cpl_error err = {""}, why = {""};
	int rc;

	if (!bsearch(&id, r->ids, (size_t)r->n_ids, sizeof(id), cpl_by_int64)) {
		end_one(r->dir, r->state, id);
		return;
	}
	rc = take_back(r, id, &err);
	if (!rc)
		return;
	record_dir_say(r->dir, true,
	               "record of running job %lld cannot be taken back%s: %s",
	               (long long)id, rc > 0 ? " and is moved to damaged" : "",
	               err.text);
	if (rc > 0 && record_dir_move(r->state, id, "damaged", &why) < 0)
		record_dir_say(r->dir, true, "%s", why.text);
}

void record_dir_run_restore(struct cpl_request *head)
{
	struct request *r = (struct request *)head;
	struct cpl_error err = {""};
	DIR *folder;
	int64_t id;

	/* The owner may have changed. */
	r->state->ours = r->state->foreign = false;
	if (!record_dir_check(r->dir, r->state, &err)) {
		if (err.text[0])
			record_dir_say(r->dir, true, "%s", err.text);
		return;
	}
	record_dir_sweep(r->state);
	qsort(r->ids, (size_t)r->n_ids, sizeof(*r->ids), cpl_by_int64);
	folder = state_open_folder(r->state->path, "running", &err);
	if (!folder && errno != ENOENT)
		record_dir_say(r->dir, true, "%s", err.text);
	while (folder && state_next_job(folder, &id))
		restore_one(r, id);
	if (folder)
		closedir(folder);
	r->state->tried = 0;
	retry_ends(r->dir, r->state);
	prune(r->dir, r->state);
}

void record_dir_run_forget(struct cpl_request *head)
{
	struct request *r = (struct request *)head;

	if (r->state)
		r->state->n_late = 0;
}

/* 0, or -1 with err; err with 0: news. */
static int merge_counters(struct cpl_record_dir *dir,
                          const struct state_dir *state, struct cpl_error *err)
{
	char *path = cpl_counters_path(state->path, err);
	int rc = -1;

	if (!path)
		return -1;
	errno = 0;
	rc = cpl_counters_merge(dir->counters, &dir->counted, path, time(NULL),
	                        err);
	if (rc && errno == ENOENT) {
		err->text[0] = '\0';
		record_dir_make(state, "running");
		rc = cpl_counters_merge(dir->counters, &dir->counted, path,
		                        time(NULL), err);
	}
	free(path);
	return rc;
}

void record_dir_run_count(void *arg)
{
	struct cpl_record_dir *dir = arg;
	struct cpl_error err = {""};
	struct state_dir *state;
	int rc = 0;

	pthread_mutex_lock(&dir->lock);
	state = dir->none ? NULL : dir->state;
	pthread_mutex_unlock(&dir->lock);
	if (!state)
		return;
	if (record_dir_check(dir, state, &err))
		rc = merge_counters(dir, state, &err);
	else if (err.text[0])
		rc = -1;
	if (err.text[0] && !(rc && dir->count_failed))
		record_dir_say(dir, true, "%s", err.text);
	if (!rc && dir->count_failed)
		record_dir_sweep(state);
	dir->count_failed = rc;
}
