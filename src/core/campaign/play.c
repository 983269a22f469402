/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/* What jobs without segments may ask for, over the nodes that segments leave: as chance
 * has it for a while in a queue that asks for just these. */
#define PLAIN_MORE 1.25

static struct kind *kind_of(const struct campaign_run *r, int job)
{
	int kind = r->kinds->of[job];

	if (kind < 0 || !r->kinds->kind[kind].sends)
		return NULL;
	return &r->kinds->kind[kind];
}

/* These are the threads of this run once it is the last one; else NULL. */
static struct cpl_team *free_team(const struct campaign_run *r)
{
	return atomic_load(&r->progress->playing) < 2 ? r->team : NULL;
}

static bool studied(const struct campaign_run *r)
{
	return r->c->model == CPL_CAMPAIGN_STUDY;
}

/* The job's communication is measured against this; 0 means against itself. */
static double reference_of(const struct campaign_run *r,
                           const struct kind *kind, int job)
{
	if (r->c->reference == CPL_CAMPAIGN_ALONE)
		return kind->alone;
	return r->reference ? r->reference[job] : 0;
}

/* A job that sends came or went. */
static void judge_all(struct campaign_run *r)
{
	if (!studied(r))
		running_judge(&r->running, free_team(r));
}

/* Time goes on to `then`, and everything stays as it is. */
static int pass(struct campaign_run *r, double then)
{
	const struct cpl_log *log = r->c->log;
	struct cpl_campaign_span span = {.seconds = then - r->now};
	struct cpl_campaign_result *out = r->out;
	struct cpl_campaign_sums *sums = &out->sums;

	if (!(span.seconds > 0))
		return 0;
	span.busiest = running_busiest(&r->running);
	if (r->easy.n_waits && sums->passed < log->job[log->n_jobs - 1].submit) {
		sums->waited += span.seconds;
		sums->used += (double)r->nodes.n_used / r->nodes.n * span.seconds;
	}
	sums->fragmented += nodes_fragmented(&r->nodes) * span.seconds;
	sums->passed += span.seconds;
	if (cpl_array_grow(&out->span, out->n_spans, sizeof(span), &r->err))
		return -1;
	out->span[out->n_spans++] = span;
	for (int i = 0; i < r->running.n; i++) {
		struct running_job *at = &r->running.job[i];

		at->work -= span.seconds / at->stretch;
		at->sum += span.seconds * at->seconds;
	}
	r->now = then;
	return 0;
}

/* This is what the job's nodes must keep under this policy. */
static const struct job_bound *kept_by(const struct campaign_run *r, int job)
{
	bool blind = r->chooser.own && r->chooser.own->blind;

	return blind ? NULL : bound_of(r->bounds, job);
}

/* Under leftovers a job without segments only gets nodes that the smallest segment
 * leaves over, where segments wait for others: this is that segment, 0 for any nodes.
 * The first of the queue is not held up where all without segments have asked for much
 * more than there is of such nodes: units have to be broken for these anyway. */
static int leaves_over(const struct campaign_run *r, int job)
{
	int least, leaves;

	if (!r->chooser.own || !r->chooser.own->leftovers ||
	    bound_in_segments(r->bounds, job))
		return 0;
	least = r->bounds->smallest;
	if (!least ||
	    !bounds_wait(r->bounds, &r->easy.waits[r->easy.first],
	                 r->easy.end - r->easy.first))
		return 0;
	leaves = r->bounds->leaves;
	if (job == r->easy.waits[r->easy.first].job &&
	    (r->c->log->job[job].nodes > leaves ||
	     r->plain * r->nodes.n > PLAIN_MORE * leaves * r->submitted))
		return 0;
	return least;
}

/* These are asked when a job is to start. */
static enum cpl_easy_need need(void *arg, int job)
{
	const struct job_bound *bound = kept_by(arg, job);

	if (!bound)
		return leaves_over(arg, job) ? CPL_EASY_SOME : CPL_EASY_ANY;
	return bound->asked.whole ? CPL_EASY_MORE : CPL_EASY_SOME;
}

static bool has_nodes(void *arg, int job, bool spare)
{
	struct campaign_run *r = arg;
	struct nodes_allowed allowed = {.spare = spare,
	                                .segment = leaves_over(r, job)};

	return nodes_have(&r->nodes, kept_by(r, job), r->c->log->job[job].nodes,
	                  allowed, &r->err) > 0;
}

static bool keep_nodes(void *arg, int job, const struct cpl_easy_job *runs,
                       int n)
{
	struct campaign_run *r = arg;

	nodes_then(&r->nodes);
	for (int i = 0; i < n; i++) {
		int k = 0;

		while (r->running.job[k].job != runs[i].job)
			k++;
		nodes_then_add(&r->nodes, kept_by(r, runs[i].job),
		               r->running.job[k].node,
		               r->c->log->job[runs[i].job].nodes);
	}
	return nodes_keep(&r->nodes, kept_by(r, job),
	                  r->c->log->job[job].nodes, leaves_over(r, job),
	                  &r->err) > 0;
}

