/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what is known of a training to the pattern: what each framework does where
 * nobody says anything.
 *   Megatron-LM  a GPT with biases, LayerNorm, learned positions and tied embeddings;
 *                gradients of bf16 are reduced in fp32 (arguments.py)
 *   DeepSpeed    gradients have the parameters' type; stages 1 and 2 all-reduce them
 *                whatever "reduce_scatter" says, unless told not to by
 *                "use_multi_rank_bucket_allreduce" (runtime/zero/stage_1_and_2.py,
 *                average_tensor, allreduce_and_scatter)
 *   torchtitan   FSDP over all data parallel ranks, reduced in fp32; tensor parallel
 *                ranks split the sequence as well; with a pipeline, parameters are
 *                gathered and gradients reduced once a step, not for each micro batch
 *                (distributed/pipeline_parallel.py, PipelineScheduleMulti)
 *   NeMo         as Megatron-LM
 */
#include <string.h>
#include <strings.h>

#include "signature/flags/flags_internal.h"

bool flags_take_flavour(struct flag_settings *s, const char *flavour)
{
	static const struct {
		const char *name;
		int hidden, layers, heads, kv_heads, feed_forward, vocabulary;
	} table[] = {
	        {"debugmodel", 256, 6, 16, 16, 768, 2048},
	        {"8B", 4096, 32, 32, 8, 14336, 128256},
	        {"70B", 8192, 80, 64, 8, 28672, 128256},
	        {"405B", 16384, 126, 128, 8, 53248, 128256},
	};
	static const enum setting set[] = {SET_HIDDEN,       SET_LAYERS,
	                                   SET_HEADS,        SET_KV_HEADS,
	                                   SET_FEED_FORWARD, SET_VOCABULARY};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const int value[] = {table[i].hidden,       table[i].layers,
		                     table[i].heads,        table[i].kv_heads,
		                     table[i].feed_forward, table[i].vocabulary};

		if (strcasecmp(flavour, table[i].name))
			continue;
		for (size_t k = 0; k < sizeof(set) / sizeof(*set); k++)
			flags_set(s, set[k], value[k]);
		flags_set(s, SET_LLAMA, 1);
		return true;
	}
	return false;
}

static int64_t get(const struct flag_settings *s, enum setting which,
                   int64_t otherwise)
{
	return s->known[which] && s->value[which] >= 0 ? s->value[which]
	                                               : otherwise;
}

/* The same of sizes, which are not 0. */
static int64_t size_of(const struct flag_settings *s, enum setting which,
                       int64_t otherwise)
{
	int64_t v = get(s, which, otherwise);

	return v ? v : otherwise;
}

static int assume(struct flag_settings *s, const char *text, struct cpl_error *err)
{
	return json_array_append_new(s->assumed, json_string(text))
	               ? cpl_fail_memory(err)
	               : 0;
}

struct sizes {
	int64_t ranks, tp, cp, dp, pp, ep;
	int64_t shard, micro_batch, micro_batches, chunks, zero;
	bool titan;
};

static int find_ranks(const struct flag_settings *s, struct sizes *z,
                      struct cpl_error *err)
{
	int64_t per_node = size_of(s, SET_PER_NODE, 0);
	int64_t nodes = size_of(s, SET_NODES, 1), rest;

	z->tp = size_of(s, SET_TP, 1);
	z->cp = size_of(s, SET_CP, 1);
	z->pp = size_of(s, SET_PP, 1);
	z->ep = size_of(s, SET_EP, 1);
	z->ranks = size_of(s, SET_RANKS, nodes * per_node);
	if (z->ranks <= 0)
		return cpl_fail(err, "how many ranks? nobody says: --ranks, or "
		                     "--nnodes and --nproc-per-node");
	rest = z->ranks / z->tp / z->cp / z->pp;
	if (z->ranks > CPL_SIGNATURE_MAX_RANKS || !rest ||
	    rest * z->tp * z->cp * z->pp != z->ranks)
		return cpl_fail(err,
		                "%lld ranks are no multiple of tp %lld times cp "
		                "%lld times pp %lld",
		                (long long)z->ranks, (long long)z->tp,
		                (long long)z->cp, (long long)z->pp);
	z->dp = rest;
	return 0;
}

