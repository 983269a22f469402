/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/printable.h"

#define MAX_BYTES (UINT64_C(1) << 30)

struct sample_table {
	char *text; /* fields end by '\0' in it */
	const char *name;
	int columns;
	const char **field; /* head, then rows, [rows + 1][columns] */
	int64_t n;          /* fields */
	int rows;
	struct cpl_error *err;
};

/* This splits the next line into fields. It returns their number, or -1 if it
 * failed. */
static int split(struct sample_table *t, char *line)
{
	int n = 0;

	for (char *next; line; line = next) {
		next = strchr(line, ',');
		if (next)
			*next++ = '\0';
		if (++n > CPL_SAMPLES_MAX_COLUMNS)
			return n;
		if (cpl_array_grow(&t->field, t->n, sizeof(char *), t->err))
			return -1;
		t->field[t->n++] = line;
	}
	return n;
}

/* This checks that the last n fields can stand in a model and in JSON. */
static int check_text(const struct sample_table *t, int n, int number)
{
	for (int c = 0; c < n; c++)
		if (!cpl_is_utf8(t->field[t->n - n + c]))
			return cpl_fail(t->err, "%s:%d: column %d is not UTF-8",
			                t->name, number, c + 1);
	return 0;
}

/* A name must belong to one column only. */
static int check_head(const struct sample_table *t, int number)
{
	for (int c = 0; c < t->columns; c++)
		for (int b = 0; b < c; b++)
			if (!strcmp(t->field[b], t->field[c]))
				return cpl_fail(
				        t->err,
				        "%s:%d: columns %d and %d have one "
				        "name, '%.60s'; rename or remove one",
				        t->name, number, b + 1, c + 1,
				        t->field[c]);
	return 0;
}

/* The last row may repeat the head, since tables were put together. */
static bool is_head(const struct sample_table *t)
{
	for (int c = 0; c < t->columns; c++)
		if (strcmp(t->field[c], t->field[t->n - t->columns + c]) != 0)
			return false;
	return true;
}

static int take_line(struct sample_table *t, char *line, int number)
{
	int n = split(t, line);

	if (n < 0)
		return -1;
	if (n > CPL_SAMPLES_MAX_COLUMNS)
		return cpl_fail(t->err, "%s:%d: more than %d columns", t->name,
		                number, CPL_SAMPLES_MAX_COLUMNS);
	if (check_text(t, n, number))
		return -1;
	if (!t->columns) {
		t->columns = n;
		return check_head(t, number);
	}
	if (n != t->columns)
		return cpl_fail(t->err, "%s:%d: %d fields, the head has %d",
		                t->name, number, n, t->columns);
	if (is_head(t))
		return cpl_fail(t->err, "%s:%d: the head again; remove the line",
		                t->name, number);
	t->rows++;
	return 0;
}

static int take_lines(struct sample_table *t, size_t length)
{
	char *line = t->text, *end = t->text + length;

	if (memchr(t->text, '\0', length))
		return cpl_fail(t->err, "%s: it is no text", t->name);
	for (int number = 1; line < end; number++) {
		char *next = strchr(line, '\n');

		next = next ? next : end;
		*next = '\0';
		if (next > line && next[-1] == '\r')
			next[-1] = '\0';
		if (*line && take_line(t, line, number))
			return -1;
		line = next + 1;
	}
	if (!t->rows)
		return cpl_fail(t->err, "%s: no row below its head", t->name);
	return 0;
}

static bool number_of(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out);
}

static bool is_number(const struct sample_table *t, int column)
{
	double value;

	for (int64_t r = 1; r <= t->rows; r++)
		if (!number_of(t->field[r * t->columns + column], &value))
			return false;
	return true;
}

static char *label_of(const struct sample_table *t, const bool *number,
                      int64_t row)
{
	size_t room = 1, n = 0;
	char *label;

	for (int c = 0; c < t->columns; c++)
		room += strlen(t->field[row * t->columns + c]) + 1;
	label = malloc(room);
	if (!label)
		return NULL;
	*label = '\0';
	for (int c = 0; c < t->columns; c++)
		if (!number[c])
			n += (size_t)sprintf(label + n, "%s%s", n ? " " : "",
			                     t->field[row * t->columns + c]);
	return label;
}

static int fill(struct cpl_samples *s, const struct sample_table *t)
{
	bool number[CPL_SAMPLES_MAX_COLUMNS];
	int kept = 0;

	s->name = calloc((size_t)t->columns, sizeof(*s->name));
	s->label = calloc((size_t)t->rows, sizeof(*s->label));
	s->value = calloc((size_t)t->rows * (size_t)t->columns,
	                  sizeof(*s->value));
	if (!s->name || !s->label || !s->value)
		return -1;
	for (int c = 0; c < t->columns; c++) {
		number[c] = is_number(t, c);
		if (!number[c])
			continue;
		s->name[s->n_columns] = strdup(t->field[c]);
		if (!s->name[s->n_columns++])
			return -1;
	}
	for (; s->n < t->rows; s->n++) {
		int64_t row = s->n + 1;

		for (int c = 0; c < t->columns; c++)
			if (number[c])
				number_of(t->field[row * t->columns + c],
				          &s->value[kept++]);
		s->label[s->n] = label_of(t, number, row);
		if (!s->label[s->n])
			return -1;
	}
	return 0;
}

struct cpl_samples *cpl_samples_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err)
{
	struct sample_table t = {
	        .text = malloc(length + 1), .name = name, .err = err};
	struct cpl_samples *s = calloc(1, sizeof(*s));

	if (cpl_out_of_memory(!t.text || !s, err))
		goto fail;
	memcpy(t.text, text, length);
	t.text[length] = '\0';
	if (take_lines(&t, length))
		goto fail;
	if (cpl_out_of_memory(fill(s, &t), err))
		goto fail;
	goto out;
fail:
	cpl_samples_free(s);
	s = NULL;
out:
	cpl_free_all(t.field, t.text);
	return s;
}

struct cpl_samples *cpl_samples_load(const char *path, struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);
	struct cpl_samples *s =
	        text ? cpl_samples_parse(text, length, path, err) : NULL;

	free(text);
	return s;
}

void cpl_samples_free(struct cpl_samples *s)
{
	if (!s)
		return;
	for (int c = 0; s->name && c < s->n_columns; c++)
		free(s->name[c]);
	for (int r = 0; s->label && r < s->n; r++)
		free(s->label[r]);
	cpl_free_all(s->name, s->label, s->value, s);
}

int cpl_samples_column(const struct cpl_samples *s, const char *name)
{
	for (int c = 0; c < s->n_columns; c++)
		if (!strcmp(s->name[c], name))
			return c;
	return -1;
}
