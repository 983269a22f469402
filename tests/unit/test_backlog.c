/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routings whose packets choose by queues: nothing is lost on the way, ways are
 * shortest ones where they are to be, and full links are left to others.
 */
#include "unit.h"

#include "number.h"
#include "routing/backlog.h"
#include "routing_cases.h"

#define CASES 30
/* So many bytes are one: 32 of them are as many packets as there can be. */
#define UNIT (CPL_BACKLOG_PACKETS * CPL_BACKLOG_PACKET / 32)

static struct cpl_network *torus(const char *dims, int nodes)
{
	char text[256];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	         "\"torus\", \"dims\": [%s], \"nodes\": \"n[0-%d]\"}",
	         dims, nodes - 1);
	return parse_network(text);
}

/* The routing's load of one flow, of which the node has sent all after so long, and its
 * sums. */
static double *route_in(const struct cpl_network *net, const char *name, int from,
                        int to, double bytes, const double *others, double seconds,
                        struct cpl_routed *routed)
{
	int64_t row[] = {0, 1};
	struct cpl_flows flows = {1, &from, row, &to, &bytes};
	struct cpl_adaptive_job job = {
	        &flows, cpl_routing_find(net, name, NULL), {0, 0}};
	double *load = calloc((size_t)net->n_links, sizeof(*load));

	assert_non_null(load);
	assert_non_null(job.routing);
	bytes *= UNIT;
	for (int64_t l = 0; others && l < net->n_links; l++)
		load[l] = others[l] * UNIT;
	assert_int_equal(
	        cpl_backlog_solve(net, &job, 1, seconds * UNIT, load, NULL), 0);
	for (int64_t l = 0; l < net->n_links; l++)
		load[l] = load[l] / UNIT - (others ? others[l] : 0);
	job.routed.hop_bytes /= UNIT;
	if (routed)
		*routed = job.routed;
	return load;
}

/* All at once. */
static double *route(const struct cpl_network *net, const char *name, int from,
                     int to, double bytes, const double *others,
                     struct cpl_routed *routed)
{
	return route_in(net, name, from, to, bytes, others, 0, routed);
}

static int64_t link_between(const struct cpl_network *net, int from, int to)
{
	for (int64_t l = 0; l < net->n_links; l++)
		if (net->link_from[l] == from && net->link_to[l] == to)
			return l;
	fail_msg("no link from %d to %d", from, to);
	return -1;
}

/* From a corner of a square to the other: half over each of the two between, all
 * over one where others have filled the other. */
static void test_square(void **state)
{
	struct cpl_network *net = torus("3, 3", 9);
	double *others = calloc((size_t)net->n_links, sizeof(*others));
	struct cpl_routed routed;
	double *load;

	(void)state;
	assert_non_null(others);
	load = route(net, "adaptive", 0, 4, 32, NULL, &routed);
	assert_number(load[link_between(net, 0, 1)], 16, 0);
	assert_number(load[link_between(net, 0, 3)], 16, 0);
	assert_number(load[link_between(net, 1, 4)], 16, 0);
	assert_number(load[link_between(net, 3, 4)], 16, 0);
	assert_number(routed.hop_bytes, 64, 0);
	assert_number(routed.max_hops, 2, 0);
	free(load);
	others[link_between(net, 0, 1)] = 64;
	load = route(net, "adaptive", 0, 4, 32, others, NULL);
	assert_number(load[link_between(net, 0, 3)], 32, 0);
	free(load);
	/* What others have, we add and half of what we add behind it come to the same on
	 * both: x + 16 + x / 2 on one, 32 - x and half of that on the other. */
	others[link_between(net, 0, 1)] = 16;
	load = route(net, "adaptive", 0, 4, 32, others, NULL);
	assert_number(load[link_between(net, 0, 1)], 32 / 3.0, 1);
	free(load);
	free(others);
	cpl_network_free(net);
}

