/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_p_job_test: cons_tres is asked again with the bitmap narrowed to the
 * nodes of our choice, and with the original arguments if that fails. Slurm's
 * allocator ends the process when memory is out, so what is ours comes from
 * malloc().
 */
#include "select_internal.h"

#include <stdlib.h>

int cplselect_save(const struct job_test *test, struct saved *out)
{
	const job_record_t *job_ptr = test->job_ptr;

	out->n = bit_size(test->bitmap);
	out->bit = malloc((size_t)out->n + 1);
	if (!out->bit)
		return -1;
	for (int i = 0; i < out->n; i++)
		out->bit[i] = bit_test(test->bitmap, i);
	out->pn_min_memory = job_ptr->details->pn_min_memory;
	out->pn_min_cpus = job_ptr->details->pn_min_cpus;
	out->min_cpus = job_ptr->details->min_cpus;
	out->total_cpus = job_ptr->total_cpus;
	out->start_time = job_ptr->start_time;
	out->test_now = job_ptr->bit_flags & TEST_NOW_ONLY;
	out->best_switch = job_ptr->best_switch;
	return 0;
}

static void restore(const struct saved *saved, const struct job_test *test)
{
	job_record_t *job_ptr = test->job_ptr;

	for (int i = 0; i < saved->n; i++) {
		if (saved->bit[i])
			bit_set(test->bitmap, i);
		else
			bit_clear(test->bitmap, i);
	}
	job_ptr->details->pn_min_memory = saved->pn_min_memory;
	job_ptr->details->pn_min_cpus = saved->pn_min_cpus;
	job_ptr->details->min_cpus = saved->min_cpus;
	job_ptr->total_cpus = saved->total_cpus;
	job_ptr->start_time = saved->start_time;
	job_ptr->bit_flags =
	        (job_ptr->bit_flags & ~TEST_NOW_ONLY) | saved->test_now;
	job_ptr->best_switch = saved->best_switch;
}

/* What the stock plugin says to these arguments. */
static int ask(const struct job_test *test)
{
	return cplselect_stock.job_test(
	        test->job_ptr, test->bitmap, test->min_nodes, test->max_nodes,
	        test->req_nodes, test->mode, test->preemptee_candidates,
	        test->preemptee_job_list, test->exc_core_bitmap);
}

/* The nodes of a bitmap in order, into host[] if there is one. */
static int listed(const struct job_test *test, int *host)
{
	int n = 0;

	for (int i = 0; host && i < test->before.n; i++)
		if (bit_test(test->bitmap, i))
			host[n++] = i;
	return n;
}

/*
 * WILL_RUN leaves no allocation behind and, without preemptees and with
 * TEST_NOW_ONLY, looks at free resources only.
 */
static int ask_beside(const struct job_test *test)
{
	struct job_test stock = *test;

	restore(&test->before, test);
	test->job_ptr->bit_flags |= TEST_NOW_ONLY;
	stock.mode = SELECT_MODE_WILL_RUN;
	stock.preemptee_candidates = NULL;
	stock.preemptee_job_list = NULL;
	return ask(&stock);
}

/* cons_tres on exactly these nodes. */
static bool place(void *arg, const int *host, int n)
{
	struct job_test *test = arg, ours = *test;

	bit_clear_all(test->bitmap);
	for (int i = 0; i < n; i++)
		bit_set(test->bitmap, host[i]);
	/* All of them, or it is not the placement that was evaluated. */
	ours.min_nodes = ours.req_nodes = (uint32_t)n;
	/* A first pass must not preempt what the stock answer would spare. */
	ours.preemptee_candidates = NULL;
	if (test->mode == SELECT_MODE_WILL_RUN)
		test->job_ptr->bit_flags |= TEST_NOW_ONLY;
	test->rc = ask(&ours);
	if (test->rc != SLURM_SUCCESS) {
		restore(&test->before, test);
		return false;
	}
	/* Slurm looks at this bit in the job's record, not in our call. */
	test->job_ptr->bit_flags = (test->job_ptr->bit_flags & ~TEST_NOW_ONLY) |
	                           test->before.test_now;
	return true;
}

/*
 * Given as many nodes as it can get, cons_tres takes all that can serve the
 * job.
 */
