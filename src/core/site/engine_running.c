/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "signature/signature.h"

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

static void running_clear(struct cpl_engine *engine, struct running *job)
{
	clear_load(job);
	cpl_record_free(job->record);
	engine_profile_drop(engine, job->profile);
}

struct running *engine_running_add(struct cpl_engine *engine,
                                   struct cpl_record *record,
                                   struct cpl_engine_profile *profile)
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
			engine_profile_drop(engine, profile);
			return NULL;
		}
		engine->running = more;
		engine->max_running = max;
	}
	at = lower_bound(engine, record->job);
	memmove(&engine->running[at + 1], &engine->running[at],
	        (size_t)(engine->n_running - at) * sizeof(engine->running[0]));
	engine->n_running++;
	engine->background_made = false;
	engine->running[at] = (struct running){
	        .id = record->job,
	        .record = record,
	        .profile = profile,
	};
	return &engine->running[at];
}

void engine_running_remove(struct cpl_engine *engine, struct running *job)
{
	int at = (int)(job - engine->running);

	running_clear(engine, job);
	engine->n_running--;
	memmove(job, job + 1, (size_t)(engine->n_running - at) * sizeof(*job));
	engine->background_made = false;
}

void engine_running_free(struct cpl_engine *engine)
{
	for (int i = 0; i < engine->n_running; i++)
		running_clear(engine, &engine->running[i]);
	free(engine->running);
	engine->running = NULL;
	engine->n_running = engine->max_running = 0;
	cpl_load_free(&engine->background);
	memset(&engine->background, 0, sizeof(engine->background));
	engine->background_made = false;
}

void engine_running_stale(struct cpl_engine *engine)
{
	for (int i = 0; i < engine->n_running; i++)
		clear_load(&engine->running[i]);
	cpl_load_free(&engine->background);
	memset(&engine->background, 0, sizeof(engine->background));
	engine->background_made = false;
}

