/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "network_text.h"
#include "placement/wish.h"

#define MAX_NODES 512

static struct cpl_network *dragonfly(int groups, int rows, int columns,
                                     int per_router)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"name\":\"df\",\"type\":\"dragonfly\",\"groups\":%d,"
	         "\"rows\":%d,\"columns\":%d,\"nodes_per_router\":%d,"
	         "\"global_links_per_group_pair\":1,\"nodes\":\"n[0-%d]\"}",
	         groups, rows, columns, per_router,
	         groups * rows * columns * per_router - 1);
	return parse_network(text);
}

static struct cpl_network *torus(int x, int y, int z, bool wrap, int per_router)
{
	const char *w = wrap ? "true" : "false";
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"name\":\"t\",\"type\":\"torus\",\"dims\":[%d,%d,%d],"
	         "\"wrap\":[%s,%s,true],\"nodes_per_router\":%d,"
	         "\"nodes\":\"n[0-%d]\"}",
	         x, y, z, w, w, per_router, x * y * z * per_router - 1);
	return parse_network(text);
}

struct exact {
	const char *policy;
	int taken[16]; /* ends with -1 */
	int required[4];
	int wanted;
	int expect[20];
};

static void check_exact(const struct cpl_network *net, const struct exact *c)
{
	struct cpl_error err = {""};
	unsigned char free_node[MAX_NODES];
	int out[MAX_NODES];
	struct cpl_placement_request req = {
	        .net = net,
	        .free = free_node,
	        .n_nodes_wanted = c->wanted,
	        .required = c->required,
	        .seed = 1,
	        .option = cpl_placement_option(c->policy),
	};
	const struct cpl_placement_policy *policy =
	        cpl_placement_find(net->type, c->policy, &err);

	assert_non_null(policy);
	memset(free_node, 1, sizeof(free_node));
	for (int i = 0; c->taken[i] >= 0; i++)
		free_node[c->taken[i]] = 0;
	while (c->required[req.n_required] >= 0)
		req.n_required++;
	assert_int_equal(policy->place(&req, out, &err), 0);
	for (int i = 0; i < c->wanted; i++)
		if (out[i] != c->expect[i])
			fail_msg("%s, %d nodes: position %d is %d, not %d",
			         c->policy, c->wanted, i, out[i], c->expect[i]);
}

/* Groups 0-3, 4-7, 8-11; routers of two nodes. */
static void test_exact_on_dragonfly(void **state)
{
	static const struct exact table[] = {
	        {"linear", {0, 5, -1}, {-1}, 4, {1, 2, 3, 4}},
	        {"linear", {0, 5, -1}, {11, -1}, 3, {1, 2, 11}},
	        {"RRN", {-1}, {-1}, 7, {0, 4, 8, 1, 5, 9, 2}},
	        {"RRN", {0, 5, -1}, {-1}, 10, {1, 4, 8, 2, 6, 9, 3, 7, 10, 11}},
	        {"RRN", {0, 5, -1}, {4, 11, -1}, 4, {1, 4, 8, 11}},
	        {"RRN", {0, 5, -1}, {11, 10, -1}, 4, {1, 4, 10, 11}},
	        {"RRN", {0, 5, -1}, {8, 10, -1}, 4, {1, 4, 8, 10}},
	        {"RRN", {0, 5, -1}, {2, 3, -1}, 2, {2, 3}},
	        {"RRR", {-1}, {-1}, 7, {0, 1, 4, 5, 8, 9, 2}},
	        {"RRR", {0, 5, -1}, {-1}, 10, {2, 3, 6, 7, 8, 9, 10, 11, 1, 4}},
	        /* Worked out apart, from the draws of base/random.h: the same
	         * on every machine and in every release. */
	        {"RDN", {0, 5, -1}, {-1}, 10, {9, 6, 7, 3, 10, 4, 8, 11, 2, 1}},
	        {"RDR", {0, 5, -1}, {-1}, 10, {2, 3, 8, 9, 6, 7, 10, 11, 1, 4}},
	        {"RDC", {0, 5, -1}, {-1}, 10, {8, 9, 10, 11, 4, 6, 7, 1, 2, 3}},
	        {"RDG", {0, 5, -1}, {3, -1}, 4, {8, 9, 10, 3}},
	};
	struct cpl_network *net = dragonfly(3, 1, 2, 2);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		check_exact(net, &table[i]);
	cpl_network_free(net);
}

