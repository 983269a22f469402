/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int cpl_profile_name_check(const char *name, struct cpl_error *err)
{
	size_t n = strlen(name);

	if (n == 0 || n > CPL_PROFILE_NAME_MAX)
		return cpl_fail(err,
		                "a profile name has 1 to %d characters, not "
		                "%zu",
		                CPL_PROFILE_NAME_MAX, n);
	for (const char *p = name; *p; p++) {
		if ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
		    (*p >= '0' && *p <= '9') || strchr("_-", *p) ||
		    (*p == '.' && p > name))
			continue;
		return cpl_fail(err,
		                "\"%s\" is not a profile name; use letters, "
		                "digits, \"_\", \"-\" and \".\" (not first)",
		                name);
	}
	return 0;
}

char *cpl_profile_path(const char *dir, const char *name, struct cpl_error *err)
{
	char file[CPL_PROFILE_NAME_MAX + sizeof(".json")];

	if (cpl_profile_name_check(name, err))
		return NULL;
	snprintf(file, sizeof(file), "%s.json", name);
	return cpl_path_join(dir, file, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "halo.json" -> "halo"; NULL when the file is no profile. 0, or -1. */
static int name_of(const char *file, char **name)
{
	size_t n = strlen(file);

	*name = NULL;
	if (n <= 5 || strcmp(file + n - 5, ".json"))
		return 0;
	*name = strndup(file, n - 5);
	if (!*name)
		return -1;
	if (cpl_profile_name_check(*name, NULL)) {
		free(*name);
		*name = NULL;
	}
	return 0;
}

int cpl_profile_list(const char *dir, char ***names, struct cpl_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char **list = NULL;
	int n = 0;

	if (!d)
		return cpl_fail(err, "%s: %s", dir, strerror(errno));
	while ((entry = readdir(d))) {
		char *name;
		void *more;

		if (name_of(entry->d_name, &name))
			goto memory;
		if (!name)
			continue;
		more = realloc(list, ((size_t)n + 1) * sizeof(*list));
		if (!more) {
			free(name);
			goto memory;
		}
		list = more;
		list[n++] = name;
	}
	closedir(d);
	if (n)
		qsort(list, (size_t)n, sizeof(*list), by_name);
	*names = list;
	return n;
memory:
	closedir(d);
	while (n > 0)
		free(list[--n]);
	free(list);
	return cpl_fail_memory(err);
}
