/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/sample.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"

#define FORMAT "commplace-sample"
/* No link carries more in a second, and no sum of such is infinite. */
#define MOST_BYTES 1e18

int cpl_sample_add(struct cpl_sample *sample, const struct cpl_job_load *load)
{
	size_t n = sample->n + (size_t)load->n_links;
	struct cpl_sample_row *row = realloc(sample->row, (n + 1) * sizeof(*row));

	if (!row)
		return -1;
	sample->row = row;
	for (int i = 0; i < load->n_links; i++)
		row[sample->n++] = (struct cpl_sample_row){
		        load->id, load->on[i].link, load->on[i].bytes};
	return 0;
}

void cpl_sample_write(const struct cpl_sample *sample, FILE *out)
{
	fprintf(out, "{\"format\": \"" FORMAT "\", \"version\": 1, \"rows\": [");
	for (size_t i = 0; i < sample->n; i++)
		fprintf(out, "%s[%" PRId64 ", %" PRId64 ", %.17g]",
		        i ? ",\n " : "\n ", sample->row[i].job,
		        sample->row[i].link, sample->row[i].bytes);
	fputs("]}\n", out);
}

static int take_row(struct cpl_sample *out, const json_t *array, int64_t links,
                    struct cpl_error *err)
{
	struct cpl_sample_row *row = &out->row[out->n++];
	json_t *bytes;
	json_int_t job, link;

	if (json_unpack((json_t *)array, "[I, I, o!]", &job, &link, &bytes) ||
	    !json_is_number(bytes))
		return cpl_fail(err, "is not [JOB, LINK, BYTES]");
	*row = (struct cpl_sample_row){job, link, json_number_value(bytes)};
	if (link < 0 || link >= links || row->bytes < 0 ||
	    row->bytes > MOST_BYTES ||
	    (out->n > 1 && row[-1].job == job && row[-1].link >= link))
		return cpl_fail(err, "is none of this network's links, in "
		                     "their order, with bytes");
	return 0;
}

/* The job's bytes are these. */
static int put_share(struct cpl_job_load *job, const struct cpl_sample_row *row,
                     size_t n, struct cpl_error *err)
{
	bool same = (size_t)job->n_links == n;

	for (size_t i = 0; i < n && same; i++)
		same = job->on[i].link == row[i].link;
	for (size_t i = 0; i < n && same; i++)
		job->on[i].bytes = row[i].bytes;
	return same ? 0 : cpl_fail(err, "job %" PRId64 " is on other links",
	                           job->id);
}

static int put_rest(struct cpl_scene *scene, const struct cpl_sample_row *row,
                    size_t n, struct cpl_error *err)
{
	struct cpl_times_rate *rate = malloc((n + 1) * sizeof(*rate));
	struct cpl_job_load *rest;

	for (size_t i = 0; rate && i < n; i++)
		rate[i] = (struct cpl_times_rate){row[i].link, row[i].bytes};
	rest = cpl_job_load_of_rest(rate, (int64_t)n, err);
	return rest ? cpl_scene_add(scene, rest, err) : -1;
}

/* Rows of one job, which may have ended before, or of what is left. */
static int put_load(struct cpl_scene *scene, const struct cpl_sample_row *row,
                    size_t n, struct cpl_error *err)
{
	struct cpl_job_load *job =
	        scene->running ? cpl_background_first(scene->running) : NULL;

	while (job && job->id != row->job)
		job = job->after;
	if (job)
		return put_share(job, row, n, err);
	return row->job == CPL_MEASURED_ID ? put_rest(scene, row, n, err) : 0;
}

/* All of the file. */
static int put_rows(const json_t *root, struct cpl_scene *scene,
                    struct cpl_error *err)
{
	const json_t *list = json_object_get(root, "rows");
	struct cpl_sample all = {0};
	int64_t links = cpl_times_links(scene->net);
	size_t rows = json_array_size(list), n;
	int rc = cpl_json_expect_format(root, FORMAT, err);

	all.row = malloc((rows + 1) * sizeof(*all.row));
	if (!all.row)
		rc = cpl_fail_memory(err);
	for (size_t i = 0; i < rows && !rc; i++)
		if ((rc = take_row(&all, json_array_get(list, i), links, err)))
			cpl_fail_prefix(err, "row %zu: ", i + 1);
	for (size_t i = 0; i < all.n && !rc; i += n) {
		for (n = 1; i + n < all.n && all.row[i + n].job == all.row[i].job;)
			n++;
		rc = put_load(scene, &all.row[i], n, err);
	}
	cpl_scene_changed(scene);
	free(all.row);
	return rc;
}

int cpl_sample_load(const char *path, struct cpl_scene *scene,
                    struct cpl_error *err)
{
	json_t *root = cpl_json_load(path, err);
	int rc = root ? put_rows(root, scene, err) : -1;

	if (root && rc)
		cpl_fail_prefix(err, "%s: ", path);
	json_decref(root);
	return rc;
}

char *cpl_sample_path(const char *state_dir, int64_t id, struct cpl_error *err)
{
	char name[48];

	snprintf(name, sizeof(name), CPL_SAMPLES "/%" PRId64 ".json", id);
	return cpl_path_join(state_dir, name, err);
}

int cpl_sample_put(const char *state_dir, int64_t id, struct cpl_scene *scene,
                   struct cpl_error *err)
{
	char *path = cpl_sample_path(state_dir, id, err);
	int rc = -1;

	if (path && !cpl_file_exists(path))
		cpl_fail(err, "what links were measured to carry is not kept, "
		              "or not any more (KeepSamples): %s",
		         path);
	else if (path)
		rc = cpl_sample_load(path, scene, err);
	free(path);
	return rc;
}