static void test_exact_on_torus(void **state)
{
	static const struct exact table[] = {
	        {"linear", {0, -1}, {-1}, 3, {1, 2, 3}},
	        {"round-robin-nodes", {-1}, {-1}, 3, {0, 1, 2}},
	        {"blocked", {-1}, {-1}, 4, {0, 1, 4, 5}},
	        {"blocked", {-1}, {-1}, 3, {0, 1, 2}},
	        {"blocked", {-1}, {-1}, 5, {0, 1, 2, 4, 5}},
	        {"blocked", {-1}, {15, -1}, 4, {0, 1, 4, 15}},
	        /* Node 0 is taken: the next origin. */
	        {"blocked", {0, -1}, {-1}, 4, {1, 2, 5, 6}},
	        /* Only the four corners are free: one box round both
	         * borders. */
	        {"blocked",
	         {1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, -1},
	         {-1},
	         4,
	         {15, 12, 3, 0}},
	        /* No free box of four: rows 0 and 1 hold enough. */
	        {"blocked",
	         {1, 2, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15, -1},
	         {-1},
	         4,
	         {3, 0, 4, 5}},
	};
	static const struct exact mesh[] = {
	        {"blocked",
	         {1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, -1},
	         {-1},
	         4,
	         {0, 3, 12, 15}},
	};
	static const struct exact planes[] = {
	        {"RRN", {0, -1}, {-1}, 5, {1, 4, 8, 2, 5}},
	};
	struct cpl_network *net = torus(4, 4, 1, true, 1);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		check_exact(net, &table[i]);
	cpl_network_free(net);
	net = torus(4, 4, 1, false, 1);
	check_exact(net, &mesh[0]);
	cpl_network_free(net);
	net = torus(2, 2, 3, true, 1);
	check_exact(net, &planes[0]);
	cpl_network_free(net);
}

