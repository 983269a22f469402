/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of training a transformer on a grid of tensor, context, data (with expert
 * parallelism inside) and pipeline parallel ranks, in the order of Megatron-LM:
 * tensor the fastest, then context, data, pipeline. What is called is in
 * llm_calls.c, and which ranks that is and what they send in grid.h.
 */
#include "signature/pattern/pattern.h"

#include <string.h>

#include "base/json.h"
#include "signature/signature_internal.h"

static const char *const keys[] = {"type",
                                   "tp",
                                   "cp",
                                   "dp",
                                   "pp",
                                   "ep",
                                   "layers",
                                   "hidden",
                                   "sequence",
                                   "micro_batch",
                                   "micro_batches",
                                   "vocabulary",
                                   "element_bytes",
                                   "gradient_bytes",
                                   "sequence_parallel",
                                   "chunks",
                                   "experts",
                                   "top_k",
                                   "attention_hidden",
                                   "kv_hidden",
                                   "feed_forward",
                                   "expert_feed_forward",
                                   "shared_experts",
                                   "capacity_factor",
                                   "gated",
                                   "bias",
                                   "norm_bias",
                                   "positions",
                                   "tied",
                                   "zero",
                                   "shard",
                                   "prefetch",
                                   "reshard",
                                   "recompute",
                                   "gradients",
                                   "context",
                                   "complete",
                                   NULL};

static int take_grid(const json_t *params, struct pattern *p,
                     struct cpl_error *err)
{
	struct train_grid *g = &p->llm.grid;
	const int most = CPL_SIGNATURE_MAX_RANKS;
	int64_t ranks;

	g->tp = g->cp = g->dp = g->pp = g->ep = 1;
	if (cpl_json_take_int(params, "tp", 1, most, &g->tp, err) ||
	    cpl_json_take_int(params, "cp", 1, most, &g->cp, err) ||
	    cpl_json_take_int(params, "dp", 1, most, &g->dp, err) ||
	    cpl_json_take_int(params, "pp", 1, most, &g->pp, err) ||
	    cpl_json_take_int(params, "ep", 1, PATTERN_MAX_DEGREE, &g->ep, err))
		return -1;
	ranks = (int64_t)g->tp * g->dp;
	if (ranks > most || ranks * g->pp > most ||
	    ranks * g->pp * g->cp > most)
		return cpl_fail(err,
		                "\"tp\" times %s\"dp\" times \"pp\" is more "
		                "than %d ranks",
		                g->cp > 1 ? "\"cp\" times " : "", most);
	if (g->cp == 1 && g->dp % g->ep)
		return cpl_fail(err,
		                "\"ep\" is %d; experts are spread inside of "
		                "\"dp\", which is %d and no multiple of it",
		                g->ep, g->dp);
	if (g->cp * g->dp % g->ep)
		return cpl_fail(err,
		                "\"ep\" is %d; experts are spread inside of "
		                "\"cp\" times \"dp\", which is %d and no "
		                "multiple of it",
		                g->ep, g->cp * g->dp);
	p->ranks = (int)(ranks * g->pp * g->cp);
	g->shard = g->cp * g->dp;
	if (cpl_json_take_int(params, "shard", 1, most, &g->shard, err))
		return -1;
	if (g->cp * g->dp % g->shard)
		return cpl_fail(err,
		                "\"shard\" is %d, which does not divide \"cp\" "
		                "times \"dp\", %d",
		                g->shard, g->cp * g->dp);
	return 0;
}

