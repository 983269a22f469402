/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"
#include "graph/arena.h"
#include "graph/contract.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

/* Sweeps with noise, which starts as this share of a swap's mean change. */
#define NOISE_SWEEPS 4
#define NOISE 0.4
#define NOISE_SAMPLE 8

/* Ranks are in the objects of the lowest level ("bottoms"); it does not matter
 * where in one. Nodes are the objects of all levels but the root that hold a
 * rank, or are the first empty ones beside those. The pull of a node on a rank
 * is the rank's traffic to the ranks below the node. */
struct swaps {
	struct cpl_arena arena;
	const struct cpl_tree *tree;
	const struct cpl_comm *graph;
	const struct cpl_refinement *how;
	int n, n_cut; /* ranks; levels below the root */
	int n_bottoms, n_nodes;
	int *first, *end; /* [n_bottoms] slots */
	int *n_free;      /* [n_bottoms] free slots */
	int *above;       /* [n_bottoms * n_cut] nodes, from the top */
	int *parent;      /* [n_nodes] has a lower number, or is -1 */
	int *node_first, *node_end; /* [n_nodes] slots */
	double *pull;               /* [n_nodes * n] */
	double *own;                /* [n] pull of all nodes above a rank on
	                             * it */
	int *slot, *at;             /* [n] slot and bottom of a rank */
	int *who;                   /* [n_slots] rank, -1: none */
	int *bottom_node;           /* [n] lowest node above a rank */
	double *sum;                /* [n_nodes] pull on the rank looked at */
	unsigned char *near;  /* [n_nodes] levels shared with its slot */
	double *offer;        /* [n_bottoms] pull of all above the bottom */
	unsigned char *apart; /* [n_bottoms] levels at which it differs */
	double *value;        /* [n] */
	double *change;       /* [n] of a node's pulls by a swap */
	double *nothing;      /* [n] zeros, as a pull where levels are
	                       * missing */
	double *noise;        /* [2 * n] in -1 .. 1, or NULL */
	double heat;          /* of noise in this sweep */
	double total, tolerance;
	int64_t looks, work;
};

static bool object_used(const struct swaps *w, int from, int to)
{
	for (int s = from; s < to; s++)
		if (w->who[s] >= 0)
			return true;
	return false;
}

/* Collects bottoms below the object from .. to of a level; of empty objects it
 * takes only the first of each parent. */
static void collect(struct swaps *w, int level, int from, int to, int *path)
{
	const struct cpl_tree *tree = w->tree;
	const int *object = tree->object + (size_t)level * tree->n_slots;
	bool empty_seen = false;

	for (int s = from, end; s < to; s = end) {
		bool used;

		for (end = s + 1; end < to && object[end] == object[s];)
			end++;
		used = object_used(w, s, end);
		if (!used && empty_seen)
			continue;
		empty_seen |= !used;
		if (level > 0) {
			path[level - 1] = w->n_nodes;
			w->parent[w->n_nodes] =
			        level > 1 ? path[level - 2] : -1;
			w->node_first[w->n_nodes] = s;
			w->node_end[w->n_nodes++] = end;
		}
		if (level < tree->n_levels - 1) {
			collect(w, level + 1, s, end, path);
			continue;
		}
		w->first[w->n_bottoms] = s;
		w->end[w->n_bottoms] = end;
		memcpy(w->above + (size_t)w->n_bottoms * w->n_cut, path,
		       (size_t)w->n_cut * sizeof(*path));
		w->n_bottoms++;
	}
}

static void sum_own(struct swaps *w, int rank)
{
	const int *above = w->above + (size_t)w->at[rank] * w->n_cut;

	w->own[rank] = 0;
	for (int l = 0; l < w->n_cut; l++)
		w->own[rank] += w->pull[(size_t)above[l] * w->n + rank];
}

static void put_rank(struct swaps *w, int rank, int bottom)
{
	w->at[rank] = bottom;
	w->bottom_node[rank] = w->above[(size_t)(bottom + 1) * w->n_cut - 1];
}

