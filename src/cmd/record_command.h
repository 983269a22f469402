/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that `commplace record` runs: what it passes on to its processes, and
 * whether a recorder can be loaded into them. Tests: record/run.t. */
#pragma once

#include "cmd.h"

/* The command with "-x NAME" of each of n variables that are set, at the beginning of
 * each part of an MPMD command, where it is Open MPI's mpirun. The caller frees the
 * array only; NULL with err (memory). Runs `PROGRAM --version` of an mpirun. */
char **record_command(char *const *command, const char *const *passed, int n,
                      struct cpl_error *err);

/* Is a word of the command a program that has MPI and the C library linked in? There
 * is no loader then that could load a recorder. 0, or -1 with err, which names it.
 * Reads such programs only. */
int record_check_linking(char *const *command, struct cpl_error *err);

/* The word of the command that starts a container, or NULL. */
const char *record_container(char *const *command);
