/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This finds what the jobs of a campaign send, once for each kind of job. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sort.h"
#include "campaign/campaign_internal.h"
#include "mapping/quick.h"
#include "mapping/segments.h"
#include "placement/decide.h"

/* This is a job with its kind, for sorting. */
struct keyed {
	int job, rule, nodes;
	double share;
};

static CPL_SORT_BY(by_kind, struct keyed, CPL_UP(rule), CPL_UP(nodes), CPL_UP(share),
                   CPL_UP(job))

static bool same_kind(const struct keyed *a, const struct keyed *b)
{
	return a->rule == b->rule && a->nodes == b->nodes &&
	       a->share == b->share;
}

/* This finds the part of a job's run time that is communication: the log's, the
 * rule's, or its signature's. It returns -1 with err if none of them states it. */
static int find_share(const struct cpl_campaign *c, int job,
                      const struct cpl_jobs_rule *rule, double *share,
                      struct cpl_error *err)
{
	const struct cpl_signature *sig =
	        c->signature[rule - c->jobs->rule];
	struct cpl_run_times run = {0};

	*share = c->log->job[job].share >= 0 ? c->log->job[job].share
	                                     : rule->share;
	if (*share >= 0)
		return 0;
	if (sig)
		run = cpl_run_times(sig->phase, sig->n_phases);
	*share = run.share;
	return run.seconds > 0
	               ? 0
	               : cpl_fail(err,
	                          "line %d of the jobs' map: Share is missing, "
	                          "and neither the log nor a signature with "
	                          "times states it",
	                          rule->line);
}

/* This says whether the signature is for so many nodes. */
static bool fits(const struct cpl_signature *sig,
                 const struct cpl_jobs_rule *rule, int nodes)
{
	int64_t room = (int64_t)nodes * rule->ranks_per_node;

	return sig->ranks <= room && sig->ranks > room - rule->ranks_per_node;
}

/* This lists the jobs that send anything. It returns how many, or -1 with err. */
static int list(const struct cpl_campaign *c, struct keyed *out,
                struct kinds *kinds, struct cpl_error *err)
{
	int n = 0;

	for (int i = 0; i < c->log->n_jobs; i++) {
		const struct cpl_log_job *job = &c->log->job[i];
		const struct cpl_jobs_rule *rule =
		        cpl_jobs_rule_of(c->jobs, job, c->seed);
		struct keyed key = {.job = i, .nodes = job->nodes};

		kinds->of[i] = -1;
		if (!rule || (!rule->pattern && !rule->signature) ||
		    job->nodes > c->net->n_nodes)
			continue;
		key.rule = (int)(rule - c->jobs->rule);
		if (find_share(c, i, rule, &key.share, err))
			return -1;
		if (rule->signature &&
		    !fits(c->signature[key.rule], rule, job->nodes)) {
			kinds->other_ranks++;
			continue;
		}
		if (key.share > 0 &&
		    (int64_t)job->nodes * rule->ranks_per_node > 1)
			out[n++] = key;
	}
	return n;
}

/* This judges the job alone on these nodes, in seconds, with ranks in blocks. */
static int judge(struct kind *kind, struct cpl_times *times,
                 struct cpl_times_space *space, const int *node)
{
	struct cpl_times_result result;

	if (cpl_times_put(times, space, node, &kind->err))
		return -1;
	cpl_times_judge(times, NULL, false, &result);
	if (!(kind->alone > 0) || result.seconds < kind->alone)
		kind->alone = result.seconds;
	return 0;
}

/* Whatever decisions go by, these find the best sets that are known on the empty
 * machine: auto's by each of them, and node order. */
static const enum cpl_objective objectives[] = {
        CPL_OBJECTIVE_MAX, CPL_OBJECTIVE_MEAN, CPL_OBJECTIVE_HOP_BYTES};
#define N_OBJECTIVES ((int)(sizeof(objectives) / sizeof(*objectives)))

/* This is the candidate that a decision by the objective would have taken: they are
 * the same for each, so one decision has judged them for all. */
static int best_by(const struct cpl_decision *decision, enum cpl_objective objective)
{
	int best = 0;

	for (int i = 1; i < decision->n_candidates; i++) {
		const struct cpl_candidate *a = &decision->candidate[i];
		const struct cpl_candidate *b = &decision->candidate[best];

		if (cpl_objective_better(objective, &a->metrics,
		                         a->sums.hop_bytes, &b->metrics,
		                         b->sums.hop_bytes))
			best = i;
	}
	return best;
}

/* This judges the sets that are best by each of the objectives, and node order, which
 * is the first candidate. */
static int judge_best(const struct cpl_decide_request *req,
                      const struct cpl_decision *decision, struct kind *kind,
                      struct cpl_times *times, struct cpl_times_space *space)
{
	int judged[N_OBJECTIVES + 1], n = 0;

	for (int i = 0; i <= N_OBJECTIVES; i++) {
		int k = 0, at = i < N_OBJECTIVES ? best_by(decision, objectives[i])
		                                 : 0;
		struct cpl_placement_request place = req->place;

		while (k < n && judged[k] != at)
			k++;
		if (k < n)
			continue;
		judged[n++] = at;
		place.seed = decision->candidate[at].seed;
		if (decision->candidate[at].policy->place(&place, decision->node,
		                                          &kind->err) ||
		    judge(kind, times, space, decision->node))
			return -1;
	}
	return 0;
}

