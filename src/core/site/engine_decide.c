/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hostlist.h"
#include "signature/signature.h"
#include "site/engine_internal.h"

/* What configuration and wishes come to for one job. */
struct resolved {
	const char *profile; /* NULL: none */
	const char *policy;  /* NULL: nothing is asked for */
	const char *mapping;
	int min_nodes;
	bool policy_stated; /* by user or site, not the "auto" of a profile */
};

static struct resolved resolve(const struct cpl_config *config,
                               const struct cpl_engine_job *job)
{
	struct cpl_defaults defaults =
	        cpl_config_defaults(config, job->partition);
	struct resolved out = {
	        .policy = defaults.policy,
	        .mapping = defaults.mapping,
	        .min_nodes = defaults.min_nodes,
	};

	if (job->profile && config->user_profile)
		out.profile =
		        strcmp(job->profile, "none") ? job->profile : NULL;
	else if (job->name)
		out.profile = cpl_config_match(config, job->name);
	if (out.profile && !strcmp(out.profile, CPL_PROFILE_NONE))
		out.profile = NULL;
	if (job->policy && config->user_policy)
		out.policy = job->policy;
	if (job->mapping && config->user_mapping)
		out.mapping = job->mapping;
	out.policy_stated = out.policy != NULL;
	if (out.profile && !out.policy)
		out.policy = "auto";
	return out;
}

static bool in_force(const struct cpl_engine *engine)
{
	return engine->snapshot &&
	       engine->snapshot->config->mode != CPL_MODE_OFF &&
	       engine->snapshot->net;
}

bool cpl_engine_concerns(struct cpl_engine *engine,
                         const struct cpl_engine_job *job)
{
	bool ours;

	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	ours = in_force(engine) &&
	       resolve(engine->snapshot->config, job).policy;
	pthread_mutex_unlock(&engine->api);
	return ours;
}

unsigned char *cpl_engine_excerpt(struct cpl_engine *engine,
                                  const struct cpl_engine_job *job,
                                  const struct cpl_excerpt_step *step,
                                  size_t *size, struct cpl_error *err)
{
	struct cpl_engine_profile *profile = NULL;
	const struct cpl_config *config;
	unsigned char *data = NULL;
	const char *name = NULL;
	char *path = NULL;

	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	config = engine->snapshot ? engine->snapshot->config : NULL;
	if (config && config->mode == CPL_MODE_ON &&
	    strcmp(config->binding, CPL_BINDING_NONE))
		name = resolve(config, job).profile;
	path = name ? cpl_profile_path(config->profile_dir, name, err) : NULL;
	if (path)
		profile = engine_profile_get(
		        engine, path,
		        engine_now() + config->max_decision_ms * 1000000LL,
		        err);
	if (profile && profile->graph)
		data = cpl_excerpt_write(profile->graph, name, step,
		                         CPL_EXCERPT_MAX_BYTES, size, err);
	else if (profile)
		cpl_fail(err, "%s", profile->error.text);
	engine_profile_drop(engine, profile);
	pthread_mutex_unlock(&engine->api);
	free(path);
	return data;
}

void cpl_engine_known(struct cpl_engine *engine, unsigned char *host, int n)
{
	pthread_mutex_lock(&engine->api);
	for (int i = 0; i < n; i++)
		if (!engine->host_node || i >= engine->n_hosts ||
		    engine->host_node[i] < 0)
			host[i] = 0;
	pthread_mutex_unlock(&engine->api);
}

static int set_reason(struct cpl_engine_answer *answer, const char *outcome,
                      const char *reason)
{
	struct cpl_record *record = answer->record;
	int rc = engine_set(&record->outcome, outcome) |
	         engine_set(&record->reason, reason);

	answer->reason = record->reason ? record->reason : "out of memory";
	return rc;
}

void cpl_engine_refused(struct cpl_engine_answer *answer, const char *reason)
{
	answer->place = false;
	if (answer->record)
		set_reason(answer, "stock", reason);
}

