/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "site/engine_internal.h"
#include "site/site_internal.h"

#define STOP_WAIT_NS (2 * INT64_C(1000000000))

/* After a wait for files without `api`, which is no part of a pass. */
static void enter_again(struct cpl_engine *engine)
{
	pthread_mutex_lock(&engine->api);
	engine->desk.began = cpl_now();
}

static void engine_dispose(void *arg);

static void log_line(void *arg, bool failure, const char *text)
{
	engine_log(arg, failure ? CPL_ENGINE_ERROR : CPL_ENGINE_INFO, "%s",
	           text);
}

static int clerk_open(struct clerk *clerk, const char *config_path,
                      struct cpl_error *err)
{
	clerk->config_path = strdup(config_path);
	if (!clerk->config_path)
		return cpl_fail_memory(err);
	clerk->worker = cpl_worker_new(err);
	if (!clerk->worker)
		return -1;
	cpl_worker_every(clerk->worker, CPL_QUEUE_LOAD, ENGINE_LINKS_NS,
	                 engine_links_tick, clerk);
	clerk->store = cpl_store_new(clerk->worker, log_line, clerk, err);
	clerk->records =
	        cpl_record_dir_new(clerk->worker, log_line, clerk, err);
	if (!clerk->store || !clerk->records)
		return -1;
	cpl_record_dir_count(clerk->records, &clerk->counters);
	return 0;
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
	engine->clerk.log = log;
	engine->ledger.clerk = engine->desk.clerk = &engine->clerk;
	pthread_mutex_init(&engine->api, NULL);
	pthread_mutex_init(&engine->clerk.lock, NULL);
	if (clerk_open(&engine->clerk, config_path, err)) {
		engine_dispose(engine);
		return NULL;
	}
	return engine;
}

/* The configuration in force says what store and records go by. */
static void use_config(struct clerk *clerk, const struct cpl_config *config)
{
	struct cpl_record_keep keep = {config->keep_records,
	                               config->keep_days};

	pthread_mutex_lock(&clerk->lock);
	if (engine_set(&clerk->profile_dir, config->profile_dir)) {
		free(clerk->profile_dir);
		clerk->profile_dir = NULL;
	}
	pthread_mutex_unlock(&clerk->lock);
	cpl_store_limit(clerk->store, (uint64_t)config->profile_memory << 20);
	cpl_store_rescale(clerk->store, config->rescale);
	cpl_record_dir_use(clerk->records, config->state_dir, clerk->cluster,
	                   engine_record_access(clerk, config), &keep);
}

int cpl_engine_set_cluster(struct cpl_engine *engine, const char *name,
                           bool private_jobs, struct cpl_error *err)
{
	int rc;

	pthread_mutex_lock(&engine->api);
	rc = engine_set(&engine->clerk.cluster, name);
	engine->clerk.private_jobs = private_jobs;
	if (engine->desk.snapshot)
		use_config(&engine->clerk, engine->desk.snapshot->config);
	pthread_mutex_unlock(&engine->api);
	return rc ? cpl_fail_memory(err) : 0;
}

