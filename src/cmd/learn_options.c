/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of `commplace learn`, and what they name. */
#include "commplace-config.h"
#include "learn.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"

static bool states_records(const struct learn_options *o)
{
	return o->table || o->sacct || o->state_dir || o->config ||
	       o->profile_dir || o->network || o->write_table ||
	       o->keys.merit || o->keys.seconds;
}

static int check_records(const struct cmd *self, const struct learn_options *o)
{
	if (o->table && (o->sacct || o->state_dir || o->network ||
	                 o->write_table || o->keys.merit || o->keys.seconds))
		return cmd_usage(self, "--sacct, --state-dir, --network, "
		                       "--merit, --seconds and --write-table go "
		                       "with records, not with --table");
	if (strcmp(o->target, "seconds") && strcmp(o->target, "merit"))
		return cmd_usage(self, "--from records has --target seconds or "
		                       "merit");
	return CMD_OK;
}

/* The store of models. */
static int check_store(const struct cmd *self, const struct learn_options *o,
                       int words)
{
	if (words || o->output || o->from == LEARN_FROM_RECORDS)
		return cmd_usage(self, "--versions and --version are about "
		                       "models that were learned before");
	if (o->versions && o->version)
		return cmd_usage(self, "only one of --versions and --version at "
		                       "a time");
	return o->name ? CMD_OK
	               : cmd_usage(self, "--versions and --version go with "
	                                 "--name");
}

static int check(const struct cmd *self, const struct learn_options *o,
                 int words)
{
	if (o->versions || o->version)
		return check_store(self, o, words);
	if (o->from == LEARN_FROM_RECORDS)
		return words ? cmd_usage(self, "--from records reads no table "
		                               "but that of --table")
		             : check_records(self, o);
	if (states_records(o) || o->name)
		return cmd_usage(self, "%s goes with --from records",
		                 o->name ? "--name" : "what says where records "
		                                      "are");
	return words == 1 ? CMD_OK
	                  : cmd_usage(self, "one table of features is wanted");
}

int learn_parse(const struct cmd *self, int argc, char **argv,
                struct learn_options *o)
{
	static const char *const from[] = {"table", "records", NULL};
	const struct cmd_option table[] = {
	        {"from", .choice = &o->from, .choices = from},
	        {"table", .text = &o->table},
	        {"sacct", .text = &o->sacct},
	        {"merit", .text = &o->keys.merit},
	        {"seconds", .text = &o->keys.seconds},
	        {"write-table", .text = &o->write_table},
	        {"name", .text = &o->name},
	        {"model-dir", .text = &o->model_dir},
	        {"keep", .integer = &o->keep, .low = 1, .high = 1000},
	        {"versions", .flag = &o->versions},
	        {"version", .integer = &o->version, .low = 1, .high = INT32_MAX},
	        {"profile-dir", .text = &o->profile_dir},
	        {"network", .text = &o->network},
	        {"state-dir", .text = &o->state_dir},
	        {"config", .text = &o->config},
	        {"output", .text = &o->output},
	        {"method", .text = &o->method},
	        {"target", .text = &o->target},
	        {"features", .text = &o->features},
	        {"trees", .integer = &o->trees, .low = 1, .high = 100000},
	        {"seed", .integer = &o->seed, .low = 0, .high = INT64_MAX},
	        {"json", .flag = &o->json},
	        {0},
	};

	int rc = cmd_options(self, argc, argv, table, CMD_WORDS);

	return rc ? rc : check(self, o, argc - optind);
}

/* The column that --features names in addition to the n before; -1 with err. */
static int find_feature(const struct cpl_samples *s, const char *name,
                        int target, const int *column, int n,
                        struct cpl_error *err)
{
	int c = cpl_samples_column(s, name);

	if (c < 0)
		return cpl_fail(err, "--features: no column of numbers %.60s",
		                name);
	if (c == target)
		return cpl_fail(err, "--features: %.60s is what is to be told",
		                name);
	for (int i = 0; i < n; i++)
		if (column[i] == c)
			return cpl_fail(err, "--features: %.60s comes twice",
			                name);
	return c;
}

int learn_choose(const struct cpl_samples *s, const struct learn_options *o,
                 int *column, struct cpl_error *err)
{
	int n = 0, target = cpl_samples_column(s, o->target);
	char *names = strdup(o->features ? o->features : ""), *next = names;

	if (!names)
		return cpl_fail_memory(err);
	if (target < 0) {
		cpl_fail(err, "no column of numbers %.60s (--target)",
		         o->target);
		n = -1;
	}
	for (int c = 0; n >= 0 && !o->features && c < s->n_columns; c++)
		if (c != target)
			column[n++] = c;
	for (char *name; n >= 0 && o->features && (name = strsep(&next, ","));) {
		column[n] = find_feature(s, name, target, column, n, err);
		n = column[n] < 0 ? -1 : n + 1;
	}
	if (!n) {
		cpl_fail(err, "there is no feature besides %.60s", o->target);
		n = -1;
	}
	free(names);
	return n;
}

int learn_find_method(const struct learn_options *o, struct cpl_learn_options *to,
                      struct cpl_error *err)
{
	char names[CPL_ERROR_MAX / 2];

	to->target = o->target;
	to->trees = (int)o->trees;
	to->seed = (uint64_t)o->seed;
	to->learner = (const void *)cpl_registry_find(
	        &cpl_learners, o->method, strlen(o->method), NULL, NULL);
	return to->learner
	               ? 0
	               : cpl_fail(err, "--method: '%.60s' must be one of %s",
	                          o->method,
	                          cpl_registry_names(&cpl_learners, 0, NULL,
	                                             NULL, names,
	                                             sizeof(names)));
}

int learn_print_features(const struct cpl_model *m)
{
	struct cmd_table *table = cmd_table_new("lr");

	cmd_table_row(table, "feature|importance");
	for (int f = 0; f < m->n_features; f++) {
		char name[128];

		cmd_table_row(table, "%s|%.3f",
		              cmd_printable(m->feature[f], name, sizeof(name)),
		              m->importance[f]);
	}
	return cmd_table_print(table);
}
