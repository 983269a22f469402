/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/campaign.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "campaign/campaign_internal.h"
#include "campaign/easy.h"
#include "campaign/running.h"

/* This plays the log under one policy. */
struct campaign_run {
	const struct cpl_campaign *c;
	struct kinds *kinds;
	const struct cpl_stock_tree *tree;
	struct chooser chooser;
	const double *reference; /* [n_jobs], NULL: this run sets them */
	struct cpl_campaign_result *out;
	struct cpl_easy easy;
	unsigned char *free; /* [n_nodes] */
	int n_nodes, n_free;
	int *loud;        /* [n_leaves] */
	int *leaf_free;   /* [n_leaves] */
	struct running_jobs running;
	struct cpl_team *team;
	double now;
	int next; /* job to be submitted */
	int done;
	struct campaign_progress *progress;
	struct cpl_error err;
};

struct campaign_progress {
	const struct cpl_campaign *c;
	_Atomic int64_t done;
	_Atomic int playing; /* policies being played */
	int64_t of;
};

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
	if (studied(r))
		running_send(&r->running);
	else
		running_judge(&r->running, free_team(r));
}

static double busiest(const struct campaign_run *r)
{
	const struct cpl_network *net = r->c->net;
	double most = 0;

	for (int k = 0; k < net->n_classes; k++) {
		const struct cpl_link_class *class = &net->link_class[k];
		double rate = 0;

		for (int64_t i = 0; i < class->count; i++)
			if (r->running.sent.link[class->first + i] > rate)
				rate = r->running.sent.link[class->first + i];
		if (rate / class->bandwidth > most)
			most = rate / class->bandwidth;
	}
	return most;
}

static double fragmented(const struct campaign_run *r)
{
	const struct cpl_stock_tree *tree = r->tree;
	int split = 0;

	for (int u = 0; u < tree->n_leaves; u++)
		if (r->leaf_free[u] < tree->first[u + 1] - tree->first[u])
			split += r->leaf_free[u];
	return r->n_free ? (double)split / r->n_free : 0;
}

