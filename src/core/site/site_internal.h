/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the files of this room only. */
#ifndef CPL_SITE_INTERNAL_H
#define CPL_SITE_INTERNAL_H

#include <jansson.h>

#include "site/state.h"

/* Jobs in increasing id order. */
void state_sort(struct cpl_state *state);

/* "17.json" -> 17, the name of anything but a job's file -> -1. */
int64_t state_job_of_file(const char *name);

/* Copy a JSON array of non-empty strings; NULL with err naming `key`. */
char **take_strings(const json_t *array, const char *key, int *n,
                    struct cpl_error *err);

#endif
