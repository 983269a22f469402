/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/printable.h"

struct cmd_table {
	size_t columns;
	const char *align;
	char **cell; /* [rows * columns] */
	size_t rows;
	bool failed; /* out of memory */
	/* Each cell is written here first: a stream for each cell would cost
	 * more than its text. */
	FILE *out;
	char *text;
	size_t size;
};

struct cmd_table *cmd_table_new(const char *align)
{
	struct cmd_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = strlen(align);
	table->align = align;
	table->out = open_memstream(&table->text, &table->size);
	table->failed = !table->out;
	return table;
}

/* The conversion at *format, which is moved behind it. */
static void print_one(FILE *out, const char **format, va_list *ap)
{
	size_t n = strcspn(*format + 1, "%csduefg") + 2;
	char one[16];

	snprintf(one, sizeof(one), "%.*s", (int)n, *format);
	*format += n;
	switch (one[n - 1]) {
	case '%':
		putc('%', out);
		break;
	case 's':
		fprintf(out, one, va_arg(*ap, const char *));
		break;
	case 'c':
	case 'd':
	case 'u':
		if (strchr(one, 'l'))
			fprintf(out, one, va_arg(*ap, long));
		else
			fprintf(out, one, va_arg(*ap, int));
		break;
	default:
		fprintf(out, one, va_arg(*ap, double));
	}
}

/* The next cell of *format, which is moved behind it; NULL: memory. */
static char *make_cell(struct cmd_table *table, const char **format,
                       va_list *ap)
{
	char *text;

	rewind(table->out);
	while (**format && **format != '|')
		if (**format == '%')
			print_one(table->out, format, ap);
		else
			putc(*(*format)++, table->out);
	*format += **format == '|';
	putc('\0', table->out);
	text = fflush(table->out) ? NULL : strdup(table->text);
	return text ? cpl_printable(text) : NULL;
}

void cmd_table_row(struct cmd_table *table, const char *format, ...)
{
	char **row;
	va_list ap;

	if (!table || table->failed)
		return;
	table->failed = cpl_array_grow(&table->cell, (int64_t)table->rows,
	                               table->columns * sizeof(*row), NULL);
	if (table->failed)
		return;
	row = table->cell + table->rows++ * table->columns;
	va_start(ap, format);
	for (size_t i = 0; i < table->columns; i++) {
		row[i] = make_cell(table, &format, &ap);
		table->failed |= !row[i];
	}
	va_end(ap);
}

/* Columns of a terminal: characters of UTF-8, not bytes. */
static int columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static void print_row(const struct cmd_table *table, char *const *cell,
                      const int *width)
{
	for (size_t i = 0; i < table->columns; i++) {
		const char *gap = i ? "  " : "";

		if (table->align[i] == 'r')
			printf("%s%*s%s", gap, width[i] - columns(cell[i]), "",
			       cell[i]);
		else if (i + 1 < table->columns)
			printf("%s%s%*s", gap, cell[i],
			       width[i] - columns(cell[i]), "");
		else
			printf("%s%s", gap, cell[i]);
	}
	putchar('\n');
}

void cmd_table_free(struct cmd_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->rows * table->columns; i++)
		free(table->cell[i]);
	if (table->out)
		fclose(table->out);
	cpl_free_all(table->text, table->cell, table);
}

bool cmd_table_cells(const struct cmd_table *table, struct cmd_cells *out)
{
	if (!table || table->failed)
		return false;
	*out = (struct cmd_cells){(int)table->rows, (int)table->columns,
	                          table->cell, table->align};
	return true;
}

int cmd_table_print(struct cmd_table *table)
{
	size_t cells = table ? table->rows * table->columns : 0;
	int *width = table ? calloc(table->columns, sizeof(*width)) : NULL;
	int rc = CMD_FAILED;

	if (!width || table->failed) {
		fprintf(stderr, "commplace: out of memory\n");
		goto out;
	}
	for (size_t i = 0; i < cells; i++) {
		int length = columns(table->cell[i]);

		if (length > width[i % table->columns])
			width[i % table->columns] = length;
	}
	for (size_t i = 0; i < table->rows; i++)
		print_row(table, table->cell + i * table->columns, width);
	rc = CMD_OK;
out:
	cmd_table_free(table);
	free(width);
	return rc;
}
