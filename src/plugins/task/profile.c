/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "task_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signature/signature.h"

/* Few applications run on a node at a time. */
#define KEPT 8
/* slurmd holds a lock over launches while it parses. */
#define MAX_BYTES (64 << 20)

struct kept {
	char *path;
	struct stat st;
	struct cpl_comm *comm;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept[KEPT];
static int next_kept;

static void forget(struct kept *k)
{
	free(k->path);
	cpl_comm_free(k->comm);
	memset(k, 0, sizeof(*k));
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int check_file(const char *path, struct stat *st, struct cpl_error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fstat(fd, st);

	if (rc < 0)
		cpl_fail(err, "%s: %s", path,
		         errno == ELOOP ? "is a symbolic link"
		                        : strerror(errno));
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return -1;
	if (!S_ISREG(st->st_mode))
		return cpl_fail(err, "%s: is no regular file", path);
	if (st->st_size > MAX_BYTES)
		return cpl_fail(err, "%s: has more than %d bytes", path,
		                MAX_BYTES);
	return 0;
}

/* The matrix of a path, owned by the table. Called with the lock held. */
static const struct cpl_comm *look_up(const char *path, struct cpl_error *err)
{
	struct kept fresh = {0}, *old = NULL;
	struct cpl_signature *sig;

	if (check_file(path, &fresh.st, err))
		return NULL;
	for (int i = 0; i < KEPT; i++)
		if (kept[i].path && !strcmp(kept[i].path, path))
			old = &kept[i];
	if (old && same_file(&old->st, &fresh.st))
		return old->comm;
	sig = cpl_signature_load(path, err);
	if (!sig)
		return NULL;
	fresh.comm = cpl_signature_total_daemon(sig, err);
	cpl_signature_free(sig);
	if (!fresh.comm)
		return NULL;
	fresh.path = strdup(path);
	if (!fresh.path) {
		cpl_fail_memory(err);
		forget(&fresh);
		return NULL;
	}
	if (!old) {
		old = &kept[next_kept];
		next_kept = (next_kept + 1) % KEPT;
	}
	forget(old);
	*old = fresh;
	return old->comm;
}

struct cpl_comm *cpltask_traffic(const char *profile_dir, const char *name,
                                 int ranks, const int *rank, int n,
                                 struct cpl_error *err)
{
	char *path = cpl_profile_path(profile_dir, name, err);
	const struct cpl_comm *all;
	struct cpl_comm *out = NULL;

	if (!path)
		return NULL;
	pthread_mutex_lock(&lock);
	all = look_up(path, err);
	if (all && all->ranks != ranks)
		cpl_fail(err, "profile %s is of %d ranks, the step has %d",
		         name, all->ranks, ranks);
	else if (all)
		out = cpl_comm_subset(all, rank, n, err);
	pthread_mutex_unlock(&lock);
	free(path);
	return out;
}

void cpltask_traffic_forget(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < KEPT; i++)
		forget(&kept[i]);
	next_kept = 0;
	pthread_mutex_unlock(&lock);
}
