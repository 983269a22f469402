/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "options.h"
#ifdef HAVE_OTF2
#include "otf2_calls.h"
#define OTF2_TOO ", otf2"
#else
#define OTF2_TOO ""
#endif
#include "record_nccl.h"
#include "signature/export/export.h"
#include "signature/import/import.h"
#include "signature/rescale.h"

#define ACTIONS                                                                \
	"list, show, check, import, export, install, remove, rescale, "         \
	"distance, phases, predict or from-flags"

static int parse(const struct cmd *self, int argc, char **argv,
                 struct signature_options *o)
{
	const struct cmd_option table[] = {
	        {"profile-dir", .text = &o->profile_dir},
	        {"format", .text = &o->format},
	        {"output", .text = &o->output},
	        {"name", .text = &o->name},
	        {"application", .text = &o->application},
	        {"phase", .text = &o->phase},
	        {"plot", .text = &o->plot},
	        {"ranks", .integer = &o->ranks, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"version", .integer = &o->version, .low = 1,
	         .high = INT32_MAX},
	        {"recorded", .text = &o->recorded},
	        {"from", .text = &o->from},
	        {"keep", .integer = &o->keep, .low = 1, .high = INT32_MAX},
	        {"user", .flag = &o->user},
	        {"binary", .flag = &o->binary},
	        {"step", .flag = &o->step},
	        {"ep", .integer = &o->ep, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"json", .flag = &o->json},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_WORDS);
}

static const char *text_of(const json_t *item, const char *key)
{
	return json_string_value(json_object_get(item, key));
}

static int64_t integer_of(const json_t *item, const char *key)
{
	return json_integer_value(json_object_get(item, key));
}

/* The distance of the whole runs; -1 in *out where they differ in their number
 * of ranks, or are too large. 0, or -1 with err. */
static int distance_of(const struct cpl_signature *a,
                       const struct cpl_signature *b, double *out,
                       struct cpl_error *err)
{
	struct cpl_comm *x = NULL, *y = NULL;

	*out = -1;
	if (a->ranks != b->ranks || !cpl_signature_stored(a) ||
	    !cpl_signature_stored(b))
		return 0;
	x = cpl_signature_total(a, err);
	y = x ? cpl_signature_total(b, err) : NULL;
	if (y)
		*out = cpl_comm_distance(x, y);
	cpl_comm_free(x);
	cpl_comm_free(y);
	return y ? 0 : -1;
}

/* Two side by side. */
static int show_two(const struct cmd *self, const struct signature_options *o,
                    char **word)
{
	struct cpl_error err = {""};
	struct cpl_signature *a = cmd_load_signature(word[0], o->profile_dir,
	                                             &err);
	struct cpl_signature *b =
	        a ? cmd_load_signature(word[1], o->profile_dir, &err) : NULL;
	const struct cpl_signature *both[] = {a, b};
	double distance = -1;
	int rc = CMD_OK;

	if (!b || distance_of(a, b, &distance, &err) ||
	    signature_plot(o->plot, both, 2, distance, &err))
		rc = cmd_fail(self, &err);
	else if (o->json)
		rc = cmd_print_pack(self, "{s:o}", "distance",
		                    distance < 0 ? json_null()
		                                 : json_real(distance));
	else if (distance < 0)
		printf("of different numbers of ranks, or too large for a "
		       "distance\n");
	else
		printf("distance %.4f\n", distance);
	cpl_signature_free(a);
	cpl_signature_free(b);
	return rc;
}

