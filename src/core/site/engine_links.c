/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading MeasuredLinks, on a thread of its own among those of homes. */
#include "site/engine_clerk.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "measured/source.h"

/* No user has this number. */
#define MEASURE_OWNER (UINT64_MAX - 1)
/* So often within MeasuredMaxAge. */
#define OFTEN 5
#define NS_S INT64_C(1000000000)

struct links_request {
	struct cpl_request head;
	struct clerk *clerk;
	struct snapshot *snapshot;
	int64_t deadline;
};

void engine_measured_free(struct measured_set *set)
{
	if (!set)
		return;
	cpl_measured_free(&set->links);
	engine_snapshot_drop(set->snapshot);
	free(set);
}

/* For `commplace status`; what fails here, fails for records, which say so. */
static void write_file(const struct measured_set *set)
{
	const char *dir = set->snapshot->config->state_dir;
	char *path = dir ? cpl_path_join(dir, CPL_MEASURED_FILE, NULL) : NULL;
	struct cpl_file_writer *w =
	        path ? cpl_file_open_atomic(path, NULL) : NULL;

	free(path);
	if (!w)
		return;
	cpl_measured_write(&set->links, set->snapshot->net, cpl_file_stream(w));
	cpl_file_commit(w, 0644, NULL);
}

static int read_links(const struct links_request *m, struct measured_set *set,
                      struct cpl_error *err)
{
	const struct cpl_config *config = m->snapshot->config;
	struct cpl_measured_at at = {.max_age = config->measured_max_age};
	size_t length;
	char *text = cpl_measured_fetch(config->measured_links, m->deadline,
	                                &length, err);
	int rc;

	if (!text)
		return -1;
	at.now = (double)time(NULL);
	rc = cpl_measured_parse(&set->links, m->snapshot->net, text, length,
	                        config->measured_links, &at, err);
	free(text);
	return rc;
}

/* The source (NULL: none) fails now, in part or as a whole. False: so it was. Without
 * memory it is said again. */
static bool note_failed(struct clerk *clerk, const char *source, bool partly)
{
	const char *was;
	bool changed;

	pthread_mutex_lock(&clerk->lock);
	was = clerk->measure_failed;
	changed = !was != !source || (was && strcmp(was, source)) ||
	          (was && clerk->measure_partly && !partly);
	if (changed) {
		engine_set(&clerk->measure_failed, source);
		clerk->measure_partly = partly;
	}
	pthread_mutex_unlock(&clerk->lock);
	return changed;
}

/* One line where a source begins to fail, in all or in part, and one where that
 * ends. */
static void say(struct clerk *clerk, const char *source,
                const struct measured_set *set, const struct cpl_error *err)
{
	bool failed = !set || set->links.left_out;

	if (!note_failed(clerk, failed ? source : NULL, set))
		return;
	if (failed && set)
		engine_log(clerk, CPL_ENGINE_ERROR,
		           "MeasuredLinks: %lld of %lld rows are left out; the "
		           "first: %s",
		           (long long)set->links.left_out,
		           (long long)set->links.rows, set->links.why.text);
	else if (failed)
		engine_log(clerk, CPL_ENGINE_ERROR,
		           "MeasuredLinks: %s; nothing of it counts",
		           err->text);
	else
		engine_log(clerk, CPL_ENGINE_INFO,
		           "MeasuredLinks: %lld links are read again",
		           (long long)set->links.n);
}

/* Whatever reads it says why it fails; but that may hang. */
static void say_old(struct clerk *clerk)
{
	struct snapshot *of = NULL;
	double age;

	pthread_mutex_lock(&clerk->lock);
	age = (double)time(NULL) - clerk->measure_newest;
	if (clerk->measuring &&
	    age > clerk->measuring->config->measured_max_age)
		of = engine_snapshot_hold(clerk->measuring);
	pthread_mutex_unlock(&clerk->lock);
	if (of && note_failed(clerk, of->config->measured_links, false))
		engine_log(clerk, CPL_ENGINE_ERROR,
		           "MeasuredLinks: %s: the newest sample is older than "
		           "MeasuredMaxAge=%d s; nothing of it counts",
		           of->config->measured_links,
		           of->config->measured_max_age);
	engine_snapshot_drop(of);
}

static void run_measuring(struct cpl_request *head)
{
	struct links_request *m = (struct links_request *)head;
	struct measured_set *set = calloc(1, sizeof(*set)), *old;
	struct cpl_error err = {""};

	if (!set)
		cpl_fail_memory(&err);
	if (set)
		set->snapshot = engine_snapshot_hold(m->snapshot);
	if (set && read_links(m, set, &err)) {
		engine_measured_free(set);
		set = NULL;
	}
	say(m->clerk, m->snapshot->config->measured_links, set, &err);
	if (set)
		write_file(set);
	pthread_mutex_lock(&m->clerk->lock);
	m->clerk->measure_busy = false;
	old = set ? m->clerk->measured : NULL;
	if (set) {
		m->clerk->measured = set;
		m->clerk->measure_newest = set->links.time;
	}
	pthread_mutex_unlock(&m->clerk->lock);
	engine_measured_free(old);
}

static void free_measuring(struct cpl_request *head)
{
	struct links_request *m = (struct links_request *)head;

	engine_snapshot_drop(m->snapshot);
	free(m);
}

/* A request for what is due now, or NULL. */
static struct links_request *due(struct clerk *clerk)
{
	struct links_request *m = NULL;
	int64_t now = cpl_now(), every;

	pthread_mutex_lock(&clerk->lock);
	if (clerk->measuring && !clerk->measure_busy &&
	    now >= clerk->measure_next)
		m = calloc(1, sizeof(*m));
	if (m) {
		every = clerk->measuring->config->measured_max_age * NS_S /
		        OFTEN;
		if (every < ENGINE_LINKS_NS)
			every = ENGINE_LINKS_NS;
		clerk->measure_busy = true;
		clerk->measure_next = now + every;
		m->head.run = run_measuring;
		m->head.free = free_measuring;
		m->head.owner = MEASURE_OWNER;
		m->clerk = clerk;
		m->snapshot = engine_snapshot_hold(clerk->measuring);
		m->deadline = now + every;
	}
	pthread_mutex_unlock(&clerk->lock);
	return m;
}

void engine_links_tick(void *arg)
{
	struct clerk *clerk = arg;
	struct links_request *m = NULL;

	if (!cpl_worker_ends(clerk->worker)) {
		say_old(clerk);
		m = due(clerk);
	}
	if (!m || !cpl_worker_queue(clerk->worker, CPL_QUEUE_HOME, &m->head,
	                            false, NULL))
		return;
	/* For want of a thread; the next time. */
	pthread_mutex_lock(&clerk->lock);
	clerk->measure_busy = false;
	pthread_mutex_unlock(&clerk->lock);
}

void engine_links_watch(struct clerk *clerk, struct snapshot *snapshot)
{
	bool wanted = snapshot && snapshot->net &&
	              snapshot->config->measured_links;
	struct snapshot *old;

	pthread_mutex_lock(&clerk->lock);
	old = clerk->measuring;
	clerk->measuring = wanted ? engine_snapshot_hold(snapshot) : NULL;
	clerk->measure_next = 0;
	clerk->measure_newest = (double)time(NULL);
	pthread_mutex_unlock(&clerk->lock);
	engine_snapshot_drop(old);
	engine_links_tick(clerk);
}
