/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates with their rank order: of which it is worth the work. */
#include "placement/judge_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Work in links of routes looked at, some 10 ns each; counts, not times, so that
 * the answer is the same on every machine.
 */
/* For all candidates that are mapped; of small jobs, whose links are few. */
#define JUDGE_WORK 250000L
#define JUDGE_WORK_SMALL 600000L
/* Candidates mapped whatever the work, besides the BASELINES linear, best-fit
 * and stock, which count whether they are there or not: no other is judged or
 * left out because the stock nodes are known. */
#define JUDGED_MIN 2
#define BASELINES 3
/* What a flow between hosts costs to place; how often mapping does that. */
#define FLOW_WORK 8
#define LOOKS 4
/* Where work is limited: evaluations that a look takes, and mapping after it, and what
 * it takes to watch a link in searches. */
#define LOOKED 2
#define LOOKED_SMALL 6
#define MAPPED 2
#define WATCH_WORK 4L

/* What may come of it. */
static int look(struct judge *j, struct cpl_quick *quick, int i,
                bool *cut_short, struct cpl_error *err)
{
	struct layout *l = &j->layout[i];
	struct cpl_figures block = l->promise;

	(void)cut_short;
	if (!j->out->candidate[i].evaluated || cpl_judge_no_budget(j) ||
	    !cpl_judge_affords(j, l->node,
	                       j->quick.small ? LOOKED_SMALL : LOOKED, 0))
		return 0;
	free(l->mapped.own);
	l->mapped.own = NULL;
	if (cpl_quick_look(quick, l->node, &block, &l->mapped, err))
		return -1;
	l->looked = true;
	l->promise = l->mapped.figures;
	return 0;
}

/* What the rails of an order come to. */
static int tell_rail(struct cpl_quick *quick, struct cpl_quick_layout *l,
                     struct cpl_error *err)
{
	const struct cpl_map_request *req = quick->req;
	struct cpl_rank_groups given = {0};
	int rc = 0;

	if (quick->load) {
		rc = cpl_rank_groups_given(&given, req->net, req->comm, l->of,
		                           req->n_hosts, err);
		if (!rc)
			cpl_figures_count_rail(
			        &l->figures, req->net, req->objective,
			        cpl_rank_groups_rail(&given, req->net, l->node,
			                             quick->load));
	}
	cpl_rank_groups_free(&given);
	return rc;
}

int cpl_judge_map_by_name(struct judge *j, struct cpl_quick *quick,
                          const int *node, struct cpl_quick_layout *out,
                          struct cpl_error *err)
{
	struct cpl_map_request map = j->map;
	struct cpl_map_result result;

	map.host = node;
	if (cpl_judge_layouts_work(j, NULL, j->mapper))
		map.work = cpl_judge_layout_work(j);
	if (cpl_map(j->mapper, &map, &result, err))
		return -1;
	memcpy(out->node, node, (size_t)j->n * sizeof(int));
	out->of = out->own = result.rank_host;
	out->figures = (struct cpl_figures){result.after, result.sums_after, .rail = 0};
	result.rank_host = NULL;
	cpl_map_result_free(&result);
	return tell_rail(quick, out, err);
}

/* The work of what comes before the search on one candidate. */
static long look_work(const struct judge *j)
{
	return LOOKS * FLOW_WORK * (long)j->quick.block.hosts->n_entries;
}

/* Once, before the first search. */
static long watch_work(const struct judge *j)
{
	return j->quick.watches ? 0 : WATCH_WORK * j->req->place.net->n_links;
}

/* The work of mapping one candidate. */
static long map_work(const struct judge *j)
{
	long work = look_work(j) + CPL_QUICK_WORK;

	if (!cpl_judge_is_quick(j))
		work += 2 * (long)j->ranks * j->n +
		        FLOW_WORK * (long)j->req->comm->n_entries +
		        cpl_judge_layouts_work(j, NULL, j->mapper);
	return work;
}

