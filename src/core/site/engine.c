/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/printable.h"
#include "site/engine_internal.h"
#include "site/site_internal.h"

#define STOP_WAIT_NS (2 * INT64_C(1000000000))

bool engine_expired(void *arg)
{
	return cpl_now() >= *(const int64_t *)arg;
}

int engine_set(char **field, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -1;
	free(*field);
	*field = copy;
	return 0;
}

/* The same text again and again (a full disk, a missing file) is said once. */
void engine_log(struct cpl_engine *engine, enum cpl_engine_log level,
                const char *fmt, ...)
{
	struct cpl_error line = {""};
	bool again;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	cpl_printable(line.text);
	pthread_mutex_lock(&engine->lock);
	again = level == CPL_ENGINE_ERROR &&
	        !strcmp(line.text, engine->last_logged.text);
	if (level == CPL_ENGINE_ERROR)
		engine->last_logged = line;
	pthread_mutex_unlock(&engine->lock);
	if (!again && engine->log)
		engine->log(level, line.text);
}

/* After a wait for files without `api`, which is no part of a pass. */
static void enter_again(struct cpl_engine *engine)
{
	pthread_mutex_lock(&engine->api);
	engine->began = cpl_now();
}

static void engine_dispose(void *arg);

static void log_line(void *arg, bool failure, const char *text)
{
	engine_log(arg, failure ? CPL_ENGINE_ERROR : CPL_ENGINE_INFO, "%s",
	           text);
}

struct cpl_engine *cpl_engine_new(const char *config_path,
                                  void (*log)(enum cpl_engine_log level,
                                              const char *text),
                                  struct cpl_error *err)
{
	struct cpl_engine *engine = calloc(1, sizeof(*engine));

	if (!engine) {
		cpl_fail_memory(err);
		return NULL;
	}
	engine->log = log;
	pthread_mutex_init(&engine->api, NULL);
	pthread_mutex_init(&engine->lock, NULL);
	engine->config_path = strdup(config_path);
	if (!engine->config_path) {
		cpl_fail_memory(err);
		goto fail;
	}
	engine->worker = cpl_worker_new(err);
	if (!engine->worker)
		goto fail;
	engine->store = cpl_store_new(engine->worker, log_line, engine, err);
	engine->records =
	        cpl_record_dir_new(engine->worker, log_line, engine, err);
	if (engine->store && engine->records) {
		cpl_record_dir_count(engine->records, &engine->counters);
		return engine;
	}
fail:
	engine_dispose(engine);
	return NULL;
}

/* The configuration in force says what store and records go by. */
static void use_config(struct cpl_engine *engine)
{
	const struct cpl_config *config = engine->snapshot->config;
	enum cpl_record_access access = config->record_access;
	struct cpl_record_keep keep = {config->keep_records,
	                               config->keep_days};

	pthread_mutex_lock(&engine->lock);
	if (engine_set(&engine->profile_dir, config->profile_dir)) {
		free(engine->profile_dir);
		engine->profile_dir = NULL;
	}
	pthread_mutex_unlock(&engine->lock);
	cpl_store_limit(engine->store, (uint64_t)config->profile_memory << 20);
	cpl_store_rescale(engine->store, config->rescale);
	if (access == CPL_RECORDS_SLURM)
		access = engine->private_jobs ? CPL_RECORDS_OWNER
		                              : CPL_RECORDS_ALL;
	cpl_record_dir_use(engine->records, config->state_dir, engine->cluster,
	                   access, &keep);
}

int cpl_engine_set_cluster(struct cpl_engine *engine, const char *name,
                           bool private_jobs, struct cpl_error *err)
{
	int rc;

	pthread_mutex_lock(&engine->api);
	rc = engine_set(&engine->cluster, name);
	engine->private_jobs = private_jobs;
	if (engine->snapshot)
		use_config(engine);
	pthread_mutex_unlock(&engine->api);
	return rc ? cpl_fail_memory(err) : 0;
}

static void free_hosts(struct cpl_engine *engine)
{
	for (int i = 0; i < engine->n_hosts; i++)
		free(engine->host_name[i]);
	free(engine->host_name);
	free(engine->host_node);
	free(engine->node_host);
	engine->host_name = NULL;
	engine->host_node = engine->node_host = NULL;
	engine->n_hosts = 0;
}

