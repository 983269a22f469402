/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/parallel.h"
#include "options.h"
#include "placement/cut.h"
#include "placement/decide.h"
#include "site/match.h"
#include "site_files.h"

struct options {
	const char *network, *log, *jobs, *policies, *profile_dir, *routing;
	const char *objective, *mapping, *plot, *events, *keep_whole, *config;
	const char *domain, *parameters, *passes;
	int model, study, reference, stock, queue;
	int64_t procs, own_weight, others_weight, keep_price, seed, threads;
	int64_t max_jobs;
	bool json, timing, segments;
};

static const char *const models[] = {"time", "study", NULL};
static const char *const reference_names[] = {"alone", "first", NULL};
static const char *const stocks[] = {"flat", "tree", NULL};
static const char *const queues[] = {"easy", "fifo", "slurm", NULL};

enum { EASY, FIFO, SLURM };

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"network", .text = &o->network, .needed = true},
	        {"log", .text = &o->log, .needed = true},
	        {"jobs", .text = &o->jobs, .needed = true},
	        {"policies", .text = &o->policies, .needed = true},
	        {"profile-dir", .text = &o->profile_dir},
	        {"config", .text = &o->config},
	        {"routing", .text = &o->routing},
	        {"objective", .text = &o->objective},
	        {"own-weight", .integer = &o->own_weight, .low = 0,
	         .high = 1000},
	        {"others-weight", .integer = &o->others_weight, .low = 0,
	         .high = 1000},
	        {"keep-whole", .text = &o->keep_whole},
	        {"keep-whole-price", .integer = &o->keep_price, .low = 0,
	         .high = 1000},
	        {"mapping", .text = &o->mapping},
	        {"domain", .text = &o->domain},
	        {"segment-from-signature", .flag = &o->segments},
	        {"model", .choice = &o->model, .choices = models},
	        {"pattern", .choice = &o->study,
	         .choices = cpl_study_pattern_name},
	        {"reference", .choice = &o->reference,
	         .choices = reference_names},
	        {"stock", .choice = &o->stock, .choices = stocks},
	        {"queue", .choice = &o->queue, .choices = queues},
	        {"scheduler-parameters", .text = &o->parameters},
	        {"passes", .text = &o->passes},
	        {"procs-per-node", .integer = &o->procs, .low = 1,
	         .high = 65536},
	        {"max-jobs", .integer = &o->max_jobs, .low = 1,
	         .high = INT32_MAX},
	        {"seed", .integer = &o->seed, .low = 0, .high = INT64_MAX},
	        {"threads", .integer = &o->threads, .low = 1,
	         .high = CPL_PARALLEL_MAX},
	        {"timing", .flag = &o->timing},
	        {"events", .text = &o->events},
	        {"plot", .text = &o->plot},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (!rc && o->model && !o->reference)
		return cmd_usage(self, "--model study needs --reference first: "
		                       "its costs are not seconds");
	if (!rc && o->queue != SLURM && (o->parameters || o->passes))
		return cmd_usage(self, "--scheduler-parameters and --passes are for "
		                       "--queue slurm");
	return rc;
}

/* "a,b" is cut in place. */
static int list_policies(struct campaign *c, char *text, struct cpl_error *err)
{
	char *save = NULL;

	for (char *name = strtok_r(text, ",", &save); name;
	     name = strtok_r(NULL, ",", &save)) {
		if (c->n == CAMPAIGN_MAX_POLICIES)
			return cpl_fail(err, "--policies: more than %d",
			                CAMPAIGN_MAX_POLICIES);
		if (cpl_campaign_policy_check(c->net, name, err))
			return cpl_fail_prefix(err, "--policies: ");
		c->policy[c->n++] = name;
	}
	return c->n ? 0 : cpl_fail(err, "--policies: names none");
}

/* Load a signature; a relative path is relative to the map's folder. */
static struct cpl_signature *load_signature(const struct options *o,
                                            const char *text,
                                            struct cpl_error *err)
{
	struct cpl_signature *sig;
	char *path = NULL;

	if (strchr(text, '/') || (strlen(text) > 5 &&
	                          !strcmp(text + strlen(text) - 5, ".json"))) {
		path = cpl_path_beside(o->jobs, text, err);
		if (!path)
			return NULL;
	}
	sig = path ? cpl_signature_load(path, err)
	           : cmd_load_signature(text, o->profile_dir, err);
	free(path);
	return sig;
}

