/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "slurm_shell.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/printable.h"

#define IN_PATH "PATH=\"$PATH:" CPL_SLURM_BINDIR "\"; exec 2>&1; "

static char *read_pipe(FILE *pipe, size_t *length)
{
	char *text = NULL, part[65536];
	FILE *out = open_memstream(&text, length);
	bool failed = !out;
	size_t n;

	while (out && (n = fread(part, 1, sizeof(part), pipe)) > 0)
		fwrite(part, 1, n, out);
	if (out) {
		failed = ferror(out);
		failed = fclose(out) || failed;
	}
	if (!failed)
		return text;
	free(text);
	return NULL;
}

char *slurm_shell(const char *command, size_t *length, int *status,
                  struct cpl_error *err)
{
	char *line, *text = NULL;
	FILE *pipe;

	if (asprintf(&line, IN_PATH "%s", command) < 0)
		return cpl_fail_null_memory(err);
	pipe = popen(line, "r");
	free(line);
	if (!pipe)
		return cpl_fail_null(err, "'%s' cannot be run", command);
	text = read_pipe(pipe, length);
	*status = pclose(pipe);
	if (!text)
		cpl_fail_memory(err);
	return text;
}

const char *slurm_shell_line(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	cpl_printable(text);
	return *text ? text : "it prints nothing";
}

char *slurm_shell_ok(const char *command, struct cpl_error *err)
{
	size_t length;
	int status;
	char *text = slurm_shell(command, &length, &status, err);

	if (!text || !status)
		return text;
	cpl_fail(err, "%s: %.200s", command, slurm_shell_line(text));
	free(text);
	return NULL;
}

int slurm_shell_mark(char mark[SLURM_SHELL_MARK], struct cpl_error *err)
{
	uint64_t part[2];

	if (getrandom(part, sizeof(part), 0) != sizeof(part))
		return cpl_fail(err, "no random numbers are to be had");
	snprintf(mark, SLURM_SHELL_MARK, "=%016" PRIx64 "%016" PRIx64 "=",
	         part[0], part[1]);
	return 0;
}
