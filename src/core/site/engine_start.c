/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the moment a job begins to its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hostlist.h"
#include "base/printable.h"
#include "site/engine_internal.h"

/* What a job has got, its hosts in the order of its ranks. */
struct allocation {
	char **name; /* [n], of the engine's table */
	int *slots;
	int *node;
	int *turn; /* [n] positions in name[], in the scheduler's order */
	bool turned; /* which is not that of its table */
	int n;
	int ranks; /* 0: the scheduler would not run so many */
	/* [ranks] position of a rank's host in name[], if the scheduler lays
	 * them out */
	int *rank_host;
};

static void allocation_free(struct allocation *a)
{
	cpl_free_all(a->name, a->slots, a->node, a->turn, a->rank_host);
}

/* at[host] = position in order[], -1 elsewhere; -1: a host is unknown. */
static int positions(const struct desk *desk, const int *order, int n, int *at)
{
	for (int i = 0; i < desk->n_hosts; i++)
		at[i] = -1;
	for (int i = 0; i < n; i++) {
		if (order[i] < 0 || order[i] >= desk->n_hosts ||
		    !desk->host_name[order[i]])
			return -1;
		at[order[i]] = i;
	}
	return 0;
}

/* Of how many ranks a layout is of use; 0: no profile, placement or order asks
 * for one, or nothing could follow it. */
static int ranks_to_lay_out(const struct decided *decided, int n_hosts)
{
	const struct cpl_record *record = decided->record;
	bool wanted = decided->profile || engine_order(record) ||
	              record->outcome == CPL_OUTCOME_PLACED;

	return wanted && record->ranks > 0 &&
	                       record->ranks <= engine_most_ranks(n_hosts)
	               ? record->ranks
	               : 0;
}

/* Do ranks fill host after host? */
static bool in_blocks(const struct allocation *a)
{
	for (int r = 1, k = 1; r < a->ranks; r++, k++) {
		if (a->rank_host[r] == a->rank_host[r - 1])
			continue;
		if (k < a->slots[a->rank_host[r - 1]])
			return false;
		k = 0;
	}
	return true;
}

/* Scheduler's hosts come as its ranks fill them, those without ranks last: that is
 * another order than its table's where its topology ranks nodes. */
static void follow_ranks(struct allocation *a)
{
	int n = 0;

	if (!in_blocks(a))
		return;
	for (int r = 0; r < a->ranks; r += a->slots[a->rank_host[r]]) {
		a->turned |= a->turn[n] != a->rank_host[r];
		a->turn[n++] = a->rank_host[r];
	}
	for (int h = 0; h < a->n; h++)
		if (!a->slots[h])
			a->turn[n++] = h;
}

/* Slots and order of the ranks as the scheduler has them. */
static void lay_out(const struct cpl_engine_allocation *job, const int *at,
                    int ranks, struct allocation *out)
{
	if (!ranks || job->layout(job->arg, ranks, out->rank_host))
		return;
	for (int r = 0; r < ranks; r++) {
		int host = out->rank_host[r];

		if (host < 0 || host >= job->n_hosts)
			return;
		out->rank_host[r] = at[job->host[host]];
		out->slots[out->rank_host[r]]++;
	}
	out->ranks = ranks;
	follow_ranks(out);
}

static int allocate(const struct desk *desk, const struct decided *decided,
                    const struct cpl_engine_allocation *job,
                    struct allocation *out, struct cpl_error *err)
{
	bool observed = decided->record->outcome == CPL_OUTCOME_OBSERVED;
	int n = job->n_hosts;
	const int *order = observed || decided->n_order != n ? job->host
	                                                     : decided->order;
	int ranks = ranks_to_lay_out(decided, n), rc = -1;
	int *at = malloc(((size_t)desk->n_hosts + 1) * sizeof(int));

	out->n = n;
	out->name = malloc(((size_t)n + 1) * sizeof(char *));
	out->slots = calloc((size_t)n + 1, sizeof(int));
	out->node = malloc(((size_t)n + 1) * sizeof(int));
	out->turn = malloc(((size_t)n + 1) * sizeof(int));
	out->rank_host = malloc(((size_t)ranks + 1) * sizeof(int));
	if (!at || !out->name || !out->slots || !out->node || !out->turn ||
	    !out->rank_host) {
		cpl_fail_memory(err);
		goto out;
	}
	if (positions(desk, order, n, at)) {
		cpl_fail(err, "the table of hosts is not known");
		goto out;
	}
	for (int i = 0; i < n; i++) {
		out->name[i] = desk->host_name[order[i]];
		out->node[i] = desk->host_node ? desk->host_node[order[i]] : -1;
		out->turn[i] = at[job->host[i]];
	}
	lay_out(job, at, ranks, out);
	rc = 0;
out:
	free(at);
	return rc;
}

