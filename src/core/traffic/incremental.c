/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/incremental.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All bytes of a job are less than 2^BYTE_BITS units; a route's parts are
 * whole numbers of 2^-PART_BITS. */
#define BYTE_BITS 61
#define PART_BITS 52
/* A dragonfly's ways have at most so many links on the average, in whole parts
 * of them: packets of static-indirect-sampled. Elsewhere links are whole. */
#define FLY_HOPS 10
#define FLY_PARTS 64
/* So that a unit is not smaller than the smallest number. */
#define MIN_EXPONENT (-900)

typedef __int128 wide;

struct touched {
	unsigned char *is; /* has an entry in list */
	int *list;
	int n;
};

/* Things that changed since keep, and of these what the tree has not seen. */
enum {
	CHANGED = 1,
	STALE = 2,
};

struct changes {
	unsigned char *mark; /* of both */
	int *list, *stale;
	int n, n_stale;
};

struct old_node {
	int rank, node;
};

struct cpl_incremental {
	const struct cpl_network *net;
	const struct cpl_comm *comm;
	const struct cpl_load *background;
	struct cpl_route_finder finder;
	double bytes_per_unit;
	double bytes; /* of the job */

	int64_t *out_units; /* [entries] */
	int64_t *in_row;    /* [ranks + 1], what each receives from others */
	int *in_from;       /* [entries] */
	int64_t *in_units;  /* [entries] */

	/* The layout. */
	int *node;      /* [ranks] */
	int *router;    /* [ranks] */
	int *head;      /* [nodes] a rank on it, or -1 */
	int *next;      /* [ranks] on the same node, or -1 */
	int *prev;      /* [ranks] */
	wide *link;     /* [links] units << PART_BITS */
	int64_t *nodes; /* [2 nodes] injection, ejection */
	wide hop_units; /* of all links */
	int64_t on_network;
	int64_t *by_hops; /* [n_hops] units by links on the way * hop_parts */
	int n_hops, hop_parts;
	int most_hops; /* none above it has units */

	/* What changed since keep. */
	struct old_node *log;  /* [ranks] where they were */
	unsigned char *in_log; /* [ranks] */
	int n_log;
	struct changes links, ends, hops;
	wide *old_link;     /* [links] in the order of links.list */
	int64_t *old_nodes; /* [2 nodes] in the order of ends.list */
	int64_t *old_hops;  /* [n_hops] in the order of hops.list */
	wide old_hop_units;
	int64_t old_on_network;
	struct cpl_load_tree *link_tree, *node_tree;

	/* Of one change. */
	unsigned char *moves; /* [ranks] */
	int *moving, *target; /* [ranks] */
	int64_t *sent, *got;  /* [routers] units to and from the others */
	struct touched routers;
};

static int touched_init(struct touched *t, int64_t n)
{
	t->is = calloc((size_t)n + 1, 1);
	t->list = malloc(((size_t)n + 1) * sizeof(*t->list));
	return t->is && t->list ? 0 : -1;
}

static void touched_free(struct touched *t)
{
	free(t->is);
	free(t->list);
}

/* Whether it is new. */
static bool touch(struct touched *t, int64_t i)
{
	if (t->is[i])
		return false;
	t->is[i] = 1;
	t->list[t->n++] = (int)i;
	return true;
}

static void forget(struct touched *t)
{
	for (int i = 0; i < t->n; i++)
		t->is[t->list[i]] = 0;
	t->n = 0;
}

static int changes_init(struct changes *c, int64_t n)
{
	c->mark = calloc((size_t)n + 1, 1);
	c->list = malloc(((size_t)n + 1) * sizeof(*c->list));
	c->stale = malloc(((size_t)n + 1) * sizeof(*c->stale));
	return c->mark && c->list && c->stale ? 0 : -1;
}

static void changes_free(struct changes *c)
{
	free(c->mark);
	free(c->list);
	free(c->stale);
}

