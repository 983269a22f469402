/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In select_p_job_test cons_tres is asked again with the bitmap narrowed to the
 * nodes of our choice, and with the original arguments if that fails. Slurm's
 * allocator ends the process when memory is out, so what is ours comes from
 * malloc(). */
#include "select_hooks.h"

#include <stdlib.h>

int cplslurm_save(const struct cplslurm_test *test, struct cplslurm_saved *out)
{
	const job_record_t *job_ptr = test->job;

	out->n = bit_size(test->bitmap);
	out->bit = calloc((size_t)out->n + 1, 1);
	if (!out->bit)
		return -1;
	out->end = cplslurm_end(test->bitmap, &out->first);
	for (int i = out->first; i < out->end;
	     i = cplslurm_next(test->bitmap, i + 1, out->end))
		out->bit[i] = 1;
	out->pn_min_memory = job_ptr->details->pn_min_memory;
	out->pn_min_cpus = job_ptr->details->pn_min_cpus;
	out->min_cpus = job_ptr->details->min_cpus;
	out->total_cpus = job_ptr->total_cpus;
	out->start_time = job_ptr->start_time;
	out->test_now = job_ptr->bit_flags & TEST_NOW_ONLY;
	out->best_switch = job_ptr->best_switch;
	return 0;
}

void cplslurm_give_back(const struct cplslurm_saved *saved, bitstr_t *bitmap)
{
	bit_clear_all(bitmap);
	for (int i = saved->first; i < saved->end; i++)
		if (saved->bit[i])
			bit_set(bitmap, i);
}

static void restore(const struct cplslurm_saved *saved, const struct cplslurm_test *test)
{
	job_record_t *job_ptr = test->job;

	cplslurm_give_back(saved, test->bitmap);
	job_ptr->details->pn_min_memory = saved->pn_min_memory;
	job_ptr->details->pn_min_cpus = saved->pn_min_cpus;
	job_ptr->details->min_cpus = saved->min_cpus;
	job_ptr->total_cpus = saved->total_cpus;
	job_ptr->start_time = saved->start_time;
	job_ptr->bit_flags =
	        (job_ptr->bit_flags & ~TEST_NOW_ONLY) | saved->test_now;
	job_ptr->best_switch = saved->best_switch;
}

int cplslurm_ask(const struct cplslurm_test *test)
{
	return cplslurm_stock.job_test(
	        test->job, test->bitmap, test->min_nodes, test->max_nodes,
	        test->req_nodes, test->mode, test->preemptees, test->preempted,
#if CPLSLURM_SERIES < 2411
	        test->reserved);
#else
	        test->reserved, test->will_run);
#endif
}

int cplslurm_answer(const struct cplslurm_test *test, const char *why)
{
	cplslurm_debug("%pJ %s: %s, rc %d", test->job,
	               test->mode == SELECT_MODE_RUN_NOW ? "RUN_NOW"
	                                                 : "WILL_RUN",
	               why, test->rc);
	return test->rc;
}

/* List the bitmap's nodes in order in host[], if there is one, and count them. */
static int listed(const struct cplslurm_test *test, int *host)
{
	int n = 0, i, end = cplslurm_end(test->bitmap, &i);

	for (; host && i < end; i = cplslurm_next(test->bitmap, i + 1, end))
		host[n++] = i;
	return n;
}

/* Ask WILL_RUN unnoticed by the job: accounting limits go by the nodes that it
 * leaves in the job's record. */
static int ask_unnoticed(const struct cplslurm_test *test)
{
#if CPLSLURM_SERIES < 2411
	return cplslurm_ask(test);
#else
	bitstr_t *preempt = test->job->node_bitmap_preempt;
	int rc;

	test->job->node_bitmap_preempt = NULL;
	rc = cplslurm_ask(test);
	FREE_NULL_BITMAP(test->job->node_bitmap_preempt);
	test->job->node_bitmap_preempt = preempt;
	return rc;
#endif
}

