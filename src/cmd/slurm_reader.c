/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "slurm_reader.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/file.h"
#include "signature/signature.h"
#include "site/user_dir.h"
#include "site_files.h"
#include "slurm_conf.h"

/* A user's entry in the user database, by name or number. */
static const struct passwd *user_entry(const char *user)
{
	const struct passwd *entry = getpwnam(user);
	char *end;
	unsigned long uid;

	if (entry)
		return entry;
	errno = 0;
	uid = strtoul(user, &end, 10);
	return *end || errno || uid > UINT_MAX ? NULL : getpwuid((uid_t)uid);
}

struct slurm_reader *slurm_reader_new(const char *user)
{
	const struct passwd *entry = user ? user_entry(user) : NULL;
	struct slurm_reader *r;

	if (!entry || !entry->pw_uid)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->uid = entry->pw_uid;
	r->name = strdup(entry->pw_name);
	r->n_groups = cpl_user_groups(entry->pw_name, entry->pw_gid, &r->group);
	if (r->name && r->n_groups > 0)
		return r;
	slurm_reader_free(r);
	return NULL;
}

struct slurm_reader *slurm_reader_of_site(void)
{
	char *path = cmd_config_path(NULL, NULL);
	struct slurm_conf *slurm = path ? slurm_conf_load(path) : NULL;
	struct slurm_reader *r =
	        slurm && slurm->is_read ? slurm_reader_new(slurm->value[SLURM_USER]) : NULL;

	slurm_conf_free(slurm);
	free(path);
	return r;
}

void slurm_reader_free(struct slurm_reader *reader)
{
	if (!reader)
		return;
	cpl_free_all(reader->name, reader->group, reader);
}

static bool in_group(void *arg, gid_t gid)
{
	const struct slurm_reader *r = arg;

	return cpl_user_in_group(r->group, r->n_groups, gid);
}

static bool has_list(const char *path)
{
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0 ||
	       getxattr(path, "system.nfs4_acl", NULL, 0) > 0;
}

/* One part of a way. */
static bool shuts_out(const struct slurm_reader *r, const char *part,
                      struct cpl_error *why)
{
	const struct cpl_reader reader = {.uid = r->uid,
	                                  .gid = r->group[0],
	                                  .in_group = in_group,
	                                  .arg = (void *)r};
	struct cpl_file_stamp stamp;
	bool folder;

	if (cpl_file_stamp(part, &stamp) || has_list(part))
		return false;
	/* What the right x is for a folder, r is for a file. */
	folder = S_ISDIR(stamp.mode);
	stamp.mode <<= folder ? 2 : 0;
	if (cpl_file_readable_by(&stamp, &reader))
		return false;
	stamp.mode >>= folder ? 2 : 0;
	cpl_fail(why,
	         "slurmctld runs as %s, who may not %s %s (mode %03o); "
	         "`setfacl -m u:%s:%c %s` lets it",
	         r->name, folder ? "enter" : "read", part, stamp.mode & 0777,
	         r->name, folder ? 'x' : 'r', part);
	return true;
}

bool slurm_reader_is_shut_out(const struct slurm_reader *reader,
                              const char *path, struct cpl_error *why)
{
	/* Links lead elsewhere. */
	char *whole = realpath(path, NULL);
	bool shut = false;
	size_t n = whole ? strlen(whole) : 0;

	for (size_t i = 1; i <= n && !shut; i++) {
		char c = whole[i];

		if (c && c != '/')
			continue;
		whole[i] = '\0';
		shut = shuts_out(reader, whole, why);
		whole[i] = c;
	}
	free(whole);
	return shut;
}

bool slurm_reader_misses_store(const struct slurm_reader *reader,
                               const char *dir, struct cpl_error *why)
{
	char **name = NULL;
	bool shut = slurm_reader_is_shut_out(reader, dir, why);
	int n = shut ? 0 : cpl_profile_list(dir, &name, NULL);

	for (int i = 0; i < n; i++) {
		char *path = cpl_profile_path(dir, name[i], NULL);

		shut = shut ||
		       (path && slurm_reader_is_shut_out(reader, path, why));
		cpl_free_all(path, name[i]);
	}
	free(name);
	return shut;
}

/* The folder of all homes: what is before a part that is "%u" or "%U". To
 * free(); NULL: there is none. */
static char *folder_of_homes(const char *pattern)
{
	const char *at = strchr(pattern, '%');

	if (!at || at - pattern < 2 || at[-1] != '/' || !at[1] ||
	    (at[2] && at[2] != '/'))
		return NULL;
	return strndup(pattern, (size_t)(at - pattern) - 1);
}

int slurm_reader_homes(const struct slurm_reader *reader, const char *pattern,
                       int *of, struct cpl_error *why)
{
	char *folder = folder_of_homes(pattern);
	struct dirent **entry = NULL;
	int n = folder ? scandir(folder, &entry, NULL, alphasort) : 0, shut = 0;

	*of = 0;
	for (int i = 0; i < n; i++) {
		char *path =
		        *entry[i]->d_name != '.'
		                ? cpl_path_join(folder, entry[i]->d_name, NULL)
		                : NULL;
		struct stat st;

		if (path && !stat(path, &st) && S_ISDIR(st.st_mode)) {
			(*of)++;
			shut += slurm_reader_is_shut_out(reader, path,
			                                 shut ? NULL : why);
		}
		cpl_free_all(path, entry[i]);
	}
	cpl_free_all(entry, folder);
	return shut;
}
