/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "characterize.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cmd.h"
#include "options.h"
#include "signature/phases/measure.h"

#define MAX_OUTPUT (256u << 20)
#define MAX_WORDS 4096

struct options {
	const char *output, *network, *name, *compiler, *source, *program, *from;
	int64_t most_bytes, hosts;
	double seconds;
	bool json;
	char **command; /* the launcher, NULL-terminated */
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"output", .text = &o->output, .needed = true},
	        {"network", .text = &o->network},
	        {"name", .text = &o->name},
	        {"mpicc", .text = &o->compiler},
	        {"source", .text = &o->source},
	        {"program", .text = &o->program},
	        {"from", .text = &o->from},
	        {"most-bytes", .integer = &o->most_bytes, .low = 8,
	         .high = 1 << 30},
	        {"hosts", .integer = &o->hosts, .low = 1, .high = INT_MAX},
	        {"seconds", .number = &o->seconds, .least = 0, .most = 3600},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS_LAST);

	if (rc)
		return rc;
	o->command = argv + optind;
	if (o->from && (o->program || o->compiler || optind < argc))
		return cmd_usage(self, "--from takes what a run printed; no "
		                       "program or command goes with it");
	if (!o->from && optind == argc)
		return cmd_usage(self, "a command that starts MPI programs is "
		                       "missing, such as srun -N 4");
	if (argc - optind > MAX_WORDS)
		return cmd_usage(self, "the command has more than %d words",
		                 MAX_WORDS);
	if (o->program && o->compiler)
		return cmd_usage(self, "--mpicc compiles the program, --program "
		                       "names it; one is enough");
	return CMD_OK;
}

int cmd_group_of(const struct cpl_network *net, int node)
{
	const struct cpl_level *level = &net->level[0];

	if (!net->n_levels || (!level->unit_of && level->routers == 1))
		return 0;
	return cpl_level_unit(level, cpl_network_router(net, node));
}

static int between(void *arg, const char *a, const char *b,
                   struct cpl_error *err)
{
	const struct cpl_network *net = arg;
	const char *host[] = {a, b};
	int node[2];

	for (int i = 0; i < 2; i++) {
		node[i] = cpl_network_node(net, host[i]);
		if (node[i] < 0)
			return cpl_fail(err, "host %.63s is not in network %.60s",
			                host[i], net->name);
	}
	if (cpl_network_router(net, node[0]) == cpl_network_router(net, node[1]))
		return CPL_BY_NODE;
	return cmd_group_of(net, node[0]) == cmd_group_of(net, node[1])
	               ? CPL_BY_ROUTER
	               : CPL_BY_GROUP;
}

/* Wait for a process to end well. 0, or -1 with err. */
static int wait_for(pid_t pid, const char *program, struct cpl_error *err)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		return cpl_fail(err, "lost %s: %s", program, strerror(errno));
	if (WIFSIGNALED(status))
		return cpl_fail(err, "%s ended by signal %d", program,
		                WTERMSIG(status));
	if (WEXITSTATUS(status))
		return cpl_fail(err, "%s ended with exit code %d", program,
		                WEXITSTATUS(status));
	return 0;
}

/* Start a command whose stdout goes to a descriptor. 0, or -1 with err. */
static int start(char **command, int to, pid_t *pid, struct cpl_error *err)
{
	posix_spawn_file_actions_t actions;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to, 1);
	fflush(stdout);
	rc = posix_spawnp(pid, command[0], &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc ? cpl_fail(err, "cannot run %s: %s", command[0],
	                     strerror(rc))
	          : 0;
}

static int compile(const struct options *o, char *program,
                   struct cpl_error *err)
{
	const char *source = o->source ? o->source : CPL_PKGDATADIR "/transfer.c";
	char path[PATH_MAX];
	char *command[] = {(char *)(o->compiler ? o->compiler : "mpicc"),
	                   (char *)"-O2",
	                   (char *)"-o",
	                   program,
	                   path,
	                   NULL};
	pid_t pid;

	/* Compilers take no "--". */
	if (snprintf(path, sizeof(path), "%s%s", *source == '-' ? "./" : "",
	             source) >= (int)sizeof(path))
		return cpl_fail(err, "--source: the path is too long");
	if (access(source, R_OK))
		return cpl_fail(err, "%s: %s; --source names another place",
		                source, strerror(errno));
	if (start(command, 2, &pid, err))
		return -1;
	return wait_for(pid, command[0], err);
}

/* Everything that a program prints, to free(); NULL with err. */
static char *read_all(int fd, const char *program, size_t *length,
                      struct cpl_error *err)
{
	size_t room = 65536;
	char *text = malloc(room);

	*length = 0;
	while (text) {
		ssize_t got = read(fd, text + *length, room - *length);
		char *more;

		if (!got)
			return text;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || *length + (size_t)got > MAX_OUTPUT) {
			cpl_fail(err, "%s: %s", program,
			         got < 0 ? strerror(errno)
			                 : "prints more than 256 MB");
			free(text);
			return NULL;
		}
		*length += (size_t)got;
		if (*length < room)
			continue;
		room *= 2;
		more = realloc(text, room);
		if (!more)
			free(text);
		text = more;
	}
	cpl_fail_memory(err);
	return NULL;
}

