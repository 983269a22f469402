/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which jobs without a signature would gain most from recording. */
#include "status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "site/record.h"

/* Lines of the text; all are in the JSON. */
#define MOST_LINES 20

/* The runs of one job name. */
struct unrecorded {
	char *name; /* "" where they have none */
	int64_t runs, measured;
	int most_nodes;
	double node_seconds;
	double volume_seconds; /* of them with a volume: node-seconds, */
	double bytes;          /* and what they sent */
	double size;           /* nodes times node-seconds */
	double worth;          /* in the end: bytes sent, times nodes */
};

struct list {
	struct unrecorded *job;
	int64_t n, skipped;
	int64_t now;
	bool failed; /* memory was out */
};

/* One more run, by that name. NULL: memory. */
static struct unrecorded *add_run(struct list *list, const char *name)
{
	char *copy = strdup(name);

	if (!copy ||
	    cpl_array_grow(&list->job, list->n, sizeof(*list->job), NULL)) {
		free(copy);
		list->failed = true;
		return NULL;
	}
	list->job[list->n] = (struct unrecorded){.name = copy, .runs = 1};
	return &list->job[list->n++];
}

static CPL_SORT_BY(by_name, struct unrecorded, CPL_TEXT(name))

/* Runs of one name become one. */
static void merge_runs(struct list *list)
{
	int64_t n = 0;

	if (list->n)
		qsort(list->job, (size_t)list->n, sizeof(*list->job), by_name);
	for (int64_t i = 0; i < list->n; i++) {
		struct unrecorded *job = &list->job[i];
		struct unrecorded *into = n ? &list->job[n - 1] : NULL;

		if (!into || strcmp(into->name, job->name)) {
			list->job[n++] = *job;
			continue;
		}
		into->runs += job->runs;
		into->measured += job->measured;
		if (job->most_nodes > into->most_nodes)
			into->most_nodes = job->most_nodes;
		into->node_seconds += job->node_seconds;
		into->volume_seconds += job->volume_seconds;
		into->bytes += job->bytes;
		into->size += job->size;
		free(job->name);
	}
	list->n = n;
}

/* Seconds that the job has run; 0: it is not known. */
static double seconds_of(const struct cpl_record *r, bool runs, int64_t now)
{
	int64_t to = runs ? now : r->ended;

	return to > r->time ? (double)(to - r->time) : 0;
}

static void count_run(struct list *list, const struct cpl_record *r, bool runs)
{
	double seconds = seconds_of(r, runs, list->now), node_seconds;
	double volume = r->measured_volume > 0 ? r->measured_volume : r->volume;
	struct unrecorded *job;

	/* A profile that did not fit is one that is missing. */
	if ((r->profile && !(r->volume > 0)) || r->n_hosts < 2 || !(seconds > 0))
		return;
	job = add_run(list, r->job_name ? r->job_name : "");
	if (!job)
		return;
	node_seconds = seconds * r->n_hosts;
	job->measured = r->measured_volume > 0;
	job->most_nodes = r->n_hosts;
	job->node_seconds = node_seconds;
	job->size = node_seconds * r->n_hosts;
	if (volume > 0) {
		job->volume_seconds = node_seconds;
		job->bytes = node_seconds * volume;
	}
}

static void take_running(void *arg, const struct cpl_record *record)
{
	count_run(arg, record, true);
}

static void take_ended(void *arg, const struct cpl_record *record)
{
	count_run(arg, record, false);
}

/* Bytes/s of a node; of a job without any, what the others send. */
static double volume_of(const struct unrecorded *job, double others)
{
	return job->volume_seconds > 0 ? job->bytes / job->volume_seconds
	                               : others;
}

static CPL_SORT_BY(by_worth, struct unrecorded, CPL_DOWN(worth), CPL_TEXT(name))

