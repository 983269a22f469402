/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/sort.h"
#include "placement/cut.h"
#include "site/engine_deciding.h"

/* By user or site, not the "auto" of a profile. */
static bool stated(const struct cpl_resolved *want)
{
	return want->policy.source != CPL_FROM_BUILT_IN;
}

/* By the job's user or a rule for it, not by a default of the site. */
static bool asked(const struct cpl_resolved *want)
{
	return want->profile.value || want->policy.source == CPL_FROM_USER;
}

/* Is there anything to decide by: a configuration, not off, and a network? */
static bool in_force(const struct cpl_engine *engine)
{
	return engine->snapshot &&
	       !cpl_config_is_off(engine->snapshot->config) &&
	       engine->snapshot->net;
}

/* The units to be kept whole, where the network has them, or NULL. */
static const char *units_kept(const struct cpl_engine *engine,
                              const struct cpl_resolved *want)
{
	const char *units = want->keep_whole.value;
	struct cpl_cut cut;

	return units && !cpl_cut_find(engine->snapshot->net, units, &cut, NULL)
	               ? units
	               : NULL;
}

struct cpl_record *engine_record_new(const struct cpl_engine *engine,
                                     const struct cpl_job_facts *job,
                                     const struct cpl_resolved *want)
{
	const struct snapshot *now = engine->snapshot;
	struct cpl_record *record = calloc(1, sizeof(*record));
	int failed;

	if (!record)
		return NULL;
	record->job = job->id;
	record->time = time(NULL);
	record->uid = job->uid;
	record->seed = now->config->seed;
	record->stock_max_congestion = record->stock_mean_congestion = -1;
	record->stock_mapped_max = -1;
	if (units_kept(engine, want))
		record->keep_price = want->keep_price;
	if (want->objective == CPL_OBJECTIVE_INTERFERENCE) {
		record->own_weight = now->config->own_weight;
		record->others_weight = now->config->others_weight;
	}
	failed = engine_set(&record->job_name, job->name) |
	         engine_set(&record->partition, job->partition) |
	         engine_set(&record->profile, want->profile.value) |
	         engine_set(&record->keep_whole, units_kept(engine, want)) |
	         engine_set(&record->reason, "") |
	         engine_set(&record->policy_asked, want->policy.value) |
	         engine_set(&record->policy, "stock") |
	         engine_set(&record->objective,
	                    cpl_objective_name(want->objective)) |
	         engine_set(&record->routing, now->routing->name) |
	         engine_set(&record->network_file, now->config->network_file) |
	         engine_set(&record->time_model,
	                    want->objective == CPL_OBJECTIVE_LEARNED
	                            ? now->config->time_model
	                            : NULL) |
	         engine_set(&record->free_hosts, "") |
	         engine_set(&record->required_hosts, "") |
	         engine_set(&record->stock_hosts, "") |
	         engine_set(&record->mapping, want->mapping.value
	                                              ? want->mapping.value
	                                              : "linear");
	if (failed) {
		cpl_record_free(record);
		return NULL;
	}
	return record;
}

static enum cpl_reason profile_reason(enum cpl_found found)
{
	switch (found) {
	case CPL_FOUND_READY:
		return CPL_REASON_NONE;
	case CPL_FOUND_OTHER_RANKS:
		return CPL_REASON_RANKS;
	case CPL_FOUND_MISSING:
	case CPL_FOUND_BAD_NAME:
	case CPL_FOUND_DENIED:
		return CPL_REASON_MISSING;
	case CPL_FOUND_LOADING:
	case CPL_FOUND_TIMED_OUT:
		return CPL_REASON_LATE;
	default:
		return CPL_REASON_BROKEN;
	}
}

/* Whose profile it is, and in how far it is to be trusted. */
static void note_profile(const struct cpl_config *config,
                         const struct cpl_store_answer *found,
                         struct cpl_record *record)
{
	record->own_profile = found->own;
	if (found->rescaled) {
		record->recorded_ranks = found->recorded_ranks;
		record->rescale_error = found->rescale_error;
	}
	if (cpl_drifts(config, found->change))
		record->drift = found->change;
}

/*
 * The profile, if the job has one that fits. *use is whether to go on; when
 * not, err and d->reason say why the stock answer is taken.
 */
