/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/dragonfly/dragonfly_kinds.h"

#include <math.h>
#include <stdlib.h>

#include "network/type.h"

static const char *const keys[] = {"kinds",
                                   "groups",
                                   "rows",
                                   "columns",
                                   "row_links_per_router_pair",
                                   "column_links_per_router_pair",
                                   "global_links_per_group_pair",
                                   "global_wiring",
                                   "global_links",
                                   NULL};
static const char *const levels[] = {"group", "chassis", "router", NULL};

static int size_of(const struct cpl_dfkind *kind)
{
	return kind->rows * kind->columns;
}

static int lay_out(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dfkinds *df = (void *)net->own;
	size_t n = (size_t)df->groups;
	int g = 0;

	df->kind_of = malloc(n * sizeof(*df->kind_of));
	df->first = malloc((n + 1) * sizeof(*df->first));
	df->row = malloc(n * sizeof(*df->row));
	df->column = malloc(n * sizeof(*df->column));
	if (!df->kind_of || !df->first || !df->row || !df->column)
		return cpl_fail_memory(err);
	df->first[0] = 0;
	for (int k = 0; k < df->n_kinds; k++)
		for (int i = 0; i < df->kind[k].groups; i++, g++) {
			df->kind_of[g] = k;
			df->first[g + 1] = df->first[g] + size_of(&df->kind[k]);
		}
	net->n_routers = df->first[df->groups];
	return 0;
}

static int add_levels(struct cpl_network *net, struct cpl_error *err)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	int *size = malloc((size_t)net->n_routers * sizeof(*size)), n = 0, rc;

	if (!size)
		return cpl_fail_memory(err);
	for (int g = 0; g < df->groups; g++)
		size[g] = df->first[g + 1] - df->first[g];
	rc = cpl_network_add_units(net, "group", size, df->groups, err);
	for (int g = 0; g < df->groups; g++)
		for (int r = 0; r < df->kind[df->kind_of[g]].rows; r++)
			size[n++] = df->kind[df->kind_of[g]].columns;
	if (!rc)
		rc = cpl_network_add_units(net, "chassis", size, n, err);
	free(size);
	cpl_network_add_level(net, "router", 1);
	return rc;
}

/* Links of a row or of a column: one class, or one for each kind where the
 * kinds differ in them. */
struct local {
	const char *name;
	bool row;
	int64_t *first; /* of each group */
};

static double rate_of(const struct local *l, const struct cpl_dfkind *kind)
{
	return l->row ? kind->row_rate : kind->column_rate;
}

static int cables_of(const struct local *l, const struct cpl_dfkind *kind)
{
	return l->row ? kind->row_cables : kind->column_cables;
}

static int64_t links_of(const struct local *l, const struct cpl_dfkind *kind)
{
	return (int64_t)size_of(kind) *
	       ((l->row ? kind->columns : kind->rows) - 1);
}

static bool alike(const struct local *l, const struct cpl_dfkinds *df)
{
	for (int k = 1; k < df->n_kinds; k++)
		if (rate_of(l, &df->kind[k]) != rate_of(l, &df->kind[0]) ||
		    cables_of(l, &df->kind[k]) != cables_of(l, &df->kind[0]))
			return false;
	return true;
}

/* Add the class of kinds from .. to - 1. */
static int add_class(struct cpl_network *net, const struct local *l, int from,
                     int to, struct cpl_error *err)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	const struct cpl_dfkind *kind = &df->kind[from];
	int cables = cables_of(l, kind);
	double rate = rate_of(l, kind) * cables;
	int64_t first = net->n_links, count = 0;
	char name[16];

	if (!isfinite(rate))
		return cpl_fail(err, "bandwidth: \"%s\" is too large", l->name);
	for (int g = 0; g < df->groups; g++)
		if (df->kind_of[g] >= from && df->kind_of[g] < to) {
			l->first[g] = first + count;
			count += links_of(l, &df->kind[df->kind_of[g]]);
		}
	if (to - from < df->n_kinds)
		snprintf(name, sizeof(name), "%s-%s", l->name, kind->name);
	else
		snprintf(name, sizeof(name), "%s", l->name);
	if (cpl_network_add_class(net, name, count, rate, err))
		return -1;
	net->link_class[net->n_classes - 1].cables = cables;
	return cables * count > CPL_NETWORK_MAX_LINKS
	               ? cpl_fail(err, "\"%s\" makes more than %lld links",
	                          name, (long long)CPL_NETWORK_MAX_LINKS)
	               : 0;
}