/* Does this job put load on the network, as far as is known? */
static bool has_traffic(const struct running *job)
{
	return job->profile && job->profile->comm && job->record->ranks > 0 &&
	       job->record->ranks == job->profile->ranks;
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

/* 0, -1 when memory is out, 1 when it never will be possible. */
static int make_load(struct cpl_engine *engine, struct running *job,
                     struct cpl_load *scratch, struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;
	const struct cpl_comm *comm = job->profile->comm;
	struct cpl_traffic_work *work = NULL;
	int *rank_node = malloc((size_t)job->record->ranks * sizeof(int));
	int rc = -1;

	if (!rank_node) {
		cpl_fail_memory(err);
		goto out;
	}
	rc = 1;
	if (rank_nodes(now->net, job->record, rank_node, err))
		goto out;
	rc = -1;
	work = cpl_traffic_work_new(now->net, comm, err);
	if (!work)
		goto out;
	cpl_load_clear(scratch, now->net);
	cpl_traffic_add(now->net, now->routing, comm, rank_node, work, scratch,
	                NULL);
	rc = make_sparse(job, now->net, scratch, err);
out:
	cpl_traffic_work_free(work);
	free(rank_node);
	return rc;
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
	struct cpl_load scratch = {0};
	int rc = -1;

	if (!engine->background.link &&
	    cpl_load_init(&engine->background, net, err))
		goto out;
	cpl_load_clear(&engine->background, net);
	for (int i = 0; i < engine->n_running; i++) {
		struct running *job = &engine->running[i];

		if (!has_traffic(job))
			continue;
		if (!job->load_made) {
			struct cpl_error why = {""};
			int failed;

			/* What is made is kept: the next call goes on. */
			if (engine_now() >= deadline) {
				cpl_fail(err, "the load of the running jobs "
				              "takes longer to compute than "
				              "MaxDecisionTime");
				goto out;
			}
			if (!scratch.link && cpl_load_init(&scratch, net, err))
				goto out;
			failed = make_load(engine, job, &scratch, &why);
			if (failed < 0) {
				cpl_fail(err, "%s", why.text);
				goto out;
			}
			if (failed)
				engine_log(engine, CPL_ENGINE_INFO,
				           "job %lld does not count as "
				           "background: %s",
				           (long long)job->id, why.text);
			job->load_made = true;
		}
		add_entries(&engine->background, net, job);
	}
	engine->background_made = true;
	rc = 0;
out:
	cpl_load_free(&scratch);
	return rc;
}

const struct cpl_load *engine_background(struct cpl_engine *engine, int64_t *id,
                                         int64_t *n_ids, int64_t deadline,
                                         struct cpl_error *err)
{
	int64_t n = 0;

	*n_ids = 0;
	for (int i = 0; i < engine->n_running; i++)
		n += has_traffic(&engine->running[i]);
	if (!n)
		return NULL;
	if (!engine->background_made && make_background(engine, deadline, err))
		return NULL;
	n = 0;
	for (int i = 0; i < engine->n_running; i++)
		if (has_traffic(&engine->running[i]) &&
		    engine->running[i].entry)
			id[n++] = engine->running[i].id;
	*n_ids = n;
	return n ? &engine->background : NULL;
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

int engine_record_hosts(struct cpl_record *record, char *const *name, int n)
{
	char **copy = calloc((size_t)n + 1, sizeof(*copy));

	if (!copy)
		return -1;
	for (int i = 0; i < n; i++) {
		if (!engine_set(&copy[i], name[i]))
			continue;
		while (i--)
			free(copy[i]);
		free(copy);
		return -1;
	}
	for (int i = 0; i < record->n_hosts; i++)
		free(record->host[i]);
	free(record->host);
	record->host = copy;
	record->n_hosts = n;
	return 0;
}

void engine_record_write(struct cpl_engine *engine,
                         const struct cpl_record *record)
{
	struct cpl_error err = {""};
	const char *dir = engine->snapshot->config->state_dir;
	char *path =
	        dir ? cpl_record_path(dir, false, record->job, &err) : NULL;
	json_t *root = path ? cpl_record_to_json(record, &err) : NULL;
	struct task *task;

	if (!root)
		goto out;
	task = engine_task_new(TASK_WRITE, path, NULL);
	if (task) {
		task->json = root;
		root = NULL;
	}
	engine_task_queue(engine, task, false, &err);
out:
	if (err.text[0])
		engine_log(engine, CPL_ENGINE_ERROR,
		           "record of job %lld is not written: %s",
		           (long long)record->job, err.text);
	json_decref(root);
	free(path);
}

static int export_one(const struct cpl_engine *engine,
                      const struct running *job, struct cpl_running_job *out,
                      struct cpl_error *err)
{
	const struct cpl_record *record = job->record;

	out->id = job->id;
	out->ranks_per_node =
	        record->ranks_per_node > 0 ? record->ranks_per_node : 1;
	if (has_traffic(job)) {
		out->signature = strdup(job->profile->path);
		out->rank_host = malloc((size_t)record->ranks * sizeof(int));
		if (!out->signature || !out->rank_host)
			return cpl_fail_memory(err);
		memcpy(out->rank_host, record->rank_host,
		       (size_t)record->ranks * sizeof(int));
		out->ranks = record->ranks;
	}
	out->host = calloc((size_t)record->n_hosts + 1, sizeof(char *));
	if (!out->host)
		return cpl_fail_memory(err);
	for (; out->n_hosts < record->n_hosts; out->n_hosts++) {
		out->host[out->n_hosts] = strdup(record->host[out->n_hosts]);
		if (!out->host[out->n_hosts])
			return cpl_fail_memory(err);
	}
	return 0;
}

int cpl_engine_export(struct cpl_engine *engine, struct cpl_state *out,
                      struct cpl_error *err)
{
	int rc = -1;

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	out->job = calloc((size_t)engine->n_running + 1, sizeof(*out->job));
	if (!out->job) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < engine->n_running; i++) {
		out->n_jobs++;
		if (export_one(engine, &engine->running[i], &out->job[i], err))
			goto out;
	}
	rc = 0;
out:
	pthread_mutex_unlock(&engine->api);
	if (rc) {
		cpl_state_free(out);
		memset(out, 0, sizeof(*out));
	}
	return rc;
}
