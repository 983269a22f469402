/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/against.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* One level under trial. */
struct trial {
	const struct cpl_network *net;
	const struct cpl_slurm_view *view;
	const struct cpl_level *level; /* NULL: routers */
	int *unit; /* room for the nodes of a switch */
	int *most;  /* [leaves] unit of most of its nodes, -1: has none */
	int *times; /* [leaves] how many these are */
};

static int unit_of(const struct trial *t, int node)
{
	int router = cpl_network_router(t->net, node);

	return t->level ? cpl_level_unit(t->level, router) : router;
}

/* List the units of a switch's nodes that the network has; how many. */
static int list_units(const struct trial *t, int leaf)
{
	const struct cpl_hostlist *hosts = &t->view->leaf[leaf].hosts;
	int n = 0;

	for (int i = 0; i < hosts->count; i++) {
		int node = cpl_network_node(t->net, hosts->name[i]);

		if (node >= 0)
			t->unit[n++] = unit_of(t, node);
	}
	return n;
}

/* The unit that occurs most often, the lowest of several; *times. */
static int most_common(int *unit, int n, int *times)
{
	int best = -1;

	qsort(unit, (size_t)n, sizeof(*unit), cpl_by_int);
	*times = 0;
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && unit[end] == unit[i]; end++)
			;
		if (end - i > *times) {
			*times = end - i;
			best = unit[i];
		}
	}
	return best;
}

struct unit_leaf {
	int unit, leaf;
};

static CPL_SORT_BY(by_unit, struct unit_leaf, CPL_UP(unit), CPL_UP(leaf))

/* Switches most of whose nodes are on the unit of one before, into out if that
 * is not NULL. How many nodes these are, at least; -1: memory. */
static int64_t find_same(const struct trial *t, struct cpl_against *out)
{
	int n = t->view->n_leaves;
	int64_t nodes = 0;
	struct unit_leaf *place = malloc(((size_t)n + 1) * sizeof(*place));

	if (!place)
		return -1;
	for (int i = 0; i < n; i++)
		place[i] = (struct unit_leaf){t->most[i], i};
	qsort(place, (size_t)n, sizeof(*place), by_unit);
	for (int i = 1; i < n; i++) {
		int a = place[i - 1].leaf, b = place[i].leaf;

		if (place[i].unit < 0 || place[i].unit != place[i - 1].unit)
			continue;
		nodes += t->times[a] < t->times[b] ? t->times[a] : t->times[b];
		if (out)
			out->same[out->n_same++] = (struct cpl_against_same){
			        a, b, place[i].unit};
	}
	free(place);
	return nodes;
}

/* Nodes that disagree with the level; -1: memory. */
static int64_t try_level(struct trial *t)
{
	int64_t odd = 0, same;

	for (int i = 0; i < t->view->n_leaves; i++) {
		int n = list_units(t, i);

		t->most[i] = most_common(t->unit, n, &t->times[i]);
		odd += n - t->times[i];
	}
	same = find_same(t, NULL);
	return same < 0 ? -1 : odd + same;
}

static int take_odd(const struct trial *t, struct cpl_against *out, int64_t most)
{
	out->odd = malloc(((size_t)most + 1) * sizeof(*out->odd));
	out->same = malloc(((size_t)most + 1) * sizeof(*out->same));
	if (!out->odd || !out->same)
		return -1;
	for (int i = 0; i < t->view->n_leaves; i++) {
		const struct cpl_hostlist *hosts = &t->view->leaf[i].hosts;

		for (int h = 0; h < hosts->count; h++) {
			int node = cpl_network_node(t->net, hosts->name[h]);

			if (node < 0 || unit_of(t, node) == t->most[i])
				continue;
			out->odd[out->n_odd++] = (struct cpl_against_odd){
			        i, node, unit_of(t, node), t->most[i]};
		}
	}
	return find_same(t, out) < 0 ? -1 : 0;
}

/* From the finest level up. */
static int compare_switches(struct trial *t, struct cpl_against *out)
{
	const struct cpl_level *best = NULL;
	int64_t least = try_level(t), n;

	for (int l = t->net->n_levels - 1; l >= 0 && least > 0; l--) {
		if (!t->net->level[l].name)
			continue;
		t->level = &t->net->level[l];
		n = try_level(t);
		if (n < 0)
			return -1;
		if (n < least) {
			least = n;
			best = t->level;
		}
	}
	t->level = best;
	out->level = best ? best->name : "router";
	if (least < 0 || try_level(t) < 0)
		return -1;
	return take_odd(t, out, least);
}

/* Nodes of either that the other does not have; nodes on no switch. */
static int compare_nodes(const struct cpl_network *net,
                         const struct cpl_slurm_view *view,
                         struct cpl_against *out)
{
	enum { THERE = 1, ON_SWITCH = 2 };
	size_t n = (size_t)net->n_nodes, slurm = (size_t)view->nodes.count;
	unsigned char *seen = calloc(n + 1, 1);

	out->only_slurm = malloc((slurm + 1) * sizeof(int));
	out->only_network = malloc((n + 1) * sizeof(int));
	out->no_switch = malloc((n + 1) * sizeof(int));
	if (!seen || !out->only_slurm || !out->only_network ||
	    !out->no_switch) {
		free(seen);
		return -1;
	}
	for (int i = 0; i < view->nodes.count; i++) {
		int node = cpl_network_node(net, view->nodes.name[i]);

		if (node < 0)
			out->only_slurm[out->n_only_slurm++] = i;
		else
			seen[node] |= THERE;
	}
	for (int i = 0; i < view->n_leaves; i++)
		for (int h = 0; h < view->leaf[i].hosts.count; h++) {
			int node = cpl_network_node(
			        net, view->leaf[i].hosts.name[h]);

			if (node >= 0)
				seen[node] |= ON_SWITCH;
		}
	for (int i = 0; i < net->n_nodes; i++) {
		if (!net->node_name[i])
			continue;
		out->both += seen[i] & THERE;
		if (!(seen[i] & THERE))
			out->only_network[out->n_only_network++] = i;
		else if (view->n_leaves && !(seen[i] & ON_SWITCH))
			out->no_switch[out->n_no_switch++] = i;
	}
	free(seen);
	return 0;
}

int cpl_network_against(const struct cpl_network *net,
                        const struct cpl_slurm_view *view,
                        struct cpl_against *out, struct cpl_error *err)
{
	struct trial t = {.net = net, .view = view};
	size_t leaves = (size_t)view->n_leaves + 1, most = 1;
	int rc;

	*out = (struct cpl_against){.level = NULL};
	for (int i = 0; i < view->n_leaves; i++)
		if ((size_t)view->leaf[i].hosts.count > most)
			most = (size_t)view->leaf[i].hosts.count;
	t.unit = malloc(most * sizeof(*t.unit));
	t.most = malloc(leaves * sizeof(*t.most));
	t.times = malloc(leaves * sizeof(*t.times));
	rc = t.unit && t.most && t.times ? compare_nodes(net, view, out) : -1;
	if (!rc && view->n_leaves)
		rc = compare_switches(&t, out);
	cpl_free_all(t.unit, t.most, t.times);
	return rc ? cpl_fail_memory(err) : 0;
}

void cpl_against_free(struct cpl_against *out)
{
	cpl_free_all(out->only_slurm, out->only_network, out->no_switch,
	             out->odd, out->same);
}