static int init(struct swaps *w, const struct cpl_tree *tree,
                const struct cpl_comm *graph, int *slot)
{
	struct cpl_arena *arena = &w->arena;
	int levels = tree->n_levels, n = graph->ranks;
	int objects = 0, most = tree->n_objects[levels - 1];
	int *path = cpl_arena_take(arena, levels, sizeof(*path));

	for (int l = 1; l < levels; l++)
		objects += tree->n_objects[l];
	w->tree = tree;
	w->graph = graph;
	w->slot = slot;
	w->n = n;
	w->n_cut = levels - 1;
	w->first = cpl_arena_take(arena, most, sizeof(int));
	w->end = cpl_arena_take(arena, most, sizeof(int));
	w->n_free = cpl_arena_take(arena, most, sizeof(int));
	w->above = cpl_arena_take(arena, (int64_t)most * w->n_cut, sizeof(int));
	w->offer = cpl_arena_take(arena, most, sizeof(double));
	w->apart = cpl_arena_take(arena, most, 1);
	w->parent = cpl_arena_take(arena, objects, sizeof(int));
	w->node_first = cpl_arena_take(arena, objects, sizeof(int));
	w->node_end = cpl_arena_take(arena, objects, sizeof(int));
	w->sum = cpl_arena_take(arena, objects, sizeof(double));
	w->near = cpl_arena_take(arena, objects, 1);
	w->who = cpl_arena_take(arena, tree->n_slots, sizeof(int));
	w->at = cpl_arena_take(arena, n, sizeof(int));
	w->bottom_node = cpl_arena_take(arena, n, sizeof(int));
	w->own = cpl_arena_take(arena, n, sizeof(double));
	w->value = cpl_arena_take(arena, n, sizeof(double));
	w->change = cpl_arena_take(arena, n, sizeof(double));
	w->nothing = cpl_arena_take(arena, n, sizeof(double));
	if (arena->failed)
		return -1;
	for (int s = 0; s < tree->n_slots; s++)
		w->who[s] = -1;
	for (int r = 0; r < n; r++)
		w->who[slot[r]] = r;
	collect(w, 0, 0, tree->n_slots, path);
	w->pull = cpl_arena_take(arena, (int64_t)w->n_nodes * n,
	                         sizeof(double));
	if (!w->pull)
		return -1;
	for (int b = 0; b < w->n_bottoms; b++)
		for (int s = w->first[b]; s < w->end[b]; s++) {
			if (w->who[s] >= 0)
				put_rank(w, w->who[s], b);
			else
				w->n_free[b]++;
		}
	return 0;
}

static void add_row(struct swaps *w, int rank, int node, double sign)
{
	const struct cpl_comm *graph = w->graph;
	double *pull = w->pull + (size_t)node * w->n;

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++)
		pull[graph->to[e]] += sign * graph->bytes[e];
	w->work += graph->row[rank + 1] - graph->row[rank];
}

static void sum_pulls(struct swaps *w)
{
	const struct cpl_comm *graph = w->graph;

	for (int r = 0; r < w->n; r++) {
		const int *above = w->above + (size_t)w->at[r] * w->n_cut;

		for (int l = 0; l < w->n_cut; l++)
			add_row(w, r, above[l], 1);
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			w->total += graph->bytes[e];
	}
	for (int r = 0; r < w->n; r++)
		sum_own(w, r);
	w->work += (int64_t)w->n * w->n_nodes;
	w->tolerance = 1e-12 * w->total;
}

/* Takes a node's pull on the ranks below it from their own, or adds it. */
static void count_own(struct swaps *w, int node, double sign)
{
	const double *pull = w->pull + (size_t)node * w->n;

	for (int s = w->node_first[node]; s < w->node_end[node]; s++)
		if (w->who[s] >= 0)
			w->own[w->who[s]] += sign * pull[w->who[s]];
}

/* Finds how the pulls of a node change when a goes and b comes. */
static void find_change(struct swaps *w, int a, int b)
{
	const struct cpl_comm *graph = w->graph;

	memset(w->change, 0, (size_t)w->n * sizeof(*w->change));
	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++)
		w->change[graph->to[e]] -= graph->bytes[e];
	for (int64_t e = graph->row[b]; e < graph->row[b + 1]; e++)
		w->change[graph->to[e]] += graph->bytes[e];
	w->work += w->n;
}

