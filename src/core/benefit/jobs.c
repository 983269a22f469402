/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit/jobs.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/printable.h"

#define MAX_BYTES (UINT64_C(1) << 30)

static const char *const arms[CPL_ARMS] = {"stock", "commplace"};
static const char *const measures[CPL_MEASURES] = {"seconds", "energy",
                                                   "merit"};

const char *cpl_arm_name(enum cpl_arm arm)
{
	return arms[arm];
}

int cpl_arm_find(const char *name)
{
	for (int i = 0; i < CPL_ARMS; i++)
		if (!strcmp(name, arms[i]))
			return i;
	return -1;
}

const char *cpl_measure_name(enum cpl_measure measure)
{
	return measures[measure];
}

enum job_column {
	PROFILE,
	RANKS,
	NODES,
	ARM,
	SECONDS,
	NEEDED, /* the columns before */
	ENERGY = NEEDED,
	MERIT,
	PARTITION,
	PREDICTED,
	BESIDE,
	TIME,
	COLUMNS,
	OTHER = COLUMNS
};

#define MOST_COLUMNS 256

static const char *const columns[COLUMNS] = {
        [PROFILE] = "profile",     [RANKS] = "ranks",
        [NODES] = "nodes",         [ARM] = "arm",
        [SECONDS] = "seconds",     [ENERGY] = "energy",
        [MERIT] = "merit",         [PARTITION] = "partition",
        [PREDICTED] = "predicted", [BESIDE] = "beside",
        [TIME] = "time",
};

struct job_table {
	struct cpl_trial_jobs *jobs;
	const char *name;
	int line;
	int n;                      /* columns of the head; 0: not read */
	enum job_column column[MOST_COLUMNS]; /* [n] */
	struct cpl_error *err;
};

static int fail(const struct job_table *t, const char *what, const char *text,
                const char *must)
{
	char shown[64];

	snprintf(shown, sizeof(shown), "%s", text);
	cpl_printable(shown);
	return cpl_fail(t->err, "%s:%d: %s is '%s'; %s", t->name, t->line, what,
	                shown, must);
}

/* The next field of a line at *at; NULL behind the last. */
static char *next_field(char **at)
{
	char *field = *at, *comma = field ? strchr(field, ',') : NULL;

	if (comma)
		*comma++ = '\0';
	*at = comma;
	return field;
}

static int find_column(const char *name)
{
	for (int i = 0; i < COLUMNS; i++)
		if (!strcmp(name, columns[i]))
			return i;
	return -1;
}

static int take_head(struct job_table *t, char *line)
{
	bool there[COLUMNS] = {false};

	for (char *field; (field = next_field(&line));) {
		int c = find_column(field);

		if (t->n == MOST_COLUMNS)
			return cpl_fail(t->err, "%s:%d: more than %d columns",
			                t->name, t->line, MOST_COLUMNS);
		if (c < 0 && t->jobs->others) {
			t->column[t->n++] = OTHER;
			continue;
		}
		if (c < 0)
			return fail(t, "a column", field,
			            "columns are profile, ranks, nodes, arm, "
			            "seconds, energy, merit, partition, "
			            "predicted, beside and time");
		if (there[c])
			return fail(t, "a second column", field,
			            "each stands there once");
		there[c] = true;
		t->column[t->n++] = (enum job_column)c;
	}
	for (int c = 0; c < NEEDED; c++)
		if (!there[c])
			return cpl_fail(t->err,
			                "%s:%d: no column %s; the first line "
			                "is to have profile,ranks,nodes,arm,"
			                "seconds",
			                t->name, t->line, columns[c]);
	return 0;
}

/* A finite number. False: it is none. */
static bool number(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out);
}

static int take_count(const struct job_table *t, enum job_column c,
                      const char *text, int *out)
{
	double value;

	if (!number(text, &value) || value < 1 || value > INT32_MAX ||
	    value != floor(value))
		return fail(t, columns[c], text,
		            "it must be a whole number from 1 to 2147483647");
	*out = (int)value;
	return 0;
}

static int take_value(const struct job_table *t, enum job_column c,
                      const char *text, double *out)
{
	if (c >= NEEDED && !*text)
		return 0;
	if (!number(text, out) || *out < 1 / CPL_MEASURE_MOST ||
	    *out > CPL_MEASURE_MOST)
		return fail(t, columns[c], text,
		            "it must be a number above 0 and at most 1e30");
	return 0;
}

