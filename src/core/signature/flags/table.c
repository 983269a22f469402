/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys that are known, by their names in
 *   Megatron-LM     megatron/training/arguments.py (and AICB's spelling of them)
 *   DeepSpeed       deepspeed.ai, "DeepSpeed Configuration JSON"
 *   torchtitan      torchtitan/config/job_config.py
 *   NeMo            megatron_gpt_config.yaml of NeMo 1; the configurations of NeMo
 *                   2's, Bridge's and RL's megatron_cfg end in the same names
 *   Hugging Face    config.json of a model (LlamaConfig, MixtralConfig, GPT2Config)
 *   launchers       torchrun, deepspeed, srun
 * A key is looked up whole, and without what is before its last dot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "signature/flags/flags_internal.h"

enum flag_value {
	NUMBER,  /* an integer */
	PERCENT, /* a number, of which 100 times is kept */
	YES,     /* without a value, or "true": 1; "false": 0 */
	NO,      /* the other way round */
	WORDS,   /* "rope=0 learned=1": one of these */
};

struct known_key {
	const char *key;
	enum setting setting;
	enum flag_value how;
	enum framework framework; /* that has this key alone */
	const char *words;
};

#define FLOATS "bf16=1 bfloat16=1 bf16-mixed=1 bf16-true=1 fp16=2 16=2 " \
	"16-mixed=2 float16=2 32=0 fp32=0 float32=0 32-true=0"

static const struct known_key keys[] = {
        {"world_size", SET_RANKS, NUMBER, ANY, NULL},
        {"nnodes", SET_NODES, NUMBER, ANY, NULL},
        {"nproc_per_node", SET_PER_NODE, NUMBER, ANY, NULL},
        {"num_nodes", SET_NODES, NUMBER, ANY, NULL},
        {"num_gpus", SET_PER_NODE, NUMBER, ANY, NULL},
        {"ntasks", SET_RANKS, NUMBER, ANY, NULL},
        {"nodes", SET_NODES, NUMBER, ANY, NULL},
        {"ntasks_per_node", SET_PER_NODE, NUMBER, ANY, NULL},
        {"gpus_per_node", SET_PER_NODE, NUMBER, ANY, NULL},
        {"trainer.devices", SET_PER_NODE, NUMBER, NEMO, NULL},

        {"tensor_model_parallel_size", SET_TP, NUMBER, ANY, NULL},
        {"pipeline_model_parallel_size", SET_PP, NUMBER, ANY, NULL},
        {"pipeline_model_parallel", SET_PP, NUMBER, MEGATRON, NULL},
        {"context_parallel_size", SET_CP, NUMBER, ANY, NULL},
        {"expert_model_parallel_size", SET_EP, NUMBER, ANY, NULL},
        {"expert_tensor_parallel_size", SET_EXPERT_TP, NUMBER, ANY, NULL},
        {"num_layers_per_virtual_pipeline_stage", SET_CHUNK_LAYERS, NUMBER,
         MEGATRON, NULL},
        {"num_virtual_stages_per_pipeline_rank", SET_CHUNKS, NUMBER, MEGATRON,
         NULL},
        {"virtual_pipeline_model_parallel_size", SET_CHUNKS, NUMBER, ANY,
         NULL},
        {"sequence_parallel", SET_SEQUENCE_PARALLEL, YES, ANY, NULL},
        {"enable_sequence_parallel", SET_SEQUENCE_PARALLEL, YES, MEGATRON,
         NULL},
        {"cp_comm_type", SET_CONTEXT, WORDS, MEGATRON,
         "p2p=0 allgather=1 all_gather=1 a2a=2"},
        {"num_distributed_optimizer_instances", SET_INSTANCES, NUMBER,
         MEGATRON, NULL},

        {"num_layers", SET_LAYERS, NUMBER, ANY, NULL},
        {"hidden_size", SET_HIDDEN, NUMBER, ANY, NULL},
        {"ffn_hidden_size", SET_FEED_FORWARD, NUMBER, ANY, NULL},
        {"num_attention_heads", SET_HEADS, NUMBER, ANY, NULL},
        {"num_query_groups", SET_KV_HEADS, NUMBER, ANY, NULL},
        {"group_query_attention", SET_GROUPED, YES, MEGATRON, NULL},
        {"kv_channels", SET_HEAD_WIDTH, NUMBER, ANY, NULL},
        {"seq_length", SET_SEQUENCE, NUMBER, ANY, NULL},
        {"encoder_seq_length", SET_SEQUENCE, NUMBER, NEMO, NULL},
        {"vocab_size", SET_VOCABULARY, NUMBER, ANY, NULL},
        {"make_vocab_size_divisible_by", SET_VOCABULARY_MULTIPLE, NUMBER, ANY,
         NULL},
        {"swiglu", SET_GATED, YES, MEGATRON, NULL},
        {"activation", SET_GATED, WORDS, NEMO,
         "gelu=0 fast-geglu=1 geglu=1 swiglu=1 fast-swiglu=1 reglu=1 "
         "fast-reglu=1 squared-relu=0"},
        {"add_bias_linear", SET_BIAS, YES, ANY, NULL},
        {"disable_bias_linear", SET_BIAS, NO, MEGATRON, NULL},
        {"model.bias", SET_BIAS, YES, NEMO, NULL},
        {"normalization", SET_NORM_BIAS, WORDS, ANY,
         "layernorm=1 rmsnorm=0 layernorm1p=1"},
        {"position_embedding_type", SET_POSITIONS, WORDS, ANY,
         "learned_absolute=1 rope=0 none=0 relative=0 alibi=0 yarn=0"},
        {"untie_embeddings_and_output_weights", SET_TIED, NO, MEGATRON, NULL},
        {"share_embeddings_and_output_weights", SET_TIED, YES, NEMO, NULL},
        {"num_experts", SET_EXPERTS, NUMBER, ANY, NULL},
        {"num_moe_experts", SET_EXPERTS, NUMBER, ANY, NULL},
        {"moe_router_topk", SET_TOP_K, NUMBER, ANY, NULL},
        {"moe_ffn_hidden_size", SET_EXPERT_FEED_FORWARD, NUMBER, ANY, NULL},
        {"moe_shared_expert_intermediate_size", SET_SHARED_WIDTH, NUMBER, ANY,
         NULL},
        {"moe_expert_capacity_factor", SET_CAPACITY, PERCENT, ANY, NULL},

        {"moe_token_dispatcher_type", SET_DISPATCHER, WORDS, ANY,
         "alltoall=1 flex=1"},
        {"moe_layer_freq", SET_ASIDE, WORDS, ANY, "1=1"},
        {"moe_pad_expert_input_to_capacity", SET_ASIDE, WORDS, ANY,
         "true=1 =1"},
        {"zero_optimization.allgather_partitions", SET_ASIDE, WORDS, DEEPSPEED,
         "true=1"},
        {"recompute_granularity", SET_RECOMPUTE, WORDS, ANY,
         "selective=0 full=1"},
        {"activations_checkpoint_granularity", SET_RECOMPUTE, WORDS, NEMO,
         "selective=0 full=1"},
        {"activation_checkpoint.mode", SET_RECOMPUTE, WORDS, TORCHTITAN,
         "none=0 selective=0 full=1"},
        {"recompute_activations", SET_ASIDE, YES, ANY, NULL},
        {"recompute_method", SET_ASIDE, WORDS, ANY, "uniform=1"},
        {"recompute_num_layers", SET_ASIDE, NUMBER, ANY, NULL},

        {"micro_batch_size", SET_MICRO_BATCH, NUMBER, ANY, NULL},
        {"micro_batch", SET_MICRO_BATCH, NUMBER, MEGATRON, NULL},
        {"global_batch_size", SET_GLOBAL_BATCH, NUMBER, ANY, NULL},
        {"global_batch", SET_GLOBAL_BATCH, NUMBER, MEGATRON, NULL},
        {"bf16", SET_HALF_FLOAT, WORDS, ANY, "true=1 =1 auto=1 false=0"},
        {"fp16", SET_HALF_FLOAT, WORDS, ANY, "true=2 =2 auto=1 false=0"},
        {"precision", SET_HALF_FLOAT, WORDS, NEMO, FLOATS},
        {"accumulate_allreduce_grads_in_fp32", SET_GRADIENT_BYTES, WORDS,
         MEGATRON, "true=4 =4"},
        {"grad_reduce_in_fp32", SET_GRADIENT_BYTES, WORDS, NEMO,
         "true=4 false=2"},
        {"grad_reduce_in_bf16", SET_GRADIENT_BYTES, WORDS, MEGATRON,
         "true=2 =2"},
        {"use_distributed_optimizer", SET_ZERO, WORDS, ANY,
         "true=1 =1 false=0"},
        {"optim.name", SET_ZERO, WORDS, NEMO,
         "distributed_fused_adam=1 mcore_distributed_optim=1 fused_adam=0 "
         "adam=0 adamw=0"},
        {"model.optim.name", SET_ZERO, WORDS, NEMO,
         "distributed_fused_adam=1 mcore_distributed_optim=1 fused_adam=0 "
         "adam=0 adamw=0"},
        {"use_torch_fsdp2", SET_ZERO, WORDS, MEGATRON, "true=3 =3 false=0"},
        {"data_parallel_sharding_strategy", SET_ZERO, WORDS, MEGATRON,
         "no_shard=0 optim=1 optim_grads=2 optim_grads_params=3"},

        {"zero_optimization.stage", SET_ZERO, NUMBER, DEEPSPEED, NULL},
        {"zero_stage", SET_ZERO, NUMBER, DEEPSPEED, NULL},
        {"zero_optimization.reduce_scatter", SET_REDUCE_SCATTER, YES,
         DEEPSPEED, NULL},
        {"zero_optimization.use_multi_rank_bucket_allreduce", SET_MULTI_RANK,
         YES, DEEPSPEED, NULL},
        {"zero_optimization.mics_shard_size", SET_SHARD, NUMBER, DEEPSPEED,
         NULL},
        {"train_micro_batch_size_per_gpu", SET_MICRO_BATCH, NUMBER, DEEPSPEED,
         NULL},
        {"per_device_train_batch_size", SET_MICRO_BATCH, NUMBER, DEEPSPEED,
         NULL},
        {"gradient_accumulation_steps", SET_ACCUMULATION, NUMBER, ANY, NULL},
        {"train_batch_size", SET_GLOBAL_BATCH, NUMBER, DEEPSPEED, NULL},
        {"bf16.enabled", SET_HALF_FLOAT, WORDS, DEEPSPEED,
         "true=1 auto=1 false=0"},
        {"fp16.enabled", SET_HALF_FLOAT, WORDS, DEEPSPEED,
         "true=2 auto=1 false=0"},
        {"communication_data_type", SET_GRADIENT_BYTES, WORDS, DEEPSPEED,
         "fp32=4 fp16=2 bf16=2 bfp16=2"},

        {"parallelism.tensor_parallel_degree", SET_TP, NUMBER, TORCHTITAN,
         NULL},
        {"parallelism.context_parallel_degree", SET_CP, NUMBER, TORCHTITAN,
         NULL},
        {"experimental.context_parallel_degree", SET_CP, NUMBER, TORCHTITAN,
         NULL},
        {"parallelism.pipeline_parallel_degree", SET_PP, NUMBER, TORCHTITAN,
         NULL},
        {"experimental.pipeline_parallel_degree", SET_PP, NUMBER, TORCHTITAN,
         NULL},
        {"parallelism.expert_parallel_degree", SET_EP, NUMBER, TORCHTITAN,
         NULL},
        {"parallelism.expert_tensor_parallel_degree", SET_EXPERT_TP, NUMBER,
         TORCHTITAN, NULL},
        {"parallelism.data_parallel_shard_degree", SET_DP_SHARD, NUMBER,
         TORCHTITAN, NULL},
        {"parallelism.data_parallel_replicate_degree", SET_DP_REPLICATE,
         NUMBER, TORCHTITAN, NULL},
        {"training.tensor_parallel_degree", SET_TP, NUMBER, TORCHTITAN, NULL},
        {"training.data_parallel_shard_degree", SET_DP_SHARD, NUMBER,
         TORCHTITAN, NULL},
        {"training.data_parallel_replicate_degree", SET_DP_REPLICATE, NUMBER,
         TORCHTITAN, NULL},
        {"parallelism.fsdp_reshard_after_forward", SET_RESHARD, WORDS,
         TORCHTITAN, "default=2 always=1 never=0"},
        {"parallelism.pipeline_parallel_schedule", SET_INTERLEAVED, WORDS,
         TORCHTITAN, "1f1b=1 gpipe=1 interleaved1f1b=2"},
        {"parallelism.context_parallel_rotate_method", SET_CONTEXT, WORDS,
         TORCHTITAN, "allgather=1 alltoall=0"},
        {"training.seq_len", SET_SEQUENCE, NUMBER, TORCHTITAN, NULL},
        {"training.local_batch_size", SET_MICRO_BATCH, NUMBER, TORCHTITAN,
         NULL},
        {"training.batch_size", SET_MICRO_BATCH, NUMBER, TORCHTITAN, NULL},
        {"training.global_batch_size", SET_GLOBAL_BATCH, NUMBER, TORCHTITAN,
         NULL},
        {"training.mixed_precision_param", SET_HALF_FLOAT, WORDS, TORCHTITAN,
         FLOATS},
        {"training.mixed_precision_reduce", SET_GRADIENT_BYTES, WORDS,
         TORCHTITAN, "float32=4 bfloat16=2"},

        {"num_hidden_layers", SET_LAYERS, NUMBER, ANY, NULL},
        {"n_layer", SET_LAYERS, NUMBER, ANY, NULL},
        {"n_embd", SET_HIDDEN, NUMBER, ANY, NULL},
        {"n_head", SET_HEADS, NUMBER, ANY, NULL},
        {"intermediate_size", SET_FEED_FORWARD, NUMBER, ANY, NULL},
        {"num_key_value_heads", SET_KV_HEADS, NUMBER, ANY, NULL},
        {"head_dim", SET_HEAD_WIDTH, NUMBER, ANY, NULL},
        {"tie_word_embeddings", SET_TIED, YES, ANY, NULL},
        {"attention_bias", SET_BIAS, YES, ANY, NULL},
        {"num_local_experts", SET_EXPERTS, NUMBER, ANY, NULL},
        {"num_experts_per_tok", SET_TOP_K, NUMBER, ANY, NULL},
        {"moe_intermediate_size", SET_EXPERT_FEED_FORWARD, NUMBER, ANY, NULL},
        {"n_shared_experts", SET_SHARED_EXPERTS, NUMBER, ANY, NULL},
        {"model_type", SET_LLAMA, WORDS, ANY,
         "gpt2=0 llama=1 mistral=1 mixtral=1 qwen2=1 qwen3=1"},
};

/* Values that mean what the key means when nobody gives it. */
static bool is_default(const char *value)
{
	static const char *const none[] = {"null", "none", "auto", "~", ""};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (!strcasecmp(value, none[i]))
			return true;
	return false;
}

/* What is off, of one rank, or made of other keys. */
static bool is_neutral(const struct flag *flag)
{
	const char *value = flag->value;

	if (!strcmp(value, "1"))
		return strstr(flag->key, "size") || strstr(flag->key, "degree");
	return !strcasecmp(value, "false") || !strcasecmp(value, "null") ||
	       !strcasecmp(value, "none") || !strcmp(value, "0") ||
	       !strncmp(value, "${", 2);
}

static const struct known_key *find_key(const char *key)
{
	const char *last = strrchr(key, '.');

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(key, keys[i].key))
			return &keys[i];
	return last && last[1] ? find_key(last + 1) : NULL;
}

