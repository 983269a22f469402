/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MPI calls of a run, whoever recorded them. */
#pragma once

#include <stdbool.h>

#include "signature/phases/events.h"

/*
 * Files of events of one run, n of them, or an OTF2 archive by its anchor file,
 * told by what the first of them begins with. NULL with err. Where clocks of an
 * archive were mended, a line on stderr says so.
 */
struct cpl_run_events *cmd_run_events(const char *const *path, int n,
                                      struct cpl_error *err);
/* Does the file begin as one of these? */
bool cmd_is_run_events(const char *path);
