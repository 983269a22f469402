/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/cut.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                      struct cpl_cut *out, struct cpl_error *err)
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
	if (net->accelerators.n_domains) {
		size_t n = strlen(names);

		snprintf(names + n, sizeof(names) - n, ", domain");
	}
	return cpl_fail(err,
	                "this network has no units '%.32s'; it has %s%s and "
	                "numbers from 1, routers",
	                option, names,
	                cpl_network_product(net) ? ", boxes such as 4x4x2"
	                                         : "");
}

/* The k-th level from the routers up, which are the first, or NULL. */
static const struct cpl_level *level_at(const struct cpl_network *net, int k)
{
	int at = 1;

	for (int l = net->n_levels - 1; l >= 0; l--)
		if (net->level[l].n_units < net->n_node_routers && ++at == k)
			return &net->level[l];
	return NULL;
}

/*
 * The smallest units that traffic inside need not leave: of a torus its boxes
 * of all sides but the longest one (the last of several), which shortest paths
 * stay in; else routers, or where none has two nodes the next coarser level.
 */
static void find_auto(const struct cpl_network *net, struct cpl_cut *out)
{
	const struct cpl_product *torus = cpl_network_product(net);
	int longest = 0, sides = 0;

	for (int d = 0; torus && d < torus->n_dims; d++) {
		out->side[d] = torus->dim[d];
		sides += torus->dim[d] > 1;
		if (torus->dim[d] >= torus->dim[longest])
			longest = d;
	}
	if (sides > 1) {
		out->side[longest] = 1;
		return;
	}
	for (int r = 0; r < net->n_node_routers && !out->routers; r++)
		out->routers =
		        net->router_first[r + 1] - net->router_first[r] > 1;
	if (!out->routers)
		out->level = level_at(net, 2);
	out->routers = !out->level;
}

int cpl_cut_find(const struct cpl_network *net, const char *option,
                 struct cpl_cut *out, struct cpl_error *err)
{
	const struct cpl_level *level = cpl_network_level(net, option);
	int side[CPL_NETWORK_MAX_DIMS];
	int n = isdigit((unsigned char)*option) ? read_sides(option, side) : 0;

	*out = (struct cpl_cut){.name = option};
	if (n > 1)
		return find_boxes(net, side, n, out, err);
	out->domains = net->accelerators.n_domains &&
	               (!strcmp(option, CPL_CUT_AUTO) ||
	                !strcmp(option, "domain"));
	if (out->domains)
		return 0;
	if (!strcmp(option, CPL_CUT_AUTO)) {
		find_auto(net, out);
		return 0;
	}
	out->routers = n == 1 ? side[0] == 1 : !strcmp(option, "router");
	out->level = n == 1 ? level_at(net, side[0]) : level;
	return out->routers || out->level ? 0 : fail_levels(net, option, err);
}

bool cpl_cut_is_spelled(const char *option)
{
	int side[CPL_NETWORK_MAX_DIMS];

	if (!option || !*option)
		return false;
	if (isdigit((unsigned char)*option))
		return read_sides(option, side) > 0;
	return !option[strspn(option, "abcdefghijklmnopqrstuvwxyz")];
}

/* Unit of a node: its domain, or else its router behind all domains. */
static int domain_unit(const struct cpl_network *net, int node)
{
	int domain = net->accelerators.domain_of[node];

	return domain >= 0 ? domain
	                   : net->accelerators.n_domains +
	                             cpl_network_router(net, node);
}

/* Unit of a router with nodes, no higher than its number. */
static int unit_of(const struct cpl_network *net, const struct cpl_cut *cut,
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

int cpl_whole_units_open(struct cpl_whole_units *out,
                         const struct cpl_network *net,
                         const unsigned char *free, const struct cpl_cut *cut,
                         struct cpl_error *err)
{
	/* A router has a unit of a lower number than it has, or its own. */
	int most = net->n_node_routers +
	           (cut->domains ? net->accelerators.n_domains : 0);

	*out = (struct cpl_whole_units){0};
	out->unit = cpl_arena_take_raw(&out->arena, net->n_nodes, sizeof(int));
	out->free = cpl_arena_take(&out->arena, most, sizeof(int));
	out->whole = cpl_arena_take(&out->arena, most, sizeof(bool));
	out->taken = cpl_arena_take(&out->arena, most, sizeof(int));
	if (out->arena.failed)
		return cpl_arena_end(&out->arena, -1, err);
	for (int i = 0; i < net->n_nodes; i++) {
		int unit = cut->domains
		                   ? domain_unit(net, i)
		                   : unit_of(net, cut,
		                             cpl_network_router(net, i));

		out->unit[i] = unit;
		if (unit >= out->n)
			out->n = unit + 1;
		out->free[unit] += free[i] != 0;
		/* At first these are the nodes that are not free. */
		out->taken[unit] += !free[i] && net->node_name[i];
	}
	for (int u = 0; u < out->n; u++) {
		out->whole[u] = out->free[u] && !out->taken[u];
		out->taken[u] = 0;
	}
	return 0;
}

int cpl_whole_units_broken(struct cpl_whole_units *units, const int *node,
                           int n)
{
	int broken = 0;

	for (int i = 0; i < n; i++) {
		int u = units->unit[node[i]];
		int taken = ++units->taken[u];

		if (!units->whole[u])
			continue;
		broken += taken == 1;
		broken -= taken == units->free[u];
	}
	for (int i = 0; i < n; i++)
		units->taken[units->unit[node[i]]] = 0;
	return broken;
}

void cpl_whole_units_close(struct cpl_whole_units *units)
{
	cpl_arena_free(&units->arena);
}

int cpl_cut_check(const struct cpl_network *net, const char *policy,
                  const char *option, struct cpl_error *err)
{
	struct cpl_cut cut;

	if (!cpl_cut_is_spelled(option))
		return cpl_fail(err,
		                "it needs the units that are meant: %s:UNIT "
		                "with router, chassis, group or another level, "
		                "a number from 1, or boxes such as 4x4x2",
		                policy);
	return net ? cpl_cut_find(net, option, &cut, err) : 0;
}
