/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This counts what jobs have of nodes as select/cons_tres does. */
#include "select_hooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* Slurm's own counts cost a pass over all nodes and their GRES, and in later series
 * have a lock that not every caller of job_test holds. Cores that jobs share count
 * once; those of suspended jobs are free, but their memory is not. All jobs are
 * counted once, then each as it begins or ends, so that a call of job_test costs
 * what its nodes are, however many jobs wait or run. */
struct counted {
	uint32_t id;
	bool cores; /* The cores count, too, as it is not suspended. */
};

static struct {
	bool known;
	int n_nodes;
	size_t *first;  /* [node] its cores are held[first[node]] ... */
	uint16_t *held; /* It counts jobs on each core. */
	struct cplslurm_usage now;
	struct counted *job; /* [n_jobs] in id order */
	int n_jobs;
} kept;

void cplslurm_usage_forget(void)
{
	cpl_free_all(kept.first, kept.held, kept.now.cpus, kept.now.memory,
	             kept.now.keepers, kept.now.topology, kept.job);
	memset(&kept, 0, sizeof(kept));
}

/* Return the index where a job is, or would be. */
static int job_index(uint32_t id)
{
	int low = 0, high = kept.n_jobs;

	CPL_BISECT(low, high, middle, kept.job[middle].id < id);
	return low;
}

static bool is_counted(int at, uint32_t id)
{
	return at < kept.n_jobs && kept.job[at].id == id;
}

/* These are the cores of one of a job's nodes in the bitmap of all that it has. */
struct node_cores {
	uint32_t group, of_group; /* It is node of_group in a group of one kind. */
	int first, n;             /* n is 0 where it is not told. */
};

/* Go to the cores of the job's next node. Slurm's own functions begin at the first
 * group for each node, and what they answer where there is none is an index. */
static void next_node_cores(const job_resources_t *got, struct node_cores *part)
{
	part->first += part->n;
	part->n = 0;
	while (part->group < got->nhosts &&
	       part->of_group >= got->sock_core_rep_count[part->group]) {
		part->group++;
		part->of_group = 0;
	}
	if (part->group >= got->nhosts)
		return;
	part->of_group++;
	part->n = got->sockets_per_node[part->group] *
	          got->cores_per_socket[part->group];
	if (part->first + part->n > bit_size(got->core_bitmap))
		part->n = 0;
}

/* Count one job more or less on the cores that it has of a node. Return false where
 * that cannot be right. */
static bool turn_cores(const job_resources_t *got, int node,
                       const struct node_cores *part, int by)
{
	uint16_t *held = kept.held + kept.first[node];
	uint32_t cores = 0;
	int size = (int)(kept.first[node + 1] - kept.first[node]);
	int n = MIN(part->n, size);

	for (int i = 0; i < n; i++) {
		if (!cplslurm_has(got->core_bitmap, part->first + i))
			continue;
		if (by < 0 ? !held[i] : held[i] == UINT16_MAX)
			return false;
		held[i] = (uint16_t)(held[i] + by);
	}
	for (int i = 0; i < size; i++)
		cores += held[i] != 0;
	kept.now.cpus[node] = cores * node_record_table_ptr[node]->tpc;
	return true;
}

static bool turn_memory(uint64_t megabytes, int node, int by)
{
	uint64_t *memory = &kept.now.memory[node];

	if (by < 0 && *memory < megabytes)
		return false;
	*memory += by < 0 ? -megabytes : megabytes;
	return true;
}

/* The same of a node whose block the job keeps from others, which takes both ways of
 * asking for it. A suspended one keeps nothing. */
static bool turn_keeper(const job_record_t *job, int node, int by)
{
#if CPLSLURM_SERIES >= 2405
	uint16_t *keepers = &kept.now.keepers[node];

	if (!job->details || !job->part_ptr || !IS_JOB_WHOLE_TOPO(job))
		return true;
	if (by < 0 ? !*keepers : *keepers == UINT16_MAX)
		return false;
	*keepers = (uint16_t)(*keepers + by);
#if CPLSLURM_SERIES >= 2505
	kept.now.topology[node] = job->part_ptr->topology_idx;
#endif
#endif
	return true;
}

