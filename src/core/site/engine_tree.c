/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine holds, for who asks: each branch is read with `api` held for
 * as long as it takes to copy, and none changes anything. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/printable.h"
#include "site/engine_internal.h"

/* Names of branches, and of what is in them, are shorter. */
#define NAME_BYTES 64

struct viewer {
	uint32_t uid;
	bool all; /* jobs of everybody */
};

/* The rule of records: everybody's with RecordAccess=all. */
static bool may_see(const struct cpl_engine *engine,
                    const struct viewer *viewer,
                    const struct cpl_record *record)
{
	return viewer->all || viewer->uid == record->uid ||
	       (engine->desk.snapshot &&
	        engine_record_access(&engine->clerk,
	                             engine->desk.snapshot->config) ==
	                CPL_RECORDS_ALL);
}

/* Users' own words among them. NULL: there is none. */
static json_t *text_of(const char *text)
{
	char *copy = text ? strdup(text) : NULL;
	json_t *value = copy ? json_string(cpl_printable(copy)) : NULL;

	free(copy);
	return value;
}

/* {"17": {}, ...}, as many as there are: each may be asked for. */
static json_t *list_of(const int64_t *id, int n)
{
	json_t *list = json_object();
	char name[NAME_BYTES];

	for (int i = 0; id && i < n; i++) {
		snprintf(name, sizeof(name), "%" PRId64, id[i]);
		json_object_set_new(list, name, json_object());
	}
	return list;
}

static json_t *jobs(struct cpl_engine *engine, const struct viewer *viewer)
{
	const struct ledger *ledger = &engine->ledger;
	json_t *list;
	int64_t *id;
	int n = 0;

	pthread_mutex_lock(&engine->api);
	id = malloc(((size_t)ledger->n_running + 1) * sizeof(*id));
	for (int i = 0; id && i < ledger->n_running; i++)
		if (may_see(engine, viewer, ledger->running[i].record))
			id[n++] = ledger->running[i].id;
	pthread_mutex_unlock(&engine->api);
	list = list_of(id, n);
	free(id);
	return list;
}

static json_t *decided(struct cpl_engine *engine, const struct viewer *viewer)
{
	int64_t id[CPL_ENGINE_DECIDED_MAX];
	int n = 0;

	pthread_mutex_lock(&engine->api);
	for (const struct decided *d = engine->desk.decided;
	     d && n < CPL_ENGINE_DECIDED_MAX; d = d->next)
		if (may_see(engine, viewer, d->record))
			id[n++] = d->record->job;
	pthread_mutex_unlock(&engine->api);
	return list_of(id, n);
}

static json_t *snapshot(struct cpl_engine *engine, const struct viewer *viewer)
{
	const struct snapshot *now;
	json_t *value;

	pthread_mutex_lock(&engine->api);
	now = engine->desk.snapshot;
	value = now ? json_pack("{s:o*, s:s, s:o*, s:o*, s:s*, s:i, s:i, s:i}",
	                        "config", text_of(now->config->path), "mode",
	                        cpl_mode_name(now->config->mode),
	                        "network_file",
	                        text_of(now->config->network_file), "network",
	                        text_of(now->net ? now->net->name : NULL),
	                        "routing",
	                        now->routing ? now->routing->name : NULL,
	                        "nodes", now->net ? now->net->n_nodes : 0,
	                        "hosts", engine->desk.n_hosts,
	                        "most_decision_ms", now->most_decision_ms)
	            : json_object();
	pthread_mutex_unlock(&engine->api);
	return value;
}

static json_t *counters(struct cpl_engine *engine, const struct viewer *viewer)
{
	return cpl_counters_json(&engine->clerk.counters);
}

static json_t *memo(struct cpl_engine *engine, const struct viewer *viewer)
{
	int decisions = 0, groups = 0;
	size_t bytes = 0;

	pthread_mutex_lock(&engine->api);
	for (struct memo *m = engine->desk.memo; m;
	     m = engine_memo_next(m, &bytes))
		decisions++;
	for (int i = 0; i < ENGINE_GROUPS; i++)
		groups += engine->desk.groups[i].profile != NULL;
	pthread_mutex_unlock(&engine->api);
	return json_pack("{s:i, s:I, s:i}", "decisions", decisions, "bytes",
	                 (json_int_t)bytes, "rank_groups", groups);
}

static json_t *worker(struct cpl_engine *engine, const struct viewer *viewer)
{
	static const char *const name[CPL_QUEUES] = {
	        [CPL_QUEUE_LOOK] = "look", [CPL_QUEUE_LOAD] = "load",
	        [CPL_QUEUE_MAKE] = "make", [CPL_QUEUE_WRITE] = "write",
	        [CPL_QUEUE_HOME] = "home",
	};
	json_t *value = json_object();
	int waiting, busy;

	for (int q = 0; q < CPL_QUEUES; q++) {
		cpl_worker_load(engine->clerk.worker, q, &waiting, &busy);
		json_object_set_new(value, name[q],
		                    json_pack("{s:i, s:i}", "waiting", waiting,
		                              "busy", busy));
	}
	return value;
}

