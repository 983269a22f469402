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
#include "site/record.h"
#include "slurmctld.h"

#define THREADS 2

/* The last one that was placed. */
static uint32_t last_job;

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
	last_job = other->job_id;
	controller_end(other);
	assert_true(oracle_record(last_job, true));
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
	options.exclusive = true;
	options.core_spec = 2;
	free(placed(&options, 4));
	/* Three threads are of two cores. */
	options.core_spec = CORE_SPEC_THREAD | 3;
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

/* Of scattered ones all that can serve are offered, however few CPUs the job
 * wants. */
static void test_all_nodes_with_the_gres_are_offered(void **state)
{
	struct job_options options = usual;
	struct cpl_error err = {""};
	struct cpl_record *record;
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/state", controller_dir);
	options.nodes = 2;
	options.tasks = 4;
	options.profile = "ring4";
	options.gres = "gpu:1";
	options.exclude = "n[33-39,41,43,45,47,49-63]";
	free(placed(&options, 2));
	record = cpl_record_find(dir, last_job, NULL, &err);
	assert_non_null(record);
	assert_string_equal(record->free_hosts, "n[32,40,42,44,46,48]");
	cpl_record_free(record);
}

#define CLASSES 4

static int class_size(int class)
{
	int n = 0;

	for (int i = 0; i < node_record_count; i++)
		n += i % 7 % CLASSES == class;
	return n;
}

/* Nodes of each class. */
static void count_classes(const char *nodes, int *n)
{
	bitstr_t *bitmap = NULL;
	char *copy = xstrdup(nodes);

	memset(n, 0, CLASSES * sizeof(*n));
	assert_int_equal(slurmctld_bitmap(copy, &bitmap), SLURM_SUCCESS);
	for (int i = 0; i < bit_size(bitmap); i++)
		if (bit_test(bitmap, i))
			n[i % 7 % CLASSES]++;
	FREE_NULL_BITMAP(bitmap);
	xfree(copy);
}

/* fault 10: nodes of low Weight first, those that are powered down last; as
 * many of each as the stock plugin takes, which from 24.11 on needs more of
 * slurmctld than there is here: t21 compares with it. */
static void test_weights_are_those_of_the_stock_plugin(void **state)
{
	static const uint32_t weight[CLASSES] = {20, 1, 5, 1};
	static const int nodes[] = {2, 4, 9, 18, 30, 50};
	config_record_t *own = node_record_table_ptr[0]->config_ptr;
	config_record_t class[CLASSES];

	for (int i = 0; i < CLASSES; i++) {
		class[i] = *own;
		class[i].weight = weight[i];
	}
	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node = node_record_table_ptr[i];
		int k = i % 7 % CLASSES;

		node->config_ptr = &class[k];
		/* As the main scheduler sets it. */
		node->sched_weight = (uint64_t)weight[k] << 8 | 0xff;
		if (k != 3)
			continue;
		node->node_state |= NODE_STATE_POWERED_DOWN;
		node->sched_weight |= UINT64_C(1) << 41;
	}
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		struct job_options options = usual;
		static const int order[CLASSES] = {1, 2, 0, 3};
		int want[CLASSES] = {0}, got[CLASSES], left = nodes[i];
		char *text;

		options.nodes = nodes[i];
		options.exclusive = true;
		options.profile = nodes[i] > 16 ? NULL : options.profile;
		options.tasks = nodes[i] > 16 ? nodes[i] : options.tasks;
		for (int k = 0; k < CLASSES; k++) {
			int there = class_size(order[k]);

			want[order[k]] = left < there ? left : there;
			left -= want[order[k]];
		}
#if CPLSLURM_SERIES < 2302
		job_record_t *job = controller_job(&options);

		text = controller_stock_nodes(job);
		count_classes(text, got);
		free(text);
		controller_job_free(job);
		assert_memory_equal(got, want, sizeof(got));
#endif
		text = placed(&options, nodes[i]);
		count_classes(text, got);
		free(text);
		assert_memory_equal(got, want, sizeof(got));
	}
	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node = node_record_table_ptr[i];

		node->config_ptr = own;
		node->sched_weight = 0;
		node->node_state &= ~NODE_STATE_POWERED_DOWN;
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
	        cmocka_unit_test_setup(test_all_nodes_with_the_gres_are_offered,
	                               set_up),
	        cmocka_unit_test_setup(
	                test_weights_are_those_of_the_stock_plugin, set_up),
	};
	int rc;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	controller_threads = THREADS;
	controller_gres = "Gres=gpu:2";
	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	controller_profile("ring4", 4, 1);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	controller_stop();
	return rc;
}
