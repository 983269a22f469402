/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "routing/routing_internal.h"

#define EXPOSURE 50
#define MAX_ITERATIONS 400
#define CONVERGED 1e-4
#define DRAWN_PATHS 4
#define DIRECT_DRAWN 2
#define MAX_HOPS 10
/* Pairs up to which an iteration keeps its paths from the first pass to the
 * second; beyond, it finds them again. */
#define MAX_KEPT (INT64_C(1) << 21)
/* Pairs up to which the grants of all iterations are kept, 64 MB. */
#define MAX_REMEMBERED 5000
#define SEED 1

struct path {
	int n;
	int link[MAX_HOPS];
	double weight; /* what it asks of its links */
};

struct spot {
	int group, row, column;
};

struct solver {
	const struct cpl_network *net;
	const struct cpl_dragonfly *df;
	int direct; /* direct paths at the most; -1: all, and no others */
	int64_t row_first, column_first, global_first;
	double *left, *asked, *granted; /* [links] */
	struct path *path; /* [kept pairs][4], or those of one pair */
	int64_t kept;
	double *total;     /* [pairs] bandwidth over all iterations */
	double *hops;      /* [pairs] mean links */
	double *grants;    /* [iteration][pair][path], or NULL */
	struct spot *spot; /* [routers] */
	unsigned char *before, *after; /* [K] links to and from the gateways */
	double *bandwidth;             /* [links] NULL, or all grants */
};

static int64_t path_room(const struct cpl_network *net, int64_t pairs)
{
	int64_t kept = pairs < MAX_KEPT ? pairs + 1 : MAX_KEPT;
	int64_t all = 4 * (int64_t)net->dragonfly.global_per_pair;

	return kept * DRAWN_PATHS > all ? kept * DRAWN_PATHS : all;
}

static size_t grant_room(int64_t pairs)
{
	return (size_t)(pairs < MAX_REMEMBERED ? pairs : MAX_REMEMBERED) *
	       MAX_ITERATIONS * DRAWN_PATHS;
}

/* Never less for more pairs: the pairs are often fewer than room was for. */
static size_t scratch_size(const struct cpl_network *net, int64_t pairs)
{
	return sizeof(double) * (3 * (size_t)net->n_links + 2 * (size_t)pairs +
	                         grant_room(pairs)) +
	       sizeof(struct path) * (size_t)path_room(net, pairs) +
	       sizeof(struct spot) * (size_t)net->n_routers +
	       2 * (size_t)net->dragonfly.global_per_pair;
}

static void divide(struct solver *s, const struct cpl_network *net,
                   int64_t pairs, void *scratch)
{
	const struct cpl_dragonfly *df = &net->dragonfly;

	s->net = net;
	s->df = df;
	s->row_first = net->link_class[CPL_DRAGONFLY_ROW].first;
	s->column_first = net->link_class[CPL_DRAGONFLY_COLUMN].first;
	s->global_first = net->link_class[CPL_DRAGONFLY_GLOBAL].first;
	s->left = scratch;
	s->asked = s->left + net->n_links;
	s->granted = s->asked + net->n_links;
	s->total = s->granted + net->n_links;
	s->hops = s->total + pairs;
	s->grants = s->hops + pairs;
	s->path = (struct path *)(s->grants + grant_room(pairs));
	if (pairs > MAX_REMEMBERED || s->direct < 0 || net->n_routers < 3)
		s->grants = NULL;
	s->kept = pairs < MAX_KEPT ? pairs : 0;
	s->spot = (struct spot *)(s->path + path_room(net, pairs));
	s->before = (unsigned char *)(s->spot + net->n_routers);
	s->after = s->before + df->global_per_pair;
	for (int r = 0; r < net->n_routers; r++)
		s->spot[r] = (struct spot){
		        .group = r / df->routers_per_group,
		        .row = r / df->columns % df->rows,
		        .column = r % df->columns,
		};
}

static void row_link(const struct solver *s, struct path *p, int from,
                     int column)
{
	p->link[p->n++] =
	        (int)(s->row_first + (int64_t)from * (s->df->columns - 1) +
	              column - (column > s->spot[from].column));
}

