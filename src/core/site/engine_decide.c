/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/printable.h"
#include "base/sort.h"
#include "placement/cut.h"
#include "signature/signature.h"
#include "site/engine_internal.h"

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

/* A decision on its way. */
struct deciding {
	struct cpl_engine *engine;
	const struct cpl_engine_request *req;
	const struct cpl_engine_scheduler *scheduler;
	struct cpl_resolved want;
	int64_t deadline;
	uint32_t *cpus;          /* [n_hosts] free */
	uint64_t *rank;          /* [n_hosts] the lower are filled first */
	uint64_t *level;         /* [n_levels] ranks in use, increasing */
	int n_levels;            /* 0: they do not count (any more) */
	uint64_t highest;        /* rank that is offered */
	uint32_t *filled;        /* [n_hosts] cpus up to that rank */
	const uint32_t *offer;   /* cpus or filled */
	int *stock;  /* [n_stock] the scheduler's own choice, in node order */
	int n_stock; /* 0: none, or it was not asked */
	bool asked_stock;
	struct cpl_size size;
	bool enough, fits; /* hosts; the required ones among them */
	enum cpl_reason reason; /* for the stock answer */
	int64_t theirs; /* ns of the scheduler's own answer to this call */
	struct decided *out;
};

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
		return CPL_REASON_MISSING;
	case CPL_FOUND_LOADING:
	case CPL_FOUND_TIMED_OUT:
		return CPL_REASON_LATE;
	default:
		return CPL_REASON_BROKEN;
	}
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
	engine_find_profile(d->engine, want->profile.value, d->req->ranks,
	                    d->deadline, &answer);
	d->reason = profile_reason(answer.found);
	*use = answer.found == CPL_FOUND_READY ||
	       (stated(want) && ((answer.found == CPL_FOUND_MISSING &&
	                          config->missing_profile == CPL_IGNORE) ||
	                         (answer.found == CPL_FOUND_OTHER_RANKS &&
	                          config->rank_mismatch == CPL_IGNORE)));
	if (!answer.profile)
		cpl_fail(err, "%s", answer.err.text);
	return answer.profile;
}

static int set_hosts_text(const struct cpl_engine *engine, char **field,
                          const int *host, int n)
{
	char **name = engine_host_names(engine, host, n);
	int rc = engine_set_hostlist(field, name, n);

	free(name);
	return rc;
}

static int set_free_text(const struct cpl_engine *engine,
                         const unsigned char *free_node, char **field)
{
	int n = engine->snapshot->net->n_nodes, used = 0, rc;
	int *host = malloc(((size_t)n + 1) * sizeof(int));

	if (!host)
		return -1;
	for (int i = 0; i < n; i++)
		if (free_node[i])
			host[used++] = engine->node_host[i];
	rc = set_hosts_text(engine, field, host, used);
	free(host);
	return rc;
}

static int set_hosts(const struct cpl_engine *engine, struct cpl_record *record,
                     const int *host, int n)
{
	char **name = engine_host_names(engine, host, n);
	int rc = engine_record_hosts(record, name, n);

	free(name);
	return rc;
}

static int set_candidates(struct cpl_record *record,
                          const struct cpl_decision *decision)
{
	int n = decision->n_candidates;

	while (record->n_candidates)
		free(record->candidate[--record->n_candidates].policy);
	free(record->candidate);
	record->candidate = calloc((size_t)n + 1, sizeof(*record->candidate));
	if (!record->candidate)
		return -1;
	for (; record->n_candidates < n; record->n_candidates++) {
		const struct cpl_candidate *from =
		        &decision->candidate[record->n_candidates];
		struct cpl_record_candidate *to =
		        &record->candidate[record->n_candidates];

		if (engine_set(&to->policy, from->policy->name))
			return -1;
		to->seed = from->seed;
		to->evaluated = from->evaluated;
		to->max_congestion = from->metrics.max_congestion;
		to->mean_congestion = from->metrics.mean_congestion;
		to->hop_bytes = from->sums.hop_bytes;
		to->seconds = from->times.seconds;
		to->alone_seconds = from->times.alone;
		to->shared_links = from->shared;
		to->slows_others = from->harm;
		to->broken = from->broken;
		to->mapped = from->is_mapped;
		to->mapped_max = from->mapped.metrics.max_congestion;
		to->mapped_mean = from->mapped.metrics.mean_congestion;
		to->mapped_hop_bytes = from->mapped.sums.hop_bytes;
	}
	return 0;
}

