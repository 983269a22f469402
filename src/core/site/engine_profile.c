/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "signature/signature.h"

static void profile_free(struct cpl_engine_profile *profile)
{
	cpl_comm_free(profile->comm);
	cpl_comm_free(profile->graph);
	free(profile->path);
	free(profile);
}

void engine_profile_drop(struct cpl_engine *engine,
                         struct cpl_engine_profile *profile)
{
	bool last;

	if (!profile)
		return;
	pthread_mutex_lock(&engine->lock);
	last = --profile->refs == 0;
	pthread_mutex_unlock(&engine->lock);
	if (last)
		profile_free(profile);
}

struct cpl_engine_profile *
engine_profile_hold(struct cpl_engine *engine,
                    struct cpl_engine_profile *profile)
{
	if (!profile)
		return NULL;
	pthread_mutex_lock(&engine->lock);
	profile->refs++;
	pthread_mutex_unlock(&engine->lock);
	return profile;
}

static void read_signature(struct cpl_engine_profile *profile)
{
	struct cpl_error *err = &profile->error;
	struct cpl_signature *sig = cpl_signature_load(profile->path, err);

	if (!sig)
		return;
	profile->ranks = sig->ranks;
	profile->comm = cpl_signature_total_daemon(sig, err);
	if (profile->comm)
		profile->graph = cpl_comm_symmetric(profile->comm, err);
	if (!profile->graph) {
		cpl_comm_free(profile->comm);
		profile->comm = NULL;
	}
	cpl_signature_free(sig);
}

/* The entry of the cache for this path, or -1. With `lock` held. */
static int cached(const struct cpl_engine *engine, const char *path)
{
	for (int i = 0; i < engine->n_cached; i++)
		if (!strcmp(engine->cache[i]->path, path))
			return i;
	return -1;
}

static int least_used(const struct cpl_engine *engine)
{
	int at = 0;

	for (int i = 1; i < engine->n_cached; i++)
		if (engine->cache[i]->used < engine->cache[at]->used)
			at = i;
	return at;
}

/* Out of the cache, least used first, while it holds too much; or NULL. The
 * latest stays in any case. */
static struct cpl_engine_profile *take_surplus(struct cpl_engine *engine)
{
	struct cpl_engine_profile *out = NULL;
	int64_t entries = 0;

	pthread_mutex_lock(&engine->lock);
	for (int i = 0; i < engine->n_cached; i++)
		entries += engine->cache[i]->comm->n_entries;
	if (entries > ENGINE_ENTRIES_MAX && engine->n_cached > 1) {
		int at = least_used(engine);

		out = engine->cache[at];
		engine->cache[at] = engine->cache[--engine->n_cached];
	}
	pthread_mutex_unlock(&engine->lock);
	return out;
}

/* Put a profile in place of an older version or of the least used. */
static void remember(struct cpl_engine *engine,
                     struct cpl_engine_profile *profile)
{
	struct cpl_engine_profile *out = NULL;
	int at;

	pthread_mutex_lock(&engine->lock);
	at = cached(engine, profile->path);
	if (at < 0 && engine->n_cached == ENGINE_PROFILES_MAX)
		at = least_used(engine);
	if (at < 0)
		at = engine->n_cached++;
	else
		out = engine->cache[at];
	profile->refs++;
	profile->used = ++engine->clock;
	engine->cache[at] = profile;
	pthread_mutex_unlock(&engine->lock);
	engine_profile_drop(engine, out);
	while ((out = take_surplus(engine)))
		engine_profile_drop(engine, out);
}

static struct cpl_engine_profile *lookup(struct cpl_engine *engine,
                                         const char *path,
                                         const struct file_stamp *stamp)
{
	struct cpl_engine_profile *found = NULL;
	int at;

	pthread_mutex_lock(&engine->lock);
	at = cached(engine, path);
	if (at >= 0) {
		struct cpl_engine_profile *p = engine->cache[at];

		if (engine_stamp_equal(&p->stamp, stamp)) {
			p->used = ++engine->clock;
			p->refs++;
			found = p;
		}
	}
	pthread_mutex_unlock(&engine->lock);
	return found;
}

struct cpl_engine_profile *engine_profile_read(struct cpl_engine *engine,
                                               const char *path)
{
	struct cpl_engine_profile *profile;
	struct file_stamp stamp;
	int failed = engine_stamp(path, &stamp) ? errno : 0;

	if (!failed) {
		profile = lookup(engine, path, &stamp);
		if (profile)
			return profile;
	}
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return NULL;
	profile->refs = 1;
	profile->path = strdup(path);
	if (!profile->path) {
		free(profile);
		return NULL;
	}
	if (failed) {
		profile->missing = failed == ENOENT;
		cpl_fail(&profile->error, "%s: %s", path, strerror(failed));
		return profile;
	}
	profile->stamp = stamp;
	read_signature(profile);
	/* A failure may be ours (memory): only good content is kept. */
	if (profile->comm)
		remember(engine, profile);
	return profile;
}

/* Whatever version is in memory: better than none while files cannot be
 * looked at. */
static struct cpl_engine_profile *last_known(struct cpl_engine *engine,
                                             const char *path)
{
	struct cpl_engine_profile *found = NULL;
	int at;

	pthread_mutex_lock(&engine->lock);
	at = cached(engine, path);
	if (at >= 0) {
		found = engine->cache[at];
		found->used = ++engine->clock;
		found->refs++;
	}
	pthread_mutex_unlock(&engine->lock);
	return found;
}

struct cpl_engine_profile *engine_profile_get(struct cpl_engine *engine,
                                              const char *path,
                                              int64_t deadline,
                                              struct cpl_error *err)
{
	int64_t now = engine_now();
	struct cpl_engine_profile *profile = NULL;
	struct task *task;

	/* A worker that does not come back would cost every job its budget. */
	if (engine_worker_stuck(engine, now - (deadline - now))) {
		profile = last_known(engine, path);
		if (!profile)
			cpl_fail(err, "%s: the file system does not answer",
			         path);
		return profile;
	}
	task = engine_task_new(TASK_PROFILE, path, NULL);
	if (engine_task_queue(engine, task, true, err))
		return NULL;
	if (!engine_task_wait(engine, task, deadline)) {
		profile = last_known(engine, path);
		if (!profile)
			cpl_fail(err,
			         "%s: reading it took longer than "
			         "MaxDecisionTime",
			         path);
	} else if (!task->profile) {
		cpl_fail_memory(err);
	} else {
		profile = engine_profile_hold(engine, task->profile);
	}
	engine_task_drop(engine, task);
	return profile;
}

void engine_profile_flush(struct cpl_engine *engine)
{
	for (int i = 0; i < engine->n_cached; i++)
		engine_profile_drop(engine, engine->cache[i]);
	engine->n_cached = 0;
}
