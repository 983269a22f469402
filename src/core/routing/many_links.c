/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/legs.h"

#include <stdbool.h>
#include <string.h>

#include "routing/dragonfly_paths.h"

/* The matrix of paths inside groups is kept up to so many entries; beyond, each
 * path is put on its links at once. */
#define MAX_LOCAL (INT64_C(1) << 25)

/* The traffic of one router of a class over one link. */
struct flow {
	double out, in; /* bytes to and from the other group's routers */
	double part;    /* share of the paths to all of them */
};

/* The routers of a group that are equally far from its gateways to another. */
struct class
{
	int count, next;       /* next: in its bucket, or -1 */
	double sent, received; /* of all its routers */
	double hops;           /* links from one of them to the other group */
};

struct side {
	int group, n;
	int *gateway;                  /* [K] routers of the group */
	struct class *classes;         /* [size] */
	int *class_of;                 /* [size] */
	struct cpl_gateways *gateways; /* [size][words] */
	struct flow *flow;             /* [size][K] */
};

struct legs {
	const struct cpl_network *net;
	const struct cpl_dragonfly *df;
	int size, k_links, words, n_buckets;
	const double *sent, *received;
	double *local; /* [n_routers][size], or NULL */
	double *load;
	struct side side[2];
	struct cpl_shortest *shortest; /* [words] */
	int *bucket;                   /* [n_buckets] */
};

static int64_t local_entries(const struct cpl_network *net)
{
	int64_t n = (int64_t)net->n_routers *
	            cpl_dragonfly_of(net)->routers_per_group;

	return n <= MAX_LOCAL ? n : 0;
}

/* Takes room for n of that size from *at on; NULL without a base. */
static void *take_items(char *base, size_t *at, size_t n, size_t size)
{
	size_t first = *at;

	*at += (n * size + 7) / 8 * 8;
	return base ? base + first : NULL;
}

/* Divides the scratch and returns the bytes that it takes. */
static size_t divide(struct legs *legs, const struct cpl_network *net,
                     char *scratch)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	size_t size = (size_t)df->routers_per_group;
	size_t words = (size_t)df->words, k_links = (size_t)df->global_per_pair;
	size_t at = 0;

	*legs = (struct legs){.net = net,
	                      .df = df,
	                      .size = df->routers_per_group,
	                      .k_links = df->global_per_pair,
	                      .words = df->words,
	                      .n_buckets = 1};
	while (legs->n_buckets < legs->size)
		legs->n_buckets *= 2;
	legs->local = take_items(scratch, &at, (size_t)local_entries(net),
	                         sizeof(double));
	for (int i = 0; i < 2; i++) {
		struct side *side = &legs->side[i];

		side->gateway = take_items(scratch, &at, k_links,
		                           sizeof(*side->gateway));
		side->classes =
		        take_items(scratch, &at, size, sizeof(*side->classes));
		side->class_of =
		        take_items(scratch, &at, size, sizeof(*side->class_of));
		side->gateways = take_items(scratch, &at, size * words,
		                            sizeof(*side->gateways));
		side->flow = take_items(scratch, &at, size * k_links,
		                        sizeof(*side->flow));
	}
	legs->shortest =
	        take_items(scratch, &at, words, sizeof(*legs->shortest));
	legs->bucket = take_items(scratch, &at, (size_t)legs->n_buckets,
	                          sizeof(*legs->bucket));
	return at;
}

size_t cpl_many_links_scratch(const struct cpl_network *net)
{
	struct legs legs;

	return divide(&legs, net, NULL);
}

static void inside(struct legs *legs, int from, int to, double bytes)
{
	if (legs->local)
		legs->local[(int64_t)from * legs->size + to % legs->size] +=
		        bytes;
	else if (bytes > 0)
		cpl_local_add(legs->net, from, to, bytes, legs->load);
}

/* Whether the gateways are where those of the last two groups were; they are so
 * towards all groups where the wiring depends on the other group only. */
static bool as_before(const struct legs *legs, struct side *side, int other)
{
	const int *gateway =
	        legs->df->gateway +
	        cpl_dragonfly_global(legs->net, side->group, other, 0);
	int first = side->group * legs->size;
	bool same = side->n > 0;

	for (int k = 0; k < legs->k_links; k++) {
		same = same && side->gateway[k] == gateway[k] - first;
		side->gateway[k] = gateway[k] - first;
	}
	return same;
}