/* Count one job more or less. Return false where what is kept is not right. */
static bool turn(const job_record_t *job, bool cores, int by)
{
	job_resources_t *got = job->job_resrcs;
	int i, at = 0, end = cplslurm_end(got->node_bitmap, &i);
	struct node_cores part = {0};

	if (end > kept.n_nodes)
		return false;
	for (; i < end && at < (int)got->nhosts;
	     i = cplslurm_next(got->node_bitmap, i + 1, end)) {
		next_node_cores(got, &part);
		if (!node_record_table_ptr[i] ||
		    (got->memory_allocated &&
		     !turn_memory(got->memory_allocated[at], i, by)) ||
		    (cores && (!turn_cores(got, i, &part, by) ||
		               !turn_keeper(job, i, by))))
			return false;
		at++;
	}
	return true;
}

static bool add_job(const job_record_t *job, bool cores)
{
	int at = job_index(job->job_id);

	if (is_counted(at, job->job_id))
		return false;
	if (cpl_array_grow(&kept.job, kept.n_jobs, sizeof(*kept.job), NULL))
		return false;
	if (!turn(job, cores, 1))
		return false;
	memmove(&kept.job[at + 1], &kept.job[at],
	        (size_t)(kept.n_jobs - at) * sizeof(*kept.job));
	kept.job[at] = (struct counted){.id = job->job_id, .cores = cores};
	kept.n_jobs++;
	return true;
}

static bool has_resources(const job_record_t *job)
{
	const job_resources_t *got = job->job_resrcs;

	return got && got->node_bitmap && got->core_bitmap &&
	       got->sock_core_rep_count && got->sockets_per_node &&
	       got->cores_per_socket;
}

void cplslurm_usage_began(const job_record_t *job)
{
	if (kept.known && has_resources(job) && !add_job(job, true))
		cplslurm_usage_forget();
}

void cplslurm_usage_ended(const job_record_t *job)
{
	int at = job_index(job->job_id);

	if (!kept.known || !is_counted(at, job->job_id))
		return;
	if (!has_resources(job) || !turn(job, kept.job[at].cores, -1)) {
		cplslurm_usage_forget();
		return;
	}
	kept.n_jobs--;
	memmove(&kept.job[at], &kept.job[at + 1],
	        (size_t)(kept.n_jobs - at) * sizeof(*kept.job));
}

/* A completing job has given all back to select/cons_tres and does not count. */
static int count_job(void *x, void *arg)
{
	const job_record_t *job = x;
	bool *failed = arg;

	if ((IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) &&
	    has_resources(job) && !add_job(job, IS_JOB_RUNNING(job)))
		*failed = true;
	return *failed ? -1 : 0;
}

static int number_cores(void)
{
	size_t n = (size_t)node_record_count + 1;

	kept.n_nodes = node_record_count;
	kept.first = calloc(n, sizeof(*kept.first));
	kept.now.cpus = calloc(n, sizeof(*kept.now.cpus));
	kept.now.memory = calloc(n, sizeof(*kept.now.memory));
	kept.now.keepers = calloc(n, sizeof(*kept.now.keepers));
	kept.now.topology = calloc(n, sizeof(*kept.now.topology));
	if (!kept.first || !kept.now.cpus || !kept.now.memory ||
	    !kept.now.keepers || !kept.now.topology)
		return -1;
	for (int i = 0; i < kept.n_nodes; i++) {
		const node_record_t *node = node_record_table_ptr[i];

		kept.first[i + 1] =
		        kept.first[i] + (node ? node->tot_cores : 0);
	}
	kept.held = calloc(kept.first[kept.n_nodes] + 1, sizeof(*kept.held));
	return kept.held ? 0 : -1;
}

const struct cplslurm_usage *cplslurm_usage(void)
{
	bool failed = false;

	if (kept.known && kept.n_nodes == node_record_count)
		return &kept.now;
	cplslurm_usage_forget();
	failed = number_cores();
	if (!failed && job_list)
		list_for_each_ro(job_list, count_job, &failed);
	kept.known = !failed;
	if (!failed)
		return &kept.now;
	cplslurm_usage_forget();
	return NULL;
}

uint32_t cplslurm_reserved_cores(const struct cplslurm_test *test, int node)
{
#if CPLSLURM_SERIES < 2302
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