static struct cpl_profile *find_profile(struct deciding *d, bool *use,
                                        struct cpl_error *err)
{
	const struct cpl_config *config = d->engine->snapshot->config;
	const struct cpl_resolved *want = &d->want;
	struct cpl_store_answer answer;

	*use = true;
	d->reason = CPL_REASON_NO_PROFILE;
	if (!want->profile.value)
		return NULL;
	engine_find_profile(d->engine, &d->req->job, want, d->req->ranks,
	                    d->deadline, &answer);
	d->reason = profile_reason(answer.found);
	*use = answer.found == CPL_FOUND_READY ||
	       (stated(want) && ((d->reason == CPL_REASON_MISSING &&
	                          config->missing_profile == CPL_IGNORE) ||
	                         (answer.found == CPL_FOUND_OTHER_RANKS &&
	                          config->rank_mismatch == CPL_IGNORE)));
	if (!answer.profile)
		cpl_fail(err, "%s", answer.err.text);
	else
		note_profile(config, &answer, d->out->record);
	return answer.profile;
}

/* The seconds of its candidates: within the time of a decision, or where they are
 * what it goes by. */
static int set_times(const struct deciding *d, struct cpl_decide_request *core,
                     struct cpl_error *err)
{
	const struct cpl_profile *profile = d->out->profile;
	const struct cpl_config *config = d->engine->snapshot->config;
	bool of_others = cpl_objective_of_others(d->want.objective);
	bool whole = cpl_objective_of_whole(d->want.objective);
	struct cpl_error why = {""};

	if (!profile ||
	    (!whole && !cpl_decide_is_timed(profile->comm, (int)d->size.nodes)))
		return 0;
	core->space = engine_space(d->engine, err);
	core->rates = engine_rates(d->engine, d->deadline, &why);
	if (!core->space || why.text[0])
		return why.text[0] ? cpl_fail(err, "%s", why.text) : -1;
	core->phase = profile->phase;
	core->n_phases = profile->n_phases;
	core->own_weight = config->own_weight;
	core->others_weight = config->others_weight;
	if (!of_others)
		return 0;
	core->harm = engine_harm(d->engine, err);
	return core->harm ? 0 : -1;
}

/* The core's choice among the hosts offered. */
static int choose(struct deciding *d, struct cpl_error *err)
{
	const struct cpl_engine_request *req = d->req;
	struct cpl_engine *engine = d->engine;
	const struct snapshot *now = engine->snapshot;
	struct cpl_profile *profile = d->out->profile;
	struct cpl_record *record = d->out->record;
	const struct cpl_decision *decision;
	unsigned char *free_node = calloc((size_t)now->net->n_nodes + 1, 1);
	size_t size = ((size_t)req->n_hosts + 1) * sizeof(int);
	int *must = malloc(size), *required = malloc(size), n_must, rc = -1;
	int *stock = malloc(size);
	struct cpl_harm *harm = NULL;
	uint64_t seed = now->config->seed;
	const char *policy = engine_policy(d, &seed);
	enum cpl_order order;
	bool growing;

	if (!free_node || !must || !required || !stock ||
	    engine_reach(d, &order)) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < req->n_hosts; i++)
		if (engine_offers(d, i))
			free_node[engine->host_node[i]] = 1;
	n_must = engine_must_have(d, must);
	for (int i = 0; i < n_must; i++)
		required[i] = engine->host_node[must[i]];
	struct cpl_decide_request core = {
	        .place = {.net = now->net,
	                  .free = free_node,
	                  .n_nodes_wanted = (int)d->size.nodes,
	                  .required = required,
	                  .n_required = n_must,
	                  .seed = seed},
	        .policy = policy,
	        .routing = now->routing,
	        .stated = now->stated,
	        .comm = profile ? profile->comm : NULL,
	        .ranks_per_node = record->ranks_per_node,
	        .mapper = engine_mapper_of(d),
	        .map_option = cpl_mapper_option(record->mapping),
	        .graph = profile ? profile->graph : NULL,
	        .objective = d->want.objective,
	        .learned = now->learned,
	        .keep_whole = record->keep_whole,
	        .keep_price = record->keep_price,
	        .background =
	                engine_background_of(engine, profile, record,
	                                     d->deadline, err),
	        .rates = order == CPL_ORDER_MAY
	                         ? engine_rates(engine, d->deadline, err)
	                         : engine_rates_by(engine, d->want.objective,
	                                           d->deadline, err),
	        .order = order,
	        .turn = engine->node_host,
	        .work = d->want.max_decision_ms * CPL_DECIDE_WORK_MS,
	        .expired = engine_expired,
	        .expired_arg = &d->deadline,
	};
	if (err->text[0])
		goto out;
	rc = set_times(d, &core, err);
	harm = core.harm;
	if (rc)
		goto out;
	rc = -1;
	if (engine_stock_nodes(d, free_node, stock) &&
	    cpl_placement_missing(&core.place, stock) < 0)
		core.stock = stock;
	growing = engine_use_groups(engine, &core, profile);
	decision = engine_memo_decide(engine, &core, profile, err);
	if (!decision)
		goto out;
	rc = engine_set_choice(d, decision);
	record->cut_short |= growing;
	if (policy != d->want.policy.value)
		rc |= engine_set(&record->policy_asked, policy);
	if (req->start)
		rc |= engine_set_free_text(engine, free_node, &record->free_hosts);
	rc |= engine_set_hosts_text(engine, &record->required_hosts, must, n_must);
	if (rc)
		cpl_fail_memory(err);
