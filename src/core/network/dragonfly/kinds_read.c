/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "network/dragonfly/dragonfly_kinds.h"
#include "network/type.h"

#define MAX_KINDS CPL_NETWORK_MAX_CLASSES

static const char *const kind_keys[] = {"name",
                                        "groups",
                                        "rows",
                                        "columns",
                                        "nodes_per_router",
                                        "row_links_per_router_pair",
                                        "column_links_per_router_pair",
                                        "bandwidth",
                                        NULL};
static const char *const kind_rates[] = {"row", "column", "injection", NULL};
static const char *const root_rates[] = {"row", "column", "global",
                                         "injection", NULL};

/* Take the kind's own number, or that of the network; *value stays where
 * neither has it. */
static int take_number(const json_t *root, const json_t *kind, const char *key,
                       int high, int *value, struct cpl_error *err)
{
	const json_t *from = json_object_get(kind, key) ? kind : root;

	return cpl_json_take_int(from, key, 1, high, value, err);
}

static int take_rate(const json_t *root, const json_t *kind, const char *key,
                     double *value, struct cpl_error *err)
{
	const json_t *own = json_object_get(kind, "bandwidth");
	const json_t *all = json_object_get(root, "bandwidth");

	return cpl_network_bandwidth(json_object_get(own, key) ? own : all, key,
	                             value, err);
}

/* Read the name; a kind without one is called by its index in the list. */
static int read_name(const json_t *kind, int i, char *out,
                     struct cpl_error *err)
{
	const char *name = NULL;

	if (cpl_json_string(kind, "name", &name, err) < 0)
		return -1;
	if (!name) {
		snprintf(out, CPL_DFKIND_NAME + 1, "%u",
		         (unsigned)i % 100);
		return 0;
	}
	if (!*name || strlen(name) > CPL_DFKIND_NAME ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789")])
		return cpl_fail(err,
		                "\"name\" is \"%.60s\"; up to %d lower-case "
		                "letters and digits are needed",
		                name, CPL_DFKIND_NAME);
	snprintf(out, CPL_DFKIND_NAME + 1, "%s", name);
	return 0;
}

static int read_kind(const struct cpl_network *net, const json_t *root,
                     const json_t *item, int i, struct cpl_dfkind *kind,
                     struct cpl_error *err)
{
	const json_t *own = json_object_get(item, "bandwidth");
	const int most = CPL_NETWORK_MAX_ROUTERS;

	*kind = (struct cpl_dfkind){.places = net->nodes_per_router,
	                            .row_rate = 1,
	                            .column_rate = 1,
	                            .row_cables = 1,
	                            .column_cables = 1};
	if (!json_is_object(item))
		return cpl_fail(err, "an object is needed");
	if (cpl_json_known_keys(item, "", kind_keys, err) ||
	    read_name(item, i, kind->name, err) ||
	    cpl_json_take_int(item, "groups", 1, most, &kind->groups, err) ||
	    take_number(root, item, "rows", most, &kind->rows, err) ||
	    take_number(root, item, "columns", most, &kind->columns, err) ||
	    take_number(root, item, "nodes_per_router", most, &kind->places,
	                err) ||
	    take_number(root, item, "row_links_per_router_pair",
	                CPL_NETWORK_MAX_CABLES, &kind->row_cables, err) ||
	    take_number(root, item, "column_links_per_router_pair",
	                CPL_NETWORK_MAX_CABLES, &kind->column_cables, err))
		return -1;
	if (own && !json_is_object(own))
		return cpl_fail(err, "\"bandwidth\" must be an object");
	if (json_object_get(own, "injection") &&
	    json_object_get(json_object_get(root, "ports"), "bandwidth"))
		return cpl_fail(err, "\"injection\" of a kind and "
		                     "\"bandwidth\" of \"ports\" exclude each "
		                     "other");
	return cpl_json_known_keys(own, "bandwidth", kind_rates, err) ||
	                       take_rate(root, item, "row", &kind->row_rate,
	                                 err) ||
	                       take_rate(root, item, "column",
	                                 &kind->column_rate, err) ||
	                       (json_object_get(own, "injection") &&
	                        cpl_network_bandwidth(own, "injection",
	                                              &kind->injection, err))
	               ? -1
	               : 0;
}

static int check_sizes(const struct cpl_dfkinds *df, struct cpl_error *err)
{
	int64_t routers = 0;

	for (int i = 0; i < df->n_kinds; i++) {
		const struct cpl_dfkind *kind = &df->kind[i];
		int64_t n = (int64_t)kind->rows * kind->columns;

		if (n <= CPL_NETWORK_MAX_ROUTERS)
			n *= kind->groups;
		routers += n;
		if (routers > CPL_NETWORK_MAX_ROUTERS)
			return cpl_fail(err,
			                "\"kinds\" make more than %d routers",
			                CPL_NETWORK_MAX_ROUTERS);
		for (int j = 0; j < i; j++)
			if (!strcmp(df->kind[j].name, kind->name))
				return cpl_fail(err,
				                "\"kinds\"[%d] and [%d] have "
				                "the same name, \"%s\"",
				                j, i, kind->name);
	}
	return 0;
}

static int check_groups(const json_t *root, const struct cpl_dfkinds *df,
                        struct cpl_error *err)
{
	int stated = df->groups;

	if (cpl_json_take_int(root, "groups", 1, CPL_NETWORK_MAX_ROUTERS,
	                      &stated, err))
		return -1;
	return stated == df->groups
	               ? 0
	               : cpl_fail(err,
	                          "\"groups\" is %d; \"kinds\" have %d groups",
	                          stated, df->groups);
}

int cpl_dfkinds_read(struct cpl_network *net, const json_t *root,
                     struct cpl_error *err)
{
	struct cpl_dfkinds *df = (void *)net->own;
	const json_t *list = json_object_get(root, "kinds");
	size_t n = json_array_size(list);

	if (n < 1 || n > MAX_KINDS)
		return cpl_fail(err,
		                "\"kinds\" must be an array of 1 to %d objects",
		                MAX_KINDS);
	if (cpl_json_known_keys(json_object_get(root, "bandwidth"), "bandwidth",
	                        root_rates, err))
		return -1;
	df->kind = calloc(n, sizeof(*df->kind));
	if (!df->kind)
		return cpl_fail_memory(err);
	df->n_kinds = (int)n;
	for (int i = 0; i < df->n_kinds; i++)
		if (read_kind(net, root, json_array_get(list, (size_t)i), i,
		              &df->kind[i], err))
			return cpl_fail_prefix(err, "\"kinds\"[%d]: ", i);
	if (check_sizes(df, err))
		return -1;
	net->nodes_per_router = 0;
	for (int i = 0; i < df->n_kinds; i++) {
		df->groups += df->kind[i].groups;
		if (df->kind[i].places > net->nodes_per_router)
			net->nodes_per_router = df->kind[i].places;
	}
	df->global_per_pair = 1;
	return check_groups(root, df, err) ||
	                       cpl_json_take_int(
	                               root, "global_links_per_group_pair", 1,
	                               CPL_NETWORK_MAX_ROUTERS,
	                               &df->global_per_pair, err)
	               ? -1
	               : 0;
}