static void column_link(const struct solver *s, struct path *p, int from,
                        int row)
{
	p->link[p->n++] =
	        (int)(s->column_first + (int64_t)from * (s->df->rows - 1) +
	              row - (row > s->spot[from].row));
}

static int local_hops(const struct solver *s, int from, int to)
{
	const struct spot *a = &s->spot[from], *b = &s->spot[to];

	return (a->row != b->row) + (a->column != b->column);
}

/* A way inside a group; of two ways, `column_first` says which. */
static void walk_local(const struct solver *s, struct path *p, int from, int to,
                       bool column_first)
{
	const struct spot *a = &s->spot[from], *b = &s->spot[to];

	if (a->row == b->row) {
		if (a->column != b->column)
			row_link(s, p, from, b->column);
	} else if (a->column == b->column) {
		column_link(s, p, from, b->row);
	} else if (column_first) {
		column_link(s, p, from, b->row);
		row_link(s, p, to + a->column - b->column, b->column);
	} else {
		row_link(s, p, from, b->column);
		column_link(s, p, from + b->column - a->column, b->row);
	}
}

/* The gateways between two groups. */
struct gates {
	const int *leave, *enter;
	int64_t link; /* of the first */
};

static struct gates gates(const struct solver *s, int from, int to)
{
	int a = s->spot[from].group, b = s->spot[to].group;
	int64_t first = cpl_dragonfly_global(s->net, a, b, 0);

	return (struct gates){
	        .leave = s->df->gateway + first,
	        .enter = s->df->gateway + cpl_dragonfly_global(s->net, b, a, 0),
	        .link = s->global_first + first,
	};
}

/* The shortest paths of a pair, those of static-direct; valid until the next
 * pair is looked at. */
struct ways {
	bool local; /* inside a group */
	int paths, fewest;
	struct gates g;
};

static inline struct ways direct_ways(const struct solver *s, int from, int to)
{
	struct ways w = {.local = s->spot[from].group == s->spot[to].group};

	if (w.local) {
		w.paths = cpl_local_paths(local_hops(s, from, to));
		return w;
	}
	w.g = gates(s, from, to);
	w.fewest = MAX_HOPS;
	for (int k = 0; k < s->df->global_per_pair; k++) {
		int before = local_hops(s, from, w.g.leave[k]);
		int after = local_hops(s, w.g.enter[k], to);

		s->before[k] = (unsigned char)before;
		s->after[k] = (unsigned char)after;
		if (before + after < w.fewest)
			w.fewest = before + after;
	}
	for (int k = 0; k < s->df->global_per_pair; k++)
		if (s->before[k] + s->after[k] == w.fewest)
			w.paths += cpl_local_paths(s->before[k]) *
			           cpl_local_paths(s->after[k]);
	return w;
}

/* Append path i of them. */
static inline void walk_direct(const struct solver *s, struct path *p,
                               const struct ways *w, int from, int to, int i)
{
	if (w->local) {
		walk_local(s, p, from, to, i > 0);
		return;
	}
	for (int k = 0; k < s->df->global_per_pair; k++) {
		int before = cpl_local_paths(s->before[k]);
		int paths = before * cpl_local_paths(s->after[k]);

		if (s->before[k] + s->after[k] != w->fewest)
			continue;
		if (i >= paths) {
			i -= paths;
			continue;
		}
		walk_local(s, p, from, w->g.leave[k], i % before > 0);
		p->link[p->n++] = (int)(w->g.link + k);
		walk_local(s, p, w->g.enter[k], to, i >= before);
		return;
	}
}

/* Append one of the shortest paths, by a number of 16 random bits. */
static void walk_any(const struct solver *s, struct path *p, int from, int to,
                     uint64_t bits)
{
	struct ways w = direct_ways(s, from, to);
	int i = w.paths == 1 ? 0 : (int)(bits * (uint64_t)w.paths >> 16);

	walk_direct(s, p, &w, from, to, i);
}

