/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records from their files' JSON. */
#include "commplace-config.h"
#include "site/record_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "signature/signature.h"
#include "site/site_internal.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array[0])))

static const char *const other_keys[] = {"format", "version",    "background",
                                         "hosts",  "candidates", "rank_host"};

static int take_text(const json_t *root, const struct record_field *f,
                     char **out, struct cpl_error *err)
{
	const char *text = f->kind == TEXT ? "" : NULL;

	if (cpl_json_string(root, f->key, &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	*out = strdup(text);
	return *out ? 0 : cpl_fail_memory(err);
}

static int take_outcome(const json_t *root, const struct record_field *f,
                        enum cpl_outcome *out, struct cpl_error *err)
{
	const char *text = "";

	if (cpl_json_string(root, f->key, &text, err) < 0)
		return -1;
	for (int i = CPL_OUTCOME_STOCK; i <= CPL_OUTCOME_PLACED; i++) {
		if (strcmp(text, cpl_outcome_name((enum cpl_outcome)i)))
			continue;
		*out = (enum cpl_outcome)i;
		return 0;
	}
	return cpl_fail(err,
	                "\"outcome\" is \"%.40s\"; it must be placed, "
	                "observed or stock",
	                text);
}

/* Numbers of one kind must lie in these. */
static const struct {
	int64_t low, high;
} range[] = {
        [INT] = {0, INT32_MAX},
        [INT64] = {0, INT64_MAX},
        [UINT32] = {0, UINT32_MAX},
        [UINT64] = {INT64_MIN, INT64_MAX},
};

static int take_field(const json_t *root, void *base,
                      const struct record_field *f, struct cpl_error *err)
{
	char *at = (char *)base + f->offset;
	int64_t v = 0;
	int rc;

	switch (f->kind) {
	case TEXT:
	case TEXT_OR_NULL:
		return take_text(root, f, (char **)at, err);
	case OUTCOME:
		return take_outcome(root, f, (enum cpl_outcome *)at, err);
	case BOOL:
		rc = cpl_json_bool(root, f->key, (bool *)at, err);
		break;
	case REAL:
		rc = cpl_json_number(root, f->key, -1.0, HUGE_VAL, (double *)at,
		                     err);
		break;
	default:
		rc = cpl_json_int(root, f->key, range[f->kind].low,
		                  range[f->kind].high, &v, err);
		if (f->kind == INT)
			*(int *)at = (int)v;
		else if (f->kind == UINT32)
			*(uint32_t *)at = (uint32_t)v;
		else
			*(int64_t *)at = v;
		break;
	}
	return rc < 0 ? -1 : 0;
}

/* Only keys of the table and these others (n may be 0). */
static int check_keys(const json_t *object, const struct record_field *f,
                      int n_fields, const char *const *other, int n,
                      struct cpl_error *err)
{
	const char *keys[RECORD_FIELDS + COUNT(other_keys) + 1];
	int used = 0;

	for (int i = 0; i < n_fields; i++)
		keys[used++] = f[i].key;
	for (int i = 0; i < n; i++)
		keys[used++] = other[i];
	keys[used] = NULL;
	return cpl_json_known_keys(object, NULL, keys, err);
}

static int take_candidate(const json_t *object, struct cpl_record_candidate *c,
                          struct cpl_error *err)
{
	if (!json_is_object(object))
		return cpl_fail(err, "is not an object");
	if (check_keys(object, record_candidate_field, RECORD_CANDIDATE_FIELDS,
	               NULL, 0, err))
		return -1;
	for (int k = 0; k < RECORD_CANDIDATE_FIELDS; k++)
		if (take_field(object, c, &record_candidate_field[k], err))
			return -1;
	return 0;
}

/* The array under key, NULL when absent; -1 when it is something else. */
static int take_array(const json_t *root, const char *key, const json_t **out,
                      size_t *n, struct cpl_error *err)
{
	*out = json_object_get(root, key);
	*n = json_array_size(*out);
	if (*out && !json_is_array(*out))
		return cpl_fail(err, "\"%s\" is not an array", key);
	return 0;
}

static int take_candidates(const json_t *root, struct cpl_record *record,
                           struct cpl_error *err)
{
	const json_t *list;
	size_t n;

	if (take_array(root, "candidates", &list, &n, err))
		return -1;
	record->candidate = calloc(n + 1, sizeof(*record->candidate));
	if (!record->candidate)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		record->n_candidates = (int)i + 1;
		if (take_candidate(json_array_get(list, i),
		                   &record->candidate[i], err))
			return cpl_fail_prefix(err, "candidate %zu: ", i + 1);
	}
	return 0;
}

static int take_background(const json_t *root, struct cpl_record *record,
                           struct cpl_error *err)
{
	const json_t *list;
	size_t n;

	if (take_array(root, "background", &list, &n, err))
		return -1;
	record->background = calloc(n + 1, sizeof(*record->background));
	if (!record->background)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		const json_t *id = json_array_get(list, i);

		if (!json_is_integer(id) || json_integer_value(id) < 0)
			return cpl_fail(err,
			                "\"background\": entry %zu is not "
			                "a job's number",
			                i + 1);
		record->background[i] = json_integer_value(id);
	}
	record->n_background = (int64_t)n;
	return 0;
}

