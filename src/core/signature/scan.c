/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature_internal.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct cursor {
	char *text;
	char *p;
	char *end;
	const char *name;
	locale_t c_locale; /* strtod() would obey the process's locale */
	int64_t n_rows, max_rows; /* rows of "traffic"; max 0: no limit */
	struct cpl_error *err;
};

int entry_push(struct entry_list *list, const struct cpl_comm_entry *entry,
               struct cpl_error *err)
{
	if (cpl_array_grow(&list->entry, list->n, sizeof(*entry), err))
		return -1;
	list->entry[list->n++] = *entry;
	return 0;
}

int entries_check(const struct entry_list *list, int ranks, const char *what,
                  struct cpl_error *err)
{
	for (int64_t i = 0; i < list->n; i++) {
		int from = list->entry[i].from, to = list->entry[i].to;

		if (from < ranks && to < ranks)
			continue;
		return cpl_fail(err,
		                "%s %lld: rank %d is beyond the %d ranks "
		                "(0 to %d)",
		                what, (long long)i + 1,
		                from < ranks ? to : from, ranks, ranks - 1);
	}
	return 0;
}

static int fail_at(const struct cursor *c, int phase, int64_t row,
                   const char *reason)
{
	int line = 1;
	const char *start = c->text;

	for (const char *q = c->text; q < c->p; q++) {
		if (*q == '\n') {
			line++;
			start = q + 1;
		}
	}
	return cpl_fail(c->err, "%s:%d:%d: phase %d, traffic row %lld: %s",
	                c->name, line, (int)(c->p - start) + 1, phase,
	                (long long)row, reason);
}

static void skip_space(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' ||
	                         *c->p == '\t' || *c->p == '\r'))
		c->p++;
}

/* This steps over white space, and over x if it comes next. It returns whether it
 * did. */
static bool take_char(struct cursor *c, char x)
{
	skip_space(c);
	if (c->p == c->end || *c->p != x)
		return false;
	c->p++;
	return true;
}

static bool skip_string(struct cursor *c, const char **start, size_t *length)
{
	if (!take_char(c, '"'))
		return false;
	*start = c->p;
	while (c->p < c->end && *c->p != '"')
		c->p += *c->p == '\\' ? 2 : 1;
	if (c->p >= c->end)
		return false;
	*length = (size_t)(c->p++ - *start);
	return true;
}

/* This steps over any value by counting brackets; the JSON parser checks it. */
static bool skip_value(struct cursor *c)
{
	const char *s;
	size_t n;
	int64_t depth = 0;

	skip_space(c);
	while (c->p < c->end) {
		char x = *c->p;

		if (x == '"') {
			if (!skip_string(c, &s, &n))
				return false;
			continue;
		}
		if (x == '[' || x == '{')
			depth++;
		if (x == ']' || x == '}') {
			if (depth == 0)
				return true;
			depth--;
		}
		if (x == ',' && depth == 0)
			return true;
		c->p++;
	}
	return false;
}

static bool digits(const char **p, const char *end)
{
	const char *start = *p;

	while (*p < end && **p >= '0' && **p <= '9')
		(*p)++;
	return *p > start;
}

/* This reads one JSON number. It returns NULL, or the reason why there is none. */
static const char *take_number(struct cursor *c, bool *integer, double *out)
{
	const char *q = c->p, *start = c->p;

	if (q < c->end && *q == '"')
		return "found a string where a number is expected";
	if (q < c->end && *q == '-')
		q++;
	if (q + 1 < c->end && q[0] == '0' && q[1] >= '0' && q[1] <= '9')
		return "a number starts with 0";
	if (!digits(&q, c->end))
		return "a number is needed; rows are [from, to, bytes, "
		       "messages]";
	*integer = true;
	if (q < c->end && *q == '.') {
		*integer = false;
		q++;
		if (!digits(&q, c->end))
			return "a digit is missing after the point";
	}
	if (q < c->end && (*q == 'e' || *q == 'E')) {
		*integer = false;
		q++;
		if (q < c->end && (*q == '+' || *q == '-'))
			q++;
		if (!digits(&q, c->end))
			return "a digit is missing in the exponent";
	}
	if (*integer && q - start <= 15) {
		int64_t v = 0;

		for (const char *d = start + (*start == '-'); d < q; d++)
			v = 10 * v + (*d - '0');
		*out = (double)(*start == '-' ? -v : v);
	} else {
		/* The text ends in a NUL past its last byte, so this stops there. */
		*out = strtod_l(start, NULL, c->c_locale);
	}
	if (*start == '-' && *out < 0.0)
		return "a number is negative";
	if (!isfinite(*out))
		return "a number is not finite";
	c->p += q - start;
	return NULL;
}

static const char *take_row(struct cursor *c, struct cpl_comm_entry *entry)
{
	double v[4];

	if (!take_char(c, '['))
		return "a row [from, to, bytes, messages] is needed";
	for (int i = 0; i < 4; i++) {
		bool integer = false;
		const char *reason;
		char *start;

		skip_space(c);
		if (c->p < c->end && *c->p == ']')
			return "has less than four numbers; rows are [from, "
			       "to, bytes, messages]";
		start = c->p;
		reason = take_number(c, &integer, &v[i]);
		if (reason)
			return reason;
		if (i < 2 && (!integer || v[i] >= CPL_SIGNATURE_MAX_RANKS)) {
			c->p = start;
			return integer ? "a rank is above 16777215"
			               : "a rank is not an integer";
		}
		if (v[i] > SIGNATURE_MAX_AMOUNT) {
			c->p = start;
			return "an amount is above 1e18";
		}
		if (!take_char(c, i < 3 ? ',' : ']')) {
			if (i < 3 && c->p < c->end && *c->p == ']')
				return "has less than four numbers; rows are "
				       "[from, to, bytes, messages]";
			return i < 3 ? "a comma is missing"
			             : "must end after four numbers";
		}
	}
	*entry = (struct cpl_comm_entry){(int)v[0], (int)v[1], v[2], v[3]};
	return NULL;
}

