/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "signature/export/export.h"
#include "signature/import/import.h"
#include "site_files.h"

struct options {
	const char *profile_dir, *format, *output, *name, *application, *phase;
	bool binary, json;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"profile-dir", .text = &o->profile_dir},
	        {"format", .text = &o->format},
	        {"output", 'o', .text = &o->output},
	        {"name", .text = &o->name},
	        {"application", .text = &o->application},
	        {"phase", .text = &o->phase},
	        {"binary", .flag = &o->binary},
	        {"json", .flag = &o->json},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_WORDS);
}

/* Load NAME of the directory; its one-line description into text. */
static json_t *list_item(const char *dir, const char *name)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = cpl_profile_load(dir, name, &err);
	json_t *item = json_pack("{s:s}", "name", name);
	double bytes = 0.0;

	for (int i = 0; sig && i < sig->n_phases; i++) {
		struct signature_sums sums;

		if (signature_phase_sums(sig, i, &sums, &err)) {
			cpl_signature_free(sig);
			sig = NULL;
			break;
		}
		bytes += sig->phase[i].weight * sums.bytes;
	}
	if (sig)
		json_object_update_new(
		        item,
		        json_pack("{s:s?, s:i, s:i, s:f}", "application",
		                  sig->application, "ranks", sig->ranks,
		                  "phases", sig->n_phases, "bytes", bytes));
	else
		json_object_set_new(item, "error", json_string(err.text));
	cpl_signature_free(sig);
	return item;
}

static const char *text_of(const json_t *item, const char *key)
{
	return json_string_value(json_object_get(item, key));
}

static int64_t integer_of(const json_t *item, const char *key)
{
	return json_integer_value(json_object_get(item, key));
}

static int print_list(json_t *list)
{
	struct cmd_table *t = cmd_table_new("lrrrl");
	size_t i;
	json_t *item;

	cmd_table_row(t, "PROFILE|RANKS|PHASES|BYTES|APPLICATION");
	json_array_foreach(list, i, item)
	{
		const char *name = text_of(item, "name");
		const char *error = text_of(item, "error");
		const char *application = text_of(item, "application");
		double bytes = json_real_value(json_object_get(item, "bytes"));

		if (error)
			cmd_table_row(t, "%s|-|-|-|damaged: %s", name, error);
		else
			cmd_table_row(t, "%s|%" PRId64 "|%" PRId64 "|%s|%s",
			              name, integer_of(item, "ranks"),
			              integer_of(item, "phases"),
			              CMD_BYTES(bytes),
			              application ? application : "-");
	}
	return cmd_table_print(t);
}

static int run_list(const struct cmd *self, const struct options *o)
{
	const char *dir = cmd_profile_dir(o->profile_dir);
	struct cpl_error err = {""};
	char **name = NULL;
	json_t *list;
	int n = cpl_profile_list(dir, &name, &err), rc;

	if (n < 0)
		return cmd_fail(self, &err);
	list = json_array();
	for (int i = 0; i < n; i++) {
		json_array_append_new(list, list_item(dir, name[i]));
		free(name[i]);
	}
	free(name);
	if (o->json)
		return cmd_print_json(self,
		                      json_pack("{s:s, s:o}", "profile_dir",
		                                dir, "profiles", list));
	rc = print_list(list);
	json_decref(list);
	return rc;
}

static int run_show(const struct cmd *self, const struct options *o,
                    const char *text)
{
	struct cpl_error err = {""};
	struct signature_summary summary;
	struct cpl_signature *sig =
	        cmd_load_signature(text, o->profile_dir, &err);
	int rc;

	if (!sig)
		return cmd_fail(self, &err);
	if (signature_summary(sig, &summary, &err))
		rc = cmd_fail(self, &err);
	else if (o->json)
		rc = signature_show_json(self, sig, &summary);
	else
		rc = signature_show_text(sig, &summary);
	signature_summary_free(&summary);
	cpl_signature_free(sig);
	return rc;
}

