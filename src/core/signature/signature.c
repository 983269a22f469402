/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/printable.h"
#include "signature/rank_compute.h"
#include "signature/signature_internal.h"

/* Every phase takes 8 bytes per rank, however small the file is. */
#define MAX_PHASE_RANKS (1 << 27)

static const char *const root_keys[] = {"format",      "version", "name",
                                        "application", "ranks",   "phases",
                                        "recorded",    NULL};
static const char *const phase_keys[] = {
        "name",    "weight", "time",    "compute_time", "compute_percent",
        "traffic", "file",   "pattern", NULL};

/* Text other than traffic must be small, since the JSON parser makes a tree of it
 * that takes a multiple of its size. */
#define MAX_REST(max_bytes) ((max_bytes) / 64)

void cpl_signature_free(struct cpl_signature *sig)
{
	if (!sig)
		return;
	for (int i = 0; i < sig->n_phases; i++) {
		cpl_free_all(sig->phase[i].name, sig->phase[i].rank_compute);
		cpl_comm_free(sig->phase[i].comm);
		pattern_free(sig->phase[i].pattern);
	}
	cpl_free_all(sig->phase, sig->name, sig->application, sig->recorded);
	for (int i = 0; i < sig->n_files; i++)
		free(sig->file[i].path);
	cpl_free_all(sig->file, sig);
}

int cpl_signature_text_check(const char *what, const char *text,
                             struct cpl_error *err)
{
	json_t *value;

	if (!*text)
		return cpl_fail(err, "\"%s\" is empty", what);
	value = json_string(text);
	if (!value)
		return cpl_fail(err, "\"%s\" is not UTF-8", what);
	json_decref(value);
	if (!cpl_is_printable(text))
		return cpl_fail(err,
		                "\"%s\" holds a control character; use "
		                "printable text",
		                what);
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
	if (entries_check(list, ranks, "traffic row", err) ||
	    budget_store(&src->budget, list->n, err))
		return -1;
	phase->comm = cpl_comm_build(ranks, list->entry, list->n, err);
	free(list->entry);
	list->entry = NULL;
	return phase->comm ? 0 : -1;
}

static int take_side_file(const json_t *object, struct source *src, int ranks,
                          struct cpl_phase *phase, struct cpl_error *err)
{
	const char *file;

	if (cpl_json_string(object, "file", &file, err) < 0)
		return -1;
	if (!src->path)
		return cpl_fail(err, "\"file\" needs a signature that is a "
		                     "file itself");
	phase->comm = side_file_load(src, file, ranks, err);
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
	return pattern_take(pattern, ranks, &src->budget, phase, err);
}

static int take_rank_compute(const json_t *object, const struct source *src,
                             int ranks, struct cpl_phase *phase,
                             struct cpl_error *err)
{
	const char *text;
	int rc = cpl_json_string(object, "compute_percent", &text, err);

	if (rc <= 0 || src->limits)
		return rc < 0 ? -1 : 0;
	if (!(phase->compute_time > 0))
		return cpl_fail(err, "\"compute_percent\" is of "
		                     "\"compute_time\", which is missing or 0");
	phase->rank_compute =
	        rank_compute_parse(text, ranks, phase->compute_time, err);
	return phase->rank_compute ? 0 : -1;
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
	                    &phase->weight, err) < 0 ||
	    cpl_json_number(object, "time", 0.0, SIGNATURE_MAX_AMOUNT,
	                    &phase->time, err) < 0 ||
	    cpl_json_number(object, "compute_time", 0.0, SIGNATURE_MAX_AMOUNT,
	                    &phase->compute_time, err) < 0)
		return -1;
	if (phase->weight <= 0.0)
		return cpl_fail(err, "\"weight\" is 0; it must be above 0");
	if (take_rank_compute(object, src, ranks, phase, err))
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
	/* These are the rows of the phases, and of the matrix and graph of the
	 * whole run. */
	src->budget.rows =
	        (n + 2) * ((uint64_t)sig->ranks + 1) * sizeof(int64_t);
	src->budget.most =
	        (uint64_t)sig->ranks * (uint64_t)sig->ranks * BUDGET_ENTRY;
	if (src->budget.max && src->budget.rows > src->budget.max)
		return cpl_fail(err,
		                "%d ranks alone need more memory than profiles "
		                "may use (ProfileMemory in commplace.conf)",
		                sig->ranks);
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

