/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that need nothing but themselves: figures inline, a small style and a
 * script that sorts tables, lists the sections and knows a few keys, which a Content-Security-Policy names by their
 * hashes; nothing else may load, run or style. All text is escaped here. Errors
 * of writing show at the stream.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "cmd.h"

/* The page up to its first section. Title and subtitle are plain text, as all
 * that follows. A browser loads it anew every so many seconds, 0: never. */
void html_begin(FILE *out, const char *title, const char *subtitle, int every);
/* `what` says where the page's figures come from. */
#define HTML_MODEL                                                             \
	"Loads and times are the model's but for those that are said to be "   \
	"measured."
#define HTML_MEASURED "Gains are measured, those under \"predicted\" the model's."
void html_end(FILE *out, const char *what);

/* A heading and, unless NULL, a remark on what follows. Its id is the heading in
 * lower case, with "-" for all but letters and digits; the script makes a list of
 * them. */
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

/* The same as html_table, but numbers that begin a cell of that column, or follow
 * ", " there, are ids of jobs and lead to their parts. */
int html_jobs_table(FILE *out, struct cmd_table *table, int column,
                    struct cpl_error *err);

/* What there is to say of a job, folded under a line of text until somebody opens it
 * or comes for it: its id is "job-ID", so that PAGE#job-17 shows that of job 17. Up to
 * html_job_end. */
void html_job(FILE *out, int64_t id, const char *text);
void html_job_end(FILE *out);

/* A line to read, a section of what to do next (none of n = 0), and a line to
 * copy into a shell. */
void html_item(FILE *out, const char *line);
void html_next(FILE *out, int n, char (*line)[CPL_ERROR_MAX]);
void html_command(FILE *out, const char *text);

/* The frame of an SVG figure (plot/plot.h); wide: the figure scrolls rather
 * than shrinks. */
void html_figure(FILE *out, bool wide);
void html_figure_end(FILE *out);
