/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/log.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/gunzip.h"
#include "base/sort.h"

#define SWF_FIELDS 18
#define MAX_COLUMNS 128

/* This is a text that is cut into lines, and these into fields, in place. */
struct log_reader {
	const char *name;
	char *next, *end;
	int line;
	struct cpl_log *log;
	struct cpl_error *err;
};

static int fail_at(const struct log_reader *in)
{
	return cpl_fail_prefix(in->err, "%s:%d: ", in->name, in->line);
}

/* This returns the next line, ended by a NUL, or NULL if there is none. */
static char *next_line(struct log_reader *in)
{
	char *line = in->next, *newline;

	if (line >= in->end)
		return NULL;
	newline = memchr(line, '\n', (size_t)(in->end - line));
	in->next = newline ? newline + 1 : in->end;
	*(newline ? newline : in->end) = '\0';
	in->line++;
	line[strcspn(line, "\r")] = '\0';
	return line;
}

/* This cuts a line into fields in place, which are separated by runs of blanks or
 * by one `bar` each. It returns how many there are, of which at most `most` are in
 * field[]. */
static int split(char *line, char bar, char **field, int most)
{
	int n = 0;

	while (bar || *(line += strspn(line, " \t"))) {
		size_t length = strcspn(line, bar ? (char[]){bar, 0} : " \t");
		bool last = !line[length];

		if (n < most)
			field[n] = line;
		n++;
		line[length] = '\0';
		line += length + !last;
		if (last)
			break;
	}
	return n;
}

/* This reads a whole decimal number, but no hexadecimal, infinity or NaN. */
static int number(const char *what, const char *text, double *out,
                  struct cpl_error *err)
{
	char *end = NULL;

	if (text[strspn(text, "+-.0123456789eE")] == '\0')
		*out = strtod(text, &end);
	if (!end || end == text || *end || !isfinite(*out))
		return cpl_fail(err, "%s: '%.40s' is not a number", what, text);
	if (fabs(*out) > CPL_LOG_MAX_SECONDS)
		return cpl_fail(err, "%s: %.40s is too large", what, text);
	return 0;
}

/* This reads [D-]HH:MM:SS, or MM:SS perhaps with a fraction, or returns false if
 * the text is different. */
static bool clock_time(const char *text, double *out)
{
	double part, sum = 0;
	int days = 0, n = 0;

	if (sscanf(text, "%9d-%n", &days, &n) == 1 && n > 0 && days >= 0)
		text += n;
	else
		days = 0;
	for (int parts = 0; parts < 3; parts++) {
		size_t digits = strspn(text, "0123456789");

		if (!digits || digits > 9)
			return false;
		part = strtod(text, NULL);
		sum = 60 * sum + floor(part);
		text += digits;
		if (*text == '.')
			text += 1 + strspn(text + 1, "0123456789");
		if (!*text) {
			*out = sum + 86400.0 * days;
			return parts > 0;
		}
		if (*text++ != ':')
			return false;
	}
	return false;
}

static int64_t days_from_civil(int64_t y, int m, int d)
{
	int64_t era, of_era;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	of_era = y - 400 * era;
	return 146097 * era + 365 * of_era + of_era / 4 - of_era / 100 +
	       (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1 - 719468;
}

/* The rest of a number behind its whole part may be nothing, or "." and digits. */
static bool is_fraction(const char *text)
{
	return !*text || (text[0] == '.' && text[1] &&
	                  !text[1 + strspn(text + 1, "0123456789")]);
}

/* This reads seconds, or a date and time, perhaps with a fraction. */
static int moment(const char *text, double *out, struct cpl_error *err)
{
	int y, m, d, hour, minute, second, n = 0;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &y, &m, &d, &hour,
	           &minute, &second, &n) == 6 &&
	    is_fraction(text + n) && m >= 1 && m <= 12 && d >= 1 && d <= 31 &&
	    hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 &&
	    second >= 0 && second <= 60) {
		*out = 86400.0 * (double)days_from_civil(y, m, d) +
		       3600.0 * hour + 60.0 * minute + second +
		       (text[n] ? strtod(text + n, NULL) : 0);
		return 0;
	}
	return number("Submit", text, out, err);
}

/* This puts a job that ran into the log. */
static int add_job(struct log_reader *in, struct cpl_log_job job)
{
	struct cpl_log *log = in->log;

	if (!(job.run > 0) || !(job.nodes > 0)) {
		log->left_out++;
		return 0;
	}
	if (!(job.limit >= job.run))
		job.limit = job.run;
	job.id = log->n_jobs + 1;
	if (cpl_array_grow(&log->job, log->n_jobs, sizeof(job), in->err))
		return -1;
	log->job[log->n_jobs++] = job;
	return 0;
}