/* Over a router that is neither source nor destination. */
static void walk_indirect(const struct solver *s, struct path *p, int from,
                          int to, uint64_t stream, uint64_t counter)
{
	uint64_t bits = cpl_random(SEED, stream, counter);
	uint64_t others = (uint64_t)s->net->n_routers - 2;
	int low = from < to ? from : to, high = from < to ? to : from;
	int over = (int)((bits >> 32) * others >> 32);

	over += over >= low;
	over += over >= high;
	walk_any(s, p, from, over, bits & UINT16_MAX);
	walk_any(s, p, over, to, bits >> 16 & UINT16_MAX);
}

/* The direct paths of a pair: all, or two at the most, drawn. */
static int find_direct(const struct solver *s, int from, int to, bool all,
                       uint64_t bits, struct path *path)
{
	struct ways w = direct_ways(s, from, to);
	int first = 0, second = 1, n = 0;

	for (; all && n < w.paths; n++) {
		path[n].n = 0;
		walk_direct(s, &path[n], &w, from, to, n);
	}
	if (all)
		return n;
	if (w.paths > DIRECT_DRAWN) {
		first = (int)((bits & UINT32_MAX) * (uint64_t)w.paths >> 32);
		second = (int)((bits >> 32) * (uint64_t)(w.paths - 1) >> 32);
		second += second >= first;
	}
	path[n].n = 0;
	walk_direct(s, &path[n++], &w, from, to, first);
	if (w.paths > 1) {
		path[n].n = 0;
		walk_direct(s, &path[n++], &w, from, to, second);
	}
	return n;
}

/* P(m) of an iteration: the pair's paths; returns their number. */
static int find_paths(const struct solver *s, int from, int to, int iteration,
                      struct path *path)
{
	uint64_t stream =
	        (uint64_t)from * (uint64_t)s->net->n_routers + (uint64_t)to;
	uint64_t counter = (uint64_t)iteration * (DRAWN_PATHS + 1);
	int n = 0;

	if (s->direct < 0 || s->net->n_routers < 3)
		return find_direct(s, from, to, true, 0, path);
	if (s->direct)
		n = find_direct(s, from, to, false,
		                cpl_random(SEED, stream, counter + DRAWN_PATHS),
		                path);
	for (; n < DRAWN_PATHS; n++) {
		path[n].n = 0;
		walk_indirect(s, &path[n], from, to, stream,
		              counter + (uint64_t)n);
	}
	return n;
}

/* Weight each path by the pair's bytes and the least that is left on it. */
static void weigh(const struct solver *s, struct path *path, int n,
                  double bytes)
{
	double sum = 0;

	for (int k = 0; k < n; k++) {
		double least = s->left[path[k].link[0]];

		for (int i = 1; i < path[k].n; i++)
			if (s->left[path[k].link[i]] < least)
				least = s->left[path[k].link[i]];
		path[k].weight = least;
		sum += least;
	}
	for (int k = 0; k < n; k++)
		path[k].weight = sum > 0 ? bytes * (path[k].weight / sum) : 0;
}

static int look(const struct solver *s, int from, int to, double bytes,
                int iteration, struct path *path)
{
	int n = find_paths(s, from, to, iteration, path);

	weigh(s, path, n, bytes);
	return n;
}

/* Where a pair's paths stand, and whether until the second pass. */
static struct path *slot(const struct solver *s, int64_t pair, bool *keeps)
{
	*keeps = s->direct >= 0 && s->net->n_routers >= 3 && s->kept > 0;
	return *keeps ? s->path + pair * DRAWN_PATHS : s->path;
}

static void ask(struct solver *s, const struct cpl_pairs *pairs, int iteration)
{
	bool keeps;

	memset(s->asked, 0, (size_t)s->net->n_links * sizeof(*s->asked));
	for (int i = 0; i < pairs->n_from; i++)
		for (int64_t m = pairs->row[i]; m < pairs->row[i + 1]; m++) {
			struct path *path = slot(s, m, &keeps);
			int n = look(s, pairs->from[i], pairs->to[m],
			             pairs->bytes[m], iteration, path);

			for (int k = 0; k < n; k++)
				for (int j = 0; j < path[k].n; j++)
					s->asked[path[k].link[j]] +=
					        path[k].weight;
		}
}

static double granted_on(const struct solver *s, const struct path *path)
{
	double least = s->left[path->link[0]] / s->asked[path->link[0]];

	for (int j = 1; j < path->n; j++) {
		double x = s->left[path->link[j]] / s->asked[path->link[j]];

		if (x < least)
			least = x;
	}
	return least * path->weight;
}

