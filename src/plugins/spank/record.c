/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/printable.h"
#include "signature/signature.h"
#include "site/user_dir.h"
#include "spank_options.h"

#define RECORDER CPL_PKGLIBDIR "/libcommplace-record.so"
#define COMMAND CPL_BINDIR "/commplace"
/* A large matrix is written twice; a home that hangs is given up. */
#define KEEP_MS 120000
#define PATH_SIZE 4096

/* Programs */

/* LD_PRELOAD with the recorder behind what is there. */
static void preload(spank_t sp)
{
	char before[PATH_SIZE] = "", value[PATH_SIZE + sizeof(RECORDER) + 1];
	spank_err_t rc = spank_getenv(sp, "LD_PRELOAD", before, sizeof(before));

	/* One that does not fit must not be cut. */
	if ((rc != ESPANK_SUCCESS && rc != ESPANK_ENV_NOEXIST) ||
	    strstr(before, RECORDER))
		return;
	snprintf(value, sizeof(value), "%s%s%s", before, *before ? ":" : "",
	         RECORDER);
	spank_setenv(sp, "LD_PRELOAD", value, 1);
}

void spank_record_no_tasks(spank_t sp)
{
	char value[PATH_SIZE], *at;
	size_t n = strlen(RECORDER);

	if (spank_getenv(sp, "LD_PRELOAD", value, sizeof(value)) !=
	            ESPANK_SUCCESS ||
	    !(at = strstr(value, RECORDER)))
		return;
	/* With the colon on its one side. */
	if (at[n] == ':')
		n++;
	else if (at > value)
		at--, n++;
	memmove(at, at + n, strlen(at + n) + 1);
	spank_setenv(sp, "LD_PRELOAD", value, 1);
}

/* "HOME/.commplace/recording" of the job's user; false: there is no home. */
static bool folder(spank_t sp, char *path, size_t size)
{
	char home[PATH_SIZE];

	return spank_getenv(sp, "HOME", home, sizeof(home)) == ESPANK_SUCCESS &&
	       home[0] == '/' &&
	       snprintf(path, size, "%s/" CPL_RECORDING_DIR, home) < (int)size;
}

void spank_record_tasks(spank_t sp, const char *name)
{
	char path[PATH_SIZE];

	if (access(RECORDER, R_OK)) {
		slurm_info("commplace: --comm-record: %s: %s; the job is not "
		           "recorded",
		           RECORDER, strerror(errno));
		return;
	}
	if (!folder(sp, path, sizeof(path)))
		return;
	spank_setenv(sp, "COMMPLACE_RECORD_DIR", path, 1);
	spank_setenv(sp, "COMMPLACE_RECORD_NAME", name, 1);
	preload(sp);
}

/* The command that keeps it */

/* All that a child may need, made before the fork: slurmstepd has threads. */
struct keeping {
	char home[PATH_SIZE + 8], store[PATH_SIZE + 32], conf[PATH_SIZE + 16];
	char name[CPL_PROFILE_NAME_MAX + 1], job[64];
	bool has_ids;
	uid_t uid;
	gid_t gid, *group;
	int n_groups;
	char *argv[8], *env[8];
};

static void fill(struct keeping *k)
{
	char *const argv[] = {(char *)"commplace",
	                      (char *)"signature",
	                      (char *)"install",
	                      (char *)"--user",
	                      (char *)"--recorded",
	                      k->job,
	                      k->name,
	                      NULL};
	int n = 0;

	memcpy(k->argv, argv, sizeof(argv));
	k->env[n++] = (char *)"LANG=C";
	k->env[n++] = (char *)"PATH=/usr/bin:/bin";
	k->env[n++] = k->home;
	if (*k->store)
		k->env[n++] = k->store;
	if (*k->conf)
		k->env[n++] = k->conf;
	k->env[n] = NULL;
}

/* What slurmstepd has open is root's, and none of its user's process. */
static void close_others(void)
{
	long end = sysconf(_SC_OPEN_MAX);

	for (long fd = 3; fd < end && fd < 65536; fd++)
		close((int)fd);
}

/* In the child: only what may be called after a fork among threads. */
static void run(const struct keeping *k, int out)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0)
		_exit(127);
	close_others();
	if (k->has_ids && (setgroups((size_t)k->n_groups, k->group) ||
	                   setgid(k->gid) || setuid(k->uid)))
		_exit(126);
	if (chdir("/"))
		_exit(125);
	execve(COMMAND, k->argv, k->env);
	_exit(127);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* Its words until it ends, as far as they fit. False: it takes too long. */
