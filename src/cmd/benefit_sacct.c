/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "benefit_sacct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sort.h"
#include "benefit/jobs.h"
#include "benefit/notes.h"
#include "slurm_shell.h"

#define MAX_BYTES (UINT64_C(1) << 30)

enum sacct_column { ID, STATE, ELAPSED, ENERGY, COMMENT, COLUMNS };

static const struct {
	const char *name;
	enum sacct_column column;
	bool raw; /* it wins over the other of that column */
} known[] = {
        {"JobIDRaw", ID, true},        {"JobID", ID, false},
        {"State", STATE, true},        {"ElapsedRaw", ELAPSED, true},
        {"Elapsed", ELAPSED, false},   {"ConsumedEnergyRaw", ENERGY, true},
        {"Comment", COMMENT, true},
};

struct sacct_head {
	const char *between;
	int n;           /* fields of a line */
	int at[COLUMNS]; /* field of a line, or -1 */
};

/* The next field of a line at *at; NULL behind the last. */
static char *next_field(const struct sacct_head *h, char **at)
{
	char *field = *at, *end = field ? strstr(field, h->between) : NULL;

	*at = end ? end + strlen(h->between) : NULL;
	if (end)
		*end = '\0';
	return field;
}

static int take_head(struct sacct_head *h, char *line, const char *name,
                     struct cpl_error *err)
{
	bool raw[COLUMNS] = {false};
	char *field;

	for (int c = 0; c < COLUMNS; c++)
		h->at[c] = -1;
	for (int i = 0; (field = next_field(h, &line)); i++, h->n++)
		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
			enum sacct_column c = known[k].column;

			if (strcasecmp(field, known[k].name) ||
			    (h->at[c] >= 0 && raw[c]))
				continue;
			h->at[c] = i;
			raw[c] = known[k].raw;
		}
	if (h->at[ID] >= 0 && h->at[STATE] >= 0 && h->at[ELAPSED] >= 0)
		return 0;
	return cpl_fail(err,
	                "%s:1: the columns JobIDRaw, State and ElapsedRaw of "
	                "sacct -P are needed",
	                name);
}

static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end != text && value > 0 && value <= CPL_MEASURE_MOST ? value
	                                                             : 0;
}

/* "3723", "1-02:03:04", "02:03:04", "03:04". */
static double elapsed(const char *text)
{
	unsigned long days = 0, part[3] = {0};
	char *end;
	int n = 0;

	if (!strpbrk(text, "-:"))
		return number(text);
	if (strchr(text, '-')) {
		days = strtoul(text, &end, 10);
		text = end + (*end == '-');
	}
	for (; n < 3; n++) {
		part[n] = strtoul(text, &end, 10);
		if (*end != ':')
			break;
		text = end + 1;
	}
	return n == 2   ? 86400.0 * (double)days + 3600.0 * (double)part[0] +
	                        60.0 * (double)part[1] + (double)part[2]
	       : n == 1 ? 60.0 * (double)part[0] + (double)part[1]
	                : 0;
}

static enum sacct_end end_of(const char *state)
{
	static const char *const runs[] = {"RUNNING", "PENDING", "SUSPENDED",
	                                   "COMPLETING", "RESIZING",
	                                   "REQUEUED"};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		if (!strncmp(state, runs[i], strlen(runs[i])))
			return SACCT_RUNS;
	return strcmp(state, "COMPLETED") ? SACCT_FAILED : SACCT_COMPLETED;
}

static double noted(const char *comment, const char *key)
{
	return key ? cpl_note_value(comment, key) : 0;
}

static int take_line(struct sacct *out, const struct sacct_head *h, char *line,
                     const struct sacct_keys *keys, struct cpl_error *err)
{
	const char *field[COLUMNS] = {"", "", "", "", ""};
	char *text;
	int n = 0;

	/* A comment may have in it what stands between columns: the last column has
	 * the rest of the line. */
	for (; (text = n < h->n - 1 ? next_field(h, &line) : line) && n < h->n;
	     n++)
		for (int c = 0; c < COLUMNS; c++)
			if (h->at[c] == n)
				field[c] = text;
	if (!*field[ID] || !*field[STATE] || strchr(field[ID], '.'))
		return 0;
	if (cpl_array_grow(&out->job, out->n, sizeof(*out->job), err))
		return -1;
	out->job[out->n++] = (struct sacct_job){
	        .id = field[ID],
	        .end = end_of(field[STATE]),
	        .seconds = elapsed(field[ELAPSED]),
	        .energy = number(field[ENERGY]),
	        .merit = noted(field[COMMENT], keys->merit),
	        .noted_seconds = noted(field[COMMENT], keys->seconds)};
	return 0;
}

/* By id; lines are in one text, in their order. */
static CPL_SORT_BY(by_id, struct sacct_job, CPL_TEXT(id), CPL_UP(id))

int sacct_parse(struct sacct *out, char *text, const char *name,
                const char *between, const struct sacct_keys *keys,
                struct cpl_error *err)
{
	struct sacct_head head = {.between = between};
	char *line;
	int64_t kept = 0;

