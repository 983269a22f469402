/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers that a user may state, with --overcommit as large as they like: the
 * job runs, and Slurm's layout is never asked for more than a few ranks. */
#include "commplace-config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"

/* Layouts that the plugin has had made, and the largest. */
static int layouts;
static uint32_t most_tasks;

/* In the executable it comes before libslurmfull's. */
slurm_step_layout_t *slurm_step_layout_create(slurm_step_layout_req_t *req)
{
	slurm_step_layout_t *(*theirs)(slurm_step_layout_req_t *) =
	        dlsym(RTLD_NEXT, "slurm_step_layout_create");

	layouts++;
	if (req->num_tasks > most_tasks)
		most_tasks = req->num_tasks;
	return req->num_tasks > 1 << 20 ? NULL : theirs(req);
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
		if (most_tasks > 2 * 4096)
			fail_msg("row %d: a layout of %u tasks", (int)i,
			         most_tasks);
	}
	/* Those that something follows were made. */
	assert_true(layouts > 0);
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
		assert_true(most_tasks <= 2 * 4096);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_any_number_of_tasks),
	        T(test_other_numbers),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_controller, stop_controller);
}
