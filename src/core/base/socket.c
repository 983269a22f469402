/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/socket.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int open_socket(const char *path, int flags, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(name->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name->sun_path, path);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* fd, or, where it is of no use, -1 with errno as it is. */
static int or_close(int fd, bool useless)
{
	int why = errno;

	if (!useless)
		return fd;
	close(fd);
	errno = why;
	return -1;
}

int cpl_socket_connect(const char *path, int flags, int wait_s)
{
	const struct timeval wait = {.tv_sec = wait_s};
	struct sockaddr_un name;
	int fd = open_socket(path, flags, &name);

	if (fd < 0)
		return -1;
	return or_close(fd, setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait,
	                               sizeof(wait)) ||
	                            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO,
	                                       &wait, sizeof(wait)) ||
	                            connect(fd, (const struct sockaddr *)&name,
	                                    sizeof(name)));
}

int cpl_socket_listen(const char *path, int flags, mode_t mode, int waiting)
{
	struct sockaddr_un name;
	int fd = open_socket(path, flags, &name);

	if (fd < 0)
		return -1;
	unlink(path);
	/* Nobody is let in before it listens. */
	return or_close(
	        fd, bind(fd, (const struct sockaddr *)&name, sizeof(name)) ||
	                    chmod(path, mode) || listen(fd, waiting));
}
