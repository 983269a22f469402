/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dragonfly+ by hand: ids, wiring, cells of different size. */
#include "unit.h"

#include "network/dragonfly_plus/dragonfly_plus.h"
#include "network_text.h"
#include "number.h"
#include "placement/placement.h"

/* Leaves 0-1, 2-4, 5 of cells 0, 1, 2; spines 6-7, 8, 9-11. */
#define CELLS                                                                  \
	"{\"format\": \"commplace-network\", \"version\": 1, "                 \
	"\"type\": \"dragonfly+\", \"cells\": 3, \"leaves\": [2, 3, 1], "      \
	"\"spines\": [2, 1, 3], \"nodes_per_router\": 2, "                     \
	"\"global_links_per_cell_pair\": 2, \"nodes\": \"n[0-11]\""

static void test_links(void **state)
{
	/* Up links of the leaves in turn, then link k of cells a to b at spine
	 * (b * 2 + k) mod spines of a. */
	static const int up[][2] = {{0, 6}, {0, 7}, {1, 6}, {1, 7},  {2, 8},
	                            {3, 8}, {4, 8}, {5, 9}, {5, 10}, {5, 11}};
	static const int global[][2] = {{6, 8}, {7, 8},  {6, 9},  {7, 10},
	                                {8, 6}, {8, 7},  {8, 11}, {8, 9},
	                                {9, 6}, {10, 7}, {11, 8}, {9, 8}};
	struct cpl_network *net = parse_network(CELLS "}");

	assert_int_equal(net->n_routers, 12);
	assert_int_equal(net->n_node_routers, 6);
	assert_int_equal(net->n_links, 32);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(net->link_from[i], up[i][0]);
		assert_int_equal(net->link_to[i], up[i][1]);
		assert_int_equal(net->link_from[10 + i], up[i][1]);
		assert_int_equal(net->link_to[10 + i], up[i][0]);
	}
	for (int i = 0; i < 12; i++) {
		assert_int_equal(net->link_from[20 + i], global[i][0]);
		assert_int_equal(net->link_to[20 + i], global[i][1]);
	}
	cpl_network_free(net);
}

static void test_cells(void **state)
{
	static const int cell[] = {0, 0, 1, 1, 1, 2},
	                 leaf[] = {0, 1, 0, 1, 2, 0};
	struct cpl_network *net = parse_network(CELLS "}");
	const struct cpl_level *group = cpl_network_level(net, "group");
	int at[CPL_NETWORK_MAX_DIMS];

	assert_int_equal(group->n_units, 3);
	assert_int_equal(group->first[1], 4);
	assert_int_equal(group->first[2], 10);
	assert_int_equal(group->first[3], 12);
	for (int r = 0; r < 6; r++) {
		assert_int_equal(cpl_level_unit(group, r), cell[r]);
		assert_int_equal(cpl_network_coordinates(net, r, at), 2);
		assert_int_equal(at[0], cell[r]);
		assert_int_equal(at[1], leaf[r]);
	}
	assert_int_equal(cpl_network_coordinates(net, 11, at), 3);
	assert_int_equal(at[0], 2);
	assert_int_equal(at[2], 2);
	cpl_network_free(net);
}

static void test_list(void **state)
{
	struct cpl_network *net = parse_network(
	        CELLS ", \"global_wiring\": \"list\", \"global_links\": "
	              "[[2, 2, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0], "
	              "[2, 0, 1, 0], [1, 0, 2, 1], [0, 1, 2, 2]]}");
	const struct cpl_dfplus *df = cpl_dfplus_of(net);
	int64_t first = net->link_class[CPL_DFPLUS_GLOBAL].first;
	int64_t link = first + cpl_dfplus_global(df, 0, 2, 0);

	assert_int_equal(net->link_from[link], 7);
	assert_int_equal(net->link_to[link], 11);
	link = first + cpl_dfplus_global(df, 1, 2, 1);
	assert_int_equal(net->link_from[link], 8);
	assert_int_equal(net->link_to[link], 10);
	cpl_network_free(net);
}

/* Random groups: whole cells before the next one is touched. */
static void test_policy_takes_cells(void **state)
{
	struct cpl_network *net = parse_network(CELLS "}");
	const struct cpl_level *group = cpl_network_level(net, "group");
	struct cpl_error err = {""};
	const struct cpl_placement_policy *policy =
	        cpl_placement_find(NULL, "random-groups", NULL);
	unsigned char free_nodes[12];
	int node[6];

	memset(free_nodes, 1, sizeof(free_nodes));
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct cpl_placement_request req = {.net = net,
		                                    .free = free_nodes,
		                                    .n_nodes_wanted = 6,
		                                    .seed = seed};
		int used[3] = {0}, begun = 0;

		assert_int_equal(policy->place(&req, node, &err), 0);
		for (int i = 0; i < 6; i++)
			used[cpl_level_unit(
			        group, cpl_network_router(net, node[i]))]++;
		for (int u = 0; u < 3; u++)
			begun +=
			        used[u] > 0 &&
			        used[u] < group->first[u + 1] - group->first[u];
		assert_true(begun <= 1);
	}
	cpl_network_free(net);
}

/* What classes take of cells with 4, 6 and 2 nodes, all but `busy` free. */
static void test_classes_know_cells(void **state)
{
	static const struct {
		const char *policy;
		int busy, n, want[6];
	} row[] = {
	        {"compact", -1, 6, {4, 5, 6, 7, 8, 9}},
	        {"compact", -1, 2, {0, 1}},
	        {"compact", 4, 5, {5, 6, 7, 8, 9}},
	        {"spread", -1, 3, {0, 4, 10}},
	        {"whole:group", -1, 6, {4, 5, 6, 7, 8, 9}},
	        {"whole:group", 0, 2, {4, 5}},
	        {"whole:2", -1, 4, {0, 1, 2, 3}},
	        {"whole:router", 10, 2, {0, 1}},
	};
	struct cpl_network *net = parse_network(CELLS "}");

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_placement_policy *policy =
		        cpl_placement_find(NULL, row[i].policy, NULL);
		struct cpl_error err = {""};
		unsigned char free_nodes[12];
		int node[6];
		struct cpl_placement_request req = {
		        .net = net,
		        .free = free_nodes,
		        .n_nodes_wanted = row[i].n,
		        .option = cpl_placement_option(row[i].policy)};

		memset(free_nodes, 1, sizeof(free_nodes));
		if (row[i].busy >= 0)
			free_nodes[row[i].busy] = 0;
		if (policy->place(&req, node, &err))
			fail_msg("%zu: %s", i, err.text);
		for (int k = 0; k < row[i].n; k++)
			if (node[k] != row[i].want[k])
				fail_msg("%zu: node %d is %d", i, k, node[k]);
	}
	cpl_network_free(net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_links),
	        cmocka_unit_test(test_cells),
	        cmocka_unit_test(test_list),
	        cmocka_unit_test(test_policy_takes_cells),
	        cmocka_unit_test(test_classes_know_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
