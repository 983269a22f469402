/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/dragonfly_plus/dragonfly_plus.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "network/type.h"

static const char *const keys[] = {"cells",
                                   "leaves",
                                   "spines",
                                   "links_per_leaf_spine_pair",
                                   "global_links_per_cell_pair",
                                   "global_wiring",
                                   "global_links",
                                   NULL};
static const char *const levels[] = {"group", "router", NULL};
static const char *const classes[] = {"up", "down", "global", NULL};

/* One number for all cells, or an array; first[cells + 1] gets its sums. */
static int read_switches(const json_t *root, const char *key, int cells,
                         int *first, struct cpl_error *err)
{
	const json_t *list = json_object_get(root, key);
	int64_t sum = 0;
	int same = 0;

	if (json_is_array(list) && json_array_size(list) != (size_t)cells)
		return cpl_fail(err,
		                "\"%s\" holds %zu numbers; one, or one for "
		                "each of %d cells is needed",
		                key, json_array_size(list), cells);
	if (!json_is_array(list) &&
	    cpl_json_take_int(root, key, 1, CPL_NETWORK_MAX_ROUTERS, &same,
	                      err))
		return -1;
	for (int c = 0; c < cells; c++) {
		const json_t *item = json_array_get(list, (size_t)c);
		json_int_t n = item ? json_integer_value(item) : same;

		if (n < 1 || n > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"%s\"[%d]: an integer in 1 to %d is "
			                "needed",
			                key, c, CPL_NETWORK_MAX_ROUTERS);
		first[c] = (int)sum;
		sum += n;
		if (sum > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"cells\" %d with these \"%s\" make "
			                "more than %d routers",
			                cells, key, CPL_NETWORK_MAX_ROUTERS);
	}
	first[cells] = (int)sum;
	return 0;
}

static int spines_of(const struct cpl_dfplus *df, int cell)
{
	return df->spine[cell + 1] - df->spine[cell];
}

static int leaves_of(const struct cpl_dfplus *df, int cell)
{
	return df->leaf[cell + 1] - df->leaf[cell];
}

static int read_cells(struct cpl_network *net, const json_t *root,
                      struct cpl_error *err)
{
	struct cpl_dfplus *df = (void *)net->own;
	size_t n;

	if (cpl_json_take_int(root, "cells", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &df->cells, err))
		return -1;
	n = (size_t)df->cells + 1;
	df->leaf = malloc(n * sizeof(*df->leaf));
	df->spine = malloc(n * sizeof(*df->spine));
	df->up = malloc(n * sizeof(*df->up));
	if (!df->leaf || !df->spine || !df->up)
		return cpl_fail_memory(err);
	if (read_switches(root, "leaves", df->cells, df->leaf, err) ||
	    read_switches(root, "spines", df->cells, df->spine, err))
		return -1;
	if (df->leaf[df->cells] >
	    CPL_NETWORK_MAX_ROUTERS - df->spine[df->cells])
		return cpl_fail(err,
		                "\"leaves\" and \"spines\" make more than %d "
		                "routers",
		                CPL_NETWORK_MAX_ROUTERS);
	df->up[0] = 0;
	for (int c = 0; c < df->cells; c++)
		df->up[c + 1] = df->up[c] +
		                (int64_t)leaves_of(df, c) * spines_of(df, c);
	net->n_node_routers = df->leaf[df->cells];
	net->n_routers = net->n_node_routers + df->spine[df->cells];
	return 0;
}

static int add_levels(struct cpl_network *net, struct cpl_error *err)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int *size = malloc((size_t)df->cells * sizeof(*size)), rc;

	if (!size)
		return cpl_fail_memory(err);
	for (int c = 0; c < df->cells; c++)
		size[c] = leaves_of(df, c);
	rc = cpl_network_add_units(net, "group", size, df->cells, err);
	cpl_network_add_level(net, "router", 1);
	free(size);
	return rc;
}

static int allocate_gateways(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dfplus *df = (void *)net->own;
	size_t n = (size_t)net->link_class[CPL_DFPLUS_GLOBAL].count;

	df->gateway = malloc((n + 1) * sizeof(*df->gateway));
	if (!df->gateway)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++)
		df->gateway[i] = -1;
	return 0;
}

/* One row [cell, spine, cell, spine] of "global_links". */
static int read_row(const struct cpl_dfplus *df, const json_t *row, int at[4],
                    struct cpl_error *err)
{
	if (json_array_size(row) != 4)
		return cpl_fail(err, "[cell, spine, cell, spine] is needed");
	for (size_t j = 0; j < 4; j++) {
		const json_t *item = json_array_get(row, j);
		int limit = j % 2 ? spines_of(df, at[j - 1]) : df->cells;
		json_int_t x = json_integer_value(item);

		if (!json_is_integer(item) || x < 0 || x >= limit)
			return cpl_fail(err,
			                "the %s must be an integer in 0 to %d",
			                j % 2 ? "spine in its cell" : "cell",
			                limit - 1);
		at[j] = (int)x;
	}
	if (at[0] == at[2])
		return cpl_fail(err, "a link from cell %d to itself", at[0]);
	return 0;
}

