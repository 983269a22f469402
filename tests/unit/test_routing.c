/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routings besides the minimal ones: static-indirect and adaptive-minimal
 * against enumeration by other code, properties of the adaptive ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "brute.h"
#include "number.h"
#include "routing/routing_internal.h"
#include "traffic/traffic.h"

#define CASES 20
#define MESSAGES 60

static const char *const adaptive[] = {"AD", "AI", "AH"};

static int draw(uint64_t seed, uint64_t counter, int low, int high)
{
	return low + (int)cpl_random_below(seed, 9, counter,
	                                   (uint64_t)(high - low + 1));
}

static struct cpl_network *parse(const char *text)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", &err);

	if (!net)
		fail_msg("%s: %s", text, err.text);
	return net;
}

static struct cpl_network *fly(int groups, int rows, int columns, int ports,
                               int k)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly\", \"groups\": %d, \"rows\": %d, "
	         "\"columns\": %d, \"nodes_per_router\": %d, "
	         "\"global_links_per_group_pair\": %d, \"bandwidth\": "
	         "{\"row\": 2, \"column\": 3, \"global\": 5}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         groups, rows, columns, ports, k,
	         groups * rows * columns * ports - 1);
	return parse(text);
}

static struct cpl_network *random_fly(uint64_t seed)
{
	return fly(draw(seed, 0, 1, 5), draw(seed, 1, 1, 3),
	           draw(seed, 2, 1, 4), draw(seed, 3, 1, 2),
	           draw(seed, 4, 1, 3));
}

/* Random messages between nodes; rank r is on node r. */
static struct cpl_comm *random_comm(const struct cpl_network *net,
                                    uint64_t seed)
{
	struct cpl_comm_entry entry[MESSAGES];
	struct cpl_error err = {""};
	struct cpl_comm *comm;

	for (int i = 0; i < MESSAGES; i++) {
		uint64_t at = 3 * (uint64_t)i, n = (uint64_t)net->n_nodes;

		entry[i].from = (int)cpl_random_below(seed, 2, at, n);
		entry[i].to = (int)cpl_random_below(seed, 2, at + 1, n);
		entry[i].bytes =
		        (double)cpl_random_below(seed, 2, at + 2, 1000000);
		entry[i].messages = 1;
	}
	comm = cpl_comm_build(net->n_nodes, entry, MESSAGES, &err);
	assert_non_null(comm);
	return comm;
}

static void evaluate(const struct cpl_network *net, const char *name,
                     const struct cpl_comm *comm, struct cpl_load *load,
                     struct cpl_job_sums *sums)
{
	struct cpl_error err = {""};
	const struct cpl_routing *routing = cpl_routing_find(net, name, &err);
	struct cpl_traffic_work *work = cpl_traffic_work_new(net, comm, &err);
	int *rank_node = malloc((size_t)net->n_nodes * sizeof(*rank_node));

	if (!routing)
		fail_msg("%s", err.text);
	assert_non_null(work);
	assert_non_null(rank_node);
	for (int r = 0; r < comm->ranks; r++)
		rank_node[r] = r;
	assert_int_equal(cpl_load_init(load, net, &err), 0);
	cpl_traffic_add(net, routing, comm, rank_node, work, load, sums);
	free(rank_node);
	cpl_traffic_work_free(work);
}

static double total(const struct cpl_network *net, const struct cpl_load *load)
{
	double sum = 0;

	for (int64_t l = 0; l < net->n_links; l++)
		sum += load->link[l];
	return sum;
}

static double largest(const struct cpl_network *net,
                      const struct cpl_load *load)
{
	struct cpl_metrics m;

	cpl_traffic_metrics(net, load, NULL, &m);
	return m.max_congestion;
}

static void same_loads(const struct cpl_network *net, const double *got,
                       const double *want, uint64_t seed)
{
	for (int64_t l = 0; l < net->n_links; l++)
		if (got[l] < want[l] * (1 - 1e-9) - 1e-6 ||
		    got[l] > want[l] * (1 + 1e-9) + 1e-6 ||
		    (got[l] > 0) != (want[l] > 0))
			fail_msg("seed %d: link %d, %d -> %d: %.17g, not %.17g",
			         (int)seed, (int)l, net->link_from[l],
			         net->link_to[l], got[l], want[l]);
}

