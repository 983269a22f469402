/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/judge.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/quick.h"
#include "placement/cut.h"

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
/* Of the search of "traffic". */
#define SEARCH_WORK 600000L
/* Ranks times hosts up to which another mapper than the default one is run;
 * beyond it, and for searches without an end, the default one stands in, and
 * that one maps the ranks when the nodes are settled. */
#define NAMED_MAX 65536L
/* What a flow between hosts costs to place; how often mapping does that. */
#define FLOW_WORK 8
#define LOOKS 4

/* A candidate's nodes, in its policy's order and in rank order. */
struct layout {
	int *node;                      /* [n] in policy order */
	struct cpl_quick_layout mapped; /* as far as it is mapped */
	bool looked;                    /* it is what cpl_quick_look makes */
	struct cpl_figures promise;     /* what is known before that */
};

struct judge {
	const struct cpl_decide_request *req;
	struct cpl_decision *out;
	int n, ranks;
	struct cpl_map_request map; /* for any candidate: without hosts */
	struct cpl_comm *own_graph;
	int *size;  /* [n] ranks of a host in blocks */
	int *reach; /* nodes that candidates are on */
	struct cpl_quick quick;
	struct cpl_times_space *space, *own_space; /* with phases */
	struct cpl_times *times;
	const int *times_of; /* the groups that times are ordered by */
	bool times_ordered;
	struct layout *layout;           /* [n_candidates] */
	const struct cpl_mapper *mapper; /* NULL: blocks */
	bool proxy; /* another mapper is meant, which would take too long */
	struct cpl_whole_units units; /* with keep_whole */
	struct cpl_arena arena;
};

static bool no_budget(struct judge *j)
{
	const struct cpl_decide_request *req = j->req;

	if (req->expired && req->expired(req->expired_arg))
		j->out->cut_short = true;
	return j->out->cut_short;
}

static void figures_of(const struct cpl_candidate *c, struct cpl_figures *f)
{
	*f = (struct cpl_figures){c->metrics, c->sums};
}

static bool better(const struct judge *j, const struct cpl_figures *a,
                   const struct cpl_figures *b)
{
	return cpl_figures_better(j->req->objective, a, b);
}

static bool of_others(const struct judge *j)
{
	return cpl_objective_of_others(j->req->objective);
}

/* Candidate a before b by what is known of both: as a whole where the objective
 * is, else by figures, which are of a and b. */
static bool comes_before(const struct judge *j, const struct cpl_candidate *a,
                         const struct cpl_candidate *b,
                         const struct cpl_figures *fa,
                         const struct cpl_figures *fb)
{
	const struct cpl_decide_request *req = j->req;
	double reference;
	int order;

	if (!of_others(j))
		return better(j, fa, fb);
	reference = cpl_decision_reference(j->out);
	order = req->objective == CPL_OBJECTIVE_ISOLATION
	                ? cpl_objective_compare((double)a->shared,
	                                        (double)b->shared)
	                : cpl_objective_compare(
	                          cpl_candidate_interference(req, a,
	                                                     reference),
	                          cpl_candidate_interference(req, b,
	                                                     reference));
	if (!order)
		order = cpl_objective_compare(a->times.seconds,
		                              b->times.seconds);
	return order ? order < 0 : better(j, fa, fb);
}

/* What candidates are compared by first. */
static double first_number(const struct judge *j, const struct cpl_candidate *c,
                           const struct cpl_figures *f)
{
	const struct cpl_decide_request *req = j->req;

	if (req->objective == CPL_OBJECTIVE_ISOLATION)
		return (double)c->shared;
	if (of_others(j))
		return cpl_candidate_interference(
		        req, c, cpl_decision_reference(j->out));
	return cpl_objective_first(req->objective, &f->metrics,
	                           f->sums.hop_bytes);
}

/* With its rank order, where candidates are compared so, or in blocks. */
static bool known(const struct cpl_candidate *c, bool mapped,
                  struct cpl_figures *f)
{
	if (mapped)
		*f = c->mapped;
	else
		figures_of(c, f);
	return mapped ? c->is_mapped : c->evaluated;
}

