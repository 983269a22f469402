/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "mapping/best/chain.h"

#define MAX_BITS 24
/* An entry of the matrix takes this share of an evaluation's time, for
 * hop-bytes and by the traffic model. */
#define PRICE 0.1
#define PRICE_MODEL 1.0
/* A first layout worse than the best so far by this factor shows that ranks
 * have no order of this kind. */
#define PROMISING 1.25
#define GAIN 1e-9

struct bits {
	struct cpl_best_chain *chain;
	int n;                     /* 1 << n ranks */
	int slot_bits;             /* 1 << slot_bits ranks on a host */
	struct cpl_keyed *order;   /* [hosts] by node id */
	unsigned *position;        /* [ranks] */
	unsigned column[MAX_BITS]; /* position of rank 1 << i */
	int64_t left;              /* evaluations that may still be made */
	double hop_bytes;
	struct cpl_metrics metrics;
	bool by_model;
};

static int log2_of(int n)
{
	int bits = 0;

	while (1 << bits < n)
		bits++;
	return 1 << bits == n ? bits : -1;
}

/* Writes the layout of b->column into the chain's trial. */
static void lay_out(struct bits *b)
{
	int ranks = 1 << b->n;

	b->position[0] = 0;
	b->chain->trial[0] = b->order[0].item;
	for (int r = 1; r < ranks; r++) {
		b->position[r] = b->position[r & (r - 1)] ^
		                 b->column[__builtin_ctz((unsigned)r)];
		b->chain->trial[r] =
		        b->order[b->position[r] >> b->slot_bits].item;
	}
}

/* Takes b->column when it is better than the one last taken. */
static bool take_column(struct bits *b, bool always)
{
	const struct cpl_map_request *req = b->chain->best->req;
	struct cpl_metrics metrics;
	double hop_bytes;

	lay_out(b);
	b->left -= 1 + (int64_t)((double)req->graph->n_entries *
	                         (b->by_model ? PRICE_MODEL : PRICE));
	if (b->by_model) {
		cpl_best_evaluate(b->chain, &metrics, &hop_bytes);
		if (!always &&
		    !cpl_best_better(req->objective, &metrics, hop_bytes,
		                     &b->metrics, b->hop_bytes))
			return false;
		b->metrics = metrics;
	} else {
		hop_bytes = cpl_tables_hop_bytes(&b->chain->best->tables,
		                                 req->graph, b->chain->trial);
		if (!always && hop_bytes >= b->hop_bytes * (1 - GAIN))
			return false;
	}
	b->hop_bytes = hop_bytes;
	return true;
}

/* Makes one change of the matrix. False: this kind has none for i and j. */
static bool change(struct bits *b, int kind, int i, int j)
{
	unsigned at = b->column[i];

	if (i == j || (kind < 2 && i > j))
		return false;
	switch (kind) {
	case 0: /* exchange columns */
		b->column[i] = b->column[j];
		b->column[j] = at;
		return true;
	case 1: /* exchange rows */
		for (int c = 0; c < b->n; c++) {
			unsigned x = b->column[c];
			unsigned differ = (x >> i ^ x >> j) & 1;

			b->column[c] = x ^ (differ << i | differ << j);
		}
		return true;
	case 2: /* add column j to column i */
		b->column[i] ^= b->column[j];
		return true;
	default: /* add row j to row i */
		for (int c = 0; c < b->n; c++)
			b->column[c] ^= (b->column[c] >> j & 1) << i;
		return true;
	}
}

/* Makes changes until a whole round of them gains nothing. */
static void climb(struct bits *b)
{
	const struct cpl_map_request *req = b->chain->best->req;
	int moves = 4 * b->n * b->n, idle = 0;

	for (int m = 0; idle < moves && b->left > 0; m = (m + 1) % moves) {
		unsigned before[MAX_BITS];

		idle++;
		memcpy(before, b->column, sizeof(before));
		if (!change(b, m / (b->n * b->n), m / b->n % b->n, m % b->n))
			continue;
		if (cpl_map_expired(req)) {
			memcpy(b->column, before, sizeof(before));
			break;
		}
		if (take_column(b, false))
			idle = 0;
		else
			memcpy(b->column, before, sizeof(before));
	}
	lay_out(b);
	cpl_best_consider(b->chain);
}

static void identity(struct bits *b)
{
	for (int i = 0; i < b->n; i++)
		b->column[i] = 1u << i;
}

/* Takes the slots' bits, then in turn a bit of each coordinate, the lowest
 * first. False: the job is not a whole torus of powers of two. */
static bool morton(struct bits *b)
{
	const struct cpl_map_request *req = b->chain->best->req;
	const struct cpl_product *torus = &req->net->product;
	int n = b->slot_bits;

	if (!cpl_network_product(req->net) ||
	    req->n_hosts != req->net->n_nodes ||
	    !req->net->node_is_router)
		return false;
	identity(b);
	for (int bit = 0; n < b->n; bit++) {
		int first = b->slot_bits;

		for (int d = 0; d < torus->n_dims; d++) {
			int bits = log2_of(torus->dim[d]);

			if (bits < 0)
				return false;
			if (bit < bits)
				b->column[n++] = 1u << (first + bit);
			first += bits;
		}
	}
	return true;
}

static void search(struct bits *b)
{
	double limit = b->chain->low.hop_bytes * PROMISING;
	int64_t share = b->chain->size / 4;

	for (int start = 0; start < 2; start++) {
		unsigned first[MAX_BITS];

		if (start == 0)
			identity(b);
		else if (!morton(b))
			return;
		memcpy(first, b->column, sizeof(first));
		b->by_model = false;
		b->left = share;
		take_column(b, true);
		if (b->hop_bytes > limit)
			continue;
		climb(b);
		/* It climbs by the model, from here and from its start. */
		b->by_model = true;
		for (int from = 0; from < 2; from++) {
			if (from)
				memcpy(b->column, first, sizeof(first));
			b->left = share / 2;
			take_column(b, true);
			climb(b);
		}
	}
}

int cpl_best_start_bits(struct cpl_best_chain *chain)
{
	const struct cpl_map_request *req = chain->best->req;
	struct bits b = {
	        .chain = chain,
	        .n = log2_of(req->graph->ranks),
	        .slot_bits = log2_of(req->slots[0]),
	};
	struct cpl_arena arena = {0};

	if (b.n < 1 || b.n > MAX_BITS || b.slot_bits < 0 || chain->best->kind ||
	    !chain->best->searchable)
		return 0;
	b.order = cpl_arena_take(&arena, req->n_hosts, sizeof(*b.order));
	b.position = cpl_arena_take(&arena, 1 << b.n, sizeof(*b.position));
	if (!arena.failed) {
		for (int h = 0; h < req->n_hosts; h++)
			b.order[h] = (struct cpl_keyed){
			        (uint64_t)req->host[h], h};
		cpl_keyed_sort(b.order, req->n_hosts);
		search(&b);
	}
	return cpl_arena_end(&arena, 0, &chain->err);
}
