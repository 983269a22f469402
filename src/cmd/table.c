/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

struct cmd_table {
	int columns;
	const char *align;
	char **cell; /* [rows * columns] */
	size_t rows, room;
	bool failed; /* out of memory */
};

struct cmd_table *cmd_table_new(int columns, const char *align)
{
	struct cmd_table *table = calloc(1, sizeof(*table));

	if (table) {
		table->columns = columns;
		table->align = align;
	}
	return table;
}

void cmd_table_row(struct cmd_table *table, ...)
{
	size_t columns;
	va_list ap;

	if (!table)
		return;
	columns = (size_t)table->columns;
	if (table->rows == table->room) {
		size_t room = table->room ? 2 * table->room : 16;
		char **grown =
		        realloc(table->cell, room * columns * sizeof(*grown));

		if (!grown) {
			table->failed = true;
			return;
		}
		table->cell = grown;
		table->room = room;
	}
	va_start(ap, table);
	for (size_t i = 0; i < columns; i++) {
		char *copy = strdup(va_arg(ap, const char *));

		if (copy)
			cpl_printable(copy);
		else
			table->failed = true;
		table->cell[table->rows * columns + i] = copy;
	}
	va_end(ap);
	table->rows++;
}

static void print_row(const struct cmd_table *table, char *const *cell,
                      const int *width)
{
	for (int i = 0; i < table->columns; i++) {
		const char *gap = i ? "  " : "";

		if (table->align[i] == 'r')
			printf("%s%*s", gap, width[i], cell[i]);
		else if (i + 1 < table->columns)
			printf("%s%-*s", gap, width[i], cell[i]);
		else
			printf("%s%s", gap, cell[i]);
	}
	putchar('\n');
}

int cmd_table_print(struct cmd_table *table)
{
	size_t columns, cells;
	int *width = NULL;
	int rc = CMD_FAILED;

	if (!table) {
		fprintf(stderr, "commplace: out of memory\n");
		return CMD_FAILED;
	}
	columns = (size_t)table->columns;
	cells = table->rows * columns;
	width = calloc(columns, sizeof(*width));
	if (!width || table->failed) {
		fprintf(stderr, "commplace: out of memory\n");
		goto out;
	}
	for (size_t i = 0; i < cells; i++) {
		int length = (int)strlen(table->cell[i]);

		if (length > width[i % columns])
			width[i % columns] = length;
	}
	for (size_t i = 0; i < table->rows; i++)
		print_row(table, table->cell + i * columns, width);
	rc = CMD_OK;
out:
	for (size_t i = 0; i < cells; i++)
		free(table->cell[i]);
	free(table->cell);
	free(table);
	free(width);
	return rc;
}
