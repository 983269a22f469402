/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This keeps models of time in a folder, as signature/install.h keeps profiles. The
 * files of a name are
 *
 *   NAME.json       what is in use, which TimeModel of commplace.conf may name
 *   .NAME.vN.json   what was installed, never changed; N counts on
 *
 * One rename changes what is in use. Installers wait for each other.
 */
#pragma once

#include "learn/model.h"
#include "signature/install.h"

/* Names are those that profiles may have. This returns DIR/NAME.json, or the file of
 * a version; the caller frees it. NULL with err. */
char *cpl_models_path(const char *dir, const char *name, struct cpl_error *err);
char *cpl_models_version_path(const char *dir, const char *name, int version,
                              struct cpl_error *err);

/* This installs a model and takes it into use. A file that was put there by hand
 * becomes a version first. `keep` versions stay, at least 1, those that came last and
 * the one in use. It returns the version's number, or -1 with err, in which case what
 * was in use still is. It costs O(its size + files of the folder). */
int cpl_models_install(const char *dir, const char *name,
                       const struct cpl_model *model, int keep,
                       struct cpl_error *err);

/* This takes an installed version into use again, if it can be read. It returns 0,
 * or -1 with err, which lists the versions. */
int cpl_models_roll_back(const char *dir, const char *name, int version,
                         struct cpl_error *err);

/* This lists the versions of a name by their numbers (ranks 0) in an array to free().
 * It returns how many, or -1 with err. It reads them to compare. */
int cpl_models_versions(const char *dir, const char *name,
                        struct cpl_version **version, struct cpl_error *err);

/* This returns the file of the version that DIR/NAME.json is, or that path again where
 * it is none; the caller frees it. NULL: memory. It costs what cpl_models_versions
 * does. */
char *cpl_models_used(const char *path);
