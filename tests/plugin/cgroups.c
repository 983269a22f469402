/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

const char *cgroups_fail = "";
int cgroups_errno, cgroups_busy;

static char noted[16384], told[sizeof(noted)];

/* The last two names of a path. */
static const char *last_names(const char *path)
{
	const char *name = strrchr(path, '/');

	while (name && name > path && name[-1] != '/')
		name--;
	return name ? name : path;
}

static bool is_ours(const char *path)
{
	return !strncmp(path, launch_dir, strlen(launch_dir));
}

static bool fails(const char *name)
{
	errno = cgroups_errno;
	return !strcmp(name, cgroups_fail);
}

static void note(const char *text)
{
	strncat(noted, text, sizeof(noted) - strlen(noted) - 1);
}

/* Files of the kernel come in pieces. */
ssize_t read(int fd, void *bytes, size_t size)
{
	return syscall(SYS_read, fd, bytes, size < 61 ? size : 61);
}

const char *cgroups_log(void)
{
	strcpy(told, noted);
	*noted = '\0';
	return told;
}

void cgroups_put(const char *path, const char *text)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", launch_dir, path);
	for (char *s = full + strlen(launch_dir) + 1; (s = strchr(s, '/'));
	     s++) {
		*s = '\0';
		syscall(SYS_mkdirat, AT_FDCWD, full, 0755);
		*s = '/';
	}
	if (full[strlen(full) - 1] != '/')
		write_file(path, text);
}

bool cgroups_has(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", launch_dir, path);
	return !access(full, F_OK);
}

/* In the place of the C library's. */

static int own_open(const char *path, int flags, mode_t mode)
{
	char own[PATH_MAX];

	if (!strncmp(path, "/proc/", 6) && strstr(path, "/cgroup")) {
		snprintf(own, sizeof(own), "%s/proc", launch_dir);
		path = own;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#include "../tools/own_open.h"

FILE *setmntent(const char *path, const char *mode)
{
	char own[PATH_MAX];

	snprintf(own, sizeof(own), "%s/mounts", launch_dir);
	return fopen(own, mode);
}

ssize_t write(int fd, const void *text, size_t size)
{
	char link[64], path[PATH_MAX + 1] = "";
	const char *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, PATH_MAX) > 0 && is_ours(path)) {
		name = last_names(path);
		if (fails(strchr(name, '/') + 1))
			return -1;
		note(name);
		note("=");
		strncat(noted, text, size < 64 ? size : 64);
		note(" ");
	}
	return syscall(SYS_write, fd, text, size);
}

int mkdir(const char *path, mode_t mode)
{
	static const char *const file[] = {"cpuset.cpus", "cpuset.mems",
	                                   "cgroup.procs"};
	char name[PATH_MAX];

	if (fails("mkdir") || syscall(SYS_mkdirat, AT_FDCWD, path, mode))
		return -1;
	for (int i = 0; is_ours(path) && i < 3; i++) {
		snprintf(name, sizeof(name), "%s/%s",
		         path + strlen(launch_dir) + 1, file[i]);
		write_file(name, "");
	}
	return 0;
}

/* A folder without folders goes, with its files, when nothing runs there. */
int rmdir(const char *path)
{
	static const char *const file[] = {
	        "cpuset.cpus",           "cpuset.mems",   "cgroup.procs",
	        "cpuset.mems.effective", "freezer.state", "mark"};
	char name[PATH_MAX];
	struct stat st;
	glob_t folders;

	if (is_ours(path)) {
		snprintf(name, sizeof(name), "%s/cgroup.procs", path);
		if (!stat(name, &st) && st.st_size && cgroups_busy > 0) {
			cgroups_busy--;
			errno = EBUSY;
			return -1;
		}
		snprintf(name, sizeof(name), "%s/*/", path);
		if (!glob(name, GLOB_NOSORT, NULL, &folders)) {
			globfree(&folders);
			errno = ENOTEMPTY;
			return -1;
		}
		for (int i = 0; i < 6; i++) {
			snprintf(name, sizeof(name), "%s/%s", path, file[i]);
			unlink(name);
		}
	}
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	if (fails("chown") || uid || gid)
		return -1;
	note("chown ");
	note(strrchr(path, '/') + 1);
	note(" ");
	return 0;
}

/* Only some can set the real one, and not everywhere. */
int setxattr(const char *path, const char *name, const void *value, size_t size,
             int flags)
{
	char mark[PATH_MAX];

	snprintf(mark, sizeof(mark), "%s/mark", path + strlen(launch_dir) + 1);
	write_file(mark, value);
	return strcmp(name, "trusted.commplace.job");
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	char mark[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(mark, sizeof(mark), "%s/mark", path);
	fd = own_open(mark, O_RDONLY, 0);
	if (fd < 0)
		return -1;
	n = read(fd, value, size);
	close(fd);
	return n;
}

int kill(pid_t pid, int sig)
{
	char text[32];

	snprintf(text, sizeof(text), "kill %d ", (int)pid);
	note(sig == SIGKILL ? text : "another signal ");
	return 0;
}
