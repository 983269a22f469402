/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "base/debuginfo.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/spawn.h"

#define PATIENCE_NS INT64_C(5000000000)

/* Nobody waits for a reader that does not read. */
static int send_fields(int fd, const struct cpl_field *field, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *lines = open_memstream(&text, &size);
	int rc;

	if (!lines)
		return -1;
	for (size_t i = 0; i < n; i++)
		fprintf(lines, "%s %s %zu %zu\n", field[i].type, field[i].name,
		        field[i].offset, field[i].size);
	rc = fclose(lines) ||
	     send(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size;
	free(text);
	return rc ? -1 : shutdown(fd, SHUT_WR);
}

/* All that is said until the other end closes, up to a deadline. -1: it has not
 * ended by then, or has said nothing. */
static int receive_answer(int fd, char *text, size_t size)
{
	int64_t left, end = cpl_now() + PATIENCE_NS;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t used = 0;
	ssize_t got;

	while ((left = end - cpl_now()) > 0) {
		if (poll(&p, 1, (int)(left / 1000000) + 1) <= 0)
			continue;
		got = recv(fd, text + used, size - 1 - used, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0 || used == size - 1)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	return left > 0 && used ? 0 : -1;
}

/* "found N", or "differs TEXT". */
static int take_answer(const char *text, size_t n, struct cpl_error *err)
{
	size_t found;

	if (!strncmp(text, "differs ", 8))
		return cpl_fail(err, "%s", text + 8);
	return sscanf(text, "found %zu", &found) == 1 && found <= n ? (int)found
	                                                            : 0;
}

int cpl_debuginfo_check(const char *program, const struct cpl_field *field,
                        size_t n, struct cpl_error *err)
{
	const char *reader = getenv("COMMPLACE_LAYOUT");
	char path[PATH_MAX], text[CPL_ERROR_MAX];
	char *const argv[] = {(char *)"commplace-layout", path, NULL};
	int fd[2], rc = 0;
	pid_t child;

	if (!n || !realpath(program, path) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return 0;
	if (!reader || !*reader)
		reader = CPL_LAYOUT_READER;
	if (cpl_spawn(&child, reader, argv, fd[1], STDIN_FILENO)) {
		close(fd[1]);
		close(fd[0]);
		return 0;
	}
	close(fd[1]);
	if (!send_fields(fd[0], field, n) &&
	    !receive_answer(fd[0], text, sizeof(text)))
		rc = take_answer(text, n, err);
	close(fd[0]);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
