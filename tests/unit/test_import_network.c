/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/file.h"
#include "flow.h"
#include "network/dragonfly/dragonfly.h"
#include "network/type.h"
#include "network/reader/reader.h"
#include "number.h"

static char *sample(const char *name, size_t *length)
{
	struct cpl_error err = {""};
	char path[512], *text;

	snprintf(path, sizeof(path), "%s/%s", SAMPLES, name);
	text = cpl_file_read(path, 1 << 20, length, &err);
	if (!text)
		fail_msg("%s", err.text);
	return text;
}

/* The network that an import makes, with its table of routes if any. */
static struct cpl_network *import_of(const struct cpl_network_import *in)
{
	struct cpl_error err = {""};
	struct cpl_network *net;
	char *table, *dump;
	json_t *root = cpl_network_import(in, &table, &err);

	if (!root)
		fail_msg("%s", err.text);
	assert_true(!table == !in->routes);
	assert_true(!json_object_get(root, "routing_table") == !in->routes);
	json_object_del(root, "routing_table");
	dump = json_dumps(root, 0);
	net = parse_network(dump);
	if (table &&
	    cpl_network_parse_routes(net, table, strlen(table), "table", &err))
		fail_msg("%s", err.text);
	json_decref(root);
	free(dump);
	free(table);
	return net;
}

static struct cpl_network *import_text(const char *format, const char *text)
{
	struct cpl_network_import in = {.format = format,
	                                .name = "net",
	                                .source = "in",
	                                .text = text,
	                                .length = strlen(text)};

	return import_of(&in);
}

/* Of the samples. */
static struct cpl_network *import(const char *format, const char *file,
                                  const char *routes)
{
	struct cpl_network_import in = {.format = format,
	                                .name = "net",
	                                .source = file,
	                                .routes_source = routes,
	                                .routing_table = "table"};
	char *text = sample(file, &in.length), *traces = NULL;
	struct cpl_network *net;

	in.text = text;
	if (routes)
		in.routes = traces = sample(routes, &in.routes_length);
	net = import_of(&in);
	free(text);
	free(traces);
	return net;
}

static int router_of(const struct cpl_network *net, const char *host)
{
	int node = cpl_network_node(net, host);

	assert_true(node >= 0);
	return cpl_network_router(net, node);
}

static void test_topology_conf(void **state)
{
	struct cpl_network *net =
	        import("topology-conf", "topology.conf", NULL);
	const struct cpl_routing *routing = flow_routing(net, NULL);

	assert_int_equal(net->n_routers, 5);
	assert_int_equal(net->n_node_routers, 3);
	assert_int_equal(net->nodes_per_router, 3);
	assert_int_equal(net->n_links, 10);
	assert_int_equal(router_of(net, "n2"), 0);
	assert_int_equal(router_of(net, "n4"), 1);
	assert_int_equal(router_of(net, "login"), 2);
	assert_number(routing->hops(net, 0, 1), 2, 0);
	flow_check(net, routing, 1);
	cpl_network_free(net);
}

/* What Slurm takes: spaces around "=", quotes, any case, comments, lines that
 * go on, ranges of switches, a leaf that has switches below it as well. */