static const struct {
	const char *name;
	json_t *(*get)(struct cpl_engine *engine, const struct viewer *viewer);
} branch[] = {
        {"snapshot", snapshot}, {"jobs", jobs}, {"decided", decided},
        {"counters", counters}, {"memo", memo}, {"worker", worker},
};
#define BRANCHES (sizeof(branch) / sizeof(*branch))

static json_t *root(struct cpl_engine *engine, const struct viewer *viewer)
{
	json_t *value = json_object();

	for (size_t i = 0; i < BRANCHES; i++)
		json_object_set_new(value, branch[i].name,
		                    branch[i].get(engine, viewer));
	return value;
}

/* What its load is, in a word. */
static const char *load_of(const struct running *job)
{
	if (job->load)
		return job->load->counted ? "counted" : "not counted";
	if (job->making)
		return "under way";
	return (job->traffic || job->volume > 0) && !job->load_made ? "to come"
	                                                            : "none";
}

/* What is known of the job besides its hosts, which take longer. */
static json_t *facts_of(const struct running *job)
{
	const struct cpl_record *r = job->record;

	return json_pack(
	        "{s:I, s:o*, s:o*, s:o*, s:o*, s:o*, s:s, s:i, s:s, "
	        "s:b, s:b, s:b}",
	        "user", (json_int_t)r->uid, "name", text_of(r->job_name),
	        "partition", text_of(r->partition), "profile",
	        text_of(r->profile), "policy", text_of(r->policy), "mapping",
	        text_of(r->mapping), "outcome", cpl_outcome_name(r->outcome),
	        "ranks", r->ranks, "load", load_of(job), "layout",
	        job->has_layout, "own_order", job->own_order, "suspended",
	        job->suspended);
}

/* NULL: it does not run, or is not the viewer's to see. */
static json_t *one_job(struct cpl_engine *engine, const struct viewer *viewer,
                       const char *name)
{
	struct cpl_hostlist hosts = {0};
	const struct running *job;
	json_t *value = NULL;
	char *text = NULL, *end;
	int64_t id = strtoll(name, &end, 10);
	int rc = 0;

	if (*end)
		return NULL;
	pthread_mutex_lock(&engine->api);
	job = engine_running_find(&engine->ledger, id);
	if (job && may_see(engine, viewer, job->record)) {
		value = facts_of(job);
		for (int i = 0; i < job->record->n_hosts && !rc; i++)
			rc = cpl_hostlist_push(&hosts, job->record->host[i],
			                       NULL);
	}
	pthread_mutex_unlock(&engine->api);
	if (value && !rc && hosts.count)
		text = cpl_hostlist_format(hosts.name, hosts.count);
	if (text)
		json_object_set_new(value, "hosts", text_of(text));
	free(text);
	cpl_hostlist_free(&hosts);
	return value;
}

/* The word that a path begins with, which goes on behind it. False: none. */
static bool next_word(const char **path, char word[NAME_BYTES])
{
	size_t length;

	*path += strspn(*path, "/");
	length = strcspn(*path, "/");
	snprintf(word, NAME_BYTES, "%.*s", (int)length, *path);
	*path += length;
	return length > 0;
}

static json_t *branch_of(struct cpl_engine *engine, const struct viewer *viewer,
                         const char *word, const char **path)
{
	char id[NAME_BYTES];

	if (!strcmp(word, "jobs") && next_word(path, id))
		return one_job(engine, viewer, id);
	for (size_t i = 0; i < BRANCHES; i++)
		if (!strcmp(word, branch[i].name))
			return branch[i].get(engine, viewer);
	return NULL;
}

json_t *cpl_engine_tree(struct cpl_engine *engine, const char *path,
                        uint32_t uid, bool all)
{
	const struct viewer viewer = {.uid = uid, .all = all};
	char word[NAME_BYTES];
	json_t *value, *below;

	if (!next_word(&path, word))
		return root(engine, &viewer);
	value = branch_of(engine, &viewer, word, &path);
	while (value && next_word(&path, word)) {
		below = json_incref(json_object_get(value, word));
		json_decref(value);
		value = below;
	}
	return value;
}

bool cpl_engine_state_dir(struct cpl_engine *engine, char *dir, size_t size)
{
	const struct snapshot *now;
	int n = -1;

	pthread_mutex_lock(&engine->api);
	now = engine->desk.snapshot;
	if (now && now->config->state_dir && engine->ledger.in_charge &&
	    cpl_record_dir_is_ours(engine->clerk.records))
		n = snprintf(dir, size, "%s", now->config->state_dir);
	pthread_mutex_unlock(&engine->api);
	return n >= 0 && (size_t)n < size;
}
