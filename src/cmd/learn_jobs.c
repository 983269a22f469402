/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs that models of a site are learned from. */
#include "commplace-config.h"
#include "learn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sort.h"
#include "benefit/strata.h"

struct job_row {
	const struct cpl_trial_job *job;
	int group;
	double value[CPL_FEATURES];
};

struct job_rows {
	struct job_row *one;
	int n;
	bool known[CPL_FEATURES];
};

static enum cpl_measure measure_of(const struct learn_options *o)
{
	return strcmp(o->target, cpl_measure_name(CPL_MEASURE_MERIT))
	               ? CPL_MEASURE_SECONDS
	               : CPL_MEASURE_MERIT;
}

/* In the order in which they ran. */
static CPL_SORT_BY(by_time, struct job_row, CPL_UP(job->time), CPL_UP(job->id))

/* Jobs that have what is to be told, with numbers of their groups, in the order of
 * these. -1 with err. */
static int group_jobs(struct learn_jobs *jobs, struct job_rows *rows,
                      enum cpl_measure measure, struct cpl_error *err)
{
	struct cpl_strata strata = {0};
	const struct cpl_trial_job *job = jobs->list.job;
	int64_t n = jobs->list.n;

	if (n > INT32_MAX / CPL_FEATURES)
		return cpl_fail(err, "there are too many jobs: %" PRId64, n);
	rows->one = calloc((size_t)n + 1, sizeof(*rows->one));
	if (!rows->one)
		return cpl_fail_memory(err);
	if (cpl_strata_make(&strata, jobs->list.job, n, err)) {
		free(strata.stratum);
		return -1;
	}
	free(strata.stratum);
	for (int64_t i = 0, group = 0; i < n; i++) {
		group += i && !cpl_trial_jobs_alike(&job[i - 1], &job[i]);
		if (job[i].value[measure] > 0)
			rows->one[rows->n++] = (struct job_row){
			        .job = &job[i], .group = (int)group};
		else
			jobs->without++;
	}
	return 0;
}

/* Of groups with one job nothing can be learned. Rows of one group are together. */
static void drop_alone(struct learn_jobs *jobs, struct job_rows *rows)
{
	int kept = 0;

	for (int i = 0, end; i < rows->n; i = end) {
		for (end = i + 1; end < rows->n &&
		                  rows->one[end].group == rows->one[i].group;)
			end++;
		if (end - i == 1) {
			jobs->alone++;
			continue;
		}
		memmove(&rows->one[kept], &rows->one[i],
		        (size_t)(end - i) * sizeof(*rows->one));
		kept += end - i;
	}
	rows->n = kept;
}

/* Columns of the table by the names of features, of the lines that jobs are. */
static int read_columns(struct job_rows *rows, const char *path,
                        struct cpl_error *err)
{
	struct cpl_samples *s = cpl_samples_load(path, err);
	bool some = false;

	if (!s)
		return -1;
	for (int f = 0; f < CPL_FEATURES; f++) {
		int c = cpl_samples_column(s, cpl_feature_name[f]);

		rows->known[f] = c >= 0;
		some |= c >= 0;
		for (int i = 0; i < rows->n && c >= 0; i++)
			rows->one[i].value[f] =
			        s->value[rows->one[i].job->id * s->n_columns + c];
	}
	cpl_samples_free(s);
	return some ? 0
	            : cpl_fail(err, "%s: no column of numbers is a feature such "
	                            "as %s, see commplace features",
	                       path, cpl_feature_name[CPL_FEATURE_LINK_MAX]);
}

/* What the records say of the jobs' places; those that they do not are dropped. */
static int ask_records(struct learn_jobs *jobs, struct job_rows *rows,
                       struct learn_placed *placed, struct cpl_error *err)
{
	int kept = 0;

	for (int i = 0; i < rows->n; i++) {
		struct job_row *row = &rows->one[i];
		struct cpl_error why = {""};

		if (learn_placed_features(placed, row->job->id, row->value,
		                          &why)) {
			if (cpl_error_is_memory(&why))
				return cpl_fail_memory(err);
			if (!jobs->unplaced++)
				cpl_fail(&jobs->why, "job %" PRId64 ": %s",
				         row->job->id, why.text);
			continue;
		}
		rows->one[kept++] = *row;
	}
	rows->n = kept;
	for (int f = 0; f < CPL_FEATURES; f++)
		rows->known[f] = true;
	return 0;
}

static int read_records(struct learn_jobs *jobs, struct job_rows *rows,
                        const struct learn_options *o, struct cpl_error *err)
{
	struct learn_placed *placed = learn_placed_open(o, err);
	int rc = -1;

	if (placed &&
	    !benefit_join(&jobs->list, &jobs->sources, learn_placed_state(placed),
	                  o->sacct, err) &&
	    !group_jobs(jobs, rows, measure_of(o), err))
		rc = ask_records(jobs, rows, placed, err);
	learn_placed_close(placed);
	return rc;
}