/*
 * WILL_RUN leaves no allocation behind and, without preemptees and with
 * TEST_NOW_ONLY, looks at free resources only.
 */
static int ask_beside(const struct cplslurm_test *test)
{
	struct cplslurm_test stock = *test;

	restore(&test->before, test);
	test->job->bit_flags |= TEST_NOW_ONLY;
	stock.mode = SELECT_MODE_WILL_RUN;
	stock.preemptees = NULL;
	stock.preempted = NULL;
	return ask_unnoticed(&stock);
}

/* Ask cons_tres for exactly these nodes. */
static bool ask_for_nodes(void *arg, const int *host, int n, const char *last)
{
	struct cplslurm_test *test = arg, ours = *test;

	bit_clear_all(test->bitmap);
	for (int i = 0; i < n; i++)
		bit_set(test->bitmap, host[i]);
	/* All of them are needed, or it is not the placement that was evaluated. */
	ours.min_nodes = ours.req_nodes = (uint32_t)n;
	/* A first pass must not preempt what the stock answer would spare. */
	ours.preemptees = NULL;
	if (test->mode == SELECT_MODE_WILL_RUN)
		test->job->bit_flags |= TEST_NOW_ONLY;
	test->rc = cplslurm_ask(&ours);
	if (test->rc != SLURM_SUCCESS) {
		restore(&test->before, test);
		return false;
	}
	/* Slurm looks at this bit in the job's record, not in our call. */
	test->job->bit_flags = (test->job->bit_flags & ~TEST_NOW_ONLY) |
	                           test->before.test_now;
	return true;
}

/* Tell whether the number of tasks says how many of them a node must hold. */
static bool tasks_shape_nodes(const job_details_t *details)
{
	return cplslurm_stated(details->ntasks_per_tres) ||
	       (details->mc_ptr &&
	        cplslurm_stated(details->mc_ptr->ntasks_per_socket));
}

/* The user's wishes about sets of nodes. */
struct wishes {
	uint64_t spread;
	uint32_t switches;
	uint16_t contiguous;
};

static struct wishes set_wishes(job_record_t *job_ptr, struct wishes to)
{
	const struct wishes before = {job_ptr->bit_flags & SPREAD_JOB,
	                              job_ptr->req_switch,
	                              job_ptr->details->contiguous};

	job_ptr->bit_flags = (job_ptr->bit_flags & ~SPREAD_JOB) | to.spread;
	job_ptr->req_switch = to.switches;
	job_ptr->details->contiguous = to.contiguous;
	return before;
}

/*
 * Given as many nodes as it can get, neither tasks nor CPUs that are used up
 * before, and no wishes about sets of nodes, cons_tres takes all that can serve the
 * job. topology/block never takes more than the least that the job asks for.
 */
void cplslurm_narrow(void *arg, uint32_t *cpus)
{
	const struct cplslurm_test *test = arg;
	job_details_t *details = test->job->details;
	struct cplslurm_test widest = *test;
	uint32_t usable = 0, max_cpus = details->max_cpus;
	uint32_t num_tasks = details->num_tasks;
	struct wishes wishes;

	if (cplslurm_in_blocks(test))
		return;
	wishes = set_wishes(test->job, (struct wishes){0, 0, 0});
	for (int i = test->before.first; i < test->before.end; i++)
		usable += test->before.bit[i];
	widest.max_nodes = widest.req_nodes = usable;
	details->max_cpus = INT32_MAX;
	if (!tasks_shape_nodes(details))
		details->num_tasks = 0;
	if (usable > test->min_nodes && ask_beside(&widest) == SLURM_SUCCESS)
		for (int i = test->before.first; i < test->before.end; i++)
			if (!cplslurm_has(test->bitmap, i))
				cpus[i] = 0;
	details->max_cpus = max_cpus;
	details->num_tasks = num_tasks;
	set_wishes(test->job, wishes);
	restore(&test->before, test);
}

