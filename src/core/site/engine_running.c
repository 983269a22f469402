/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"

/* First job with an id not below this one. */
static int lower_bound(const struct cpl_engine *engine, int64_t id)
{
	int low = 0, high = engine->n_running;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (engine->running[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct running *engine_running_find(struct cpl_engine *engine, int64_t id)
{
	int at = lower_bound(engine, id);

	return at < engine->n_running && engine->running[at].id == id
	               ? &engine->running[at]
	               : NULL;
}

/* Does this job put load on the network, as far as is known? */
static bool has_traffic(const struct running *job)
{
	return !job->suspended && job->traffic && job->record->ranks > 0;
}

/* Is the job's load in the background? */
static bool is_counted(const struct running *job)
{
	return job->load && job->load->counted;
}

static void forget_load(struct cpl_engine *engine, struct running *job)
{
	if (is_counted(job)) {
		cpl_background_remove(engine->background, job->load);
		engine_memo_forget(engine);
	}
	free(job->load);
	engine_load_drop(engine, job->making);
	job->load = NULL;
	job->making = NULL;
	job->load_made = false;
}

struct cpl_store_query engine_query(const struct cpl_engine *engine,
                                    const struct cpl_job_facts *job,
                                    const struct cpl_resolved *want, int ranks,
                                    int64_t deadline)
{
	const struct cpl_config *config = engine->snapshot->config;

	return (struct cpl_store_query){
	        .dir = config->profile_dir,
	        .user_dir = job->has_uid ? config->user_profile_dir : NULL,
	        .whom = want->profile_given ? CPL_FOR_US
	                : job->has_uid      ? CPL_FOR_USER
	                                    : CPL_FOR_ALL,
	        .uid = job->uid,
	        .gid = job->gid,
	        .name = want->profile.value,
	        .ranks = ranks,
	        .job = true,
	        .deadline = deadline,
	};
}

void engine_find_profile(struct cpl_engine *engine,
                         const struct cpl_job_facts *job,
                         const struct cpl_resolved *want, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer)
{
	struct cpl_store_query query =
	        engine_query(engine, job, want, ranks, deadline);

	cpl_store_find(engine->store, &query, answer);
}

/* Of a job that runs by it: it was handed out when that was decided. */
static struct cpl_store_query record_query(const struct cpl_engine *engine,
                                           const struct cpl_record *record)
{
	const struct cpl_config *config = engine->snapshot->config;
	bool own = record->own_profile;

	return (struct cpl_store_query){
	        .dir = own ? NULL : config->profile_dir,
	        .user_dir = own ? config->user_profile_dir : NULL,
	        .whom = CPL_FOR_US,
	        .uid = record->uid,
	        .name = record->profile,
	        .ranks = record->ranks,
	        .job = true,
	};
}

/* That of a running job, where its decision had it from: one of the same name
 * elsewhere is another one. */
static void find_again(struct cpl_engine *engine,
                       const struct cpl_record *record, int64_t deadline,
                       struct cpl_store_answer *answer)
{
	struct cpl_store_query query = record_query(engine, record);

	query.deadline = deadline;
	if (query.dir || query.user_dir) {
		cpl_store_find(engine->store, &query, answer);
		return;
	}
	*answer = (struct cpl_store_answer){.found = CPL_FOUND_MISSING};
	cpl_fail(&answer->err, "profile '%s' is the user's own, and "
	                       "UserProfileDir is not in force any more",
	         record->profile);
}

/* Is a profile on its way that is not in memory now? */
static bool will_come(const struct cpl_store_answer *answer)
{
	return answer->found == CPL_FOUND_LOADING ||
	       answer->found == CPL_FOUND_TIMED_OUT;
}

/* Once the file was looked at it is read, without anybody asking again. */
static void have_read(struct cpl_engine *engine, const struct cpl_record *record)
{
	struct cpl_store_query query = record_query(engine, record);

	if (query.dir || query.user_dir)
		cpl_store_prefetch(engine->store, &query);
}

/*
 * Have the worker make a job's load, by the profile that it has had from its
 * start or, after a restart or a change of the network, by the one in the
 * store. 0, also where that is still being read; -1 with err.
 */
static int begin_load(struct cpl_engine *engine, struct running *job,
                      struct cpl_error *err)
{
	struct cpl_store_answer answer = {.found = CPL_FOUND_READY};
	struct cpl_error why = {""};

	if (job->profile)
		answer.profile = cpl_profile_hold(job->profile);
	else
		find_again(engine, job->record, 0, &answer);
	if (!answer.profile) {
		job->traffic = will_come(&answer);
		if (job->traffic)
			have_read(engine, job->record);
		return 0;
	}
	job->making =
	        engine_load_begin(engine, job->record, answer.profile, &why);
	if (job->making)
		return 0;
	if (cpl_error_is_memory(&why))
		return cpl_fail(err, "%s", why.text);
	/* It never will be possible. */
	engine_log(engine, CPL_ENGINE_INFO,
	           "job %lld does not count as background: %s",
	           (long long)job->id, why.text);
	job->load_made = true;
	cpl_profile_drop(job->profile);
	job->profile = NULL;
	return 0;
}

struct running *engine_running_add(struct cpl_engine *engine,
                                   struct cpl_record *record,
                                   struct cpl_profile *profile)
{
	struct running *old = engine_running_find(engine, record->job);
	int at;

	if (old)
		engine_running_remove(engine, old);
	if (engine->n_running == engine->max_running) {
		int max = engine->max_running ? 2 * engine->max_running : 64;
		struct running *more =
		        realloc(engine->running, (size_t)max * sizeof(*more));

		if (!more) {
			cpl_record_free(record);
			cpl_profile_drop(profile);
			return NULL;
		}
		engine->running = more;
		engine->max_running = max;
	}
	at = lower_bound(engine, record->job);
	memmove(&engine->running[at + 1], &engine->running[at],
	        (size_t)(engine->n_running - at) * sizeof(engine->running[0]));
	engine->n_running++;
	engine->settled = false;
	engine->running[at] = (struct running){
	        .id = record->job,
	        .record = record,
	        .profile = profile,
	        .traffic = profile && record->ranks == profile->ranks,
	};
	/* The worker makes its load, before anybody needs it. */
	if (engine->running[at].traffic)
		begin_load(engine, &engine->running[at], NULL);
	return &engine->running[at];
}

/* All that it has; its place is left. */
static void clear(struct cpl_engine *engine, struct running *job)
{
	forget_load(engine, job);
	engine_step_order_free(&job->step);
	free(job->plan);
	cpl_record_free(job->record);
	cpl_profile_drop(job->profile);
}

void engine_running_remove(struct cpl_engine *engine, struct running *job)
{
	int at = (int)(job - engine->running);

	clear(engine, job);
	engine->n_running--;
	memmove(job, job + 1, (size_t)(engine->n_running - at) * sizeof(*job));
}

int engine_live_order(const void *a, const void *b)
{
	const struct cpl_engine_live *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

void engine_running_keep(struct cpl_engine *engine,
                         bool (*keep)(void *arg, int64_t id), void *arg)
{
	int n = 0;

	for (int i = 0; i < engine->n_running; i++) {
		struct running *job = &engine->running[i];

		if (!keep(arg, job->id))
			clear(engine, job);
		else
			engine->running[n++] = *job;
	}
	engine->n_running = n;
}

void engine_running_free(struct cpl_engine *engine)
{
	while (engine->n_running)
		engine_running_remove(engine,
		                      &engine->running[engine->n_running - 1]);
	free(engine->running);
	cpl_background_free(engine->background);
	engine_load_scratch_free(&engine->on_worker);
	engine_load_scratch_free(&engine->on_caller);
	engine_times_free(engine);
}

void engine_running_changed(struct cpl_engine *engine, struct running *job)
{
	forget_load(engine, job);
	engine->settled = false;
}

void engine_running_stale(struct cpl_engine *engine)
{
	for (int i = 0; i < engine->n_running; i++) {
		forget_load(engine, &engine->running[i]);
		engine_step_order_free(&engine->running[i].step);
	}
	cpl_background_free(engine->background);
	engine->background = NULL;
	engine->settled = false;
	engine_memo_forget(engine);
	engine_times_free(engine);
}

void engine_running_count(struct cpl_engine *engine, struct running *job)
{
	bool counts = has_traffic(job);

	engine->settled = engine->settled && (!counts || job->load_made);
	if (!job->load || counts == job->load->counted)
		return;
	if (counts)
		cpl_background_add(engine->background, job->load);
	else
		cpl_background_remove(engine->background, job->load);
	engine_memo_forget(engine);
}

struct cpl_profile *engine_running_profile(struct cpl_engine *engine,
                                           const struct running *job,
                                           int64_t deadline,
                                           struct cpl_error *err)
{
	struct cpl_store_answer answer;

	if (job->profile)
		return cpl_profile_hold(job->profile);
	find_again(engine, job->record, deadline, &answer);
	if (!answer.profile)
		cpl_fail(err, "%s", answer.err.text);
	return answer.profile;
}

/* What was begun. 0, or -1 with err. */
static int end_load(struct cpl_engine *engine, struct running *job,
                    int64_t deadline, struct cpl_error *err)
{
	if (!engine_load_end(engine, job->making, deadline, &job->load, err))
		return -1;
	engine_load_drop(engine, job->making);
	job->making = NULL;
	if (!job->load)
		return -1;
	job->load->id = job->id;
	job->load_made = true;
	cpl_profile_drop(job->profile);
	job->profile = NULL;
	return 0;
}

/* Does its load have to be made, and is that not under way? */
static bool is_to_begin(const struct running *job)
{
	return has_traffic(job) && !job->load_made && !job->making;
}

int engine_running_begin(struct cpl_engine *engine, struct cpl_error *err)
{
	int waits = 0;

	for (int i = 0; i < engine->n_running; i++) {
		struct running *job = &engine->running[i];

		if (is_to_begin(job) && begin_load(engine, job, err))
			return -1;
		waits |= is_to_begin(job);
	}
	return waits;
}

/* Every load that can be had, in the background. What is made is kept: after a
 * deadline the next call goes on. */
static int settle(struct cpl_engine *engine, int64_t deadline,
                  struct cpl_error *err)
{
	bool complete = true;

	if (!engine->background)
		engine->background =
		        cpl_background_new(engine->snapshot->net, err);
	if (!engine->background || engine_running_begin(engine, err) < 0)
		return -1;
	for (int i = 0; i < engine->n_running; i++) {
		struct running *job = &engine->running[i];

		if (!has_traffic(job))
			continue;
		if (job->making && end_load(engine, job, deadline, err))
			return -1;
		complete = complete && job->load_made;
		engine_running_count(engine, job);
	}
	engine->settled = complete;
	return 0;
}

/* The jobs whose load is part of the background go on record. */
static int note_counted(const struct cpl_engine *engine,
                        struct cpl_record *record)
{
	free(record->background);
	record->background = calloc((size_t)engine->n_running + 1,
	                            sizeof(*record->background));
	if (!record->background)
		return -1;
	for (int i = 0; i < engine->n_running; i++)
		if (is_counted(&engine->running[i]))
			record->background[record->n_background++] =
			        engine->running[i].id;
	return 0;
}

struct cpl_background *engine_background(struct cpl_engine *engine,
                                         struct cpl_record *record,
                                         int64_t deadline,
                                         struct cpl_error *err)
{
	if (record)
		record->n_background = 0;
	if (!engine->settled && settle(engine, deadline, err))
		return NULL;
	if (record && note_counted(engine, record)) {
		cpl_fail_memory(err);
		return NULL;
	}
	return engine->background && cpl_background_jobs(engine->background)
	               ? engine->background
	               : NULL;
}

char **engine_host_names(const struct cpl_engine *engine, const int *host,
                         int n)
{
	char **name = malloc(((size_t)n + 1) * sizeof(*name));

	for (int i = 0; name && i < n; i++) {
		if (host[i] < 0 || host[i] >= engine->n_hosts ||
		    !engine->host_name[host[i]]) {
			free(name);
			return NULL;
		}
		name[i] = engine->host_name[host[i]];
	}
	return name;
}

int engine_set_hostlist(char **field, char *const *name, int n)
{
	char *text = name ? cpl_hostlist_format(name, n) : NULL;

	if (!text)
		return -1;
	free(*field);
	*field = text;
	return 0;
}

int engine_record_hosts(struct cpl_record *record, char *const *name, int n)
{
	struct cpl_hostlist copy = {0};

	for (int i = 0; i < n; i++)
		if (!name || cpl_hostlist_push(&copy, name[i], NULL)) {
			cpl_hostlist_free(&copy);
			return -1;
		}
	for (int i = 0; i < record->n_hosts; i++)
		free(record->host[i]);
	free(record->host);
	record->host = copy.name;
	record->n_hosts = n;
	return 0;
}