/* Each pair over each third router, leg by leg. */
static void test_static_indirect(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_fly(seed);
		struct cpl_comm *comm = random_comm(net, seed);
		int n = net->n_routers, ports = net->nodes_per_router;
		size_t links = (size_t)net->n_links + 1;
		double *want = calloc(links, sizeof(*want));
		double hop_bytes = 0, farthest = 0;
		struct cpl_job_sums sums;
		struct cpl_load load;

		for (int r = 0; r < comm->ranks; r++)
			for (int64_t e = comm->row[r]; e < comm->row[r + 1];
			     e++) {
				int from = r / ports, to = comm->to[e] / ports;
				double bytes = comm->bytes[e], hops = 0;

				if (from == to || !(bytes > 0))
					continue;
				for (int i = 0; i < n; i++) {
					double part = bytes / (n - 2);

					if (i == from || i == to)
						continue;
					hops += brute_add(net, from, i, part,
					                  want);
					hops += brute_add(net, i, to, part,
					                  want);
				}
				if (n == 2)
					hops = brute_add(net, from, to, bytes,
					                 want);
				else
					hops /= n - 2;
				hop_bytes += bytes * hops;
				if (hops > farthest)
					farthest = hops;
			}
		evaluate(net, "static-indirect", comm, &load, &sums);
		same_loads(net, load.link, want, seed);
		assert_number(sums.hop_bytes, hop_bytes, 1e-9 * hop_bytes);
		assert_number(sums.max_dilation, farthest, 1e-9);
		cpl_load_free(&load);
		cpl_comm_free(comm);
		cpl_network_free(net);
		free(want);
	}
}

/* Many gateways, more than distances fit a key. */
static void test_static_indirect_with_many_links(void **state)
{
	struct cpl_network *net = fly(3, 2, 2, 1, 40);
	struct cpl_comm_entry entry = {0, 5, 1000, 1};
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(net->n_nodes, &entry, 1, &err);
	double *want = calloc((size_t)net->n_links, sizeof(*want));
	struct cpl_job_sums sums;
	struct cpl_load load;

	for (int i = 0; i < net->n_routers; i++)
		if (i != 0 && i != 5) {
			cpl_routing_static_direct.add(net, 0, i, 100, want);
			cpl_routing_static_direct.add(net, i, 5, 100, want);
		}
	evaluate(net, "SI", comm, &load, &sums);
	same_loads(net, load.link, want, 0);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_network_free(net);
	free(want);
}

/* Groups so large that ways inside them are not kept in a matrix. */
static void test_static_indirect_in_a_large_group(void **state)
{
	struct cpl_network *net =
	        parse("{\"format\": \"commplace-network\", \"version\": 1, "
	              "\"type\": \"dragonfly\", \"groups\": 2, "
	              "\"rows\": 65, \"columns\": 65, "
	              "\"nodes\": {\"0\": \"a\"}}");
	int n = net->n_routers, from = 3, to[] = {70, 4300};
	size_t links = (size_t)net->n_links;
	double *want = calloc(links, sizeof(*want));
	double *got = calloc(links, sizeof(*got));
	const struct cpl_routing *routing = &cpl_routing_static_indirect;
	void *scratch = malloc(routing->scratch_size(net, 1));
	struct cpl_routed routed = {0, 0};
	int64_t row[] = {0, 2};
	double bytes[] = {1e9, 2e9}, hops = 0;
	struct cpl_pairs pairs = {1, &from, row, to, bytes};

	for (int m = 0; m < 2; m++)
		for (int i = 0; i < n; i++) {
			const struct cpl_routing *sd =
			        &cpl_routing_static_direct;
			double part = bytes[m] / (n - 2);

			if (i == from || i == to[m])
				continue;
			sd->add(net, from, i, part, want);
			sd->add(net, i, to[m], part, want);
			hops += part * (sd->hops(net, from, i) +
			                sd->hops(net, i, to[m]));
		}
	routing->solve(net, &pairs, scratch, got, &routed);
	same_loads(net, got, want, 0);
	assert_number(routed.hop_bytes, hops, 1e-9 * hops);
	free(scratch);
	free(want);
	free(got);
	cpl_network_free(net);
}