/* This orders the nodes by rank, where there are as many ranks as nodes. */
static int order_nodes(const struct kind *kind, struct running_job *at,
                       struct cpl_error *err)
{
	int *order;

	if (!at->rank_host || kind->ranks_per_node != 1)
		return 0;
	order = malloc((size_t)kind->nodes * sizeof(*order));
	if (!order)
		return cpl_fail_memory(err);
	for (int i = 0; i < kind->nodes; i++)
		order[i] = at->node[at->rank_host[i]];
	free(at->node);
	free(at->rank_host);
	at->node = order;
	at->rank_host = NULL;
	return 0;
}

/* This chooses where the job is to run. */
static int choose(struct campaign_run *r, int job,
                  const struct chooser *chooser, const struct kind *kind,
                  const struct kind_traffic *traffic, struct running_job *at)
{
	const struct job_bound *bound = kept_by(r, job);
	struct campaign_nodes *nodes = &r->nodes;
	int n = r->c->log->job[job].nodes;
	struct choice_request req = {.team = free_team(r),
	                             .campaign = r->c,
	                             .kind = kind,
	                             .traffic = *traffic,
	                             .stock = {.tree = r->tree,
	                                       .free = r->easy.nodes
	                                                       ? nodes->may
	                                               : r->offered
	                                                       ? r->offered
	                                                       : nodes->free,
	                                       .n = n,
	                                       .communicates = kind != NULL,
	                                       .loud = nodes->loud,
	                                       .study = r->c->study},
	                             .n_free = nodes->n_free,
	                             .scene = &r->running.scene};
	double begin = cpl_clock();
	int rc;

	if (bound && bound->bounded) {
		req.bounds = &bound->bounds;
		req.found = nodes->found;
	}
	rc = campaign_choose(chooser, &req, at->node, &at->rank_host, &r->err);
	r->out->job[job].decision = cpl_clock() - begin;
	bound = bound_of(r->bounds, job);
	if (!rc && bound && bound->asked.segment) {
		r->out->job[job].groups = n / bound->asked.segment;
		r->out->job[job].crossed = bound_crossed(
		        r->bounds, bound, at->node, n, nodes->count);
	}
	return rc;
}

/* This sets what it sends from there. */
static int settle(struct campaign_run *r, struct kind *kind,
                  struct running_job *at)
{
	const struct cpl_times *known = NULL;

	at->share = kind->share;
	at->reference = reference_of(r, kind, at->job);
	if (order_nodes(kind, at, &r->err))
		return -1;
	if (!at->rank_host)
		known = kind->blocks;
	at->times = known ? cpl_times_again(known, &r->err)
	                  : campaign_times(kind, at->rank_host, &r->err);
	if (!at->times ||
	    cpl_times_put(at->times, r->running.scene.space, at->node, &r->err))
		return -1;
	cpl_times_stay(at->times);
	return 0;
}

static int place_job(struct campaign_run *r, int job, struct running_job *at)
{
	struct kind *kind = kind_of(r, job);
	struct chooser chooser = campaign_rule(r->c, &r->chooser, job);
	struct kind_traffic traffic = {0};
	bool stock;
	int rc;

	at->node = malloc((size_t)r->c->log->job[job].nodes *
	                  sizeof(*at->node));
	if (!at->node)
		return cpl_fail_memory(&r->err);
	if (!kind)
		return choose(r, job, &chooser, NULL, &traffic, at);
	/* Stock's nodes do not depend on the traffic, and ranks stay in blocks. */
	stock = chooser.own && !chooser.wish.mapper;
	if (stock && kind->blocks)
		return choose(r, job, &chooser, kind, &traffic, at) ||
		                       settle(r, kind, at)
		               ? -1
		               : 0;
	if (stock && kind->ranks >= CAMPAIGN_LARGE)
		pthread_mutex_lock(&r->kinds->large);
	rc = campaign_traffic_take(r->kinds, kind, &chooser, &traffic, &r->err);
	if (!rc) {
		rc = choose(r, job, &chooser, kind, &traffic, at) ||
		                     settle(r, kind, at)
		             ? -1
		             : 0;
		campaign_traffic_give(r->kinds, kind);
	}
	if (stock && kind->ranks >= CAMPAIGN_LARGE)
		pthread_mutex_unlock(&r->kinds->large);
	return rc;
}