static json_t *check_item(const char *file, struct cpl_error *err)
{
	struct cpl_signature *sig = cpl_signature_load(file, err);
	json_int_t pairs = 0;
	json_t *item;

	if (!sig)
		return NULL;
	for (int i = 0; i < sig->n_phases; i++) {
		struct signature_sums sums;

		if (signature_phase_sums(sig, i, &sums, err)) {
			cpl_signature_free(sig);
			return NULL;
		}
		pairs += sums.pairs;
	}
	item = json_pack("{s:s, s:s, s:i, s:i, s:I}", "file", file, "name",
	                 sig->name, "ranks", sig->ranks, "phases",
	                 sig->n_phases, "pairs", pairs);
	cpl_signature_free(sig);
	if (!item)
		cpl_fail(err, "%s: the file's name is not UTF-8", file);
	return item;
}

static int print_checked(const json_t *list)
{
	struct cmd_table *t = cmd_table_new("lrrr");
	size_t i;
	json_t *item;

	cmd_table_row(t, "FILE|RANKS|PHASES|PAIRS");
	json_array_foreach(list, i, item) cmd_table_row(
	        t, "%s|%" PRId64 "|%" PRId64 "|%" PRId64, text_of(item, "file"),
	        integer_of(item, "ranks"), integer_of(item, "phases"),
	        integer_of(item, "pairs"));
	return cmd_table_print(t);
}

static int run_check(const struct cmd *self, const struct options *o, int n,
                     char **file)
{
	struct cpl_error err = {""}, first = {""};
	json_t *list = json_array();
	int bad = 0, rc;

	for (int i = 0; i < n; i++) {
		json_t *item = check_item(file[i], &err);

		if (item)
			json_array_append_new(list, item);
		else if (!bad++)
			first = err;
	}
	if (bad == 1)
		rc = cmd_fail(self, &first);
	else if (bad)
		rc = cmd_failf(self, "%s (and %d more of the %d files)",
		               first.text, bad - 1, n);
	else if (o->json)
		return cmd_print_json(self, json_pack("{s:o}", "files", list));
	else
		rc = print_checked(list);
	json_decref(list);
	return rc;
}

/* "dir/halo.json" -> "halo" */
static char *default_name(const char *output)
{
	const char *base = strrchr(output, '/');
	char *name = strdup(base ? base + 1 : output);
	size_t n = name ? strlen(name) : 0;

	if (n > 5 && !strcmp(name + n - 5, ".json"))
		name[n - 5] = '\0';
	return name;
}

/* "import: --format is missing; coo or mtx" */
static int check_formats(const struct cmd *self, const struct options *o,
                         const char *action, const struct cpl_registry *formats)
{
	char list[160];

	if (!o->format)
		return cmd_usage(self, "%s: --format is missing; %s", action,
		                 cpl_registry_names(formats, CPL_NAMES_OR, NULL,
		                                    NULL, list, sizeof(list)));
	if (!o->output)
		return cmd_usage(self,
		                 "%s: -o is missing; give the file to write",
		                 action);
	return CMD_OK;
}

/* What a format could not take along, in one line. */
static void say_lost(const char *lost)
{
	if (lost)
		printf("left out: %s\n", lost);
}

static int run_import(const struct cmd *self, const struct options *o, int n,
                      char **file)
{
	int rc = check_formats(self, o, "import", &cpl_importers);
	struct cpl_error err = {""};
	struct cpl_signature *sig = NULL;
	json_t *recorded;
	char *name;

	if (rc)
		return rc;
	name = o->name ? strdup(o->name) : default_name(o->output);
	if (!name)
		return cmd_failf(self, "out of memory");
	sig = cpl_signature_import((const char *const *)file, n, o->format,
	                           name, o->application, &err);
	if (!sig ||
	    (o->binary ? cpl_signature_write_binary(sig, o->output, &err)
	               : cpl_signature_write(sig, o->output, &err))) {
		rc = cmd_fail(self, &err);
	} else {
		recorded = json_loads(sig->recorded, 0, NULL);
		say_lost(json_string_value(
		        json_object_get(recorded, "left_out")));
		json_decref(recorded);
	}
	cpl_signature_free(sig);
	free(name);
	return rc;
}

