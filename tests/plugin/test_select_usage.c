/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is counted from the jobs is what select/cons_tres itself counts, on a
 * machine that fills, stands still in parts, and drains: kept from job to job,
 * as the hooks do, which have a copy of their own, and counted anew.
 */
#include "commplace-config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "controller.h"
#include "ctld_internal.h"
#include "slurmctld.h"

#define JOBS 200
#define RUNNING_MAX 20

static int below(uint64_t counter, int n)
{
	return (int)cpl_random_below(2605, 11, counter, (uint64_t)n);
}

static struct job_options random_options(uint64_t i)
{
	uint64_t at = i * 16;

	return (struct job_options){
	        .nodes = 1 + below(at, 8),
	        .tasks_per_node = 1 + below(at + 1, MACHINE_CORES),
	        .exclusive = below(at + 2, 4) == 0,
	        .memory = below(at + 3, 2) ? 100 + below(at + 4, 200) : 0,
	};
}

/* Both numbers of all nodes; returns the number of nodes that hold something,
 * so that two empty machines are not taken for an agreement. */
static int compare(uint64_t step)
{
	const struct cplslurm_usage *usage = cplslurm_usage();
	int held = 0;

	/* Jobs of this second count, too. */
	last_node_update = time(NULL) + (time_t)step;
	select_g_select_nodeinfo_set_all();
	assert_non_null(usage);
	for (int i = 0; i < node_record_count; i++) {
		uint64_t memory = 0;
		uint16_t cpus = 0;

		slurmctld_counted(i, &cpus, &memory);
		assert_int_equal(usage->cpus[i], cpus);
		assert_int_equal(usage->memory[i], memory);
		held += cpus || memory;
	}
	return held;
}

static void turn(job_record_t *job)
{
	if (IS_JOB_SUSPENDED(job)) {
		assert_int_equal(select_g_job_resume(job, true), 0);
		job->job_state = JOB_RUNNING;
	} else {
		assert_int_equal(select_g_job_suspend(job, true), 0);
		job->job_state = JOB_SUSPENDED;
	}
	cplslurm_usage_forget();
}

static void end(job_record_t *job)
{
	cplslurm_usage_ended(job);
	controller_end(job);
}

static void test_counts_are_those_of_cons_tres(void **state)
{
	job_record_t *running[RUNNING_MAX];
	int n = 0, held = 0;

	controller_start("cons_tres_commplace");
	slurm_conf.select_type_param |= CR_MEMORY;
	for (uint64_t i = 0; i < JOBS; i++) {
		struct job_options options = random_options(i);
		job_record_t *job = controller_job(&options);
		char *nodes = controller_run(job);

		if (*nodes) {
			running[n++] = job;
			cplslurm_usage_began(job);
		} else {
			controller_job_free(job);
		}
		free(nodes);
		if (n && below(i * 16 + 8, 8) == 0)
			turn(running[below(i * 16 + 9, n)]);
		held += compare(i);
		while (n == RUNNING_MAX ||
		       (n && below(i * 16 + 10 + (uint64_t)n, 8) == 0)) {
			end(running[0]);
			memmove(running, running + 1,
			        (size_t)--n * sizeof(running[0]));
		}
		held += compare(i);
	}
	while (n)
		end(running[--n]);
	assert_int_equal(compare(JOBS), 0);
	assert_true(held > JOBS * 10);
	controller_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_counts_are_those_of_cons_tres),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
