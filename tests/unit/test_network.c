/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "network/dragonfly/dragonfly.h"
#include "network_text.h"
#include "network/network.h"
#include "number.h"
#include "routing/routing.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "
#define FLY HEAD "\"type\": \"dragonfly\", "
#define TORUS HEAD "\"type\": \"torus\", "

static void test_counts_of_the_samples(void **state)
{
	static const struct {
		const char *file;
		int routers, nodes;
		int64_t links, class_links[8];
	} table[] = {
	        {"cascade-960",
	         92160,
	         368640,
	         2763840,
	         {1382400, 460800, 920640}},
	        {"edison", 1440, 5760, 29640, {21600, 7200, 840}},
	        {"gpc", 157, 3090, 2532, {618, 618, 648, 648}},
	        {"haec-box", 64, 64, 1792, {256, 1536}},
	        {"quickstart", 16, 32, 44, {16, 16, 12}},
	        {"torus-4x4x4", 64, 64, 384, {128, 128, 128}},
	        {"vulcan-512", 512, 512, 5120, {1024, 1024, 1024, 1024, 1024}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};
		struct cpl_network *net;
		char path[512];

		snprintf(path, sizeof(path), NETWORKS "/%s.json",
		         table[i].file);
		net = cpl_network_load(path, &err);
		if (!net)
			fail_msg("%s", err.text);
		assert_string_equal(net->name, table[i].file);
		assert_int_equal(net->n_routers, table[i].routers);
		assert_int_equal(net->n_nodes, table[i].nodes);
		assert_int_equal(net->n_links, table[i].links);
		for (int c = 0; c < net->n_classes; c++)
			assert_int_equal(net->link_class[c].count,
			                 table[i].class_links[c]);
		cpl_network_free(net);
	}
}

static void test_edison_links(void **state)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_load(NETWORKS "/edison.json", &err);
	int64_t link;

	assert_non_null(net);
	/* Router 100: group 1, row 0, column 4. */
	link = cpl_dragonfly_row_link(net, 100, 9);
	assert_int_equal(net->link_from[link], 100);
	assert_int_equal(net->link_to[link], 105);
	assert_number(cpl_network_link_bandwidth(net, link), 5.25e9, 0);
	link = cpl_dragonfly_column_link(net, 100, 5);
	assert_int_equal(net->link_from[link], 100);
	assert_int_equal(net->link_to[link], 180);
	assert_number(cpl_network_link_bandwidth(net, link), 15.75e9, 0);
	/* Link 3 from group 2 to 14: local 14 * 4 + 3 = 59 of group 2, local
	 * 2 * 4 + 3 = 11 of group 14. */
	link = net->link_class[CPL_DRAGONFLY_GLOBAL].first +
	       cpl_dragonfly_global(net, 2, 14, 3);
	assert_int_equal(net->link_from[link], 2 * 96 + 59);
	assert_int_equal(net->link_to[link], 14 * 96 + 11);
	assert_number(cpl_network_link_bandwidth(net, link), 4.7e9, 0);
	assert_int_equal(cpl_network_node(net, "nid00000"), 0);
	assert_int_equal(cpl_network_node(net, "nid05759"), 5759);
	assert_int_equal(cpl_network_node(net, "nid05760"), -1);
	assert_int_equal(cpl_network_node(net, "nid0"), -1);
	assert_int_equal(cpl_network_node(net, ""), -1);
	assert_string_equal(net->routing, "adaptive-hybrid");
	cpl_network_free(net);
}

/* Every link id has its ends, and every ordered pair that the rules connect
 * has exactly its links. */
