/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "adapter.h"

#include <stdlib.h>

static bool whole_nodes(const job_record_t *job_ptr)
{
	return job_ptr->details->whole_node ||
	       (job_ptr->part_ptr && job_ptr->part_ptr->max_share == 0);
}

static bool counts_memory(const job_record_t *job_ptr)
{
	uint16_t type = slurm_conf.select_type_param;

	if (job_ptr->part_ptr && job_ptr->part_ptr->cr_type)
		type = job_ptr->part_ptr->cr_type;
	return type & CR_MEMORY;
}

static uint32_t free_cpus(const node_record_t *node_ptr)
{
	uint16_t used = 0;

	select_g_select_nodeinfo_get(node_ptr->select_nodeinfo,
	                             SELECT_NODEDATA_SUBCNT,
	                             NODE_STATE_ALLOCATED, &used);
	return node_ptr->cpus_efctv > used ? node_ptr->cpus_efctv - used : 0;
}

/* How many CPUs the memory that is left serves; UINT32_MAX: any number. */
static uint32_t memory_cpus(const job_record_t *job_ptr,
                            const node_record_t *node_ptr)
{
	uint64_t want = job_ptr->details->pn_min_memory, used = 0, left;

	select_g_select_nodeinfo_get(node_ptr->select_nodeinfo,
	                             SELECT_NODEDATA_MEM_ALLOC,
	                             NODE_STATE_ALLOCATED, &used);
	left = node_ptr->real_memory - node_ptr->mem_spec_limit;
	left = left > used ? left - used : 0;
	if (!want)
		return used ? 0 : UINT32_MAX;
	if (!(want & MEM_PER_CPU))
		return left >= want ? UINT32_MAX : 0;
	want &= ~MEM_PER_CPU;
	if (!want)
		return UINT32_MAX;
	return left / want < UINT32_MAX ? (uint32_t)(left / want) : UINT32_MAX;
}

/* Cores of core reservations that are kept from this job. */
static uint32_t reserved_cpus(const struct job_test *test, int node)
{
	const node_record_t *node_ptr = node_record_table_ptr[node];
	int first, last;

	if (!test->exc_core_bitmap)
		return 0;
	first = (int)cr_get_coremap_offset((uint32_t)node);
	last = (int)cr_get_coremap_offset((uint32_t)node + 1);
	if (last > bit_size(test->exc_core_bitmap))
		return node_ptr->cpus_efctv;
	return (uint32_t)bit_set_count_range(test->exc_core_bitmap, first,
	                                     last) *
	       (node_ptr->threads ? node_ptr->threads : 1);
}

int adapter_capacity(const struct job_test *test, struct capacity *out)
{
	const job_record_t *job_ptr = test->job_ptr;
	bool whole = whole_nodes(job_ptr), memory = counts_memory(job_ptr);

	out->n = node_record_count;
	out->cpus = calloc((size_t)out->n + 1, sizeof(*out->cpus));
	if (!out->cpus)
		return -1;
	inner.nodeinfo_set_all();
	for (int i = 0; i < out->n; i++) {
		const node_record_t *node_ptr = node_record_table_ptr[i];
		uint32_t cpus, taken, by_memory;

		if (!node_ptr || !bit_test(test->bitmap, i) ||
		    (whole && !bit_test(idle_node_bitmap, i)))
			continue;
		cpus = free_cpus(node_ptr);
		taken = reserved_cpus(test, i);
		cpus = cpus > taken ? cpus - taken : 0;
		if (whole && taken)
			cpus = 0;
		by_memory =
		        memory ? memory_cpus(job_ptr, node_ptr) : UINT32_MAX;
		out->cpus[i] = by_memory < cpus ? by_memory : cpus;
	}
	return 0;
}
