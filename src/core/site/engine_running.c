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

static void clear_load(struct running *job)
{
	free(job->entry);
	job->entry = NULL;
	job->n_entries = 0;
	job->load_made = false;
}

void engine_background_stale(struct cpl_engine *engine)
{
	engine->background_made = false;
	engine_memo_forget(engine);
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
	engine_background_stale(engine);
	engine->running[at] = (struct running){
	        .id = record->job,
	        .record = record,
	        .profile = profile,
	        .traffic = profile && record->ranks == profile->ranks,
	};
	return &engine->running[at];
}

void engine_running_remove(struct cpl_engine *engine, struct running *job)
{
	int at = (int)(job - engine->running);

	free(job->entry);
	engine_step_order_free(&job->step);
	cpl_record_free(job->record);
	cpl_profile_drop(job->profile);
	engine->n_running--;
	memmove(job, job + 1, (size_t)(engine->n_running - at) * sizeof(*job));
	engine_background_stale(engine);
}

void engine_running_free(struct cpl_engine *engine)
{
	while (engine->n_running)
		engine_running_remove(engine,
		                      &engine->running[engine->n_running - 1]);
	free(engine->running);
	cpl_load_free(&engine->background);
	engine_times_free(engine);
}

void engine_running_changed(struct cpl_engine *engine, struct running *job)
{
	clear_load(job);
	engine_background_stale(engine);
}

void engine_running_stale(struct cpl_engine *engine)
{
	for (int i = 0; i < engine->n_running; i++) {
		clear_load(&engine->running[i]);
		engine_step_order_free(&engine->running[i].step);
	}
	cpl_load_free(&engine->background);
	engine_background_stale(engine);
	engine_times_free(engine);
}

/* Does this job put load on the network, as far as is known? */
static bool has_traffic(const struct running *job)
{
	return !job->suspended && job->traffic && job->record->ranks > 0;
}

bool engine_running_counts(const struct running *job)
{
	return has_traffic(job) && job->entry;
}

void engine_find_profile(struct cpl_engine *engine, const char *name, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer)
{
	cpl_store_find(engine->store,
	               &(struct cpl_store_query){
	                       .dir = engine->snapshot->config->profile_dir,
	                       .name = name,
	                       .ranks = ranks,
	                       .deadline = deadline},
	               answer);
}

struct cpl_profile *engine_running_profile(struct cpl_engine *engine,
                                           const struct running *job,
                                           int64_t deadline,
                                           struct cpl_error *err)
{
	struct cpl_store_answer answer;

	if (job->profile)
		return cpl_profile_hold(job->profile);
	engine_find_profile(engine, job->record->profile, job->record->ranks,
	                    deadline, &answer);
	if (!answer.profile)
		cpl_fail(err, "%s", answer.err.text);
	return answer.profile;
}

/* Node of each rank; -1 with err when the network lacks a host. */
static int rank_nodes(const struct cpl_network *net,
                      const struct cpl_record *record, int *rank_node,
                      struct cpl_error *err)
{
	for (int r = 0; r < record->ranks; r++) {
		const char *host = record->host[record->rank_host[r]];

		rank_node[r] = cpl_network_node(net, host);
		if (rank_node[r] < 0)
			return cpl_fail(err, "%s is not in the network", host);
	}
	return 0;
}

static int64_t gather(const double *value, int64_t n, int64_t first,
                      struct load_entry *out)
{
	int64_t used = 0;

	for (int64_t i = 0; i < n; i++) {
		if (value[i] == 0)
			continue;
		if (out)
			out[used] = (struct load_entry){first + i, value[i]};
		used++;
	}
	return used;
}

/* Keep what is not 0: jobs touch a small part of a large machine's links, and
 * adding 0 changes nothing to the last bit. */
static int make_sparse(struct running *job, const struct cpl_network *net,
                       const struct cpl_load *load, struct cpl_error *err)
{
	int64_t links = net->n_links, nodes = net->n_nodes;
	int64_t n = gather(load->link, links, 0, NULL) +
	            gather(load->injection, nodes, 0, NULL) +
	            gather(load->ejection, nodes, 0, NULL);
	struct load_entry *entry = malloc((size_t)(n + 1) * sizeof(*entry));
	int64_t at = 0;

	if (!entry)
		return cpl_fail_memory(err);
	at += gather(load->link, links, 0, entry);
	at += gather(load->injection, nodes, links, entry + at);
	at += gather(load->ejection, nodes, links + nodes, entry + at);
	job->entry = entry;
	job->n_entries = at;
	return 0;
}

/* Of a job whose profile is at hand. 0, -1 when memory is out, 1 when it never
 * will be possible. */