static struct cpl_record *record_new(const struct cpl_engine *engine,
                                     const struct cpl_engine_request *req,
                                     const struct resolved *want)
{
	const struct snapshot *now = engine->snapshot;
	struct cpl_record *record = calloc(1, sizeof(*record));
	int failed;

	if (!record)
		return NULL;
	record->job = req->job.id;
	record->time = time(NULL);
	record->uid = req->job.uid;
	record->seed = now->config->seed;
	record->nodes_wanted = req->nodes_wanted;
	record->stock_max_congestion = record->stock_mean_congestion = -1;
	failed = engine_set(&record->job_name, req->job.name) |
	         engine_set(&record->partition, req->job.partition) |
	         engine_set(&record->profile, want->profile) |
	         engine_set(&record->outcome, "stock") |
	         engine_set(&record->reason, "") |
	         engine_set(&record->policy_asked, want->policy) |
	         engine_set(&record->policy, "stock") |
	         engine_set(&record->objective,
	                    cpl_objective_name(now->config->objective)) |
	         engine_set(&record->routing, now->routing->name) |
	         engine_set(&record->network_file, now->config->network_file) |
	         engine_set(&record->free_hosts, "") |
	         engine_set(&record->required_hosts, "") |
	         engine_set(&record->stock_hosts, "") |
	         engine_set(&record->mapping, want->mapping);
	if (failed) {
		cpl_record_free(record);
		return NULL;
	}
	return record;
}

/*
 * The profile, if the job has one that fits. *use is whether to go on; when
 * not, err says why the stock answer is taken.
 */
static struct cpl_engine_profile *
find_profile(struct cpl_engine *engine, const struct cpl_engine_request *req,
             const struct resolved *want, int64_t deadline, bool *use,
             struct cpl_error *err)
{
	const struct cpl_config *config = engine->snapshot->config;
	struct cpl_engine_profile *profile;
	char *path;

	*use = true;
	if (!want->profile)
		return NULL;
	*use = false;
	path = cpl_profile_path(config->profile_dir, want->profile, err);
	if (!path)
		return NULL;
	profile = engine_profile_get(engine, path, deadline, err);
	free(path);
	if (!profile)
		return NULL;
	if (!profile->comm) {
		cpl_fail(err, "%s", profile->error.text);
		*use = profile->missing && want->policy_stated &&
		       config->missing_profile == CPL_IGNORE;
	} else if (req->ranks && req->ranks != profile->ranks) {
		cpl_fail(err,
		         "profile %s was recorded at %d ranks, the job has %d",
		         want->profile, profile->ranks, req->ranks);
		*use = want->policy_stated &&
		       config->rank_mismatch == CPL_IGNORE;
	} else {
		*use = true;
		return profile;
	}
	engine_profile_drop(engine, profile);
	return NULL;
}

/* Searches over the policies need to know the traffic. */
static bool needs_signature(const char *policy)
{
	return !strcasecmp(policy, "auto") || !strcasecmp(policy, "traffic");
}

static int set_hosts_text(const struct cpl_engine *engine, char **field,
                          const int *host, int n)
{
	char **name = engine_host_names(engine, host, n);
	char *text = name ? cpl_hostlist_format(name, n) : NULL;

	free(name);
	if (!text)
		return -1;
	free(*field);
	*field = text;
	return 0;
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
	int rc = name ? engine_record_hosts(record, name, n) : -1;

	free(name);
	return rc;
}

static const char *policy_name(const struct cpl_candidate *candidate)
{
	return candidate->policy ? candidate->policy->name : "traffic";
}

static int set_candidates(struct cpl_record *record,
                          const struct cpl_decision *decision)
{
	int n = decision->n_candidates;

	record->candidate = calloc((size_t)n + 1, sizeof(*record->candidate));
	if (!record->candidate)
		return -1;
	for (; record->n_candidates < n; record->n_candidates++) {
		const struct cpl_candidate *from =
		        &decision->candidate[record->n_candidates];
		struct cpl_record_candidate *to =
		        &record->candidate[record->n_candidates];

		if (engine_set(&to->policy, policy_name(from)))
			return -1;
		to->seed = from->seed;
		to->evaluated = from->evaluated;
		to->max_congestion = from->metrics.max_congestion;
		to->mean_congestion = from->metrics.mean_congestion;
		to->hop_bytes = from->sums.hop_bytes;
	}
	return 0;
}

static int set_decision(const struct cpl_engine *engine,
                        struct cpl_engine_answer *answer,
                        const struct cpl_decision *decision)
{
	const struct cpl_candidate *chosen =
	        &decision->candidate[decision->chosen];
	struct cpl_record *record = answer->record;
	int n = decision->n_nodes;

	answer->host = malloc(((size_t)n + 1) * sizeof(int));
	if (!answer->host)
		return -1;
	for (int i = 0; i < n; i++)
		answer->host[i] = engine->node_host[decision->node[i]];
	answer->n_hosts = n;
	record->seed = chosen->seed;
	record->cut_short = decision->cut_short;
	return engine_set(&record->policy, policy_name(chosen)) |
	       set_hosts(engine, record, answer->host, n) |
	       set_candidates(record, decision);
}

