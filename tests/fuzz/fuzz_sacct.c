/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz-sources: src/cmd/benefit_sacct.c */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/cmd/benefit_sacct.h"
#include "benefit/notes.h"
#include "../../src/cmd/slurm_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

char *slurm_shell_ok(const char *command, struct cpl_error *err)
{
	(void)command;
	cpl_fail(err, "nothing is run here");
	return NULL;
}

int slurm_shell_mark(char mark[SLURM_SHELL_MARK], struct cpl_error *err)
{
	return cpl_fail(err, "no Slurm");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	const struct sacct_keys keys = {"merit", "t"};
	struct sacct sacct;
	char *text = malloc(size + 1), *with;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	with = cpl_notes_with(text, "t", "5");
	if (!with || !(cpl_note_value(with, "t") > 4))
		abort();
	free(with);
	if (sacct_parse(&sacct, text, "f", "|", &keys, &err) && !err.text[0])
		abort();
	for (int64_t i = 0; i < sacct.n; i++) {
		const struct sacct_job *job = &sacct.job[i];

		if (sacct_find(&sacct, job->id) != job ||
		    !isfinite(job->seconds) || job->seconds < 0 ||
		    !isfinite(job->energy) || job->energy < 0 ||
		    !isfinite(job->merit) || job->merit < 0 ||
		    !isfinite(job->noted_seconds) || job->noted_seconds < 0)
			abort();
	}
	sacct_free(&sacct);
	return 0;
}