out:
	free(free_node);
	free(must);
	free(required);
	free(stock);
	cpl_harm_free(harm);
	return rc;
}

/* The stock answer, for that. Always -1. */
static int stock(struct deciding *d, enum cpl_reason reason,
                 struct cpl_error *err, const char *text)
{
	d->reason = reason;
	return cpl_fail(err, "%s", text);
}

/* Are these hosts ours to choose? -1 with err: why not. */
static int check_ours(struct deciding *d, struct cpl_error *err)
{
	if (d->req->stock_reason)
		return stock(d, CPL_REASON_OPTION, err, d->req->stock_reason);
	if (!d->enough)
		return stock(d, CPL_REASON_NODES, err,
		             "not enough nodes of the network are free now");
	if (!d->fits)
		return stock(
		        d, CPL_REASON_REQUIRED, err,
		        "a required node is not free or not in the network");
	if (d->req->n_required > (int)d->size.nodes)
		return stock(d, CPL_REASON_REQUIRED, err,
		             "more nodes are required than wanted");
	return 0;
}

/* The record's own numbers, from the profile or the job. */
static void set_size(struct deciding *d)
{
	struct cpl_record *record = d->out->record;
	uint32_t per_node = d->req->need.tasks_per_node;

	record->nodes_wanted = (int)d->size.nodes;
	record->ranks =
	        d->out->profile ? d->out->profile->ranks : d->req->ranks;
	record->ranks_per_node =
	        per_node ? (int)per_node : engine_spread(record->ranks, d->size.nodes);
}

/* More ranks than anything is done for? -1 with err: the stock answer. */
static int check_ranks(struct deciding *d, struct cpl_error *err)
{
	int nodes = d->size.nodes ? (int)d->size.nodes : d->req->n_hosts;

	if (d->out->record->ranks <= engine_most_ranks(nodes))
		return 0;
	d->reason = CPL_REASON_RANKS;
	cpl_fail(err, "%d ranks are too many for %d nodes",
	         d->out->record->ranks, nodes);
	cpl_profile_drop(d->out->profile);
	d->out->profile = NULL;
	return -1;
}

/* May the job be placed by us? -1 with err: the stock answer, for that. */
static int consider(struct deciding *d, struct cpl_error *why,
                    struct cpl_error *err)
{
	enum cpl_reason reason;
	bool use, busy;

	set_size(d);
	if ((int)d->size.nodes < d->want.min_nodes) {
		d->reason = CPL_REASON_MIN_NODES;
		return cpl_fail(err, "%d nodes are fewer than MinNodes=%d",
		                (int)d->size.nodes, d->want.min_nodes);
	}
	if (check_ranks(d, err))
		return -1;
	/* Before a file takes all the time that there is. */
	busy = engine_expired(&d->deadline);
	d->out->profile = find_profile(d, &use, why);
	reason = d->reason;
	set_size(d);
	if (check_ranks(d, err) || check_ours(d, err))
		return -1;
	if (busy)
		return stock(d, CPL_REASON_BUSY, err,
		             "no time is left of MaxPassTime");
	if (!use)
		return stock(d, reason, err, why->text);
	if (!d->out->profile && cpl_placement_is_search(d->want.policy.value))
		return cpl_fail(err, "policy %s needs a profile%s%s",
		                d->want.policy.value, why->text[0] ? ": " : "",
		                why->text);
	/* To a search all nodes are as good, and so the stock ones are. */
	if (d->out->profile && cpl_placement_is_search(d->want.policy.value) &&
	    !cpl_comm_crosses(d->out->profile->comm,
	                      d->out->record->ranks_per_node))
		return stock(d, CPL_REASON_SILENT, err,
		             "nothing is sent between nodes");
	return 0;
}