/* Everything that a core request needs, from a request in host indexes. */
struct prepared {
	unsigned char *free_node;
	int *required;
	int n_free;
};

static int prepare(const struct cpl_engine *engine,
                   const struct cpl_engine_request *req, struct prepared *out,
                   struct cpl_error *err)
{
	int n_nodes = engine->snapshot->net->n_nodes;

	if (!engine->host_node || engine->n_hosts != req->n_hosts)
		return cpl_fail(err, "the table of hosts is not known");
	out->free_node = calloc((size_t)n_nodes + 1, 1);
	out->required = malloc(((size_t)req->n_required + 1) * sizeof(int));
	if (!out->free_node || !out->required)
		return cpl_fail_memory(err);
	for (int i = 0; i < req->n_hosts; i++) {
		if (!req->free[i] || engine->host_node[i] < 0)
			continue;
		out->free_node[engine->host_node[i]] = 1;
		out->n_free++;
	}
	for (int i = 0; i < req->n_required; i++) {
		int node = engine->host_node[req->required[i]];

		if (node < 0)
			return cpl_fail(err,
			                "required node %s is not in the "
			                "network",
			                engine->host_name[req->required[i]]);
		out->required[i] = node;
	}
	if (out->n_free < req->nodes_wanted)
		return cpl_fail(err,
		                "%d nodes are wanted, the network has %d that "
		                "are free",
		                req->nodes_wanted, out->n_free);
	return 0;
}

static int decide(struct cpl_engine *engine,
                  const struct cpl_engine_request *req,
                  const struct resolved *want, int64_t *deadline,
                  struct cpl_engine_answer *answer, struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;
	struct cpl_engine_profile *profile = answer->profile;
	struct cpl_record *record = answer->record;
	struct cpl_decision decision = {0};
	struct prepared ready = {0};
	int rc = -1;

	if (prepare(engine, req, &ready, err))
		goto out;
	struct cpl_decide_request core = {
	        .place = {.net = now->net,
	                  .free = ready.free_node,
	                  .n_nodes_wanted = req->nodes_wanted,
	                  .required = ready.required,
	                  .n_required = req->n_required,
	                  .seed = now->config->seed},
	        .policy = want->policy,
	        .routing = now->routing,
	        .comm = profile ? profile->comm : NULL,
	        .ranks_per_node = record->ranks_per_node,
	        .objective = now->config->objective,
	        .expired = engine_expired,
	        .expired_arg = deadline,
	};
	record->background = calloc((size_t)engine->n_running + 1,
	                            sizeof(*record->background));
	if (!record->background) {
		cpl_fail_memory(err);
		goto out;
	}
	core.background =
	        engine_background(engine, record->background,
	                          &record->n_background, *deadline, err);
	if (err->text[0] || cpl_decide(&core, &decision, err))
		goto out;
	rc = set_decision(engine, answer, &decision);
	if (req->record_free)
		rc |= set_free_text(engine, ready.free_node,
		                    &record->free_hosts);
	rc |= set_hosts_text(engine, &record->required_hosts, req->required,
	                     req->n_required);
	if (rc)
		cpl_fail_memory(err);
out:
	cpl_decision_free(&decision);
	free(ready.free_node);
	free(ready.required);
	return rc;
}

static int spread(int ranks, int nodes)
{
	return nodes > 0 && ranks > 0 ? (ranks + nodes - 1) / nodes : 1;
}

/* -1 with err: the stock answer, for that reason. */
static int consider(struct cpl_engine *engine,
                    const struct cpl_engine_request *req,
                    const struct resolved *want, int64_t *deadline,
                    struct cpl_engine_answer *answer, struct cpl_error *err)
{
	struct cpl_error why = {""};
	struct cpl_record *record = answer->record;
	bool use;

