/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading from programs and servers with a deadline. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "measured/measured.h"
#include "measured/source_internal.h"

#define NS_MS 1000000
#define FIRST_BYTES 65536

int measured_wait(int fd, short events, int64_t deadline)
{
	for (;;) {
		struct pollfd one = {.fd = fd, .events = events};
		int64_t left = deadline - cpl_now();
		int rc;

		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		left = left / NS_MS + 1;
		rc = poll(&one, 1, left < 1000 ? (int)left : 1000);
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -1;
	}
}

char *measured_read_all(int fd, int64_t deadline,
                        bool (*is_whole)(const char *text, size_t length),
                        size_t *length)
{
	size_t room = FIRST_BYTES;
	char *text = malloc(room + 1), *more;

	*length = 0;
	while (text && !measured_wait(fd, POLLIN, deadline)) {
		ssize_t n = read(fd, text + *length, room - *length);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		*length += (size_t)n;
		if (!n || (is_whole && is_whole(text, *length))) {
			text[*length] = '\0';
			return text;
		}
		if (*length < room)
			continue;
		if (room >= CPL_MEASURED_MAX_BYTES) {
			errno = EFBIG;
			break;
		}
		more = realloc(text, 2 * room + 1);
		if (!more)
			break;
		text = more;
		room *= 2;
	}
	free(text);
	return NULL;
}
