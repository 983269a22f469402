/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that need nothing but themselves: figures inline, a small style and a
 * script that sorts tables, which a Content-Security-Policy names by their
 * hashes; nothing else may load, run or style. All text is escaped here. Errors
 * of writing show at the stream.
 */
#ifndef CPL_CMD_HTML_H
#define CPL_CMD_HTML_H

#include <stdio.h>

#include "cmd.h"

/* The page up to its first section. Title and subtitle are plain text, as all
 * that follows. */
void html_begin(FILE *out, const char *title, const char *subtitle);
void html_end(FILE *out);

/* A heading and, unless NULL, a remark on what follows. */
void html_section(FILE *out, const char *heading, const char *text);

/* Numbers that matter, side by side: between html_cards and html_cards_end. */
void html_cards(FILE *out);
void html_card(FILE *out, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void html_cards_end(FILE *out);

/* The rows of a table, which is freed; a click on a head sorts by it. -1 with
 * err: memory. */
int html_table(FILE *out, struct cmd_table *table, struct cpl_error *err);
/* The same, folded under a line of text. */
int html_folded(FILE *out, const char *text, struct cmd_table *table,
                struct cpl_error *err);

/* A line to read, a section of what to do next (none of n = 0), and a line to
 * copy into a shell. */
void html_item(FILE *out, const char *line);
void html_next(FILE *out, int n, char (*line)[CPL_ERROR_MAX]);
void html_command(FILE *out, const char *text);

/* The frame of an SVG figure (plot/plot.h); wide: the figure scrolls rather
 * than shrinks. */
void html_figure(FILE *out, bool wide);
void html_figure_end(FILE *out);

#endif