/* Part of names of what changes who sends how much, and of what only sounds so: when
 * it is sent, in how large pieces, on which data, with which seed. */
static bool changes_communication(const char *key)
{
	static const char *const harmless[] = {
	        "overlap",     "bucket",     "align",     "dropout",
	        "aux_loss",    "z_loss",     "init",      "timeout",
	        "fused",       "fusion",     "grouped_gemm", "logging",
	        "log_",        "checkpoint", "dist_ckpt", "jitter",
	        "load_balanc", "compress",   "workers",   "warmup",
	        "backend",     "contiguous_gradients",     "pin_memory",
	        "score_func",  "router_dtype", "async_tensor_parallel",
	        "loss_parallel", "persistence_threshold",  "max_live",
	        "max_reuse",   "round_robin", "gather_16bit", "prefetch",
	        "nccl", "communicator", "deterministic", "tokenizer",
	        "chunk_size", "untested", "cpu_optimizer", "expert_bias",
	        "bias_update", "pre_softmax", "drop_policy", "autograd",
	        "scaling_factor", "megatron_fsdp", "custom_fsdp", "fp8_hybrid",
	        "zero_centered"};
	static const char *const changes[] = {
	        "parallel",  "shard",    "expert",   "moe",      "zero",
	        "fsdp",      "reduce",   "gather",   "scatter",  "pipeline",
	        "hpz",       "mics",     "recompute", "mtp",     "latent",
	        "lora",      "peft",     "encoder",  "decoder",  "local_sgd",
	        "diloco",    "all2all",  "alltoall", "a2a",      "dispatcher",
	        "quantized", "fp8_param", "vision",  "replicat", "sliding",
	        "mamba",     "hybrid",   "cross_attention", "cpu_offload",
	        "use_tp_pp", "sparse_grad", "autotp", "stages"};
	const char *last = strrchr(key, '.');

	key = last ? last + 1 : key;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (strstr(key, harmless[i]))
			return false;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		if (strstr(key, changes[i]))
			return true;
	return false;
}

