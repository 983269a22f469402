/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "keep-whole:UNIT": no unit (cut.h) that is wholly free is broken but one, and
 * that only where it must be. Of the wholly free units as many are taken, all of
 * each, as the job fills; the rest goes into units that are broken already,
 * near these; and only what those do not hold breaks another. Units are near by
 * their numbers, as those of one coarser unit are.
 */
#include <limits.h>
#include <stdlib.h>

#include "placement/cut.h"
#include "placement/placement.h"

/* Units of a list, list[first] .. list[last], with so many free nodes. */
struct kept_run {
	int first, last, nodes; /* nodes 0: none */
};

struct keeping {
	struct cpl_whole_units units;
	int *list, n_list; /* units of one kind, by number */
	int *some;         /* [units] nodes to take */
	int low, high;     /* units from which to which are taken; low > high:
	                    * none */
};

static int nodes_of(const struct keeping *k, int at)
{
	return k->units.free[k->list[at]];
}

static int span(const struct keeping *k, const struct kept_run *run)
{
	return k->list[run->last] - k->list[run->first];
}

/* From the units that are taken. */
static int distance(const struct keeping *k, const struct kept_run *run)
{
	if (k->low > k->high)
		return 0;
	if (k->list[run->first] > k->high)
		return k->list[run->first] - k->high;
	return k->list[run->last] < k->low ? k->low - k->list[run->last] : 0;
}

/* Those with free nodes that are whole, or not. */
static void list(struct keeping *k, bool whole)
{
	k->n_list = 0;
	for (int u = 0; u < k->units.n; u++)
		if (k->units.free[u] && k->units.whole[u] == whole)
			k->list[k->n_list++] = u;
}

static void take_unit(struct keeping *k, int unit, int n)
{
	k->some[unit] += n;
	k->low = unit < k->low ? unit : k->low;
	k->high = unit > k->high ? unit : k->high;
}

/* The run with the most nodes of those that n fill; of these the shortest.
 * Returns how many nodes are left. */
static int take_whole(struct keeping *k, int n)
{
	struct kept_run best = {0}, now = {0};

	list(k, true);
	for (now.last = 0; now.last < k->n_list; now.last++) {
		now.nodes += nodes_of(k, now.last);
		while (now.nodes > n)
			now.nodes -= nodes_of(k, now.first++);
		if (now.nodes > best.nodes ||
		    (now.nodes && now.nodes == best.nodes &&
		     span(k, &now) < span(k, &best)))
			best = now;
	}
	for (int i = best.first; best.nodes && i <= best.last; i++)
		take_unit(k, k->list[i], nodes_of(k, i));
	return n - best.nodes;
}

static bool comes_before(const struct keeping *k, const struct kept_run *a,
                         const struct kept_run *b)
{
	if (span(k, a) != span(k, b))
		return span(k, a) < span(k, b);
	if (distance(k, a) != distance(k, b))
		return distance(k, a) < distance(k, b);
	return a->nodes < b->nodes;
}

/* The shortest run of broken units that holds n, of these the nearest; all of
 * them where none does. Returns how many nodes are left. */
static int take_broken(struct keeping *k, int n)
{
	struct kept_run best = {0}, now = {0};

	list(k, false);
	for (now.last = 0; n && now.last < k->n_list; now.last++) {
		now.nodes += nodes_of(k, now.last);
		while (now.nodes - nodes_of(k, now.first) >= n)
			now.nodes -= nodes_of(k, now.first++);
		if (now.nodes >= n &&
		    (!best.nodes || comes_before(k, &now, &best)))
			best = now;
	}
	if (!best.nodes)
		best.last = k->n_list - 1;
	for (int i = best.first; n && i <= best.last; i++) {
		int some = nodes_of(k, i) < n ? nodes_of(k, i) : n;

		take_unit(k, k->list[i], some);
		n -= some;
	}
	return n;
}

/* The smallest whole unit that is left and holds n, else the largest; the
 * nearest of these. Returns how many nodes are left. */
static int break_one(struct keeping *k, int n)
{
	struct kept_run best = {0};

	list(k, true);
	for (int i = 0; i < k->n_list; i++) {
		struct kept_run one = {i, i, nodes_of(k, i)};
		bool holds = one.nodes >= n, held = best.nodes >= n;

		if (k->some[k->list[i]])
			continue;
		if (!best.nodes || (holds && !held) ||
		    (holds && held && one.nodes < best.nodes) ||
		    (!holds && !held && one.nodes > best.nodes) ||
		    (one.nodes == best.nodes &&
		     distance(k, &one) < distance(k, &best)))
			best = one;
	}
	if (best.nodes > n)
		best.nodes = n;
	take_unit(k, k->list[best.first], best.nodes);
	return n - best.nodes;
}

static int check(const struct cpl_network *net, const char *option,
                 struct cpl_error *err)
{
	return cpl_cut_check(net, "keep-whole", option, err);
}

/* O(n_nodes), and once more the units for each that is broken where their sizes
 * differ. */
static int place_keep_whole(const struct cpl_placement_request *req, int *out,
                            struct cpl_error *err)
{
	struct keeping k = {.low = INT_MAX, .high = -1};
	struct cpl_cut cut;
	int n = 0, left;

	if (cpl_cut_find(req->net, req->option, &cut, err) ||
	    cpl_whole_units_open(&k.units, req->net, req->free, &cut, err))
		return -1;
	k.list = cpl_arena_take_raw(&k.units.arena, k.units.n,
	                            sizeof(*k.list));
	k.some = cpl_arena_take(&k.units.arena, k.units.n, sizeof(*k.some));
	if (k.units.arena.failed)
		return cpl_arena_end(&k.units.arena, -1, err);
	left = take_broken(&k, take_whole(&k, req->n_nodes_wanted));
	while (left)
		left = break_one(&k, left);
	for (int i = 0; i < req->net->n_nodes; i++)
		if (req->free[i] && k.some[k.units.unit[i]]-- > 0)
			out[n++] = i;
	cpl_whole_units_close(&k.units);
	return cpl_placement_require(req, out, err);
}

const struct cpl_placement_policy cpl_placement_keep_whole = {
        .name = "keep-whole",
        .summary = "breaks no wholly free unit but one at the most "
                   "(keep-whole:router ...)",
        .flags = CPL_PLACEMENT_CLASS,
        .check = check,
        .place = place_keep_whole,
};