static bool listen_to(int in, char *text, size_t size)
{
	int64_t end = now_ms() + KEEP_MS, left;
	char rest[512];
	size_t n = 0;
	ssize_t got;

	for (;;) {
		struct pollfd ready = {.fd = in, .events = POLLIN};
		bool fits = n + 1 < size;

		left = end - now_ms();
		if (left <= 0)
			return false;
		if (poll(&ready, 1, (int)left) <= 0)
			continue;
		got = read(in, fits ? text + n : rest,
		           fits ? size - 1 - n : sizeof(rest));
		if (got <= 0)
			return true;
		if (fits)
			text[n += (size_t)got] = '\0';
	}
}

/* A line of the log for each of its own. */
static void say(char *text, bool failed)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		cpl_printable(line);
		if (failed)
			slurm_error("commplace: --comm-record: %s", line);
		else
			slurm_info("commplace: --comm-record: %s", line);
	}
}

static void keep(const struct keeping *k)
{
	char text[2048] = "";
	int fd[2], status = -1;
	bool ended;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		run(k, fd[1]);
	close(fd[1]);
	if (pid > 0) {
		ended = listen_to(fd[0], text, sizeof(text));
		if (!ended)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!ended)
			snprintf(text, sizeof(text),
			         "what job %s recorded is given up: the file "
			         "system takes too long",
			         k->job);
		else if (status && !*text)
			snprintf(text, sizeof(text),
			         "what job %s recorded is lost: " COMMAND
			         " does not run",
			         k->job);
		say(text, status != 0);
	}
	close(fd[0]);
}

/* AS=VALUE of a variable of the job; "" if there is none. */
static void take(spank_t sp, const char *as, const char *variable, char *out,
                 size_t size)
{
	char value[PATH_SIZE];

	*out = '\0';
	if (spank_getenv(sp, variable, value, sizeof(value)) == ESPANK_SUCCESS)
		snprintf(out, size, "%s=%s", as, value);
}

void spank_record_task_end(spank_t sp, const char *name)
{
	/* A slurmd that is no root's runs its own user's jobs. */
	struct keeping k = {.has_ids = geteuid() == 0};
	uint32_t job;
	int status;

	if (!cplslurm_spank_is_batch(sp) ||
	    spank_get_item(sp, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return;
	if (status) {
		slurm_info("commplace: --comm-record: job %u did not end well; "
		           "nothing is kept",
		           job);
		return;
	}
	if (spank_get_item(sp, S_JOB_UID, &k.uid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_GID, &k.gid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &k.group,
	                   &k.n_groups) != ESPANK_SUCCESS)
		return;
	snprintf(k.name, sizeof(k.name), "%s", name);
	snprintf(k.job, sizeof(k.job), "%u", job);
	take(sp, "HOME", "HOME", k.home, sizeof(k.home));
	take(sp, "COMMPLACE_USER_PROFILES", RECORD_STORE, k.store,
	     sizeof(k.store));
	take(sp, "SLURM_CONF", "SLURM_CONF", k.conf, sizeof(k.conf));
	fill(&k);
	keep(&k);
}

/* srun, salloc */

struct at_exit {
	pid_t pid; /* not a child that failed to become something else */
	bool step; /* srun in a job: only its own step */
	char name[CPL_PROFILE_NAME_MAX + 1];
};

static void put(char *out, size_t size, const char *as, const char *variable)
{
	const char *value = getenv(variable);

	if (value)
		snprintf(out, size, "%s=%s", as, value);
}

static void at_exit(int status, void *arg)
{
	const struct at_exit *a = arg;
	const char *job = getenv("SLURM_JOB_ID"),
	           *step = getenv("SLURM_STEP_ID");
	struct keeping k = {.has_ids = false};

	if (status || a->pid != getpid() || !job)
		return;
	memcpy(k.name, a->name, sizeof(k.name));
	if (a->step && step)
		snprintf(k.job, sizeof(k.job), "%.20s.%.20s", job, step);
	else
		snprintf(k.job, sizeof(k.job), "%.20s", job);
	put(k.home, sizeof(k.home), "HOME", "HOME");
	put(k.store, sizeof(k.store), "COMMPLACE_USER_PROFILES",
	    "COMMPLACE_USER_PROFILES");
	put(k.conf, sizeof(k.conf), "SLURM_CONF", "SLURM_CONF");
	fill(&k);
	keep(&k);
}

void spank_record_at_exit(const char *name, bool step)
{
	static struct at_exit a;
	Dl_info self;

	a.pid = getpid();
	a.step = step;
	snprintf(a.name, sizeof(a.name), "%s", name);
	/* Slurm unloads plugins before the program ends. */
	if (!dladdr(&a, &self) ||
	    !dlopen(self.dli_fname, RTLD_LAZY | RTLD_NODELETE) ||
	    on_exit(at_exit, &a))
		slurm_error("commplace: --comm-record: nothing will be kept: "
		            "out of memory");
}
