/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of one adaptive solve, its memory, and what is done link
 * by link.
 */
#ifndef CPL_ROUTING_ADAPTIVE_SOLVER_H
#define CPL_ROUTING_ADAPTIVE_SOLVER_H

#include "routing/adaptive/adaptive_internal.h"

#define CPL_EXPOSURE 50
#define CPL_AFTER_EXPOSURE 10

struct cpl_solver {
	struct cpl_adaptive *a;
	struct cpl_path_table table;
	struct cpl_solver_job *job; /* [jobs] */
	int n_shards;
	struct cpl_shard shard[CPL_SHARDS];
	double *left; /* [cells] */
	bool blocks;  /* for any job */
	/* With transits, else NULL: of each iteration what was left (view) and
	 * what each unit asked got (sum). */
	bool transits;
	struct cpl_cell *seen; /* [iterations][cells] */
	struct cpl_segment_view *far;
	double scale; /* of bytes to weights */
	double unit;  /* of bandwidths: the largest */
	int steps;    /* of the exposure */
	int iteration;
	bool delivers;
	double more[CPL_NETWORK_MAX_CLASSES]; /* exposed next, per class */
	void (*pass)(struct cpl_solver *s, struct cpl_solver_job *job,
	             struct cpl_shard *shard);
	struct cpl_solver_job *at; /* those that a pass goes over */
};

/* Hands out pieces of one block; without a block only counts. */
struct cpl_arena {
	char *at;
	size_t used;
};

/* The jobs, and how each is gone over. Returns the flows of all, or -1 with
 * err (memory). */
int64_t cpl_solver_jobs(struct cpl_solver *s, struct cpl_error *err);
/* Memory for all arrays; the path table is filled where there is a block. */
void cpl_solver_allot(struct cpl_solver *s, int64_t flows,
                      struct cpl_arena *arena);

static inline size_t cpl_solver_cells(const struct cpl_solver *s)
{
	return (size_t)s->table.groups * (size_t)s->table.cells;
}

/* All links as they are before the first iteration. */
void cpl_links_start(struct cpl_solver *s);
/* From what is asked for to what each unit of it gets. */
void cpl_links_divide(struct cpl_solver *s);
/* From what is granted to what is left, with the next exposure. */
void cpl_links_settle(struct cpl_solver *s);
/* What links show in this iteration, for when the bytes are delivered; and all
 * shards' cells as they were then. */
void cpl_links_keep(struct cpl_solver *s);
void cpl_links_recall(struct cpl_solver *s);
/* The shards' bytes to the caller's load. */
void cpl_links_add_bytes(struct cpl_solver *s);

#endif
