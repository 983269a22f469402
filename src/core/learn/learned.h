/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stored model that placements are chosen by (objective "learned"): all that
 * it asks for is known of a placement that nobody has simulated.
 */
#ifndef CPL_LEARN_LEARNED_H
#define CPL_LEARN_LEARNED_H

#include "learn/features.h"
#include "learn/model.h"

struct cpl_learned;

/* commplace-time-model(5). NULL with err: as cpl_model_load; a feature that is
 * none of cpl_feature_name, such as those that only simulated runs have. Free
 * with cpl_learned_free. O(bytes). */
struct cpl_learned *cpl_learned_load(const char *path, struct cpl_error *err);
void cpl_learned_free(struct cpl_learned *learned);

/* For what is told of it. O(1). */
const struct cpl_model *cpl_learned_model(const struct cpl_learned *learned);

/* Seconds of the job. Only reads the model: threads may share it. 0, or -1 with
 * err (memory). O(cpl_features + trees * depth). */
int cpl_learned_seconds(const struct cpl_learned *learned,
                        const struct cpl_feature_job *job, double *seconds,
                        struct cpl_error *err);

#endif
