/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Slurm's own commands print. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/*
 * All that a shell's command prints, with its errors, to free(); NULL with err.
 * *status: of pclose. Slurm's commands are those in PATH, else of the Slurm
 * that commplace was configured for.
 */
char *slurm_shell(const char *command, size_t *length, int *status,
                  struct cpl_error *err);

/* The same of a command that must succeed. */
char *slurm_shell_ok(const char *command, struct cpl_error *err);

/* Cut what a command has printed after its first line, for people. */
const char *slurm_shell_line(char *text);

#define SLURM_SHELL_MARK 40
/* What nobody who wrote a text that Slurm shows can know, to stand between texts:
 * random, without blanks and what a shell heeds. 0, or -1 with err. */
int slurm_shell_mark(char mark[SLURM_SHELL_MARK], struct cpl_error *err);