static void free_hosts(struct desk *desk)
{
	for (int i = 0; i < desk->n_hosts; i++)
		free(desk->host_name[i]);
	cpl_free_all(desk->host_name, desk->follows, desk->host_node,
	             desk->node_host);
	cpl_orders_free(&desk->orders);
	engine_bounds_forget(desk);
	desk->host_name = NULL;
	desk->follows = NULL;
	desk->host_node = desk->node_host = NULL;
	desk->n_hosts = 0;
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

static void free_decided(struct desk *desk)
{
	while (desk->decided) {
		struct decided *next = desk->decided->next;

		engine_decided_free(desk->decided);
		desk->decided = next;
	}
}

static void desk_free(struct desk *desk)
{
	free_decided(desk);
	engine_memo_forget(desk);
	engine_groups_free(desk);
	engine_segments_free(desk);
	engine_volumes_free(desk);
	engine_formers_forget(desk);
	engine_snapshot_drop(desk->snapshot);
	free_hosts(desk);
}

static void clerk_free(struct clerk *clerk)
{
	free_restored(clerk->restored);
	engine_snapshot_drop(clerk->staged);
	engine_snapshot_drop(clerk->measuring);
	engine_measured_free(clerk->measured);
	cpl_free_all(clerk->volumes, clerk->measure_failed, clerk->last_network,
	             clerk->last_model, clerk->last_trial, clerk->config_path,
	             clerk->cluster, clerk->profile_dir);
	cpl_record_dir_free(clerk->records);
	cpl_store_free(clerk->store);
	cpl_worker_free(clerk->worker);
	pthread_mutex_destroy(&clerk->lock);
}

static void engine_dispose(void *arg)
{
	struct cpl_engine *engine = arg;

	desk_free(&engine->desk);
	engine_ledger_free(&engine->ledger);
	clerk_free(&engine->clerk);
	pthread_mutex_destroy(&engine->api);
	free(engine);
}

void cpl_engine_free(struct cpl_engine *engine)
{
	if (!engine)
		return;
	/* Where slurmctld was killed nothing was drained. */
	pthread_mutex_lock(&engine->api);
	engine_volumes_keep(&engine->ledger, true);
	pthread_mutex_unlock(&engine->api);
	if (cpl_worker_stop(engine->clerk.worker, cpl_now() + STOP_WAIT_NS,
	                    engine_dispose, engine))
		engine_dispose(engine);
}

/* A line for the log about n names, if any. */
static void tell(struct clerk *clerk, const char *what, char *const *name,
                 int n)
{
	char *text = n ? cpl_hostlist_format(name, n) : NULL;

	if (text)
		engine_log(clerk, CPL_ENGINE_INFO, "%s: %d (%.300s%s)", what, n,
		           text, strlen(text) > 300 ? "..." : "");
	free(text);
}

/* A typing error in the network's node list should not go unnoticed. */
static void tell_strangers(struct desk *desk, const struct cpl_network *net)
{
	int max = net->n_nodes > desk->n_hosts ? net->n_nodes : desk->n_hosts;
	char **name = malloc((size_t)max * sizeof(*name));
	int n = 0;

	if (!name)
		return;
	for (int i = 0; i < net->n_nodes; i++)
		if (net->node_name[i] && desk->node_host[i] < 0)
			name[n++] = net->node_name[i];
	tell(desk->clerk, "nodes of the network the scheduler does not have",
	     name, n);
	n = 0;
	for (int i = 0; i < desk->n_hosts; i++)
		if (desk->host_name[i] && desk->host_node[i] < 0)
			name[n++] = desk->host_name[i];
	tell(desk->clerk,
	     "nodes of the scheduler that the network does not have", name, n);
	free(name);
}

/* Which hosts the network in force has. -1: memory; nothing is then known. */
static int map_hosts(struct desk *desk)
{
	const struct cpl_network *net =
	        desk->snapshot ? desk->snapshot->net : NULL;
	int *host_node, *node_host;

	engine_memo_forget(desk);
	engine_bounds_forget(desk);
	cpl_orders_free(&desk->orders);
	cpl_free_all(desk->host_node, desk->node_host);
	desk->host_node = desk->node_host = NULL;
	if (!net || !desk->n_hosts)
		return 0;
	host_node = malloc((size_t)desk->n_hosts * sizeof(int));
	node_host = malloc((size_t)net->n_nodes * sizeof(int));
	if (!host_node || !node_host) {
		cpl_free_all(host_node, node_host);
		return -1;
	}
	for (int i = 0; i < net->n_nodes; i++)
		node_host[i] = -1;
	for (int i = 0; i < desk->n_hosts; i++) {
		const char *name = desk->host_name[i];

		host_node[i] = name ? cpl_network_node(net, name) : -1;
		if (host_node[i] >= 0)
			node_host[host_node[i]] = i;
	}
	desk->host_node = host_node;
	desk->node_host = node_host;
	tell_strangers(desk, net);
	return 0;
}

static bool hosts_equal(const struct desk *desk, const char *const *name, int n)
{
	if (n != desk->n_hosts)
		return false;
	for (int i = 0; i < n; i++)
		if (!same_text(name[i], desk->host_name[i]))
			return false;
	return true;
}

static int copy_hosts(struct desk *desk, const char *const *name, int n)
{
	free_hosts(desk);
	desk->host_name = calloc((size_t)n + 1, sizeof(char *));
	if (!desk->host_name)
		return -1;
	desk->n_hosts = n;
	desk->follows = calloc((size_t)n / 64 + 1, sizeof(*desk->follows));
	if (!desk->follows)
		return -1;
	for (int i = 0; i < n; i++) {
		if (engine_set(&desk->host_name[i], name[i]))
			return -1;
		if (i && name[i] && name[i - 1] &&
		    cpl_hostlist_follows(name[i - 1], name[i]))
			desk->follows[i / 64] |= UINT64_C(1) << i % 64;
	}
	return map_hosts(desk);
}

int cpl_engine_set_hosts(struct cpl_engine *engine, const char *const *name,
                         int n, struct cpl_error *err)
{
	int64_t entered = engine_enter(engine);
	int rc = 0;

	engine_adopt(engine);
	if (!hosts_equal(&engine->desk, name, n))
		rc = copy_hosts(&engine->desk, name, n);
	else if (engine->desk.snapshot && engine->desk.snapshot->net &&
	         !engine->desk.host_node)
		rc = map_hosts(&engine->desk);
	if (rc) {
		free_hosts(&engine->desk);
		cpl_fail_memory(err);
	}
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
	return rc;
}

/* On the worker. */
static void stage_restored(void *arg, struct cpl_record *record)
{
	struct clerk *clerk = arg;
	struct restored *item = malloc(sizeof(*item));

	if (!item) {
		engine_log(clerk, CPL_ENGINE_ERROR,
		           "record of running job %lld is lost: out of memory",
		           (long long)record->job);
		cpl_record_free(record);
		return;
	}
	item->record = record;
	pthread_mutex_lock(&clerk->lock);
	/* Needed soon: as background, and for steps of other shapes. */
	if (record->profile && !record->own_profile && record->ranks > 0 &&
	    clerk->profile_dir)
		cpl_store_prefetch(
		        clerk->store,
		        &(struct cpl_store_query){.dir = clerk->profile_dir,
		                                  .name = record->profile,
		                                  .ranks = record->ranks});
	item->next = clerk->restored;
	clerk->restored = item;
	pthread_mutex_unlock(&clerk->lock);
}

static void queue_restore(struct ledger *ledger)
{
	int64_t *id = malloc(((size_t)ledger->n_live + 1) * sizeof(*id));

	ledger->restore_waits = false;
	for (int i = 0; id && i < ledger->n_live; i++)
		id[i] = ledger->live[i].id;
	cpl_record_dir_restore(ledger->clerk->records, id, ledger->n_live,
	                       stage_restored, ledger->clerk);
	free(id);
	engine_volumes_read(ledger);
}

/* Of the last restore; NULL: the job did not run then. */
static const struct cpl_engine_live *find_live(const struct ledger *ledger,
                                               int64_t id)
{
	struct cpl_engine_live key = {.id = id};

	return ledger->n_live
	               ? bsearch(&key, ledger->live, (size_t)ledger->n_live,
	                         sizeof(key), engine_live_order)
	               : NULL;
}

void engine_live_remove(struct ledger *ledger, int64_t id)
{
	const struct cpl_engine_live *job = find_live(ledger, id);
	size_t at = job ? (size_t)(job - ledger->live) : 0;

	if (job)
		memmove(ledger->live + at, ledger->live + at + 1,
		        ((size_t)--ledger->n_live - at) * sizeof(*job));
}

/* A record of a job that has run before this engine did. */
static void take_back(struct cpl_engine *engine, struct cpl_record *record)
{
	struct running *job = engine_running_add(&engine->ledger, record, NULL);
	const struct cpl_engine_live *live;

	if (!job)
		return;
	engine_reach_restore(&engine->desk, record);
	job->traffic = record->profile && record->ranks > 0 &&
	               !(record->volume > 0);
	job->ordered = engine_order(record) != NULL;
	job->has_layout =
	        record->outcome != CPL_OUTCOME_OBSERVED && record->ranks > 0 &&
	        (record->outcome == CPL_OUTCOME_PLACED || job->traffic ||
	         job->ordered);
	job->own_order = job->traffic && record->own_order;
	live = find_live(&engine->ledger, job->id);
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
	struct measured_set *measured;
	struct cpl_volumes *volumes;
	struct restored *restored;
	struct snapshot *staged;

	pthread_mutex_lock(&engine->clerk.lock);
	staged = engine->clerk.staged;
	engine->clerk.staged = NULL;
	restored = engine->clerk.restored;
	engine->clerk.restored = NULL;
	measured = engine->clerk.measured;
	engine->clerk.measured = NULL;
	volumes = engine->clerk.volumes;
	engine->clerk.volumes = NULL;
	pthread_mutex_unlock(&engine->clerk.lock);
	restored = sort_restored(restored);
	if (staged) {
		engine_running_stale(&engine->ledger, staged);
		engine_formers_forget(&engine->desk);
		engine_snapshot_drop(engine->desk.snapshot);
		engine->desk.snapshot = staged;
		map_hosts(&engine->desk);
		use_config(&engine->clerk, staged->config);
	}
	engine_rest_take(&engine->ledger, measured);
	engine_volumes_take(&engine->ledger, volumes);
	engine_volumes_keep(&engine->ledger, false);
	for (struct restored *item = restored; item && engine->desk.snapshot;
	     item = item->next) {
		int64_t id = item->record->job;

		/* A job that started meanwhile is known better already. */
		if (engine_running_find(&engine->ledger, id))
			continue;
		/* One that ended meanwhile does not run by its record. */
		if (!find_live(&engine->ledger, id)) {
			if (engine->ledger.in_charge)
				cpl_record_dir_end(engine->clerk.records, id);
			continue;
		}
		take_back(engine, item->record);
		item->record = NULL;
	}
	if ((staged || restored) && engine->desk.snapshot &&
	    engine->desk.snapshot->net)
		engine_running_begin(&engine->ledger, NULL);
	free_restored(restored);
	if (engine->desk.snapshot && engine->ledger.restore_waits)
		queue_restore(&engine->ledger);
}

/*
 * When to stop waiting for files of the site: with a configuration in force
 * somebody may wait for this caller, who gets a decision's time; and none when
 * a file system holds the worker already.
 */
static int64_t wait_end(struct cpl_engine *engine, int wait_ms, bool in_force)
{
	int64_t now = cpl_now();

	if (in_force &&
	    engine->desk.snapshot->config->max_decision_ms < wait_ms)
		wait_ms = engine->desk.snapshot->config->max_decision_ms;
	/* Homes are not the site's. */
	for (int q = 0; q < CPL_QUEUE_HOME; q++)
		if (cpl_worker_stuck(engine->clerk.worker, q,
		                     now - wait_ms * INT64_C(1000000)))
			return now;
	return now + wait_ms * INT64_C(1000000);
}

/* Have the loads of running jobs made whose profiles come until the deadline;
 * those that come later are begun by the next decision. */
static void begin_loads(struct cpl_engine *engine, int64_t deadline)
{
	const struct snapshot *now = engine->desk.snapshot;

	if (!now || !now->net ||
	    engine_running_begin(&engine->ledger, NULL) <= 0)
		return;
	pthread_mutex_unlock(&engine->api);
	cpl_worker_idle(engine->clerk.worker, deadline);
	enter_again(engine);
	engine_adopt(engine);
	if (engine->desk.snapshot->net)
		engine_running_begin(&engine->ledger, NULL);
}

int cpl_engine_load(struct cpl_engine *engine, int wait_ms,
                    struct cpl_error *err)
{
	int64_t deadline, entered;
	int rc;

	entered = engine_enter(engine);
	engine_adopt(engine);
	deadline = wait_end(engine, wait_ms, engine->desk.snapshot != NULL);
	pthread_mutex_unlock(&engine->api);
	cpl_store_refresh(engine->clerk.store);
	rc = engine_load(&engine->clerk, deadline, err);
	enter_again(engine);
	engine_adopt(engine);
	begin_loads(engine, deadline);
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
	return rc;
}

bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms)
{
	return cpl_worker_idle(engine->clerk.worker,
	                       cpl_now() + wait_ms * INT64_C(1000000));
}

