/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/record_prune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/sort.h"
#include "site/site_internal.h"

#define DAY 86400

struct file {
	int64_t id;
	struct timespec came; /* a move changes the status */
};

static CPL_SORT_BY(by_age, struct file, CPL_UP(came.tv_sec),
                   CPL_UP(came.tv_nsec), CPL_UP(id))

/* The records of a folder, oldest first. How many, or -1 with err. */
static int list(DIR *folder, struct file **out, struct cpl_error *err)
{
	struct file *file = NULL;
	int n = 0;
	const char *name;
	struct stat st;
	int64_t id;

	while ((name = state_next_job(folder, &id))) {
		if (cpl_array_grow(&file, n, sizeof(*file), err)) {
			free(file);
			return -1;
		}
		if (!fstatat(dirfd(folder), name, &st, AT_SYMLINK_NOFOLLOW))
			file[n++] = (struct file){id, st.st_ctim};
	}
	if (n)
		qsort(file, (size_t)n, sizeof(*file), by_age);
	*out = file;
	return n;
}

int cpl_record_prune(const char *state_dir, const char *folder,
                     const struct cpl_record_keep *keep, time_t now,
                     struct cpl_error *err)
{
	struct cpl_error why = {""};
	DIR *dir = state_open_folder(state_dir, folder, &why);
	struct file *file = NULL;
	int n, removed = 0;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return cpl_fail(err, "%s", why.text);
	n = list(dir, &file, err);
	for (int i = 0; i < n; i++) {
		bool old = keep->days &&
		           now - file[i].came.tv_sec >
		                   (time_t)keep->days * DAY;
		bool many = keep->count && n - i > keep->count;
		char name[32];

		if (!old && !many)
			break;
		snprintf(name, sizeof(name), "%lld.json",
		         (long long)file[i].id);
		removed += !unlinkat(dirfd(dir), name, 0) ||
		           !unlinkat(dirfd(dir), name, AT_REMOVEDIR);
	}
	free(file);
	closedir(dir);
	return n < 0 ? -1 : removed;
}