static int take_field(const struct job_table *t, enum job_column c,
                      const char *text, struct cpl_trial_job *job)
{
	double value;
	int arm;

	switch (c) {
	case OTHER:
		return 0;
	case PROFILE:
		if (!*text || !cpl_is_utf8(text))
			return fail(t, columns[c], text,
			            "it must be a name in UTF-8");
		job->profile = text;
		return 0;
	case PARTITION:
		if (!cpl_is_utf8(text))
			return fail(t, columns[c], text,
			            "it must be in UTF-8");
		job->partition = text;
		return 0;
	case RANKS:
		return take_count(t, c, text, &job->ranks);
	case NODES:
		return take_count(t, c, text, &job->nodes);
	case ARM:
		arm = cpl_arm_find(text);
		if (arm < 0)
			return fail(t, columns[c], text,
			            "it must be stock or commplace");
		job->arm = (enum cpl_arm)arm;
		return 0;
	case SECONDS:
		return take_value(t, c, text, &job->value[CPL_MEASURE_SECONDS]);
	case ENERGY:
		return take_value(t, c, text, &job->value[CPL_MEASURE_ENERGY]);
	case MERIT:
		return take_value(t, c, text, &job->value[CPL_MEASURE_MERIT]);
	case PREDICTED:
		if (!*text)
			return 0;
		if (!number(text, &value) || value >= 1 || value < -1e6)
			return fail(t, columns[c], text,
			            "it must be a gain below 1, such as 0.05");
		job->predicted = value;
		return 0;
	case BESIDE:
		if (!*text)
			return 0;
		if (!number(text, &value) || value < 0 || value > 1)
			return fail(t, columns[c], text,
			            "it must lie in 0 to 1");
		job->beside = value;
		return 0;
	default:
		if (!*text)
			return 0;
		if (!number(text, &value) || fabs(value) > 1e15)
			return fail(t, columns[c], text,
			            "it must be seconds since 1970");
		job->time = (int64_t)value;
		return 0;
	}
}

/* A job without copies of its texts. */
static int push(struct cpl_trial_jobs *jobs, const struct cpl_trial_job *job,
                struct cpl_error *err)
{
	if (cpl_array_grow(&jobs->job, jobs->n, sizeof(*job), err))
		return -1;
	jobs->job[jobs->n++] = *job;
	return 0;
}

static int take_row(struct job_table *t, char *line)
{
	struct cpl_trial_job job = {.partition = "",
	                            .predicted = NAN,
	                            .beside = NAN,
	                            .time = t->jobs->n,
	                            .id = t->jobs->n};
	int n = 0;

	for (char *field; (field = next_field(&line)); n++)
		if (n < t->n && take_field(t, t->column[n], field, &job))
			return -1;
	if (n != t->n)
		return cpl_fail(t->err, "%s:%d: %d fields, the head has %d",
		                t->name, t->line, n, t->n);
	return push(t->jobs, &job, t->err);
}

static int take_lines(struct job_table *t, char *text, size_t length)
{
	char *line = text, *end = text + length;

	if (memchr(text, '\0', length))
		return cpl_fail(t->err, "%s: it is no text", t->name);
	while (line < end) {
		char *next = strchr(line, '\n');

		next = next ? next : end;
		*next = '\0';
		t->line++;
		if (next > line && next[-1] == '\r')
			next[-1] = '\0';
		if (*line && (t->n ? take_row(t, line) : take_head(t, line)))
			return -1;
		line = next + 1;
	}
	if (!t->jobs->n)
		return cpl_fail(t->err, "%s: no job below a first line such as "
		                        "profile,ranks,nodes,arm,seconds",
		                t->name);
	return 0;
}

/* Keep a text until the list is freed; it is freed if that fails. */
static int keep(struct cpl_trial_jobs *jobs, char *text, struct cpl_error *err)
{
	if (!text)
		return cpl_fail_memory(err);
	if (cpl_array_grow(&jobs->text, jobs->n_texts, sizeof(char *), err)) {
		free(text);
		return -1;
	}
	jobs->text[jobs->n_texts++] = text;
	return 0;
}

int cpl_trial_jobs_parse(struct cpl_trial_jobs *jobs, const char *text,
                         size_t length, const char *name, struct cpl_error *err)
{
	struct job_table t = {.jobs = jobs, .name = name, .err = err};
	char *copy = malloc(length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return keep(jobs, copy, err) ? -1 : take_lines(&t, copy, length);
}

int cpl_trial_jobs_load(struct cpl_trial_jobs *jobs, const char *path,
                        struct cpl_error *err)
{
	struct job_table t = {.jobs = jobs, .name = path, .err = err};
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);

	if (!text || keep(jobs, text, err))
		return -1;
	return take_lines(&t, text, length);
}

int cpl_trial_jobs_add(struct cpl_trial_jobs *jobs,
                       const struct cpl_trial_job *job, struct cpl_error *err)
{
	struct cpl_trial_job copy = *job;
	char *profile = strdup(job->profile), *partition;

	if (keep(jobs, profile, err))
		return -1;
	copy.profile = profile;
	partition = strdup(job->partition);
	if (keep(jobs, partition, err))
		return -1;
	copy.partition = partition;
	return push(jobs, &copy, err);
}

void cpl_trial_jobs_free(struct cpl_trial_jobs *jobs)
{
	for (int64_t i = 0; i < jobs->n_texts; i++)
		free(jobs->text[i]);
	cpl_free_all(jobs->text, jobs->job);
	*jobs = (struct cpl_trial_jobs){0};
}
