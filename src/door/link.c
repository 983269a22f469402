/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "door/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Until the socket is ready. 1; 0: the deadline has passed; -1. */
static int ready(const struct cpl_link *link, short what, int64_t deadline)
{
	struct pollfd fd = {.fd = link->fd, .events = what};
	int rc;

	do {
		int64_t left = deadline == CPL_LINK_FOREVER
		                       ? -1
		                       : deadline - cpl_now();
		struct timespec wait;

		if (deadline != CPL_LINK_FOREVER && left < 0)
			left = 0;
		wait = (struct timespec){left / (1000 * CPL_DOOR_MS),
		                         left % (1000 * CPL_DOOR_MS)};
		rc = ppoll(&fd, 1, left < 0 ? NULL : &wait, NULL);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -1 : rc > 0;
}

int cpl_link_send(struct cpl_link *link, const struct cpl_link_head *head,
                  const struct cpl_packer *body, int64_t deadline)
{
	struct cpl_link_head sent = *head;
	struct iovec part[2] = {
	        {&sent, sizeof(sent)},
	        {body ? body->data : NULL, body ? body->used : 0}};
	struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};

	if (link->fd < 0 || (body && (body->full || body->failed)) ||
	    part[1].iov_len > CPL_LINK_MAX)
		return -1;
	sent.length = (uint32_t)part[1].iov_len;
	while (part[0].iov_len || part[1].iov_len) {
		ssize_t n = sendmsg(link->fd, &message, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			if (ready(link, POLLOUT, deadline) <= 0)
				return -1;
			continue;
		}
		if (n < 0)
			return -1;
		for (int i = 0; i < 2; i++) {
			size_t take = (size_t)n < part[i].iov_len
			                      ? (size_t)n
			                      : part[i].iov_len;

			part[i].iov_base = (char *)part[i].iov_base + take;
			part[i].iov_len -= take;
			n -= (ssize_t)take;
		}
	}
	return 0;
}

/* Room for what is still to come: as much as the head says, once bytes of it
 * are there, and no more than twice those. */
static int make_room(struct cpl_link *link, size_t got)
{
	size_t want = got < 65536 ? 65536 : 2 * got;
	unsigned char *more;

	if (want > link->head.length)
		want = link->head.length;
	if (want <= link->capacity)
		return 0;
	more = realloc(link->data, want);
	if (!more)
		return -1;
	link->data = more;
	link->capacity = want;
	return 0;
}

/* Where the next bytes go, and how many of them. */
static unsigned char *next(struct cpl_link *link, size_t *n)
{
	size_t got;

	if (link->got < sizeof(link->head)) {
		*n = sizeof(link->head) - link->got;
		return (unsigned char *)&link->head + link->got;
	}
	got = link->got - sizeof(link->head);
	if (make_room(link, got))
		return NULL;
	*n = (link->capacity < link->head.length ? link->capacity
	                                         : link->head.length) -
	     got;
	return link->data + got;
}

static bool complete(const struct cpl_link *link)
{
	return link->got >= sizeof(link->head) &&
	       link->got == sizeof(link->head) + link->head.length;
}

int cpl_link_receive(struct cpl_link *link, int64_t deadline)
{
	if (link->fd < 0)
		return -1;
	if (complete(link))
		link->got = 0;
	while (!complete(link)) {
		size_t n;
		unsigned char *at = next(link, &n);
		ssize_t got = at ? recv(link->fd, at, n, 0) : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			int rc = ready(link, POLLIN, deadline);

			if (rc <= 0)
				return rc;
			continue;
		}
		if (got <= 0)
			return -1;
		link->got += (size_t)got;
		if (link->got == sizeof(link->head) &&
		    link->head.length > CPL_LINK_MAX)
			return -1;
	}
	return 1;
}

struct cpl_unpacker cpl_link_body(const struct cpl_link *link)
{
	return (struct cpl_unpacker){.at = link->data,
	                             .end = link->data + link->head.length};
}

void cpl_link_close(struct cpl_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	free(link->data);
	*link = (struct cpl_link){.fd = -1};
}
