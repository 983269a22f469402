/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/volumes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_BYTES (1 << 20)
/* Bytes/s: no node sends more. */
#define VOLUME_MAX 1e15

/* FNV-1a, and never 0; 0: it has no name. */
static uint64_t hash_of(const char *job_name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	if (!job_name || !*job_name)
		return 0;
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
	uint64_t name = hash_of(job_name);
	const struct cpl_volume *kept = &volumes->at[place_of(uid, name)];

	return name && kept->name == name && kept->uid == uid ? kept->volume
	                                                      : -1;
}

void cpl_volumes_set(struct cpl_volumes *volumes, uint32_t uid,
                     const char *job_name, double volume)
{
	uint64_t name = hash_of(job_name);

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

void cpl_volumes_write(const struct cpl_volumes *volumes, FILE *out)
{
	for (int i = 0; i < CPL_VOLUMES; i++)
		if (volumes->at[i].name)
			fprintf(out, "%" PRIu32 " %016" PRIx64 " %.17g\n",
			        volumes->at[i].uid, volumes->at[i].name,
			        volumes->at[i].volume);
}

static int take_line(const char *line, struct cpl_volumes *out)
{
	char *end;
	uint64_t uid = strtoull(line, &end, 10), name = strtoull(end, &end, 16);
	double volume = strtod(end, &end);

	if (*end || uid > UINT32_MAX || !name ||
	    !(volume >= 0 && volume <= VOLUME_MAX))
		return -1;
	out->at[place_of((uint32_t)uid, name)] =
	        (struct cpl_volume){name, (uint32_t)uid, volume};
	return 0;
}

int cpl_volumes_load(const char *path, struct cpl_volumes *out,
                     struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err), *rest = text;
	int rc = text ? 0 : -1, n = 0;

	*out = (struct cpl_volumes){.changed = false};
	for (char *line; !rc && (line = strsep(&rest, "\n")) && rest;) {
		n++;
		rc = take_line(line, out);
	}
	if (rc && text) {
		*out = (struct cpl_volumes){.changed = false};
		cpl_fail(err, "%s:%d: is no number of a user, hash of a name "
		              "and bytes/s", path, n);
	}
	free(text);
	return rc;
}
