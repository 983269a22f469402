/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trial has shown so far, as far as a site goes by it: the profiles whose
 * jobs run longer placed than stock beyond doubt, in StateDir/trial.json, which
 * `commplace benefit --write` makes.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct cpl_stopped {
	char *profile;
	double gain, low, high; /* parts of 1 */
	int64_t jobs;           /* that it is known from */
};

struct cpl_trial_state {
	int n;
	struct cpl_stopped *stopped;
};

/* "STATE_DIR/trial.json"; the caller frees it. */
char *cpl_trial_path(const char *state_dir, struct cpl_error *err);

/* 0; 1 where there is no file: nothing is stopped. -1 with err, and nothing is.
 * cpl_trial_free in any case. O(its length). */
int cpl_trial_load(const char *path, struct cpl_trial_state *out,
                   struct cpl_error *err);
int cpl_trial_parse(const char *text, size_t length, const char *name,
                    struct cpl_trial_state *out, struct cpl_error *err);
void cpl_trial_free(struct cpl_trial_state *trial);

/* The file's content: {"format": "commplace-trial", ...}. NULL: memory. */
json_t *cpl_trial_json(const struct cpl_trial_state *trial, int64_t now);

/* The profile, if it is stopped, or NULL. O(stopped profiles). */
const struct cpl_stopped *cpl_trial_stopped(const struct cpl_trial_state *trial,
                                            const char *profile);

/*
 * Is this job of those that stay stock, `percent` of all? By seed and job alone, so
 * that every question about a job has one answer. O(1).
 */
bool cpl_trial_draws_stock(uint64_t seed, int64_t job, int percent);
