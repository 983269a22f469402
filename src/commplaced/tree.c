/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "tree.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/socket.h"

#define STACK_BYTES (256 << 10)
#define MS INT64_C(1000000)
/* How often StateDir is looked at: it may be another one, or a new one. */
#define LOOK_MS 500

/* Held while the engine is asked, or something is said of it, so that it is not
 * freed meanwhile. */
static pthread_mutex_t engine_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpl_engine *asked_engine;
static void (*say)(enum cpl_engine_log level, const char *text);
static int said_why;           /* errno of what was said last, or 0 */
static pthread_cond_t stopped; /* listening is -1 again */

/* The thread's; it changes listening with the lock held. */
static int listening = -1;
static char listens_at[PATH_MAX];
static struct stat made; /* what it made there */

static char *text_for(const char *path, uid_t uid)
{
	bool all = !uid || uid == geteuid();
	json_t *value = NULL, *answer;
	char *text;

	pthread_mutex_lock(&engine_lock);
	if (asked_engine)
		value = cpl_engine_tree(asked_engine, path, uid, all);
	pthread_mutex_unlock(&engine_lock);
	answer = value ? json_pack("{s:o}", "value", value)
	               : json_pack("{s:s}", "error", "no such thing");
	text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	return text;
}

static bool wait_for(int fd, short events, int64_t ends)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left = ends - cpl_now();

	return left > 0 && poll(&p, 1, (int)(left / MS) + 1) > 0;
}

/* A question. False: it does not come in time, or is none. */
static bool hear(int fd, char *path, size_t size)
{
	int64_t ends = cpl_now() + TREE_ASK_NS;
	size_t got = 0;

	while (got < size && wait_for(fd, POLLIN, ends)) {
		ssize_t n = recv(fd, path + got, size - got, 0);
		char *end = n > 0 ? memchr(path + got, '\n', (size_t)n) : NULL;

		if (end) {
			*end = '\0';
			return true;
		}
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return false;
}

static void tell(int fd, const char *text)
{
	int64_t ends = cpl_now() + TREE_TAKE_NS;
	size_t left = strlen(text);

	while (left && wait_for(fd, POLLOUT, ends)) {
		ssize_t n = send(fd, text, left, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		text += n;
		left -= (size_t)n;
	}
}

static void answer(int fd)
{
	char path[256], *text = NULL;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	    hear(fd, path, sizeof(path)))
		text = text_for(path, peer.uid);
	if (text)
		tell(fd, text);
	free(text);
}

/* What stands there by now may be of another commplaced. */
static void stop_listening(void)
{
	struct stat now;

	if (listening < 0)
		return;
	if (!lstat(listens_at, &now) && now.st_dev == made.st_dev &&
	    now.st_ino == made.st_ino)
		unlink(listens_at);
	close(listening);
	pthread_mutex_lock(&engine_lock);
	listening = -1;
	pthread_cond_broadcast(&stopped);
	pthread_mutex_unlock(&engine_lock);
}

/* Once for each reason. */
static void say_why_not(const char *path, int why)
{
	char line[512];

	snprintf(line, sizeof(line),
	         "%.300s: %s: commplace status --tree has nobody to ask", path,
	         strerror(why));
	pthread_mutex_lock(&engine_lock);
	if (asked_engine && said_why != why)
		say(CPL_ENGINE_ERROR, line);
	said_why = why;
	pthread_mutex_unlock(&engine_lock);
}

/* A socket that stands there is that of a commplaced that is gone, or is being
 * replaced. */
static void listen_at(const char *path)
{
	int fd = cpl_socket_listen(path, SOCK_NONBLOCK, 0666, TREE_WAITING);

	if (fd < 0 || lstat(path, &made)) {
		say_why_not(path, errno);
		if (fd >= 0)
			close(fd);
		return;
	}
	strcpy(listens_at, path);
	pthread_mutex_lock(&engine_lock);
	listening = fd;
	said_why = 0;
	pthread_mutex_unlock(&engine_lock);
}

/* See where StateDir is by now. Where the file system hangs, only this thread
 * waits. */
static void look(void)
{
	char dir[PATH_MAX - sizeof("/" CPL_ENGINE_SOCKET)], path[PATH_MAX];
	bool known = false;
	struct stat st;

	pthread_mutex_lock(&engine_lock);
	if (asked_engine)
		known = cpl_engine_state_dir(asked_engine, dir, sizeof(dir));
	pthread_mutex_unlock(&engine_lock);
	if (known)
		snprintf(path, sizeof(path), "%s/" CPL_ENGINE_SOCKET, dir);
	if (!known || strcmp(path, listens_at) || lstat(path, &st))
		stop_listening();
	if (known && listening < 0)
		listen_at(path);
}

static void *serve(void *arg)
{
	for (int64_t looked = 0;;) {
		struct pollfd p = {.fd = listening, .events = POLLIN};
		int n = poll(&p, 1, LOOK_MS);
		int fd = n > 0 ? accept4(listening, NULL, NULL,
		                         SOCK_CLOEXEC | SOCK_NONBLOCK)
		               : -1;

		if (n > 0 && p.revents & POLLHUP)
			stop_listening();
		if (fd >= 0) {
			answer(fd);
			close(fd);
		}
		usleep(TREE_GAP_NS / 1000);
		if (cpl_now() - looked >= LOOK_MS * MS) {
			look();
			looked = cpl_now();
		}
	}
	return arg;
}

static void begin(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	cpl_cond_init(&stopped);
	if (pthread_attr_init(&attr))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attr, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

void tree_serve(struct cpl_engine *engine,
                void (*log)(enum cpl_engine_log level, const char *text))
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int64_t ends = cpl_now() + TREE_END_NS;

	pthread_mutex_lock(&engine_lock);
	asked_engine = engine;
	say = log;
	said_why = 0;
	/* The thread wakes up by that. */
	if (!engine && listening >= 0) {
		shutdown(listening, SHUT_RDWR);
		while (listening >= 0 &&
		       cpl_cond_wait_until(&stopped, &engine_lock, ends))
			;
	}
	pthread_mutex_unlock(&engine_lock);
	if (engine)
		pthread_once(&once, begin);
}
