/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "graph/arena.h"
#include "graph/heap.h"
#include "graph/partition.h"
#include "mapping_inputs.h"

#define MAX_RANKS 1024

/* Takes comm. */
static struct cpl_comm *symmetric(struct cpl_comm *comm)
{
	struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);

	assert_non_null(graph);
	cpl_comm_free(comm);
	return graph;
}

static struct cpl_comm *random_graph(int ranks, int per_rank, uint64_t seed)
{
	return symmetric(random_comm(ranks, per_rank, seed));
}

/* An x * y grid with shuffled rank numbers. */
static struct cpl_comm *grid(int x, int y, uint64_t seed)
{
	struct cpl_comm_entry entry[MAX_RANKS * 2];
	int name[MAX_RANKS];
	int64_t n = 0;

	for (int i = 0; i < x * y; i++)
		name[i] = i;
	cpl_random_shuffle(name, x * y, seed, 1);
	for (int i = 0; i < x * y; i++) {
		if (i % x + 1 < x)
			entry[n++] = (struct cpl_comm_entry){name[i],
			                                     name[i + 1], 1, 1};
		if (i / x + 1 < y)
			entry[n++] = (struct cpl_comm_entry){name[i],
			                                     name[i + x], 1, 1};
	}
	return symmetric(build(x * y, entry, n));
}

static double cut(const struct cpl_comm *graph, const int *part)
{
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (part[r] < part[graph->to[e]])
				sum += graph->bytes[e];
	return sum;
}

static void check_sizes(const int *part, int ranks, const int *slots,
                        int n_parts)
{
	int count[MAX_RANKS] = {0};

	for (int r = 0; r < ranks; r++) {
		assert_in_range(part[r], 0, n_parts - 1);
		count[part[r]]++;
	}
	assert_memory_equal(count, slots, (size_t)n_parts * sizeof(*slots));
}

/* Items one by one, or all at once: the top is the largest key, ties to the lowest. */
static void check_heap(bool at_once)
{
	double key[50] = {0};
	struct cpl_heap heap;
	int last = -1;

	assert_int_equal(cpl_heap_init(&heap, 50, key, NULL), 0);
	for (int i = 0; i < 50; i++) {
		key[i] = (double)cpl_random_below(3, 1, (uint64_t)i, 10);
		if (at_once)
			cpl_heap_add(&heap, i);
		else
			cpl_heap_push(&heap, i);
	}
	if (at_once)
		cpl_heap_order(&heap);
	for (int i = 0; i < 50; i += 3) {
		key[i] = (double)cpl_random_below(3, 2, (uint64_t)i, 10);
		cpl_heap_update(&heap, i);
	}
	key[1] -= 20;
	cpl_heap_lower(&heap, 1);
	key[2] += 20;
	cpl_heap_raise(&heap, 2);
	assert_int_equal(heap.item[0], 2);
	cpl_heap_remove(&heap, 7);
	assert_false(cpl_heap_has(&heap, 7));
	for (int n = 49; n; n--) {
		int top = heap.item[0];

		assert_int_equal(heap.n, n);
		if (last >= 0)
			assert_true(key[top] < key[last] ||
			            (key[top] == key[last] && top > last));
		last = top;
		cpl_heap_remove(&heap, top);
	}
	cpl_heap_free(&heap);
}

static void test_heap(void **state)
{
	(void)state;
	check_heap(false);
	check_heap(true);
}

static void test_bisect_sizes(void **state)
{
	unsigned char side[MAX_RANKS];

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		int ranks = 2 + (int)cpl_random_below(seed, 1, 0, 300);
		struct cpl_comm *graph =
		        random_graph(ranks, (int)(seed % 4), seed);
		int want[] = {0, 1, ranks / 3, ranks / 2, ranks - 1, ranks};

		for (int i = 0; i < 6; i++) {
			int left = 0;

			assert_int_equal(cpl_graph_bisect(graph, want[i], seed,
			                                  CPL_GRAPH_BISECT_RUNS,
			                                  NULL, NULL, side,
			                                  NULL),
			                 0);
			for (int r = 0; r < ranks; r++)
				left += !side[r];
			assert_int_equal(left, want[i]);
		}
		cpl_comm_free(graph);
	}
}

/* A star: coarsening finds one pair only. */
static void test_bisect_star(void **state)
{
	struct cpl_comm_entry entry[300];
	unsigned char side[300];
	struct cpl_comm *graph;
	int left = 0;

	(void)state;
	for (int i = 1; i < 300; i++)
		entry[i - 1] = (struct cpl_comm_entry){0, i, 5, 1};
	graph = symmetric(build(300, entry, 299));
	assert_int_equal(cpl_graph_bisect(graph, 150, 1, CPL_GRAPH_BISECT_RUNS,
	                                  NULL, NULL, side, NULL),
	                 0);
	for (int r = 0; r < 300; r++)
		left += !side[r];
	assert_int_equal(left, 150);
	cpl_comm_free(graph);
}

static void test_bisect_grid(void **state)
{
	unsigned char side[MAX_RANKS];
	int part[MAX_RANKS];

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct cpl_comm *graph = grid(32, 16, seed);

		assert_int_equal(cpl_graph_bisect(graph, 256, seed,
		                                  CPL_GRAPH_BISECT_RUNS, NULL,
		                                  NULL, side, NULL),
		                 0);
		for (int r = 0; r < 512; r++)
			part[r] = side[r];
		/* The straight cut has 16; a random one some 480. */
		assert_true(cut(graph, part) <= 22);
		cpl_comm_free(graph);
	}
}

