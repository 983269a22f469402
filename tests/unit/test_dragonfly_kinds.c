/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dragonflies with groups of several kinds by hand: ids, classes, places of
 * nodes, bandwidths, and what is refused. */
#include "unit.h"

#include "network/dragonfly/dragonfly_kinds.h"
#include "network_text.h"
#include "number.h"
#include "routing/routing.h"

#define HEAD                                                                   \
	"{\"format\": \"commplace-network\", \"version\": 1, "                 \
	"\"type\": \"dragonfly\", "
/* Groups 0 and 1 of 2 x 2 routers with a node each, group 2 all-to-all of 3
 * with two nodes each: routers 0-3, 4-7, 8-10. */
#define KINDS(more)                                                            \
	HEAD "\"rows\": 2, \"columns\": 2, \"bandwidth\": {\"row\": 5, "       \
	     "\"column\": 6, \"global\": 7, \"injection\": 8}, \"kinds\": "    \
	     "[{\"name\": \"cpu\", \"groups\": 2}, {\"name\": \"gpu\", "       \
	     "\"groups\": 1, \"rows\": 1, \"columns\": 3, "                    \
	     "\"nodes_per_router\": 2" more "}]"

static void test_ids(void **state)
{
	struct cpl_network *net =
	        parse_network(KINDS("") ", \"nodes\": \"n[0-13]\"}");
	const struct cpl_level *group = cpl_network_level(net, "group");
	const struct cpl_level *chassis = cpl_network_level(net, "chassis");
	static const int place[] = {0,  2,  4,  6,  8,  10, 12,
	                            14, 16, 17, 18, 19, 20, 21};
	int at[CPL_NETWORK_MAX_DIMS];
	char name[8];

	assert_int_equal(net->n_routers, 11);
	assert_int_equal(net->n_nodes, 22);
	for (int i = 0; i < 14; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(cpl_network_node(net, name), place[i]);
	}
	assert_null(net->node_name[1]);
	assert_int_equal(group->n_units, 3);
	assert_int_equal(group->first_router[2], 8);
	assert_int_equal(chassis->n_units, 5);
	assert_int_equal(chassis->first_router[4], 8);
	assert_int_equal(cpl_network_coordinates(net, 7, at), 3);
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 1);
	assert_int_equal(at[2], 1);
	cpl_network_coordinates(net, 10, at);
	assert_int_equal(at[0], 2);
	assert_int_equal(at[1], 0);
	assert_int_equal(at[2], 2);
	cpl_network_free(net);
}

/* 2 links of a row for each router pair of 8 routers, 3 * 2 of the gpu's; as
 * many columns; wiring modulo with each group's own size. */
static void test_links(void **state)
{
	static const int global[][2] = {{1, 4}, {2, 8}, {4, 1},
	                                {6, 9}, {8, 2}, {9, 6}};
	struct cpl_network *net =
	        parse_network(KINDS("") ", \"nodes\": \"n[0-13]\"}");
	const struct cpl_link_class *class = net->link_class;

	assert_int_equal(net->n_classes, 3);
	assert_string_equal(class[0].name, "row");
	assert_int_equal(class[0].count, 8 + 6);
	assert_string_equal(class[1].name, "column");
	assert_int_equal(class[1].count, 8);
	assert_string_equal(class[2].name, "global");
	assert_int_equal(class[2].count, 6);
	for (int i = 0; i < 6; i++) {
		int64_t link = class[2].first + i;

		assert_int_equal(net->link_from[link], global[i][0]);
		assert_int_equal(net->link_to[link], global[i][1]);
		assert_number(cpl_network_link_bandwidth(net, link), 7, 0);
	}
	/* Router 9's two. */
	assert_int_equal(net->link_from[10], 9);
	assert_int_equal(net->link_to[10], 8);
	assert_int_equal(net->link_to[11], 10);
	assert_number(class[0].bandwidth, 5, 0);
	assert_null(net->cable_bandwidth);
	cpl_network_free(net);
}

