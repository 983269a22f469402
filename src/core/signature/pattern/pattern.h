/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built-in generators of a phase's traffic, which make the matrix row by row.
 * The last dimension of a grid of ranks is the fastest. */
#ifndef CPL_SIGNATURE_PATTERN_H
#define CPL_SIGNATURE_PATTERN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"
#include "graph/comm.h"
#include "signature/rounds.h"

/* Patterns that could have more are refused: they take too long to count. */
#define PATTERN_MAX_ENTRIES INT64_C(100000000000)
#define PATTERN_MAX_DIMS 8
#define PATTERN_MAX_DEGREE 4096

/* Bytes and messages of a training step: see llm.c. */
struct pattern_llm {
	int tp, dp, pp, ep, chunks;
	double tensor, tensor_messages; /* to the next one of the ring */
	double pipeline, pipeline_messages; /* to a stage, with one chunk */
	double gradients, first, last; /* of parameters: of all stages, more */
	double expert_gradients;
	double expert, expert_messages; /* to each of the ep */
};

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
	/* Check params and fill the pattern: ranks, max_degree and its own
	 * fields. *p is zeroed. -1 with err. */
	int (*parse)(const json_t *params, struct pattern *p,
	             struct cpl_error *err);
	/* Entries of one row, in any order, pairs may repeat: at most
	 * max_degree. The count. Writes to `out` only. */
	int64_t (*row)(const struct pattern *p, int rank,
	               struct cpl_comm_entry *out);
	/* From rank on, how many ranks' rows are this one's shifted with the
	 * rank; at least 1. NULL: 1. */
	int (*alike)(const struct pattern *p, int rank);
	/* Whoever sends to a rank gets as many bytes from it. */
	bool symmetric;
	/* See signature/rounds.h; NULL: all is sent at once. */
	int64_t (*rounds)(const struct pattern *p);
	struct cpl_exchange (*round)(const struct pattern *p, int64_t round,
	                             int rank);
};

extern const struct cpl_registry cpl_patterns;

/* Put messages of a rank's row of a collective behind n others in out[]: how
 * many there are then. unit: bytes. */
struct pattern_step;
typedef int64_t pattern_put(const struct pattern *p, int rank,
                            const struct pattern_step *step, double unit,
                            struct cpl_comm_entry *out, int64_t n);

/* The two-tier ones: at most dim[0] + dim[1] + dim[2] messages. */
pattern_put pattern_two_tier_scatter, pattern_two_tier_allgather;
/* All-reduces, unit: the whole vector; fewer than 32 messages. */
pattern_put pattern_double_tree, pattern_bine;

/* What a rank sends in one execution of a collective operation by one of its
 * algorithms, both known to be in the table of collective.c and not by tiers:
 * into out[ranks + 32], the count. root is of those that have one. */
int64_t pattern_collective_row(const char *operation, const char *algorithm,
                               int ranks, int root, int rank, double bytes,
                               struct cpl_comm_entry *out);

/* Helpers for parse(): each takes one field, which must be there. */
int pattern_dims(const json_t *params, int most, struct pattern *p,
                 struct cpl_error *err);
int pattern_ranks(const json_t *params, struct pattern *p,
                  struct cpl_error *err);
int pattern_bytes(const json_t *params, struct pattern *p,
                  struct cpl_error *err);
/* Optional, 1 when absent. */
int pattern_seed(const json_t *params, struct pattern *p,
                 struct cpl_error *err);

#endif