/* The sum of what they are worth. */
static double rank_names(struct list *list)
{
	double bytes = 0, seconds = 0, sum = 0, others;

	for (int64_t i = 0; i < list->n; i++) {
		bytes += list->job[i].bytes;
		seconds += list->job[i].volume_seconds;
	}
	others = seconds > 0 ? bytes / seconds : 1;
	for (int64_t i = 0; i < list->n; i++) {
		struct unrecorded *job = &list->job[i];

		job->worth = job->size * volume_of(job, others);
		sum += job->worth;
	}
	if (list->n)
		qsort(list->job, (size_t)list->n, sizeof(*list->job), by_worth);
	return sum;
}

static double fraction(const struct unrecorded *job, double sum)
{
	return sum > 0 ? job->worth / sum : 0;
}

static int print_json(const struct cmd *self, const struct list *list,
                      double sum)
{
	json_t *jobs = json_array();

	for (int64_t i = 0; i < list->n; i++) {
		const struct unrecorded *job = &list->job[i];
		json_t *row = json_pack(
		        "{s:s, s:I, s:I, s:i, s:f, s:f, s:f}", "name",
		        job->name, "jobs", (json_int_t)job->runs, "measured",
		        (json_int_t)job->measured, "most_nodes",
		        job->most_nodes, "node_seconds", job->node_seconds,
		        "volume", volume_of(job, 0), "worth",
		        fraction(job, sum));

		if (!row || json_array_append_new(jobs, row)) {
			json_decref(jobs);
			return cmd_fail_memory(self);
		}
	}
	return cmd_print_pack(self, "{s:o, s:I}", "unrecorded", jobs, "skipped",
	                      (json_int_t)list->skipped);
}

static int print_text(const struct list *list, double sum)
{
	struct cmd_table *table = cmd_table_new("lrrrrrr");
	int64_t lines = list->n < MOST_LINES ? list->n : MOST_LINES;
	int rc;

	if (!list->n) {
		cmd_table_free(table);
		puts("no job without a signature is on record; Unknown=measured "
		     "or uniform keeps a record of each");
		return CMD_OK;
	}
	cmd_table_row(table, "job name|jobs|measured|nodes|node hours|"
	                     "sent/s by a node|worth");
	for (int64_t i = 0; i < lines; i++) {
		const struct unrecorded *job = &list->job[i];

		cmd_table_row(table,
		              "%s|%" PRId64 "|%" PRId64 "|%d|%.1f|%s|%.1f %%",
		              *job->name ? job->name : "-", job->runs,
		              job->measured, job->most_nodes,
		              job->node_seconds / 3600,
		              job->volume_seconds > 0
		                      ? CMD_BYTES(volume_of(job, 0))
		                      : "-",
		              100 * fraction(job, sum));
	}
	rc = cmd_table_print(table);
	if (lines < list->n)
		printf("and %" PRId64 " names more (--json has all)\n",
		       list->n - lines);
	if (list->skipped)
		printf("%" PRId64 " records cannot be read\n", list->skipped);
	puts("worth: nodes x node-seconds x bytes per second; record the first: "
	     "commplace record");
	return rc;
}

int status_print_unrecorded(const struct cmd *self, const struct status *s,
                            bool json)
{
	struct list list = {.now = s->now};
	struct cpl_error err = {""};
	double sum;
	int rc;

	if (cpl_record_each(s->state_dir, false, take_running, &list,
	                    &list.skipped, &err) ||
	    cpl_record_each(s->state_dir, true, take_ended, &list,
	                    &list.skipped, &err)) {
		rc = cmd_fail(self, &err);
	} else if (list.failed) {
		rc = cmd_fail_memory(self);
	} else {
		merge_runs(&list);
		sum = rank_names(&list);
		rc = json ? print_json(self, &list, sum)
		          : print_text(&list, sum);
	}
	for (int64_t i = 0; i < list.n; i++)
		free(list.job[i].name);
	free(list.job);
	return rc;
}