/* Whether it is the first change since keep. */
static bool note(struct changes *c, int i)
{
	int mark = c->mark[i];

	if (mark == (CHANGED | STALE))
		return false;
	c->mark[i] = CHANGED | STALE;
	if (!(mark & STALE))
		c->stale[c->n_stale++] = i;
	if (mark & CHANGED)
		return false;
	c->list[c->n++] = i;
	return true;
}

static void forget_stale(struct changes *c)
{
	for (int i = 0; i < c->n_stale; i++)
		c->mark[c->stale[i]] &= (unsigned char)~STALE;
	c->n_stale = 0;
}

static void forget_changes(struct changes *c)
{
	for (int i = 0; i < c->n; i++)
		c->mark[c->list[i]] &= (unsigned char)~CHANGED;
	c->n = 0;
}

static void add_link(struct cpl_incremental *inc, int link, wide units)
{
	if (note(&inc->links, link))
		inc->old_link[inc->links.n - 1] = inc->link[link];
	inc->link[link] += units;
}

static void add_end(struct cpl_incremental *inc, int end, int64_t units)
{
	if (note(&inc->ends, end))
		inc->old_nodes[inc->ends.n - 1] = inc->nodes[end];
	inc->nodes[end] += units;
}

static void add_hops(struct cpl_incremental *inc, double links, int64_t units)
{
	int hops = (int)(links * inc->hop_parts + 0.5);

	if (note(&inc->hops, hops))
		inc->old_hops[inc->hops.n - 1] = inc->by_hops[hops];
	inc->by_hops[hops] += units;
	if (hops > inc->most_hops)
		inc->most_hops = hops;
}

static void add_route(struct cpl_incremental *inc, int from, int to,
                      int64_t units)
{
	const struct cpl_share *share;
	double links = 0;
	int n;

	if (!units)
		return;
	share = cpl_route_find(&inc->finder, from, to, &n);
	for (int i = 0; i < n; i++) {
		int64_t part =
		        (int64_t)(share[i].part * (double)(1LL << PART_BITS) +
		                  0.5);
		wide more = (wide)units * part;

		add_link(inc, share[i].link, more);
		inc->hop_units += more;
		links += share[i].part;
	}
	add_hops(inc, links, units);
}

/* All that ranks moving[first .. end - 1], on one node, exchange; between two
 * moving ranks it counts with the sender. */
static void add_ranks(struct cpl_incremental *inc, int first, int end, int sign)
{
	const struct cpl_comm *comm = inc->comm;
	int node = inc->node[inc->moving[first]];
	int here = cpl_network_router(inc->net, node);
	int n_nodes = inc->net->n_nodes;
	int64_t leaves = 0, arrives = 0;

	for (int i = first; i < end; i++) {
		int rank = inc->moving[i];

		for (int64_t e = comm->row[rank]; e < comm->row[rank + 1];
		     e++) {
			int there = inc->node[comm->to[e]];
			int64_t units = sign * inc->out_units[e];

			if (there == node)
				continue;
			leaves += units;
			add_end(inc, n_nodes + there, units);
			touch(&inc->routers, inc->router[comm->to[e]]);
			inc->sent[inc->router[comm->to[e]]] += units;
		}
		for (int64_t e = inc->in_row[rank]; e < inc->in_row[rank + 1];
		     e++) {
			int other = inc->in_from[e], there = inc->node[other];
			int64_t units = sign * inc->in_units[e];

			if (there == node || inc->moves[other])
				continue;
			arrives += units;
			add_end(inc, there, units);
			touch(&inc->routers, inc->router[other]);
			inc->got[inc->router[other]] += units;
		}
	}
	inc->on_network += leaves + arrives;
	add_end(inc, node, leaves);
	add_end(inc, n_nodes + node, arrives);
	for (int i = 0; i < inc->routers.n; i++) {
		int router = inc->routers.list[i];

		add_route(inc, here, router, inc->sent[router]);
		add_route(inc, router, here, inc->got[router]);
		inc->sent[router] = inc->got[router] = 0;
	}
	forget(&inc->routers);
}

