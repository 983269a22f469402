/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One job's traffic on top of what a load holds, for tests (after cmocka.h). */
#pragma once

#include <string.h>

#include "traffic/workload.h"

/* The same job under n routings, each on top of its load. */
static inline void add_each(const struct cpl_network *net,
                            const struct cpl_job *job, int threads, int n,
                            const struct cpl_routing *const *routing,
                            struct cpl_load *load, struct cpl_job_sums *sums)
{
	struct cpl_workload *w[16];
	struct cpl_error err = {""};

	assert_in_range(n, 0, 16);
	for (int i = 0; i < n; i++) {
		w[i] = cpl_workload_new(net, threads, &err);
		assert_non_null(w[i]);
		cpl_workload_clear(w[i], &load[i]);
	}
	if (n && cpl_workload_add_each(w, routing, n, job, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < n; i++) {
		const struct cpl_load *sum = cpl_workload_load(w[i]);

		assert_int_equal(cpl_workload_solve(w[i], &err), 0);
		memcpy(load[i].link, sum->link,
		       (size_t)net->n_links * sizeof(double));
		memcpy(load[i].injection, sum->injection,
		       (size_t)net->n_nodes * sizeof(double));
		memcpy(load[i].ejection, sum->ejection,
		       (size_t)net->n_nodes * sizeof(double));
		if (sums)
			sums[i] = *cpl_workload_sums(w[i], 0);
		cpl_workload_free(w[i]);
	}
}

/* A matrix with rank r on rank_node[r]. */
static inline void add_traffic(const struct cpl_network *net,
                               const struct cpl_routing *routing,
                               const struct cpl_comm *comm,
                               const int *rank_node, struct cpl_load *load,
                               struct cpl_job_sums *sums)
{
	const struct cpl_job job = {.comm = comm, .node = rank_node};

	add_each(net, &job, 1, 1, &routing, load, sums);
}
