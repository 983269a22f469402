/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "signature/signature.h"

#define STOP_WAIT_NS (2 * 1000000000LL)

struct task *engine_task_new(enum task_kind kind, const char *path,
                             const char *path2)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->kind = kind;
	task->refs = 1;
	task->path = path ? strdup(path) : NULL;
	task->path2 = path2 ? strdup(path2) : NULL;
	if ((path && !task->path) || (path2 && !task->path2)) {
		free(task->path);
		free(task->path2);
		free(task);
		return NULL;
	}
	return task;
}

static void task_free(struct cpl_engine *engine, struct task *task)
{
	engine_profile_drop(engine, task->profile);
	json_decref(task->json);
	free(task->path);
	free(task->path2);
	free(task->id);
	free(task);
}

void engine_task_drop(struct cpl_engine *engine, struct task *task)
{
	bool last;

	if (!task)
		return;
	pthread_mutex_lock(&engine->lock);
	last = --task->refs == 0;
	pthread_mutex_unlock(&engine->lock);
	if (last)
		task_free(engine, task);
}

int engine_stamp(const char *path, struct file_stamp *stamp)
{
	struct stat st;

	memset(stamp, 0, sizeof(*stamp));
	if (stat(path, &st))
		return -1;
	stamp->mtime = st.st_mtim;
	stamp->size = st.st_size;
	stamp->inode = st.st_ino;
	return 0;
}

bool engine_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec && a->size == b->size &&
	       a->inode == b->inode;
}

void engine_snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	cpl_network_free(snapshot->net);
	cpl_config_free(snapshot->config);
	free(snapshot);
}

static struct snapshot *snapshot_load(const char *path, struct cpl_error *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot) {
		cpl_fail_memory(err);
		return NULL;
	}
	/* Stamps are taken first: a file changed meanwhile is read again. */
	engine_stamp(path, &snapshot->config_stamp);
	snapshot->config = cpl_config_load(path, err);
	if (!snapshot->config)
		goto fail;
	if (snapshot->config->mode == CPL_MODE_OFF)
		return snapshot;
	if (!snapshot->config->network_file) {
		cpl_fail(err, "%s: NetworkFile is not set", path);
		goto fail;
	}
	engine_stamp(snapshot->config->network_file, &snapshot->net_stamp);
	snapshot->net = cpl_network_load(snapshot->config->network_file, err);
	if (!snapshot->net)
		goto fail;
	snapshot->routing = cpl_routing_find_quick(
	        snapshot->net, snapshot->config->routing, err);
	if (!snapshot->routing) {
		cpl_fail_prefix(err, "%s: Routing: ", path);
		goto fail;
	}
	return snapshot;
fail:
	engine_snapshot_free(snapshot);
	return NULL;
}

/* Neither file differs from what was loaded last. */
static bool unchanged(struct cpl_engine *engine)
{
	struct file_stamp config, net;

	return engine->stamped && !engine_stamp(engine->config_path, &config) &&
	       engine_stamp_equal(&config, &engine->config_stamp) &&
	       engine->last_network &&
	       !engine_stamp(engine->last_network, &net) &&
	       engine_stamp_equal(&net, &engine->net_stamp);
}

static int run_load(struct cpl_engine *engine, struct cpl_error *err)
{
	struct snapshot *snapshot, *old;

	if (unchanged(engine))
		return 0;
	engine->stamped = false;
	snapshot = snapshot_load(engine->config_path, err);
	if (!snapshot) {
		engine_log(engine, CPL_ENGINE_ERROR, "%s; %s", err->text,
		           engine->loaded ? "the configuration in force stays"
		                          : "all answers are the stock ones");
		return -1;
	}
	free(engine->last_network);
	engine->last_network =
	        snapshot->net ? strdup(snapshot->config->network_file) : NULL;
	engine->config_stamp = snapshot->config_stamp;
	engine->net_stamp = snapshot->net_stamp;
	engine->stamped = engine->loaded = true;
	pthread_mutex_lock(&engine->lock);
	old = engine->staged;
	engine->staged = snapshot;
	pthread_mutex_unlock(&engine->lock);
	engine_snapshot_free(old);
	engine_log(engine, CPL_ENGINE_INFO, "%s is in force",
	           engine->config_path);
	return 0;
}

