/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "unseen.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linking.h"
#include "pmpi.h"

/* A file without a slash is one of PATH, too. */
static bool has_mpi(const char *word)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (*word == '-')
		return false;
	if (cpl_file_has_mpi(word, false))
		return true;
	while (path && *path && !strchr(word, '/')) {
		size_t n = strcspn(path, ":");

		if (snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, word) <
		            (int)sizeof(file) &&
		    cpl_file_has_mpi(file, false))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* mpirun, mpiexec.hydra, orterun, prun, aprun, jsrun and the like */
static bool is_launcher(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *base = slash ? slash + 1 : program;
	size_t n = strlen(base);

	return !strncmp(base, "mpirun", 6) || !strncmp(base, "mpiexec", 7) ||
	       (n > 3 && !strcmp(base + n - 3, "run") && strcmp(base, "srun") != 0);
}

bool rec_first_rank(bool unknown)
{
	static const char *const variable[] = {"OMPI_COMM_WORLD_RANK",
	                                       "PMIX_RANK", "PMI_RANK",
	                                       "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(variable) / sizeof(*variable); i++) {
		const char *value = getenv(variable[i]);

		if (value)
			return !strcmp(value, "0");
	}
	return unknown;
}

static void name_it(const char *program)
{
	fprintf(stderr, "commplace-record: %s " CPL_MPI_INSIDE "\n", program);
}

void rec_unseen_look(void)
{
	static char line[65536];
	FILE *f;
	size_t n;

	f = fopen("/proc/self/cmdline", "re");
	if (!f)
		return;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	if (is_launcher(line)) {
		for (char *word = line + strlen(line) + 1; word < line + n;
		     word += strlen(word) + 1)
			if (has_mpi(word))
				name_it(word);
	} else if (rec_first_rank(false) && !rec_symbol("PMPI_Init") &&
	           cpl_file_has_mpi("/proc/self/exe", true)) {
		name_it(line);
	}
}
