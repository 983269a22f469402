/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What jobs have of nodes, as select/cons_tres counts it. */
#include "select_hooks.h"

#include <stdlib.h>
#include <string.h>

void cplslurm_usage_free(struct cplslurm_usage *usage)
{
	free(usage->cpus);
	free(usage->memory);
}

/*
 * Slurm's own counts cost a pass over all nodes and their GRES, and have a lock
 * of their own in later series, which not every caller of job_test holds.
 * Cores that jobs share count once; those of suspended jobs are free, their
 * memory is not.
 */
struct counting {
	const bitstr_t *nodes;
	size_t *first; /* [node] its cores are held[first[node]] ... */
	unsigned char *held;
	struct cplslurm_usage *out;
};

static void add_cores(const struct counting *c, int node, job_resources_t *got,
                      int at)
{
	unsigned char *held = c->held + c->first[node];
	uint16_t sockets = 0, cores = 0;
	int first, n;

	if (get_job_resources_cnt(got, (uint32_t)at, &sockets, &cores))
		return;
	first = get_job_resources_offset(got, (uint32_t)at, 0, 0);
	n = MIN(sockets * cores, (int)(c->first[node + 1] - c->first[node]));
	if (bit_set_count_range(got->core_bitmap, first, first + n) == n)
		memset(held, 1, (size_t)n);
	else
		for (int i = 0; i < n; i++)
			held[i] |= bit_test(got->core_bitmap, first + i);
}

static int count_job(void *x, void *arg)
{
	const job_record_t *job = x;
	const struct counting *c = arg;
	job_resources_t *got = job->job_resrcs;

	/* One that completes has given all back to select/cons_tres. */
	if (!(IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) || !got ||
	    !got->node_bitmap || !got->core_bitmap)
		return 0;
	for (int i = 0, at = 0; i < bit_size(got->node_bitmap); i++) {
		if (!bit_test(got->node_bitmap, i))
			continue;
		if (got->memory_allocated)
			c->out->memory[i] += got->memory_allocated[at];
		if (IS_JOB_RUNNING(job))
			add_cores(c, i, got, at);
		at++;
	}
	return 0;
}

/* Nodes outside the bitmap have no cores to count. */
static int number_cores(struct counting *c)
{
	int n = node_record_count;

	c->first = calloc((size_t)n + 1, sizeof(*c->first));
	if (!c->first)
		return -1;
	for (int i = 0; i < n; i++) {
		const node_record_t *node = node_record_table_ptr[i];
		bool counts = node && bit_test((bitstr_t *)c->nodes, i);

		c->first[i + 1] = c->first[i] + (counts ? node->tot_cores : 0);
	}
	c->held = calloc(c->first[n] + 1, 1);
	return c->held ? 0 : -1;
}

static int read_usage(const bitstr_t *nodes, struct cplslurm_usage *out)
{
	struct counting c = {.nodes = nodes, .out = out};
	int rc = number_cores(&c);

	if (!rc && job_list)
		list_for_each_ro(job_list, count_job, &c);
	for (int i = 0; !rc && i < node_record_count; i++) {
		uint32_t held = 0;

		for (size_t at = c.first[i]; at < c.first[i + 1]; at++)
			held += c.held[at];
		if (held)
			out->cpus[i] = held * node_record_table_ptr[i]->tpc;
	}
	free(c.first);
	free(c.held);
	return rc;
}

int cplslurm_usage(const bitstr_t *nodes, struct cplslurm_usage *out)
{
	size_t n = (size_t)node_record_count + 1;

	out->cpus = calloc(n, sizeof(*out->cpus));
	out->memory = calloc(n, sizeof(*out->memory));
	if (!out->cpus || !out->memory || read_usage(nodes, out)) {
		cplslurm_usage_free(out);
		return -1;
	}
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
