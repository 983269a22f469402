/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LD_PRELOAD into slurmctld, from which commplaced has it: calls that commplaced or
 * the plugins make on files fail, hang or do less than was asked for. The file COMMPLACE_FAULTS holds the rule in force,
 * and there is none without that file; a rule is put in place by rename():
 *
 *   SERIAL CALLS WHAT FROM COUNT PATH
 *
 *   SERIAL  a number; another one begins to count anew
 *   CALLS   names with commas, or "all"
 *   WHAT    EIO, ENOSPC ...: fails with it; hang=MS: waits so long, or until the
 *           rule is another; short: reads and writes half; end: reads nothing;
 *           unknown: there is no such user; die: the process ends as by kill -9,
 *           and the rule with it; kill: slurmctld, too; count: nothing, but see
 *           below
 *   FROM    the first of the matching calls that it happens to, from 1 on
 *   COUNT   to so many, 0: to all that follow
 *   PATH    a part of the file's path; "user" and "group" of names of users
 *
 * Each call that it happened to is a line of COMMPLACE_FAULTS.hits: name and path.
 * Paths are to be those that only the plugins use. Of users and groups only calls
 * out of commplaced and *_commplace.so count: Slurm has its own.
 */
#include "commplace-config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 4096

enum answer { GO_ON, FAIL, LESS, NOTHING };

struct rule {
	long serial, from, count;
	char calls[256], what[32], path[256];
};

static const char *control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long serial = -1, matched;

__attribute__((constructor)) static void find(void)
{
	control = getenv("COMMPLACE_FAULTS");
}

static int raw_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC,
	                    0644);
}

static int read_rule(struct rule *rule)
{
	char text[640];
	long n;
	int fd = control ? raw_open(control, O_RDONLY) : -1;

	if (fd < 0)
		return -1;
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%ld %255s %31s %ld %ld %255s", &rule->serial,
	              rule->calls, rule->what, &rule->from, &rule->count,
	              rule->path) == 6
	               ? 0
	               : -1;
}

static bool from_plugin(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname &&
	       (strstr(info.dli_fname, "_commplace.so") ||
	        strstr(info.dli_fname, "commplaced"));
}