static int whole_nodes(double n, int *out, struct cpl_error *err)
{
	if (n > CPL_LOG_MAX_NODES)
		return cpl_fail(err, "%.0f nodes are more than %d", n,
		                CPL_LOG_MAX_NODES);
	*out = n > 0 ? (int)ceil(n) : 0;
	return 0;
}

static int swf_job(struct log_reader *in, char *line, int procs_per_node)
{
	enum { ID, SUBMIT, RUN = 3, USED, ASKED = 7, LIMIT, USER = 11, GROUP,
	       PROGRAM, QUEUE };
	char *field[SWF_FIELDS];
	double value[SWF_FIELDS];
	int n = split(line, '\0', field, SWF_FIELDS);
	struct cpl_log_job job = {.share = -1, .qos = ""};

	if (n != SWF_FIELDS)
		return cpl_fail(in->err,
		                "%d fields; a job of the Standard Workload "
		                "Format has %d", n, SWF_FIELDS);
	for (int i = 0; i < SWF_FIELDS; i++) {
		char what[32];

		snprintf(what, sizeof(what), "field %d", i + 1);
		if (number(what, field[i], &value[i], in->err))
			return -1;
	}
	job.submit = value[SUBMIT];
	job.run = value[RUN];
	job.limit = value[LIMIT];
	job.label = field[ID];
	job.user = field[USER];
	job.account = field[GROUP];
	job.name = field[PROGRAM];
	job.partition = field[QUEUE];
	if (whole_nodes((value[USED] > 0 ? value[USED] : value[ASKED]) /
	                        procs_per_node,
	                &job.nodes, in->err))
		return -1;
	return add_job(in, job);
}

static int read_swf(struct log_reader *in, char *line, int procs_per_node)
{
	for (; line; line = next_line(in)) {
		line += strspn(line, " \t");
		if (*line && *line != ';' && swf_job(in, line, procs_per_node))
			return fail_at(in);
	}
	return 0;
}

enum column { JOB_ID, SUBMIT, ELAPSED, NODES, LIMIT, NAME, USER, ACCOUNT,
	      PARTITION, QOS, SHARE, SUBMIT_LINE, N_COLUMNS };

/* These are their names, and other columns for the same that may have another
 * unit. */
static const struct {
	const char *name, *other;
	double unit; /* in seconds, of other as a plain number */
	bool needed;
} column_of[N_COLUMNS] = {
	[JOB_ID] = {"JobID", "JobIDRaw", 0, true},
	[SUBMIT] = {"Submit", "Submit", 0, true},
	[ELAPSED] = {"Elapsed", "ElapsedRaw", 1, true},
	[NODES] = {"NNodes", "AllocNodes", 0, true},
	[LIMIT] = {"Timelimit", "TimelimitRaw", 60, false},
	[NAME] = {"JobName", "JobName", 0, false},
	[USER] = {"User", "User", 0, false},
	[ACCOUNT] = {"Account", "Account", 0, false},
	[PARTITION] = {"Partition", "Partition", 0, false},
	[QOS] = {"QOS", "QOS", 0, false},
	[SHARE] = {"Share", "Share", 0, false},
	[SUBMIT_LINE] = {"SubmitLine", "SubmitLine", 0, false},
};

/* It sets at[column] = field, or -1 where the log has none. */
static int read_header(const struct log_reader *in, char *line, int *at)
{
	char *field[MAX_COLUMNS];
	int n = split(line, '|', field, MAX_COLUMNS);

	if (n > MAX_COLUMNS)
		return cpl_fail(in->err, "more than %d columns", MAX_COLUMNS);
	for (int c = 0; c < N_COLUMNS; c++) {
		at[c] = -1;
		for (int i = n - 1; i >= 0; i--)
			if (!strcasecmp(field[i], column_of[c].name) ||
			    !strcasecmp(field[i], column_of[c].other))
				at[c] = i;
		if (at[c] < 0 && column_of[c].needed)
			return cpl_fail(in->err, "there is no column %s%s%s",
			                column_of[c].name,
			                column_of[c].other != column_of[c].name
			                        ? " or "
			                        : "",
			                column_of[c].other != column_of[c].name
			                        ? column_of[c].other
			                        : "");
	}
	return n;
}

/* This reads a time of the clock, or a number in the column's unit. */
static int duration(enum column c, const char *text, double *out,
                    struct cpl_error *err)
{
	if (clock_time(text, out))
		return 0;
	if (number(column_of[c].name, text, out, err))
		return -1;
	*out *= column_of[c].unit;
	return 0;
}

