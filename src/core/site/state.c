/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/json.h"
#include "base/sort.h"
#include "signature/signature.h"
#include "site/site_internal.h"

/* Bytes per second. */
#define VOLUME_MAX 1e15

static const char *const root_keys[] = {"jobs", NULL};
static const char *const job_keys[] = {
        "id",           "signature", "hosts", "ranks_per_node",
        "rank_to_host", "volume",    NULL};

void cpl_running_job_clear(struct cpl_running_job *job)
{
	for (int i = 0; i < job->n_hosts; i++)
		free(job->host[i]);
	cpl_free_all(job->host, job->signature, job->rank_host);
	cpl_profile_drop(job->profile);
	memset(job, 0, sizeof(*job));
}

void cpl_state_free(struct cpl_state *state)
{
	for (int i = 0; i < state->n_jobs; i++)
		cpl_running_job_clear(&state->job[i]);
	free(state->job);
	memset(state, 0, sizeof(*state));
}

char **take_strings(const json_t *array, const char *key, int *n,
                    struct cpl_error *err)
{
	size_t size = json_array_size(array);
	struct cpl_hostlist list = {.name = calloc(1, sizeof(*list.name))};
	int rc = list.name ? 0 : cpl_fail_memory(err);

	for (size_t i = 0; i < size && !rc; i++) {
		const char *text = json_string_value(json_array_get(array, i));

		rc = text && *text
		             ? cpl_hostlist_push(&list, text, err)
		             : cpl_fail(err, "\"%s\": entry %zu is not a name",
		                        key, i + 1);
	}
	if (rc)
		cpl_hostlist_free(&list);
	*n = list.count;
	return list.name;
}

static int take_hosts(const json_t *object, struct cpl_running_job *job,
                      struct cpl_error *err)
{
	const json_t *hosts = json_object_get(object, "hosts");

	if (!json_is_array(hosts))
		return cpl_fail(err, hosts ? "\"hosts\" is not an array of "
		                             "host names"
		                           : "\"hosts\" is missing; give an "
		                             "array of host names");
	if (json_array_size(hosts) == 0)
		return cpl_fail(err, "\"hosts\" is empty");
	job->host = take_strings(hosts, "hosts", &job->n_hosts, err);
	return job->host ? 0 : -1;
}

/* A host name and where it stands in the job. */
struct host_index {
	const char *name;
	int index;
};

static CPL_SORT_BY(by_name, struct host_index, CPL_TEXT(name))

static struct host_index *sorted_hosts(const struct cpl_running_job *job,
                                       struct cpl_error *err)
{
	struct host_index *by_host =
	        malloc((size_t)job->n_hosts * sizeof(*by_host));

	if (!by_host)
		return cpl_fail_null_memory(err);
	for (int i = 0; i < job->n_hosts; i++)
		by_host[i] = (struct host_index){job->host[i], i};
	qsort(by_host, (size_t)job->n_hosts, sizeof(*by_host), by_name);
	for (int i = 1; i < job->n_hosts; i++) {
		if (strcmp(by_host[i - 1].name, by_host[i].name))
			continue;
		cpl_fail(err, "\"hosts\" names %s twice", by_host[i].name);
		free(by_host);
		return NULL;
	}
	return by_host;
}

static int take_ranks(const json_t *object, const struct host_index *by_host,
                      struct cpl_running_job *job, struct cpl_error *err)
{
	const json_t *array = json_object_get(object, "rank_to_host");
	size_t n = json_array_size(array);

	if (!array)
		return 0;
	if (n == 0 || n > CPL_SIGNATURE_MAX_RANKS)
		return cpl_fail(err,
		                "\"rank_to_host\" must be an array of 1 to %d "
		                "host names",
		                CPL_SIGNATURE_MAX_RANKS);
	job->rank_host = malloc(n * sizeof(*job->rank_host));
	if (!job->rank_host)
		return cpl_fail_memory(err);
	for (size_t r = 0; r < n; r++) {
		struct host_index key = {
		        json_string_value(json_array_get(array, r)), 0};
		const struct host_index *at = NULL;

		if (key.name)
			at = bsearch(&key, by_host, (size_t)job->n_hosts,
			             sizeof(*by_host), by_name);
		if (!at)
			return cpl_fail(err,
			                "\"rank_to_host\": %.80s of rank %zu "
			                "is not one of \"hosts\"",
			                key.name ? key.name : "the value", r);
		job->rank_host[r] = at->index;
	}
	job->ranks = (int)n;
	return 0;
}

static int take_job(const json_t *object, struct cpl_running_job *job,
                    struct cpl_error *err)
{
	struct host_index *by_host;
	const char *signature = NULL;
	int64_t per_node = 1;
	int rc;