/* This counts the study's cost of a job whose nodes are among the loud ones. */
static void count_cost(struct campaign_run *r, struct running_job *at)
{
	double cost = cpl_study_cost(r->tree, r->nodes.loud, r->c->study, at->node,
	                             r->c->log->job[at->job].nodes);

	r->out->job[at->job].cost = cost;
	if (studied(r)) {
		at->seconds = cost;
		at->stretch = running_stretch(at);
	}
}

/* This is called before the job is among the others. */
static void begin_alone(struct campaign_run *r, struct running_job *at)
{
	struct cpl_times_result alone;

	cpl_times_judge(at->times, NULL, false, &alone);
	at->seconds = alone.seconds;
	at->stretch = running_stretch(at);
	count_cost(r, at);
}

/* This compares the run times of the others with those before. */
static double added(const struct campaign_run *r, int job, const double *before)
{
	double sum = 0;

	for (int i = 0, k = 0; i < r->running.n; i++)
		if (r->running.job[i].job != job)
			sum += r->running.job[i].stretch / before[k++] - 1;
	return sum;
}

static int start(struct campaign_run *r, int job)
{
	struct running_job at = {.job = job,
	                         .begin = r->now,
	                         .work = r->c->log->job[job].run,
	                         .stretch = 1};
	double *before =
	        malloc(((size_t)r->running.n + 1) * sizeof(*before));
	int i = r->running.n, n = r->c->log->job[job].nodes, more;

	if (!before || place_job(r, job, &at))
		goto fail;
	for (int k = 0; k < i; k++)
		before[k] = r->running.job[k].stretch;
	more = nodes_take(&r->nodes, kept_by(r, job), at.node, n,
	                  at.times != NULL);
	if (more)
		cpl_easy_take(&r->easy, job, more);
	if (at.times)
		begin_alone(r, &at);
	if (running_start(&r->running, &at, &r->err))
		goto fail;
	if (at.times) {
		judge_all(r);
		r->out->job[job].interference = added(r, job, before);
	}
	r->out->job[job].start = r->now;
	free(before);
	if (r->c->progress)
		r->c->progress(r->c->progress_arg, ++r->progress->done,
		               r->progress->of);
	return 0;
fail:
	free(before);
	running_free(&at);
	return before ? -1 : cpl_fail_memory(&r->err);
}

static void end(struct campaign_run *r, int i)
{
	struct running_job at = r->running.job[i];
	struct cpl_campaign_job *out = &r->out->job[at.job];
	const struct kind *kind = kind_of(r, at.job);
	int n = r->c->log->job[at.job].nodes;
	double ran = r->now - at.begin;

	out->end = r->now;
	out->slowdown = 1;
	if (kind) {
		out->communication =
		        ran - (1 - kind->share) * r->c->log->job[at.job].run;
		out->slowdown = at.reference > 0 ? at.sum / ran / at.reference
		                                 : at.sum / ran;
	}
	nodes_give(&r->nodes, kept_by(r, at.job), at.node, n, at.times != NULL);
	cpl_easy_end(&r->easy, at.job);
	r->clock.wanted = true;
	if (r->c->keep_nodes) {
		out->node = at.node;
		at.node = NULL;
	}
	running_end(&r->running, i);
	running_free(&at);
	r->done++;
}

/* This is the time when the next of them ends. */
static double next_end(const struct campaign_run *r)
{
	double first = INFINITY;

	for (int i = 0; i < r->running.n; i++) {
		const struct running_job *at = &r->running.job[i];
		double end = r->now + fmax(at->work, 0) * at->stretch;

		if (end < first)
			first = end;
	}
	return first;
}

/* Jobs that are over by now have only rounding left. */
static void end_due(struct campaign_run *r, double due)
{
	bool any = false;

	for (int i = 0; i < r->running.n;) {
		struct running_job *at = &r->running.job[i];

		if (at->work * at->stretch > 1e-9 * (1 + due)) {
			i++;
			continue;
		}
		any |= at->times != NULL;
		end(r, i);
	}
	if (any)
		judge_all(r);
}

static void submit_due(struct campaign_run *r)
{
	const struct cpl_log *log = r->c->log;

	for (; r->next < log->n_jobs && log->job[r->next].submit <= r->now;
	     r->next++) {
		const struct cpl_log_job *job = &log->job[r->next];

		if (!r->large[r->next]) {
			cpl_easy_submit(&r->easy, r->next, job->nodes,
			                job->limit);
			r->clock.wanted = true;
			r->submitted += job->nodes * job->limit;
			if (!bound_in_segments(r->bounds, r->next))
				r->plain += job->nodes * job->limit;
			continue;
		}
		r->out->job[r->next] =
		        (struct cpl_campaign_job){.start = -1, .end = -1};
		r->done++;
	}
}