static int sacct_job(struct log_reader *in, char **field, const int *at)
{
	struct cpl_log_job job = {.share = -1};
	const char *text[N_COLUMNS];
	double nodes;

	for (int c = 0; c < N_COLUMNS; c++)
		text[c] = at[c] < 0 ? "" : field[at[c]];
	if (strchr(text[JOB_ID], '.')) /* a step */
		return 0;
	if (!strcasecmp(text[SUBMIT], "Unknown") || !*text[ELAPSED] ||
	    !*text[NODES]) {
		in->log->left_out++;
		return 0;
	}
	if (moment(text[SUBMIT], &job.submit, in->err) ||
	    duration(ELAPSED, text[ELAPSED], &job.run, in->err) ||
	    number("NNodes", text[NODES], &nodes, in->err) ||
	    whole_nodes(nodes, &job.nodes, in->err))
		return -1;
	if (*text[LIMIT] && strcasecmp(text[LIMIT], "UNLIMITED") &&
	    strcasecmp(text[LIMIT], "Partition_Limit") &&
	    duration(LIMIT, text[LIMIT], &job.limit, in->err))
		return -1;
	if (*text[SHARE]) {
		if (number("Share", text[SHARE], &job.share, in->err))
			return -1;
		if (job.share < 0 || job.share > 100)
			return cpl_fail(in->err, "Share: %s is outside 0 .. 100",
			                text[SHARE]);
		job.share /= 100;
	}
	cpl_asked_find(text[SUBMIT_LINE], &job.asked);
	job.label = text[JOB_ID];
	job.name = text[NAME];
	job.user = text[USER];
	job.account = text[ACCOUNT];
	job.partition = text[PARTITION];
	job.qos = text[QOS];
	return add_job(in, job);
}

static int read_sacct(struct log_reader *in, char *line)
{
	int at[N_COLUMNS], columns = read_header(in, line, at);

	if (columns < 0)
		return fail_at(in);
	while ((line = next_line(in))) {
		char *field[MAX_COLUMNS];
		int n;

		if (!*line)
			continue;
		n = split(line, '|', field, MAX_COLUMNS);
		/* A submit line may have bars of its own, if nothing is behind
		 * it. */
		if (n != columns &&
		    (n < columns || at[SUBMIT_LINE] != columns - 1)) {
			cpl_fail(in->err, "%d fields, but %d columns", n,
			         columns);
			return fail_at(in);
		}
		if (sacct_job(in, field, at))
			return fail_at(in);
	}
	return 0;
}

static CPL_SORT_BY(by_submit, struct cpl_log_job, CPL_UP(submit), CPL_UP(id))

/* Times count from the first submission. */
static void put_in_order(struct cpl_log *log)
{
	qsort(log->job, (size_t)log->n_jobs, sizeof(*log->job), by_submit);
	log->first = log->job[0].submit;
	for (int i = 0; i < log->n_jobs; i++) {
		log->job[i].submit -= log->first;
		log->job[i].id = i + 1;
	}
}

int cpl_log_parse(char *text, size_t length, const char *name,
                  int procs_per_node, struct cpl_log *out,
                  struct cpl_error *err)
{
	struct log_reader in = {.name = name,
	                        .next = text,
	                        .end = text + length,
	                        .log = out,
	                        .err = err};
	char *line;
	int rc;

	*out = (struct cpl_log){.text = text};
	if (memchr(text, '\0', length)) {
		rc = cpl_fail(err, "%s: has a byte 0; it is no text", name);
		goto out;
	}
	line = next_line(&in);
	rc = line && strchr(line, '|') && *line != ';'
	             ? read_sacct(&in, line)
	             : read_swf(&in, line, procs_per_node);
	if (!rc && !out->n_jobs)
		rc = cpl_fail(err, "%s: has no job that ran", name);
	if (!rc)
		put_in_order(out);
out:
	if (rc)
		cpl_log_free(out);
	return rc;
}

int cpl_log_load(const char *path, int procs_per_node, struct cpl_log *out,
                 struct cpl_error *err)
{
	size_t length;
	char *text =
	        cpl_file_read_gunzip(path, CPL_LOG_MAX_BYTES, &length, err);

	*out = (struct cpl_log){0};
	return text ? cpl_log_parse(text, length, path, procs_per_node, out,
	                            err)
	            : -1;
}

void cpl_log_free(struct cpl_log *log)
{
	cpl_free_all(log->job, log->text);
	*log = (struct cpl_log){0};
}