/* What the program printed, to free(); NULL with err. */
static char *run_program(const struct options *o, char *program, size_t *length,
                         struct cpl_error *err)
{
	char number[3][32], **command;
	char *text = NULL;
	int fd[2], n = 0;
	pid_t pid;

	while (o->command[n])
		n++;
	command = calloc((size_t)n + 5, sizeof(*command));
	if (!command || pipe2(fd, O_CLOEXEC)) {
		free(command);
		cpl_fail(err, "%s", strerror(errno));
		return NULL;
	}
	snprintf(number[0], sizeof(number[0]), "%lld", (long long)o->most_bytes);
	snprintf(number[1], sizeof(number[1]), "%.9g", o->seconds);
	snprintf(number[2], sizeof(number[2]), "%lld", (long long)o->hosts);
	memcpy(command, o->command, (size_t)n * sizeof(*command));
	command[n] = program;
	for (int i = 0; i < 3; i++)
		command[n + 1 + i] = number[i];
	if (start(command, fd[1], &pid, err)) {
		close(fd[1]);
	} else {
		close(fd[1]);
		text = read_all(fd[0], command[0], length, err);
		close(fd[0]);
		fd[0] = -1;
		/* The reason that nothing was read is the one that counts. */
		if (wait_for(pid, command[0], text ? err : NULL)) {
			free(text);
			text = NULL;
		}
	}
	if (fd[0] >= 0)
		close(fd[0]);
	free(command);
	return text;
}

/* The program is made next to the output, where all nodes find it, and in a
 * directory of its own, since otherwise what others put there under that name
 * would be run. */
static char *measure(const struct options *o, size_t *length,
                     struct cpl_error *err)
{
	char copy[PATH_MAX], dir[PATH_MAX + 64], program[PATH_MAX + 80];
	char *text = NULL;

	if (o->program)
		return run_program(o, (char *)o->program, length, err);
	snprintf(copy, sizeof(copy), "%s", o->output);
	snprintf(dir, sizeof(dir), "%.*s/commplace-transfer-XXXXXX", PATH_MAX,
	         dirname(copy));
	if (!mkdtemp(dir))
		return cpl_fail_null(err, "%s: %s", dir, strerror(errno));
	snprintf(program, sizeof(program), "%s/transfer", dir);
	if (!compile(o, program, err))
		text = run_program(o, program, length, err);
	unlink(program);
	rmdir(dir);
	return text;
}

static int print(const struct cmd *self, const struct options *o,
                 const json_t *machine,
                 const struct cpl_measured_level *level)
{
	struct cmd_table *t;

	if (o->json)
		return cmd_print_json(self, json_deep_copy(machine));
	t = cmd_table_new("lrrrrrrrr");
	cmd_table_row(t, "BETWEEN|PAIRS|LATENCY us|GB/s|SMALLEST us|SEND us|"
	                 "RECEIVE us|GAP us|FIT WITHIN");
	for (int l = 0; l < CPL_MACHINE_LEVELS; l++) {
		const struct cpl_measured_level *m = &level[l];
		char rate[32] = "-", costs[3][32] = {"-", "-", "-"};

		if (!m->pairs)
			continue;
		if (m->per_byte > 0)
			snprintf(rate, sizeof(rate), "%.3g",
			         1e-9 / m->per_byte);
		for (int i = 0; i < 3 && m->has_costs; i++)
			snprintf(costs[i], sizeof(costs[i]), "%.3g",
			         1e6 * (const double[]){m->costs.send,
			                                m->costs.receive,
			                                m->costs.gap}[i]);
		cmd_table_row(t, "%s|%d|%.3g|%s|%.3g|%s|%s|%s|%.0f %%",
		              (const char *const[]){"cores of a socket",
		                                    "sockets of a node",
		                                    "nodes of a router",
		                                    "routers of a group",
		                                    "groups"}[l],
		              m->pairs, m->latency * 1e6, rate,
		              m->seconds[0] * 1e6, costs[0], costs[1],
		              costs[2], 100 * m->error);
	}
	return cmd_table_print(t);
}

static int run_characterize(const struct cmd *self, int argc, char **argv)
{
	struct cpl_measured_level level[CPL_MACHINE_LEVELS];
	struct options o = {
	        .most_bytes = 4 << 20, .hosts = 64, .seconds = 0.02};
	struct cpl_error err = {""};
	struct cpl_network *net = NULL;
	json_t *machine = NULL;
	char *text = NULL;
	size_t length = 0;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (o.network) {
		net = cpl_network_load(o.network, &err);
		if (!net)
			return cmd_fail(self, &err);
	}
	text = o.from ? cpl_file_read(o.from, MAX_OUTPUT, &length, &err)
	              : measure(&o, &length, &err);
	if (text)
		machine = cpl_machine_measure(
		        text, length, o.from ? o.from : o.command[0], o.name,
		        net ? between : NULL, net, level, &err);
	if (machine && !cpl_json_write_atomic(machine, o.output, 0644, &err))
		rc = print(self, &o, machine, level);
	else
		rc = cmd_fail(self, &err);
	json_decref(machine);
	free(text);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_characterize = {"characterize", run_characterize};
