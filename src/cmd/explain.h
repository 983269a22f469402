/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `commplace explain` makes of a record. */
#pragma once

#include "cmd.h"
#include "site/config.h"
#include "site/record.h"

struct explained {
	const struct cpl_record *record;
	bool ended;
	const char *replay;    /* the command that repeats it, or NULL */
	const char *state;     /* its file for --running, NULL: not written */
	const char *state_dir; /* where the record is */
	const struct cpl_config *config; /* may be NULL */
};

/* The report; an exit code. */
int explain_text(const struct cmd *self, const struct explained *e);
/* The same as a page. 0, or -1 with err. */
int explain_html(const struct explained *e, FILE *out, struct cpl_error *err);

/* explain_tables.c: tables of text and page alike, see cmd_table_new. */

/* What was asked for, kept and taken: a row for each. */
struct cmd_table *explain_facts(const struct cpl_record *r);
/* Our placement against stock Slurm's answer; NULL: there is nothing to
 * compare. */
bool explain_has_compare(const struct cpl_record *r);
struct cmd_table *explain_compare(const struct cpl_record *r);
struct cmd_table *explain_candidates(const struct cpl_record *r);
struct cmd_table *explain_ranks(const struct cpl_record *r);

/* The candidate taken, or NULL. */
const struct cpl_record_candidate *explain_taken(const struct cpl_record *r);
/* Predicted time over the time without the running jobs; 0: not known. */
double explain_slowdown(const struct cpl_record *r);
/* Are its seconds those of minimal routing, in the place of the one in force?
 */
bool explain_is_minimal(const struct cpl_record *r);
/* What is kept whole, and what that costs: a line, or NULL. */
const char *explain_kept(const struct cpl_record *r, char *buffer, size_t size);
/* Where its ranks were before, and what keeping them there costs, into text;
 * false: nothing is known of it. */
bool explain_former(const struct cpl_record *r, char *text, size_t size);
/* Where its segments come from. */
const char *explain_segment(const struct cpl_record *r);
/* Whether the decision's rank order can be counted on, and what follows: a
 * line, or NULL. */
const char *explain_reach(const struct cpl_record *r, char *buffer,
                          size_t size);
/* The profile, whose it is, and whether it was rescaled or drifts: a line. */
const char *explain_profile(const struct cpl_record *r, char *buffer,
                            size_t size);
/* Whose order the ranks are in: a line. */
const char *explain_order(const struct cpl_record *r, char *buffer,
                          size_t size);
/* What user or admin may want to do next: how many lines. */
#define EXPLAIN_NEXT 3
int explain_next(const struct cpl_record *r,
                 char line[EXPLAIN_NEXT][CPL_ERROR_MAX]);

/* Where the replay's file of running jobs comes from: a line, or NULL. */
#define EXPLAIN_STATE "STATE.json"
const char *explain_state(const struct explained *e, char line[128]);

/* Cells of a table: text made printable, "-" for none; a change in percent. */
const char *explain_clean(const char *text, char buffer[CPL_ERROR_MAX]);
const char *explain_change(double from, double to, char buffer[32]);
#define EXPLAIN_CLEAN(text) explain_clean(text, (char[CPL_ERROR_MAX]){""})
#define EXPLAIN_CHANGE(from, to) explain_change(from, to, (char[32]){""})
