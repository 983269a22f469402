/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_p_job_test: cons_tres is asked again with the bitmap narrowed to the
 * nodes of our choice, and with the original arguments if that fails. Slurm's
 * allocator ends the process when memory is out, so what is ours comes from
 * malloc().
 */
#include "adapter.h"

#include <stdlib.h>
#include <string.h>

struct accepted adapter_accepted;

/* What a call of job_test may change and the next one must find. */
struct saved {
	unsigned char *bit; /* [n] the bitmap */
	int n;
	uint64_t pn_min_memory;
	uint32_t pn_min_cpus, min_cpus, total_cpus;
	time_t start_time;
	uint64_t test_now;
	bool best_switch;
};

static int save(struct saved *out, const struct job_test *test)
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

static void set_bitmap(bitstr_t *bitmap, const unsigned char *bit, int n)
{
	for (int i = 0; i < n; i++) {
		if (bit[i])
			bit_set(bitmap, i);
		else
			bit_clear(bitmap, i);
	}
}

static void restore(const struct saved *saved, const struct job_test *test)
{
	job_record_t *job_ptr = test->job_ptr;

	set_bitmap(test->bitmap, saved->bit, saved->n);
	job_ptr->details->pn_min_memory = saved->pn_min_memory;
	job_ptr->details->pn_min_cpus = saved->pn_min_cpus;
	job_ptr->details->min_cpus = saved->min_cpus;
	job_ptr->total_cpus = saved->total_cpus;
	job_ptr->start_time = saved->start_time;
	job_ptr->bit_flags =
	        (job_ptr->bit_flags & ~TEST_NOW_ONLY) | saved->test_now;
	job_ptr->best_switch = saved->best_switch;
}

int adapter_inner_test(const struct job_test *test)
{
	return inner.job_test(test->job_ptr, test->bitmap, test->min_nodes,
	                      test->max_nodes, test->req_nodes, test->mode,
	                      test->preemptee_candidates,
	                      test->preemptee_job_list, test->exc_core_bitmap);
}

/* Wishes about nodes that only the stock plugin knows how to serve. */
static const char *own_wish(const job_record_t *job_ptr)
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

/* How many nodes, and what each must have free. */
struct size {
	uint32_t nodes, cpus;
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return b ? a / b + (a % b != 0) : a;
}

static uint32_t cpus_needed(const job_record_t *job_ptr, uint32_t nodes)
{
	const struct job_details *details = job_ptr->details;
	uint32_t per_task = details->cpus_per_task ? details->cpus_per_task : 1;
	uint32_t need = details->pn_min_cpus ? details->pn_min_cpus : 1;
	uint32_t by_tasks = details->ntasks_per_node * per_task;
	uint32_t share = divide_up(details->min_cpus, nodes);

	if (details->overcommit)
		return need;
	need = need > by_tasks ? need : by_tasks;
	return need > share ? need : share;
}

static int by_cpus(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* How many of the increasing numbers are at least `cpus` (> 0). O(log n). */
static uint32_t nodes_with(const uint32_t *sorted, int n, uint32_t cpus)
{
	int low = 0, high = n;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (sorted[mid] < cpus)
			low = mid + 1;
		else
			high = mid;
	}
	return (uint32_t)(n - low);
}

/*
 * -N3: 3. -N2-4: as many as are free, at most 4. -n10 without -N (1 to any
 * number, 1 wanted): the fewest nodes that hold an even share each, so that
 * any of them will do.
 */
static bool job_size(const struct job_test *test, const uint32_t *sorted, int n,
                     struct size *out)
{
	const job_record_t *job_ptr = test->job_ptr;
	uint32_t wanted = test->req_nodes ? test->req_nodes : test->min_nodes;
	uint32_t max = test->max_nodes ? test->max_nodes : UINT32_MAX;
	bool by_tasks = max > test->min_nodes && wanted == test->min_nodes;
	uint32_t limit = (uint32_t)n;

	if (by_tasks) {
		limit = max < limit ? max : limit;
		for (uint32_t k = test->min_nodes; k <= limit; k++) {
			out->nodes = k;
			out->cpus = cpus_needed(job_ptr, k);
			if (nodes_with(sorted, n, out->cpus) >= k)
				return true;
		}
		return false;
	}
	for (uint32_t k = wanted; k >= test->min_nodes && k; k--) {
		out->nodes = k;
		out->cpus = cpus_needed(job_ptr, k);
		if (nodes_with(sorted, n, out->cpus) >= k)
			return true;
	}
	return false;
}

struct cpl_engine_job adapter_describe(const job_record_t *job_ptr)
{
	struct cplslurm_wish wish = cplslurm_wish(job_ptr->spank_job_env,
	                                          job_ptr->spank_job_env_size);