static int take_ranks(const json_t *root, struct cpl_record *record,
                      struct cpl_error *err)
{
	const json_t *list;
	size_t n;

	if (take_array(root, "rank_host", &list, &n, err))
		return -1;
	if (n > CPL_SIGNATURE_MAX_RANKS)
		return cpl_fail(err,
		                "\"rank_host\" has %zu ranks; at most %d "
		                "are read",
		                n, CPL_SIGNATURE_MAX_RANKS);
	record->rank_host = calloc(n + 1, sizeof(*record->rank_host));
	if (!record->rank_host)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		const json_t *host = json_array_get(list, i);
		json_int_t v = json_integer_value(host);

		if (!json_is_integer(host) || v < 0 || v >= record->n_hosts)
			return cpl_fail(err,
			                "\"rank_host\": rank %zu must have an "
			                "index into the %d hosts",
			                i, record->n_hosts);
		record->rank_host[i] = (int)v;
	}
	record->ranks = (int)n;
	return 0;
}

static int take_record(const json_t *root, struct cpl_record *record,
                       struct cpl_error *err)
{
	const json_t *hosts;
	size_t n;

	if (cpl_json_expect_format(root, RECORD_FORMAT, err) ||
	    check_keys(root, record_field, RECORD_FIELDS, other_keys,
	               COUNT(other_keys), err))
		return -1;
	if (!json_object_get(root, "job"))
		return cpl_fail(err, "\"job\" is missing");
	record->stock_max_congestion = record->stock_mean_congestion = -1.0;
	for (int i = 0; i < RECORD_FIELDS; i++)
		if (take_field(root, record, &record_field[i], err))
			return -1;
	if (take_array(root, "hosts", &hosts, &n, err))
		return -1;
	record->host = take_strings(hosts, "hosts", &record->n_hosts, err);
	if (!record->host || take_background(root, record, err) ||
	    take_candidates(root, record, err) || take_ranks(root, record, err))
		return -1;
	if (record->outcome == CPL_OUTCOME_OBSERVED && record->ranks &&
	    !*record->stock_hosts)
		return cpl_fail(err, "\"stock_hosts\" is empty; it must name "
		                     "the hosts of an observed job");
	return 0;
}

struct cpl_record *cpl_record_from_json(const json_t *root,
                                        struct cpl_error *err)
{
	struct cpl_record *record = calloc(1, sizeof(*record));

	if (!record)
		return cpl_fail_null_memory(err);
	if (take_record(root, record, err)) {
		cpl_record_free(record);
		return NULL;
	}
	return record;
}
