/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By this stored model placements are chosen (objective "learned"). All that it
 * asks for is known of a placement that nobody has simulated. */
#pragma once

#include "learn/features.h"
#include "learn/model.h"

struct cpl_learned;

/* This reads commplace-time-model(5). It returns NULL with err as cpl_model_load
 * does, or if a feature is none of cpl_feature_name, such as those that only
 * simulated runs have. Free the result with cpl_learned_free. It costs O(bytes). */
struct cpl_learned *cpl_learned_load(const char *path, struct cpl_error *err);
void cpl_learned_free(struct cpl_learned *learned);

/* This gives access to the model's figures. It costs O(1). */
const struct cpl_model *cpl_learned_model(const struct cpl_learned *learned);

/* This tells the seconds of the job. It only reads the model, so threads may share
 * it. It returns 0, or -1 with err when memory is out. It costs O(cpl_features +
 * trees * depth). */
int cpl_learned_seconds(const struct cpl_learned *learned,
                        const struct cpl_feature_job *job, double *seconds,
                        struct cpl_error *err);
