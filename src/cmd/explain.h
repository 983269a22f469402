/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by explain.c and explain_text.c. */
#ifndef CPL_CMD_EXPLAIN_H
#define CPL_CMD_EXPLAIN_H

#include "cmd.h"
#include "site/record.h"

/* The report for people. Returns an exit code. */
int explain_text(const struct cmd *self, const struct cpl_record *record,
                 bool ended, const char *replay);

#endif