static void add_moving(struct cpl_incremental *inc, int n, int sign)
{
	for (int first = 0, end; first < n; first = end) {
		int node = inc->node[inc->moving[first]];

		for (end = first + 1;
		     end < n && inc->node[inc->moving[end]] == node; end++)
			;
		add_ranks(inc, first, end, sign);
	}
}

static void leave(struct cpl_incremental *inc, int rank)
{
	int next = inc->next[rank], prev = inc->prev[rank];

	if (prev >= 0)
		inc->next[prev] = next;
	else
		inc->head[inc->node[rank]] = next;
	if (next >= 0)
		inc->prev[next] = prev;
}

static void enter(struct cpl_incremental *inc, int rank, int node)
{
	int next = inc->head[node];

	inc->node[rank] = node;
	inc->router[rank] = cpl_network_router(inc->net, node);
	inc->next[rank] = next;
	inc->prev[rank] = -1;
	if (next >= 0)
		inc->prev[next] = rank;
	inc->head[node] = rank;
}

/* Move the first n of moving[] to target[]. */
static void change(struct cpl_incremental *inc, int n)
{
	for (int i = 0; i < n; i++)
		inc->moves[inc->moving[i]] = 1;
	add_moving(inc, n, -1);
	for (int i = 0; i < n; i++) {
		int rank = inc->moving[i];

		if (!inc->in_log[rank]) {
			inc->in_log[rank] = 1;
			inc->log[inc->n_log++] =
			        (struct old_node){rank, inc->node[rank]};
		}
		leave(inc, rank);
		enter(inc, rank, inc->target[i]);
	}
	add_moving(inc, n, 1);
	for (int i = 0; i < n; i++)
		inc->moves[inc->moving[i]] = 0;
}

void cpl_incremental_move(struct cpl_incremental *inc, int rank, int node)
{
	if (inc->node[rank] == node)
		return;
	inc->moving[0] = rank;
	inc->target[0] = node;
	change(inc, 1);
}

void cpl_incremental_swap(struct cpl_incremental *inc, int a, int b)
{
	if (inc->node[a] == inc->node[b])
		return;
	inc->moving[0] = a;
	inc->target[0] = inc->node[b];
	inc->moving[1] = b;
	inc->target[1] = inc->node[a];
	change(inc, 2);
}

void cpl_incremental_exchange(struct cpl_incremental *inc, int a, int b)
{
	int n = 0;

	if (a == b)
		return;
	for (int rank = inc->head[a]; rank >= 0; rank = inc->next[rank]) {
		inc->moving[n] = rank;
		inc->target[n++] = b;
	}
	for (int rank = inc->head[b]; rank >= 0; rank = inc->next[rank]) {
		inc->moving[n] = rank;
		inc->target[n++] = a;
	}
	change(inc, n);
}

static double bytes_of(const struct cpl_incremental *inc, wide units)
{
	double high = (double)(int64_t)(units >> 64);
	double low = (double)(uint64_t)units;

	return (high * 0x1p64 + low) * (inc->bytes_per_unit / 0x1p52);
}

static void refresh(struct cpl_incremental *inc)
{
	const struct cpl_load *bg = inc->background;
	int n_nodes = inc->net->n_nodes;

	for (int i = 0; i < inc->links.n_stale; i++) {
		int link = inc->links.stale[i];
		double bytes = bytes_of(inc, inc->link[link]);

		if (bg)
			bytes += bg->link[link];
		cpl_load_tree_set(
		        inc->link_tree, link,
		        bytes / cpl_network_link_bandwidth(inc->net, link));
	}
	for (int i = 0; i < inc->ends.n_stale; i++) {
		int end = inc->ends.stale[i];
		double bytes = (double)inc->nodes[end] * inc->bytes_per_unit;

		if (bg)
			bytes += end < n_nodes ? bg->injection[end]
			                       : bg->ejection[end - n_nodes];
		cpl_load_tree_set(inc->node_tree, end,
		                  bytes / inc->net->injection_bandwidth);
	}
	forget_stale(&inc->links);
	forget_stale(&inc->ends);
}