bool cpl_engine_drain(struct cpl_engine *engine, int wait_ms)
{
	pthread_mutex_lock(&engine->api);
	engine_volumes_keep(&engine->ledger, true);
	engine->ledger.in_charge = false;
	pthread_mutex_unlock(&engine->api);
	cpl_record_dir_flush(engine->clerk.records);
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
	engine->ledger.n_live = 0;
	engine_running_keep(&engine->ledger, lives, &engine->ledger);
	free_decided(&engine->desk);
	cpl_record_dir_forget(engine->clerk.records);
	engine->ledger.was_restored = engine->ledger.in_charge = false;
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
}

void cpl_engine_restore(struct cpl_engine *engine,
                        const struct cpl_engine_live *job, int n, int wait_ms)
{
	struct cpl_engine_live *live = malloc(((size_t)n + 1) * sizeof(*live));
	int64_t deadline, entered;

	if (!live) {
		engine_log(&engine->clerk, CPL_ENGINE_ERROR,
		           "out of memory: running jobs do not count as "
		           "background");
		return;
	}
	if (n)
		memcpy(live, job, (size_t)n * sizeof(*live));
	qsort(live, (size_t)n, sizeof(*live), engine_live_order);
	entered = engine_enter(engine);
	free(engine->ledger.live);
	engine->ledger.live = live;
	engine->ledger.n_live = n;
	engine_running_keep(&engine->ledger, lives, &engine->ledger);
	engine->ledger.restore_waits = engine->ledger.in_charge = true;
	engine_adopt(engine);
	deadline = wait_end(engine, wait_ms, engine->ledger.was_restored);
	engine->ledger.was_restored = engine->desk.snapshot != NULL;
	pthread_mutex_unlock(&engine->api);
	cpl_worker_idle(engine->clerk.worker, deadline);
	enter_again(engine);
	engine_adopt(engine);
	begin_loads(engine, deadline);
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
}