/* Optimisers that send a bit for each gradient, at least after a while. */
static bool packs_gradients(const struct flag *flag)
{
	return !strcmp(flag->key, "optimizer.type") &&
	       (!strcasecmp(flag->value, "OneBitAdam") ||
	        !strcasecmp(flag->value, "OneBitLamb") ||
	        !strcasecmp(flag->value, "ZeroOneAdam"));
}

static int note(json_t *list, const struct flag *flag, struct cpl_error *err)
{
	json_t *text = *flag->value ? json_sprintf("%s=%s", flag->key,
	                                           flag->value)
	                            : json_string(flag->key);

	/* what is not UTF-8 has no text of JSON */
	if (!text)
		text = json_string("(a key that is no UTF-8)");
	return json_array_append_new(list, text) ? cpl_fail_memory(err) : 0;
}

/* The number of a word in "rope=0 learned=1"; false where it is none of them. */
static bool find_word(const char *words, const char *value, int64_t *out)
{
	size_t n = strlen(value);

	for (const char *p = words; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (!strncasecmp(p, value, n) && p[n] == '=') {
			*out = p[n + 1] - '0';
			return true;
		}
	}
	return false;
}

/* 1, or 0 where the value is none, or -1 with err. */
static int value_of(const struct known_key *k, const struct flag *f,
                    int64_t *out, struct cpl_error *err)
{
	const char *value = f->value;
	char *end;
	double number;

	if (k->how == WORDS)
		return find_word(k->words, value, out);
	if (k->how == YES || k->how == NO) {
		if (!find_word("true=1 =1 1=1 yes=1 on=1 false=0 0=0 no=0 off=0",
		               value, out))
			return 0;
		*out = k->how == NO ? !*out : *out;
		return 1;
	}
	errno = 0;
	number = strtod(value, &end);
	if (end == value || *end || errno)
		return 0;
	if (!(number >= -1 && number <= 1 << 30) ||
	    (k->how == NUMBER && number != (double)(int64_t)number))
		return cpl_fail(err,
		                "%.60s: %.40s is no number that is known "
		                "here",
		                f->key, value);
	*out = (int64_t)(k->how == PERCENT ? 100 * number + 0.5 : number);
	return 1;
}

