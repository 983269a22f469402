/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Ranks sit in the objects of the lowest level ("bottoms"); where in one does
 * not matter. Nodes are the objects of all levels but the root that hold a
 * rank, or are the first empty ones beside those. The pull of a node on a
 * rank is the rank's traffic to the ranks below the node.
 */
struct swaps {
	const struct cpl_slot_tree *tree;
	const struct cpl_comm *graph;
	const unsigned char *table;
	int n, n_cut; /* ranks; levels below the root */
	int n_bottoms, n_nodes;
	int *first, *end; /* [n_bottoms] slots */
	int *room;        /* [n_bottoms] free slots */
	int *above;       /* [n_bottoms * n_cut] nodes, from the top */
	int *node_first, *node_end; /* [n_nodes] slots */
	double *pull;               /* [n_nodes * n] */
	double *own;                /* [n] pull of the nodes above the rank */
	int *slot, *at;             /* [n] slot and bottom of a rank */
	int *who;                   /* [n_slots] rank, -1: none */
	double *offer;        /* [n_bottoms] pull of all above the bottom */
	unsigned char *apart; /* [n_bottoms] levels at which it differs */
	double *value;        /* [n] */
	double total, tolerance;
};

static bool object_used(const struct swaps *w, int from, int to)
{
	for (int s = from; s < to; s++)
		if (w->who[s] >= 0)
			return true;
	return false;
}

/* Collect bottoms below the object from .. to of a level; of empty objects
 * the first of each parent only. */
static void collect(struct swaps *w, int level, int from, int to, int *path)
{
	const struct cpl_slot_tree *tree = w->tree;
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

static int init(struct swaps *w, const struct cpl_slot_tree *tree,
                const struct cpl_comm *graph, int *slot)
{
	size_t levels = (size_t)tree->n_levels, n = (size_t)graph->ranks;
	size_t objects = 0, most = (size_t)tree->n_objects[tree->n_levels - 1];
	int *path = calloc(levels, sizeof(*path));

	for (int l = 1; l < tree->n_levels; l++)
		objects += (size_t)tree->n_objects[l];
	w->tree = tree;
	w->graph = graph;
	w->slot = slot;
	w->n = graph->ranks;
	w->n_cut = tree->n_levels - 1;
	w->first = calloc(most, sizeof(*w->first));
	w->end = calloc(most, sizeof(*w->end));
	w->room = calloc(most, sizeof(*w->room));
	w->above = calloc(most * (levels - 1), sizeof(*w->above));
	w->node_first = calloc(objects, sizeof(*w->node_first));
	w->node_end = calloc(objects, sizeof(*w->node_end));
	w->who = malloc((size_t)tree->n_slots * sizeof(*w->who));
	w->at = calloc(n, sizeof(*w->at));
	w->own = calloc(n, sizeof(*w->own));
	w->value = calloc(n, sizeof(*w->value));
	w->offer = calloc(most, sizeof(*w->offer));
	w->apart = calloc(most, 1);
	if (!path || !w->first || !w->end || !w->room || !w->above ||
	    !w->node_first || !w->node_end || !w->who || !w->at || !w->own ||
	    !w->value || !w->offer || !w->apart) {
		free(path);
		return -1;
	}
	for (int s = 0; s < tree->n_slots; s++)
		w->who[s] = -1;
	for (int r = 0; r < w->n; r++)
		w->who[slot[r]] = r;
	collect(w, 0, 0, tree->n_slots, path);
	free(path);
	w->pull = calloc((size_t)w->n_nodes * n, sizeof(*w->pull));
	if (!w->pull)
		return -1;
	for (int b = 0; b < w->n_bottoms; b++)
		for (int s = w->first[b]; s < w->end[b]; s++) {
			if (w->who[s] >= 0)
				w->at[w->who[s]] = b;
			else
				w->room[b]++;
		}
	return 0;
}

static void sum_pulls(struct swaps *w)
{
	const struct cpl_comm *graph = w->graph;

	for (int r = 0; r < w->n; r++) {
		const int *above = w->above + (size_t)w->at[r] * w->n_cut;

		for (int l = 0; l < w->n_cut; l++) {
			double *pull = w->pull + (size_t)above[l] * w->n;

			for (int64_t e = graph->row[r]; e < graph->row[r + 1];
			     e++)
				pull[graph->to[e]] += graph->bytes[e];
		}
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			w->total += graph->bytes[e];
	}
	for (int r = 0; r < w->n; r++)
		sum_own(w, r);
	w->tolerance = 1e-12 * w->total;
}

static void done(struct swaps *w)
{
	free(w->first);
	free(w->end);
	free(w->room);
	free(w->above);
	free(w->node_first);
	free(w->node_end);
	free(w->who);
	free(w->at);
	free(w->own);
	free(w->value);
	free(w->offer);
	free(w->apart);
	free(w->pull);
}

static void add_row(struct swaps *w, int rank, int node, double sign)
{
	const struct cpl_comm *graph = w->graph;
	double *pull = w->pull + (size_t)node * w->n;

	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++)
		pull[graph->to[e]] += sign * graph->bytes[e];
}