/* Takes of the first n candidates the best, or with units to be kept one that
 * breaks fewer, if it is not too dear. */
static void choose(struct judge *j, int n, bool mapped)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	struct cpl_figures f, taken;
	double best, most, price;

	out->chosen = out->best;
	out->price = 0;
	if (!j->req->keep_whole)
		return;
	known(&c[out->best], mapped, &taken);
	best = price = first_number(j, &c[out->best], &taken);
	most = best * (1 + j->req->keep_price / 100.0);
	for (int i = 0; i < n; i++) {
		const struct cpl_candidate *now = &c[out->chosen];

		if (!known(&c[i], mapped, &f) || c[i].broken > now->broken ||
		    cpl_objective_compare(first_number(j, &c[i], &f), most) > 0)
			continue;
		if (c[i].broken == now->broken &&
		    !comes_before(j, &c[i], now, &f, &taken))
			continue;
		out->chosen = i;
		taken = f;
		price = first_number(j, &c[i], &f);
	}
	out->price = best > 0 && price > best ? price / best - 1 : 0;
}

static bool is_quick(const struct judge *j)
{
	return j->mapper == &cpl_mapper_quick;
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

int cpl_decide_groups(const struct cpl_decide_request *req,
                      struct cpl_rank_groups *out, struct cpl_error *err)
{
	int n = req->place.n_nodes_wanted, rc;
	int *size = malloc(((size_t)n + 1) * sizeof(*size));

	*out = (struct cpl_rank_groups){0};
	if (!size)
		return cpl_fail_memory(err);
	fill_sizes(req, n, size);
	rc = cpl_rank_groups_grow(out, req->comm, req->graph, size, n, err);
	free(size);
	return rc < 0 ? -1 : 0;
}

static int open_times(struct judge *j, struct cpl_error *err)
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

/* What it is to others where it was placed last. */
static void judge_others(struct judge *j, struct cpl_candidate *c)
{
	int64_t n;
	const struct cpl_times_rate *rate = cpl_times_rates(j->times, &n);

	if (!j->req->harm)
		return;
	c->shared = cpl_harm_shared(j->req->harm, rate, n);
	c->harm = cpl_harm_by(j->req->harm, rate, n);
}

/* Seconds of a candidate on node[] with ranks in groups of[] (NULL: blocks),
 * which stay as they are. */
static int judge_times(struct judge *j, const int *node, const int *of,
                       struct cpl_candidate *c, struct cpl_error *err)
{
	if (!j->times)
		return 0;
	if ((!j->times_ordered || j->times_of != of) &&
	    cpl_times_order(j->times, of, j->req->ranks_per_node, j->n, err))
		return -1;
	j->times_ordered = true;
	j->times_of = of;
	if (cpl_times_place(j->times, j->space, node, err))
		return -1;
	cpl_times_judge(j->times, j->req->rates, false, &c->times);
	judge_others(j, c);
	return 0;
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
	}
	return j->arena.failed ? cpl_fail_memory(err) : 0;
}

/* Free nodes, and those of the scheduler. */
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

/* What is made once for all candidates. */
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
	        .n_hosts = j->n,
	        .slots = j->size,
	        .option = req->map_option,
	        .background = req->background,
	        .rates = req->rates,
	        .objective = req->objective,
	        .seed = req->place.seed,
	        .expired = req->expired,
	        .expired_arg = req->expired_arg,
	};
	if (j->mapper && !j->map.graph) {
		j->own_graph = cpl_comm_symmetric(req->comm, err);
		j->map.graph = j->own_graph;
		if (!j->own_graph)
			return -1;
	}
	if (req->keep_whole &&
	    cpl_whole_units_open(&j->units, req->place.net, req->place.free,
	                         req->keep_whole, err))
		return -1;
	return open_times(j, err) ||
	                       cpl_quick_open(&j->quick, &j->map, j->reach,
	                                      list_reach(j), req->all_metrics,
	                                      !is_quick(j), err)
	               ? -1
	               : 0;
}

