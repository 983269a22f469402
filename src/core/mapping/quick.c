/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/quick.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "mapping/mapping_internal.h"

/* With fewer hosts it does not matter which is where. */
#define HOSTS_MIN 3
/* Above this, greedyallc is not worth the distances between all hosts. */
#define GREEDY_HOSTS 128

static bool uneven(const struct cpl_map_request *req)
{
	for (int h = 1; h < req->n_hosts; h++)
		if (req->slots[h] != req->slots[0])
			return true;
	return false;
}

static int take_arrays(struct cpl_quick *q, struct cpl_error *err)
{
	int n = q->req->n_hosts;

	q->node = cpl_arena_take_raw(&q->arena, n, sizeof(*q->node));
	q->order = cpl_arena_take_raw(&q->arena, n, sizeof(*q->order));
	q->at = cpl_arena_take_raw(&q->arena, n, sizeof(*q->at));
	q->slots = cpl_arena_take_raw(&q->arena, n, sizeof(*q->slots));
	q->cable = cpl_arena_take_raw(
	        &q->arena, (int64_t)n * cpl_network_judged_ports(q->req->net),
	        sizeof(*q->cable));
	if (q->req->most)
		q->load = cpl_arena_take_raw(
		        &q->arena, 2 * (int64_t)n * q->req->net->n_ports,
		        sizeof(*q->load));
	if (uneven(q->req))
		q->kind = cpl_arena_take_raw(&q->arena, n, sizeof(*q->kind));
	if (q->arena.failed)
		return cpl_fail_memory(err);
	for (int i = 0; i < n; i++)
		q->slots[i] = 1;
	if (q->kind)
		memcpy(q->kind, q->req->slots, (size_t)n * sizeof(*q->kind));
	return 0;
}

static int open_evaluator(struct cpl_quick *q, struct cpl_error *err)
{
	const struct cpl_map_request *req = q->req;

	return cpl_evaluator_open(
	        &q->ev, cpl_network_judged(req->net), req->routing,
	        req->background, req->rates,
	        cpl_rank_groups_judged(&q->block)->n_entries, q->all_metrics,
	        err);
}

int cpl_quick_evaluate(struct cpl_quick *q, const struct cpl_rank_groups *groups,
                       const int *node, struct cpl_figures *out,
                       struct cpl_error *err)
{
	const struct cpl_comm *judged = cpl_rank_groups_judged(groups);
	int ports = cpl_network_judged_ports(q->req->net);
	const int *at = node;

	if (ports > 1) {
		for (int i = 0; i < judged->ranks; i++)
			q->cable[i] = node[i / ports] * ports + i % ports;
		at = q->cable;
	}
	if (cpl_evaluate(&q->ev, judged, at, out, err))
		return -1;
	if (q->load)
		cpl_figures_count_rail(out, q->req->net, q->req->objective,
		                       cpl_rank_groups_rail(groups, q->req->net,
		                                            node, q->load));
	return 0;
}

int cpl_quick_open(struct cpl_quick *q, const struct cpl_map_request *req,
                   const int *reach, int n_reach, bool all_metrics,
                   bool only_blocks, struct cpl_error *err)
{
	*q = (struct cpl_quick){
	        .req = req,
	        .small = (long)req->comm->ranks * req->n_hosts <=
	                 CPL_QUICK_SMALL,
	        .all_metrics = all_metrics,
	        .reach = reach,
	        .n_reach = n_reach,
	};
	if (take_arrays(q, err) ||
	    (!req->block &&
	     cpl_rank_groups_blocks(&q->block, req->net, req->comm,
	                            req->slots, req->n_hosts, err)) ||
	    (!only_blocks && !req->grown &&
	     cpl_rank_groups_grow(&q->grown, req->net, req->comm, req->graph,
	                          req->slots, req->n_hosts, err) < 0))
		return -1;
	if (req->block)
		q->block = *req->block;
	if (!only_blocks && req->grown)
		q->grown = *req->grown;
	return open_evaluator(q, err);
}

int cpl_quick_view(struct cpl_quick *q, const struct cpl_quick *of,
                   struct cpl_error *err)
{
	*q = (struct cpl_quick){.req = of->req,
	                        .block = of->block,
	                        .grown = of->grown,
	                        .small = of->small,
	                        .all_metrics = of->all_metrics,
	                        .is_view = true,
	                        .reach = of->reach,
	                        .n_reach = of->n_reach};
	return take_arrays(q, err) || open_evaluator(q, err) ? -1 : 0;
}

void cpl_quick_close(struct cpl_quick *q)
{
	cpl_evaluator_close(&q->ev);
	if (!q->is_view && q->req && !q->req->block)
		cpl_rank_groups_free(&q->block);
	if (!q->is_view && q->req && !q->req->grown)
		cpl_rank_groups_free(&q->grown);
	cpl_moves_free(&q->moves);
	cpl_arena_free(&q->arena);
}

/* The best order so far of a node set; groups is NULL while there is none. */
struct quick_best {
	const struct cpl_rank_groups *groups;
	struct cpl_quick_layout *out;
};

