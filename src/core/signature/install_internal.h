/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is shared by the files of a profile in a folder (install_files.c) and their
 * changes (install.c). */
#pragma once

#include "signature/install.h"

/* This says what a file of the folder is for a name. */
struct profile_file {
	enum { NO_PART, IN_USE, SIZE, INSTALLED, SIDE_FILE } kind;
	/* ranks: except of IN_USE; number: of INSTALLED, SIDE_FILE */
	int ranks, number;
};

/* This calls fn for each file of the folder that belongs to the name. */
int install_each_file(const char *dir, const char *name,
                      int (*fn)(void *arg, const char *file,
                                const struct profile_file *part,
                                struct cpl_error *err),
                      void *arg, struct cpl_error *err);

/* This returns the path of an installed version; the caller frees it. */
char *install_version_path(const char *dir, const char *name, int ranks,
                           int number, struct cpl_error *err);

/* This returns the ranks of a signature's file, or 0 if it is damaged or missing. */
int install_ranks_of(const char *path);
/* This returns the ranks of NAME.json, 0 as above, or -1 when memory is out. */
int install_main_ranks(const char *dir, const char *name,
                       struct cpl_error *err);

/* This returns the path at which a size is taken into use; the caller frees it. */
char *install_path_to_use(const char *dir, const char *name, int ranks,
                          struct cpl_error *err);
/* This returns the path at which what is in use of a size is or would be, as
 * cpl_profile_file() finds it. */
char *install_path_in_use(const char *dir, const char *name, int ranks,
                          struct cpl_error *err);
