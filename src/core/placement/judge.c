/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/bounds.h"
#include "placement/judge_internal.h"

#include <stdlib.h>
#include <string.h>

/* Ranks times hosts up to which another mapper than the default one is run;
 * beyond it, and for searches without an end, the default one stands in, and
 * that one maps the ranks when the nodes are settled. */
#define NAMED_MAX 65536L

bool cpl_decide_by_quick(const struct cpl_mapper *mapper, int ranks,
                         int n_hosts)
{
	return mapper &&
	       (mapper == &cpl_mapper_quick || mapper->endless ||
	        (mapper != &cpl_mapper_linear &&
	         (long)ranks * n_hosts > NAMED_MAX));
}

/* Ranks of each of n hosts in blocks. */
static void fill_sizes(const struct cpl_decide_request *req, int n, int *size)
{
	int left = req->comm->ranks;

	for (int i = 0; i < n; i++) {
		size[i] = left < req->ranks_per_node ? left
		                                     : req->ranks_per_node;
		left -= size[i];
	}
}

/* To free(); NULL with err. */
static int *sizes_of(const struct cpl_decide_request *req, struct cpl_error *err)
{
	int n = req->place.n_nodes_wanted;
	int *size = malloc(((size_t)n + 1) * sizeof(*size));

	if (size)
		fill_sizes(req, n, size);
	else
		cpl_fail_memory(err);
	return size;
}

int cpl_decide_groups(const struct cpl_decide_request *req,
                      struct cpl_rank_groups *out, struct cpl_error *err)
{
	int *size = sizes_of(req, err), rc = -1;

	*out = (struct cpl_rank_groups){0};
	if (size)
		rc = cpl_rank_groups_grow(out, req->place.net, req->comm,
		                          req->graph, size,
		                          req->place.n_nodes_wanted, err);
	free(size);
	return rc < 0 ? -1 : 0;
}

int cpl_decide_blocks(const struct cpl_decide_request *req,
                      struct cpl_rank_groups *out, struct cpl_error *err)
{
	int *size = sizes_of(req, err), rc = -1;

	*out = (struct cpl_rank_groups){0};
	if (size)
		rc = cpl_rank_groups_blocks(out, req->place.net, req->comm,
		                            size, req->place.n_nodes_wanted,
		                            err);
	free(size);
	return rc;
}

int cpl_judge_open_times(struct judge *j, struct cpl_error *err)
{
	const struct cpl_decide_request *req = j->req;

	if (!req->phase)
		return 0;
	j->space = req->space;
	if (!j->space)
		j->space = j->own_space = cpl_times_space_new(
		        req->place.net, req->routing, err);
	j->times = j->space ? cpl_times_open(req->phase, req->n_phases,
	                                     j->ranks, err)
	                    : NULL;
	return j->times ? 0 : -1;
}

static int take_arrays(struct judge *j, struct cpl_error *err)
{
	int n_candidates = j->out->n_candidates;

	j->size = cpl_arena_take(&j->arena, j->n, sizeof(*j->size));
	j->reach = cpl_arena_take_raw(&j->arena,
	                              j->req->place.net->n_nodes + j->n,
	                              sizeof(*j->reach));
	j->layout = cpl_arena_take(&j->arena, n_candidates,
	                           sizeof(*j->layout));
	for (int i = 0; i < n_candidates && !j->arena.failed; i++) {
		struct layout *l = &j->layout[i];

		l->node = cpl_arena_take_raw(&j->arena, j->n, sizeof(int));
		l->mapped.node =
		        cpl_arena_take_raw(&j->arena, j->n, sizeof(int));
		if (j->req->order == CPL_ORDER_MAY)
			l->in_turn = cpl_arena_take_raw(&j->arena, j->n,
			                                sizeof(int));
	}
	return j->arena.failed ? cpl_fail_memory(err) : 0;
}

/* List the nodes in reach: free ones, and those of the scheduler. */
static int list_reach(struct judge *j)
{
	const struct cpl_placement_request *place = &j->req->place;
	int n = 0;

	for (int i = 0; place->free && i < place->net->n_nodes; i++)
		if (place->free[i])
			j->reach[n++] = i;
	for (int i = 0; j->req->stock && i < j->n; i++)
		j->reach[n++] = j->req->stock[i];
	return n;
}

/* With groups that are grown the default mapper looks at the ranks of small jobs
 * only. */
