/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the moment a job starts: plans, layouts of steps, and its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "mapping/mapping.h"
#include "site/engine_internal.h"

void cpl_engine_accept(struct cpl_engine *engine,
                       struct cpl_engine_answer *answer)
{
	struct decided *entry, **at;
	int kept = 0;

	if (!answer->record)
		return;
	entry = malloc(sizeof(*entry));
	if (!entry) {
		cpl_engine_answer_free(engine, answer);
		return;
	}
	pthread_mutex_lock(&engine->api);
	for (at = &engine->decided; *at;) {
		struct decided *old = *at;

		if (old->answer.record->job != answer->record->job &&
		    ++kept < CPL_ENGINE_DECIDED_MAX) {
			at = &old->next;
			continue;
		}
		*at = old->next;
		cpl_engine_answer_free(engine, &old->answer);
		free(old);
	}
	entry->answer = *answer;
	entry->next = engine->decided;
	engine->decided = entry;
	pthread_mutex_unlock(&engine->api);
	*answer = (struct cpl_engine_answer){.reason = ""};
}

static struct decided **find_decided(struct cpl_engine *engine, int64_t id)
{
	struct decided **at = &engine->decided;

	while (*at && (*at)->answer.record->job != id)
		at = &(*at)->next;
	return at;
}

void cpl_engine_renumber(struct cpl_engine *engine, int64_t from, int64_t to)
{
	struct decided *entry;

	pthread_mutex_lock(&engine->api);
	entry = *find_decided(engine, from);
	if (entry)
		entry->answer.record->job = to;
	pthread_mutex_unlock(&engine->api);
}

int cpl_engine_ranks(struct cpl_engine *engine, int64_t id)
{
	struct decided *entry;
	int ranks;

	pthread_mutex_lock(&engine->api);
	entry = *find_decided(engine, id);
	ranks = entry ? entry->answer.record->ranks : 0;
	pthread_mutex_unlock(&engine->api);
	return ranks;
}

/* Hosts by name as network nodes; -1 when one is unknown. */
static int to_nodes(const struct cpl_engine *engine, char *const *name, int n,
                    int *node, struct cpl_error *err)
{
	for (int i = 0; i < n; i++) {
		node[i] = cpl_network_node(engine->snapshot->net, name[i]);
		if (node[i] < 0)
			return cpl_fail(err, "%s is not in the network",
			                name[i]);
	}
	return 0;
}

static void block_order(const int *slots, int n, int *rank_host)
{
	int rank = 0;

	for (int h = 0; h < n; h++)
		for (int i = 0; i < slots[h]; i++)
			rank_host[rank++] = h;
}

static int64_t deadline_of(const struct cpl_engine *engine)
{
	return engine_now() +
	       engine->snapshot->config->max_decision_ms * 1000000LL;
}

/*
 * Map the ranks of a profile on n hosts (nodes of the network) with slots[];
 * rank_host as cpl_map_result. -1 with err.
 */
static int map_ranks(struct cpl_engine *engine,
                     const struct cpl_engine_profile *profile,
                     const char *mapping, const int *node, const int *slots,
                     int n, struct cpl_map_result *out, struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;
	int64_t deadline = deadline_of(engine), n_ids, n_slots = 0;
	struct cpl_error why = {""};
	const struct cpl_mapper *mapper =
	        cpl_mapper_find(mapping ? mapping : "linear", &why);
	int64_t *id = malloc(((size_t)engine->n_running + 1) * sizeof(*id));
	int rc = -1;

	if (!mapper)
		goto out;
	/* A step has a task in every slot. */
	for (int i = 0; i < n; i++)
		n_slots += slots[i];
	if (n_slots != profile->comm->ranks) {
		cpl_fail(&why, "%lld slots on %d hosts, but %d ranks",
		         (long long)n_slots, n, profile->comm->ranks);
		goto out;
	}
	if (!id) {
		cpl_fail_memory(&why);
		goto out;
	}
	struct cpl_map_request req = {
	        .net = now->net,
	        .routing = now->routing,
	        .comm = profile->comm,
	        .graph = profile->graph,
	        .n_hosts = n,
	        .host = node,
	        .slots = slots,
	        .background =
	                engine_background(engine, id, &n_ids, deadline, &why),
	        .objective = now->config->objective,
	        .option = mapping ? cpl_mapper_option(mapping) : NULL,
	        .seed = now->config->seed,
	        .expired = engine_expired,
	        .expired_arg = &deadline,
	};
	if (!why.text[0])
		rc = cpl_map(mapper, &req, out, &why);
out:
	if (rc)
		cpl_fail(err, "%s", why.text);
	free(id);
	return rc;
}