/* Who has parts of the parameters, and how many. */
static int find_shards(const struct flag_settings *s, struct sizes *z,
                       struct cpl_error *err)
{
	int64_t all = z->cp * z->dp, replicas = size_of(s, SET_INSTANCES, 1);

	z->zero = get(s, SET_ZERO, 0);
	z->shard = size_of(s, SET_SHARD, all);
	if (z->titan) {
		int64_t shard = size_of(s, SET_DP_SHARD, 0);

		replicas = size_of(s, SET_DP_REPLICATE, 1);
		if (shard && shard * replicas != z->dp)
			return cpl_fail(err,
			                "%lld shards times %lld replicas are "
			                "not the %lld data parallel ranks",
			                (long long)shard, (long long)replicas,
			                (long long)z->dp);
		z->zero = z->pp > 1 ? 1 : 3;
		if (z->dp / replicas * z->cp == 1)
			z->zero = 0;
	}
	if (replicas > 1 && all % replicas)
		return cpl_fail(err,
		                "%lld replicas do not divide %lld data parallel "
		                "ranks",
		                (long long)replicas, (long long)all);
	if (replicas > 1 && z->zero)
		z->shard = all / replicas;
	return 0;
}

static int find_batches(struct flag_settings *s, struct sizes *z,
                        struct cpl_error *err)
{
	int64_t global = size_of(s, SET_GLOBAL_BATCH, 0);
	int64_t local = size_of(s, SET_MICRO_BATCH, 0);
	int64_t often = size_of(s, SET_ACCUMULATION, 1);

	if (!local && global && global % (z->dp * often) == 0)
		local = global / (z->dp * often);
	else if (!local && assume(s, "a micro batch of 1", err))
		return -1;
	z->micro_batch = local ? local : 1;
	z->micro_batches = often;
	if (global && global % (z->micro_batch * z->dp))
		return cpl_fail(err,
		                "the global batch, %lld, is no multiple of the "
		                "micro batch, %lld, times %lld data parallel "
		                "ranks",
		                (long long)global, (long long)z->micro_batch,
		                (long long)z->dp);
	if (global)
		z->micro_batches = global / (z->micro_batch * z->dp);
	/* Its batch is cut into micro batches of one for the pipeline. */
	if (z->titan && z->pp > 1) {
		z->micro_batches *= z->micro_batch;
		z->micro_batch = 1;
	}
	return 0;
}

static int find_chunks(struct flag_settings *s, struct sizes *z,
                       struct cpl_error *err)
{
	int64_t layers = size_of(s, SET_LAYERS, 0);
	int64_t each = size_of(s, SET_CHUNK_LAYERS, 0);

	z->chunks = size_of(s, SET_CHUNKS, get(s, SET_INTERLEAVED, 1));
	if (each && layers % (z->pp * each))
		return cpl_fail(err,
		                "%lld layers are no multiple of %lld stages of "
		                "%lld layers",
		                (long long)layers, (long long)z->pp,
		                (long long)each);
	if (each)
		z->chunks = layers / z->pp / each;
	if (z->pp == 1)
		z->chunks = 1;
	return 0;
}

static int put_number(json_t *p, const char *key, int64_t value)
{
	return json_object_set_new(p, key, json_integer(value));
}

static int put_yes(json_t *p, const char *key, bool value)
{
	return json_object_set_new(p, key, json_boolean(value));
}

/* Keys in the order of the pattern's paragraph. */
static int put_grid(json_t *p, const struct sizes *z)
{
	int rc = json_object_set_new(p, "type", json_string("llm"));

	rc |= put_number(p, "tp", z->tp);
	rc |= put_number(p, "cp", z->cp);
	rc |= put_number(p, "dp", z->dp);
	rc |= put_number(p, "pp", z->pp);
	rc |= put_number(p, "ep", z->ep);
	rc |= put_number(p, "chunks", z->chunks);
	rc |= put_number(p, "micro_batch", z->micro_batch);
	rc |= put_number(p, "micro_batches", z->micro_batches);
	rc |= put_number(p, "zero", z->zero);
	if (z->shard != z->cp * z->dp)
		rc |= put_number(p, "shard", z->shard);
	return rc;
}

