/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine_ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"

void engine_step_order_free(struct step_order *order)
{
	cpl_free_all(order->node, order->slots, order->rank_host);
	*order = (struct step_order){0};
}

/* First job with an id not below this one. */
static int lower_bound(const struct ledger *ledger, int64_t id)
{
	int low = 0, high = ledger->n_running;

	CPL_BISECT(low, high, mid, ledger->running[mid].id < id);
	return low;
}

struct running *engine_running_find(const struct ledger *ledger, int64_t id)
{
	int at = lower_bound(ledger, id);

	return at < ledger->n_running && ledger->running[at].id == id
	               ? &ledger->running[at]
	               : NULL;
}

/* Does this job put load on the network, as far as is known? */
static bool has_traffic(const struct running *job)
{
	return !job->suspended &&
	       (job->traffic ? job->record->ranks > 0 : job->volume > 0);
}

/* Is the job's load in the scene? */
static bool is_counted(const struct running *job)
{
	return job->load && job->load->counted;
}

static void forget_load(struct ledger *ledger, struct running *job)
{
	if (is_counted(job)) {
		cpl_scene_remove(&ledger->scene, job->load);
		ledger->state++;
	}
	if (job->shape)
		engine_rest_renew(ledger);
	cpl_free_all(job->load, job->shape);
	job->shape = NULL;
	engine_load_drop(ledger, job->making);
	job->load = NULL;
	job->making = NULL;
	job->load_made = false;
}

void engine_step_profile(struct clerk *clerk, const struct running *job,
                         const struct cpl_config *config,
                         const struct cpl_job_facts *facts,
                         const struct cpl_resolved *want, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer)
{
	const struct cpl_record *record = job ? job->record : NULL;

	if (!record || !job->profile || !want->profile.value ||
	    strcmp(want->profile.value, record->profile) ||
	    (ranks && ranks != job->profile->ranks)) {
		engine_find_profile(clerk, config, facts, want, ranks, deadline,
		                    answer);
		return;
	}
	*answer = (struct cpl_store_answer){.own = record->own_profile};
	cpl_store_answer_ready(job->profile, answer);
}