/* What is broken, and what it costs to break no more. -1: memory. */
static int set_kept(struct cpl_record *record,
                    const struct cpl_decision *decision)
{
	const struct cpl_candidate *best = &decision->candidate[decision->best];

	if (!record->keep_whole)
		return 0;
	record->broken = decision->candidate[decision->chosen].broken;
	record->best_broken = best->broken;
	record->price = decision->price;
	return engine_set(&record->best_policy, best->policy->name);
}

/* The rank order found while deciding stays with the decision. -1: memory. */
static int keep_rank_order(struct decided *out,
                           const struct cpl_decision *decision)
{
	const struct cpl_candidate *chosen =
	        &decision->candidate[decision->chosen];
	size_t size = out->profile ? (size_t)out->profile->comm->ranks *
	                                     sizeof(int)
	                           : 0;

	free(out->rank_host);
	out->rank_host = NULL;
	out->mapped = decision->mapped;
	out->max_before = chosen->metrics.max_congestion;
	out->max_after = chosen->mapped.metrics.max_congestion;
	if (!decision->rank_host)
		return 0;
	out->rank_host = malloc(size);
	if (!out->rank_host)
		return -1;
	memcpy(out->rank_host, decision->rank_host, size);
	return 0;
}

static int set_choice(struct deciding *d, const struct cpl_decision *decision)
{
	const struct cpl_candidate *chosen =
	        &decision->candidate[decision->chosen];
	struct cpl_record *record = d->out->record;
	int n = decision->n_nodes;
	int *order = malloc(((size_t)n + 1) * sizeof(int));

	free(d->out->order);
	d->out->order = order;
	d->out->n_order = order ? n : 0;
	if (!order || keep_rank_order(d->out, decision))
		return -1;
	for (int i = 0; i < n; i++)
		order[i] = d->engine->node_host[decision->node[i]];
	record->seed = chosen->seed;
	record->cut_short = decision->cut_short;
	return engine_set(&record->policy, chosen->policy->name) |
	       set_kept(record, decision) |
	       set_hosts(d->engine, record, order, n) |
	       set_candidates(record, decision);
}

static bool offered(const struct deciding *d, int host)
{
	return d->engine->host_node[host] >= 0 && d->offer[host] &&
	       d->offer[host] >= d->size.cpus;
}

/* Hosts of lower ranks do not hold the job alone: it has them and others. */
static bool filled_first(const struct deciding *d, int host)
{
	return d->n_levels > 1 && d->rank[host] < d->highest &&
	       offered(d, host);
}

/* The hosts that the job must have, into host[n_hosts]; returns how many.
 * Where those filled first are too many for its size, the user's. */
static int must_have(const struct deciding *d, int *host)
{
	const struct cpl_engine_request *req = d->req;
	int n = 0;

	for (int i = 0; i < req->n_hosts; i++)
		if (filled_first(d, i))
			host[n++] = i;
	if (n > (int)d->size.nodes)
		n = 0;
	for (int i = 0; i < req->n_required; i++)
		if (!n || !filled_first(d, req->required[i]))
			host[n++] = req->required[i];
	return n;
}

/* What will lay out the ranks: candidates are judged with it. NULL: they stay
 * in their order. */
static const struct cpl_mapper *mapper_of(const struct deciding *d)
{
	const char *name = d->want.mapping.value;

	return name && !d->req->own_order ? cpl_mapper_find(name, NULL) : NULL;
}

/* The scheduler's own nodes in order, as a candidate; false: they are none. */
static bool stock_nodes(const struct deciding *d, const unsigned char *is_free,
                        int *node)
{
	if (!d->n_stock || d->n_stock != (int)d->size.nodes)
		return false;
	for (int i = 0; i < d->n_stock; i++) {
		node[i] = d->engine->host_node[d->stock[i]];
		if (node[i] < 0 || !is_free[node[i]])
			return false;
	}
	return true;
}