/* Steps in one dimension both ways; a huge number where there is no way. */
static void ways(const struct cpl_torus *torus, int d, int from, int to,
                 int *plus, int *minus)
{
	int n = torus->dim[d];

	*plus = to >= from ? to - from : torus->wrap[d] ? to - from + n : 9999;
	*minus = from >= to ? from - to : torus->wrap[d] ? from - to + n : 9999;
}

static int distance(const struct cpl_torus *torus, int from, int to)
{
	int sum = 0, stride = 1;

	for (int d = 0; d < torus->n_dims; d++) {
		int n = torus->dim[d], plus, minus;

		ways(torus, d, from / stride % n, to / stride % n, &plus,
		     &minus);
		sum += plus < minus ? plus : minus;
		stride *= n;
	}
	return sum;
}

/* Number of shortest paths, walking every one. */
static double walk(const struct cpl_network *net, int at, int to)
{
	double paths = 0;

	if (at == to)
		return 1;
	for (int64_t l = 0; l < net->n_links; l++) {
		double beyond;

		if (net->link_from[l] != at ||
		    distance(&net->torus, net->link_to[l], to) !=
		            distance(&net->torus, at, to) - 1)
			continue;
		beyond = walk(net, net->link_to[l], to);
		paths += beyond;
	}
	return paths;
}

/* Part of a pair's bytes on each link, by walking on in proportion to the
 * paths that are ahead. */
static void flow(const struct cpl_network *net, int at, int to, double bytes,
                 double *load)
{
	double paths;

	if (at == to)
		return;
	paths = walk(net, at, to);
	for (int64_t l = 0; l < net->n_links; l++) {
		double part;

		if (net->link_from[l] != at ||
		    distance(&net->torus, net->link_to[l], to) !=
		            distance(&net->torus, at, to) - 1)
			continue;
		part = bytes * walk(net, net->link_to[l], to) / paths;
		load[l] += part;
		flow(net, net->link_to[l], to, part, load);
	}
}

static struct cpl_network *random_torus(uint64_t seed)
{
	int n_dims = draw(seed, 0, 1, 4), routers = 1;
	char dims[64] = "", wrap[64] = "", text[512];

	for (int d = 0; d < n_dims; d++) {
		int n = draw(seed, 10 + (uint64_t)d, 1, n_dims < 4 ? 5 : 4);

		routers *= n;
		sprintf(dims + strlen(dims), "%s%d", d ? "," : "", n);
		sprintf(wrap + strlen(wrap), "%s%s", d ? "," : "",
		        draw(seed, 20 + (uint64_t)d, 0, 1) ? "true" : "false");
	}
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"torus\", \"dims\": [%s], \"wrap\": [%s], "
	         "\"nodes\": \"n[0-%d]\"}",
	         dims, wrap, routers - 1);
	return parse(text);
}

static void test_adaptive_minimal(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_torus(seed);
		size_t links = (size_t)net->n_links + 1;
		double *want = calloc(links, sizeof(*want));
		double *got = calloc(links, sizeof(*got));
		const struct cpl_routing *routing =
		        &cpl_routing_adaptive_minimal;

		for (int i = 0; i < 12; i++) {
			int from = draw(seed, 100 + 2 * (uint64_t)i, 0,
			                net->n_routers - 1);
			int to = draw(seed, 101 + 2 * (uint64_t)i, 0,
			              net->n_routers - 1);

			flow(net, from, to, 1000, want);
			routing->add(net, from, to, 1000, got);
			assert_number(routing->hops(net, from, to),
			              distance(&net->torus, from, to), 0);
		}
		same_loads(net, got, want, seed);
		cpl_network_free(net);
		free(want);
		free(got);
	}
}