/* Of a job that runs by it: it was handed out when that was decided. */
static struct cpl_store_query record_query(const struct ledger *ledger,
                                           const struct cpl_record *record)
{
	const struct cpl_config *config = ledger->snapshot->config;
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
static void find_again(const struct ledger *ledger,
                       const struct cpl_record *record, int64_t deadline,
                       struct cpl_store_answer *answer)
{
	struct cpl_store_query query = record_query(ledger, record);

	query.deadline = deadline;
	if (query.dir || query.user_dir) {
		cpl_store_find(ledger->clerk->store, &query, answer);
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
static void have_read(struct ledger *ledger, const struct cpl_record *record)
{
	struct cpl_store_query query = record_query(ledger, record);

	if (query.dir || query.user_dir)
		cpl_store_prefetch(ledger->clerk->store, &query);
}

/*
 * Have the worker make a job's load, by the profile that it has had from its
 * start or, after a restart or a change of the network, by the one in the
 * store. 0, also where that is still being read; -1 with err.
 */
static int begin_load(struct ledger *ledger, struct running *job,
                      struct cpl_error *err)
{
	struct cpl_store_answer answer = {.found = CPL_FOUND_READY};
	struct cpl_error why = {""};

	if (!job->traffic)
		answer.found = CPL_FOUND_MISSING;
	else if (job->profile)
		answer.profile = cpl_profile_hold(job->profile);
	else
		find_again(ledger, job->record, 0, &answer);
	if (!answer.profile && job->traffic) {
		job->traffic = will_come(&answer);
		if (job->traffic)
			have_read(ledger, job->record);
		return 0;
	}
	job->making = engine_load_begin(ledger, job->record, answer.profile,
	                                job->volume, &why);
	if (job->making)
		return 0;
	if (cpl_error_is_memory(&why))
		return cpl_fail(err, "%s", why.text);
	/* It never will be possible. */
	engine_log(ledger->clerk, CPL_ENGINE_INFO,
	           "job %lld does not count as background: %s",
	           (long long)job->id, why.text);
	job->load_made = true;
	cpl_profile_drop(job->profile);
	job->profile = NULL;
	return 0;
}

struct running *engine_running_add(struct ledger *ledger,
                                   struct cpl_record *record,
                                   struct cpl_profile *profile)
{
	struct running *old = engine_running_find(ledger, record->job);
	int at;

	if (old)
		engine_running_remove(ledger, old);
	if (cpl_array_grow(&ledger->running, ledger->n_running,
	                   sizeof(*ledger->running), NULL)) {
		cpl_record_free(record);
		cpl_profile_drop(profile);
		return NULL;
	}
	at = lower_bound(ledger, record->job);
	memmove(&ledger->running[at + 1], &ledger->running[at],
	        (size_t)(ledger->n_running - at) * sizeof(ledger->running[0]));
	ledger->n_running++;
	ledger->settled = false;
	ledger->running[at] = (struct running){
	        .id = record->job,
	        .record = record,
	        .profile = profile,
	        .traffic = profile && record->ranks == profile->ranks,
	};
	engine_unknown_note_known(&ledger->running[at]);
	if (engine_unknown_wanted(ledger))
		ledger->running[at].volume = record->volume;
	/* The worker makes its load, before anybody needs it. */
	if (ledger->running[at].traffic || ledger->running[at].volume > 0)
		begin_load(ledger, &ledger->running[at], NULL);
	return &ledger->running[at];
}

/* All that it has; its place is left. */
static void clear(struct ledger *ledger, struct running *job)
{
	if (is_counted(job))
		engine_rest_gone(ledger, job);
	forget_load(ledger, job);
	engine_step_order_free(&job->step);
	free(job->plan);
	cpl_record_free(job->record);
	cpl_profile_drop(job->profile);
}

void engine_running_remove(struct ledger *ledger, struct running *job)
{
	int at = (int)(job - ledger->running);

	clear(ledger, job);
	ledger->n_running--;
	memmove(job, job + 1, (size_t)(ledger->n_running - at) * sizeof(*job));
}

CPL_SORT_BY(engine_live_order, struct cpl_engine_live, CPL_UP(id))

void engine_running_keep(struct ledger *ledger,
                         bool (*keep)(void *arg, int64_t id), void *arg)
{
	int n = 0;

	for (int i = 0; i < ledger->n_running; i++) {
		struct running *job = &ledger->running[i];

		if (!keep(arg, job->id))
			clear(ledger, job);
		else
			ledger->running[n++] = *job;
	}
	ledger->n_running = n;
}

void engine_ledger_free(struct ledger *ledger)
{
	while (ledger->n_running)
		engine_running_remove(ledger,
		                      &ledger->running[ledger->n_running - 1]);
	free(ledger->running);
	engine_rest_forget(ledger);
	cpl_scene_close(&ledger->scene);
	engine_load_scratch_free(&ledger->on_worker);
	engine_load_scratch_free(&ledger->on_caller);
	engine_snapshot_drop(ledger->snapshot);
	free(ledger->live);
}

void engine_running_changed(struct ledger *ledger, struct running *job)
{
	forget_load(ledger, job);
	ledger->settled = false;
}

void engine_running_stale(struct ledger *ledger, struct snapshot *snapshot)
{
	for (int i = 0; i < ledger->n_running; i++) {
		struct running *job = &ledger->running[i];

		forget_load(ledger, job);
		engine_step_order_free(&job->step);
		job->volume = snapshot->config->unknown == CPL_UNKNOWN_OFF
		                      ? 0
		                      : job->record->volume;
	}
	engine_rest_forget(ledger);
	cpl_scene_close(&ledger->scene);
	ledger->scene = (struct cpl_scene){.net = snapshot->net,
	                                   .routing = snapshot->routing,
	                                   .stated = snapshot->stated,
	                                   .learned = snapshot->learned};
	ledger->settled = false;
	ledger->state++;
	engine_snapshot_drop(ledger->snapshot);
	ledger->snapshot = engine_snapshot_hold(snapshot);
}

int engine_running_count(struct ledger *ledger, struct running *job,
                         struct cpl_error *err)
{
	bool counts = has_traffic(job);

	ledger->settled = ledger->settled && (!counts || job->load_made);
	if (!job->load || counts == job->load->counted)
		return 0;
	ledger->state++;
	if (!counts) {
		cpl_scene_remove(&ledger->scene, job->load);
	} else if (cpl_scene_add(&ledger->scene, job->load, err)) {
		job->load = NULL;
		job->load_made = ledger->settled = false;
		return -1;
	}
	return 0;
}

struct cpl_profile *engine_running_profile(const struct ledger *ledger,
                                           const struct running *job,
                                           int64_t deadline,
                                           struct cpl_error *err)
{
	struct cpl_store_answer answer;

	if (job->profile)
		return cpl_profile_hold(job->profile);
	find_again(ledger, job->record, deadline, &answer);
	if (!answer.profile)
		cpl_fail(err, "%s", answer.err.text);
	return answer.profile;
}

/* What was begun. 0, or -1 with err. */
static int end_load(struct ledger *ledger, struct running *job,
                    int64_t deadline, struct cpl_error *err)
{
	if (!engine_load_end(ledger, job->making, deadline, &job->load, err))
		return -1;
	engine_load_drop(ledger, job->making);
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

int engine_running_begin(struct ledger *ledger, struct cpl_error *err)
{
	int waits = 0;

	for (int i = 0; i < ledger->n_running; i++) {
		struct running *job = &ledger->running[i];

		if (is_to_begin(job) && begin_load(ledger, job, err))
			return -1;
		waits |= is_to_begin(job);
	}
	return waits;
}

/* Every load that can be had, in the scene. What is made is kept: after a
 * deadline the next call goes on. */
static int settle(struct ledger *ledger, int64_t deadline,
                  struct cpl_error *err)
{
	bool complete = true;

	if (engine_running_begin(ledger, err) < 0)
		return -1;
	for (int i = 0; i < ledger->n_running; i++) {
		struct running *job = &ledger->running[i];

		if (!has_traffic(job))
			continue;
		if ((job->making && end_load(ledger, job, deadline, err)) ||
		    engine_running_count(ledger, job, err))
			return -1;
		complete = complete && job->load_made;
	}
	ledger->settled = complete;
	return 0;
}

/* The jobs whose load is part of the scene go on record. */
static int note_counted(const struct ledger *ledger, struct cpl_record *record)
{
	free(record->background);
	record->background = calloc((size_t)ledger->n_running + 1,
	                            sizeof(*record->background));
	if (!record->background ||
	    engine_set(&record->measured,
	               ledger->rest.load ? ledger->rest.told : NULL))
		return -1;
	record->sample = ledger->rest.load &&
	                                 ledger->snapshot->config->keep_samples
	                         ? ledger->rest.id
	                         : 0;
	for (int i = 0; i < ledger->n_running; i++)
		if (is_counted(&ledger->running[i]))
			record->background[record->n_background++] =
			        ledger->running[i].id;
	return 0;
}

struct cpl_scene *engine_scene(struct ledger *ledger, struct cpl_record *record,
                               int64_t deadline, struct cpl_error *err)
{
	if (record)
		record->n_background = 0;
	if (!ledger->settled && settle(ledger, deadline, err))
		return NULL;
	if (engine_rest_put(ledger, err))
		return NULL;
	if (record && note_counted(ledger, record)) {
		cpl_fail_memory(err);
		return NULL;
	}
	return &ledger->scene;
}

struct cpl_scene_job engine_scene_job(const struct cpl_profile *profile,
                                      int ranks_per_node)
{
	static const struct cpl_profile none;
	const struct cpl_profile *of = profile ? profile : &none;

	return (struct cpl_scene_job){.comm = of->comm,
	                              .graph = of->graph,
	                              .ranks_per_node = ranks_per_node,
	                              .phase = of->phase,
	                              .n_phases = of->n_phases,
	                              .seconds = of->run.seconds};
}
