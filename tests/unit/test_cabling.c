/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cables that are not where the network file has them, of flows that are known.
 */
#include <math.h>

#include "unit.h"

#include "failing_alloc.h"
#include "measured/cabling.h"
#include "network_text.h"
#include "number.h"

/* 4 leaves (0 to 3) with 3 nodes each, and 3 spines (4 to 6), a link between
 * each two, but between leaf 0 and spine 4 two. */
#define LEAVES 4
#define SPINES 3
#define HOSTS 3
static const char graph[] =
        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
        "\"graph\", "
        "\"routers\": 7, \"node_routers\": 4, \"nodes_per_router\": 3, "
        "\"nodes\": \"n[0-11]\", "
        "\"bandwidth\": {\"link\": 1e9, \"injection\": 1e9}, \"links\": "
        "[[0,4],[0,4],[0,5],[0,6],[1,4],[1,5],[1,6],[2,4],[2,5],[2,6],"
        "[3,4],[3,5],[3,6]]}";

/* From node to node over that spine, as the leaf's port has it; bytes/s. */
struct flow {
	int from, to, spine;
	double rate;
};

static const struct flow flows[] = {
        {0, 3, 4, 1e8},  {1, 4, 5, 2e8}, {2, 6, 6, 3e8}, {3, 0, 5, 1.5e8},
        {4, 9, 6, 5e8},  {6, 1, 4, 7e7}, {9, 2, 6, 9e7}, {10, 5, 5, 3.1e8},
        {7, 11, 4, 2e8}, {3, 5, 0, 4e8},
};

/* The cables of leaf[0] to spine[0] and of leaf[1] to spine[1] are exchanged;
 * or those of two nodes. */
struct wiring {
	int leaf[2], spine[2];
	int node[2];
};

static const struct wiring right = {{-1, -1}, {-1, -1}, {-1, -1}};

struct bench {
	struct cpl_network *net;
	struct cpl_load load;
	struct cpl_measured measured;
	struct cpl_cabling cabling;
};

static int64_t link_of(const struct cpl_network *net, int from, int to)
{
	for (int64_t i = 0; i < net->n_links; i++)
		if (net->link_from[i] == from && net->link_to[i] == to)
			return i;
	fail_msg("no link from %d to %d", from, to);
	return -1;
}

/* The switch at the end of a leaf's cable, and the port's name of a spine's. */
static int end_of(const struct wiring *w, int leaf, int spine)
{
	for (int i = 0; i < 2; i++)
		if (w->leaf[i] == leaf && w->spine[i] == spine)
			return w->spine[!i];
	return spine;
}

static int port_to(const struct wiring *w, int spine, int leaf)
{
	for (int i = 0; i < 2; i++)
		if (w->spine[i] == spine && w->leaf[!i] == leaf)
			return w->leaf[i];
	return leaf;
}

/* A spine has lost its cable to a leaf. */
static bool is_lost(const struct wiring *w, int spine, int leaf)
{
	return (w->leaf[0] == leaf && w->spine[0] == spine) ||
	       (w->leaf[1] == leaf && w->spine[1] == spine);
}

/* Whose port of the leaf a node is at. */
static int port_of(const struct wiring *w, int node)
{
	return node == w->node[0]   ? w->node[1]
	       : node == w->node[1] ? w->node[0]
	                            : node;
}

/* What ports count, by the names that the file has for them. */
static void send_flow(const struct bench *b, const struct wiring *w,
                      const struct flow *f, double rate)
{
	int from = port_of(w, f->from), to = port_of(w, f->to);
	int a = from / HOSTS, z = to / HOSTS, port = f->spine, spine;
	double *link = b->load.link;

	link[b->net->n_links + from] += rate;
	link[b->net->n_links + b->net->n_nodes + to] += rate;
	if (a == z)
		return;
	/* Routes are where there are cables. */
	for (int k = 0; k < SPINES; k++) {
		if (!is_lost(w, end_of(w, a, port), z))
			break;
		port = port + 1 < LEAVES + SPINES ? port + 1 : LEAVES;
	}
	spine = end_of(w, a, port);
	link[link_of(b->net, a, port)] += rate;
	link[link_of(b->net, spine, port_to(w, spine, z))] += rate;
}