static bool needs_graph(const struct judge *j)
{
	return j->mapper &&
	       !(cpl_judge_is_quick(j) && j->req->grown &&
	         (long)j->ranks * j->n > CPL_QUICK_SMALL);
}

/* Make what is made once for all candidates. */
static int begin(struct judge *j, struct cpl_error *err)
{
	const struct cpl_decide_request *req = j->req;

	if (take_arrays(j, err))
		return -1;
	fill_sizes(req, j->n, j->size);
	j->map = (struct cpl_map_request){
	        .net = req->place.net,
	        .routing = req->routing,
	        .comm = req->comm,
	        .graph = req->graph,
	        .grown = req->grown,
	        .block = req->block,
	        .n_hosts = j->n,
	        .slots = j->size,
	        .grid = req->place.grid.n ? &req->place.grid : NULL,
	        .option = req->wish.map_option,
	        .background = req->background,
	        .rates = req->rates,
	        .objective = req->wish.objective,
	        .seed = req->place.seed,
	        .expired = req->expired,
	        .expired_arg = req->expired_arg,
	};
	if (cpl_judge_ceiling(req, j->out, &j->most))
		j->map.most = &j->most;
	if (needs_graph(j) && !j->map.graph) {
		j->own_graph = cpl_comm_symmetric(req->comm, err);
		j->map.graph = j->own_graph;
		if (!j->own_graph)
			return -1;
	}
	if (req->wish.keep.name &&
	    cpl_whole_units_open(&j->units, req->place.net, req->place.free,
	                         &req->wish.keep, err))
		return -1;
	return cpl_judge_open_times(j, err) || cpl_judge_begin_work(j, err) ||
	                       cpl_quick_open(&j->quick, &j->map, j->reach,
	                                      list_reach(j), req->all_metrics,
	                                      !cpl_judge_is_quick(j), err)
	               ? -1
	               : 0;
}

static void end(struct judge *j)
{
	for (int i = 0; j->layout && i < j->out->n_candidates; i++)
		free(j->layout[i].mapped.own);
	cpl_judge_close_views(j);
	cpl_quick_close(&j->quick);
	cpl_times_close(j->times);
	cpl_times_space_free(j->own_space);
	cpl_comm_free(j->own_graph);
	cpl_whole_units_close(&j->units);
	cpl_arena_free(&j->arena);
}

static int place_candidate(struct judge *j, int i, struct cpl_error *err)
{
	const struct cpl_candidate *c = &j->out->candidate[i];
	struct cpl_placement_request place = j->req->place;

	place.seed = c->seed;
	place.work = cpl_judge_layout_work(j);
	place.option = j->req->wish.option;
	/* That of the searches. */
	if (c->policy == &cpl_placement_keep_whole && !place.option)
		place.option = j->req->wish.keep.name;
	if (!c->policy->place)
		memcpy(j->layout[i].node, j->req->stock,
		       (size_t)j->n * sizeof(int));
	else if (c->policy->place(&place, j->layout[i].node, err) ||
	         cpl_bounds_keep(&place, j->req->stock, j->layout[i].node,
	                         err))
		return -1;
	if (j->req->order == CPL_ORDER_NOT)
		cpl_judge_in_turn(j, j->layout[i].node);
	cpl_judge_broken(j, i);
	return 0;
}

/* A candidate in blocks. */
static int evaluate(struct judge *j, struct cpl_quick *quick, int i,
                    bool *cut_short, struct cpl_error *err)
{
	struct cpl_candidate *c = &j->out->candidate[i];
	struct layout *l = &j->layout[i];

	(void)cut_short;
	if (cpl_quick_evaluate(quick, &j->quick.block, l->node, &l->promise,
	                       err) ||
	    cpl_traffic_finite(&l->promise.metrics, &l->promise.sums, err))
		return -1;
	c->metrics = l->promise.metrics;
	c->sums = l->promise.sums;
	c->rail = l->promise.rail;
	c->evaluated = true;
	if (cpl_judge_plain(j, quick, i, err))
		return -1;
	if ((!j->mapper || j->req->all_metrics || cpl_judge_of_whole(j)) &&
	    cpl_judge_times(j, l->node, NULL, c, err))
		return -1;
	return 0;
}