	return (struct cpl_engine_job){
	        .id = job_ptr->job_id,
	        .uid = job_ptr->user_id,
	        .name = job_ptr->name,
	        .partition = job_ptr->part_ptr ? job_ptr->part_ptr->name
	                                       : job_ptr->partition,
	        .profile = wish.profile,
	        .policy = wish.policy,
	        .mapping = wish.mapping,
	};
}

/* The required nodes as indexes; -1 when one is not usable now. */
static int required_nodes(const job_record_t *job_ptr,
                          const unsigned char *usable, int n, int *required)
{
	const bitstr_t *bitmap = job_ptr->details->req_node_bitmap;
	int count = 0;

	for (int i = 0; bitmap && i < n; i++) {
		if (!bit_test((bitstr_t *)bitmap, i))
			continue;
		if (!usable[i])
			return -1;
		required[count++] = i;
	}
	return count;
}

static uint32_t tasks_of(const job_record_t *job_ptr)
{
	uint32_t n = job_ptr->details->num_tasks;

	return n == NO_VAL ? 0 : n;
}

/*
 * Ask the engine. Always an answer; place is false where the stock plugin is
 * to decide.
 */
static void choose(const struct job_test *test, struct capacity *have,
                   struct size *size, struct cpl_engine_answer *answer)
{
	const job_record_t *job_ptr = test->job_ptr;
	int n = have->n, n_required = 0;
	unsigned char *usable = malloc((size_t)n + 1);
	int *required = malloc(((size_t)n + 1) * sizeof(int));
	uint32_t *sorted = malloc(((size_t)n + 1) * sizeof(*sorted));
	const char *why = own_wish(job_ptr);
	bool fits;

	*answer = (struct cpl_engine_answer){.reason = "out of memory"};
	if (!usable || !required || !sorted || adapter_hosts())
		goto out;
	for (int i = 0; i < n; i++)
		usable[i] = have->cpus[i] > 0;
	cpl_engine_known(adapter_engine, usable, n);
	for (int i = 0; i < n; i++)
		if (!usable[i])
			have->cpus[i] = 0;
	memcpy(sorted, have->cpus, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), by_cpus);
	fits = job_size(test, sorted, n, size);
	for (int i = 0; i < n; i++)
		usable[i] = usable[i] && have->cpus[i] >= size->cpus;
	n_required = required_nodes(job_ptr, usable, n, required);
	if (!why && !fits)
		why = "not enough nodes of the network are free now";
	if (!why && n_required < 0)
		why = "a required node is not free or not in the network";
	if (!why && n_required > (int)size->nodes)
		why = "more nodes are required than wanted";
	struct cpl_engine_request req = {
	        .job = adapter_describe(job_ptr),
	        .nodes_wanted = (int)size->nodes,
	        .ranks = (int)tasks_of(job_ptr),
	        .ranks_per_node = job_ptr->details->ntasks_per_node,
	        .n_hosts = n,
	        .free = usable,
	        .required = required,
	        .n_required = why ? 0 : n_required,
	        .stock_reason = why,
	        .record_free = test->mode == SELECT_MODE_RUN_NOW,
	};
	cpl_engine_decide(adapter_engine, &req, answer);
out:
	free(usable);
	free(required);
	free(sorted);
}

/* cons_tres on exactly the answer's nodes. */
static int narrowed(const struct job_test *test, const struct size *size,
                    const struct cpl_engine_answer *answer)
{
	struct job_test ours = *test;
	int rc;

	bit_clear_all(test->bitmap);
	for (int i = 0; i < answer->n_hosts; i++)
		bit_set(test->bitmap, answer->host[i]);
	/* All of them, or it is not the placement that was evaluated. */
	ours.min_nodes = ours.req_nodes = size->nodes;
	/* A first pass must not preempt what the stock answer would spare. */
	ours.preemptee_candidates = NULL;
	if (test->mode == SELECT_MODE_WILL_RUN)
		test->job_ptr->bit_flags |= TEST_NOW_ONLY;
	rc = adapter_inner_test(&ours);
	return rc;
}

/*
 * The stock answer beside ours, for the record: WILL_RUN leaves no allocation
 * behind and, without preemptees and with TEST_NOW_ONLY, looks at free
 * resources only. GRES would be chosen anew, so such jobs have no baseline.
 */
static void note_stock(const struct job_test *test, const struct saved *before,
                       struct cpl_engine_answer *answer)
{
	job_record_t *job_ptr = test->job_ptr;
	job_resources_t *allocated = job_ptr->job_resrcs;
	struct job_test stock = *test;
	struct saved after;
	int *host, n = 0, rc;

