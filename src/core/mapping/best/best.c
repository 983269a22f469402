/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "mapping/best/chain.h"

/* Without a work limit so many edges are looked at, in some seconds. */
#define EDGES 150000000
/* Bundles are made where the paths between all routers of a job have no more
 * links, in some tenths of a second; where the time is known, for each second
 * of it. */
#define WAYS (4 << 20)
#define WAYS_A_SECOND 1e6
/* The share of a known time for bisections: where ranks share hosts or the network
 * is a tree, elsewhere, and where the ranks are a grid that has been laid. */
#define BISECTION 0.5
#define BISECTION_FLAT 0.2
#define BISECTION_GRID 0.25
/* So many threes of hosts tell a tree. */
#define THREES 256

static int start_linear(struct cpl_best_chain *chain)
{
	if (cpl_mapper_map(&cpl_mapper_linear, chain->best->req, chain->trial,
	                   &chain->err))
		return -1;
	cpl_best_consider(chain);
	return chain->failed ? -1 : 0;
}

/* Many allocations are made for block order by switches, so where that is
 * better than the default order, no answer is worse than it. */
static int start_switches(struct cpl_best *b, struct cpl_best_chain *chain)
{
	struct cpl_best_layout trial = {.rank_host = chain->trial, .any = true};
	int moved = cpl_map_switch_order(b->req, chain->trial, &chain->err);

	if (moved <= 0)
		return moved;
	cpl_best_evaluate(chain, &trial.metrics, &trial.hop_bytes);
	if (cpl_objective_better(b->req->objective, &trial.metrics,
	                         trial.hop_bytes, &b->first,
	                         b->first_hop_bytes)) {
		b->first = trial.metrics;
		b->first_hop_bytes = trial.hop_bytes;
		b->answer.any = false;
	}
	cpl_best_keep(b, &b->low, &trial, true);
	cpl_best_keep(b, &b->answer, &trial, false);
	return chain->failed ? -1 : 0;
}

/* Makes bundles where links come first and bundles are far fewer than links. */
static int make_bundles(struct cpl_best *b, struct cpl_error *err)
{
	struct cpl_bundles *bundles = &b->tables.bundles;
	double seconds = b->req->seconds, most = WAYS;

	if (seconds > 0 && WAYS_A_SECOND * seconds < most)
		most = WAYS_A_SECOND * seconds;
	b->tables.busiest = b->busiest;
	if (!cpl_objective_by_max(b->req->objective))
		return 0;
	if (cpl_bundles_init(bundles, b->req, (int64_t)most, err) < 0)
		return -1;
	if (2 * bundles->n_parts > bundles->path_links)
		cpl_bundles_free(bundles);
	return 0;
}

bool cpl_map_hops_of_tree(const struct cpl_map_request *req)
{
	const struct cpl_network *net = req->net;

	for (uint64_t i = 0; i < THREES; i++) {
		int at[3];
		double hops[3];

		for (uint64_t k = 0; k < 3; k++)
			at[k] = cpl_network_station(
			        net, req->host[cpl_random_below(
			                     req->seed, CPL_STREAM_BEST_THREES, 3 * i + k,
			                     (uint64_t)req->n_hosts)]);
		for (int k = 0; k < 3; k++)
			hops[k] = cpl_station_hops(net, req->routing, at[k],
			                           at[(k + 1) % 3]);
		for (int k = 0; k < 3; k++)
			if (hops[k] > fmax(hops[(k + 1) % 3], hops[(k + 2) % 3]))
				return false;
	}
	return true;
}

/* The runs of each bisection that there is time for, or 0. */
static int bisection_runs(const struct cpl_best *b)
{
	double ns = cpl_best_gather_cost(b->req) / CPL_GRAPH_BISECT_RUNS;
	double share = BISECTION, runs;

	if (b->req->seconds <= 0)
		return CPL_GRAPH_BISECT_RUNS;
	if (b->low.hop_bytes < b->first_hop_bytes)
		share = BISECTION_GRID;
	else if (b->single && !b->tree)
		share = BISECTION_FLAT;
	runs = share * b->req->seconds * 1e9 / ns;
	return runs < CPL_GRAPH_BISECT_RUNS ? (int)runs : CPL_GRAPH_BISECT_RUNS;
}

/* Ranks that a start put on one host are a group where that cuts less. */
static void take_groups(struct cpl_best *b)
{
	const struct cpl_comm *graph = b->req->graph;

	if (!b->kind && !b->single &&
	    cpl_graph_cut(graph, b->low.rank_host) <
	            cpl_graph_cut(graph, b->groups))
		memcpy(b->groups, b->low.rank_host,
		       (size_t)graph->ranks * sizeof(*b->groups));
}

static int starts(struct cpl_best *b, struct cpl_best_chain *chain,
                  struct cpl_error *err)
{
	chain->low.any = chain->answer.any = false;
	if (start_linear(chain)) {
		if (err)
			*err = chain->err;
		return -1;
	}
	b->first = chain->low.metrics;
	b->first_hop_bytes = chain->low.hop_bytes;
	cpl_best_keep(b, &b->low, &chain->low, true);
	cpl_best_keep(b, &b->answer, &chain->answer, false);
	if (start_switches(b, chain)) {
		if (err)
			*err = chain->err;
		return -1;
	}
	b->busiest = b->first.max_congestion > b->first.max_injection
	                     ? b->first.max_congestion
	                     : b->first.max_injection;
	if (cpl_best_run_start(b, chain, cpl_best_start_grid, err) ||
	    cpl_best_run_start(b, chain, cpl_best_start_pack, err))
		return -1;
	if (cpl_best_perfect(b) || cpl_map_expired(b->req))
		return 0;
	take_groups(b);
	b->tree = cpl_map_hops_of_tree(b->req);
	b->bisections = bisection_runs(b);
	/* The quick one is first, since time may be over before the next; in a tree,
	 * halves of little time do without it. */
	if (((b->req->seconds <= 0 || !b->bisections || !b->tree) &&
	     cpl_best_run_start(b, chain, cpl_best_start_greedy, err)) ||
	    (b->bisections &&
	     cpl_best_run_start(b, chain, cpl_best_start_bisection, err)))
		return -1;
	if (cpl_map_expired(b->req))
		return 0;
	b->grouped = !b->single && !b->kind;
	if (cpl_tables_init(&b->tables, b->req, err) || make_bundles(b, err))
		return -1;
	b->searchable = true;
	return cpl_best_run_start(b, chain, cpl_best_start_nodes, err);
}