static int check_sizes(const struct train_grid *g, const struct llm_sizes *s,
                       struct cpl_error *err)
{
	if (s->layers % g->pp)
		return cpl_fail(err,
		                "\"layers\" is %d, no multiple of \"pp\", %d",
		                s->layers, g->pp);
	if (g->ep > 1 && (s->experts < g->ep || s->experts % g->ep))
		return cpl_fail(err,
		                "\"experts\" is %d, no multiple of \"ep\", %d",
		                s->experts, g->ep);
	if (s->experts && s->top_k > s->experts)
		return cpl_fail(err, "\"top_k\" is %d, of %d \"experts\"",
		                s->top_k, s->experts);
	if (s->layers / g->pp % s->chunks)
		return cpl_fail(err,
		                "\"chunks\" is %d; the %d layers of a stage "
		                "are no multiple",
		                s->chunks, s->layers / g->pp);
	if (s->sequence % g->cp)
		return cpl_fail(err,
		                "\"sequence\" is %d, no multiple of \"cp\", %d",
		                s->sequence, g->cp);
	return 0;
}

static int take_sizes(const json_t *params, struct llm_sizes *s,
                      struct cpl_error *err)
{
	const int most = 1000000;
	const struct {
		const char *key;
		int low, high, *out;
	} table[] = {
	        {"layers", 1, most, &s->layers},
	        {"hidden", 1, 10 * most, &s->hidden},
	        {"sequence", 1, 1 << 30, &s->sequence},
	        {"micro_batch", 1, most, &s->micro_batch},
	        {"micro_batches", 1, most, &s->micro_batches},
	        {"vocabulary", 0, 1 << 30, &s->vocabulary},
	        {"element_bytes", 1, 8, &s->element},
	        {"gradient_bytes", 1, 8, &s->gradient},
	        {"experts", 0, most, &s->experts},
	        {"top_k", 1, most, &s->top_k},
	        {"chunks", 1, most, &s->chunks},
	        {"attention_hidden", 1, 10 * most, &s->attention_hidden},
	        {"kv_hidden", 1, 10 * most, &s->kv_hidden},
	        {"feed_forward", 1, 100 * most, &s->feed_forward},
	        {"expert_feed_forward", 1, 100 * most,
	         &s->expert_feed_forward},
	        {"shared_experts", 0, most, &s->shared_experts},
	        {"zero", 0, 3, &s->zero},
	        {"prefetch", 1, most, &s->prefetch},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (cpl_json_take_int(params, table[i].key, table[i].low,
		                      table[i].high, table[i].out, err))
			return -1;
		/* What others are by default is read before them. */
		if (table[i].out == &s->hidden) {
			s->attention_hidden = s->hidden;
			s->kv_hidden = s->hidden;
			s->feed_forward = 4 * s->hidden;
		} else if (table[i].out == &s->element) {
			s->gradient = s->element;
		} else if (table[i].out == &s->feed_forward) {
			s->expert_feed_forward = s->feed_forward;
		}
	}
	return 0;
}

/* This sets *out to the number of the word that the key has, if it is there. */
static int take_word(const json_t *params, const char *key,
                     const char *const *word, int n, int *out,
                     struct cpl_error *err)
{
	const char *text;
	int rc = cpl_json_string(params, key, &text, err);

	if (rc <= 0)
		return rc;
	for (int i = 0; i < n; i++)
		if (!strcmp(text, word[i])) {
			*out = i;
			return 0;
		}
	return cpl_fail(err, "\"%s\" is \"%.40s\"; it must be %s, or %s%s%s",
	                key, text, word[0], word[1], n > 2 ? ", or " : "",
	                n > 2 ? word[2] : "");
}

static int take_choices(const json_t *params, struct llm_sizes *s,
                        struct cpl_error *err)
{
	static const char *const context[] = {"ring", "all-gather",
	                                      "all-to-all"};
	static const char *const gradients[] = {"reduce-scatter", "all-reduce"};
	int way = LLM_RING, sum = 0;

