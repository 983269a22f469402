/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "traffic": on from the best candidate, nodes and rank order together. */
#include "placement/judge_internal.h"

#include <string.h>

/* Where units are to be kept whole, what the search may go to: no unit that its
 * start leaves whole; and what it may not leave: units that the start takes all
 * of. So it breaks no more than the start. -1 with err: memory. */
static int bound_search(struct judge *j, const int *start,
                        struct cpl_host_search *how, struct cpl_error *err)
{
	const struct cpl_placement_request *place = &j->req->place;
	const struct cpl_whole_units *units = &j->units;
	int n = place->net->n_nodes, n_stay = place->n_required;
	unsigned char *allowed = cpl_arena_take(&j->arena, n, 1);
	int *stay = cpl_arena_take_raw(&j->arena, n_stay + j->n, sizeof(*stay));

	if (!allowed || !stay)
		return cpl_fail_memory(err);
	for (int i = 0; i < n_stay; i++)
		stay[i] = place->required[i];
	for (int i = 0; i < j->n; i++)
		units->taken[units->unit[start[i]]]++;
	for (int i = 0; i < n; i++) {
		int u = units->unit[i];

		allowed[i] = place->free[i] &&
		             (units->taken[u] || !units->whole[u]);
	}
	for (int i = 0; i < j->n; i++) {
		int u = units->unit[start[i]];

		if (units->whole[u] && units->taken[u] == units->free[u])
			stay[n_stay++] = start[i];
	}
	for (int i = 0; i < j->n; i++)
		units->taken[units->unit[start[i]]] = 0;
	how->free = allowed;
	how->required = stay;
	how->n_required = n_stay;
	return 0;
}

/* "traffic": nodes and the order of hosts from those of `from` on, groups as
 * they are there. */
static int search_from(struct judge *j, const struct layout *from,
                       const struct cpl_rank_groups *groups, int *node,
                       struct cpl_error *err)
{
	const struct cpl_decide_request *req = j->req;
	struct cpl_host_search how = {
	        .net = req->place.net,
	        .routing = req->routing,
	        .groups = groups,
	        .background = req->background,
	        .rates = req->rates,
	        .objective = req->wish.objective,
	        .seed = req->place.seed,
	        .free = req->place.free,
	        .required = req->place.required,
	        .n_required = req->place.n_required,
	        .work = cpl_judge_search_work(j),
	        .moves = j->quick.watches ? &j->quick.moves : NULL,
	        .expired = req->expired,
	        .expired_arg = req->expired_arg,
	};

	if (req->wish.keep.name && bound_search(j, from->node, &how, err))
		return -1;
	/* A set within bounds stays: only its hosts are exchanged. */
	if (req->place.bounds)
		how.free = NULL;
	memcpy(node, j->mapper ? from->mapped.node : from->node,
	       (size_t)j->n * sizeof(int));
	if (cpl_host_search(&how, node, &j->out->cut_short, err))
		return -1;
	if (req->order == CPL_ORDER_NOT)
		cpl_judge_in_turn(j, node);
	return 0;
}

/* The rank order on the nodes found: a mapper that was asked for by name has the
 * last word. *known: there is one. */
static int order_found(struct judge *j, const struct layout *from,
                       const struct cpl_rank_groups *groups, struct layout *l,
                       bool *known, struct cpl_error *err)
{
	struct cpl_quick_layout *mapped = &l->mapped;

	*known = false;
	if (!cpl_judge_is_quick(j)) {
		/* Where a mapper is cut nobody knows. */
		if (!cpl_judge_no_budget(j) &&
		    cpl_judge_map_by_name(j, &j->quick, l->node, mapped, err))
			return -1;
		*known = !cpl_judge_no_budget(j);
		return 0;
	}
	*known = true;
	mapped->of = from->mapped.of;
	memcpy(mapped->node, l->node, (size_t)j->n * sizeof(int));
	return cpl_quick_evaluate(&j->quick, groups, l->node, &mapped->figures,
	                          err);
}

int cpl_judge_search(struct judge *j, int i, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	struct cpl_candidate *c = &out->candidate[i];
	const struct layout *from = &j->layout[out->chosen];
	struct layout *l = &j->layout[i];
	struct cpl_rank_groups given = {0};
	const struct cpl_rank_groups *groups = &given;
	struct cpl_figures then, now;
	int rc = -1;

	if (!j->mapper || !from->mapped.of)
		groups = &j->quick.block;
	else if (cpl_rank_groups_given(&given, j->req->place.net, j->req->comm,
	                               from->mapped.of, j->n, err))
		goto out;
	if (search_from(j, from, groups, l->node, err) ||
	    cpl_quick_evaluate(&j->quick, &j->quick.block, l->node, &now, err))
		goto out;
	c->metrics = now.metrics;
	c->sums = now.sums;
	c->rail = now.rail;
	c->evaluated = true;
	if (cpl_judge_plain(j, &j->quick, i, err))
		goto out;
	cpl_judge_bar_found(j, i);
	cpl_judge_broken(j, i);
	if (j->mapper && order_found(j, from, groups, l, &c->is_mapped, err))
		goto out;
	c->mapped = l->mapped.figures;
	rc = 0;
	if (j->mapper && !c->is_mapped)
		goto out;
	rc = cpl_judge_times(j, l->node, c->is_mapped ? l->mapped.of : NULL, c,
	                 err);
	cpl_candidate_figures(&out->candidate[out->best], &then);
	cpl_candidate_figures(c, &now);
	if (!rc && !c->barred &&
	    cpl_judge_is_taken_before(j, c, &out->candidate[out->best],
	                                     &now, &then))
		out->best = i;
	cpl_judge_choose(j, i + 1, c->is_mapped);
out:
	cpl_rank_groups_free(&given);
	return rc;
}
