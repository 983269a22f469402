/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "routing/one_link.h"
#include "routing/routing_internal.h"

/* Entries of the matrix of ways inside groups up to which it is kept; beyond,
 * each way is put on its links at once. */
#define MAX_LOCAL (INT64_C(1) << 25)
/* Gateways whose distances fit a key, two bits each. */
#define KEY_LINKS 31
/* What cancels to less than this part of its terms is 0. */
#define CANCELLED 1e-11

struct work {
	const struct cpl_network *net;
	const struct cpl_dragonfly *df;
	double *plus, *minus; /* [links] */
	double *local;        /* [routers][routers per group], or NULL */
	double *share, *part; /* [K] */
	double *weight[2];    /* [routers] bytes sent, received */
	double *hops[2];      /* [routers] to, from all others */
	double *by_group[2];  /* [groups] sums of weight */
	double *scratch;      /* of cpl_one_link_legs */
	uint64_t *key;        /* [routers per group] of each class */
	double *class_weight; /* [routers per group] */
	int *first;           /* [routers per group] of the class */
	int *class_of;        /* [routers per group], -1: no traffic */
};

/* Then the legs have a closed form, see one_link.h. */
static bool one_link(const struct cpl_network *net)
{
	return net->dragonfly.global_per_pair == 1;
}

static int64_t local_entries(const struct cpl_network *net)
{
	int64_t n = (int64_t)net->n_routers * net->dragonfly.routers_per_group;

	return n <= MAX_LOCAL && !one_link(net) ? n : 0;
}

static size_t scratch_size(const struct cpl_network *net, int64_t pairs)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	size_t size = (size_t)df->routers_per_group;

	(void)pairs;
	return sizeof(double) *
	       (2 * (size_t)net->n_links + (size_t)local_entries(net) +
	        2 * (size_t)df->global_per_pair + 4 * (size_t)net->n_routers +
	        3 * size + 2 * (size_t)df->groups + cpl_one_link_scratch(net));
}

static double *take(double **at, int64_t n)
{
	double *p = *at;

	*at += n;
	return p;
}

static void divide(struct work *w, const struct cpl_network *net, void *scratch)
{
	const struct cpl_dragonfly *df = &net->dragonfly;
	int64_t local = local_entries(net);
	double *at = scratch;

	w->net = net;
	w->df = df;
	w->plus = take(&at, net->n_links);
	w->minus = take(&at, net->n_links);
	for (int i = 0; i < 2; i++) {
		w->weight[i] = take(&at, net->n_routers);
		w->hops[i] = take(&at, net->n_routers);
	}
	w->local = take(&at, local);
	memset(scratch, 0, (size_t)((char *)at - (char *)scratch));
	if (!local)
		w->local = NULL;
	for (int i = 0; i < 2; i++)
		w->by_group[i] = take(&at, df->groups);
	w->scratch = take(&at, (int64_t)cpl_one_link_scratch(net));
	w->share = take(&at, df->global_per_pair);
	w->part = take(&at, df->global_per_pair);
	w->class_weight = take(&at, df->routers_per_group);
	w->key = (uint64_t *)take(&at, df->routers_per_group);
	w->first = (int *)at;
	w->class_of = w->first + df->routers_per_group;
}

/* Bytes from one router to another of its group, or back. */
static void inside(struct work *w, int from, int to, bool back, double bytes)
{
	int swap = from;

	if (back) {
		from = to;
		to = swap;
	}
	if (w->local)
		w->local[(int64_t)from * w->df->routers_per_group +
		         to % w->df->routers_per_group] += bytes;
	else
		cpl_local_add(w->net, from, to, bytes, w->plus);
}

static void flush_inside(struct work *w)
{
	int size = w->df->routers_per_group;
	const double *row = w->local;

	for (int from = 0; row && from < w->net->n_routers; from++) {
		int first = from - from % size;

		for (int i = 0; i < size; i++)
			if (row[i] > 0)
				cpl_local_add(w->net, from, first + i, row[i],
				              w->plus);
		row += size;
	}
}

