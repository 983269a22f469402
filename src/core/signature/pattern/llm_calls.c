/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ranks of a training step call, with h hidden, s sequence, b of a micro
 * batch, m micro batches a step, l layers, V vocabulary, the grid t, c, d, p, e, and w
 * bytes of an element. A rank's activations are those of T = b s / c tokens.
 *
 *   tensor    4 all-reduces of T h a layer and micro batch (Narayanan et al.
 *             2021, 3.2); sequence parallelism sends as much, as all-gathers
 *             and reduce-scatters, and with "complete" gathers the input of
 *             each block again (Korthikanti et al. 2022, 4.2.2)
 *   context   the keys and values of T tokens, 2 T k / t, go round c - 1 times forward
 *             and backward, and their gradients once (Liu, Zaharia, Abbeel 2023,
 *             "Ring Attention", 3); or are gathered twice, and their gradients
 *             reduce-scattered (Llama 3, 2024, 3.3.2); or queries, keys, values and
 *             outputs are exchanged, there and back (Jacobs et al. 2023, Ulysses, 3)
 *   pipeline  T h a micro batch to the next stage, and back (Narayanan, 3.2); a
 *             t-th of it where ranks have parts of the sequence; with v chunks of
 *             layers a rank, v times that, and round (2.2)
 *   data      an all-reduce of the gradients of the rank's parameters, 12 h h +
 *             13 h a layer, (V + s) h in the first stage (Narayanan, eq. 2),
 *             and V h in the last, whose copy of the embedding is added to
 *             that of the first
 *   ZeRO      instead, a reduce-scatter of the gradients and an all-gather of the
 *             parameters (1: once a step; 2: the former with each micro batch), or
 *             with each micro batch a reduce-scatter and an all-gather before each
 *             of forward and backward (3; Rajbhandari et al. 2020, 7; Zhao et al.
 *             2023, FSDP, 3.2); where shards are of fewer ranks than all, the same
 *             inside of these, and an all-reduce of each shard (FSDP, 3.2.2)
 *   expert    4 all-to-alls a layer and micro batch of k T h among e ranks
 *             (dispatch and combine, there and back: Lepikhin et al. 2020), of
 *             f k T h with a capacity factor of f (Fedus et al. 2021, 2.2); the
 *             weights of each expert are reduced among the c d / e ranks that have
 *             the same ones
 *
 * With "recompute" layers go forward once more before they go backward, with all that
 * they call there (Korthikanti, 5).
 *
 * With "complete" also what Narayanan et al. leave out, as Megatron Core does it:
 * the embedding's sum and the gradient of the logits' input, T h each a micro batch
 * (tensor_parallel/layers.py), 3 sums of T floats for the loss (cross_entropy.py), its
 * mean over data parallel ranks, what tensor ranks gather of tokens that have been
 * sent to experts and scatter afterwards (moe/token_dispatcher.py), blocks of shared
 * experts; and biases of rows, norms, positions and routers are whole in each tensor
 * rank.
 */
#include "signature/pattern/pattern.h"

enum llm_stage pattern_llm_stage(const struct train_grid *g, int rank)
{
	int stage = rank / (g->tp * g->cp * g->dp);

	if (g->pp == 1)
		return LLM_ONLY;
	if (stage == 0)
		return LLM_FIRST;
	return stage == g->pp - 1 ? LLM_LAST : LLM_MIDDLE;
}

/* These are of one rank, in bytes of one micro batch. */
struct llm_amounts {
	double activation, handed_on; /* of a layer; to the next stage */
	double layers, rounds; /* of a stage; times micro batches */
	double again; /* layers go forward so often more */
};

/* This adds a call of `bytes`, `times` a step. */
static void add_call(struct pattern_llm *m, unsigned stages,
                     enum grid_kind kind, enum grid_operation operation,
                     double bytes, double times)
{
	struct grid_group group = grid_group(&m->grid, kind);

	if (group.size == 1 || !(bytes > 0) || !(times > 0))
		return;
	m->call[m->n_calls++] = (struct llm_call){
	        stages, kind,
	        {.group = group,
	         .operation = operation,
	         .bytes = bytes,
	         .repeat = times,
	         .calls = times}};
}