static bool named(const char *list, const char *call)
{
	size_t n = strlen(call);

	if (!strcmp(list, "all"))
		return true;
	for (const char *p = list; (p = strstr(p, call)); p += n)
		if ((p == list || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

static bool its_turn(const struct rule *rule)
{
	bool now;

	pthread_mutex_lock(&lock);
	if (rule->serial != serial)
		matched = 0;
	serial = rule->serial;
	matched++;
	now = matched >= rule->from &&
	      (!rule->count || matched < rule->from + rule->count);
	pthread_mutex_unlock(&lock);
	return now;
}

static void note(const char *call, const char *path)
{
	char name[PATH_BYTES], line[PATH_BYTES + 64];
	int fd, n;

	snprintf(name, sizeof(name), "%s.hits", control);
	n = snprintf(line, sizeof(line), "%s %s\n", call, path);
	fd = raw_open(name, O_WRONLY | O_CREAT | O_APPEND);
	syscall(SYS_write, fd, line, (size_t)n);
	syscall(SYS_close, fd);
}

static void hang(const struct rule *rule, long ms)
{
	const struct timespec slice = {.tv_nsec = 10000000};
	struct rule now;

	for (; ms > 0 && !read_rule(&now) && now.serial == rule->serial;
	     ms -= 10)
		nanosleep(&slice, NULL);
}

static void end_process(bool with_slurmctld)
{
	syscall(SYS_unlink, control);
	if (with_slurmctld &&
	    !strcmp(program_invocation_short_name, "commplaced"))
		kill(getppid(), SIGKILL);
	kill(getpid(), SIGKILL);
	pause();
}

static enum answer act(const struct rule *rule)
{
	if (!strcmp(rule->what, "kill") || !strcmp(rule->what, "die"))
		end_process(!strcmp(rule->what, "kill"));
	if (!strncmp(rule->what, "hang=", 5))
		hang(rule, atol(rule->what + 5));
	if (!strcmp(rule->what, "short"))
		return LESS;
	if (!strcmp(rule->what, "end") || !strcmp(rule->what, "unknown"))
		return NOTHING;
	for (int e = 1; e < 134; e++) {
		const char *name = strerrorname_np(e);

		if (name && !strcmp(name, rule->what)) {
			errno = e;
			return FAIL;
		}
	}
	return GO_ON;
}

static enum answer strike(const void *caller, const char *call,
                          const char *path, int fd)
{
	int before = errno;
	enum answer answer;
	char name[PATH_BYTES], link[64];
	struct rule rule;
	ssize_t n;

	if (read_rule(&rule) || !named(rule.calls, call) ||
	    (caller && !from_plugin(caller))) {
		errno = before;
		return GO_ON;
	}
	if (!path) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, name, sizeof(name) - 1);
		name[n > 0 ? n : 0] = '\0';
		path = name;
	}
	errno = before;
	if (!strstr(path, rule.path) || !its_turn(&rule))
		return GO_ON;
	note(call, path);
	answer = act(&rule);
	if (answer != FAIL)
		errno = before;
	return answer;
}

#define CALLER __builtin_return_address(0)
/* The C library's own. */
#define NEXT(name)                                                             \
	({                                                                     \
		static __typeof__(&name) next_;                                \
		if (!next_)                                                    \
			*(void **)&next_ = dlsym(RTLD_NEXT, #name);            \
		next_;                                                         \
	})
#define OF_PATH(type, name, path, args, call_args)                             \
	type name args                                                         \
	{                                                                      \
		if (strike(NULL, #name, path, -1) == FAIL)                   \
			return (type)(intptr_t)-1;                             \
		return NEXT(name) call_args;                                   \
	}
#define OF_FD(type, name, fd, args, call_args)                                 \
	type name args                                                         \
	{                                                                      \
		if (strike(NULL, #name, NULL, fd) == FAIL)                   \
			return (type)(intptr_t)-1;                             \
		return NEXT(name) call_args;                                   \
	}

OF_PATH(int, stat, path, (const char *restrict path, struct stat *restrict st),
        (path, st))
OF_PATH(int, lstat, path, (const char *restrict path, struct stat *restrict st),
        (path, st))
OF_PATH(int, access, path, (const char *path, int how), (path, how))
OF_PATH(int, mkdir, path, (const char *path, mode_t mode), (path, mode))
OF_PATH(int, chmod, path, (const char *path, mode_t mode), (path, mode))
OF_PATH(int, unlink, path, (const char *path), (path))
OF_PATH(int, remove, path, (const char *path), (path))
OF_PATH(int, rename, to, (const char *from, const char *to), (from, to))
OF_PATH(int, mkostemp, path, (char *path, int flags), (path, flags))
OF_FD(int, fstat, fd, (int fd, struct stat *st), (fd, st))
OF_FD(int, fstatat, fd,
      (int fd, const char *restrict path, struct stat *restrict st, int flags),
      (fd, path, st, flags))
OF_FD(int, unlinkat, fd, (int fd, const char *path, int flags),
      (fd, path, flags))
OF_FD(int, fchmod, fd, (int fd, mode_t mode), (fd, mode))
OF_FD(int, fchmodat, fd, (int fd, const char *path, mode_t mode, int flags),
      (fd, path, mode, flags))
OF_FD(int, fchown, fd, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
OF_FD(int, fsync, fd, (int fd), (fd))
OF_FD(int, fdatasync, fd, (int fd), (fd))
OF_FD(int, flock, fd, (int fd, int how), (fd, how))
OF_FD(int, fsetxattr, fd,
      (int fd, const char *name, const void *value, size_t n, int flags),
      (fd, name, value, n, flags))

static int own_open(const char *path, int flags, mode_t mode)
{
	return strike(NULL, "open", path, -1) == FAIL
	               ? -1
	               : NEXT(open)(path, flags, mode);
}

#include "own_open.h"

FILE *fopen(const char *restrict path, const char *restrict mode)
{
	return strike(NULL, "fopen", path, -1) == FAIL
	               ? NULL
	               : NEXT(fopen)(path, mode);
}

DIR *opendir(const char *path)
{
	return strike(NULL, "opendir", path, -1) == FAIL
	               ? NULL
	               : NEXT(opendir)(path);
}

struct dirent *readdir(DIR *folder)
{
	return strike(NULL, "readdir", NULL, dirfd(folder)) == FAIL
	               ? NULL
	               : NEXT(readdir)(folder);
}

/* As the kernel does it: what it reports is closed all the same. */
int close(int fd)
{
	enum answer answer = strike(NULL, "close", NULL, fd);
	int failed = errno, rc = NEXT(close)(fd);

	if (answer != FAIL)
		return rc;
	errno = failed;
	return -1;
}

static ssize_t bytes(enum answer answer, size_t *n)
{
	if (answer == LESS && *n > 1)
		*n /= 2;
	return answer == FAIL ? -1 : answer == NOTHING ? 0 : 1;
}

ssize_t read(int fd, void *to, size_t n)
{
	ssize_t rc = bytes(strike(NULL, "read", NULL, fd), &n);

	return rc > 0 ? NEXT(read)(fd, to, n) : rc;
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	ssize_t rc = bytes(strike(NULL, "pread", NULL, fd), &n);

	return rc > 0 ? NEXT(pread)(fd, to, n, at) : rc;
}

ssize_t write(int fd, const void *from, size_t n)
{
	ssize_t rc = bytes(strike(NULL, "write", NULL, fd), &n);

	return rc > 0 ? NEXT(write)(fd, from, n) : rc;
}

int getpwuid_r(uid_t uid, struct passwd *restrict entry, char *restrict text,
               size_t size, struct passwd **restrict found)
{
	enum answer answer = strike(CALLER, "getpwuid_r", "user", -1);

	if (answer == GO_ON)
		return NEXT(getpwuid_r)(uid, entry, text, size, found);
	*found = NULL;
	return answer == FAIL ? errno : 0;
}

int getpwnam_r(const char *restrict name, struct passwd *restrict entry,
               char *restrict text, size_t size,
               struct passwd **restrict found)
{
	enum answer answer = strike(CALLER, "getpwnam_r", "user", -1);

	if (answer == GO_ON)
		return NEXT(getpwnam_r)(name, entry, text, size, found);
	*found = NULL;
	return answer == FAIL ? errno : 0;
}

int getgrouplist(const char *name, gid_t gid, gid_t *groups, int *n)
{
	if (strike(CALLER, "getgrouplist", "group", -1) == GO_ON)
		return NEXT(getgrouplist)(name, gid, groups, n);
	*n = 0;
	return -1;
}