/* The folders of a state directory; failures show when a file is written. */
static void make_folders(const char *file)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", file) >= (int)sizeof(path))
		return;
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		/* Readable for `commplace explain`, whatever the umask. */
		if (!mkdir(path, 0755))
			chmod(path, 0755);
		*slash = '/';
	}
}

static int run_write(struct task *task, struct cpl_error *err)
{
	make_folders(task->path);
	return cpl_json_write_atomic(task->json, task->path, 0644, err);
}

static int run_end(struct task *task, struct cpl_error *err)
{
	if (!rename(task->path, task->path2))
		return 0;
	make_folders(task->path2);
	/* ENOENT now: no record was ever written. */
	if (rename(task->path, task->path2) && errno != ENOENT)
		return cpl_fail(err, "%s: cannot be moved to %s: %s",
		                task->path, task->path2, strerror(errno));
	return 0;
}

static int compare_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void restore_one(struct cpl_engine *engine, const struct task *task,
                        int64_t job)
{
	struct cpl_error err = {""};
	char *path = cpl_record_path(task->path, false, job, &err);
	char *ended = cpl_record_path(task->path, true, job, &err);
	struct restored *item = NULL;
	json_t *root = NULL;

	if (!path || !ended)
		goto out;
	if (!bsearch(&job, task->id, (size_t)task->n_ids, sizeof(job),
	             compare_id)) {
		make_folders(ended);
		rename(path, ended);
		goto out;
	}
	root = cpl_json_load(path, &err);
	item = root ? calloc(1, sizeof(*item)) : NULL;
	if (!item)
		goto out;
	item->record = cpl_record_from_json(root, &err);
	if (!item->record || item->record->job != job)
		goto out;
	if (item->record->profile && item->record->ranks > 0) {
		char *profile = cpl_profile_path(task->path2,
		                                 item->record->profile, &err);

		if (profile)
			item->profile = engine_profile_read(engine, profile);
		free(profile);
	}
	pthread_mutex_lock(&engine->lock);
	item->next = engine->restored;
	engine->restored = item;
	pthread_mutex_unlock(&engine->lock);
	item = NULL;
out:
	if (item) {
		cpl_record_free(item->record);
		free(item);
	}
	if (err.text[0])
		engine_log(engine, CPL_ENGINE_ERROR,
		           "record of running job %lld is lost: %s",
		           (long long)job, err.text);
	json_decref(root);
	free(path);
	free(ended);
}

static int run_restore(struct cpl_engine *engine, struct task *task)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	qsort(task->id, (size_t)task->n_ids, sizeof(task->id[0]), compare_id);
	snprintf(folder, sizeof(folder), "%s/running", task->path);
	dir = opendir(folder);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		char *end;
		long long job = strtoll(entry->d_name, &end, 10);

		if (job > 0 && end != entry->d_name && !strcmp(end, ".json"))
			restore_one(engine, task, job);
	}
	closedir(dir);
	return 0;
}

static void run(struct cpl_engine *engine, struct task *task)
{
	switch (task->kind) {
	case TASK_LOAD:
		task->rc = run_load(engine, &task->err);
		break;
	case TASK_PROFILE:
		task->profile = engine_profile_read(engine, task->path);
		break;
	case TASK_WRITE:
		task->rc = run_write(task, &task->err);
		break;
	case TASK_END:
		task->rc = run_end(task, &task->err);
		break;
	case TASK_RESTORE:
		task->rc = run_restore(engine, task);
		break;
	}
	if (task->rc && (task->kind == TASK_WRITE || task->kind == TASK_END))
		engine_log(engine, CPL_ENGINE_ERROR, "%s", task->err.text);
}

