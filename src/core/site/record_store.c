/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/json.h"
#include "site/site_internal.h"

char *cpl_record_path(const char *state_dir, bool ended, int64_t job,
                      struct cpl_error *err)
{
	char *path;

	if (job < 0) {
		cpl_fail(err, "%lld is not a job's number", (long long)job);
		return NULL;
	}
	if (asprintf(&path, "%s/%s/%lld.json", state_dir,
	             ended ? "ended" : "running", (long long)job) < 0)
		return cpl_fail_null_memory(err);
	return path;
}

struct cpl_record *cpl_record_load(const char *path, struct cpl_error *err)
{
	json_t *root = cpl_json_load(path, err);
	struct cpl_record *record;

	if (!root)
		return NULL;
	record = cpl_record_from_json(root, err);
	if (!record)
		cpl_fail_prefix(err, "%s: ", path);
	json_decref(root);
	return record;
}

static void no_record(const char *job, const char *state_dir,
                      struct cpl_error *err)
{
	cpl_fail(err,
	         "no record of job %.60s in %s; commplace decided nothing for "
	         "it, or its record was removed",
	         job, state_dir);
}

struct cpl_record *cpl_record_find(const char *state_dir, int64_t job,
                                   bool *ended, struct cpl_error *err)
{
	char text[24];

	for (int i = 0; i < 2; i++) {
		struct cpl_record *record;
		struct cpl_error why = {""};
		char *path = cpl_record_path(state_dir, i == 1, job, err);
		bool there;

		if (!path)
			return NULL;
		record = cpl_record_load(path, &why);
		/* After the attempt: it may move to "ended" meanwhile. */
		there = record || !access(path, F_OK);
		free(path);
		if (there && !record)
			cpl_fail(err, "%s", why.text);
		if (there && ended)
			*ended = i == 1;
		if (there)
			return record;
	}
	snprintf(text, sizeof(text), "%lld", (long long)job);
	no_record(text, state_dir, err);
	return NULL;
}

const char *state_next_job(DIR *folder, int64_t *id)
{
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		char *end;

		if (*entry->d_name < '0' || *entry->d_name > '9')
			continue;
		errno = 0;
		*id = strtoll(entry->d_name, &end, 10);
		if (!errno && !strcmp(end, ".json"))
			return entry->d_name;
	}
	return NULL;
}

DIR *state_open_folder(const char *state_dir, const char *name,
                       struct cpl_error *err)
{
	char *path = cpl_path_join(state_dir, name, err);
	DIR *folder = path ? opendir(path) : NULL;
	int failed = errno;

	if (path && !folder)
		cpl_fail(err, "%s: %s", path, strerror(failed));
	free(path);
	errno = failed;
	return folder;
}

int cpl_record_each(const char *state_dir, bool ended,
                    void (*take)(void *arg, const struct cpl_record *record),
                    void *arg, int64_t *skipped, struct cpl_error *err)
{
	struct cpl_error why = {""};
	DIR *folder = state_open_folder(state_dir, ended ? "ended" : "running",
	                                &why);
	int64_t id;

	if (!folder && errno == ENOENT && !access(state_dir, F_OK))
		return 0;
	if (!folder)
		return cpl_fail(err, "%s", why.text);
	while (state_next_job(folder, &id)) {
		char *path = cpl_record_path(state_dir, ended, id, NULL);
		struct cpl_record *record =
		        path ? cpl_record_load(path, NULL) : NULL;

		free(path);
		if (record)
			take(arg, record);
		else
			(*skipped)++;
		cpl_record_free(record);
	}
	closedir(folder);
	return 0;
}

/* Of one folder; NULL: it is not there. */
static struct cpl_record *find_shown(const char *state_dir, bool ended,
                                     const char *shown_as)
{
	DIR *folder =
	        state_open_folder(state_dir, ended ? "ended" : "running", NULL);
	struct cpl_record *record = NULL;
	int64_t id;

	while (folder && !record && state_next_job(folder, &id)) {
		char *path = cpl_record_path(state_dir, ended, id, NULL);

		record = path ? cpl_record_load(path, NULL) : NULL;
		free(path);
		if (record &&
		    (!record->shown_as || strcmp(record->shown_as, shown_as))) {
			cpl_record_free(record);
			record = NULL;
		}
	}
	if (folder)
		closedir(folder);
	return record;
}

struct cpl_record *cpl_record_find_shown(const char *state_dir,
                                         const char *shown_as, bool *ended,
                                         struct cpl_error *err)
{
	struct cpl_record *record = NULL;

	for (int i = 0; i < 2 && !record; i++) {
		record = find_shown(state_dir, i == 1, shown_as);
		*ended = i == 1;
	}
	if (!record)
		no_record(shown_as, state_dir, err);
	return record;
}

/* The host of each rank, which tells how many there are. */
static int in_blocks(struct cpl_running_job *job, int ranks,
                     struct cpl_error *err)
{
	int per_host = job->ranks_per_node;

	if (job->n_hosts && ranks > (int64_t)job->n_hosts * per_host)
		per_host = (ranks + job->n_hosts - 1) / job->n_hosts;
	job->rank_host = malloc(((size_t)ranks + 1) * sizeof(int));
	if (!job->rank_host)
		return cpl_fail_memory(err);
	job->ranks = ranks;
	for (int r = 0; r < ranks; r++)
		job->rank_host[r] = r / per_host;
	return 0;
}

