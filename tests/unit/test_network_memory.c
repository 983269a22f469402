/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of a load and an evaluation fails once.
 * failing_alloc.h has the allocators.
 */
#include "unit.h"

#include "base/hostlist.h"
#include "network/network.h"
#include "network/type.h"
#include "network/reader/reader.h"
#include "traffic/workload.h"
#include "failing_alloc.h"

static const char dragonfly[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 2, \"columns\": 2, "
        "\"routing\": \"SD\", \"nodes\": \"n[0-3],a[4-7]\"}";
static const char kinds[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"dragonfly\", \"rows\": 1, \"columns\": 2, "
        "\"kinds\": [{\"groups\": 1}, {\"groups\": 1, \"bandwidth\": "
        "{\"injection\": 2}}], \"nodes\": \"n[0-3]\"}";
static const char torus[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"torus\", \"dims\": [2, 2], "
        "\"nodes\": {\"0\": \"a\", \"3\": \"b\"}}";

static const char fattree[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"fattree\", \"levels\": [{\"down\": 2, \"up\": 2}], "
        "\"router_names\": [\"a\", \"b\", \"c\", \"d\"], "
        "\"nodes\": \"n[0-1]\"}";
static const char graph[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"graph\", \"routers\": 3, \"node_routers\": 2, "
        "\"links\": [[0, 2], [1, 2]], \"nodes\": \"n[0-1]\"}";
static const char haec[] =
        "{\"format\": \"commplace-network\", \"version\": 1, "
        "\"type\": \"haec\", \"dims\": [2, 1, 2], "
        "\"nodes\": \"n[0-3]\"}";

/* 0, or -1 with err: a network, a load and its numbers. */
static int work(const char *text, struct cpl_error *err)
{
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", err);
	int64_t row[3] = {0, 0, 0};
	struct cpl_comm comm = {.ranks = 2, .row = row};
	int node[2] = {0, 1};
	struct cpl_job job = {.comm = &comm, .node = node};
	struct cpl_workload *w = NULL;
	struct cpl_class_stats stats;
	int rc = -1;

	if (!net)
		return -1;
	job.routing = cpl_routing_minimal(net);
	w = cpl_workload_new(net, 1, err);
	if (w && !cpl_workload_add(w, &job, err) &&
	    !cpl_class_stats(cpl_workload_load(w)->link, net->n_links, &stats,
	                     err))
		rc = 0;
	cpl_workload_free(w);
	cpl_network_free(net);
	return rc;
}

static void check(const char *text, int at_least)
{
	int n = 0;

	for (;; n++) {
		struct cpl_error err = {""};
		int rc;

		left = n;
		rc = work(text, &err);
		if (left >= 0) {
			assert_int_equal(rc, 0);
			break;
		}
		/* Room given back without memory for it: nothing is lost. */
		if (rc)
			assert_non_null(strstr(err.text, "out of memory"));
	}
	left = -1;
	/* The allocators were really in the way. */
	assert_true(n >= at_least);
}

static void test_every_allocation_may_fail(void **state)
{
	check(dragonfly, 20);
	check(kinds, 25);
	check(torus, 20);
	check(fattree, 20);
	check(graph, 25);
	check(haec, 20);
}

static void test_routes_without_memory(void **state)
{
	static const char text[] = "0 1 2 1\n1 0 2 0\n";
	struct cpl_error err = {""};
	int n = 0;

	for (;; n++) {
		struct cpl_network *net =
		        cpl_network_parse(graph, strlen(graph), "net", &err);
		int rc;

		assert_non_null(net);
		left = n;
		rc = cpl_network_parse_routes(net, text, strlen(text), "r",
		                              &err);
		left = -1;
		cpl_network_free(net);
		if (rc == 0)
			break;
		assert_non_null(strstr(err.text, "out of memory"));
	}
	assert_true(n >= 8);
}

static void test_folding_without_memory(void **state)
{
	struct cpl_hostlist list = {0};
	struct cpl_error err = {""};

	assert_int_equal(cpl_hostlist_parse(&list, "n[0-3]", &err), 0);
	left = 0;
	assert_null(cpl_hostlist_format(list.name, list.count));
	left = -1;
	cpl_hostlist_free(&list);
}

#define IB_SWITCH(id) "Switch\t36 \"S-" id "\"\t# \"x y\" lid 1\n"
#define IB_HOST(name) "[1] \"H-1\"[1](2) # \"" name " HCA-1\" 4xQDR\n"
#define TRACE(a, b)                                                            \
	"From ca {0x1} portnum 1\n[1] -> switch port {0x" a "}[1] x\n"         \
	"[2] -> switch port {0x" b "}[2] x\n[1] -> ca port {0x2}[1] x\n"       \
	"To ca {0x2} portnum 1\n"

/* Every allocation of an import fails once, jansson's too; only what is whole
 * comes out, with all links. */
static void test_imports_without_memory(void **state)
{
	static const struct {
		const char *format, *text, *routes, *type, *links;
		int n_links, at_least;
	} table[] = {
	        {"aries",
	         "a(0:0:0) green -> b(0:0:1)\nb(0:0:1) green -> a(0:0:0)\n"
	         "c(1:0:0) green -> d(1:0:1)\nd(1:0:1) green -> c(1:0:0)\n"
	         "a(0:0:0) blue -> c(1:0:0)\nc(1:0:0) blue -> a(0:0:0)\n",
	         NULL, "dragonfly", "global_links", 1, 100},
	        {"aries",
	         "a(0:0:0) green -> b(0:0:1)\nb(0:0:1) green -> a(0:0:0)\n"
	         "a(0:0:0) green -> b(0:0:2)\nb(0:0:2) green -> a(0:0:0)\n",
	         NULL, "graph", "links", 4, 100},
	        {"topology-conf",
	         "SwitchName=a Nodes=n[0-2]\nSwitchName=b Nodes=m\n"
	         "SwitchName=c Switches=a,b\n",
	         NULL, "graph", "links", 2, 100},
	        {"ibnetdiscover",
	         IB_SWITCH("1")
	                 IB_HOST("a") "[2] \"S-2\"[2] # 4xQDR\n" IB_SWITCH("2")
	                         IB_HOST("b") "[2] \"S-1\"[2] # 4xQDR\n",
	         TRACE("1", "2") TRACE("2", "1"), "graph", "links", 2, 100},
	};

	json_set_alloc_funcs(__wrap_malloc, free);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const char *routes = table[i].routes;
		struct cpl_network_import in = {
		        .format = table[i].format,
		        .name = "net",
		        .source = "in",
		        .text = table[i].text,
		        .length = strlen(table[i].text),
		        .routes_source = "t",
		        .routes = routes,
		        .routes_length = routes ? strlen(routes) : 0,
		        .routing_table = "r",
		        .nodes_per_router = 1};
		int n = 0;

		for (;; n++) {
			struct cpl_error err = {""};
			char *made;
			json_t *root;
			bool failed;

			left = n;
			root = cpl_network_import(&in, &made, &err);
			failed = left < 0;
			left = -1;
			if (!root) {
				assert_true(failed);
				assert_null(made);
				/* json_dumps loses pieces of text without
				 * memory: the check then says anything. */
				if (!err.text[0])
					fail_msg("%zu, %d: no reason", i, n);
				continue;
			}
			assert_string_equal(json_string_value(json_object_get(
			                            root, "type")),
			                    table[i].type);
			assert_int_equal(json_array_size(json_object_get(
			                         root, table[i].links)),
			                 table[i].n_links);
			assert_int_equal(made != NULL, routes != NULL);
			json_decref(root);
			free(made);
			if (!failed)
				break;
		}
		assert_true(n >= table[i].at_least);
	}
	json_set_alloc_funcs(__real_malloc, free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_allocation_may_fail),
	        cmocka_unit_test(test_routes_without_memory),
	        cmocka_unit_test(test_folding_without_memory),
	        cmocka_unit_test(test_imports_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
