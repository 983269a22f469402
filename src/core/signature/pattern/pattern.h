/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built-in generators make the matrix of a phase's traffic row by row. The last
 * dimension of a grid of ranks is the fastest. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"
#include "graph/comm.h"
#include "signature/pattern/grid.h"
#include "graph/rank_grid.h"
#include "signature/rounds.h"

/* Patterns that could have more entries are refused, since they take too long to
 * count. */
#define PATTERN_MAX_ENTRIES INT64_C(100000000000)
#define PATTERN_MAX_DIMS 8
#define PATTERN_MAX_DEGREE 4096

/* Stages of a pipeline in which a rank takes part in a call. */
enum llm_stage {
	LLM_ONLY = 1, /* there is one */
	LLM_FIRST = 2,
	LLM_MIDDLE = 4,
	LLM_LAST = 8,
	LLM_EVERY = 15,
};

struct llm_call {
	unsigned stages;
	enum grid_kind kind;
	struct grid_call call;
};

#define LLM_MAX_CALLS 40

/* A training step; llm_calls.c says what is called. */
struct pattern_llm {
	struct train_grid grid;
	int n_calls;
	struct llm_call call[LLM_MAX_CALLS];
};

/* These are the sizes of the model as they are in the object; see
 * commplace-signature(5). */
struct llm_sizes {
	int layers, hidden, sequence, micro_batch, micro_batches, vocabulary;
	int element, gradient, experts, top_k, chunks;
	int attention_hidden, kv_hidden, feed_forward, expert_feed_forward;
	int shared_experts;
	int zero, prefetch;
	double capacity_factor; /* 0: as many as there are tokens */
	bool sequence_parallel, gated, bias, norm_bias, positions, tied;
	bool complete, reshard, sum_gradients, recompute;
	enum llm_context {
		LLM_RING,
		LLM_ALL_GATHER,
		LLM_ALL_TO_ALL,
	} context; /* what ranks of cp exchange keys and values by */
};

/* This fills m->call for the grid. */
void pattern_llm_calls(struct pattern_llm *m, const struct llm_sizes *s);

/* This is one of the stages of a rank. */
enum llm_stage pattern_llm_stage(const struct train_grid *grid, int rank);

struct pattern {
	int ranks;
	int64_t max_degree; /* most entries that a row can have */
	int n_dims;
	int dim[PATTERN_MAX_DIMS];
	double bytes[3];  /* to neighbours that differ in 1, 2, 3 axes */
	unsigned classes; /* stencil: bit n: neighbours in n axes */
	bool periodic;
	int points;
	int axis;      /* many-to-many */
	int range;     /* umesh: partners within rank +- range */
	int degree[2]; /* umesh, spread: fewest and most partners */
	uint64_t seed;
	int npb_size, npb_iterations;
	int algorithm, root; /* collective */
	int *next;           /* permutation: [ranks] */
	struct pattern_llm llm;
};

struct cpl_pattern {
	const struct pattern_type *type;
	struct pattern params;
	char *text; /* the "pattern" object, for writing */
};

struct pattern_type {
	CPL_ENTRY;
	const char *const *keys; /* of its object, NULL-terminated */
	/* This checks params and fills the pattern: ranks, max_degree and its own
	 * fields. *p is zeroed before. It returns -1 with err. */
	int (*parse)(const json_t *params, struct pattern *p,
	             struct cpl_error *err);
	/* This writes the entries of one row in any order to `out` only, and
	 * returns their number, at most max_degree. Pairs may repeat. */
	int64_t (*row)(const struct pattern *p, int rank,
	               struct cpl_comm_entry *out);
	/* This returns how many ranks from this one on have its row shifted with
	 * the rank, at least 1. NULL means 1. */
	int (*alike)(const struct pattern *p, int rank);
	/* Every rank gets as many bytes from another as it sends there. */
	bool symmetric;
	/* This writes the groups in which ranks communicate, or is NULL. */
	void (*groups)(const struct pattern *p, struct cpl_rank_grid *out);
	/* See signature/rounds.h; NULL means that all is sent at once. */
	int64_t (*rounds)(const struct pattern *p);
	struct cpl_exchange (*round)(const struct pattern *p, int64_t round,
	                             int rank);
};

extern const struct cpl_registry cpl_patterns;

/* This puts the messages of a rank's row of a collective behind n others in out[],
 * and returns how many there are then. The unit is bytes. */
struct pattern_step;
typedef int64_t pattern_put(const struct pattern *p, int rank,
                            const struct pattern_step *step, double unit,
                            struct cpl_comm_entry *out, int64_t n);

/* These have two tiers and at most dim[0] + dim[1] + dim[2] messages. */
pattern_put pattern_two_tier_scatter, pattern_two_tier_allgather,
        pattern_two_tier_broadcast;
/* These are all-reduces of fewer than 32 messages; the unit is the whole vector. */
pattern_put pattern_double_tree, pattern_bine;
/* This is one of the 2 log2(ranks) rounds of the second. */
struct cpl_exchange pattern_bine_round(const struct pattern *p, int64_t round,
                                       int rank, double unit);

/* This writes what a rank sends in one execution of a collective operation to
 * out[ranks + 32], and returns the number of entries. The operation and its
 * algorithm must be in the table of collective.c, and not in tiers. root only
 * counts if the operation has one. */
int64_t pattern_collective_row(const char *operation, const char *algorithm,
                               int ranks, int root, int rank, double bytes,
                               struct cpl_comm_entry *out);

/* These help parse(): each reads one field, which must be there. */
int pattern_dims(const json_t *params, int most, struct pattern *p,
                 struct cpl_error *err);
int pattern_ranks(const json_t *params, struct pattern *p,
                  struct cpl_error *err);
int pattern_bytes(const json_t *params, struct pattern *p,
                  struct cpl_error *err);
/* The field is optional; without it the seed is 1. */
int pattern_seed(const json_t *params, struct pattern *p,
                 struct cpl_error *err);
