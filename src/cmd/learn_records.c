/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models of time from what trials measured, and their versions. */
#include "commplace-config.h"
#include "learn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "learn/models.h"
#include "signature.h"
#include "site_files.h"

struct learned_result {
	struct learn_jobs jobs;
	struct cpl_learn_test test;
	struct cpl_model *model; /* NULL: not better */
	int version;             /* 0: not installed */
	char *path;              /* of what is installed */
};

/* "models" beside ProfileDir, to free(). NULL with err. */
static char *model_dir(const struct learn_options *o, struct cpl_error *err)
{
	struct cpl_config *config = NULL;
	struct cpl_error why = {""};
	const char *profiles = o->profile_dir;
	char *dir = NULL;

	if (o->model_dir) {
		dir = strdup(o->model_dir);
		if (!dir)
			cpl_fail_memory(err);
		return dir;
	}
	if (!profiles)
		config = cmd_config_load(o->config, &why);
	if (!profiles && !config && o->config)
		cpl_fail(err, "%s", why.text);
	else
		dir = cpl_path_beside(profiles ? profiles
		                      : config ? config->profile_dir
		                               : CMD_PROFILE_DIR,
		                      "models", err);
	cpl_config_free(config);
	return dir;
}

/* Behind a message that there are too few jobs. */
static void say_why_few(const struct learn_jobs *jobs, struct cpl_error *err)
{
	int64_t silent = jobs->without + jobs->sources.silent;
	struct cpl_error few = *err;

	if (jobs->unplaced)
		cpl_fail(err, "%.100s; where %" PRId64 " ran is not known; %.300s",
		         few.text, jobs->unplaced, jobs->why.text);
	else if (silent)
		cpl_fail(err, "%.100s; %" PRId64 " reported nothing", few.text,
		         silent);
}

static int learn(struct learned_result *r, const struct learn_options *o,
                 struct cpl_error *err)
{
	int column[CPL_SAMPLES_MAX_COLUMNS];
	struct cpl_learn_options to = {.feature = column};

	if (learn_find_method(o, &to, err) ||
	    learn_jobs_load(&r->jobs, o, err))
		return -1;
	to.n_features = learn_choose(r->jobs.samples, o, column, err);
	if (to.n_features < 0)
		return -1;
	if (!cpl_learn_timed(r->jobs.samples, &to, r->jobs.group, &r->test,
	                     &r->model, err))
		return 0;
	if (r->jobs.samples->n < CPL_LEARN_TIMED_LEAST)
		say_why_few(&r->jobs, err);
	return -1;
}

static int install(struct learned_result *r, const struct learn_options *o,
                   struct cpl_error *err)
{
	struct cpl_user_rights rights;
	char *dir = model_dir(o, err);
	int number = -1;

	if (dir && !signature_store_make(dir, err) &&
	    !signature_store_begin(dir, &rights, err)) {
		number = cpl_models_install(dir, o->name, r->model, (int)o->keep,
		                            err);
		cpl_user_end(&rights);
	}
	if (number > 0)
		r->path = cpl_models_path(dir, o->name, err);
	free(dir);
	r->version = r->path ? number : 0;
	return r->path ? 0 : -1;
}

static json_t *plain_json(const struct cpl_learn_test *test)
{
	json_t *list = json_array();

	for (int p = 0; p < CPL_PLAINS; p++)
		if (test->known[p])
			cpl_json_append(list, "{s:s, s:f, s:f, s:f}", "feature",
			                cpl_plain_feature[p], "right",
			                test->plain[p], "lead", test->lead[p],
			                "error", test->error[p]);
	return list;
}