	if (cpl_json_bool(params, "sequence_parallel", &s->sequence_parallel,
	                  err) < 0 ||
	    cpl_json_bool(params, "gated", &s->gated, err) < 0 ||
	    cpl_json_bool(params, "bias", &s->bias, err) < 0 ||
	    cpl_json_bool(params, "norm_bias", &s->norm_bias, err) < 0 ||
	    cpl_json_bool(params, "positions", &s->positions, err) < 0 ||
	    cpl_json_bool(params, "tied", &s->tied, err) < 0 ||
	    cpl_json_bool(params, "reshard", &s->reshard, err) < 0 ||
	    cpl_json_bool(params, "recompute", &s->recompute, err) < 0 ||
	    cpl_json_bool(params, "complete", &s->complete, err) < 0 ||
	    cpl_json_number(params, "capacity_factor", 0, 1e6,
	                    &s->capacity_factor, err) < 0 ||
	    take_word(params, "context", context, 3, &way, err) ||
	    take_word(params, "gradients", gradients, 2, &sum, err))
		return -1;
	s->context = (enum llm_context)way;
	s->sum_gradients = sum;
	return 0;
}

/* What the busiest rank may send at the most. */
static int check_amounts(const struct pattern_llm *m, struct cpl_error *err)
{
	double sum = 0;

	for (int i = 0; i < m->n_calls; i++)
		sum += m->call[i].call.repeat * m->call[i].call.bytes;
	if (!(sum <= SIGNATURE_MAX_AMOUNT / 4))
		return cpl_fail(err, "a rank sends more than 1e18 bytes");
	return 0;
}

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	struct llm_sizes s = {.micro_batch = 1,
	                      .micro_batches = 1,
	                      .element = 2,
	                      .top_k = 2,
	                      .chunks = 1,
	                      .prefetch = 1,
	                      .bias = true,
	                      .norm_bias = true,
	                      .positions = true,
	                      .tied = true,
	                      .reshard = true};
	struct pattern_llm *m = &p->llm;

	if (take_grid(params, p, err) || take_sizes(params, &s, err) ||
	    take_choices(params, &s, err) || check_sizes(&m->grid, &s, err))
		return -1;
	pattern_llm_calls(m, &s);
	if (check_amounts(m, err))
		return -1;
	/* These are rings of tensor, data and experts, the stages before and
	 * behind, and the other end of the embedding; with others the rings of
	 * context, shards and replicas. */
	p->max_degree = 6 + (m->grid.ep - 1);
	if (m->grid.cp > 1)
		p->max_degree += 1;
	if (m->grid.cp > 1 && s.context == LLM_ALL_TO_ALL)
		p->max_degree += m->grid.cp - 1;
	if (m->grid.shard != m->grid.cp * m->grid.dp)
		p->max_degree += 2;
	return 0;
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	const struct pattern_llm *m = &p->llm;
	unsigned stage = pattern_llm_stage(&m->grid, rank);
	int64_t n = 0;

	for (int i = 0; i < m->n_calls; i++)
		if (m->call[i].stages & stage)
			n = grid_put(&m->call[i].call, rank, out, n);
	return n;
}

static struct cpl_rank_dim dim_of(const struct train_grid *g, const char *name,
                                  enum grid_kind kind)
{
	struct grid_group group = grid_group(g, kind);

	return (struct cpl_rank_dim){name, group.stride, group.size};
}

/* Those with the same parameters are one group, dp. Experts that are spread over
 * parts of context groups are no dimension of the others' grid. */
static void groups(const struct pattern *p, struct cpl_rank_grid *out)
{
	const struct train_grid *g = &p->llm.grid;
	bool apart = g->ep % g->cp && g->cp % g->ep;

	*out = (struct cpl_rank_grid){
	        .ranks = p->ranks,
	        .n = 5,
	        .dim = {dim_of(g, "tp", GRID_TP), dim_of(g, "cp", GRID_CP),
	                dim_of(g, "ep", GRID_EP), dim_of(g, "dp", GRID_DP_CP),
	                dim_of(g, "pp", GRID_PP)},
	};
	if (apart)
		out->dim[2].length = 1;
}

const struct pattern_type pattern_llm = {
        .name = "llm",
        .summary = "a training step of a transformer on parallel grids",
        .keys = keys,
        .parse = parse,
        .row = row,
        .groups = groups,
};
