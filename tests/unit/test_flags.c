/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures of command lines and configurations. */
#include "unit.h"

#include <jansson.h>

#include "signature/flags/flags.h"
#include "signature/pattern/pattern.h"

static struct cpl_signature *of_words(const char *line, int ranks,
                                      struct cpl_error *err)
{
	const struct cpl_flags_request request = {
	        .word = &line, .n_words = 1, .ranks = ranks, .name = "n"};

	return cpl_signature_from_flags(&request, err);
}

/* What the pattern and "recorded" have is what `want` has, a JSON object. */
static void check(struct cpl_signature *sig, const char *want,
                  const struct cpl_error *err)
{
	json_t *expected = json_loads(want, 0, NULL), *got, *recorded, *value;
	const char *key;

	if (!sig)
		fail_msg("%s", err->text);
	assert_non_null(expected);
	got = json_loads(sig->phase[0].pattern->text, 0, NULL);
	recorded = json_loads(sig->recorded, 0, NULL);
	json_object_update(got, recorded);
	json_object_set_new(got, "ranks", json_integer(sig->ranks));
	json_object_foreach(expected, key, value)
	{
		json_t *found = json_object_get(got, key);

		if (json_is_null(value) ? found != NULL
		                        : !json_equal(found, value))
			fail_msg("%s: %s", key,
			         json_dumps(found, JSON_ENCODE_ANY));
	}
	json_decref(got);
	json_decref(recorded);
	json_decref(expected);
	cpl_signature_free(sig);
}

#define GPT                                                                    \
	"--num-layers 4 --hidden-size 64 --num-attention-heads 8 "             \
	"--seq-length 32 --vocab-size 100 --micro-batch-size 1 "

static void test_words(void **state)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
	        {"torchrun --nnodes=2 --nproc-per-node 8 pretrain_gpt.py " GPT
	         "--tensor-model-parallel-size 2 --pipeline-model-parallel-size "
	         "2 --global-batch-size 16 --bf16 --use-distributed-optimizer "
	         "--sequence-parallel --lr 1.0e-4 --overlap-grad-reduce",
	         "{\"ranks\": 16, \"tp\": 2, \"pp\": 2, \"dp\": 4, \"zero\": 1, "
	         "\"micro_batches\": 4, \"vocabulary\": 256, \"tied\": true, "
	         "\"element_bytes\": 2, \"gradient_bytes\": 4, \"positions\": "
	         "true, \"sequence_parallel\": true, \"feed_forward\": 256, "
	         "\"framework\": \"Megatron-LM\", \"not_understood\": [], "
	         "\"harmless\": 2}"},
	        {"--world-size 8 " GPT "--swiglu --disable-bias-linear "
	         "--normalization RMSNorm --position-embedding-type rope "
	         "--untie-embeddings-and-output-weights --group-query-attention "
	         "--num-query-groups 2 --fp16 --context-parallel-size 2 "
	         "--cp-comm-type a2a --grad-reduce-in-bf16",
	         "{\"gated\": true, \"bias\": false, \"norm_bias\": false, "
	         "\"positions\": false, \"tied\": false, \"kv_hidden\": 16, "
	         "\"feed_forward\": 128, \"cp\": 2, \"context\": "
	         "\"all-to-all\", \"gradient_bytes\": 2, \"zero\": 0}"},
	        {"--world-size 8 " GPT "--num-experts 4 --moe-router-topk 1 "
	         "--expert-model-parallel-size 4 --moe-ffn-hidden-size 32 "
	         "--moe-shared-expert-intermediate-size 64 "
	         "--moe-expert-capacity-factor 1.25",
	         "{\"experts\": 4, \"ep\": 4, \"top_k\": 1, "
	         "\"expert_feed_forward\": 32, \"shared_experts\": 2, "
	         "\"capacity_factor\": 1.25, \"element_bytes\": 4, "
	         "\"gradient_bytes\": 4}"},
	        /* What changes communication and is not known is named. */
	        {"--world-size 4 " GPT "--pipeline-model-parallel-size 2 "
	         "--num-layers-per-virtual-pipeline-stage 1 --recompute-granularity "
	         "full --kv-channels 16 --moe-layer-freq 2 --expert-parallel-magic --data-path 'my data' "
	         "--normalization Odd",
	         "{\"chunks\": 2, \"recompute\": true, \"attention_hidden\": "
	         "128, \"kv_hidden\": 128, \"not_understood\": "
	         "[\"moe_layer_freq=2\", \"expert_parallel_magic\", "
	         "\"normalization=Odd\"], \"harmless\": 1}"},
	        /* Hydra's words, and the last wins. */
	        {"python train.py trainer.num_nodes=2 trainer.devices=4 "
	         "+model.num_layers=2 model.hidden_size=8 model.hidden_size=16 "
	         "model.encoder_seq_length=8 "
	         "model.optim.name=distributed_fused_adam",
	         "{\"ranks\": 8, \"layers\": 2, \"hidden\": 16, \"zero\": 1, "
	         "\"framework\": \"NeMo\", \"assumed\": [\"a micro batch of 1\", "
	         "\"no vocabulary: embedding and loss are left out\"]}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_error err = {""};

		check(of_words(cases[i].line, 0, &err), cases[i].want, &err);
	}
}

