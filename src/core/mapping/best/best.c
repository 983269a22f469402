/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/parallel.h"
#include "mapping/best/chain.h"

/* Edges looked at without a work limit; some seconds. */
#define EDGES 150000000
/* Evaluations per rank of the first round, and of a chain at the most: above,
 * more chains do more than longer ones. */
#define FIRST 32
#define LONGEST 16384
/* Rounds of few chains before those of all. */
#define SHORT_ROUNDS 3
#define FEW 2
/* More ranks than this need long chains: there are always few. */
#define MANY_RANKS 1024
/* A round is that much longer than the one before. */
#define GROWTH 3
/* Maps of bits are looked for before these rounds. */
#define BITS_ROUND 2
#define BITS_ROUND_AGAIN 6
/* Images are looked at before every second round from this one on. */
#define IMAGES_ROUND 4
/* Share of the work that goes to the links: where they are the objective, and
 * where they come second. */
#define LINKS 0.3
#define LINKS_SECOND 0.15
/* Part of the rest for hosts as a whole, before single ranks. */
#define NODES 2
/* Temperatures at the start: hot searches forget what they start from. */
#define HEAT 2.0
#define WARM 0.3
#define COOL 0.1
/* With a known time: a round is stretched to this share of what is left when
 * the next would not fit. */
#define FILL 0.9
#define SAME 1e-9

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cpl_best_evaluate(struct cpl_best_chain *chain,
                       struct cpl_metrics *metrics, double *hop_bytes)
{
	const struct cpl_map_request *req = chain->best->req;
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = req->host,
	                      .rank_host = chain->trial};
	struct cpl_job_sums sums;

	if (!cpl_workload_evaluate(chain->evaluation, &job, req->background,
	                           metrics, &sums, &chain->err)) {
		*hop_bytes = sums.hop_bytes;
		return;
	}
	chain->failed = true;
	*metrics = (struct cpl_metrics){.max_congestion = INFINITY,
	                                .mean_congestion = INFINITY};
	*hop_bytes = INFINITY;
}

static bool better(const struct cpl_best *best, const struct cpl_best_layout *a,
                   const struct cpl_best_layout *b)
{
	enum cpl_objective objective = best->req->objective;

	if (cpl_objective_better(objective, &best->first, best->first_hop_bytes,
	                         &a->metrics, a->hop_bytes))
		return false;
	return cpl_best_better(objective, &a->metrics, a->hop_bytes,
	                       &b->metrics, b->hop_bytes);
}

/* Keep b in a when it is better, by hop-bytes or by the objective. */
static void keep(const struct cpl_best *best, struct cpl_best_layout *a,
                 const struct cpl_best_layout *b, bool low)
{
	const struct cpl_map_request *req = best->req;
	int *rank_host = a->rank_host;

	if (!b->any)
		return;
	if (a->any && (low ? b->hop_bytes >= a->hop_bytes * (1 - SAME)
	                   : !better(best, b, a)))
		return;
	memcpy(rank_host, b->rank_host,
	       (size_t)req->comm->ranks * sizeof(*rank_host));
	*a = *b;
	a->rank_host = rank_host;
}

void cpl_best_consider(struct cpl_best_chain *chain)
{
	struct cpl_best_layout trial = {.rank_host = chain->trial, .any = true};

	cpl_best_evaluate(chain, &trial.metrics, &trial.hop_bytes);
	keep(chain->best, &chain->low, &trial, true);
	keep(chain->best, &chain->answer, &trial, false);
}

/* Every message goes over one link: nothing is nearer. */
static bool perfect(const struct cpl_best *b)
{
	const struct cpl_comm *comm = b->req->comm;
	const struct cpl_best_layout *low = &b->low;
	double sum = 0;

	if (!b->req->net->node_is_router || !b->single)
		return low->hop_bytes <= 0;
	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (comm->to[e] != r)
				sum += comm->bytes[e];
	return low->hop_bytes <= sum * (1 + SAME);
}

