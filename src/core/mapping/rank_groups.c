/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/rank_groups.h"

#include <stdlib.h>
#include <string.h>

#include "graph/contract.h"
#include "graph/heap.h"
#include "graph/partition.h"

/* Less traffic between groups has to be this much less to count. */
#define GAIN 1e-9

void cpl_rank_groups_list_blocks(const int *size, int n, int ranks, int *of)
{
	int rank = 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < size[i] && rank < ranks; k++)
			of[rank++] = i;
}

int cpl_rank_groups_given(struct cpl_rank_groups *groups, const struct cpl_comm *comm,
                     const int *of, int n, struct cpl_error *err)
{
	size_t size = (size_t)comm->ranks * sizeof(*of);

	*groups = (struct cpl_rank_groups){.n = n, .of = malloc(size)};
	if (!groups->of)
		return cpl_fail_memory(err);
	memcpy(groups->of, of, size);
	groups->hosts =
	        cpl_comm_contract(comm, of, n, CPL_CONTRACT_INSIDE, err);
	return groups->hosts ? 0 : -1;
}

int cpl_rank_groups_blocks(struct cpl_rank_groups *groups, const struct cpl_comm *comm,
                      const int *size, int n, struct cpl_error *err)
{
	int *of = malloc((size_t)comm->ranks * sizeof(*of));

	*groups = (struct cpl_rank_groups){.n = n};
	if (!of)
		return cpl_fail_memory(err);
	cpl_rank_groups_list_blocks(size, n, comm->ranks, of);
	groups->hosts =
	        cpl_comm_contract(comm, of, n, CPL_CONTRACT_INSIDE, err);
	free(of);
	return groups->hosts ? 0 : -1;
}

void cpl_rank_groups_free(struct cpl_rank_groups *groups)
{
	free(groups->of);
	cpl_comm_free(groups->hosts);
	*groups = (struct cpl_rank_groups){0};
}

static void take(const struct cpl_comm *graph, struct cpl_heap *near,
                 double *pull, int rank, int group, int *of)
{
	of[rank] = group;
	if (cpl_heap_has(near, rank))
		cpl_heap_remove(near, rank);
	for (int64_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
		int other = graph->to[e];

		if (of[other] >= 0 || !(graph->bytes[e] > 0))
			continue;
		if (cpl_heap_has(near, other)) {
			pull[other] += graph->bytes[e];
			cpl_heap_raise(near, other);
		} else {
			pull[other] = graph->bytes[e];
			cpl_heap_push(near, other);
		}
	}
}

/* of: all -1. */
static void grow(const struct cpl_comm *graph, struct cpl_heap *near,
                 double *pull, const int *size, int n, int *of)
{
	int lowest = 0, left = graph->ranks;

	for (int i = 0; i < n; i++) {
		cpl_heap_clear(near);
		for (int k = 0; k < size[i] && left > 0; k++, left--) {
			while (of[lowest] >= 0)
				lowest++;
			take(graph, near, pull,
			     near->n ? near->item[0] : lowest, i, of);
		}
	}
}

int cpl_rank_groups_grow(struct cpl_rank_groups *groups, const struct cpl_comm *comm,
                    const struct cpl_comm *graph, const int *size, int n,
                    struct cpl_error *err)
{
	int ranks = comm->ranks, rc = -1;
	int *of = malloc((size_t)ranks * sizeof(*of));
	int *block = malloc((size_t)ranks * sizeof(*block));
	double *pull = calloc((size_t)ranks, sizeof(*pull)), cut;
	struct cpl_heap near = {0};

	*groups = (struct cpl_rank_groups){0};
	if (!of || !block || !pull) {
		cpl_fail_memory(err);
		goto out;
	}
	if (cpl_heap_init(&near, ranks, pull, err))
		goto out;
	for (int r = 0; r < ranks; r++)
		of[r] = -1;
	grow(graph, &near, pull, size, n, of);
	cpl_rank_groups_list_blocks(size, n, ranks, block);
	cut = cpl_graph_cut(graph, block);
	rc = 0;
	if (cpl_graph_cut(graph, of) < cut * (1 - GAIN))
		rc = cpl_rank_groups_given(groups, comm, of, n, err) ? -1 : 1;
	if (rc < 0)
		cpl_rank_groups_free(groups);
out:
	cpl_heap_free(&near);
	free(of);
	free(block);
	free(pull);
	return rc;
}
