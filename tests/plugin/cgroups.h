/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for a kernel's cgroups in tests of the task plugin: a hierarchy is
 * a folder of launch_dir, "mounts" in it is what is mounted, "proc" what
 * /proc/PID/cgroup says of any process. Folders that are made get the files of
 * a cpuset, and files go with their folder.
 */
#pragma once

#include "launch.h"

/* A file of launch_dir, and the folders above it. */
void cgroups_put(const char *path, const char *text);
/* Does launch_dir have it? */
bool cgroups_has(const char *path);
/* What was written, as "folder/file=text " of each, the processes killed, as
 * "kill 11 ", and the folders that became root's, as "chown folder ", since the
 * last call. */
const char *cgroups_log(void);

/* Writes to files of that name fail, or mkdir() and chown() by theirs. */
extern const char *cgroups_fail;
extern int cgroups_errno;
/* So many more removals of folders with processes find them busy. */
extern int cgroups_busy;