void cpl_incremental_keep(struct cpl_incremental *inc)
{
	refresh(inc);
	cpl_load_tree_keep(inc->link_tree);
	cpl_load_tree_keep(inc->node_tree);
	for (int i = 0; i < inc->n_log; i++)
		inc->in_log[inc->log[i].rank] = 0;
	inc->n_log = 0;
	forget_changes(&inc->links);
	forget_changes(&inc->ends);
	forget_stale(&inc->hops);
	forget_changes(&inc->hops);
	inc->old_hop_units = inc->hop_units;
	inc->old_on_network = inc->on_network;
}

void cpl_incremental_undo(struct cpl_incremental *inc)
{
	for (int i = 0; i < inc->n_log; i++) {
		leave(inc, inc->log[i].rank);
		enter(inc, inc->log[i].rank, inc->log[i].node);
	}
	for (int i = 0; i < inc->links.n; i++)
		inc->link[inc->links.list[i]] = inc->old_link[i];
	for (int i = 0; i < inc->ends.n; i++)
		inc->nodes[inc->ends.list[i]] = inc->old_nodes[i];
	for (int i = 0; i < inc->hops.n; i++) {
		int hops = inc->hops.list[i];

		inc->by_hops[hops] = inc->old_hops[i];
		if (hops > inc->most_hops)
			inc->most_hops = hops;
	}
	inc->hop_units = inc->old_hop_units;
	inc->on_network = inc->old_on_network;
	forget_stale(&inc->links);
	forget_stale(&inc->ends);
	cpl_load_tree_undo(inc->link_tree);
	cpl_load_tree_undo(inc->node_tree);
	cpl_incremental_keep(inc);
}

const int *cpl_incremental_nodes(const struct cpl_incremental *inc)
{
	return inc->node;
}

const struct cpl_load_summary *
cpl_incremental_links(struct cpl_incremental *inc)
{
	refresh(inc);
	return cpl_load_tree_all(inc->link_tree);
}

int64_t cpl_incremental_busiest(struct cpl_incremental *inc)
{
	refresh(inc);
	return cpl_load_tree_largest(inc->link_tree);
}

double cpl_incremental_congestion(const struct cpl_incremental *inc,
                                  int64_t link)
{
	double bytes = bytes_of(inc, inc->link[link]);

	if (inc->background)
		bytes += inc->background->link[link];
	return bytes / cpl_network_link_bandwidth(inc->net, link);
}

void cpl_incremental_metrics(struct cpl_incremental *inc,
                             struct cpl_metrics *out)
{
	const struct cpl_load_summary *all = cpl_incremental_links(inc);

	*out = (struct cpl_metrics){
	        .max_congestion = all->max,
	        .nonzero_average = all->mean,
	        .nonzero_variance = cpl_metrics_variance(
	                all->spread, (int64_t)all->used, all->mean),
	        .max_injection = cpl_load_tree_all(inc->node_tree)->max,
	};
	if (inc->net->n_links)
		out->mean_congestion = all->sum / (double)inc->net->n_links;
}

void cpl_incremental_sums(struct cpl_incremental *inc, struct cpl_job_sums *out)
{
	double network = (double)inc->on_network * inc->bytes_per_unit;

	while (inc->most_hops > 0 && !inc->by_hops[inc->most_hops])
		inc->most_hops--;
	*out = (struct cpl_job_sums){
	        .bytes = inc->bytes,
	        .bytes_in_node = inc->bytes - network,
	        .bytes_on_network = network,
	        .hop_bytes = bytes_of(inc, inc->hop_units),
	        .max_dilation = (double)inc->most_hops / inc->hop_parts,
	};
}