/* A queue behind a link counts by half, as it fills the buffers before it: x and half of
 * 64 + x on one way, 32 - x and half of that on the other; where others have 32 there on the
 * first link it comes to the same. */
static void test_behind(void **state)
{
	struct cpl_network *net = torus("3, 3", 9);
	double *others = calloc((size_t)net->n_links, sizeof(*others));
	double *load;

	(void)state;
	assert_non_null(others);
	others[link_between(net, 1, 4)] = 64;
	load = route(net, "adaptive", 0, 4, 32, others, NULL);
	assert_number(load[link_between(net, 0, 3)], 16 + 32 / 3.0, 1);
	free(load);
	others[link_between(net, 0, 3)] = 32;
	load = route(net, "adaptive", 0, 4, 32, others, NULL);
	assert_number(load[link_between(net, 0, 3)], 16, 1);
	free(load);
	free(others);
	cpl_network_free(net);
}

/* A packet that is sent when the one before has passed sees nothing of it: of two groups
 * all go the minimal way, of 5 bytes/s, where nodes send no faster, and half of
 * them or less where they send three times as fast. */
static void test_pace(void **state)
{
	struct cpl_network *net = fly(6, 1, 1, 1, 1);
	int64_t direct = link_between(net, 0, 1);
	double *load;

	(void)state;
	load = route_in(net, "ugal-g", 0, 1, 32, NULL, 33 / 5.0, NULL);
	assert_number(load[direct], 32, 1e-9);
	free(load);
	load = route_in(net, "ugal-g", 0, 1, 32, NULL, 32 / 15.0, NULL);
	assert_in_range(load[direct], 8, 20);
	free(load);
	cpl_network_free(net);
}

/* A flow of a packet has one way, of three one more than the other. */
static void test_packets(void **state)
{
	struct cpl_network *net = torus("3, 3", 9);

	(void)state;
	for (int packets = 1; packets <= 3; packets++) {
		double *load = route(net, "adaptive", 0, 4,
		                     packets * CPL_BACKLOG_PACKET / UNIT, NULL, NULL);
		double x = load[link_between(net, 0, 1)] * UNIT / CPL_BACKLOG_PACKET;

		assert_number(x, (packets + 1) / 2, 1e-9);
		free(load);
	}
	cpl_network_free(net);
}

/* Both ways round a ring of four are as short, of five only one is. */
static void test_ring(void **state)
{
	static const struct {
		const char *dims;
		int nodes, to;
		double plus, minus;
	} row[] = {{"4", 4, 2, 16, 16}, {"5", 5, 2, 32, 0}, {"5", 5, 3, 0, 32}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_network *net = torus(row[i].dims, row[i].nodes);
		double *load =
		        route(net, "adaptive", 0, row[i].to, 32, NULL, NULL);

		assert_number(load[link_between(net, 0, 1)], row[i].plus, 0);
		assert_number(load[link_between(net, 0, row[i].nodes - 1)],
		              row[i].minus, 0);
		free(load);
		cpl_network_free(net);
	}
}

/* Two levels over leaves of two nodes; `up` parents with `ports` links to each. */
static struct cpl_network *fat_tree(int leaves, int up, int ports)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	         "\"fattree\", \"nodes_per_router\": 2, \"levels\": [{\"down\": "
	         "2, \"up\": %d, \"links\": %d}, {\"down\": %d, \"up\": 2}], "
	         "\"nodes\": \"n[0-%d]\"}",
	         up, ports, leaves / 2, 2 * leaves - 1);
	return parse_network(text);
}

/* Over both parents and both links to each alike; where others come down from one parent,
 * or go up to it, over the other. */
