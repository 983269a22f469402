/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This tells which files of a folder belong to a profile. */
#include "commplace-config.h"
#include "signature/install_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sort.h"

#define HEAD_BYTES 65536

/* This reads a number of at least 1 at *at, which moves behind it. It returns 0 if
 * there is none. */
static int take_number(const char **at)
{
	char *end;
	long n;

	if (**at < '1' || **at > '9')
		return 0;
	errno = 0;
	n = strtol(*at, &end, 10);
	if (errno || n > INT_MAX)
		return 0;
	*at = end;
	return (int)n;
}

static struct profile_file profile_file_of(const char *file, const char *name)
{
	struct profile_file p = {NO_PART};
	const char *at = file + (*file == '.');
	size_t n = strlen(name);

	if (strncmp(at, name, n))
		return p;
	at += n;
	if (*file != '.' && !strcmp(at, ".json"))
		p.kind = IN_USE;
	if (*at++ != '@' || !(p.ranks = take_number(&at)))
		return p;
	if (*file != '.') {
		p.kind = strcmp(at, ".json") ? NO_PART : SIZE;
		return p;
	}
	if (strncmp(at, ".v", 2))
		return p;
	at += 2;
	p.number = take_number(&at);
	if (p.number && !strcmp(at, ".json"))
		p.kind = INSTALLED;
	else if (p.number && !strncmp(at, ".phase", 6))
		p.kind = SIDE_FILE;
	return p;
}

int install_each_file(const char *dir, const char *name,
                      int (*fn)(void *arg, const char *file,
                                const struct profile_file *part,
                                struct cpl_error *err),
                      void *arg, struct cpl_error *err)
{
	struct dirent *entry;
	DIR *d;
	int rc = 0;

	if (cpl_profile_name_check(name, err))
		return -1;
	d = opendir(dir);
	if (!d)
		return cpl_fail(err, "%s: %s", dir, strerror(errno));
	while (!rc && (entry = readdir(d))) {
		struct profile_file part = profile_file_of(entry->d_name, name);

		if (part.kind != NO_PART)
			rc = fn(arg, entry->d_name, &part, err);
	}
	closedir(d);
	return rc;
}

char *cpl_profile_size_path(const char *dir, const char *name, int ranks,
                            struct cpl_error *err)
{
	char file[CPL_PROFILE_NAME_MAX + 32];

	if (cpl_profile_name_check(name, err))
		return NULL;
	snprintf(file, sizeof(file), "%s@%d.json", name, ranks);
	return cpl_path_join(dir, file, err);
}

char *cpl_profile_file(const char *dir, const char *name, int ranks,
                       struct cpl_error *err)
{
	char *path;

	if (ranks > 0) {
		path = cpl_profile_size_path(dir, name, ranks, err);
		if (!path || cpl_file_exists(path))
			return path;
		free(path);
	}
	return cpl_profile_path(dir, name, err);
}

char *install_version_path(const char *dir, const char *name, int ranks,
                           int number, struct cpl_error *err)
{
	char file[CPL_PROFILE_NAME_MAX + 48];

	snprintf(file, sizeof(file), ".%s@%d.v%d.json", name, ranks, number);
	return cpl_path_join(dir, file, err);
}

/* This returns the ranks that the beginning of a signature's file states, or 0 if
 * it states none or there is no file. */
static int ranks_in_head(const char *path)
{
	struct cpl_file_stamp stamp;
	size_t length;
	int ranks = 0, fd;
	char *head;

	fd = cpl_file_open(path, CPL_LINKS_REFUSE, UINT64_MAX, &stamp, NULL);
	if (fd < 0)
		return 0;
	head = cpl_file_read_open(fd, path, HEAD_BYTES, &length, NULL);
	close(fd);
	if (head)
		ranks = cpl_signature_peek(head, length);
	free(head);
	return ranks;
}

int install_ranks_of(const char *path)
{
	int ranks = ranks_in_head(path);
	struct cpl_signature *sig;

	if (ranks)
		return ranks;
	sig = cpl_signature_load(path, NULL);
	ranks = sig ? sig->ranks : 0;
	cpl_signature_free(sig);
	return ranks;
}