static int find_alone(const struct cpl_campaign *c, struct kind *kind)
{
	const struct cpl_network *net = c->net;
	unsigned char *empty = malloc((size_t)net->n_nodes);
	struct cpl_times_space *space =
	        cpl_times_space_new(net, c->routing, &kind->err);
	struct cpl_times *times = cpl_times_open(
	        kind->phase, kind->n_phases, kind->ranks, &kind->err);
	struct cpl_decision decision = {0};
	struct cpl_decide_request req = {
	        .place = {.net = net, .free = empty,
	                  .n_nodes_wanted = kind->nodes, .seed = c->seed},
	        .routing = c->routing,
	        .comm = kind->comm,
	        .ranks_per_node = kind->ranks_per_node};
	int rc = -1;

	if (!empty)
		cpl_fail_memory(&kind->err);
	if (!empty || !space || !times ||
	    cpl_times_order(times, NULL, kind->ranks_per_node, kind->nodes,
	                    &kind->err))
		goto out;
	for (int i = 0; i < net->n_nodes; i++)
		empty[i] = net->node_name[i] != NULL;
	req.wish.policy = &cpl_placement_auto;
	req.wish.objective = objectives[0];
	if (cpl_decide(&req, &decision, &kind->err))
		goto out;
	rc = judge_best(&req, &decision, kind, times, space);
	cpl_decision_free(&decision);
out:
	cpl_times_close(times);
	cpl_times_space_free(space);
	free(empty);
	return rc;
}

/* A pattern's round takes so long that its communication, alone, is the stated
 * share. A signature with times is as loud as it says, and so is one without:
 * times.h. */
static int make(struct kinds *kinds, struct kind *kind)
{
	const struct cpl_campaign *c = kinds->campaign;
	const struct cpl_jobs_rule *rule = &c->jobs->rule[kind->rule];
	const struct cpl_signature *sig = c->signature[kind->rule];

	kind->ranks_per_node = rule->ranks_per_node;
	kind->ranks = sig ? sig->ranks : kind->nodes * rule->ranks_per_node;
	kind->own.weight = 1;
	kind->phase = sig ? sig->phase : &kind->own;
	kind->n_phases = sig ? sig->n_phases : 1;
	if (campaign_traffic_make(c, kind, &kind->err) || find_alone(c, kind))
		return -1;
	kind->sends = kind->alone > 0; /* or all is in the nodes */
	if (kinds->domain && kind->sends)
		kind->segment = cpl_segment_implied(
		        kind->comm, kind->ranks_per_node, kinds->domain,
		        &kind->err);
	if (kind->segment < 0)
		return -1;
	kind->seconds = sig ? cpl_run_times(sig->phase, sig->n_phases).seconds
	                    : kind->alone / kind->share;
	if (!(kind->seconds > 0))
		kind->seconds = kind->alone;
	/* A pattern's own phase has its comm, of one second. */
	kind->own.weight = kind->seconds;
	kind->own.time = 1;
	kind->own.compute_time = 1 - kind->share;
	return kind->sends ? campaign_keep_blocks(kinds, kind, &kind->err) : 0;
}

static void make_one(void *arg, int64_t chunk, int thread)
{
	struct kinds *kinds = arg;
	struct kind *kind = &kinds->kind[chunk];
	const struct cpl_jobs_rule *rule =
	        &kinds->campaign->jobs->rule[kind->rule];
	bool large = (int64_t)kind->nodes * rule->ranks_per_node >= CAMPAIGN_LARGE;

	(void)thread;
	if (large)
		pthread_mutex_lock(&kinds->large);
	make(kinds, kind);
	campaign_traffic_drop(kind);
	if (large)
		pthread_mutex_unlock(&kinds->large);
}

/* Jobs that want more than the machine has are of no kind. */
static void gather(const struct keyed *key, int n, struct kinds *out)
{
	for (int i = 0; i < n; i++) {
		if (!i || !same_kind(&key[i], &key[i - 1]))
			out->kind[out->n++] = (struct kind){
			        .rule = key[i].rule,
			        .nodes = key[i].nodes,
			        .share = key[i].share};
		out->of[key[i].job] = out->n - 1;
	}
}

int campaign_kinds(const struct cpl_campaign *c, int domain, struct kinds *out,
                   struct cpl_error *err)
{
	size_t room = (size_t)c->log->n_jobs + 1;
	struct keyed *key = malloc(room * sizeof(*key));
	int n, usable = cpl_network_hosts(c->net), kept = 0;

	*out = (struct kinds){.campaign = c,
	                      .domain = domain,
	                      .large = PTHREAD_MUTEX_INITIALIZER,
	                      .lock = PTHREAD_MUTEX_INITIALIZER};
	out->of = malloc(room * sizeof(*out->of));
	out->kind = calloc(room, sizeof(*out->kind));
	if (!key || !out->of || !out->kind) {
		free(key);
		return cpl_fail_memory(err);
	}
	n = list(c, key, out, err);
	for (int i = 0; i < n; i++)
		if (key[i].nodes <= usable)
			key[kept++] = key[i];
	qsort(key, (size_t)kept, sizeof(*key), by_kind);
	gather(key, kept, out);
	free(key);
	if (n < 0)
		return -1;
	cpl_parallel(c->threads, out->n, make_one, out);
	for (int i = 0; i < out->n; i++)
		if (out->kind[i].err.text[0])
			return cpl_fail(err, "jobs of %d nodes by line %d of "
			                     "the jobs' map: %.300s",
			                out->kind[i].nodes,
			                c->jobs->rule[out->kind[i].rule].line,
			                out->kind[i].err.text);
	return 0;
}

void campaign_kinds_free(struct kinds *kinds)
{
	for (int i = 0; i < kinds->n; i++) {
		campaign_traffic_drop(&kinds->kind[i]);
		cpl_times_close(kinds->kind[i].blocks);
	}
	free(kinds->kind);
	free(kinds->of);
}
