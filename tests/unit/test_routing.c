/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of the adaptive routings of a dragonfly. */
#include "unit.h"

#include "base/random.h"
#include "number.h"
#include "routing/adaptive/adaptive.h"
#include "routing/dragonfly_paths.h"
#include "traffic/traffic.h"
#include "routing_cases.h"

#define CASES 20

static const char *const adaptive[] = {"AD", "AI", "AH"};

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
		struct cpl_flows pairs = {0, from, row, to, bytes};
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
			double *load =
			        calloc((size_t)net->n_links, sizeof(*load));
			double *got =
			        calloc((size_t)net->n_links, sizeof(*got));
			double fullest = 0;

			struct cpl_adaptive_job job = {&pairs, routing, {0, 0}};
			struct cpl_adaptive solve = {.net = net,
			                             .job = &job,
			                             .n_jobs = 1,
			                             .load = load,
			                             .bandwidth = got};

			assert_int_equal(cpl_adaptive_solve(&solve, NULL), 0);
			for (int64_t l = 0; l < net->n_links; l++) {
				double part =
				        got[l] /
				        cpl_network_link_bandwidth(net, l);

				assert_true(part <= 1 + 1e-9);
				if (part > fullest)
					fullest = part;
			}
			assert_true(fullest > 0.95);
			free(load);
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
	assert_ptr_equal(cpl_routing_by_flow(net, &cpl_routing_adaptive_minimal),
	                 &cpl_routing_adaptive_minimal);
	assert_ptr_equal(cpl_routing_by_flow(net, &cpl_routing_adaptive_hops),
	                 &cpl_routing_o1turn);
	cpl_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_adaptive_conserves),
	        cmocka_unit_test(test_adaptive_of_many_pairs),
	        cmocka_unit_test(test_adaptive_keeps_to_the_capacity),
	        cmocka_unit_test(test_adaptive_direct_avoids_the_crowd),
	        cmocka_unit_test(test_indirect_relieves_a_hot_link),
	        cmocka_unit_test(test_symmetry),
	        cmocka_unit_test(test_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