/* Slurm's main scheduler: the first ones of the queue, as far as there are nodes. */
static int start_first(struct campaign_run *r)
{
	struct cpl_easy *easy = &r->easy;

	while (easy->n_waits && easy->waits[easy->first].nodes <= easy->n_free)
		if (start(r, cpl_easy_begin(easy, easy->first, r->now)))
			return -1;
	return 0;
}

/* These run, with the ends that slurmctld takes them to have. */
static int list_runs(const struct campaign_run *r)
{
	const struct cpl_log *log = r->c->log;

	for (int i = 0; i < r->running.n; i++) {
		const struct running_job *at = &r->running.job[i];
		const struct cpl_log_job *job = &log->job[at->job];

		r->planned[i] = (struct cpl_backfill_run){
		        .end = (int64_t)floor(log->first + at->begin) +
		               cpl_backfill_limit(job->limit),
		        .job = at->job,
		        .n = job->nodes,
		        .node = at->node};
	}
	return r->running.n;
}

/* One cycle of Slurm's backfill. */
static int backfill(struct campaign_run *r)
{
	struct cpl_backfill *b = &r->backfill;
	int from = r->easy.first; /* where those that start leave a gap */
	int at = -1, rc = cpl_backfill_begin(
	                    b, (int64_t)floor(r->c->log->first + r->now),
	                    &r->err);

	while (!rc) {
		struct cpl_backfill_state state = {.waits = r->easy.waits + from,
		                                   .n_waits = r->easy.end - from,
		                                   .runs = r->planned,
		                                   .n_runs = list_runs(r),
		                                   .free = r->nodes.free};

		at = cpl_backfill_next(b, &state, &r->err);
		if (at < 0)
			break;
		r->offered = b->may;
		rc = start(r, cpl_easy_begin(&r->easy, from + at, r->now));
		r->offered = NULL;
	}
	return rc || at == -2 ? -1 : 0;
}

/* This starts those that can at this time, in Slurm's queue if it is the turn of one of
 * its schedulers. */
static int start_due(struct campaign_run *r, const struct cpl_pass *turn)
{
	int job;

	if (!r->c->slurm) {
		while ((job = cpl_easy_start(&r->easy, r->now)) >= 0)
			if (start(r, job))
				return -1;
		return 0;
	}
	if (turn->at > r->now)
		return 0;
	cpl_pass_made(&r->clock, turn);
	return turn->backfill ? backfill(r) : start_first(r);
}

static void play(struct campaign_run *r)
{
	const struct cpl_log *log = r->c->log;

	while (r->done < log->n_jobs) {
		struct cpl_pass turn = {.at = INFINITY};
		double then = next_end(r);

		if (r->c->slurm && r->easy.n_waits)
			turn = cpl_pass_next(&r->clock, r->now);
		then = fmin(then, turn.at);
		if (r->next < log->n_jobs && log->job[r->next].submit < then)
			then = log->job[r->next].submit;
		if (then > r->now && pass(r, then))
			return;
		end_due(r, then);
		submit_due(r);
		if (start_due(r, &turn) || r->err.text[0])
			return;
	}
}

static int open_run(struct campaign_run *r)
{
	const struct cpl_network *net = r->c->net;
	int n_jobs = r->c->log->n_jobs;
	struct cpl_error *err = &r->err;

	r->out->job = calloc((size_t)n_jobs + 1, sizeof(*r->out->job));
	if (!r->out->job)
		return cpl_fail_memory(err);
	r->team = cpl_team_new(r->c->threads, err);
	if (!r->team || nodes_open(&r->nodes, r->tree, r->bounds, err) ||
	    running_open(&r->running, net, r->c->routing, n_jobs,
	                 campaign_looks(&r->chooser), err) ||
	    cpl_easy_init(&r->easy, r->nodes.n, n_jobs, r->c->backfill, err))
		return -1;
	if (r->c->slurm) {
		r->clock = (struct cpl_pass_clock){.queue = r->c->slurm,
		                                   .first = r->c->log->first};
		r->planned = malloc(((size_t)n_jobs + 1) * sizeof(*r->planned));
		if (!r->planned)
			return cpl_fail_memory(err);
		if (cpl_backfill_init(&r->backfill, &r->c->slurm->options,
		                      r->tree, err))
			return -1;
	}
	r->easy_nodes = (struct cpl_easy_nodes){r, need, has_nodes, keep_nodes};
	if (r->bounds->n)
		r->easy.nodes = &r->easy_nodes;
	return 0;
}

static void close_run(struct campaign_run *r)
{
	running_close(&r->running);
	nodes_close(&r->nodes);
	cpl_team_free(r->team);
	cpl_easy_free(&r->easy);
	cpl_backfill_free(&r->backfill);
	free(r->planned);
}

void campaign_play(struct campaign_run *r)
{
	if (!open_run(r))
		play(r);
	close_run(r);
}
