/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "binding/binding_internal.h"
#include "graph/grouping.h"
#include "least_cost.h"
#include "topology_of.h"

/* RR-8269, worked example: 8 processes on a tree of arities 2, 3, 2. */
static const double example[8][8] = {
        {0, 1000, 10, 1, 100, 1, 1, 1},    {1000, 0, 1000, 1, 1, 100, 1, 1},
        {10, 1000, 0, 1000, 1, 1, 100, 1}, {1, 1, 1000, 0, 1, 1, 1, 100},
        {100, 1, 1, 1, 0, 1000, 10, 1},    {1, 100, 1, 1, 1000, 0, 1000, 1},
        {1, 1, 100, 1, 10, 1000, 0, 1000}, {1, 1, 1, 100, 1, 1, 1000, 0},
};
/* The report numbers the cores of the left half 0, 2, 4, ... */
#define EXAMPLE_TREE                                                           \
	"pack:2 l3:3 core:2 pu:1(indexes=0,2,4,6,8,10,1,3,5,7,9,11)"

static struct cpl_comm *comm_of(int ranks, double (*value)(int, int, void *),
                                void *arg)
{
	struct cpl_comm_entry *entry =
	        calloc((size_t)ranks * (size_t)ranks + 1, sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int i = 0; i < ranks; i++)
		for (int j = 0; j < ranks; j++)
			if (value(i, j, arg) > 0)
				entry[n++] = (struct cpl_comm_entry){
				        i, j, value(i, j, arg), 1};
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	assert_non_null(comm);
	return comm;
}

/* Half of the example: the binder works on m + m^T. */
static double example_value(int i, int j, void *arg)
{
	return example[i][j] / 2;
}

/* Ranks of a square halo on two packages of four memory domains each: in how many
 * domains they are, and how many in the fullest. */
static void test_memory_domains(void **state)
{
	static const char tree[] =
	        "pack:2 l3:1 group:4 [numa] core:14 pu:2";
	static const struct {
		int ranks, cores;    /* of the node; of each rank */
		int allowed;         /* the first PUs; 0: all */
		bool packed, fill;
		int domains, most;
	} row[] = {
	        {16, 1, 0, false, false, 8, 2},
	        {16, 1, 0, false, true, 2, 14},
	        {16, 1, 0, true, false, 2, 14},
	        {12, 1, 0, false, false, 6, 2},
	        {4, 1, 0, false, false, 4, 1},
	        {16, 3, 0, false, false, 8, 2},
	        /* Full, or with no room. */
	        {112, 1, 0, false, false, 8, 14},
	        {16, 1, 32, false, false, 2, 14},
	        {14, 8, 0, false, false, 8, 2},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		hwloc_topology_t topology = topology_of(tree);
		hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
		struct cpl_comm_entry *entry =
		        malloc((size_t)row[i].ranks * sizeof(*entry));
		struct cpl_bind_request req = {.topology = topology,
		                               .cores_per_rank = row[i].cores,
		                               .fill_domains = row[i].fill};
		const struct cpl_binder *binder = row[i].packed
		                                          ? &cpl_binder_packed
		                                          : &cpl_binder_treematch;
		struct cpl_bind_result result;
		struct cpl_comm *comm;
		int in[8] = {0}, domains = 0, most = 0;

		for (int r = 0; r < row[i].ranks; r++)
			entry[r] = (struct cpl_comm_entry){
			        r, (r + 1) % row[i].ranks, 1000, 1};
		comm = cpl_comm_build(row[i].ranks, entry, row[i].ranks, NULL);
		if (row[i].allowed) {
			hwloc_bitmap_set_range(allowed, 0, row[i].allowed - 1);
			req.allowed = allowed;
		}
		req.comm = comm;
		assert_int_equal(cpl_bind(binder, &req, &result, NULL), 0);
		for (int r = 0; r < row[i].ranks; r++) {
			int at = hwloc_bitmap_first(result.nodeset[r]);

			domains += !in[at];
			if (++in[at] > most)
				most = in[at];
		}
		if (domains != row[i].domains || most != row[i].most)
			fail_msg("row %zu: %d domains, at most %d", i, domains,
			         most);
		/* Few are next to each other: in the first package. */
		for (int at = 4; at < 8 && row[i].ranks <= 4; at++)
			assert_int_equal(in[at], 0);
		assert_true(result.cost <= result.cost_default);
		cpl_bind_result_free(&result);
		cpl_comm_free(comm);
		free(entry);
		hwloc_bitmap_free(allowed);
		hwloc_topology_destroy(topology);
	}
}

