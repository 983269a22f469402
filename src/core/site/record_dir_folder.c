/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folders of a state directory, and which cluster it belongs to. */
#include "commplace-config.h"
#include "site/record_dir_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "site/site_internal.h"

#define CLUSTER_MAX 256

static mode_t folder_mode(const struct state_dir *state)
{
	/* Whoever knows a name can open it, but the list is not shown. */
	return state->access == CPL_RECORDS_ALL ? 0755 : 0711;
}

void record_dir_make(const struct state_dir *state, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", state->path, name) >=
	    (int)sizeof(path))
		return;
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		bool above = (size_t)(slash - path) < strlen(state->path);

		*slash = '\0';
		/* Whatever the umask is. */
		if (!mkdir(path, 0755))
			chmod(path, above ? 0755 : folder_mode(state));
		*slash = '/';
	}
	if (!mkdir(path, 0755) || errno == EEXIST)
		chmod(path, folder_mode(state));
}

/* Close records of earlier times, when everybody could read all of them. */
static void close_folder(const struct state_dir *state, const char *name)
{
	DIR *folder = state_open_folder(state->path, name, NULL);
	const char *record;
	int64_t id;

	if (!folder)
		return;
	while ((record = state_next_job(folder, &id)))
		fchmodat(dirfd(folder), record, 0600, 0);
	fchmod(dirfd(folder), folder_mode(state));
	closedir(folder);
}

/* Whose is it? 0: *name is filled, 1: nobody's yet (err may say why), -1 with
 * err. */
static int read_cluster(const char *path, char *name, size_t size,
                        struct cpl_error *err)
{
	struct cpl_file_stamp stamp;
	size_t length;
	char *text;
	int fd =
	        cpl_file_open(path, CPL_LINKS_REFUSE, CLUSTER_MAX, &stamp, err);

	if (fd < 0)
		return errno == ENOENT ? 1 : -1;
	text = cpl_file_read_open(fd, path, CLUSTER_MAX, &length, err);
	close(fd);
	if (!text)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	snprintf(name, size, "%s", text);
	free(text);
	return !*name;
}

/* An empty file, or one of zeros, is left by a machine that went down: it is
 * nobody's. */
static bool is_taken(int fd)
{
	char first;

	return pread(fd, &first, 1, 0) == 1 && first && first != '\n';
}

/* 0, or an errno. */
static int write_name(int fd, const char *line, size_t n)
{
	ssize_t written;

	if (ftruncate(fd, 0))
		return errno;
	written = pwrite(fd, line, n, 0);
	if (written != (ssize_t)n)
		return written < 0 ? errno : ENOSPC;
	return fdatasync(fd) ? errno : 0;
}

/* Only one of two that come at once writes it, by a lock where the file system
 * has any. */
static int take_over(const struct state_dir *state, const char *path,
                     struct cpl_error *err)
{
	char line[CLUSTER_MAX + 2];
	int n = snprintf(line, sizeof(line), "%.*s\n", CLUSTER_MAX - 1,
	                 state->cluster);
	int fd, failed = 0;

	record_dir_make(state, "running");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	if (fd < 0)
		failed = errno;
	else if (!is_taken(fd))
		failed = write_name(fd, line, (size_t)n);
	if (fd >= 0)
		close(fd);
	if (failed)
		return cpl_fail(err, "%s: cannot be written: %s", path,
		                strerror(failed));
	if (state->access == CPL_RECORDS_OWNER) {
		close_folder(state, "running");
		close_folder(state, "ended");
	}
	return 0;
}

bool record_dir_check(struct cpl_record_dir *dir, struct state_dir *state,
                      struct cpl_error *err)
{
	char name[CLUSTER_MAX + 1] = "";
	char *path;
	int rc;

	if (state->ours || !state->cluster)
		return true;
	path = cpl_path_join(state->path, "cluster", err);
	if (!path)
		return false;
	rc = read_cluster(path, name, sizeof(name), err);
	if (rc > 0) {
		err->text[0] = '\0';
		rc = take_over(state, path, err);
		if (!rc)
			rc = read_cluster(path, name, sizeof(name), err);
	}
	if (!rc && !strncmp(state->cluster, name, CLUSTER_MAX - 1)) {
		state->ours = true;
	} else if (!rc && !state->foreign) {
		state->foreign = true;
		record_dir_say(dir, true,
		               "%s belongs to cluster %.64s, this is %.64s: no "
		               "record is read or written there; give each "
		               "cluster a StateDir of its own, or remove %s",
		               state->path, name, state->cluster, path);
	}
	free(path);
	return state->ours;
}

static void sweep(const struct state_dir *state, const char *name)
{
	DIR *folder = state_open_folder(state->path, name, NULL);
	const struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (strstr(entry->d_name, ".json.tmp-"))
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
}

void record_dir_sweep(const struct state_dir *state)
{
	sweep(state, ".");
	sweep(state, "running");
}

bool record_dir_clear(const char *path)
{
	struct stat st;
	char *aside;
	bool gone;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return false;
	if (!remove(path))
		return true;
	if (asprintf(&aside, "%s.aside", path) < 0)
		return false;
	gone = !rename(path, aside);
	free(aside);
	return gone;
}

int record_dir_move(const struct state_dir *state, int64_t id,
                    const char *folder, struct cpl_error *err)
{
	char *from = cpl_record_path(state->path, false, id, err), *to = NULL;
	int rc = -1, why = ENOENT;
	struct stat st;

	if (!from)
		return -1;
	if (asprintf(&to, "%s/%s/%lld.json", state->path, folder,
	             (long long)id) < 0) {
		free(from);
		return cpl_fail_memory(err);
	}
	record_dir_clear(from);
	rc = rename(from, to);
	if (rc && errno == EISDIR && record_dir_clear(to))
		rc = rename(from, to);
	if (rc && errno == ENOENT) {
		record_dir_make(state, folder);
		why = errno;
		rc = rename(from, to);
	}
	/* It may be the folder that is missing, on a disk that can only be
	 * read. */
	if (rc && errno != ENOENT)
		why = errno;
	else if (rc && lstat(from, &st) && errno == ENOENT)
		rc = 1;
	if (rc < 0)
		cpl_fail(err, "%s: cannot be moved to %s: %s", from, to,
		         strerror(why));
	cpl_free_all(from, to);
	return rc;
}