static void free_restored(struct restored *item)
{
	while (item) {
		struct restored *next = item->next;

		cpl_record_free(item->record);
		free(item);
		item = next;
	}
}

static void free_decided(struct cpl_engine *engine)
{
	while (engine->decided) {
		struct decided *next = engine->decided->next;

		engine_decided_free(engine->decided);
		engine->decided = next;
	}
}

static void engine_dispose(void *arg)
{
	struct cpl_engine *engine = arg;

	free_decided(engine);
	engine_memo_forget(engine);
	engine_groups_free(engine);
	free_restored(engine->restored);
	engine_running_free(engine);
	engine_snapshot_drop(engine->staged);
	engine_snapshot_drop(engine->snapshot);
	free_hosts(engine);
	free(engine->live);
	free(engine->last_network);
	free(engine->last_model);
	free(engine->config_path);
	free(engine->cluster);
	free(engine->profile_dir);
	cpl_record_dir_free(engine->records);
	cpl_store_free(engine->store);
	cpl_worker_free(engine->worker);
	pthread_mutex_destroy(&engine->lock);
	pthread_mutex_destroy(&engine->api);
	free(engine);
}

void cpl_engine_free(struct cpl_engine *engine)
{
	if (engine && cpl_worker_stop(engine->worker, cpl_now() + STOP_WAIT_NS,
	                              engine_dispose, engine))
		engine_dispose(engine);
}

/* A line for the log about n names, if any. */
static void tell(struct cpl_engine *engine, const char *what, char *const *name,
                 int n)
{
	char *text = n ? cpl_hostlist_format(name, n) : NULL;

	if (text)
		engine_log(engine, CPL_ENGINE_INFO, "%s: %d (%.300s%s)", what,
		           n, text, strlen(text) > 300 ? "..." : "");
	free(text);
}

/* A typing error in the network's node list should not go unnoticed. */
static void tell_strangers(struct cpl_engine *engine,
                           const struct cpl_network *net)
{
	int max =
	        net->n_nodes > engine->n_hosts ? net->n_nodes : engine->n_hosts;
	char **name = malloc((size_t)max * sizeof(*name));
	int n = 0;

	if (!name)
		return;
	for (int i = 0; i < net->n_nodes; i++)
		if (net->node_name[i] && engine->node_host[i] < 0)
			name[n++] = net->node_name[i];
	tell(engine, "nodes of the network the scheduler does not have", name,
	     n);
	n = 0;
	for (int i = 0; i < engine->n_hosts; i++)
		if (engine->host_name[i] && engine->host_node[i] < 0)
			name[n++] = engine->host_name[i];
	tell(engine, "nodes of the scheduler that the network does not have",
	     name, n);
	free(name);
}

/* Which hosts the network in force has. -1: memory; nothing is then known. */
static int map_hosts(struct cpl_engine *engine)
{
	const struct cpl_network *net =
	        engine->snapshot ? engine->snapshot->net : NULL;
	int *host_node, *node_host;

	engine_memo_forget(engine);
	free(engine->host_node);
	free(engine->node_host);
	engine->host_node = engine->node_host = NULL;
	if (!net || !engine->n_hosts)
		return 0;
	host_node = malloc((size_t)engine->n_hosts * sizeof(int));
	node_host = malloc((size_t)net->n_nodes * sizeof(int));
	if (!host_node || !node_host) {
		free(host_node);
		free(node_host);
		return -1;
	}
	for (int i = 0; i < net->n_nodes; i++)
		node_host[i] = -1;
	for (int i = 0; i < engine->n_hosts; i++) {
		const char *name = engine->host_name[i];

		host_node[i] = name ? cpl_network_node(net, name) : -1;
		if (host_node[i] >= 0)
			node_host[host_node[i]] = i;
	}
	engine->host_node = host_node;
	engine->node_host = node_host;
	tell_strangers(engine, net);
	return 0;
}

static bool hosts_equal(const struct cpl_engine *engine,
                        const char *const *name, int n)
{
	if (n != engine->n_hosts)
		return false;
	for (int i = 0; i < n; i++)
		if (!same_text(name[i], engine->host_name[i]))
			return false;
	return true;
}

static int copy_hosts(struct cpl_engine *engine, const char *const *name, int n)
{
	free_hosts(engine);
	engine->host_name = calloc((size_t)n + 1, sizeof(char *));
	if (!engine->host_name)
		return -1;
	engine->n_hosts = n;
	for (int i = 0; i < n; i++)
		if (engine_set(&engine->host_name[i], name[i]))
			return -1;
	return map_hosts(engine);
}