/* Runs the mappers in turn, several of them side by side. */
static int run_mappers(struct cpl_best *b, struct cpl_best_chain *chain,
                       struct cpl_error *err)
{
	struct cpl_best_mappers mappers;
	int rc = cpl_best_choose_mappers(b, &mappers, err);

	for (int at = 0; !rc && at < mappers.n && !cpl_map_expired(b->req);) {
		int n = 0;

		for (; n < CPL_BEST_CHAINS && at < mappers.n; n++) {
			chain[n].run = cpl_best_start_mapper;
			chain[n].mapper = &mappers.mapper[at++];
		}
		rc = cpl_best_run_all(b, chain, n, err);
	}
	cpl_best_mappers_free(&mappers);
	return rc;
}

static int64_t default_work(const struct cpl_comm *graph)
{
	/* The 4 stands for what a swap costs even where nobody talks. */
	return (int64_t)(EDGES / (4 + (double)graph->n_entries / graph->ranks));
}

static int init_chain(struct cpl_best_chain *chain, const struct cpl_best *b,
                      struct cpl_arena *arena, struct cpl_error *err)
{
	int ranks = b->req->comm->ranks;

	*chain = (struct cpl_best_chain){
	        .best = b,
	        .groups = b->groups,
	        .trial = cpl_arena_take(arena, ranks, sizeof(int)),
	        .layout = cpl_arena_take(arena, b->req->n_hosts, sizeof(int)),
	        .low.rank_host = cpl_arena_take(arena, ranks, sizeof(int)),
	        .answer.rank_host = cpl_arena_take(arena, ranks, sizeof(int)),
	        .base.rank_host = cpl_arena_take(arena, ranks, sizeof(int)),
	        .evaluation = cpl_workload_new(b->req->net, 1, err),
	};
	return chain->evaluation && !arena->failed ? 0 : -1;
}

/* Searches on hosts that all have slots, and leaves the answer in b->answer. */
static int search(struct cpl_best *b, struct cpl_arena *arena,
                  struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	int ranks = req->comm->ranks, rc = -1;
	struct cpl_best_chain chain[CPL_BEST_CHAINS] = {0};
	double until = req->seconds > 0 ? cpl_clock() + req->seconds : 0;

	b->single = true;
	for (int h = 0; h < req->n_hosts; h++) {
		b->single = b->single && req->slots[h] == 1;
		if (req->slots[h] != req->slots[0])
			b->kind = req->slots;
	}
	b->groups = cpl_arena_take(arena, ranks, sizeof(int));
	b->low.rank_host = cpl_arena_take(arena, ranks, sizeof(int));
	b->answer.rank_host = cpl_arena_take(arena, ranks, sizeof(int));
	b->base.rank_host = cpl_arena_take(arena, ranks, sizeof(int));
	if (arena->failed)
		return -1;
	for (int r = 0; r < ranks; r++)
		b->groups[r] = r / req->slots[0];
	for (int i = 0; i < CPL_BEST_CHAINS; i++)
		if (init_chain(&chain[i], b, arena, err))
			goto out;
	rc = starts(b, chain, err);
	if (!rc && b->searchable && !cpl_map_expired(req) &&
	    !cpl_best_perfect(b))
		rc = run_mappers(b, chain, err);
	cpl_best_keep(b, &b->base, &b->low, true);
	if (!rc && b->searchable)
		rc = cpl_best_rounds(b, chain, until, err);
out:
	for (int i = 0; i < CPL_BEST_CHAINS; i++)
		cpl_workload_free(chain[i].evaluation);
	cpl_tables_free(&b->tables);
	return rc;
}

static int map(const struct cpl_map_request *req, int *rank_host,
               struct cpl_error *err)
{
	struct cpl_map_request used = *req;
	struct cpl_best b = {.req = &used};
	struct cpl_arena arena = {0};
	int *index = cpl_arena_take(&arena, req->n_hosts, sizeof(*index));
	int *host = cpl_arena_take(&arena, req->n_hosts, sizeof(*host));
	int *slots = cpl_arena_take(&arena, req->n_hosts, sizeof(*slots));
	int rc = -1;

	used.n_hosts = 0;
	for (int h = 0; h < req->n_hosts && !arena.failed; h++) {
		if (!req->slots[h])
			continue;
		host[used.n_hosts] = req->host[h];
		slots[used.n_hosts] = req->slots[h];
		index[used.n_hosts++] = h;
	}
	used.host = host;
	used.slots = slots;
	if (used.work <= 0)
		used.work = default_work(req->graph);
	if (!arena.failed)
		rc = search(&b, &arena, err);
	for (int r = 0; !rc && r < req->comm->ranks; r++)
		rank_host[r] = index[b.answer.rank_host[r]];
	return cpl_arena_end(&arena, rc, err);
}

const struct cpl_mapper cpl_mapper_best = {
        .name = "best",
        .summary = "several starts, annealing, then swaps on real link loads",
        .endless = true,
        .map = map,
};