/* What a look has made of candidate i is its rank order. */
static int take_look(struct judge *j, int i, struct cpl_error *err)
{
	struct cpl_candidate *c = &j->out->candidate[i];
	const struct cpl_quick_layout *mapped = &j->layout[i].mapped;

	if (!j->layout[i].looked)
		return 0;
	c->is_mapped = true;
	c->mapped = mapped->figures;
	return cpl_judge_times(j, mapped->node, mapped->of, c, err);
}

/* The rank order of a mapper other than the default one gives way to blocks where it
 * alone exceeds the ceiling. */
static void keep_below(const struct judge *j, const struct cpl_candidate *c,
                       struct layout *l)
{
	struct cpl_figures blocks = cpl_candidate_in_blocks(c);

	if (!cpl_figures_exceed(&l->mapped.figures, j->map.most) ||
	    cpl_figures_exceed(&blocks, j->map.most))
		return;
	l->mapped.of = NULL;
	l->mapped.figures = blocks;
}

static int map_candidate(struct judge *j, struct cpl_quick *quick, int i,
                         bool *cut_short, struct cpl_error *err)
{
	struct cpl_candidate *c = &j->out->candidate[i];
	struct layout *l = &j->layout[i];

	if (!c->evaluated)
		return 0;
	if (!cpl_judge_affords(j, l->node, l->looked ? MAPPED : 2 * MAPPED,
	                       map_work(j) - look_work(j) +
	                               watch_work(j)))
		return take_look(j, i, err);
	free(l->mapped.own);
	l->mapped.own = NULL;
	if (cpl_judge_is_quick(j) ? cpl_quick_map(quick, l->node, l->looked,
	                                          &l->mapped, cut_short, err)
	                          : cpl_judge_map_by_name(j, quick, l->node,
	                                                  &l->mapped, err))
		return -1;
	if (j->team ? *cut_short : cpl_judge_no_budget(j))
		return 0;
	c->is_mapped = true;
	keep_below(j, c, l);
	c->mapped = l->mapped.figures;
	return cpl_judge_times(j, l->mapped.node, l->mapped.of, c, err);
}

/* What is mapped whatever comes of it: what would be without us, and what keeps
 * units whole. */
static bool is_baseline(const struct cpl_candidate *c)
{
	return c->policy == &cpl_placement_linear ||
	       c->policy == &cpl_placement_keep_whole ||
	       c->policy == &cpl_placement_best_fit ||
	       c->policy == &cpl_placement_stock;
}

/* Next by what is known: the best that is not mapped yet, ties to the first; -1:
 * none is left. */
static int next_best(const struct judge *j, int n, const bool *done)
{
	const struct cpl_candidate *c = j->out->candidate;
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!done[i] && !c[i].barred &&
		    (best < 0 ||
		     cpl_judge_comes_before(j, &c[i], &c[best], &j->layout[i].promise,
		                  &j->layout[best].promise)))
			best = i;
	return best;
}

/* Likewise of those that break fewest units. */
static int next_keeper(const struct judge *j, int n, const bool *done)
{
	const struct cpl_candidate *c = j->out->candidate;
	int best = -1;

	for (int i = 0; i < n; i++) {
		if (done[i] || c[i].barred ||
		    (best >= 0 && c[i].broken > c[best].broken))
			continue;
		if (best < 0 || c[i].broken < c[best].broken ||
		    cpl_judge_comes_before(j, &c[i], &c[best], &j->layout[i].promise,
		                 &j->layout[best].promise))
			best = i;
	}
	return best;
}

/* Candidates into list[]: baselines and the most promising others, as many as
 * there is work for; with units to be kept the most promising one that breaks
 * fewest, too. Returns how many. */