/* Sorts the routers of a group into classes towards the other: their gateways
 * in the order of classes, each class once. */
static void classify(struct legs *legs, struct side *side, int other)
{
	int first = side->group * legs->size, words = legs->words;

	if (as_before(legs, side, other)) {
		for (int c = 0; c < side->n; c++)
			side->classes[c].sent = side->classes[c].received =
			        side->classes[c].hops = 0;
		return;
	}
	side->n = 0;
	memset(legs->bucket, -1,
	       (size_t)legs->n_buckets * sizeof(*legs->bucket));
	for (int i = 0; i < legs->size; i++) {
		struct cpl_where at = cpl_where(legs->df, first + i);
		struct cpl_gateways *gateways =
		        side->gateways + (size_t)side->n * (size_t)words;
		size_t bytes = (size_t)words * sizeof(*gateways);
		uint64_t hash = 0;
		int *bucket, c;

		for (int w = 0; w < words; w++) {
			gateways[w] = cpl_gateways(legs->net, &at, other, w);
			hash = (hash ^ gateways[w].at[0]) *
			       UINT64_C(0x9e3779b97f4a7c15);
			hash = (hash ^ gateways[w].at[1] ^ hash >> 32) *
			       UINT64_C(0x9e3779b97f4a7c15);
		}
		bucket = &legs->bucket[(hash >> 32) &
		                       (uint64_t)(legs->n_buckets - 1)];
		for (c = *bucket; c >= 0; c = side->classes[c].next)
			if (!memcmp(side->gateways + (size_t)c * (size_t)words,
			            gateways, bytes))
				break;
		if (c < 0) {
			c = side->n++;
			side->classes[c] = (struct class){.next = *bucket};
			*bucket = c;
		}
		side->class_of[i] = c;
		side->classes[c].count++;
	}
}

/* Adds up what the classes send and get. */
static void weigh(const struct legs *legs, struct side *side)
{
	int first = side->group * legs->size;

	for (int i = 0; i < legs->size; i++) {
		struct class *class = &side->classes[side->class_of[i]];

		class->sent += legs->sent[first + i];
		class->received += legs->received[first + i];
	}
	memset(side->flow, 0,
	       (size_t)side->n * (size_t)legs->k_links * sizeof(*side->flow));
}

static inline void put_class(struct flow *to, const struct class *from,
                             double part)
{
	to->out += from->received * part;
	to->in += from->sent * part;
	to->part += from->count * part;
}

static inline void put_links(struct flow *near, struct flow *far,
                             const struct class *at_near,
                             const struct class *at_far, uint64_t links,
                             double part)
{
	for (; links; links &= links - 1) {
		int k = __builtin_ctzll(links);

		put_class(&near[k], at_far, part);
		put_class(&far[k], at_near, part);
	}
}

/* The links inside groups of the shortest paths between two classes; *n_paths
 * is their number, and legs->shortest has those of each word. */
static int fewest(struct legs *legs, int near, int far, int *n_paths)
{
	size_t words = (size_t)legs->words;
	const struct cpl_gateways *at_near =
	        legs->side[0].gateways + (size_t)near * words;
	const struct cpl_gateways *at_far =
	        legs->side[1].gateways + (size_t)far * words;
	int hops = CPL_MAX_LOCAL_HOPS + 1, paths = 0;

	for (size_t w = 0; w < words; w++) {
		struct cpl_shortest s = cpl_shortest(&at_near[w], &at_far[w]);

		legs->shortest[w] = s;
		if (s.hops < hops) {
			hops = s.hops;
			paths = 0;
		}
		if (s.hops == hops)
			paths += s.paths;
	}
	*n_paths = paths;
	return hops;
}

/* Divides the bytes between two classes over the links. */
static void divide_links(struct legs *legs, int near, int far)
{
	struct side *a = &legs->side[0], *b = &legs->side[1];
	size_t words = (size_t)legs->words, k_links = (size_t)legs->k_links;
	int paths, hops = fewest(legs, near, far, &paths);
	double part = 1.0 / paths;

	for (size_t w = 0; w < words; w++) {
		struct flow *out = a->flow + (size_t)near * k_links + 64 * w;
		struct flow *in = b->flow + (size_t)far * k_links + 64 * w;

		if (legs->shortest[w].hops != hops)
			continue;
		put_links(out, in, &a->classes[near], &b->classes[far],
		          legs->shortest[w].once, part);
		put_links(out, in, &a->classes[near], &b->classes[far],
		          legs->shortest[w].twice, 2 * part);
	}
}