int cpl_record_job(struct cpl_record *record, struct cpl_running_job *job,
                   struct cpl_error *err)
{
	bool stock =
	        record->outcome == CPL_OUTCOME_OBSERVED && *record->stock_hosts;
	struct cpl_hostlist list = {0};
	int per_node = record->ranks_per_node;

	memset(job, 0, sizeof(*job));
	if (!stock && record->n_hosts == 0)
		return cpl_fail(err, "the record names no hosts");
	/* An observed job runs where stock Slurm put it, in node order. */
	if (stock && cpl_hostlist_parse(&list, record->stock_hosts, err))
		return cpl_fail_prefix(err, "\"stock_hosts\": ");
	*job = (struct cpl_running_job){
	        .id = record->job,
	        .ranks_per_node = per_node > 0 ? per_node : 1,
	        .host = list.name,
	        .n_hosts = list.count,
	};
	job->volume = record->volume;
	/* Without a layout it is not known where the ranks run. */
	if (record->ranks && !(record->volume > 0)) {
		job->signature = record->profile;
		job->own = record->own_profile;
		job->uid = record->uid;
		record->profile = NULL;
	}
	if (stock)
		return in_blocks(job, record->ranks, err);
	job->host = record->host;
	job->n_hosts = record->n_hosts;
	job->rank_host = record->rank_host;
	job->ranks = record->ranks;
	record->host = NULL;
	record->rank_host = NULL;
	record->n_hosts = record->ranks = 0;
	return 0;
}

struct cpl_profile_wanted cpl_record_profile(const struct cpl_record *record)
{
	return (struct cpl_profile_wanted){record->profile, record->ranks,
	                                   record->own_profile, record->uid};
}

int cpl_record_background(const struct cpl_record *record,
                          const char *state_dir, struct cpl_state *out,
                          struct cpl_error *err)
{
	memset(out, 0, sizeof(*out));
	out->job = calloc((size_t)record->n_background + 1, sizeof(*out->job));
	if (!out->job)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < record->n_background; i++) {
		struct cpl_record *r;
		bool ended;
		int rc;

		r = cpl_record_find(state_dir, record->background[i], &ended,
		                    err);
		if (!r)
			return cpl_fail_prefix(
			        err, "background of job %" PRId64 ": ",
			        record->job);
		rc = cpl_record_job(r, &out->job[out->n_jobs], err);
		cpl_record_free(r);
		if (rc)
			return -1;
		out->n_jobs++;
	}
	state_sort(out);
	return 0;
}

int cpl_record_as_it_runs(struct cpl_record *record, struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	int per_host;

	if (record->outcome != CPL_OUTCOME_OBSERVED)
		return 0;
	if (cpl_hostlist_parse(&list, record->stock_hosts, err))
		return cpl_fail_prefix(err, "\"stock_hosts\": ");
	if (record->ranks && !list.count) {
		cpl_hostlist_free(&list);
		return cpl_fail(err, "\"stock_hosts\" is empty; it must name "
		                     "the hosts of an observed job");
	}
	for (int i = 0; i < record->n_hosts; i++)
		free(record->host[i]);
	free(record->host);
	record->host = list.name;
	record->n_hosts = list.count;
	per_host =
	        list.count ? (record->ranks + list.count - 1) / list.count : 1;
	for (int r = 0; r < record->ranks; r++)
		record->rank_host[r] = r / per_host;
	return 0;
}

/* 1: the job is in *job, 0: its record cannot be used, -1: memory. */
static int running_job(const char *state_dir, int64_t id,
                       struct cpl_running_job *job)
{
	struct cpl_error dropped = {""};
	char *path = cpl_record_path(state_dir, false, id, &dropped);
	struct cpl_record *record;
	int rc;

	if (!path)
		return -1;
	record = cpl_record_load(path, &dropped);
	free(path);
	rc = record && record->job == id && !cpl_record_job(record, job, NULL);
	cpl_record_free(record);
	return rc;
}

/* One more job at the end, still empty. NULL: memory. */
static struct cpl_running_job *next_job(struct cpl_state *state)
{
	return cpl_array_grow(&state->job, state->n_jobs, sizeof(*state->job),
	                      NULL)
	               ? NULL
	               : &state->job[state->n_jobs];
}

int cpl_record_state(const char *state_dir, struct cpl_state *out, int *skipped,
                     struct cpl_error *err)
{
	struct cpl_error why = {""};
	DIR *folder = state_open_folder(state_dir, "running", &why);
	int rc = 1;
	int64_t id;

	memset(out, 0, sizeof(*out));
	*skipped = 0;
	/* No decision was ever written? */
	if (!folder && errno == ENOENT && !access(state_dir, F_OK))
		return 0;
	if (!folder)
		return cpl_fail(err, "%s", why.text);
	while (rc >= 0 && state_next_job(folder, &id)) {
		struct cpl_running_job *job = next_job(out);

		rc = job ? running_job(state_dir, id, job) : -1;
		out->n_jobs += rc > 0;
		*skipped += !rc;
	}
	closedir(folder);
	if (rc < 0) {
		cpl_state_free(out);
		return cpl_fail_memory(err);
	}
	state_sort(out);
	return 0;
}

int cpl_record_file_mode(const char *state_dir)
{
	struct stat st;
	char *path;
	int mode = 0600;

	if (asprintf(&path, "%s/running", state_dir) < 0)
		return mode;
	if (!stat(path, &st) && (st.st_mode & S_IROTH))
		mode = 0644;
	free(path);
	return mode;
}