static int print_json(const struct cmd *self, const struct learned_result *r,
                      const struct learn_options *o)
{
	const struct benefit_sources *s = &r->jobs.sources;
	const struct cpl_learn_test *test = &r->test;
	const struct cpl_model *m = r->model;
	json_t *root = json_pack(
	        "{s:s, s:s, s:i, s:b, s:{s:i, s:I, s:f, s:o}, s:o}", "method",
	        o->method, "target", o->target, "samples", r->jobs.samples->n,
	        "better", test->better, "test", "jobs", test->jobs, "pairs",
	        (json_int_t)test->pairs, "right", test->learned, "plain",
	        plain_json(test), "features",
	        m ? cpl_model_features(m) : json_null());

	if (m)
		cpl_json_update(root, "{s:i, s:f, s:[f, f]}", "trees",
		                m->n_trees, "r2", m->score.r2, "errors",
		                m->score.low, m->score.high);
	if (r->version)
		json_object_set_new(root, "installed",
		                    json_pack("{s:s, s:i, s:s}", "name", o->name,
		                              "version", r->version, "file",
		                              r->path));
	json_object_set_new(
	        root, "left_out",
	        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "unfinished",
	                  (json_int_t)(s->unfinished[CPL_ARM_STOCK] +
	                               s->unfinished[CPL_ARM_PLACED]),
	                  "unknown", (json_int_t)s->unknown, "silent",
	                  (json_int_t)(s->silent + r->jobs.without), "unreadable",
	                  (json_int_t)s->skipped, "unplaced",
	                  (json_int_t)r->jobs.unplaced, "alone",
	                  (json_int_t)r->jobs.alone));
	return cmd_print_json(self, root);
}

/* What is told of jobs that are not learned from. */
static void print_left_out(const struct learn_jobs *jobs)
{
	const struct benefit_sources *s = &jobs->sources;
	int64_t failed = s->unfinished[CPL_ARM_STOCK] +
	                 s->unfinished[CPL_ARM_PLACED];
	char why[CPL_ERROR_MAX];

	if (failed)
		printf("%" PRId64 " jobs are left out: they did not complete\n",
		       failed);
	if (s->unknown)
		printf("%" PRId64 " jobs are left out: sacct does not say how "
		       "long they ran\n", s->unknown);
	if (s->silent + jobs->without)
		printf("%" PRId64 " jobs are left out: they reported nothing\n",
		       s->silent + jobs->without);
	if (s->skipped)
		printf("%" PRId64 " records cannot be read\n", s->skipped);
	if (jobs->unplaced)
		printf("%" PRId64 " jobs are left out: where they ran is not "
		       "known; %s\n", jobs->unplaced,
		       cmd_printable(jobs->why.text, why, sizeof(why)));
	if (jobs->alone)
		printf("%" PRId64 " jobs are left out: there is one of their kind\n",
		       jobs->alone);
}

static int print_text(const struct learned_result *r,
                      const struct learn_options *o)
{
	const struct cpl_learn_test *test = &r->test;
	struct cmd_table *table = cmd_table_new("lrrr");
	int rc;

	printf("%s of %d jobs. Of the last %d, %" PRId64 " pairs are alike but for "
	       "where and how long they ran;\nlearned from those before, or by "
	       "itself, in the right order:\n\n",
	       o->method, r->jobs.samples->n, test->jobs, test->pairs);
	cmd_table_row(table, "by|right|lead of the model|standard error");
	cmd_table_row(table, "the model|%.1f %%||", 100 * test->learned);
	for (int p = 0; p < CPL_PLAINS; p++)
		if (test->known[p])
			cmd_table_row(table, "%s|%.1f %%|%+.1f %%|%.1f %%",
			              cpl_plain_feature[p], 100 * test->plain[p],
			              100 * test->lead[p], 100 * test->error[p]);
	rc = cmd_table_print(table);
	if (rc == CMD_OK && r->model) {
		putchar('\n');
		rc = learn_print_features(r->model);
	}
	putchar('\n');
	print_left_out(&r->jobs);
	if (r->version)
		printf("version %d of %s is in use; TimeModel=%s names it\n",
		       r->version, o->name, r->path);
	return rc;
}

/* The plain figure that it does not beat, or least so. */
static enum cpl_plain hardest(const struct cpl_learn_test *test)
{
	const enum cpl_plain a = CPL_PLAIN_BUSIEST, b = CPL_PLAIN_TIME;

	if (!test->known[a] || !test->known[b])
		return test->known[a] ? a : b;
	return test->lead[a] < test->lead[b] ? a : b;
}

static int refuse(const struct cmd *self, const struct learned_result *r)
{
	const struct cpl_learn_test *test = &r->test;
	enum cpl_plain p = hardest(test);

	return cmd_failf(self,
	                 "no model is written: of %" PRId64
	                 " pairs of the last %d jobs it has %.1f %% in the right "
	                 "order, and %s %.1f %%; it has to lead by more than "
	                 "chance would (its lead is %+.1f %%, with a standard "
	                 "error of %.1f %%)",
	                 test->pairs, test->jobs, 100 * test->learned,
	                 cpl_plain_feature[p], 100 * test->plain[p],
	                 100 * test->lead[p], 100 * test->error[p]);
}