/* Groups of two chassis of two routers of two nodes. */
static void test_exact_classes(void **state)
{
	static const struct exact table[] = {
	        /* The smallest unit that holds the job, the fullest of these. */
	        {"compact", {0, 8, 9, 10, -1}, {-1}, 1, {1}},
	        {"compact", {0, 8, 9, 10, -1}, {-1}, 2, {2, 3}},
	        {"compact", {0, 8, 9, 10, -1}, {-1}, 3, {1, 2, 3}},
	        {"compact", {0, 8, 9, 10, -1}, {-1}, 5, {11, 12, 13, 14, 15}},
	        /* None holds it: the emptiest first, the rest in the fullest. */
	        {"compact", {0, 8, 9, 10, -1}, {-1}, 10,
	         {12, 13, 16, 17, 18, 19, 20, 21, 22, 23}},
	        {"compact", {-1}, {31, -1}, 2, {0, 31}},
	        {"spread", {-1}, {-1}, 8, {0, 4, 8, 12, 16, 20, 24, 28}},
	        {"spread", {-1}, {-1}, 6, {0, 4, 8, 16, 20, 24}},
	        {"spread", {-1}, {-1}, 2, {0, 16}},
	        {"spread", {0, 1, 2, 3, 4, 5, 6, -1}, {-1}, 9,
	         {7, 8, 10, 12, 16, 18, 20, 24, 28}},
	        {"spread", {0, -1}, {5, -1}, 2, {1, 5}},
	        {"whole:router", {0, 8, -1}, {-1}, 3, {4, 5, 6}},
	        {"whole:1", {0, 8, -1}, {-1}, 3, {4, 5, 6}},
	        {"whole:chassis", {0, 5, 8, -1}, {-1}, 4, {12, 13, 14, 15}},
	        {"whole:2", {0, 5, 8, -1}, {-1}, 5, {16, 17, 18, 19, 20}},
	        {"whole:group", {0, -1}, {-1}, 3, {8, 9, 10}},
	        {"Whole:3", {0, 9, -1}, {-1}, 10,
	         {16, 17, 18, 19, 20, 21, 22, 23, 24, 25}},
	        {"whole:group", {1, -1}, {0, -1}, 2, {8, 0}},
	        /* Whole ones, then broken ones near them, then one more. */
	        {"keep-whole:router", {0, 8, -1}, {-1}, 4, {2, 3, 4, 5}},
	        {"keep-whole:auto", {0, 8, -1}, {-1}, 4, {2, 3, 4, 5}},
	        {"keep-whole:router", {0, 8, -1}, {-1}, 1, {1}},
	        {"keep-whole:router", {0, 8, -1}, {-1}, 5, {1, 2, 3, 4, 5}},
	        {"keep-whole:router", {-1}, {-1}, 3, {0, 1, 2}},
	        {"keep-whole:chassis", {0, 9, -1}, {-1}, 5, {1, 4, 5, 6, 7}},
	        {"keep-whole:2", {0, 4, 9, -1}, {-1}, 3, {1, 2, 3}},
	        {"keep-whole:group", {0, -1}, {-1}, 8,
	         {8, 9, 10, 11, 12, 13, 14, 15}},
	        {"keep-whole:group", {0, 1, 2, 8, -1}, {-1}, 6,
	         {9, 10, 11, 12, 13, 14}},
	        {"keep-whole:group", {0, 1, 2, 8, -1}, {-1}, 12,
	         {9, 10, 11, 12, 16, 17, 18, 19, 20, 21, 22, 23}},
	        {"keep-whole:group", {0, -1}, {8, -1}, 2, {1, 8}},
	        {"per-router:1", {0, -1}, {-1}, 4, {1, 2, 4, 6}},
	        {"per-router:2", {0, -1}, {-1}, 4, {4, 5, 6, 7}},
	        {"per-router:2", {0, -1}, {-1}, 3, {4, 5, 6}},
	};
	static const struct exact boxes[] = {
	        {"compact", {-1}, {-1}, 8, {0, 1, 4, 5, 16, 17, 20, 21}},
	        {"spread", {-1}, {-1}, 4, {0, 16, 32, 48}},
	        {"whole:2x2x2", {0, -1}, {-1}, 8, {2, 3, 6, 7, 18, 19, 22, 23}},
	        {"whole:2x2x2", {0, -1}, {-1}, 3, {2, 3, 6}},
	        {"whole:2x2x2", {0, -1}, {-1}, 16,
	         {2, 3, 6, 7, 8, 9, 12, 13, 18, 19, 22, 23, 24, 25, 28, 29}},
	        {"whole:plane", {0, 47, -1}, {-1}, 2, {16, 17}},
	        {"keep-whole:plane", {0, 47, -1}, {-1}, 2, {1, 2}},
	        {"keep-whole:auto", {0, 47, -1}, {-1}, 2, {1, 2}},
	        {"whole:auto", {0, 47, -1}, {-1}, 2, {16, 17}},
	        {"keep-whole:2x2x2", {0, -1}, {-1}, 9,
	         {1, 2, 3, 6, 7, 18, 19, 22, 23}},
	        {"whole:router", {0, 2, -1}, {-1}, 3, {3, 4, 5}},
	        {"per-router:1", {0, -1}, {-1}, 2, {1, 2}},
	};
	static const char graph_text[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	        "\"g\", \"type\": \"graph\", \"routers\": 6, \"links\": [[0, "
	        "1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2], [3, 4], [4, 3], "
	        "[4, 5], [5, 4]], \"nodes\": {\"0\": \"a\", \"1\": \"b\", "
	        "\"2\": \"c\", \"3\": \"d\", \"4\": \"e\", \"5\": \"f\"}}";
	static const struct exact graph[] = {
	        {"compact", {2, -1}, {-1}, 2, {0, 1}},
	        {"compact", {1, -1}, {-1}, 3, {2, 3, 4}},
	        {"compact", {0, 2, 4, -1}, {-1}, 2, {1, 3}},
	        {"whole:router", {0, 2, -1}, {-1}, 3, {3, 4, 5}},
	        {"keep-whole:router", {0, 3, -1}, {-1}, 2, {1, 2}},
	        {"spread", {-1}, {-1}, 3, {0, 2, 4}},
	};
	/* Switches without nodes: what is counted is of leaves only. */
	static const char star_text[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	        "\"s\", \"type\": \"graph\", \"routers\": 40, "
	        "\"node_routers\": 3, \"links\": [[0, 39], [39, 38], [38, 1], "
	        "[1, 37], [37, 2]";
	static const struct exact star[] = {
	        {"compact", {-1}, {-1}, 2, {1, 2}},
	        {"compact", {1, -1}, {-1}, 2, {0, 2}},
	};
	char star_links[1024];
	size_t at = (size_t)snprintf(star_links, sizeof(star_links), "%s",
	                             star_text);
	static const char tree_text[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	        "\"f\", \"type\": \"fattree\", \"leaves\": 8, "
	        "\"nodes_per_router\": 2, \"levels\": [{\"down\": 4, \"up\": "
	        "2}, {\"down\": 2, \"up\": 2}], \"nodes\": \"n[0-15]\"}";
	static const struct exact tree[] = {
	        {"compact", {0, -1}, {-1}, 3, {1, 2, 3}},
	        {"whole:2", {0, -1}, {-1}, 4, {8, 9, 10, 11}},
	        {"keep-whole:2", {0, -1}, {-1}, 4, {1, 2, 3, 4}},
	        {"keep-whole:2", {0, -1}, {-1}, 10,
	         {1, 2, 8, 9, 10, 11, 12, 13, 14, 15}},
	        {"spread", {-1}, {-1}, 4, {0, 4, 8, 12}},
	        {"per-router:1", {-1}, {-1}, 3, {0, 2, 4}},
	};
	struct cpl_network *net = dragonfly(4, 2, 2, 2);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		check_exact(net, &table[i]);
	cpl_network_free(net);
	net = torus(4, 4, 4, true, 1);
	for (size_t i = 0; i < sizeof(boxes) / sizeof(*boxes); i++)
		check_exact(net, &boxes[i]);
	cpl_network_free(net);
	net = parse_network(graph_text);
	for (size_t i = 0; i < sizeof(graph) / sizeof(*graph); i++)
		check_exact(net, &graph[i]);
	cpl_network_free(net);
	for (int r = 3; r < 37; r++)
		at += (size_t)snprintf(star_links + at, sizeof(star_links) - at,
		                       ", [39, %d]", r);
	snprintf(star_links + at, sizeof(star_links) - at,
	         "], \"nodes\": \"n[0-2]\"}");
	net = parse_network(star_links);
	for (size_t i = 0; i < sizeof(star) / sizeof(*star); i++)
		check_exact(net, &star[i]);
	cpl_network_free(net);
	net = parse_network(tree_text);
	for (size_t i = 0; i < sizeof(tree) / sizeof(*tree); i++)
		check_exact(net, &tree[i]);
	cpl_network_free(net);
}

static void test_options(void **state)
{
	static const struct {
		const char *policy, *message; /* NULL: good */
		bool any;                     /* the form is good */
	} row[] = {
	        {"compact", NULL, true},
	        {"compact:2", "takes no option, but there is '2'", false},
	        {"linear:", "takes no option", false},
	        {"whole", "whole:UNIT with router, chassis, group", false},
	        {"whole:", "whole:UNIT", false},
	        {"whole:Group", "whole:UNIT", false},
	        {"whole:group", NULL, true},
	        {"whole:3", NULL, true},
	        {"whole:4", "no units '4'; it has router, chassis, group and",
	         true},
	        {"whole:0", "whole:UNIT", false},
	        {"whole:2x2", "boxes are of a torus only", true},
	        {"whole:2x", "whole:UNIT", false},
	        {"whole:1x1x1x1x1x1x1x1x1", "whole:UNIT", false},
	        {"whole:board", "no units 'board'", true},
	        {"keep-whole", "keep-whole:UNIT with router", false},
	        {"keep-whole:4x", "keep-whole:UNIT", false},
	        {"keep-whole:2", NULL, true},
	        {"keep-whole:board", "no units 'board'", true},
	        {"per-router", "needs a number of nodes: per-router:2", false},
	        {"per-router:0", "needs a number of nodes", false},
	        {"per-router:2x", "needs a number of nodes", false},
	        {"per-router:9999999", "needs a number of nodes", false},
	        {"per-router:2", NULL, true},
	        {"per-router:3", "a router of this network has 2 nodes", true},
	        {"fastest:2", "unknown", false},
	};
	struct cpl_network *net = dragonfly(4, 2, 2, 2);

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_wish wish = {0};

		assert_int_equal(
		        cpl_wish_policy(&wish, net, row[i].policy, &err),
		        row[i].message ? -1 : 0);
		if (row[i].message && !strstr(err.text, row[i].message))
			fail_msg("%s: %s", row[i].policy, err.text);
		if (!cpl_placement_find(NULL, row[i].policy, NULL) ==
		    row[i].any)
			fail_msg("%s, for any network", row[i].policy);
	}
	cpl_network_free(net);
}

/* A partly filled machine: router-sized and single holes. */
static int fill(const struct cpl_network *net, unsigned char *free_node,
                uint64_t seed, int percent)
{
	int n = 0;

	for (int i = 0; i < net->n_nodes; i++) {
		uint64_t router = (uint64_t)cpl_network_router(net, i);

		free_node[i] =
		        cpl_random_below(seed, 1, router, 100) >=
		                (uint64_t)percent &&
		        cpl_random_below(seed, 2, (uint64_t)i, 100) >= 10;
		n += free_node[i];
	}
	return n;
}

static int by_id(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void check_valid(const struct cpl_placement_policy *policy,
                        const struct cpl_placement_request *req)
{
	struct cpl_error err = {""};
	unsigned char seen[MAX_NODES] = {0};
	int out[MAX_NODES], again[MAX_NODES];
	size_t size = (size_t)req->n_nodes_wanted * sizeof(*out);

	memset(out, 0xff, sizeof(out));
	assert_int_equal(policy->place(req, out, &err), 0);
	for (int i = 0; i < req->n_nodes_wanted; i++) {
		assert_in_range(out[i], 0, req->net->n_nodes - 1);
		assert_int_equal(req->free[out[i]], 1);
		assert_int_equal(seen[out[i]]++, 0);
	}
	assert_int_equal(out[req->n_nodes_wanted], -1);
	for (int i = 0; i < req->n_required; i++)
		assert_int_equal(seen[req->required[i]], 1);
	assert_int_equal(policy->place(req, again, &err), 0);
	assert_memory_equal(out, again, size);
	if (!strcmp(policy->name, "linear")) {
		qsort(again, (size_t)req->n_nodes_wanted, sizeof(int), by_id);
		assert_memory_equal(out, again, size);
	}
}

static void check_machine(const struct cpl_network *net, uint64_t seed)
{
	const struct cpl_placement_policy *policy;
	unsigned char free_node[MAX_NODES];
	int required[MAX_NODES], n_free;
	struct cpl_placement_request req = {
	        .net = net,
	        .free = free_node,
	        .required = required,
	        .seed = seed,
	};

	n_free = fill(net, free_node, seed, (int)(seed % 4) * 25);
	if (!n_free)
		return;
	req.n_nodes_wanted =
	        1 + (int)cpl_random_below(seed, 3, 0, (uint64_t)n_free);
	for (int i = 0; i < net->n_nodes; i++)
		if (free_node[i] && req.n_required < req.n_nodes_wanted &&
		    cpl_random_below(seed, 4, (uint64_t)i, 20) == 0)
			required[req.n_required++] = i;
	if (seed % 2)
		req.n_required = 0;
	for (int i = 0; (policy = cpl_placement_at(i)); i++)
		if (policy->place && !policy->check &&
		    cpl_placement_takes(policy, net->type))
			check_valid(policy, &req);
}

/* What a class promises, on machines filled at random; or it says why not. */
static void check_class(const struct cpl_network *net, uint64_t seed,
                        const char *name, int per_router)
{
	struct cpl_error err = {""};
	unsigned char free_node[MAX_NODES];
	int out[MAX_NODES], used[MAX_NODES] = {0}, taken[MAX_NODES] = {0};
	int n_free = fill(net, free_node, seed, (int)(seed % 3) * 25), odd = 0;
	struct cpl_placement_request req = {
	        .net = net,
	        .free = free_node,
	        .seed = seed,
	        .option = cpl_placement_option(name),
	};
	struct cpl_wish wish = {0};

	if (!n_free || cpl_wish_policy(&wish, net, name, &err))
		return;
	req.n_nodes_wanted =
	        1 + (int)cpl_random_below(seed, 9, 0, (uint64_t)n_free);
	if (wish.policy->place(&req, out, &err)) {
		assert_non_null(strstr(err.text, " are wanted, and "));
		return;
	}
	check_valid(wish.policy, &req);
	for (int i = 0; i < net->n_nodes; i++)
		taken[cpl_network_router(net, i)] += !free_node[i];
	for (int i = 0; i < req.n_nodes_wanted; i++)
		used[cpl_network_router(net, out[i])]++;
	for (int r = 0; r < net->n_routers; r++) {
		if (!per_router && strchr(name, ':') && used[r])
			assert_int_equal(taken[r], 0);
		if (per_router && used[r])
			odd += used[r] != per_router;
	}
	assert_in_range(odd, 0, 1);
}

static void test_classes_keep_their_word(void **state)
{
	struct cpl_network *net[] = {
	        dragonfly(4, 2, 2, 2),    dragonfly(3, 3, 4, 4),
	        torus(4, 4, 4, true, 1),  torus(5, 3, 2, false, 2),
	        torus(1, 1, 7, true, 3),
	};

	for (size_t i = 0; i < sizeof(net) / sizeof(*net); i++) {
		for (uint64_t seed = 0; seed < 40; seed++) {
			check_class(net[i], seed, "compact", 0);
			check_class(net[i], seed, "spread", 0);
			check_class(net[i], seed, "whole:1", 0);
			check_class(net[i], seed, "whole:2", 0);
			check_class(net[i], seed, "per-router:1", 1);
			check_class(net[i], seed, "per-router:2", 2);
		}
		cpl_network_free(net[i]);
	}
}

static void test_valid_on_partly_filled_machines(void **state)
{
	struct cpl_network *net[] = {
	        dragonfly(4, 2, 2, 2),    dragonfly(3, 3, 4, 4),
	        dragonfly(1, 1, 5, 1),    torus(4, 4, 4, true, 1),
	        torus(5, 3, 2, false, 2), torus(1, 1, 7, true, 3),
	};

	for (size_t i = 0; i < sizeof(net) / sizeof(*net); i++) {
		for (uint64_t seed = 0; seed < 60; seed++)
			check_machine(net[i], seed);
		cpl_network_free(net[i]);
	}
}

/* Units one after the other, wholly free ones first, each used up before the
 * next. */
static void check_units(const struct cpl_placement_request *req,
                        const char *name, int size)
{
	struct cpl_error err = {""};
	int out[MAX_NODES], n = 0, n_whole = 0, used_whole = 0;
	unsigned char used[MAX_NODES] = {0};
	bool partly = false;

	assert_int_equal(cpl_placement_find(req->net->type, name, &err)
	                         ->place(req, out, &err),
	                 0);
	for (int u = 0; u < req->net->n_nodes / size; u++)
		n_whole += !memchr(req->free + u * size, 0, (size_t)size);
	while (n < req->n_nodes_wanted) {
		int unit = out[n] / size;
		bool whole = !memchr(req->free + unit * size, 0, (size_t)size);

		assert_int_equal(used[unit]++, 0);
		assert_false(partly && whole);
		partly |= !whole;
		used_whole += whole;
		for (int i = unit * size; i < (unit + 1) * size; i++) {
			if (!req->free[i] || n == req->n_nodes_wanted)
				continue;
			assert_int_equal(out[n], i);
			n++;
		}
	}
	if (partly)
		assert_int_equal(used_whole, n_whole);
}

static void test_random_units_keep_together(void **state)
{
	struct cpl_network *net = dragonfly(4, 3, 4, 4);
	unsigned char free_node[MAX_NODES];

	for (uint64_t seed = 0; seed < 100; seed++) {
		int n_free = fill(net, free_node, seed, 30);
		struct cpl_placement_request req = {
		        .net = net,
		        .free = free_node,
		        .n_nodes_wanted = 1 + (int)(seed * 7) % n_free,
		        .seed = seed,
		};

		check_units(&req, "RDR", 4);
		check_units(&req, "RDC", 16);
		check_units(&req, "RDG", 48);
	}
	cpl_network_free(net);
}

static void test_seeds_differ(void **state)
{
	static const char *const name[] = {"RDN", "RDR", "RDC", "RDG"};
	struct cpl_network *net = dragonfly(8, 4, 2, 2);
	struct cpl_error err = {""};
	unsigned char free_node[MAX_NODES];
	int a[MAX_NODES], b[MAX_NODES];

	memset(free_node, 1, sizeof(free_node));
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		const struct cpl_placement_policy *policy =
		        cpl_placement_find(net->type, name[i], &err);
		struct cpl_placement_request req = {
		        .net = net,
		        .free = free_node,
		        .n_nodes_wanted = net->n_nodes,
		        .seed = 1,
		};

		assert_true(policy->flags & CPL_PLACEMENT_RANDOM);
		policy->place(&req, a, &err);
		req.seed = 2;
		policy->place(&req, b, &err);
		assert_memory_not_equal(a, b,
		                        (size_t)net->n_nodes * sizeof(*a));
	}
	cpl_network_free(net);
}

/* What blocked promises, by looking at every box. */
struct box {
	int shape[3], volume, sides, origin, n_free, n_nodes;
	int node[MAX_NODES];
};

static bool look_at(const struct cpl_placement_request *req, struct box *b)
{
	const struct cpl_product *t = &req->net->product;
	int k = req->net->nodes_per_router;
	int at[3] = {b->origin % t->dim[0], b->origin / t->dim[0] % t->dim[1],
	             b->origin / (t->dim[0] * t->dim[1])};

	b->volume = b->shape[0] * b->shape[1] * b->shape[2];
	b->sides = b->shape[0] + b->shape[1] + b->shape[2];
	b->n_free = 0;
	b->n_nodes = b->volume * k;
	for (int d = 0; d < 3; d++)
		if (at[d] + b->shape[d] > t->dim[d] && !t->wrap[d])
			return false;
	for (int i = 0; i < b->n_nodes; i++) {
		int r = i / k;
		int x = (at[0] + r % b->shape[0]) % t->dim[0];
		int y = (at[1] + r / b->shape[0] % b->shape[1]) % t->dim[1];
		int z = (at[2] + r / (b->shape[0] * b->shape[1])) % t->dim[2];
		int node = (x + t->dim[0] * (y + t->dim[1] * z)) * k + i % k;

		if (req->free[node])
			b->node[b->n_free++] = node;
	}
	return true;
}

static bool smaller(const struct box *a, const struct box *b)
{
	if (a->volume != b->volume)
		return a->volume < b->volume;
	if (a->sides != b->sides)
		return a->sides < b->sides;
	if (a->origin != b->origin)
		return a->origin < b->origin;
	for (int d = 0; d < 3; d++)
		if (a->shape[d] != b->shape[d])
			return a->shape[d] > b->shape[d];
	return false;
}

static void best_box(const struct cpl_placement_request *req, bool whole,
                     struct box *best)
{
	const struct cpl_product *t = &req->net->product;
	struct box b;

	best->volume = 0;
	for (b.shape[0] = 1; b.shape[0] <= t->dim[0]; b.shape[0]++)
		for (b.shape[1] = 1; b.shape[1] <= t->dim[1]; b.shape[1]++)
			for (b.shape[2] = 1; b.shape[2] <= t->dim[2];
			     b.shape[2]++)
				for (b.origin = 0;
				     b.origin < req->net->n_routers; b.origin++)
					if (look_at(req, &b) &&
					    b.n_free >= req->n_nodes_wanted &&
					    (!whole || b.n_free == b.n_nodes) &&
					    (!best->volume ||
					     smaller(&b, best)))
						*best = b;
}

static void test_blocked_is_the_best_box(void **state)
{
	struct cpl_network *net[] = {
	        torus(4, 3, 3, true, 1),
	        torus(4, 4, 2, false, 1),
	        torus(3, 2, 3, true, 2),
	};
	int n_whole = 0, n_fallback = 0;

	for (int i = 0; i < 3 * 60; i++) {
		unsigned char free_node[MAX_NODES];
		struct cpl_error err = {""};
		struct cpl_placement_request req = {
		        .net = net[i % 3],
		        .free = free_node,
		};
		int n_free = fill(req.net, free_node, (uint64_t)i, i % 4 * 15);
		int out[MAX_NODES];
		struct box best;

		if (!n_free)
			continue;
		req.n_nodes_wanted = 1 + i * 5 % n_free;
		best_box(&req, true, &best);
		n_whole += best.volume > 0;
		n_fallback += !best.volume;
		if (!best.volume)
			best_box(&req, false, &best);
		assert_int_equal(
		        cpl_placement_find(cpl_network_type_find("torus"),
		                           "blocked", &err)
		                ->place(&req, out, &err),
		        0);
		assert_memory_equal(out, best.node,
		                    (size_t)req.n_nodes_wanted * sizeof(*out));
	}
	assert_true(n_whole > 10 && n_fallback > 10);
	for (int i = 0; i < 3; i++)
		cpl_network_free(net[i]);
}

static void test_names(void **state)
{
	static const char *const known[] = {"linear",  "RDN", "rdr",    "RDC",
	                                    "RDG",     "RRN", "RRR",    "auto",
	                                    "Traffic", "BLK", "Blocked"};
	struct cpl_error err = {""};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_non_null(cpl_placement_find(NULL, known[i], NULL));
	assert_null(cpl_placement_find(NULL, "fastest", NULL));
	assert_null(cpl_placement_find(NULL, "", NULL));
	assert_true(cpl_placement_is_search("Auto"));
	assert_false(cpl_placement_is_search("linear"));

	assert_null(cpl_placement_find(cpl_network_type_find("dragonfly"),
	                               "fastest", &err));
	assert_non_null(strstr(err.text, "unknown"));
	assert_non_null(strstr(err.text, "random-routers (RDR)"));
	assert_null(strstr(err.text, "blocked"));
	assert_null(cpl_placement_find(cpl_network_type_find("dragonfly"),
	                               "blocked", &err));
	assert_non_null(strstr(err.text, "not for this network type"));
	assert_null(cpl_placement_find(cpl_network_type_find("torus"), "RDR",
	                               &err));
	assert_non_null(strstr(err.text, "blocked (BLK)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_exact_on_dragonfly),
	        cmocka_unit_test(test_exact_on_torus),
	        cmocka_unit_test(test_exact_classes),
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_classes_keep_their_word),
	        cmocka_unit_test(test_valid_on_partly_filled_machines),
	        cmocka_unit_test(test_random_units_keep_together),
	        cmocka_unit_test(test_seeds_differ),
	        cmocka_unit_test(test_blocked_is_the_best_box),
	        cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