/* Precision is told by several keys, of which one may say no. */
static bool says_no(const struct flag_settings *s, const struct known_key *k,
                    int64_t value)
{
	return k->setting == SET_HALF_FLOAT && !value &&
	       s->known[SET_HALF_FLOAT];
}

/* Keys that several have tell by how they are written. DeepSpeed runs with a model's
 * own flags. */
static void take_framework(struct flag_settings *s, const struct known_key *k,
                           const char *key)
{
	enum framework f = k->framework;
	bool guess = f == ANY;

	if (guess && !strstr(k->key, "model_parallel_size") &&
	    k->setting != SET_LAYERS)
		return;
	if (guess && (s->known[SET_FRAMEWORK] ||
	              strstr(k->key, "hidden_layers") ||
	              !strcmp(k->key, "n_layer")))
		return;
	if (guess)
		f = strchr(key, '.') ? NEMO : MEGATRON;
	if (s->known[SET_FRAMEWORK] && s->value[SET_FRAMEWORK] == DEEPSPEED)
		return;
	flags_set(s, SET_FRAMEWORK, f);
}

int flags_take(struct flag_settings *s, const struct flag *flag,
               struct cpl_error *err)
{
	const struct known_key *k = find_key(flag->key);
	int64_t value = 0;
	int rc;

	if (!strcmp(flag->key, "model.flavor")) {
		flags_set(s, SET_FRAMEWORK, TORCHTITAN);
		return flags_take_flavour(s, flag->value)
		               ? 0
		               : note(s->not_understood, flag, err);
	}
	if (!k) {
		if (packs_gradients(flag) ||
		    (changes_communication(flag->key) && !is_neutral(flag)))
			return note(s->not_understood, flag, err);
		s->harmless++;
		return 0;
	}
	/* It refers to another key, which says it, or is NeMo's default. */
	if (!strncmp(flag->value, "${", 2) &&
	    (!strchr(flag->value, ':') ||
	     (k->setting == SET_FEED_FORWARD &&
	      !strcmp(flag->value, "${multiply:4, ${.hidden_size}}")))) {
		s->harmless++;
		return 0;
	}
	take_framework(s, k, flag->key);
	rc = value_of(k, flag, &value, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return is_default(flag->value)
		               ? 0
		               : note(s->not_understood, flag, err);
	if (!says_no(s, k, value))
		flags_set(s, k->setting, value);
	return 0;
}