/* Two leaves under a top, as scontrol, topology.yaml and blocks tell of them. */
static void test_topology_others(void **state)
{
	static const struct {
		const char *format, *text;
	} table[] = {
	        {"topology-conf",
	         "SwitchName=a Level=0 LinkSpeed=1 Nodes=n[0-1] \n"
	         "SwitchName=b Level=0 LinkSpeed=1 Nodes=n2 \n"
	         "SwitchName=t Level=1 LinkSpeed=1 Nodes=n[0-2] "
	         "Switches=a,b\n"},
	        {"topology-conf",
	         "BlockName=a Nodes=n[0-1]\nBlockName=b Nodes=n2\n"
	         "BlockSizes=2,4\n"},
	        {"topology-conf",
	         "BlockName=a BlockIndex=0 Nodes=n[0-1] BlockSize=2\n"
	         "BlockName=b BlockIndex=1 Nodes=n2 BlockSize=2\n"
	         "AggregatedBlock=a,b BlockIndex=2 Nodes=n[0-2] "
	         "BlockSize=4\n"},
	        {"topology-yaml",
	         "---\n- topology: t\n  cluster_default: true\n  tree:\n"
	         "    switches:\n      - switch: t # above\n"
	         "        children: a,b\n      - switch: \"a\"\n"
	         "        nodes: n[0-1]\n      - switch: b\n"
	         "        nodes: n2\n"},
	        {"topology-yaml",
	         "- topology: b\n  block:\n    block_sizes:\n      - 2\n"
	         "    blocks:\n      - block: a\n        nodes: 'n[0-1]'\n"
	         "      - block: b\n        nodes: n2\n"},
	        /* As scontrol show topoconf prints it, the default not first. */
	        {"topology-yaml",
	         "%YAML 1.1\n---\n- topology: later\n  cluster_default: false\n"
	         "  newer:\n    heaps:\n    - heap: h\n"
	         "- topology: t\n  cluster_default: true\n  block: {}\n"
	         "  flat: {}\n  ring: {}\n  torus3d: {}\n  tree:\n"
	         "    switches:\n    - switch: t\n      children: a,b\n"
	         "      nodes:\n    - switch: a\n      children:\n"
	         "      nodes: n[0-1]\n    - switch: b\n      children: ~\n"
	         "      nodes: n2\n...\n"},
	        {"node-list",
	         "Node,Switch,Spine\n# rack 1\nn0,a,t\nn1 , a , \"t\"\n"
	         "\nn2,b,t\r\n"},
	        {"node-list", "n[0,1];a\nn2\tb\n"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_network *net =
		        import_text(table[i].format, table[i].text);
		int a = cpl_network_router(net, cpl_network_node(net, "n0"));
		int b = cpl_network_router(net, cpl_network_node(net, "n2"));

		assert_int_equal(net->n_routers, 3);
		assert_int_equal(net->n_node_routers, 2);
		assert_int_equal(net->n_links, 4);
		assert_int_equal(
		        cpl_network_router(net, cpl_network_node(net, "n1")),
		        a);
		assert_int_not_equal(a, b);
		for (int64_t l = 0; l < 4; l++)
			assert_int_equal((net->link_from[l] == 2) +
			                         (net->link_to[l] == 2),
			                 1);
		cpl_network_free(net);
	}
}

/* A torus of topology/torus3d, in both forms, and a ring. */
static void test_topology_torus(void **state)
{
	static const struct {
		const char *text;
		int routers, links;
	} table[] = {
	        {"- topology: t\n  torus3d:\n    toruses:\n      - name: t0\n"
	         "        dims: { x: 4, y: 3, z: 2 } # each way\n"
	         "        nodes: n[0-23]\n        placements:\n"
	         "          - dims: { x: 2, y: 1, z: 1 }\n",
	         24, 144},
	        {"- topology: t\n  cluster_default: true\n  ring: {}\n"
	         "  torus3d:\n    toruses:\n    - name: t0\n      nodes: n[0-23]\n"
	         "      dims:\n        x: 4\n        y: 3\n        z: 2\n"
	         "      placements:\n      - dims:\n          x: 1\n"
	         "          y: 1\n          z: 1\n        anchor_seed:\n"
	         "          x: 0\n      regions:\n      - anchor:\n"
	         "          x: 1\n        nodes: n[0-7]\n  tree: {}\n",
	         24, 144},
	        {"- topology: r\n  ring:\n    rings:\n    - ring: r0\n"
	         "      nodes: n[0-7]\n",
	         8, 16},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_network *net =
		        import_text("topology-yaml", table[i].text);

		assert_string_equal(net->type->name, "torus");
		assert_int_equal(net->n_routers, table[i].routers);
		assert_int_equal(net->n_links, table[i].links);
		/* The first dimension is the fastest. */
		assert_int_equal(cpl_network_node(net, "n1"), 1);
		cpl_network_free(net);
	}
}

static void test_topology_conf_forms(void **state)
{
	static const char text[] =
	        "# top\n\n"
	        "SWITCHNAME = top  switches=\"mid[0-1]\"   # the core\n"
	        "  SwitchName=mid0 Switches=leaf[00-01] LinkSpeed=800\r\n"
	        "SwitchName=mid1 \\  \n  Switches=leaf02 \\\n\tNodes=io[1-2]\n"
	        "LinkSpeed=100 SwitchName=leaf00 Nodes=a[1-2],b\n"
	        "SwitchName=leaf01 Nodes=\"c[001-002,7]\"\n"
	        "SwitchName=leaf02 Nodes=d";
	struct cpl_network *net = import_text("topology-conf", text);

	assert_int_equal(net->n_routers, 6);
	assert_int_equal(net->n_node_routers, 4);
	assert_int_equal(net->n_links, 10);
	assert_int_equal(router_of(net, "a2"), router_of(net, "b"));
	assert_int_equal(router_of(net, "c002"), router_of(net, "c7"));
	assert_int_equal(router_of(net, "io1"), router_of(net, "io2"));
	assert_number(flow_routing(net, NULL)->hops(net, router_of(net, "io1"),
	                                            router_of(net, "d")),
	              1, 0);
	assert_number(flow_routing(net, NULL)->hops(net, router_of(net, "a1"),
	                                            router_of(net, "d")),
	              4, 0);
	flow_check(net, flow_routing(net, "shortest-path"), 1);
	cpl_network_free(net);
}

/* Names with spaces, several HCAs and ports of a host (rails), LMC, a half
 * speed, a link to an older switch, a gateway, an aggregation node, a port of
 * a host before its switch is known by others. */
static void test_ibnetdiscover_forms(void **state)
{
	static const char text[] =
	        "vendid=0x2c9\nswitchguid=0x1(1)\n"
	        "Switch\t41 \"S-0001\"\t\t# \"Leaf 1: MF0;rack 7 (top)\" "
	        "enhanced port 0 lid 4 lmc 2\n"
	        "[1]\t\"H-000a\"[1](a1) \t\t# \"cn01 mlx5_0\" lid 8 4xHDR\n"
	        "[2]\t\"H-000b\"[1](b1) \t\t# \"cn01 mlx5_1\" lid 12 4xHDR\n"
	        "[3]\t\"H-000c\"[1](c1) \t\t# \"cn02 mlx5_0\" lid 16 2xHDR\n"
	        "[4]\t\"R-0009\"[1](91) \t\t# \"router\" lid 3 4xQDR\n"
	        "[41]\t\"H-0041\"[1](41) \t\t# \"Mellanox Technologies "
	        "Aggregation Node\" lid 5 4xHDR\n"
	        "[20]\t\"S-0002\"[20]\t\t# \"Leaf 2\" lid 5 4xHDR\n"
	        "[21]\t\"S-0002\"[21]\t\t# \"Leaf 2\" lid 5 2xHDR\n"
	        "\nSwitch\t36 \"S-0002\"\t\t# \"Leaf 2\" base port 0 lid 5 "
	        "lmc 0\n"
	        "[20]\t\"S-0001\"[20]\t\t# \"Leaf 1: MF0;rack 7 (top)\" lid 4 "
	        "4xHDR\n"
	        "[21](21)\t\"S-0001\"[21](22)\t\t# \"Leaf 1\" lid 4 2xHDR\n"
	        "[1]\t\"H-000d\"[1](d1) \t\t# \"cn02 mlx5_1\" lid 20 4xHDR\n"
	        "[2]\t\"H-000e\"[1](e1) \t\t# \"cn03\" lid 24 4xHDR\n"
	        "[9]\t\"S-0002\"[10]\t\t# \"Leaf 2\" lid 5 4xHDR\n"
	        "[10]\t\"S-0002\"[9]\t\t# \"Leaf 2\" lid 5 4xHDR\n"
	        "\nRt\t1 \"R-0009\"\t\t# \"router\"\n"
	        "[1](91)\t\"S-0001\"[4]\t# lid 3 lmc 0 \"Leaf 1\" lid 4 4xQDR\n"
	        "\nCa\t2 \"H-000a\"\t\t# \"cn01 mlx5_0\"\n"
	        "[1](a1)\t\"S-0001\"[1]\t# lid 8 lmc 2 \"Leaf 1\" lid 4 "
	        "4xHDR\n";
	struct cpl_network *net = import_text("ibnetdiscover", text);

	assert_int_equal(net->n_routers, 2);
	assert_int_equal(router_of(net, "cn01"), 0);
	assert_int_equal(router_of(net, "cn02"), 0);
	assert_int_equal(router_of(net, "cn03"), 1);
	assert_int_equal(cpl_network_node(net, "Mellanox"), -1);
	assert_int_equal(cpl_network_node(net, "router"), -1);
	assert_int_equal(net->n_links, 4);
	assert_string_equal(net->link_class[0].name, "hdr-4x");
	assert_number(net->link_class[0].bandwidth, 25e9, 0);
	assert_string_equal(net->link_class[1].name, "hdr-2x");
	assert_number(net->link_class[1].bandwidth, 12.5e9, 0);
	flow_check(net, flow_routing(net, "shortest-path"), 1);
	cpl_network_free(net);
}

static void test_ibnetdiscover(void **state)
{
	struct cpl_network *net = import("ibnetdiscover", "ib.txt", NULL);

	assert_int_equal(net->n_routers, 4);
	assert_int_equal(net->n_node_routers, 2);
	assert_int_equal(net->n_nodes, 4);
	assert_int_equal(router_of(net, "node01"), 0);
	assert_int_equal(router_of(net, "node04"), 1);
	assert_string_equal(net->link_class[0].name, "qdr-4x");
	assert_int_equal(net->link_class[0].count, 6);
	assert_number(net->link_class[0].bandwidth, 4e9, 0);
	assert_string_equal(net->link_class[1].name, "fdr-4x");
	assert_int_equal(net->link_class[1].count, 4);
	assert_number(net->link_class[1].bandwidth, 6.818e9, 1);
	flow_check(net, flow_routing(net, "shortest-path"), 1);
	cpl_network_free(net);
}

/* Leaf 0 sends over port 20, the second cable to spine 2; one pair of hosts in
 * four over spine 3. Back all go over spine 3. */
static void test_ibtracert(void **state)
{
	static const int ends[][2] = {{0, 2}, {2, 1}, {0, 3}, {3, 1}};
	static const double want[] = {6, 6, 2, 2};
	struct cpl_network *net =
	        import("ibnetdiscover", "ib.txt", "ib.traces");
	const struct cpl_routing *routing = flow_routing(net, "table");
	double load[10] = {0};
	int first = -1, second = -1;

	flow_check(net, routing, 1);
	routing->add(net, 0, 1, 8, load);
	for (int i = 0; i < 10; i++) {
		double right = 0;

		if (net->link_from[i] == 0 && net->link_to[i] == 2) {
			*(first < 0 ? &first : &second) = i;
			continue;
		}
		for (int e = 1; e < 4; e++)
			if (net->link_from[i] == ends[e][0] &&
			    net->link_to[i] == ends[e][1])
				right = want[e];
		assert_number(load[i], right, 0);
	}
	assert_number(load[first], 0, 0);
	assert_number(load[second], want[0], 0);
	cpl_network_free(net);
}

/* The description that an Aries list makes, and why it is a graph. */
static json_t *aries(const char *list, struct cpl_error *why)
{
	struct cpl_error err = {""};
	struct cpl_network_import in = {.format = "aries",
	                                .name = "net",
	                                .source = "in",
	                                .text = list,
	                                .length = strlen(list),
	                                .nodes_per_router = 1,
	                                .why = why};
	char *table;
	json_t *root = cpl_network_import(&in, &table, &err);

	if (!root)
		fail_msg("%s: %s", list, err.text);
	assert_null(table);
	return root;
}

static void test_aries(void **state)
{
	struct cpl_network *net = import("aries", "aries.txt", NULL);
	static const struct {
		const char *name;
		int count, cables;
		double bandwidth;
	} want[] = {{"row", 8, 1, 5.25e9},
	            {"column", 8, 3, 15.75e9},
	            {"global", 4, 1, 4.7e9}};
	static const int gateway[] = {0, 1, 4, 5};

	assert_string_equal(cpl_network_type_name(net->type), "dragonfly");
	assert_int_equal(net->n_routers, 8);
	assert_int_equal(net->n_nodes, 32);
	for (int c = 0; c < 3; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		assert_string_equal(class->name, want[c].name);
		assert_int_equal(class->count, want[c].count);
		assert_int_equal(class->cables, want[c].cables);
		assert_number(class->bandwidth, want[c].bandwidth, 0);
	}
	assert_int_equal(cpl_dragonfly_of(net)->wires.wiring, CPL_WIRING_LIST);
	for (int i = 0; i < 4; i++)
		assert_int_equal(cpl_dragonfly_of(net)->gateway[i], gateway[i]);
	assert_int_equal(router_of(net, "nid00031"), 7);
	flow_check(net, flow_routing(net, NULL), 1);
	cpl_network_free(net);
}

#define BOTH(a, b) a " blue -> " b "\n" b " blue -> " a "\n"
#define IN(a, b) a " green -> " b "\n" b " green -> " a "\n"
#define CELL(g) IN("a(" g ":2:3)", "b(" g ":2:7)")
#define PAIR(g, h)                                                             \
	BOTH("a(" g ":2:3)", "a(" h ":2:7)")                                   \
	BOTH("a(" g ":2:7)", "a(" h ":2:3)")

/* Numbers of groups, rows and columns have gaps; the order is theirs. */
static void test_aries_gaps(void **state)
{
	static const int want[][4] = {{0, 0, 1, 1}, {0, 0, 2, 1}, {0, 1, 1, 0},
	                              {0, 1, 2, 0}, {1, 0, 2, 1}, {1, 1, 2, 0}};
	struct cpl_error why;
	json_t *root = aries(CELL("9") PAIR("4", "9") PAIR("4", "12") CELL("12")
	                             CELL("4") PAIR("9", "12"),
	                     &why);
	const json_t *links = json_object_get(root, "global_links");

	assert_string_equal(why.text, "");
	assert_int_equal(json_integer_value(json_object_get(root, "groups")),
	                 3);
	assert_int_equal(json_integer_value(json_object_get(root, "rows")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "columns")),
	                 2);
	assert_int_equal(json_integer_value(json_object_get(
	                         root, "global_links_per_group_pair")),
	                 2);
	assert_int_equal(json_array_size(links), 6);
	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < 4; j++)
			assert_int_equal(json_integer_value(json_array_get(
			                         json_array_get(links, i), j)),
			                 want[i][j]);
	json_decref(root);
}