/* 3,998 steps: the path counts are far beyond a double. */
static void test_adaptive_minimal_far_apart(void **state)
{
	struct cpl_network *net =
	        parse("{\"format\": \"commplace-network\", \"version\": 1, "
	              "\"type\": \"torus\", \"dims\": [1000, 1000], "
	              "\"wrap\": [false, false], \"nodes\": {\"0\": \"a\"}}");
	double *load = calloc((size_t)net->n_links, sizeof(*load)), sum = 0;

	cpl_routing_adaptive_minimal.add(net, 0, 999999, 1, load);
	for (int64_t l = 0; l < net->n_links; l++)
		sum += load[l];
	assert_number(sum, 1998, 1e-6);
	/* The ends are shared evenly. */
	assert_number(load[net->torus.out[0]], 0.5, 1e-9);
	assert_number(load[net->torus.out[2]], 0.5, 1e-9);
	free(load);
	cpl_network_free(net);
}

/* Bytes are on as many links as they have hops, all of them arrive, and the
 * answer does not depend on what was on the links or in the buffers. */
static void test_adaptive_conserves(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++)
		for (int a = 0; a < 3; a++) {
			struct cpl_network *net = random_fly(seed);
			struct cpl_comm *comm = random_comm(net, seed);
			struct cpl_load load, again, direct;
			struct cpl_job_sums sums, sums_again, sums_direct;
			double *net_out;
			int ports = net->nodes_per_router;

			evaluate(net, adaptive[a], comm, &load, &sums);
			evaluate(net, adaptive[a], comm, &again, &sums_again);
			evaluate(net, "SD", comm, &direct, &sums_direct);
			assert_memory_equal(load.link, again.link,
			                    (size_t)net->n_links *
			                            sizeof(double));
			assert_number(total(net, &load), sums.hop_bytes,
			              1e-9 * sums.hop_bytes);
			assert_true(sums.hop_bytes >=
			            sums_direct.hop_bytes * (1 - 1e-12));
			assert_true(sums.max_dilation <= 10);
			if (!strcmp(adaptive[a], "AD")) {
				assert_number(sums.hop_bytes,
				              sums_direct.hop_bytes,
				              1e-9 * sums.hop_bytes);
				assert_number(sums.max_dilation,
				              sums_direct.max_dilation, 1e-9);
			}
			/* What enters and leaves each router is what is sent
			 * there and to it. */
			net_out = calloc((size_t)net->n_routers,
			                 sizeof(*net_out));
			for (int64_t l = 0; l < net->n_links; l++) {
				net_out[net->link_from[l]] += load.link[l];
				net_out[net->link_to[l]] -= load.link[l];
			}
			for (int r = 0; r < comm->ranks; r++)
				for (int64_t e = comm->row[r];
				     e < comm->row[r + 1]; e++) {
					net_out[r / ports] -= comm->bytes[e];
					net_out[comm->to[e] / ports] +=
					        comm->bytes[e];
				}
			for (int r = 0; r < net->n_routers; r++)
				assert_number(net_out[r], 0, 1e-3);
			free(net_out);
			cpl_load_free(&load);
			cpl_load_free(&again);
			cpl_load_free(&direct);
			cpl_comm_free(comm);
			cpl_network_free(net);
		}
}

/* More pairs than grants are kept of. */
static void test_adaptive_of_many_pairs(void **state)
{
	struct cpl_network *net = fly(5, 4, 4, 1, 1);
	int n = net->n_nodes;
	struct cpl_comm_entry *entry = malloc((size_t)(n * n) * sizeof(*entry));
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	int m = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j)
				entry[m++] = (struct cpl_comm_entry){
				        i, j, 1 + (i * j) % 7, 1};
	assert_true(m > 5000);
	comm = cpl_comm_build(n, entry, m, &err);
	for (int a = 0; a < 3; a++) {
		struct cpl_load load;
		struct cpl_job_sums sums;
		double *out = calloc((size_t)n, sizeof(*out));

		evaluate(net, adaptive[a], comm, &load, &sums);
		assert_number(total(net, &load), sums.hop_bytes,
		              1e-9 * sums.hop_bytes);
		for (int64_t l = 0; l < net->n_links; l++) {
			out[net->link_from[l]] += load.link[l];
			out[net->link_to[l]] -= load.link[l];
		}
		for (int i = 0; i < m; i++) {
			out[entry[i].from] -= entry[i].bytes;
			out[entry[i].to] += entry[i].bytes;
		}
		for (int r = 0; r < n; r++)
			assert_number(out[r], 0, 1e-6);
		free(out);
		cpl_load_free(&load);
	}
	free(entry);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* A job's pairs may be fewer than its buffers were made for. */