static int read_table(struct learn_jobs *jobs, struct job_rows *rows,
                      const struct learn_options *o, struct cpl_error *err)
{
	jobs->list.others = true;
	return cpl_trial_jobs_load(&jobs->list, o->table, err) ||
	                       group_jobs(jobs, rows, measure_of(o), err) ||
	                       read_columns(rows, o->table, err)
	               ? -1
	               : 0;
}

static int name_columns(struct cpl_samples *s, const struct job_rows *rows,
                        const char *target)
{
	s->name = calloc(CPL_FEATURES + 1, sizeof(*s->name));
	if (!s->name)
		return -1;
	for (int f = 0; f < CPL_FEATURES; f++)
		if (rows->known[f] &&
		    !(s->name[s->n_columns++] = strdup(cpl_feature_name[f])))
			return -1;
	s->name[s->n_columns] = strdup(target);
	return s->name[s->n_columns++] ? 0 : -1;
}

static int make_samples(struct learn_jobs *jobs, const struct job_rows *rows,
                        const struct learn_options *o, struct cpl_error *err)
{
	enum cpl_measure measure = measure_of(o);
	struct cpl_samples *s = calloc(1, sizeof(*s));
	double *at;

	jobs->samples = s;
	jobs->group = calloc((size_t)rows->n + 1, sizeof(*jobs->group));
	if (!s || !jobs->group || name_columns(s, rows, o->target))
		return cpl_fail_memory(err);
	s->value = calloc(((size_t)rows->n + 1) * (size_t)s->n_columns,
	                  sizeof(*s->value));
	if (!s->value)
		return cpl_fail_memory(err);
	at = s->value;
	for (s->n = 0; s->n < rows->n; s->n++) {
		const struct job_row *row = &rows->one[s->n];
		double measured = row->job->value[measure];

		for (int f = 0; f < CPL_FEATURES; f++)
			if (rows->known[f])
				*at++ = row->value[f];
		*at++ = measure == CPL_MEASURE_MERIT ? 1 / measured : measured;
		jobs->group[s->n] = row->group;
	}
	return 0;
}

static void write_value(FILE *out, double value)
{
	if (value > 0)
		fprintf(out, ",%.17g", value);
	else
		putc(',', out);
}

/* The jobs as --table reads them. */
static int write_table(const struct job_rows *rows, const char *path,
                       struct cpl_error *err)
{
	struct cmd_file file = {path, NULL};
	FILE *out;

	if (cmd_files_open(&file, 1, err))
		return -1;
	out = cpl_file_stream(file.writer);
	fprintf(out, "profile,partition,ranks,nodes,arm,time");
	for (int f = 0; f < CPL_FEATURES; f++)
		fprintf(out, ",%s", cpl_feature_name[f]);
	fprintf(out, ",seconds,merit\n");
	for (int i = 0; i < rows->n; i++) {
		const struct cpl_trial_job *job = rows->one[i].job;

		cmd_write_field(out, job->profile);
		cmd_write_field(out, job->partition);
		fprintf(out, "%d,%d,%s,%" PRId64, job->ranks, job->nodes,
		        cpl_arm_name(job->arm), job->time);
		for (int f = 0; f < CPL_FEATURES; f++)
			fprintf(out, ",%.17g", rows->one[i].value[f]);
		write_value(out, job->value[CPL_MEASURE_SECONDS]);
		write_value(out, job->value[CPL_MEASURE_MERIT]);
		putc('\n', out);
	}
	return cmd_files_close(&file, 1, 0, err);
}

int learn_jobs_load(struct learn_jobs *jobs, const struct learn_options *o,
                    struct cpl_error *err)
{
	struct job_rows rows = {0};
	int rc = -1;

	*jobs = (struct learn_jobs){
	        .sources = {.table = o->table, .keys = o->keys}};
	if (!jobs->sources.keys.merit)
		jobs->sources.keys.merit = BENEFIT_MERIT;
	if (benefit_check_keys(&jobs->sources.keys, err) ||
	    (o->table ? read_table(jobs, &rows, o, err)
	              : read_records(jobs, &rows, o, err)))
		goto out;
	drop_alone(jobs, &rows);
	if (rows.n)
		qsort(rows.one, (size_t)rows.n, sizeof(*rows.one), by_time);
	rc = o->write_table ? write_table(&rows, o->write_table, err) : 0;
	if (!rc)
		rc = make_samples(jobs, &rows, o, err);
out:
	free(rows.one);
	return rc;
}

void learn_jobs_free(struct learn_jobs *jobs)
{
	cpl_samples_free(jobs->samples);
	free(jobs->group);
	cpl_trial_jobs_free(&jobs->list);
}