static void test_more_global_links_than_routers(void **state)
{
	struct cpl_network *net =
	        parse_network(FLY "\"groups\": 3, \"rows\": 1, \"columns\": 2, "
	                          "\"global_links_per_group_pair\": 3, "
	                          "\"nodes\": \"n[0-5]\"}");
	const struct cpl_link_class *global =
	        &net->link_class[CPL_DRAGONFLY_GLOBAL];
	/* From group 0 to 1, k = 0, 1, 2: local 3+k mod 2 = 1, 0, 1 in group 0
	 * and k mod 2 = 0, 1, 0 in group 1. */
	static const int from[] = {1, 0, 1}, to[] = {2, 3, 2};

	assert_int_equal(global->count, 3 * 2 * 3);
	assert_int_equal(net->link_class[CPL_DRAGONFLY_COLUMN].count, 0);
	for (int k = 0; k < 3; k++) {
		int64_t link =
		        global->first + cpl_dragonfly_global(net, 0, 1, k);

		assert_int_equal(net->link_from[link], from[k]);
		assert_int_equal(net->link_to[link], to[k]);
		link = global->first + cpl_dragonfly_global(net, 1, 0, k);
		assert_int_equal(net->link_from[link], to[k]);
		assert_int_equal(net->link_to[link], from[k]);
	}
	assert_int_equal(net->nodes_per_router, 1);
	assert_number(global->bandwidth, 1, 0);
	assert_number(net->port_bandwidth[0], 1, 0);
	cpl_network_free(net);
}

static void test_one_group_of_one_router(void **state)
{
	struct cpl_network *net = parse_network(
	        FLY "\"groups\": 1, \"rows\": 1, \"columns\": 1, "
	            "\"nodes_per_router\": 2, \"nodes\": \"a,b\"}");

	assert_int_equal(net->n_links, 0);
	assert_int_equal(net->n_nodes, 2);
	cpl_network_free(net);
}

static void test_nodes_by_router(void **state)
{
	struct cpl_network *net = parse_network(
	        FLY "\"groups\": 1, \"rows\": 1, \"columns\": 3, "
	            "\"nodes_per_router\": 2, \"nodes\": "
	            "{\"2\": \"x,y\", \"0\": \"z\", \"1\": \"\"}}");

	assert_string_equal(net->node_name[0], "z");
	assert_null(net->node_name[1]);
	assert_null(net->node_name[2]);
	assert_null(net->node_name[3]);
	assert_string_equal(net->node_name[4], "x");
	assert_int_equal(cpl_network_node(net, "y"), 5);
	cpl_network_free(net);
}

static void test_torus_borders(void **state)
{
	/* Wrap of length 2 has both links, a mesh border and length 1 none. */
	struct cpl_network *net = parse_network(
	        TORUS "\"dims\": [3, 2, 1, 2], "
	              "\"wrap\": [false, true, true, false], "
	              "\"bandwidth\": {\"dim\": [1, 2, 3, 4.5], "
	              "\"injection\": 7}, \"nodes\": \"n[0-11]\"}");
	const struct cpl_product *torus = &net->product;
	static const int64_t count[] = {4 * 2 * 2, 6 * 2 * 2, 0, 6 * 1 * 2};

	assert_int_equal(net->n_classes, 4);
	for (int c = 0; c < 4; c++)
		assert_int_equal(net->link_class[c].count, count[c]);
	for (int router = 0; router < net->n_routers; router++) {
		int at[4] = {router % 3, router / 3 % 2, 0, router / 6};
		const int64_t *out = torus->out + router * 8;

		assert_int_equal(out[0] >= 0, at[0] < 2);
		assert_int_equal(out[1] >= 0, at[0] > 0);
		assert_true(out[2] >= 0 && out[3] >= 0 && out[2] != out[3]);
		assert_int_equal(net->link_to[out[2]],
		                 at[1] ? router - 3 : router + 3);
		assert_int_equal(net->link_to[out[3]], net->link_to[out[2]]);
		assert_int_equal(out[4], -1);
		assert_int_equal(out[5], -1);
		assert_int_equal(out[6] >= 0, at[3] == 0);
		assert_int_equal(out[7] >= 0, at[3] == 1);
		if (at[0] < 2)
			assert_int_equal(net->link_to[out[0]], router + 1);
		if (at[0] > 0)
			assert_int_equal(net->link_to[out[1]], router - 1);
	}
	for (int64_t link = 0; link < net->n_links; link++)
		assert_true(net->link_from[link] != net->link_to[link]);
	assert_number(net->link_class[3].bandwidth, 4.5, 0);
	assert_number(net->port_bandwidth[0], 7, 0);
	cpl_network_free(net);
}