static int load_signatures(struct campaign *c, const struct options *o,
                           struct cpl_error *err)
{
	c->signature =
	        calloc((size_t)c->jobs.n_rules + 1, sizeof(*c->signature));
	if (!c->signature)
		return cpl_fail_memory(err);
	for (int i = 0; i < c->jobs.n_rules; i++) {
		const struct cpl_jobs_rule *rule = &c->jobs.rule[i];

		if (!rule->signature)
			continue;
		c->signature[i] = load_signature(o, rule->signature, err);
		if (!c->signature[i])
			return cpl_fail_prefix(err, "%s:%d: ", o->jobs,
			                       rule->line);
	}
	return 0;
}

/* What the configuration says of the log's job, if it has a profile: the user's,
 * whatever its name is, where no line says which. */
static void rule(void *arg, const struct cpl_log_job *job,
                 struct cpl_campaign_rule *out)
{
	const struct campaign *c = arg;
	struct cpl_job_facts facts = {.name = job->name,
	                              .qos = job->qos,
	                              .account = job->account,
	                              .partition = job->partition,
	                              .nodes = job->nodes,
	                              .profile = "site",
	                              .profile_yields = true};
	struct cpl_resolved want;

	facts.has_uid = *job->user && !cpl_match_user(job->user, &facts.uid);
	cpl_resolve(c->config, c->net, &facts, &want);
	*out = (struct cpl_campaign_rule){
	        .wish = want.wish,
	        .stock = want.mode != CPL_MODE_ON || !want.profile.value ||
	                 !want.wish.policy || job->nodes < want.min_nodes,
	        .compare_nodes = c->config->compare_nodes,
	        .work = want.max_decision_ms * CPL_DECIDE_WORK_MS};
}

static void nobody(void *arg, const char *text)
{
}

/* What policy "site" goes by. */
static int load_rules(struct campaign *c, const struct options *o,
                      struct cpl_error *err)
{
	for (int i = 0; i < c->n && !c->core.rule; i++)
		if (!strcasecmp(c->policy[i], CPL_CAMPAIGN_SITE))
			c->core.rule = rule;
	if (!c->core.rule)
		return 0;
	c->core.rule_arg = c;
	c->config = cmd_config_load(o->config, err);
	if (c->config && cpl_config_learned(c->config))
		return cpl_fail(err, "%s: Objective=learned goes by a model, "
		                     "which a campaign has not",
		                c->config->path);
	return c->config ? cpl_config_find_users(c->config, nobody, NULL, err)
	                 : -1;
}

static int load_queue(struct campaign *c, const struct options *o,
                      struct cpl_error *err)
{
	if (cpl_backfill_parse(o->parameters, &c->queue.options, err))
		return cpl_fail_prefix(err, "--scheduler-parameters: ");
	c->core.slurm = &c->queue;
	return o->passes ? cpl_passes_load(o->passes, &c->queue.pass,
	                                   &c->queue.n_passes, err)
	                 : 0;
}

static int load(struct campaign *c, const struct options *o, char *policies,
                struct cpl_error *err)
{
	struct cpl_campaign *core = &c->core;
	struct cpl_cut cut;

	c->net = cpl_network_load(o->network, err);
	if (!c->net || list_policies(c, policies, err))
		return -1;
	*core = (struct cpl_campaign){
	        .net = c->net,
	        .log = &c->log,
	        .jobs = &c->jobs,
	        .wish = {.own_weight = (double)o->own_weight,
	                 .others_weight = (double)o->others_weight,
	                 .objective = CPL_OBJECTIVE_AUTO,
	                 .keep_price = (int)o->keep_price},
	        .stock_is_tree = o->stock == 1,
	        .backfill = o->queue == EASY,
	        .units = o->domain,
	        .segments = o->segments,
	        .model = o->model ? CPL_CAMPAIGN_STUDY : CPL_CAMPAIGN_TIMES,
	        .study = (enum cpl_study_pattern)o->study,
	        .reference =
	                o->reference ? CPL_CAMPAIGN_FIRST : CPL_CAMPAIGN_ALONE,
	        .seed = (uint64_t)o->seed,
	        .threads = (int)o->threads,
	        .keep_nodes = o->events != NULL,
	};
	if (o->objective &&
	    cpl_objective_parse(o->objective, &core->wish.objective, err))
		return cpl_fail_prefix(err, "--objective: ");
	core->wish.objective =
	        cpl_objective_for(core->wish.objective,
	                          cpl_routing_find(c->net, o->routing, NULL));
	if (core->wish.objective == CPL_OBJECTIVE_LEARNED)
		return cpl_fail(err, "--objective: learned goes by a model, "
		                     "which a campaign has not");
	if (cpl_wish_mapper(&core->wish, o->mapping, err))
		return cpl_fail_prefix(err, "--mapping: ");
	if (cpl_wish_units(&core->wish, c->net, o->keep_whole, err))
		return cpl_fail_prefix(err, "--keep-whole: ");
	if (o->domain && cpl_cut_find(c->net, o->domain, &cut, err))
		return cpl_fail_prefix(err, "--domain: ");
	core->routing = cpl_routing_find_quick(c->net, o->routing, err);
	if (!core->routing)
		return cpl_fail_prefix(err, "--routing: ");
	if (load_rules(c, o, err))
		return -1;
	if (cpl_log_load(o->log, (int)o->procs, &c->log, err) ||
	    cpl_jobs_load(o->jobs, &c->jobs, err) ||
	    load_signatures(c, o, err))
		return -1;
	core->signature = c->signature;
	if (o->queue == SLURM && load_queue(c, o, err))
		return -1;
	if (o->max_jobs && o->max_jobs < c->log.n_jobs)
		c->log.n_jobs = (int)o->max_jobs;
	return 0;
}