/* What is not regular is a graph with the links as they stand. */
static void test_aries_graph(void **state)
{
	static const struct {
		const char *list, *why;
		int links;
	} table[] = {
	        {IN("a(0:0:0)", "a(0:0:1)") IN("a(0:0:1)", "a(0:0:2)"),
	         "not each two routers of a row are joined", 4},
	        {IN("a(0:0:0)", "a(0:0:1)") IN("a(0:0:1)", "a(0:0:2)")
	                 IN("a(0:0:1)", "a(0:0:2)"),
	         "0:0:1 to 0:0:2 has 2 links", 6},
	        {IN("a(0:0:0)", "a(0:1:0)") IN(
	                 "a(0:0:0)", "a(0:1:0)") "a(0:0:0) black -> b(0:1:0)\n",
	         "0:0:0 to 0:1:0 has 3 links", 5},
	        {IN("a(0:0:0)", "a(0:1:1)"), "is where the first group", 2},
	        {CELL("0") CELL("1") IN("a(0:2:7)", "a(0:3:3)") PAIR("0", "1"),
	         "router 1:2:3 is where", 10},
	        {CELL("0") PAIR("0", "1") CELL("1") "a(0:2:3) blue -> "
	                                            "a(1:2:3)\n"
	                                            "a(1:2:7) blue -> "
	                                            "a(0:2:7)\n",
	         "goes one way only", 10},
	        {CELL("0") CELL("1") CELL("5") BOTH("a(0:2:3)", "a(1:2:3)")
	                 BOTH("a(0:2:3)", "a(5:2:3)"),
	         "not each two groups", 10},
	        {CELL("0") PAIR("0", "1") CELL("1") CELL("5") BOTH(
	                 "a(0:2:3)", "a(5:2:3)") BOTH("a(1:2:3)", "a(5:2:3)"),
	         "groups 0 and 1 are joined by 2 links", 14},
	        {CELL("0") BOTH("a(0:2:3)", "a(1:2:3)"),
	         "group 1 has fewer routers than 0", 4},
	        {IN("a(0:0:0)", "a(0:0:1)") IN("a(0:1:0)", "a(0:1:1)")
	                 IN("a(0:0:0)", "a(0:1:1)"),
	         "joins neither a row nor a column", 6},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error why;
		json_t *root = aries(table[i].list, &why);

		assert_string_equal(
		        json_string_value(json_object_get(root, "type")),
		        "graph");
		assert_int_equal(
		        json_array_size(json_object_get(root, "links")),
		        table[i].links);
		if (!strstr(why.text, table[i].why))
			fail_msg("%zu: '%s' is not in '%s'", i, table[i].why,
			         why.text);
		json_decref(root);
	}
}

