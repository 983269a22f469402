/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "record.h"
#include "record_command.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Handed to the processes; mpirun passes on only what it is told to. */
static const char *const passed[] = {"LD_PRELOAD", "COMMPLACE_RECORD_OUT",
                                     "COMMPLACE_RECORD_FILE",
                                     "NCCL_PROFILER_PLUGIN",
                                     "COMMPLACE_RECORD_EVENTS",
                                     "COMMPLACE_RECORD_PARTS",
                                     "COMMPLACE_RECORD_NAME",
                                     "COMMPLACE_RECORD_APPLICATION"};
enum { N_PASSED = sizeof(passed) / sizeof(*passed) };

int record_set_environment(const struct record_options *o,
                           const struct record_paths *p, struct cpl_error *err)
{
	const char *before = getenv("LD_PRELOAD");
	char *preload = NULL;
	int rc;

	if (asprintf(&preload, "%s%s%s", p->library,
	             before && *before ? ":" : "", before ? before : "") < 0)
		return cpl_fail_memory(err);
	rc = (*p->library && setenv("LD_PRELOAD", preload, 1)) ||
	     setenv("COMMPLACE_RECORD_OUT", p->fresh, 1) ||
	     setenv("COMMPLACE_RECORD_PARTS", "1", 1) ||
	     setenv("COMMPLACE_RECORD_NAME", p->name, 1) ||
	     (o->events || o->phases
	              ? setenv("COMMPLACE_RECORD_EVENTS", p->fresh_events, 1)
	              : unsetenv("COMMPLACE_RECORD_EVENTS")) ||
	     (o->application ? setenv("COMMPLACE_RECORD_APPLICATION",
	                              o->application, 1)
	                     : unsetenv("COMMPLACE_RECORD_APPLICATION"));
	free(preload);
	return rc ? cpl_fail_memory(err) : 0;
}

int record_run(const struct record_options *o, struct cpl_error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t restored;
	int status, rc;
	char **command = record_command(o->command, passed, N_PASSED, err);
	pid_t pid;

	if (!command)
		return -1;
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	sigemptyset(&restored);
	if (old_int.sa_handler != SIG_IGN)
		sigaddset(&restored, SIGINT);
	if (old_quit.sa_handler != SIG_IGN)
		sigaddset(&restored, SIGQUIT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &restored);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	if (o->json) /* stdout is for the one object */
		posix_spawn_file_actions_adddup2(&actions, 2, 1);
	fflush(stdout);
	rc = posix_spawnp(&pid, command[0], &actions, &attributes, command,
	                  environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (rc)
		rc = cpl_fail(err, "cannot run %s: %s", command[0],
		              strerror(rc));
	else if (waitpid(pid, &status, 0) < 0)
		rc = cpl_fail(err, "lost %s: %s", command[0], strerror(errno));
	else if (WIFSIGNALED(status))
		rc = 128 + WTERMSIG(status);
	else
		rc = WEXITSTATUS(status);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	free(command);
	return rc;
}
