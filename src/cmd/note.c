/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace note`: what a job reports of itself, in its comment. */
#include "commplace-config.h"
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "benefit/notes.h"
#include "options.h"
#include "site/comment.h"
#include "slurm_shell.h"
#include "site_files.h"

/* Others of the same job may write at the same time. */
#define ATTEMPTS 5
#define LONGEST_ID 20

/* The job that the command runs in. */
struct note_job {
	const char *id;            /* its number */
	char shown[3 * LONGEST_ID]; /* what Slurm updates it by */
};

static bool is_number(const char *text)
{
	size_t n = text ? strlen(text) : 0;

	return n && n <= LONGEST_ID && strspn(text, "0123456789") == n;
}

/* A member of an array is updated by the array's id and its own index: the last one
 * has the array's id for its number, by which all of them are meant. */
static int find_job(struct note_job *job, struct cpl_error *err)
{
	const char *array = getenv("SLURM_ARRAY_JOB_ID");
	const char *member = getenv("SLURM_ARRAY_TASK_ID");

	job->id = getenv("SLURM_JOB_ID");
	if (!job->id)
		return cpl_fail(err, "SLURM_JOB_ID is not set: a job notes what "
		                     "it reports where it runs");
	if (!is_number(job->id))
		return cpl_fail(err, "SLURM_JOB_ID is '%.60s', which is no job",
		                job->id);
	if (is_number(array) && is_number(member))
		snprintf(job->shown, sizeof(job->shown), "%s_%s", array, member);
	else
		snprintf(job->shown, sizeof(job->shown), "%s", job->id);
	return 0;
}

/* The job's comment, to free(); NULL with err. Comments may have any text, lines
 * too, so it stands between marks that nobody can know. Of an array, squeue shows
 * all members. */
static char *read_comment(const struct note_job *job, struct cpl_error *err)
{
	char mark[SLURM_SHELL_MARK], command[160], head[64], *text, *at, *end;

	if (slurm_shell_mark(mark, err))
		return NULL;
	snprintf(head, sizeof(head), "%s%s ", mark, job->id);
	snprintf(command, sizeof(command), "squeue -h -j %s -o '%s%%A %%k%s'",
	         job->id, mark, mark);
	text = slurm_shell_ok(command, err);
	at = text ? strstr(text, head) : NULL;
	at = at ? at + strlen(head) : NULL;
	end = at ? strstr(at, mark) : NULL;
	if (text && !end)
		cpl_fail(err, "squeue does not show job %s", job->shown);
	if (end) {
		*end = '\0';
		if (!strcmp(at, "(null)"))
			*at = '\0';
		memmove(text, at, strlen(at) + 1);
		return text;
	}
	free(text);
	return NULL;
}

static int write_comment(const struct note_job *job, const char *comment,
                         struct cpl_error *err)
{
	char *quoted = cmd_shell_quote(comment), *command = NULL, *text = NULL;
	size_t length;
	int status, rc = -1;

	if (!quoted || asprintf(&command, "scontrol update jobid=%s comment=%s",
	                        job->shown, quoted) < 0) {
		command = NULL;
		cpl_fail_memory(err);
		goto out;
	}
	text = slurm_shell(command, &length, &status, err);
	if (text && status)
		cpl_fail(err, "the comment of job %s cannot be changed: %.200s",
		         job->shown, slurm_shell_line(text));
	else if (text)
		rc = 0;
out:
	cpl_free_all(text, command, quoted);
	return rc;
}

/* Put one note into a comment, which is freed; NULL with err. */
static char *add_note(char *comment, const char *key, const char *number,
                      struct cpl_error *err)
{
	char *ours = cpl_notes_with(comment, key, number);
	bool fits = ours && strlen(ours) <= CPL_COMMENT_MAX;
	char *both = fits ? cpl_comment_with(comment, ours) : NULL;

	if (ours && !fits)
		cpl_fail(err, "the job's notes would be longer than %d bytes",
		         CPL_COMMENT_MAX);
	else if (!both)
		cpl_fail_memory(err);
	cpl_free_all(ours, comment);
	return both;
}

struct note {
	char key[CPL_NOTE_KEY_MAX + 1];
	const char *number;
	double value;
};

static int read_note(struct note *note, const char *word, struct cpl_error *err)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : 0;

	if (!equals)
		return cpl_fail(err, "'%.60s' is not KEY=NUMBER", word);
	if (cpl_note_check_key(word, n, err) ||
	    cpl_note_number(equals + 1, &note->value, err))
		return cpl_fail_prefix(err, "'%.60s': ", word);
	memcpy(note->key, word, n);
	note->key[n] = '\0';
	note->number = equals + 1;
	return 0;
}

static int read_all(struct note *note, int n, char **word, struct cpl_error *err)
{
	for (int i = 0; i < n; i++) {
		if (read_note(&note[i], word[i], err))
			return -1;
		for (int k = 0; k < i; k++)
			if (!strcmp(note[k].key, note[i].key))
				return cpl_fail(err, "%s comes twice",
				                note[i].key);
	}
	return 0;
}

static bool has_notes(const char *comment, const struct note *note, int n)
{
	for (int i = 0; i < n; i++) {
		double value = cpl_note_value(comment, note[i].key);

		if (value < note[i].value || value > note[i].value)
			return false;
	}
	return true;
}

/* Write them until they stand there: somebody may have read the comment before and
 * written after us. */
static int write_notes(const struct note_job *job, const struct note *note, int n,
                       struct cpl_error *err)
{
	char *comment = read_comment(job, err);

	for (int i = 0; i < ATTEMPTS && comment; i++) {
		int rc;

		for (int k = 0; k < n && comment; k++)
			comment = add_note(comment, note[k].key, note[k].number,
			                   err);
		rc = comment ? write_comment(job, comment, err) : -1;
		free(comment);
		comment = rc ? NULL : read_comment(job, err);
		if (!comment)
			return -1;
		if (has_notes(comment, note, n)) {
			free(comment);
			return 0;
		}
		usleep(20000U << i);
	}
	if (comment)
		cpl_fail(err, "others write the comment of job %s all the time",
		         job->shown);
	free(comment);
	return -1;
}

/* Of tasks that all run it, the first one speaks. */
static bool is_silent_task(void)
{
	const char *task = getenv("SLURM_PROCID");

	return task && strcmp(task, "0") != 0;
}

static int run_note(const struct cmd *self, int argc, char **argv)
{
	const struct cmd_option table[] = {{0}};
	struct cpl_error err = {""};
	struct note_job job;
	struct note *note;
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS);
	int n = argc - optind, failed = 0;

	if (rc)
		return rc;
	if (n < 1)
		return cmd_usage(self, "KEY=NUMBER is wanted");
	note = calloc((size_t)n, sizeof(*note));
	if (!note)
		failed = cpl_fail_memory(&err);
	if (!failed)
		failed = read_all(note, n, argv + optind, &err);
	if (!failed)
		failed = find_job(&job, &err);
	if (!failed && !is_silent_task())
		failed = write_notes(&job, note, n, &err);
	free(note);
	return failed ? cmd_fail(self, &err) : CMD_OK;
}

const struct cmd cmd_note = {"note", run_note};