/* Was it decided for these hosts? */
static bool same_hosts(const struct decided *decided,
                       const struct cpl_engine_allocation *job)
{
	return decided->n_host == job->n_hosts &&
	       !memcmp(decided->host, job->host,
	               (size_t)job->n_hosts * sizeof(int));
}

static int set_rank_host(struct cpl_record *record, const int *rank_host,
                         int ranks)
{
	int *copy = malloc(((size_t)ranks + 1) * sizeof(int));

	if (!copy)
		return -1;
	memcpy(copy, rank_host, (size_t)ranks * sizeof(int));
	free(record->rank_host);
	record->rank_host = copy;
	record->ranks = ranks;
	return 0;
}

/* Nothing is mapped: the ranks stay in this order. */
static int keep_order(struct cpl_record *record, const struct allocation *real)
{
	record->mapping_kept_default = record->own_order = true;
	return set_rank_host(record, real->rank_host, real->ranks);
}

/* How long it will communicate there; it is not on record where that cannot be
 * told in time. */
static void judge(struct desk *desk, struct ledger *ledger,
                  struct decided *decided, const struct allocation *real)
{
	const struct cpl_scene_job job = engine_scene_job(decided->profile, 0);
	int64_t deadline = engine_deadline(desk);
	struct cpl_times_result times;
	struct cpl_scene *scene;

	if (!decided->profile || decided->profile->ranks != real->ranks ||
	    engine_expired(&deadline))
		return;
	scene = engine_scene(ledger, NULL, deadline, NULL);
	if (!scene || cpl_scene_judge(scene, &job, real->node, real->n,
	                              real->rank_host, &times, NULL))
		return;
	decided->record->seconds = times.seconds;
	decided->record->alone_seconds = times.alone;
}

/* Has each host as many slots as ranks where the decision mapped them? */
static bool fits(const struct decided *decided, const struct allocation *real,
                 const int *rank_host)
{
	int per_node = decided->record->ranks_per_node, *count;
	bool same = true;

	if (!decided->mapped || !decided->profile ||
	    decided->profile->ranks != real->ranks ||
	    decided->n_order != real->n)
		return false;
	count = calloc((size_t)real->n + 1, sizeof(int));
	if (!count)
		return false;
	for (int r = 0; r < real->ranks; r++)
		count[rank_host ? rank_host[r] : r / per_node]++;
	for (int h = 0; h < real->n && same; h++)
		same = count[h] == real->slots[h];
	free(count);
	return same;
}

/* As the decision mapped them, under the same lock and the same load: that is
 * not done twice. It took the scheduler's order for that of its table. */
static bool as_decided(const struct decided *decided, struct allocation *real)
{
	struct cpl_record *record = decided->record;

	if (record->outcome == CPL_OUTCOME_OBSERVED || real->turned ||
	    !fits(decided, real, decided->rank_host))
		return false;
	if (decided->rank_host)
		memcpy(real->rank_host, decided->rank_host,
		       (size_t)real->ranks * sizeof(int));
	/* Blocks on hosts in an order of ours are a mapping, too; the
	 * scheduler's own nodes come in their order. */
	record->mapping_kept_default =
	        !decided->rank_host &&
	        (record->outcome == CPL_OUTCOME_PLACED
	                 ? decided->max_after >= decided->max_before
	                 : !memcmp(decided->order, decided->host,
	                           (size_t)decided->n_order * sizeof(int)));
	record->seconds = decided->times.seconds;
	record->alone_seconds = decided->times.alone;
	record->map_max_before = decided->max_before;
	record->map_max_after = decided->max_after;
	return true;
}

/* The layout of a job on its real hosts; without one record->ranks is 0. */
static int map_ranks(struct desk *desk, struct ledger *ledger,
                     struct decided *decided, struct allocation *real,
                     struct cpl_error *err)
{
	struct cpl_record *record = decided->record;
	const struct cpl_mapper *order = engine_order(record);
	struct cpl_map_result result = {0};
	int ranks = real->ranks;