/*
 * Sort the routers of a group that have traffic by their distances to the
 * gateways: equal ones divide their bytes over the K links alike. Returns the
 * number of classes.
 */
static int classify(struct work *w, int group, const int *gate,
                    const double *weight)
{
	int size = w->df->routers_per_group, k_links = w->df->global_per_pair;
	int n = 0;

	for (int i = 0; i < size; i++) {
		int router = group * size + i, c = n;
		uint64_t key = 0;

		w->class_of[i] = -1;
		if (!(weight[router] > 0))
			continue;
		if (k_links <= KEY_LINKS) {
			for (int k = 0; k < k_links; k++)
				key = key * 4 + (uint64_t)cpl_local_hops(
				                        w->df, router, gate[k]);
			for (c = 0; c < n && w->key[c] != key; c++)
				;
		}
		if (c == n) {
			w->key[n] = key;
			w->first[n] = router;
			w->class_weight[n++] = 0;
		}
		w->class_of[i] = c;
		w->class_weight[c] += weight[router];
	}
	return n;
}

/* Parts of the bytes between near and far that take each link; the hops. */
static int divide_links(struct work *w, const int *near_gate,
                        const int *far_gate, int near, int far)
{
	const struct cpl_dragonfly *df = w->df;
	int paths, fewest = cpl_direct_shortest(df, near_gate, far_gate, near,
	                                        far, &paths);

	for (int k = 0; k < df->global_per_pair; k++) {
		int before = cpl_local_hops(df, near, near_gate[k]);
		int after = cpl_local_hops(df, far_gate[k], far);

		w->part[k] = 0;
		if (before + 1 + after == fewest)
			w->part[k] = (double)(cpl_local_paths(before) *
			                      cpl_local_paths(after)) /
			             paths;
	}
	return fewest;
}

/*
 * The bytes of the routers of group `near` to every router of group `far`, or
 * (back) from every router of `far`.
 */
static void between(struct work *w, int near, int far, bool back)
{
	const struct cpl_dragonfly *df = w->df;
	const int *near_gate =
	        df->gateway + cpl_dragonfly_global(w->net, near, far, 0);
	const int *far_gate =
	        df->gateway + cpl_dragonfly_global(w->net, far, near, 0);
	int size = df->routers_per_group, k_links = df->global_per_pair;
	double *link = w->plus +
	               w->net->link_class[CPL_DRAGONFLY_GLOBAL].first +
	               (back ? cpl_dragonfly_global(w->net, far, near, 0)
	                     : cpl_dragonfly_global(w->net, near, far, 0));
	const double *weight = w->weight[back];
	int n = classify(w, near, near_gate, weight);

	for (int c = 0; c < n; c++) {
		double hops = 0;

		memset(w->share, 0, (size_t)k_links * sizeof(*w->share));
		for (int i = 0; i < size; i++) {
			int router = far * size + i;

			hops += divide_links(w, near_gate, far_gate,
			                     w->first[c], router);
			for (int k = 0; k < k_links; k++) {
				double bytes = w->class_weight[c] * w->part[k];

				if (!(bytes > 0))
					continue;
				w->share[k] += w->part[k];
				link[k] += bytes;
				inside(w, far_gate[k], router, back, bytes);
			}
		}
		for (int i = 0; i < size; i++) {
			int router = near * size + i;

			if (w->class_of[i] != c)
				continue;
			w->hops[back][router] += hops;
			for (int k = 0; k < k_links; k++)
				inside(w, router, near_gate[k], back,
				       weight[router] * w->share[k]);
		}
	}
}

