/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "site/engine_internal.h"

int64_t engine_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

bool engine_expired(void *arg)
{
	return engine_now() >= *(const int64_t *)arg;
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
	pthread_mutex_lock(&engine->lock);
	again = level == CPL_ENGINE_ERROR &&
	        !strcmp(line.text, engine->last_logged.text);
	if (level == CPL_ENGINE_ERROR)
		engine->last_logged = line;
	pthread_mutex_unlock(&engine->lock);
	if (!again && engine->log)
		engine->log(level, line.text);
}

struct cpl_engine *cpl_engine_new(const char *config_path,
                                  void (*log)(enum cpl_engine_log level,
                                              const char *text),
                                  struct cpl_error *err)
{
	struct cpl_engine *engine = calloc(1, sizeof(*engine));
	pthread_condattr_t attr;

	if (!engine)
		goto fail;
	engine->log = log;
	engine->config_path = strdup(config_path);
	if (!engine->config_path)
		goto fail;
	pthread_mutex_init(&engine->api, NULL);
	pthread_mutex_init(&engine->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&engine->change, &attr);
	pthread_condattr_destroy(&attr);
	return engine;
fail:
	free(engine);
	cpl_fail_memory(err);
	return NULL;
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

static void free_restored(struct cpl_engine *engine, struct restored *item)
{
	while (item) {
		struct restored *next = item->next;

		cpl_record_free(item->record);
		engine_profile_drop(engine, item->profile);
		free(item);
		item = next;
	}
}

void engine_dispose(struct cpl_engine *engine)
{
	while (engine->decided) {
		struct decided *next = engine->decided->next;

		cpl_engine_answer_free(engine, &engine->decided->answer);
		free(engine->decided);
		engine->decided = next;
	}
	free_restored(engine, engine->restored);
	engine_running_free(engine);
	engine_profile_flush(engine);
	engine_snapshot_free(engine->staged);
	engine_snapshot_free(engine->snapshot);
	free_hosts(engine);
	free(engine->restore_id);
	free(engine->last_network);
	free(engine->config_path);
	pthread_cond_destroy(&engine->change);
	pthread_mutex_destroy(&engine->lock);
	pthread_mutex_destroy(&engine->api);
	free(engine);
}

void cpl_engine_free(struct cpl_engine *engine)
{
	if (engine && engine_worker_stop(engine))
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
	for (int i = 0; i < n; i++) {
		if (!name[i] || !engine->host_name[i]) {
			if (name[i] || engine->host_name[i])
				return false;
		} else if (strcmp(name[i], engine->host_name[i])) {
			return false;
		}
	}
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
	int rc = 0;

	pthread_mutex_lock(&engine->api);
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
	pthread_mutex_unlock(&engine->api);
	return rc;
}

static void queue_restore(struct cpl_engine *engine)
{
	struct cpl_error err = {""};
	const struct cpl_config *config = engine->snapshot->config;
	struct task *task = NULL;

	engine->restore_waits = false;
	if (!config->state_dir || !config->profile_dir)
		return;
	task = engine_task_new(TASK_RESTORE, config->state_dir,
	                       config->profile_dir);
	if (task) {
		task->id = engine->restore_id;
		task->n_ids = engine->n_restore;
		engine->restore_id = NULL;
		engine->n_restore = 0;
	}
	if (engine_task_queue(engine, task, false, &err))
		engine_log(engine, CPL_ENGINE_ERROR,
		           "running jobs do not count as background: %s",
		           err.text);
}

static bool rank_hosts_valid(const struct cpl_record *record)
{
	for (int r = 0; r < record->ranks; r++)
		if (record->rank_host[r] < 0 ||
		    record->rank_host[r] >= record->n_hosts)
			return false;
	return true;
}

/* The record of an observed job tells of other nodes than it runs on. */
static int observed_as_it_runs(struct cpl_record *record)
{
	struct cpl_hostlist list = {0};
	int per_host, rc = -1;

	if (!record->stock_hosts ||
	    cpl_hostlist_parse(&list, record->stock_hosts, NULL) ||
	    engine_record_hosts(record, list.name, list.count))
		goto out;
	per_host =
	        list.count ? (record->ranks + list.count - 1) / list.count : 0;
	for (int r = 0; r < record->ranks; r++)
		record->rank_host[r] = r / per_host;
	rc = 0;
out:
	cpl_hostlist_free(&list);
	return rc;
}

static void take_back_one(struct cpl_engine *engine, struct restored *item)
{
	struct cpl_record *record = item->record;
	bool observed = record->outcome && !strcmp(record->outcome, "observed");
	bool placed = record->outcome && !strcmp(record->outcome, "placed");
	struct running *job;

	/* A job that started meanwhile is known better already. */
	if (engine_running_find(engine, record->job) ||
	    (observed && observed_as_it_runs(record)) ||
	    !rank_hosts_valid(record))
		return;
	item->record = NULL;
	job = engine_running_add(engine, record, item->profile);
	item->profile = NULL;
	if (job)
		job->plan = !observed && job->record->ranks > 0 &&
		            (placed || job->profile);
}

static void take_back(struct cpl_engine *engine, struct restored *item)
{
	while (item) {
		struct restored *next = item->next;

		take_back_one(engine, item);
		cpl_record_free(item->record);
		engine_profile_drop(engine, item->profile);
		free(item);
		item = next;
	}
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
	if (staged) {
		engine_running_stale(engine);
		engine_snapshot_free(engine->snapshot);
		engine->snapshot = staged;
		map_hosts(engine);
	}
	take_back(engine, restored);
	if (engine->snapshot && engine->restore_waits)
		queue_restore(engine);
}

/* When to stop waiting: at once if a file system holds the worker already. */
static int64_t wait_end(struct cpl_engine *engine, int wait_ms)
{
	int64_t now = engine_now();

	return engine_worker_stuck(engine, now - wait_ms * 1000000LL)
	               ? now
	               : now + wait_ms * 1000000LL;
}

int cpl_engine_load(struct cpl_engine *engine, int wait_ms,
                    struct cpl_error *err)
{
	int64_t deadline = wait_end(engine, wait_ms);
	struct task *task =
	        engine_task_new(TASK_LOAD, engine->config_path, NULL);
	int rc = -1;