static int place_and_evaluate(struct judge *j, struct cpl_quick *quick, int i,
                              bool *cut_short, struct cpl_error *err)
{
	return place_candidate(j, i, err)
	               ? -1
	               : evaluate(j, quick, i, cut_short, err);
}

/* The candidate that is the scheduler's own nodes; 0: there is none besides
 * another. */
static int stock_of(const struct judge *j, int n)
{
	return j->out->candidate[n - 1].policy == &cpl_placement_stock ? n - 1
	                                                               : 0;
}

/* The budget ended before the others were known: take the better of the first
 * candidate and the scheduler's own nodes, or, where that is not known, the
 * latter. */
static int fall_back(struct judge *j, int n, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	int stock = stock_of(j, n);
	struct cpl_figures f, first;

	cpl_judge_ceiling(j->req, j->out, &j->most);
	cpl_judge_bar(j, n);
	cpl_candidate_figures(&c[stock], &f);
	cpl_candidate_figures(&c[0], &first);
	if (!c[0].evaluated || c[0].barred ||
	    (c[stock].evaluated &&
	     cpl_judge_comes_before(j, &c[stock], &c[0], &f, &first)))
		out->best = stock;
	out->chosen = out->best;
	return c[out->chosen].evaluated ? 0
	                                : place_candidate(j, out->chosen, err);
}

#define TURNS 4

/* Which candidates come before others, that there may be no work left for: after
 * the first and the scheduler's own nodes what lies all over the machine, which is
 * most unlike these; further seeds last. */
static int turn_of(const struct judge *j, int i, int stock)
{
	const struct cpl_candidate *c = &j->out->candidate[i];

	if (!i || i == stock)
		return 0;
	if (c->seed != j->req->place.seed)
		return 3;
	return c->policy == &cpl_placement_random_nodes ||
	                       c->policy == &cpl_placement_round_robin_nodes
	               ? 1
	               : 2;
}

/* Of candidate i; with the first goes the scheduler's own nodes', of both or
 * none. */
static bool affords(struct judge *j, int i)
{
	const int *node = j->layout[i].node;
	int evaluations = cpl_judge_evaluations(j, node);

	if (!i)
		evaluations += j->req->stock ? cpl_judge_evaluations(
		                                       j, j->req->stock)
		                             : 1;
	return cpl_judge_affords(
	        j, node, evaluations,
	        cpl_judge_layouts_work(j, j->out->candidate[i].policy, NULL));
}

/* In turn. */
static int place_in_turn(struct judge *j, int n, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	int stock = stock_of(j, n);

	for (int k = 0; k < TURNS * n; k++) {
		int i = k % n;

		if (turn_of(j, i, stock) != k / n)
			continue;
		if (k > 0 && cpl_judge_no_budget(j))
			return fall_back(j, n, err);
		if (place_candidate(j, i, err))
			return -1;
		if (i == 0 && out->candidate[0].policy->place &&
		    cpl_judge_no_budget(j))
			return fall_back(j, n, err);
		if (!(i && i == stock) && n > 1 && !affords(j, i)) {
			if (i)
				continue;
			out->cut_short = true;
			return fall_back(j, n, err);
		}
		if (evaluate(j, &j->quick, i, &out->cut_short, err))
			return -1;
		if (!i)
			cpl_judge_keep_work(j, false);
	}
	return 0;
}

/* The candidates that policies make, in blocks; the best of them is chosen,
 * unless the budget ends before. */
static int place_all(struct judge *j, int n, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	int best = 0;

	if (j->team ? cpl_judge_each(j, NULL, n, place_and_evaluate, err)
	            : place_in_turn(j, n, err))
		return -1;
	if (out->cut_short)
		return 0;
	cpl_judge_ceiling(j->req, j->out, &j->most);
	cpl_judge_bar(j, n);
	for (int i = 1; i < n; i++) {
		struct cpl_figures f, best_f;

		if (!c[i].evaluated || c[i].barred)
			continue;
		cpl_candidate_figures(&c[i], &f);
		cpl_candidate_figures(&c[best], &best_f);
		if (c[best].barred ||
		    (j->mapper ? cpl_judge_comes_before
		               : cpl_judge_is_taken_before)(j, &c[i], &c[best],
		                                            &f, &best_f))
			best = i;
	}
	out->best = best;
	cpl_judge_choose(j, n, false);
	return 0;
}

/* Hosts are numbered as their lowest ranks are, those without ranks last. The
 * groups given are then of[]; blocks are told as such. */