static void apply_change(struct swaps *w, int from, int to)
{
	double *left = w->pull + (size_t)from * w->n;
	double *right = w->pull + (size_t)to * w->n;
	const double *change = w->change;

	for (int i = 0; i < w->n; i++) {
		left[i] += change[i];
		right[i] -= change[i];
	}
	w->work += w->n;
}

/* Are entries so many that they are better added up once for all levels? */
static bool many(const struct swaps *w, int a, int b)
{
	const int64_t *row = w->graph->row;

	return b >= 0 && row[a + 1] - row[a] + row[b + 1] - row[b] > w->n;
}

/* Moves rank a's traffic from one node to another, b's (if not -1) back. */
static void shift(struct swaps *w, int from, int to, int a, int b)
{
	count_own(w, from, -1);
	count_own(w, to, -1);
	if (many(w, a, b)) {
		apply_change(w, from, to);
	} else {
		add_row(w, a, from, -1);
		add_row(w, a, to, 1);
		if (b >= 0) {
			add_row(w, b, to, -1);
			add_row(w, b, from, 1);
		}
	}
	count_own(w, from, 1);
	count_own(w, to, 1);
}

/* Moves a to slot `to` of the bottom; a rank that is there takes a's slot. */
static void move(struct swaps *w, int a, int to, int bottom)
{
	int from = w->slot[a], b = w->who[to], old = w->at[a];
	const int *above = w->above + (size_t)old * w->n_cut;
	const int *other = w->above + (size_t)bottom * w->n_cut;

	if (many(w, a, b))
		find_change(w, a, b);
	for (int l = 0; l < w->n_cut; l++)
		if (above[l] != other[l])
			shift(w, above[l], other[l], a, b);
	w->slot[a] = to;
	put_rank(w, a, bottom);
	w->who[to] = a;
	w->who[from] = b;
	if (b >= 0) {
		w->slot[b] = from;
		put_rank(w, b, old);
		sum_own(w, b);
	} else {
		w->n_free[old]++;
		w->n_free[bottom]--;
	}
	sum_own(w, a);
}

/* Finds the pull on a in each bottom, and how far that is. It uses a's traffic,
 * as its pulls are far apart in memory. */
static void look_round(struct swaps *w, int a)
{
	const struct cpl_comm *graph = w->graph;
	const int *above = w->above + (size_t)w->at[a] * w->n_cut;

	memset(w->sum, 0, (size_t)w->n_nodes * sizeof(*w->sum));
	memset(w->near, 0, (size_t)w->n_nodes);
	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++)
		w->sum[w->bottom_node[graph->to[e]]] += graph->bytes[e];
	for (int i = w->n_nodes - 1; i >= 0; i--)
		if (w->parent[i] >= 0)
			w->sum[w->parent[i]] += w->sum[i];
	for (int l = 0; l < w->n_cut; l++)
		w->near[above[l]] = 1;
	for (int i = 0; i < w->n_nodes; i++)
		if (w->parent[i] >= 0) {
			w->sum[i] += w->sum[w->parent[i]];
			w->near[i] += w->near[w->parent[i]];
		}
	for (int b = 0; b < w->n_bottoms; b++) {
		int node = w->above[(size_t)(b + 1) * w->n_cut - 1];

		w->offer[b] = w->sum[node];
		w->apart[b] = (unsigned char)(w->n_cut - w->near[node]);
	}
}

static bool may(const struct swaps *w, int rank, int slot)
{
	return !w->how->table ||
	       w->how->table[(size_t)rank * w->tree->n_slots + slot];
}

static int free_slot(const struct swaps *w, int a, int bottom)
{
	for (int s = w->first[bottom]; s < w->end[bottom]; s++)
		if (w->who[s] < 0 && may(w, a, s))
			return s;
	return -1;
}