int cpl_engine_set_hosts(struct cpl_engine *engine, const char *const *name,
                         int n, struct cpl_error *err)
{
	int64_t entered = engine_enter(engine);
	int rc = 0;

	engine_adopt(engine);
	if (!hosts_equal(engine, name, n))
		rc = copy_hosts(engine, name, n);
	else if (engine->snapshot && engine->snapshot->net &&
	         !engine->host_node)
		rc = map_hosts(engine);
	if (rc) {
		free_hosts(engine);
		cpl_fail_memory(err);
	}
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
	return rc;
}

/* On the worker. */
static void stage_restored(void *arg, struct cpl_record *record)
{
	struct cpl_engine *engine = arg;
	struct restored *item = malloc(sizeof(*item));

	if (!item) {
		engine_log(engine, CPL_ENGINE_ERROR,
		           "record of running job %lld is lost: out of memory",
		           (long long)record->job);
		cpl_record_free(record);
		return;
	}
	item->record = record;
	pthread_mutex_lock(&engine->lock);
	/* Needed soon: as background, and for steps of other shapes. */
	if (record->profile && !record->own_profile && record->ranks > 0 &&
	    engine->profile_dir)
		cpl_store_prefetch(engine->store,
		                   &(struct cpl_store_query){
		                           .dir = engine->profile_dir,
		                           .name = record->profile,
		                           .ranks = record->ranks});
	item->next = engine->restored;
	engine->restored = item;
	pthread_mutex_unlock(&engine->lock);
}

static void queue_restore(struct cpl_engine *engine)
{
	int64_t *id = malloc(((size_t)engine->n_live + 1) * sizeof(*id));

	engine->restore_waits = false;
	for (int i = 0; id && i < engine->n_live; i++)
		id[i] = engine->live[i].id;
	cpl_record_dir_restore(engine->records, id, engine->n_live,
	                       stage_restored, engine);
	free(id);
}

/* Of the last restore; NULL: the job did not run then. */
static const struct cpl_engine_live *find_live(const struct cpl_engine *engine,
                                               int64_t id)
{
	struct cpl_engine_live key = {.id = id};

	return engine->n_live
	               ? bsearch(&key, engine->live, (size_t)engine->n_live,
	                         sizeof(key), engine_live_order)
	               : NULL;
}

/* A record of a job that has run before this engine did. */
static void take_back(struct cpl_engine *engine, struct cpl_record *record)
{
	struct running *job = engine_running_add(engine, record, NULL);
	const struct cpl_engine_live *live;

	if (!job)
		return;
	engine_reach_restore(engine, record);
	job->traffic = record->profile && record->ranks > 0;
	job->ordered = engine_order(record) != NULL;
	job->has_layout =
	        record->outcome != CPL_OUTCOME_OBSERVED && record->ranks > 0 &&
	        (record->outcome == CPL_OUTCOME_PLACED || job->traffic ||
	         job->ordered);
	job->own_order = job->traffic && record->own_order;
	live = find_live(engine, job->id);
	job->suspended = live && live->suspended;
}

/* Lists of records in the order of their jobs' numbers; NULL is empty. */
static struct restored *merge(struct restored *a, struct restored *b)
{
	struct restored *head = NULL, **end = &head;

	while (a && b) {
		struct restored **first =
		        a->record->job <= b->record->job ? &a : &b;

		*end = *first;
		end = &(*end)->next;
		*first = *end;
	}
	*end = a ? a : b;
	return head;
}

/* As running jobs are, so that each is added behind those before. O(n log n) */
static struct restored *sort_restored(struct restored *list)
{
	struct restored *middle = list, *half;

	if (!list || !list->next)
		return list;
	for (half = list->next; half && half->next; half = half->next->next)
		middle = middle->next;
	half = middle->next;
	middle->next = NULL;
	return merge(sort_restored(list), sort_restored(half));
}

