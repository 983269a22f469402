/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binding on trees that are not uniform (hybrid cores, cores that are offline
 * or not allowed) against exhaustive search, and the limited search.
 */
#include "unit.h"
#include <hwloc/cpukinds.h>

#include "base/random.h"
#include "binding/binding_internal.h"
#include "least_cost.h"
#include "topology_of.h"

#define MAX_SLOTS 8

/* Of the PUs, about `wanted`; some cores lose a thread, some caches cores. */
static hwloc_bitmap_t some_pus(hwloc_topology_t topology, unsigned wanted,
                               uint64_t seed)
{
	int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	for (int i = 0; i < n; i++)
		if (cpl_random_below(seed, 2, (uint64_t)i, (uint64_t)n) <
		    wanted)
			assert_int_equal(hwloc_bitmap_set(set, (unsigned)i), 0);
	return set;
}

/* Sparse traffic at random, or such as fits a hidden order of all slots. */
static struct cpl_comm *pattern(const struct cpl_tree *tree, int ranks,
                                bool fits, uint64_t seed)
{
	struct cpl_comm_entry entry[MAX_SLOTS * MAX_SLOTS];
	struct cpl_comm *comm;
	int place[MAX_SLOTS];
	int64_t n = 0;

	for (int s = 0; s < tree->n_slots; s++)
		place[s] = s;
	cpl_random_shuffle(place, tree->n_slots, seed, 5);
	for (int i = 0; i < ranks; i++)
		for (int j = i + 1; j < ranks; j++) {
			uint64_t at = (uint64_t)(i * MAX_SLOTS + j);
			double bytes = (double)cpl_random_below(seed, 7, at, 5);

			if (fits)
				for (int d = cpl_tree_distance(tree, place[i],
				                               place[j]);
				     d < 12; d += 2)
					bytes = bytes * 30 + 30;
			else if (cpl_random_below(seed, 4, at, 3))
				continue;
			entry[n++] = (struct cpl_comm_entry){i, j, 1 + bytes,
			                                     1 + bytes};
		}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	assert_non_null(comm);
	return comm;
}

static double cost_of(const struct cpl_binder *binder,
                      const struct cpl_bind_request *req, bool guard)
{
	struct cpl_bind_result result;
	struct cpl_error err = {""};
	double cost;

	if (guard ? cpl_bind(binder, req, &result, &err)
	          : cpl_bind_as_is(binder, req, &result, &err))
		fail_msg("%s: %s", binder->name, err.text);
	cost = result.cost;
	cpl_bind_result_free(&result);
	return cost;
}

static void compare(struct cpl_bind_request *req, const struct cpl_tree *tree,
                    int ranks, bool fits, uint64_t seed)
{
	struct cpl_comm *comm = pattern(tree, ranks, fits, seed);
	struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
	int slot[MAX_SLOTS];
	unsigned used = 0;
	double least = least_cost(tree, graph, slot, 0, &used), packed;

	req->comm = comm;
	packed = cost_of(&cpl_binder_packed, req, false);
	assert_true(cost_of(&cpl_binder_best, req, false) <= least + 1e-6);
	assert_true(cost_of(&cpl_binder_treematch, req, false) <=
	            (fits ? 1 : 2) * least + 1e-6);
	for (int i = 0; cpl_binder_at(i); i++) {
		double cost = cost_of(cpl_binder_at(i), req, true);

		assert_true(cost >= least - 1e-6 && cost <= packed + 1e-6);
	}
	cpl_comm_free(graph);
	cpl_comm_free(comm);
}

static void test_against_exhaustive_search(void **state)
{
	static const char *const tree_text[] = {
	        "pack:2 l3:2 core:2 pu:1",        "pack:2 l3:3 core:2 pu:1",
	        "pack:1 l3:1 l2:4 core:4 pu:2",   "pack:2 l3:2 core:2 pu:2",
	        "pack:2 numa:2 l3:2 core:2 pu:2", "pack:3 core:4 pu:1",
	};
	int compared = 0;

	for (uint64_t seed = 0; seed < 96; seed++) {
		hwloc_topology_t topology = topology_of(tree_text[seed % 6]);
		unsigned wanted = 8 + (unsigned)cpl_random_below(seed, 1, 0, 4);
		hwloc_bitmap_t left = some_pus(topology, wanted, seed);
		struct cpl_bind_request req = {.topology = topology,
		                               .allowed = left,
		                               .cores_per_rank = 1,
		                               .by_pu = seed / 6 % 4 >= 2,
		                               .fill_domains = true};
		struct cpl_slots *slots;

		/* Offline, or not allowed. */
		if (seed / 6 % 2 && !hwloc_bitmap_iszero(left))
			assert_int_equal(
			        hwloc_topology_restrict(topology, left, 0), 0);
		slots = cpl_slots_new(&req, false, NULL);
		if (slots && slots->tree.n_slots >= 3 &&
		    slots->tree.n_slots <= MAX_SLOTS) {
			int spare = (int)cpl_random_below(seed, 3, 0, 2);

			compare(&req, &slots->tree, slots->tree.n_slots, true,
			        seed);
			compare(&req, &slots->tree, slots->tree.n_slots - spare,
			        false, seed);
			compared++;
		}
		cpl_slots_free(slots);
		hwloc_bitmap_free(left);
		hwloc_topology_destroy(topology);
	}
	assert_true(compared > 40);
}

