/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace benefit`: what placement does for a site's own jobs. */
#include "commplace-config.h"
#include "benefit.h"

#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "options.h"
#include "site/trial.h"
#include "site_files.h"

enum { FORMAT_TEXT, FORMAT_OPENMETRICS };

struct options {
	const char *table, *sacct, *state_dir, *config, *out, *html, *plot;
	bool json, plan, write;
	int format;
	double effect, trial, spread, node_hours; /* percent; spread 0: by jobs */
	struct sacct_keys keys;
};

static int check(const struct cmd *self, const struct options *o)
{
	bool metrics = o->format == FORMAT_OPENMETRICS;

	if (o->json + metrics > 1)
		return cmd_usage(self, "only one of --json and --format "
		                       "openmetrics at a time");
	if (o->out && !metrics)
		return cmd_usage(self, "-o goes with --format openmetrics");
	if (o->table && o->sacct)
		return cmd_usage(self, "--sacct goes with records, not with "
		                       "--table");
	if (o->table && (o->keys.merit || o->keys.seconds))
		return cmd_usage(self, "--merit and --seconds go with records, "
		                       "not with --table");
	if (o->plan && o->write)
		return cmd_usage(self, "--plan writes nothing");
	if (o->plan && (metrics || o->html || o->plot))
		return cmd_usage(self, "--plan goes with --json alone");
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	static const char *const formats[] = {"text", "openmetrics", NULL};
	const struct cmd_option table[] = {
	        {"table", .text = &o->table},
	        {"sacct", .text = &o->sacct},
	        {"merit", .text = &o->keys.merit},
	        {"seconds", .text = &o->keys.seconds},
	        {"effect", .number = &o->effect, .least = 0.1, .most = 90},
	        {"plan", .flag = &o->plan},
	        {"trial", .number = &o->trial, .least = 0.1, .most = 99.9},
	        {"spread", .number = &o->spread, .least = 0.1, .most = 1000},
	        {"node-hours", .number = &o->node_hours, .least = 1e-6,
	         .most = 1e12},
	        {"json", .flag = &o->json},
	        {"format", .choice = &o->format, .choices = formats},
	        {"output", .text = &o->out},
	        {"html", .text = &o->html},
	        {"plot", .text = &o->plot},
	        {"write", .flag = &o->write},
	        {"state-dir", .text = &o->state_dir},
	        {"config", .text = &o->config},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	return rc ? rc : check(self, o);
}

/* What the jobs tell for a plan, where no option does. */
static void plan_by_jobs(struct options *o, const struct cpl_benefit *b)
{
	const struct cpl_benefit_pool *all = &b->overall;
	double jobs = (double)(all->jobs[0] + all->jobs[1]);
	double spread = all->spread[CPL_ARM_STOCK] > 0
	                        ? all->spread[CPL_ARM_STOCK]
	                        : all->spread[CPL_ARM_PLACED];

	if (!(o->spread > 0) && spread > 0)
		o->spread = 100 * spread;
	if (!(o->node_hours > 0) && jobs > 0)
		o->node_hours = all->node_seconds / jobs / 3600;
}

static int print_plan(const struct cmd *self, const struct options *o)
{
	double spread = o->spread > 0 ? o->spread : 20;
	double hours = o->node_hours > 0 ? o->node_hours : 1;
	struct cpl_trial_plan plan = cpl_benefit_plan(
	        o->effect / 100, o->trial / 100, spread / 100, hours);

	if (o->json)
		return cmd_print_pack(
		        self, "{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "effect",
		        o->effect / 100, "trial", o->trial / 100, "spread",
		        spread / 100, "job_node_hours", hours, "jobs",
		        plan.jobs, "node_hours", plan.node_hours,
		        "cost_node_hours", plan.cost);
	printf("A gain of %g %% is expected to show after %.0f jobs, %g %% of "
	       "them stock,\n"
	       "where elapsed times of jobs alike differ by %.3g %%. They take "
	       "%.5g node hours\n"
	       "at %.3g each. If the gain is that, the stock ones take %.4g "
	       "node hours longer\n"
	       "than they would placed: that is the cost of the trial.\n",
	       o->effect, plan.jobs, o->trial, spread, plan.node_hours, hours,
	       plan.cost);
	return CMD_OK;
}

/* Page, figure and metrics, all of those asked for or none. */
static int write_files(const struct options *o, const struct benefit_report *r,
                       struct cpl_error *err)
{
	struct cmd_file file[] = {{o->html, NULL}, {o->plot, NULL},
	                          {o->out, NULL}};
	int rc = 0;

	if (cmd_files_open(file, 3, err))
		return -1;
	if (o->html)
		rc = benefit_write_html(r, cpl_file_stream(file[0].writer),
		                        err);
	if (o->plot)
		benefit_plot(r, cpl_file_stream(file[1].writer));
	if (o->out)
		benefit_write_metrics(r, cpl_file_stream(file[2].writer));
	return cmd_files_close(file, 3, rc, err);
}

static int report(const struct cmd *self, const struct options *o,
                  const struct benefit_report *r)
{
	struct cpl_error err = {""};

	if (write_files(o, r, &err))
		return cmd_fail(self, &err);
	if (o->json)
		return benefit_print_json(self, r);
	if (o->out)
		return CMD_OK;
	if (o->format == FORMAT_OPENMETRICS) {
		benefit_write_metrics(r, stdout);
		return CMD_OK;
	}
	return o->html || o->plot ? CMD_OK : benefit_print_text(r);
}

/* The profiles that TrialStop leaves to Slurm. */
static int write_stops(const char *state_dir, const struct cpl_benefit *b,
                       struct cpl_error *err)
{
	struct cpl_trial_state trial = {0};
	char *path = cpl_trial_path(state_dir, err);
	json_t *root = NULL;
	int rc = -1;

	if (!path)
		return -1;
	for (int64_t i = 0; i < b->n_profiles; i++) {
		const struct cpl_benefit_pool *p = &b->profile[i];
		const struct cpl_gain *g = &p->measure[CPL_MEASURE_SECONDS];

		if (!p->stop)
			continue;
		if (cpl_array_grow(&trial.stopped, trial.n,
		                   sizeof(*trial.stopped), err))
			goto out;
		trial.stopped[trial.n++] = (struct cpl_stopped){
		        .profile = (char *)p->profile,
		        .gain = g->gain,
		        .low = g->low,
		        .high = g->high,
		        .jobs = p->jobs[0] + p->jobs[1]};
	}
	root = cpl_trial_json(&trial, time(NULL));
	rc = root ? cpl_json_write_atomic(root, path, 0644, err)
	          : cpl_fail_memory(err);
out:
	json_decref(root);
	free(trial.stopped); /* names are the jobs' */
	free(path);
	return rc;
}

/* The table's jobs, or those of the trial of this site; none for a plan without
 * either. */
static int load_jobs(const struct options *o, struct cpl_trial_jobs *jobs,
                     struct benefit_sources *sources, const char *state_dir,
                     struct cpl_error *err)
{
	sources->table = o->table;
	sources->keys = o->keys;
	if (!sources->keys.merit)
		sources->keys.merit = BENEFIT_MERIT;
	if (benefit_check_keys(&sources->keys, err))
		return -1;
	if (o->table)
		return cpl_trial_jobs_load(jobs, o->table, err);
	if (o->plan && !o->sacct && !o->state_dir && !o->config)
		return 0;
	return benefit_join(jobs, sources, state_dir, o->sacct, err);
}

/* NULL with err. *config is to be freed. */
static const char *find_state_dir(const struct options *o,
                                  struct cpl_config **config,
                                  struct cpl_error *err)
{
	bool needed = o->write || (!o->table && !o->plan) || o->sacct ||
	              o->state_dir || o->config;

	return needed ? cmd_state_dir(o->state_dir, o->config, config, err)
	              : "";
}

static int judge(const struct cmd *self, struct options *o,
                 const struct cpl_benefit *benefit,
                 const struct benefit_sources *sources, const char *state_dir)
{
	const struct benefit_report r = {benefit, sources, o->effect / 100};
	struct cpl_error err = {""};

	if (o->plan) {
		plan_by_jobs(o, benefit);
		return print_plan(self, o);
	}
	if (o->write && write_stops(state_dir, benefit, &err))
		return cmd_fail(self, &err);
	return report(self, o, &r);
}

static int run_benefit(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.effect = 5, .trial = 50};
	struct benefit_sources sources = {NULL};
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit benefit = {0};
	struct cpl_config *config = NULL;
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);
	const char *state_dir;

	if (rc)
		return rc;
	state_dir = find_state_dir(&o, &config, &err);
	if (!state_dir || load_jobs(&o, &jobs, &sources, state_dir, &err) ||
	    cpl_benefit_make(&benefit, &jobs, o.effect / 100, &err))
		rc = cmd_fail(self, &err);
	else
		rc = judge(self, &o, &benefit, &sources, state_dir);
	cpl_benefit_free(&benefit);
	cpl_trial_jobs_free(&jobs);
	cpl_config_free(config);
	return rc;
}

const struct cmd cmd_benefit = {"benefit", run_benefit};
