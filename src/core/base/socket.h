/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets at a path of this host, for streams; none is passed on to programs
 * that are started. -1 with errno where there is none, ENAMETOOLONG for a path
 * of more bytes than a socket may have (107). */
#pragma once

#include <sys/types.h>

/* To whoever listens there; flags: SOCK_NONBLOCK or 0. wait_s: what one call,
 * this one too, may wait for the other end; 0: no limit. */
int cpl_socket_connect(const char *path, int flags, int wait_s);

/* What stood there is removed. Users that mode lets write may connect, and so
 * many wait until they are heard. */
int cpl_socket_listen(const char *path, int flags, mode_t mode, int waiting);
