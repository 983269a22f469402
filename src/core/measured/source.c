/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "measured/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"
#include "measured/measured.h"
#include "measured/source_internal.h"

#define HTTP "http://"
#define NS_MS 1000000

int cpl_measured_source_check(const char *source, struct cpl_error *err)
{
	if (source[0] == '/' ||
	    (!strncmp(source, HTTP, strlen(HTTP)) && source[strlen(HTTP)]))
		return 0;
	return cpl_fail(err, " is no source; give a file or program whose path "
	                     "starts with /, or http://HOST:PORT/PATH");
}

/* May only root and we ourselves write it? */
static int check_program(const char *path, const struct stat *st,
                         struct cpl_error *err)
{
	if ((st->st_uid && st->st_uid != geteuid()) ||
	    st->st_mode & (S_IWGRP | S_IWOTH))
		return cpl_fail(err,
		                "%s: others than root and the user of this "
		                "process may change the program, so it is not "
		                "run",
		                path);
	return 0;
}

/* Its status. At the deadline it is killed; one that closed its output may stay
 * until then. Whatever it began ends with it: while nobody has waited for it, its
 * number is no other session's. */
static int end_program(pid_t child, int64_t deadline)
{
	const struct timespec moment = {.tv_nsec = 5 * NS_MS};
	siginfo_t ended = {.si_pid = 0};
	int status = 0;

	while (!waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) &&
	       !ended.si_pid && cpl_now() < deadline)
		nanosleep(&moment, NULL);
	kill(-child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static char *run_program(const char *path, int64_t deadline, size_t *length,
                         struct cpl_error *err)
{
	char *const argv[] = {(char *)path, NULL};
	char *text = NULL;
	int fd[2], status, why;
	pid_t child;

	if (pipe2(fd, O_CLOEXEC)) {
		cpl_fail(err, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (cpl_spawn(&child, path, argv, fd[1], STDOUT_FILENO)) {
		cpl_fail(err, "%s: %s", path, strerror(errno));
		close(fd[1]);
		close(fd[0]);
		return NULL;
	}
	close(fd[1]);
	text = measured_read_all(fd[0], deadline, NULL, length);
	why = errno;
	close(fd[0]);
	status = end_program(child, text ? deadline : 0);
	if (!text) {
		cpl_fail(err,
		         why == ETIMEDOUT
		                 ? "%s: the program, or what it began and "
		                   "prints, has not ended in time"
		                 : "%s: what the program prints: %s",
		         path, strerror(why));
		return NULL;
	}
	if (!status)
		return text;
	free(text);
	if (WIFSIGNALED(status))
		cpl_fail(err, "%s: the program was ended by signal %d", path,
		         WTERMSIG(status));
	else
		cpl_fail(err, "%s: the program failed with exit status %d", path,
		         WEXITSTATUS(status));
	return NULL;
}

char *cpl_measured_fetch(const char *source, int64_t deadline, size_t *length,
                         struct cpl_error *err)
{
	struct stat st;

	if (!strncmp(source, HTTP, strlen(HTTP)))
		return measured_http(source, source + strlen(HTTP), deadline,
		                     length, err);
	if (stat(source, &st)) {
		cpl_fail(err, "%s: %s", source, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
		return cpl_file_read(source, CPL_MEASURED_MAX_BYTES, length,
		                     err);
	return check_program(source, &st, err)
	               ? NULL
	               : run_program(source, deadline, length, err);
}