	*out = (struct sacct){.text = text};
	line = strsep(&text, "\n");
	if (take_head(&head, line, name, err))
		return -1;
	while ((line = strsep(&text, "\n")))
		if (take_line(out, &head, line, keys, err))
			return -1;
	if (out->n)
		qsort(out->job, (size_t)out->n, sizeof(*out->job), by_id);
	for (int64_t i = 0; i < out->n; i++) {
		if (i + 1 < out->n &&
		    !strcmp(out->job[i].id, out->job[i + 1].id))
			continue;
		out->job[kept++] = out->job[i];
	}
	out->n = kept;
	return 0;
}

/* A number, as Slurms up to 22.05 have it, or {"set": true, "number": 17}. */
static long long number_in(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_object(value))
		value = json_object_get(value, "number");
	return (long long)json_integer_value(value);
}

/* A word, or the first of those in an array. */
static const char *word_in(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *text;

	if (json_is_array(value))
		value = json_array_get(value, 0);
	text = json_string_value(value);
	return text ? text : "";
}

static long long energy_in(const json_t *job)
{
	const json_t *list = json_object_get(json_object_get(job, "tres"),
	                                     "allocated");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (!strcmp(word_in(json_array_get(list, i), "type"), "energy"))
			return number_in(json_array_get(list, i), "count");
	return 0;
}

/* A job of slurmdbd's or of slurmctld's, which knows no elapsed time, as a line. */
static void write_job(const json_t *job, FILE *out)
{
	const json_t *times = json_object_get(job, "time");
	const json_t *comment = json_object_get(job, "comment");
	const char *text = comment && json_is_object(comment)
	                           ? word_in(comment, "job")
	                           : word_in(job, "comment");

	fprintf(out, "%lld|%s|%lld|%lld|", number_in(job, "job_id"),
	        times ? word_in(json_object_get(job, "state"), "current")
	              : word_in(job, "job_state"),
	        times ? number_in(times, "elapsed")
	              : number_in(job, "end_time") -
	                        number_in(job, "start_time"),
	        energy_in(job));
	for (; *text; text++)
		fputc(*text == '\n' ? ' ' : *text, out);
	fputc('\n', out);
}

/* Lines of sacct in place of JSON, which is freed. NULL with err. */
static char *from_json(char *text, size_t length, const char *name,
                       struct cpl_error *err)
{
	json_t *root = cpl_json_parse(text, length, name, err);
	const json_t *jobs = json_object_get(root, "jobs");
	char *lines = NULL;
	FILE *out = NULL;

	free(text);
	if (root && !json_is_array(jobs))
		cpl_fail(err, "%s: has no array \"jobs\"", name);
	else if (root && !(out = open_memstream(&lines, &length)))
		cpl_fail_memory(err);
	if (out) {
		fputs("JobIDRaw|State|ElapsedRaw|ConsumedEnergyRaw|Comment\n",
		      out);
		for (size_t i = 0; i < json_array_size(jobs); i++)
			write_job(json_array_get(jobs, i), out);
		if (ferror(out) | fclose(out)) {
			cpl_fail_memory(err);
			free(lines);
			lines = NULL;
		}
	}
	json_decref(root);
	return lines;
}

int sacct_load(struct sacct *out, const char *path,
               const struct sacct_keys *keys, struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);

	*out = (struct sacct){0};
	if (text && text[strspn(text, " \t\r\n")] == '{')
		text = from_json(text, length, path, err);
	return text ? sacct_parse(out, text, path, "|", keys, err) : -1;
}

int sacct_ask(struct sacct *out, int64_t since, const struct sacct_keys *keys,
              struct cpl_error *err)
{
	char between[SLURM_SHELL_MARK], command[240], day[32] = "1970-01-01";
	/* Times are local, and a job may have waited between decision and start. */
	time_t at = (time_t)since - 86400;
	struct tm tm;
	char *text;

	*out = (struct sacct){0};
	if (slurm_shell_mark(between, err))
		return -1;
	if (localtime_r(&at, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	snprintf(command, sizeof(command),
	         "sacct -a -X -P --delimiter=%s -S %s -o "
	         "JobIDRaw,State,ElapsedRaw,ConsumedEnergyRaw,Comment",
	         between, day);
	text = slurm_shell_ok(command, err);
	return text ? sacct_parse(out, text, "sacct", between, keys, err)
	            : -1;
}

void sacct_free(struct sacct *sacct)
{
	cpl_free_all(sacct->job, sacct->text);
	*sacct = (struct sacct){0};
}

static int by_name(const void *id, const void *job)
{
	return strcmp(id, ((const struct sacct_job *)job)->id);
}

const struct sacct_job *sacct_find(const struct sacct *sacct, const char *id)
{
	return sacct->n ? bsearch(id, sacct->job, (size_t)sacct->n,
	                          sizeof(*sacct->job), by_name)
	                : NULL;
}