static int64_t feed_forward(const struct flag_settings *s, int64_t hidden,
                            bool gated)
{
	int64_t wide = gated ? 8 * hidden / 3 / 64 * 64 : 4 * hidden;

	return size_of(s, SET_FEED_FORWARD, wide ? wide : 64);
}

/* Widths of the model. */
static int put_model(json_t *p, struct flag_settings *s, const struct sizes *z,
                     struct cpl_error *err)
{
	bool llama = get(s, SET_LLAMA, z->titan);
	bool gated = get(s, SET_GATED, llama);
	int64_t hidden = size_of(s, SET_HIDDEN, 0);
	int64_t heads = size_of(s, SET_HEADS, 0), q = hidden, kv = hidden;
	int64_t multiple = size_of(s, SET_VOCABULARY_MULTIPLE, 128) * z->tp;
	int64_t vocabulary = get(s, SET_VOCABULARY, 0);
	int rc;

	if (!hidden || !size_of(s, SET_LAYERS, 0))
		return cpl_fail(err, "%s is missing: the model's sizes are in "
		                     "its flags, or in a config.json",
		                hidden ? "the number of layers"
		                       : "the hidden size");
	if (!vocabulary && assume(s, "no vocabulary: embedding and loss are "
	                             "left out", err))
		return -1;
	if (get(s, SET_FRAMEWORK, ANY) == MEGATRON ||
	    get(s, SET_FRAMEWORK, ANY) == NEMO ||
	    s->known[SET_VOCABULARY_MULTIPLE])
		vocabulary = (vocabulary + multiple - 1) / multiple * multiple;
	if (heads)
		kv = q = size_of(s, SET_HEAD_WIDTH, hidden / heads) * heads;
	if (size_of(s, SET_KV_HEADS, 0) && get(s, SET_GROUPED, 1) && heads)
		kv = q / heads * size_of(s, SET_KV_HEADS, 0);
	rc = put_number(p, "layers", size_of(s, SET_LAYERS, 0));
	rc |= put_number(p, "hidden", hidden);
	if (q != hidden)
		rc |= put_number(p, "attention_hidden", q);
	rc |= put_number(p, "kv_hidden", kv);
	rc |= put_number(p, "feed_forward", feed_forward(s, hidden, gated));
	rc |= put_number(p, "vocabulary", vocabulary);
	rc |= put_yes(p, "gated", gated);
	rc |= put_yes(p, "bias", get(s, SET_BIAS, !llama));
	rc |= put_yes(p, "norm_bias", get(s, SET_NORM_BIAS, !llama));
	rc |= put_yes(p, "positions", get(s, SET_POSITIONS, !llama));
	rc |= put_yes(p, "tied", get(s, SET_TIED, !llama));
	return rc ? cpl_fail_memory(err) : 0;
}

static int put_experts(json_t *p, struct flag_settings *s, const struct sizes *z,
                       struct cpl_error *err)
{
	int64_t experts = get(s, SET_EXPERTS, 0);
	int64_t width = size_of(s, SET_EXPERT_FEED_FORWARD, 0);
	int64_t shared = get(s, SET_SHARED_EXPERTS, 0);
	int64_t all = size_of(s, SET_SHARED_WIDTH, 0);
	int rc;

