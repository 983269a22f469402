/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"
#include "commplace-config.h"
#include "doctor.h"
#include "help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cmd *const table[] = {
	&cmd_bench,
	&cmd_benefit,
	&cmd_bind,
	&cmd_campaign,
	&cmd_characterize,
	&cmd_compare,
	&cmd_config,
	&cmd_doctor,
	&cmd_explain,
	&cmd_features,
	&cmd_interleave,
	&cmd_learn,
	&cmd_map,
	&cmd_network,
	&cmd_note,
	&cmd_place,
	&cmd_predict_time,
	&cmd_record,
	&cmd_replay,
	&cmd_segment,
	&cmd_signature,
	&cmd_simulate,
	&cmd_status,
	&cmd_traffic,
	NULL,
};

static void print_help(FILE *to)
{
	fprintf(to, "Usage: commplace SUBCOMMAND [OPTION]...\n\n"
		    "Place MPI jobs by how they communicate.\n\n");
	for (int i = 0; table[i]; i++)
		fprintf(to, "  %-12s %s\n", table[i]->name,
			cmd_help_find(table[i]->name)->summary);
	fprintf(to, "\nEach is described by `commplace SUBCOMMAND --help` and in "
		    "commplace(1).\n");
}

/* The command's exit code, or CMD_FAILED where its output could not be written,
 * as on a full disk. `name` is its own with a blank in front, or "". */
static int finish(const char *name, int rc)
{
	if (rc != CMD_OK && rc != CMD_HELPED)
		return rc;
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return CMD_OK;
	fprintf(stderr, "commplace%s: standard output: %s\n", name,
	        errno ? strerror(errno) : "cannot be written");
	return CMD_FAILED;
}

static int run_command(const struct cmd *cmd, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), " %s", cmd->name);
	return finish(name, cmd->run(cmd, argc, argv));
}

int main(int argc, char **argv)
{
	/* Newer releases of hwloc print what it cannot read; our own line says
	 * it with the file's name. */
	setenv("HWLOC_HIDE_ERRORS", "2", 0);
	if (argc < 2) {
		char next[CPL_ERROR_MAX];

		print_help(stderr);
		doctor_next(next, sizeof(next));
		fprintf(stderr, "Here: %s.\n", next);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help(stdout);
		return finish("", CMD_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("commplace %s\n", PACKAGE_VERSION);
		return finish("", CMD_OK);
	}
	for (int i = 0; table[i]; i++)
		if (!strcmp(argv[1], table[i]->name))
			return run_command(table[i], argc - 1, argv + 1);
	fprintf(stderr,
		"commplace: no subcommand '%s'; see `commplace --help`\n",
		argv[1]);
	return CMD_USAGE;
}