/* The same inside one group. */
static void within(struct work *w, int group, bool back)
{
	int size = w->df->routers_per_group, first = group * size;

	for (int a = first; a < first + size; a++) {
		double weight = w->weight[back][a];

		if (!(weight > 0))
			continue;
		for (int b = first; b < first + size; b++) {
			if (a == b)
				continue;
			inside(w, a, b, back, weight);
			w->hops[back][a] += cpl_local_hops(w->df, a, b);
		}
	}
}

static bool talks(const struct work *w, int group, bool back)
{
	int size = w->df->routers_per_group;
	const double *weight = w->weight[back] + (int64_t)group * size;

	for (int i = 0; i < size; i++)
		if (weight[i] > 0)
			return true;
	return false;
}

static void legs_by_groups(struct work *w)
{
	int groups = w->df->groups, size = w->df->routers_per_group;

	for (int back = 0; back < 2; back++)
		for (int group = 0; group < groups; group++) {
			const double *weight =
			        w->weight[back] + (int64_t)group * size;

			w->by_group[back][group] = 0;
			for (int i = 0; i < size; i++)
				w->by_group[back][group] += weight[i];
		}
	for (int group = 0; group < groups; group++)
		cpl_one_link_legs(w->net, group, w->weight[0], w->weight[1],
		                  w->by_group[0], w->by_group[1], w->scratch,
		                  w->plus);
	/* As many one way as the other. */
	cpl_one_link_hops(w->net, w->class_weight, w->hops[0]);
	memcpy(w->hops[1], w->hops[0],
	       (size_t)w->net->n_routers * sizeof(*w->hops[1]));
}

static void legs(struct work *w)
{
	for (int back = 0; back < 2; back++)
		for (int near = 0; near < w->df->groups; near++) {
			if (!talks(w, near, back))
				continue;
			within(w, near, back);
			for (int far = 0; far < w->df->groups; far++)
				if (far != near)
					between(w, near, far, back);
		}
	flush_inside(w);
}

static void solve(const struct cpl_network *net, const struct cpl_pairs *pairs,
                  void *scratch, double *load, struct cpl_routed *routed)
{
	const struct cpl_routing *direct = &cpl_routing_static_direct;
	double others = net->n_routers - 2;
	struct work w;

	divide(&w, net, scratch);
	for (int i = 0; i < pairs->n_from; i++)
		for (int64_t e = pairs->row[i]; e < pairs->row[i + 1]; e++) {
			w.weight[0][pairs->from[i]] += pairs->bytes[e];
			w.weight[1][pairs->to[e]] += pairs->bytes[e];
			direct->add(net, pairs->from[i], pairs->to[e],
			            pairs->bytes[e], w.minus);
		}
	if (others > 0 && one_link(net))
		legs_by_groups(&w);
	else if (others > 0)
		legs(&w);
	for (int64_t l = 0; l < net->n_links; l++) {
		double bytes = w.minus[l];

		if (others > 0)
			bytes = (w.plus[l] - 2 * w.minus[l]) / others;
		if (others > 0 && bytes * others < CANCELLED * w.plus[l])
			continue;
		load[l] += bytes;
		routed->hop_bytes += bytes;
	}
	for (int i = 0; i < pairs->n_from; i++)
		for (int64_t e = pairs->row[i]; e < pairs->row[i + 1]; e++) {
			int from = pairs->from[i], to = pairs->to[e];
			double hops = direct->hops(net, from, to);

			if (others > 0)
				hops = (w.hops[0][from] + w.hops[1][to] -
				        2 * hops) /
				       others;
			if (hops > routed->max_hops)
				routed->max_hops = hops;
		}
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_static_direct.hops(net, from, to);
}

const struct cpl_routing cpl_routing_static_indirect = {
        .name = "static-indirect",
        .short_name = "SI",
        .type = CPL_NETWORK_DRAGONFLY,
        .summary = "evenly over all intermediate routers, in expectation",
        .solve = solve,
        .scratch_size = scratch_size,
        .hops = hops,
};
