/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lines.h"
#include "signature/flags/flags.h"

/* A key and its value as texts: "training.seq_len" and "2048". Keys are in lower
 * case with "_" for "-"; a flag without a value has "". */
struct flag {
	char *key, *value;
};

struct flag_list {
	struct flag *flag;
	int64_t n;
};

void flags_free(struct flag_list *list);
/* This copies both behind the others. It returns 0, or -1 with err. */
int flags_push(struct flag_list *list, const char *key, size_t key_length,
               const char *value, size_t value_length, struct cpl_error *err);

/* Readers: of words; of a file by its name or first byte. 0, or -1 with err. */
int flags_read_words(const char *const *word, int n, struct flag_list *out,
                     struct cpl_error *err);
int flags_read_text(const char *text, size_t length, const char *name,
                    struct flag_list *out, struct cpl_error *err);
int flags_read_toml(struct cpl_lines *in, struct flag_list *out);
int flags_read_yaml(struct cpl_lines *in, struct flag_list *out);

/* What is known of the training; numbers, and 0 or 1. */
enum setting {
	SET_RANKS,
	SET_NODES,
	SET_PER_NODE,
	SET_TP,
	SET_CP,
	SET_DP_SHARD,
	SET_DP_REPLICATE,
	SET_INSTANCES, /* of the distributed optimizer */
	SET_PP,
	SET_EP,
	SET_EXPERT_TP,
	SET_CHUNKS,
	SET_CHUNK_LAYERS,
	SET_INTERLEAVED,
	SET_SEQUENCE_PARALLEL,
	SET_LAYERS,
	SET_HIDDEN,
	SET_FEED_FORWARD,
	SET_HEADS,
	SET_KV_HEADS,
	SET_GROUPED, /* queries */
	SET_HEAD_WIDTH,
	SET_SEQUENCE,
	SET_VOCABULARY,
	SET_VOCABULARY_MULTIPLE,
	SET_GATED,
	SET_BIAS,
	SET_NORM_BIAS,
	SET_POSITIONS,
	SET_TIED,
	SET_EXPERTS,
	SET_TOP_K,
	SET_EXPERT_FEED_FORWARD,
	SET_SHARED_WIDTH, /* of all shared experts together */
	SET_SHARED_EXPERTS,
	SET_CAPACITY, /* percent */
	SET_MICRO_BATCH,
	SET_GLOBAL_BATCH,
	SET_ACCUMULATION,
	SET_HALF_FLOAT, /* 1: bf16, 2: fp16, 0: neither */
	SET_GRADIENT_BYTES,
	SET_ZERO,
	SET_RESHARD, /* 2: as the framework does by itself */
	SET_REDUCE_SCATTER,
	SET_MULTI_RANK, /* DeepSpeed's use_multi_rank_bucket_allreduce */
	SET_SHARD,
	SET_CONTEXT,
	SET_RECOMPUTE,
	SET_DISPATCHER, /* 1: tokens go to experts by all-to-all */
	SET_ASIDE,      /* is as it has to be */
	SET_FRAMEWORK, /* see enum framework */
	SET_LLAMA,     /* a model of that kind: what it has by default */
	SETTINGS,
};

enum framework { ANY, MEGATRON, DEEPSPEED, TORCHTITAN, NEMO };

struct flag_settings {
	bool known[SETTINGS];
	int64_t value[SETTINGS];
	json_t *not_understood, *assumed; /* arrays of texts */
	int64_t harmless;
};

static inline void flags_set(struct flag_settings *s, enum setting which,
                             int64_t value)
{
	s->known[which] = true;
	s->value[which] = value;
}

/* This takes a value where the key is known, or notes what it is. 0, or -1 with err
 * that names the key. */
int flags_take(struct flag_settings *s, const struct flag *flag,
               struct cpl_error *err);

/* "llama3", "8B": the sizes of a model that torchtitan knows by its flavour. false:
 * there is none. */
bool flags_take_flavour(struct flag_settings *s, const char *flavour);

/* This makes the "pattern" object and *ranks. NULL with err. */
json_t *flags_make_pattern(struct flag_settings *s, int *ranks,
                           struct cpl_error *err);
