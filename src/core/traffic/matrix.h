/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose matrix is stored: their messages added up to flows between
 * routers, which are routed or handed out. See workload.h.
 */
#pragma once

#include "traffic/workload.h"

/*
 * Reusable buffers. Between calls head is all -1, row all 0 and the bitmaps are
 * empty, so that a small job on a large machine need not clear the whole
 * machine's arrays. All 0: none yet.
 */
struct cpl_matrix {
	int n_words;     /* of a bitmap over routers */
	int *head;       /* [n_routers] lowest rank on the router, or -1 */
	double *row;     /* [n_routers] bytes to each router from this one */
	uint64_t *used;  /* routers that hold ranks */
	uint64_t *heard; /* routers with an entry in row */
	int max_ranks;
	int *next;   /* [max_ranks] next rank on the same router, or -1 */
	int *router; /* [max_ranks] */
	int *node;   /* [max_ranks] */
	/* For routings that solve all flows together. */
	int64_t max_flows;
	struct cpl_flows flows;
	size_t scratch_size;
	void *scratch;
};

/* Room for a job with this matrix under this routing on one network; which, for
 * all calls, is the same. 0, or -1 with err (memory). */
int cpl_matrix_reserve(struct cpl_matrix *m, const struct cpl_network *net,
                       const struct cpl_routing *routing,
                       const struct cpl_comm *comm, struct cpl_error *err);
void cpl_matrix_free(struct cpl_matrix *m);

/*
 * Add the job's traffic to load; sums are zeroed. comm is its matrix; each
 * rank's port is cable[rank] (NULL: nodes have one). Under an
 * adaptive routing only what no routing changes: injection, ejection and sums
 * of bytes; what routers send each other is left in m->flows. No allocation.
 * O(entries + flows * path length), or what solve says.
 */
void cpl_matrix_add(struct cpl_matrix *m, const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    const struct cpl_job *job, const struct cpl_comm *comm,
                    const int *cable, struct cpl_load *load,
                    struct cpl_job_sums *sums);