static void test_rates(void **state)
{
	struct cpl_network *net = parse_network(
	        KINDS(", \"row_links_per_router_pair\": 2, \"bandwidth\": "
	              "{\"column\": 3, \"injection\": 16}")
	        ", \"nodes\": \"n[0-13]\"}");
	static const struct {
		const char *name;
		int64_t count;
		double rate;
	} class[] = {{"row-cpu", 8, 5},    {"row-gpu", 6, 10},
	             {"column-cpu", 8, 6}, {"column-gpu", 0, 3},
	             {"global", 6, 7}};

	assert_int_equal(net->n_classes, 5);
	for (int c = 0; c < 5; c++) {
		assert_string_equal(net->link_class[c].name, class[c].name);
		assert_int_equal(net->link_class[c].count, class[c].count);
		assert_number(net->link_class[c].bandwidth, class[c].rate, 0);
	}
	assert_int_equal(net->link_class[1].cables, 2);
	assert_number(cpl_network_port_bandwidth(net, 14), 8, 0);
	assert_number(cpl_network_port_bandwidth(net, 16), 16, 0);
	cpl_network_free(net);
}

/* Two ports: nodes of a block of routers, or of an object. */
static void test_ports(void **state)
{
#define PORTS                                                                  \
	HEAD "\"rows\": 1, \"columns\": 2, \"kinds\": [{\"groups\": 1}, "      \
	     "{\"groups\": 2, \"nodes_per_router\": 3, \"bandwidth\": "        \
	     "{\"injection\": 9}}], \"ports\": {\"count\": 2}, "
	struct cpl_network *net =
	        parse_network(PORTS "\"nodes\": \"n[0-6]\"}");

	assert_int_equal(net->n_nodes, 7);
	assert_int_equal(cpl_network_port(net, 0, 1), 1);
	assert_int_equal(cpl_network_port(net, 3, 0), 2);
	assert_int_equal(cpl_network_port(net, 6, 1), 5);
	assert_number(cpl_network_port_bandwidth(net, 1), 1, 0);
	assert_number(cpl_network_port_bandwidth(net, 13), 9, 0);
	cpl_network_free(net);
	net = parse_network(PORTS "\"nodes\": {\"0\": \"a\", \"5\": \"a,b\", "
	                          "\"2\": \"b\"}}");
	assert_int_equal(net->n_nodes, 2);
	assert_number(cpl_network_port_bandwidth(net, 0), 1, 0);
	assert_number(cpl_network_port_bandwidth(net, 1), 9, 0);
	cpl_network_free(net);
}