/* Rank's traffic moves from one node to another, b's (or -1) back. */
static void shift(struct swaps *w, int from, int to, int a, int b)
{
	int node[2] = {from, to};

	for (int i = 0; i < 2; i++)
		for (int s = w->node_first[node[i]]; s < w->node_end[node[i]];
		     s++)
			if (w->who[s] >= 0)
				w->own[w->who[s]] -=
				        w->pull[(size_t)node[i] * w->n +
				                w->who[s]];
	add_row(w, a, from, -1);
	add_row(w, a, to, 1);
	if (b >= 0) {
		add_row(w, b, to, -1);
		add_row(w, b, from, 1);
	}
	for (int i = 0; i < 2; i++)
		for (int s = w->node_first[node[i]]; s < w->node_end[node[i]];
		     s++)
			if (w->who[s] >= 0)
				w->own[w->who[s]] +=
				        w->pull[(size_t)node[i] * w->n +
				                w->who[s]];
}

/* Put a where `to` is in bottom `bottom`; the rank there, if any, goes to a's
 * place. */
static void move(struct swaps *w, int a, int to, int bottom)
{
	int from = w->slot[a], b = w->who[to], old = w->at[a];
	const int *above = w->above + (size_t)old * w->n_cut;
	const int *other = w->above + (size_t)bottom * w->n_cut;

	for (int l = 0; l < w->n_cut; l++)
		if (above[l] != other[l])
			shift(w, above[l], other[l], a, b);
	w->slot[a] = to;
	w->at[a] = bottom;
	w->who[to] = a;
	w->who[from] = b;
	if (b >= 0) {
		w->slot[b] = from;
		w->at[b] = old;
		sum_own(w, b);
	} else {
		w->room[old]++;
		w->room[bottom]--;
	}
	sum_own(w, a);
}

/* What a would be pulled with in each bottom, and how far that is. */
static void look_round(struct swaps *w, int a)
{
	const int *above = w->above + (size_t)w->at[a] * w->n_cut;

	for (int b = 0; b < w->n_bottoms; b++) {
		const int *other = w->above + (size_t)b * w->n_cut;
		double sum = 0;
		int apart = 0;

		for (int l = 0; l < w->n_cut; l++) {
			sum += w->pull[(size_t)other[l] * w->n + a];
			apart += other[l] != above[l];
		}
		w->offer[b] = sum;
		w->apart[b] = (unsigned char)apart;
	}
}

static bool may(const struct swaps *w, int rank, int slot)
{
	return !w->table || w->table[(size_t)rank * w->tree->n_slots + slot];
}

static int free_slot(const struct swaps *w, int a, int bottom)
{
	for (int s = w->first[bottom]; s < w->end[bottom]; s++)
		if (w->who[s] < 0 && may(w, a, s))
			return s;
	return -1;
}

/* What the cut falls by when a and each other rank change places. */
static void weigh(struct swaps *w, int a)
{
	const struct cpl_comm *graph = w->graph;
	const int *above = w->above + (size_t)w->at[a] * w->n_cut;
	double stay = w->offer[w->at[a]];
	double *value = w->value;

	for (int b = 0; b < w->n; b++)
		value[b] = w->offer[w->at[b]] - stay - w->own[b];
	for (int l = 0; l < w->n_cut; l++) {
		const double *pull = w->pull + (size_t)above[l] * w->n;

		for (int b = 0; b < w->n; b++)
			value[b] += pull[b];
	}
	for (int64_t e = graph->row[a]; e < graph->row[a + 1]; e++)
		value[graph->to[e]] -=
		        2 * graph->bytes[e] * w->apart[w->at[graph->to[e]]];
}