char *cpl_signature_base_name(const char *path, struct cpl_error *err)
{
	const char *base = cpl_path_base(path);
	size_t n = strlen(base);
	char *name = strndup(
	        base, n > 5 && !strcmp(base + n - 5, ".json") ? n - 5 : n);

	if (!name)
		cpl_fail_memory(err);
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
		sig->name = cpl_signature_base_name(name, err);
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

/* This checks that the text besides traffic and white space is as small as it must
 * be. */
static int check_rest(const char *text, size_t length, const struct source *src,
                      struct cpl_error *err)
{
	uint64_t rest = 0;

	if (!src->limits || !src->limits->max_bytes)
		return 0;
	for (size_t i = 0; i < length; i++)
		rest += text[i] != ' ' && text[i] != '\n';
	if (rest > MAX_REST(src->limits->max_bytes))
		return cpl_fail(
		        err,
		        "has %llu bytes besides the rows of its "
		        "traffic; at most %llu are read",
		        (unsigned long long)rest,
		        (unsigned long long)MAX_REST(src->limits->max_bytes));
	return 0;
}

/* text ends in a NUL and is overwritten. It returns 0, or -1 with err. */
static int parse(char *text, size_t length, const char *name,
                 struct source *src, struct cpl_error *err)
{
	json_t *root = NULL;
	int rc;

	src->budget.left = PATTERN_MAX_STORED;
	if (src->limits) {
		src->budget.max = src->limits->max_bytes;
		src->scan.max_rows = (int64_t)(src->limits->max_bytes /
		                               sizeof(struct cpl_comm_entry));
	}
	rc = scan_traffic(text, length, name, &src->scan, err);
	if (!rc && check_rest(text, length, src, err))
		rc = cpl_fail_prefix(err, "%s: ", name);
	if (!rc) {
		root = cpl_json_parse(text, length, name, err);
		rc = root ? 0 : -1;
	}
	if (root && take_root(root, name, src, src->sig, err))
		rc = cpl_fail_prefix(err, "%s: ", name);
	json_decref(root);
	scan_free(&src->scan);
	return rc;
}

/* This returns the signature, or NULL where reading failed. */
static struct cpl_signature *finish(struct source *src, int rc)
{
	if (!rc)
		return src->sig;
	cpl_signature_free(src->sig);
	return NULL;
}

struct cpl_signature *
cpl_signature_load_within(const char *path,
                          const struct cpl_signature_limits *limits,
                          struct cpl_error *err)
{
	struct source src = {.path = path, .limits = limits};
	struct cpl_signature *sig;
	struct cpl_file_stamp stamp;
	size_t length = 0;
	char *text = NULL;
	int fd, failed = 0;

	src.sig = calloc(1, sizeof(*src.sig));
	if (!src.sig) {
		cpl_fail_memory(err);
		errno = ENOMEM;
		return NULL;
	}
	source_reads(&src, true);
	fd = source_open(&src, path, CPL_JSON_MAX_BYTES, &stamp, err);
	if (fd >= 0)
		text = cpl_file_read_open(fd, path, (uint64_t)stamp.size,
		                          &length, err);
	if (!text)
		failed = errno;
	if (fd >= 0)
		close(fd);
	source_reads(&src, false);
	sig = finish(&src, text ? parse(text, length, path, &src, err) : -1);
	free(text);
	errno = failed;
	return sig;
}

struct cpl_signature *cpl_signature_load(const char *path,
                                         struct cpl_error *err)
{
	return cpl_signature_load_within(path, NULL, err);
}

struct cpl_run_times cpl_run_times(const struct cpl_phase *phase, int n)
{
	struct cpl_run_times run = {0};

	for (int i = 0; i < n; i++) {
		if (!(phase[i].time > 0))
			return (struct cpl_run_times){.share = 1};
		run.seconds += phase[i].weight * phase[i].time;
		run.communication +=
		        phase[i].weight * cpl_phase_communication(&phase[i]);
	}
	run.share = run.seconds > 0 ? run.communication / run.seconds : 1;
	return run;
}

struct cpl_signature *cpl_profile_load(const char *dir, const char *name,
                                       struct cpl_error *err)
{
	static const struct cpl_signature_limits none = {.max_bytes =
	                                                         UINT64_MAX};
	char *path = cpl_profile_path(dir, name, err);
	struct cpl_signature *sig = NULL;

	if (path)
		sig = cpl_signature_load_within(path, &none, err);
	free(path);
	return sig;
}

struct cpl_signature *cpl_signature_parse(const char *text, size_t length,
                                          const char *name,
                                          struct cpl_error *err)
{
	struct source src = {.sig = calloc(1, sizeof(*src.sig))};
	struct cpl_signature *sig;
	char *copy = malloc(length + 1);

	if (copy && src.sig) {
		memcpy(copy, text, length);
		copy[length] = '\0';
		sig = finish(&src, parse(copy, length, name, &src, err));
	} else {
		sig = finish(&src, cpl_fail_memory(err));
	}
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