/* This reads the array that starts at c->p, and blanks it afterwards. */
static int take_rows(struct cursor *c, int phase, struct entry_list *list)
{
	char *start = c->p;

	c->p++;
	if (!take_char(c, ']')) {
		do {
			struct cpl_comm_entry entry;
			const char *reason;

			skip_space(c);
			reason = take_row(c, &entry);
			if (reason)
				return fail_at(c, phase, list->n + 1, reason);
			if (c->max_rows && c->n_rows == c->max_rows)
				return fail_at(c, phase, list->n + 1,
				               "there are more rows than "
				               "ProfileMemory has room for");
			c->n_rows++;
			if (entry_push(list, &entry, c->err))
				return -1;
		} while (take_char(c, ','));
		if (!take_char(c, ']'))
			return fail_at(c, phase, list->n,
			               "a comma or the closing ] is missing "
			               "after this row");
	}
	for (char *q = start; q < c->p; q++)
		if (*q != '\n')
			*q = ' ';
	*start = '0';
	return 0;
}

/* This reads a phase's object. It returns 1 to go on, 0 if it is malformed, and -1
 * for an error. */
static int take_phase(struct cursor *c, struct scan *scan)
{
	struct entry_list *list;
	const char *key;
	size_t n;

	if (cpl_array_grow(&scan->list, scan->n_phases, sizeof(*list), c->err))
		return -1;
	list = &scan->list[scan->n_phases++];
	memset(list, 0, sizeof(*list));
	if (!take_char(c, '{'))
		return skip_value(c) ? 1 : 0;
	if (take_char(c, '}'))
		return 1;
	do {
		if (!skip_string(c, &key, &n) || !take_char(c, ':'))
			return 0;
		skip_space(c);
		if (n == 7 && !memcmp(key, "traffic", 7) && c->p < c->end &&
		    *c->p == '[' && !list->scanned) {
			list->scanned = true;
			if (take_rows(c, scan->n_phases, list))
				return -1;
		} else if (!skip_value(c)) {
			return 0;
		}
	} while (take_char(c, ','));
	return take_char(c, '}') ? 1 : 0;
}

static int take_phases(struct cursor *c, struct scan *scan)
{
	int rc;

	if (!take_char(c, '['))
		return skip_value(c) ? 1 : 0;
	if (take_char(c, ']'))
		return 1;
	do {
		rc = take_phase(c, scan);
		if (rc != 1)
			return rc;
	} while (take_char(c, ','));
	return take_char(c, ']') ? 1 : 0;
}

int scan_traffic(char *text, size_t length, const char *name, struct scan *scan,
                 struct cpl_error *err)
{
	struct cursor c = {.text = text,
	                   .p = text,
	                   .end = text + length,
	                   .name = name,
	                   .max_rows = scan->max_rows,
	                   .err = err};
	const char *key;
	size_t n;
	int rc = 0;

	c.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c.c_locale)
		return cpl_fail_memory(err);
	if (!take_char(&c, '{'))
		goto out;
	do {
		if (!skip_string(&c, &key, &n) || !take_char(&c, ':'))
			break;
		/* Only the first counts, since the JSON parser refuses a second. */
		if (n == 6 && !memcmp(key, "phases", 6) && !scan->n_phases)
			rc = take_phases(&c, scan);
		else
			rc = skip_value(&c) ? 1 : 0;
	} while (rc == 1 && take_char(&c, ','));
out:
	freelocale(c.c_locale);
	return rc < 0 ? -1 : 0;
}

int cpl_signature_peek(const char *text, size_t length)
{
	/* The text is only written to where rows are taken. */
	struct cursor c = {.text = (char *)text,
	                   .p = (char *)text,
	                   .end = (char *)text + length};
	const char *key;
	size_t n;

	if (!take_char(&c, '{'))
		return 0;
	do {
		int64_t ranks = 0;

		if (!skip_string(&c, &key, &n) || !take_char(&c, ':'))
			return 0;
		skip_space(&c);
		if (n != 5 || memcmp(key, "ranks", 5))
			continue;
		while (c.p < c.end && *c.p >= '0' && *c.p <= '9' &&
		       ranks <= CPL_SIGNATURE_MAX_RANKS)
			ranks = 10 * ranks + (*c.p++ - '0');
		/* A character behind it shows that the number is whole. */
		return c.p < c.end && strchr(",} \t\r\n", *c.p) &&
		                       ranks <= CPL_SIGNATURE_MAX_RANKS
		               ? (int)ranks
		               : 0;
	} while (skip_value(&c) && take_char(&c, ','));
	return 0;
}

void scan_free(struct scan *scan)
{
	for (int i = 0; i < scan->n_phases; i++)
		free(scan->list[i].entry);
	free(scan->list);
}