static void test_partition_sizes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		int n_parts = 1 + (int)cpl_random_below(seed, 1, 0, 40);
		int slots[MAX_RANKS] = {0}, part[MAX_RANKS], again[MAX_RANKS];
		int ranks = 0;
		struct cpl_comm *graph;

		for (int i = 0; i < n_parts; i++)
			ranks += slots[i] =
			        (int)cpl_random_below(seed, 2, (uint64_t)i, 9);
		slots[0]++;
		ranks++;
		graph = random_graph(ranks, (int)(seed % 4), seed);
		assert_int_equal(cpl_graph_partition(graph, slots, n_parts,
		                                     seed, 4, NULL, NULL, part,
		                                     NULL),
		                 0);
		check_sizes(part, ranks, slots, n_parts);
		assert_int_equal(cpl_graph_partition(graph, slots, n_parts,
		                                     seed, 4, NULL, NULL, again,
		                                     NULL),
		                 0);
		assert_memory_equal(part, again, (size_t)ranks * sizeof(*part));
		cpl_comm_free(graph);
	}
}

/* Cliques of four joined by light edges: each clique is one part, in one run of each
 * bisection as in four. */
static void test_partition_cliques(void **state)
{
	struct cpl_comm_entry entry[1000];
	int name[128], part[128], slots[32];
	int64_t n = 0;
	struct cpl_comm *graph;

	(void)state;
	for (int i = 0; i < 128; i++)
		name[i] = i;
	cpl_random_shuffle(name, 128, 5, 1);
	for (int c = 0; c < 32; c++) {
		slots[c] = 4;
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < i; j++)
				entry[n++] = (struct cpl_comm_entry){
				        name[c * 4 + i], name[c * 4 + j], 100,
				        1};
		entry[n++] = (struct cpl_comm_entry){
		        name[c * 4], name[(c * 4 + 4) % 128], 1, 1};
	}
	graph = symmetric(build(128, entry, n));
	for (int runs = 1; runs <= 4; runs += 3) {
		assert_int_equal(cpl_graph_partition(graph, slots, 32, 1, runs,
		                                     NULL, NULL, part, NULL),
		                 0);
		check_sizes(part, 128, slots, 32);
		for (int c = 0; c < 32; c++)
			for (int i = 1; i < 4; i++)
				assert_int_equal(part[name[c * 4]],
				                 part[name[c * 4 + i]]);
	}
	cpl_comm_free(graph);
}

static bool after_calls(void *arg)
{
	int *left = arg;

	return --*left < 0;
}

/* Whenever the time is over, every part has its size. */
static void test_partition_when_time_is_over(void **state)
{
	struct cpl_comm_entry entry[256];
	struct cpl_comm *graph;
	const int slots[8] = {0, 5, 20, 1, 0, 30, 8, 0};
	int part[64], n = 0;

	for (int r = 0; r < 64; r++)
		entry[n++] = (struct cpl_comm_entry){r, (r * 7 + 1) % 64, r, 1};
	graph = symmetric(build(64, entry, n));
	for (int calls = 0; calls < 20; calls++) {
		int left = calls;

		assert_int_equal(cpl_graph_partition(graph, slots, 8, 1, 4,
		                                     after_calls, &left, part,
		                                     NULL),
		                 0);
		check_sizes(part, 64, slots, 8);
	}
	cpl_comm_free(graph);
}

static void test_bisect_when_time_is_over(void **state)
{
	struct cpl_comm *graph = grid(20, 20, 1);

	(void)state;
	for (int calls = 0; calls < 150; calls++) {
		unsigned char side[400];
		int left = calls, n_left = 0;

		assert_int_equal(
		        cpl_graph_bisect(graph, 150, 1, CPL_GRAPH_BISECT_RUNS,
		                         after_calls, &left, side, NULL),
		        0);
		for (int i = 0; i < 400; i++)
			n_left += !side[i];
		assert_int_equal(n_left, 150);
	}
	cpl_comm_free(graph);
}

static void test_arena(void **state)
{
	static const struct {
		int64_t n;
		size_t size;
		bool fits;
	} cases[] = {
	        {0, 8, true},
	        {1000, sizeof(double), true},
	        {-1, 4, false},
	        {INT64_MAX, 4, false},
	        {INT64_MAX, 2, false},
	};
	struct cpl_error err = {""};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_arena arena = {0};
		int *before = cpl_arena_take(&arena, 7, sizeof(*before));
		unsigned char *item =
		        cpl_arena_take(&arena, cases[i].n, cases[i].size);
		int64_t bytes = cases[i].fits
		                        ? cases[i].n * (int64_t)cases[i].size
		                        : 0;

		assert_non_null(before);
		assert_int_equal(item != NULL, cases[i].fits);
		assert_int_equal(arena.failed, !cases[i].fits);
		for (int64_t b = 0; b < bytes; b++)
			assert_int_equal(item[b], 0);
		/* Arrays after one that failed do not hide that. */
		assert_non_null(cpl_arena_take_raw(&arena, 7, sizeof(int)));
		assert_int_equal(cpl_arena_end(&arena, 5, &err),
		                 cases[i].fits ? 5 : -1);
		assert_null(arena.last);
		assert_string_equal(err.text,
		                    cases[i].fits ? "" : "out of memory");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_arena),
	        cmocka_unit_test(test_heap),
	        cmocka_unit_test(test_bisect_sizes),
	        cmocka_unit_test(test_bisect_star),
	        cmocka_unit_test(test_bisect_grid),
	        cmocka_unit_test(test_bisect_when_time_is_over),
	        cmocka_unit_test(test_partition_sizes),
	        cmocka_unit_test(test_partition_cliques),
	        cmocka_unit_test(test_partition_when_time_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
