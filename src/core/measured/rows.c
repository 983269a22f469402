/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measured/rows.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lines.h"
#include "base/printable.h"
#include "base/sort.h"

#define FIELD_MAX 256

enum { TIME, FROM, TO, VALUE, FIELDS };

static const char *const heads[MEASURED_KINDS] = {
        [MEASURED_RATES] = "time,from,to,bytes_per_second",
        [MEASURED_COUNTERS] = "time,from,to,bytes",
        [MEASURED_COUNTERS_32] = "time,from,to,bytes32",
};

void measured_leave_out(struct measured_rows *rows, int64_t n, int line,
                        const char *fmt, ...)
{
	va_list ap;

	if (!rows->why.text[0]) {
		va_start(ap, fmt);
		cpl_vfail(&rows->why, fmt, ap);
		va_end(ap);
		cpl_fail_prefix(&rows->why, "%s:%d: ", rows->name, line);
		cpl_printable(rows->why.text);
	}
	rows->left_out += n;
}

void measured_note_odd(struct cpl_measured *out, const struct cpl_measured_odd *odd)
{
	for (int i = 0; i < out->n_odds; i++) {
		const struct cpl_measured_odd *o = &out->odd[i];

		if ((!strcmp(o->from, odd->from) && !strcmp(o->to, odd->to)) ||
		    (!strcmp(o->from, odd->to) && !strcmp(o->to, odd->from)))
			return;
	}
	if (out->n_odds < CPL_MEASURED_ODDS)
		out->odd[out->n_odds++] = *odd;
}

static void note_unknown(struct measured_rows *rows, const char *from, const char *to)
{
	struct cpl_measured_odd odd = {.cables = 0};

	snprintf(odd.from, sizeof(odd.from), "%.63s", from);
	snprintf(odd.to, sizeof(odd.to), "%.63s", to);
	cpl_printable(odd.from);
	cpl_printable(odd.to);
	measured_note_odd(rows->out, &odd);
}

/* The first line that says anything. -1 with err: it is not one of ours. */
static int read_head(struct cpl_lines *in, struct measured_rows *rows)
{
	while (cpl_lines_next(in)) {
		if (cpl_lines_done(in))
			continue;
		for (int k = MEASURED_KINDS - 1; k >= 0; k--) {
			const char *first = in->p;

			if (cpl_lines_take(in, heads[k]) && cpl_lines_end(in)) {
				rows->kind = (enum measured_kind)k;
				return 0;
			}
			in->p = first;
		}
		break;
	}
	return cpl_lines_fail(in, "the first line is to be %s, or with %s or "
	                          "%s as the last column",
	                      heads[MEASURED_RATES],
	                      strrchr(heads[MEASURED_COUNTERS], ',') + 1,
	                      strrchr(heads[MEASURED_COUNTERS_32], ',') + 1);
}

/* Copy a field without blanks around it and without quotes, between which a
 * comma may stand. False: it is too long, or holds what no text does. */
static bool take_field(struct cpl_lines *in, char out[FIELD_MAX])
{
	bool quoted = false;
	size_t n = 0;

	for (cpl_lines_end(in); in->p < in->line_end; in->p++) {
		if (*in->p == ',' && !quoted)
			break;
		if (*in->p == '"')
			quoted = !quoted;
		else if (!*in->p || n + 1 == FIELD_MAX)
			return false;
		else
			out[n++] = *in->p;
	}
	while (n && isspace((unsigned char)out[n - 1]))
		n--;
	out[n] = '\0';
	return !quoted;
}

/* All fields of a line; false: there are others. */
static bool take_fields(struct cpl_lines *in, char field[FIELDS][FIELD_MAX])
{
	for (int i = 0; i < FIELDS; i++)
		if ((i && !cpl_lines_take(in, ",")) ||
		    !take_field(in, field[i]))
			return false;
	return in->p == in->line_end;
}

/* "leaf-3[17]" is a port of leaf-3; false: it names none. */
static bool drop_port(char *name)
{
	char *open = strrchr(name, '[');
	size_t n = open ? strspn(open + 1, "0123456789") : 0;

	if (!n || open == name || strcmp(open + 1 + n, "]"))
		return false;
	*open = '\0';
	return true;
}

/* Finite and not below 0. */
static bool take_number(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out) && *out >= 0;
}

static bool take_count(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !*end && !errno && *out <= most;
}

static bool take_value(const struct measured_rows *rows, const char *text,
                       struct measured_row *row)
{
	if (rows->kind == MEASURED_RATES)
		return take_number(text, &row->rate);
	return take_count(text,
	                  rows->kind == MEASURED_COUNTERS_32 ? UINT32_MAX
	                                                     : UINT64_MAX,
	                  &row->count);
}

/* -1 with err: memory. */
static int read_row(struct cpl_lines *in, const struct measured_names *names,
                    struct measured_rows *rows)
{
	struct measured_row row = {.line = in->line};
	char field[FIELDS][FIELD_MAX];

	if (!take_fields(in, field)) {
		measured_leave_out(rows, 1, in->line, "%d fields are needed",
		                   FIELDS);
		return 0;
	}
	row.port = drop_port(field[FROM]);
	row.port |= drop_port(field[TO]);
	row.group = measured_find(names, field[FROM], field[TO]);
	if (row.group < 0) {
		measured_leave_out(rows, 1, in->line,
		                   "the network has no link from '%.60s' to "
		                   "'%.60s'",
		                   field[FROM], field[TO]);
		note_unknown(rows, field[FROM], field[TO]);
		return 0;
	}
	row.bad = !take_number(field[TIME], &row.time);
	if (row.bad) {
		row.time = INFINITY; /* the newest */
		measured_leave_out(rows, 0, in->line,
		                   "'%.40s' is not a time in seconds since "
		                   "1970",
		                   field[TIME]);
	} else if (!take_value(rows, field[VALUE], &row)) {
		row.bad = true;
		measured_leave_out(rows, 0, in->line,
		                   "'%.40s' is not a number of bytes",
		                   field[VALUE]);
	}
	if (cpl_array_grow(&rows->row, rows->n, sizeof(row), in->err))
		return -1;
	rows->row[rows->n++] = row;
	return 0;
}

static CPL_SORT_BY(by_time, struct measured_row, CPL_UP(group), CPL_UP(time),
                   CPL_UP(line))

int measured_rows_read(struct measured_rows *rows,
                       const struct measured_names *names, const char *text,
                       size_t length, struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of(rows->name, text, length, err);

	if (read_head(&in, rows))
		return -1;
	while (cpl_lines_next(&in))
		if (!cpl_lines_done(&in) && read_row(&in, names, rows))
			return -1;
	if (rows->n)
		qsort(rows->row, (size_t)rows->n, sizeof(*rows->row), by_time);
	return 0;
}
