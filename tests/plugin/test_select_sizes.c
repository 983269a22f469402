/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs and GRES as select/cons_tres counts them, on nodes of two threads a
 * core of which half have GPUs: jobs are placed, and on as many nodes as the
 * stock plugin would take.
 */
#include "commplace-config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "controller.h"
#include "oracle.h"
#include "slurmctld.h"

#define THREADS 2

/* Nodes of a bitmap's text. */
static int count(const char *nodes)
{
	bitstr_t *bitmap = NULL;
	char *copy = xstrdup(nodes);
	int n;

	assert_int_equal(slurmctld_bitmap(copy, &bitmap), SLURM_SUCCESS);
	n = bit_set_count(bitmap);
	FREE_NULL_BITMAP(bitmap);
	xfree(copy);
	return n;
}

/* The job runs where policy and profile say, not where the stock plugin
 * would. Free its nodes' text. */
static char *placed(const struct job_options *options, int nodes)
{
	job_record_t *job = controller_job(options), *other;
	char *stock = controller_stock_nodes(job), *ours;

	/* Asked in between, GRES of the job are chosen. */
	controller_job_free(job);
	other = controller_job(options);
	ours = controller_run(other);
	assert_string_not_equal(ours, "");
	if (!other->admin_comment ||
	    !strstr(other->admin_comment, "policy=random-groups"))
		fail_msg("not placed: %s", other->admin_comment
		                                   ? other->admin_comment
		                                   : "no comment");
	assert_int_equal(count(ours), nodes);
	assert_int_equal(count(stock), nodes);
	free(stock);
	uint32_t id = other->job_id;
	controller_end(other);
	assert_true(oracle_record(id, true));
	return ours;
}

static const struct job_options usual = {
        .tasks = 16, .profile = "ring16", .policy = "random-groups"};

/* 16 tasks on nodes of 4 cores with 2 threads each. */
static void test_threads_count_unless_they_do_not(void **state)
{
	struct job_options options = usual;

	free(placed(&options, 2));
	/* fault 11 */
	options.threads_per_core = 1;
	free(placed(&options, 4));
	options = usual;
	options.tasks_per_core = 1;
	free(placed(&options, 4));
	options.cpus_per_task = 2;
	free(placed(&options, 4));
}

static void test_cores_for_the_system_do_not_count(void **state)
{
	struct job_options options = usual;

	slurm_conf.conf_flags |= CONF_FLAG_ASRU;
	options.core_spec = 2;
	options.exclusive = true;
	free(placed(&options, 4));
	slurm_conf.conf_flags &= ~CONF_FLAG_ASRU;
}

/* One socket a node. */
static void test_tasks_per_socket_bound_a_node(void **state)
{
	struct job_options options = usual;

	options.nodes = 8;
	options.tasks_per_socket = 2;
	free(placed(&options, 8));
}

/* A job that needs every node that can serve it. */
static void test_just_enough_nodes(void **state)
{
	struct job_options options = usual;
	bitstr_t *bitmap = NULL;
	char *nodes;

	options.nodes = 16;
	options.gres = "gpu:1";
	options.exclude = "n[48-63]";
	nodes = placed(&options, 16);
	assert_int_equal(slurmctld_bitmap(nodes, &bitmap), 0);
	assert_int_equal(bit_ffs(bitmap), 32);
	assert_int_equal(bit_fls(bitmap), 47);
	FREE_NULL_BITMAP(bitmap);
	free(nodes);
}

static void test_one_task_per_core_of_the_site(void **state)
{
	struct job_options options = usual;
	uint16_t parameters = slurm_conf.select_type_param;

	slurm_conf.select_type_param |= CR_ONE_TASK_PER_CORE;
	free(placed(&options, 2));
	slurm_conf.select_type_param = parameters;
}

/* fault 12: n[32-63] have GPUs. */
static void test_nodes_without_the_gres_are_not_offered(void **state)
{
	struct job_options options = usual;
	char *nodes;

	options.nodes = 4;
	options.gres = "gpu:1";
	for (int i = 0; i < 3; i++) {
		static const char *const exclude[] = {NULL, "n[32-40]",
		                                      "n[44-63]"};
		bitstr_t *bitmap = NULL;

		options.exclude = exclude[i];
		nodes = placed(&options, 4);
		assert_int_equal(slurmctld_bitmap(nodes, &bitmap),
		                 SLURM_SUCCESS);
		assert_true(bit_ffs(bitmap) >= 32);
		FREE_NULL_BITMAP(bitmap);
		free(nodes);
	}
}

static int set_up(void **state)
{
	/* So that random groups are not the first nodes. */
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_threads_count_unless_they_do_not,
	                               set_up),
	        cmocka_unit_test_setup(test_cores_for_the_system_do_not_count,
	                               set_up),
	        cmocka_unit_test_setup(test_tasks_per_socket_bound_a_node,
	                               set_up),
	        cmocka_unit_test_setup(test_just_enough_nodes, set_up),
	        cmocka_unit_test_setup(test_one_task_per_core_of_the_site,
	                               set_up),
	        cmocka_unit_test_setup(
	                test_nodes_without_the_gres_are_not_offered, set_up),
	};
	int rc;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	controller_threads = THREADS;
	controller_gres = "Gres=gpu:2";
	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	controller_stop();
	return rc;
}
