/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No memory: every allocation of a binding fails once (see
 * failing_alloc.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "binding/binding.h"
#include "failing_alloc.h"

static void test_binding_without_memory(void **state)
{
	struct cpl_comm_entry entry[40];
	struct cpl_comm *comm;
	hwloc_topology_t topology;
	hwloc_const_cpuset_t near[10] = {NULL};
	int failed = 0;

	for (int i = 0; i < 40; i++)
		entry[i] = (struct cpl_comm_entry){i % 10, i * 7 % 10, i, 1};
	comm = cpl_comm_build(10, entry, 40, NULL);
	assert_int_equal(cpl_topology_load("pack:2 [numa] l3:2 core:3 pu:2",
	                                   &topology, NULL),
	                 0);
	near[3] = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 1)->cpuset;
	for (int b = 0; cpl_binder_at(b); b++)
		for (int wish = 0; wish < 2; wish++)
			for (int n = 0;; n += n < 200 ? 1 : 7) {
				struct cpl_bind_request req = {
				        .topology = topology,
				        .comm = comm,
				        .cores_per_rank = 1,
				        .near = wish ? near : NULL};
				struct cpl_bind_result result;
				struct cpl_error err = {""};
				int rc;

				left = n;
				rc = cpl_bind(cpl_binder_at(b), &req,
				              &result, &err);
				if (left >= 0) {
					left = -1;
					assert_int_equal(rc, 0);
					cpl_bind_result_free(&result);
					break;
				}
				if (rc == 0) {
					/* Arrays that could not be cut to
					 * their size stay longer. */
					cpl_bind_result_free(&result);
					continue;
				}
				failed++;
				assert_string_equal(err.text, "out of memory");
				assert_null(result.cpuset);
			}
	assert_true(failed > 200);
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_binding_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
