/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What jobs have of nodes: as select/cons_tres counts it, where it tells. */
#include "select_hooks.h"

#include <stdlib.h>

void cplslurm_usage_free(struct cplslurm_usage *usage)
{
	free(usage->cpus);
	free(usage->memory);
}

#if CPLSLURM_SERIES < 2505

static void read_usage(const bitstr_t *nodes, struct cplslurm_usage *out)
{
	cplslurm_stock.select_nodeinfo_set_all();
	for (int i = 0; i < node_record_count; i++) {
		const node_record_t *node = node_record_table_ptr[i];
		uint16_t cpus = 0;

		if (!node || !bit_test((bitstr_t *)nodes, i))
			continue;
		select_g_select_nodeinfo_get(node->select_nodeinfo,
		                             SELECT_NODEDATA_SUBCNT,
		                             NODE_STATE_ALLOCATED, &cpus);
		select_g_select_nodeinfo_get(node->select_nodeinfo,
		                             SELECT_NODEDATA_MEM_ALLOC,
		                             NODE_STATE_ALLOCATED,
		                             &out->memory[i]);
		out->cpus[i] = cpus;
	}
}

#else

/*
 * The stock numbers have a lock of their own there, which not every caller of
 * job_test holds. Cores that jobs share count once; those of suspended jobs are
 * free, their memory is not.
 */
static void add_job(const job_record_t *job, const bitstr_t *nodes,
                    bitstr_t *const *core, struct cplslurm_usage *out)
{
	job_resources_t *got = job->job_resrcs;
	node_record_t *node;

	for (int i = 0, at = -1;
	     (node = next_node_bitmap(got->node_bitmap, &i)); i++) {
		uint16_t sockets = 0, cores = 0;
		int first;

		at++;
		if (!bit_test((bitstr_t *)nodes, i))
			continue;
		if (got->memory_allocated)
			out->memory[i] += got->memory_allocated[at];
		if (IS_JOB_SUSPENDED(job) || !core[i] ||
		    get_job_resources_cnt(got, (uint32_t)at, &sockets, &cores))
			continue;
		first = get_job_resources_offset(got, (uint32_t)at, 0, 0);
		for (int c = 0; c < sockets * cores && c < bit_size(core[i]);
		     c++)
			if (bit_test(got->core_bitmap, first + c))
				bit_set(core[i], c);
	}
}

struct counting {
	const bitstr_t *nodes;
	bitstr_t **core;
	struct cplslurm_usage *out;
};

static int count_job(void *x, void *arg)
{
	const job_record_t *job = x;
	struct counting *c = arg;

	/* Until its epilog has run a job holds what it had. */
	if ((IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job) ||
	     IS_JOB_COMPLETING(job)) &&
	    job->job_resrcs && job->job_resrcs->node_bitmap &&
	    job->job_resrcs->core_bitmap)
		add_job(job, c->nodes, c->core, c->out);
	return 0;
}

static void read_usage(const bitstr_t *nodes, struct cplslurm_usage *out)
{
	struct counting c = {nodes, NULL, out};
	int n = node_record_count;

	c.core = calloc((size_t)n + 1, sizeof(*c.core));
	for (int i = 0; c.core && i < n; i++)
		if (node_record_table_ptr[i] &&
		    bit_test((bitstr_t *)nodes, i))
			c.core[i] = bit_alloc(
			        node_record_table_ptr[i]->tot_cores);
	if (c.core && job_list)
		list_for_each_ro(job_list, count_job, &c);
	for (int i = 0; c.core && i < n; i++) {
		if (!c.core[i])
			continue;
		out->cpus[i] = (uint32_t)bit_set_count(c.core[i]) *
		               node_record_table_ptr[i]->tpc;
		bit_free(c.core[i]);
	}
	free(c.core);
}

#endif

int cplslurm_usage(const bitstr_t *nodes, struct cplslurm_usage *out)
{
	size_t n = (size_t)node_record_count + 1;

	out->cpus = calloc(n, sizeof(*out->cpus));
	out->memory = calloc(n, sizeof(*out->memory));
	if (!out->cpus || !out->memory) {
		cplslurm_usage_free(out);
		return -1;
	}
	read_usage(nodes, out);
	return 0;
}

uint32_t cplslurm_reserved_cores(const struct cplslurm_test *test, int node)
{
#if CPLSLURM_SERIES < 2411
	const node_record_t *record = node_record_table_ptr[node];
	const bitstr_t *cores = test->reserved;
	int first, last;

	if (!cores)
		return 0;
	first = (int)cr_get_coremap_offset((uint32_t)node);
	last = (int)cr_get_coremap_offset((uint32_t)node + 1);
	if (last > bit_size((bitstr_t *)cores))
		return record->tot_cores;
	return (uint32_t)bit_set_count_range((bitstr_t *)cores, first, last);
#else
	const resv_exc_t *except = test->reserved;

	return except && except->exc_cores && except->exc_cores[node]
	               ? (uint32_t)bit_set_count(except->exc_cores[node])
	               : 0;
#endif
}