static void test_worked_example(void **state)
{
	static const int expected[8] = {0, 2, 4, 6, 1, 3, 5, 7};
	hwloc_topology_t topology = topology_of(EXAMPLE_TREE);
	struct cpl_comm *comm = comm_of(8, example_value, NULL);
	struct cpl_bind_request req = {
	        .topology = topology, .comm = comm, .cores_per_rank = 1};
	struct cpl_bind_result result;

	assert_int_equal(cpl_bind(&cpl_binder_treematch, &req, &result, NULL),
	                 0);
	for (int r = 0; r < 8; r++) {
		assert_int_equal(hwloc_bitmap_weight(result.cpuset[r]), 1);
		assert_int_equal(hwloc_bitmap_first(result.cpuset[r]),
		                 expected[r]);
	}
	assert_true(result.cost == 18568);
	assert_true(result.cost_default == 20180);
	cpl_bind_result_free(&result);
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

static void test_example_grouping(void **state)
{
	static const int first[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const int second[6] = {0, 1, 4, 2, 3, 5};
	static const double m[4][4] = {{0, 1012, 202, 4},
	                               {1012, 0, 4, 202},
	                               {202, 4, 0, 1012},
	                               {4, 202, 1012, 0}};
	struct cpl_comm_entry entry[16];
	struct cpl_comm *half = comm_of(8, example_value, NULL);
	struct cpl_comm *graph = cpl_comm_symmetric(half, NULL), *four;
	struct cpl_groups groups;
	int n = 0;

	assert_int_equal(cpl_treematch_group(graph, 2, &groups, NULL), 0);
	assert_int_equal(groups.n_groups, 4);
	assert_memory_equal(groups.member, first, sizeof(first));
	cpl_groups_free(&groups);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			if (i != j)
				entry[n++] = (struct cpl_comm_entry){
				        i, j, m[i][j], 1};
	four = cpl_comm_build(4, entry, n, NULL);
	/* Padded to 6 with two processes without traffic. */
	assert_int_equal(cpl_treematch_group(four, 3, &groups, NULL), 0);
	assert_int_equal(groups.n_groups, 2);
	assert_memory_equal(groups.member, second, sizeof(second));
	cpl_groups_free(&groups);
	cpl_comm_free(four);
	cpl_comm_free(graph);
	cpl_comm_free(half);
}

/* RR-8269, Table 2: d* and the least p at which k is divided. */
static void test_arity_division(void **state)
{
	static const struct {
		int k, d, p;
	} row[] = {
	        {4, 2, 8},      {6, 3, 10},     {8, 4, 12},     {9, 3, 14},
	        {10, 5, 14},    {12, 6, 16},    {14, 7, 18},    {15, 5, 20},
	        {16, 8, 20},    {18, 9, 22},    {20, 10, 24},   {21, 7, 26},
	        {22, 11, 26},   {24, 12, 28},   {25, 5, 32},    {26, 13, 30},
	        {27, 9, 32},    {28, 14, 32},   {30, 15, 34},   {32, 16, 36},
	        {33, 11, 38},   {34, 17, 38},   {35, 7, 42},    {36, 18, 40},
	        {38, 19, 42},   {39, 13, 44},   {40, 20, 44},   {42, 21, 46},
	        {44, 22, 48},   {45, 15, 50},   {46, 23, 50},   {48, 24, 52},
	        {49, 7, 58},    {50, 25, 54},   {51, 17, 56},   {52, 26, 56},
	        {54, 27, 58},   {55, 11, 62},   {56, 28, 60},   {57, 19, 62},
	        {58, 29, 62},   {60, 30, 64},   {62, 31, 66},   {63, 21, 68},
	        {64, 32, 68},   {65, 13, 72},   {66, 33, 70},   {68, 34, 72},
	        {69, 23, 74},   {70, 35, 74},   {72, 36, 76},   {74, 37, 78},
	        {75, 25, 80},   {76, 38, 80},   {77, 11, 86},   {78, 39, 82},
	        {80, 40, 84},   {81, 27, 86},   {82, 41, 86},   {84, 42, 88},
	        {85, 17, 92},   {86, 43, 90},   {87, 29, 92},   {88, 44, 92},
	        {90, 45, 94},   {91, 13, 100},  {92, 46, 96},   {93, 31, 98},
	        {94, 47, 98},   {95, 19, 102},  {96, 48, 100},  {98, 49, 102},
	        {99, 33, 104},  {100, 50, 104}, {102, 51, 106}, {104, 52, 108},
	        {105, 35, 110}, {106, 53, 110}, {108, 54, 112}, {110, 55, 114},
	        {111, 37, 116}, {112, 56, 116}, {114, 57, 118}, {115, 23, 122},
	        {116, 58, 120}, {117, 39, 122}, {118, 59, 122}, {119, 17, 128},
	        {120, 60, 124}, {121, 11, 134}, {122, 61, 126}, {123, 41, 128},
	        {124, 62, 128}, {125, 25, 132}, {126, 63, 130}, {128, 64, 132}};
	size_t n = 0;

	for (int k = 1; k <= 128; k++) {
		if (n == sizeof(row) / sizeof(*row) || row[n].k != k) {
			/* Primes are not divided. */
			assert_int_equal(cpl_treematch_divide(100000, k), 1);
			continue;
		}
		assert_int_equal(cpl_treematch_divide(row[n].p, k), row[n].d);
		assert_int_equal(cpl_treematch_divide(row[n].p - 1, k), 1);
		assert_int_equal(cpl_treematch_divide(500000, k), row[n].d);
		n++;
	}
	assert_int_equal(n, sizeof(row) / sizeof(*row));
	/* Arities 4, 4, 1 become 4, 2, 2, 1. */
	assert_int_equal(cpl_treematch_divide(4, 4), 1);
	assert_int_equal(cpl_treematch_divide(16, 4), 2);
	assert_int_equal(cpl_treematch_divide(16, 2), 1);
	assert_true(cpl_binomial(8, 2) == 28);
	assert_true(cpl_binomial(6, 3) == 20);
	assert_true(cpl_binomial(246, 2) == 30135);
}

/* Ranks are leaves of a hidden tree, the nearer the more traffic. */
struct hidden {
	int n_levels;
	const int *arity;
	int *leaf; /* [ranks] */
};

static double hidden_value(int i, int j, void *arg)
{
	const struct hidden *h = arg;
	int a = h->leaf[i], b = h->leaf[j];
	double bytes = 1e6;

	if (i == j)
		return 0;
	for (int l = h->n_levels - 1; l >= 0 && a != b; l--) {
		a /= h->arity[l];
		b /= h->arity[l];
		if (a != b)
			bytes /= 64;
	}
	return bytes;
}

static void test_hierarchical_patterns_are_bound_optimally(void **state)
{
	static const struct {
		const char *tree;
		int n_levels, arity[4];
	} row[] = {
	        {"pack:2 l3:2 core:4 pu:1", 3, {2, 2, 4}},
	        {"pack:2 l3:4 core:8 pu:2", 3, {2, 4, 8}},
	        {"pack:3 core:5 pu:1", 2, {3, 5}},
	        {"pack:2 [numa] l3:8 core:8 pu:1", 3, {2, 8, 8}},
	        {"pack:2 l3:2 l2:2 core:2 pu:1", 4, {2, 2, 2, 2}},
	        {"core:6 pu:1", 1, {6}},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			hwloc_topology_t topology = topology_of(row[i].tree);
			int ranks = hwloc_get_nbobjs_by_type(topology,
			                                     HWLOC_OBJ_CORE);
			int *leaf = calloc((unsigned)ranks, sizeof(*leaf));
			struct hidden hidden = {row[i].n_levels, row[i].arity,
			                        leaf};
			struct cpl_bind_request req = {.topology = topology,
			                               .allowed = NULL,
			                               .comm = NULL,
			                               .cores_per_rank = 1,
			                               .by_pu = false};
			struct cpl_bind_result result, best;
			struct cpl_comm *comm;

			for (int r = 0; r < ranks; r++)
				leaf[r] = r;
			comm = comm_of(ranks, hidden_value, &hidden);
			req.comm = comm;
			assert_int_equal(
			        cpl_bind(&cpl_binder_packed, &req, &best, NULL),
			        0);
			cpl_comm_free(comm);
			cpl_random_shuffle(leaf, ranks, seed, i);
			comm = comm_of(ranks, hidden_value, &hidden);
			req.comm = comm;
			assert_int_equal(cpl_bind(&cpl_binder_treematch, &req,
			                          &result, NULL),
			                 0);
			if (result.cost > best.cost * 1.000001)
				fail_msg("%s, seed %d: %.0f, optimum %.0f",
				         row[i].tree, (int)seed, result.cost,
				         best.cost);
			cpl_bind_result_free(&result);
			cpl_bind_result_free(&best);
			cpl_comm_free(comm);
			free(leaf);
			hwloc_topology_destroy(topology);
		}
}

static double random_value(int i, int j, void *arg)
{
	uint64_t seed = *(uint64_t *)arg;
	uint64_t at = (uint64_t)(i * 1024 + j);

	if (i == j || cpl_random_below(seed, 1, at, 3) == 0)
		return 0;
	return (double)cpl_random_below(seed, 2, at, 1000);
}

/* Partly allocated nodes: compare with the best of all mappings. */
static void test_uneven_trees(void **state)
{
	static const struct {
		const char *tree, *allowed;
		int ranks, cores_per_rank;
	} row[] = {
	        {"pack:2 l3:2 core:4 pu:1", "0-3,5,8", 6, 1},
	        {"pack:2 l3:2 core:4 pu:1", "0,1,2,8,9,12", 6, 1},
	        {"pack:2 l3:2 core:4 pu:1", "0-2,4-6,8", 5, 1},
	        {"pack:2 l3:3 core:2 pu:2", "0,2,4-7,12-15", 4, 1},
	        {"pack:2 core:4 pu:1", "0-2,4-6", 3, 2},
	        {"pack:2 core:3 pu:1", "0-5", 3, 2}, /* a slot spans packages */
	        {"pack:4 core:2 pu:1", "0,2,3,4,6,7", 4, 1},
	};
	double found = 0, optimum = 0, packed = 0;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		for (uint64_t seed = 0; seed < 8; seed++) {
			hwloc_topology_t topology = topology_of(row[i].tree);
			hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
			hwloc_bitmap_t all = hwloc_bitmap_alloc();
			struct cpl_comm *comm =
			        comm_of(row[i].ranks, random_value, &seed);
			struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
			struct cpl_bind_request req = {
			        .topology = topology,
			        .allowed = allowed,
			        .comm = comm,
			        .cores_per_rank = row[i].cores_per_rank,
			        .by_pu = false};
			struct cpl_bind_result result;
			struct cpl_slots *slots;
			int slot[8];
			unsigned used = 0;
			double best;

			hwloc_bitmap_list_sscanf(allowed, row[i].allowed);
			assert_int_equal(cpl_bind(&cpl_binder_treematch, &req,
			                          &result, NULL),
			                 0);
			for (int r = 0; r < row[i].ranks; r++) {
				assert_true(hwloc_bitmap_isincluded(
				        result.cpuset[r], allowed));
				assert_false(hwloc_bitmap_intersects(
				        result.cpuset[r], all));
				hwloc_bitmap_or(all, all, result.cpuset[r]);
			}
			assert_true(result.cost <= result.cost_default);
			slots = cpl_slots_new(&req, false, NULL);
			best = least_cost(&slots->tree, graph, slot, 0, &used);
			if (result.cost < best * 0.999999 ||
			    result.cost > best * 1.35)
				fail_msg("row %d seed %d: %.0f, optimum %.0f, "
				         "packed %.0f",
				         (int)i, (int)seed, result.cost, best,
				         result.cost_default);
			found += result.cost;
			optimum += best;
			packed += result.cost_default;
			cpl_slots_free(slots);
			cpl_bind_result_free(&result);
			cpl_comm_free(graph);
			cpl_comm_free(comm);
			hwloc_bitmap_free(all);
			hwloc_bitmap_free(allowed);
			hwloc_topology_destroy(topology);
		}
	print_message("# uneven trees: %.3f of the optimum, packed %.3f\n",
	              found / optimum, packed / optimum);
	assert_true(found <= optimum * 1.06);
}

static void test_random_matrices_never_worse_than_packed(void **state)
{
	static const char *const tree[] = {
	        "pack:2 l3:4 core:8 pu:1", "pack:4 core:13 pu:1",
	        "pack:2 l3:2 core:4 pu:2", "pack:1 core:96 pu:1"};

	for (size_t i = 0; i < sizeof(tree) / sizeof(*tree); i++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			hwloc_topology_t topology = topology_of(tree[i]);
			int cores = hwloc_get_nbobjs_by_type(topology,
			                                     HWLOC_OBJ_CORE);
			struct cpl_comm *comm =
			        comm_of(cores - (int)seed, random_value, &seed);
			struct cpl_bind_request req = {.topology = topology,
			                               .allowed = NULL,
			                               .comm = comm,
			                               .cores_per_rank = 1,
			                               .by_pu = false};
			struct cpl_bind_result result;

			assert_int_equal(cpl_bind(&cpl_binder_treematch, &req,
			                          &result, NULL),
			                 0);
			assert_true(result.cost <= result.cost_default);
			cpl_bind_result_free(&result);
			cpl_comm_free(comm);
			hwloc_topology_destroy(topology);
		}
}

/* Too many candidates to try them all: the groups are grown. */
static void test_large_uneven_tree(void **state)
{
	hwloc_topology_t topology = topology_of("pack:4 l3:4 core:12 pu:1");
	hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
	static const int arity[] = {4, 4, 12};
	int leaf[100];
	struct hidden hidden = {3, arity, leaf};
	struct cpl_comm *comm;
	struct cpl_bind_request req = {.topology = topology,
	                               .allowed = allowed,
	                               .comm = NULL,
	                               .cores_per_rank = 1,
	                               .by_pu = false};
	struct cpl_bind_result result;

	/* Three whole L3s of each package, one half and some single cores. */
	hwloc_bitmap_list_sscanf(allowed, "0-41,48-88,96-97,100-140,150-155");
	for (int r = 0; r < 100; r++)
		leaf[r] = r;
	cpl_random_shuffle(leaf, 100, 7, 7);
	comm = comm_of(100, hidden_value, &hidden);
	req.comm = comm;
	assert_int_equal(cpl_bind(&cpl_binder_treematch, &req, &result, NULL),
	                 0);
	assert_true(result.cost < 0.6 * result.cost_default);
	cpl_bind_result_free(&result);
	cpl_comm_free(comm);
	hwloc_bitmap_free(allowed);
	hwloc_topology_destroy(topology);
}

static void test_threads_may_be_slots(void **state)
{
	hwloc_topology_t topology = topology_of("pack:1 core:2 pu:2");
	/* 0 talks to 3, 1 to 2. */
	struct cpl_comm_entry entry[] = {{0, 3, 100, 1}, {1, 2, 100, 1}};
	struct cpl_comm *comm = cpl_comm_build(4, entry, 2, NULL);
	struct cpl_bind_request req = {.topology = topology,
	                               .allowed = NULL,
	                               .comm = comm,
	                               .cores_per_rank = 1,
	                               .by_pu = true};
	struct cpl_bind_result result;
	struct cpl_error err = {""};

	assert_int_equal(cpl_bind(&cpl_binder_treematch, &req, &result, &err),
	                 0);
	assert_int_equal(hwloc_bitmap_first(result.cpuset[0]), 0);
	assert_int_equal(hwloc_bitmap_first(result.cpuset[3]), 1);
	assert_true(result.cost == 400 && result.cost_default == 800);
	cpl_bind_result_free(&result);
	req.by_pu = false;
	assert_int_equal(cpl_bind(&cpl_binder_treematch, &req, &result, &err),
	                 -1);
	assert_string_equal(err.text, "4 ranks do not fit; the allowed CPUs "
	                              "have room for 2 (1 cores each)");
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

static void test_private_caches_do_not_count(void **state)
{
	static const char *const tree[] = {"pack:2 core:2 pu:1",
	                                   "pack:2 l3:1 l2:2 l1:1 core:1 pu:2",
	                                   "pack:2 l3:1 l2:1 core:2 pu:1"};

	for (size_t i = 0; i < sizeof(tree) / sizeof(*tree); i++) {
		hwloc_topology_t topology = topology_of(tree[i]);
		struct cpl_bind_request req = {.topology = topology,
		                               .allowed = NULL,
		                               .comm = NULL,
		                               .cores_per_rank = 1,
		                               .by_pu = false};
		struct cpl_slots *t = cpl_slots_new(&req, false, NULL);

		assert_int_equal(t->tree.n_slots, 4);
		assert_int_equal(cpl_tree_distance(&t->tree, 0, 0), 0);
		assert_int_equal(cpl_tree_distance(&t->tree, 0, 1), 2);
		assert_int_equal(cpl_tree_distance(&t->tree, 0, 2), 4);
		cpl_slots_free(t);
		hwloc_topology_destroy(topology);
	}
}

static void test_one_core(void **state)
{
	hwloc_topology_t topology = topology_of("pack:1 core:1 pu:2");
	struct cpl_comm *comm = cpl_comm_build(1, NULL, 0, NULL);
	struct cpl_bind_request req = {
	        .topology = topology, .comm = comm, .cores_per_rank = 1};
	struct cpl_bind_result result;

	assert_int_equal(cpl_bind(&cpl_binder_treematch, &req, &result, NULL),
	                 0);
	assert_int_equal(hwloc_bitmap_weight(result.cpuset[0]), 2);
	assert_true(result.cost == 0);
	cpl_bind_result_free(&result);
	cpl_comm_free(comm);
	hwloc_topology_destroy(topology);
}

static void test_topology_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"pack:2 nonsense:3", "is not a synthetic description"},
	        {"", "is not a synthetic description"},
	        {"pack:1000 core:1000 pu:1", "more than 65536 objects"},
	        {"core:99999999999999999999", "more than 65536 objects"},
	        {"/nonexistent/t.xml", "No such file"},
	        {"/dev/zero", "is not a regular file"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		hwloc_topology_t topology;
		struct cpl_error err = {""};

		assert_int_equal(
		        cpl_topology_load(row[i].text, &topology, &err), -1);
		if (!strstr(err.text, row[i].message))
			fail_msg("'%s' lacks '%s'", err.text, row[i].message);
	}
}

static void test_names(void **state)
{
	struct cpl_error err = {""};

	assert_ptr_equal(cpl_binder_find("treematch", NULL),
	                 &cpl_binder_treematch);
	assert_ptr_equal(cpl_binder_find("default", NULL), &cpl_binder_packed);
	assert_ptr_equal(cpl_binder_find("best", NULL), &cpl_binder_best);
	assert_null(cpl_binder_find("worst", &err));
	assert_non_null(strstr(err.text,
	                       "unknown binding algorithm \"worst\"; it "
	                       "must be one of packed, round-robin, "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_worked_example),
	        cmocka_unit_test(test_memory_domains),
	        cmocka_unit_test(test_example_grouping),
	        cmocka_unit_test(test_arity_division),
	        cmocka_unit_test(
	                test_hierarchical_patterns_are_bound_optimally),
	        cmocka_unit_test(test_uneven_trees),
	        cmocka_unit_test(test_random_matrices_never_worse_than_packed),
	        cmocka_unit_test(test_large_uneven_tree),
	        cmocka_unit_test(test_threads_may_be_slots),
	        cmocka_unit_test(test_private_caches_do_not_count),
	        cmocka_unit_test(test_one_core),
	        cmocka_unit_test(test_topology_errors),
	        cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