/* Computes how much the cut falls when a and each other rank change slots. */
static void weigh(struct swaps *w, int a)
{
	const struct cpl_comm *graph = w->graph;
	const int *above = w->above + (size_t)w->at[a] * w->n_cut;
	const double *pull[3] = {w->nothing, w->nothing, w->nothing};
	double stay = w->offer[w->at[a]];
	double *value = w->value;

	for (int l = 0; l < w->n_cut && l < 3; l++)
		pull[l] = w->pull + (size_t)above[l] * w->n;
	for (int b = 0; b < w->n; b++)
		value[b] = w->offer[w->at[b]] - stay - w->own[b] + pull[0][b] +
		           pull[1][b] + pull[2][b];
	for (int l = 3; l < w->n_cut; l++) {
		const double *more = w->pull + (size_t)above[l] * w->n;

		for (int b = 0; b < w->n; b++)
			value[b] += more[b];
	}
	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++)
		value[graph->to[e]] -=
		        2 * graph->bytes[e] * w->apart[w->at[graph->to[e]]];
}

static bool swappable(const struct swaps *w, int a, int b)
{
	return w->at[a] != w->at[b] && may(w, a, w->slot[b]) &&
	       may(w, b, w->slot[a]);
}

/* Makes the swap that seems best under noise, whatever it is worth. */
static void disturb(struct swaps *w, int a)
{
	const double *noise = w->noise + w->looks * 7919 % w->n;
	double most = w->tolerance;
	int with = -1;

	for (int b = 0; b < w->n; b++) {
		double value = w->value[b] + w->heat * noise[b];

		if (value > most && swappable(w, a, b)) {
			most = value;
			with = b;
		}
	}
	if (with >= 0)
		move(w, a, w->slot[with], w->at[with]);
}

/* Makes the best swap or move of rank a that gains. Was there one? */
static bool improve(struct swaps *w, int a)
{
	double stay, gain = w->tolerance;
	int to = -1, bottom = -1;

	look_round(w, a);
	weigh(w, a);
	w->looks++;
	w->work += w->n + w->n_nodes + w->graph->row[a + 1] - w->graph->row[a];
	if (w->heat > 0) {
		disturb(w, a);
		return false;
	}
	stay = w->offer[w->at[a]];
	for (int b = 0; b < w->n; b++)
		if (w->value[b] > gain && swappable(w, a, b)) {
			gain = w->value[b];
			to = w->slot[b];
			bottom = w->at[b];
		}
	for (int b = 0; b < w->n_bottoms; b++)
		if (w->n_free[b] > 0 && b != w->at[a] &&
		    w->offer[b] - stay > gain) {
			int s = free_slot(w, a, b);

			if (s < 0)
				continue;
			gain = w->offer[b] - stay;
			to = s;
			bottom = b;
		}
	if (to >= 0)
		move(w, a, to, bottom);
	return to >= 0;
}

static bool improve_bottom(struct swaps *w, int bottom)
{
	bool gained = false;

	for (int s = w->first[bottom]; s < w->end[bottom]; s++)
		if (w->who[s] >= 0)
			gained |= improve(w, w->who[s]);
	return gained;
}

/* The mean change of the cost by swaps of some of the ranks. */
static double mean_change(struct swaps *w)
{
	double sum = 0;
	int64_t count = 0;

	for (int i = 0; i < NOISE_SAMPLE; i++) {
		int a = (int)((int64_t)i * w->n / NOISE_SAMPLE);

		look_round(w, a);
		weigh(w, a);
		for (int b = 0; b < w->n; b++)
			if (w->at[b] != w->at[a]) {
				sum += fabs(w->value[b]);
				count++;
			}
	}
	return count ? sum / (double)count : 0;
}

static bool spent(const struct swaps *w)
{
	return w->how->work && w->work >= *w->how->work;
}

/* The noising method has less noise in each sweep. */
static int sweep_with_noise(struct swaps *w)
{
	uint64_t key = cpl_random_key(w->how->noise, CPL_STREAM_BIND_NOISE);
	double mean = mean_change(w);

	w->noise = cpl_arena_take(&w->arena, 2 * (int64_t)w->n, sizeof(double));
	if (!w->noise)
		return -1;
	for (int i = 0; i < 2 * w->n; i++)
		w->noise[i] = (double)(cpl_random_at(key, (uint64_t)i) >> 11) /
		                      4503599627370496.0 -
		              1;
	for (int i = NOISE_SWEEPS; i > 0 && !spent(w); i--) {
		w->heat = NOISE * mean * i / NOISE_SWEEPS;
		for (int b = 0; b < w->n_bottoms; b++)
			improve_bottom(w, b);
	}
	w->heat = 0;
	return 0;
}

