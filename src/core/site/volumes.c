/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/volumes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define FORMAT "commplace-volumes"
/* Bytes/s: no node sends more. */
#define VOLUME_MAX 1e15

/* FNV-1a, and never 0. */
static uint64_t hash_of(const char *job_name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const char *p = job_name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
	return hash + !hash;
}

static int place_of(uint32_t uid, uint64_t name)
{
	return (int)((name ^ uid * UINT64_C(0x9e3779b97f4a7c15)) % CPL_VOLUMES);
}

double cpl_volumes_of(const struct cpl_volumes *volumes, uint32_t uid,
                      const char *job_name)
{
	uint64_t name = job_name && *job_name ? hash_of(job_name) : 0;
	const struct cpl_volume *kept = &volumes->at[place_of(uid, name)];

	return name && kept->name == name && kept->uid == uid ? kept->volume
	                                                      : -1;
}

void cpl_volumes_set(struct cpl_volumes *volumes, uint32_t uid,
                     const char *job_name, double volume)
{
	uint64_t name = job_name && *job_name ? hash_of(job_name) : 0;

	if (!name || !(volume >= 0 && volume <= VOLUME_MAX))
		return;
	volumes->at[place_of(uid, name)] =
	        (struct cpl_volume){name, uid, volume};
	volumes->changed = true;
}

void cpl_volumes_merge(struct cpl_volumes *volumes,
                       const struct cpl_volumes *other, bool in_place)
{
	for (int i = 0; i < CPL_VOLUMES; i++)
		if (other->at[i].name && (in_place || !volumes->at[i].name))
			volumes->at[i] = other->at[i];
}

char *cpl_volumes_text(const struct cpl_volumes *volumes, size_t *length,
                       struct cpl_error *err)
{
	json_t *list = json_array(), *root;
	char *text, hash[17];
	bool bad = !list;

	for (int i = 0; i < CPL_VOLUMES && !bad; i++) {
		const struct cpl_volume *v = &volumes->at[i];

		snprintf(hash, sizeof(hash), "%016" PRIx64, v->name);
		bad = v->name &&
		      json_array_append_new(
		              list, json_pack("{s:I, s:s, s:f}", "uid",
		                              (json_int_t)v->uid, "name", hash,
		                              "volume", v->volume));
	}
	root = json_pack("{s:s, s:i, s:o}", "format", FORMAT, "version", 1,
	                 "volumes", list);
	text = root && !bad ? cpl_json_text(root, length, err) : NULL;
	if (!root || bad)
		cpl_fail_memory(err);
	json_decref(root);
	return text;
}

static int take_volume(const json_t *object, struct cpl_volumes *out,
                       struct cpl_error *err)
{
	static const char *const keys[] = {"uid", "name", "volume", NULL};
	const char *text = "";
	double volume = -1;
	int64_t uid = -1;
	uint64_t name;
	char *end;

	if (!json_is_object(object))
		return cpl_fail(err, "is not an object");
	if (cpl_json_known_keys(object, NULL, keys, err) ||
	    cpl_json_int(object, "uid", 0, UINT32_MAX, &uid, err) < 0 ||
	    cpl_json_string(object, "name", &text, err) < 0 ||
	    cpl_json_number(object, "volume", 0, VOLUME_MAX, &volume, err) < 0)
		return -1;
	name = strtoull(text, &end, 16);
	if (strlen(text) != 16 || *end || !name)
		return cpl_fail(err, "\"name\" is no hash of a name");
	if (uid < 0 || volume < 0)
		return cpl_fail(err, "\"%s\" is missing",
		                uid < 0 ? "uid" : "volume");
	out->at[place_of((uint32_t)uid, name)] =
	        (struct cpl_volume){name, (uint32_t)uid, volume};
	return 0;
}

static int take_volumes(const json_t *root, struct cpl_volumes *out,
                        struct cpl_error *err)
{
	static const char *const keys[] = {"format", "version", "volumes",
	                                   NULL};
	const json_t *list = json_object_get(root, "volumes");

	if (cpl_json_expect_format(root, FORMAT, err) ||
	    cpl_json_known_keys(root, NULL, keys, err))
		return -1;
	if (!json_is_array(list))
		return cpl_fail(err, "\"volumes\" is not an array");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (take_volume(json_array_get(list, i), out, err))
			return cpl_fail_prefix(err, "\"volumes\", entry %zu: ",
			                       i + 1);
	return 0;
}

int cpl_volumes_parse(const char *text, size_t length, const char *name,
                      struct cpl_volumes *out, struct cpl_error *err)
{
	json_t *root = cpl_json_parse(text, length, name, err);
	int rc = -1;

	*out = (struct cpl_volumes){.changed = false};
	if (!root)
		return -1;
	rc = take_volumes(root, out, err);
	json_decref(root);
	if (rc) {
		*out = (struct cpl_volumes){.changed = false};
		cpl_fail_prefix(err, "%s: ", name);
	}
	return rc;
}
