/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"

#define FORMAT "commplace-trial"
#define MAX_BYTES (16 << 20)

char *cpl_trial_path(const char *state_dir, struct cpl_error *err)
{
	return cpl_path_join(state_dir, "trial.json", err);
}

static int take_stopped(const json_t *object, struct cpl_trial_state *out,
                        struct cpl_error *err)
{
	static const char *const keys[] = {"profile", "gain", "low",
	                                   "high",    "jobs", NULL};
	struct cpl_stopped *s;
	const char *profile = "";

	if (!json_is_object(object))
		return cpl_fail(err, "is not an object");
	if (cpl_json_known_keys(object, NULL, keys, err) ||
	    cpl_array_grow(&out->stopped, out->n, sizeof(*s), err))
		return -1;
	s = &out->stopped[out->n];
	*s = (struct cpl_stopped){NULL};
	if (cpl_json_string(object, "profile", &profile, err) < 0 ||
	    cpl_json_number(object, "gain", -1e30, 1, &s->gain, err) < 0 ||
	    cpl_json_number(object, "low", -1e30, 1, &s->low, err) < 0 ||
	    cpl_json_number(object, "high", -1e30, 1, &s->high, err) < 0 ||
	    cpl_json_int(object, "jobs", 0, INT64_MAX, &s->jobs, err) < 0)
		return -1;
	if (!*profile)
		return cpl_fail(err, "\"profile\" is missing");
	s->profile = strdup(profile);
	if (!s->profile)
		return cpl_fail_memory(err);
	out->n++;
	return 0;
}

static int take_trial(const json_t *root, struct cpl_trial_state *out,
                struct cpl_error *err)
{
	static const char *const keys[] = {"format", "version", "time",
	                                   "stopped", NULL};
	const json_t *list = json_object_get(root, "stopped");

	if (cpl_json_expect_format(root, FORMAT, err) ||
	    cpl_json_known_keys(root, NULL, keys, err))
		return -1;
	if (!json_is_array(list))
		return cpl_fail(err, "\"stopped\" is not an array");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (take_stopped(json_array_get(list, i), out, err))
			return cpl_fail_prefix(err, "\"stopped\", entry %zu: ",
			                       i + 1);
	return 0;
}

int cpl_trial_parse(const char *text, size_t length, const char *name,
                    struct cpl_trial_state *out, struct cpl_error *err)
{
	json_t *root;
	int rc;

	*out = (struct cpl_trial_state){0};
	root = cpl_json_parse(text, length, name, err);
	if (!root)
		return -1;
	rc = take_trial(root, out, err);
	json_decref(root);
	if (rc) {
		cpl_trial_free(out);
		cpl_fail_prefix(err, "%s: ", name);
	}
	return rc;
}

int cpl_trial_load(const char *path, struct cpl_trial_state *out,
                   struct cpl_error *err)
{
	struct cpl_error why = {""};
	size_t length;
	char *text;
	int rc;

	*out = (struct cpl_trial_state){0};
	if (!cpl_file_exists(path) && errno == ENOENT)
		return 1;
	text = cpl_file_read(path, MAX_BYTES, &length, &why);
	if (!text)
		return cpl_fail(err, "%s", why.text);
	rc = cpl_trial_parse(text, length, path, out, err);
	free(text);
	return rc;
}

void cpl_trial_free(struct cpl_trial_state *trial)
{
	for (int i = 0; i < trial->n; i++)
		free(trial->stopped[i].profile);
	free(trial->stopped);
	*trial = (struct cpl_trial_state){0};
}

json_t *cpl_trial_json(const struct cpl_trial_state *trial, int64_t now)
{
	json_t *list = json_array();

	for (int i = 0; list && i < trial->n; i++) {
		const struct cpl_stopped *s = &trial->stopped[i];

		if (!json_array_append_new(
		            list, json_pack("{s:s, s:f, s:f, s:f, s:I}",
		                            "profile", s->profile, "gain",
		                            s->gain, "low", s->low, "high",
		                            s->high, "jobs",
		                            (json_int_t)s->jobs)))
			continue;
		json_decref(list);
		list = NULL;
	}
	return json_pack("{s:s, s:i, s:I, s:o}", "format", FORMAT, "version", 1,
	                 "time", (json_int_t)now, "stopped", list);
}

const struct cpl_stopped *cpl_trial_stopped(const struct cpl_trial_state *trial,
                                            const char *profile)
{
	for (int i = 0; profile && i < trial->n; i++)
		if (!strcmp(trial->stopped[i].profile, profile))
			return &trial->stopped[i];
	return NULL;
}

bool cpl_trial_draws_stock(uint64_t seed, int64_t job, int percent)
{
	return cpl_random_below(seed, CPL_STREAM_TRIAL, (uint64_t)job, 100) <
	       (uint64_t)percent;
}
