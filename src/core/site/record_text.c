/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records as text: what cpl_json_text would make of them, to the byte, but
 * without a value in memory for each of thousands of ranks, since slurmctld
 * waits meanwhile.
 */
#include "commplace-config.h"
#include "site/record_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

struct text {
	char *at;
	size_t n, max;
	bool failed; /* memory was out */
};

/* Room for so many bytes more, or NULL. */
static char *room(struct text *t, size_t bytes)
{
	if (t->max - t->n < bytes) {
		size_t max = 2 * t->max + bytes;
		char *more = t->failed ? NULL : realloc(t->at, max);

		if (!more) {
			t->failed = true;
			return NULL;
		}
		t->at = more;
		t->max = max;
	}
	return t->at + t->n;
}

static void add_bytes(struct text *t, const char *bytes, size_t n)
{
	char *at = room(t, n);

	if (!at)
		return;
	memcpy(at, bytes, n);
	t->n += n;
}

static void add_plain(struct text *t, const char *text)
{
	add_bytes(t, text, strlen(text));
}

/* Digits of the largest number, and its sign. */
#define DIGITS 20

static void add_int(struct text *t, int64_t value)
{
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[DIGITS];
	int i = DIGITS;

	do {
		digits[--i] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		digits[--i] = '-';
	add_bytes(t, digits + i, (size_t)(DIGITS - i));
}

/* Whatever else there is in JSON; takes the value. */
static void add_value(struct text *t, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY |
	                                               JSON_REAL_PRECISION(17))
	                   : NULL;

	if (text)
		add_plain(t, text);
	else
		t->failed = true;
	free(text);
	json_decref(value);
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

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

static void add_text(struct text *t, const char *text)
{
	if (!is_plain(text)) {
		add_value(t, text_json(text));
		return;
	}
	add_bytes(t, "\"", 1);
	add_plain(t, text);
	add_bytes(t, "\"", 1);
}

static void add_field(struct text *t, const void *base,
                      const struct record_field *f)
{
	const char *at = (const char *)base + f->offset;
	const char *text;
	double real;

	switch (f->kind) {
	case TEXT:
	case TEXT_OR_NULL:
		text = *(char *const *)at;
		add_text(t, text ? text : "");
		break;
	case OUTCOME:
		add_text(t, cpl_outcome_name(*(const enum cpl_outcome *)at));
		break;
	case INT:
		add_int(t, *(const int *)at);
		break;
	case INT64:
		add_int(t, *(const int64_t *)at);
		break;
	case UINT32:
		add_int(t, *(const uint32_t *)at);
		break;
	case UINT64:
		/* JSON integers are signed here: the same bits come back. */
		add_int(t, (int64_t) * (const uint64_t *)at);
		break;
	case BOOL:
		add_plain(t, *(const bool *)at ? "true" : "false");
		break;
	case REAL:
		real = *(const double *)at;
		add_value(t, json_real(isfinite(real) ? real : -1.0));
		break;
	}
}

static bool is_there(const void *base, const struct record_field *f)
{
	return f->kind != TEXT_OR_NULL ||
	       *(char *const *)((const char *)base + f->offset);
}

/* The next item of what is so deep: a line of its own. */
static void begin_item(struct text *t, int depth, bool first)
{
	add_bytes(t, &",\n   "[first], (size_t)(2 - first + depth));
}

static void add_key(struct text *t, int depth, bool first, const char *key)
{
	begin_item(t, depth, first);
	add_bytes(t, "\"", 1);
	add_plain(t, key);
	add_bytes(t, "\": ", 3);
}

static void add_fields(struct text *t, int depth, bool first, const void *base,
                       const struct record_field *f, int n)
{
	for (int i = 0; i < n; i++) {
		if (!is_there(base, &f[i]))
			continue;
		add_key(t, depth, first, f[i].key);
		add_field(t, base, &f[i]);
		first = false;
	}
}

static void begin_list(struct text *t, const char *key)
{
	add_key(t, 1, false, key);
	add_bytes(t, "[", 1);
}

static void end_list(struct text *t, bool empty)
{
	add_plain(t, empty ? "]" : "\n ]");
}

static void add_lists(struct text *t, const struct cpl_record *record)
{
	begin_list(t, "background");
	for (int64_t i = 0; i < record->n_background; i++) {
		begin_item(t, 2, !i);
		add_int(t, record->background[i]);
	}
	end_list(t, !record->n_background);
	begin_list(t, "hosts");
	for (int i = 0; i < record->n_hosts; i++) {
		begin_item(t, 2, !i);
		add_text(t, record->host[i]);
	}
	end_list(t, !record->n_hosts);
	begin_list(t, "rank_host");
	for (int i = 0; i < record->ranks; i++) {
		begin_item(t, 2, !i);
		add_int(t, record->rank_host[i]);
	}
	end_list(t, !record->ranks);
	begin_list(t, "candidates");
	for (int i = 0; i < record->n_candidates; i++) {
		begin_item(t, 2, !i);
		add_bytes(t, "{", 1);
		add_fields(t, 3, true, &record->candidate[i],
		           record_candidate_field, RECORD_CANDIDATE_FIELDS);
		add_bytes(t, "\n  }", 4);
	}
	end_list(t, !record->n_candidates);
}

char *cpl_record_text(const struct cpl_record *record, size_t *length,
                      struct cpl_error *err)
{
	struct text t = {0};

	/* What most take: a line for each of these. */
	room(&t, 4096 + 16 * (size_t)record->n_hosts +
	                 8 * (size_t)record->ranks);
	add_plain(&t, "{\n \"format\": \"" RECORD_FORMAT
	              "\",\n \"version\": 1");
	add_fields(&t, 1, false, record, record_field, RECORD_FIELDS);
	add_lists(&t, record);
	add_bytes(&t, "\n}\n", 3);
	if (t.failed) {
		free(t.at);
		cpl_fail_memory(err);
		return NULL;
	}
	*length = t.n;
	return t.at;
}

json_t *cpl_record_to_json(const struct cpl_record *record,
                           struct cpl_error *err)
{
	size_t length;
	char *text = cpl_record_text(record, &length, err);
	json_t *root =
	        text ? cpl_json_parse(text, length, "a record", err) : NULL;

	free(text);
	return root;
}