int install_main_ranks(const char *dir, const char *name, struct cpl_error *err)
{
	char *path = cpl_profile_path(dir, name, err);
	int ranks;

	if (!path)
		return -1;
	ranks = install_ranks_of(path);
	free(path);
	return ranks;
}

char *install_path_to_use(const char *dir, const char *name, int ranks,
                          struct cpl_error *err)
{
	int first = install_main_ranks(dir, name, err);

	if (first < 0)
		return NULL;
	return !first || first == ranks
	               ? cpl_profile_path(dir, name, err)
	               : cpl_profile_size_path(dir, name, ranks, err);
}

char *install_path_in_use(const char *dir, const char *name, int ranks,
                          struct cpl_error *err)
{
	char *path = cpl_profile_size_path(dir, name, ranks, err);

	if (!path || cpl_file_exists(path))
		return path;
	free(path);
	return install_path_to_use(dir, name, ranks, err);
}


struct install_numbers {
	int *value;
	int n;
};

static int push_size(void *arg, const char *file,
                     const struct profile_file *part, struct cpl_error *err)
{
	struct install_numbers *list = arg;
	int *more;

	if (part->kind != SIZE)
		return 0;
	more = realloc(list->value, ((size_t)list->n + 2) * sizeof(*more));
	if (!more)
		return cpl_fail_memory(err);
	list->value = more;
	more[list->n++] = part->ranks;
	return 0;
}

/* This lists the sizes of the other files and `first`, NAME.json's; 0 means that it
 * has none. */
static int list_sizes(const char *dir, const char *name, int first, int **ranks,
                      struct cpl_error *err)
{
	struct install_numbers list = {malloc(sizeof(int)), 0};
	int n = 0;

	*ranks = NULL;
	if (!list.value)
		return cpl_fail_memory(err);
	if (install_each_file(dir, name, push_size, &list, err)) {
		free(list.value);
		return -1;
	}
	if (first)
		list.value[list.n++] = first;
	qsort(list.value, (size_t)list.n, sizeof(*list.value), cpl_by_int);
	for (int i = 0; i < list.n; i++)
		if (!n || list.value[i] != list.value[n - 1])
			list.value[n++] = list.value[i];
	*ranks = list.value;
	return n;
}

int cpl_profile_sizes(const char *dir, const char *name, int **ranks,
                      struct cpl_error *err)
{
	int first = install_main_ranks(dir, name, err);

	*ranks = NULL;
	return first < 0 ? -1 : list_sizes(dir, name, first, ranks, err);
}

/* The text reads "16, 64 and 512". */
static void put_sizes(const int *ranks, int n, char *text, size_t size)
{
	size_t at = 0;

	for (int i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%d",
		                       !i           ? ""
		                       : i == n - 1 ? " and "
		                                    : ", ",
		                       ranks[i]);
}

static double apart(int a, int b)
{
	return a > b ? (double)a / b : (double)b / a;
}

char *cpl_profile_nearest(const char *dir, const char *name, int ranks,
                          char *sizes, size_t size, struct cpl_error *err)
{
	char *path = cpl_profile_file(dir, name, ranks, err);
	int *there = NULL, best = 0, n, first;

	if (size)
		*sizes = '\0';
	/* No profile's name contains "@". */
	if (!path || ranks <= 0 || strchr(strrchr(path, '/'), '@'))
		return path;
	/* The caller may have to read little, so only the head is read. */
	first = ranks_in_head(path);
	if (!first || first == ranks)
		return path;
	n = list_sizes(dir, name, first, &there, NULL);
	for (int i = 1; i < n; i++)
		if (apart(there[i], ranks) < apart(there[best], ranks))
			best = i;
	if (n > 0)
		put_sizes(there, n, sizes, size);
	if (n > 0 && there[best] != first) {
		free(path);
		path = cpl_profile_size_path(dir, name, there[best], err);
	}
	free(there);
	return path;
}