/* Puts what one group's routers exchange with the other's on the paths to and
 * from the gateways, and on the links between groups when wanted. */
static void deliver(struct legs *legs, const struct side *side, int other,
                    bool on_links)
{
	const struct cpl_network *net = legs->net;
	int64_t there = cpl_dragonfly_global(net, side->group, other, 0);
	int64_t back = cpl_dragonfly_global(net, other, side->group, 0);
	const int *gateway = legs->df->gateway + there;
	double *link = legs->load + net->link_class[CPL_DRAGONFLY_GLOBAL].first;

	for (int i = 0; i < legs->size; i++) {
		int c = side->class_of[i],
		    router = side->group * legs->size + i;
		const struct flow *flow =
		        side->flow + (size_t)c * (size_t)legs->k_links;
		double sent = legs->sent[router];
		double received = legs->received[router];

		for (int k = 0; k < legs->k_links; k++) {
			double out = sent * flow[k].part + flow[k].out;
			double in = received * flow[k].part + flow[k].in;

			inside(legs, router, gateway[k], out);
			inside(legs, gateway[k], router, in);
			if (on_links) {
				link[there + k] += out;
				link[back + k] += in;
			}
		}
	}
}

static bool talks(const struct class *class)
{
	return class->sent > 0 || class->received > 0;
}

static void face(struct legs *legs, int near, int far)
{
	legs->side[0].group = near;
	legs->side[1].group = far;
	classify(legs, &legs->side[0], far);
	classify(legs, &legs->side[1], near);
}

static void between(struct legs *legs, int near, int far)
{
	struct side *a = &legs->side[0], *b = &legs->side[1];

	face(legs, near, far);
	weigh(legs, a);
	weigh(legs, b);
	for (int c = 0; c < a->n; c++) {
		bool all = talks(&a->classes[c]);

		for (int d = 0; d < b->n; d++)
			if (all || talks(&b->classes[d]))
				divide_links(legs, c, d);
	}
	deliver(legs, a, far, true);
	deliver(legs, b, near, false);
}

static void within(struct legs *legs, int group)
{
	int first = group * legs->size, end = first + legs->size;

	for (int a = first; a < end; a++)
		for (int b = first; b < end; b++)
			if (a != b)
				inside(legs, a, b,
				       legs->sent[a] + legs->received[b]);
}

void cpl_many_links_legs(const struct cpl_network *net, const double *sent,
                         const double *received, void *scratch, double *load)
{
	int groups = cpl_dragonfly_of(net)->groups;
	int64_t entries = local_entries(net);
	struct legs legs;

	divide(&legs, net, scratch);
	legs.sent = sent;
	legs.received = received;
	legs.load = load;
	if (entries)
		memset(legs.local, 0, (size_t)entries * sizeof(*legs.local));
	else
		legs.local = NULL;
	for (int a = 0; a < groups; a++) {
		within(&legs, a);
		for (int b = a + 1; b < groups; b++)
			between(&legs, a, b);
	}
	for (int group = 0; group < groups && entries; group++)
		cpl_local_spread(net, group,
		                 legs.local +
		                         (int64_t)group * legs.size * legs.size,
		                 load);
}

static void add_hops(const struct legs *legs, const struct side *side,
                     double *hops)
{
	for (int i = 0; i < legs->size; i++)
		hops[side->group * legs->size + i] +=
		        side->classes[side->class_of[i]].hops;
}

void cpl_many_links_hops(const struct cpl_network *net, void *scratch,
                         double *hops)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	double around = (df->rows - 1) + (df->columns - 1) +
	                2.0 * (df->rows - 1) * (df->columns - 1);
	struct legs legs;
	struct side *a = &legs.side[0], *b = &legs.side[1];

	divide(&legs, net, scratch);
	for (int router = 0; router < net->n_routers; router++)
		hops[router] = around;
	for (int near = 0; near < df->groups; near++)
		for (int far = near + 1; far < df->groups; far++) {
			face(&legs, near, far);
			for (int c = 0; c < a->n; c++)
				for (int d = 0; d < b->n; d++) {
					struct class *x = &a->classes[c];
					struct class *y = &b->classes[d];
					int paths,
					        n = fewest(&legs, c, d, &paths);

					x->hops += y->count * (1.0 + n);
					y->hops += x->count * (1.0 + n);
				}
			add_hops(&legs, a, hops);
			add_hops(&legs, b, hops);
		}
}