#define MODEL "\"hidden_size\": 8, \"num_hidden_layers\": 2, "

static void test_files(void **state)
{
	static const struct {
		const char *name, *text;
		int ranks;
		const char *want;
	} cases[] = {
	        {"ds.json",
	         "{" MODEL "\"zero_optimization\": {\"stage\": 3, "
	         "\"overlap_comm\": true, \"zero_hpz_partition_size\": 8}, "
	         "\"train_micro_batch_size_per_gpu\": \"auto\", "
	         "\"gradient_accumulation_steps\": 2, \"bf16\": {\"enabled\": "
	         "true}, \"fp16\": {\"enabled\": false}}",
	         4,
	         "{\"zero\": 3, \"dp\": 4, \"micro_batches\": 2, "
	         "\"element_bytes\": 2, \"gradient_bytes\": 2, \"framework\": "
	         "\"DeepSpeed\", \"not_understood\": "
	         "[\"zero_optimization.zero_hpz_partition_size=8\"]}"},
	        {"ds.json",
	         "{" MODEL "\"zero_optimization\": {\"stage\": 2, "
	         "\"reduce_scatter\": false}, \"model_type\": \"llama\"}",
	         4,
	         "{\"zero\": 2, \"gradients\": \"all-reduce\", \"gated\": true, "
	         "\"tied\": false, \"element_bytes\": 4}"},
	        /* It sums them all the same, unless it is told not to. */
	        {"ds.json", "{" MODEL "\"zero_optimization\": {\"stage\": 1}}", 4,
	         "{\"zero\": 1, \"gradients\": \"all-reduce\"}"},
	        {"ds.json",
	         "{" MODEL "\"zero_optimization\": {\"stage\": 2, "
	         "\"use_multi_rank_bucket_allreduce\": false}}",
	         4, "{\"zero\": 2, \"gradients\": null}"},
	        {"t.toml",
	         "# a run\n[model]\nname = \"llama3\"\nflavor = '8B'\n"
	         "[training]\nlocal_batch_size = 2  # each\nseq_len=8192\n"
	         "dataset = \"\"\"c4\nmore\"\"\"\n[parallelism]\n"
	         "tensor_parallel_degree = 8\n"
	         "data_parallel_replicate_degree = 2\n"
	         "data_parallel_shard_degree = -1\n[checkpoint]\n"
	         "exclude = [\n  \"a]\", # one\n  'b',\n]\n\"o.p\".q = {x = 1}\n",
	         64,
	         "{\"tp\": 8, \"dp\": 8, \"shard\": 4, \"zero\": 3, "
	         "\"micro_batch\": 2, \"micro_batches\": 1, \"kv_hidden\": "
	         "1024, \"feed_forward\": 14336, \"vocabulary\": 128256, "
	         "\"sequence_parallel\": true, \"element_bytes\": 2, "
	         "\"gradient_bytes\": 4, \"framework\": \"torchtitan\"}"},
	        {"t.toml",
	         "[model]\nflavor = \"debugmodel\"\n[training]\n"
	         "batch_size = 4\nseq_len = 64\n[parallelism]\n"
	         "pipeline_parallel_degree = 2\n"
	         "pipeline_parallel_schedule = \"1F1B\"\n"
	         "context_parallel_degree = 2\n",
	         8, "{\"not_understood\": [], \"pp\": 2, \"cp\": 2, \"zero\": 1, "
	            "\"micro_batch\": 1, \"micro_batches\": 4}"},
	        {"n.yaml",
	         "---\n# NeMo\nname: gpt\ntrainer:\n  devices: 8\n"
	         "  num_nodes: 2 # of them\n  precision: bf16\nmodel:\n"
	         "  micro_batch_size: 2\n  global_batch_size: 32\n"
	         "  tensor_model_parallel_size: 2\n  encoder_seq_length: 128\n"
	         "  num_layers: 4\n  hidden_size: 64\n"
	         "  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
	         "  tokenizer:\n    vocab_size: \"1000\"\n"
	         "  files: [a,\n    b]\n  text: |\n    x: 1\n\n    y\n"
	         "  list:\n  - num_layers: 9\n    hidden_size: 3\n"
	         "  optim: &o\n    name: distributed_fused_adam\n"
	         "  bias: false\n",
	         0,
	         "{\"ranks\": 16, \"tp\": 2, \"dp\": 8, \"zero\": 1, "
	         "\"layers\": 4, \"hidden\": 64, \"vocabulary\": 1024, "
	         "\"micro_batches\": 2, \"bias\": false, \"gradient_bytes\": 4, "
	         "\"framework\": \"NeMo\"}"},
	        /* What it sends is not a gradient's size. */
	        {"d.json",
	         "{\"train_micro_batch_size_per_gpu\": 1, \"hidden_size\": 64, "
	         "\"num_layers\": 2, \"seq_length\": 32, \"optimizer\": "
	         "{\"type\": \"OneBitAdam\", \"params\": {\"lr\": 1}}}",
	         8, "{\"not_understood\": [\"optimizer.type=OneBitAdam\"]}"},
	        /* A value goes on in deeper lines; names that only sound so. */
	        {"l.yaml",
	         "run:\n  size: ${multiply:${training.model.tp},\n"
	         "      ${training.model.pp}}\ntrainer:\n  devices: 8\n"
	         "  num_nodes: 2\nmodel:\n  encoder_seq_length: 128\n"
	         "  num_layers: 4\n  hidden_size: 64\n"
	         "  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
	         "  layernorm_zero_centered_gamma: true\n  fp8_hybrid: true\n"
	         "  optim:\n    name: mcore_distributed_optim\n",
	         0,
	         "{\"not_understood\": [], \"ranks\": 16, \"zero\": 1, "
	         "\"layers\": 4, \"hidden\": 64, \"framework\": \"NeMo\"}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_error err = {""};

		check(cpl_signature_from_config(
		              cases[i].text, strlen(cases[i].text),
		              cases[i].name, cases[i].ranks, &err),
		      cases[i].want, &err);
	}
}

/* Sums by group: a rank of the first of two stages, and what all send. */
static void test_communication(void **state)
{
	struct cpl_error err = {""};

	check(of_words("--world-size 4 --num-layers 2 --hidden-size 2 "
	               "--seq-length 2 --pipeline-model-parallel-size 2 "
	               "--bf16 --position-embedding-type rope",
	               0, &err),
	      /* 74 parameters, of which 2 LayerNorms more in the last stage (4): 2
	       * groups of 2, each twice half of 4 (74) and 4 (78); 8 bytes to the
	       * next stage and back. */
	      "{\"communication\": [{\"phase\": \"step\", \"group\": \"dp_group\", "
	      "\"collective\": \"all_reduce\", \"size\": 2, \"groups\": 2, "
	      "\"calls\": 1, \"bytes\": 296, \"sent\": 1216}, {\"phase\": "
	      "\"step\", \"group\": \"pp_group\", \"collective\": \"isend\", "
	      "\"size\": 2, \"groups\": 2, \"calls\": 1, \"bytes\": 8, \"sent\": "
	      "32}]}",
	      &err);
}

/* However many stages lie between the first and the last, which have the embedding:
 * a group for each rank of a stage. */
static void test_embedding_groups(void **state)
{
	static const struct {
		int pp, groups;
	} cases[] = {{2, 8}, {4, 4}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_error err = {""};
		char line[512];
		struct cpl_signature *sig;
		json_t *recorded, *row;
		size_t k;
		int seen = 0;

		snprintf(line, sizeof(line),
		         "--world-size 16 " GPT
		         "--pipeline-model-parallel-size %d "
		         "--global-batch-size 16",
		         cases[i].pp);
		sig = of_words(line, 0, &err);
		if (!sig)
			fail_msg("%s", err.text);
		recorded = json_loads(sig->recorded, 0, NULL);
		json_array_foreach(json_object_get(recorded, "communication"),
		                   k, row)
		{
			if (strcmp(json_string_value(
			                   json_object_get(row, "group")),
			           "embedding_group") != 0)
				continue;
			seen++;
			assert_int_equal(json_integer_value(json_object_get(
			                         row, "size")),
			                 2);
			assert_int_equal(json_integer_value(json_object_get(
			                         row, "groups")),
			                 cases[i].groups);
		}
		assert_int_equal(seen, 1);
		json_decref(recorded);
		cpl_signature_free(sig);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *text, *why;
	} bad[] = {
	        {NULL, "--num-layers 2", "how many ranks?"},
	        {NULL, "--world-size 4 --hidden-size 8",
	         "the number of layers is missing"},
	        {NULL, "--world-size 4 --num-layers 8",
	         "the hidden size is missing"},
	        {NULL, "--world-size 4 --num-layers 2147483648",
	         "num_layers: 2147483648 is no number"},
	        {NULL, "--world-size 4 --num-layers 1.5",
	         "num_layers: 1.5 is no number"},
	        {NULL, "--world-size 9 " GPT "--tensor-model-parallel-size 2",
	         "9 ranks are no multiple of tp 2"},
	        {NULL, "--world-size 99999999 " GPT, "99999999 ranks are no"},
	        {NULL, "--world-size 4 " GPT "--global-batch-size 6",
	         "the global batch, 6, is no multiple"},
	        {NULL, "--world-size 6 " GPT "--pipeline-model-parallel-size 3",
	         "n: phase 1: pattern: llm: \"layers\" is 4, no multiple"},
	        {NULL,
	         "--world-size 4 --num-layers 2 --hidden-size 8 "
	         "--tensor-model-parallel-size 2",
	         "the length of a sequence is missing"},
	        {NULL,
	         "--world-size 4 " GPT "--pipeline-model-parallel-size 2 "
	         "--num-layers-per-virtual-pipeline-stage 3",
	         "4 layers are no multiple of 2 stages of 3"},
	        {NULL,
	         "--world-size 4 " GPT "--use-distributed-optimizer "
	         "--num-distributed-optimizer-instances 3",
	         "3 replicas do not divide 4"},
	        {"x.toml", "[parallelism]\ndata_parallel_shard_degree = 3\n",
	         "3 shards times 1 replicas are not the 2"},
	        {"x.json", "[]", "x.json: is no object"},
	        {"x.json", "{", "x.json:"},
	        {"x", " {", "x:"},
	        {"x", "# y\n[a\n", "x:2: a table's name has no end"},
	        {"x", "a = \"b\n", "x:1: a text has no end"},
	        {"x", "a: 1\nb\n", "x:2: 'key: value' is expected"},
	        {"x.toml", "[a\n", "x.toml:1: a table's name has no end"},
	        {"x.toml", "[]\n", "x.toml:1: a key is missing"},
	        {"x.toml", "a 1\n", "x.toml:1: '=' is missing"},
	        {"x.toml", "a =\n", "x.toml:1: a value is missing"},
	        {"x.toml", "a = \"b\n", "x.toml:1: a text has no end"},
	        {"x.toml", "\na = [1,\n", "x.toml:2: a '[' has no end"},
	        {"x.toml", "a = \"b\" c\n", "x.toml:1: goes on behind"},
	        {"x.yaml", "a: 1\nb\n", "x.yaml:2: 'key: value' is expected"},
	        {"x.yaml", "a:\n\tb: 1\n", "x.yaml:2: is indented by a tab"},
	        {"x.yaml", "a: [1\n", "x.yaml:1: a '[' has no end"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig =
		        bad[i].name ? cpl_signature_from_config(
		                              bad[i].text, strlen(bad[i].text),
		                              bad[i].name, 2, &err)
		                    : of_words(bad[i].text, 0, &err);

		cpl_signature_free(sig);
		if (sig || strncmp(err.text, bad[i].why, strlen(bad[i].why)))
			fail_msg("%s: '%s', not '%s'", bad[i].text, err.text,
			         bad[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_words),
	        cmocka_unit_test(test_files),
	        cmocka_unit_test(test_communication),
	        cmocka_unit_test(test_embedding_groups),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
