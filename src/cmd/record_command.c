/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "record_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/linking.h"

/* Whether a program of that name is Open MPI's: MPICH's mpirun has no -x. */
static bool is_open_mpi(const char *program)
{
	static const char *const names[] = {"mpirun", "mpiexec", "orterun",
	                                    "prterun"};
	const char *base = cpl_path_base(program);
	char *const argv[] = {(char *)program, (char *)"--version", NULL};
	posix_spawn_file_actions_t actions;
	char text[4096];
	size_t n = 0;
	ssize_t got;
	int fd[2];
	pid_t pid;
	bool known = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		known |= !strcmp(base, names[i]);
	if (!known || pipe2(fd, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 1);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 2);
	known = !posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	while (known && n < sizeof(text) - 1 &&
	       (got = read(fd[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd[0]);
	if (!known)
		return false;
	waitpid(pid, NULL, 0);
	text[n] = '\0';
	return strstr(text, "Open MPI") || strstr(text, "OpenRTE") ||
	       strstr(text, "Open-MPI") || strstr(text, "PRRTE");
}

char **record_command(char *const *command, const char *const *passed,
                      int n_passed, struct cpl_error *err)
{
	bool insert = is_open_mpi(command[0]), at_start = false;
	size_t n = 0, parts = 1, to = 0;
	char **out;

	for (; command[n]; n++)
		parts += !strcmp(command[n], ":");
	out = malloc(sizeof(*out) * (n + 1 + parts * 2 * (size_t)n_passed));
	if (!out)
		return cpl_fail_null_memory(err);
	for (size_t i = 0; i < n; i++) {
		out[to++] = command[i];
		at_start = !i || !strcmp(command[i], ":");
		for (int v = 0; v < n_passed && insert && at_start; v++) {
			if (!getenv(passed[v]))
				continue;
			out[to++] = (char *)"-x";
			out[to++] = (char *)passed[v];
		}
	}
	out[to] = NULL;
	return out;
}

int record_check_linking(char *const *command, struct cpl_error *err)
{
	for (; *command; command++)
		if (cpl_file_has_mpi(*command, false))
			return cpl_fail(err,
			                "%s " CPL_MPI_INSIDE, *command);
	return 0;
}

const char *record_container(char *const *command)
{
	static const char *const starter[] = {
	        "apptainer", "singularity", "ch-run", "chroot",  "docker",
	        "enroot",    "podman",      "sarus",  "shifter", "bwrap"};
	static const char pyxis[] = "--container-";

	for (; *command; command++) {
		if (!strncmp(*command, pyxis, sizeof(pyxis) - 1))
			return *command;
		for (size_t i = 0; i < sizeof(starter) / sizeof(*starter); i++)
			if (!strcmp(cpl_path_base(*command), starter[i]))
				return *command;
	}
	return NULL;
}
