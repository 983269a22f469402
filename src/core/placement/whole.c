/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "whole:UNIT": nodes of units that are wholly free, the units as few as will
 * do, so that the job shares none with jobs that run. UNIT is a level's name, a
 * number (1: routers, 2: the next coarser level ...) or, on a torus, the sides
 * of boxes that it is cut into ("4x4x2").
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "placement/unit_sets.h"

/* Routers, the units of a level, or boxes of a torus. */
struct cut {
	bool routers;
	const struct cpl_level *level;
	int side[CPL_NETWORK_MAX_DIMS]; /* of a box */
};

static int read_sides(const char *option, int *side)
{
	int n = 0;

	for (const char *s = option;; s++) {
		char *end;
		long v = strtol(s, &end, 10);

		if (!isdigit((unsigned char)*s) || v < 1 || v > 1000000 ||
		    n == CPL_NETWORK_MAX_DIMS)
			return -1;
		side[n++] = (int)v;
		if (!*end)
			return n;
		if (*end != 'x')
			return -1;
		s = end;
	}
}

static int find_boxes(const struct cpl_network *net, const int *side, int n,
                      struct cut *out, struct cpl_error *err)
{
	const struct cpl_product *torus = cpl_network_product(net);

	if (!torus)
		return cpl_fail(err, "boxes are of a torus only");
	if (n != torus->n_dims)
		return cpl_fail(err, "%d sides, but the torus has %d", n,
		                torus->n_dims);
	for (int d = 0; d < n; d++)
		if (torus->dim[d] % side[d])
			return cpl_fail(err, "side %d does not divide %d",
			                side[d], torus->dim[d]);
	memcpy(out->side, side, (size_t)n * sizeof(*side));
	return 0;
}

static int fail_levels(const struct cpl_network *net, const char *option,
                       struct cpl_error *err)
{
	char names[128] = "router";

	for (int l = net->n_levels - 1; l >= 0; l--) {
		size_t n = strlen(names);

		if (net->level[l].name && strcmp(net->level[l].name, "router"))
			snprintf(names + n, sizeof(names) - n, ", %s",
			         net->level[l].name);
	}
	return cpl_fail(err,
	                "this network has no units '%.32s'; it has %s%s and "
	                "numbers from 1, routers",
	                option, names,
	                cpl_network_product(net) ? ", boxes such as 4x4x2"
	                                         : "");
}

/* From the routers up, which are the first: the k-th level, or NULL. */
static const struct cpl_level *level_at(const struct cpl_network *net, int k)
{
	int at = 1;

	for (int l = net->n_levels - 1; l >= 0; l--)
		if (net->level[l].n_units < net->n_node_routers && ++at == k)
			return &net->level[l];
	return NULL;
}

static int find_cut(const struct cpl_network *net, const char *option,
                    struct cut *out, struct cpl_error *err)
{
	const struct cpl_level *level = cpl_network_level(net, option);
	int side[CPL_NETWORK_MAX_DIMS];
	int n = isdigit((unsigned char)*option) ? read_sides(option, side) : 0;

	*out = (struct cut){0};
	if (n > 1)
		return find_boxes(net, side, n, out, err);
	out->routers = n == 1 ? side[0] == 1 : !strcmp(option, "router");
	out->level = n == 1 ? level_at(net, side[0]) : level;
	return out->routers || out->level ? 0 : fail_levels(net, option, err);
}

static int check(const struct cpl_network *net, const char *option,
                 struct cpl_error *err)
{
	int side[CPL_NETWORK_MAX_DIMS];
	struct cut cut;

	if (!option || !*option ||
	    (isdigit((unsigned char)*option)
	             ? read_sides(option, side) < 0
	             : option[strspn(option, "abcdefghijklmnopqrstuvwxyz")]))
		return cpl_fail(err,
		                "it needs the units that are meant: whole:UNIT "
		                "with router, chassis, group or another level, "
		                "a number from 1, or boxes such as 4x4x2");
	return net ? find_cut(net, option, &cut, err) : 0;
}