void cplselect_narrow(void *arg, uint32_t *cpus)
{
	const struct job_test *test = arg;
	struct job_test widest = *test;
	uint32_t usable = 0;

	for (int i = 0; i < test->before.n; i++)
		usable += test->before.bit[i];
	widest.max_nodes = widest.req_nodes = usable;
	if (usable > test->min_nodes && ask_beside(&widest) == SLURM_SUCCESS)
		for (int i = 0; i < test->before.n; i++)
			if (!bit_test(test->bitmap, i))
				cpus[i] = 0;
	restore(&test->before, test);
}

static int stock(void *arg, int *host)
{
	struct job_test *test = arg;

	test->rc = ask(test);
	/* Nodes that others have to be driven from are not had now. */
	return test->rc == SLURM_SUCCESS && test->job_ptr->job_resrcs
	               ? listed(test, host)
	               : 0;
}

/* GRES would be chosen anew, so jobs that have some are not compared. */
static int compare(void *arg, int *host)
{
	struct job_test *test = arg;
	job_record_t *job_ptr = test->job_ptr;
	job_resources_t *allocated = job_ptr->job_resrcs;
	struct saved after;
	int n = 0;

	if (job_ptr->gres_list_req || cplselect_save(test, &after))
		return 0;
	job_ptr->job_resrcs = NULL;
	if (ask_beside(test) == SLURM_SUCCESS)
		n = listed(test, host);
	restore(&after, test);
	job_ptr->job_resrcs = allocated;
	free(after.bit);
	return n;
}

/* Wishes about nodes that only the stock plugin knows how to serve. */
static const char *stock_reason(const job_record_t *job_ptr)
{
	if (job_ptr->details->contiguous)
		return "the user asked for --contiguous";
	if (job_ptr->req_switch)
		return "the user asked for --switches";
	if (job_ptr->bit_flags & SPREAD_JOB)
		return "the user asked for --spread-job";
	if (job_ptr->details->expanding_jobid)
		return "the job expands another one";
	return NULL;
}

struct cpl_job_facts cplselect_describe(const job_record_t *job_ptr)
{
	struct cplslurm_options options = cplslurm_options(
	        job_ptr->spank_job_env, job_ptr->spank_job_env_size);

	return (struct cpl_job_facts){
	        .id = job_ptr->job_id,
	        .uid = job_ptr->user_id,
	        .name = job_ptr->name,
	        .partition = job_ptr->part_ptr ? job_ptr->part_ptr->name
	                                       : job_ptr->partition,
	        .profile = options.profile,
	        .policy = options.policy,
	        .mapping = options.mapping,
	};
}

static struct cpl_need need_of(const struct job_test *test)
{
	const struct job_details *details = test->job_ptr->details;

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

static void say(const struct job_test *test, const char *text)
{
	static const char *const mode[] = {"RUN_NOW", "TEST_ONLY", "WILL_RUN"};

	cplselect_debug("%pJ %s: %s, rc %d", test->job_ptr,
	                test->mode < 3 ? mode[test->mode] : "?", text,
	                test->rc);
}

static int decide(struct job_test *test)
{
	const struct cpl_engine_scheduler scheduler = {
	        .arg = test,
	        .measure = cplselect_measure,
	        .place = place,
	        .narrow = cplselect_narrow,
	        .stock = stock,
	        .compare = compare,
	};
	const struct job_details *details = test->job_ptr->details;
	int n, *required = cplselect_nodes(details->req_node_bitmap, &n);
	char text[512] = "";
	enum cpl_engine_answer answer = CPL_ENGINE_NONE;

	struct cpl_engine_request req = {
	        .job = cplselect_describe(test->job_ptr),
	        .need = need_of(test),
	        .ranks = details->num_tasks == NO_VAL ? 0
	                                              : (int)details->num_tasks,
	        .n_hosts = node_record_count,
	        .required = required,
	        .n_required = n,
	        .stock_reason = stock_reason(test->job_ptr),
	        .start = test->mode == SELECT_MODE_RUN_NOW,
	};
	if (required && !cplselect_hosts())
		answer = cpl_engine_decide(cplselect_engine, &req, &scheduler,
		                           text, sizeof(text));
	free(required);
	free(test->before.bit);
	if (answer == CPL_ENGINE_NONE)
		return ask(test);
	say(test, text);
	return test->rc;
}

int cplselect_job_test(struct job_test *test)
{
	if (!cplselect_engine || test->mode == SELECT_MODE_TEST_ONLY ||
	    !test->min_nodes || !test->job_ptr->details)
		return ask(test);
	return decide(test);
}
