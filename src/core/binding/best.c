/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/grouping.h"

#define SWEEPS 40
/* With more ranks than these one start is enough, or takes too long. */
#define MAX_CLUSTER 512
#define MAX_PACKED 512
/* Kicks and new descents are as many as this many pairs of ranks allow. */
#define KICK_WORK (1 << 18)
#define MAX_KICKS 16
/* Patterns in which a rank has few partners get annealing and bisection, since
 * descents end too early there. */
#define MAX_PARTNERS 24
#define MAX_ANNEALED 1024
#define STEPS_PER_RANK 1000
#define MIN_STEPS_PER_RANK 100
#define CHAINS 2
#define BISECTIONS 4
#define RUNS 4
/* All other patterns get descents under noise, fewer where these take longer
 * than their gain is worth. */
#define ROUNDS 2
#define MAX_SMALL 100
#define MAX_ROUNDS 1024
/* The work of others in units of refinement's: of TreeMatch for each entry and
 * half of each pair, of a run of bisection for each entry and quarter of a rank
 * in each halving, and of a step of annealing for each partner. */
#define START_WORK 25
#define BISECTION_WORK 20
#define STEP_WORK 4

struct best_binding {
	const struct cpl_bind_problem *problem;
	const unsigned char *table;
	int *slot, *trial;
	double cost;
	bool limited;
	int64_t work; /* work left, if limited */
};

/* Whether there is work left for that much more, which is then used up. */
static bool afford(struct best_binding *b, int64_t work)
{
	if (!b->limited)
		return true;
	if (b->work <= 0 || b->work < work)
		return false;
	b->work -= work;
	return true;
}

static int descend(struct best_binding *b, bool coarse, uint64_t noise,
                   struct cpl_error *err)
{
	const struct cpl_tree *tree = b->problem->tree;
	const struct cpl_comm *graph = b->problem->graph;
	struct cpl_refinement how = {.table = b->table,
	                             .sweeps = SWEEPS,
	                             .coarse = coarse,
	                             .noise = noise,
	                             .work = b->limited ? &b->work : NULL};
	double cost;

	if (cpl_bind_refine(tree, graph, &how, b->trial, err) < 0)
		return -1;
	cost = cpl_tree_cost(tree, graph, b->trial);
	if (b->cost < 0 || cost < b->cost) {
		b->cost = cost;
		memcpy(b->slot, b->trial,
		       (size_t)graph->ranks * sizeof(*b->slot));
	}
	return 0;
}

static int start(struct best_binding *b, const struct cpl_binder *binder,
                 struct cpl_error *err)
{
	const struct cpl_bind_problem *problem = b->problem;

	if (binder->bind(problem, b->trial, err) < 0 ||
	    cpl_near_repair(problem->tree, problem->graph->ranks, b->table,
	                    b->trial, err) < 0)
		return -1;
	return descend(b, true, 0, err);
}

static bool may(const struct best_binding *b, int rank, int slot)
{
	return !b->table ||
	       b->table[(size_t)rank * b->problem->tree->n_slots + slot];
}

static int64_t start_work(const struct cpl_comm *graph)
{
	int64_t pairs = (int64_t)graph->ranks * graph->ranks;

	if (pairs > 2 * CPL_TREEMATCH_MAX_GROUPS)
		pairs = 0;
	return START_WORK * (graph->n_entries + pairs / 2);
}

static int64_t bisection_work(const struct cpl_comm *graph)
{
	int halvings = 1;

	while (graph->ranks >> halvings)
		halvings++;
	return BISECTION_WORK * (graph->n_entries + 4 * graph->ranks) *
	       (halvings - 1);
}

static bool searchable(const struct best_binding *b)
{
	const struct cpl_comm *graph = b->problem->graph;

	return !b->table && graph->ranks <= MAX_ANNEALED && graph->ranks >= 3 &&
	       graph->messages;
}

static int bisect(struct best_binding *b, uint64_t seed, int runs,
                  struct cpl_error *err)
{
	const struct cpl_comm *graph = b->problem->graph;

	if (!searchable(b) || !afford(b, runs * bisection_work(graph)))
		return 0;
	if (cpl_bind_bisect(b->problem->tree, graph, seed, runs, b->trial,
	                    err) < 0)
		return -1;
	return descend(b, true, 0, err);
}

static int anneal(struct best_binding *b, uint64_t seed, struct cpl_error *err)
{
	const struct cpl_comm *graph = b->problem->graph;
	int64_t n = graph->ranks, steps = n * STEPS_PER_RANK;
	int64_t step = STEP_WORK * (graph->n_entries / (n + 1) + 4);

	if (b->limited && b->work / step < steps)
		steps = b->work / step;
	if (!searchable(b) || steps < n * MIN_STEPS_PER_RANK ||
	    !afford(b, steps * step))
		return 0;
	memcpy(b->trial, b->slot, (size_t)n * sizeof(*b->trial));
	if (cpl_bind_anneal(b->problem->tree, graph, steps, seed, b->trial,
	                    err) < 0)
		return -1;
	return descend(b, true, 0, err);
}

