/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of one evaluation of progressive-adaptive, CPU seconds of one thread:
 * all-to-all of one rank a node, on the first nodes, drawn ones, and every other
 * one. `sum` is of all bits of the link loads and the sums, to compare builds.
 * Usage: bench_progressive NETWORK.json [NODES [BYTES]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "routing/routing.h"
#include "traffic/workload.h"
#include "cpu_time.h"

#define N 21

static uint64_t mix(uint64_t hash, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (hash ^ bits) * UINT64_C(1099511628211);
}

static struct cpl_comm *all_to_all(int n, double bytes, struct cpl_error *err)
{
	size_t most = (size_t)n * (size_t)n;
	struct cpl_comm_entry *entry = malloc(most * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t k = 0;

	if (!entry)
		return NULL;
	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++)
			if (a != b)
				entry[k++] = (struct cpl_comm_entry){a, b,
				                                     bytes, 1};
	comm = cpl_comm_build(n, entry, k, err);
	free(entry);
	return comm;
}

/* Every node's place is drawn among all; or they are `step` apart. */
static void take_nodes(const struct cpl_network *net, int n, int step, int *node)
{
	char *taken = calloc((size_t)net->n_nodes, 1);

	for (int i = 0; i < n && taken; i++) {
		int at = step * i % net->n_nodes;

		if (!step)
			at = (int)cpl_random_below(1, 0, (uint64_t)i,
			                           (uint64_t)net->n_nodes);
		while (taken[at])
			at = (at + 1) % net->n_nodes;
		taken[at] = 1;
		node[i] = at;
	}
	free(taken);
}

static int measure(const struct cpl_network *net, const struct cpl_comm *comm,
                   const int *node, const char *name, struct cpl_error *err)
{
	const struct cpl_routing *routing = cpl_routing_find(net, "PA", err);
	struct cpl_job job = {.routing = routing, .comm = comm, .node = node};
	struct cpl_workload *w = cpl_workload_new(net, 1, err);
	uint64_t hash = UINT64_C(14695981039346656037);
	double seconds[N];

	for (int i = 0; i < N; i++) {
		double start = cpu_seconds();

		if (!routing || !w)
			return -1;
		cpl_workload_clear(w, NULL);
		if (cpl_workload_add(w, &job, err) < 0 ||
		    cpl_workload_solve(w, err))
			return -1;
		seconds[i] = cpu_seconds() - start;
	}
	for (int64_t l = 0; l < net->n_links; l++)
		hash = mix(hash, cpl_workload_load(w)->link[l]);
	hash = mix(hash, cpl_workload_sums(w, 0)->hop_bytes);
	hash = mix(hash, cpl_workload_sums(w, 0)->max_dilation);
	qsort(seconds, N, sizeof(*seconds), cpl_by_double);
	printf("%-12s median %7.3f ms  least %7.3f ms  sum %016llx\n", name,
	       1e3 * seconds[N / 2], 1e3 * seconds[0],
	       (unsigned long long)hash);
	cpl_workload_free(w);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 512, rc = 0;
	struct cpl_error err = {""};
	struct cpl_network *net = argc > 1 ? cpl_network_load(argv[1], &err)
	                                   : NULL;
	struct cpl_comm *comm =
	        all_to_all(n, argc > 3 ? atof(argv[3]) : 1e6, &err);
	int *node = calloc((size_t)n, sizeof(*node));

	if (!net || !comm || !node) {
		fprintf(stderr, "bench_progressive: %s\n", err.text);
		return 1;
	}
	take_nodes(net, n, 1, node);
	rc |= measure(net, comm, node, "first", &err);
	take_nodes(net, n, 0, node);
	rc |= measure(net, comm, node, "drawn", &err);
	take_nodes(net, n, 2, node);
	rc |= measure(net, comm, node, "every other", &err);
	if (rc)
		fprintf(stderr, "bench_progressive: %s\n", err.text);
	cpl_comm_free(comm);
	cpl_network_free(net);
	free(node);
	return rc ? 1 : 0;
}
