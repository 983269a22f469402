/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/progressive/groups.h"

#include "network/dragonfly_plus/dragonfly_plus.h"
#include "routing/dragonfly_paths.h"
#include "routing/kinds_direct.h"

static bool is_plus(const struct cpl_linked_groups *g)
{
	return g->net->type == &cpl_network_dragonfly_plus;
}

static bool is_kinds(const struct cpl_linked_groups *g)
{
	return g->net->type == &cpl_network_dragonfly_kinds;
}

static struct cpl_linked_groups of_kinds(const struct cpl_network *net)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	struct cpl_linked_groups g = {.net = net,
	                              .n = df->groups,
	                              .links = df->global_per_pair,
	                              .first = df->global,
	                              .gateway = df->gateway};

	for (int i = 0; i < df->groups; i++) {
		int n = df->first[i + 1] - df->first[i];

		g.members = n > g.members ? n : g.members;
	}
	return g;
}

static struct cpl_linked_groups of_plus(const struct cpl_network *net)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	struct cpl_linked_groups g = {
	        .net = net,
	        .n = df->cells,
	        .links = df->global_per_pair,
	        .first = net->link_class[CPL_DFPLUS_GLOBAL].first,
	        .gateway = df->gateway};

	for (int c = 0; c < df->cells; c++) {
		int n = df->leaf[c + 1] - df->leaf[c] + df->spine[c + 1] -
		        df->spine[c];

		g.members = n > g.members ? n : g.members;
	}
	return g;
}

struct cpl_linked_groups cpl_groups_of(const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	if (net->type == &cpl_network_dragonfly_plus)
		return of_plus(net);
	if (net->type == &cpl_network_dragonfly_kinds)
		return of_kinds(net);
	return (struct cpl_linked_groups){
	        .net = net,
	        .n = df->groups,
	        .links = df->global_per_pair,
	        .members = df->routers_per_group,
	        .first = net->link_class[CPL_DRAGONFLY_GLOBAL].first,
	        .gateway = df->gateway};
}

int cpl_groups_group(const struct cpl_linked_groups *g, int router)
{
	int at[CPL_NETWORK_MAX_DIMS];

	if (!is_plus(g) && !is_kinds(g))
		return router / g->members;
	if (router < g->net->n_node_routers)
		return cpl_level_unit(&g->net->level[0], router);
	cpl_network_coordinates(g->net, router, at);
	return at[0];
}

/* The first router of a group, where routers are numbered group by group. */
static int first_of(const struct cpl_linked_groups *g, int group)
{
	return is_kinds(g) ? cpl_dfkinds_of(g->net)->first[group]
	                   : group * g->members;
}

int cpl_groups_members(const struct cpl_linked_groups *g, int group)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(g->net);

	if (is_kinds(g))
		return first_of(g, group + 1) - first_of(g, group);
	return is_plus(g) ? df->leaf[group + 1] - df->leaf[group] +
	                            df->spine[group + 1] - df->spine[group]
	                  : g->members;
}

int cpl_groups_index(const struct cpl_linked_groups *g, int group, int router)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(g->net);

	if (!is_plus(g))
		return router - first_of(g, group);
	if (router < g->net->n_node_routers)
		return router - df->leaf[group];
	return router - g->net->n_node_routers - df->spine[group] +
	       df->leaf[group + 1] - df->leaf[group];
}

int cpl_groups_router(const struct cpl_linked_groups *g, int group, int place)
{
	const struct cpl_dfplus *df = cpl_dfplus_of(g->net);
	int leaves;

	if (!is_plus(g))
		return first_of(g, group) + place;
	leaves = df->leaf[group + 1] - df->leaf[group];
	return place < leaves ? df->leaf[group] + place
	                      : g->net->n_node_routers + df->spine[group] +
	                                place - leaves;
}

/* A link joins leaf and spine; two spines are joined over every leaf. */
static int inside_cell(const struct cpl_linked_groups *g, int from, int to,
                       double bytes, double *load)
{
	const struct cpl_network *net = g->net;
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int leaves = net->n_node_routers, cell, n, s, t;

	if (from == to)
		return 0;
	cell = cpl_groups_group(g, from);
	s = from - leaves - df->spine[cell];
	t = to - leaves - df->spine[cell];
	if (from < leaves || to < leaves) {
		if (load)
			load[from < leaves
			             ? cpl_dfplus_up(net, cell, from, t)
			             : cpl_dfplus_down(net, cell, to, s)] +=
			        bytes;
		return 1;
	}
	n = df->leaf[cell + 1] - df->leaf[cell];
	for (int l = df->leaf[cell]; load && l < df->leaf[cell + 1]; l++) {
		load[cpl_dfplus_down(net, cell, l, s)] += bytes / n;
		load[cpl_dfplus_up(net, cell, l, t)] += bytes / n;
	}
	return 2;
}

