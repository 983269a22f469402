/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/record.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "signature/signature.h"
#include "site/site_internal.h"

#define FORMAT "commplace-decision"

enum kind {
	TEXT,
	TEXT_OR_NULL,
	OUTCOME,
	INT,
	INT64,
	UINT32,
	UINT64,
	BOOL,
	REAL
};

struct field {
	const char *key;
	enum kind kind;
	size_t offset;
};

#define AT(member) offsetof(struct cpl_record, member)
/* In the order of the file. */
static const struct field fields[] = {
        {"job", INT64, AT(job)},
        {"shown_as", TEXT_OR_NULL, AT(shown_as)},
        {"time", INT64, AT(time)},
        {"uid", UINT32, AT(uid)},
        {"job_name", TEXT_OR_NULL, AT(job_name)},
        {"partition", TEXT_OR_NULL, AT(partition)},
        {"profile", TEXT_OR_NULL, AT(profile)},
        {"own_profile", BOOL, AT(own_profile)},
        {"recorded_ranks", INT, AT(recorded_ranks)},
        {"rescale_error", REAL, AT(rescale_error)},
        {"drift", REAL, AT(drift)},
        {"outcome", OUTCOME, AT(outcome)},
        {"reason", TEXT, AT(reason)},
        {"reason_code", TEXT_OR_NULL, AT(reason_code)},
        {"policy_asked", TEXT_OR_NULL, AT(policy_asked)},
        {"policy", TEXT_OR_NULL, AT(policy)},
        {"seed", UINT64, AT(seed)},
        {"objective", TEXT_OR_NULL, AT(objective)},
        {"routing", TEXT_OR_NULL, AT(routing)},
        {"network_file", TEXT_OR_NULL, AT(network_file)},
        {"nodes_wanted", INT, AT(nodes_wanted)},
        {"ranks_per_node", INT, AT(ranks_per_node)},
        {"free_hosts", TEXT, AT(free_hosts)},
        {"required_hosts", TEXT, AT(required_hosts)},
        {"run_seconds", REAL, AT(run_seconds)},
        {"own_weight", REAL, AT(own_weight)},
        {"others_weight", REAL, AT(others_weight)},
        {"keep_whole", TEXT_OR_NULL, AT(keep_whole)},
        {"keep_price", INT, AT(keep_price)},
        {"broken", INT, AT(broken)},
        {"best_policy", TEXT_OR_NULL, AT(best_policy)},
        {"best_broken", INT, AT(best_broken)},
        {"price", REAL, AT(price)},
        {"seconds", REAL, AT(seconds)},
        {"alone_seconds", REAL, AT(alone_seconds)},
        {"stock_seconds", REAL, AT(stock_seconds)},
        {"cut_short", BOOL, AT(cut_short)},
        {"decision_ms", REAL, AT(decision_ms)},
        {"stock_hosts", TEXT, AT(stock_hosts)},
        {"stock_max_congestion", REAL, AT(stock_max_congestion)},
        {"stock_mean_congestion", REAL, AT(stock_mean_congestion)},
        {"stock_mapped_max_congestion", REAL, AT(stock_mapped_max)},
        {"mapping", TEXT_OR_NULL, AT(mapping)},
        {"mapping_kept_default", BOOL, AT(mapping_kept_default)},
        {"own_order", BOOL, AT(own_order)},
        {"map_max_before", REAL, AT(map_max_before)},
        {"map_max_after", REAL, AT(map_max_after)},
};
#undef AT

#define AT(member) offsetof(struct cpl_record_candidate, member)
static const struct field candidate_fields[] = {
        {"policy", TEXT, AT(policy)},
        {"seed", UINT64, AT(seed)},
        {"evaluated", BOOL, AT(evaluated)},
        {"max_congestion", REAL, AT(max_congestion)},
        {"mean_congestion", REAL, AT(mean_congestion)},
        {"hop_bytes", REAL, AT(hop_bytes)},
        {"seconds", REAL, AT(seconds)},
        {"alone_seconds", REAL, AT(alone_seconds)},
        {"shared_links", INT64, AT(shared_links)},
        {"slows_others", REAL, AT(slows_others)},
        {"broken", INT, AT(broken)},
        {"mapped", BOOL, AT(mapped)},
        {"mapped_max_congestion", REAL, AT(mapped_max)},
        {"mapped_mean_congestion", REAL, AT(mapped_mean)},
        {"mapped_hop_bytes", REAL, AT(mapped_hop_bytes)},
};
#undef AT

#define COUNT(array) ((int)(sizeof(array) / sizeof(array[0])))
#define N_FIELDS COUNT(fields)
#define N_CANDIDATE COUNT(candidate_fields)

static const char *const other_keys[] = {"format", "version",    "background",
                                         "hosts",  "candidates", "rank_host"};

static const char *const outcome_name[] = {
        [CPL_OUTCOME_STOCK] = "stock",
        [CPL_OUTCOME_OBSERVED] = "observed",
        [CPL_OUTCOME_PLACED] = "placed",
};

const char *cpl_outcome_name(enum cpl_outcome outcome)
{
	return outcome_name[outcome];
}

void cpl_record_free(struct cpl_record *record)
{
	if (!record)
		return;
	for (int i = 0; i < N_FIELDS; i++)
		if (fields[i].kind <= TEXT_OR_NULL)
			free(*(char **)((char *)record + fields[i].offset));
	for (int i = 0; i < record->n_hosts; i++)
		free(record->host[i]);
	for (int i = 0; i < record->n_candidates; i++)
		free(record->candidate[i].policy);
	free(record->host);
	free(record->candidate);
	free(record->background);
	free(record->rank_host);
	free(record);
}