static void *work(void *arg)
{
	struct cpl_engine *engine = arg;
	bool abandoned;

	pthread_mutex_lock(&engine->lock);
	for (;;) {
		struct task *task = engine->head;

		if (!task) {
			if (engine->quit)
				break;
			pthread_cond_wait(&engine->change, &engine->lock);
			continue;
		}
		engine->head = task->next;
		if (!engine->head)
			engine->tail = NULL;
		engine->n_queued--;
		engine->current = task;
		engine->current_since = engine_now();
		pthread_mutex_unlock(&engine->lock);
		run(engine, task);
		pthread_mutex_lock(&engine->lock);
		engine->current = NULL;
		task->done = true;
		pthread_cond_broadcast(&engine->change);
		if (--task->refs == 0) {
			pthread_mutex_unlock(&engine->lock);
			task_free(engine, task);
			pthread_mutex_lock(&engine->lock);
		}
	}
	abandoned = engine->abandoned;
	pthread_mutex_unlock(&engine->lock);
	if (abandoned)
		engine_dispose(engine);
	return NULL;
}

/* With `lock` held. */
static int start_worker(struct cpl_engine *engine, struct cpl_error *err)
{
	sigset_t all, old;
	int rc;

	if (engine->worker_started)
		return engine->owner == getpid()
		               ? 0
		               : cpl_fail(err, "this is a forked process");
	/* Signals are the program's own threads' business. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = pthread_create(&engine->worker, NULL, work, engine);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return cpl_fail(err, "cannot start a thread: %s", strerror(rc));
	engine->owner = getpid();
	engine->worker_started = true;
	return 0;
}

int engine_task_queue(struct cpl_engine *engine, struct task *task, bool wait,
                      struct cpl_error *err)
{
	int rc;

	if (!task)
		return cpl_fail_memory(err);
	pthread_mutex_lock(&engine->lock);
	rc = start_worker(engine, err);
	if (!rc && engine->n_queued >= ENGINE_QUEUE_MAX)
		rc = cpl_fail(err,
		              "%d files are waiting to be read or "
		              "written; the file system does not answer",
		              engine->n_queued);
	if (!rc) {
		task->refs += wait;
		task->next = NULL;
		if (engine->tail)
			engine->tail->next = task;
		else
			engine->head = task;
		engine->tail = task;
		engine->n_queued++;
		pthread_cond_broadcast(&engine->change);
	}
	pthread_mutex_unlock(&engine->lock);
	if (rc)
		task_free(engine, task);
	return rc;
}

static bool wait_until(struct cpl_engine *engine, int64_t deadline)
{
	struct timespec at = {deadline / 1000000000, deadline % 1000000000};

	return pthread_cond_timedwait(&engine->change, &engine->lock, &at) !=
	       ETIMEDOUT;
}

bool engine_task_wait(struct cpl_engine *engine, struct task *task,
                      int64_t deadline)
{
	bool done;

	pthread_mutex_lock(&engine->lock);
	while (!task->done && wait_until(engine, deadline))
		;
	done = task->done;
	pthread_mutex_unlock(&engine->lock);
	return done;
}

bool engine_worker_stuck(struct cpl_engine *engine, int64_t since)
{
	bool stuck;

	pthread_mutex_lock(&engine->lock);
	stuck = engine->current && engine->current_since < since;
	pthread_mutex_unlock(&engine->lock);
	return stuck;
}

bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms)
{
	int64_t deadline = engine_now() + wait_ms * 1000000LL;
	bool idle;

	pthread_mutex_lock(&engine->lock);
	while ((engine->head || engine->current) &&
	       wait_until(engine, deadline))
		;
	idle = !engine->head && !engine->current;
	pthread_mutex_unlock(&engine->lock);
	return idle;
}

bool engine_worker_stop(struct cpl_engine *engine)
{
	int64_t deadline = engine_now() + STOP_WAIT_NS;
	bool busy;

	if (!engine->worker_started || engine->owner != getpid())
		return !engine->worker_started;
	pthread_mutex_lock(&engine->lock);
	engine->quit = true;
	pthread_cond_broadcast(&engine->change);
	while ((engine->head || engine->current) &&
	       wait_until(engine, deadline))
		;
	busy = engine->head || engine->current;
	if (busy) {
		engine->abandoned = true;
		pthread_detach(engine->worker);
	}
	pthread_mutex_unlock(&engine->lock);
	if (busy)
		return false;
	pthread_join(engine->worker, NULL);
	return true;
}