static int unit_of(const struct cpl_network *net, const struct cut *cut,
                   int router)
{
	const struct cpl_product *torus = &net->product;
	int unit = 0, scale = 1;

	if (cut->routers)
		return router;
	if (cut->level)
		return cpl_level_unit(cut->level, router);
	for (int d = 0; d < torus->n_dims; d++) {
		unit += router % torus->dim[d] / cut->side[d] * scale;
		scale *= torus->dim[d] / cut->side[d];
		router /= torus->dim[d];
	}
	return unit;
}

/* Units of a network that is no tree of levels: of those that are free the
 * shortest run, in the order of their numbers, that holds the job. */
struct run {
	int first, last;
};

static struct run shortest_run(const int *count, int n_units, int wanted)
{
	struct run best = {0, n_units - 1};
	int first = 0, sum = 0;

	for (int last = 0; last < n_units; last++) {
		sum += count[last];
		while (sum - count[first] >= wanted)
			sum -= count[first++];
		if (sum >= wanted && last - first < best.last - best.first)
			best = (struct run){first, last};
	}
	return best;
}

struct in_unit {
	int unit, node;
};

static int by_unit(const void *a, const void *b)
{
	const struct in_unit *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int take_run(const struct cpl_placement_request *req,
                    const unsigned char *free_node, const int *count,
                    const struct cut *cut, int n_units, int *out,
                    struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	struct run run = shortest_run(count, n_units, req->n_nodes_wanted);
	struct in_unit *all = malloc((size_t)net->n_nodes * sizeof(*all));
	int n = 0;

	if (!all)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_nodes; i++) {
		int unit = unit_of(net, cut, cpl_network_router(net, i));

		if (free_node[i] && unit >= run.first && unit <= run.last)
			all[n++] = (struct in_unit){unit, i};
	}
	qsort(all, (size_t)n, sizeof(*all), by_unit);
	for (int i = 0; i < req->n_nodes_wanted; i++)
		out[i] = all[i].node;
	free(all);
	qsort(out, (size_t)req->n_nodes_wanted, sizeof(*out), cpl_by_int);
	return 0;
}

static int place(const struct cpl_placement_request *req, int *out,
                 struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	unsigned char *free_node = calloc((size_t)net->n_nodes, 1);
	/* Each router has a unit of a lower number than it has, or its own. */
	int *count = calloc((size_t)net->n_routers, sizeof(*count));
	bool *taken = calloc((size_t)net->n_routers, sizeof(*taken));
	int n = 0, n_units = 0, rc = -1;
	struct cut cut;

	if (!free_node || !count || !taken) {
		cpl_fail_memory(err);
		goto out;
	}
	if (find_cut(net, req->option, &cut, err))
		goto out;
	for (int i = 0; i < net->n_nodes; i++) {
		int unit = unit_of(net, &cut, cpl_network_router(net, i));

		if (!req->free[i] && net->node_name[i])
			taken[unit] = true;
		n_units = unit >= n_units ? unit + 1 : n_units;
	}
	for (int i = 0; i < net->n_nodes; i++) {
		int unit = unit_of(net, &cut, cpl_network_router(net, i));

		if (!req->free[i] || taken[unit])
			continue;
		free_node[i] = 1;
		count[unit]++;
		n++;
	}
	if (n < req->n_nodes_wanted) {
		cpl_fail(err,
		         "policy whole:%.32s: %d nodes are wanted, and %d are "
		         "in units that are wholly free",
		         req->option, req->n_nodes_wanted, n);
		goto out;
	}
	rc = cpl_network_product(net) ||
	                     cpl_network_type_is_irregular(net->type)
	             ? take_run(req, free_node, count, &cut, n_units, out,
	                        err)
	             : cpl_units_compact(net, free_node, req->n_nodes_wanted,
	                                 out, err);
	rc = rc ? rc : cpl_placement_require(req, out, err);
out:
	free(free_node);
	free(count);
	free(taken);
	return rc;
}

const struct cpl_placement_policy cpl_placement_whole = {
        .name = "whole",
        .summary = "of wholly free units, as few as will do (whole:router, "
                   "whole:group ...)",
        .flags = CPL_PLACEMENT_CLASS,
        .check = check,
        .place = place,
};
