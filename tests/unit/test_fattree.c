/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "flow.h"
#include "network/fattree/fattree.h"
#include "number.h"

#define TREE                                                                   \
	"{\"format\": \"commplace-network\", \"version\": 1, "                 \
	"\"type\": \"fattree\", "

static struct cpl_network *gpc(void)
{
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_load(NETWORKS "/gpc.json", &err);

	if (!net)
		fail_msg("%s", err.text);
	return net;
}

/* PTRAM's test system: 103 leaves, two core switches of 18 + 9. */
static void test_gpc(void **state)
{
	struct cpl_network *net = gpc();
	const struct cpl_routing *routing = flow_routing(net, NULL);
	int *ports = calloc((size_t)net->n_routers, sizeof(*ports));

	assert_string_equal(routing->name, "dmodk");
	assert_int_equal(net->n_routers, 103 + 2 * (18 + 9));
	assert_int_equal(net->n_node_routers, 103);
	assert_int_equal(net->n_nodes, 3090);
	assert_int_equal(net->n_links, 2 * (103 * 6 + 2 * 18 * 18));
	/* Links up and down: 6 of a leaf; 6 leaves x 3 and 9 x 2 of a line
	 * switch, the last of which has one leaf only; 18 x 2 of a spine. */
	for (int64_t i = 0; i < net->n_links; i++)
		ports[net->link_from[i]]++;
	for (int r = 0; r < net->n_routers; r++) {
		int line = r - 103;
		int want = r < 103           ? 6
		           : line >= 36      ? 36
		           : line % 18 == 17 ? 18 + 3
		                             : 18 + 18;

		assert_int_equal(ports[r], want);
	}
	/* Router-to-router links: PTRAM's 2, 4, 6 without the two to nodes. */
	assert_number(routing->hops(net, 7, 7), 0, 0);
	assert_number(routing->hops(net, 6, 11), 2, 0);
	assert_number(routing->hops(net, 5, 6), 4, 0);
	assert_number(routing->hops(net, 0, 102), 4, 0);
	flow_check(net, routing, 17);
	free(ports);
	cpl_network_free(net);
}

/* One node of every leaf's 30: the ways up from a leaf are used alike. */
static void test_gpc_is_balanced(void **state)
{
	struct cpl_network *net = gpc();
	const struct cpl_routing *routing = flow_routing(net, "DMODK");
	double *load = calloc((size_t)net->n_links, sizeof(*load));
	double first;

	for (int to = 0; to < 103; to++)
		if (to != 40)
			routing->add(net, 40, to, 30, load);
	first = load[cpl_fattree_link(net, 0, 40, 0, 0, 0)];
	assert_number(first, 102 * 30 / 6, 1e-9);
	for (int i = 0; i < 6; i++)
		assert_number(
		        load[cpl_fattree_link(net, 0, 40, i / 3, i % 3, 0)],
		        first, 1e-9);
	/* What one leaf sends up is spread over its line switches' 36. */
	for (int core = 0; core < 2; core++)
		for (int i = 0; i < 18; i++)
			assert_number(
			        load[cpl_fattree_link(net, 1, core * 18 + 6,
			                              i / 2, i % 2, 0)],
			        97 * 30 / 36.0, 12);
	free(load);
	cpl_network_free(net);
}

/* Two levels, two nodes a leaf: each node's way by hand. */
static void test_routes_by_hand(void **state)
{
	struct cpl_network *net = parse_network(
	        TREE "\"nodes_per_router\": 2, \"nodes\": \"n[0-7]\", "
	             "\"levels\": [{\"down\": 4, \"up\": 2, \"links\": 2, "
	             "\"bandwidth\": 3}]}");
	const struct cpl_routing *routing = flow_routing(net, NULL);
	double load[32] = {0};

	assert_int_equal(net->n_routers, 6);
	assert_int_equal(net->n_links, 32);
	assert_string_equal(net->link_class[0].name, "up1");
	assert_number(net->link_class[1].bandwidth, 3, 0);
	/* Leaf 3 has nodes 6 and 7: modulo 4 ports these are 2 and 3, that
	 * is port 1 of parent 0 and port 1 of parent 1. */
	routing->add(net, 0, 3, 10, load);
	for (int i = 0; i < 32; i++) {
		int up = i < 4 && i % 2, down = i >= 28 && i % 2;

		assert_number(load[i], up || down ? 5 : 0, 0);
	}
	assert_int_equal(net->link_to[1], 4);
	assert_int_equal(net->link_to[3], 5);
	assert_int_equal(net->link_from[29], 4);
	assert_int_equal(net->link_to[29], 3);
	flow_check(net, routing, 1);
	cpl_network_free(net);
}

static void test_every_shape_keeps_the_bytes(void **state)
{
	static const char *const text[] = {
	        TREE "\"nodes\": \"n[0-22]\", \"leaves\": 23, \"levels\": ["
	             "{\"down\": 2, \"up\": 1}, {\"down\": 3, \"up\": 2}, "
	             "{\"down\": 4, \"up\": 3, \"links\": 2}]}",
	        TREE "\"nodes\": {\"0\": \"a\", \"2\": \"b,c\"}, "
	             "\"nodes_per_router\": 3, "
	             "\"levels\": [{\"down\": 3, \"up\": 5}]}",
	        TREE "\"nodes\": \"a\", \"levels\": [{\"down\": 1, "
	             "\"up\": 1}]}",
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		struct cpl_network *net = parse_network(text[i]);

		flow_check(net, flow_routing(net, NULL), 1);
		cpl_network_free(net);
	}
}

/* The list of a route's links is what add adds. */
static void test_links_are_those_of_add(void **state)
{
	struct cpl_error err = {""};
	struct cpl_network *net = gpc();
	struct cpl_share *share =
	        malloc((size_t)cpl_route_max(net, &cpl_routing_dmodk) * sizeof(*share));
	double *load = calloc((size_t)net->n_links, sizeof(*load));
	const struct cpl_routing *routing =
	        cpl_routing_find(net, "dmodk", &err);

	assert_true(share && load && routing);
	for (int to = 1; to < 103; to += 17) {
		int n = routing->links(net, 0, to, share);

		assert_true(n > 0 && n <= cpl_route_max(net, &cpl_routing_dmodk));
		routing->add(net, 0, to, 1, load);
		for (int i = 0; i < n; i++)
			load[share[i].link] -= share[i].part;
		for (int64_t l = 0; l < net->n_links; l++)
			assert_float_equal(load[l], 0, 1e-9);
	}
	free(share);
	free(load);
	cpl_network_free(net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_gpc),
	        cmocka_unit_test(test_gpc_is_balanced),
	        cmocka_unit_test(test_links_are_those_of_add),
	        cmocka_unit_test(test_routes_by_hand),
	        cmocka_unit_test(test_every_shape_keeps_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