/* One kind is what the file without kinds says. */
static void test_one_kind(void **state)
{
	struct cpl_network *a = parse_network(
	        HEAD "\"groups\": 3, \"rows\": 2, \"columns\": 3, "
	             "\"global_links_per_group_pair\": 4, "
	             "\"nodes_per_router\": 2, \"nodes\": \"n[0-35]\"}");
	struct cpl_network *b = parse_network(
	        HEAD "\"kinds\": [{\"groups\": 3}], \"rows\": 2, "
	             "\"columns\": 3, \"global_links_per_group_pair\": 4, "
	             "\"nodes_per_router\": 2, \"nodes\": \"n[0-35]\"}");
	double *load = calloc((size_t)a->n_links, 2 * sizeof(*load));

	assert_int_equal(a->n_links, b->n_links);
	for (int64_t l = 0; l < a->n_links; l++) {
		assert_int_equal(a->link_from[l], b->link_from[l]);
		assert_int_equal(a->link_to[l], b->link_to[l]);
		assert_int_equal(a->link_class_of[l], b->link_class_of[l]);
	}
	for (int to = 0; to < a->n_routers; to++) {
		cpl_routing_static_direct.add(a, 1, to, 1 + to, load);
		cpl_routing_kinds_direct.add(b, 1, to, 1 + to,
		                             load + a->n_links);
	}
	for (int64_t l = 0; l < a->n_links; l++)
		assert_number(load[a->n_links + l], load[l], 1e-12);
	assert_ptr_equal(cpl_routing_minimal(b), &cpl_routing_kinds_direct);
	free(load);
	cpl_network_free(a);
	cpl_network_free(b);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} table[] = {
	        {HEAD "\"kinds\": {}}", "\"kinds\" must be an array of 1 to"},
	        {HEAD "\"kinds\": []}", "\"kinds\" must be an array of 1 to"},
	        {HEAD "\"kinds\": [1]}", "\"kinds\"[0]: an object is needed"},
	        {HEAD "\"kinds\": [{\"groups\": 1, \"dims\": 1}]}",
	         "\"kinds\"[0]: unknown key \"dims\""},
	        {HEAD "\"kinds\": [{\"groups\": 1, \"columns\": 1}]}",
	         "\"kinds\"[0]: \"rows\" is missing"},
	        {HEAD "\"rows\": 1, \"kinds\": [{\"columns\": 1}]}",
	         "\"kinds\"[0]: \"groups\" is missing"},
	        {HEAD "\"rows\": 1, \"columns\": 1, \"kinds\": [{\"groups\": 1, "
	              "\"name\": \"GPU\"}]}",
	         "\"kinds\"[0]: \"name\" is \"GPU\""},
	        {HEAD "\"rows\": 1, \"columns\": 1, \"kinds\": [{\"groups\": 1, "
	              "\"name\": \"1\"}, {\"groups\": 1}]}",
	         "\"kinds\"[0] and [1] have the same name, \"1\""},
	        {HEAD "\"groups\": 3, \"rows\": 1, \"columns\": 1, \"kinds\": "
	              "[{\"groups\": 1}, {\"groups\": 1}]}",
	         "\"groups\" is 3; \"kinds\" have 2 groups"},
	        {HEAD "\"rows\": 1000, \"columns\": 999, \"kinds\": "
	              "[{\"groups\": 1}, {\"groups\": 2}]}",
	         "\"kinds\" make more than 1000000 routers"},
	        {KINDS(", \"bandwidth\": {\"global\": 1}") "}",
	         "\"kinds\"[1]: bandwidth: unknown key \"global\""},
	        {KINDS(", \"bandwidth\": {\"row\": 0}") "}",
	         "\"kinds\"[1]: bandwidth: \"row\" is 0"},
	        {KINDS(", \"bandwidth\": 1") "}",
	         "\"kinds\"[1]: \"bandwidth\" must be an object"},
	        {KINDS(", \"bandwidth\": {\"injection\": 1}")
	         ", \"ports\": {\"count\": 1, \"bandwidth\": [1]}}",
	         "exclude each other"},
	        {KINDS("") ", \"nodes\": \"n[0-21]\"}",
	         "names 22 hosts; the sizes make 14 nodes"},
	        {KINDS("") ", \"nodes\": {\"0\": \"a,b\"}}",
	         "router 0 has 2 hosts; nodes_per_router is 1"},
	        {KINDS("") ", \"ports\": {\"count\": 2}, \"nodes\": "
	                   "\"n[0-21]\"}",
	         "11 routers with nodes are no multiple"},
	        {HEAD "\"rows\": 1, \"kinds\": [{\"groups\": 1, \"columns\": 1}, "
	              "{\"groups\": 1, \"columns\": 3, \"nodes_per_router\": 2}]"
	              ", \"ports\": {\"count\": 2}, \"nodes\": \"n[0-3]\"}",
	         "routers 0 to 1 are for the ports of the same nodes"},
	        {KINDS("") ", \"global_wiring\": \"list\", \"global_links\": "
	                   "[[0, 0, 1, 0], [0, 3, 2, 3], [1, 0, 2, 0]], "
	                   "\"nodes\": \"n[0-13]\"}",
	         "\"global_links\"[1]: the router in its group must be an "
	         "integer in 0 to 2"},
	        {KINDS("") ", \"routing\": \"AH\", \"nodes\": \"n[0-13]\"}", NULL},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};
		struct cpl_network *net = cpl_network_parse(
		        table[i].text, strlen(table[i].text), "net", &err);

		if (table[i].message) {
			if (net || !strstr(err.text, table[i].message))
				fail_msg("%zu: %s", i, err.text);
			continue;
		}
		if (!net)
			fail_msg("%zu: %s", i, err.text);
		assert_null(cpl_routing_find(net, NULL, &err));
		assert_non_null(strstr(err.text, "this network has "
		                                 "static-direct (SD), "
		                                 "static-indirect (SI), "
		                                 "progressive-adaptive (PA), ugal-g"));
		cpl_network_free(net);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_ids),   cmocka_unit_test(test_links),
	        cmocka_unit_test(test_rates), cmocka_unit_test(test_ports),
	        cmocka_unit_test(test_one_kind),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