#define SWITCH(name) "Switch\t36 \"S-" name "\"\t# \"x\" lid 1\n"
#define HOST(port, name) "[" port "] \"H-1\"[1](2) # \"" name " HCA-1\" 4xQDR\n"

static void test_refused(void **state)
{
	static const struct {
		const char *format, *text, *want;
	} table[] = {
	        {"myrinet", "",
	         "unknown format 'myrinet'; it must be one of topology-conf"},
	        {"aries", "\x1f\x8b\x08", "in: is compressed"},
	        {"topology-conf", "SwitchName=a BlockName=b Nodes=n\n",
	         "in:1: SwitchName is together with BlockName"},
	        {"topology-conf", "BlockName=b\n",
	         "in:1: block b has neither Nodes nor Switches"},
	        {"node-list", "host,switch\n", "in: names no host"},
	        {"node-list", "n[0-\n", "in:1: "},
	        {"node-list", "n,a,a\n", "in:1: switch a is above itself"},
	        {"node-list", "n1,c,d\nn2,a,b\nn3,b,c\nn4,d,a\nn5,e,a\n",
	         "in:4: switch d is above itself"},
	        {"node-list", "n0,x,a\nn1,a,b,c,a\n",
	         "in:2: switch c is above itself"},
	        {"topology-yaml", "", "in: names no host"},
	        {"topology-yaml", "- switch: a\n- switch: b\n",
	         "in:2: before this line a has neither nodes nor children"},
	        {"topology-yaml", "nodes: n\n",
	         "in:1: this is of no switch or block"},
	        {"topology-yaml", "- switch: a\n  nodes: n\n  nodes: m\n",
	         "in:3: this is given twice"},
	        {"topology-yaml", "- switch: a\n  nodez: n\n",
	         "in:2: 'nodez: n' is not a key of a topology"},
	        {"topology-yaml", "- switch: {a}\n",
	         "in:1: '{' begins a form of YAML"},
	        {"topology-yaml", "- switch: \"a\n",
	         "in:1: a closing quote is missing"},
	        {"topology-yaml", "- switch: \"a\" b\n",
	         "in:1: there is more behind the value"},
	        {"topology-yaml", "- topology: a\n- topology: b\n",
	         "in: has 2 topologies, none of which is the cluster's default"},
	        {"topology-yaml", "- topology: f\n  flat: true\n",
	         "in: the topology has no switch, block, ring or torus"},
	        {"topology-yaml", "- ring: a\n  nodes: n\n- ring: b\n  nodes: m\n",
	         "in:4: how b is joined with others is not told"},
	        {"topology-yaml", "- name: a\n  nodes: n\n",
	         "in:2: torus a has no dims"},
	        {"topology-yaml", "- name: a\n  dims: { x: 1, t: 2 }\n",
	         "in:2: dims are x, y and z with a number each"},
	        {"topology-yaml", "- name: a\n  dims: { x: 1 ] \n",
	         "in:2: there is more behind the value"},
	        {"topology-yaml", "- switch: a\n  children: b\n",
	         "in:2: switch b is described nowhere"},
	        {"topology-conf", "", "in: names no host"},
	        {"topology-conf", "SwitchName=a Nodes=n\nSwitch=b\n",
	         "in:2: 'Switch=b' is not a key"},
	        {"topology-conf", "Nodes=n\n", "in:1: SwitchName is missing"},
	        {"topology-conf", "SwitchName=a\n",
	         "in:1: switch a has neither"},
	        {"topology-conf", "SwitchName= Nodes=n\n",
	         "in:1: switch Nodes=n has neither"},
	        {"topology-conf", "SwitchName=\n",
	         "in:1: SwitchName has no value"},
	        {"topology-conf", "SwitchName=a Nodes=\"n",
	         "in:1: Nodes has no closing quote"},
	        {"topology-conf", "SwitchName a Nodes=n",
	         "in:1: 'SwitchName a Nodes=n' is not a key"},
	        {"topology-conf", "Include /etc/slurm/more.conf",
	         "in:1: Include is not followed"},
	        {"topology-conf", "SwitchName=a SwitchName=b\n",
	         "in:1: SwitchName is given twice"},
	        {"topology-conf", "SwitchName=a Nodes=n[1-\n", "in:1: Nodes: "},
	        {"topology-conf", "SwitchName=a Nodes=n[1-99999999]\n",
	         "in:1: Nodes: "},
	        {"topology-conf", "SwitchName=a Nodes=n,n\n",
	         "in:1: node n is on two"},
	        {"topology-conf", "SwitchName=a Nodes=n\nSwitchName=a Nodes=m",
	         "in:2: switch a is already in line 1"},
	        {"topology-conf", "SwitchName=a[0-1] Nodes=n\n",
	         "in:1: SwitchName: 'a[0-1]' is not one"},
	        {"topology-conf", "SwitchName=a Switches=a\n",
	         "in:1: switch a is its own child"},
	        {"topology-conf", "SwitchName=a Switches=b\n",
	         "in:1: switch b is described nowhere"},
	        {"topology-conf", "SwitchName=a \\ Nodes=n\n",
	         "in:1: a \"\\\" is inside"},
	        {"topology-conf", "SwitchName=a Nodes=n\nSwitchName=b Nodes=m",
	         "no path from router 1 to router 0"},
	        {"ibnetdiscover", "", "in: names no host"},
	        {"ibnetdiscover", "Switch 36 \"H-1\"\n", "in:1: Switch PORTS"},
	        {"ibnetdiscover", SWITCH("1") "[1] S-2[1]\n",
	         "in:2: [port] \"peer\"[port]"},
	        {"ibnetdiscover", SWITCH("1") "[99999999999] \"S-2\"[1]\n",
	         "in:2: [port] \"peer\"[port]"},
	        {"ibnetdiscover", SWITCH("1") SWITCH("1"),
	         "in:2: switch S-1 is already in line 1"},
	        {"ibnetdiscover", SWITCH("1") "[1] \"H-1\"[1](2) # lid 1\n",
	         "in:2: the channel adapter has no name"},
	        {"ibnetdiscover", SWITCH("1") HOST("1", "a,b"),
	         "in:2: 'a,b' is not a host name"},
	        {"ibnetdiscover", SWITCH("1") "[1] \"S-2\"[1] # 4xQDR\n",
	         "in:2: port 1 of S-2 does not lead back"},
	        {"ibnetdiscover",
	         SWITCH("1") "[1] \"S-2\"[1]\n[1] \"S-2\"[2]\n" SWITCH(
	                 "2") "[1] \"S-1\"[1]\n[2] \"S-1\"[1]\n",
	         "port 1 of S-1 is also in line"},
	        {"aries", "", "in: holds no link"},
	        {"aries", "a(0:0:0) green -> a(0:0:1)\nb\n",
	         "in:2: 'b' is not a tile"},
	        {"aries", "a(0:0) green -> b(0:0:1)\n",
	         "in:1: 'a(0:0) green -> b(0:0:1)' is not a tile"},
	        {"aries", "a(0:-1:0) green -> b(0:0:1)\n", "is not a tile"},
	        {"aries", "a(0:0:0)\n", "in:1: the colour is missing"},
	        {"aries", "a(0:0:0) green\n", "in:1: \"->\" is missing"},
	        {"aries", "a(0:0:0) green =>  b(0:0:1)\n", "'=>' is where"},
	        {"aries", "a(0:0:0) green ->\n", "in:1: the other end is miss"},
	        {"aries", "a(0:0:0) green -> a(0:0:0)\n",
	         "in:1: joins a router with itself"},
	        {"aries", "a(0:0:0) green -> b(0:0:1) x\n",
	         "in:1: continues after"},
	        {"aries", "a(0:0:0) GREEN -> b(0:0:1)\n",
	         "\"GREEN\" is not a class name"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};
		struct cpl_network_import in = {.format = table[i].format,
		                                .name = "net",
		                                .source = "in",
		                                .text = table[i].text,
		                                .length =
		                                        strlen(table[i].text)};
		char *routes;

		assert_null(cpl_network_import(&in, &routes, &err));
		assert_null(routes);
		if (!strstr(err.text, table[i].want))
			fail_msg("%zu: '%s' is not in '%s'", i, table[i].want,
			         err.text);
	}
}

