/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "program.h"
#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_command(struct rec_program *p)
{
	const char *given = getenv("COMMPLACE_RECORD_APPLICATION"), *base;
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n = f ? fread(p->command, 1, sizeof(p->command) - 1, f) : 0;

	if (f)
		fclose(f);
	while (n && !p->command[n - 1])
		n--;
	p->command[n] = '\0';
	base = strrchr(p->command, '/');
	base = base ? base + 1 : p->command;
	snprintf(p->application, sizeof(p->application), "%.128s",
	         given && *given ? given : base);
	for (size_t i = 0; i < n; i++)
		if (!p->command[i])
			p->command[i] = ' ';
}

void rec_program_describe(struct rec_program *p, const char *path)
{
	const char *given = getenv("COMMPLACE_RECORD_NAME");

	read_command(p);
	rec_profile_name(given && *given ? given : path, p->name,
	                 sizeof(p->name));
}

char *rec_path_absolute(const char *path)
{
	char *here = NULL, *out = NULL;

	if (*path == '/')
		return strdup(path);
	here = getcwd(NULL, 0);
	if (here && asprintf(&out, "%s/%s", here, path) < 0)
		out = NULL;
	free(here);
	return out;
}

void rec_folders_make(char *path)
{
	for (char *c = path + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(path, 0700);
		*c = '/';
	}
}