/* The seconds of its candidates: within the time of a decision, of jobs of no
 * more ranks times nodes, or where they are what it goes by. */
#define TIMED_MAX 65536L

static int set_times(const struct deciding *d, struct cpl_decide_request *core,
                     struct cpl_error *err)
{
	const struct cpl_profile *profile = d->out->profile;
	const struct cpl_config *config = d->engine->snapshot->config;
	bool of_others = cpl_objective_of_others(d->want.objective);
	struct cpl_error why = {""};

	if (!profile || (!of_others &&
	                 (long)profile->ranks * d->size.nodes > TIMED_MAX))
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

	if (!free_node || !must || !required || !stock) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < req->n_hosts; i++)
		if (offered(d, i))
			free_node[engine->host_node[i]] = 1;
	n_must = must_have(d, must);
	for (int i = 0; i < n_must; i++)
		required[i] = engine->host_node[must[i]];
	struct cpl_decide_request core = {
	        .place = {.net = now->net,
	                  .free = free_node,
	                  .n_nodes_wanted = (int)d->size.nodes,
	                  .required = required,
	                  .n_required = n_must,
	                  .seed = now->config->seed},
	        .policy = d->want.policy.value,
	        .routing = now->routing,
	        .comm = profile ? profile->comm : NULL,
	        .ranks_per_node = record->ranks_per_node,
	        .mapper = mapper_of(d),
	        .map_option = cpl_mapper_option(record->mapping),
	        .graph = profile ? profile->graph : NULL,
	        .objective = d->want.objective,
	        .keep_whole = record->keep_whole,
	        .keep_price = record->keep_price,
	        .background =
	                engine_background_of(engine, profile, record,
	                                     d->deadline, err),
	        .rates = engine_rates_by(engine, d->want.objective,
	                                 d->deadline, err),
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
	if (stock_nodes(d, free_node, stock) &&
	    cpl_placement_missing(&core.place, stock) < 0)
		core.stock = stock;
	core.grown = engine_groups(engine, &core, profile);
	decision = engine_memo_decide(engine, &core, profile, err);
	if (!decision)
		goto out;
	rc = set_choice(d, decision);
	if (req->start)
		rc |= set_free_text(engine, free_node, &record->free_hosts);
	rc |= set_hosts_text(engine, &record->required_hosts, must, n_must);
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

static int spread(int ranks, uint32_t nodes)
{
	return nodes > 0 && ranks > 0
	               ? (int)(((uint32_t)ranks + nodes - 1) / nodes)
	               : 1;
}

/* Nodes that the job would get of these. -1: memory. */
static int fit(struct deciding *d, const uint32_t *cpus, uint32_t least)
{
	int rc =
	        cpl_size(&d->req->need, cpus, d->req->n_hosts, least, &d->size);

	d->offer = cpus;
	d->enough = d->fits = rc > 0;
	for (int i = 0; i < d->req->n_required && d->fits; i++)
		d->fits = offered(d, d->req->required[i]);
	return rc < 0 ? -1 : 0;
}

static int fit_up_to(struct deciding *d, uint64_t rank, uint32_t least)
{
	d->highest = rank;
	for (int i = 0; i < d->req->n_hosts; i++)
		d->filled[i] = d->rank[i] <= rank ? d->cpus[i] : 0;
	return fit(d, d->filled, least);
}

/* On the lowest ranks that hold the job. */
static int size_up(struct deciding *d, uint32_t least)
{
	int low = 0, high = d->n_levels - 1;

	if (d->n_levels < 2)
		return fit(d, d->cpus, least);
	while (low < high) {
		int middle = (low + high) / 2;

		if (fit_up_to(d, d->level[middle], least))
			return -1;
		if (d->fits)
			high = middle;
		else
			low = middle + 1;
	}
	return fit_up_to(d, d->level[low], least);
}

static int by_rank(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The ranks of usable hosts, each once; the user's own come with any. */
static void list_levels(struct deciding *d, const unsigned char *required)
{
	int n = 0, same = 0;

	for (int i = 0; i < d->req->n_hosts; i++)
		if (d->cpus[i] && !required[i])
			d->level[n++] = d->rank[i];
	/* Most sites have one weight. */
	while (same < n && d->level[same] == d->level[0])
		same++;
	if (same < n)
		qsort(d->level, (size_t)n, sizeof(*d->level), by_rank);
	else if (n)
		n = 1;
	for (int i = 0; i < n; i++)
		if (!i || d->level[i] != d->level[i - 1])
			d->level[d->n_levels++] = d->level[i];
	for (int i = 0; i < d->req->n_hosts && n; i++)
		if (required[i])
			d->rank[i] = d->level[0];
}

static int measure(struct deciding *d)
{
	size_t n = (size_t)d->req->n_hosts + 1;
	unsigned char *required = calloc(n, 1);
	int rc = -1;

	d->cpus = calloc(n, sizeof(*d->cpus));
	d->filled = calloc(n, sizeof(*d->filled));
	d->rank = calloc(n, sizeof(*d->rank));
	d->level = calloc(n, sizeof(*d->level));
	if (!required || !d->cpus || !d->filled || !d->rank || !d->level ||
	    d->scheduler->measure(d->scheduler->arg, d->cpus, d->rank))
		goto out;
	for (int i = 0; i < d->req->n_hosts; i++)
		if (d->engine->host_node[i] < 0)
			d->cpus[i] = 0;
	for (int i = 0; i < d->req->n_required; i++)
		required[d->req->required[i]] = 1;
	list_levels(d, required);
	rc = size_up(d, 0);
out:
	free(required);
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
	        per_node ? (int)per_node : spread(record->ranks, d->size.nodes);
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
	/* Before a file takes all the time that there is. */
	busy = engine_expired(&d->deadline);
	d->out->profile = find_profile(d, &use, why);
	reason = d->reason;
	set_size(d);
	if (check_ours(d, err))
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
	return 0;
}

/*
 * After a refusal: without hosts that cannot serve the job, or with more of
 * them. False: there is nothing else to try.
 */
static bool try_others(struct deciding *d)
{
	uint32_t nodes = d->size.nodes;
	int lost = 0, n = d->req->n_hosts;
	uint32_t *before;

	if (d->n_levels > 1 && d->highest < d->level[d->n_levels - 1]) {
		d->n_levels = 0;
		return !size_up(d, 0) && d->fits;
	}
	before = malloc(((size_t)n + 1) * sizeof(*before));
	if (!before)
		return false;
	memcpy(before, d->cpus, (size_t)n * sizeof(*before));
	d->scheduler->narrow(d->scheduler->arg, d->cpus);
	for (int i = 0; i < n; i++)
		lost += before[i] && !d->cpus[i];
	free(before);
	if (!lost && !cpl_size_by_cpus(&d->req->need))
		return false;
	return !size_up(d, lost ? 0 : nodes + 1) && d->fits;
}

/* The scheduler did, since then: for how long. */
static int64_t took(struct deciding *d, int64_t since)
{
	int64_t ns = engine_theirs(d->engine, since);

	d->deadline += ns;
	return ns;
}

/* Few enough hosts that the scheduler's own choice costs little? */
static bool compares(const struct deciding *d)
{
	int max = d->engine->snapshot->config->compare_nodes, n = 0;

	for (int i = 0; i < d->req->n_hosts && n <= max; i++)
		n += d->cpus[i] != 0;
	return n <= max;
}

/* The scheduler's own choice, once a decision, whatever mode asks: a test and
 * the start after it choose among the same. */
static void ask_beside(struct deciding *d)
{
	int64_t begin = cpl_now();

	if (d->asked_stock || !compares(d))
		return;
	d->asked_stock = true;
	d->stock = malloc(((size_t)d->req->n_hosts + 1) * sizeof(int));
	if (d->stock)
		d->n_stock =
		        d->scheduler->compare(d->scheduler->arg, d->stock);
	took(d, begin);
}

/* Ours, accepted by the scheduler. -1 with err: the stock answer. */
static int place(struct deciding *d, struct cpl_error *err)
{
	struct cpl_record *record = d->out->record;
	int64_t begin, asked;

	if (d->out->profile && cpl_placement_is_search(d->want.policy.value) &&
	    d->want.mode != CPL_MODE_OBSERVE)
		ask_beside(d);
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
			d->theirs = took(d, asked);
			return 0;
		}
		took(d, asked);
		if (tries == CPL_ENGINE_TRIES || !try_others(d) ||
		    check_ours(d, NULL))
			return stock(d, CPL_REASON_REFUSED, err,
			             "the scheduler refused the nodes chosen");
		begin = cpl_now();
		set_size(d);
	}
}

