/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/sort.h"
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
static bool in_force(const struct desk *desk)
{
	return desk->snapshot && !cpl_config_is_off(desk->snapshot->config) &&
	       desk->snapshot->net;
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
	const struct cpl_config *config = d->desk->snapshot->config;
	const struct cpl_resolved *want = &d->want;
	struct cpl_store_answer answer;

	*use = true;
	d->reason = CPL_REASON_NO_PROFILE;
	if (!want->profile.value)
		return NULL;
	engine_find_profile(d->desk->clerk, config, &d->req->job, want,
	                    d->req->ranks, d->deadline, &answer);
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

/* The nodes of a decision, as the core has them. */
struct nodes {
	unsigned char *is_free; /* [n_nodes] */
	uint64_t *offered;      /* hosts, each a bit */
	int *must;              /* [n_must] hosts that the job must have, */
	int *required;          /* [n_must] and their nodes */
	int n_must;
	int *stock; /* [size.nodes] of the scheduler's own choice */
};

static int find_nodes(const struct deciding *d, struct nodes *nodes)
{
	const struct desk *desk = d->desk;
	size_t size = ((size_t)d->req->n_hosts + 1) * sizeof(int);

	nodes->is_free = calloc((size_t)desk->snapshot->net->n_nodes + 1, 1);
	nodes->offered = calloc((size_t)d->req->n_hosts / 64 + 1,
	                        sizeof(*nodes->offered));
	nodes->must = malloc(size);
	nodes->required = malloc(size);
	nodes->stock = malloc(size);
	if (!nodes->is_free || !nodes->offered || !nodes->must ||
	    !nodes->required || !nodes->stock)
		return -1;
	for (int i = d->span.first; i < d->span.end; i++)
		if (engine_offers(d, i)) {
			nodes->is_free[desk->host_node[i]] = 1;
			nodes->offered[i / 64] |= UINT64_C(1) << i % 64;
		}
	nodes->n_must = engine_must_have(d, nodes->must);
	if (nodes->n_must < 0)
		return -1;
	for (int i = 0; i < nodes->n_must; i++)
		nodes->required[i] = desk->host_node[nodes->must[i]];
	return 0;
}

static void free_nodes(struct nodes *nodes)
{
	free(nodes->is_free);
	free(nodes->offered);
	free(nodes->must);
	free(nodes->required);
	free(nodes->stock);
}

/* What the core is asked. */
static int set_request(struct deciding *d, enum cpl_order order,
                       const struct nodes *nodes,
                       struct cpl_decide_request *core, struct cpl_error *err)
{
	struct cpl_record *record = d->out->record;
	struct cpl_scene_job job =
	        d->by_volume ? engine_scene_job(d->by_volume, 1)
	                     : engine_scene_job(d->out->profile,
	                                        record->ranks_per_node);
	struct cpl_placement_request place = {
	        .free = nodes->is_free,
	        .n_nodes_wanted = (int)d->size.nodes,
	        .required = nodes->required,
	        .n_required = nodes->n_must,
	        .seed = d->desk->snapshot->config->seed,
	        .orders = &d->desk->orders,
	        .bounds = d->bounds};
	const struct cpl_budget budget = {
	        .work = d->want.max_decision_ms * CPL_DECIDE_WORK_MS,
	        .expired = engine_expired,
	        .expired_arg = &d->deadline};
	struct cpl_wish wish = engine_wish(d, &place.seed);
	struct cpl_scene *scene;

	/* All ranks of that are alike. */
	if (d->by_volume)
		wish.mapper = NULL;
	job.order = order;
	job.former = engine_former(d->desk, d->req->job.id);
	record->run_seconds = job.seconds;
	scene = engine_scene(d->ledger, record, d->deadline, err);
	if (!scene)
		return -1;
	scene->turn = d->desk->node_host;
	return cpl_scene_request(scene, &job, &wish, &place, NULL, &budget,
	                         core, err);
}

/* -1: memory. */
static int note_choice(struct deciding *d, const struct cpl_decision *decision,
                       const struct nodes *nodes,
                       const struct cpl_decide_request *core)
{
	struct cpl_record *record = d->out->record;
	int rc = engine_set_choice(d, decision) |
	         engine_note_bounds(d, decision) |
	         engine_note_former(d->desk, record, core->former,
	                            &decision->repaired);

	if (core->wish.policy != d->want.wish.policy)
		rc |= engine_set(&record->policy_asked, core->wish.policy->name);
	if (d->req->start)
		rc |= engine_set_free_text(d->desk, nodes->offered,
		                           &record->free_hosts);
	return rc | engine_set_hosts_text(d->desk, &record->required_hosts,
	                                  nodes->must, nodes->n_must);
}

/* The core's choice among the hosts offered. */
static int choose(struct deciding *d, struct cpl_error *err)
{
	struct cpl_decide_request core;
	const struct cpl_decision *decision;
	struct nodes nodes = {NULL};
	enum cpl_order order;
	int rc = -1;

	/* There is none of that name. */
	if (!d->want.wish.policy &&
	    cpl_wish_policy(&d->want.wish, d->desk->snapshot->net,
	                    d->want.policy.value, err))
		return -1;
	d->growing = false;
	if (engine_fit_volume(d, err) || engine_bind(d, err))
		return -1;
	if (find_nodes(d, &nodes) || engine_reach(d, &order)) {
		cpl_fail_memory(err);
		goto out;
	}
	if (set_request(d, order, &nodes, &core, err))
		goto out;
	if (engine_stock_nodes(d, nodes.is_free, nodes.stock) &&
	    cpl_placement_missing(&core.place, nodes.stock) < 0 &&
	    engine_takes_stock(&core.place, nodes.stock))
		core.stock = nodes.stock;
	d->growing |= engine_use_groups(d->desk, &core, d->out->profile);
	decision = engine_memo_decide(d->desk, d->ledger, &core,
	                              d->by_volume ? d->by_volume
	                                           : d->out->profile,
	                              err);
	if (!decision)
		goto out;
	rc = note_choice(d, decision, &nodes, &core);
	d->out->record->cut_short |= d->growing;
	if (rc)
		cpl_fail_memory(err);
out:
	free_nodes(&nodes);
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
	        per_node ? (int)per_node
	                 : engine_spread(record->ranks, d->size.nodes);
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

/* The same of a job without a profile. */
static int consider_volume(struct deciding *d, const struct cpl_error *why,
                           struct cpl_error *err)
{
	int rc = engine_find_volume(d, asked(&d->want), err);

	if (rc > 0)
		d->reason = CPL_REASON_SILENT;
	else if (rc && !err->text[0])
		cpl_fail(err, "policy %s needs a profile%s%s",
		         d->want.policy.value, why->text[0] ? ": " : "",
		         why->text);
	return rc ? -1 : 0;
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
	if (!d->out->profile && cpl_wish_searches(&d->want.wish))
		return consider_volume(d, why, err);
	/* To a search all nodes are as good, and so the stock ones are. */
	if (d->out->profile && cpl_wish_searches(&d->want.wish) &&
	    !cpl_comm_crosses(d->out->profile->comm,
	                      d->out->record->ranks_per_node))
		return stock(d, CPL_REASON_SILENT, err,
		             "nothing is sent between nodes");
	return 0;
}

/* Has a job with rules, which are what is most often refused, used up its time
 * with the scheduler's answers? */
static bool is_late(const struct deciding *d, int64_t theirs)
{
	return d->req->rules &&
	       theirs > (int64_t)d->want.max_decision_ms * 1000000;
}

/* The decision in words, for debugging. */
static void describe(const struct deciding *d, bool placed, char *text,
                     size_t size)
{
	const struct cpl_record *record = d->out->record;

	snprintf(text, size, "%s%s, %.3f ms", placed ? "placed by " : "stock: ",
	         placed ? record->policy : record->reason, record->decision_ms);
	cpl_printable(text);
}

/* Offer the scheduler the nodes chosen. */
static bool offer(const struct deciding *d)
{
	char text[512];

	describe(d, true, text, sizeof(text));
	return d->scheduler->place(d->scheduler->arg, d->out->order,
	                           d->out->n_order,
	                           d->req->start && engine_asks_beside(d)
	                                   ? NULL
	                                   : text);
}

/* Ours, accepted by the scheduler. -1 with err: the stock answer. */
static int place_job(struct deciding *d, struct cpl_error *err)
{
	struct cpl_record *record = d->out->record;
	enum cpl_reason held;
	int64_t begin, asked, theirs = 0;
	char why[128];

	if (!engine_follow_stock(d))
		return stock(d, CPL_REASON_NODES, err,
		             "the scheduler has no nodes for it now");
	set_size(d);
	if (check_ranks(d, err))
		return -1;
	if ((d->out->profile || d->by_volume) &&
	    cpl_wish_searches(&d->want.wish) &&
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
		held = engine_held_back(d, why, sizeof(why));
		if (held) {
			record->outcome = CPL_OUTCOME_OBSERVED;
			return stock(d, held, err, why);
		}
		if (offer(d)) {
			d->theirs = engine_took(d, asked);
			return 0;
		}
		theirs += engine_took(d, asked);
		if (tries == CPL_ENGINE_TRIES || is_late(d, theirs) ||
		    !engine_try_others(d) || !engine_follow_stock(d) ||
		    check_ours(d, NULL))
			return stock(d, CPL_REASON_REFUSED, err,
			             "the scheduler refused the nodes chosen");
		begin = cpl_now();
		set_size(d);
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
	return !asked(&d->want) && !d->by_volume &&
	       cpl_wish_searches(&d->want.wish);
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
	struct cpl_counters *counters = &d->desk->clerk->counters;

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
	placed = !failed && !place_job(d, &err);
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
	describe(d, placed, text, size);
	if (d->req->start && !silent(d) &&
	    (placed ? !take_order(d->out) : d->out->n_host)) {
		engine_sample_keep(d->ledger, record->sample);
		engine_decided_keep(d->desk, d->out);
		d->out = NULL;
	}
	return placed ? CPL_ENGINE_PLACED : CPL_ENGINE_STOCK;
}

/* By what is known of the job now, its nodes too; false: it is none of ours. */
static bool resolve(struct deciding *d, int nodes)
{
	struct cpl_job_facts job = d->req->job;

	job.nodes = nodes;
	cpl_resolve(d->desk->snapshot->config, d->desk->snapshot->net, &job,
	            &d->want);
	if (d->req->own_order)
		d->want.wish.mapper = NULL;
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
		d->out->record = engine_record_new(d->desk->snapshot,
		                                   &d->req->job, &d->want);
	return d->out && d->out->record ? 0 : -1;
}

enum cpl_engine_answer cpl_engine_decide(
        struct cpl_engine *engine, const struct cpl_engine_request *req,
        const struct cpl_engine_scheduler *scheduler, char *text, size_t size)
{
	struct deciding d = {.desk = &engine->desk,
	                     .ledger = &engine->ledger,
	                     .req = req,
	                     .scheduler = scheduler};
	enum cpl_engine_answer answer = CPL_ENGINE_NONE;
	int64_t entered = engine_enter(engine);
	int rc;

	engine_adopt(engine);
	/* What was decided before it has not begun with. */
	engine_decided_free(engine_decided_take(&engine->desk, req->job.id));
	if (!in_force(&engine->desk) || !engine->desk.host_node ||
	    engine->desk.n_hosts != req->n_hosts)
		goto out;
	rc = prepare(&d);
	if (rc > 0)
		goto out;
	if (rc < 0) {
		engine_log(&engine->clerk, CPL_ENGINE_ERROR,
		           "out of memory: job %lld gets the stock answer",
		           (long long)req->job.id);
		goto out;
	}
	engine_for(&engine->desk, engine_user_of(&req->job),
	           engine_size(&engine->desk, req->array_id,
	                       req->ranks ? req->ranks : (long)req->need.cpus,
	                       d.size.nodes, d.want.wish.mapper));
	d.deadline = engine_limit(&engine->desk, d.want.max_decision_ms);
	if (!idle_default(&d))
		answer = decide(&d, text, size);
out:
	engine_decided_free(d.out);
	free(d.rules);
	free(d.stock);
	free(d.cpus);
	free(d.required);
	free(d.filled);
	free(d.rank);
	free(d.level);
	engine_leave(engine, CPL_TIME_HELD_TEST, entered, d.theirs);
	return answer;
}