static int add_row(struct cpl_network *net, const int at[4],
                   struct cpl_error *err)
{
	struct cpl_dfplus *df = (void *)net->own;
	int *there = df->gateway + cpl_dfplus_global(df, at[0], at[2], 0);
	int *back = df->gateway + cpl_dfplus_global(df, at[2], at[0], 0);
	int k = 0;

	while (k < df->global_per_pair && there[k] >= 0)
		k++;
	if (k == df->global_per_pair)
		return cpl_fail(err, "cells %d and %d have more than %d links",
		                at[0], at[2], k);
	there[k] = net->n_node_routers + df->spine[at[0]] + at[1];
	back[k] = net->n_node_routers + df->spine[at[2]] + at[3];
	return 0;
}

static int read_list(struct cpl_network *net, const json_t *list,
                     struct cpl_error *err)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int64_t rows = net->link_class[CPL_DFPLUS_GLOBAL].count / 2;

	if (!json_is_array(list))
		return cpl_fail(err,
		                "\"global_links\" %s; an array of [cell, "
		                "spine, cell, spine] is needed",
		                list ? "is not valid" : "is missing");
	if (json_array_size(list) != (size_t)rows)
		return cpl_fail(err,
		                "\"global_links\" holds %zu links; %d cells "
		                "with %d between each two have %lld",
		                json_array_size(list), df->cells,
		                df->global_per_pair, (long long)rows);
	for (size_t i = 0; i < (size_t)rows; i++) {
		int at[4];

		if (read_row(df, json_array_get(list, i), at, err) ||
		    add_row(net, at, err))
			return cpl_fail_prefix(err,
			                       "\"global_links\"[%zu]: ", i);
	}
	return 0;
}

/* As the dragonfly's modulo. */
static void wire(struct cpl_network *net)
{
	struct cpl_dfplus *df = (void *)net->own;

	for (int a = 0; a < df->cells; a++)
		for (int b = 0; b < df->cells; b++)
			for (int k = 0; k < df->global_per_pair && a != b;
			     k++) {
				int64_t port =
				        (int64_t)b * df->global_per_pair + k;

				df->gateway[cpl_dfplus_global(df, a, b, k)] =
				        net->n_node_routers + df->spine[a] +
				        (int)(port % spines_of(df, a));
			}
}

static int read_wiring(struct cpl_network *net, const json_t *root,
                       struct cpl_error *err)
{
	const json_t *list = json_object_get(root, "global_links");
	const char *name = "modulo";

	if (cpl_json_string(root, "global_wiring", &name, err) < 0 ||
	    allocate_gateways(net, err))
		return -1;
	if (!strcmp(name, "list"))
		return read_list(net, list, err);
	if (strcmp(name, "modulo"))
		return cpl_fail(err,
		                "\"global_wiring\" is \"%.60s\"; it must be "
		                "modulo or list",
		                name);
	if (list)
		return cpl_fail(err, "\"global_links\" is for "
		                     "\"global_wiring\": \"list\" only");
	wire(net);
	return 0;
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	static const char *const bundle = "links_per_leaf_spine_pair";
	struct cpl_dfplus *df = (void *)net->own;
	int64_t count[3];

	df->global_per_pair = 1;
	if (read_cells(net, root, err) ||
	    cpl_json_take_int(root, "global_links_per_cell_pair", 1,
	                      CPL_NETWORK_MAX_ROUTERS, &df->global_per_pair,
	                      err))
		return -1;
	count[CPL_DFPLUS_UP] = count[CPL_DFPLUS_DOWN] = df->up[df->cells];
	/* At most 1e12 pairs times 1e6: fits 64 bits. */
	count[CPL_DFPLUS_GLOBAL] =
	        (int64_t)df->cells * (df->cells - 1) * df->global_per_pair;
	if (cpl_network_add_classes(net, root, classes, count, err) ||
	    cpl_network_bundle(net, root, bundle, CPL_DFPLUS_UP, err) ||
	    cpl_network_bundle(net, root, bundle, CPL_DFPLUS_DOWN, err) ||
	    add_levels(net, err))
		return -1;
	return read_wiring(net, root, err);
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int64_t first = net->link_class[CPL_DFPLUS_GLOBAL].first;

	(void)err;
	for (int c = 0; c < df->cells; c++)
		for (int leaf = df->leaf[c]; leaf < df->leaf[c + 1]; leaf++)
			for (int s = 0; s < spines_of(df, c); s++) {
				int spine =
				        net->n_node_routers + df->spine[c] + s;

				cpl_network_set_link(net,
				                     cpl_dfplus_up(net, c, leaf, s),
				                     leaf, spine);
				cpl_network_set_link(net,
				                     cpl_dfplus_down(net, c, leaf, s),
				                     spine, leaf);
			}
	for (int a = 0; a < df->cells; a++)
		for (int b = 0; b < df->cells; b++)
			for (int k = 0; k < df->global_per_pair && a != b;
			     k++) {
				int64_t i = cpl_dfplus_global(df, a, b, k);

				cpl_network_set_link(
				        net, first + i, df->gateway[i],
				        df->gateway[cpl_dfplus_global(df, b, a,
				                                      k)]);
			}
	return 0;
}