/* A job's hosts in the order of its ranks, with the slots of each. */
struct allocation {
	char **name; /* [n], of the engine's table */
	int *slots;
	int *node;
	int n, ranks;
};

static void allocation_free(struct allocation *a)
{
	free(a->name);
	free(a->slots);
	free(a->node);
}

/* Are these the hosts that were decided, in whatever order? slot_of[host] is
 * filled for all given hosts, the rest is -1. */
static bool same_hosts(const struct cpl_engine_answer *answer,
                       const int *slot_of, int n)
{
	if (!answer->place || answer->n_hosts != n)
		return false;
	for (int i = 0; i < n; i++)
		if (slot_of[answer->host[i]] < 0)
			return false;
	return true;
}

static int allocate(const struct cpl_engine *engine,
                    const struct cpl_engine_answer *answer, const int *host,
                    const int *slots, int n, struct allocation *out,
                    struct cpl_error *err)
{
	int *slot_of = malloc(((size_t)engine->n_hosts + 1) * sizeof(int));
	const int *order = host;
	int rc = -1;

	out->n = n;
	out->name = malloc(((size_t)n + 1) * sizeof(char *));
	out->slots = malloc(((size_t)n + 1) * sizeof(int));
	out->node = malloc(((size_t)n + 1) * sizeof(int));
	if (!slot_of || !out->name || !out->slots || !out->node) {
		cpl_fail_memory(err);
		goto done;
	}
	for (int i = 0; i < engine->n_hosts; i++)
		slot_of[i] = -1;
	for (int i = 0; i < n; i++) {
		if (host[i] < 0 || host[i] >= engine->n_hosts ||
		    !engine->host_name[host[i]]) {
			cpl_fail(err, "the table of hosts is not known");
			goto done;
		}
		slot_of[host[i]] = slots[i];
	}
	if (same_hosts(answer, slot_of, n))
		order = answer->host;
	for (int i = 0; i < n; i++) {
		out->name[i] = engine->host_name[order[i]];
		out->slots[i] = slot_of[order[i]];
		out->ranks += out->slots[i];
	}
	rc = 0;
done:
	free(slot_of);
	return rc;
}

/* The plan of a job on its real hosts; without one record->ranks is 0. */
static int plan(struct cpl_engine *engine, struct cpl_engine_answer *answer,
                struct allocation *real, struct cpl_error *err)
{
	struct cpl_record *record = answer->record;
	struct cpl_map_result result = {0};
	int ranks = record->ranks, *rank_host;

	record->ranks = 0;
	if (!ranks || real->ranks != ranks)
		return 0;
	if (to_nodes(engine, real->name, real->n, real->node, err))
		return -1;
	rank_host = malloc((size_t)ranks * sizeof(int));
	if (!rank_host)
		return cpl_fail_memory(err);
	block_order(real->slots, real->n, rank_host);
	record->mapping_kept_default = true;
	if (answer->profile &&
	    !map_ranks(engine, answer->profile, record->mapping, real->node,
	               real->slots, real->n, &result, err)) {
		memcpy(rank_host, result.rank_host,
		       (size_t)ranks * sizeof(int));
		record->mapping_kept_default = result.kept_default;
		record->map_max_before = result.before.max_congestion;
		record->map_max_after = result.after.max_congestion;
		cpl_map_result_free(&result);
	}
	free(record->rank_host);
	record->rank_host = rank_host;
	record->ranks = ranks;
	return 0;
}

/* What the chosen candidate was evaluated at, < 0: it was not. */
static double chosen_max(const struct cpl_record *record)
{
	for (int i = 0; i < record->n_candidates; i++) {
		const struct cpl_record_candidate *c = &record->candidate[i];

		if (c->evaluated && c->seed == record->seed &&
		    !strcmp(c->policy, record->policy))
			return c->max_congestion;
	}
	return -1;
}

static void describe(const struct cpl_record *record, bool placed, char *text,
                     size_t size)
{
	char *hosts = cpl_hostlist_format(record->host, record->n_hosts);
	double max = chosen_max(record);
	int n = 0;

#define ADD(...)                                                               \
	do {                                                                   \
		if ((size_t)n < size)                                          \
			n += snprintf(text + n, size - (size_t)n,              \
			              __VA_ARGS__);                            \
	} while (0)

	ADD("commplace:");
	if (placed)
		ADD(" policy=%s", record->policy);
	else
		ADD(" stock (%.200s)", record->reason);
	if (record->profile)
		ADD(" profile=%.128s", record->profile);
	if (record->ranks && !record->mapping_kept_default)
		ADD(" mapping=%s", record->mapping);
	if (placed)
		ADD(" nodes=%.300s%s", hosts ? hosts : "",
		    hosts && strlen(hosts) > 300 ? "..." : "");
	if (placed && max >= 0)
		ADD(" max congestion %.6g", max);
	if (placed && max >= 0 && record->stock_max_congestion >= 0)
		ADD(" (stock %.6g)", record->stock_max_congestion);
#undef ADD
	free(hosts);
}