#define FLY2 FLY "\"groups\": 2, \"rows\": 1, \"columns\": 1, "

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} table[] = {
	        {"", "net: is empty"},
	        {"{", "net:1:1: "},
	        {"[]", "an object"},
	        {"{}", "\"format\" is missing"},
	        {"{\"format\": \"x\"}", "\"format\" is \"x\""},
	        {"{\"format\": \"commplace-network\"}", "\"version\""},
	        {"{\"format\": \"commplace-network\", \"version\": 2}",
	         "\"version\" is 2"},
	        {HEAD "\"nodes\": \"a\"}", "\"type\" is missing"},
	        {HEAD "\"type\": 1}", "\"type\" is an integer"},
	        {HEAD "\"type\": \"mesh\"}",
	         "\"mesh\"; it must be dragonfly, "},
	        {FLY2 "\"dims\": [2]}", "unknown key \"dims\""},
	        {TORUS "\"groups\": 2}", "unknown key \"groups\""},
	        {FLY "\"rows\": 1, \"columns\": 1}", "\"groups\" is missing"},
	        {FLY "\"groups\": 0, \"rows\": 1, \"columns\": 1}",
	         "\"groups\" is 0"},
	        {FLY "\"groups\": 1.5, \"rows\": 1, \"columns\": 1}",
	         "\"groups\" is a real"},
	        {FLY "\"groups\": 101, \"rows\": 100, \"columns\": 100}",
	         "more than 1000000 routers"},
	        {FLY "\"groups\": 1000000, \"rows\": 1000000, "
	             "\"columns\": 1000000}",
	         "more than 1000000 routers"},
	        {FLY "\"groups\": 1, \"rows\": 1, \"columns\": 46342, "
	             "\"nodes\": \"n[0-46341]\"}",
	         "more than 2147483648 directed links"},
	        {FLY "\"groups\": 1000000, \"rows\": 1, \"columns\": 1, "
	             "\"global_links_per_group_pair\": 1000000}",
	         "more than 2147483648 directed links"},
	        {FLY2 "\"global_links_per_group_pair\": 0}",
	         "\"global_links_per_group_pair\" is 0"},
	        {FLY2 "\"global_wiring\": \"palm\"}", "modulo"},
	        {FLY2 "\"global_wiring\": \"list\"}",
	         "\"global_links\" is missing"},
	        {FLY2 "\"global_links\": []}", "is for \"global_wiring\""},
	        {FLY2 "\"global_wiring\": 3}", "\"global_wiring\" is an"},
	        {FLY2 "\"nodes_per_router\": 0}", "\"nodes_per_router\""},
	        {FLY2 "\"nodes_per_router\": 4194304, \"nodes\": \"a\"}",
	         "more than 4194304 nodes"},
	        {FLY2 "\"name\": \"\"}", "\"name\" is empty"},
	        {FLY2 "\"routing\": 1}", "\"routing\" is an integer"},
	        {FLY2 "\"bandwidth\": 3}", "\"bandwidth\" must be an object"},
	        {FLY2 "\"bandwidth\": {\"dim\": 1}}",
	         "bandwidth: unknown key \"dim\""},
	        {FLY2 "\"bandwidth\": {\"row\": 0}}",
	         "bandwidth: \"row\" is 0"},
	        {FLY2 "\"bandwidth\": {\"global\": -1}}",
	         "bandwidth: \"global\" is -1"},
	        {FLY2 "\"bandwidth\": {\"column\": \"1\"}}",
	         "bandwidth: \"column\" is a string"},
	        {FLY2 "\"bandwidth\": {\"injection\": 1e999}}", "net:1:"},
	        {FLY2 "\"bandwidth\": {}}", "\"nodes\" is missing"},
	        {FLY2 "\"nodes\": 3}", "\"nodes\" has the wrong type"},
	        {FLY2 "\"nodes\": \"n[0-2]\"}", "names 3 hosts"},
	        {FLY2 "\"nodes\": \"n0\"}", "names 1 hosts"},
	        {FLY2 "\"nodes\": \"\"}", "names 0 hosts"},
	        {FLY2 "\"nodes\": \"n[0-\"}", "\"nodes\": host list"},
	        {FLY2 "\"nodes\": \"a,a\"}", "host a is given twice"},
	        {FLY2 "\"nodes\": {\"0\": \"a\", \"1\": \"a\"}}",
	         "host a is given twice, as node 0 and as node 1"},
	        {FLY2 "\"nodes\": {\"2\": \"a\"}}", "\"2\" is not a router id"},
	        {FLY2 "\"nodes\": {\"-1\": \"a\"}}", "not a router id"},
	        {FLY2 "\"nodes\": {\"00\": \"a\"}}", "not a router id"},
	        {FLY2 "\"nodes\": {\"\": \"a\"}}", "not a router id"},
	        {FLY2 "\"nodes\": {\"99999999999999999999\": \"a\"}}",
	         "not a router id"},
	        {FLY2 "\"nodes\": {\"0\": \"a,b\"}}",
	         "router 0 has 2 hosts; nodes_per_router is 1"},
	        {FLY2 "\"nodes\": {\"0\": [\"a\"]}}", "router 0: a string with a host list"},
	        {FLY2 "\"nodes\": {\"0\": \"a[\"}}", "router 0: host list"},
	        {FLY2 "\"nodes\": {}}", "names no host"},
	        {TORUS "\"wrap\": [true]}", "\"dims\" is missing"},
	        {TORUS "\"dims\": []}", "array of 1 to 8"},
	        {TORUS "\"dims\": [1,1,1,1,1,1,1,1,1]}", "array of 1 to 8"},
	        {TORUS "\"dims\": 4}", "array of 1 to 8"},
	        {TORUS "\"dims\": [4, 0]}", "\"dims\"[1]"},
	        {TORUS "\"dims\": [1.5]}", "\"dims\"[0]"},
	        {TORUS "\"dims\": [1000, 1001]}", "more than 1000000"},
	        {TORUS "\"dims\": [2], \"wrap\": true}", "\"wrap\""},
	        {TORUS "\"dims\": [2], \"wrap\": [true, true]}", "\"wrap\""},
	        {TORUS "\"dims\": [2], \"wrap\": [1]}", "\"wrap\"[0]"},
	        {TORUS "\"dims\": [2], \"bandwidth\": {\"row\": 1}}",
	         "unknown key \"row\""},
	        {TORUS "\"dims\": [2], \"bandwidth\": {\"dim\": [1, 2]}}",
	         "\"dim\" holds 2 numbers"},
	        {TORUS "\"dims\": [2], \"bandwidth\": {\"dim\": [0]}}",
	         "\"dim\"[0]"},
	        {TORUS "\"dims\": [2], \"bandwidth\": {\"dim\": [\"1\"]}}",
	         "\"dim\"[0]"},
	        {TORUS "\"dims\": [2], \"bandwidth\": {\"dim\": -1}}",
	         "\"dim\" is -1"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};

		assert_null(cpl_network_parse(
		        table[i].text, strlen(table[i].text), "net", &err));
		if (!strstr(err.text, table[i].message))
			fail_msg("%s\ngave '%s'\nnot '%s'", table[i].text,
			         err.text, table[i].message);
		assert_memory_equal(err.text, "net:", 4);
	}
}