static int make_load(struct cpl_engine *engine, struct running *job,
                     const struct cpl_profile *profile,
                     struct cpl_workload *scratch, struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;
	int *rank_node = malloc((size_t)job->record->ranks * sizeof(int));
	struct cpl_job placed = {.routing = now->routing,
	                         .comm = profile->comm,
	                         .node = rank_node};
	int rc = -1;

	if (!rank_node) {
		cpl_fail_memory(err);
		goto out;
	}
	rc = 1;
	if (rank_nodes(now->net, job->record, rank_node, err))
		goto out;
	rc = -1;
	cpl_workload_clear(scratch, NULL);
	if (cpl_workload_add(scratch, &placed, err) < 0 ||
	    cpl_workload_solve(scratch, err))
		goto out;
	rc = make_sparse(job, now->net, cpl_workload_load(scratch), err);
	job->period = profile->run.seconds > 0
	                      ? profile->run.seconds
	                      : cpl_load_seconds(cpl_workload_load(scratch),
	                                         now->net);
out:
	free(rank_node);
	return rc;
}

/* Is a profile on its way that is not in memory now? */
static bool will_come(const struct cpl_store_answer *answer)
{
	return answer->found == CPL_FOUND_LOADING ||
	       answer->found == CPL_FOUND_TIMED_OUT;
}

/*
 * Make a job's load, by the profile that it has had from its start or, after a
 * restart or a change of the network, by the one in the store. 0; 1: it is
 * still being read; -1 with err.
 */
static int get_load(struct cpl_engine *engine, struct running *job,
                    struct cpl_workload **scratch, int64_t deadline,
                    struct cpl_error *err)
{
	struct cpl_store_answer answer = {.found = CPL_FOUND_READY};
	struct cpl_error why = {""};
	int failed;

	if (job->profile)
		answer.profile = cpl_profile_hold(job->profile);
	else
		engine_find_profile(engine, job->record->profile,
		                    job->record->ranks, 0, &answer);
	if (!answer.profile) {
		job->traffic = will_come(&answer);
		return 1;
	}
	/* What is made is kept: the next call goes on. */
	failed = -1;
	if (cpl_now() >= deadline)
		cpl_fail(&why, "the load of the running jobs takes longer to "
		               "compute than MaxDecisionTime");
	else if (*scratch ||
	         (*scratch = cpl_workload_new(engine->snapshot->net, 1, &why)))
		failed = make_load(engine, job, answer.profile, *scratch, &why);
	cpl_profile_drop(answer.profile);
	if (failed < 0)
		return cpl_fail(err, "%s", why.text);
	if (failed)
		engine_log(engine, CPL_ENGINE_INFO,
		           "job %lld does not count as background: %s",
		           (long long)job->id, why.text);
	job->load_made = true;
	cpl_profile_drop(job->profile);
	job->profile = NULL;
	return 0;
}

static void add_entries(struct cpl_load *into, const struct cpl_network *net,
                        const struct running *job)
{
	int64_t links = net->n_links, nodes = net->n_nodes;

	for (int64_t i = 0; i < job->n_entries; i++) {
		int64_t at = job->entry[i].index;
		double bytes = job->entry[i].bytes;

		if (at < links)
			into->link[at] += bytes;
		else if (at < links + nodes)
			into->injection[at - links] += bytes;
		else
			into->ejection[at - links - nodes] += bytes;
	}
}

static int make_background(struct cpl_engine *engine, int64_t deadline,
                           struct cpl_error *err)
{
	const struct cpl_network *net = engine->snapshot->net;
	struct cpl_workload *scratch = NULL;
	bool complete = true;
	int rc = 0;

	if (!engine->background.link &&
	    cpl_load_init(&engine->background, net, err))
		return -1;
	cpl_load_clear(&engine->background, net);
	engine->rates_made = false;
	for (int i = 0; i < engine->n_running && rc >= 0; i++) {
		struct running *job = &engine->running[i];

		if (!has_traffic(job))
			continue;
		rc = job->load_made
		             ? 0
		             : get_load(engine, job, &scratch, deadline, err);
		if (!rc)
			add_entries(&engine->background, net, job);
		else if (has_traffic(job))
			complete = false;
	}
	cpl_workload_free(scratch);
	engine->background_made = rc >= 0 && complete;
	return rc < 0 ? -1 : 0;
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
		if (engine_running_counts(&engine->running[i]))
			record->background[record->n_background++] =
			        engine->running[i].id;
	return 0;
}

const struct cpl_load *engine_background(struct cpl_engine *engine,
                                         struct cpl_record *record,
                                         int64_t deadline,
                                         struct cpl_error *err)
{
	bool any = false;

	if (record)
		record->n_background = 0;
	for (int i = 0; i < engine->n_running && !any; i++)
		any = has_traffic(&engine->running[i]);
	if (any && !engine->background_made &&
	    make_background(engine, deadline, err))
		return NULL;
	engine->settled = !any || engine->background_made;
	if (record && note_counted(engine, record)) {
		cpl_fail_memory(err);
		return NULL;
	}
	any = false;
	for (int i = 0; i < engine->n_running && !any; i++)
		any = engine_running_counts(&engine->running[i]);
	return any ? &engine->background : NULL;
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
