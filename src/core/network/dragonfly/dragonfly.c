/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/dragonfly/dragonfly.h"

#include <stdlib.h>

#include "network/dragonfly/dragonfly_kinds.h"
#include "network/type.h"

/* Words of rows_columns[] up to which it is kept. */
#define MAX_ROWS_COLUMNS (INT64_C(1) << 22)

static const char *const keys[] = {"groups",
                                   "rows",
                                   "columns",
                                   "row_links_per_router_pair",
                                   "column_links_per_router_pair",
                                   "global_links_per_group_pair",
                                   "global_wiring",
                                   "global_links",
                                   NULL};
static const char *const levels[] = {"group", "chassis", "router", NULL};
static const char *const classes[] = {"row", "column", "global", NULL};

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	struct cpl_dragonfly *df = (void *)net->own;
	int64_t count[3], routers;

	df->global_per_pair = 1;
	if (cpl_json_take_int(root, "groups", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &df->groups, err) ||
	    cpl_json_take_int(root, "rows", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &df->rows, err) ||
	    cpl_json_take_int(root, "columns", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &df->columns, err) ||
	    cpl_json_take_int(root, "global_links_per_group_pair", 1,
	                      CPL_NETWORK_MAX_ROUTERS, &df->global_per_pair,
	                      err))
		return -1;
	routers = (int64_t)df->rows * df->columns;
	if (routers <= CPL_NETWORK_MAX_ROUTERS)
		routers *= df->groups;
	if (routers > CPL_NETWORK_MAX_ROUTERS)
		return cpl_fail(err,
		                "\"groups\" %d x \"rows\" %d x \"columns\" %d "
		                "make more than %d routers",
		                df->groups, df->rows, df->columns,
		                CPL_NETWORK_MAX_ROUTERS);
	net->n_routers = (int)routers;
	df->routers_per_group = df->rows * df->columns;
	cpl_network_add_level(net, "group", df->routers_per_group);
	cpl_network_add_level(net, "chassis", df->columns);
	cpl_network_add_level(net, "router", 1);
	count[CPL_DRAGONFLY_ROW] = routers * (df->columns - 1);
	count[CPL_DRAGONFLY_COLUMN] = routers * (df->rows - 1);
	/* At most 1e12 pairs times 1e6: fits 64 bits. */
	count[CPL_DRAGONFLY_GLOBAL] =
	        (int64_t)df->groups * (df->groups - 1) * df->global_per_pair;
	if (cpl_network_add_classes(net, root, classes, count, err) ||
	    cpl_network_bundle(net, root, "row_links_per_router_pair",
	                       CPL_DRAGONFLY_ROW, err) ||
	    cpl_network_bundle(net, root, "column_links_per_router_pair",
	                       CPL_DRAGONFLY_COLUMN, err))
		return -1;
	df->wires = (struct cpl_wires){.groups = df->groups,
	                               .links = df->global_per_pair,
	                               .size = df->routers_per_group};
	return cpl_wires_read(&df->wires, root, err);
}

/* Index the gateways, so that the shortest of K paths is found without looking
 * at each. */
static int index_gateways(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dragonfly *df = (void *)net->own;
	int lines = df->rows + df->columns, k_links = df->global_per_pair;
	int64_t pairs = (int64_t)df->groups * (df->groups - 1), n;

	df->words = (k_links - 1) / 64 + 1;
	df->row_of =
	        malloc((size_t)df->routers_per_group * sizeof(*df->row_of));
	if (!df->row_of)
		return cpl_fail_memory(err);
	for (int i = 0; i < df->routers_per_group; i++)
		df->row_of[i] = i / df->columns;
	n = pairs * df->words;
	if (k_links == 1 || !n || n > MAX_ROWS_COLUMNS / lines)
		return 0;
	df->rows_columns = calloc((size_t)(n * lines), sizeof(uint64_t));
	if (!df->rows_columns)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < pairs * k_links; i++) {
		int local = df->gateway[i] % df->routers_per_group;
		int row = df->row_of[local], k = (int)(i % k_links);
		uint64_t bit = UINT64_C(1) << k % 64;
		uint64_t *line = df->rows_columns +
		                 (i / k_links * df->words + k / 64) * lines;

		line[row] |= bit;
		line[df->rows + local - row * df->columns] |= bit;
	}
	return 0;
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dragonfly *df = (void *)net->own;

	if (cpl_wires_fill(&df->wires, err))
		return -1;
	df->gateway = df->wires.gateway;
	for (int g = 0; g < df->groups; g++) {
		struct cpl_local_group group = cpl_dragonfly_group(net, g);

		cpl_local_link(net, &group, g * df->routers_per_group);
	}
	cpl_wires_link(net, &df->wires,
	               net->link_class[CPL_DRAGONFLY_GLOBAL].first);
	return index_gateways(net, err);
}

static void release(struct cpl_network *net)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	cpl_free_all(df->wires.gateway, df->row_of, df->rows_columns);
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	fprintf(out,
	        "dragonfly of %d groups x %d rows x %d columns x %d nodes, %d "
	        "global links per pair of groups",
	        df->groups, df->rows, df->columns, net->nodes_per_router,
	        df->global_per_pair);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "groups", df->groups,
	                 "rows", df->rows, "columns", df->columns,
	                 "row_links_per_router_pair",
	                 net->link_class[CPL_DRAGONFLY_ROW].cables,
	                 "column_links_per_router_pair",
	                 net->link_class[CPL_DRAGONFLY_COLUMN].cables,
	                 "global_links_per_group_pair", df->global_per_pair);
}

/* Groups of several kinds, see dragonfly_kinds.h. */
static const struct cpl_network_type *variant(const json_t *root)
{
	return json_object_get(root, "kinds") ? &cpl_network_dragonfly_kinds
	                                      : NULL;
}

static const struct cpl_drawing drawing = {
        .coordinate = {"group", "row", "column"},
        .title = "global links, to group",
        .n_strips = 2,
        .strip = {{CPL_DRAGONFLY_ROW, 1, "row links"},
                  {CPL_DRAGONFLY_COLUMN, 2, "column links"}},
};

const struct cpl_network_type cpl_network_dragonfly = {
        .name = "dragonfly",
        .flags = CPL_NETWORK_GROUPS,
        .summary = "groups of routers, all-to-all by rows and columns, and "
                   "links between all groups",
        .levels = levels,
        .keys = keys,
        .size = sizeof(struct cpl_dragonfly),
        .shape = shape,
        .links = links,
        .release = release,
        .drawing = &drawing,
        .variant = variant,
        .describe = describe,
        .sizes = sizes,
};