/* Exchange hosts of the base as a whole; the layout is in trial. */
static int anneal_nodes(struct cpl_best_chain *chain, double heat, int64_t size)
{
	const struct cpl_best *b = chain->best;
	const int *from = chain->base.rank_host;
	struct cpl_best_layout moved = {.rank_host = chain->trial, .any = true};
	struct cpl_best_nodes nodes;
	int rc = cpl_best_nodes_init(&nodes, b->req, from, &chain->err);

	for (int h = 0; h < b->req->n_hosts; h++)
		chain->layout[h] = h;
	if (!rc)
		rc = cpl_map_anneal(&nodes.req, &b->tables, b->kind, heat, size,
		                    chain->seed, chain->layout, &chain->err);
	cpl_best_nodes_free(&nodes);
	if (rc)
		return -1;
	cpl_best_move_nodes(chain, from);
	cpl_best_evaluate(chain, &moved.metrics, &moved.hop_bytes);
	keep(b, &chain->base, &moved, true);
	return 0;
}

/* What a chain does in a round; its last layout is in trial. */
static int run_round(struct cpl_best_chain *chain)
{
	const struct cpl_best *b = chain->best;
	const struct cpl_map_request *req = b->req;
	size_t bytes = (size_t)req->comm->ranks * sizeof(int);
	bool max = cpl_objective_by_max(req->objective);
	int64_t links =
	        (int64_t)((max ? LINKS : LINKS_SECOND) * (double)chain->size);
	int64_t rest = chain->size - links;
	double heat = b->single ? chain->hot ? HEAT : WARM : COOL;

	memcpy(chain->trial, chain->low.rank_host, bytes);
	if (!b->single && chain->hot) {
		if (anneal_nodes(chain, HEAT, rest / NODES))
			return -1;
		rest -= rest / NODES;
	}
	if (cpl_map_anneal(req, &b->tables, NULL, heat, rest, chain->seed + 1,
	                   chain->trial, &chain->err))
		return -1;
	cpl_best_consider(chain);
	if (chain->from_answer)
		memcpy(chain->trial, chain->answer.rank_host, bytes);
	if (cpl_map_refine_links(req, &b->tables, chain->link_heat, links,
	                         chain->seed + 2, chain->trial, &chain->err))
		return -1;
	cpl_best_consider(chain);
	return 0;
}

static void run_one(void *arg, int64_t number, int thread)
{
	struct cpl_best_chain *chain = (struct cpl_best_chain *)arg + number;
	const struct cpl_best *b = chain->best;

	(void)thread;
	chain->rc = 0;
	chain->low.any = chain->answer.any = chain->base.any = false;
	keep(b, &chain->base, &b->base, true);
	keep(b, &chain->low, &b->low, true);
	keep(b, &chain->answer, &b->answer, false);
	if (!cpl_map_expired(b->req))
		chain->rc = chain->run(chain);
	if (chain->failed)
		chain->rc = -1;
}

/* n chains side by side; what they find is put together in their order. */
static int run_all(struct cpl_best *b, struct cpl_best_chain *chain, int n,
                   struct cpl_error *err)
{
	cpl_parallel(b->req->threads, n, run_one, chain);
	for (int i = 0; i < n; i++) {
		if (chain[i].rc) {
			if (err)
				*err = chain[i].err;
			return -1;
		}
		keep(b, &b->base, &chain[i].base, true);
		keep(b, &b->low, &chain[i].low, true);
		keep(b, &b->answer, &chain[i].answer, false);
	}
	return 0;
}

static int run_start(struct cpl_best *b, struct cpl_best_chain *chain,
                     int (*run)(struct cpl_best_chain *chain),
                     struct cpl_error *err)
{
	chain->run = run;
	return run_all(b, chain, 1, err);
}

static int start_linear(struct cpl_best_chain *chain)
{
	if (cpl_mapper_map(&cpl_mapper_linear, chain->best->req, chain->trial,
	                   &chain->err))
		return -1;
	cpl_best_consider(chain);
	return chain->failed ? -1 : 0;
}

/* Block order by switches, of which many allocations are made: where it is
 * better than the default order, no answer is worse than that. */
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
	keep(b, &b->low, &trial, true);
	keep(b, &b->answer, &trial, false);
	return chain->failed ? -1 : 0;
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
	keep(b, &b->low, &chain->low, true);
	keep(b, &b->answer, &chain->answer, false);
	if (start_switches(b, chain)) {
		if (err)
			*err = chain->err;
		return -1;
	}
	if (run_start(b, chain, cpl_best_start_grid, err))
		return -1;
	if (perfect(b) || cpl_map_expired(b->req))
		return 0;
	chain[0].run = cpl_best_start_bisection;
	chain[1].run = cpl_best_start_greedy;
	if (run_all(b, chain, 2, err))
		return -1;
	if (cpl_map_expired(b->req))
		return 0;
	b->grouped = !b->single && !b->kind;
	if (cpl_tables_init(&b->tables, b->req, err))
		return -1;
	b->searchable = true;
	return run_start(b, chain, cpl_best_start_nodes, err);
}