/* The run's matrix, or one execution of a phase; the caller frees it. */
static struct cpl_comm *matrix_of(const struct cpl_signature *sig,
                                  const char *phase, struct cpl_error *err)
{
	for (int i = 0; phase && i < sig->n_phases; i++) {
		struct cpl_phase once = sig->phase[i];
		struct cpl_signature one = {
		        .ranks = sig->ranks, .n_phases = 1, .phase = &once};

		once.weight = 1;
		if (!strcmp(once.name, phase))
			return cpl_signature_total(&one, err);
	}
	if (!phase)
		return cpl_signature_total(sig, err);
	cpl_fail(err, "%s has no phase '%.60s'", sig->name, phase);
	return NULL;
}

static int run_export(const struct cmd *self, const struct options *o,
                      const char *text)
{
	int rc = check_formats(self, o, "export", &cpl_exporters);
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	const char *lost = NULL;

	if (rc)
		return rc;
	sig = cmd_load_signature(text, o->profile_dir, &err);
	comm = sig ? matrix_of(sig, o->phase, &err) : NULL;
	if (!comm ||
	    cpl_comm_export(comm, sig->name, o->format, o->output, &lost, &err))
		rc = cmd_fail(self, &err);
	else
		say_lost(lost);
	if (!rc && !o->phase && sig->n_phases > 1)
		printf("%d phases were added up, times their weights\n",
		       sig->n_phases);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	return rc;
}

/* Options that an action does not have. */
static int check_options(const struct cmd *self, const struct options *o,
                         const char *action)
{
	bool imports = !strcmp(action, "import");
	bool exports = !strcmp(action, "export");

	if (!imports && (o->name || o->application || o->binary))
		return cmd_usage(self,
		                 "%.20s: --name, --application and --binary "
		                 "belong to import",
		                 action);
	if (!imports && !exports && (o->format || o->output))
		return cmd_usage(self,
		                 "%.20s: --format and -o belong to import and "
		                 "export",
		                 action);
	if (!exports && o->phase)
		return cmd_usage(self, "%.20s: --phase belongs to export",
		                 action);
	return CMD_OK;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {0};
	int rc = parse(self, argc, argv, &o), n;
	const char *action;

	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "what to do? use list, show, check, "
		                       "import or export");
	action = argv[optind];
	n = argc - optind - 1;
	argv += optind + 1;
	rc = check_options(self, &o, action);
	if (rc)
		return rc;
	if (!strcmp(action, "list"))
		return n ? cmd_usage(self, "list: takes no file")
		         : run_list(self, &o);
	if (!strcmp(action, "show"))
		return n == 1 ? run_show(self, &o, argv[0])
		              : cmd_usage(self, "show: one NAME or FILE is "
		                                "needed");
	if (!strcmp(action, "check"))
		return n ? run_check(self, &o, n, argv)
		         : cmd_usage(self, "check: which files?");
	if (!strcmp(action, "import"))
		return n ? run_import(self, &o, n, argv)
		         : cmd_usage(self, "import: one FILE is needed");
	if (!strcmp(action, "export"))
		return n == 1 ? run_export(self, &o, argv[0])
		              : cmd_usage(self, "export: one NAME or FILE is "
		                                "needed");
	if (!strcmp(action, "predict"))
		return cmd_failf(self, "predict is not available yet; use "
		                       "list, show, check, import or export");
	return cmd_usage(self,
	                 "'%.60s' is unknown; use list, show, check, import or "
	                 "export",
	                 action);
}

const struct cmd cmd_signature = {"signature", run};