static int run_show(const struct cmd *self, const struct signature_options *o,
                    int n, char **word)
{
	struct cpl_error err = {""};
	struct signature_summary summary;
	const struct cpl_signature *one[1];
	struct cpl_signature *sig;
	int rc;

	if (n == 2 && !o->plot)
		return cmd_usage(self, "show: two are drawn only; --plot OUT.svg "
		                       "is missing");
	if (n == 2)
		return show_two(self, o, word);
	sig = cmd_load_signature(word[0], o->profile_dir, &err);
	one[0] = sig;
	if (!sig)
		return cmd_fail(self, &err);
	if (signature_summary(sig, &summary, &err) ||
	    (o->plot && signature_plot(o->plot, one, 1, -1, &err)))
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

static int run_check(const struct cmd *self, const struct signature_options *o, int n,
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
		return cmd_print_pack(self, "{s:o}", "files", list);
	else
		rc = print_checked(list);
	json_decref(list);
	return rc;
}

/* "import: --format is missing; coo or mtx" */
static int check_formats(const struct cmd *self, const struct signature_options *o,
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

static struct cpl_signature *import_files(const struct signature_options *o,
                                          char **file, int n, const char *name,
                                          struct cpl_error *err)
{
	if (!strcmp(o->format, "nccl"))
		return cmd_nccl_import(file, n, name, o->application, err);
#ifdef HAVE_OTF2
	if (!strcmp(o->format, "otf2") && n == 1)
		return cpl_otf2_matrix(file[0], name, o->application, err);
	if (!strcmp(o->format, "otf2"))
		return cpl_fail_null(
		        err, "format otf2 is of one file, not of %d", n);
#endif
	/* The library does not know these importers. */
	if (strcmp(o->format, "otf2") &&
	    !cpl_registry_find(&cpl_importers, o->format, strlen(o->format),
	                       NULL, NULL)) {
		char list[160];

		cpl_fail(err,
		         "unknown format '%.40s'; it must be one of %s, nccl"
		         OTF2_TOO,
		         o->format,
		         cpl_registry_names(&cpl_importers, 0, NULL, NULL, list,
		                            sizeof(list)));
		return NULL;
	}
	return cpl_signature_import(
	        (const char *const *)file, n, o->format,
	        &(struct cpl_import_options){(int)o->ranks, (int)o->ep,
	                                     o->step},
	        name, o->application, err);
}

static int run_import(const struct cmd *self, const struct signature_options *o, int n,
                      char **file)
{
	int rc = check_formats(self, o, "import", &cpl_importers);
	struct cpl_error err = {""};
	struct cpl_signature *sig = NULL;
	json_t *recorded;
	char *name;

	if (rc)
		return rc;
	name = o->name ? strdup(o->name)
	               : cpl_signature_base_name(o->output, NULL);
	if (!name)
		return cmd_fail_memory(self);
	sig = import_files(o, file, n, name, &err);
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

static int run_export(const struct cmd *self, const struct signature_options *o,
                      int n, char **word)
{
	int rc = check_formats(self, o, "export", &cpl_exporters);
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	const char *lost = NULL;

	if (rc)
		return rc;
	sig = cmd_load_signature(word[0], o->profile_dir, &err);
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

/* Options that only some actions have. */
static int check_options(const struct cmd *self,
                         const struct signature_options *o, const char *action)
{
	const struct {
		bool given;
		const char *option, *actions; /* with blanks around each */
	} rule[] = {
	        {o->name, "--name", " import install "},
	        {o->application, "--application", " import "},
	        {o->binary, "--binary", " import "},
	        {o->step, "--step", " import "},
	        {o->ep, "--ep", " import "},
	        {o->format, "--format", " import export "},
	        {o->output, "-o", " import export rescale "},
	        {o->phase, "--phase", " export "},
	        {o->plot, "--plot", " show "},
	        {o->ranks, "--ranks", " import remove rescale install "},
	        {o->recorded, "--recorded", " install "},
	        {o->from, "--from", " install "},
	        {o->version, "--version", " install "},
	        {o->keep, "--keep", " install "},
	        {o->user, "--user", " list install remove "},
	};
	char word[24];

	snprintf(word, sizeof(word), " %.20s ", action);
	for (size_t i = 0; i < sizeof(rule) / sizeof(*rule); i++)
		if (rule[i].given && !strstr(rule[i].actions, word))
			return cmd_usage(self, "%.20s: %s belongs to%s", action,
			                 rule[i].option, rule[i].actions);
	if (o->user && o->profile_dir)
		return cmd_usage(self, "%.20s: --user and --profile-dir name "
		                       "two stores; one is enough",
		                 action);
	if ((o->version != 0) + (o->recorded != NULL) + (o->from != NULL) > 1)
		return cmd_usage(self, "install: one of --version, --recorded "
		                       "and --from is enough");
	if (o->recorded && (!*o->recorded || o->name ||
	                    o->recorded[strspn(o->recorded,
	                                       "0123456789.")]))
		return cmd_usage(self, o->name
		                               ? "install: --recorded is kept "
		                                 "as NAME, without --name"
		                               : "install: --recorded is a "
		                                 "job's number, or JOB.STEP");
	if (o->ranks && !strcmp(action, "install") && !o->from)
		return cmd_usage(self, "install: --ranks belongs to --from");
	return CMD_OK;
}

/* All phases by their weights, of a signature in a store or a file. */
static struct cpl_comm *comm_of(const struct signature_options *o,
                                const char *text, struct cpl_error *err)
{
	struct cpl_signature *sig =
	        cmd_load_signature(text, o->profile_dir, err);
	struct cpl_comm *comm = sig ? cpl_signature_total(sig, err) : NULL;

	cpl_signature_free(sig);
	return comm;
}

static int run_distance(const struct cmd *self,
                        const struct signature_options *o, int n, char **word)
{
	struct cpl_error err = {""};
	struct cpl_comm *a = comm_of(o, word[0], &err);
	struct cpl_comm *b = a ? comm_of(o, word[1], &err) : NULL;
	double distance = 0;
	int rc;

	if (b && a->ranks != b->ranks)
		cpl_fail(&err, "%.60s has %d ranks, %.60s %d: only signatures "
		               "of as many ranks can be compared",
		         word[0], a->ranks, word[1], b->ranks);
	else if (b)
		distance = cpl_comm_distance(a, b);
	if (*err.text)
		rc = cmd_fail(self, &err);
	else if (o->json)
		rc = cmd_print_pack(self, "{s:f}", "distance", distance);
	else
		rc = printf("%.4f\n", distance) < 0;
	cpl_comm_free(a);
	cpl_comm_free(b);
	return rc;
}

static int print_rescaled(const struct cmd *self,
                          const struct signature_options *o,
                          const struct cpl_rescaled *how)
{
	char text[2][64] = {"", ""};

	for (int a = 0, m = 0, n = 0; a < how->n_dims; a++) {
		m += snprintf(text[0] + m, sizeof(text[0]) - (size_t)m, "%s%d",
		              a ? "x" : "", how->from[a]);
		n += snprintf(text[1] + n, sizeof(text[1]) - (size_t)n, "%s%d",
		              a ? "x" : "", how->to[a]);
	}
	if (o->json)
		return cmd_print_pack(self, "{s:s, s:o, s:o, s:f}", "signature",
		                      o->output, "from",
		                      cpl_json_ints(how->from, how->n_dims),
		                      "to", cpl_json_ints(how->to, how->n_dims),
		                      "error", how->error);
	printf("%s: grid %s for %s, fit error %.2f %%\n", o->output, text[1],
	       text[0], 100 * how->error);
	return CMD_OK;
}

static int run_rescale(const struct cmd *self,
                       const struct signature_options *o, int n, char **word)
{
	struct cpl_error err = {""};
	struct cpl_rescaled how;
	struct cpl_signature *sig, *other = NULL;
	int rc = CMD_FAILED;

	if (!o->ranks || !o->output)
		return cmd_usage(self, "rescale: %s is missing",
		                 o->ranks ? "-o SIG" : "--ranks COUNT");
	sig = cmd_load_signature(word[0], o->profile_dir, &err);
	if (sig)
		other = cpl_signature_rescale(sig, (int)o->ranks, 0, &how,
		                              &err);
	if (other && !cpl_signature_write(other, o->output, &err))
		rc = print_rescaled(self, o, &how);
	else
		rc = cmd_fail(self, &err);
	cpl_signature_free(sig);
	cpl_signature_free(other);
	return rc;
}

static int run_list(const struct cmd *self, const struct signature_options *o,
                    int n, char **word)
{
	return n ? signature_versions(self, o, word[0])
	         : signature_list(self, o);
}

static int run_install(const struct cmd *self,
                       const struct signature_options *o, int n, char **word)
{
	return signature_install(self, o, word[0]);
}

static int run_remove(const struct cmd *self,
                      const struct signature_options *o, int n, char **word)
{
	return signature_remove(self, o, word[0]);
}

static const struct action {
	const char *name;
	int least, most; /* words */
	const char *needs;
	int (*run)(const struct cmd *self, const struct signature_options *o,
	           int n, char **word);
} actions[] = {
        {"list", 0, 1, "takes one NAME at the most", run_list},
        {"show", 1, 2, "one NAME or FILE is needed, or two", run_show},
        {"check", 1, INT_MAX, "which files?", run_check},
        {"import", 1, INT_MAX, "one FILE is needed", run_import},
        {"export", 1, 1, "one NAME or FILE is needed", run_export},
        {"install", 1, 1,
         "one FILE is needed, or with --version, --recorded or --from one "
         "NAME",
         run_install},
        {"remove", 1, 1, "one NAME is needed", run_remove},
        {"rescale", 1, 1, "one NAME or FILE is needed", run_rescale},
        {"distance", 2, 2, "two of NAME or FILE are needed", run_distance},
};

static int run_signature(const struct cmd *self, int argc, char **argv)
{
	struct signature_options o = {0};
	const char *action;
	int rc, n;

	if (argc > 1 && !strcmp(argv[1], "phases"))
		return signature_phases(self, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "predict"))
		return signature_predict(self, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "from-flags"))
		return signature_from_flags(self, argc - 1, argv + 1);
	rc = parse(self, argc, argv, &o);
	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "what to do? use " ACTIONS);
	action = argv[optind];
	n = argc - optind - 1;
	argv += optind + 1;
	rc = check_options(self, &o, action);
	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		const struct action *a = &actions[i];

		if (strcmp(a->name, action))
			continue;
		if (n < a->least || n > a->most)
			return cmd_usage(self, "%s: %s", a->name, a->needs);
		return a->run(self, &o, n, argv);
	}
	return cmd_usage(self, "'%.60s' is unknown; use " ACTIONS, action);
}

const struct cmd cmd_signature = {"signature", run_signature};