/* What an observed job would have got: blocks on the chosen hosts. */
static int would_be(struct cpl_record *record)
{
	int per_host = record->ranks_per_node > 0 ? record->ranks_per_node : 1;

	if (!record->ranks)
		return 0;
	record->rank_host = malloc((size_t)record->ranks * sizeof(int));
	if (!record->rank_host)
		return -1;
	for (int r = 0; r < record->ranks; r++)
		record->rank_host[r] = r / per_host < record->n_hosts
		                               ? r / per_host
		                               : record->n_hosts - 1;
	record->mapping_kept_default = true;
	return 0;
}

static int set_stock_hosts(struct cpl_record *record,
                           const struct allocation *real)
{
	char *text = cpl_hostlist_format(real->name, real->n);

	if (!text)
		return -1;
	free(record->stock_hosts);
	record->stock_hosts = text;
	return 0;
}

/* An observed job runs on the stock nodes in the stock order. */
static int as_it_runs(struct cpl_record *record, const struct allocation *real)
{
	int *rank_host = NULL;

	if (real->ranks) {
		rank_host = malloc((size_t)real->ranks * sizeof(int));
		if (!rank_host)
			return -1;
		block_order(real->slots, real->n, rank_host);
	}
	free(record->rank_host);
	record->rank_host = rank_host;
	record->ranks = real->ranks;
	return engine_record_hosts(record, real->name, real->n);
}

static void start(struct cpl_engine *engine, struct cpl_engine_answer *answer,
                  const int *host, const int *slots, int n, char *text,
                  size_t size)
{
	struct cpl_record *record = answer->record;
	struct allocation real = {0};
	struct cpl_error err = {""};
	struct running *job;
	int64_t id = record->job;
	bool observed = !strcmp(record->outcome, "observed");
	bool placed = !strcmp(record->outcome, "placed");

	if (allocate(engine, answer, host, slots, n, &real, &err))
		goto out;
	if ((!placed && set_stock_hosts(record, &real)) ||
	    (observed ? would_be(record)
	              : engine_record_hosts(record, real.name, real.n))) {
		cpl_fail_memory(&err);
		goto out;
	}
	if (!observed)
		plan(engine, answer, &real, &err);
	describe(record, placed, text, size);
	engine_record_write(engine, record);
	if (observed && as_it_runs(record, &real)) {
		cpl_fail_memory(&err);
		goto out;
	}
	answer->record = NULL;
	job = engine_running_add(engine, record, answer->profile);
	answer->profile = NULL;
	if (job)
		job->plan = !observed && record->ranks > 0 &&
		            (placed || job->profile);
	else
		cpl_fail_memory(&err);
out:
	if (err.text[0])
		engine_log(engine, CPL_ENGINE_ERROR,
		           "ranks of job %lld are not mapped: %s",
		           (long long)id, err.text);
	allocation_free(&real);
}

int cpl_engine_start(struct cpl_engine *engine, int64_t id, const int *host,
                     const int *slots, int n_hosts, char *text, size_t size)
{
	struct decided **at, *entry;

	if (size)
		text[0] = '\0';
	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	at = find_decided(engine, id);
	entry = *at;
	if (entry) {
		*at = entry->next;
		if (engine->snapshot && engine->snapshot->net)
			start(engine, &entry->answer, host, slots, n_hosts,
			      text, size);
		cpl_engine_answer_free(engine, &entry->answer);
		free(entry);
	}
	pthread_mutex_unlock(&engine->api);
	return entry != NULL;
}

bool cpl_engine_has_plan(struct cpl_engine *engine, int64_t id)
{
	const struct running *job;
	bool has;

	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	job = engine_running_find(engine, id);
	has = job && job->plan;
	pthread_mutex_unlock(&engine->api);
	return has;
}

/*
 * place[h] = position in the step of the plan's host h. -1 with err when the
 * step does not have exactly the plan's hosts with the plan's counts.
 */
static int match_plan(const struct cpl_engine *engine,
                      const struct cpl_record *record, const int *node,
                      const int *slots, int n, int *place,
                      struct cpl_error *err)
{
	int *count = calloc((size_t)record->n_hosts + 1, sizeof(int));
	int *at = malloc(((size_t)engine->snapshot->net->n_nodes + 1) *
	                 sizeof(int));
	int rc = -1;

