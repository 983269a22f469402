/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared between the files of core/site only. */
/* Tests: comment config_* match in test_config test_resolve; engine_* handed in
 * test_engine* test_trial; engine_tree in test_tree; profiles record* state_loads in
 * test_state; record_dir_* record_prune in test_record_dir; store_* user_dir
 * in test_store*; verdict in test_engine_private; worker_threads in
 * test_worker. */
#pragma once

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "site/state.h"

/* Jobs in increasing id order. */
void state_sort(struct cpl_state *state);

/* A folder of records; NULL with err and errno. The name of the next record in
 * it ("17.json") and its job; NULL: there is none. */
DIR *state_open_folder(const char *state_dir, const char *name,
                       struct cpl_error *err);
const char *state_next_job(DIR *folder, int64_t *id);

/* Copy a JSON array of non-empty strings; NULL with err naming `key`. */
char **take_strings(const json_t *array, const char *key, int *n,
                    struct cpl_error *err);

/* Are both the same text, or both NULL? */
static inline bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}