/* Keeps groups on node[], which f judges, where that is better. */
static void keep(struct cpl_quick *q, const struct cpl_rank_groups *groups,
                 const int *node, const struct cpl_figures *f,
                 struct quick_best *best)
{
	struct cpl_quick_layout *out = best->out;
	const struct cpl_ceiling *most = q->req->most;
	bool exceeds = cpl_figures_exceed(f, most);

	if (best->groups &&
	    (exceeds != cpl_figures_exceed(&out->figures, most)
	             ? exceeds
	             : !cpl_figures_better(q->req->objective, f, &out->figures)))
		return;
	best->groups = groups;
	out->figures = *f;
	out->of = groups == &q->block ? NULL : groups->of;
	memcpy(out->node, node, (size_t)q->req->n_hosts * sizeof(*node));
}

static int try(struct cpl_quick *q, const struct cpl_rank_groups *groups,
               const int *node, struct quick_best *best, struct cpl_error *err)
{
	struct cpl_figures f;

	if (cpl_quick_evaluate(q, groups, node, &f, err))
		return -1;
	keep(q, groups, node, &f, best);
	return 0;
}

/* Tries groups on the same nodes by id, where that is another order. */
static int try_by_id(struct cpl_quick *q, const struct cpl_rank_groups *groups,
                     const int *node, struct quick_best *best,
                     struct cpl_error *err)
{
	int n = q->req->n_hosts;
	bool sorted = true;

	for (int i = 1; i < n && sorted; i++)
		sorted = node[i - 1] < node[i];
	if (sorted || q->kind)
		return 0;
	memcpy(q->order, node, (size_t)n * sizeof(*node));
	qsort(q->order, (size_t)n, sizeof(*q->order), cpl_by_int);
	return try(q, groups, q->order, best, err);
}

/* Tries groups in the order of greedyallc. */
static int try_greedy(struct cpl_quick *q, const struct cpl_rank_groups *groups,
                      const int *node, struct quick_best *best,
                      struct cpl_error *err)
{
	const struct cpl_map_request *req = q->req;
	struct cpl_comm *graph;
	int rc;

	if (q->kind || req->n_hosts < HOSTS_MIN || req->n_hosts > GREEDY_HOSTS)
		return 0;
	graph = cpl_comm_symmetric(groups->hosts, err);
	if (!graph)
		return -1;
	const struct cpl_map_request map = {
	        .net = req->net,
	        .routing = req->routing,
	        .comm = groups->hosts,
	        .graph = graph,
	        .n_hosts = req->n_hosts,
	        .host = node,
	        .slots = q->slots,
	        .expired = req->expired,
	        .expired_arg = req->expired_arg,
	};
	rc = cpl_map_greedyallc(&map, q->at, err);
	cpl_comm_free(graph);
	if (rc)
		return -1;
	for (int i = 0; i < req->n_hosts; i++)
		q->order[i] = node[q->at[i]];
	return try(q, groups, q->order, best, err);
}

/* Tries ranks put on node[] by greedyallc, whose groups go into *given. */
static int try_ranks(struct cpl_quick *q, const int *node,
                     struct cpl_rank_groups *given, struct quick_best *best,
                     struct cpl_error *err)
{
	struct cpl_map_request map = *q->req;
	int *of = malloc((size_t)map.comm->ranks * sizeof(*of));
	int rc = -1;

	map.host = node;
	if (!of)
		return cpl_fail_memory(err);
	if (!cpl_map_greedyallc(&map, of, err) &&
	    !cpl_rank_groups_given(given, map.net, map.comm, of, map.n_hosts,
	                           err))
		rc = try(q, given, node, best, err);
	free(of);
	return rc;
}

static int look(struct cpl_quick *q, const int *node,
                const struct cpl_figures *block, struct quick_best *best,
                struct cpl_error *err)
{
	if (block)
		keep(q, &q->block, node, block, best);
	if ((!block && try(q, &q->block, node, best, err)) ||
	    (q->grown.n && try(q, &q->grown, node, best, err)))
		return -1;
	return try_by_id(q, best->groups, node, best, err);
}

static bool expired(const struct cpl_quick *q, bool *cut_short)
{
	*cut_short |= cpl_map_expired(q->req);
	return *cut_short;
}

/* Tries the starts of a search that were not looked at before. */
static int try_starts(struct cpl_quick *q, const int *node,
                      struct cpl_rank_groups *given, struct quick_best *best,
                      struct cpl_error *err)
{
	if (!q->small)
		return try_greedy(q, best->groups, node, best, err);
	for (int i = 0; i < (q->grown.n ? 2 : 1); i++) {
		const struct cpl_rank_groups *groups =
		        i ? &q->grown : &q->block;

		if (groups != best->groups &&
		    try_by_id(q, groups, node, best, err))
			return -1;
		if (try_greedy(q, groups, node, best, err))
			return -1;
	}
	return try_ranks(q, node, given, best, err);
}