static int rank_on(const struct best_binding *b, int slot)
{
	for (int r = 0; r < b->problem->graph->ranks; r++)
		if (b->trial[r] == slot)
			return r;
	return -1;
}

static int draw(uint64_t key, uint64_t at, int n)
{
	return (int)cpl_random_scale(cpl_random_at(key, at), (uint64_t)n);
}

/* Swaps some ranks of the best at random with others or free slots nearby. */
static void kick(struct best_binding *b, int round)
{
	int n = b->problem->graph->ranks, swaps = 2 + round % 4 + n / 32;
	int n_slots = b->problem->tree->n_slots;
	uint64_t key = cpl_random_key(1, CPL_STREAM_BIND_KICK);
	uint64_t at = (uint64_t)round * 4096;

	memcpy(b->trial, b->slot, (size_t)n * sizeof(*b->trial));
	for (int i = 0; i < swaps; i++) {
		int x = draw(key, at++, n), y = draw(key, at++, n);
		int next = draw(key, at++, 9);
		int from = b->trial[x], to = b->trial[y] + next - 4;

		if (to >= 0 && to < n_slots && rank_on(b, to) < 0)
			y = -1;
		else
			to = b->trial[y];
		if (!may(b, x, to) || (y >= 0 && !may(b, y, from)))
			continue;
		b->trial[x] = to;
		if (y >= 0)
			b->trial[y] = from;
	}
}

static int search_sparse(struct best_binding *b, struct cpl_error *err)
{
	int n = b->problem->graph->ranks;
	int64_t kicks = n > 2 ? KICK_WORK / ((int64_t)n * n) : 0;

	/* One run is the surest way to a good answer, so it comes first. */
	if (bisect(b, 1, 1, err) < 0)
		return -1;
	if (n <= MAX_PACKED && afford(b, 0) &&
	    start(b, &cpl_binder_packed, err) < 0)
		return -1;
	if (n <= MAX_CLUSTER && afford(b, START_WORK * (int64_t)n * n / 2) &&
	    start(b, &cpl_binder_cluster, err) < 0)
		return -1;
	for (uint64_t seed = 2; seed <= BISECTIONS; seed++)
		if (bisect(b, seed, RUNS, err) < 0)
			return -1;
	for (uint64_t seed = 1; seed <= CHAINS; seed++)
		if (anneal(b, seed, err) < 0)
			return -1;
	for (int i = 0; i < kicks && i < MAX_KICKS && afford(b, 0); i++) {
		kick(b, i);
		if (descend(b, i % 4 == 3, 0, err) < 0)
			return -1;
	}
	return 0;
}

static int search_dense(struct best_binding *b, struct cpl_error *err)
{
	int n = b->problem->graph->ranks;
	int rounds = n > MAX_SMALL && n <= MAX_ROUNDS ? ROUNDS : 1;

	if (n <= MAX_PACKED && afford(b, 0) &&
	    start(b, &cpl_binder_packed, err) < 0)
		return -1;
	for (int i = 1; i <= rounds && afford(b, 0); i++) {
		memcpy(b->trial, b->slot, (size_t)n * sizeof(*b->trial));
		if (descend(b, false, (uint64_t)i, err) < 0)
			return -1;
	}
	return 0;
}

static int bind_best(const struct cpl_bind_problem *problem, int *slot,
                     struct cpl_error *err)
{
	const struct cpl_comm *graph = problem->graph;
	int n = graph->ranks, rc = -1;
	bool sparse = graph->n_entries <= (int64_t)n * MAX_PARTNERS;
	struct best_binding b = {.problem = problem, .slot = slot, .cost = -1};
	unsigned char *table = NULL;

	if (problem->req && problem->req->work > 0) {
		b.limited = true;
		b.work = problem->req->work - start_work(graph);
		/* A quarter is always left for the next steps. */
		if (b.work < problem->req->work / 4)
			b.work = problem->req->work / 4;
	}
	b.trial = calloc((size_t)n + 1, sizeof(*b.trial));
	if (cpl_out_of_memory(!b.trial, err))
		goto done;
	if (problem->req &&
	    cpl_near_table(problem->req, problem->slots, &table, err) < 0)
		goto done;
	b.table = table;
	if (start(&b, &cpl_binder_treematch, err) == 0)
		rc = sparse ? search_sparse(&b, err) : search_dense(&b, err);
done:
	cpl_free_all(table, b.trial);
	return rc;
}

const struct cpl_binder cpl_binder_best = {
        .name = "best",
        .summary = "treematch, cluster and packed, improved by swaps",
        .bind = bind_best,
};
