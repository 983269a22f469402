/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "signature/signature_internal.h"

/* Every phase takes 8 bytes per rank, however small the file. */
#define MAX_PHASE_RANKS (1 << 27)

static const char *const root_keys[] = {"format",      "version", "name",
                                        "application", "ranks",   "phases",
                                        "recorded",    NULL};
static const char *const phase_keys[] = {"name",         "weight",  "time",
                                         "compute_time", "traffic", "file",
                                         "pattern",      NULL};

/* Where the text came from. */
struct source {
	const char *path; /* for side files; NULL: from memory */
	struct scan scan;
	int64_t room; /* for matrices of patterns, entries */
};

static void phase_clear(struct cpl_phase *phase)
{
	free(phase->name);
	cpl_comm_free(phase->comm);
	pattern_free(phase->pattern);
}

void cpl_signature_free(struct cpl_signature *sig)
{
	if (!sig)
		return;
	for (int i = 0; i < sig->n_phases; i++)
		phase_clear(&sig->phase[i]);
	free(sig->phase);
	free(sig->name);
	free(sig->application);
	free(sig->recorded);
	free(sig);
}

int cpl_signature_text_check(const char *what, const char *text,
                             struct cpl_error *err)
{
	json_t *value;

	if (!*text)
		return cpl_fail(err, "\"%s\" is empty", what);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return cpl_fail(err,
			                "\"%s\" holds a control character; "
			                "use printable text",
			                what);
	value = json_string(text);
	if (!value)
		return cpl_fail(err, "\"%s\" is not UTF-8", what);
	json_decref(value);
	return 0;
}

static int take_name(const json_t *object, const char *key, char **out,
                     struct cpl_error *err)
{
	const char *text;
	int rc = cpl_json_string(object, key, &text, err);

	if (rc <= 0)
		return rc;
	if (cpl_signature_text_check(key, text, err))
		return -1;
	*out = strdup(text);
	return *out ? 1 : cpl_fail_memory(err);
}

static int take_traffic(const json_t *object, struct source *src, int index,
                        int ranks, struct cpl_phase *phase,
                        struct cpl_error *err)
{
	const json_t *value = json_object_get(object, "traffic");
	struct entry_list *list = NULL;

	if (index < src->scan.n_phases)
		list = &src->scan.list[index];
	if (!list || !list->scanned)
		return cpl_fail(err,
		                "\"traffic\" %s; an array of rows [from, to, "
		                "bytes, messages] is needed",
		                json_is_array(value) ? "is written with escapes"
		                                     : "is not an array");
	if (entries_check(list, ranks, "traffic row", err))
		return -1;
	phase->comm = cpl_comm_build(ranks, list->entry, list->n, err);
	free(list->entry);
	list->entry = NULL;
	return phase->comm ? 0 : -1;
}

static int take_side_file(const json_t *object, const struct source *src,
                          int ranks, struct cpl_phase *phase,
                          struct cpl_error *err)
{
	const char *file;

	if (cpl_json_string(object, "file", &file, err) < 0)
		return -1;
	if (!src->path)
		return cpl_fail(err, "\"file\" needs a signature that is a "
		                     "file itself");
	phase->comm = side_file_load(src->path, file, ranks, err);
	return phase->comm ? 0 : -1;
}

static int take_matrix(const json_t *object, struct source *src, int index,
                       int ranks, struct cpl_phase *phase,
                       struct cpl_error *err)
{
	const json_t *pattern = json_object_get(object, "pattern");
	bool traffic = json_object_get(object, "traffic") != NULL;
	bool file = json_object_get(object, "file") != NULL;

	if (traffic + file + (pattern != NULL) != 1)
		return cpl_fail(err, "needs exactly one of \"traffic\", "
		                     "\"file\" and \"pattern\"");
	if (traffic)
		return take_traffic(object, src, index, ranks, phase, err);
	if (file)
		return take_side_file(object, src, ranks, phase, err);
	return pattern_take(pattern, ranks, &src->room, phase, err);
}

static int take_phase(const json_t *object, struct source *src, int index,
                      int ranks, struct cpl_phase *phase, struct cpl_error *err)
{
	int rc;

	if (!json_is_object(object))
		return cpl_fail(err, "is not an object");
	if (cpl_json_known_keys(object, NULL, phase_keys, err))
		return -1;
	rc = take_name(object, "name", &phase->name, err);
	if (rc < 0)
		return -1;
	if (rc == 0 && asprintf(&phase->name, "phase%d", index + 1) < 0) {
		phase->name = NULL;
		return cpl_fail_memory(err);
	}
	phase->weight = 1.0;
	if (cpl_json_number(object, "weight", 0.0, SIGNATURE_MAX_AMOUNT,
	                    &phase->weight, err) < 0)
		return -1;
	if (phase->weight <= 0.0)
		return cpl_fail(err, "\"weight\" is 0; it must be above 0");
	if (cpl_json_number(object, "time", 0.0, SIGNATURE_MAX_AMOUNT,
	                    &phase->time, err) < 0 ||
	    cpl_json_number(object, "compute_time", 0.0, SIGNATURE_MAX_AMOUNT,
	                    &phase->compute_time, err) < 0)
		return -1;
	return take_matrix(object, src, index, ranks, phase, err);
}

