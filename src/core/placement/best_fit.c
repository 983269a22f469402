/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of free nodes with neighbouring ids, as Slurm's select/cons_tres fills
 * them where no topology plugin says otherwise: the shortest run that holds
 * what is still wanted, else the longest whole, ties to the lowest ids.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "placement/placement.h"

struct node_run {
	int first, n;
};

/* List the runs of free nodes in order; returns how many. */
static int list_runs(const struct cpl_placement_request *req,
                     struct node_run *run)
{
	int n = 0;

	for (int i = 0; i < req->net->n_nodes; i++) {
		if (!req->free[i])
			continue;
		if (i && req->free[i - 1])
			run[n - 1].n++;
		else
			run[n++] = (struct node_run){i, 1};
	}
	return n;
}

/* The run to take from next. */
static struct node_run *pick(struct node_run *run, int n, int wanted)
{
	struct node_run *best = NULL;

	for (int i = 0; i < n; i++) {
		bool holds = run[i].n >= wanted;

		if (!best || (holds && best->n < wanted) ||
		    (holds && run[i].n < best->n) ||
		    (!holds && best->n < wanted && run[i].n > best->n))
			best = &run[i];
	}
	return best;
}

/* O(n_nodes * runs taken). */
static int place_best_fit(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err)
{
	int wanted = req->n_nodes_wanted, n = 0;
	struct node_run *run =
	        malloc(((size_t)req->net->n_nodes + 1) * sizeof(*run));
	int runs;

	if (!run)
		return cpl_fail_memory(err);
	runs = list_runs(req, run);
	while (n < wanted) {
		struct node_run *taken = pick(run, runs, wanted - n);

		for (int i = 0; i < taken->n && n < wanted; i++)
			out[n++] = taken->first + i;
		taken->n = 0;
	}
	free(run);
	if (req->n_required && cpl_placement_require(req, out, err))
		return -1;
	qsort(out, (size_t)n, sizeof(*out), cpl_by_int);
	return 0;
}

const struct cpl_placement_policy cpl_placement_best_fit = {
        .name = "best-fit",
        .short_name = "BFT",
        .summary = "shortest runs of free nodes in a row, what Slurm does "
                   "without a topology",
        .place = place_best_fit,
};