static int stock(void *arg, int *host)
{
	struct cplslurm_test *test = arg;

	test->rc = cplslurm_ask(test);
	/* Nodes that are free only after preemption are not had now. */
	return test->rc == SLURM_SUCCESS && test->job->job_resrcs
	               ? listed(test, host)
	               : 0;
}

/* GRES would be chosen anew, so jobs that have some are not compared. */
static int compare(void *arg, int *host)
{
	struct cplslurm_test *test = arg;
	job_record_t *job_ptr = test->job;
	job_resources_t *allocated = job_ptr->job_resrcs;
	struct cplslurm_saved after;
	int n = 0;

	if (job_ptr->gres_list_req || cplslurm_save(test, &after))
		return 0;
	job_ptr->job_resrcs = NULL;
	if (ask_beside(test) == SLURM_SUCCESS)
		n = listed(test, host);
	restore(&after, test);
	job_ptr->job_resrcs = allocated;
	free(after.bit);
	return n;
}

/* Return which wish about nodes only the stock plugin, or the topology plugin behind
 * it, knows how to serve, or NULL. */
static const char *stock_reason(const job_record_t *job_ptr)
{
	const job_details_t *details = job_ptr->details;

	if (details->expanding_jobid)
		return "the job expands another one";
	if ((details->task_dist & SLURM_DIST_STATE_BASE) ==
	    SLURM_DIST_ARBITRARY)
		return "the user asked for --distribution=arbitrary";
	/* These need its answer, which is not asked beside ours for GRES. */
	if (job_ptr->bit_flags & SPREAD_JOB && job_ptr->gres_list_req)
		return "the user asked for --spread-job and GRES";
	return NULL;
}

static struct cpl_need need_of(const struct cplslurm_test *test)
{
	const job_details_t *details = test->job->details;

	return (struct cpl_need){
	        .min_nodes = test->min_nodes,
	        .max_nodes = test->max_nodes,
	        .nodes = test->req_nodes,
	        .cpus = details->min_cpus,
	        .node_cpus = details->pn_min_cpus,
	        .cpus_per_task = details->cpus_per_task,
	        .tasks_per_node = details->ntasks_per_node,
	        .overcommit = details->overcommit,
	};
}

bool cplslurm_test_is_choice(const struct cplslurm_test *test)
{
	return cplslurm_layout_is_ours(test->job) &&
	       (test->mode == SELECT_MODE_RUN_NOW ||
	        test->mode == SELECT_MODE_WILL_RUN) &&
	       test->min_nodes && test->job->details;
}

int cplslurm_request(struct cplslurm_test *test,
                     struct cpl_engine_request *req, int **required)
{
	const job_details_t *details = test->job->details;
	int n;

	*required = cplslurm_nodes(details->req_node_bitmap, &n);
	if (!*required)
		return -1;
	*req = (struct cpl_engine_request){
	        .job = cplslurm_job(test->job),
	        .need = need_of(test),
	        .array_id = test->job->array_job_id,
	        .ranks = cplslurm_ranks(details->num_tasks),
	        .n_hosts = node_record_count,
	        .required = *required,
	        .n_required = n,
	        .own_order = cplslurm_keeps_order(test->job),
	        .batch = test->job->batch_flag != 0,
	        .stock_reason = stock_reason(test->job),
	        .start = test->mode == SELECT_MODE_RUN_NOW,
	};
	cplslurm_bound(test, req);
	return 0;
}

const struct cpl_engine_scheduler cplslurm_scheduler = {
        .measure = cplslurm_measure,
        .place = ask_for_nodes,
        .narrow = cplslurm_narrow,
        .stock = stock,
        .compare = compare,
};

void cplslurm_test_done(struct cplslurm_test *test)
{
	free(test->before.bit);
	test->before.bit = NULL;
}
