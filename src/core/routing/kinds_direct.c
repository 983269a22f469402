/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/kinds_direct.h"

#include "routing/routing.h"

int cpl_kinds_local(const struct cpl_dfkinds *df, const struct cpl_dfkind_at *a,
                    const struct cpl_dfkind_at *b, double part,
                    struct cpl_share share[CPL_LOCAL_LINKS])
{
	struct cpl_local_group group = cpl_dfkind_group(df, a->group);

	return cpl_local_links(&group, a->row, a->column, b->row, b->column,
	                       part, share);
}

/* The paths between two groups. */
struct kind_paths {
	const struct cpl_network *net;
	struct cpl_dfkind_at from, to;
	int64_t there, back; /* numbers of the first links */
	int hops;            /* without the global link */
	double n;
};

static int64_t number(const struct cpl_dfkinds *df, int a, int b)
{
	return cpl_wires_pair(df->groups, a, b) * df->global_per_pair;
}

/* The number of paths over link k, and *hops, their links inside groups. */
static int over(const struct kind_paths *w, int k, int *hops)
{
	const int *gateway = cpl_dfkinds_of(w->net)->gateway;
	struct cpl_dfkind_at out =
	        cpl_dfkind_at(w->net, gateway[w->there + k]);
	struct cpl_dfkind_at in = cpl_dfkind_at(w->net, gateway[w->back + k]);
	int near = cpl_dfkind_hops(&w->from, &out);
	int far = cpl_dfkind_hops(&in, &w->to);

	*hops = near + far;
	return (near == 2 ? 2 : 1) * (far == 2 ? 2 : 1);
}

static struct kind_paths find(const struct cpl_network *net,
                              const struct cpl_dfkind_at *from,
                              const struct cpl_dfkind_at *to)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	struct kind_paths w = {.net = net,
	                       .from = *from,
	                       .to = *to,
	                       .there = number(df, from->group, to->group),
	                       .back = number(df, to->group, from->group),
	                       .hops = 2 * CPL_LOCAL_LINKS};

	for (int k = 0; k < df->global_per_pair; k++) {
		int hops, n = over(&w, k, &hops);

		if (hops < w.hops) {
			w.hops = hops;
			w.n = 0;
		}
		if (hops == w.hops)
			w.n += n;
	}
	return w;
}

/* Lists the links of the shortest paths over link k, if there are any. */
static int list(const struct kind_paths *w, int k, struct cpl_share *share)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(w->net);
	struct cpl_dfkind_at at;
	int hops, n = over(w, k, &hops);
	double part = n / w->n;

	if (hops > w->hops)
		return 0;
	at = cpl_dfkind_at(w->net, df->gateway[w->there + k]);
	n = cpl_kinds_local(df, &w->from, &at, part, share);
	share[n].link = (int)(df->global + w->there + k);
	share[n++].part = part;
	at = cpl_dfkind_at(w->net, df->gateway[w->back + k]);
	return n + cpl_kinds_local(df, &at, &w->to, part, share + n);
}

static double add_hops(const struct cpl_network *net, int from, int to,
                       double bytes, double *load)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	struct cpl_dfkind_at a = cpl_dfkind_at(net, from);
	struct cpl_dfkind_at b = cpl_dfkind_at(net, to);
	struct cpl_share share[CPL_GROUP_LINKS];
	struct kind_paths w;

	if (a.group == b.group) {
		int n = cpl_kinds_local(df, &a, &b, bytes, share);

		for (int i = 0; i < n; i++)
			load[share[i].link] += share[i].part;
		return cpl_dfkind_hops(&a, &b);
	}
	w = find(net, &a, &b);
	for (int k = 0; k < df->global_per_pair; k++) {
		int n = list(&w, k, share);

		for (int i = 0; i < n; i++)
			load[share[i].link] += bytes * share[i].part;
	}
	return w.hops + 1;
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	add_hops(net, from, to, bytes, load);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	const struct cpl_dfkinds *df = cpl_dfkinds_of(net);
	struct cpl_dfkind_at a = cpl_dfkind_at(net, from);
	struct cpl_dfkind_at b = cpl_dfkind_at(net, to);
	struct kind_paths w;
	int n = 0;

	if (a.group == b.group)
		return cpl_kinds_local(df, &a, &b, 1, share);
	w = find(net, &a, &b);
	for (int k = 0; k < df->global_per_pair; k++)
		n += list(&w, k, share + n);
	return n;
}

static double hops(const struct cpl_network *net, int from, int to)
{
	struct cpl_dfkind_at a = cpl_dfkind_at(net, from);
	struct cpl_dfkind_at b = cpl_dfkind_at(net, to);

	return a.group == b.group ? cpl_dfkind_hops(&a, &b)
	                          : find(net, &a, &b).hops + 1;
}

/* Paths inside both groups, over either corner, are listed for all K links. */
static int64_t again(const struct cpl_network *net)
{
	return CPL_GROUP_LINKS *
	       ((int64_t)cpl_dfkinds_of(net)->global_per_pair + 1);
}

const struct cpl_routing cpl_routing_kinds_direct = {
        .name = "static-direct",
        .short_name = "SD",
        .type = &cpl_network_dragonfly_kinds,
        .summary = "evenly over all minimal paths",
        .add = add_flow,
        .links = links,
        .again = again,
        .hops = hops,
        .add_hops = add_hops,
};