static void send_flows(struct bench *b, const struct wiring *w, double rate)
{
	cpl_load_clear(&b->load, b->net);
	for (size_t i = 0; i < sizeof(flows) / sizeof(*flows); i++)
		send_flow(b, w, &flows[i], flows[i].rate * rate);
}

/* Measured on these wires; the job, if there is one, as the file has them. */
static void check(struct bench *b, const struct wiring *w, bool job)
{
	int64_t n = b->net->n_links + 2 * (int64_t)b->net->n_nodes;
	struct cpl_error err = {""};

	send_flows(b, w, 0.5);
	for (int64_t i = 0; i < n; i++)
		b->measured.rate[i] =
		        (struct cpl_times_rate){i, b->load.link[i]};
	b->measured.n = n;
	send_flows(b, &right, 1);
	cpl_cabling_free(&b->cabling);
	assert_int_equal(cpl_cabling_check(&b->cabling, &b->measured, b->net,
	                                   job ? &b->load : NULL, &err),
	                 0);
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->net = parse_network(graph);
	b->measured.rate = calloc((size_t)cpl_times_links(b->net),
	                          sizeof(*b->measured.rate));
	*state = b;
	return cpl_load_init(&b->load, b->net, NULL);
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	cpl_cabling_free(&b->cabling);
	cpl_measured_free(&b->measured);
	cpl_load_free(&b->load);
	cpl_network_free(b->net);
	free(b);
	return 0;
}

static void test_right(void **state)
{
	struct bench *b = *state;

	check(b, &right, true);
	assert_int_equal(b->cabling.judged, LEAVES + SPINES);
	assert_int_equal(b->cabling.n_routers, 0);
	assert_int_equal(b->cabling.n_swaps, 0);
	assert_int_equal(b->cabling.n_links, 0);
	assert_int_equal(b->cabling.compared, b->measured.n);
	assert_number(b->cabling.scale, 0.5, 1e-9);
	assert_false(cpl_cabling_differs(&b->cabling));
}

/* Two cables of different leaves and spines. */
static void test_exchanged(void **state)
{
	static const struct wiring row[] = {
	        {{0, 1}, {5, 6}, {-1, -1}},
	        {{1, 2}, {4, 5}, {-1, -1}},
	        {{1, 3}, {5, 6}, {-1, -1}},
	        {{2, 1}, {5, 6}, {-1, -1}},
	};
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		for (int job = 0; job < 2; job++) {
			const struct cpl_cabling *c = &b->cabling;
			int seen = 0;

			check(b, &row[i], job);
			assert_true(c->n_routers >= 2 && c->n_routers <= 4);
			assert_true(c->n_swaps >= 1);
			assert_true(cpl_cabling_differs(c));
			for (int k = 0; k < c->n_swaps; k++)
				for (int side = 0; side < 2; side++) {
					int64_t x = c->swap[k].link[side];
					int64_t y = c->swap[k].link[!side];
					int a = b->net->link_from[x];
					int z = b->net->link_to[x];

					seen += (a == row[i].leaf[0] &&
					         z == row[i].spine[0] &&
					         b->net->link_from[y] ==
					                 row[i].leaf[1]) ||
					        (z == row[i].leaf[0] &&
					         a == row[i].spine[0] &&
					         b->net->link_to[y] ==
					                 row[i].leaf[1]);
				}
			if (seen != 1)
				fail_msg("row %zu: seen %d of %d", i, seen,
				         c->n_swaps);
			/* The largest difference first. */
			for (int k = 1; k < c->n_routers; k++)
				assert_true(fabs(c->router[k - 1].in -
				                 c->router[k - 1].out) >=
				            fabs(c->router[k].in -
				                 c->router[k].out));
		}
}

/* Sums stay right; only the job tells. */
static void test_nodes_exchanged(void **state)
{
	static const struct wiring wires = {{-1, -1}, {-1, -1}, {1, 8}};
	struct bench *b = *state;
	int64_t nodes = b->net->n_links;

	check(b, &wires, false);
	assert_false(cpl_cabling_differs(&b->cabling));
	check(b, &wires, true);
	assert_int_equal(b->cabling.n_routers, 0);
	assert_int_equal(b->cabling.n_node_links, 4);
	assert_true(cpl_cabling_differs(&b->cabling));
	for (int64_t i = 0; i < b->cabling.n_links; i++) {
		const struct cpl_cabling_link *l = &b->cabling.link[i];

		if (l->link == nodes + 1)
			assert_true(l->measured == 0 && l->predicted > 0);
		if (l->link == nodes + 8)
			assert_true(l->measured > 0 && l->predicted == 0);
	}
}

