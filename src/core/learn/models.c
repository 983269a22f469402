/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/models.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "signature/install.h"

#define MODE 0644

struct model_versions {
	struct cpl_version *one;
	int n;
};

char *cpl_models_path(const char *dir, const char *name, struct cpl_error *err)
{
	return cpl_profile_path(dir, name, err);
}

char *cpl_models_version_path(const char *dir, const char *name, int version,
                              struct cpl_error *err)
{
	char file[NAME_MAX + 1];

	if (cpl_profile_name_check(name, err))
		return NULL;
	snprintf(file, sizeof(file), ".%s.v%d.json", name, version);
	return cpl_path_join(dir, file, err);
}

/* The N of ".NAME.vN.json", or 0. */
static int version_of(const char *file, const char *name)
{
	char again[NAME_MAX + 1];
	size_t n = strlen(name);
	long number;

	if (*file != '.' || strncmp(file + 1, name, n) ||
	    strncmp(file + 1 + n, ".v", 2))
		return 0;
	number = strtol(file + n + 3, NULL, 10);
	if (number < 1 || number >= INT_MAX)
		return 0;
	snprintf(again, sizeof(again), ".%s.v%ld.json", name, number);
	return strcmp(file, again) ? 0 : (int)number;
}

static int find_versions(const char *dir, const char *name,
                         struct model_versions *list, struct cpl_error *err)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int rc = 0;

	if (!d)
		return cpl_fail(err, "%s: %s%s", dir, strerror(errno),
		                errno == ENOENT ? ", so no model was taken "
		                                  "into use yet"
		                                : "");
	while (!rc && (entry = readdir(d))) {
		int number = version_of(entry->d_name, name);

		if (!number)
			continue;
		rc = cpl_array_grow(&list->one, list->n, sizeof(*list->one),
		                    err);
		if (!rc)
			list->one[list->n++] =
			        (struct cpl_version){.number = number};
	}
	closedir(d);
	if (list->n)
		qsort(list->one, (size_t)list->n, sizeof(*list->one),
		      cpl_version_by_number);
	return rc;
}

static int list_versions(const char *dir, const char *name,
                         struct model_versions *list, struct cpl_error *err)
{
	char *used = cpl_models_path(dir, name, err);
	int rc = used ? find_versions(dir, name, list, err) : -1;

	/* The one that came last, where two are the same. */
	for (int i = list->n - 1, found = 0; i >= 0 && !rc && !found; i--) {
		char *path = cpl_models_version_path(
		        dir, name, list->one[i].number, err);

		found = path ? cpl_install_same(path, used, err) : -1;
		free(path);
		rc = found < 0 ? -1 : 0;
		list->one[i].in_use = found > 0;
	}
	free(used);
	return rc;
}

int cpl_models_versions(const char *dir, const char *name,
                        struct cpl_version **version,
                        struct cpl_error *err)
{
	struct model_versions list = {NULL, 0};

	*version = NULL;
	if (list_versions(dir, name, &list, err)) {
		free(list.one);
		return -1;
	}
	*version = list.one;
	return list.n;
}

/* A model that no version has becomes one. Which number comes next, or -1. */
static int keep_by_hand(const char *dir, const char *name, const char *used,
                        const struct model_versions *list, struct cpl_error *err)
{
	int next = list->n ? list->one[list->n - 1].number + 1 : 1, rc;
	char *path;

	for (int i = 0; i < list->n; i++)
		if (list->one[i].in_use)
			return next;
	if (!cpl_file_exists(used))
		return next;
	path = cpl_models_version_path(dir, name, next, err);
	rc = path ? cpl_install_copy(used, path, MODE, err) : -1;
	free(path);
	return rc ? -1 : next + 1;
}

/* The oldest versions go. What cannot be removed stays; the next one tries again. */
static void prune(const char *dir, const char *name, int keep)
{
	struct model_versions list = {NULL, 0};
	int n = 0;

	if (!list_versions(dir, name, &list, NULL))
		n = list.n;
	for (int i = 0; i < n - keep; i++) {
		char *path = list.one[i].in_use
		                     ? NULL
		                     : cpl_models_version_path(
		                               dir, name, list.one[i].number,
		                               NULL);

		if (path)
			unlink(path);
		free(path);
	}
	free(list.one);
}

static int install(const char *dir, const char *name,
                   const struct cpl_model *model, int keep,
                   struct cpl_error *err)
{
	struct model_versions list = {NULL, 0};
	char *used = cpl_models_path(dir, name, err), *path = NULL;
	int number = -1, rc = -1;

	if (used && !list_versions(dir, name, &list, err))
		number = keep_by_hand(dir, name, used, &list, err);
	if (number > 0)
		path = cpl_models_version_path(dir, name, number, err);
	if (path && !cpl_model_write(model, path, err))
		rc = cpl_install_copy(path, used, MODE, err);
	if (!rc)
		prune(dir, name, keep);
	cpl_free_all(list.one, used, path);
	return rc ? -1 : number;
}

int cpl_models_install(const char *dir, const char *name,
                       const struct cpl_model *model, int keep,
                       struct cpl_error *err)
{
	int fd = cpl_install_lock(dir, name, err);
	int number = fd < 0 ? -1 : install(dir, name, model, keep, err);

	if (fd >= 0)
		close(fd);
	return number;
}

static int roll_back(const char *dir, const char *name, int version,
                     struct cpl_error *err)
{
	struct model_versions list = {NULL, 0};
	char *used = cpl_models_path(dir, name, err);
	char *path = cpl_models_version_path(dir, name, version, err);
	struct cpl_model *model = NULL;
	int rc = -1;

	if (!used || !path || list_versions(dir, name, &list, err))
		goto out;
	if (!cpl_file_exists(path)) {
		cpl_install_no_version(name, version, list.one, list.n, err);
		goto out;
	}
	model = cpl_model_load(path, err);
	rc = model ? cpl_install_copy(path, used, MODE, err) : -1;
out:
	cpl_model_free(model);
	cpl_free_all(list.one, used, path);
	return rc;
}

int cpl_models_roll_back(const char *dir, const char *name, int version,
                         struct cpl_error *err)
{
	int fd = cpl_install_lock(dir, name, err);
	int rc = fd < 0 ? -1 : roll_back(dir, name, version, err);

	if (fd >= 0)
		close(fd);
	return rc;
}

char *cpl_models_used(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = strlen(path), at = slash ? (size_t)(slash - path) + 1 : 0;
	struct model_versions list = {NULL, 0};
	char *dir = at ? strndup(path, at) : strdup("."), *file = NULL;
	char *name = n > at + 5 && !strcmp(path + n - 5, ".json")
	                     ? strndup(path + at, n - at - 5)
	                     : NULL;

	if (dir && name && !list_versions(dir, name, &list, NULL))
		for (int i = 0; i < list.n && !file; i++)
			if (list.one[i].in_use)
				file = cpl_models_version_path(
				        dir, name, list.one[i].number, NULL);
	cpl_free_all(list.one, dir, name);
	return file ? file : strdup(path);
}