static void end(struct judge *j)
{
	for (int i = 0; j->layout && i < j->out->n_candidates; i++)
		free(j->layout[i].mapped.own);
	cpl_quick_close(&j->quick);
	cpl_times_close(j->times);
	cpl_times_space_free(j->own_space);
	cpl_comm_free(j->own_graph);
	cpl_whole_units_close(&j->units);
	cpl_arena_free(&j->arena);
}

static void count_broken(struct judge *j, int i)
{
	if (j->req->keep_whole)
		j->out->candidate[i].broken = cpl_whole_units_broken(
		        &j->units, j->layout[i].node, j->n);
}

static int place(struct judge *j, int i, struct cpl_error *err)
{
	const struct cpl_candidate *c = &j->out->candidate[i];
	struct cpl_placement_request place = j->req->place;

	place.seed = c->seed;
	place.option = cpl_placement_option(j->req->policy);
	/* That of the searches. */
	if (c->policy == &cpl_placement_keep_whole && !place.option)
		place.option = j->req->keep_whole;
	if (!c->policy->place)
		memcpy(j->layout[i].node, j->req->stock,
		       (size_t)j->n * sizeof(int));
	else if (c->policy->place(&place, j->layout[i].node, err))
		return -1;
	count_broken(j, i);
	return 0;
}

/* A candidate in blocks. */
static int evaluate(struct judge *j, int i, struct cpl_error *err)
{
	const struct cpl_comm *hosts = j->quick.block.hosts;
	struct cpl_candidate *c = &j->out->candidate[i];
	struct layout *l = &j->layout[i];

	if (cpl_evaluate(&j->quick.ev, hosts, l->node, &l->promise, err))
		return -1;
	c->metrics = l->promise.metrics;
	c->sums = l->promise.sums;
	c->evaluated = true;
	if ((!j->mapper || j->req->all_metrics || of_others(j)) &&
	    judge_times(j, l->node, NULL, c, err))
		return -1;
	return 0;
}

/* What may come of it. */
static int look(struct judge *j, int i, struct cpl_error *err)
{
	struct layout *l = &j->layout[i];
	struct cpl_figures block = l->promise;

	free(l->mapped.own);
	l->mapped.own = NULL;
	if (cpl_quick_look(&j->quick, l->node, &block, &l->mapped, err))
		return -1;
	l->looked = true;
	l->promise = l->mapped.figures;
	return 0;
}

/* The candidates that policies make, in blocks; the best of them is chosen, or
 * the first when the budget ends before. */
static int place_all(struct judge *j, int n, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	int best = 0;

	for (int i = 0; i < n; i++) {
		/* The first candidate is placed whatever the budget. */
		if (i > 0 && no_budget(j))
			return 0;
		if (place(j, i, err))
			return -1;
		if (i == 0 && out->candidate[0].policy->place && no_budget(j))
			return 0;
		if (evaluate(j, i, err))
			return -1;
	}
	for (int i = 1; i < n; i++) {
		struct cpl_figures f, best_f;

		figures_of(&c[i], &f);
		figures_of(&c[best], &best_f);
		if (comes_before(j, &c[i], &c[best], &f, &best_f))
			best = i;
	}
	out->best = best;
	choose(j, n, false);
	return 0;
}

/* Another mapper on node[], which it leaves as it is. */
static int map_by_name(struct judge *j, const int *node,
                       struct cpl_quick_layout *out, struct cpl_error *err)
{
	struct cpl_map_request map = j->map;
	struct cpl_map_result result;

	map.host = node;
	if (cpl_map(j->mapper, &map, &result, err))
		return -1;
	memcpy(out->node, node, (size_t)j->n * sizeof(int));
	out->of = out->own = result.rank_host;
	out->figures = (struct cpl_figures){result.after, result.sums_after};
	result.rank_host = NULL;
	cpl_map_result_free(&result);
	return 0;
}