	if (!json_is_object(object))
		return cpl_fail(err, "is not an object");
	if (cpl_json_known_keys(object, NULL, job_keys, err))
		return -1;
	rc = cpl_json_int(object, "id", 0, INT64_MAX, &job->id, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return cpl_fail(err,
		                "\"id\" is missing; give the job's number");
	rc = cpl_json_string(object, "signature", &signature, err);
	if (rc < 0)
		return -1;
	if (signature && !*signature)
		return cpl_fail(err, "\"signature\" is empty; leave it out or "
		                     "give a profile's name or a path");
	if (signature) {
		job->signature = strdup(signature);
		if (!job->signature)
			return cpl_fail_memory(err);
	}
	if (cpl_json_int(object, "ranks_per_node", 1, CPL_SIGNATURE_MAX_RANKS,
	                 &per_node, err) < 0)
		return -1;
	job->ranks_per_node = (int)per_node;
	if (cpl_json_number(object, "volume", 0, VOLUME_MAX, &job->volume,
	                    err) < 0)
		return -1;
	if (signature && job->volume > 0)
		return cpl_fail(err, "\"volume\" is of jobs without a "
		                     "\"signature\"");
	if (take_hosts(object, job, err))
		return -1;
	by_host = sorted_hosts(job, err);
	if (!by_host)
		return -1;
	rc = take_ranks(object, by_host, job, err);
	free(by_host);
	return rc;
}

static CPL_SORT_BY(by_id, struct cpl_running_job, CPL_UP(id))

void state_sort(struct cpl_state *state)
{
	if (state->n_jobs)
		qsort(state->job, (size_t)state->n_jobs, sizeof(*state->job),
		      by_id);
}

static int take_jobs(const json_t *root, struct cpl_state *out,
                     struct cpl_error *err)
{
	const json_t *jobs = json_object_get(root, "jobs");
	size_t n = json_array_size(jobs);

	if (!json_is_object(root))
		return cpl_fail(err, "is not an object; {\"jobs\": [...]} is "
		                     "needed");
	if (cpl_json_known_keys(root, NULL, root_keys, err))
		return -1;
	if (!json_is_array(jobs))
		return cpl_fail(err, jobs ? "\"jobs\" is not an array"
		                          : "\"jobs\" is missing; give an "
		                            "array, empty when nothing runs");
	out->job = calloc(n + 1, sizeof(*out->job));
	if (!out->job)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		out->n_jobs = (int)i + 1;
		if (take_job(json_array_get(jobs, i), &out->job[i], err))
			return cpl_fail_prefix(err,
			                       "job %zu of the list: ", i + 1);
	}
	state_sort(out);
	for (int i = 1; i < out->n_jobs; i++)
		if (out->job[i].id == out->job[i - 1].id)
			return cpl_fail(err, "two jobs have the id %lld",
			                (long long)out->job[i].id);
	return 0;
}

/* Takes the reference to root, which may be NULL. */
static int take_state(json_t *root, const char *name, struct cpl_state *out,
                      struct cpl_error *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	if (!root)
		return -1;
	rc = take_jobs(root, out, err);
	json_decref(root);
	if (rc) {
		cpl_fail_prefix(err, "%s: ", name);
		cpl_state_free(out);
	}
	return rc;
}

/* Where people write the name of a file, as for a command's --signature. */
static int take_file_names(struct cpl_state *state, struct cpl_error *err)
{
	for (int i = 0; i < state->n_jobs; i++) {
		char **name = &state->job[i].signature, *path;
		size_t n = *name ? strlen(*name) : 0;

		if (n <= 5 || strchr(*name, '/') ||
		    strcmp(*name + n - 5, ".json") != 0)
			continue;
		if (asprintf(&path, "./%s", *name) < 0) {
			cpl_state_free(state);
			return cpl_fail_memory(err);
		}
		free(*name);
		*name = path;
	}
	return 0;
}

int cpl_state_load(const char *path, struct cpl_state *out,
                   struct cpl_error *err)
{
	if (take_state(cpl_json_load(path, err), path, out, err))
		return -1;
	return take_file_names(out, err);
}

int cpl_state_parse(const char *text, size_t length, const char *name,
                    struct cpl_state *out, struct cpl_error *err)
{
	return take_state(cpl_json_parse(text, length, name, err), name, out,
	                  err);
}

static json_t *job_json(const struct cpl_running_job *job)
{
	json_t *object =
	        json_pack("{s:I, s:s*, s:o, s:i}", "id", (json_int_t)job->id,
	                  "signature", job->signature, "hosts", json_array(),
	                  "ranks_per_node", job->ranks_per_node);
	json_t *hosts = json_object_get(object, "hosts");
	json_t *ranks;

	if (job->volume > 0 &&
	    json_object_set_new(object, "volume", json_real(job->volume)))
		goto fail;
	for (int i = 0; i < job->n_hosts; i++)
		if (json_array_append_new(hosts, json_string(job->host[i])))
			goto fail;
	if (!job->ranks)
		return object;
	ranks = json_array();
	if (json_object_set_new(object, "rank_to_host", ranks))
		goto fail;
	for (int r = 0; r < job->ranks; r++)
		if (json_array_append(
		            ranks,
		            json_array_get(hosts, (size_t)job->rank_host[r])))
			goto fail;
	return object;
fail:
	json_decref(object);
	return NULL;
}

int cpl_state_write(const struct cpl_state *state, const char *path, int mode,
                    struct cpl_error *err)
{
	json_t *root = json_pack("{s:[]}", "jobs");
	json_t *jobs = json_object_get(root, "jobs");
	int rc = -1;

	for (int i = 0; i < state->n_jobs; i++) {
		json_t *job = job_json(&state->job[i]);

		if (cpl_out_of_memory(!job || json_array_append_new(jobs, job),
		                      err))
			goto out;
	}
	rc = root ? cpl_json_write_atomic(root, path, mode, err)
	          : cpl_fail_memory(err);
out:
	json_decref(root);
	return rc;
}
