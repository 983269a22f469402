/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/phases/machine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/json.h"

#define MAX_SIZES 4096

const char *const cpl_machine_level_name[CPL_MACHINE_LEVELS] = {
        "core", "socket", "node", "router", "group"};

struct machine_size {
	double bytes, seconds;
};

struct machine_level {
	bool known;
	double latency, per_byte;
	bool has_costs;
	double send, receive, gap;
	struct machine_size *size; /* [n], increasing bytes */
	size_t n;
};

struct cpl_machine {
	struct machine_level level[CPL_MACHINE_LEVELS];
};

static int read_sizes(const json_t *rows, struct machine_level *l,
                      struct cpl_error *err)
{
	size_t n = json_array_size(rows);

	if (!json_is_array(rows) || n > MAX_SIZES)
		return cpl_fail(err, "\"sizes\" must be a list of at most %d",
		                MAX_SIZES);
	l->size = calloc(n + 1, sizeof(*l->size));
	if (!l->size)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		const json_t *row = json_array_get(rows, i);
		struct machine_size *s = &l->size[i];

		if (json_array_size(row) != 2 ||
		    !json_is_number(json_array_get(row, 0)) ||
		    !json_is_number(json_array_get(row, 1)))
			return cpl_fail(err,
			                "sizes row %zu must be [bytes, seconds]",
			                i + 1);
		s->bytes = json_number_value(json_array_get(row, 0));
		s->seconds = json_number_value(json_array_get(row, 1));
		if (!(s->bytes >= 0 && s->bytes <= 1e18) ||
		    !(s->seconds >= 0 && s->seconds <= 1e9))
			return cpl_fail(err,
			                "sizes row %zu must be of 0 to 1e18 "
			                "bytes and 0 to 1e9 seconds",
			                i + 1);
		if (i && s->bytes <= s[-1].bytes)
			return cpl_fail(err,
			                "sizes row %zu must have more bytes "
			                "than the one before",
			                i + 1);
	}
	l->n = n;
	return 0;
}

static int read_costs(const json_t *object, struct machine_level *l,
                      struct cpl_error *err)
{
	static const char *const keys[] = {"send_overhead", "receive_overhead",
	                                   "gap"};
	double *to[] = {&l->send, &l->receive, &l->gap};
	int n = 0;

	for (int i = 0; i < 3; i++) {
		n += json_object_get(object, keys[i]) != NULL;
		if (cpl_json_number(object, keys[i], 0, 1e9, to[i], err) < 0)
			return -1;
	}
	if (n % 3)
		return cpl_fail(err, "\"send_overhead\", \"receive_overhead\" "
		                     "and \"gap\" go together");
	l->has_costs = n;
	return 0;
}

static int read_level(const json_t *object, struct machine_level *l,
                      struct cpl_error *err)
{
	static const char *const keys[] = {"latency", "seconds_per_byte",
	                                   "sizes", "send_overhead",
	                                   "receive_overhead", "gap", NULL};
	const json_t *rows = json_object_get(object, "sizes");

	if (!json_is_object(object))
		return cpl_fail(err, "must be an object");
	if (cpl_json_known_keys(object, NULL, keys, err) ||
	    cpl_json_number(object, "latency", 0, 1e9, &l->latency, err) < 0 ||
	    cpl_json_number(object, "seconds_per_byte", 0, 1e9, &l->per_byte,
	                    err) < 0 ||
	    read_costs(object, l, err))
		return -1;
	if (!json_object_get(object, "latency") ||
	    !json_object_get(object, "seconds_per_byte"))
		return cpl_fail(err,
		                "\"latency\" and \"seconds_per_byte\" are "
		                "needed");
	l->known = true;
	return rows ? read_sizes(rows, l, err) : 0;
}

