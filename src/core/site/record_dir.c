/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/record_dir_internal.h"

#include <stdlib.h>
#include <string.h>

#include "site/site_internal.h"

struct cpl_record_dir *cpl_record_dir_new(struct cpl_worker *worker,
                                          cpl_log_line *log, void *log_arg,
                                          struct cpl_error *err)
{
	struct cpl_record_dir *dir = calloc(1, sizeof(*dir));

	if (!dir)
		return cpl_fail_null_memory(err);
	dir->worker = worker;
	dir->log = log;
	dir->log_arg = log_arg;
	dir->none = true;
	pthread_mutex_init(&dir->lock, NULL);
	return dir;
}

void cpl_record_dir_count(struct cpl_record_dir *dir,
                          struct cpl_counters *counters)
{
	dir->counters = counters;
	cpl_worker_every(dir->worker, CPL_QUEUE_WRITE, RECORD_DIR_COUNT_NS,
	                 record_dir_run_count, dir);
}

static void state_dir_free(struct state_dir *state)
{
	cpl_free_all(state->path, state->cluster, state->late, state);
}

void cpl_record_dir_free(struct cpl_record_dir *dir)
{
	if (!dir)
		return;
	while (dir->state) {
		struct state_dir *next = dir->state->next;

		state_dir_free(dir->state);
		dir->state = next;
	}
	pthread_mutex_destroy(&dir->lock);
	free(dir);
}

/* NULL: memory. */
static struct state_dir *state_dir_new(const char *path, const char *cluster,
                                       enum cpl_record_access access,
                                       const struct cpl_record_keep *keep)
{
	struct state_dir *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->path = strdup(path);
	state->cluster = cluster ? strdup(cluster) : NULL;
	state->access = access;
	state->keep = *keep;
	state->pruned = cpl_now();
	if (state->path && !state->cluster == !cluster)
		return state;
	state_dir_free(state);
	return NULL;
}

void cpl_record_dir_use(struct cpl_record_dir *dir, const char *path,
                        const char *cluster, enum cpl_record_access access,
                        const struct cpl_record_keep *keep)
{
	struct state_dir **at = &dir->state, *state = NULL;

	pthread_mutex_lock(&dir->lock);
	dir->none = !path;
	if (!path)
		goto out;
	/* Requests for earlier directories may be under way, so these stay. */
	while (*at && (strcmp((*at)->path, path) || (*at)->access != access ||
	               (*at)->keep.count != keep->count ||
	               (*at)->keep.days != keep->days ||
	               !same_text((*at)->cluster, cluster)))
		at = &(*at)->next;
	state = *at;
	if (state)
		*at = state->next;
	else
		state = state_dir_new(path, cluster, access, keep);
	if (!state) {
		dir->none = true;
		goto out;
	}
	state->next = dir->state;
	dir->state = state;
out:
	pthread_mutex_unlock(&dir->lock);
	if (path && !state)
		record_dir_say(dir, true,
		               "out of memory: no record is written");
}

bool cpl_record_dir_is_ours(struct cpl_record_dir *dir)
{
	bool ours;

	pthread_mutex_lock(&dir->lock);
	ours = dir->state && !dir->none &&
	       (!dir->state->cluster || dir->state->ours);
	pthread_mutex_unlock(&dir->lock);
	return ours;
}

/* May so many bytes more be queued? */
static bool reserve(struct cpl_record_dir *dir, size_t bytes)
{
	bool fits;

	pthread_mutex_lock(&dir->lock);
	fits = dir->queued + bytes <= RECORD_DIR_QUEUE_BYTES;
	if (fits)
		dir->queued += bytes;
	pthread_mutex_unlock(&dir->lock);
	return fits;
}

/* Queue a request, NULL when memory was out. */
static void queue(struct request *r, struct cpl_record_dir *dir,
                  struct cpl_error *err)
{
	cpl_worker_queue(dir->worker, CPL_QUEUE_WRITE, r ? &r->head : NULL,
	                 false, err);
}

static void run_flush(struct cpl_request *head)
{
	record_dir_run_count(((struct request *)head)->dir);
}

void cpl_record_dir_flush(struct cpl_record_dir *dir)
{
	struct cpl_error err = {""};

	/* Where memory is out, the next count writes it. */
	queue(record_dir_request(dir, NULL, 0, run_flush), dir, &err);
}

void cpl_record_dir_write(struct cpl_record_dir *dir,
                          const struct cpl_record *record)
{
	struct cpl_error err = {""};
	struct request *r;

	if (dir->none)
		return;
	r = record_dir_request(dir, dir->state, record->job,
	                       record_dir_run_write);
	if (r) {
		r->user = record->uid;
		r->text = cpl_record_text(record, &r->length, &err);
	}
	if (!r) {
		cpl_fail_memory(&err);
	} else if (!r->text) {
		free(r);
	} else if (r->length > RECORD_MAX_BYTES) {
		cpl_fail(&err,
		         "record of job %lld: %zu bytes are more than a record "
		         "may have (%d)",
		         (long long)record->job, r->length, RECORD_MAX_BYTES);
		cpl_free_all(r->text, r);
	} else if (!reserve(dir, r->length)) {
		cpl_fail(&err,
		         "%s: records come faster than they can be written",
		         dir->state->path);
		cpl_free_all(r->text, r);
	} else {
		queue(r, dir, &err);
	}
	if (err.text[0])
		record_dir_complain(dir, err.text);
}

void cpl_record_dir_end(struct cpl_record_dir *dir, int64_t id)
{
	struct cpl_error err = {""};

	if (dir->none)
		return;
	queue(record_dir_request(dir, dir->state, id, record_dir_run_end), dir,
	      &err);
	if (err.text[0])
		record_dir_say(dir, true,
		               "record of job %lld stays in running: %s",
		               (long long)id, err.text);
}

void cpl_record_dir_forget(struct cpl_record_dir *dir)
{
	struct cpl_error err = {""};

	queue(record_dir_request(dir, dir->state, 0, record_dir_run_forget), dir,
	      &err);
	if (err.text[0])
		record_dir_say(dir, true, "ends of jobs may be put on record "
		                          "that run again: %s", err.text);
}

void cpl_record_dir_restore(struct cpl_record_dir *dir, const int64_t *id,
                            int n,
                            void (*take)(void *arg, struct cpl_record *record),
                            void *arg)
{
	struct cpl_error err = {""};
	struct request *r;

	if (dir->none)
		return;
	r = id ? record_dir_request(dir, dir->state, 0, record_dir_run_restore)
	       : NULL;
	if (r)
		r->ids = malloc(((size_t)n + 1) * sizeof(*r->ids));
	if (r && r->ids) {
		memcpy(r->ids, id, (size_t)n * sizeof(*r->ids));
		r->n_ids = n;
		r->take = take;
		r->take_arg = arg;
	} else if (r) {
		r->head.free(&r->head);
		r = NULL;
	}
	queue(r, dir, &err);
	if (err.text[0])
		record_dir_say(dir, true,
		               "running jobs do not count as background: %s",
		               err.text);
}
