/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With whose rights `commplace signature` makes and changes a store. */
#include "commplace-config.h"
#include "signature.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Hand a path to fn as far as each of its parts; until that is not 0. */
static int each_prefix(const char *path,
                     int (*fn)(void *arg, const char *part,
                               struct cpl_error *err),
                     void *arg, struct cpl_error *err)
{
	char part[PATH_MAX];
	size_t n = strlen(path);
	int rc = 0;

	if (n >= sizeof(part))
		return cpl_fail(err, "%s: the path is too long", path);
	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n && !rc; i++) {
		if (path[i] != '/' && path[i])
			continue;
		part[i] = '\0';
		rc = fn(arg, part, err);
		part[i] = path[i];
	}
	return rc;
}

/* A path, part by part. */
struct path_owner {
	uid_t owner;  /* of what it has led to so far */
	bool by_link; /* that is not root's: */
	uid_t of_link;
};

/* One part more. 1: it is not there, -1 with err: links of two users. */
static int follow(void *arg, const char *path, struct cpl_error *err)
{
	struct path_owner *seen = arg;
	struct stat st;

	if (lstat(path, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		if (st.st_uid && seen->by_link && seen->of_link != st.st_uid)
			return cpl_fail(err, "%s: is a link of another user's",
			                path);
		if (st.st_uid) {
			seen->by_link = true;
			seen->of_link = st.st_uid;
		}
		if (stat(path, &st))
			return 1;
	}
	seen->owner = st.st_uid;
	return 0;
}

/* Whose store it is, or will be: the owner of what there is of the path. A link
 * of a user's leads to what is that user's only. 0, or -1 with err. */
static int owner_of(const char *dir, uid_t *owner, struct cpl_error *err)
{
	struct path_owner seen = {.owner = geteuid()};

	if (*dir != '/')
		follow(&seen, ".", err);
	if (each_prefix(dir, follow, &seen, err) < 0)
		return -1;
	*owner = seen.owner;
	if (seen.by_link && seen.of_link != seen.owner)
		return cpl_fail(err,
		                "%s: a link of user %u leads there, whose it "
		                "is not",
		                dir, (unsigned)seen.of_link);
	return 0;
}

int signature_store_begin(const char *dir, struct cpl_user_rights *rights,
                          struct cpl_error *err)
{
	uid_t owner;

	*rights = (struct cpl_user_rights){false};
	if (geteuid())
		return 0;
	if (owner_of(dir, &owner, err))
		return -1;
	return cpl_user_begin(rights, owner, err);
}

static int make_folder(void *arg, const char *path, struct cpl_error *err)
{
	return mkdir(path, 0755) && errno != EEXIST
	               ? cpl_fail(err, "%s: %s", path, strerror(errno))
	               : 0;
}

int signature_store_make(const char *dir, struct cpl_error *err)
{
	struct cpl_user_rights rights;
	int rc;

	if (signature_store_begin(dir, &rights, err))
		return -1;
	rc = each_prefix(dir, make_folder, NULL, err);
	cpl_user_end(&rights);
	return rc;
}
