/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/campaign.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "campaign/play.h"

/* Several policies are played from the last on: what costs most is mostly named behind
 * what it is compared with, and should not begin when the others are done. */
struct plays {
	struct campaign_run *run;
	int last;
};

static void play_one(void *arg, int64_t chunk, int thread)
{
	struct plays *plays = arg;
	struct campaign_run *r = &plays->run[plays->last - chunk];

	(void)thread;
	atomic_fetch_add(&r->progress->playing, 1);
	campaign_play(r);
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
	plays->last = n - 1;
	return 0;
}

/* This finds out what the jobs ask for of their nodes. */
static int ask(const struct cpl_campaign *c, const struct kinds *kinds,
               struct bounds *bounds, struct cpl_error *err)
{
	for (int i = 0; i < c->log->n_jobs; i++) {
		const struct cpl_log_job *job = &c->log->job[i];
		const struct cpl_jobs_rule *rule =
		        cpl_jobs_rule_of(c->jobs, job, c->seed);
		struct cpl_asked asked = job->asked;

		if (rule && !cpl_asked_any(&asked))
			asked = rule->asked;
		if (kinds->of[i] >= 0 && !asked.segment && !asked.switches &&
		    !asked.contiguous)
			asked.segment = kinds->kind[kinds->of[i]].segment;
		if (bounds_ask(bounds, i, job->nodes, &asked, err))
			return -1;
	}
	return 0;
}

/* This marks the jobs that no nodes can be found for. It returns how many, or -1 with
 * err when memory is out. */
static int find_large(const struct cpl_campaign *c, struct bounds *bounds,
                      unsigned char *large, struct cpl_error *err)
{
	int usable = cpl_network_hosts(c->net), n = 0;

	for (int i = 0; i < c->log->n_jobs; i++) {
		struct job_bound *bound = bounds->of[i] < 0
		                              ? NULL
		                              : &bounds->bound[bounds->of[i]];
		int nodes = c->log->job[i].nodes;
		int ever = nodes > usable ? 0
		           : bound        ? bound_ever(bounds, bound, nodes, err)
		                          : 1;

		if (ever < 0)
			return -1;
		large[i] = !ever;
		n += !ever;
	}
	return n;
}

static int play_all(const struct cpl_campaign *c, struct campaign_run *run,
                    int n, struct cpl_error *err)
{
	bool first = c->reference == CPL_CAMPAIGN_FIRST;
	struct plays plays = {.run = run, .last = first ? 0 : n - 1};
	double *reference = NULL;
	int rc = 0;

	if (first)
		rc = play_first(&plays, n, &reference, err);
	if (!rc && !run[0].err.text[0])
		cpl_parallel(c->threads, n - first, play_one, &plays);
	for (int i = 0; i < n && !rc; i++)
		if (run[i].err.text[0])
			rc = cpl_fail(err, "policy %s: %s", run[i].out->policy,
			              run[i].err.text);
	free(reference);
	return rc;
}

static int choose_policies(const struct cpl_campaign *c, struct campaign_run *run,
                           int n, struct cpl_error *err)
{
	for (int i = 0; i < n; i++) {
		if (campaign_chooser(c->net, run[i].out->policy, &c->wish,
		                     &run[i].chooser, err))
			return -1;
		if (run[i].chooser.site && !c->rule)
			return cpl_fail(err,
			                "policy '" CPL_CAMPAIGN_SITE
			                "' goes by rules, and there are none");
	}
	return 0;
}

/* This finds all that is the same under each policy: kinds of jobs, and which jobs
 * never run. */
static int get_ready(const struct cpl_campaign *c, struct kinds *kinds,
                     struct bounds *bounds, unsigned char *large, int *n_large,
                     struct cpl_error *err)
{
	if (!large)
		return cpl_fail_memory(err);
	if (bounds_open(bounds, c->net, c->units, c->log->n_jobs, err) ||
	    campaign_kinds(c, c->segments ? bounds->least : 0, kinds, err) ||
	    ask(c, kinds, bounds, err))
		return -1;
	if (c->slurm && bounds->n)
		return cpl_fail(err, "jobs ask for more of their nodes than a number, "
		                     "which Slurm's queue is not played with");
	*n_large = find_large(c, bounds, large, err);
	if (*n_large < 0)
		return -1;
	return c->log->n_jobs && *n_large == c->log->n_jobs
	               ? cpl_fail(err,
	                          "each of the %d jobs of the log needs more "
	                          "nodes than network '%s' has%s",
	                          c->log->n_jobs, c->net->name,
	                          bounds->n ? " as it asks for them" : "")
	               : 0;
}

int cpl_campaign_run(const struct cpl_campaign *c, const char *const *policy,
                     int n, struct cpl_campaign_result *out,
                     struct cpl_error *err)
{
	struct campaign_progress progress = {.c = c};
	struct cpl_stock_tree tree = {0};
	struct bounds bounds = {0};
	struct kinds kinds = {0};
	struct campaign_run *run = calloc((size_t)n + 1, sizeof(*run));
	unsigned char *large = calloc((size_t)c->log->n_jobs + 1, 1);
	int rc = -1, n_large = 0;

	for (int i = 0; i < n; i++)
		out[i] = (struct cpl_campaign_result){.policy = policy[i]};
	if (!run) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < n; i++)
		run[i] = (struct campaign_run){.c = c,
		                               .kinds = &kinds,
		                               .bounds = &bounds,
		                               .large = large,
		                               .tree = &tree,
		                               .out = &out[i],
		                               .progress = &progress};
	if (choose_policies(c, run, n, err) ||
	    cpl_stock_tree_init(&tree, c->net, err) ||
	    get_ready(c, &kinds, &bounds, large, &n_large, err))
		goto out;
	for (int i = 0; i < n; i++) {
		out[i].too_large = n_large;
		out[i].other_ranks = kinds.other_ranks;
		out[i].bounded = bounds.n > 0;
	}
	progress.of = (int64_t)n * (c->log->n_jobs - n_large);
	rc = play_all(c, run, n, err);
out:
	campaign_kinds_free(&kinds);
	cpl_stock_tree_free(&tree);
	bounds_close(&bounds);
	cpl_free_all(large, run);
	return rc;
}

void cpl_campaign_free(struct cpl_campaign_result *result, int n_jobs)
{
	for (int i = 0; result->job && i < n_jobs; i++)
		free(result->job[i].node);
	cpl_free_all(result->job, result->span);
	*result = (struct cpl_campaign_result){0};
}