/* Ours, accepted by the scheduler. -1 with err: the stock answer. */
static int place(struct deciding *d, struct cpl_error *err)
{
	struct cpl_record *record = d->out->record;
	int64_t begin, asked;

	if (d->out->profile && cpl_placement_is_search(d->want.policy.value) &&
	    d->want.mode != CPL_MODE_OBSERVE)
		engine_ask_beside(d);
	begin = cpl_now();
	for (int tries = 1;; tries++) {
		if (choose(d, err)) {
			d->reason = CPL_REASON_FAILED;
			return -1;
		}
		asked = cpl_now();
		record->decision_ms += (double)(asked - begin) / 1e6;
		if (d->want.mode == CPL_MODE_OBSERVE) {
			record->outcome = CPL_OUTCOME_OBSERVED;
			return stock(d, CPL_REASON_OBSERVE, err,
			             "Mode=observe");
		}
		if (d->scheduler->place(d->scheduler->arg, d->out->order,
		                        d->out->n_order)) {
			d->theirs = engine_took(d, asked);
			return 0;
		}
		engine_took(d, asked);
		if (tries == CPL_ENGINE_TRIES || !engine_try_others(d) ||
		    check_ours(d, NULL))
			return stock(d, CPL_REASON_REFUSED, err,
			             "the scheduler refused the nodes chosen");
		begin = cpl_now();
		set_size(d);
	}
}

void engine_decided_free(struct decided *decided)
{
	if (!decided)
		return;
	cpl_record_free(decided->record);
	cpl_profile_drop(decided->profile);
	free(decided->order);
	free(decided->rank_host);
	free(decided->host);
	free(decided);
}

struct decided *engine_decided_take(struct cpl_engine *engine, int64_t id)
{
	for (struct decided **at = &engine->decided; *at; at = &(*at)->next) {
		struct decided *found = *at;

		if (found->record->job != id)
			continue;
		*at = found->next;
		return found;
	}
	return NULL;
}

/* Newest first, no more than the limit. */
static void keep(struct cpl_engine *engine, struct decided *decided)
{
	struct decided *old = decided;

	decided->next = engine->decided;
	engine->decided = decided;
	for (int i = 1; i < CPL_ENGINE_DECIDED_MAX && old; i++)
		old = old->next;
	if (old && old->next) {
		struct decided *last = old->next;

		old->next = NULL;
		engine_decided_free(last);
	}
}

/* One node of the site's default policy has no traffic between nodes. */
static bool idle_default(const struct deciding *d)
{
	return !asked(&d->want) && d->size.nodes == 1 && d->want.min_nodes > 1;
}

/* Nobody asked, and the default policy is none for a job without a profile:
 * not worth a record and a line of the log for each job of the cluster. */
static bool silent(const struct deciding *d)
{
	return !asked(&d->want) &&
	       cpl_placement_is_search(d->want.policy.value);
}

/* The hosts given are those decided. -1: memory. */
static int take_order(struct decided *out)
{
	out->host = malloc(((size_t)out->n_order + 1) * sizeof(int));
	if (!out->host)
		return -1;
	memcpy(out->host, out->order, (size_t)out->n_order * sizeof(int));
	out->n_host = out->n_order;
	qsort(out->host, (size_t)out->n_host, sizeof(int), cpl_by_int);
	return 0;
}

static void count(const struct deciding *d)
{
	static const enum cpl_counter answer[] = {
	        [CPL_OUTCOME_STOCK] = CPL_COUNT_STOCK,
	        [CPL_OUTCOME_OBSERVED] = CPL_COUNT_OBSERVED,
	        [CPL_OUTCOME_PLACED] = CPL_COUNT_PLACED,
	};
	const struct cpl_record *record = d->out->record;
	struct cpl_counters *counters = &d->engine->counters;

	cpl_count(counters, answer[record->outcome]);
	if (record->outcome != CPL_OUTCOME_PLACED)
		cpl_count(counters, CPL_COUNT_REASON + d->reason);
	if (record->cut_short)
		cpl_count(counters, CPL_COUNT_CUT_SHORT);
	cpl_observe(counters, CPL_TIME_DECISION,
	            (int64_t)(record->decision_ms * 1e6));
}