/* Finds the best start; block is as for cpl_quick_look. */
static int start(struct cpl_quick *q, const int *node,
                 const struct cpl_figures *block, struct cpl_rank_groups *given,
                 struct quick_best *best, bool all, bool *cut_short,
                 struct cpl_error *err)
{
	/* The caller's array may be the same as out's. */
	memcpy(q->node, node, (size_t)q->req->n_hosts * sizeof(*node));
	best->out->own = NULL;
	if (!best->groups && look(q, q->node, block, best, err))
		return -1;
	return all && !expired(q, cut_short)
	               ? try_starts(q, q->node, given, best, err)
	               : 0;
}

/* Groups that only this node set has go to the caller. */
static void finish(struct cpl_rank_groups *given, struct quick_best *best)
{
	if (best->groups == given) {
		best->out->own = given->of;
		given->of = NULL;
	}
	cpl_rank_groups_free(given);
}

int cpl_quick_look(struct cpl_quick *q, const int *node,
                   const struct cpl_figures *block,
                   struct cpl_quick_layout *out, struct cpl_error *err)
{
	struct cpl_rank_groups given = {0};
	struct quick_best best = {.out = out};
	bool cut_short = false;
	int rc = start(q, node, block, &given, &best, q->small, &cut_short,
	               err);

	finish(&given, &best);
	return rc;
}

/* Do other jobs alone fill the busiest link, so that no order helps? */
static bool is_idle(const struct cpl_quick *q, const struct cpl_figures *f)
{
	return q->req->objective == CPL_OBJECTIVE_MAX &&
	       f->metrics.max_congestion <= q->ev.under.max_congestion;
}

static int search(struct cpl_quick *q, struct quick_best *best, bool *cut_short,
                  struct cpl_error *err)
{
	const struct cpl_map_request *req = q->req;
	struct cpl_host_search how = {
	        .net = req->net,
	        .routing = req->routing,
	        .groups = best->groups,
	        .background = req->background,
	        .rates = req->rates,
	        .objective = req->objective,
	        .seed = req->seed,
	        .kind = q->kind,
	        .work = req->work > 0 && req->work < LONG_MAX
	                        ? (long)req->work
	                        : CPL_QUICK_WORK,
	        .moves = &q->moves,
	        .expired = req->expired,
	        .expired_arg = req->expired_arg,
	};

	if (!q->watches &&
	    cpl_host_search_open(&how, q->reach, q->n_reach, &q->moves, err))
		return -1;
	q->watches = true;
	memcpy(q->order, best->out->node,
	       (size_t)req->n_hosts * sizeof(*q->order));
	if (cpl_host_search(&how, q->order, cut_short, err))
		return -1;
	return try(q, best->groups, q->order, best, err);
}

int cpl_quick_map(struct cpl_quick *q, const int *node, bool looked,
                  struct cpl_quick_layout *out, bool *cut_short,
                  struct cpl_error *err)
{
	struct cpl_rank_groups given = {0};
	struct quick_best best = {.out = out};
	int rc;

	/* Small jobs may have had a best order other than these two. */
	if (looked && !q->small)
		best.groups = out->of ? &q->grown : &q->block;
	rc = start(q, node, NULL, &given, &best, true, cut_short, err);
	if (!rc && q->req->n_hosts >= HOSTS_MIN &&
	    !is_idle(q, &out->figures) && !expired(q, cut_short))
		rc = search(q, &best, cut_short, err);
	finish(&given, &best);
	return rc;
}

/* Is each host a node of its own? */
static bool distinct(const struct cpl_map_request *req, int *index_of)
{
	for (int h = 0; h < req->n_hosts; h++) {
		if (index_of[req->host[h]] >= 0)
			return false;
		index_of[req->host[h]] = h;
	}
	return true;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	int nodes = req->net->n_nodes, rc = -1;
	int *index_of = malloc((size_t)nodes * sizeof(*index_of));
	int *node = malloc((size_t)req->n_hosts * sizeof(*node));
	struct cpl_quick_layout layout = {.node = node};
	struct cpl_quick q = {0};
	bool cut_short = false;

	if (cpl_out_of_memory(!index_of || !node, err))
		goto out;
	for (int i = 0; i < nodes; i++)
		index_of[i] = -1;
	if (!distinct(req, index_of)) {
		rc = cpl_map_greedyallc(req, rank_host, err);
		goto out;
	}
	if (cpl_quick_open(&q, req, req->host, req->n_hosts, false, false,
	                   err) ||
	    cpl_quick_map(&q, req->host, false, &layout, &cut_short, err))
		goto out;
	if (!layout.of)
		cpl_rank_groups_list_blocks(req->slots, req->n_hosts,
		                            req->comm->ranks, rank_host);
	for (int r = 0; r < req->comm->ranks; r++)
		rank_host[r] = index_of[node[layout.of ? layout.of[r]
		                                       : rank_host[r]]];
	rc = 0;
out:
	free(layout.own);
	cpl_quick_close(&q);
	cpl_free_all(index_of, node);
	return rc;
}

const struct cpl_mapper cpl_mapper_quick = {
        .name = "quick",
        .summary = "ranks grouped for hosts, then hosts swapped off busy links",
        .refined = true,
        .map = map,
};
