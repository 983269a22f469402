/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This counts the free CPUs of nodes as select/cons_tres does for a job. */
#include "select_hooks.h"

#if CPLSLURM_SERIES >= 2405
#include "src/interfaces/topology.h"
#endif

/* Tell whether the job keeps cores for the system itself (--core-spec). */
static bool specializes(const job_record_t *job_ptr)
{
	return (slurm_conf.conf_flags & CONF_FLAG_ASRU) &&
	       job_ptr->details->core_spec != NO_VAL16;
}

/* Tell whether the job is exclusive in this way; later series have bits for it. */
static bool exclusive_for(const job_record_t *job_ptr, uint8_t kind)
{
#if CPLSLURM_SERIES < 2405
	return job_ptr->details->whole_node == kind;
#else
	return job_ptr->details->whole_node & kind;
#endif
}

/* Tell whether the job wants nodes that nobody else uses. */
static bool whole_nodes(const job_record_t *job_ptr)
{
	return exclusive_for(job_ptr, WHOLE_NODE_REQUIRED) ||
	       specializes(job_ptr) ||
	       (job_ptr->part_ptr && job_ptr->part_ptr->max_share == 0);
}

static bool counts_memory(const job_record_t *job_ptr)
{
	uint16_t type = slurm_conf.select_type_param;

	if (job_ptr->part_ptr && job_ptr->part_ptr->cr_type)
		type = job_ptr->part_ptr->cr_type;
	return type & CR_MEMORY;
}

static uint32_t threads_of(const node_record_t *node_ptr)
{
	return node_ptr->tpc ? node_ptr->tpc : 1;
}

/* Count the CPUs of each core that the job may use by hints, --threads-per-core and
 * --ntasks-per-core, as common_cpus_per_core of cons_common does. */
static uint32_t cpus_per_core(const job_record_t *job_ptr,
                              const node_record_t *node_ptr)
{
	const job_details_t *details = job_ptr->details;
	const multi_core_data_t *mc = details->mc_ptr;
	uint32_t cpus = threads_of(node_ptr), tasks, threads;

	if ((slurm_conf.select_type_param & CR_ONE_TASK_PER_CORE) &&
	    details->min_gres_cpu > 0)
		return cpus;
	tasks = mc ? cplslurm_stated(mc->ntasks_per_core) : 0;
	threads = mc ? cplslurm_stated(mc->threads_per_core) : 0;
	if (tasks && tasks * details->cpus_per_task < cpus)
		cpus = tasks * details->cpus_per_task;
	if (threads && threads < cpus)
		cpus = threads;
	return cpus ? cpus : 1;
}

static uint32_t free_cores(const job_record_t *job_ptr,
                           const node_record_t *node_ptr, uint32_t used)
{
	uint32_t threads = threads_of(node_ptr), spec;

	if (!specializes(job_ptr))
		return node_ptr->cpus_efctv > used
		               ? (node_ptr->cpus_efctv - used) / threads
		               : 0;
	/* The job's core_spec replaces the node's; only idle nodes have any free. */
	spec = job_ptr->details->core_spec;
	if (spec & CORE_SPEC_THREAD)
		spec = ((spec & ~(uint32_t)CORE_SPEC_THREAD) + threads - 1) /
		       threads;
	return node_ptr->tot_cores > spec && !used ? node_ptr->tot_cores - spec
	                                           : 0;
}

/* Return how many CPUs the memory that is left serves, UINT32_MAX for any number. */
static uint32_t memory_cpus(const job_record_t *job_ptr,
                            const node_record_t *node_ptr, uint64_t used)
{
	uint64_t want = job_ptr->details->pn_min_memory, left;

	left = node_ptr->real_memory - node_ptr->mem_spec_limit;
	left = left > used ? left - used : 0;
	if (!want)
		return used ? 0 : UINT32_MAX;
	if (!(want & MEM_PER_CPU))
		return left >= want ? UINT32_MAX : 0;
	want &= ~MEM_PER_CPU;
	if (!want)
		return UINT32_MAX;
	return (uint32_t)MIN(left / want, UINT32_MAX);
}

static uint32_t cpus_on(const struct cplslurm_test *test,
                        const struct cplslurm_usage *usage, int node)
{
	const job_record_t *job_ptr = test->job;
	const node_record_t *node_ptr = node_record_table_ptr[node];
	const multi_core_data_t *mc = job_ptr->details->mc_ptr;
	uint32_t cores = free_cores(job_ptr, node_ptr, usage->cpus[node]);
	uint32_t taken = cplslurm_reserved_cores(test, node), per_socket, cpus;
	uint32_t limit;

	if (taken && whole_nodes(job_ptr))
		return 0;
	cores = cores > taken ? cores - taken : 0;
	cpus = cores * cpus_per_core(job_ptr, node_ptr);
	per_socket = mc ? cplslurm_stated(mc->ntasks_per_socket) : 0;
	limit = per_socket * node_ptr->tot_sockets *
	        job_ptr->details->cpus_per_task;
	if (per_socket && limit < cpus)
		cpus = limit;
	if (!counts_memory(job_ptr))
		return cpus;
	limit = memory_cpus(job_ptr, node_ptr, usage->memory[node]);
	return MIN(cpus, limit);
}

/* Tell whether the node belongs to the job's user, or to its MCS label. */
static bool owned(const job_record_t *job_ptr, const node_record_t *node_ptr)
{
	if (exclusive_for(job_ptr, WHOLE_NODE_USER))
		return node_ptr->owner == job_ptr->user_id;
	return exclusive_for(job_ptr, WHOLE_NODE_MCS) && node_ptr->mcs_label &&
	       job_ptr->mcs_label &&
	       !strcmp(node_ptr->mcs_label, job_ptr->mcs_label);
}

