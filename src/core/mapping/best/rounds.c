/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "mapping/best/chain.h"

/* Evaluations per rank of the first round, and the most of a chain: beyond
 * that, more chains do more than longer ones. */
#define FIRST 32
#define LONGEST 16384
/* Rounds of few chains that come before those of all. */
#define SHORT_ROUNDS 3
#define FEW 2
/* With a known time, rounds of fewer evaluations for each rank are of one chain, which
 * does not forget what it starts from. */
#define BRIEF 1024
/* Jobs of more ranks need long chains, so they always have few. */
#define MANY_RANKS 1024
/* A round is so many times as long as the one before. */
#define GROWTH 3
/* Maps of bits are looked for before these rounds. */
#define BITS_ROUND 2
#define BITS_ROUND_AGAIN 6
/* With a known time, which may be over by then, they come first of all, with so
 * many evaluations for each rank. */
#define BITS_FIRST 384
/* Images are looked at before every second round from this one on. */
#define IMAGES_ROUND 4
/* The share of the work that goes to links: where they are the objective, and
 * where they come second. */
#define LINKS 0.4
#define LINKS_SECOND 0.15
/* The same where bundles stand for links, since their evaluations tell more. */
#define LINKS_ALIKE 0.7
/* One part in so many of the rest goes to whole hosts, before single ranks. */
#define NODES 2
/* Temperatures at the start; hot searches forget what they start from. */
#define HEAT 2.0
#define WARM 0.3
#define HEAT_BRIEF 0.25
#define COOL 0.1
/* With a known time, a round is stretched to this share of what is left when
 * the next one would not fit. */
#define FILL 0.9
#define SAME 1e-9

bool cpl_best_perfect(const struct cpl_best *b)
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

/* Exchanges hosts of the base as a whole and leaves the layout in trial. */
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
	cpl_best_keep(b, &chain->base, &moved, true);
	return 0;
}

/* Does a chain's part of a round and leaves its last layout in trial. */
static int run_round(struct cpl_best_chain *chain)
{
	const struct cpl_best *b = chain->best;
	const struct cpl_map_request *req = b->req;
	size_t bytes = (size_t)req->comm->ranks * sizeof(int);
	bool max = cpl_objective_by_max(req->objective);
	bool alike = b->tables.bundles.n_links > 0;
	double share = alike ? LINKS_ALIKE : max ? LINKS : LINKS_SECOND;
	int64_t links = (int64_t)(share * (double)chain->size);
	int64_t rest = chain->size - links;
	double heat = b->single ? chain->hot ? chain->heat : WARM : COOL;

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
	if ((alike ? cpl_map_refine_bundles : cpl_map_refine_links)(
	            req, &b->tables, chain->link_heat, links, chain->seed + 2,
	            chain->trial, &chain->err))
		return -1;
	cpl_best_consider(chain);
	return 0;
}

/* The evaluations of each chain in the next round: more than in the last, which
 * took `took` seconds, or all that is left when the round after would be small
 * or too late. */
static int64_t next_size(const struct cpl_best *b, int64_t last, int64_t left,
                         int chains, double took, double until)
{
	int64_t size =
	        last ? GROWTH * last : FIRST * (int64_t)b->req->comm->ranks;
	int64_t longest = LONGEST * (int64_t)b->req->comm->ranks;

	if (until > 0 && last > 0 && took > 0) {
		double rest = until - cpl_clock();

		if (5 * took > rest)
			size = (int64_t)((double)last * FILL * rest / took);
	}
	if (size > longest)
		size = longest;
	if (2 * size > left / chains)
		size = left / chains;
	return size > longest ? longest : size;
}

/* The chains of the round after one of `last` evaluations. */
static int n_chains(const struct cpl_best *b, int round, int64_t last)
{
	int64_t ranks = b->req->comm->ranks;

	if (b->req->seconds > 0 && GROWTH * last < BRIEF * ranks)
		return 1;
	return ranks > MANY_RANKS || round < SHORT_ROUNDS ? FEW
	                                                  : CPL_BEST_CHAINS;
}

/* Does what comes between rounds, with about `size` evaluations. */
static int between(struct cpl_best *b, struct cpl_best_chain *chain, int round,
                   int64_t size, int64_t *left, struct cpl_error *err)
{
	if (!round && b->req->seconds > 0)
		size = BITS_FIRST * (int64_t)b->req->comm->ranks;
	if (size > 0 &&
	    (!round || round == BITS_ROUND || round == BITS_ROUND_AGAIN)) {
		chain->size = size < *left / 4 ? size : *left / 4;
		*left -= chain->size;
		if (cpl_best_run_start(b, chain, cpl_best_start_bits, err))
			return -1;
	}
	if (round >= IMAGES_ROUND && round % 2 == 0)
		return cpl_best_run_start(b, chain, cpl_best_start_symmetry,
		                          err);
	return 0;
}

int cpl_best_rounds(struct cpl_best *b, struct cpl_best_chain *chain,
                    double until, struct cpl_error *err)
{
	static const double link_heat[CPL_BEST_CHAINS] = {0.5, 0.5, 4, 32};
	int64_t left = b->req->work, size = 0;
	double took = 0; /* by each chain */
	int n;

	for (int i = 0; left > 0; i++) {
		double start;

		if (cpl_map_expired(b->req) || cpl_best_perfect(b))
			return 0;
		if (between(b, chain, i, 4 * size, &left, err))
			return -1;
		n = n_chains(b, i, size);
		size = next_size(b, size, left, n, took * n, until);
		if (size < 1)
			return 0;
		start = cpl_clock();
		for (int c = 0; c < n; c++) {
			chain[c].run = run_round;
			chain[c].size = size;
			/* Hosts as a whole are soon where they belong. */
			chain[c].hot = c % 2 == 0 &&
			               (n > 1 || b->single || !i);
			chain[c].heat = n > 1 ? HEAT : HEAT_BRIEF;
			chain[c].link_heat = link_heat[c];
			chain[c].from_answer = c % 2 && i >= SHORT_ROUNDS;
			chain[c].seed = b->req->seed + (uint64_t)i * 100 +
			                (uint64_t)c * 10;
		}
		if (cpl_best_run_all(b, chain, n, err))
			return -1;
		left -= size * n;
		took = (cpl_clock() - start) / n;
	}
	return 0;
}