static void release(struct cpl_network *net)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);

	cpl_free_all(df->leaf, df->spine, df->up, df->gateway);
}

/* Two links inside a cell, over each spine; three to another, over each of the
 * K global links. */
static void spread(const struct cpl_network *net, int from, int to,
                   void (*take)(void *arg, struct cpl_share share), void *arg)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int a = cpl_level_unit(&net->level[0], from);
	int b = cpl_level_unit(&net->level[0], to);
	int paths = a == b ? spines_of(df, a) : df->global_per_pair;
	double part = 1.0 / paths;

	for (int w = 0; w < paths; w++) {
		int s = w, t = w;

		if (a != b) {
			int64_t there = cpl_dfplus_global(df, a, b, w);
			int64_t back = cpl_dfplus_global(df, b, a, w);
			int spines = net->n_node_routers;

			s = df->gateway[there] - spines - df->spine[a];
			t = df->gateway[back] - spines - df->spine[b];
			there += net->link_class[CPL_DFPLUS_GLOBAL].first;
			take(arg, (struct cpl_share){(int)there, part});
		}
		take(arg,
		     (struct cpl_share){(int)cpl_dfplus_up(net, a, from, s), part});
		take(arg,
		     (struct cpl_share){(int)cpl_dfplus_down(net, b, to, t), part});
	}
}

/* Several global links of two cells may be one spine's. */
static int64_t spread_again(const struct cpl_network *net)
{
	return 2 * (int64_t)cpl_dfplus_of(net)->global_per_pair;
}

static int distance(const struct cpl_network *net, int from, int to)
{
	const struct cpl_level *cells = &net->level[0];

	return from == to                                                 ? 0
	       : cpl_level_unit(cells, from) == cpl_level_unit(cells, to) ? 2
	                                                                  : 3;
}

/* Cell, leaf and spine; a switch is one of the two. */
static int coordinates(const struct cpl_network *net, int router, int *at)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	bool is_spine = router >= net->n_node_routers;
	const int *first = is_spine ? df->spine : df->leaf;
	int low = 1, high = df->cells;

	if (is_spine)
		router -= net->n_node_routers;
	CPL_BISECT(low, high, middle, first[middle] <= router);
	at[0] = --low;
	at[1] = is_spine ? 0 : router - first[low];
	at[2] = is_spine ? router - first[low] : 0;
	return is_spine ? 3 : 2;
}

/* One number where all cells have it, or all numbers. */
static json_t *counts(const int *first, int cells)
{
	json_t *list = json_array();
	bool same = true;

	for (int c = 0; c < cells; c++) {
		same = same && first[c + 1] - first[c] == first[1] - first[0];
		json_array_append_new(list,
		                      json_integer(first[c + 1] - first[c]));
	}
	if (!same)
		return list;
	json_decref(list);
	return json_integer(first[1] - first[0]);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);

	return json_pack("{s:i, s:o, s:o, s:i, s:i}", "cells", df->cells,
	                 "leaves", counts(df->leaf, df->cells), "spines",
	                 counts(df->spine, df->cells),
	                 "links_per_leaf_spine_pair",
	                 net->link_class[CPL_DFPLUS_UP].cables,
	                 "global_links_per_cell_pair", df->global_per_pair);
}

/* "18", or "16 to 18" where cells differ. */
static void describe_counts(const int *first, int cells, const char *what,
                            FILE *out)
{
	int least = first[1] - first[0], most = least;

	for (int c = 1; c < cells; c++) {
		int n = first[c + 1] - first[c];

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	fprintf(out, "%d", least);
	if (most > least)
		fprintf(out, " to %d", most);
	fprintf(out, " %s", what);
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);

	fprintf(out, "dragonfly+ of %d cells of ", df->cells);
	describe_counts(df->leaf, df->cells, "leaf and ", out);
	describe_counts(df->spine, df->cells, "spine switches", out);
	fprintf(out, " x %d nodes, %d global links per pair of cells",
	        net->nodes_per_router, df->global_per_pair);
}

static const struct cpl_drawing drawing = {
        .coordinate = {"cell", "leaf", "spine"},
        .title = "global links, to cell",
        .n_strips = 2,
        .strip = {{CPL_DFPLUS_UP, 1, "links up"},
                  {CPL_DFPLUS_DOWN, 2, "links down"}},
};

const struct cpl_network_type cpl_network_dragonfly_plus = {
        .name = "dragonfly+",
        .flags = CPL_NETWORK_GROUPS,
        .summary = "cells of leaf and spine switches, and links between the "
                   "spines of all cells",
        .levels = levels,
        .staged = true,
        .keys = keys,
        .size = sizeof(struct cpl_dfplus),
        .shape = shape,
        .links = links,
        .release = release,
        .spread = spread,
        .spread_again = spread_again,
        .distance = distance,
        .coordinates = coordinates,
        .drawing = &drawing,
        .describe = describe,
        .sizes = sizes,
};
