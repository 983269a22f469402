/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sample of measured links put into the background of decisions: the share
 * of each job without a profile, and what is left. A decision that was made with
 * it can be made again.
 */
/* Tests: sample in test_unknown_site. */
#ifndef CPL_SITE_SAMPLE_H
#define CPL_SITE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "scene/scene.h"

/* In a state directory, ID.json of each. */
#define CPL_SAMPLES "samples"

struct cpl_sample {
	int64_t id; /* ms since 1970, about */
	int n;
	struct cpl_job_load **load; /* [n] of CPL_MEASURED_ID, and of jobs */
};

/* A copy of a load comes to it. 0, or -1 with err (memory). O(its links). */
int cpl_sample_add(struct cpl_sample *sample, const struct cpl_job_load *load,
                   struct cpl_error *err);
void cpl_sample_free(struct cpl_sample *sample);

/* The file's text; free() it. NULL with err (memory). */
char *cpl_sample_text(const struct cpl_sample *sample, size_t *length,
                      struct cpl_error *err);

/*
 * That sample of a state directory, in a scene in which the jobs of then stand by
 * their volumes: they get their shares, and what is left is added. 0, or -1 with
 * err: it is not kept any more, is damaged, or is of another network. O(links of
 * all jobs).
 */
int cpl_sample_put(const char *state_dir, int64_t id, struct cpl_scene *scene,
                   struct cpl_error *err);

#endif