/* Job names need not be UTF-8, which JSON text must be. */
static json_t *text_json(const char *text)
{
	json_t *value = json_string(text);
	char *copy;

	if (value)
		return value;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++)
		if (*p & 0x80)
			*p = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static json_t *real_json(double v)
{
	return json_real(isfinite(v) ? v : -1.0);
}

static int set_field(json_t *root, const void *base, const struct field *f)
{
	const char *at = (const char *)base + f->offset;
	const char *text;
	json_t *value = NULL;

	switch (f->kind) {
	case TEXT:
	case TEXT_OR_NULL:
		text = *(char *const *)at;
		if (!text && f->kind == TEXT_OR_NULL)
			return 0;
		value = text_json(text ? text : "");
		break;
	case OUTCOME:
		value = json_string(
		        cpl_outcome_name(*(const enum cpl_outcome *)at));
		break;
	case INT:
		value = json_integer(*(const int *)at);
		break;
	case INT64:
		value = json_integer(*(const int64_t *)at);
		break;
	case UINT32:
		value = json_integer(*(const uint32_t *)at);
		break;
	case UINT64:
		/* JSON integers are signed here: the same bits come back. */
		value = json_integer((json_int_t) * (const uint64_t *)at);
		break;
	case BOOL:
		value = json_boolean(*(const bool *)at);
		break;
	case REAL:
		value = real_json(*(const double *)at);
		break;
	}
	return json_object_set_new(root, f->key, value);
}

static int set_candidates(json_t *root, const struct cpl_record *record)
{
	json_t *list = json_array();

	if (json_object_set_new(root, "candidates", list))
		return -1;
	for (int i = 0; i < record->n_candidates; i++) {
		json_t *item = json_object();

		if (json_array_append_new(list, item))
			return -1;
		for (int k = 0; k < N_CANDIDATE; k++)
			if (set_field(item, &record->candidate[i],
			              &candidate_fields[k]))
				return -1;
	}
	return 0;
}

static int set_arrays(json_t *root, const struct cpl_record *record)
{
	json_t *background = json_array(), *hosts = json_array();
	json_t *ranks = json_array();

	/* Each takes its reference even when an earlier one failed. */
	if ((json_object_set_new(root, "background", background) |
	     json_object_set_new(root, "hosts", hosts) |
	     json_object_set_new(root, "rank_host", ranks)) ||
	    set_candidates(root, record))
		return -1;
	for (int64_t i = 0; i < record->n_background; i++)
		if (json_array_append_new(background,
		                          json_integer(record->background[i])))
			return -1;
	for (int i = 0; i < record->n_hosts; i++)
		if (json_array_append_new(hosts, text_json(record->host[i])))
			return -1;
	for (int i = 0; i < record->ranks; i++)
		if (json_array_append_new(ranks,
		                          json_integer(record->rank_host[i])))
			return -1;
	return 0;
}

json_t *cpl_record_to_json(const struct cpl_record *record,
                           struct cpl_error *err)
{
	json_t *root = json_pack("{s:s, s:i}", "format", FORMAT, "version", 1);
	int rc = root ? 0 : -1;

	for (int i = 0; i < N_FIELDS && !rc; i++)
		rc = set_field(root, record, &fields[i]);
	if (!rc)
		rc = set_arrays(root, record);
	if (rc) {
		json_decref(root);
		cpl_fail_memory(err);
		return NULL;
	}
	return root;
}

char *cpl_record_text(const struct cpl_record *record, size_t *length,
                      struct cpl_error *err)
{
	json_t *root = cpl_record_to_json(record, err);
	char *text = root ? cpl_json_text(root, length, err) : NULL;

	json_decref(root);
	return text;
}

static int take_text(const json_t *root, const struct field *f, char **out,
                     struct cpl_error *err)
{
	const char *text = f->kind == TEXT ? "" : NULL;

	if (cpl_json_string(root, f->key, &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	*out = strdup(text);
	return *out ? 0 : cpl_fail_memory(err);
}

static int take_outcome(const json_t *root, const struct field *f,
                        enum cpl_outcome *out, struct cpl_error *err)
{
	const char *text = "";

	if (cpl_json_string(root, f->key, &text, err) < 0)
		return -1;
	for (int i = 0; i < COUNT(outcome_name); i++) {
		if (strcmp(text, outcome_name[i]))
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

static int take_field(const json_t *root, void *base, const struct field *f,
                      struct cpl_error *err)
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
static int check_keys(const json_t *object, const struct field *f, int n_fields,
                      const char *const *other, int n, struct cpl_error *err)
{
	const char *keys[N_FIELDS + COUNT(other_keys) + 1];
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
	if (check_keys(object, candidate_fields, N_CANDIDATE, NULL, 0, err))
		return -1;
	for (int k = 0; k < N_CANDIDATE; k++)
		if (take_field(object, c, &candidate_fields[k], err))
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

	if (cpl_json_expect_format(root, FORMAT, err) ||
	    check_keys(root, fields, N_FIELDS, other_keys, COUNT(other_keys),
	               err))
		return -1;
	if (!json_object_get(root, "job"))
		return cpl_fail(err, "\"job\" is missing");
	record->stock_max_congestion = record->stock_mean_congestion = -1.0;
	for (int i = 0; i < N_FIELDS; i++)
		if (take_field(root, record, &fields[i], err))
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

	if (!record) {
		cpl_fail_memory(err);
		return NULL;
	}
	if (take_record(root, record, err)) {
		cpl_record_free(record);
		return NULL;
	}
	return record;
}
