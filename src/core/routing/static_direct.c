/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/dragonfly_paths.h"
#include "routing/local_paths.h"

/* Lists the links between two routers of a group. */
static inline int local_links(const struct cpl_network *net,
                              const struct cpl_where *from,
                              const struct cpl_where *to, double part,
                              struct cpl_share *share, int n)
{
	struct cpl_local_group group = cpl_dragonfly_group(net, from->group);

	return n + cpl_local_links(&group, from->row, from->column, to->row,
	                           to->column, part, share + n);
}

void cpl_local_add_at(const struct cpl_network *net, const struct cpl_where *a,
                      const struct cpl_where *b, double bytes, double *load)
{
	struct cpl_share share[CPL_LOCAL_LINKS];
	int n = local_links(net, a, b, bytes, share, 0);

	for (int i = 0; i < n; i++)
		load[share[i].link] += share[i].part;
}

void cpl_local_add(const struct cpl_network *net, int from, int to,
                   double bytes, double *load)
{
	struct cpl_where a = cpl_where(cpl_dragonfly_of(net), from);
	struct cpl_where b = cpl_where(cpl_dragonfly_of(net), to);

	cpl_local_add_at(net, &a, &b, bytes, load);
}

/* The shortest paths between two groups, 64 links at a time. */
struct group_paths {
	const struct cpl_network *net;
	const struct cpl_where *from, *to;
	int64_t there, back; /* numbers of the first links in the class */
	int hops, n;         /* links but the global one; the number of paths */
	int word;
	struct cpl_shortest at; /* of the word */
};

static inline void look(struct group_paths *w, int word)
{
	struct cpl_gateways near =
	        cpl_gateways(w->net, w->from, w->to->group, word);
	struct cpl_gateways far =
	        cpl_gateways(w->net, w->to, w->from->group, word);

	w->at = cpl_shortest(&near, &far);
	w->word = word;
}

static inline struct group_paths find(const struct cpl_network *net,
                                      const struct cpl_where *from,
                                      const struct cpl_where *to)
{
	struct group_paths w = {.net = net, .from = from, .to = to};

	w.there = cpl_dragonfly_global(net, from->group, to->group, 0);
	w.back = cpl_dragonfly_global(net, to->group, from->group, 0);
	look(&w, 0);
	w.hops = w.at.hops;
	w.n = w.at.paths;
	for (int word = 1; word < cpl_dragonfly_of(net)->words; word++) {
		look(&w, word);
		if (w.at.hops < w.hops) {
			w.hops = w.at.hops;
			w.n = 0;
		}
		if (w.at.hops == w.hops)
			w.n += w.at.paths;
	}
	if (w.word)
		look(&w, 0);
	return w;
}

/* Takes the next link off the list: its index, or -1. */
static inline int next(struct group_paths *w, int *paths)
{
	for (;;) {
		uint64_t left = w->at.once | w->at.twice;

		if (w->at.hops == w->hops && left) {
			uint64_t bit = left & -left;

			*paths = w->at.twice & bit ? 2 : 1;
			w->at.once &= ~bit;
			w->at.twice &= ~bit;
			return 64 * w->word + __builtin_ctzll(bit);
		}
		if (w->word == cpl_dragonfly_of(w->net)->words - 1)
			return -1;
		look(w, w->word + 1);
	}
}

/* Lists the paths over link k. */
static inline int over(const struct group_paths *w, int k, double part,
                       struct cpl_share *share)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(w->net);
	struct cpl_where gateway =
	        cpl_where_in(df, w->from->group, df->gateway[w->there + k]);
	int n;

	n = local_links(w->net, w->from, &gateway, part, share, 0);
	share[n].link =
	        (int)(w->net->link_class[CPL_DRAGONFLY_GLOBAL].first +
	              w->there + k);
	share[n++].part = part;
	gateway = cpl_where_in(df, w->to->group, df->gateway[w->back + k]);
	return local_links(w->net, &gateway, w->to, part, share, n);
}

int cpl_direct_add(const struct cpl_network *net, int from, int to,
                   double bytes, double *load)
{
	struct cpl_where a = cpl_where(cpl_dragonfly_of(net), from);
	struct cpl_where b = cpl_where(cpl_dragonfly_of(net), to);
	struct group_paths w;
	int k, paths;

	if (a.group == b.group) {
		cpl_local_add(net, from, to, bytes, load);
		return (a.row != b.row) + (a.column != b.column);
	}
	w = find(net, &a, &b);
	while ((k = next(&w, &paths)) >= 0) {
		struct cpl_share share[CPL_GROUP_LINKS];
		int n = over(&w, k, bytes * paths / w.n, share);

		for (int i = 0; i < n; i++)
			load[share[i].link] += share[i].part;
	}
	return w.hops + 1;
}

static void add_flow(const struct cpl_network *net, int from, int to,
                     double bytes, double *load)
{
	cpl_direct_add(net, from, to, bytes, load);
}

static double add_hops(const struct cpl_network *net, int from, int to,
                       double bytes, double *load)
{
	return cpl_direct_add(net, from, to, bytes, load);
}

static int links(const struct cpl_network *net, int from, int to,
                 struct cpl_share *share)
{
	struct cpl_where a = cpl_where(cpl_dragonfly_of(net), from);
	struct cpl_where b = cpl_where(cpl_dragonfly_of(net), to);
	int k, paths, n = 0;
	struct group_paths w;

	if (a.group == b.group)
		return local_links(net, &a, &b, 1, share, 0);
	w = find(net, &a, &b);
	while ((k = next(&w, &paths)) >= 0)
		n += over(&w, k, (double)paths / w.n, share + n);
	return n;
}

static double hops(const struct cpl_network *net, int from, int to)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	struct cpl_where a = cpl_where(df, from), b = cpl_where(df, to);

	if (a.group == b.group)
		return (a.row != b.row) + (a.column != b.column);
	return find(net, &a, &b).hops + 1;
}

/* Paths inside both groups, over either corner, are listed for all K links. */
static int64_t again(const struct cpl_network *net)
{
	return CPL_GROUP_LINKS *
	       ((int64_t)cpl_dragonfly_of(net)->global_per_pair + 1);
}

const struct cpl_routing cpl_routing_static_direct = {
        .name = "static-direct",
        .short_name = "SD",
        .type = &cpl_network_dragonfly,
        .summary = "evenly over all minimal paths",
        .add = add_flow,
        .links = links,
        .again = again,
        .hops = hops,
        .add_hops = add_hops,
};
