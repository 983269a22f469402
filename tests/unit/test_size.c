/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many nodes a job gets, and what each must have free. */
#include "unit.h"
#include <sys/resource.h>

#include "site/size.h"

#define HOSTS 8

/* Hosts 0-3 have 4 free CPUs, 4 and 5 have 2, 6 has 1, 7 none. */
static const uint32_t cpus[HOSTS] = {4, 4, 4, 4, 2, 2, 1, 0};

static void check(const struct cpl_need *need, uint32_t least, int found,
                  uint32_t nodes, uint32_t each)
{
	struct cpl_size size;

	assert_int_equal(cpl_size(need, cpus, HOSTS, least, &size), found);
	if (!found)
		return;
	assert_int_equal(size.nodes, nodes);
	assert_int_equal(size.cpus, each);
}

static void test_a_stated_number(void **state)
{
	struct cpl_need need = {
	        .min_nodes = 3, .max_nodes = 3, .nodes = 3, .cpus = 3};

	assert_false(cpl_size_by_cpus(&need));
	check(&need, 0, 1, 3, 1);
	need.tasks_per_node = 2;
	need.cpus_per_task = 2;
	check(&need, 0, 1, 3, 4);
	need.cpus_per_task = 3;
	check(&need, 0, 0, 0, 0);
	need.overcommit = true;
	check(&need, 0, 1, 3, 1);
	need.node_cpus = 2;
	check(&need, 0, 1, 3, 2);
	need.min_nodes = need.max_nodes = need.nodes = HOSTS;
	check(&need, 0, 0, 0, 0);
}

/* -N1-4000000000 of a user, under slurmctld's locks. */
static void test_a_range_beyond_all_hosts(void **state)
{
	struct cpl_need need = {.min_nodes = 1,
	                        .max_nodes = UINT32_MAX,
	                        .nodes = UINT32_MAX,
	                        .cpus = 1,
	                        .node_cpus = 5};
	struct rlimit limit;

	/* Of this program's own time: counting down takes minutes. */
	assert_int_equal(getrlimit(RLIMIT_CPU, &limit), 0);
	limit.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
	check(&need, 0, 0, 0, 0);
	need.node_cpus = 4;
	check(&need, 0, 1, 4, 4);
}

static void test_a_range_takes_the_most(void **state)
{
	struct cpl_need need = {
	        .min_nodes = 2, .max_nodes = 7, .nodes = 7, .cpus = 12};

	assert_false(cpl_size_by_cpus(&need));
	/* Seven with 2 each there are not, but such as hold 12. */
	check(&need, 0, 1, 7, 1);
	need.cpus_per_task = 2;
	check(&need, 0, 1, 6, 2);
	need.cpus_per_task = 0;
	need.node_cpus = 3;
	check(&need, 0, 1, 4, 3);
	need.node_cpus = 5;
	check(&need, 0, 0, 0, 0);
}

static void test_by_cpus_takes_the_fewest(void **state)
{
	struct cpl_need need = {
	        .min_nodes = 1, .max_nodes = 500000, .nodes = 1, .cpus = 8};

	assert_true(cpl_size_by_cpus(&need));
	check(&need, 0, 1, 2, 4);
	/* After a refusal: more. */
	check(&need, 3, 1, 3, 3);
	check(&need, 5, 1, 5, 2);
	check(&need, 7, 1, 7, 1);
	check(&need, 8, 0, 0, 0);
	need.max_nodes = 0;
	check(&need, 0, 1, 2, 4);
	need.max_nodes = 3;
	check(&need, 4, 0, 0, 0);
	/* Tasks of 3 CPUs are not split: one on each of four hosts. */
	need = (struct cpl_need){.min_nodes = 1,
	                         .max_nodes = 500000,
	                         .cpus = 12,
	                         .cpus_per_task = 3};
	check(&need, 0, 1, 4, 3);
	/* Two of 2 CPUs share a host, and 5 tasks need three hosts. */
	need.cpus = 10;
	need.cpus_per_task = 2;
	check(&need, 0, 1, 3, 4);
}

/* -N6 -n20 on 4, 4, 4, 4, 2 and 2. */
static void test_no_even_share(void **state)
{
	struct cpl_need need = {
	        .min_nodes = 6, .max_nodes = 6, .nodes = 6, .cpus = 20};

	assert_int_equal(cpl_size_least(&need), 1);
	check(&need, 0, 1, 6, 2);
	need.cpus = 21;
	check(&need, 0, 0, 0, 0);
	/* Each of the six has what it must. */
	need.cpus = 20;
	need.node_cpus = 3;
	check(&need, 0, 0, 0, 0);
	need.node_cpus = 0;
	/* Four tasks of 3 CPUs fit on four hosts, the others can serve none. */
	need.cpus = 12;
	need.cpus_per_task = 3;
	check(&need, 0, 0, 0, 0);
	need.cpus_per_task = 2;
	need.cpus = 18;
	check(&need, 0, 1, 6, 2);
	need.cpus = 21;
	need.cpus_per_task = 3;
	assert_int_equal(cpl_size_usable(&need, 4), 3);
	need.cpus = 22;
	assert_int_equal(cpl_size_usable(&need, 4), 4);
	/* By CPUs alone: five of 4, 4, 4, 4 and 2. */
	need = (struct cpl_need){.min_nodes = 1, .nodes = 1, .cpus = 18};
	check(&need, 0, 1, 5, 2);
	need.cpus = 22;
	check(&need, 0, 0, 0, 0);
	/* What all that there are hold is no overflow. */
	need.cpus = UINT32_MAX;
	check(&need, 0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_stated_number),
	        cmocka_unit_test(test_a_range_beyond_all_hosts),
	        cmocka_unit_test(test_a_range_takes_the_most),
	        cmocka_unit_test(test_by_cpus_takes_the_fewest),
	        cmocka_unit_test(test_no_even_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