/* These bits of sched_weight are slurmctld's own: nodes that must be booted come
 * last, and before them those outside a FLEX reservation. */
#define MUST_BOOT (UINT64_C(1) << 41)
#define OUTSIDE_FLEX (UINT64_C(1) << 40)
/* The bits below the weight are cons_tres's, by where a node's GPUs are. */
#define WEIGHT_SHIFT 8

/* Rank nodes in the order in which cons_tres fills them. The main scheduler sets
 * sched_weight before it asks, the backfill does not, so what can be told of a node
 * itself is looked at and both get the same answer. */
static uint64_t rank_of(const job_record_t *job_ptr,
                        const node_record_t *node_ptr)
{
	uint64_t rank = (uint64_t)node_ptr->config_ptr->weight << WEIGHT_SHIFT;

	if (owned(job_ptr, node_ptr))
		return 0;
	rank |= node_ptr->sched_weight & OUTSIDE_FLEX;
	if (IS_NODE_POWERED_DOWN(node_ptr) || IS_NODE_POWERING_DOWN(node_ptr))
		rank |= MUST_BOOT;
	return rank + 1;
}

#if CPLSLURM_SERIES >= 2405
/* Does the cluster's topology give jobs whole blocks or leaf switches at all? */
static bool has_whole_units(void)
{
	int has = 0;

	return !topology_g_get(TOPO_DATA_EXCLUSIVE_TOPO,
#if CPLSLURM_SERIES >= 2505
	                       NULL,
#endif
	                       &has) && has;
}

/* Leave out the blocks, or leaf switches, of the nodes in the test's bitmap. */
static void leave_out(const struct cplslurm_test *test, int topology,
                      uint32_t *cpus)
{
#if CPLSLURM_SERIES < 2505
	topology_g_whole_topo(test->bitmap);
#else
	topology_g_whole_topo(test->bitmap, topology);
#endif
	for (int i = 0; i < test->before.n; i++)
		if (cplslurm_has(test->bitmap, i))
			cpus[i] = 0;
}

/* Leave out where other jobs keep whole units of one topology to themselves; return
 * the next one, -1 for none. */
static int leave_out_kept(const struct cplslurm_test *test,
                          const struct cplslurm_usage *usage, int topology,
                          uint32_t *cpus)
{
	int next = -1;

	bit_clear_all(test->bitmap);
	for (int i = 0; i < test->before.n; i++) {
		int t = usage->topology[i];

		if (!usage->keepers[i])
			continue;
		if (t == topology)
			bit_set(test->bitmap, i);
		else if (t > topology && (next < 0 || t < next))
			next = t;
	}
	leave_out(test, topology, cpus);
	return next;
}

/* A job that gets whole blocks, or leaf switches, gets none where another runs, and
 * no job gets one that another has whole. The test's bitmap is room for nodes. */
static void leave_out_shared(struct cplslurm_test *test,
                             const struct cplslurm_usage *usage, uint32_t *cpus)
{
	int own = 0, topology = 0;

	if (!has_whole_units())
		return;
#if CPLSLURM_SERIES >= 2505
	own = test->job->part_ptr->topology_idx;
	if (topology_g_whole_topo_enabled(own))
#endif
	if (IS_JOB_WHOLE_TOPO(test->job)) {
		bit_clear_all(test->bitmap);
		for (int i = 0; i < test->before.n; i++)
			if (usage->cpus[i])
				bit_set(test->bitmap, i);
		leave_out(test, own, cpus);
	}
	while (topology >= 0)
		topology = leave_out_kept(test, usage, topology, cpus);
	cplslurm_give_back(&test->before, test->bitmap);
}
#endif

/* Records of nodes are apart in memory, in none of the processor's caches where there
 * are many: those of the nodes that follow are fetched so far ahead. */
#define AHEAD 12

static void fetch(int node)
{
	const node_record_t *node_ptr = node_record_table_ptr[node];

	if (!node_ptr)
		return;
	__builtin_prefetch(&node_ptr->cpus_efctv);
	__builtin_prefetch(&node_ptr->node_state);
	__builtin_prefetch(&node_ptr->sched_weight);
	__builtin_prefetch(&node_ptr->tpc);
}

int cplslurm_measure(void *arg, uint32_t *cpus, uint64_t *rank,
                     struct cpl_engine_span *span)
{
	struct cplslurm_test *test = arg;
	bool whole = whole_nodes(test->job);
	const struct cplslurm_usage *usage;
	const unsigned char *bit;
	int end;

	if (cplslurm_save(test, &test->before))
		return -1;
	usage = cplslurm_usage();
	if (!usage)
		return -1;
	bit = test->before.bit;
	end = MIN(test->before.end, node_record_count);
	*span = (struct cpl_engine_span){test->before.first, end};
	for (int i = test->before.first; i < end; i++) {
		const node_record_t *node_ptr = node_record_table_ptr[i];

		if (i + AHEAD < end && bit[i + AHEAD])
			fetch(i + AHEAD);
		if (!node_ptr || !bit[i] ||
		    (whole && !cplslurm_has(idle_node_bitmap, i)))
			continue;
		cpus[i] = cpus_on(test, usage, i);
		rank[i] = rank_of(test->job, node_ptr);
	}
#if CPLSLURM_SERIES >= 2405
	leave_out_shared(test, usage, cpus);
#endif
	/* Only Slurm knows where the GRES are. */
	if (test->job->gres_list_req)
		cplslurm_narrow(arg, cpus);
	return 0;
}