static void test_fat_tree(void **state)
{
	struct cpl_network *net = fat_tree(4, 2, 2);
	double *others = calloc((size_t)net->n_links, sizeof(*others));
	struct cpl_routed routed;
	double *load, up = 0;

	(void)state;
	assert_non_null(others);
	load = route(net, "adaptive", 0, 1, 32, NULL, &routed);
	for (int64_t l = 0; l < net->n_links; l++) {
		if (net->link_from[l] == 0 || net->link_to[l] == 1)
			assert_number(load[l], 8, 0);
		up += load[l];
	}
	assert_number(up, 64, 0);
	assert_number(routed.hop_bytes, 64, 0);
	assert_number(routed.max_hops, 2, 0);
	free(load);
	for (int down = 0; down < 2; down++) {
		int end = down ? 1 : 0, full = -1;

		memset(others, 0, (size_t)net->n_links * sizeof(*others));
		for (int64_t l = 0; l < net->n_links; l++) {
			int leaf = down ? net->link_to[l] : net->link_from[l];
			int parent = down ? net->link_from[l] : net->link_to[l];

			if (leaf != end || (full >= 0 && parent != full))
				continue;
			full = parent;
			others[l] = 1000;
		}
		load = route(net, "adaptive", 0, 1, 32, others, NULL);
		for (int64_t l = 0; l < net->n_links; l++)
			if (net->link_from[l] == full || net->link_to[l] == full)
				assert_number(load[l], 0, 1e-9);
		free(load);
	}
	/* Two levels up, and there is a choice on the way up alone. */
	load = route(net, "adaptive", 0, 3, 32, NULL, &routed);
	assert_number(routed.max_hops, 4, 0);
	for (int64_t l = 0; l < net->n_links; l++)
		assert_int_equal(
		        cpl_routing_adaptive_up.chooses(net, l),
		        net->link_from[l] < net->link_to[l]);
	free(load);
	free(others);
	cpl_network_free(net);
}

/* A flow between two groups first takes its minimal way, then those over others,
 * until one has as much before it as the other. */
static void test_two_groups(void **state)
{
	struct cpl_network *net = fly(6, 1, 1, 1, 1);
	double *others = calloc((size_t)net->n_links, sizeof(*others));
	int64_t direct = link_between(net, 0, 1);
	struct cpl_routed routed;
	double *load;

	(void)state;
	assert_non_null(others);
	load = route(net, "ugal-g", 0, 1, 32, NULL, &routed);
	assert_in_range(load[direct], 1, 16);
	assert_number(routed.hop_bytes, load[direct] + 2 * (32 - load[direct]),
	              1e-9);
	assert_number(routed.max_hops, routed.hop_bytes / 32, 1e-9);
	free(load);
	/* Where all other links are full it is minimal, where its own is, never. */
	for (int64_t l = 0; l < net->n_links; l++)
		others[l] = l == direct ? 0 : 1000;
	load = route(net, "ugal-g", 0, 1, 32, others, NULL);
	assert_number(load[direct], 32, 1e-9);
	free(load);
	for (int64_t l = 0; l < net->n_links; l++)
		others[l] = l == direct ? 1000 : 0;
	load = route(net, "ugal-g", 0, 1, 32, others, NULL);
	assert_number(load[direct], 0, 1e-9);
	free(load);
	free(others);
	cpl_network_free(net);
	/* There is no third router. */
	net = fly(2, 1, 1, 1, 1);
	load = route(net, "ugal-g", 0, 1, 32, NULL, NULL);
	assert_number(load[link_between(net, 0, 1)], 32, 0);
	free(load);
	cpl_network_free(net);
}

/* Two jobs and the bytes of others: what each router gets and sends on comes to what
 * its nodes do, and links have the hop-bytes: of "adaptive" those of shortest ways. */