	if (job_ptr->gres_list_req || save(&after, test))
		return;
	host = malloc(((size_t)after.n + 1) * sizeof(int));
	if (!host)
		goto out;
	job_ptr->job_resrcs = NULL;
	restore(before, test);
	job_ptr->bit_flags |= TEST_NOW_ONLY;
	stock.mode = SELECT_MODE_WILL_RUN;
	stock.preemptee_candidates = NULL;
	stock.preemptee_job_list = NULL;
	rc = adapter_inner_test(&stock);
	for (int i = 0; rc == SLURM_SUCCESS && i < after.n; i++)
		if (bit_test(test->bitmap, i))
			host[n++] = i;
	restore(&after, test);
	job_ptr->job_resrcs = allocated;
	if (n)
		cpl_engine_baseline(adapter_engine, answer, host, n);
out:
	free(host);
	free(after.bit);
}

/* The stock plugin chose: what that comes to, for the record. */
static void note_chosen(const struct job_test *test,
                        struct cpl_engine_answer *answer)
{
	int n = bit_size(test->bitmap), used = 0;
	int *host = malloc(((size_t)n + 1) * sizeof(int));

	if (!host)
		return;
	for (int i = 0; i < n; i++)
		if (bit_test(test->bitmap, i))
			host[used++] = i;
	cpl_engine_baseline(adapter_engine, answer, host, used);
	free(host);
}

static void keep(const struct job_test *test, struct cpl_engine_answer *answer)
{
	adapter_accepted.job_ptr = test->job_ptr;
	adapter_accepted.id = test->job_ptr->job_id;
	cpl_engine_accept(adapter_engine, answer);
}

static void say(const struct job_test *test,
                const struct cpl_engine_answer *answer, int rc)
{
	static const char *const mode[] = {"RUN_NOW", "TEST_ONLY", "WILL_RUN"};
	const struct cpl_record *record = answer->record;

	log_flag(SELECT_TYPE, "commplace: %pJ %s: %s%s%s, rc %d, %.3f ms",
	         test->job_ptr, test->mode < 3 ? mode[test->mode] : "?",
	         answer->place ? "placed by " : "stock: ",
	         answer->place && record ? record->policy : "",
	         answer->place ? "" : answer->reason, rc,
	         record ? record->decision_ms : 0);
}

static int stock_answer(const struct job_test *test,
                        struct cpl_engine_answer *answer)
{
	int rc = adapter_inner_test(test);

	say(test, answer, rc);
	if (!answer->record)
		error("commplace: %pJ: %s: stock answer", test->job_ptr,
		      answer->reason);
	if (rc == SLURM_SUCCESS && test->mode == SELECT_MODE_RUN_NOW &&
	    test->job_ptr->job_resrcs && answer->record) {
		note_chosen(test, answer);
		keep(test, answer);
	}
	cpl_engine_answer_free(adapter_engine, answer);
	return rc;
}

int adapter_job_test(const struct job_test *test)
{
	job_record_t *job_ptr = test->job_ptr;
	struct cpl_engine_answer answer;
	struct capacity have = {0};
	struct size size = {0};
	struct saved before;
	struct cpl_engine_job job;
	int rc;

	if (!adapter_engine || test->mode == SELECT_MODE_TEST_ONLY ||
	    !test->min_nodes || !job_ptr->details)
		return adapter_inner_test(test);
	job = adapter_describe(job_ptr);
	if (!cpl_engine_concerns(adapter_engine, &job))
		return adapter_inner_test(test);
	if (save(&before, test)) {
		error("commplace: %pJ: out of memory: stock answer", job_ptr);
		return adapter_inner_test(test);
	}
	if (adapter_capacity(test, &have))
		answer = (struct cpl_engine_answer){.reason = "out of memory"};
	else
		choose(test, &have, &size, &answer);
	free(have.cpus);
	if (!answer.place) {
		rc = stock_answer(test, &answer);
		goto out;
	}
	rc = narrowed(test, &size, &answer);
	if (rc != SLURM_SUCCESS) {
		restore(&before, test);
		cpl_engine_refused(&answer,
		                   "select/cons_tres refused the nodes chosen");
		rc = stock_answer(test, &answer);
		goto out;
	}
	/* Slurm looks at this bit in the job's record, not in our call. */
	job_ptr->bit_flags =
	        (job_ptr->bit_flags & ~TEST_NOW_ONLY) | before.test_now;
	say(test, &answer, rc);
	if (test->mode == SELECT_MODE_RUN_NOW) {
		note_stock(test, &before, &answer);
		keep(test, &answer);
	}
	cpl_engine_answer_free(adapter_engine, &answer);
out:
	free(before.bit);
	return rc;
}