	if (engine_task_queue(engine, task, true, err))
		return -1;
	if (!engine_task_wait(engine, task, deadline))
		cpl_fail(err, "%s: still being read", engine->config_path);
	else if (task->rc)
		cpl_fail(err, "%s", task->err.text);
	else
		rc = 0;
	engine_task_drop(engine, task);
	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	pthread_mutex_unlock(&engine->api);
	return rc;
}

static void forget_others(struct cpl_engine *engine, const int64_t *id, int n)
{
	for (int i = engine->n_running - 1; i >= 0; i--) {
		bool runs = false;

		for (int k = 0; k < n && !runs; k++)
			runs = id[k] == engine->running[i].id;
		if (!runs)
			engine_running_remove(engine, &engine->running[i]);
	}
}

void cpl_engine_restore(struct cpl_engine *engine, const int64_t *id, int n,
                        int wait_ms)
{
	int64_t *copy = malloc(((size_t)n + 1) * sizeof(*copy));

	if (!copy) {
		engine_log(engine, CPL_ENGINE_ERROR,
		           "out of memory: running jobs do not count as "
		           "background");
		return;
	}
	memcpy(copy, id, (size_t)n * sizeof(*copy));
	pthread_mutex_lock(&engine->api);
	forget_others(engine, id, n);
	free(engine->restore_id);
	engine->restore_id = copy;
	engine->n_restore = n;
	engine->restore_waits = true;
	engine_adopt(engine);
	pthread_mutex_unlock(&engine->api);
	cpl_engine_idle(engine, wait_ms);
	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	pthread_mutex_unlock(&engine->api);
}
