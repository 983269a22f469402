/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <unistd.h>

#include "flow.h"
#include "network/type.h"
#include "number.h"

#define GRAPH                                                                  \
	"{\"format\": \"commplace-network\", \"version\": 1, "                 \
	"\"type\": \"graph\", "
/* Leaves 0 and 1 under switches 2 and 3, two cables to the latter. */
#define LEAVES                                                                 \
	GRAPH "\"routers\": 4, \"node_routers\": 2, \"nodes_per_router\": 2, " \
	      "\"nodes\": \"n[0-3]\", "                                        \
	      "\"links\": [[0, 2], [0, 3, 5], [0, 3, 5], [2, 1], "             \
	      "[3, 1, \"fast\"]], \"bandwidth\": {\"fast\": 7}"

static void test_classes(void **state)
{
	static const struct {
		const char *name;
		double bandwidth;
		int count;
	} want[] = {{"link", 1, 4}, {"link0", 5, 4}, {"fast", 7, 2}};
	static const int ends[][2] = {{0, 2}, {2, 0}, {2, 1}, {1, 2}, {0, 3},
	                              {3, 0}, {0, 3}, {3, 0}, {3, 1}, {1, 3}};
	struct cpl_network *net = parse_network(LEAVES "}");

	assert_int_equal(net->n_classes, 3);
	assert_int_equal(net->n_nodes, 4);
	for (int c = 0; c < 3; c++) {
		assert_string_equal(net->link_class[c].name, want[c].name);
		assert_number(net->link_class[c].bandwidth, want[c].bandwidth,
		              0);
		assert_int_equal(net->link_class[c].count, want[c].count);
	}
	for (int i = 0; i < 10; i++) {
		assert_int_equal(net->link_from[i], ends[i][0]);
		assert_int_equal(net->link_to[i], ends[i][1]);
	}
	/* Both ways are 2 links long: over the lower router. */
	assert_int_equal(cpl_network_next_link(net, 0, 1), 0);
	assert_int_equal(cpl_network_next_link(net, 1, 0), 3);
	flow_check(net, flow_routing(net, NULL), 1);
	cpl_network_free(net);
}

/* Of two ways the lower router's, over all three links, whatever their class.
 */
static void test_parallel_links(void **state)
{
	struct cpl_network *net = parse_network(
	        GRAPH "\"routers\": 4, \"node_routers\": 2, \"directed\": "
	              "true, \"nodes\": \"a,b\", \"links\": [[0, 3, 2], "
	              "[0, 2], [0, 2, 9], [2, 1], [3, 1], [0, 2], [1, 0]]}");
	static const double want[] = {0, 4, 12, 0, 4, 0, 4};
	double load[7] = {0};

	flow_routing(net, NULL)->add(net, 0, 1, 12, load);
	/* link0 is first, then link, then link1. */
	assert_string_equal(net->link_class[2].name, "link1");
	for (int i = 0; i < 7; i++)
		assert_number(load[i], want[i], 0);
	flow_check(net, flow_routing(net, NULL), 1);
	cpl_network_free(net);
}

/* A hub of so many others as the table has numbers for, and one more. */
static void test_many_neighbours(void **state)
{
	for (int more = 0; more < 2; more++) {
		int spokes = 65536 + more;
		struct cpl_error err = {""};
		struct cpl_network *net;
		size_t length;
		char *text;
		FILE *out = open_memstream(&text, &length);

		assert_non_null(out);
		fprintf(out,
		        GRAPH "\"routers\": %d, \"node_routers\": 2, "
		              "\"nodes\": \"a,b\", \"links\": [",
		        spokes + 1);
		for (int i = 1; i <= spokes; i++)
			fprintf(out, "%s[0, %d]", i > 1 ? ", " : "", i);
		fprintf(out, "]}");
		fclose(out);
		net = cpl_network_parse(text, length, "net", &err);
		assert_int_equal(!net, more);
		if (more)
			assert_string_equal(err.text,
			                    "net: router 0 has links to more "
			                    "than 65536 others");
		else
			assert_int_equal(net->link_to[cpl_network_next_link(
			                         net, 65536, 1)],
			                 0);
		cpl_network_free(net);
		free(text);
	}
}