static enum cpl_engine_answer decide(struct deciding *d, char *text,
                                     size_t size)
{
	struct cpl_error why = {""}, err = {""};
	struct cpl_record *record = d->out->record;
	int64_t begin = cpl_now();
	bool placed;
	int failed;

	failed = consider(d, &why, &err);
	record->decision_ms = (double)(cpl_now() - begin) / 1e6;
	placed = !failed && !place(d, &err);
	/* Placed all the same, by a policy that needs no profile. */
	if (placed && d->want.profile.value && !d->out->profile) {
		free(record->profile);
		record->profile = NULL;
		engine_set(&record->reason, why.text);
	}
	if (placed)
		record->outcome = CPL_OUTCOME_PLACED;
	else if (!engine_set(&record->reason, err.text))
		engine_set(&record->reason_code, cpl_reason_name(d->reason));
	engine_ask_stock(d, placed);
	count(d);
	snprintf(text, size, "%s%s, %.3f ms", placed ? "placed by " : "stock: ",
	         placed ? record->policy : record->reason, record->decision_ms);
	cpl_printable(text);
	if (d->req->start && !silent(d) &&
	    (placed ? !take_order(d->out) : d->out->n_host)) {
		keep(d->engine, d->out);
		d->out = NULL;
	}
	return placed ? CPL_ENGINE_PLACED : CPL_ENGINE_STOCK;
}

/* By what is known of the job now, its nodes too; false: it is none of ours. */
static bool resolve(struct deciding *d, int nodes)
{
	struct cpl_job_facts job = d->req->job;

	job.nodes = nodes;
	cpl_resolve(d->engine->snapshot->config, d->engine->snapshot->net, &job,
	            &d->want);
	return d->want.policy.value;
}

/* Rules may ask for the number of nodes, which takes a look at them. 0; 1: the
 * job is none of ours; -1: memory. */
static int prepare(struct deciding *d)
{
	if (!resolve(d, d->req->job.nodes) && !d->want.open)
		return 1;
	if (engine_measure(d))
		return -1;
	if (d->want.open && !resolve(d, (int)d->size.nodes))
		return 1;
	d->out = calloc(1, sizeof(*d->out));
	if (d->out)
		d->out->record =
		        engine_record_new(d->engine, &d->req->job, &d->want);
	return d->out && d->out->record ? 0 : -1;
}

enum cpl_engine_answer cpl_engine_decide(
        struct cpl_engine *engine, const struct cpl_engine_request *req,
        const struct cpl_engine_scheduler *scheduler, char *text, size_t size)
{
	struct deciding d = {
	        .engine = engine, .req = req, .scheduler = scheduler};
	enum cpl_engine_answer answer = CPL_ENGINE_NONE;
	int64_t entered = engine_enter(engine);
	int rc;

	engine_adopt(engine);
	/* What was decided before it has not begun with. */
	engine_decided_free(engine_decided_take(engine, req->job.id));
	if (!in_force(engine) || !engine->host_node ||
	    engine->n_hosts != req->n_hosts)
		goto out;
	rc = prepare(&d);
	if (rc > 0)
		goto out;
	if (rc < 0) {
		engine_log(engine, CPL_ENGINE_ERROR,
		           "out of memory: job %lld gets the stock answer",
		           (long long)req->job.id);
		goto out;
	}
	engine_for(engine, engine_user_of(&req->job),
	           engine_size(engine, req->array_id,
	                       req->ranks ? req->ranks : (long)req->need.cpus,
	                       d.size.nodes, engine_mapper_of(&d)));
	d.deadline = engine_limit(engine, d.want.max_decision_ms);
	if (!idle_default(&d))
		answer = decide(&d, text, size);
out:
	engine_decided_free(d.out);
	free(d.stock);
	free(d.cpus);
	free(d.filled);
	free(d.rank);
	free(d.level);
	engine_leave(engine, CPL_TIME_HELD_TEST, entered, d.theirs);
	return answer;
}