/* On a terminal, twice a second at the most, whoever comes. */
struct shown {
	_Atomic int64_t next; /* starts at which to look at the clock */
	double begin;
};

static void show(void *arg, int64_t done, int64_t of)
{
	struct shown *shown = arg;
	int64_t next = shown->next;
	double passed;

	if (done < next)
		return;
	passed = cpl_clock() - shown->begin;
	shown->next = done + 1 +
	              (passed > 0 ? (int64_t)(0.5 * (double)done / passed) : 0);
	fprintf(stderr, "\rcommplace campaign: %3d %% of %lld starts, %.0f s ",
	        (int)(100 * done / (of ? of : 1)), (long long)of, passed);
}

/* The next decision takes the memory that one gives back: the C library would
 * return large blocks to the system each time, which clears them. */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

static int play(struct campaign *c, struct cpl_error *err)
{
	struct shown shown = {.next = 1, .begin = cpl_clock()};
	bool terminal = isatty(STDERR_FILENO);
	int rc;

	keep_memory();
	if (terminal) {
		c->core.progress = show;
		c->core.progress_arg = &shown;
	}
	rc = cpl_campaign_run(&c->core, c->policy, c->n, c->result, err);
	if (terminal)
		fprintf(stderr, "\r%60s\r", "");
	for (int i = 0; i < c->n && !rc; i++)
		rc = cpl_campaign_summarise(&c->core, &c->result[i],
		                            &c->result[0], &c->summary[i], err);
	return rc;
}

static void release(struct campaign *c)
{
	for (int i = 0; i < c->n; i++)
		cpl_campaign_free(&c->result[i], c->log.n_jobs);
	for (int i = 0; c->signature && i < c->jobs.n_rules; i++)
		cpl_signature_free(c->signature[i]);
	free(c->signature);
	cpl_config_free(c->config);
	cpl_jobs_free(&c->jobs);
	free(c->queue.pass);
	cpl_log_free(&c->log);
	cpl_network_free(c->net);
}

/* It is better to fail now than after minutes of playing; the attempt leaves
 * nothing behind. */
static int try_files(const struct options *o, struct cpl_error *err)
{
	struct cmd_file file[] = {{.path = o->events}, {.path = o->plot}};

	if (cmd_files_open(file, 2, err))
		return -1;
	cmd_files_close(file, 2, -1, err);
	return 0;
}

static int run_campaign(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.mapping = "quick",
	                    .procs = 1,
	                    .own_weight = 1,
	                    .others_weight = 1,
	                    .keep_price = 100,
	                    .seed = 1,
	                    .threads = cpl_parallel_cpus()};
	struct campaign c = {0};
	struct cpl_error err = {""};
	char *policies;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	c.timing = o.timing;
	policies = strdup(o.policies);
	if (!policies)
		return cmd_fail_memory(self);
	if (load(&c, &o, policies, &err) || try_files(&o, &err) ||
	    play(&c, &err) || campaign_write(&c, o.events, o.plot, &err))
		rc = cmd_fail(self, &err);
	else
		rc = o.json ? campaign_print_json(self, &c)
		            : campaign_print_text(self, &c);
	release(&c);
	free(policies);
	return rc;
}

const struct cmd cmd_campaign = {"campaign", run_campaign};
