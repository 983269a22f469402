/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What travels with the launch of a step, so that its nodes can bind. */
#pragma once

#include "binding/launch.h"
#include "site/resolve.h"
#include "site/store.h"

/*
 * The data for a step of a job whose tasks are to be bound (want->binding is
 * not NULL) by the profile that was found, or not: rows; where they take more
 * than limit bytes, or the step is part of one whose other ranks are elsewhere, the version
 * of the file to look into; else why there is nothing. To be free()d; NULL with
 * err. O(entries of the profile + ranks).
 */
unsigned char *cpl_site_launch(const struct cpl_config *config,
                               const struct cpl_resolved *want,
                               const struct cpl_store_answer *found,
                               const struct cpl_launch_step *step,
                               size_t limit, size_t *size,
                               struct cpl_error *err);
