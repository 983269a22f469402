/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace signature from-flags`. */
#include "signature.h"

#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "signature/flags/flags.h"
#include "signature/pattern/pattern.h"

#define MAX_FILES 16

struct options {
	const char *file[MAX_FILES], *output, *name;
	int n_files;
	int64_t ranks;
	bool json;
};

static int take_file(const struct cmd *self, void *into, const char *option,
                     const char *value)
{
	struct options *o = into;

	if (o->n_files == MAX_FILES)
		return cmd_usage(self, "more than %d of %s", MAX_FILES, option);
	o->file[o->n_files++] = value;
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"file", .take = take_file, .into = o},
	        {"output", .text = &o->output},
	        {"name", .text = &o->name},
	        {"ranks", .integer = &o->ranks, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"json", .flag = &o->json},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_WORDS_LAST);
}

static void print_texts(const char *what, const json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		printf("%s: %s\n", what, json_string_value(item));
}

static int print_text(const struct cpl_signature *sig, const json_t *recorded)
{
	struct signature_summary summary;
	struct cpl_error err = {""};
	int rc;

	print_texts("not understood", json_object_get(recorded,
	                                              "not_understood"));
	print_texts("assumed", json_object_get(recorded, "assumed"));
	printf("%lld other settings do not change the communication\n\n",
	       (long long)json_integer_value(
	               json_object_get(recorded, "harmless")));
	if (signature_summary(sig, &summary, &err)) {
		signature_summary_free(&summary);
		return CMD_FAILED;
	}
	rc = signature_show_text(sig, &summary);
	signature_summary_free(&summary);
	return rc;
}

static int print_json(const struct cmd *self, const struct cpl_signature *sig,
                      json_t *recorded)
{
	json_t *root = json_deep_copy(recorded), *pattern;

	if (!root)
		return cmd_fail_memory(self);
	pattern = json_loads(sig->phase[0].pattern->text, 0, NULL);
	json_object_set_new(root, "ranks", json_integer(sig->ranks));
	json_object_set_new(root, "pattern", pattern);
	return cmd_print_json(self, root);
}

int signature_from_flags(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.n_files = 0};
	struct cpl_flags_request request;
	struct cpl_error err = {""};
	struct cpl_signature *sig = NULL;
	char *name = NULL;
	json_t *recorded;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (optind == argc && !o.n_files)
		return cmd_usage(self, "from-flags: a COMMANDLINE or --file is "
		                       "needed");
	if (!o.name && o.output)
		o.name = name = cpl_signature_base_name(o.output, NULL);
	request = (struct cpl_flags_request){
	        .file = o.file,
	        .n_files = o.n_files,
	        .word = (const char *const *)argv + optind,
	        .n_words = argc - optind,
	        .ranks = (int)o.ranks,
	        .name = o.name ? o.name : "training"};
	sig = cpl_signature_from_flags(&request, &err);
	free(name);
	if (!sig || (o.output && cpl_signature_write(sig, o.output, &err))) {
		cpl_signature_free(sig);
		return cmd_fail(self, &err);
	}
	recorded = json_loads(sig->recorded, 0, NULL);
	rc = o.json ? print_json(self, sig, recorded)
	            : print_text(sig, recorded);
	json_decref(recorded);
	cpl_signature_free(sig);
	return rc;
}