static int map_candidate(struct judge *j, int i, struct cpl_error *err)
{
	struct cpl_candidate *c = &j->out->candidate[i];
	struct layout *l = &j->layout[i];

	free(l->mapped.own);
	l->mapped.own = NULL;
	if (is_quick(j) ? cpl_quick_map(&j->quick, l->node, l->looked,
	                                &l->mapped, &j->out->cut_short, err)
	                : map_by_name(j, l->node, &l->mapped, err))
		return -1;
	if (no_budget(j))
		return 0;
	c->is_mapped = true;
	c->mapped = l->mapped.figures;
	return judge_times(j, l->mapped.node, l->mapped.of, c, err);
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

/* The work of mapping one candidate. */
static long map_work(const struct judge *j)
{
	long flows = (long)j->quick.block.hosts->n_entries;
	long work = LOOKS * FLOW_WORK * flows + CPL_QUICK_WORK;

	if (!is_quick(j))
		work += 2 * (long)j->ranks * j->n +
		        FLOW_WORK * (long)j->req->comm->n_entries;
	return work;
}

/* Next by what is known: the best that is not mapped yet, ties to the first; -1:
 * none is left. */
static int next_best(const struct judge *j, int n, const bool *done)
{
	const struct cpl_candidate *c = j->out->candidate;
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!done[i] &&
		    (best < 0 ||
		     comes_before(j, &c[i], &c[best], &j->layout[i].promise,
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
		if (done[i] || (best >= 0 && c[i].broken > c[best].broken))
			continue;
		if (best < 0 || c[i].broken < c[best].broken ||
		    comes_before(j, &c[i], &c[best], &j->layout[i].promise,
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
	for (int i = 0; i < n; i++)
		if (is_baseline(&c[i]))
			done[list[m++] = i] = true;
	most = (int)((j->quick.small ? JUDGE_WORK_SMALL : JUDGE_WORK) / work) -
	       BASELINES;
	if (most < JUDGED_MIN)
		most = JUDGED_MIN;
	for (int i; most > 0 && (i = next_best(j, n, done)) >= 0; most--)
		done[list[m++] = i] = true;
	if (j->req->keep_whole) {
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
	long work = LOOKS * FLOW_WORK * (long)j->quick.block.hosts->n_entries;
	int m = j->quick.small ? n : list_best(j, n, work + 1, list);

	for (int k = 0; k < m && !no_budget(j); k++)
		if (look(j, j->quick.small ? k : list[k], err))
			return -1;
	return 0;
}

/* With their rank order. The best is chosen; when the budget ends before, what
 * was before stays. */
static int map_some(struct judge *j, int n, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct cpl_candidate *c = out->candidate;
	int *list = cpl_arena_take(&j->arena, n, sizeof(*list));
	int m = n, best = -1;

	if (!list)
		return cpl_fail_memory(err);
	if (is_quick(j) && look_at_some(j, n, list, err))
		return -1;
	for (int i = 0; i < n; i++)
		list[i] = i;
	/* What another mapper makes of one nobody can foresee. */
	if (is_quick(j) || !j->quick.small)
		m = list_best(j, n, map_work(j), list);
	if (j->arena.failed)
		return cpl_fail_memory(err);
	for (int k = 0; k < m && !out->cut_short; k++)
		if (map_candidate(j, list[k], err))
			return -1;
	if (out->cut_short)
		return 0;
	/* Ties go to the first of the candidates. */
	for (int i = 0; i < n; i++)
		if (c[i].is_mapped &&
		    (best < 0 ||
		     comes_before(j, &c[i], &c[best], &c[i].mapped,
		                  &c[best].mapped)))
			best = i;
	out->best = best;
	choose(j, n, true);
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
		free(host_of);
		free(rank_host);
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

/* Nodes and rank order of the chosen one. */
static int take(struct judge *j, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	const struct layout *l = &j->layout[out->chosen];
	bool mapped = out->candidate[out->chosen].is_mapped;

	memcpy(out->node, mapped ? l->mapped.node : l->node,
	       (size_t)j->n * sizeof(int));
	free(out->rank_host);
	out->rank_host = NULL;
	out->mapped = mapped && !j->proxy;
	return out->mapped && l->mapped.of
	               ? number_hosts(j, l->mapped.of, out->node, err)
	               : 0;
}

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
	        .hosts = groups->hosts,
	        .background = req->background,
	        .rates = req->rates,
	        .objective = req->objective,
	        .seed = req->place.seed,
	        .free = req->place.free,
	        .required = req->place.required,
	        .n_required = req->place.n_required,
	        .work = SEARCH_WORK,
	        .moves = j->quick.watches ? &j->quick.moves : NULL,
	        .expired = req->expired,
	        .expired_arg = req->expired_arg,
	};

	if (req->keep_whole && bound_search(j, from->node, &how, err))
		return -1;
	memcpy(node, j->mapper ? from->mapped.node : from->node,
	       (size_t)j->n * sizeof(int));
	return cpl_host_search(&how, node, &j->out->cut_short, err);
}

/* The rank order on the nodes found: a mapper that was asked for by name has the
 * last word. *known: there is one. */
static int order_found(struct judge *j, const struct layout *from,
                       const struct cpl_rank_groups *groups, struct layout *l,
                       bool *known, struct cpl_error *err)
{
	struct cpl_quick_layout *mapped = &l->mapped;

	*known = false;
	if (!is_quick(j)) {
		/* Where a mapper is cut nobody knows. */
		if (!no_budget(j) && map_by_name(j, l->node, mapped, err))
			return -1;
		*known = !no_budget(j);
		return 0;
	}
	*known = true;
	mapped->of = from->mapped.of;
	memcpy(mapped->node, l->node, (size_t)j->n * sizeof(int));
	return cpl_evaluate(&j->quick.ev, groups->hosts, l->node,
	                    &mapped->figures, err);
}

/* Candidate i from the one chosen on. */
static int search(struct judge *j, int i, struct cpl_error *err)
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
	else if (cpl_rank_groups_given(&given, j->req->comm, from->mapped.of,
	                               j->n, err))
		goto out;
	if (search_from(j, from, groups, l->node, err) ||
	    cpl_evaluate(&j->quick.ev, j->quick.block.hosts, l->node, &now,
	                 err))
		goto out;
	c->metrics = now.metrics;
	c->sums = now.sums;
	c->evaluated = true;
	count_broken(j, i);
	if (j->mapper && order_found(j, from, groups, l, &c->is_mapped, err))
		goto out;
	c->mapped = l->mapped.figures;
	rc = 0;
	if (j->mapper && !c->is_mapped)
		goto out;
	rc = judge_times(j, l->node, c->is_mapped ? l->mapped.of : NULL, c,
	                 err);
	cpl_candidate_figures(&out->candidate[out->best], &then);
	cpl_candidate_figures(c, &now);
	if (!rc && comes_before(j, c, &out->candidate[out->best], &now, &then))
		out->best = i;
	choose(j, i + 1, c->is_mapped);
out:
	cpl_rank_groups_free(&given);
	return rc;
}

static int judge(struct judge *j, struct cpl_error *err)
{
	struct cpl_decision *out = j->out;
	int n = out->n_candidates;
	bool searches =
	        out->candidate[n - 1].policy == &cpl_placement_traffic;

	n -= searches;
	if (place_all(j, n, err) || take(j, err))
		return -1;
	if (j->mapper && !out->cut_short &&
	    (map_some(j, n, err) || (!out->cut_short && take(j, err))))
		return -1;
	if (searches && !out->cut_short && (search(j, n, err) || take(j, err)))
		return -1;
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

	if (req->mapper != &cpl_mapper_linear && out->n_nodes > 1)
		j.mapper = req->mapper;
	j.proxy = j.mapper && !is_quick(&j) &&
	          (j.mapper->endless || (long)j.ranks * j.n > NAMED_MAX);
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
