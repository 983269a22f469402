/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/user_dir.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int cpl_user_dir_check(const char *pattern, struct cpl_error *err)
{
	bool named = false;

	if (pattern[0] != '/')
		return cpl_fail(err, " is a relative path; give one that "
		                     "starts with /");
	for (const char *p = pattern; (p = strchr(p, '%')); p += 2) {
		if (p[1] != 'u' && p[1] != 'U')
			return cpl_fail(err, " holds a %% that is neither %%u, "
			                     "the user's name, nor %%U, the "
			                     "user's number");
		named = true;
	}
	if (!named)
		return cpl_fail(err, " is one folder for all users; put %%u "
		                     "(name) or %%U (number) into it");
	return 0;
}

/* The name and group of a user; free() the name. NULL with err. */
static char *user_name(uid_t uid, gid_t *gid, struct cpl_error *err)
{
	char text[16384], *name = NULL;
	struct passwd entry, *found = NULL;
	int rc = getpwuid_r(uid, &entry, text, sizeof(text), &found);

	if (found && found->pw_name[0] != '.' && !strchr(found->pw_name, '/')) {
		name = strdup(found->pw_name);
		*gid = found->pw_gid;
		if (!name)
			cpl_fail_memory(err);
	} else {
		cpl_fail(err, "there is no user %u%s%s", (unsigned)uid,
		         rc ? ": " : "", rc ? strerror(rc) : "");
	}
	return name;
}

char *cpl_user_dir(const char *pattern, uid_t uid, struct cpl_error *err)
{
	char *name = NULL, *path = NULL;
	FILE *f = NULL;
	size_t size;
	gid_t gid;

	if (strstr(pattern, "%u") && !(name = user_name(uid, &gid, err)))
		return NULL;
	f = open_memstream(&path, &size);
	for (const char *p = pattern; f && *p; p++) {
		if (*p != '%')
			putc(*p, f);
		else if (*++p == 'u')
			fputs(name, f);
		else
			fprintf(f, "%u", (unsigned)uid);
	}
	if (!f || fclose(f)) {
		free(path);
		path = NULL;
		cpl_fail_memory(err);
	}
	free(name);
	return path;
}

int cpl_user_groups(const char *name, gid_t gid, gid_t **group)
{
	int n = 64, room = 0;
	gid_t *more;

	*group = NULL;
	/* n says how many there are where there are more. */
	while (n > room && n <= NGROUPS_MAX) {
		room = n;
		more = reallocarray(*group, (size_t)room, sizeof(*more));
		if (!more)
			break;
		*group = more;
		if (getgrouplist(name, gid, more, &n) >= 0)
			return n;
	}
	free(*group);
	*group = NULL;
	return -1;
}

bool cpl_user_in_group(const gid_t *group, int n, gid_t gid)
{
	for (int i = 0; i < n; i++)
		if (group[i] == gid)
			return true;
	return false;
}

/* Whoever changes its rights makes the whole process one that leaves no core,
 * nor is one to be left while a thread has those of a user. */
static pthread_mutex_t others = PTHREAD_MUTEX_INITIALIZER;
static int n_others;
static bool dumpable;

static void come(void)
{
	pthread_mutex_lock(&others);
	if (!n_others++)
		dumpable = prctl(PR_GET_DUMPABLE) == 1;
	pthread_mutex_unlock(&others);
}

static void go(void)
{
	pthread_mutex_lock(&others);
	if (!--n_others && dumpable)
		prctl(PR_SET_DUMPABLE, 1);
	pthread_mutex_unlock(&others);
}

/* This thread's; the C library's own setgroups() is for all. */
static int set_groups(const gid_t *group, int n)
{
	return (int)syscall(SYS_setgroups, n, group);
}

static int take_groups(const char *name, gid_t gid, struct cpl_error *err)
{
	gid_t *group;
	int n = cpl_user_groups(name, gid, &group), rc;

	if (n < 0)
		return cpl_fail_memory(err);
	rc = set_groups(group, n)
	             ? cpl_fail(err, "cannot leave root's groups: %s",
	                        strerror(errno))
	             : 0;
	free(group);
	return rc;
}

int cpl_user_begin(struct cpl_user_rights *before, uid_t uid,
                   struct cpl_error *err)
{
	char *name;
	gid_t gid;
	int rc;

	*before = (struct cpl_user_rights){false};
	if (geteuid() != 0 || uid == 0)
		return 0;
	name = user_name(uid, &gid, err);
	if (!name)
		return -1;
	rc = take_groups(name, gid, err);
	free(name);
	if (rc)
		return -1;
	come();
	before->changed = true;
	before->gid = (gid_t)setfsgid(gid);
	setfsuid(uid);
	/* They tell success in no other way. */
	if ((gid_t)setfsgid(gid) == gid && (uid_t)setfsuid(uid) == uid)
		return 0;
	cpl_user_end(before);
	return cpl_fail(err, "cannot take the rights of user %u",
	                (unsigned)uid);
}

void cpl_user_end(const struct cpl_user_rights *before)
{
	if (!before->changed)
		return;
	setfsuid(0);
	setfsgid(before->gid);
	set_groups(NULL, 0);
	go();
}