static int list_best(struct judge *j, int n, long work, int *list)
{
	const struct cpl_candidate *c = j->out->candidate;
	bool *done = cpl_arena_take(&j->arena, n, sizeof(*done));
	int m = 0, most;

	if (!done)
		return 0;
	/* The scheduler's own nodes first, which the others are held against. */
	for (int i = n - 1; i >= 0; i--)
		if (!c[i].evaluated)
			done[i] = true;
		else if (is_baseline(&c[i]))
			done[list[m++] = i] = true;
	most = (int)((j->quick.small ? JUDGE_WORK_SMALL : JUDGE_WORK) / work) -
	       BASELINES;
	if (most < JUDGED_MIN)
		most = JUDGED_MIN;
	for (int i; most > 0 && (i = next_best(j, n, done)) >= 0; most--)
		done[list[m++] = i] = true;
	if (j->req->wish.keep.name) {
		int i = next_keeper(j, n, done);

		if (i >= 0)
			done[list[m++] = i] = true;
	}
	return m;
}

/* What may come of candidates, of large jobs of those that promise most in
 * blocks. */
static int look_at_some(struct judge *j, int n, int *list,
                        struct cpl_error *err)
{
	int m = n;

	/* The last one, the scheduler's own nodes, first. */
	for (int i = 0; i < n; i++)
		list[i] = (i + n - 1) % n;
	if (!j->quick.small)
		m = list_best(j, n, look_work(j) + 1, list);
	return cpl_judge_each(j, list, m, look, err);
}

/* Is there work for the scheduler's own nodes and another candidate, at the least?
 * All take about the same. */
static bool has_work(struct judge *j)
{
	int each = j->quick.small ? LOOKED_SMALL : LOOKED;
	long more = map_work(j) - look_work(j);

	return cpl_judge_has_work(j, j->layout[j->out->chosen].node,
	                          2 * (each + MAPPED),
	                          2 * more + watch_work(j));
}

/* In their place the quick order of the best in blocks alone, as far as it is known
 * without a search. */
static int look_at_chosen(struct judge *j, struct cpl_error *err)
{
	int i = j->out->chosen;

	j->limited = j->stock_blocks = true;
	j->kept = 0;
	/* With units to be kept the best is another. */
	if (i != j->out->best)
		return 0;
	return look(j, &j->quick, i, NULL, err) ? -1 : take_look(j, i, err);
}

/* The budget ended before all were mapped: what is known to be better than the
 * best in blocks, with its rank order, is taken all the same. */
static void fall_back(struct judge *j, int n)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	struct cpl_figures best;

	if (j->req->wish.keep.name)
		return;
	cpl_candidate_figures(&c[out->best], &best);
	for (int i = 0; i < n; i++)
		if (c[i].is_mapped && !c[i].barred &&
		    cpl_judge_comes_before(j, &c[i], &c[out->best],
		                           &c[i].mapped, &best)) {
			out->best = out->chosen = i;
			best = c[i].mapped;
		}
}

int cpl_judge_map(struct judge *j, int n, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	int *list = cpl_arena_take(&j->arena, n, sizeof(*list));
	int m = n, best = -1;

	if (!list)
		return cpl_fail_memory(err);
	cpl_judge_keep_work(j, true);
	if (cpl_judge_is_quick(j) && !has_work(j))
		return look_at_chosen(j, err);
	if (cpl_judge_is_quick(j) && look_at_some(j, n, list, err))
		return -1;
	for (int i = 0; i < n; i++)
		list[i] = i;
	/* What another mapper makes of one nobody can foresee. */
	if (cpl_judge_is_quick(j) || !j->quick.small)
		m = list_best(j, n, map_work(j), list);
	if (j->arena.failed)
		return cpl_fail_memory(err);
	if (cpl_judge_each(j, list, m, map_candidate, err))
		return -1;
	if (out->cut_short || j->limited) {
		fall_back(j, n);
		return 0;
	}
	for (int i = 0; i < n; i++)
		if (c[i].is_mapped && !c[i].barred &&
		    (best < 0 ||
		     cpl_judge_is_taken_before(j, &c[i], &c[best], &c[i].mapped,
		                               &c[best].mapped)))
			best = i;
	out->best = best;
	cpl_judge_choose(j, n, true);
	return 0;
}
