/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No memory: every allocation of a binding fails once (see
 * failing_alloc.h). */
#include "unit.h"

#include "binding/devices.h"
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

/* Two ranks of the last GPUs, found by the bus or, in one place, by a split. */
static void test_gpus_without_memory(void **state)
{
	struct cpl_comm_entry entry = {0, 1, 1, 1};
	struct cpl_comm *comm = cpl_comm_build(2, &entry, 1, NULL);
	hwloc_const_cpuset_t listed[8];
	bool uses[16] = {[6] = true, [8 + 7] = true};
	hwloc_topology_t topology;
	int failed = 0;

	assert_int_equal(cpl_topology_load(GPU_NODE, &topology, NULL), 0);
	for (int k = 0; k < 2; k++)
		for (int n = 0;; n++) {
			struct cpl_bind_request req = {.topology = topology,
			                               .comm = comm,
			                               .cores_per_rank = 1};
			struct cpl_devices devices;
			struct cpl_gpu_use use = {.devices = &devices,
			                          .n = k ? 7 : 8,
			                          .uses = uses};
			struct cpl_gpu_near near = {0};
			struct cpl_error err = {""};
			int rc;

			for (int i = 0; i < 8; i++)
				listed[i] = hwloc_get_root_obj(topology)->cpuset;
			use.listed = k ? listed : NULL;
			left = n;
			rc = cpl_devices_find(topology, &devices, &err);
			if (!rc) {
				rc = cpl_gpus_near(&req, &use, &near, &err);
				cpl_devices_free(&devices);
			}
			if (left >= 0) {
				left = -1;
				assert_int_equal(rc, 0);
				assert_int_equal(near.from, k ? CPL_GPU_SPLIT
				                              : CPL_GPU_TREE);
				cpl_gpu_near_free(&near);
				break;
			}
			assert_int_equal(rc, -1);
			assert_string_equal(err.text, "out of memory");
			assert_null(near.near);
			assert_null(devices.gpu);
			failed++;
		}
	assert_true(failed > 20);
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_binding_without_memory),
	        cmocka_unit_test(test_gpus_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