static int allocate(struct cpl_incremental *inc)
{
	size_t ranks = (size_t)inc->comm->ranks + 2;
	size_t entries = (size_t)inc->comm->n_entries + 1;
	size_t links = (size_t)inc->net->n_links + 1;
	size_t nodes = (size_t)inc->net->n_nodes;
	size_t routers = (size_t)inc->net->n_routers;
	bool fly = inc->net->type == CPL_NETWORK_DRAGONFLY;

	inc->hop_parts = fly ? FLY_PARTS : 1;
	inc->n_hops = fly ? FLY_HOPS * FLY_PARTS + 1 : inc->net->n_routers;
	inc->out_units = malloc(entries * sizeof(*inc->out_units));
	inc->in_row = calloc(ranks, sizeof(*inc->in_row));
	inc->in_from = malloc(entries * sizeof(*inc->in_from));
	inc->in_units = malloc(entries * sizeof(*inc->in_units));
	inc->node = malloc(ranks * sizeof(*inc->node));
	inc->router = malloc(ranks * sizeof(*inc->router));
	inc->head = malloc(nodes * sizeof(*inc->head));
	inc->next = malloc(ranks * sizeof(*inc->next));
	inc->prev = malloc(ranks * sizeof(*inc->prev));
	inc->link = calloc(links, sizeof(*inc->link));
	inc->nodes = calloc(2 * nodes, sizeof(*inc->nodes));
	inc->log = malloc(ranks * sizeof(*inc->log));
	inc->in_log = calloc(ranks, 1);
	inc->old_link = malloc(links * sizeof(*inc->old_link));
	inc->old_nodes = malloc(2 * nodes * sizeof(*inc->old_nodes));
	inc->by_hops = calloc((size_t)inc->n_hops, sizeof(*inc->by_hops));
	inc->old_hops = malloc((size_t)inc->n_hops * sizeof(*inc->old_hops));
	inc->moves = calloc(ranks, 1);
	inc->moving = malloc(ranks * sizeof(*inc->moving));
	inc->target = malloc(ranks * sizeof(*inc->target));
	inc->sent = calloc(routers, sizeof(*inc->sent));
	inc->got = calloc(routers, sizeof(*inc->got));
	if (changes_init(&inc->links, inc->net->n_links) ||
	    changes_init(&inc->ends, 2 * (int64_t)inc->net->n_nodes) ||
	    changes_init(&inc->hops, inc->n_hops) ||
	    touched_init(&inc->routers, inc->net->n_routers))
		return -1;
	return inc->out_units && inc->in_row && inc->in_from && inc->in_units &&
	                       inc->node && inc->router && inc->head &&
	                       inc->next && inc->prev && inc->link &&
	                       inc->nodes && inc->log && inc->in_log &&
	                       inc->old_link && inc->old_nodes && inc->moves &&
	                       inc->moving && inc->target && inc->sent &&
	                       inc->got && inc->by_hops && inc->old_hops
	               ? 0
	               : -1;
}

/* A power of two, so that bytes become units without rounding. */
static int choose_unit(struct cpl_incremental *inc, struct cpl_error *err)
{
	const struct cpl_comm *comm = inc->comm;
	int exponent;

	for (int64_t e = 0; e < comm->n_entries; e++)
		inc->bytes += comm->bytes[e];
	if (!isfinite(inc->bytes))
		return cpl_fail(err, "the bytes of all ranks add up to more "
		                     "than a number holds");
	frexp(inc->bytes, &exponent);
	if (exponent < MIN_EXPONENT)
		exponent = MIN_EXPONENT;
	inc->bytes_per_unit = ldexp(1, exponent - BYTE_BITS);
	for (int64_t e = 0; e < comm->n_entries; e++) {
		double units = comm->bytes[e] / inc->bytes_per_unit;

		/* A link that carries anything is used. */
		inc->out_units[e] = units > 0 && units < 1 ? 1 : llrint(units);
	}
	return 0;
}