static void test_scratch_grows_with_the_pairs(void **state)
{
	static const int64_t pairs[] = {1,       2,       4999,    5000,
	                                5001,    100000,  2097151, 2097152,
	                                2097153, 9000000, 90000000};
	struct cpl_network *net = fly(4, 3, 4, 1, 3);

	for (int a = 0; a < 3; a++)
		for (size_t i = 1; i < sizeof(pairs) / sizeof(*pairs); i++) {
			const struct cpl_routing *r =
			        cpl_routing_find(net, adaptive[a], NULL);

			assert_true(r->scratch_size(net, pairs[i]) >=
			            r->scratch_size(net, pairs[i - 1]));
		}
	cpl_network_free(net);
}

/* No link grants more than it has, and the busiest grants all of it. */
static void test_adaptive_keeps_to_the_capacity(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = random_fly(seed);
		struct cpl_comm *comm = random_comm(net, seed);
		int n = net->n_routers, ports = net->nodes_per_router;
		double *between = calloc((size_t)(n * n), sizeof(*between));
		int *from = calloc((size_t)n, sizeof(int));
		int64_t *row = calloc((size_t)n + 1, sizeof(int64_t));
		int *to = calloc((size_t)(n * n), sizeof(int));
		double *bytes = calloc((size_t)(n * n), sizeof(double));
		struct cpl_pairs pairs = {0, from, row, to, bytes};
		int64_t m = 0;

		for (int r = 0; r < comm->ranks; r++)
			for (int64_t e = comm->row[r]; e < comm->row[r + 1];
			     e++)
				between[r / ports * n + comm->to[e] / ports] +=
				        comm->bytes[e];
		for (int a = 0; a < n; a++) {
			int64_t first = m;

			for (int b = 0; b < n; b++)
				if (a != b && between[a * n + b] > 0) {
					to[m] = b;
					bytes[m++] = between[a * n + b];
				}
			if (m > first) {
				from[pairs.n_from++] = a;
				row[pairs.n_from] = m;
			}
		}
		for (int a = 0; a < 3 && m; a++) {
			const struct cpl_routing *routing =
			        cpl_routing_find(net, adaptive[a], NULL);
			void *scratch = malloc(routing->scratch_size(net, m));
			double *got =
			        calloc((size_t)net->n_links, sizeof(*got));
			double fullest = 0;

			cpl_adaptive_bandwidth(net, routing, &pairs, scratch,
			                       got);
			for (int64_t l = 0; l < net->n_links; l++) {
				double part =
				        got[l] /
				        cpl_network_link_bandwidth(net, l);

				assert_true(part <= 1 + 1e-9);
				if (part > fullest)
					fullest = part;
			}
			assert_true(fullest > 0.95);
			free(scratch);
			free(got);
		}
		free(between);
		free(from);
		free(row);
		free(to);
		free(bytes);
		cpl_comm_free(comm);
		cpl_network_free(net);
	}
}

/* Two groups, three links between them, all traffic from the router that one
 * link is nearest to; the other routers crowd that link as well. */