/*
 * Each end of a link names the other, every wiring uses each port once, and
 * the tables written by hand: 5 groups of 4 routers, a port each, group 0's
 * and group 3's partners by local router.
 */
static void test_wirings(void **state)
{
	static const struct {
		const char *wiring;
		int k, zero[4], three[4]; /* groups reached from local 0 .. 3 */
	} table[] = {
	        {"consecutive", 1, {1, 2, 3, 4}, {0, 1, 2, 4}},
	        {"palmtree", 1, {4, 3, 2, 1}, {2, 1, 0, 4}},
	        {"consecutive", 3, {1, 2, 3, 4}, {0, 1, 2, 4}},
	        {"palmtree", 3, {4, 3, 2, 1}, {2, 1, 0, 4}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char text[512];
		struct cpl_network *net;
		const struct cpl_link_class *global;

		snprintf(text, sizeof(text),
		         FLY "\"groups\": 5, \"rows\": 2, \"columns\": 2, "
		             "\"global_links_per_group_pair\": %d, "
		             "\"global_wiring\": \"%s\", "
		             "\"nodes\": \"n[0-19]\"}",
		         table[i].k, table[i].wiring);
		net = parse_network(text);
		global = &net->link_class[CPL_DRAGONFLY_GLOBAL];
		assert_int_equal(global->count, 20 * table[i].k);
		for (int64_t l = global->first;
		     l < global->first + global->count; l++) {
			int from = net->link_from[l], to = net->link_to[l];
			const int *want = from / 4 == 0   ? table[i].zero
			                  : from / 4 == 3 ? table[i].three
			                                  : NULL;
			int there = 0, back = 0;

			if (want)
				assert_int_equal(to / 4, want[from % 4]);
			for (int64_t m = global->first;
			     m < global->first + global->count; m++) {
				there += net->link_from[m] == from &&
				         net->link_to[m] == to;
				back += net->link_from[m] == to &&
				        net->link_to[m] == from;
			}
			assert_int_equal(there, table[i].k);
			assert_int_equal(back, table[i].k);
		}
		cpl_network_free(net);
	}
}

/* Port p meets port P - 1 - p although routers have several groups' links. */
static void test_palmtree_ports(void **state)
{
	struct cpl_network *net =
	        parse_network(FLY "\"groups\": 3, \"rows\": 1, \"columns\": 3, "
	                          "\"global_links_per_group_pair\": 3, "
	                          "\"global_wiring\": \"palmtree\", "
	                          "\"nodes\": \"n[0-8]\"}");
	static const struct {
		int a, b, k, from, to;
	} table[] = {
	        /* Two ports a router: group 0's ports 0-2 to group 2, 3-5 to
	         * group 1. */
	        {0, 2, 0, 0, 8}, {0, 2, 1, 0, 8}, {0, 2, 2, 1, 7},
	        {0, 1, 0, 1, 4}, {0, 1, 1, 2, 3}, {0, 1, 2, 2, 3},
	        {2, 0, 0, 8, 0}, {2, 1, 0, 7, 4},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		int64_t link = net->link_class[CPL_DRAGONFLY_GLOBAL].first +
		               cpl_dragonfly_global(net, table[i].a, table[i].b,
		                                    table[i].k);

		assert_int_equal(net->link_from[link], table[i].from);
		assert_int_equal(net->link_to[link], table[i].to);
	}
	cpl_network_free(net);
}

static void test_listed_wiring(void **state)
{
	struct cpl_network *net = parse_network(
	        FLY "\"groups\": 3, \"rows\": 1, \"columns\": 2, "
	            "\"global_wiring\": \"list\", \"global_links\": "
	            "[[0, 1, 1, 0], [2, 0, 1, 1], [0, 0, 2, 1]], "
	            "\"nodes\": \"n[0-5]\"}");
	static const int end[3][2] = {{1, 2}, {4, 3}, {0, 5}};
	const struct cpl_link_class *global =
	        &net->link_class[CPL_DRAGONFLY_GLOBAL];

	for (int64_t l = global->first; l < global->first + 6; l++) {
		int found = 0;

		for (int i = 0; i < 3; i++)
			for (int way = 0; way < 2; way++)
				found += net->link_from[l] == end[i][way] &&
				         net->link_to[l] == end[i][!way];
		assert_int_equal(found, 1);
	}
	cpl_network_free(net);
}

static void test_routing_names(void **state)
{
	static const struct {
		const char *stated, *name, *found, *message;
	} table[] = {
	        {"static-direct", NULL, "static-direct", NULL},
	        {"sd", NULL, "static-direct", NULL},
	        {"adaptive-hybrid", NULL, "adaptive-hybrid", NULL},
	        {"AI", NULL, "adaptive-indirect", NULL},
	        {"SD", "adaptive-hybrid", "adaptive-hybrid", NULL},
	        {"SD", "AD", "adaptive-direct", NULL},
	        {"SD", "AM", NULL, "static-indirect (SI)"},
	        {"AH", "Static-Direct", "static-direct", NULL},
	        {"SD", "dimension-order", NULL, "does not exist"},
	        {"dimension-order", NULL, NULL, "of the network"},
	        {"nonsense", NULL, NULL, "'nonsense' does not exist"},
	        {"nonsense", "SD", "static-direct", NULL},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};
		const struct cpl_routing *routing;
		struct cpl_network *net;
		char text[256];

		snprintf(text, sizeof(text),
		         FLY2 "\"routing\": \"%s\", \"nodes\": \"a,b\"}",
		         table[i].stated);
		net = parse_network(text);
		routing = cpl_routing_find(net, table[i].name, &err);
		if (table[i].found) {
			assert_non_null(routing);
			assert_string_equal(routing->name, table[i].found);
		} else {
			assert_null(routing);
			assert_non_null(strstr(err.text, table[i].message));
		}
		cpl_network_free(net);
	}
}

