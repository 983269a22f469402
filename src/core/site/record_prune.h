/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many records of ended jobs stay. */
#pragma once

#include <time.h>

#include "base/error.h"

struct cpl_record_keep {
	int count; /* records at the most, 0: any number */
	int days;  /* since the job ended, 0: for ever */
};

/*
 * Remove records from a folder of a state directory: those that came there
 * more than keep->days before `now`, and of the others those that came first
 * until keep->count are left (several at once: the lower job ids). A folder
 * that is not there has none. How many were removed, or -1 with err. O(records
 * log).
 */
int cpl_record_prune(const char *state_dir, const char *folder,
                     const struct cpl_record_keep *keep, time_t now,
                     struct cpl_error *err);
