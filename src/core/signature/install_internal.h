/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of a profile in a folder (install_files.c) and their changes
 * (install.c). */
#ifndef CPL_SIGNATURE_INSTALL_INTERNAL_H
#define CPL_SIGNATURE_INSTALL_INTERNAL_H

#include "signature/install.h"

/* What a file of the folder is for a name. */
struct profile_file {
	enum { NO_PART, IN_USE, SIZE, INSTALLED, SIDE_FILE } kind;
	int ranks, number; /* of SIZE, INSTALLED, SIDE_FILE; of INSTALLED, SIDE_FILE */
};

/* Call fn with each file of the folder that is a part of the name. */
int install_each_file(const char *dir, const char *name,
                      int (*fn)(void *arg, const char *file,
                                const struct profile_file *part,
                                struct cpl_error *err),
                      void *arg, struct cpl_error *err);

/* The path of an installed version; the caller frees it. */
char *install_version_path(const char *dir, const char *name, int ranks,
                           int number, struct cpl_error *err);

/* Ranks of a signature's file, 0: it is damaged, or not there. */
int install_ranks_of(const char *path);
/* Ranks of NAME.json, 0 as there; -1: memory. */
int install_main_ranks(const char *dir, const char *name,
                       struct cpl_error *err);

/* Where what becomes in use of a size goes; the caller frees it. */
char *install_path_to_use(const char *dir, const char *name, int ranks,
                          struct cpl_error *err);
/* Where what is in use of a size is, as cpl_profile_file() finds it, or would
 * be. */
char *install_path_in_use(const char *dir, const char *name, int ranks,
                          struct cpl_error *err);

#endif
