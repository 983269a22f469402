/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates whose rank order may not arrive, or does not: ranks are in blocks
 * then, on the nodes in the scheduler's order. */
#include "commplace-config.h"
#include "placement/judge_internal.h"

#include <stdlib.h>
#include <string.h>

static int64_t turn_of(const struct cpl_decide_request *req, int node)
{
	return req->turn ? req->turn[node] : node;
}

static bool is_in_turn(const struct judge *j, const int *node)
{
	for (int i = 1; i < j->n; i++)
		if (turn_of(j->req, node[i - 1]) > turn_of(j->req, node[i]))
			return false;
	return true;
}

static int by_turn(const void *a, const void *b, void *arg)
{
	int64_t x = turn_of(arg, *(const int *)a);
	int64_t y = turn_of(arg, *(const int *)b);

	return (x > y) - (x < y);
}

void cpl_judge_in_turn(const struct judge *j, int *node)
{
	if (!is_in_turn(j, node))
		qsort_r(node, (size_t)j->n, sizeof(*node), by_turn,
		        (void *)j->req);
}

int cpl_judge_evaluations(const struct judge *j, const int *node)
{
	return j->req->order == CPL_ORDER_MAY && !is_in_turn(j, node) ? 2 : 1;
}

int cpl_judge_plain(struct judge *j, struct cpl_quick *quick, int i,
                    struct cpl_error *err)
{
	struct cpl_candidate *c = &j->out->candidate[i];
	const struct layout *l = &j->layout[i];

	if (j->req->order != CPL_ORDER_MAY)
		return 0;
	c->plain = cpl_candidate_in_blocks(c);
	if (is_in_turn(j, l->node))
		return 0;
	memcpy(l->in_turn, l->node, (size_t)j->n * sizeof(*l->node));
	cpl_judge_in_turn(j, l->in_turn);
	return cpl_quick_evaluate(quick, &j->quick.block, l->in_turn, &c->plain,
	                          err);
}

/* Busiest link, mean and seconds: each alone is the same for many nodes, or
 * misses what slows a job down. */
static double whole(const struct cpl_figures *f)
{
	return f->metrics.max_congestion * f->metrics.mean_congestion *
	       f->metrics.seconds;
}

double cpl_judge_either(const struct cpl_candidate *c,
                        const struct cpl_figures *f)
{
	return whole(f) * whole(&c->plain);
}

/* The scheduler's own nodes, or what stands in for them; NULL: neither was
 * evaluated. */
static const struct cpl_candidate *without_us(const struct judge *j, int n)
{
	const struct cpl_candidate *c = j->out->candidate, *best_fit = NULL;

	for (int i = 0; i < n; i++) {
		if (c[i].evaluated && c[i].policy == &cpl_placement_stock)
			return &c[i];
		if (c[i].evaluated && c[i].policy == &cpl_placement_best_fit)
			best_fit = &c[i];
	}
	return n > 1 ? best_fit : NULL;
}

/* Is b worse than a, by the objective or by what nodes are chosen by? Where the
 * objective's first number is the same the busiest links decide: the seconds of
 * a job may be those of its nodes' own links wherever it is. */
static bool is_worse(const struct judge *j, const struct cpl_figures *b,
                     const struct cpl_figures *a)
{
	enum cpl_objective by = j->req->wish.objective;
	int order = cpl_objective_compare(
	        cpl_objective_first(by, &a->metrics, a->sums.hop_bytes),
	        cpl_objective_first(by, &b->metrics, b->sums.hop_bytes));

	/* What the scheduler's nodes come to bounds both ways. */
	if (cpl_figures_exceed(b, j->map.most) &&
	    !cpl_figures_exceed(a, j->map.most))
		return true;
	return (order ? order < 0
	              : cpl_figures_better(CPL_OBJECTIVE_MAX, a, b)) ||
	       cpl_objective_compare(whole(a), whole(b)) < 0;
}

void cpl_judge_bar(struct judge *j, int n)
{
	struct cpl_candidate *c = j->out->candidate;
	const struct cpl_candidate *bar = without_us(j, n);

	if (j->req->order != CPL_ORDER_MAY || !bar)
		return;
	for (int i = 0; i < n; i++)
		c[i].barred =
		        c[i].evaluated && is_worse(j, &c[i].plain, &bar->plain);
}

void cpl_judge_bar_found(struct judge *j, int i)
{
	struct cpl_decision *out = j->out;
	struct cpl_candidate *c = &out->candidate[i];

	c->barred = j->req->order == CPL_ORDER_MAY &&
	            is_worse(j, &c->plain, &out->candidate[out->chosen].plain);
}