/* A block of two matrices goes from the sequence's parts to the whole and back. */
static void add_tensor(struct pattern_llm *m, const struct llm_sizes *s,
                       const struct llm_amounts *a)
{
	bool routed = s->experts && s->complete;
	double blocks = routed ? 1 + (s->shared_experts > 0) : 2;

	if (s->complete && s->sequence_parallel) {
		add_call(m, LLM_EVERY, GRID_TP, GRID_ALL_GATHER, a->activation,
		         a->rounds * (3 + a->again) * blocks);
		add_call(m, LLM_EVERY, GRID_TP, GRID_REDUCE_SCATTER,
		         a->activation, a->rounds * (2 + a->again) * blocks);
	} else {
		add_call(m, LLM_EVERY, GRID_TP, GRID_ALL_REDUCE, a->activation,
		         a->rounds * (2 + a->again) * blocks);
	}
	if (!routed)
		return;
	add_call(m, LLM_EVERY, GRID_TP, GRID_ALL_GATHER,
	         s->top_k * a->activation, a->rounds * (2 + a->again));
	add_call(m, LLM_EVERY, GRID_TP, GRID_REDUCE_SCATTER,
	         s->top_k * a->activation, a->rounds * (2 + a->again));
}

/* Both ends of the model. */
static void add_ends(struct pattern_llm *m, const struct llm_sizes *s,
                     const struct llm_amounts *a)
{
	const unsigned first = LLM_ONLY | LLM_FIRST, last = LLM_ONLY | LLM_LAST;
	double tokens = (double)s->micro_batch * s->sequence / m->grid.cp;
	double times = s->micro_batches;

	if (!s->complete || !s->vocabulary)
		return;
	if (s->sequence_parallel) {
		add_call(m, first, GRID_TP, GRID_REDUCE_SCATTER, a->activation,
		         times);
		add_call(m, first, GRID_TP, GRID_ALL_GATHER, a->activation,
		         times);
		add_call(m, last, GRID_TP, GRID_ALL_GATHER, a->activation,
		         2 * times);
		add_call(m, last, GRID_TP, GRID_REDUCE_SCATTER, a->activation,
		         times);
	} else {
		add_call(m, first, GRID_TP, GRID_ALL_REDUCE, a->activation,
		         times);
		add_call(m, last, GRID_TP, GRID_ALL_REDUCE, a->activation,
		         times);
	}
	add_call(m, last, GRID_TP, GRID_ALL_REDUCE, 4 * tokens, 3 * times);
	add_call(m, last, GRID_DP_CP, GRID_ALL_REDUCE, 4, times);
}

static void add_context(struct pattern_llm *m, const struct llm_sizes *s,
                        const struct llm_amounts *a)
{
	double per_token = (double)s->element / m->grid.tp * s->micro_batch *
	                   s->sequence / m->grid.cp;
	double keys = 2 * per_token * s->kv_hidden;
	int n = m->grid.cp;

	if (s->context == LLM_RING) {
		add_call(m, LLM_EVERY, GRID_CP, GRID_PASS, keys,
		         a->rounds * (3 + a->again) * (n - 1));
	} else if (s->context == LLM_ALL_GATHER) {
		add_call(m, LLM_EVERY, GRID_CP, GRID_ALL_GATHER, n * keys,
		         a->rounds * (2 + a->again));
		add_call(m, LLM_EVERY, GRID_CP, GRID_REDUCE_SCATTER, n * keys,
		         a->rounds);
	} else {
		add_call(m, LLM_EVERY, GRID_CP, GRID_ALL_TO_ALL,
		         2 * per_token * s->attention_hidden + keys,
		         a->rounds * (2 + a->again));
	}
}

/* Parameters of a rank, by the stage. */
struct llm_parameters {
	double stage[4]; /* only, first, middle, last */
	double experts;
};

/* Of so many layers. */
static void count_layers(const struct llm_sizes *s, const struct train_grid *g,
                         double layers, double *dense, double *experts)
{
	double h = s->hidden, k = s->kv_hidden, f = s->feed_forward;
	double fe = s->expert_feed_forward, q = s->attention_hidden;
	int up = s->gated ? 2 : 1, norm = s->norm_bias ? 2 : 1;
	double weights = 2 * h * q + 2 * h * k, split, whole;

	if (!s->experts)
		weights += (up + 1) * h * f;
	weights += (double)s->shared_experts * (up + 1) * h * fe;
	split = weights + (s->bias ? q + 2 * k + up * f : 0);
	whole = (s->bias ? 2 * h : 0) + 2 * norm * h;
	*dense = layers * (split + whole) / g->tp;
	if (s->complete)
		*dense = layers * (split / g->tp + whole + h * s->experts);
	*experts = layers * ((up + 1) * h * fe * s->experts / g->ep) / g->tp;
}

static struct llm_parameters count_parameters(const struct llm_sizes *s,
                                              const struct train_grid *g,
                                              double layers)
{
	double h = s->hidden, base, experts, first, head;
	double positions = s->positions ? s->sequence * h : 0;
	double norm = s->complete ? (s->norm_bias ? 2 : 1) * h : 0;

	count_layers(s, g, layers, &base, &experts);
	head = s->vocabulary * h / g->tp;
	first = s->complete ? head + positions
	                    : (s->vocabulary * h + positions) / g->tp;
	return (struct llm_parameters){
	        .stage = {base + first + (s->tied ? 0 : head) + norm,
	                  base + first, base, base + head + norm},
	        .experts = experts};
}

