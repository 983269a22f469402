/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/install_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/sort.h"

#define FILE_MAX_BYTES (UINT64_C(2) << 30)
#define LOCK ".lock"


struct versions {
	struct cpl_version *one;
	int n, highest; /* also of side files that a crash left */
};

static int push_version(void *arg, const char *file,
                        const struct profile_file *part, struct cpl_error *err)
{
	struct versions *list = arg;

	if (part->number > list->highest)
		list->highest = part->number;
	if (part->kind != INSTALLED)
		return 0;
	if (cpl_array_grow(&list->one, list->n, sizeof(*list->one), err))
		return -1;
	list->one[list->n++] = (struct cpl_version){.number = part->number,
	                                            .ranks = part->ranks};
	return 0;
}

CPL_SORT_BY(cpl_version_by_number, struct cpl_version, CPL_UP(number))

int cpl_install_same(const char *a, const char *b, struct cpl_error *err)
{
	struct cpl_file_stamp x, y;
	char *one = NULL, *other = NULL;
	size_t n, m;
	int rc = 0;

	if (cpl_file_stamp(a, &x) || cpl_file_stamp(b, &y) || x.size != y.size)
		return 0;
	one = cpl_file_read(a, FILE_MAX_BYTES, &n, err);
	other = one ? cpl_file_read(b, FILE_MAX_BYTES, &m, err) : NULL;
	if (!other)
		rc = -1;
	else
		rc = n == m && !memcmp(one, other, n);
	cpl_free_all(one, other);
	return rc;
}

static int mark_in_use(const char *dir, const char *name, struct cpl_version *v,
                       struct cpl_error *err)
{
	char *path = install_version_path(dir, name, v->ranks, v->number, err);
	char *used =
	        path ? install_path_in_use(dir, name, v->ranks, err) : NULL;
	int rc = used ? cpl_install_same(path, used, err) : -1;

	cpl_free_all(path, used);
	v->in_use = rc > 0;
	return rc < 0 ? -1 : 0;
}

static int list_versions(const char *dir, const char *name,
                         struct versions *list, struct cpl_error *err)
{
	*list = (struct versions){0};
	if (install_each_file(dir, name, push_version, list, err))
		return -1;
	if (list->n)
		qsort(list->one, (size_t)list->n, sizeof(*list->one),
		      cpl_version_by_number);
	for (int i = 0; i < list->n; i++)
		if (mark_in_use(dir, name, &list->one[i], err))
			return -1;
	return 0;
}

int cpl_profile_versions(const char *dir, const char *name,
                         struct cpl_version **version, struct cpl_error *err)
{
	struct versions list;

	*version = NULL;
	if (list_versions(dir, name, &list, err)) {
		free(list.one);
		return -1;
	}
	*version = list.one;
	return list.n;
}


/* Whoever may write to the folder may lock it, even if root came first. Whoever may
 * only read it cannot keep others waiting. */
static void open_to_writers(int fd, const char *dir, bool is_new)
{
	struct stat folder, file;
	int mode = 0600;

	if (stat(dir, &folder) || fstat(fd, &file))
		return;
	if (folder.st_mode & S_IWGRP)
		mode |= 0060;
	if (folder.st_mode & S_IWOTH)
		mode |= 0006;
	/* A file with two names may be any file of root's. */
	if (geteuid() == 0 && file.st_uid == 0 && file.st_nlink == 1 &&
	    fchown(fd, folder.st_uid, folder.st_gid))
		return;
	if (is_new)
		fchmod(fd, (mode_t)mode);
}