/* The best swap or move of rank a, if it gains; returns the gain. */
static double improve(struct swaps *w, int a)
{
	double stay, gain = w->tolerance;
	int to = -1, bottom = -1;

	look_round(w, a);
	weigh(w, a);
	stay = w->offer[w->at[a]];
	for (int b = 0; b < w->n; b++)
		if (w->value[b] > gain && w->at[b] != w->at[a] &&
		    may(w, a, w->slot[b]) && may(w, b, w->slot[a])) {
			gain = w->value[b];
			to = w->slot[b];
			bottom = w->at[b];
		}
	for (int b = 0; b < w->n_bottoms; b++)
		if (w->room[b] > 0 && b != w->at[a] &&
		    w->offer[b] - stay > gain) {
			int s = free_slot(w, a, b);

			if (s < 0)
				continue;
			gain = w->offer[b] - stay;
			to = s;
			bottom = b;
		}
	if (to < 0)
		return 0;
	move(w, a, to, bottom);
	return gain;
}

static int refine_ranks(const struct cpl_slot_tree *tree,
                        const struct cpl_comm *graph,
                        const unsigned char *table, int sweeps, int *slot,
                        double *gain, struct cpl_error *err)
{
	struct swaps w = {.table = table};
	int rc = -1, idle = 0;

	if (init(&w, tree, graph, slot) < 0) {
		cpl_fail_memory(err);
		goto out;
	}
	sum_pulls(&w);
	/* Over when each rank has found nothing since the last change. */
	for (int64_t i = 0; i < (int64_t)sweeps * w.n && idle < w.n; i++) {
		double won = improve(&w, (int)(i % w.n));

		idle = won > 0 ? 0 : idle + 1;
		*gain += 2 * won;
	}
	rc = 0;
out:
	done(&w);
	return rc;
}

/* All objects of each level have as many children. */
static bool balanced(const struct cpl_slot_tree *tree)
{
	for (int l = 0; l < tree->n_levels; l++) {
		int size = tree->n_slots / tree->n_objects[l];

		if (tree->n_slots % tree->n_objects[l])
			return false;
		for (int s = 0; s < tree->n_slots; s++)
			if (cpl_slot_object(tree, l, s) != s / size)
				return false;
	}
	return true;
}

/* Whole objects of the level change places. */
static int refine_objects(const struct cpl_slot_tree *tree,
                          const struct cpl_comm *graph, int level, int sweeps,
                          int *slot, double *gain, struct cpl_error *err)
{
	int n_objects = tree->n_objects[level], n = 0, rc = -1;
	int size = tree->n_slots / n_objects;
	struct cpl_slot_tree top = {.n_slots = n_objects,
	                            .n_levels = level,
	                            .n_objects = tree->n_objects};
	struct cpl_comm *between = NULL;
	int *item = malloc((size_t)n_objects * sizeof(*item));
	int *group = malloc((size_t)graph->ranks * sizeof(*group));
	int *place = malloc((size_t)n_objects * sizeof(*place));

	top.object = malloc((size_t)n_objects * level * sizeof(*top.object));
	if (!item || !group || !place || !top.object) {
		cpl_fail_memory(err);
		goto done;
	}
	for (int l = 0; l < level; l++)
		for (int o = 0; o < n_objects; o++)
			top.object[(size_t)l * n_objects + o] =
			        cpl_slot_object(tree, l, o * size);
	for (int o = 0; o < n_objects; o++)
		item[o] = -1;
	for (int r = 0; r < graph->ranks; r++) {
		int o = slot[r] / size;

		if (item[o] < 0) {
			place[n] = o;
			item[o] = n++;
		}
		group[r] = item[o];
	}
	between = cpl_bind_aggregate(graph, group, n, err);
	if (!between ||
	    refine_ranks(&top, between, NULL, sweeps, place, gain, err) < 0)
		goto done;
	for (int r = 0; r < graph->ranks; r++)
		slot[r] = place[group[r]] * size + slot[r] % size;
	rc = 0;
done:
	cpl_comm_free(between);
	free(top.object);
	free(place);
	free(group);
	free(item);
	return rc;
}

int cpl_bind_refine(const struct cpl_slot_tree *tree,
                    const struct cpl_comm *graph, const unsigned char *table,
                    int sweeps, bool coarse, int *slot, double *gain,
                    struct cpl_error *err)
{
	double won = 0;
	int rc = 0;

	if (tree->n_levels > 1 && coarse && !table && balanced(tree))
		for (int l = 2; l < tree->n_levels && rc == 0; l++)
			rc = refine_objects(tree, graph, l, sweeps, slot, &won,
			                    err);
	if (tree->n_levels > 1 && rc == 0)
		rc = refine_ranks(tree, graph, table, sweeps, slot, &won, err);
	if (gain)
		*gain = won;
	return rc;
}
