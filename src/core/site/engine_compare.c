/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's own choice: instead of ours, and beside it. */
#include <stdlib.h>
#include <string.h>

#include "site/engine_deciding.h"

bool engine_stock_nodes(const struct deciding *d, const unsigned char *is_free,
                        int *node)
{
	if (!d->n_stock || d->n_stock != (int)d->size.nodes)
		return false;
	for (int i = 0; i < d->n_stock; i++) {
		node[i] = d->desk->host_node[d->stock[i]];
		if (node[i] < 0 || !is_free[node[i]])
			return false;
	}
	return true;
}

int64_t engine_took(struct deciding *d, int64_t since)
{
	int64_t ns = engine_theirs(d->desk, since);

	d->deadline += ns;
	return ns;
}

/* Few enough hosts that the scheduler's own choice costs little? */
static bool compares(const struct deciding *d)
{
	int max = d->desk->snapshot->config->compare_nodes, n = 0;

	for (int i = d->span.first; i < d->span.end && n <= max; i++)
		n += d->cpus[i] != 0;
	return n <= max;
}

bool engine_asks_beside(const struct deciding *d)
{
	return !d->asked_stock && compares(d);
}

void engine_ask_beside(struct deciding *d)
{
	int64_t begin = cpl_now();

	if (!engine_asks_beside(d))
		return;
	d->asked_stock = true;
	d->stock = malloc(((size_t)d->req->n_hosts + 1) * sizeof(int));
	if (d->stock)
		d->n_stock =
		        d->scheduler->compare(d->scheduler->arg, d->stock);
	engine_took(d, begin);
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

/* The order of ranks found on the scheduler's own nodes is what the job begins
 * with: it is not mapped twice. */
static void keep_order(struct deciding *d, const struct cpl_decision *decision)
{
	if (decision->mapped && !engine_set_order(d, decision))
		return;
	d->out->n_order = 0;
	d->out->mapped = false;
}

/* What its nodes come to, with ranks in blocks and mapped as ours are. */
static void judge_stock(struct deciding *d, const int *node, int n)
{
	struct cpl_profile *profile = d->out->profile;
	struct cpl_record *record = d->out->record;
	bool ours = record->outcome != CPL_OUTCOME_STOCK;
	const struct cpl_placement_request place = {
	        .n_nodes_wanted = n, .seed = d->desk->snapshot->config->seed};
	const struct cpl_budget budget = {.expired = engine_expired,
	                                  .expired_arg = &d->deadline};
	struct cpl_scene_job job = engine_scene_job(
	        profile, engine_spread(profile->ranks, (uint32_t)n));
	struct cpl_scene_job untimed = job;
	struct cpl_scene *scene =
	        engine_scene(d->ledger, NULL, d->deadline, NULL);
	struct cpl_decide_request core;
	struct cpl_decision decision;
	const struct cpl_candidate *c;
	struct cpl_times_result times;

	/* Its seconds are those in blocks. */
	untimed.phase = NULL;
	if (!scene || cpl_scene_request(scene, &untimed, &d->want.wish, &place,
	                                NULL, &budget, &core, NULL))
		return;
	core.stated = NULL;
	engine_use_groups(d->desk, &core, profile);
	if (cpl_decide_given(&core, node, &decision, NULL))
		return;
	c = decision.candidate;
	record->stock_max_congestion = c->metrics.max_congestion;
	record->stock_mean_congestion = c->metrics.mean_congestion;
	if (c->is_mapped)
		record->stock_mapped_max = c->mapped.metrics.max_congestion;
	if (!ours && !d->req->own_order)
		keep_order(d, &decision);
	cpl_decision_free(&decision);
	if (!engine_expired(&d->deadline) &&
	    !cpl_scene_judge(scene, &job, node, n, NULL, &times, NULL))
		record->stock_seconds = times.seconds;
}

/* The stock plugin's choice (host indexes in node order), for the record, and
 * what it comes to, as far as there is time. */
static void evaluate_stock(struct deciding *d, const int *host, int n)
{
	struct cpl_record *record = d->out->record;
	bool ours = record->outcome != CPL_OUTCOME_STOCK, known = true;
	int *node;

	if (!ours) {
		d->out->n_order = 0;
		d->out->mapped = false;
	}
	if (engine_set_hosts_text(d->desk, &record->stock_hosts, host, n) ||
	    (ours && stock_was_judged(record)) || !d->out->profile ||
	    engine_expired(&d->deadline))
		return;
	node = malloc(((size_t)n + 1) * sizeof(int));
	for (int i = 0; node && i < n; i++) {
		node[i] = d->desk->host_node[host[i]];
		known &= node[i] >= 0;
	}
	if (node && known)
		judge_stock(d, node, n);
	free(node);
}

void engine_ask_stock(struct deciding *d, bool placed)
{
	const struct cpl_engine_scheduler *s = d->scheduler;
	int *host = malloc(((size_t)d->req->n_hosts + 1) * sizeof(int));
	int64_t begin = cpl_now();
	int n = 0;

	/* The stock answer must be had even without memory. */
	if (!placed) {
		n = s->stock(s->arg, host);
		d->theirs = engine_took(d, begin);
	} else if (host && d->req->start) {
		engine_ask_beside(d);
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