/* Distances against Floyd and Warshall's, on random directed graphs. */
static void test_distances(void **state)
{
	for (int seed = 0; seed < 20; seed++) {
		enum { N = 12 };
		int hops[N][N], n = 0;
		char text[4096] = "";
		struct cpl_network *net;
		const struct cpl_routing *routing;

		srand((unsigned)seed);
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				hops[i][j] = i == j ? 0 : 99;
		n += snprintf(text, sizeof(text),
		              GRAPH "\"routers\": %d, \"nodes\": \"n[1-%d]\", "
		                    "\"directed\": true, \"links\": [",
		              N, N);
		for (int i = 0; i < N; i++) {
			int far = (i + 1 + rand() % (N - 1)) % N;

			hops[i][(i + 1) % N] = hops[i][far] = 1;
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			              "%s[%d, %d], [%d, %d, 2]", i ? ", " : "",
			              i, (i + 1) % N, i, far);
		}
		snprintf(text + n, sizeof(text) - (size_t)n, "]}");
		for (int k = 0; k < N; k++)
			for (int i = 0; i < N; i++)
				for (int j = 0; j < N; j++)
					if (hops[i][k] + hops[k][j] <
					    hops[i][j])
						hops[i][j] =
						        hops[i][k] + hops[k][j];
		net = parse_network(text);
		routing = flow_routing(net, "SP");
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				assert_number(routing->hops(net, i, j),
				              hops[i][j], 0);
		flow_check(net, routing, 1);
		cpl_network_free(net);
	}
}

static void test_table(void **state)
{
	static const char routes[] = "# two ways from 0 to 1\n"
	                             "0 1 3:1 1\r\n"
	                             "0 1 2 1   # and\n\n"
	                             "1 0 3 0:0";
	struct cpl_network *net = parse_network(LEAVES "}");
	const struct cpl_routing *routing;
	struct cpl_error err = {""};
	double load[10] = {0};

	assert_null(cpl_routing_find(net, "table", &err));
	assert_non_null(strstr(err.text, "needs \"routing_table\""));
	assert_int_equal(cpl_network_parse_routes(net, routes, strlen(routes),
	                                          "r", &err),
	                 0);
	routing = flow_routing(net, "table");
	flow_check(net, routing, 1);
	routing->add(net, 0, 1, 8, load);
	assert_number(load[6], 4, 0);
	assert_number(load[8], 4, 0);
	assert_number(load[0], 4, 0);
	assert_number(load[2], 4, 0);
	assert_number(load[4], 0, 0);
	cpl_network_free(net);
}

static void test_bad_tables(void **state)
{
	static const struct {
		const char *text, *want;
	} table[] = {
	        {"", "r: has no route from router 0 to router 1"},
	        {"0 1 2 1\n", "r: has no route from router 1 to router 0"},
	        {"0\n", "r:1: is too short"},
	        {"\n0 1\n", "r:2: the route ends at router 0"},
	        {"0 2 2\n", "r:1: destination: 2 is not a router with nodes"},
	        {"0 0\n", "r:1: router 0 needs no route to itself"},
	        {"0 1 1\n", "r:1: router 0 has no link 0 to router 1"},
	        {"0 1 2:1 1\n", "r:1: router 0 has no link 1 to router 2"},
	        {"0 1 3:99999999999999999999 1\n",
	         "r:1: hop: '3:99999999999999999999' is not a router"},
	        {"0 1 3:999999999 1\n",
	         "router 0 has no link 999999999 to router 3"},
	        {"1234567890 1 3\n", "source: '1234567890' is not a router"},
	        {"0 1 9 1\n",
	         "r:1: hop: 9 is not a router; it must lie in 0 to 3"},
	        {"0 1 x 1\n", "r:1: hop: 'x' is not a router"},
	        {"0 1 3: 1\n", "r:1: hop: '3:' is not a router"},
	        {"-1 1 3\n", "r:1: source: '-1' is not a router"},
	        {"0 1 2 0 2 0 2 1\n", "r:1: goes in circles"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_network *net = parse_network(LEAVES "}");
		struct cpl_error err = {""};

		assert_int_equal(cpl_network_parse_routes(net, table[i].text,
		                                          strlen(table[i].text),
		                                          "r", &err),
		                 -1);
		if (!strstr(err.text, table[i].want))
			fail_msg("'%s' is not in '%s'", table[i].want,
			         err.text);
		cpl_network_free(net);
	}
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* The table is looked for beside the network; with one, it is the default. */
static void test_table_beside_the_network(void **state)
{
	char folder[] = "/tmp/commplace-graph-XXXXXX", path[64], routes[64];
	struct cpl_error err = {""};
	struct cpl_network *net;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/net.json", folder);
	snprintf(routes, sizeof(routes), "%s/routes", folder);
	write_file(path, LEAVES ", \"routing_table\": \"routes\"}");
	write_file(routes, "0 1 3 1\n1 0 3 0\n");
	net = cpl_network_load(path, &err);
	if (!net)
		fail_msg("%s", err.text);
	assert_string_equal(flow_routing(net, NULL)->name, "table");
	assert_string_equal(flow_routing(net, "SP")->name, "shortest-path");
	cpl_network_free(net);
	unlink(routes);
	assert_null(cpl_network_load(path, &err));
	assert_non_null(strstr(err.text, "routes: No such file"));
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_classes),
	        cmocka_unit_test(test_parallel_links),
	        cmocka_unit_test(test_many_neighbours),
	        cmocka_unit_test(test_distances),
	        cmocka_unit_test(test_table),
	        cmocka_unit_test(test_bad_tables),
	        cmocka_unit_test(test_table_beside_the_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
