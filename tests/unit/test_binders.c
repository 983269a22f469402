/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of every binding algorithm, and the options of a request. */
#include "unit.h"

#include "base/random.h"
#include "binding/binding_internal.h"
#include "binding/devices.h"
#include "graph/treematch.h"
#include "even_tree.h"
#include "least_cost.h"
#include "topology_of.h"

static struct cpl_comm *random_comm(int ranks, uint64_t seed, int one_in)
{
	struct cpl_comm_entry *entry =
	        calloc((size_t)ranks * (size_t)ranks + 1, sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int i = 0; i < ranks * ranks; i++)
		if (cpl_random_below(seed, 1, (uint64_t)i, (uint64_t)one_in) ==
		    0)
			entry[n++] = (struct cpl_comm_entry){
			        i / ranks, i % ranks,
			        (double)cpl_random_below(seed, 2, (uint64_t)i,
			                                 1000),
			        1 + (double)(i % 3)};
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	assert_non_null(comm);
	return comm;
}

static void check(const struct cpl_bind_request *req,
                  const struct cpl_bind_result *result)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	double sum = 0;

	assert_int_equal(result->ranks, req->comm->ranks);
	for (int r = 0; r < result->ranks; r++) {
		assert_false(hwloc_bitmap_iszero(result->cpuset[r]));
		assert_false(hwloc_bitmap_iszero(result->nodeset[r]));
		if (!req->overcommit)
			assert_false(hwloc_bitmap_intersects(result->cpuset[r],
			                                     all));
		if (req->allowed)
			assert_true(hwloc_bitmap_isincluded(result->cpuset[r],
			                                    req->allowed));
		hwloc_bitmap_or(all, all, result->cpuset[r]);
	}
	for (int l = 0; l < result->n_levels; l++)
		sum += result->level[l].bytes * result->level[l].distance;
	if (req->metric == CPL_BIND_BYTES)
		assert_true(sum > result->cost - 1e-6 &&
		            sum < result->cost + 1e-6);
	hwloc_bitmap_free(all);
}