	if (req->nodes_wanted < want->min_nodes)
		return cpl_fail(err, "%d nodes are fewer than MinNodes=%d",
		                req->nodes_wanted, want->min_nodes);
	answer->profile =
	        find_profile(engine, req, want, *deadline, &use, &why);
	if (answer->profile)
		record->ranks = answer->profile->ranks;
	else
		record->ranks = req->ranks;
	record->ranks_per_node =
	        req->ranks_per_node > 0
	                ? req->ranks_per_node
	                : spread(record->ranks, req->nodes_wanted);
	if (req->stock_reason)
		return cpl_fail(err, "%s", req->stock_reason);
	if (!use)
		return cpl_fail(err, "%s", why.text);
	if (!answer->profile && needs_signature(want->policy))
		return cpl_fail(err, "policy %s needs a profile%s%s",
		                want->policy, why.text[0] ? ": " : "",
		                why.text);
	if (decide(engine, req, want, deadline, answer, err))
		return -1;
	if (engine->snapshot->config->mode == CPL_MODE_OBSERVE)
		return cpl_fail(err, "Mode=observe");
	/* Placed all the same, by a policy that needs no profile. */
	if (want->profile && !answer->profile) {
		free(record->profile);
		record->profile = NULL;
		if (engine_set(&record->reason, why.text))
			return cpl_fail_memory(err);
	}
	return 0;
}

void cpl_engine_decide(struct cpl_engine *engine,
                       const struct cpl_engine_request *req,
                       struct cpl_engine_answer *answer)
{
	int64_t begin = engine_now(), deadline;
	struct cpl_error err = {""};
	struct resolved want;

	*answer = (struct cpl_engine_answer){.reason = "not in force"};
	pthread_mutex_lock(&engine->api);
	engine_adopt(engine);
	if (!in_force(engine))
		goto out;
	want = resolve(engine->snapshot->config, &req->job);
	if (!want.policy)
		goto out;
	deadline =
	        begin + engine->snapshot->config->max_decision_ms * 1000000LL;
	answer->reason = "out of memory";
	answer->record = record_new(engine, req, &want);
	if (!answer->record)
		goto out;
	if (consider(engine, req, &want, &deadline, answer, &err)) {
		bool observed =
		        answer->n_hosts &&
		        engine->snapshot->config->mode == CPL_MODE_OBSERVE;

		set_reason(answer, observed ? "observed" : "stock", err.text);
	} else if (!engine_set(&answer->record->outcome, "placed")) {
		answer->reason = answer->record->reason;
		answer->place = true;
	}
	answer->record->decision_ms = (double)(engine_now() - begin) / 1e6;
out:
	pthread_mutex_unlock(&engine->api);
}

void cpl_engine_answer_free(struct cpl_engine *engine,
                            struct cpl_engine_answer *answer)
{
	free(answer->host);
	cpl_record_free(answer->record);
	engine_profile_drop(engine, answer->profile);
	*answer = (struct cpl_engine_answer){.reason = ""};
}

void cpl_engine_baseline(struct cpl_engine *engine,
                         struct cpl_engine_answer *answer, const int *host,
                         int n_hosts)
{
	const struct snapshot *now;
	struct cpl_record *record = answer->record;
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
	struct cpl_error err = {""};
	int64_t *id = NULL, n_ids, deadline;
	int *node = NULL;

	pthread_mutex_lock(&engine->api);
	now = engine->snapshot;
	if (!record || !in_force(engine) || !engine->host_node ||
	    set_hosts_text(engine, &record->stock_hosts, host, n_hosts))
		goto out;
	node = malloc(((size_t)n_hosts + 1) * sizeof(int));
	id = malloc(((size_t)engine->n_running + 1) * sizeof(*id));
	if (!answer->profile || !node || !id)
		goto out;
	for (int i = 0; i < n_hosts; i++) {
		node[i] = engine->host_node[host[i]];
		if (node[i] < 0)
			goto out;
	}
	struct cpl_decide_request core = {
	        .place = {.net = now->net,
	                  .n_nodes_wanted = n_hosts,
	                  .seed = now->config->seed},
	        .policy = "linear",
	        .routing = now->routing,
	        .comm = answer->profile->comm,
	        .ranks_per_node = spread(answer->profile->ranks, n_hosts),
	        .objective = now->config->objective,
	};
	deadline = engine_now() + now->config->max_decision_ms * 1000000LL;
	core.background = engine_background(engine, id, &n_ids, deadline, &err);
	if (!err.text[0] &&
	    !cpl_decide_evaluate(&core, node, &metrics, &sums, &err)) {
		record->stock_max_congestion = metrics.max_congestion;
		record->stock_mean_congestion = metrics.mean_congestion;
	}
out:
	free(node);
	free(id);
	pthread_mutex_unlock(&engine->api);
}