/* The stock nodes were judged as a candidate: false, if not. */
static bool stock_was_judged(struct cpl_record *record)
{
	for (int i = 0; i < record->n_candidates; i++) {
		const struct cpl_record_candidate *c = &record->candidate[i];

		if (strcmp(c->policy, cpl_placement_stock.name) ||
		    !c->evaluated)
			continue;
		record->stock_max_congestion = c->max_congestion;
		record->stock_mean_congestion = c->mean_congestion;
		record->stock_seconds = c->seconds;
		if (c->mapped)
			record->stock_mapped_max = c->mapped_max;
		return true;
	}
	return false;
}

/*
 * What the stock plugin's choice (host indexes in node order, ranks in blocks,
 * and mapped as ours are) comes to, for the record.
 */
static void evaluate_stock(struct deciding *d, const int *host, int n)
{
	struct cpl_engine *engine = d->engine;
	const struct snapshot *now = engine->snapshot;
	struct cpl_profile *profile = d->out->profile;
	struct cpl_record *record = d->out->record;
	struct cpl_candidate c;
	struct cpl_times_result times;
	struct cpl_error err = {""};
	int *node;

	if (set_hosts_text(engine, &record->stock_hosts, host, n) ||
	    !profile || stock_was_judged(record))
		return;
	node = malloc(((size_t)n + 1) * sizeof(int));
	if (!node)
		return;
	for (int i = 0; i < n; i++) {
		node[i] = engine->host_node[host[i]];
		if (node[i] < 0)
			goto out;
	}
	struct cpl_decide_request core = {
	        .place = {.net = now->net,
	                  .n_nodes_wanted = n,
	                  .seed = now->config->seed},
	        .policy = "linear",
	        .routing = now->routing,
	        .comm = profile->comm,
	        .ranks_per_node = spread(profile->ranks, (uint32_t)n),
	        .mapper = mapper_of(d),
	        .map_option = cpl_mapper_option(record->mapping),
	        .graph = profile->graph,
	        .objective = d->want.objective,
	        .background = engine_background_of(engine, profile, NULL,
	                                           d->deadline, &err),
	        .rates = engine_rates_by(engine, d->want.objective,
	                                 d->deadline, &err),
	};
	if (!err.text[0] &&
	    !cpl_decide_evaluate(&core, node, &c, &err)) {
		record->stock_max_congestion = c.metrics.max_congestion;
		record->stock_mean_congestion = c.metrics.mean_congestion;
		if (c.is_mapped)
			record->stock_mapped_max =
			        c.mapped.metrics.max_congestion;
		if (!engine_judge(engine, profile, node, n, NULL,
		                  core.ranks_per_node, d->deadline,
		                  &times, &err))
			record->stock_seconds = times.seconds;
	}
out:
	free(node);
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

/* The scheduler's answer for a job that is not, or beside, placed by us. */
static void ask_stock(struct deciding *d, bool placed)
{
	const struct cpl_engine_scheduler *s = d->scheduler;
	int *host = malloc(((size_t)d->req->n_hosts + 1) * sizeof(int));
	int64_t begin = cpl_now();
	int n = 0;

	/* The stock answer must be had even without memory. */
	if (!placed) {
		n = s->stock(s->arg, host);
		d->theirs = took(d, begin);
	} else if (host && d->req->start) {
		ask_beside(d);
		n = d->n_stock;
		if (n)
			memcpy(host, d->stock, (size_t)n * sizeof(int));
	}
	if (host && n > 0 && d->req->start)
		evaluate_stock(d, host, n);
	if (placed || !host) {
		free(host);
	} else {
		d->out->host = host;
		d->out->n_host = n;
	}
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
	ask_stock(d, placed);
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
	if (measure(d))
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