static void test_refused_traces(void **state)
{
	static const char from[] = "From ca {0x1} portnum 1\n";
	static const struct {
		const char *text, *want;
	} table[] = {
	        {"To ca {0x1}\n", "t:1: there is no \"From\" before \"To\""},
	        {"[1] -> switch port {0x1}[1]\n", "t:1: there is no \"From\""},
	        {"-> switch port {0x1}[1]\n", "t:1: [port] -> switch port"},
	        {"F[1] -> router port {0x1}[1]\n", "t:2: \"switch port\" or"},
	        {"F[1] -> switch port 0x1[1]\n", "t:2: {0xGUID} is needed"},
	        {"F[1] -> switch port {0x99}[1]\n", "t:2: switch S-99 is not"},
	        {"FFrom ca {0x2}\n", "t:2: the route before has no \"To\""},
	        {"F[1] -> switch port {0x0002c90200400010}[1]\n"
	         "[21] -> switch port {0x0002c90200400030}[1]\n",
	         "t:3: port 21 of S-0002c90200400010 does not lead there"},
	        {"F", "t:1: ends in the middle of a route"},
	        {"", "t: has no route from router 0 to router 1"},
	};
	size_t length;
	char *dump = sample("ib.txt", &length);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};
		bool open = table[i].text[0] == 'F';
		char text[512], *routes;
		struct cpl_network_import in = {.format = "ibnetdiscover",
		                                .name = "net",
		                                .source = "in",
		                                .text = dump,
		                                .length = length,
		                                .routes_source = "t",
		                                .routes = text,
		                                .routing_table = "table"};

		snprintf(text, sizeof(text), "%s%s", open ? from : "",
		         table[i].text + open);
		in.routes_length = strlen(text);
		assert_null(cpl_network_import(&in, &routes, &err));
		if (!strstr(err.text, table[i].want))
			fail_msg("%zu: '%s' is not in '%s'", i, table[i].want,
			         err.text);
	}
	free(dump);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_topology_conf),
	        cmocka_unit_test(test_topology_torus),
	        cmocka_unit_test(test_topology_conf_forms),
	        cmocka_unit_test(test_topology_others),
	        cmocka_unit_test(test_ibnetdiscover),
	        cmocka_unit_test(test_ibnetdiscover_forms),
	        cmocka_unit_test(test_ibtracert),
	        cmocka_unit_test(test_aries),
	        cmocka_unit_test(test_aries_gaps),
	        cmocka_unit_test(test_aries_graph),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_refused_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