void engine_adopt(struct cpl_engine *engine)
{
	struct restored *restored;
	struct snapshot *staged;

	pthread_mutex_lock(&engine->lock);
	staged = engine->staged;
	engine->staged = NULL;
	restored = engine->restored;
	engine->restored = NULL;
	pthread_mutex_unlock(&engine->lock);
	restored = sort_restored(restored);
	if (staged) {
		engine_running_stale(engine);
		engine_snapshot_drop(engine->snapshot);
		engine->snapshot = staged;
		map_hosts(engine);
		use_config(engine);
	}
	for (struct restored *item = restored; item && engine->snapshot;
	     item = item->next) {
		/* A job that started meanwhile is known better already. */
		if (engine_running_find(engine, item->record->job))
			continue;
		take_back(engine, item->record);
		item->record = NULL;
	}
	if ((staged || restored) && engine->snapshot && engine->snapshot->net)
		engine_running_begin(engine, NULL);
	free_restored(restored);
	if (engine->snapshot && engine->restore_waits)
		queue_restore(engine);
}

/*
 * When to stop waiting for files of the site: with a configuration in force
 * somebody may wait for this caller, who gets a decision's time; and none when
 * a file system holds the worker already.
 */
static int64_t wait_end(struct cpl_engine *engine, int wait_ms, bool in_force)
{
	int64_t now = cpl_now();

	if (in_force && engine->snapshot->config->max_decision_ms < wait_ms)
		wait_ms = engine->snapshot->config->max_decision_ms;
	/* Homes are not the site's. */
	for (int q = 0; q < CPL_QUEUE_HOME; q++)
		if (cpl_worker_stuck(engine->worker, q,
		                     now - wait_ms * INT64_C(1000000)))
			return now;
	return now + wait_ms * INT64_C(1000000);
}

/* Have the loads of running jobs made whose profiles come until the deadline;
 * those that come later are begun by the next decision. */
static void begin_loads(struct cpl_engine *engine, int64_t deadline)
{
	const struct snapshot *now = engine->snapshot;

	if (!now || !now->net || engine_running_begin(engine, NULL) <= 0)
		return;
	pthread_mutex_unlock(&engine->api);
	cpl_worker_idle(engine->worker, deadline);
	enter_again(engine);
	engine_adopt(engine);
	if (engine->snapshot->net)
		engine_running_begin(engine, NULL);
}

int cpl_engine_load(struct cpl_engine *engine, int wait_ms,
                    struct cpl_error *err)
{
	int64_t deadline, entered;
	int rc;

	entered = engine_enter(engine);
	engine_adopt(engine);
	deadline = wait_end(engine, wait_ms, engine->snapshot != NULL);
	pthread_mutex_unlock(&engine->api);
	cpl_store_refresh(engine->store);
	rc = engine_load(engine, deadline, err);
	enter_again(engine);
	engine_adopt(engine);
	begin_loads(engine, deadline);
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
	return rc;
}

bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms)
{
	return cpl_worker_idle(engine->worker,
	                       cpl_now() + wait_ms * INT64_C(1000000));
}

bool cpl_engine_drain(struct cpl_engine *engine, int wait_ms)
{
	cpl_record_dir_flush(engine->records);
	return cpl_engine_idle(engine, wait_ms);
}

static bool lives(void *arg, int64_t id)
{
	return find_live(arg, id) != NULL;
}

void cpl_engine_forget(struct cpl_engine *engine)
{
	int64_t entered = engine_enter(engine);

	engine_adopt(engine);
	engine->n_live = 0;
	engine_running_keep(engine, lives, engine);
	free_decided(engine);
	cpl_record_dir_forget(engine->records);
	engine->was_restored = false;
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
}

void cpl_engine_restore(struct cpl_engine *engine,
                        const struct cpl_engine_live *job, int n, int wait_ms)
{
	struct cpl_engine_live *live = malloc(((size_t)n + 1) * sizeof(*live));
	int64_t deadline, entered;

	if (!live) {
		engine_log(engine, CPL_ENGINE_ERROR,
		           "out of memory: running jobs do not count as "
		           "background");
		return;
	}
	memcpy(live, job, (size_t)n * sizeof(*live));
	qsort(live, (size_t)n, sizeof(*live), engine_live_order);
	entered = engine_enter(engine);
	free(engine->live);
	engine->live = live;
	engine->n_live = n;
	engine_running_keep(engine, lives, engine);
	engine->restore_waits = true;
	engine_adopt(engine);
	deadline = wait_end(engine, wait_ms, engine->was_restored);
	engine->was_restored = engine->snapshot != NULL;
	pthread_mutex_unlock(&engine->api);
	cpl_worker_idle(engine->worker, deadline);
	enter_again(engine);
	engine_adopt(engine);
	begin_loads(engine, deadline);
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
}