	record->ranks = 0;
	if (!ranks)
		return 0;
	for (int i = 0; i < real->n; i++)
		if (real->node[i] < 0)
			return cpl_fail(err, "%s is not in the network",
			                real->name[i]);
	if (!real->turned)
		cpl_rank_groups_list_blocks(real->slots, real->n, ranks,
		                            real->rank_host);
	record->mapping_kept_default = true;
	if (order)
		record->mapping_kept_default = engine_order_ranks(
		        desk->snapshot->net, order, real->node, real->slots,
		        real->n, real->rank_host, err);
	else if (!as_decided(decided, real) && decided->profile &&
	         !engine_map_ranks(desk, ledger, decided->profile, record,
	                           real->node, real->slots, real->turn, real->n,
	                           &result, err)) {
		memcpy(real->rank_host, result.rank_host,
		       (size_t)ranks * sizeof(int));
		record->mapping_kept_default = result.kept_default;
		record->map_max_before = result.before.max_congestion;
		record->map_max_after = result.after.max_congestion;
		cpl_map_result_free(&result);
	}
	if (!(record->seconds > 0))
		judge(desk, ledger, decided, real);
	return set_rank_host(record, real->rank_host, ranks)
	               ? cpl_fail_memory(err)
	               : 0;
}

/* The busiest link as the ranks are laid out, < 0: it is not known. */
static double chosen_max(const struct cpl_record *record)
{
	bool arrives = cpl_record_order(record) != CPL_ORDER_NOT;
	double max = arrives && record->map_max_after > 0
	                     ? record->map_max_after
	                     : -1;

	for (int i = 0; i < record->n_candidates; i++) {
		const struct cpl_record_candidate *c = &record->candidate[i];

		if (!c->evaluated || c->seed != record->seed ||
		    strcmp(c->policy, record->policy))
			continue;
		if (c->stated_max > 0)
			return c->stated_max;
		if (max < 0)
			max = c->mapped ? c->mapped_max : c->max_congestion;
	}
	return max;
}

/* The same of the stock nodes, with a rank order of ours if this one has. */
static double stock_max(const struct cpl_record *record)
{
	bool mapped = record->stock_mapped_max >= 0 && !record->own_order &&
	              cpl_record_order(record) != CPL_ORDER_NOT;

	for (int i = 0; i < record->n_candidates; i++)
		if (record->candidate[i].stated_max > 0 &&
		    !strcmp(record->candidate[i].policy,
		            cpl_placement_stock.name))
			return record->candidate[i].stated_max;
	return mapped ? record->stock_mapped_max : record->stock_max_congestion;
}