/* Another routing is none of the cables' fault. */
static void test_rerouted(void **state)
{
	struct bench *b = *state;
	const struct flow other = {4, 9, 5, 5e8};
	struct cpl_error err = {""};

	check(b, &right, true);
	cpl_load_clear(&b->load, b->net);
	send_flow(b, &right, &flows[4], -flows[4].rate * 0.5);
	send_flow(b, &right, &other, other.rate * 0.5);
	for (int64_t i = 0; i < b->measured.n; i++)
		b->measured.rate[i].rate += b->load.link[i];
	send_flows(b, &right, 1);
	cpl_cabling_free(&b->cabling);
	assert_int_equal(cpl_cabling_check(&b->cabling, &b->measured, b->net,
	                                   &b->load, &err),
	                 0);
	assert_int_equal(b->cabling.n_links, 4);
	assert_int_equal(b->cabling.n_node_links, 0);
	assert_int_equal(b->cabling.n_routers, 0);
	assert_false(cpl_cabling_differs(&b->cabling));
	for (int64_t i = 0; i < 4; i++)
		assert_number(fabs(b->cabling.link[i].measured -
		                   b->cabling.link[i].predicted),
		              2.5e8, 1);
}

/* Routers are not judged by a part of their links; a job that sends nothing
 * tells nothing; what switches say among themselves is nothing. */
static void test_little(void **state)
{
	struct bench *b = *state;
	struct cpl_error err = {""};

	check(b, &right, true);
	b->measured.rate[0].link = cpl_times_links(b->net);
	cpl_cabling_free(&b->cabling);
	assert_int_equal(cpl_cabling_check(&b->cabling, &b->measured, b->net,
	                                   &b->load, &err),
	                 0);
	assert_int_equal(b->cabling.judged, LEAVES + SPINES - 2);
	assert_int_equal(b->cabling.n_routers, 0);
	for (int64_t i = 0; i < b->measured.n; i++)
		b->measured.rate[i] =
		        (struct cpl_times_rate){i, 1000.0 * (i % 7)};
	cpl_cabling_free(&b->cabling);
	for (int64_t i = b->net->n_links; i < b->measured.n; i++)
		b->measured.rate[i].rate = 0;
	assert_int_equal(cpl_cabling_check(&b->cabling, &b->measured, b->net,
	                                   &b->load, &err),
	                 0);
	assert_int_equal(b->cabling.judged, LEAVES + SPINES);
	assert_int_equal(b->cabling.n_routers, 0);
	assert_number(b->cabling.scale, 0, 0);
	assert_int_equal(b->cabling.compared, 0);
	assert_int_equal(b->cabling.n_links, 0);
	/* Nothing measured at all. */
	b->measured.n = 0;
	cpl_cabling_free(&b->cabling);
	assert_int_equal(cpl_cabling_check(&b->cabling, &b->measured, b->net,
	                                   &b->load, &err),
	                 0);
	assert_int_equal(b->cabling.judged, 0);
	assert_false(cpl_cabling_differs(&b->cabling));
}

static void test_memory(void **state)
{
	static const struct wiring wires = {{0, 1}, {5, 6}, {1, 8}};
	struct bench *b = *state;
	int n = 0, rc = -1;

	check(b, &wires, true);
	for (; rc; n++) {
		struct cpl_error err = {""};

		cpl_cabling_free(&b->cabling);
		left = n;
		rc = cpl_cabling_check(&b->cabling, &b->measured, b->net,
		                       &b->load, &err);
		left = -1;
		if (rc)
			assert_non_null(strstr(err.text, "out of memory"));
	}
	assert_true(n > 7);
	assert_true(b->cabling.n_swaps >= 1);
}

#define WITH_BENCH(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        WITH_BENCH(test_right),           WITH_BENCH(test_exchanged),
	        WITH_BENCH(test_nodes_exchanged), WITH_BENCH(test_rerouted),
	        WITH_BENCH(test_little),          WITH_BENCH(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
