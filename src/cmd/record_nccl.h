/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NCCL and RCCL send in a recorded command: the profiler plugin (record/nccl.c)
 * beside the MPI recorder, and its pieces. */
#pragma once

#include <stdbool.h>

#include "cmd.h"
#include "signature/signature.h"

/* Sets NCCL_PROFILER_PLUGIN to the plugin in one of these folders, n of them, and
 * COMMPLACE_RECORD_FILE to `file`. If the user has set the first to another, a line
 * on stderr says that NCCL is not recorded. True: it will be. */
bool cmd_nccl_prepare(const struct cmd *self, const char *const *folder, int n,
                      const char *file);

/* How many ranks of NCCL's largest communicator are missing in what was recorded. */
int cmd_nccl_missing(const struct cpl_signature *sig);

/* After the command, takes what the plugin wrote to `file`, joined once more where
 * pieces are left, and removes all of it. *missing is how many ranks wrote nothing.
 * NULL: there is nothing, or with err it is broken. */
struct cpl_signature *cmd_nccl_take(const char *file, int *missing,
                                    struct cpl_error *err);
void cmd_nccl_remove(const char *file);

/* Appends the phases of NCCL's signature, as "nccl", to one of as many ranks, which
 * it takes them from. Returns 0, or -1 with err. */
int cmd_nccl_append(struct cpl_signature *to, struct cpl_signature *nccl,
                    struct cpl_error *err);

/* A signature of pieces, or of folders of them (import --format nccl). NULL with
 * err. */
struct cpl_signature *cmd_nccl_import(char *const *path, int n,
                                      const char *name, const char *application,
                                      struct cpl_error *err);
