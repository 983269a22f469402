/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of `commplace benefit` share. */
#pragma once

#include <stdio.h>

#include "benefit/benefit.h"
#include "benefit_sacct.h"
#include "cmd.h"

/* Jobs in the order of their arms that there is more to say of. */
struct benefit_sources {
	const char *table; /* NULL: records */
	struct sacct_keys keys; /* seconds: in place of the elapsed time */
	int64_t records;   /* of jobs in a trial */
	int64_t unfinished[CPL_ARMS]; /* that did not complete, */
	int64_t unknown;              /* or that sacct does not know */
	int64_t silent;  /* or that did not report seconds */
	int64_t skipped;              /* records that cannot be read */
};

struct benefit_report {
	const struct cpl_benefit *benefit;
	const struct benefit_sources *sources;
	double effect; /* part of 1 */
};

/* benefit_report.c; exit codes. */
int benefit_print_text(const struct benefit_report *r);
int benefit_print_json(const struct cmd *self, const struct benefit_report *r);
/* OpenMetrics text; errors show at the stream. */
void benefit_write_metrics(const struct benefit_report *r, FILE *out);
/* Tables of text and page alike, see cmd_table_new. */
struct cmd_table *benefit_gains(const struct benefit_report *r);
/* Of energy or merit; NULL: no job has it. */
struct cmd_table *benefit_measure(const struct benefit_report *r,
                                  enum cpl_measure measure);
/* What there is to notice, a line each; how many. */
#define BENEFIT_LINES 12
int benefit_lines(const struct benefit_report *r,
                  char line[BENEFIT_LINES][CPL_ERROR_MAX]);

#define BENEFIT_MERIT "merit" /* key of notes by default */

/* The options --merit and --seconds, which name keys of notes: are they such? -1 with
 * err. */
int benefit_check_keys(const struct sacct_keys *keys, struct cpl_error *err);

/* benefit_join.c: the jobs of a trial from records of ended jobs in a state
 * directory and what `sacct -P` printed into a file (NULL: prints now). -1 with
 * err. */
int benefit_join(struct cpl_trial_jobs *jobs, struct benefit_sources *sources,
                 const char *state_dir, const char *sacct_file,
                 struct cpl_error *err);

/* benefit_html.c: a page, and its figure. 0, or -1 with err. */
int benefit_write_html(const struct benefit_report *r, FILE *out,
                       struct cpl_error *err);
void benefit_plot(const struct benefit_report *r, FILE *out);