/* Seconds of dim0, dim1, nodes' links and routers, and over one link of dim1. */
static void test_latencies(void **state)
{
	static const struct {
		const char *stated;
		double dim0, dim1, injection, router, route;
		const char *message;
	} row[] = {
	        {"", 0, 0, 0, 0, 0, NULL},
	        {"\"latency\": {}, ", 0, 0, 0, 0, 0, NULL},
	        {"\"latency\": {\"link\": 2, \"router\": 1}, ", 0, 0, 0, 0, 0,
	         "latency: \"link\""},
	        {"\"latency\": {\"link\": 0.5, \"router\": 1}, ", 0.5, 0.5, 0.5,
	         1, 3.5, NULL},
	        {"\"latency\": {\"dim1\": 0.25}, ", 0, 0.25, 0, 0, 0.25, NULL},
	        {"\"latency\": {\"link\": 0.5, \"dim0\": 0, \"injection\": "
	         "0.125}, ", 0, 0.5, 0.125, 0, 0.75, NULL},
	        {"\"latency\": {\"dim2\": 0.5}, ", 0, 0, 0, 0, 0, "dim2"},
	        {"\"latency\": {\"router\": -1e-9}, ", 0, 0, 0, 0, 0,
	         "latency: \"router\""},
	        {"\"latency\": 1e-7, ", 0, 0, 0, 0, 0, "must be an object"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_share share = {.part = 1};
		struct cpl_network *net;
		char text[512];

		snprintf(text, sizeof(text),
		         TORUS "%s\"dims\": [2, 2], \"nodes\": \"n[0-3]\"}",
		         row[i].stated);
		net = cpl_network_parse(text, strlen(text), "t", &err);
		if (row[i].message) {
			assert_null(net);
			assert_non_null(strstr(err.text, row[i].message));
			continue;
		}
		assert_non_null(net);
		assert_true(net->class_latency[0] == row[i].dim0);
		assert_true(net->class_latency[1] == row[i].dim1);
		assert_true(net->class_latency[2] == row[i].injection);
		assert_true(net->router_latency == row[i].router);
		share.link = (int)net->link_class[1].first;
		assert_true(cpl_network_route_latency(net, &share, 1) ==
		            row[i].route);
		cpl_network_free(net);
	}
}

static void test_routing_of_a_torus(void **state)
{
	struct cpl_network *net =
	        parse_network(TORUS "\"dims\": [2], \"nodes\": \"a,b\"}");
	struct cpl_error err = {""};

	assert_ptr_equal(cpl_routing_find(net, NULL, &err),
	                 &cpl_routing_dimension_order);
	assert_null(cpl_routing_find(net, "SD", &err));
	assert_non_null(strstr(err.text, "dimension-order (DO)"));
	cpl_network_free(net);
}

/* Units of every level hold each node once, by id, and the units inside. */
static void check_levels(const struct cpl_network *net)
{
	char *seen = malloc((size_t)net->n_nodes);

	for (int l = 0; l < net->n_levels; l++) {
		const struct cpl_level *level = &net->level[l];

		memset(seen, 0, (size_t)net->n_nodes);
		assert_int_equal(level->first[0], 0);
		assert_int_equal(level->first[level->n_units], net->n_nodes);
		for (int u = 0; u < level->n_units; u++) {
			for (int i = level->first[u]; i < level->first[u + 1];
			     i++) {
				int node = level->node[i];

				assert_int_equal(seen[node]++, 0);
				assert_int_equal(
				        cpl_level_unit(
				                level,
				                cpl_network_router(net, node)),
				        u);
				if (i > level->first[u])
					assert_true(node > level->node[i - 1]);
			}
		}
	}
	free(seen);
}

/* Nodes hang on routers, and routers have nodes: the same says both. */
static void check_ports(const struct cpl_network *net)
{
	int n = 0;

	for (int r = 0; r < net->n_routers; r++) {
		struct cpl_nodes nodes = cpl_network_nodes(net, r);

		n += nodes.n;
		for (int i = 0; i < nodes.n; i++)
			assert_int_equal(
			        cpl_network_port(net, nodes.node[i], 0), r);
	}
	assert_int_equal(net->n_ports, 1);
	assert_int_equal(n, net->n_nodes);
}

static void test_rooms(void **state)
{
	static const struct {
		const char *file;
		const char *level[CPL_NETWORK_MAX_LEVELS];
		int units[CPL_NETWORK_MAX_LEVELS];
		bool node_is_router;
		int turns, router, n_at, at[CPL_NETWORK_MAX_DIMS];
	} table[] = {
	        {"edison",
	         {"group", "chassis", "router"},
	         {15, 90, 1440},
	         false,
	         0,
	         100,
	         3,
	         {1, 0, 4}},
	        {"gpc", {NULL, "router"}, {18, 103}, false, 1, 20, 2, {3, 2}},
	        {"haec-box",
	         {"board", NULL},
	         {4, 64},
	         true,
	         0,
	         39,
	         3,
	         {3, 1, 2}},
	        {"vulcan-512",
	         {"plane"},
	         {2},
	         true,
	         0,
	         443,
	         5,
	         {3, 2, 3, 2, 1}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		int at[CPL_NETWORK_MAX_DIMS], n = 0;
		struct cpl_error err = {""};
		struct cpl_network *net;
		char path[512];

		snprintf(path, sizeof(path), NETWORKS "/%s.json",
		         table[i].file);
		net = cpl_network_load(path, &err);
		assert_non_null(net);
		while (n < CPL_NETWORK_MAX_LEVELS && table[i].units[n])
			n++;
		assert_int_equal(net->n_levels, n);
		for (int l = 0; l < n; l++) {
			const char *name = table[i].level[l];

			assert_int_equal(net->level[l].n_units,
			                 table[i].units[l]);
			if (name)
				assert_ptr_equal(cpl_network_level(net, name),
				                 &net->level[l]);
			else
				assert_null(net->level[l].name);
		}
		assert_null(cpl_network_level(net, "drawer"));
		assert_int_equal(net->turns, table[i].turns);
		assert_int_equal(net->node_is_router, table[i].node_is_router);
		assert_int_equal(
		        cpl_network_coordinates(net, table[i].router, at),
		        table[i].n_at);
		assert_memory_equal(at, table[i].at,
		                    (size_t)table[i].n_at * sizeof(*at));
		check_levels(net);
		check_ports(net);
		cpl_network_free(net);
	}
}

static void test_products(void **state)
{
	struct cpl_network *torus =
	        parse_network(TORUS "\"dims\": [3, 4], \"wrap\": [true, "
	                            "false], \"nodes\": \"n[0-11]\"}");
	struct cpl_network *fly =
	        parse_network(FLY "\"groups\": 1, \"rows\": 2, \"columns\": 2, "
	                          "\"nodes\": \"n[0-3]\"}");
	const struct cpl_product *product = cpl_network_product(torus);

	assert_non_null(product);
	assert_int_equal(product->n_dims, 2);
	assert_int_equal(product->dim[1], 4);
	assert_true(product->wrap[0]);
	assert_false(product->wrap[1]);
	assert_null(cpl_network_product(fly));
	cpl_network_free(torus);
	cpl_network_free(fly);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_counts_of_the_samples),
	        cmocka_unit_test(test_edison_links),
	        cmocka_unit_test(test_rooms),
	        cmocka_unit_test(test_products),
	        cmocka_unit_test(test_more_global_links_than_routers),
	        cmocka_unit_test(test_one_group_of_one_router),
	        cmocka_unit_test(test_nodes_by_router),
	        cmocka_unit_test(test_torus_borders),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_wirings),
	        cmocka_unit_test(test_palmtree_ports),
	        cmocka_unit_test(test_listed_wiring),
	        cmocka_unit_test(test_routing_names),
	        cmocka_unit_test(test_latencies),
	        cmocka_unit_test(test_routing_of_a_torus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