int cpl_install_lock(const char *dir, const char *name, struct cpl_error *err)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	bool is_new;
	char *path;
	int fd;

	if (cpl_profile_name_check(name, err))
		return -1;
	path = cpl_path_join(dir, LOCK, err);
	if (!path)
		return -1;
	fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	is_new = fd >= 0;
	if (!is_new && errno == EEXIST)
		fd = open(path, flags);
	if (fd >= 0)
		open_to_writers(fd, dir, is_new);
	if (fd < 0 || flock(fd, LOCK_EX)) {
		cpl_fail(err, "%s: %s", errno == ENOENT ? dir : path,
		         strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

/* Whoever may read what is in use may also read what replaces it. */
static int mode_of(const char *path)
{
	struct cpl_file_stamp stamp;

	return cpl_file_stamp(path, &stamp) ? 0644 : stamp.mode & 0666;
}

int cpl_install_copy(const char *from, const char *to, int mode,
                     struct cpl_error *err)
{
	size_t n;
	char *data = cpl_file_read(from, FILE_MAX_BYTES, &n, err);
	int rc = data ? cpl_file_write_atomic(to, data, n, mode, err) : -1;

	free(data);
	return rc;
}

/* This takes a version into use. A file that somebody put there by hand for the
 * same size would be found before NAME.json of the same ranks. */
static int put_in_use(const char *dir, const char *name, int ranks,
                      const char *version, int mode, struct cpl_error *err)
{
	char *to = install_path_to_use(dir, name, ranks, err);
	char *size = to ? cpl_profile_size_path(dir, name, ranks, err) : NULL;
	int rc = size ? cpl_install_copy(version, to, mode, err) : -1;

	if (!rc && strcmp(to, size) && unlink(size) && errno != ENOENT)
		rc = cpl_fail(err, "%s: %s", size, strerror(errno));
	cpl_free_all(to, size);
	return rc;
}

static int64_t stored_pairs(const struct cpl_signature *sig)
{
	int64_t n = 0;

	for (int i = 0; i < sig->n_phases; i++)
		n += sig->phase[i].comm ? sig->phase[i].comm->n_entries : 0;
	return n;
}

/* This is the cpl_comm_distance from the signature in a file to another one, or
 * below 0 if it cannot be told. */
static double distance_from(const char *path, const struct cpl_signature *sig)
{
	struct cpl_signature *before =
	        cpl_file_exists(path) ? cpl_signature_load(path, NULL) : NULL;
	bool same = before && before->ranks == sig->ranks;
	struct cpl_comm *a = same ? cpl_signature_total(before, NULL) : NULL;
	struct cpl_comm *b = a ? cpl_signature_total(sig, NULL) : NULL;
	double distance = b ? cpl_comm_distance(a, b) : -1;

	cpl_comm_free(a);
	cpl_comm_free(b);
	cpl_signature_free(before);
	return distance;
}

/* This writes "installed" into sig->recorded. */
static int note_origin(struct cpl_signature *sig, const struct cpl_install *how,
                       int version, double distance, struct cpl_error *err)
{
	json_t *recorded =
	        sig->recorded ? json_loads(sig->recorded, 0, NULL) : NULL;
	json_t *origin;
	time_t when = (time_t)how->time;
	char date[32] = "", *text;
	struct tm tm;

	if (gmtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!recorded)
		recorded = json_object();
	origin = json_pack("{s:i, s:s}", "version", version, "date", date);
	/* A text that is NULL, or not UTF-8 as paths need not be, is left out. */
	json_object_set_new(origin, "by", json_string(how->by));
	json_object_set_new(origin, "from", json_string(how->from));
	if (distance >= 0)
		json_object_set_new(origin, "distance", json_real(distance));
	json_object_set_new(recorded, "installed", origin);
	text = json_dumps(recorded, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(recorded);
	if (!text)
		return cpl_fail_memory(err);
	free(sig->recorded);
	sig->recorded = text;
	return 0;
}

double cpl_profile_change(const struct cpl_signature *sig)
{
	json_t *recorded =
	        sig->recorded ? json_loads(sig->recorded, 0, NULL) : NULL;
	const json_t *distance = json_object_get(
	        json_object_get(recorded, "installed"), "distance");
	double change =
	        json_is_number(distance) ? json_number_value(distance) : -1;

	json_decref(recorded);
	return change;
}

int cpl_record_name(const char *pattern, const char *job, char *out,
                    size_t size, struct cpl_error *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "abcdefghijklmnopqrstuvwxyz0123456789_.-";
	size_t n = 0;

	for (const char *p = pattern; *p && n < size; p++) {
		if (p[0] != '%' || p[1] != 'x') {
			out[n++] = *p;
			continue;
		}
		for (const char *q = job; *q && n < size; q++)
			out[n++] = strchr(allowed, *q) ? *q : '-';
		p++;
	}
	/* A job may have any name, but the site's own text must be right. */
	if (n && strchr("-.", *out) && *pattern == '%')
		*out = '_';
	if (n >= size)
		return cpl_fail(err,
		                "\"%.40s...\" is too long for a "
		                "profile's name",
		                pattern);
	out[n] = '\0';
	return cpl_profile_name_check(out, err);
}

static int set_name(struct cpl_signature *sig, const char *name,
                    struct cpl_error *err)
{
	char *copy = strdup(name);

	if (!copy)
		return cpl_fail_memory(err);
	free(sig->name);
	sig->name = copy;
	return 0;
}

struct removal {
	const char *dir;
	int ranks, number; /* 0: any */
	bool kind[SIDE_FILE + 1];
};

static int remove_profile_file(void *arg, const char *file,
                               const struct profile_file *part,
                               struct cpl_error *err)
{
	const struct removal *r = arg;
	char *path;
	int rc = 0;

	if (!r->kind[part->kind] || (r->ranks && part->ranks != r->ranks) ||
	    (r->number && part->number != r->number))
		return 0;
	path = cpl_path_join(r->dir, file, err);
	if (!path)
		return -1;
	if (unlink(path) && errno != ENOENT)
		rc = cpl_fail(err, "%s: %s", path, strerror(errno));
	free(path);
	return rc;
}

/* The oldest versions of a size are removed; the one in use counts and stays. */
static int prune(const char *dir, const char *name, int ranks, int keep,
                 struct cpl_error *err)
{
	struct versions list;
	int n = 0, rc = list_versions(dir, name, &list, err);

	for (int i = 0; i < list.n; i++)
		n += list.one[i].ranks == ranks;
	for (int i = 0; i < list.n && n > keep && !rc; i++) {
		struct removal r = {.dir = dir,
		                    .ranks = ranks,
		                    .number = list.one[i].number};

		if (list.one[i].ranks != ranks || list.one[i].in_use)
			continue;
		/* A version without its side files would be damaged. */
		r.kind[INSTALLED] = true;
		rc = install_each_file(dir, name, remove_profile_file, &r, err);
		r.kind[SIDE_FILE] = true;
		rc = rc ? rc
		        : install_each_file(dir, name, remove_profile_file, &r,
		                            err);
		n--;
	}
	free(list.one);
	return rc;
}

/* This saves what is in use as version `number` if no version holds it. It returns
 * 1 if it did, and 0 if a version holds it or nothing is in use. */
static int save_by_hand(const char *dir, const char *name, int ranks,
                        const struct versions *list, int number,
                        const char *used, struct cpl_error *err)
{
	char *path;
	int rc;

	for (int i = 0; i < list->n; i++)
		if (list->one[i].ranks == ranks && list->one[i].in_use)
			return 0;
	if (!install_ranks_of(used))
		return 0;
	path = install_version_path(dir, name, ranks, number, err);
	rc = path ? cpl_install_copy(used, path, mode_of(used), err) : -1;
	free(path);
	return rc ? -1 : 1;
}

/* This sets the mode of a version and its side files. */
static int set_mode(const char *path, int phases, int mode,
                    struct cpl_error *err)
{
	int n = (int)strlen(path) - 5, rc = chmod(path, (mode_t)mode);
	char *side;

	for (int i = 1; i <= phases && !rc; i++) {
		if (asprintf(&side, "%.*s.phase%d.comm", n, path, i) < 0)
			return cpl_fail_memory(err);
		rc = chmod(side, (mode_t)mode) && errno != ENOENT ? -1 : 0;
		free(side);
	}
	return rc ? cpl_fail(err, "%s: %s", path, strerror(errno)) : 0;
}

static int install(const char *dir, const char *name, struct cpl_signature *sig,
                   const struct cpl_install *how, struct cpl_error *err)
{
	char *used = install_path_in_use(dir, name, sig->ranks, err),
	     *path = NULL;
	struct versions list = {0};
	int number = -1, saved, rc;

	if (!used || list_versions(dir, name, &list, err))
		goto out;
	if (list.highest > INT_MAX - 2) {
		cpl_fail(err, "%s/.%s@*.v%d: there is no version after that",
		         dir, name, list.highest);
		goto out;
	}
	saved = save_by_hand(dir, name, sig->ranks, &list, list.highest + 1,
	                     used, err);
	if (saved < 0)
		goto out;
	rc = list.highest + saved + 1;
	path = install_version_path(dir, name, sig->ranks, rc, err);
	if (!path || set_name(sig, name, err) ||
	    note_origin(sig, how, rc, distance_from(used, sig), err))
		goto out;
	if (stored_pairs(sig) >= CPL_INSTALL_BINARY
	            ? cpl_signature_write_binary(sig, path, err)
	            : cpl_signature_write(sig, path, err))
		goto out;
	if (set_mode(path, sig->n_phases, mode_of(used), err) ||
	    put_in_use(dir, name, sig->ranks, path, mode_of(used), err))
		goto out;
	number = rc;
	/* The new version is in use by now, so an old file that cannot be removed
	 * is no failure. */
	prune(dir, name, sig->ranks, how->keep, NULL);
out:
	cpl_free_all(list.one, used, path);
	return number;
}

int cpl_profile_install(const char *dir, const char *name,
                        struct cpl_signature *sig,
                        const struct cpl_install *how, struct cpl_error *err)
{
	int fd, number;

	fd = cpl_install_lock(dir, name, err);
	if (fd < 0)
		return -1;
	number = install(dir, name, sig, how, err);
	close(fd);
	return number;
}

int cpl_install_no_version(const char *name, int version,
                           const struct cpl_version *list, int n,
                           struct cpl_error *err)
{
	char text[256] = "none";

	for (int i = 0, at = 0; i < n && at < (int)sizeof(text); i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%d",
		               i ? ", " : "", list[i].number);
	return cpl_fail(err, "%s has no version %d; there are: %s", name,
	                version, text);
}

static int roll_back(const char *dir, const char *name, int version,
                     struct cpl_error *err)
{
	struct versions list = {0};
	struct cpl_signature *sig;
	char *path = NULL;
	int i = 0, rc = -1;

	if (list_versions(dir, name, &list, err))
		goto out;
	while (i < list.n && list.one[i].number != version)
		i++;
	if (i == list.n) {
		cpl_install_no_version(name, version, list.one, list.n, err);
		goto out;
	}
	path = install_version_path(dir, name, list.one[i].ranks, version, err);
	sig = path ? cpl_signature_load(path, err) : NULL;
	if (!sig)
		goto out;
	rc = put_in_use(dir, name, sig->ranks, path, mode_of(path), err);
	cpl_signature_free(sig);
out:
	cpl_free_all(list.one, path);
	return rc;
}

int cpl_profile_roll_back(const char *dir, const char *name, int version,
                          struct cpl_error *err)
{
	int fd, rc;

	fd = cpl_install_lock(dir, name, err);
	if (fd < 0)
		return -1;
	rc = roll_back(dir, name, version, err);
	close(fd);
	return rc;
}

/* The smallest other size becomes NAME.json; without one, NAME.json is removed. */
static int take_away_main(const char *dir, const char *name, const int *size,
                          int n, int ranks, struct cpl_error *err)
{
	char *path = cpl_profile_path(dir, name, err), *other = NULL;
	int i = 0, rc = -1;

	while (i < n && size[i] == ranks)
		i++;
	if (path && i < n)
		other = cpl_profile_size_path(dir, name, size[i], err);
	if (!path || (i < n && !other))
		goto out;
	rc = other ? rename(other, path) : unlink(path);
	if (rc)
		cpl_fail(err, "%s: %s", path, strerror(errno));
out:
	cpl_free_all(path, other);
	return rc;
}

static int remove_size(const char *dir, const char *name, int ranks,
                       struct cpl_error *err)
{
	struct removal r = {.dir = dir, .ranks = ranks};
	int *size = NULL, n = cpl_profile_sizes(dir, name, &size, err);
	int first = install_main_ranks(dir, name, err), i = 0, rc = -1;
	char text[256] = "none";

	while (i < n && size[i] != ranks)
		i++;
	if (n >= 0 && i == n) {
		for (int k = 0, at = 0; k < n && at < (int)sizeof(text); k++)
			at += snprintf(text + at, sizeof(text) - (size_t)at,
			               "%s%d", k ? ", " : "", size[k]);
		cpl_fail(err, "%s has no %d ranks; there are: %s", name, ranks,
		         text);
	} else if (n >= 0) {
		r.kind[SIZE] = true;
		rc = first == ranks
		             ? take_away_main(dir, name, size, n, ranks, err)
		             : 0;
		rc = rc ? rc
		        : install_each_file(dir, name, remove_profile_file, &r,
		                            err);
		r.kind[INSTALLED] = r.kind[SIDE_FILE] = true;
		rc = rc ? rc
		        : install_each_file(dir, name, remove_profile_file, &r,
		                            err);
	}
	free(size);
	return rc;
}

static int remove_all(const char *dir, const char *name, struct cpl_error *err)
{
	struct removal r = {.dir = dir, .kind = {[IN_USE] = true}};
	char *path = cpl_profile_path(dir, name, err);
	int rc = -1;

	if (path && !cpl_file_exists(path))
		cpl_fail(err, "%s: %s", path, strerror(errno));
	else if (path)
		rc = 0;
	free(path);
	/* The order of removal makes sure that nobody finds a profile that is half
	 * removed. */
	for (int kind = IN_USE; kind <= SIDE_FILE && !rc; kind++) {
		r.kind[kind] = true;
		rc = install_each_file(dir, name, remove_profile_file, &r, err);
	}
	return rc;
}

int cpl_profile_remove(const char *dir, const char *name, int ranks,
                       struct cpl_error *err)
{
	int fd, rc;

	fd = cpl_install_lock(dir, name, err);
	if (fd < 0)
		return -1;
	rc = ranks ? remove_size(dir, name, ranks, err)
	           : remove_all(dir, name, err);
	close(fd);
	return rc;
}