/* Two fast cores of two threads with caches of their own, and two clusters of
 * three slow cores of one thread: PUs 0 1, 8 9, 16 18 20, 24 26 28. */
static hwloc_topology_t hybrid(void)
{
	hwloc_topology_t topology = topology_of("l3:1 l2:4 core:4 pu:2");
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	hwloc_bitmap_t fast = hwloc_bitmap_alloc();
	hwloc_bitmap_t slow = hwloc_bitmap_alloc();

	assert_int_equal(hwloc_bitmap_list_sscanf(fast, "0-1,8-9"), 0);
	assert_int_equal(hwloc_bitmap_list_sscanf(slow, "16,18,20,24,26,28"),
	                 0);
	assert_int_equal(hwloc_bitmap_or(all, fast, slow), 0);
	assert_int_equal(hwloc_topology_restrict(topology, all, 0), 0);
	assert_int_equal(hwloc_cpukinds_register(topology, slow, 0, 0, NULL, 0),
	                 0);
	assert_int_equal(hwloc_cpukinds_register(topology, fast, 1, 0, NULL, 0),
	                 0);
	hwloc_bitmap_free(slow);
	hwloc_bitmap_free(fast);
	hwloc_bitmap_free(all);
	return topology;
}

/* Ranks 0 3 6 and 1 4 7 talk among each other, 2 and 5 little to all. */
static void test_hybrid_cores(void **state)
{
	static const struct cpl_comm_entry row[] = {
	        {0, 3, 90, 1}, {3, 6, 90, 1}, {6, 0, 90, 1}, {1, 4, 90, 1},
	        {4, 7, 90, 1}, {7, 1, 90, 1}, {2, 0, 1, 1},  {5, 1, 1, 1}};
	static const struct cpl_binder *const binder[] = {&cpl_binder_treematch,
	                                                  &cpl_binder_best};
	struct cpl_comm_entry entry[8];
	hwloc_topology_t topology = hybrid();
	struct cpl_bind_request req = {.topology = topology,
	                               .cores_per_rank = 1};

	memcpy(entry, row, sizeof(entry));
	req.comm = cpl_comm_build(8, entry, 8, NULL);
	for (int i = 0; i < 2; i++) {
		struct cpl_bind_result result;

		assert_int_equal(cpl_bind(binder[i], &req, &result, NULL), 0);
		/* Two threads for each of the ranks on fast cores. */
		for (int r = 0; r < 8; r++)
			assert_int_equal(hwloc_bitmap_weight(result.cpuset[r]),
			                 r % 3 == 2 ? 2 : 1);
		for (int r = 0; r < 8; r++)
			if (r % 3 != 2)
				assert_int_equal(
				        hwloc_bitmap_first(result.cpuset[r]) /
				                8,
				        hwloc_bitmap_first(
				                result.cpuset[r % 3]) /
				                8);
		cpl_bind_result_free(&result);
	}
	cpl_comm_free((struct cpl_comm *)req.comm);
	hwloc_topology_destroy(topology);
}

/* Every rank with every stride-th other. */
static struct cpl_comm *ring(int ranks, int stride, uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        calloc((size_t)ranks * (size_t)ranks, sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	assert_non_null(entry);
	for (int i = 0; i < ranks; i++)
		for (int j = 0; j < ranks; j++)
			if (i != j && (j - i + ranks) % stride < 2)
				entry[n++] = (struct cpl_comm_entry){
				        i, j,
				        1 + (double)cpl_random_below(
				                    seed, 1,
				                    (uint64_t)(i * ranks + j),
				                    100),
				        1};
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	assert_non_null(comm);
	return comm;
}

/* However little work there is, TreeMatch's answer or better, the same every
 * time. */
static void test_limited_search(void **state)
{
	static const int64_t work[] = {1, 1000, 60 * CPL_BIND_LAUNCH_WORK,
	                               INT64_MAX / 2, 0};
	hwloc_topology_t topology = topology_of("pack:2 l3:4 core:8 pu:2");

	for (int stride = 1; stride <= 61; stride += 15) {
		struct cpl_comm *comm = ring(60, stride, 7);
		struct cpl_bind_request req = {.topology = topology,
		                               .cores_per_rank = 1,
		                               .comm = comm};
		double first = cost_of(&cpl_binder_treematch, &req, true);
		double found = 0;

		for (size_t i = 0; i < sizeof(work) / sizeof(*work); i++) {
			double last = found;

			req.work = work[i];
			found = cost_of(&cpl_binder_best, &req, true);
			assert_true(found <= first);
			assert_true(found ==
			            cost_of(&cpl_binder_best, &req, true));
			/* So much that it is no limit. */
			if (!work[i])
				assert_true(found == last);
		}
		cpl_comm_free(comm);
	}
	hwloc_topology_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_against_exhaustive_search),
	        cmocka_unit_test(test_hybrid_cores),
	        cmocka_unit_test(test_limited_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
