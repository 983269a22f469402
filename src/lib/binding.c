/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

#include "binding/binding.h"

struct commplace_binding {
	int ranks;
	double cost, cost_packed;
	int *first; /* [ranks + 1] */
	int *cpu;   /* those of rank i: first[i] .. first[i + 1] - 1 */
};

static int keep(struct commplace_binding *binding,
                const struct cpl_bind_result *result, struct cpl_error *err)
{
	size_t n = (size_t)result->ranks;
	int total = 0, cpu;

	binding->first = malloc((n + 1) * sizeof(*binding->first));
	if (!binding->first)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		binding->first[i] = total;
		total += hwloc_bitmap_weight(result->cpuset[i]);
	}
	binding->first[n] = total;
	binding->cpu = malloc(((size_t)total + 1) * sizeof(*binding->cpu));
	if (!binding->cpu)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		int *to = binding->cpu + binding->first[i];

		hwloc_bitmap_foreach_begin(cpu, result->cpuset[i]) *to++ = cpu;
		hwloc_bitmap_foreach_end();
	}
	binding->ranks = result->ranks;
	binding->cost = result->cost;
	binding->cost_packed = result->cost_default;
	return 0;
}

static int check_ranks(const struct cpl_signature *sig, const int *rank, int n,
                       struct cpl_error *err)
{
	if (n < 1)
		return cpl_fail(err, "no ranks are given");
	for (int i = 0; i < n; i++)
		if (rank[i] < 0 || rank[i] >= sig->ranks)
			return cpl_fail(err, "rank %d is outside 0 .. %d",
			                rank[i], sig->ranks - 1);
	return cpl_lib_check_distinct("rank", rank, n, sig->ranks, err);
}

static int make(const struct cpl_signature *sig, const int *rank, int n,
                const char *topology, const char *algorithm,
                const struct commplace_options *o,
                struct commplace_binding *binding, struct cpl_error *err)
{
	const struct cpl_binder *binder = cpl_binder_find(algorithm, err);
	struct cpl_bind_result result = {0};
	struct cpl_bind_request req = {.cores_per_rank = o->per_rank,
	                               .by_pu = o->by_cpu};
	struct cpl_comm *all = NULL, *comm = NULL;
	int rc = -1;

	if (!binder || check_ranks(sig, rank, n, err))
		return -1;
	if (cpl_topology_load(topology, &req.topology, err))
		return -1;
	all = cpl_signature_total(sig, err);
	if (all)
		req.comm = comm = cpl_comm_subset(all, rank, n, err);
	if (comm)
		rc = cpl_bind(binder, &req, &result, err);
	if (!rc)
		rc = keep(binding, &result, err);
	cpl_bind_result_free(&result);
	cpl_comm_free(comm);
	cpl_comm_free(all);
	hwloc_topology_destroy(req.topology);
	return rc;
}

struct commplace_binding *commplace_binding_make(
        const struct commplace_signature *signature, const int *rank, int n,
        const char *topology, const char *algorithm,
        const struct commplace_options *options, struct commplace_error *err)
{
	struct commplace_binding *binding = calloc(1, sizeof(*binding));
	struct cpl_error why = {""};

	if (!binding)
		cpl_fail_memory(&why);
	else if (!make(cpl_lib_signature(signature), rank, n, topology,
	               algorithm, options ? options : &cpl_lib_defaults,
	               binding, &why))
		return binding;
	commplace_binding_free(binding);
	return cpl_lib_made(NULL, &why, err);
}

void commplace_binding_free(struct commplace_binding *binding)
{
	if (!binding)
		return;
	cpl_free_all(binding->first, binding->cpu, binding);
}

const int *commplace_binding_cpus(const struct commplace_binding *binding,
                                  int i, int *n)
{
	if (i < 0 || i >= binding->ranks)
		return NULL;
	*n = binding->first[i + 1] - binding->first[i];
	return binding->cpu + binding->first[i];
}

READ(double, binding_cost, binding, binding->cost)
READ(double, binding_cost_packed, binding, binding->cost_packed)

const char *commplace_binding_algorithm(int i)
{
	const struct cpl_binder *binder = cpl_binder_at(i);

	return binder ? binder->name : NULL;
}