static void test_adaptive_direct_avoids_the_crowd(void **state)
{
	struct cpl_network *net = fly(2, 1, 4, 1, 2);
	/* Links 0 and 1 sit on routers 2 and 3 of group 0, and on 0 and 1 of
	 * group 1 (4 and 5): from 0 to 6 both ways have 3 links, from 2 to 4
	 * and 6 only link 0 is shortest. */
	struct cpl_comm_entry entry[] = {{0, 6, 100, 1}, {2, 4, 300, 1}};
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(net->n_nodes, entry, 2, &err);
	struct cpl_load direct, load;
	struct cpl_job_sums sums;

	evaluate(net, "SD", comm, &direct, &sums);
	evaluate(net, "AD", comm, &load, &sums);
	assert_number(largest(net, &direct), 350.0 / 5, 1e-9);
	assert_true(largest(net, &load) < 340.0 / 5);
	cpl_load_free(&direct);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* All of a group's routers to the next group: one global link carries it all
 * unless other groups help. */
static void test_indirect_relieves_a_hot_link(void **state)
{
	struct cpl_network *net = fly(6, 2, 3, 1, 1);
	struct cpl_comm_entry entry[6];
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	struct cpl_load direct, load;
	struct cpl_job_sums sums, far;

	for (int i = 0; i < 6; i++)
		entry[i] = (struct cpl_comm_entry){i, 6 + i, 6000, 1};
	comm = cpl_comm_build(net->n_nodes, entry, 6, &err);
	evaluate(net, "SD", comm, &direct, &sums);
	for (int a = 1; a < 3; a++) {
		evaluate(net, adaptive[a], comm, &load, &far);
		assert_true(largest(net, &load) < 0.6 * largest(net, &direct));
		assert_true(far.hop_bytes > sums.hop_bytes);
		cpl_load_free(&load);
	}
	cpl_load_free(&direct);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* Everybody to everybody on a machine whose routers are all alike: loads of a
 * class are equal without draws, and close to each other with them. */
static void test_symmetry(void **state)
{
	static const struct {
		const char *routing;
		double within;
	} table[] = {{"SD", 1e-12},
	             {"SI", 1e-9},
	             {"AD", 1e-9},
	             {"AI", 0.2},
	             {"AH", 0.2}};
	struct cpl_network *net = fly(1, 4, 4, 1, 1);
	struct cpl_comm_entry entry[240];
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	int n = 0;

	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++)
			if (i != j)
				entry[n++] =
				        (struct cpl_comm_entry){i, j, 1000, 1};
	comm = cpl_comm_build(16, entry, n, &err);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_load load;
		struct cpl_job_sums sums;

		evaluate(net, table[i].routing, comm, &load, &sums);
		for (int c = 0; c < 2; c++) {
			const struct cpl_link_class *class =
			        &net->link_class[c];
			double *at = load.link + class->first, mean = 0;

			for (int64_t l = 0; l < class->count; l++)
				mean += at[l] / (double)class->count;
			for (int64_t l = 0; l < class->count; l++)
				assert_number(at[l], mean,
				              table[i].within * mean);
		}
		cpl_load_free(&load);
	}
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* A decision takes the minimal routing for one that the network states and
 * that needs all pairs; what is asked for by name is what it gets. */
static void test_quick(void **state)
{
	struct cpl_network *net = fly(2, 1, 2, 1, 1);
	struct cpl_error err = {""};

	net->routing = strdup("adaptive-hybrid");
	assert_ptr_equal(cpl_routing_find(net, NULL, &err),
	                 &cpl_routing_adaptive_hybrid);
	assert_ptr_equal(cpl_routing_find_quick(net, NULL, &err),
	                 &cpl_routing_static_direct);
	assert_ptr_equal(cpl_routing_find_quick(net, "AI", &err),
	                 &cpl_routing_adaptive_indirect);
	assert_null(cpl_routing_find_quick(net, "DO", &err));
	assert_ptr_equal(cpl_routing_by_pairs(&cpl_routing_adaptive_minimal),
	                 &cpl_routing_adaptive_minimal);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_static_indirect),
	        cmocka_unit_test(test_static_indirect_with_many_links),
	        cmocka_unit_test(test_static_indirect_in_a_large_group),
	        cmocka_unit_test(test_adaptive_minimal),
	        cmocka_unit_test(test_adaptive_minimal_far_apart),
	        cmocka_unit_test(test_adaptive_conserves),
	        cmocka_unit_test(test_adaptive_of_many_pairs),
	        cmocka_unit_test(test_scratch_grows_with_the_pairs),
	        cmocka_unit_test(test_adaptive_keeps_to_the_capacity),
	        cmocka_unit_test(test_adaptive_direct_avoids_the_crowd),
	        cmocka_unit_test(test_indirect_relieves_a_hot_link),
	        cmocka_unit_test(test_symmetry),
	        cmocka_unit_test(test_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