/* A pair whose numbers were too far apart for any grant. */
static void split_evenly(const struct path *path, int n, double bytes,
                         double *hops, double *load, struct cpl_routed *routed)
{
	for (int k = 0; k < n; k++) {
		*hops += (double)path[k].n / n;
		routed->hop_bytes += bytes / n * path[k].n;
		for (int j = 0; j < path[k].n; j++)
			load[path[k].link[j]] += bytes / n;
	}
}

/* Put the part of pair m's bytes on a path that it got bandwidth on. */
static void deliver(struct solver *s, int64_t m, const struct path *path,
                    double got, double bytes, double *load,
                    struct cpl_routed *routed)
{
	double part = got / s->total[m];

	s->hops[m] += part * path->n;
	part *= bytes;
	routed->hop_bytes += part * path->n;
	for (int j = 0; j < path->n; j++)
		load[path->link[j]] += part;
}

/*
 * Grant what was asked for. Without load the grants are added to the pairs'
 * totals, with it the bytes go where the grants are. Returns their sum.
 */
static double grant(struct solver *s, const struct cpl_pairs *pairs,
                    int iteration, double *load, struct cpl_routed *routed)
{
	int64_t all = pairs->row[pairs->n_from];
	double sum = 0;
	bool keeps;

	memset(s->granted, 0, (size_t)s->net->n_links * sizeof(*s->granted));
	for (int i = 0; i < pairs->n_from; i++)
		for (int64_t m = pairs->row[i]; m < pairs->row[i + 1]; m++) {
			struct path *path = slot(s, m, &keeps);
			int n = DRAWN_PATHS;

			if (!keeps)
				n = look(s, pairs->from[i], pairs->to[m],
				         pairs->bytes[m], iteration, path);
			if (load && !iteration && !(s->total[m] > 0))
				split_evenly(path, n, pairs->bytes[m],
				             &s->hops[m], load, routed);
			for (int k = 0; k < n; k++) {
				double got = 0;

				if (path[k].weight > 0)
					got = granted_on(s, &path[k]);
				if (s->grants)
					s->grants[(iteration * all + m) *
					                  DRAWN_PATHS +
					          k] = got;
				if (!(got > 0))
					continue;
				sum += got;
				for (int j = 0; j < path[k].n; j++)
					s->granted[path[k].link[j]] += got;
				if (!load)
					s->total[m] += got;
				else
					deliver(s, m, &path[k], got,
					        pairs->bytes[m], load, routed);
			}
		}
	/* What rounding leaves of a full link would still make weights. */
	for (int64_t l = 0; l < s->net->n_links; l++) {
		s->left[l] -= s->granted[l];
		if (s->left[l] < 1e-12 * s->granted[l])
			s->left[l] = 0;
	}
	return sum;
}

/* The bytes of all pairs by the grants that are kept. */
static void replay(struct solver *s, const struct cpl_pairs *pairs,
                   int iterations, double *load, struct cpl_routed *routed)
{
	const double *got = s->grants;

	for (int it = 0; it < iterations; it++)
		for (int i = 0; i < pairs->n_from; i++)
			for (int64_t m = pairs->row[i]; m < pairs->row[i + 1];
			     m++, got += DRAWN_PATHS) {
				double sum = got[0] + got[1] + got[2] + got[3];

				if (sum > 0 || (!it && !(s->total[m] > 0)))
					find_paths(s, pairs->from[i],
					           pairs->to[m], it, s->path);
				if (!it && !(s->total[m] > 0))
					split_evenly(s->path, DRAWN_PATHS,
					             pairs->bytes[m],
					             &s->hops[m], load, routed);
				for (int k = 0; k < DRAWN_PATHS; k++)
					if (got[k] > 0)
						deliver(s, m, &s->path[k],
						        got[k], pairs->bytes[m],
						        load, routed);
			}
}

static void expose(struct solver *s, double part)
{
	for (int c = 0; c < s->net->n_classes; c++) {
		const struct cpl_link_class *class = &s->net->link_class[c];
		double more = part * class->bandwidth;

		for (int64_t i = 0; i < class->count; i++)
			s->left[class->first + i] += more;
	}
}