static void fill_incoming(struct cpl_incremental *inc)
{
	const struct cpl_comm *comm = inc->comm;

	for (int64_t e = 0; e < comm->n_entries; e++)
		inc->in_row[comm->to[e] + 2]++;
	for (int r = 0; r < comm->ranks; r++)
		inc->in_row[r + 2] += inc->in_row[r + 1];
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int64_t at = inc->in_row[comm->to[e] + 1]++;

			inc->in_from[at] = r;
			inc->in_units[at] = inc->out_units[e];
		}
}

/* With every rank as one that moves, all traffic counts with the sender. */
static void add_all(struct cpl_incremental *inc, const int *rank_node)
{
	int ranks = inc->comm->ranks, n = 0;

	for (int i = 0; i < inc->net->n_nodes; i++)
		inc->head[i] = -1;
	for (int r = ranks - 1; r >= 0; r--)
		enter(inc, r, rank_node[r]);
	memset(inc->moves, 1, (size_t)ranks);
	for (int i = 0; i < inc->net->n_nodes; i++)
		for (int r = inc->head[i]; r >= 0; r = inc->next[r])
			inc->moving[n++] = r;
	add_moving(inc, n, 1);
	memset(inc->moves, 0, (size_t)ranks);
	for (int64_t l = 0; l < inc->net->n_links; l++)
		note(&inc->links, (int)l);
	for (int i = 0; i < 2 * inc->net->n_nodes; i++)
		note(&inc->ends, i);
	cpl_incremental_keep(inc);
}

struct cpl_incremental *cpl_incremental_new(const struct cpl_network *net,
                                            const struct cpl_routing *routing,
                                            const struct cpl_comm *comm,
                                            const int *rank_node,
                                            const struct cpl_load *background,
                                            struct cpl_error *err)
{
	struct cpl_incremental *inc;

	if (!routing->add) {
		cpl_fail(err,
		         "routing '%s' finds the paths of all pairs together; "
		         "changes by increments need one that routes each pair "
		         "alone",
		         routing->name);
		return NULL;
	}
	inc = calloc(1, sizeof(*inc));
	if (!inc) {
		cpl_fail_memory(err);
		return NULL;
	}
	inc->net = net;
	inc->comm = comm;
	inc->background = background;
	if (allocate(inc)) {
		cpl_fail_memory(err);
		goto fail;
	}
	inc->link_tree = cpl_load_tree_new(net->n_links, err);
	if (!inc->link_tree)
		goto fail;
	inc->node_tree = cpl_load_tree_new(2 * (int64_t)net->n_nodes, err);
	if (!inc->node_tree ||
	    cpl_route_finder_init(&inc->finder, net, routing, err) ||
	    choose_unit(inc, err))
		goto fail;
	fill_incoming(inc);
	add_all(inc, rank_node);
	return inc;
fail:
	cpl_incremental_free(inc);
	return NULL;
}

void cpl_incremental_free(struct cpl_incremental *inc)
{
	if (!inc)
		return;
	free(inc->out_units);
	free(inc->in_row);
	free(inc->in_from);
	free(inc->in_units);
	free(inc->node);
	free(inc->router);
	free(inc->head);
	free(inc->next);
	free(inc->prev);
	free(inc->link);
	free(inc->nodes);
	free(inc->log);
	free(inc->in_log);
	free(inc->old_link);
	free(inc->old_nodes);
	free(inc->by_hops);
	free(inc->old_hops);
	free(inc->moves);
	free(inc->moving);
	free(inc->target);
	free(inc->sent);
	free(inc->got);
	changes_free(&inc->links);
	changes_free(&inc->ends);
	changes_free(&inc->hops);
	touched_free(&inc->routers);
	cpl_load_tree_free(inc->link_tree);
	cpl_load_tree_free(inc->node_tree);
	cpl_route_finder_free(&inc->finder);
	free(inc);
}
