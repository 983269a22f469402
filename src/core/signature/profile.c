/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hostlist.h"
#include "base/sort.h"

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
		    (*p >= '0' && *p <= '9') || *p == '_' ||
		    (strchr("-.", *p) && p > name))
			continue;
		return cpl_fail(err,
		                "\"%s\" is not a profile name; use letters, "
		                "digits, \"_\" and (not first) \"-\" and \".\"",
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

/* This puts "halo" of "halo.json" into name[]. It returns false when the file is no
 * profile. */
static bool name_of(const char *file, char name[CPL_PROFILE_NAME_MAX + 1])
{
	size_t n = strlen(file);

	if (n <= 5 || n - 5 > CPL_PROFILE_NAME_MAX ||
	    strcmp(file + n - 5, ".json"))
		return false;
	memcpy(name, file, n - 5);
	name[n - 5] = '\0';
	return !cpl_profile_name_check(name, NULL);
}

int cpl_profile_list(const char *dir, char ***names, struct cpl_error *err)
{
	char name[CPL_PROFILE_NAME_MAX + 1];
	struct cpl_hostlist list = {0};
	DIR *d = opendir(dir);
	struct dirent *entry;
	int rc = 0;

	if (!d)
		return cpl_fail(err, "%s: %s", dir, strerror(errno));
	while (!rc && (entry = readdir(d)))
		if (name_of(entry->d_name, name))
			rc = cpl_hostlist_push(&list, name, err);
	closedir(d);
	if (rc) {
		cpl_hostlist_free(&list);
		return -1;
	}
	if (list.count)
		qsort(list.name, (size_t)list.count, sizeof(*list.name),
		      cpl_by_text);
	*names = list.name;
	return list.count;
}