/* Mappers one after the other, several side by side. */
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
		rc = run_all(b, chain, n, err);
	}
	cpl_best_mappers_free(&mappers);
	return rc;
}

/*
 * Evaluations of each chain of the next round: more than in the last,
 * which took `took` seconds; or all that is left when the one after would be
 * small, or out of time.
 */
static int64_t next_size(const struct cpl_best *b, int64_t last, int64_t left,
                         int chains, double took, double until)
{
	int64_t size =
	        last ? GROWTH * last : FIRST * (int64_t)b->req->comm->ranks;
	int64_t longest = LONGEST * (int64_t)b->req->comm->ranks;

	if (until > 0 && last > 0 && took > 0) {
		double rest = until - now();

		if (5 * took > rest)
			size = (int64_t)((double)last * FILL * rest / took);
	}
	if (size > longest)
		size = longest;
	if (2 * size > left / chains)
		size = left / chains;
	return size > longest ? longest : size;
}

/* What stands between rounds, of about `size` evaluations. */
static int between(struct cpl_best *b, struct cpl_best_chain *chain, int round,
                   int64_t size, int64_t *left, struct cpl_error *err)
{
	if (round == BITS_ROUND || round == BITS_ROUND_AGAIN) {
		chain->size = size < *left / 4 ? size : *left / 4;
		*left -= chain->size;
		if (run_start(b, chain, cpl_best_start_bits, err))
			return -1;
	}
	if (round >= IMAGES_ROUND && round % 2 == 0)
		return run_start(b, chain, cpl_best_start_symmetry, err);
	return 0;
}

static int rounds(struct cpl_best *b, struct cpl_best_chain *chain,
                  double until, struct cpl_error *err)
{
	static const double link_heat[CPL_BEST_CHAINS] = {0.5, 0.5, 4, 32};
	bool few = b->req->comm->ranks > MANY_RANKS;
	int64_t left = b->req->work, size = 0;
	double took = 0;

	for (int i = 0; left > 0; i++) {
		int n = few || i < SHORT_ROUNDS ? FEW : CPL_BEST_CHAINS;
		double start;

		if (cpl_map_expired(b->req) || perfect(b))
			return 0;
		if (between(b, chain, i, 4 * size, &left, err))
			return -1;
		size = next_size(b, size, left, n, took, until);
		if (size < 1)
			return 0;
		start = now();
		for (int c = 0; c < n; c++) {
			chain[c].run = run_round;
			chain[c].size = size;
			chain[c].hot = c % 2 == 0;
			chain[c].link_heat = link_heat[c];
			chain[c].from_answer = c % 2 && i >= SHORT_ROUNDS;
			chain[c].seed = b->req->seed + (uint64_t)i * 100 +
			                (uint64_t)c * 10;
		}
		if (run_all(b, chain, n, err))
			return -1;
		left -= size * n;
		/* The first rounds have fewer chains. */
		took = now() - start;
		if (!few && i + 1 == SHORT_ROUNDS)
			took *= (double)CPL_BEST_CHAINS / FEW;
	}
	return 0;
}

static int64_t default_work(const struct cpl_comm *graph)
{
	/* Four more: a swap costs something even where nobody talks. */
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

/* Search on hosts all of which have slots; the answer is in b->answer. */
static int search(struct cpl_best *b, struct cpl_arena *arena,
                  struct cpl_error *err)
{
	const struct cpl_map_request *req = b->req;
	int ranks = req->comm->ranks, rc = -1;
	struct cpl_best_chain chain[CPL_BEST_CHAINS] = {0};
	double until = req->seconds > 0 ? now() + req->seconds : 0;

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
	if (!rc && b->searchable && !cpl_map_expired(req) && !perfect(b))
		rc = run_mappers(b, chain, err);
	keep(b, &b->base, &b->low, true);
	if (!rc && b->searchable)
		rc = rounds(b, chain, until, err);
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