/* Returns how many iterations it took. */
static int iterate(struct solver *s, const struct cpl_pairs *pairs,
                   double *load, struct cpl_routed *routed)
{
	int steps = s->direct < 0 ? 1 : EXPOSURE;
	double sum = 0;
	int i = 0;

	memset(s->left, 0, (size_t)s->net->n_links * sizeof(*s->left));
	while (i < MAX_ITERATIONS) {
		double got;

		if (i < steps)
			expose(s, 1.0 / steps);
		ask(s, pairs, i);
		got = grant(s, pairs, i, load, routed);
		for (int64_t l = 0; s->bandwidth && l < s->net->n_links; l++)
			s->bandwidth[l] += s->granted[l];
		sum += got;
		i++;
		if (i >= steps && got <= CONVERGED * sum)
			break;
	}
	return i;
}

static void solve(const struct cpl_network *net, const struct cpl_pairs *pairs,
                  void *scratch, double *load, struct cpl_routed *routed,
                  int direct)
{
	int64_t n = pairs->n_from ? pairs->row[pairs->n_from] : 0;
	struct solver s = {.direct = direct};
	int iterations;

	if (!n)
		return;
	divide(&s, net, n, scratch);
	memset(s.total, 0, 2 * (size_t)n * sizeof(*s.total));
	iterations = iterate(&s, pairs, NULL, NULL);
	/* The second time finds the same grants, now with the totals known:
	 * keeping them all would take the memory of all iterations. */
	if (s.grants)
		replay(&s, pairs, iterations, load, routed);
	else
		iterate(&s, pairs, load, routed);
	for (int64_t m = 0; m < n; m++)
		if (s.hops[m] > routed->max_hops)
			routed->max_hops = s.hops[m];
}

void cpl_adaptive_bandwidth(const struct cpl_network *net,
                            const struct cpl_routing *routing,
                            const struct cpl_pairs *pairs, void *scratch,
                            double *bandwidth)
{
	struct solver s = {
	        .direct = routing == &cpl_routing_adaptive_direct ? -1
	                  : routing == &cpl_routing_adaptive_hybrid
	                          ? DIRECT_DRAWN
	                          : 0,
	        .bandwidth = bandwidth,
	};
	int64_t n = pairs->row[pairs->n_from];

	divide(&s, net, n, scratch);
	memset(s.total, 0, 2 * (size_t)n * sizeof(*s.total));
	iterate(&s, pairs, NULL, NULL);
}

static void solve_direct(const struct cpl_network *net,
                         const struct cpl_pairs *pairs, void *scratch,
                         double *load, struct cpl_routed *routed)
{
	solve(net, pairs, scratch, load, routed, -1);
}

static void solve_indirect(const struct cpl_network *net,
                           const struct cpl_pairs *pairs, void *scratch,
                           double *load, struct cpl_routed *routed)
{
	solve(net, pairs, scratch, load, routed, 0);
}

static void solve_hybrid(const struct cpl_network *net,
                         const struct cpl_pairs *pairs, void *scratch,
                         double *load, struct cpl_routed *routed)
{
	solve(net, pairs, scratch, load, routed, DIRECT_DRAWN);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_static_direct.hops(net, from, to);
}

const struct cpl_routing cpl_routing_adaptive_direct = {
        .name = "adaptive-direct",
        .short_name = "AD",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "over the minimal paths, by the bandwidth left on them",
        .solve = solve_direct,
        .scratch_size = scratch_size,
        .hops = hops,
};

const struct cpl_routing cpl_routing_adaptive_indirect = {
        .name = "adaptive-indirect",
        .short_name = "AI",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "over drawn intermediate routers, by the bandwidth left",
        .solve = solve_indirect,
        .scratch_size = scratch_size,
        .hops = hops,
};

const struct cpl_routing cpl_routing_adaptive_hybrid = {
        .name = "adaptive-hybrid",
        .short_name = "AH",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "over two minimal and two indirect paths (UGAL-G)",
        .solve = solve_hybrid,
        .scratch_size = scratch_size,
        .hops = hops,
};
