/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/printable.h"

#define COMMAND CPL_BINDIR "/commplace"
#define COMPLAINT "commplace signature: "
/* This is the time between two checks whether it has ended. */
#define LOOK_MS 20

/* This is made before the fork, as slurmstepd has threads. */
struct call {
	const struct spank_keeping *k;
	char *argv[9], *env[6];
};

static void fill(struct call *c, const struct spank_keeping *k)
{
	char *const argv[] = {(char *)"commplace",
	                      (char *)"signature",
	                      (char *)"install",
	                      (char *)"--user",
	                      (char *)"--recorded",
	                      (char *)k->job,
	                      (char *)"--",
	                      (char *)k->name,
	                      NULL};
	int n = 0;

	c->k = k;
	memcpy(c->argv, argv, sizeof(argv));
	c->env[n++] = (char *)"LANG=C";
	c->env[n++] = (char *)"PATH=/usr/bin:/bin";
	if (*k->home)
		c->env[n++] = (char *)k->home;
	if (*k->store)
		c->env[n++] = (char *)k->store;
	if (*k->conf)
		c->env[n++] = (char *)k->conf;
	c->env[n] = NULL;
}

/* The files that slurmstepd has open are root's, and not for its user's process. */
static void close_others(void)
{
	long end = sysconf(_SC_OPEN_MAX);

	for (long fd = 3; fd < end && fd < 65536; fd++)
		close((int)fd);
}

/* slurmd and slurmstepd have the kernel spare them when memory is out. */
static void be_no_exception(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* If this fails, the recording is kept all the same. */
	if (write(fd, "0", 1) < 0)
		errno = 0;
	close(fd);
}

/* The child may only call what is allowed after a fork among threads. */
static void run_child(const struct call *c, int out)
{
	const struct spank_keeping *k = c->k;
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0)
		_exit(127);
	close_others();
	/* This is done as root, since it is root's file once the process has
	 * changed its user. */
	if (k->has_ids)
		be_no_exception();
	if (k->has_ids && (setgroups((size_t)k->n_groups, k->group) ||
	                   setgid(k->gid) || setuid(k->uid)))
		_exit(126);
	if (chdir("/"))
		_exit(125);
	execve(COMMAND, c->argv, c->env);
	_exit(127);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* This reads its messages until it closes them, as far as they fit. It returns
 * false if that takes too long. */
static bool listen_to(int in, int64_t end, char *text, size_t size)
{
	char rest[512];
	size_t n = 0;
	ssize_t got;

	for (;;) {
		struct pollfd ready = {.fd = in, .events = POLLIN};
		int64_t left = end - now_ms();
		bool fits = n + 1 < size;

		if (left <= 0)
			return false;
		if (poll(&ready, 1, (int)left) <= 0)
			continue;
		got = read(in, fits ? text + n : rest,
		           fits ? size - 1 - n : sizeof(rest));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return true;
		if (fits)
			text[n += (size_t)got] = '\0';
	}
}

/* This tells whether it has ended by then. If somebody else has waited for it,
 * *status is unchanged. */
static bool ends_by(pid_t pid, int64_t end, int *status)
{
	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG);
		int64_t left = end - now_ms();

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (left <= 0)
			return false;
		poll(NULL, 0, left < LOOK_MS ? (int)left : LOOK_MS);
	}
}

/* This writes a line for each of its lines. An error of slurmstepd is also in the
 * output of the batch job; so are complaints of the command, which begin with its
 * name. */
static void say(const struct spank_keeping *k, char *text, bool failed)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		bool is_loss = failed ||
		               !strncmp(line, COMPLAINT, sizeof(COMPLAINT) - 1);

		cpl_printable(line);
		if (k->hears == SPANK_NOBODY_HEARS)
			slurm_debug("commplace: --comm-record: %s", line);
		else if (is_loss && k->hears == SPANK_USER_HEARS)
			slurm_error("commplace: --comm-record: %s", line);
		else
			slurm_info("commplace: --comm-record: %s", line);
	}
}

void spank_keep_lost(const struct spank_keeping *k, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "what job %s recorded is lost: %s", k->job,
	         why);
	say(k, text, true);
}

/* This gets its messages, or what became of it, into [size] bytes of text. It
 * returns true if all is well. */
static bool attend(const struct spank_keeping *k, pid_t pid, int in, char *text,
                   size_t size)
{
	int64_t end = now_ms() + SPANK_KEEP_MS;
	int status = -1;

	if (listen_to(in, end, text, size) && ends_by(pid, end, &status)) {
		if (status && !*text)
			snprintf(text, size,
			         "what job %s recorded is lost: " COMMAND
			         " does not run",
			         k->job);
		return !status;
	}
	/* The child may not have come to make a group of its own. */
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	snprintf(text, size,
	         "what job %s recorded is given up after %d s: the file system "
	         "takes too long%s",
	         k->job, SPANK_KEEP_MS / 1000,
	         ends_by(pid, now_ms() + SPANK_END_MS, &status)
	                 ? ""
	                 : "; the command hangs in it and is left behind");
	return false;
}

void spank_keep(const struct spank_keeping *k)
{
	char text[2048] = "";
	struct call c;
	bool good;
	int fd[2];
	pid_t pid;

	fill(&c, k);
	if (pipe2(fd, O_CLOEXEC)) {
		spank_keep_lost(k, strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		run_child(&c, fd[1]);
	close(fd[1]);
	if (pid > 0) {
		good = attend(k, pid, fd[0], text, sizeof(text));
		say(k, text, !good);
	} else {
		spank_keep_lost(k, strerror(errno));
	}
	close(fd[0]);
}

void spank_keep_nothing(const struct spank_keeping *k)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "job %s did not end well: nothing is kept; what it recorded "
	         "stays 30 days for commplace signature install --user "
	         "--recorded %s %s",
	         k->job, k->job, k->name);
	say(k, text, true);
}