/* Full, partly allocated and hybrid machines, all algorithms. */
static void test_every_algorithm_binds_within_the_allowed(void **state)
{
	static const struct {
		const char *tree, *allowed;
		int ranks, cores;
		bool by_pu, one_thread, overcommit;
	} row[] = {
	        {"pack:2 [numa] l3:2 core:4 pu:2", NULL, 16, 1, 0, 0, 0},
	        {"pack:2 l3:2 core:4 pu:2", NULL, 29, 1, 1, 0, 0},
	        {"pack:2 l3:2 core:4 pu:2", "0,2-9,13,20-31", 9, 1, 0, 1, 0},
	        {"pack:2 l3:2 core:4 pu:2", "0,2-9,13,20-31", 4, 2, 0, 0, 0},
	        {"pack:3 core:5 pu:1", "1-3,5-8,14", 8, 1, 0, 0, 0},
	        {"pack:2 core:4 pu:1", NULL, 21, 1, 0, 0, 1},
	        {"core:7 pu:1", NULL, 5, 1, 0, 0, 0},
	        {"pack:1 core:1 pu:1", NULL, 1, 1, 0, 0, 0},
	        {"pack:1 core:1 pu:1", NULL, 3, 1, 0, 0, 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		for (int b = 0; cpl_binder_at(b); b++)
			for (uint64_t seed = 0; seed < 3; seed++) {
				struct cpl_comm *comm = random_comm(
				        row[i].ranks, seed, seed ? 3 : 1);
				struct cpl_bind_request req = {
				        .topology = topology_of(row[i].tree),
				        .comm = comm,
				        .cores_per_rank = row[i].cores,
				        .by_pu = row[i].by_pu,
				        .one_thread = row[i].one_thread,
				        .overcommit = row[i].overcommit};
				hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
				struct cpl_bind_result result, raw;
				struct cpl_error err = {""};

				if (row[i].allowed) {
					hwloc_bitmap_list_sscanf(
					        allowed, row[i].allowed);
					req.allowed = allowed;
				}
				if (cpl_bind(cpl_binder_at(b), &req, &result,
				             &err))
					fail_msg("%s, row %d: %s",
					         cpl_binder_at(b)->name,
					         (int)i, err.text);
				check(&req, &result);
				assert_true(result.cost <= result.cost_default);
				assert_int_equal(
				        cpl_bind_as_is(cpl_binder_at(b),
				                       &req, &raw, &err),
				        0);
				check(&req, &raw);
				assert_true(result.cost <= raw.cost);
				cpl_bind_result_free(&raw);
				cpl_bind_result_free(&result);
				hwloc_bitmap_free(allowed);
				hwloc_topology_destroy(req.topology);
				cpl_comm_free(comm);
			}
}

/* Traffic by a hidden tree of the machine's shape, ranks shuffled. */
static void test_treematch_is_optimal_where_the_pattern_fits(void **state)
{
	static const struct {
		int n_levels, arity[3];
	} row[] = {{3, {2, 2, 2}}, {2, {2, 4}}, {2, {4, 2}},
	           {2, {3, 2}},    {2, {2, 3}}, {1, {6}}};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		for (uint64_t seed = 0; seed < 6; seed++) {
			struct cpl_tree tree =
			        even_tree(row[i].n_levels, row[i].arity);
			struct cpl_comm_entry entry[64];
			struct cpl_comm *graph;
			int leaf[8], slot[8], best[8], n = 0;
			unsigned used = 0;

			for (int r = 0; r < tree.n_slots; r++)
				leaf[r] = r;
			cpl_random_shuffle(leaf, tree.n_slots, seed, i);
			for (int a = 0; a < tree.n_slots; a++)
				for (int b = 0; b < tree.n_slots; b++) {
					int d = cpl_tree_distance(
					        &tree, leaf[a], leaf[b]);
					int lo = a < b ? a : b;
					int hi = a < b ? b : a;
					double noise = (double)cpl_random_below(
					        seed, 3,
					        (uint64_t)(lo * 8 + hi), 10);

					if (a != b)
						entry[n++] = (struct
						              cpl_comm_entry){
						        a, b,
						        noise + 1e8 / (d == 2 ? 1
						                       : d == 4
						                               ? 1e3
						                               : 1e6),
						        1};
				}
			graph = cpl_comm_build(tree.n_slots, entry, n, NULL);
			assert_int_equal(cpl_treematch(&tree, graph, NULL, NULL,
			                               slot, NULL),
			                 0);
			assert_true(cpl_tree_cost(&tree, graph, slot) <=
			            least_cost(&tree, graph, best, 0, &used) *
			                    1.0001);
			cpl_comm_free(graph);
			cpl_tree_free(&tree);
		}
}

static void test_best_finds_the_optimum_of_small_cases(void **state)
{
	static const int arity[] = {2, 2, 2};
	struct cpl_tree tree = even_tree(3, arity);

	for (uint64_t seed = 0; seed < 6; seed++) {
		struct cpl_comm *comm = random_comm(7, seed, 2);
		struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
		struct cpl_bind_problem problem = {.tree = &tree,
		                                   .graph = graph};
		int slot[8], all[8];
		unsigned used = 0;

		assert_int_equal(cpl_binder_best.bind(&problem, slot, NULL), 0);
		assert_true(cpl_tree_cost(&tree, graph, slot) <=
		            least_cost(&tree, graph, all, 0, &used) + 1e-6);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
	cpl_tree_free(&tree);
}

/* CG's rows of 16 on sockets of 8: Table IV of the signature paper. */
static void test_clusters_of_cg(void **state)
{
	static const int arity[] = {16, 8};
	struct cpl_tree tree = even_tree(2, arity);
	struct cpl_comm_entry entry[128 * 4];
	struct cpl_comm *graph;
	struct cpl_bind_problem problem;
	int slot[128], n = 0;

	for (int r = 0; r < 128; r++)
		for (int bit = 1; bit < 16; bit *= 2)
			entry[n++] =
			        (struct cpl_comm_entry){r, r ^ bit, 1000, 1};
	graph = cpl_comm_build(128, entry, n, NULL);
	problem = (struct cpl_bind_problem){.tree = &tree, .graph = graph};
	assert_int_equal(cpl_binder_cluster.bind(&problem, slot, NULL), 0);
	for (int r = 0; r < 128; r++)
		assert_int_equal(slot[r] / 8, slot[r / 8 * 8] / 8);
	cpl_comm_free(graph);
	cpl_tree_free(&tree);
}

static void test_orders_of_the_simple_ones(void **state)
{
	static const int arity[] = {2, 2, 2};
	static const int turn[] = {0, 4, 1, 5, 2, 6, 3, 7};
	static const int far[] = {0, 4, 2, 6, 1, 5, 3, 7};
	struct cpl_tree tree = even_tree(3, arity);
	struct cpl_comm *graph = cpl_comm_build(8, NULL, 0, NULL);
	struct cpl_bind_problem problem = {.tree = &tree, .graph = graph};
	int slot[8];

	assert_int_equal(cpl_binder_round_robin.bind(&problem, slot, NULL), 0);
	assert_memory_equal(slot, turn, sizeof(turn));
	assert_int_equal(cpl_binder_scatter.bind(&problem, slot, NULL), 0);
	assert_memory_equal(slot, far, sizeof(far));
	cpl_comm_free(graph);
	cpl_tree_free(&tree);
}

static void assert_set(hwloc_const_bitmap_t set, const char *list)
{
	char *text = NULL;

	hwloc_bitmap_list_asprintf(&text, set);
	assert_string_equal(text, list);
	free(text);
}

static void test_options(void **state)
{
	static const struct {
		int cores;
		bool by_pu, one_thread;
		int per_core, per_socket;
		const char *set[4];
	} row[] = {
	        {1, false, false, 0, 0, {"0-1", "2-3", "4-5", "6-7"}},
	        {1, false, true, 0, 0, {"0", "2", "4", "6"}},
	        {1, true, false, 0, 0, {"0", "1", "2", "3"}},
	        {1, true, false, 1, 0, {"0", "2", "4", "6"}},
	        {2, true, false, 0, 0, {"0-1", "2-3", "4-5", "6-7"}},
	        {1, false, false, 0, 2, {"0-1", "2-3", "8-9", "10-11"}},
	        {2, false, false, 0, 0, {"0-3", "4-7", "8-11", "12-15"}},
	};
	hwloc_topology_t topology = topology_of("pack:2 [numa] core:4 pu:2");
	struct cpl_comm *comm = cpl_comm_build(4, NULL, 0, NULL);

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_bind_request req = {
		        .topology = topology,
		        .comm = comm,
		        .cores_per_rank = row[i].cores,
		        .by_pu = row[i].by_pu,
		        .one_thread = row[i].one_thread,
		        .ranks_per_core = row[i].per_core,
		        .ranks_per_socket = row[i].per_socket};
		struct cpl_bind_result result;

		assert_int_equal(
		        cpl_bind(&cpl_binder_packed, &req, &result, NULL), 0);
		for (int r = 0; r < 4; r++) {
			assert_set(result.cpuset[r], row[i].set[r]);
			assert_set(result.nodeset[r],
			           hwloc_bitmap_first(result.cpuset[r]) < 8
			                   ? "0"
			                   : "1");
		}
		cpl_bind_result_free(&result);
	}
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

/* Three cores a rank, L3s of four: no rank on two L3s while there is room. */
static void test_slots_keep_within_parts(void **state)
{
	hwloc_topology_t topology = topology_of("pack:1 l3:4 core:4 pu:1");
	struct cpl_bind_result result;

	for (int ranks = 4; ranks <= 5; ranks++) {
		struct cpl_comm *comm = cpl_comm_build(ranks, NULL, 0, NULL);
		struct cpl_bind_request req = {.topology = topology,
		                               .comm = comm,
		                               .cores_per_rank = 3};

		assert_int_equal(
		        cpl_bind(&cpl_binder_packed, &req, &result, NULL), 0);
		assert_set(result.cpuset[1], ranks == 4 ? "4-6" : "3-5");
		cpl_bind_result_free(&result);
		cpl_comm_free(comm);
	}
	hwloc_topology_destroy(topology);
}

static void test_near_a_gpu(void **state)
{
	hwloc_topology_t topology = topology_of(TOPOLOGIES "/gpu-node.xml");
	hwloc_const_cpuset_t gpu[8], near[16];
	struct cpl_devices devices;

	assert_int_equal(cpl_devices_find(topology, &devices, NULL), 0);
	assert_int_equal(devices.n_gpus, 8);
	for (int g = 0; g < 8; g++)
		gpu[g] = devices.gpu[g].near;
	assert_set(gpu[0], "96-111");
	assert_set(gpu[4], "0-15");
	for (int b = 0; cpl_binder_at(b); b++)
		for (int crowd = 0; crowd < 2; crowd++) {
			struct cpl_comm *comm = random_comm(16, 4, 2);
			struct cpl_bind_request req = {.topology = topology,
			                               .comm = comm,
			                               .cores_per_rank = 1,
			                               .near = near};
			struct cpl_bind_result result;

			for (int r = 0; r < 16; r++)
				near[r] = r == 3  ? NULL
				          : crowd ? gpu[r > 8]
				                  : gpu[r % 8];
			assert_int_equal(cpl_bind(cpl_binder_at(b), &req,
			                          &result, NULL),
			                 0);
			assert_int_equal(result.n_far, 0);
			for (int r = 0; r < 16; r++)
				assert_true(!near[r] ||
				            hwloc_bitmap_isincluded(
				                    result.cpuset[r], near[r]));
			assert_true(result.cost <= result.cost_default);
			cpl_bind_result_free(&result);
			/* Nine ranks and eight cores. */
			near[3] = near[0];
			for (int r = 0; r < 16; r++)
				near[r] = r < 9 ? gpu[0] : NULL;
			assert_int_equal(cpl_bind(cpl_binder_at(b), &req,
			                          &result, NULL),
			                 0);
			assert_int_equal(result.n_far, 1);
			cpl_bind_result_free(&result);
			cpl_comm_free(comm);
		}
	cpl_devices_free(&devices);
	hwloc_topology_destroy(topology);
}

static void test_metrics(void **state)
{
	/* 0-1: many small messages; 0-2: a large one. */
	struct cpl_comm_entry entry[] = {{0, 1, 100, 100}, {0, 2, 1000, 1}};
	static const int partner[] = {2, 1, 2};
	hwloc_topology_t topology = topology_of("pack:2 core:2 pu:1");
	struct cpl_comm *comm = cpl_comm_build(4, entry, 2, NULL);

	for (int m = 0; m < 3; m++) {
		struct cpl_bind_request req = {.topology = topology,
		                               .comm = comm,
		                               .cores_per_rank = 1,
		                               .metric =
		                                       (enum cpl_bind_metric)m};
		struct cpl_bind_result result;

		assert_int_equal(
		        cpl_bind(&cpl_binder_treematch, &req, &result, NULL),
		        0);
		assert_int_equal(hwloc_bitmap_first(result.cpuset[0]) / 2,
		                 hwloc_bitmap_first(result.cpuset[partner[m]]) /
		                         2);
		cpl_bind_result_free(&result);
	}
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_algorithm_binds_within_the_allowed),
	        cmocka_unit_test(
	                test_treematch_is_optimal_where_the_pattern_fits),
	        cmocka_unit_test(test_best_finds_the_optimum_of_small_cases),
	        cmocka_unit_test(test_clusters_of_cg),
	        cmocka_unit_test(test_orders_of_the_simple_ones),
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_slots_keep_within_parts),
	        cmocka_unit_test(test_near_a_gpu),
	        cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
