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
}

/* The same nodes, told one by one. */
static void ungroup(job_resources_t *got)
{
	uint16_t sockets = got->sockets_per_node[0];
	uint16_t cores = got->cores_per_socket[0];

	assert_int_equal(got->sock_core_rep_count[0], got->nhosts);
	xrecalloc(got->sockets_per_node, got->nhosts, sizeof(uint16_t));
	xrecalloc(got->cores_per_socket, got->nhosts, sizeof(uint16_t));
	xrecalloc(got->sock_core_rep_count, got->nhosts, sizeof(uint32_t));
	for (uint32_t i = 0; i < got->nhosts; i++) {
		got->sockets_per_node[i] = sockets;
		got->cores_per_socket[i] = cores;
		got->sock_core_rep_count[i] = 1;
	}
}

static void assert_cores(const job_record_t *job, uint32_t nodes)
{
	const struct cplslurm_usage *usage = cplslurm_usage();
	uint32_t at = 0;

	assert_non_null(usage);
	for (int i = 0; i < node_record_count; i++) {
		bool has = bit_test(job->job_resrcs->node_bitmap, i);

		assert_int_equal(usage->cpus[i],
		                 has && at < nodes ? MACHINE_CORES : 0);
		at += has;
	}
}

/* Nodes of one kind after another, or each told by itself; what says less than
 * it should is not read further. */
static void test_cores_of_jobs(void **state)
{
	struct job_options options = {.nodes = 4, .exclusive = true};
	job_resources_t *got;
	bitstr_t *cores;
	job_record_t *job;
	char *nodes;

	job = controller_job(&options);
	nodes = controller_run(job);
	assert_string_not_equal(nodes, "");
	free(nodes);
	got = job->job_resrcs;
	cplslurm_usage_forget();
	assert_cores(job, 4);
	ungroup(got);
	cplslurm_usage_forget();
	assert_cores(job, 4);
	got->sock_core_rep_count[2] = 0;
	cplslurm_usage_forget();
	assert_cores(job, 3);
	got->sock_core_rep_count[2] = 1;
	cores = got->core_bitmap;
	got->core_bitmap = bit_alloc(2 * MACHINE_CORES);
	bit_set_all(got->core_bitmap);
	cplslurm_usage_forget();
	assert_cores(job, 2);
	/* And is given back as it was taken. */
	cplslurm_usage_ended(job);
	assert_cores(job, 0);
	cplslurm_usage_forget();
	FREE_NULL_BITMAP(got->core_bitmap);
	got->core_bitmap = cores;
	controller_end(job);
}

/* A job that is not as it was counted: all is counted anew. */
static void test_what_does_not_fit(void **state)
{
	struct job_options options = {
	        .nodes = 2, .tasks_per_node = 2, .memory = 100};
	job_record_t *job = controller_job(&options);
	job_resources_t *got;
	bitstr_t *nodes, *wide;
	uint64_t *memory;
	int node, core;

	slurm_conf.select_type_param |= CR_MEMORY;
	free(controller_run(job));
	got = job->job_resrcs;
	node = (int)bit_ffs(got->node_bitmap);
	memory = &got->memory_allocated[0];
	cplslurm_usage_forget();
	assert_int_equal(cplslurm_usage()->memory[node], *memory);
	/* Begun twice, or ended with more memory or cores than it had. */
	for (int i = 0; i < 3; i++) {
		core = (int)bit_ffc(got->core_bitmap);
		*memory += 10;
		if (i == 2) {
			*memory -= 15;
			bit_set(got->core_bitmap, core);
		}
		if (i)
			cplslurm_usage_ended(job);
		else
			cplslurm_usage_began(job);
		assert_int_equal(cplslurm_usage()->memory[node], *memory);
		assert_int_equal(cplslurm_usage()->cpus[node], i == 2 ? 3 : 2);
		if (i == 2)
			bit_clear(got->core_bitmap, core);
	}
	/* On nodes that nobody knows: nothing can be told. */
	nodes = got->node_bitmap;
	wide = bit_alloc(MACHINE_NODES + 1);
	bit_set(wide, MACHINE_NODES);
	got->node_bitmap = wide;
	cplslurm_usage_forget();
	assert_null(cplslurm_usage());
	got->node_bitmap = nodes;
	FREE_NULL_BITMAP(wide);
	assert_non_null(cplslurm_usage());
	/* One that is unknown ends without a trace. */
	cplslurm_usage_ended(job);
	cplslurm_usage_ended(job);
	assert_int_equal(cplslurm_usage()->memory[node], 0);
	cplslurm_usage_forget();
	*memory = 100;
	controller_end(job);
}

/* More than the table of them begins with, ended and begun again in any order. */
static void test_many_jobs(void **state)
{
	enum { MANY = 150 };
	struct job_options options = {.nodes = 1, .tasks_per_node = 1};
	job_record_t *job[MANY];

	cplslurm_usage_forget();
	assert_int_equal(compare(JOBS + 1), 0);
	for (int i = 0; i < MANY; i++) {
		job[i] = controller_job(&options);
		free(controller_run(job[i]));
		cplslurm_usage_began(job[i]);
	}
	assert_true(compare(JOBS + 2) > 0);
	for (int i = 0; i < MANY; i++)
		cplslurm_usage_ended(job[i * 7 % MANY]);
	for (int i = 0; i < node_record_count; i++)
		assert_int_equal(cplslurm_usage()->cpus[i], 0);
	for (int i = 0; i < MANY; i++)
		cplslurm_usage_began(job[i * 101 % MANY]);
	compare(JOBS + 3);
	for (int i = 0; i < MANY; i++) {
		end(job[i]);
		compare(JOBS + 4);
	}
}

static int set_up(void **state)
{
	controller_start("cons_tres_commplace");
	return 0;
}

static int tear_down(void **state)
{
	controller_stop();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_counts_are_those_of_cons_tres),
	        cmocka_unit_test(test_cores_of_jobs),
	        cmocka_unit_test(test_what_does_not_fit),
	        cmocka_unit_test(test_many_jobs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