static int number_hosts(struct judge *j, const int *of, int *node,
                        struct cpl_error *err)
{
	int *host_of = malloc(2 * (size_t)j->n * sizeof(int));
	int *old = host_of ? host_of + j->n : NULL, used = 0;
	int *rank_host = malloc((size_t)j->ranks * sizeof(int));
	bool blocks = true;

	if (!host_of || !rank_host) {
		cpl_free_all(host_of, rank_host);
		return cpl_fail_memory(err);
	}
	memcpy(old, node, (size_t)j->n * sizeof(int));
	for (int i = 0; i < j->n; i++)
		host_of[i] = -1;
	for (int r = 0; r < j->ranks; r++) {
		if (host_of[of[r]] < 0) {
			node[used] = old[of[r]];
			host_of[of[r]] = used++;
		}
		rank_host[r] = host_of[of[r]];
		blocks &= rank_host[r] == r / j->req->ranks_per_node;
	}
	for (int i = 0; i < j->n; i++)
		if (host_of[i] < 0)
			node[used++] = old[i];
	free(host_of);
	if (blocks)
		free(rank_host);
	else
		j->out->rank_host = rank_host;
	return 0;
}

/* Take the nodes and the rank order of the chosen candidate. */
static int take_choice(struct judge *j, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct layout *l = &j->layout[out->chosen];
	bool mapped = out->candidate[out->chosen].is_mapped;

	memcpy(out->node, mapped ? l->mapped.node : l->node,
	       (size_t)j->n * sizeof(int));
	free(out->rank_host);
	out->rank_host = NULL;
	out->mapped = (mapped && !j->proxy) || j->req->order == CPL_ORDER_NOT;
	return out->mapped && l->mapped.of
	               ? number_hosts(j, l->mapped.of, out->node, err)
	               : 0;
}

/* Were the scheduler's own nodes left without a rank order that is to come, so that
 * nothing is known to be better than they with it? */
static bool is_unknown(const struct judge *j, int n)
{
	const struct cpl_candidate *stock = &j->out->candidate[n - 1];

	return j->mapper && !j->stock_blocks && !j->req->wish.keep.name &&
	       stock->policy == &cpl_placement_stock && !stock->is_mapped;
}

static int judge(struct judge *j, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	int n = out->n_candidates;
	bool searches =
	        out->candidate[n - 1].policy == &cpl_placement_traffic;

	n -= searches;
	if (place_all(j, n, err) || take_choice(j, err))
		return -1;
	if (j->mapper && !out->cut_short &&
	    (cpl_judge_map(j, n, err) || take_choice(j, err)))
		return -1;
	if (searches && !out->cut_short && cpl_judge_can_search(j) &&
	    (cpl_judge_search(j, n, err) || take_choice(j, err)))
		return -1;
	if (out->cut_short && is_unknown(j, n)) {
		out->best = out->chosen = n - 1;
		if (!out->candidate[n - 1].evaluated &&
		    place_candidate(j, n - 1, err))
			return -1;
		return take_choice(j, err);
	}
	if (out->candidate[n - 1].policy == &cpl_placement_stock &&
	    (cpl_judge_stated(j, n - 1, err) || take_choice(j, err)))
		return -1;
	out->cut_short |= j->limited;
	return 0;
}

int cpl_judge(const struct cpl_decide_request *req, struct cpl_decision *out,
              struct cpl_error *err)
{
	struct judge j = {.req = req,
	                  .out = out,
	                  .n = out->n_nodes,
	                  .ranks = req->comm->ranks};
	int rc = -1;

	/* Seconds and units are looked at for one candidate after the other. */
	if (!req->expired && !req->work && !req->phase && !req->wish.keep.name)
		j.team = req->team;
	if (req->wish.mapper != &cpl_mapper_linear && out->n_nodes > 1 &&
	    req->order != CPL_ORDER_NOT)
		j.mapper = req->wish.mapper;
	j.proxy = !cpl_judge_is_quick(&j) &&
	          cpl_decide_by_quick(j.mapper, j.ranks, j.n);
	if (j.proxy)
		j.mapper = &cpl_mapper_quick;
	out->node = malloc((size_t)out->n_nodes * sizeof(*out->node));
	if (!out->node)
		cpl_fail_memory(err);
	else if (!begin(&j, err))
		rc = judge(&j, err);
	end(&j);
	return rc;
}
