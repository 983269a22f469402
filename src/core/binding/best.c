/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define SWEEPS 40
/* Above these numbers of ranks one start is enough, or takes too long. */
#define MAX_CLUSTER 512
#define MAX_PACKED 512
/* Kicks and new descents, as many as this many pairs of ranks allow. */
#define KICK_WORK (1 << 18)
#define MAX_KICKS 16
#define MAX_KICKS_DENSE 4
#define MAX_KICKS_SMALL 2
#define MAX_SMALL 100
/* Annealing, of patterns in which a rank has few partners: descents end too
 * early there. */
#define MAX_PARTNERS 24
#define MAX_ANNEALED 1024
#define STEPS_PER_RANK 1000
#define CHAINS 2
#define BISECTIONS 4

struct best {
	const struct cpl_bind_problem *problem;
	const unsigned char *table;
	int *slot, *trial;
	double cost;
};

static int descend(struct best *b, bool coarse, struct cpl_error *err)
{
	const struct cpl_slot_tree *tree = b->problem->tree;
	const struct cpl_comm *graph = b->problem->graph;
	double cost;

	if (cpl_bind_refine(tree, graph, b->table, SWEEPS, coarse, b->trial,
	                    NULL, err) < 0)
		return -1;
	cost = cpl_slot_cost(tree, graph, b->trial);
	if (b->cost < 0 || cost < b->cost) {
		b->cost = cost;
		memcpy(b->slot, b->trial,
		       (size_t)graph->ranks * sizeof(*b->slot));
	}
	return 0;
}

static int start(struct best *b, const struct cpl_binder *binder,
                 struct cpl_error *err)
{
	const struct cpl_bind_problem *problem = b->problem;

	if (binder->bind(problem, b->trial, err) < 0 ||
	    cpl_near_repair(problem->tree, problem->graph->ranks, b->table,
	                    b->trial, err) < 0)
		return -1;
	return descend(b, true, err);
}

static bool may(const struct best *b, int rank, int slot)
{
	return !b->table ||
	       b->table[(size_t)rank * b->problem->tree->n_slots + slot];
}

static int search_sparse(struct best *b, struct cpl_error *err)
{
	const struct cpl_comm *graph = b->problem->graph;
	size_t n = (size_t)graph->ranks;

	if (b->table || graph->ranks > MAX_ANNEALED || graph->ranks < 3 ||
	    !graph->messages)
		return 0;
	for (uint64_t seed = 1; seed <= BISECTIONS; seed++)
		if (cpl_bind_bisect(b->problem->tree, graph, seed, b->trial,
		                    err) < 0 ||
		    descend(b, true, err) < 0)
			return -1;
	for (uint64_t seed = 1; seed <= CHAINS; seed++) {
		memcpy(b->trial, b->slot, n * sizeof(*b->trial));
		if (cpl_bind_anneal(b->problem->tree, graph,
		                    (int64_t)n * STEPS_PER_RANK, seed, b->trial,
		                    err) < 0 ||
		    descend(b, true, err) < 0)
			return -1;
	}
	return 0;
}

/* Swap some ranks of the best so far at random. */
static void kick(struct best *b, int round)
{
	int n = b->problem->graph->ranks, swaps = 2 + round % 4 + n / 32;

	memcpy(b->trial, b->slot, (size_t)n * sizeof(*b->trial));
	for (int i = 0; i < swaps; i++) {
		uint64_t at = (uint64_t)round * 4096 + (uint64_t)i * 2;
		int x = (int)cpl_random_below(1, 5, at, (uint64_t)n);
		int y = (int)cpl_random_below(1, 5, at + 1, (uint64_t)n);
		int s = b->trial[x];

		if (!may(b, x, b->trial[y]) || !may(b, y, s))
			continue;
		b->trial[x] = b->trial[y];
		b->trial[y] = s;
	}
}

static int bind_best(const struct cpl_bind_problem *problem, int *slot,
                     struct cpl_error *err)
{
	int n = problem->graph->ranks, rc = -1;
	struct best b = {.problem = problem, .slot = slot, .cost = -1};
	unsigned char *table = NULL;
	bool sparse = problem->graph->n_entries <= (int64_t)n * MAX_PARTNERS;
	int most = sparse           ? MAX_KICKS
	           : n <= MAX_SMALL ? MAX_KICKS_SMALL
	                            : MAX_KICKS_DENSE;
	int64_t kicks = n > 2 ? KICK_WORK / ((int64_t)n * n) : 0;

	b.trial = calloc((size_t)n + 1, sizeof(*b.trial));
	if (!b.trial) {
		cpl_fail_memory(err);
		goto done;
	}
	if (problem->req &&
	    cpl_near_table(problem->req, problem->tree, &table, err) < 0)
		goto done;
	b.table = table;
	if (start(&b, &cpl_binder_treematch, err) < 0 ||
	    (n <= MAX_PACKED && start(&b, &cpl_binder_packed, err) < 0) ||
	    (sparse && n <= MAX_CLUSTER &&
	     start(&b, &cpl_binder_cluster, err) < 0))
		goto done;
	if (sparse && search_sparse(&b, err) < 0)
		goto done;
	for (int i = 0; i < kicks && i < most; i++) {
		kick(&b, i);
		if (descend(&b, i % 4 == 3, err) < 0)
			goto done;
	}
	rc = 0;
done:
	free(table);
	free(b.trial);
	return rc;
}

const struct cpl_binder cpl_binder_best = {
        .name = "best",
        .summary = "treematch, cluster and packed, improved by swaps",
        .bind = bind_best,
};
