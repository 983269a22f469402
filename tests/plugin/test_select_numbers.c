/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers that a user may state, with --overcommit as large as they like: the
 * job runs, in memory as for any. */
#include "commplace-config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "busy.h"

/* In the executable it comes before libslurmfull's: it ends the process where
 * memory is out. */
slurm_step_layout_t *slurm_step_layout_create(slurm_step_layout_req_t *req)
{
	fail_msg("Slurm lays out %u tasks", req->num_tasks);
	return NULL;
}

/* ASan keeps what is freed for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MORE_KIB (512 * 1024)
#else
#define MORE_KIB (32 * 1024)
#endif

/* KiB that have been needed at most. */
static long most(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss;
}

static void assert_little_more(long before, int row)
{
	if (most() > before + MORE_KIB)
		fail_msg("row %d: %ld KiB more", row, most() - before);
}

static const char *const long_name =
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

static void test_any_number_of_tasks(void **state)
{
	static const uint32_t tasks[] = {
	        17,         8193,           2 * UINT16_MAX, 2 * UINT16_MAX + 2,
	        200000000,  (1u << 31) - 1, 1u << 31,       (1u << 31) + 1,
	        NO_VAL - 1, INFINITE,
	};
	const struct job_options by[] = {
	        {.profile = "ring16"},
	        {.profile = "ring16", .policy = "random-groups"},
	        {.policy = "random-groups"},
	        {.profile = long_name, .policy = "linear"},
	        {.policy = "linear", .mapping = "network-order"},
	        {.profile = "ring16", .mapping = long_name},
	        {.policy = long_name},
	};
	const size_t n = sizeof(tasks) / sizeof(*tasks);
	const long before = most();

	controller_config("MappingWithoutProfile=network-order\n"
	                  "MaxDecisionTime=20s");
	controller_reconfigure();
	for (size_t i = 0; i < sizeof(by) / sizeof(*by) * n; i++) {
		struct job_options options = by[i / n];
		job_record_t *job;
		char *nodes;

		options.nodes = 2;
		job = controller_job(&options);
		job->details->num_tasks = tasks[i % n];
		job->details->overcommit = 1;
		job->details->task_dist =
		        i % 2 ? SLURM_DIST_PLANE : SLURM_DIST_CYCLIC;
		nodes = controller_run(job);
		assert_string_not_equal(nodes, "");
		free(nodes);
		controller_end(job);
		assert_little_more(before, (int)i);
	}
}

/* -c and --ntasks-per-* at their ends; slurmctld makes 1 of 0. */
static void test_other_numbers(void **state)
{
	static const uint16_t ends[] = {1, 255, 256, 32767, 32768, 65533};
	const size_t n = sizeof(ends) / sizeof(*ends);

	for (size_t i = 0; i < 5 * n; i++) {
		struct job_options options = {.nodes = 2,
		                              .tasks = 16,
		                              .profile = "ring16",
		                              .policy = "random-groups"};
		job_record_t *job = controller_job(&options);
		uint16_t *field[] = {
		        &job->details->cpus_per_task,
		        &job->details->ntasks_per_node,
		        &job->details->ntasks_per_tres,
		        &job->details->mc_ptr->ntasks_per_socket,
		        &job->details->mc_ptr->ntasks_per_core,
		};
		bitstr_t *bitmap = controller_candidates(job);
		char *nodes;

		*field[i / n] = ends[i % n];
		job->details->overcommit = 1;
		controller_test(job, SELECT_MODE_WILL_RUN, bitmap);
		FREE_NULL_BITMAP(bitmap);
		nodes = controller_run(job);
		if (*nodes)
			controller_end(job);
		else
			controller_job_free(job);
		free(nodes);
	}
}

/* Numbers of 32 and 64 bits: CPUs, nodes, memory, elements of arrays, parts of
 * heterogeneous jobs. */
static void test_wide_numbers(void **state)
{
	static const uint64_t ends[] = {
	        0,          1,        INT32_MAX, (1u << 31), (1u << 31) + 1,
	        NO_VAL - 1, INFINITE, NO_VAL,    INT64_MAX,  MEM_PER_CPU | 1,
	        UINT64_MAX,
	};
	const size_t n = sizeof(ends) / sizeof(*ends);
	const long before = most();

	for (size_t i = 0; i < 11 * n; i++) {
		struct job_options options = {.nodes = 2,
		                              .tasks = 16,
		                              .profile = "ring16",
		                              .policy = "random-groups"};
		job_record_t *job = controller_job(&options);
		uint32_t *field[] = {
		        &job->array_job_id,       &job->array_task_id,
		        &job->het_job_offset,     &job->req_switch,
		        &job->details->min_cpus,  &job->details->max_cpus,
		        &job->details->min_nodes, &job->details->max_nodes,
		        &job->time_limit,         &job->priority,
		};
		bitstr_t *bitmap = controller_candidates(job);
		uint64_t end = ends[i % n];
		char *nodes;

		if (i / n < 10)
			*field[i / n] = (uint32_t)end;
		else
			job->details->pn_min_memory = end;
		job->details->overcommit = 1;
		controller_test(job, SELECT_MODE_WILL_RUN, bitmap);
		FREE_NULL_BITMAP(bitmap);
		nodes = controller_run(job);
		if (*nodes)
			controller_end(job);
		else
			controller_job_free(job);
		free(nodes);
		assert_little_more(before, (int)i);
	}
}

/* Nobody means them, and nothing is laid out for so many. */
static void test_laid_out_in_time(void **state)
{
	static const uint32_t tasks[] = {2 * 4096, 2 * UINT16_MAX, 200000000};
	struct job_options options = {
	        .nodes = 2, .profile = "ring16", .policy = "random-groups"};

	for (size_t i = 0; i < 3; i++) {
		job_record_t *job = controller_job(&options);

		job->details->num_tasks = tasks[i];
		job->details->overcommit = 1;
		job->details->task_dist = SLURM_DIST_PLANE;
#if CPLSLURM_SERIES < 2405
		job->details->plane_size = NO_VAL16 - 1;
#else
		job->details->mc_ptr->plane_size = NO_VAL16 - 1;
#endif
		alarm(20);
		free(controller_run(job));
		alarm(0);
		controller_end(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_any_number_of_tasks),
	        T(test_other_numbers),
	        T(test_wide_numbers),
	        T(test_laid_out_in_time),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_controller, stop_controller);
}