	/* A layer with one expert is one without. */
	if (experts < 2)
		return 0;
	if (get(s, SET_EXPERT_TP, z->tp) != z->tp &&
	    json_array_append_new(s->not_understood,
	                          json_string("expert tensor parallel ranks "
	                                      "that are not those of tp")))
		return cpl_fail_memory(err);
	if (z->ep > 1 && !s->known[SET_DISPATCHER] &&
	    assume(s, "tokens go to experts by all-to-all", err))
		return -1;
	if (!width)
		width = json_integer_value(json_object_get(p, "feed_forward"));
	if (all)
		shared = (all + width - 1) / width;
	rc = put_number(p, "experts", experts);
	rc |= put_number(p, "top_k", size_of(s, SET_TOP_K, 2));
	rc |= put_number(p, "expert_feed_forward", width);
	rc |= put_number(p, "shared_experts", shared);
	if (get(s, SET_CAPACITY, 0))
		rc |= json_object_set_new(
		        p, "capacity_factor",
		        json_real((double)get(s, SET_CAPACITY, 0) / 100));
	return rc ? cpl_fail_memory(err) : 0;
}

/* Bytes of an element of parameters and of gradients. */
static int put_types(json_t *p, const struct flag_settings *s, const struct sizes *z)
{
	int64_t half = get(s, SET_HALF_FLOAT, z->titan), element, gradient;
	int64_t framework = get(s, SET_FRAMEWORK, ANY);
	int rc;

	element = half ? 2 : 4;
	gradient = element;
	if (z->titan || (half == 1 && framework != DEEPSPEED))
		gradient = 4;
	gradient = get(s, SET_GRADIENT_BYTES, gradient);
	/* Replicas without shards have parameters of 4 bytes. */
	if (z->titan && !z->zero)
		gradient = 4;
	rc = put_number(p, "element_bytes", element);
	rc |= put_number(p, "gradient_bytes", gradient);
	return rc;
}

static bool sums_gradients(const struct flag_settings *s)
{
	return get(s, SET_FRAMEWORK, ANY) == DEEPSPEED &&
	       (get(s, SET_MULTI_RANK, 1) || !get(s, SET_REDUCE_SCATTER, 1));
}

static int put_choices(json_t *p, struct flag_settings *s, const struct sizes *z,
                    struct cpl_error *err)
{
	static const char *const context[] = {"ring", "all-gather",
	                                      "all-to-all"};
	bool alone = z->tp * z->cp * z->pp * z->ep == 1;
	int64_t sequence = size_of(s, SET_SEQUENCE, alone ? 1 : 0);
	int rc;

	if (!sequence)
		return cpl_fail(err, "the length of a sequence is missing");
	if (get(s, SET_POSITIONS, 0) && !size_of(s, SET_SEQUENCE, 0) &&
	    assume(s, "a sequence of 1", err))
		return -1;
	rc = put_number(p, "sequence", sequence);
	rc |= put_yes(p, "sequence_parallel",
	              z->tp > 1 && get(s, SET_SEQUENCE_PARALLEL, z->titan));
	if (z->cp > 1)
		rc |= json_object_set_new(
		        p, "context",
		        json_string(context[get(s, SET_CONTEXT, 0) % 3]));
	if (get(s, SET_RECOMPUTE, 0))
		rc |= put_yes(p, "recompute", true);
	if (get(s, SET_RESHARD, 2) == 0)
		rc |= put_yes(p, "reshard", false);
	if (sums_gradients(s) && z->zero && z->zero < 3)
		rc |= json_object_set_new(p, "gradients",
		                          json_string("all-reduce"));
	rc |= put_types(p, s, z);
	rc |= put_yes(p, "complete", true);
	return rc ? cpl_fail_memory(err) : 0;
}

json_t *flags_make_pattern(struct flag_settings *s, int *ranks,
                           struct cpl_error *err)
{
	struct sizes z = {.titan = get(s, SET_FRAMEWORK, ANY) == TORCHTITAN};
	json_t *p = json_object();

	if (!p)
		return cpl_fail_null_memory(err);
	if (!find_ranks(s, &z, err) && !find_shards(s, &z, err) &&
	    !find_batches(s, &z, err) && !find_chunks(s, &z, err)) {
		*ranks = (int)z.ranks;
		if (put_grid(p, &z))
			cpl_fail_memory(err);
		else if (!put_model(p, s, &z, err) &&
		         !put_experts(p, s, &z, err) && !put_choices(p, s, &z, err))
			return p;
	}
	json_decref(p);
	return NULL;
}
