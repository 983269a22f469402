/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "whole:UNIT": nodes of units (cut.h) that are wholly free, the units as few
 * as will do, so that the job shares none with jobs that run.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "placement/cut.h"
#include "placement/unit_sets.h"

static int check(const struct cpl_network *net, const char *option,
                 struct cpl_error *err)
{
	return cpl_cut_check(net, "whole", option, err);
}

/* Units of a network that is no tree of levels: of those that are free the
 * shortest run, in the order of their numbers, that holds the job. */
struct unit_run {
	int first, last;
};

static struct unit_run shortest_run(const int *count, int n_units, int wanted)
{
	struct unit_run best = {0, n_units - 1};
	int first = 0, sum = 0;

	for (int last = 0; last < n_units; last++) {
		sum += count[last];
		while (sum - count[first] >= wanted)
			sum -= count[first++];
		if (sum >= wanted && last - first < best.last - best.first)
			best = (struct unit_run){first, last};
	}
	return best;
}

struct in_unit {
	int unit, node;
};

static CPL_SORT_BY(by_unit, struct in_unit, CPL_UP(unit), CPL_UP(node))

static int take_run(const struct cpl_placement_request *req,
                    const struct cpl_whole_units *units, const int *count,
                    int *out, struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	struct unit_run run =
	        shortest_run(count, units->n, req->n_nodes_wanted);
	struct in_unit *all = malloc((size_t)net->n_nodes * sizeof(*all));
	int n = 0;

	if (!all)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_nodes; i++) {
		int unit = units->unit[i];

		if (req->free[i] && units->whole[unit] && unit >= run.first &&
		    unit <= run.last)
			all[n++] = (struct in_unit){unit, i};
	}
	qsort(all, (size_t)n, sizeof(*all), by_unit);
	for (int i = 0; i < req->n_nodes_wanted; i++)
		out[i] = all[i].node;
	free(all);
	qsort(out, (size_t)req->n_nodes_wanted, sizeof(*out), cpl_by_int);
	return 0;
}

static int place_whole(const struct cpl_placement_request *req, int *out,
                       struct cpl_error *err)
{
	const struct cpl_network *net = req->net;
	struct cpl_whole_units units;
	struct cpl_cut cut;
	unsigned char *free_node;
	int *count;
	int n = 0, rc = -1;

	if (cpl_cut_find(net, req->option, &cut, err) ||
	    cpl_whole_units_open(&units, net, req->free, &cut, err))
		return -1;
	free_node = cpl_arena_take(&units.arena, net->n_nodes, 1);
	count = cpl_arena_take(&units.arena, units.n, sizeof(*count));
	if (units.arena.failed)
		return cpl_arena_end(&units.arena, -1, err);
	for (int i = 0; i < net->n_nodes; i++)
		free_node[i] = req->free[i] && units.whole[units.unit[i]];
	for (int u = 0; u < units.n; u++) {
		count[u] = units.whole[u] ? units.free[u] : 0;
		n += count[u];
	}
	if (n < req->n_nodes_wanted) {
		cpl_fail(err,
		         "policy whole:%.32s: %d nodes are wanted, and %d are "
		         "in units that are wholly free",
		         req->option, req->n_nodes_wanted, n);
		goto out;
	}
	rc = cpl_network_product(net) ||
	                     cpl_network_type_is_irregular(net->type)
	             ? take_run(req, &units, count, out, err)
	             : cpl_units_compact(net, free_node, req->n_nodes_wanted,
	                                 out, err);
	rc = rc ? rc : cpl_placement_require(req, out, err);
out:
	cpl_whole_units_close(&units);
	return rc;
}

const struct cpl_placement_policy cpl_placement_whole = {
        .name = "whole",
        .summary = "of wholly free units, as few as will do (whole:router, "
                   "whole:group ...)",
        .flags = CPL_PLACEMENT_CLASS,
        .check = check,
        .place = place_whole,
};
