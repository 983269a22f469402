/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commplaced as a child of slurmctld, or as a process that runs already. */
#include "commplace-config.h"

#include "door/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/socket.h"
#include "base/spawn.h"

/* No commplace.conf is larger. */
#define CONFIG_BYTES (1 << 20)

static int greet(struct cpl_engine *engine)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_link_head head = {.kind = CPL_DOOR_HELLO};
	int rc;

	cpl_put_number(&o, CPL_DOOR_VERSION);
	cpl_form_put_text(&o, PACKAGE_VERSION);
	cpl_form_put_text(&o, engine->config_path);
	rc = cpl_link_send(&engine->link, &head, &o, cpl_now());
	free(o.data);
	return rc;
}

/* The value of a key on the line, for the caller to free(). NULL: it is another
 * line. */
static char *value_on(const char *line, const char *key)
{
	size_t n = strlen(key);

	line += strspn(line, " \t");
	if (strncasecmp(line, key, n) != 0 || line[n] != '=')
		return NULL;
	line += n + 1;
	return strndup(line, strcspn(line, " \t\r#"));
}

void cpl_door_configure(const char *path, char **socket, int64_t *patience)
{
	size_t length;
	char *text = cpl_file_read(path, CONFIG_BYTES, &length, NULL), *value;
	int64_t ms;

	*socket = NULL;
	*patience = CPL_DOOR_PATIENCE;
	for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if ((value = value_on(line, "Decider"))) {
			free(*socket);
			*socket = value;
		} else if ((value = value_on(line, "MaxDecisionTime"))) {
			ms = cpl_milliseconds(value);
			if (ms <= CPL_DOOR_MOST_PATIENCE_MS &&
			    ms * CPL_DOOR_MS > *patience)
				*patience = ms * CPL_DOOR_MS;
			free(value);
		}
	}
	free(text);
	/* Whether it may be anything else is for the parser of the file to
	 * say. */
	if (*socket && **socket != '/') {
		free(*socket);
		*socket = NULL;
	}
}

static void open_socket(struct cpl_engine *engine)
{
	char text[320];

	engine->retry = cpl_now() + CPL_DOOR_BACK_OFF_MOST;
	engine->link.fd = cpl_socket_connect(engine->socket, SOCK_NONBLOCK, 0);
	if (engine->link.fd < 0) {
		snprintf(text, sizeof(text),
		         "no commplaced at %s: %s; jobs have the stock nodes "
		         "and rank order",
		         engine->socket, strerror(errno));
		engine->log(CPL_ENGINE_ERROR, text);
	} else if (greet(engine)) {
		cpl_link_close(&engine->link);
	}
}

static void open_child(struct cpl_engine *engine)
{
	char *const argv[] = {(char *)"commplaced", (char *)"--child", NULL};
	const char *program = getenv("COMMPLACED");
	char text[320];
	int fd[2];

	if (!program || !*program)
		program = CPL_COMMPLACED;
	engine->retry = cpl_now() + CPL_DOOR_BACK_OFF_MOST;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	               fd)) {
		engine->log(CPL_ENGINE_ERROR, "no socket for commplaced");
		return;
	}
	engine->link.fd = fd[0];
	/* A signal to slurmctld's group is not for it: it still has to write what
	 * is queued. */
	if (cpl_spawn(&engine->child, program, argv, fd[1],
	              CPL_LINK_CHILD_FD)) {
		snprintf(text, sizeof(text),
		         "%s cannot be started: %s; jobs have the stock nodes "
		         "and rank order",
		         program, strerror(errno));
		engine->log(CPL_ENGINE_ERROR, text);
		engine->child = 0;
	}
	close(fd[1]);
	if (!engine->child || greet(engine)) {
		cpl_link_close(&engine->link);
		cpl_door_end_child(engine, 0);
	}
}

void cpl_door_open(struct cpl_engine *engine)
{
	if (engine->socket)
		open_socket(engine);
	else
		open_child(engine);
}

static bool runs(int tasks, const char *task)
{
	char path[300], text[512];
	const char *state;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/stat", task);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* The name, which may be anything, stands in brackets before it. */
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'R';
}

bool cpl_door_is_busy(const struct cpl_engine *engine)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	bool busy = false;
	char path[64];
	DIR *dir;

	/* Of a socket pair it is ours. */
	peer.pid = engine->child;
	if (!peer.pid &&
	    getsockopt(engine->link.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)peer.pid);
	dir = opendir(path);
	for (struct dirent *e; dir && !busy && (e = readdir(dir));)
		busy = e->d_name[0] != '.' && runs(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
	return busy;
}

/* Has it ended? */
static bool is_over(pid_t child)
{
	pid_t rc;

	do
		rc = waitpid(child, NULL, WNOHANG);
	while (rc < 0 && errno == EINTR);
	return rc != 0;
}

void cpl_door_end_child(struct cpl_engine *engine, int64_t ns)
{
	const struct timespec pause = {0, 2 * CPL_DOOR_MS};
	int64_t deadline = cpl_now() + ns;

	if (!engine->child)
		return;
	while (!is_over(engine->child)) {
		if (cpl_now() < deadline) {
			nanosleep(&pause, NULL);
			continue;
		}
		kill(engine->child, SIGKILL);
		while (waitpid(engine->child, NULL, 0) < 0 && errno == EINTR)
			;
		break;
	}
	engine->child = 0;
}