static int add_local(struct cpl_network *net, const struct local *l,
                     struct cpl_error *err)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);

	if (alike(l, df))
		return add_class(net, l, 0, df->n_kinds, err);
	for (int k = 0; k < df->n_kinds; k++)
		if (add_class(net, l, k, k + 1, err))
			return -1;
	return 0;
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	struct cpl_dfkinds *df = (void *)net->own;
	struct local row = {.name = "row", .row = true};
	struct local column = {.name = "column"};
	double global = 1;
	int64_t count;

	if (cpl_dfkinds_read(net, root, err) ||
	    cpl_network_bandwidth(json_object_get(root, "bandwidth"), "global",
	                          &global, err) ||
	    lay_out(net, err) || add_levels(net, err))
		return -1;
	row.first = df->row;
	column.first = df->column;
	count = (int64_t)df->groups * (df->groups - 1) * df->global_per_pair;
	if (add_local(net, &row, err) || add_local(net, &column, err))
		return -1;
	df->global = net->n_links;
	if (cpl_network_add_class(net, "global", count, global, err))
		return -1;
	df->wires = (struct cpl_wires){.groups = df->groups,
	                               .links = df->global_per_pair,
	                               .first = df->first};
	return cpl_wires_read(&df->wires, root, err);
}

/* Set the bandwidths of nodes' ports where kinds state them. */
static int set_injection(struct cpl_network *net, struct cpl_error *err)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	int64_t n = cpl_network_port_cables(net);
	bool own = false;

	for (int k = 0; k < df->n_kinds; k++)
		own = own || df->kind[k].injection > 0;
	if (!own)
		return 0;
	net->cable_bandwidth =
	        malloc((size_t)n * sizeof(*net->cable_bandwidth));
	if (!net->cable_bandwidth)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < n; i++) {
		int group = cpl_level_unit(&net->level[0], net->port_router[i]);
		double rate = df->kind[df->kind_of[group]].injection;

		net->cable_bandwidth[i] =
		        rate > 0 ? rate : net->port_bandwidth[i % net->n_ports];
	}
	return 0;
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	struct cpl_dfkinds *df = (void *)net->own;

	if (cpl_wires_fill(&df->wires, err))
		return -1;
	df->gateway = df->wires.gateway;
	for (int g = 0; g < df->groups; g++) {
		struct cpl_local_group group = cpl_dfkind_group(df, g);

		cpl_local_link(net, &group, df->first[g]);
	}
	cpl_wires_link(net, &df->wires, df->global);
	return set_injection(net, err);
}

static void release(struct cpl_network *net)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);

	cpl_free_all(df->kind, df->kind_of, df->first, df->row, df->column,
	             df->wires.gateway);
}

static int node_slots(const struct cpl_network *net, int router)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	int group = cpl_level_unit(&net->level[0], router);

	return df->kind[df->kind_of[group]].places;
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);

	fprintf(out, "dragonfly of %d groups (", df->groups);
	for (int k = 0; k < df->n_kinds; k++) {
		const struct cpl_dfkind *kind = &df->kind[k];

		fprintf(out, "%s%s: %d x %d rows x %d columns x %d nodes",
		        k ? "; " : "", kind->name, kind->groups, kind->rows,
		        kind->columns, kind->places);
	}
	fprintf(out, "), %d global links per pair of groups",
	        df->global_per_pair);
}

static json_t *rates(const struct cpl_network *net,
                     const struct cpl_dfkind *kind)
{
	double injection = kind->injection > 0 ? kind->injection
	                                       : net->port_bandwidth[0];

	return json_pack("{s:f, s:f, s:f}", "row", kind->row_rate, "column",
	                 kind->column_rate, "injection", injection);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	json_t *list = json_array();

	for (int k = 0; k < df->n_kinds; k++) {
		const struct cpl_dfkind *kind = &df->kind[k];

		cpl_json_append(
		        list, "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o}",
		        "name", kind->name, "groups", kind->groups, "rows",
		        kind->rows, "columns", kind->columns,
		        "nodes_per_router", kind->places,
		        "row_links_per_router_pair", kind->row_cables,
		        "column_links_per_router_pair", kind->column_cables,
		        "bandwidth", rates(net, kind));
	}
	return json_pack("{s:i, s:o, s:i}", "groups", df->groups, "kinds", list,
	                 "global_links_per_group_pair", df->global_per_pair);
}

const struct cpl_network_type cpl_network_dragonfly_kinds = {
        .name = "dragonfly",
        .flags = CPL_NETWORK_GROUPS,
        .summary = "a dragonfly whose groups differ",
        .levels = levels,
        .keys = keys,
        .size = sizeof(struct cpl_dfkinds),
        .shape = shape,
        .links = links,
        .release = release,
        .slots = node_slots,
        .describe = describe,
        .sizes = sizes,
};