	if (!count || !at) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < engine->snapshot->net->n_nodes; i++)
		at[i] = -1;
	for (int i = 0; i < n; i++)
		at[node[i]] = i;
	for (int r = 0; r < record->ranks; r++)
		count[record->rank_host[r]]++;
	for (int h = 0; h < record->n_hosts; h++) {
		int id = cpl_network_node(engine->snapshot->net,
		                          record->host[h]);

		place[h] = id >= 0 ? at[id] : -1;
		if (!count[h])
			continue;
		if (place[h] < 0 || slots[place[h]] != count[h]) {
			cpl_fail(err,
			         "the step has other counts per node than the "
			         "job's plan");
			goto out;
		}
	}
	rc = 0;
out:
	free(count);
	free(at);
	return rc;
}

static int layout(struct cpl_engine *engine, const struct running *job,
                  const int *host, const int *slots, int n, int *rank_host,
                  struct cpl_error *err)
{
	const struct cpl_record *record = job->record;
	struct cpl_map_result result = {0};
	struct cpl_error why = {""};
	int *node = malloc(((size_t)n + 1) * sizeof(int));
	int *place = malloc(((size_t)record->n_hosts + 1) * sizeof(int));
	int rc = 0;

	if (!node || !place) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++) {
		node[i] = host[i] >= 0 && host[i] < engine->n_hosts &&
		                          engine->host_node
		                  ? engine->host_node[host[i]]
		                  : -1;
		if (node[i] < 0) {
			cpl_fail(err, "a host is not in the network");
			goto out;
		}
	}
	if (!match_plan(engine, record, node, slots, n, place, &why)) {
		for (int r = 0; r < record->ranks; r++)
			rank_host[r] = place[record->rank_host[r]];
		rc = 1;
	} else if (job->profile && job->profile->comm) {
		if (map_ranks(engine, job->profile, record->mapping, node,
		              slots, n, &result, err))
			goto out;
		memcpy(rank_host, result.rank_host,
		       (size_t)record->ranks * sizeof(int));
		cpl_map_result_free(&result);
		rc = 1;
	} else {
		cpl_fail(err, "%s", why.text);
	}
out:
	free(node);
	free(place);
	return rc;
}

int cpl_engine_layout(struct cpl_engine *engine, int64_t id, const int *host,
                      const int *slots, int n_hosts, int ranks, int *rank_host,
                      struct cpl_error *err)
{
	const struct running *job;
	int rc = 0;

	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	job = engine_running_find(engine, id);
	if (!job || !job->plan || !engine->snapshot->net)
		cpl_fail(err, "no plan");
	else if (job->record->ranks != ranks)
		cpl_fail(err, "the step has %d tasks, the plan %d ranks", ranks,
		         job->record->ranks);
	else
		rc = layout(engine, job, host, slots, n_hosts, rank_host, err);
	pthread_mutex_unlock(&engine->api);
	return rc;
}

void cpl_engine_resized(struct cpl_engine *engine, int64_t id, const int *host,
                        int n_hosts)
{
	struct running *job;
	char **name = NULL;

	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	job = engine_running_find(engine, id);
	name = job ? engine_host_names(engine, host, n_hosts) : NULL;
	if (!job)
		goto out;
	job->plan = false;
	job->record->ranks = 0;
	engine->background_made = false;
	if (!name || engine_record_hosts(job->record, name, n_hosts))
		engine_log(engine, CPL_ENGINE_ERROR,
		           "out of memory: the record of job %lld keeps its "
		           "former hosts",
		           (long long)id);
	engine_record_write(engine, job->record);
out:
	free(name);
	pthread_mutex_unlock(&engine->api);
}

void cpl_engine_end(struct cpl_engine *engine, int64_t id)
{
	struct cpl_error err = {""};
	struct running *job;
	struct decided **at, *entry;
	const char *dir;
	char *from = NULL, *to = NULL;

	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	at = find_decided(engine, id);
	entry = *at;
	if (entry) {
		*at = entry->next;
		cpl_engine_answer_free(engine, &entry->answer);
		free(entry);
	}
	job = engine_running_find(engine, id);
	if (!job)
		goto out;
	engine_running_remove(engine, job);
	dir = engine->snapshot->config->state_dir;
	if (!dir)
		goto out;
	from = cpl_record_path(dir, false, id, &err);
	to = cpl_record_path(dir, true, id, &err);
	if (from && to)
		engine_task_queue(engine, engine_task_new(TASK_END, from, to),
		                  false, &err);
	if (err.text[0])
		engine_log(engine, CPL_ENGINE_ERROR,
		           "record of job %lld stays in running: %s",
		           (long long)id, err.text);
out:
	pthread_mutex_unlock(&engine->api);
	free(from);
	free(to);
}