/* Gradients and parameters of some ranks: `shard` have parts of them, `replica` the
 * same parts. */
static void add_reduction(struct pattern_llm *m, const struct llm_sizes *s,
                          unsigned stages, enum grid_kind shard,
                          enum grid_kind replica, double parameters)
{
	double gradients = parameters * s->gradient;
	double bytes = parameters * s->element;
	double often = s->zero > 1 ? s->micro_batches : 1;
	double gathers = 1, n = grid_group(&m->grid, shard).size;
	double layers = (double)s->layers / m->grid.pp;

	if (s->zero == 3)
		gathers = (s->reshard ? 2.0 : 1.0) * s->micro_batches;
	add_call(m, stages, shard,
	         s->zero && !s->sum_gradients ? GRID_REDUCE_SCATTER
	                                      : GRID_ALL_REDUCE,
	         gradients, often);
	if (s->zero)
		add_call(m, stages, shard, GRID_ALL_GATHER, bytes, gathers);
	if (s->zero == 3 && n > 1 && bytes > 0)
		m->call[m->n_calls - 1].call.calls *=
		        s->prefetch < layers ? layers / s->prefetch : 1;
	if (replica != shard)
		add_call(m, stages, replica, GRID_ALL_REDUCE, gradients / n,
		         often);
}

static void add_data(struct pattern_llm *m, const struct llm_sizes *s,
                     const struct llm_amounts *a)
{
	const struct llm_parameters p =
	        count_parameters(s, &m->grid, a->layers);
	bool shards = m->grid.shard != m->grid.cp * m->grid.dp;
	enum grid_kind shard = shards ? GRID_SHARD : GRID_DP_CP;
	enum grid_kind replica = shards ? GRID_REPLICA : GRID_DP_CP;

	if (m->grid.pp == 1)
		add_reduction(m, s, LLM_ONLY, shard, replica, p.stage[0]);
	for (int i = 1; i < 4 && m->grid.pp > 1; i++)
		if (i != 2 || m->grid.pp > 2)
			add_reduction(m, s, 1u << i, shard, replica,
			              p.stage[i]);
	add_reduction(m, s, LLM_EVERY, GRID_EP_DP, GRID_EP_DP, p.experts);
	if (s->tied && m->grid.pp > 1)
		add_call(m, LLM_FIRST | LLM_LAST, GRID_EMBEDDING,
		         GRID_ALL_REDUCE,
		         (double)s->vocabulary * s->hidden / m->grid.tp *
		                 s->gradient,
		         1);
}

/* To the stages behind (forward) and before (backward), and round with chunks, which
 * the last stage hands on one time less. */
static void add_pipeline(struct pattern_llm *m, const struct llm_sizes *s,
                         const struct llm_amounts *a)
{
	struct grid_group group = grid_group(&m->grid, GRID_PP);
	double times = s->micro_batches, more = s->chunks - 1;

	add_call(m, LLM_EVERY, GRID_PP, GRID_SEND_NEXT, a->handed_on, times);
	add_call(m, LLM_EVERY, GRID_PP, GRID_SEND_PREVIOUS, a->handed_on,
	         times);
	if (group.size == 1)
		return;
	add_call(m, LLM_EVERY, GRID_PP, GRID_PASS, a->handed_on, times * more);
	add_call(m, LLM_EVERY, GRID_PP, GRID_PASS_BACK, a->handed_on,
	         times * more);
}

void pattern_llm_calls(struct pattern_llm *m, const struct llm_sizes *s)
{
	struct llm_amounts a = {.layers = (double)s->layers / m->grid.pp,
	                        .again = s->recompute};
	double factor = s->capacity_factor > 0 ? s->capacity_factor : 1;

	a.activation = (double)s->micro_batch * s->sequence * s->hidden *
	               s->element / m->grid.cp;
	a.handed_on = s->sequence_parallel ? a.activation / m->grid.tp
	                                   : a.activation;
	a.rounds = a.layers * s->micro_batches;
	m->n_calls = 0;
	add_tensor(m, s, &a);
	add_ends(m, s, &a);
	add_context(m, s, &a);
	add_data(m, s, &a);
	add_pipeline(m, s, &a);
	/* The last one: grid_put looks through the messages before. */
	if (s->experts)
		add_call(m, LLM_EVERY, GRID_EP, GRID_ALL_TO_ALL,
		         factor * s->top_k * a.handed_on,
		         a.rounds * (4 + 2 * a.again));
}
