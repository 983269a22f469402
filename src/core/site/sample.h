/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sample of measured links put into the background of decisions: the share
 * of each job without a profile, and what is left. A decision that was made with
 * it can be made again.
 */
/* Tests: sample in test_unknown_site. */
#pragma once

#include <stdio.h>

#include "scene/scene.h"

/* In a state directory, ID.json of each. */
#define CPL_SAMPLES "samples"

struct cpl_sample {
	int64_t id; /* ms since 1970, about */
	size_t n;
	struct cpl_sample_row {
		int64_t job; /* CPL_MEASURED_ID: what is left */
		int64_t link; /* increasing, of each */
		double bytes; /* in a second */
	} * row;
};

/* A load comes to it. 0, or -1: memory. O(its links + rows). */
int cpl_sample_add(struct cpl_sample *sample, const struct cpl_job_load *load);
/* As JSON, "rows" of [JOB, LINK, BYTES]. Errors show at the stream. */
void cpl_sample_write(const struct cpl_sample *sample, FILE *out);
/*
 * That sample of a state directory, in a scene in which the jobs of then stand by
 * their volumes: they get their shares, and what is left is added. 0, or -1 with
 * err: it is not kept any more, is damaged, or is of another network. O(links of
 * all jobs * jobs).
 */
int cpl_sample_put(const char *state_dir, int64_t id, struct cpl_scene *scene,
                   struct cpl_error *err);
/* The same of a file. */
int cpl_sample_load(const char *path, struct cpl_scene *scene,
                    struct cpl_error *err);
/* Where it is, to free(). NULL with err: memory. */
char *cpl_sample_path(const char *state_dir, int64_t id, struct cpl_error *err);
