/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With whose rights `commplace signature` changes a store. */
#include "commplace-config.h"
#include "signature.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path, part by part. */
struct way {
	uid_t owner;  /* of what it has led to so far */
	bool by_link; /* that is not root's: */
	uid_t of_link;
};

/* One part more. 1: it is not there, -1 with err: links of two users. */
static int follow(struct way *way, const char *path, struct cpl_error *err)
{
	struct stat st;

	if (lstat(path, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		if (st.st_uid && way->by_link && way->of_link != st.st_uid)
			return cpl_fail(err, "%s: is a link of another user's",
			                path);
		if (st.st_uid) {
			way->by_link = true;
			way->of_link = st.st_uid;
		}
		if (stat(path, &st))
			return 1;
	}
	way->owner = st.st_uid;
	return 0;
}

/* Whose store it is, or will be: the owner of what there is of the path. A link
 * of a user's leads to what is that user's only. 0, or -1 with err. */
static int owner_of(const char *dir, uid_t *owner, struct cpl_error *err)
{
	struct way way = {.owner = geteuid()};
	char path[PATH_MAX];
	size_t n = strlen(dir);
	int rc = 0;

	if (n >= sizeof(path))
		return cpl_fail(err, "%s: the path is too long", dir);
	memcpy(path, dir, n + 1);
	for (size_t i = 1; i <= n && !rc; i++) {
		if (path[i] != '/' && path[i])
			continue;
		path[i] = '\0';
		rc = follow(&way, path, err);
		path[i] = i < n ? '/' : '\0';
	}
	if (rc < 0)
		return -1;
	if (way.by_link && way.of_link != way.owner)
		return cpl_fail(err,
		                "%s: a link of user %u leads there, whose it "
		                "is not",
		                dir, (unsigned)way.of_link);
	*owner = way.owner;
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
