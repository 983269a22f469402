/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "network/dragonfly/wiring.h"
#include "network/type.h"

static const char *const names[] = {
        [CPL_WIRING_MODULO] = "modulo",
        [CPL_WIRING_CONSECUTIVE] = "consecutive",
        [CPL_WIRING_PALMTREE] = "palmtree",
        [CPL_WIRING_LIST] = "list",
};

#define NAMES (sizeof(names) / sizeof(*names))

static int64_t count(const struct cpl_wires *w)
{
	return (int64_t)w->groups * (w->groups - 1) * w->links;
}

static int size_of(const struct cpl_wires *w, int group)
{
	return w->first ? w->first[group + 1] - w->first[group] : w->size;
}

static int first_of(const struct cpl_wires *w, int group)
{
	return w->first ? w->first[group] : group * w->size;
}

static int64_t number(const struct cpl_wires *w, int a, int b)
{
	return cpl_wires_pair(w->groups, a, b) * w->links;
}

static int allocate(struct cpl_wires *w, struct cpl_error *err)
{
	w->gateway = malloc(((size_t)count(w) + 1) * sizeof(*w->gateway));
	return w->gateway ? 0 : cpl_fail_memory(err);
}

/* One row [group, router, group, router] of "global_links". */
static int read_row(const struct cpl_wires *w, const json_t *row, size_t i,
                    int value[4], struct cpl_error *err)
{
	if (!json_is_array(row) || json_array_size(row) != 4)
		return cpl_fail(err,
		                "\"global_links\"[%zu]: [group, router, group, "
		                "router] is needed",
		                i);
	for (size_t j = 0; j < 4; j++) {
		const json_t *item = json_array_get(row, j);
		int limit = j % 2 ? size_of(w, value[j - 1]) : w->groups;
		json_int_t x = json_integer_value(item);

		if (!json_is_integer(item) || x < 0 || x >= limit)
			return cpl_fail(err,
			                "\"global_links\"[%zu]: the %s must be "
			                "an integer in 0 to %d",
			                i,
			                j % 2 ? "router in its group" : "group",
			                limit - 1);
		value[j] = (int)x;
	}
	if (value[0] == value[2])
		return cpl_fail(err,
		                "\"global_links\"[%zu] leads from group %d to "
		                "itself",
		                i, value[0]);
	return 0;
}

static int read_list(struct cpl_wires *w, const json_t *list,
                     struct cpl_error *err)
{
	int64_t n = count(w);

	if (!json_is_array(list))
		return cpl_fail(err,
		                "\"global_links\" %s; an array of [group, "
		                "router, group, router] is needed",
		                list ? "is not valid" : "is missing");
	if (json_array_size(list) != (size_t)(n / 2))
		return cpl_fail(err,
		                "\"global_links\" holds %zu links; %d groups "
		                "with %d between each two have %lld",
		                json_array_size(list), w->groups, w->links,
		                (long long)(n / 2));
	if (allocate(w, err))
		return -1;
	for (int64_t i = 0; i < n; i++)
		w->gateway[i] = -1;
	for (size_t i = 0; i < (size_t)(n / 2); i++) {
		int v[4], k = 0;
		int64_t there, back;

		if (read_row(w, json_array_get(list, i), i, v, err))
			return -1;
		there = number(w, v[0], v[2]);
		back = number(w, v[2], v[0]);
		while (k < w->links && w->gateway[there + k] >= 0)
			k++;
		if (k == w->links)
			return cpl_fail(err,
			                "\"global_links\"[%zu]: groups %d and "
			                "%d have more than %d links",
			                i, v[0], v[2], w->links);
		w->gateway[there + k] = first_of(w, v[0]) + v[1];
		w->gateway[back + k] = first_of(w, v[2]) + v[3];
	}
	return 0;
}

int cpl_wires_read(struct cpl_wires *w, const json_t *root,
                   struct cpl_error *err)
{
	const json_t *list = json_object_get(root, "global_links");
	const char *name = names[CPL_WIRING_MODULO];
	size_t i = 0;

	if (cpl_json_string(root, "global_wiring", &name, err) < 0)
		return -1;
	while (i < NAMES && strcmp(name, names[i]))
		i++;
	if (i == NAMES)
		return cpl_fail(err,
		                "\"global_wiring\" is \"%.60s\"; it must be "
		                "modulo, consecutive, palmtree or list",
		                name);
	w->wiring = (enum cpl_wiring)i;
	if (i == CPL_WIRING_LIST)
		return read_list(w, list, err);
	if (list)
		return cpl_fail(err,
		                "\"global_links\" is for \"global_wiring\": "
		                "\"list\" only");
	return 0;
}

/* Local router in group a of link k to group b. */
static int local_router(const struct cpl_wires *w, int a, int b, int k)
{
	int64_t size = size_of(w, a), k_links = w->links;
	int64_t ports = (w->groups - 1) * k_links;
	int64_t per_router = (ports + size - 1) / size, port;

	switch (w->wiring) {
	case CPL_WIRING_CONSECUTIVE:
		port = (b - (b > a)) * k_links + k;
		return (int)(port / per_router);
	case CPL_WIRING_PALMTREE:
		port = (a - b - 1 + (a > b ? 0 : w->groups)) * k_links +
		       (a < b ? k : k_links - 1 - k);
		return (int)(port / per_router);
	default:
		return (int)((b * k_links + k) % size);
	}
}

int cpl_wires_fill(struct cpl_wires *w, struct cpl_error *err)
{
	int64_t i = 0;

	if (w->wiring == CPL_WIRING_LIST)
		return 0;
	if (allocate(w, err))
		return -1;
	for (int a = 0; a < w->groups; a++)
		for (int b = 0; b < w->groups; b++)
			for (int k = 0; k < w->links && a != b; k++)
				w->gateway[i++] = first_of(w, a) +
				                  local_router(w, a, b, k);
	return 0;
}

void cpl_wires_link(struct cpl_network *net, const struct cpl_wires *w,
                    int64_t first)
{
	for (int a = 0; a < w->groups; a++)
		for (int b = 0; b < w->groups; b++)
			for (int k = 0; k < w->links && a != b; k++) {
				int64_t there = number(w, a, b) + k;
				int64_t back = number(w, b, a) + k;

				cpl_network_set_link(net, first + there,
				                     w->gateway[there],
				                     w->gateway[back]);
			}
}