static int refine_ranks(const struct cpl_tree *tree,
                        const struct cpl_comm *graph,
                        const struct cpl_refinement *how, int *slot,
                        struct cpl_error *err)
{
	struct swaps w = {.how = how};
	int idle = 0;

	if (init(&w, tree, graph, slot) < 0)
		goto out;
	sum_pulls(&w);
	if (how->noise && sweep_with_noise(&w) < 0)
		goto out;
	/* Ranks go by slots, as pulls are then still in the cache. It ends when
	 * nothing was found all the way round. */
	for (int i = 0; i < how->sweeps && idle < w.n_bottoms; i++)
		for (int b = 0; b < w.n_bottoms && idle < w.n_bottoms; b++)
			idle = !spent(&w) && improve_bottom(&w, b) ? 0
			                                           : idle + 1;
	if (how->work)
		*how->work -= w.work;
out:
	return cpl_arena_end(&w.arena, 0, err);
}

/* Have all objects of a level as many children? */
static bool balanced(const struct cpl_tree *tree)
{
	for (int l = 0; l < tree->n_levels; l++) {
		int size = tree->n_slots / tree->n_objects[l];

		if (tree->n_slots % tree->n_objects[l])
			return false;
		for (int s = 0; s < tree->n_slots; s++)
			if (cpl_tree_object(tree, l, s) != s / size)
				return false;
	}
	return true;
}

/* Exchanges whole objects of the level. */
static int refine_objects(const struct cpl_tree *tree,
                          const struct cpl_comm *graph,
                          const struct cpl_refinement *how, int level,
                          int *slot, struct cpl_error *err)
{
	int n_objects = tree->n_objects[level], n = 0, rc = -1;
	int size = tree->n_slots / n_objects;
	struct cpl_arena arena = {0};
	int *item = cpl_arena_take(&arena, n_objects, sizeof(*item));
	int *group = cpl_arena_take(&arena, graph->ranks, sizeof(*group));
	int *object = cpl_arena_take(&arena, n_objects, sizeof(*object));
	struct cpl_tree top = {
	        .n_slots = n_objects,
	        .n_levels = level,
	        .n_objects = tree->n_objects,
	        .object = cpl_arena_take(&arena, (int64_t)n_objects * level,
	                                 sizeof(*top.object)),
	};
	struct cpl_comm *between = NULL;

	if (arena.failed)
		goto done;
	for (int l = 0; l < level; l++)
		for (int o = 0; o < n_objects; o++)
			top.object[(size_t)l * n_objects + o] =
			        cpl_tree_object(tree, l, o * size);
	for (int o = 0; o < n_objects; o++)
		item[o] = -1;
	for (int r = 0; r < graph->ranks; r++) {
		int o = slot[r] / size;

		if (item[o] < 0) {
			object[n] = o;
			item[o] = n++;
		}
		group[r] = item[o];
	}
	between = cpl_comm_contract(graph, group, n, CPL_CONTRACT_BYTES, err);
	if (!between || refine_ranks(&top, between, how, object, err) < 0)
		goto done;
	for (int r = 0; r < graph->ranks; r++)
		slot[r] = object[group[r]] * size + slot[r] % size;
	rc = 0;
done:
	cpl_comm_free(between);
	return cpl_arena_end(&arena, rc, err);
}

int cpl_bind_refine(const struct cpl_tree *tree, const struct cpl_comm *graph,
                    const struct cpl_refinement *how, int *slot,
                    struct cpl_error *err)
{
	int rc = 0;

	if (tree->n_levels <= 1)
		return 0;
	if (how->coarse && !how->table && balanced(tree))
		for (int l = 2; l < tree->n_levels && rc == 0; l++)
			rc = refine_objects(tree, graph, how, l, slot, err);
	return rc ? rc : refine_ranks(tree, graph, how, slot, err);
}