static int inside_kind(const struct cpl_network *net, int from, int to,
                       double bytes, double *load)
{
	struct cpl_dfkind_at a = cpl_dfkind_at(net, from);
	struct cpl_dfkind_at b = cpl_dfkind_at(net, to);
	struct cpl_share share[CPL_LOCAL_LINKS];
	int n = load ? cpl_kinds_local(cpl_dfkinds_of(net), &a, &b, bytes,
	                               share)
	             : 0;

	for (int i = 0; i < n; i++)
		load[share[i].link] += share[i].part;
	return cpl_dfkind_hops(&a, &b);
}

static int inside_fly(const struct cpl_linked_groups *g, int from, int to,
                      double bytes, double *load)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(g->net);
	struct cpl_where a = cpl_where(df, from);
	struct cpl_where b = cpl_where_in(df, a.group, to);

	if (load)
		cpl_local_add_at(g->net, &a, &b, bytes, load);
	return (a.row != b.row) + (a.column != b.column);
}

int cpl_groups_inside(const struct cpl_linked_groups *g, int from, int to,
                      double bytes, double *load)
{
	if (is_plus(g))
		return inside_cell(g, from, to, bytes, load);
	if (is_kinds(g))
		return inside_kind(g->net, from, to, bytes, load);
	return inside_fly(g, from, to, bytes, load);
}

/* Counts the bits of a word in a loop, since few are set. */
static int count_bits(uint64_t word)
{
	int n = 0;

	for (; word; word &= word - 1)
		n++;
	return n;
}

int cpl_groups_reach(const struct cpl_linked_groups *g, int router, int own,
                     int other)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(g->net);
	int sum = 0;

	if (own == other)
		return 0;
	if (g->net->type == &cpl_network_dragonfly && g->links <= 64) {
		struct cpl_where here = cpl_where_in(df, own, router);
		struct cpl_gateways to = cpl_gateways(g->net, &here, other, 0);

		/* All are two links away but those on it or next to it. */
		return 2 * g->links - 2 * count_bits(to.at[0]) -
		       count_bits(to.at[1]);
	}
	for (int k = 0; k < g->links; k++)
		sum += cpl_groups_inside(g, router,
		                         cpl_groups_gateway(g, own, other, k),
		                         0, NULL);
	return sum;
}

static int path_in_cell(const struct cpl_linked_groups *g, int from, int to,
                        double x, int link[CPL_GROUPS_INSIDE])
{
	const struct cpl_network *net = g->net;
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int leaves = net->n_node_routers, cell = cpl_groups_group(g, from);
	int s = from - leaves - df->spine[cell];
	int t = to - leaves - df->spine[cell];
	int n = df->leaf[cell + 1] - df->leaf[cell], leaf = (int)(x * n);

	leaf = df->leaf[cell] + (leaf < n ? leaf : n - 1);
	if (from < leaves || to < leaves) {
		link[0] = (int)(from < leaves
		                        ? cpl_dfplus_up(net, cell, from, t)
		                        : cpl_dfplus_down(net, cell, to, s));
		return 1;
	}
	link[0] = (int)cpl_dfplus_down(net, cell, leaf, s);
	link[1] = (int)cpl_dfplus_up(net, cell, leaf, t);
	return 2;
}

/* The path goes over the corner in its own column, or in its own row. */
static int path_in_kind(const struct cpl_network *net, int from, int to,
                        double x, int link[CPL_GROUPS_INSIDE])
{
	struct cpl_dfkind_at a = cpl_dfkind_at(net, from);
	struct cpl_dfkind_at b = cpl_dfkind_at(net, to);
	struct cpl_share share[CPL_LOCAL_LINKS];
	int n = cpl_kinds_local(cpl_dfkinds_of(net), &a, &b, 1, share);
	int hops = cpl_dfkind_hops(&a, &b);
	int first = n > hops && x < 0.5 ? hops : 0;

	for (int i = 0; i < hops; i++)
		link[i] = (int)share[first + i].link;
	return hops;
}

int cpl_groups_path(const struct cpl_linked_groups *g, int from, int to,
                    double x, int link[CPL_GROUPS_INSIDE])
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(g->net);
	struct cpl_where a, b;
	int n = 0, at = from;

	if (from == to)
		return 0;
	if (is_plus(g))
		return path_in_cell(g, from, to, x, link);
	if (is_kinds(g))
		return path_in_kind(g->net, from, to, x, link);
	a = cpl_where(df, from);
	b = cpl_where(df, to);
	if (a.row != b.row && x < 0.5) {
		link[n++] = (int)cpl_dragonfly_column_link(g->net, at, b.row);
		at += (b.row - a.row) * df->columns;
	}
	if (a.column != b.column) {
		link[n++] = (int)cpl_dragonfly_row_link(g->net, at, b.column);
		at += b.column - a.column;
	}
	if (at != to)
		link[n++] = (int)cpl_dragonfly_column_link(g->net, at, b.row);
	return n;
}