static int take_phases(const json_t *root, struct source *src,
                       struct cpl_signature *sig, struct cpl_error *err)
{
	const json_t *phases = json_object_get(root, "phases");
	size_t n;

	if (!phases)
		return cpl_fail(err, "\"phases\" is missing; give an array of "
		                     "at least one phase");
	if (!json_is_array(phases))
		return cpl_fail(err, "\"phases\" is not an array");
	n = json_array_size(phases);
	if (n == 0)
		return cpl_fail(err,
		                "\"phases\" is empty; give at least one phase");
	if (n > MAX_PHASE_RANKS / (size_t)sig->ranks)
		return cpl_fail(err,
		                "%zu phases of %d ranks are too many: phases "
		                "times ranks may be %d at most",
		                n, sig->ranks, MAX_PHASE_RANKS);
	sig->phase = calloc(n, sizeof(*sig->phase));
	if (!sig->phase)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		sig->n_phases = (int)i + 1;
		if (take_phase(json_array_get(phases, i), src, (int)i,
		               sig->ranks, &sig->phase[i], err))
			return cpl_fail_prefix(err, "phase %d: ", (int)i + 1);
	}
	return 0;
}

/* "dir/halo.json" -> "halo" */
static char *name_of_file(const char *path, struct cpl_error *err)
{
	const char *base = strrchr(path, '/');
	char *name = strdup(base ? base + 1 : path);
	size_t n;

	if (!name) {
		cpl_fail_memory(err);
		return NULL;
	}
	n = strlen(name);
	if (n > 5 && !strcmp(name + n - 5, ".json"))
		name[n - 5] = '\0';
	return name;
}

static int take_root(const json_t *root, const char *name, struct source *src,
                     struct cpl_signature *sig, struct cpl_error *err)
{
	const json_t *recorded = json_object_get(root, "recorded");
	int64_t ranks;
	int rc;

	if (cpl_json_expect_format(root, "commplace-signature", err) ||
	    cpl_json_known_keys(root, NULL, root_keys, err))
		return -1;
	rc = take_name(root, "name", &sig->name, err);
	if (rc == 0) {
		sig->name = name_of_file(name, err);
		rc = sig->name ? 0 : -1;
	}
	if (rc < 0 ||
	    take_name(root, "application", &sig->application, err) < 0)
		return -1;
	rc = cpl_json_int(root, "ranks", 1, CPL_SIGNATURE_MAX_RANKS, &ranks,
	                  err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return cpl_fail(err, "\"ranks\" is missing; give the number of "
		                     "ranks that were recorded");
	sig->ranks = (int)ranks;
	if (recorded) {
		if (!json_is_object(recorded))
			return cpl_fail(err, "\"recorded\" is not an object");
		sig->recorded = json_dumps(recorded, JSON_REAL_PRECISION(17));
		if (!sig->recorded)
			return cpl_fail_memory(err);
	}
	return take_phases(root, src, sig, err);
}

/* text ends in a NUL and is overwritten. */
static struct cpl_signature *parse(char *text, size_t length, const char *name,
                                   const char *path, struct cpl_error *err)
{
	struct source src = {.path = path, .room = PATTERN_MAX_STORED};
	struct cpl_signature *sig = calloc(1, sizeof(*sig));
	json_t *root = NULL;
	int rc = -1;

	if (!sig) {
		cpl_fail_memory(err);
		goto out;
	}
	if (scan_traffic(text, length, name, &src.scan, err))
		goto out;
	root = cpl_json_parse(text, length, name, err);
	if (!root)
		goto out;
	rc = take_root(root, name, &src, sig, err);
	if (rc)
		cpl_fail_prefix(err, "%s: ", name);
out:
	json_decref(root);
	scan_free(&src.scan);
	if (rc) {
		cpl_signature_free(sig);
		sig = NULL;
	}
	return sig;
}

struct cpl_signature *cpl_signature_load(const char *path,
                                         struct cpl_error *err)
{
	struct cpl_signature *sig;
	size_t length;
	char *text = cpl_file_read(path, CPL_JSON_MAX_BYTES, &length, err);

	if (!text)
		return NULL;
	sig = parse(text, length, path, path, err);
	free(text);
	return sig;
}

struct cpl_signature *cpl_signature_parse(const char *text, size_t length,
                                          const char *name,
                                          struct cpl_error *err)
{
	struct cpl_signature *sig;
	char *copy = malloc(length + 1);

	if (!copy) {
		cpl_fail_memory(err);
		return NULL;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	sig = parse(copy, length, name, NULL, err);
	free(copy);
	return sig;
}

bool cpl_signature_stored(const struct cpl_signature *sig)
{
	for (int i = 0; i < sig->n_phases; i++)
		if (!sig->phase[i].comm)
			return false;
	return true;
}