int learn_from_records(const struct cmd *self, const struct learn_options *o)
{
	struct learned_result r = {.version = 0};
	struct cpl_error err = {""};
	int rc;

	if ((o->name && cpl_profile_name_check(o->name, &err)) ||
	    learn(&r, o, &err) ||
	    (r.model && o->output && cpl_model_write(r.model, o->output, &err)) ||
	    (r.model && o->name && install(&r, o, &err)))
		rc = cmd_fail(self, &err);
	else
		rc = o->json ? print_json(self, &r, o) : print_text(&r, o);
	if (rc == CMD_OK && !r.model)
		rc = refuse(self, &r);
	cpl_model_free(r.model);
	free(r.path);
	learn_jobs_free(&r.jobs);
	return rc;
}

/* What a version says of itself. */
static json_t *version_json(const char *dir, const char *name,
                            const struct cpl_version *v)
{
	struct cpl_error err = {""};
	char *path = cpl_models_version_path(dir, name, v->number, &err);
	struct cpl_model *m = path ? cpl_model_load(path, &err) : NULL;
	json_t *item = json_pack("{s:i, s:b}", "version", v->number, "in_use",
	                         v->in_use);
	struct cpl_file_stamp stamp;
	char date[32] = "";
	struct tm tm;

	if (path && !cpl_file_stamp(path, &stamp) &&
	    gmtime_r(&stamp.mtime.tv_sec, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_object_set_new(item, "date", json_string(date));
	if (m)
		cpl_json_update(item, "{s:s, s:s, s:i, s:f, s:f}", "method",
		                m->method, "target", m->target, "samples",
		                m->samples, "right", m->score.concordant, "r2",
		                m->score.r2);
	else
		json_object_set_new(item, "error", json_string(err.text));
	cpl_model_free(m);
	free(path);
	return item;
}

static int print_versions(const json_t *list)
{
	struct cmd_table *t = cmd_table_new("rlllrr");
	json_t *item;
	size_t i;

	cmd_table_row(t, "VERSION|USED|INSTALLED|METHOD|JOBS|RIGHT");
	json_array_foreach(list, i, item)
	{
		const char *error =
		        json_string_value(json_object_get(item, "error"));
		const char *used =
		        json_is_true(json_object_get(item, "in_use")) ? "yes"
		                                                      : "-";
		const char *date =
		        json_string_value(json_object_get(item, "date"));
		int version = (int)json_integer_value(
		        json_object_get(item, "version"));

		if (error)
			cmd_table_row(t, "%d|%s|%s|damaged: %s||", version, used,
			              date, error);
		else
			cmd_table_row(
			        t, "%d|%s|%s|%s|%d|%.1f %%", version, used, date,
			        json_string_value(json_object_get(item, "method")),
			        (int)json_integer_value(
			                json_object_get(item, "samples")),
			        100 * json_real_value(
			                      json_object_get(item, "right")));
	}
	return cmd_table_print(t);
}

static int list_versions(const struct cmd *self, const struct learn_options *o,
                         const char *dir)
{
	struct cpl_error err = {""};
	struct cpl_version *version = NULL;
	int n = cpl_models_versions(dir, o->name, &version, &err), rc;
	json_t *list;

	if (n == 0)
		cpl_fail(&err, "%s: no model %s", dir, o->name);
	if (n <= 0) {
		free(version);
		return cmd_fail(self, &err);
	}
	list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list,
		                      version_json(dir, o->name, &version[i]));
	free(version);
	if (o->json)
		return cmd_print_pack(self, "{s:s, s:s, s:o}", "name", o->name,
		                      "model_dir", dir, "versions", list);
	rc = print_versions(list);
	json_decref(list);
	return rc;
}

int learn_store(const struct cmd *self, const struct learn_options *o)
{
	struct cpl_error err = {""};
	char *dir = cpl_profile_name_check(o->name, &err) ? NULL
	                                                  : model_dir(o, &err);
	int rc;

	if (!dir)
		return cmd_fail(self, &err);
	rc = o->versions ? list_versions(self, o, dir)
	                 : signature_store_roll_back(self, o->json, dir, o->name,
	                                             o->version,
	                                             cpl_models_roll_back);
	free(dir);
	return rc;
}