static void describe(const struct cpl_record *record, char *text, size_t size)
{
	bool placed = record->outcome == CPL_OUTCOME_PLACED;
	bool observed = record->outcome == CPL_OUTCOME_OBSERVED;
	bool ours = placed || observed;
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
	if (placed && record->volume_profile > 0)
		ADD(" by its volume");
	if (record->profile && record->recorded_ranks)
		ADD(" (rescaled from %d ranks, fit error %.1f %%)",
		    record->recorded_ranks, 100 * record->rescale_error);
	if (record->profile && record->drift > 0)
		ADD(" (drifts: %.1f %% from the one before)",
		    100 * record->drift);
	if (record->ranks && !record->mapping_kept_default)
		ADD(" mapping=%s", record->mapping);
	if (observed)
		ADD(" would be policy=%s", record->policy);
	if (ours)
		ADD(" nodes=%.300s%s", hosts ? hosts : "",
		    hosts && strlen(hosts) > 300 ? "..." : "");
	if (ours && max >= 0)
		ADD(" max congestion %.6g", max);
	if (ours && max >= 0 && stock_max(record) >= 0)
		ADD(" (stock %.6g)", stock_max(record));
#undef ADD
	/* Names of users and files: a comment and a line of the log. */
	cpl_printable(text);
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

/* An observed job runs on the stock nodes in the stock order. */
static int as_it_runs(struct cpl_record *record, const struct allocation *real)
{
	return set_rank_host(record, real->rank_host, real->ranks) |
	       engine_record_hosts(record, real->name, real->n);
}

/* What the record says before it is written. */
static int fill_record(struct desk *desk, struct ledger *ledger,
                       struct decided *decided, struct allocation *real,
                       bool own_order, struct cpl_error *err)
{
	struct cpl_record *record = decided->record;
	bool observed = record->outcome == CPL_OUTCOME_OBSERVED;

	if ((record->outcome != CPL_OUTCOME_PLACED && !*record->stock_hosts &&
	     engine_set_hostlist(&record->stock_hosts, real->name, real->n)) ||
	    (observed ? would_be(record)
	              : engine_record_hosts(record, real->name, real->n)))
		return cpl_fail_memory(err);
	if (observed)
		return 0;
	if (own_order)
		return keep_order(record, real) ? cpl_fail_memory(err) : 0;
	/* A job whose ranks are not mapped has its record all the same. */
	map_ranks(desk, ledger, decided, real, err);
	return 0;
}

/* That a limit of the site was reached is news, no fault. */
static enum cpl_engine_log level(struct desk *desk, const struct cpl_error *err)
{
	int64_t deadline = engine_deadline(desk);

	return engine_expired(&deadline) && !cpl_error_is_memory(err)
	               ? CPL_ENGINE_INFO
	               : CPL_ENGINE_ERROR;
}

static void start(struct desk *desk, struct ledger *ledger,
                  struct decided *decided,
                  const struct cpl_engine_allocation *got,
                  struct cpl_engine_notice *notice)
{
	struct cpl_record *record = decided->record;
	struct allocation real = {0};
	struct cpl_error err = {""};
	struct running *job;
	bool observed = record->outcome == CPL_OUTCOME_OBSERVED;
	bool placed = record->outcome == CPL_OUTCOME_PLACED;

	record->job = got->id;
	if (got->shown_as && engine_set(&record->shown_as, got->shown_as))
		cpl_fail_memory(&err);
	if (allocate(desk, decided, got, &real, &err) ||
	    fill_record(desk, ledger, decided, &real, got->own_order, &err))
		goto out;
	if (!decided->quiet)
		cpl_count(&desk->clerk->counters,
		          placed     ? CPL_COUNT_START_PLACED
		          : observed ? CPL_COUNT_START_OBSERVED
		                     : CPL_COUNT_START_STOCK);
	if (record->arm)
		cpl_count(&desk->clerk->counters,
		          strcmp(record->arm, CPL_ARM_IS_STOCK)
		                  ? CPL_COUNT_TRIAL_OURS
		                  : CPL_COUNT_TRIAL_STOCK);
	if (!decided->quiet)
		describe(record, notice->text, sizeof(notice->text));
	notice->comment = desk->snapshot->config->admin_comment;
	if (!decided->profile || decided->profile->ranks != real.ranks)
		record->volume = record->volume_profile > 0
		                         ? record->volume_profile
		                         : engine_unknown_volume(ledger, record);
	cpl_record_dir_write(desk->clerk->records, record);
	if (observed && as_it_runs(record, &real)) {
		cpl_fail_memory(&err);
		goto out;
	}
	decided->record = NULL;
	job = engine_running_add(ledger, record, decided->profile);
	decided->profile = NULL;
	if (!job) {
		cpl_fail_memory(&err);
		goto out;
	}
	job->ordered = engine_order(record) != NULL;
	job->has_layout = !observed && !got->own_order && record->ranks > 0 &&
	                  (placed || job->traffic || job->ordered);
out:
	if (err.text[0])
		engine_log(desk->clerk, level(desk, &err),
		           "ranks of job %lld are not mapped: %s",
		           (long long)got->id, err.text);
	allocation_free(&real);
}

/* Nothing was decided on the nodes; but an order of ranks along the network may
 * be wanted. NULL: it is not, or memory is out. */
static struct decided *order_only(const struct desk *desk,
                                  const struct cpl_engine_allocation *got)
{
	const struct snapshot *now = desk->snapshot;
	struct cpl_job_facts job = got->job;
	struct cpl_resolved want;
	struct decided *out;

	job.nodes = got->n_hosts;
	cpl_resolve(now->config, now->net, &job, &want);
	if (want.mode != CPL_MODE_ON || want.profile.value ||
	    !want.mapping.value || got->own_order ||
	    got->n_hosts < want.min_nodes || got->n_hosts < 2)
		return NULL;
	out = calloc(1, sizeof(*out));
	if (out)
		out->record = engine_record_new(now, &job, &want);
	if (out && out->record && engine_order(out->record) &&
	    !engine_set(&out->record->reason, "no policy is asked for")) {
		out->record->ranks = got->ranks;
		out->record->nodes_wanted = got->n_hosts;
		return out;
	}
	engine_decided_free(out);
	return NULL;
}

/* Nothing was decided, and nothing will be; but the job is to stand in the
 * background of others. NULL: it is not, or memory is out. */
static struct decided *record_only(const struct desk *desk,
                                   const struct ledger *ledger,
                                   const struct cpl_engine_allocation *got)
{
	const struct snapshot *now = desk->snapshot;
	struct cpl_job_facts job = got->job;
	struct cpl_resolved want;
	struct decided *out;

	if (!engine_unknown_wanted(ledger) || got->n_hosts < 2)
		return NULL;
	job.nodes = got->n_hosts;
	cpl_resolve(now->config, now->net, &job, &want);
	out = calloc(1, sizeof(*out));
	if (out)
		out->record = engine_record_new(now, &job, &want);
	if (out && out->record &&
	    !engine_set(&out->record->reason, "nothing is asked for") &&
	    !engine_set(&out->record->mapping, "linear")) {
		out->quiet = true;
		out->record->nodes_wanted = got->n_hosts;
		return out;
	}
	engine_decided_free(out);
	return NULL;
}

/* In the time of its user. */
static void begin(struct desk *desk, struct ledger *ledger,
                  struct decided *decided,
                  const struct cpl_engine_allocation *got,
                  struct cpl_engine_notice *notice)
{
	const struct cpl_record *record = decided->record;
	const struct cpl_mapper *mapper =
	        record->mapping ? cpl_mapper_find(record->mapping, NULL) : NULL;

	engine_for(desk, engine_user_of(&got->job),
	           engine_size(desk, got->array_id, record->ranks, got->n_hosts,
	                       mapper));
	if (got->array_id && !decided->quiet)
		engine_shape_note(desk, got->array_id, record);
	start(desk, ledger, decided, got, notice);
}

void cpl_engine_start(struct cpl_engine *engine,
                      const struct cpl_engine_allocation *job,
                      struct cpl_engine_notice *notice)
{
	int64_t entered = engine_enter(engine);
	struct decided *decided;

	*notice = (struct cpl_engine_notice){.comment = false};
	engine_adopt(engine);
	decided = engine_decided_take(&engine->desk, job->id);
	if (!decided && job->array_id && job->array_id != job->id)
		decided = engine_decided_take(&engine->desk, job->array_id);
	if (engine->desk.snapshot && engine->desk.snapshot->net) {
		if (!decided)
			decided = order_only(&engine->desk, job);
		else if (!same_hosts(decided, job)) {
			engine_decided_free(decided);
			decided = NULL;
		}
		if (!decided)
			decided = record_only(&engine->desk, &engine->ledger,
			                      job);
		if (decided)
			begin(&engine->desk, &engine->ledger, decided, job,
			      notice);
	}
	engine_decided_free(decided);
	if (job->order_max)
		notice->order = engine_rank_order(&engine->ledger, job->id,
		                                  job->order_max);
	engine_leave(engine, CPL_TIME_HELD_START, entered, 0);
}

void cpl_engine_resized(struct cpl_engine *engine, int64_t id, const int *host,
                        int n_hosts)
{
	int64_t entered = engine_enter(engine);
	struct running *job;
	char **name = NULL;

	engine_adopt(engine);
	job = engine_running_find(&engine->ledger, id);
	name = job ? engine_host_names(&engine->desk, host, n_hosts) : NULL;
	if (!job)
		goto out;
	job->has_layout = false;
	job->record->ranks = 0;
	engine_running_changed(&engine->ledger, job);
	if (engine_record_hosts(job->record, name, n_hosts))
		engine_log(&engine->clerk, CPL_ENGINE_ERROR,
		           "out of memory: the record of job %lld keeps its "
		           "former hosts",
		           (long long)id);
	cpl_record_dir_write(engine->clerk.records, job->record);
out:
	free(name);
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
}

void cpl_engine_suspended(struct cpl_engine *engine, int64_t id, bool stands)
{
	int64_t entered = engine_enter(engine);
	struct running *job;

	engine_adopt(engine);
	job = engine_running_find(&engine->ledger, id);
	if (job && job->suspended != stands) {
		job->suspended = stands;
		engine_running_count(&engine->ledger, job, NULL);
	}
	engine_leave(engine, CPL_TIME_HELD_OTHER, entered, 0);
}

void cpl_engine_end(struct cpl_engine *engine, int64_t id)
{
	int64_t entered = engine_enter(engine);
	struct running *job;

	engine_adopt(engine);
	engine_decided_free(engine_decided_take(&engine->desk, id));
	engine_live_remove(&engine->ledger, id);
	job = engine_running_find(&engine->ledger, id);
	if (job) {
		engine_former_keep(&engine->desk, job);
		if (!job->traffic && engine_unknown_wanted(&engine->ledger)) {
			job->record->ended = time(NULL);
			cpl_record_dir_write(engine->clerk.records,
			                     job->record);
		}
		engine_running_remove(&engine->ledger, job);
		cpl_record_dir_end(engine->clerk.records, id);
	}
	engine_leave(engine, CPL_TIME_HELD_END, entered, 0);
}
