/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	             ended ? "ended" : "running", (long long)job) < 0) {
		cpl_fail_memory(err);
		return NULL;
	}
	return path;
}

static struct cpl_record *load(const char *path, struct cpl_error *err)
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
		record = load(path, &why);
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

int64_t state_job_of_file(const char *name)
{
	char *end;
	long long v;

	if (*name < '0' || *name > '9')
		return -1;
	errno = 0;
	v = strtoll(name, &end, 10);
	return errno || strcmp(end, ".json") ? -1 : v;
}

/* Of one folder; NULL: it is not there. */
static struct cpl_record *find_shown(const char *state_dir, bool ended,
                                     const char *shown_as)
{
	struct cpl_record *record = NULL;
	struct dirent *entry;
	DIR *dir = NULL;
	char *path;

	if (asprintf(&path, "%s/%s", state_dir, ended ? "ended" : "running") <
	    0)
		return NULL;
	dir = opendir(path);
	free(path);
	while (dir && !record && (entry = readdir(dir))) {
		int64_t id = state_job_of_file(entry->d_name);

		path = id < 0 ? NULL
		              : cpl_record_path(state_dir, ended, id, NULL);
		record = path ? load(path, NULL) : NULL;
		free(path);
		if (record &&
		    (!record->shown_as || strcmp(record->shown_as, shown_as))) {
			cpl_record_free(record);
			record = NULL;
		}
	}
	if (dir)
		closedir(dir);
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

static int copy_hosts(const struct cpl_record *record,
                      struct cpl_running_job *job, struct cpl_error *err)
{
	job->host = calloc((size_t)record->n_hosts, sizeof(*job->host));
	if (!job->host)
		return cpl_fail_memory(err);
	for (int i = 0; i < record->n_hosts; i++) {
		job->host[i] = strdup(record->host[i]);
		if (!job->host[i])
			return cpl_fail_memory(err);
		job->n_hosts++;
	}
	if (!record->ranks)
		return 0;
	job->rank_host =
	        malloc((size_t)record->ranks * sizeof(*job->rank_host));
	if (!job->rank_host)
		return cpl_fail_memory(err);
	memcpy(job->rank_host, record->rank_host,
	       (size_t)record->ranks * sizeof(*job->rank_host));
	job->ranks = record->ranks;
	return 0;
}

/* An observed job runs where stock Slurm put it, in node order. */
static int stock_hosts(const struct cpl_record *record,
                       struct cpl_running_job *job, struct cpl_error *err)
{
	struct cpl_hostlist list = {0};

	if (cpl_hostlist_parse(&list, record->stock_hosts, err))
		return cpl_fail_prefix(err, "\"stock_hosts\": ");
	job->host = list.name;
	job->n_hosts = list.count;
	return 0;
}

int cpl_record_job(const struct cpl_record *record, struct cpl_running_job *job,
                   struct cpl_error *err)
{
	bool stock =
	        record->outcome == CPL_OUTCOME_OBSERVED && *record->stock_hosts;
	int rc;

	memset(job, 0, sizeof(*job));
	if (!stock && record->n_hosts == 0)
		return cpl_fail(err, "the record names no hosts");
	job->id = record->job;
	job->ranks_per_node =
	        record->ranks_per_node > 0 ? record->ranks_per_node : 1;
	/* Without a layout it is not known where the ranks run. */
	if (record->profile && record->ranks) {
		job->signature = strdup(record->profile);
		if (!job->signature)
			return cpl_fail_memory(err);
	}
	rc = stock ? stock_hosts(record, job, err)
	           : copy_hosts(record, job, err);
	if (rc)
		cpl_running_job_clear(job);
	return rc;
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
	record = load(path, &dropped);
	free(path);
	rc = record && record->job == id && !cpl_record_job(record, job, NULL);
	cpl_record_free(record);
	return rc;
}

int cpl_record_state(const char *state_dir, struct cpl_state *out, int *skipped,
                     struct cpl_error *err)
{
	struct dirent *entry;
	DIR *dir = NULL;
	char *path;
	int room = 0, rc = -1;

	memset(out, 0, sizeof(*out));
	*skipped = 0;
	if (asprintf(&path, "%s/running", state_dir) < 0)
		return cpl_fail_memory(err);
	dir = opendir(path);
	if (!dir && errno == ENOENT && !access(state_dir, F_OK)) {
		rc = 0; /* no decision was ever written */
		goto out;
	}
	if (!dir) {
		cpl_fail(err, "%s: %s", path, strerror(errno));
		goto out;
	}
	while ((entry = readdir(dir))) {
		int64_t id = state_job_of_file(entry->d_name);

		if (id < 0)
			continue;
		if (out->n_jobs == room) {
			void *more;

			room = room ? 2 * room : 16;
			more = realloc(out->job,
			               (size_t)room * sizeof(*out->job));
			if (!more)
				goto memory;
			out->job = more;
		}
		switch (running_job(state_dir, id, &out->job[out->n_jobs])) {
		case 1:
			out->n_jobs++;
			break;
		case 0:
			(*skipped)++;
			break;
		default:
			goto memory;
		}
	}
	state_sort(out);
	rc = 0;
	goto out;
memory:
	cpl_fail_memory(err);
	cpl_state_free(out);
out:
	if (dir)
		closedir(dir);
	free(path);
	return rc;
}