static void check_conserves(struct cpl_network *net, const char *name,
                            uint64_t seed)
{
	const struct cpl_routing *routing = cpl_routing_find(net, name, NULL);
	struct cpl_workload *w = cpl_workload_new(net, 1, NULL);
	double *out = calloc((size_t)net->n_routers, sizeof(*out));
	double hop_bytes = 0, shortest = 0, total = 0;
	const struct cpl_load *load;

	assert_non_null(w);
	assert_non_null(out);
	assert_non_null(routing);
	for (int j = 0; j < 2; j++) {
		struct cpl_comm_entry sent[MESSAGES];
		struct cpl_comm *comm;
		int *node = calloc((size_t)net->n_nodes, sizeof(*node));

		assert_non_null(node);
		for (int i = 0; i < net->n_nodes; i++)
			node[i] = i;
		for (int i = 0; i < MESSAGES; i++) {
			uint64_t at = (uint64_t)(j * MESSAGES + i) * 3;
			int from = draw(seed, at, 0, net->n_nodes - 1);
			int to = draw(seed, at + 1, 0, net->n_nodes - 1);
			double bytes = draw(seed, at + 2, 1, 100);
			int a = cpl_network_router(net, from);
			int b = cpl_network_router(net, to);

			sent[i] = (struct cpl_comm_entry){from, to, bytes, 1};
			out[a] -= bytes;
			out[b] += bytes;
			shortest += bytes * routing->hops(net, a, b);
		}
		comm = cpl_comm_build(net->n_nodes, sent, MESSAGES, NULL);
		assert_non_null(comm);
		assert_int_equal(
		        cpl_workload_add(w,
		                         &(struct cpl_job){.routing = routing,
		                                           .comm = comm,
		                                           .node = node},
		                         NULL),
		        j);
		cpl_comm_free(comm);
		free(node);
	}
	assert_int_equal(cpl_workload_solve(w, NULL), 0);
	load = cpl_workload_load(w);
	for (int64_t l = 0; l < net->n_links; l++) {
		out[net->link_from[l]] += load->link[l];
		out[net->link_to[l]] -= load->link[l];
		total += load->link[l];
	}
	for (int r = 0; r < net->n_routers; r++)
		assert_number(out[r], 0, 1e-6);
	for (int j = 0; j < 2; j++)
		hop_bytes += cpl_workload_sums(w, j)->hop_bytes;
	assert_number(hop_bytes, total, 1e-6);
	if (strcmp(name, "adaptive") == 0)
		assert_number(total, shortest, 1e-6);
	else
		assert_true(total >= shortest * (1 - 1e-9) && total > 0);
	cpl_workload_free(w);
	cpl_network_free(net);
	free(out);
}

static void test_conserves(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		check_conserves(torus(seed % 2 ? "4, 3, 2" : "5, 6",
		                      seed % 2 ? 24 : 30),
		                "adaptive", seed);
		check_conserves(fat_tree(2 * draw(seed, 600, 1, 4),
		                         draw(seed, 601, 1, 3),
		                         draw(seed, 602, 1, 2)),
		                "adaptive", seed);
		check_conserves(fly(draw(seed, 500, 2, 5), 2, 3, 2,
		                    draw(seed, 501, 1, 3)),
		                "ugal-g", seed);
	}
}

/* They are for networks of their kind, and no decision waits for them. */
static void test_where(void **state)
{
	struct cpl_network *ring = torus("5", 5), *groups = fly(3, 1, 2, 1, 1);
	struct cpl_error err = {""};

	(void)state;
	assert_null(cpl_routing_find(ring, "ugal-g", &err));
	assert_non_null(strstr(err.text, "adaptive"));
	assert_null(cpl_routing_find(groups, "adaptive", &err));
	assert_non_null(strstr(err.text, "ugal-g"));
	ring->routing = strdup("adaptive");
	assert_ptr_equal(cpl_routing_find_quick(ring, NULL, &err),
	                 &cpl_routing_o1turn);
	cpl_network_free(ring);
	cpl_network_free(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_square),
	        cmocka_unit_test(test_behind),
	        cmocka_unit_test(test_pace),
	        cmocka_unit_test(test_packets),
	        cmocka_unit_test(test_ring),
	        cmocka_unit_test(test_fat_tree),
	        cmocka_unit_test(test_two_groups),
	        cmocka_unit_test(test_conserves),
	        cmocka_unit_test(test_where),
	};

	return cmocka_run_group_tests_name("backlog", tests, NULL, NULL);
}