static int read_machine(const json_t *root, struct cpl_machine *m,
                        struct cpl_error *err)
{
	static const char *const keys[] = {"format", "version",  "name",
	                                   "levels", "measured", NULL};
	const json_t *levels = json_object_get(root, "levels"), *value;
	const char *key;
	int n = 0;

	if (cpl_json_expect_format(root, "commplace-machine", err) ||
	    cpl_json_known_keys(root, NULL, keys, err))
		return -1;
	if (!json_is_object(levels))
		return cpl_fail(err, "\"levels\" must be an object");
	json_object_foreach((json_t *)levels, key, value)
	{
		int l = 0;

		while (l < CPL_MACHINE_LEVELS &&
		       strcmp(key, cpl_machine_level_name[l]))
			l++;
		if (l == CPL_MACHINE_LEVELS)
			return cpl_fail(err,
			                "level '%.40s' is unknown; it must be "
			                "core, socket, node, router or group",
			                key);
		if (read_level(value, &m->level[l], err))
			return cpl_fail_prefix(err, "level %s: ", key);
		n++;
	}
	return n ? 0 : cpl_fail(err, "\"levels\" has no level");
}

static struct cpl_machine *take_machine(json_t *root, const char *name,
                                        struct cpl_error *err)
{
	struct cpl_machine *m = root ? calloc(1, sizeof(*m)) : NULL;

	if (root && !m)
		cpl_fail_memory(err);
	if (m && read_machine(root, m, err)) {
		cpl_fail_prefix(err, "%s: ", name);
		cpl_machine_free(m);
		m = NULL;
	}
	json_decref(root);
	return m;
}

struct cpl_machine *cpl_machine_load(const char *path, struct cpl_error *err)
{
	return take_machine(cpl_json_load(path, err), path, err);
}

struct cpl_machine *cpl_machine_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err)
{
	return take_machine(cpl_json_parse(text, length, name, err), name, err);
}

void cpl_machine_free(struct cpl_machine *m)
{
	for (int l = 0; m && l < CPL_MACHINE_LEVELS; l++)
		free(m->level[l].size);
	free(m);
}

static const struct machine_level *known(const struct cpl_machine *m, int level)
{
	for (int l = level; l >= 0; l--)
		if (m->level[l].known)
			return &m->level[l];
	while (!m->level[level].known)
		level++;
	return &m->level[level];
}

double cpl_machine_seconds(const struct cpl_machine *m,
                           enum cpl_machine_level level, double bytes)
{
	const struct machine_level *l = known(m, level);
	const struct machine_size *s = l->size;
	size_t low = 0, high = l->n;
	double part;

	if (!l->n)
		return l->latency + bytes * l->per_byte;
	/* the first size that is larger */
	CPL_BISECT(low, high, middle, s[middle].bytes <= bytes);
	if (!low)
		return s[0].seconds;
	if (low == l->n)
		return s[low - 1].seconds +
		       (bytes - s[low - 1].bytes) * l->per_byte;
	part = (bytes - s[low - 1].bytes) / (s[low].bytes - s[low - 1].bytes);
	return s[low - 1].seconds +
	       part * (s[low].seconds - s[low - 1].seconds);
}

struct cpl_machine_costs cpl_machine_costs(const struct cpl_machine *m,
                                           enum cpl_machine_level level)
{
	const struct machine_level *l = known(m, level);
	double latency = l->latency - l->send - l->receive;

	if (!l->has_costs)
		return (struct cpl_machine_costs){0, 0, 0, 0};
	return (struct cpl_machine_costs){latency > 0 ? latency : 0, l->send,
	                                  l->receive, l->gap};
}

double cpl_machine_occupancy(const struct cpl_machine *m,
                             enum cpl_machine_level level, double bytes)
{
	struct cpl_machine_costs c = cpl_machine_costs(m, level);
	double least = c.gap > c.send ? c.gap : c.send;
	double busy = cpl_machine_seconds(m, level, bytes) - c.latency -
	              c.receive;

	return busy > least ? busy : least;
}
