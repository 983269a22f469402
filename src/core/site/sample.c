/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "measured/measured.h"

#define FORMAT "commplace-sample"

int cpl_sample_add(struct cpl_sample *sample, const struct cpl_job_load *load,
                   struct cpl_error *err)
{
	size_t size = sizeof(*load) + (size_t)load->n_links * sizeof(*load->on);
	struct cpl_job_load *copy;

	if (cpl_array_grow(&sample->load, sample->n, sizeof(struct cpl_job_load *),
	                   err))
		return -1;
	copy = malloc(size);
	if (!copy)
		return cpl_fail_memory(err);
	memcpy(copy, load, size);
	sample->load[sample->n++] = copy;
	return 0;
}

void cpl_sample_free(struct cpl_sample *sample)
{
	for (int i = 0; i < sample->n; i++)
		free(sample->load[i]);
	free(sample->load);
	*sample = (struct cpl_sample){0};
}

/* {"job": 17, "links": [...], "bytes": [...]}, without "job" what is left. */
static json_t *load_json(const struct cpl_job_load *load)
{
	json_t *links = json_array(), *bytes = json_array(), *job;
	bool bad = false;

	for (int i = 0; i < load->n_links; i++)
		bad |= json_array_append_new(links,
		                             json_integer(load->on[i].link)) ||
		       json_array_append_new(bytes,
		                             json_real(load->on[i].bytes));
	job = load->id == CPL_MEASURED_ID ? NULL
	                                  : json_integer((json_int_t)load->id);
	links = json_pack("{s:o*, s:o, s:o}", "job", job, "links", links,
	                  "bytes", bytes);
	if (!bad)
		return links;
	json_decref(links);
	return NULL;
}

char *cpl_sample_text(const struct cpl_sample *sample, size_t *length,
                      struct cpl_error *err)
{
	json_t *list = json_array(), *root;
	bool bad = !list;
	char *text;

	for (int i = 0; i < sample->n && !bad; i++)
		bad = json_array_append_new(list, load_json(sample->load[i]));
	root = json_pack("{s:s, s:i, s:o}", "format", FORMAT, "version", 1,
	                 "loads", list);
	text = root && !bad ? cpl_json_text(root, length, err) : NULL;
	if (!root || bad)
		cpl_fail_memory(err);
	json_decref(root);
	return text;
}

/* Link and bytes of an entry. -1 with err. */
static int take_link(const json_t *links, const json_t *bytes, size_t i,
                     const struct cpl_network *net,
                     struct cpl_times_rate *out, struct cpl_error *err)
{
	const json_t *link = json_array_get(links, i);
	const json_t *number = json_array_get(bytes, i);

	*out = (struct cpl_times_rate){
	        .link = json_is_integer(link) ? json_integer_value(link) : -1,
	        .rate = json_is_number(number) ? json_number_value(number) : -1};
	if (out->link < 0 || out->link >= cpl_times_links(net) ||
	    (i && out->link <= out[-1].link))
		return cpl_fail(err, "\"links\": entry %zu is none of this "
		                     "network's, in their order", i + 1);
	if (!(out->rate >= 0 && isfinite(out->rate)))
		return cpl_fail(err, "\"bytes\": entry %zu is no number of bytes",
		                i + 1);
	return 0;
}

static struct cpl_job_load *find_job(const struct cpl_scene *scene, int64_t id)
{
	struct cpl_job_load *job =
	        scene->running ? cpl_background_first(scene->running) : NULL;

	while (job && job->id != id)
		job = job->after;
	return job;
}

/* The job's bytes are these. Jobs that ended before are not in the scene. */
static int put_share(struct cpl_job_load *job, const struct cpl_times_rate *rate,
                     size_t n, struct cpl_error *err)
{
	bool same = (size_t)job->n_links == n;

	for (size_t i = 0; i < n && same; i++)
		same = job->on[i].link == rate[i].link;
	if (!same)
		return cpl_fail(err, "job %lld is on other links",
		                (long long)job->id);
	for (size_t i = 0; i < n; i++)
		job->on[i].bytes = rate[i].rate;
	return 0;
}

static int put_rest(struct cpl_scene *scene, const struct cpl_times_rate *rate,
                    size_t n, struct cpl_error *err)
{
	struct cpl_job_load *rest =
	        cpl_job_load_of_rates(rate, (int64_t)n, err);

	if (!rest)
		return -1;
	rest->id = CPL_MEASURED_ID;
	return cpl_scene_add(scene, rest, err);
}

static int put_load(const json_t *object, struct cpl_scene *scene,
                    struct cpl_error *err)
{
	static const char *const keys[] = {"job", "links", "bytes", NULL};
	const json_t *links = json_object_get(object, "links");
	const json_t *bytes = json_object_get(object, "bytes");
	size_t n = json_array_size(links);
	int64_t id = CPL_MEASURED_ID;
	struct cpl_times_rate *rate;
	struct cpl_job_load *job;
	int rc = 0;

	if (!json_is_object(object) || !json_is_array(links) ||
	    !json_is_array(bytes) || json_array_size(bytes) != n)
		return cpl_fail(err, "\"links\" and \"bytes\" are no arrays of "
		                     "one length");
	if (cpl_json_known_keys(object, NULL, keys, err) ||
	    cpl_json_int(object, "job", 0, INT64_MAX, &id, err) < 0)
		return -1;
	rate = malloc((n + 1) * sizeof(*rate));
	if (!rate)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = take_link(links, bytes, i, scene->net, &rate[i], err);
	job = rc ? NULL : find_job(scene, id);
	if (!rc && id == CPL_MEASURED_ID)
		rc = job ? cpl_fail(err, "what is left is there twice")
		         : put_rest(scene, rate, n, err);
	else if (job)
		rc = put_share(job, rate, n, err);
	free(rate);
	return rc;
}

static int put_all(const json_t *root, struct cpl_scene *scene,
                   struct cpl_error *err)
{
	static const char *const keys[] = {"format", "version", "loads", NULL};
	const json_t *list = json_object_get(root, "loads");

	if (cpl_json_expect_format(root, FORMAT, err) ||
	    cpl_json_known_keys(root, NULL, keys, err))
		return -1;
	if (!json_is_array(list))
		return cpl_fail(err, "\"loads\" is not an array");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (put_load(json_array_get(list, i), scene, err))
			return cpl_fail_prefix(err, "\"loads\", entry %zu: ",
			                       i + 1);
	cpl_scene_changed(scene);
	return 0;
}

int cpl_sample_put(const char *state_dir, int64_t id, struct cpl_scene *scene,
                   struct cpl_error *err)
{
	char name[48], *path;
	json_t *root = NULL;
	int rc = -1;

	snprintf(name, sizeof(name), CPL_SAMPLES "/%lld.json", (long long)id);
	path = cpl_path_join(state_dir, name, err);
	if (!path)
		return -1;
	if (!cpl_file_exists(path))
		cpl_fail(err, "%s: what links were measured to carry "
		              "(MeasuredLinks) is not kept, or not any more "
		              "(KeepSamples)", path);
	else
		root = cpl_json_load(path, err);
	if (root && (rc = put_all(root, scene, err)))
		cpl_fail_prefix(err, "%s: ", path);
	json_decref(root);
	free(path);
	return rc;
}