/* Time goes on to `then`, and everything stays as it is. */
static int pass(struct campaign_run *r, double then)
{
	struct cpl_campaign_span span = {.seconds = then - r->now};
	struct cpl_campaign_result *out = r->out;

	if (!(span.seconds > 0))
		return 0;
	span.busiest = busiest(r);
	span.used = 1 - (double)r->n_free / r->n_nodes;
	span.fragmented = fragmented(r);
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

static void take_node(struct campaign_run *r, int node, bool loud, int sign)
{
	int leaf = r->tree->leaf_of[node];

	r->free[node] = sign < 0;
	r->n_free -= sign;
	r->leaf_free[leaf] -= sign;
	r->loud[leaf] += loud ? sign : 0;
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
	struct choice_request req = {.team = free_team(r),
	                             .campaign = r->c,
	                             .kind = kind,
	                             .traffic = *traffic,
	                             .stock = {.tree = r->tree,
	                                       .free = r->free,
	                                       .n = r->c->log->job[job].nodes,
	                                       .communicates = kind != NULL,
	                                       .loud = r->loud,
	                                       .study = r->c->study},
	                             .n_free = r->n_free,
	                             .scene = &r->running.scene};
	double begin = cpl_clock();
	int rc = campaign_choose(chooser, &req, at->node, &at->rank_host,
	                         &r->err);

	r->out->job[job].decision = cpl_clock() - begin;
	return rc;
}

/* This sets what it sends from there. */
static int settle(struct campaign_run *r, const struct kind *kind,
                  struct running_job *at)
{
	at->share = kind->share;
	at->reference = reference_of(r, kind, at->job);
	if (order_nodes(kind, at, &r->err))
		return -1;
	at->times = cpl_times_open(kind->phase, kind->n_phases, kind->ranks,
	                           &r->err);
	return at->times &&
	                       !cpl_times_order(at->times, at->rank_host,
	                                        kind->ranks_per_node,
	                                        kind->nodes, &r->err) &&
	                       !cpl_times_put(at->times,
	                                        r->running.scene.space,
	                                        at->node, &r->err)
	               ? 0
	               : -1;
}

static int place_job(struct campaign_run *r, int job, struct running_job *at)
{
	struct kind *kind = kind_of(r, job);
	struct chooser chooser = campaign_rule(r->c, &r->chooser, job);
	struct kind_traffic traffic = {0};
	int rc;

	at->node = malloc((size_t)r->c->log->job[job].nodes *
	                  sizeof(*at->node));
	if (!at->node)
		return cpl_fail_memory(&r->err);
	if (!kind)
		return choose(r, job, &chooser, NULL, &traffic, at);
	if (campaign_traffic_take(r->kinds, kind, &chooser, &traffic, &r->err))
		return -1;
	rc = choose(r, job, &chooser, kind, &traffic, at) || settle(r, kind, at)
	             ? -1
	             : 0;
	campaign_traffic_give(r->kinds, kind);
	return rc;
}

/* This counts the study's cost of a job whose nodes are among the loud ones. */
static void count_cost(struct campaign_run *r, struct running_job *at)
{
	double cost = cpl_study_cost(r->tree, r->loud, r->c->study, at->node,
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
	int i = r->running.n, n = r->c->log->job[job].nodes;

	if (!before || place_job(r, job, &at))
		goto fail;
	for (int k = 0; k < i; k++)
		before[k] = r->running.job[k].stretch;
	for (int k = 0; k < n; k++)
		take_node(r, at.node[k], at.times != NULL, 1);
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
	for (int k = 0; k < n; k++)
		take_node(r, at.node[k], at.times != NULL, -1);
	cpl_easy_end(&r->easy, at.job);
	if (r->c->keep_nodes) {
		out->node = at.node;
		at.node = NULL;
	}
	running_free(&at);
	running_end(&r->running, i);
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

		if (job->nodes <= r->n_nodes) {
			cpl_easy_submit(&r->easy, r->next, job->nodes,
			                job->limit);
			continue;
		}
		r->out->job[r->next] =
		        (struct cpl_campaign_job){.start = -1, .end = -1};
		r->done++;
	}
}

static int play(struct campaign_run *r)
{
	const struct cpl_log *log = r->c->log;
	int job;

	while (r->done < log->n_jobs) {
		double then = next_end(r);

		if (r->next < log->n_jobs && log->job[r->next].submit < then)
			then = log->job[r->next].submit;
		if (then > r->now && pass(r, then))
			return -1;
		end_due(r, then);
		submit_due(r);
		while ((job = cpl_easy_start(&r->easy, r->now)) >= 0)
			if (start(r, job))
				return -1;
	}
	return 0;
}

static int open_run(struct campaign_run *r)
{
	const struct cpl_network *net = r->c->net;
	int n_jobs = r->c->log->n_jobs;
	struct cpl_error *err = &r->err;

	r->out->job = calloc((size_t)n_jobs + 1, sizeof(*r->out->job));
	r->free = calloc((size_t)net->n_nodes, 1);
	r->loud = calloc((size_t)r->tree->n_leaves, sizeof(int));
	r->leaf_free = calloc((size_t)r->tree->n_leaves, sizeof(int));
	r->team = cpl_team_new(r->c->threads, err);
	if (!r->out->job || !r->free || !r->loud || !r->leaf_free)
		return cpl_fail_memory(err);
	if (!r->team ||
	    running_open(&r->running, net, r->c->routing, n_jobs, err))
		return -1;
	for (int i = 0; i < net->n_nodes; i++)
		if (net->node_name[i])
			take_node(r, i, false, -1);
	r->n_nodes = r->n_free;
	return cpl_easy_init(&r->easy, r->n_nodes, n_jobs, r->c->backfill,
	                     err);
}

static void close_run(struct campaign_run *r)
{
	running_close(&r->running);
	free(r->free);
	free(r->loud);
	free(r->leaf_free);
	cpl_team_free(r->team);
	cpl_easy_free(&r->easy);
}

/* This is one of several policies. */
struct plays {
	struct campaign_run *run;
	int first;
};

static void play_one(void *arg, int64_t chunk, int thread)
{
	struct plays *plays = arg;
	struct campaign_run *r = &plays->run[plays->first + chunk];

	(void)thread;
	atomic_fetch_add(&r->progress->playing, 1);
	if (!open_run(r))
		play(r);
	close_run(r);
	atomic_fetch_sub(&r->progress->playing, 1);
}

/* The first policy's communication is the reference of the others. */
static double *references(const struct cpl_campaign *c,
                          const struct cpl_campaign_result *first)
{
	double *out = malloc(((size_t)c->log->n_jobs + 1) * sizeof(*out));

	for (int i = 0; out && i < c->log->n_jobs; i++)
		out[i] = c->model == CPL_CAMPAIGN_STUDY
		                 ? first->job[i].cost
		                 : first->job[i].slowdown;
	return out;
}

/* Slowdowns under the first policy are measured against themselves. */
static int play_first(struct plays *plays, int n, double **reference,
                      struct cpl_error *err)
{
	const struct cpl_campaign *c = plays->run[0].c;
	struct cpl_campaign_result *first = plays->run[0].out;

	play_one(plays, 0, 0);
	if (plays->run[0].err.text[0])
		return 0;
	*reference = references(c, first);
	if (!*reference)
		return cpl_fail_memory(err);
	for (int i = 1; i < n; i++)
		plays->run[i].reference = *reference;
	for (int i = 0; i < c->log->n_jobs; i++)
		first->job[i].slowdown = 1;
	plays->first = 1;
	return 0;
}

static int count_large(const struct cpl_campaign *c)
{
	int usable = cpl_network_hosts(c->net), n = 0;

	for (int i = 0; i < c->log->n_jobs; i++)
		n += c->log->job[i].nodes > usable;
	return n;
}

static int play_all(const struct cpl_campaign *c, struct campaign_run *run,
                    int n, struct cpl_error *err)
{
	struct plays plays = {.run = run};
	double *reference = NULL;
	int rc = 0;

	if (c->reference == CPL_CAMPAIGN_FIRST)
		rc = play_first(&plays, n, &reference, err);
	if (!rc && !run[0].err.text[0])
		cpl_parallel(c->threads, n - plays.first, play_one, &plays);
	for (int i = 0; i < n && !rc; i++)
		if (run[i].err.text[0])
			rc = cpl_fail(err, "policy %s: %s", run[i].out->policy,
			              run[i].err.text);
	free(reference);
	return rc;
}

int cpl_campaign_run(const struct cpl_campaign *c, const char *const *policy,
                     int n, struct cpl_campaign_result *out,
                     struct cpl_error *err)
{
	struct campaign_progress progress = {.c = c};
	struct cpl_stock_tree tree = {0};
	struct kinds kinds = {0};
	struct campaign_run *run = calloc((size_t)n + 1, sizeof(*run));
	int rc = -1;

	for (int i = 0; i < n; i++)
		out[i] = (struct cpl_campaign_result){.policy = policy[i]};
	if (!run) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++) {
		run[i] = (struct campaign_run){.c = c,
		                               .kinds = &kinds,
		                               .tree = &tree,
		                               .out = &out[i],
		                               .progress = &progress};
		if (campaign_chooser(c->net, policy[i], &c->wish,
		                     &run[i].chooser, err))
			goto out;
		if (run[i].chooser.site && !c->rule) {
			cpl_fail(err, "policy '" CPL_CAMPAIGN_SITE
			              "' goes by rules, and there are none");
			goto out;
		}
	}
	if (cpl_stock_tree_init(&tree, c->net, err) ||
	    campaign_kinds(c, &kinds, err))
		goto out;
	if (c->log->n_jobs && count_large(c) == c->log->n_jobs) {
		cpl_fail(err,
		         "each of the %d jobs of the log needs more nodes "
		         "than network '%s' has",
		         c->log->n_jobs, c->net->name);
		goto out;
	}
	for (int i = 0; i < n; i++) {
		out[i].too_large = count_large(c);
		out[i].other_ranks = kinds.other_ranks;
	}
	progress.of = (int64_t)n * (c->log->n_jobs - out[0].too_large);
	rc = play_all(c, run, n, err);
out:
	campaign_kinds_free(&kinds);
	cpl_stock_tree_free(&tree);
	free(run);
	return rc;
}

void cpl_campaign_free(struct cpl_campaign_result *result, int n_jobs)
{
	for (int i = 0; result->job && i < n_jobs; i++)
		free(result->job[i].node);
	free(result->job);
	free(result->span);
	*result = (struct cpl_campaign_result){0};
}
