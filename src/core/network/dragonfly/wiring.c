/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "network/dragonfly/dragonfly.h"
#include "network/type.h"

static const char *const names[] = {
        [CPL_WIRING_MODULO] = "modulo",
        [CPL_WIRING_CONSECUTIVE] = "consecutive",
        [CPL_WIRING_PALMTREE] = "palmtree",
        [CPL_WIRING_LIST] = "list",
};

#define NAMES (sizeof(names) / sizeof(*names))

static int allocate(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dragonfly *df = (void *)net->own;
	int64_t count = net->link_class[CPL_DRAGONFLY_GLOBAL].count;

	df->gateway = malloc(((size_t)count + 1) * sizeof(*df->gateway));
	return df->gateway ? 0 : cpl_fail_memory(err);
}

/* One row [group, router, group, router] of "global_links". */
static int read_row(const struct cpl_network *net, const json_t *row, size_t i,
                    int value[4], struct cpl_error *err)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	if (!json_is_array(row) || json_array_size(row) != 4)
		return cpl_fail(err,
		                "\"global_links\"[%zu]: [group, router, group, "
		                "router] is needed",
		                i);
	for (size_t j = 0; j < 4; j++) {
		const json_t *item = json_array_get(row, j);
		int limit = j % 2 ? df->routers_per_group : df->groups;
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

static int read_list(struct cpl_network *net, const json_t *list,
                     struct cpl_error *err)
{
	struct cpl_dragonfly *df = (void *)net->own;
	int64_t count = net->link_class[CPL_DRAGONFLY_GLOBAL].count;
	int k_links = df->global_per_pair;
	int *gateway;

	if (!json_is_array(list))
		return cpl_fail(err,
		                "\"global_links\" %s; an array of [group, "
		                "router, group, router] is needed",
		                list ? "is not valid" : "is missing");
	if (json_array_size(list) != (size_t)(count / 2))
		return cpl_fail(err,
		                "\"global_links\" holds %zu links; %d groups "
		                "with %d between each two have %lld",
		                json_array_size(list), df->groups, k_links,
		                (long long)(count / 2));
	if (allocate(net, err))
		return -1;
	gateway = df->gateway;
	for (int64_t i = 0; i < count; i++)
		gateway[i] = -1;
	for (size_t i = 0; i < (size_t)(count / 2); i++) {
		int v[4], k = 0;
		int64_t there, back;

		if (read_row(net, json_array_get(list, i), i, v, err))
			return -1;
		there = cpl_dragonfly_global(net, v[0], v[2], 0);
		back = cpl_dragonfly_global(net, v[2], v[0], 0);
		while (k < k_links && gateway[there + k] >= 0)
			k++;
		if (k == k_links)
			return cpl_fail(err,
			                "\"global_links\"[%zu]: groups %d and "
			                "%d have more than %d links",
			                i, v[0], v[2], k_links);
		gateway[there + k] = v[0] * df->routers_per_group + v[1];
		gateway[back + k] = v[2] * df->routers_per_group + v[3];
	}
	return 0;
}

int cpl_wiring_read(struct cpl_network *net, const json_t *root,
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
	((struct cpl_dragonfly *)(void *)net->own)->wiring = (enum cpl_wiring)i;
	if (i == CPL_WIRING_LIST)
		return read_list(net, list, err);
	if (list)
		return cpl_fail(err,
		                "\"global_links\" is for \"global_wiring\": "
		                "\"list\" only");
	return 0;
}

/* Local router in group a of link k to group b. */
static int local_router(const struct cpl_dragonfly *df, int a, int b, int k)
{
	int64_t size = df->routers_per_group, k_links = df->global_per_pair;
	int64_t ports = (df->groups - 1) * k_links;
	int64_t per_router = (ports + size - 1) / size, port;

	switch (df->wiring) {
	case CPL_WIRING_CONSECUTIVE:
		port = (b - (b > a)) * k_links + k;
		return (int)(port / per_router);
	case CPL_WIRING_PALMTREE:
		port = (a - b - 1 + (a > b ? 0 : df->groups)) * k_links +
		       (a < b ? k : k_links - 1 - k);
		return (int)(port / per_router);
	default:
		return (int)((b * k_links + k) % size);
	}
}

int cpl_wiring_fill(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dragonfly *df = (void *)net->own;

	if (df->wiring == CPL_WIRING_LIST)
		return 0;
	if (allocate(net, err))
		return -1;
	for (int a = 0; a < df->groups; a++)
		for (int b = 0; b < df->groups; b++)
			for (int k = 0; k < df->global_per_pair && a != b; k++)
				df->gateway[cpl_dragonfly_global(net, a, b,
				                                 k)] =
				        a * df->routers_per_group +
				        local_router(df, a, b, k);
	return 0;
}
