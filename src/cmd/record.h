/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run that is recorded: what was asked for, its files, and how it is started. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "signature/signature.h"

struct record_options {
	const char *output, *name, *application, *library, *events;
	bool phases, json;
	char **command; /* NULL-terminated */
};

/* Folders of the program itself. */
#define RECORD_OWN_FOLDERS 2

/* Files of one run. */
struct record_paths {
	char own[RECORD_OWN_FOLDERS][PATH_MAX + 8];
	char target[PATH_MAX];  /* the signature, absolute */
	char fresh[PATH_MAX];   /* beside it: what this run writes */
	char events[PATH_MAX];  /* --events, absolute; else the target */
	char fresh_events[PATH_MAX + 32]; /* beside it */
	char nccl[PATH_MAX + 16]; /* the same of what NCCL sends */
	char partial[PATH_MAX + 16]; /* for what a run that broke off counted */
	char library[PATH_MAX]; /* absolute */
	char name[CPL_PROFILE_NAME_MAX + 1];
};

/* What the recorders in the command's processes read, in this process's environment:
 * LD_PRELOAD and COMMPLACE_RECORD_*. Returns 0, or -1 with err. */
int record_set_environment(const struct record_options *o,
                           const struct record_paths *p, struct cpl_error *err);

/* Runs the command to its end, with what mpirun must pass on of that environment. The
 * keyboard's signals are the command's to handle. Returns its exit code, 128 + N for
 * signal N, or -1 with err. */
int record_run(const struct record_options *o, struct cpl_error *err);
