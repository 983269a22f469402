/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by explain.c and explain_text.c. */
#ifndef CPL_CMD_EXPLAIN_H
#define CPL_CMD_EXPLAIN_H

#include "cmd.h"
#include "site/config.h"
#include "site/record.h"
#include "site/state.h"

/*
 * The `commplace place` command line that repeats the decision, for the caller
 * to free; NULL when nothing was decided or memory is out. config may be NULL
 * (names are then not turned into paths). state is the file for --running.
 */
char *explain_replay(const struct cpl_record *record,
                     const struct cpl_config *config, const char *state);

/* The report for people. Returns an exit code. */
int explain_text(const struct cmd *self, const struct cpl_record *record,
                 bool ended, const char *replay);

/*
 * The background jobs of a decision from their own records, running or ended.
 * 0, or -1 with err naming the job that has none any more.
 */
int explain_background(const struct cpl_record *record, const char *state_dir,
                       struct cpl_state *out, struct cpl_error *err);

#endif
