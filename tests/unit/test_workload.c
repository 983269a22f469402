/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several jobs solved together: bytes and bandwidth are kept, nothing depends
 * on threads, and adaptive jobs see the others.
 */
#include <math.h>

#include "unit.h"

#include "number.h"
#include "routing_cases.h"
#include "routing/adaptive/adaptive.h"
#include "traffic/matrix.h"

#define CASES 12
#define JOBS 3

static const char *const names[] = {"AD", "AI", "AH", "SD", "SI"};

/* Job j of some has the nodes that leave the rest j. */
static struct cpl_comm *some_comm(const struct cpl_network *net, int jobs,
                                  uint64_t seed)
{
	struct cpl_comm_entry entry[MESSAGES];
	int ranks = net->n_nodes / jobs;
	struct cpl_comm *comm;

	for (int i = 0; i < MESSAGES; i++) {
		uint64_t at = 3 * (uint64_t)i;

		entry[i].from =
		        (int)cpl_random_below(seed, 2, at, (uint64_t)ranks);
		entry[i].to =
		        (int)cpl_random_below(seed, 2, at + 1, (uint64_t)ranks);
		entry[i].bytes =
		        (double)cpl_random_below(seed, 2, at + 2, 1000000);
		entry[i].messages = 1;
	}
	comm = cpl_comm_build(ranks, entry, MESSAGES, NULL);
	assert_non_null(comm);
	return comm;
}

static int *some_nodes(const struct cpl_comm *comm, int jobs, int j)
{
	int *node = malloc((size_t)comm->ranks * sizeof(*node));

	assert_non_null(node);
	for (int r = 0; r < comm->ranks; r++)
		node[r] = r * jobs + j;
	return node;
}

static struct cpl_network *some_fly(uint64_t seed)
{
	return fly(draw(seed, 0, 2, 5), draw(seed, 1, 1, 3),
	           draw(seed, 2, 2, 4), JOBS, draw(seed, 4, 1, 3));
}

static int add(struct cpl_workload *w, const struct cpl_routing *routing,
               const struct cpl_comm *comm, const int *node)
{
	struct cpl_job job = {.routing = routing, .comm = comm, .node = node};

	return cpl_workload_add(w, &job, NULL);
}

/* Without a workload: the pairs and what the routing makes of them alone. */
static void alone(const struct cpl_network *net,
                  const struct cpl_routing *routing,
                  const struct cpl_comm *comm, const int *node,
                  struct cpl_load *load, struct cpl_job_sums *sums)
{
	struct cpl_job job = {.node = node};
	struct cpl_matrix buffers = {0};
	struct cpl_adaptive_job only = {.flows = &buffers.flows,
	                                .routing = routing};
	struct cpl_adaptive a = {
	        .net = net, .job = &only, .n_jobs = 1, .load = load->link};

	assert_int_equal(cpl_matrix_reserve(&buffers, net, routing, comm, NULL),
	                 0);
	cpl_matrix_add(&buffers, net, routing, &job, comm, NULL, load,
	               sums);
	if (cpl_routing_is_adaptive(routing)) {
		assert_int_equal(cpl_adaptive_solve(&a, NULL), 0);
		sums->hop_bytes = only.routed.hop_bytes;
		sums->max_dilation = only.routed.max_hops;
	}
	cpl_matrix_free(&buffers);
}

/* Three jobs with routings of their own: what a router sends and gets is what
 * its nodes do, and bytes are on as many links as they have hops. */
static void test_conserves(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = some_fly(seed);
		struct cpl_workload *w = cpl_workload_new(net, 2, NULL);
		double *out = calloc((size_t)net->n_routers, sizeof(*out));
		double hop_bytes = 0, total = 0;
		const struct cpl_load *load;

		assert_non_null(w);
		for (int j = 0; j < JOBS; j++) {
			const char *name = names[draw(seed, 20 + (uint64_t)j, 0,
			                              j ? 4 : 2)];
			struct cpl_comm *comm =
			        some_comm(net, JOBS, seed * JOBS + (uint64_t)j);
			int *node = some_nodes(comm, JOBS, j);

			assert_int_equal(
			        add(w, cpl_routing_find(net, name, NULL), comm,
			            node),
			        j);
			for (int r = 0; r < comm->ranks; r++)
				for (int64_t e = comm->row[r];
				     e < comm->row[r + 1]; e++) {
					out[node[r] / JOBS] -= comm->bytes[e];
					out[node[comm->to[e]] / JOBS] +=
					        comm->bytes[e];
				}
			free(node);
			cpl_comm_free(comm);
		}
		assert_int_equal(cpl_workload_solve(w, NULL), 0);
		load = cpl_workload_load(w);
		for (int j = 0; j < JOBS; j++)
			hop_bytes += cpl_workload_sums(w, j)->hop_bytes;
		for (int64_t l = 0; l < net->n_links; l++) {
			total += load->link[l];
			out[net->link_from[l]] += load->link[l];
			out[net->link_to[l]] -= load->link[l];
		}
		assert_number(total, hop_bytes, 1e-9 * hop_bytes);
		for (int r = 0; r < net->n_routers; r++)
			assert_number(out[r], 0, 1e-3);
		free(out);
		cpl_workload_free(w);
		cpl_network_free(net);
	}
}

/* One adaptive job is what it is alone; static ones are what they are, even
 * beside it. */
static void test_alone(void **state)
{
	for (uint64_t seed = 0; seed < 5; seed++)
		for (int a = 0; a < 5; a++) {
			struct cpl_network *net = some_fly(seed);
			const struct cpl_routing *routing =
			        cpl_routing_find(net, names[a], NULL);
			struct cpl_comm *comm = some_comm(net, 1, seed);
			int *node = some_nodes(comm, 1, 0);
			struct cpl_workload *w = cpl_workload_new(net, 1, NULL);
			size_t size = (size_t)net->n_links * sizeof(double);
			const struct cpl_load *got;
			struct cpl_load want;
			struct cpl_job_sums sums = {0};

			assert_int_equal(cpl_load_init(&want, net, NULL), 0);
			alone(net, routing, comm, node, &want, &sums);
			assert_int_equal(add(w, routing, comm, node), 0);
			assert_int_equal(cpl_workload_solve(w, NULL), 0);
			got = cpl_workload_load(w);
			assert_memory_equal(got->link, want.link, size);
			assert_memory_equal(got->ejection, want.ejection,
			                    (size_t)net->n_nodes *
			                            sizeof(double));
			assert_memory_equal(cpl_workload_sums(w, 0), &sums,
			                    sizeof(sums));
			cpl_load_free(&want);
			cpl_workload_free(w);
			cpl_comm_free(comm);
			cpl_network_free(net);
			free(node);
		}
}

/* The same bits for any number of threads, whether grants are kept, paths go by
 * passages, or (more iterations than there is room for) grants are found again;
 * bandwidth is kept to. */
static void test_threads(void **state)
{
	static const struct {
		int groups, rows, columns, k, iterations, threads;
	} table[] = {
	        {9, 4, 4, 1, 0, 3},
	        {9, 4, 4, 2, 50, 2},
	        {9, 4, 4, 1, 61, 2},
	        {100, 1, 2, 1, 0, 2},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_network *net = fly(table[i].groups, table[i].rows,
		                              table[i].columns, 1, table[i].k);
		size_t links = (size_t)net->n_links;
		struct cpl_flows pairs = everybody(net->n_routers);
		int runs = table[i].threads;
		double *load[4], *background = calloc(links, sizeof(double));

		assert_true(pairs.row[pairs.n_from] > 20000);
		for (size_t l = 0; l < links; l++)
			background[l] = (double)(l % 13) * 50;
		for (int t = 0; t < runs; t++) {
			struct cpl_adaptive_job job[] = {
			        {&pairs, &cpl_routing_adaptive_hybrid, {0, 0}},
			        {&pairs, &cpl_routing_adaptive_direct, {0, 0}},
			};
			double *bandwidth = calloc(links, sizeof(double));
			struct cpl_adaptive a = {
			        .net = net,
			        .job = job,
			        .n_jobs = 2,
			        .background = background,
			        .threads = t + 1,
			        .iterations = table[i].iterations,
			        .bandwidth = bandwidth,
			};
			double total = 0;

			a.load = load[t] = calloc(links, sizeof(double));
			assert_int_equal(cpl_adaptive_solve(&a, NULL), 0);
			assert_true(a.iterations_taken >= 50);
			for (size_t l = 0; l < links; l++) {
				total += load[t][l];
				assert_true(bandwidth[l] <=
				            (1 + 1e-9) *
				                    cpl_network_link_bandwidth(
				                            net, (int64_t)l));
			}
			assert_number(total,
			              job[0].routed.hop_bytes +
			                      job[1].routed.hop_bytes,
			              1e-9 * total);
			assert_memory_equal(load[t], load[0],
			                    links * sizeof(double));
			free(bandwidth);
		}
		for (int t = 0; t < runs; t++)
			free(load[t]);
		free(background);
		cpl_flows_free(&pairs);
		cpl_network_free(net);
	}
}

static struct cpl_network *wired_fly(int groups, int rows, int columns, int k,
                                     const char *wiring)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly\", \"groups\": %d, \"rows\": %d, "
	         "\"columns\": %d, \"nodes_per_router\": 1, "
	         "\"global_links_per_group_pair\": %d, "
	         "\"global_wiring\": \"%s\", \"bandwidth\": "
	         "{\"row\": 2, \"column\": 3, \"global\": 5}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         groups, rows, columns, k, wiring, groups * rows * columns - 1);
	return parse_network(text);
}

/* Many pairs: sorted by pairs of groups they are granted what they get one by
 * one. */
static void test_sorted_pairs(void **state)
{
	static const struct {
		int groups, rows, columns, k;
		const char *wiring;
		const struct cpl_routing *routing;
	} table[] = {
	        {9, 4, 4, 1, "modulo", &cpl_routing_adaptive_direct},
	        {40, 2, 2, 1, "modulo", &cpl_routing_adaptive_direct},
	        {13, 3, 4, 1, "palmtree", &cpl_routing_adaptive_direct},
	        {1, 12, 13, 1, "modulo", &cpl_routing_adaptive_direct},
	        {9, 4, 4, 1, "modulo", &cpl_routing_adaptive_hybrid},
	        {40, 2, 2, 2, "modulo", &cpl_routing_adaptive_hybrid},
	        {13, 3, 4, 4, "consecutive", &cpl_routing_adaptive_hybrid},
	        {1, 12, 13, 1, "modulo", &cpl_routing_adaptive_hybrid},
	        {13, 3, 4, 1, "palmtree", &cpl_routing_adaptive_indirect},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_network *net = wired_fly(
		        table[i].groups, table[i].rows, table[i].columns,
		        table[i].k, table[i].wiring);
		size_t links = (size_t)net->n_links;
		struct cpl_flows pairs = everybody(net->n_routers);
		double *load[3], total = 0, sum = 0;
		struct cpl_adaptive_job job = {
		        &pairs, table[i].routing, {0, 0}};
		struct cpl_routed routed[3];

		assert_true(pairs.row[pairs.n_from] > 20000);
		for (int k = 0; k < 3; k++) {
			struct cpl_adaptive a = {.net = net,
			                         .job = &job,
			                         .n_jobs = 1,
			                         .threads = k,
			                         .by_flows = !k};

			a.load = load[k] = calloc(links, sizeof(double));
			assert_int_equal(cpl_adaptive_solve(&a, NULL), 0);
			routed[k] = job.routed;
		}
		for (size_t l = 0; l < links; l++) {
			total += load[1][l];
			assert_number(load[1][l], load[0][l],
			              1e-4 * load[0][l] + 1e-9);
			sum += load[0][l];
		}
		assert_memory_equal(load[1], load[2], links * sizeof(double));
		assert_number(total, sum, 1e-9 * sum);
		assert_number(total, routed[1].hop_bytes, 1e-9 * total);
		assert_number(routed[0].max_hops, routed[1].max_hops, 1e-3);
		for (int k = 0; k < 3; k++)
			free(load[k]);
		cpl_flows_free(&pairs);
		cpl_network_free(net);
	}
}

/* Flows that take turns put the same bytes on the links, but for the chance of fewer
 * paths; and the same bits with any number of threads. */
static void test_turns(void **state)
{
	static const struct {
		const struct cpl_routing *routing;
		int turns;
		double mean, most; /* so much may the links' differ */
	} table[] = {
	        {&cpl_routing_adaptive_indirect, 2, 0.01, 0.02},
	        {&cpl_routing_adaptive_indirect, 10, 0.02, 0.10},
	        {&cpl_routing_adaptive_hybrid, 5, 0.01, 0.05},
	        {&cpl_routing_adaptive_hybrid, 10, 0.02, 0.10},
	};
	struct cpl_network *net = fly(9, 4, 4, 1, 1);
	size_t links = (size_t)net->n_links;
	struct cpl_flows pairs = everybody(net->n_routers);
	double *load[3];

	for (int k = 0; k < 3; k++)
		load[k] = calloc(links, sizeof(double));
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_adaptive_job job = {
		        &pairs, table[i].routing, {0, 0}};
		double sum[3] = {0}, most[3] = {0};

		for (int k = 0; k < 3; k++) {
			struct cpl_adaptive a = {.net = net,
			                         .job = &job,
			                         .n_jobs = 1,
			                         .threads = k + 1,
			                         .load = load[k],
			                         .turns = k ? table[i].turns
			                                    : 1};

			memset(load[k], 0, links * sizeof(double));
			assert_int_equal(cpl_adaptive_solve(&a, NULL), 0);
			for (size_t l = 0; l < links; l++) {
				sum[k] += load[k][l];
				most[k] = fmax(most[k], load[k][l]);
			}
			assert_number(sum[k], job.routed.hop_bytes,
			              1e-9 * sum[k]);
		}
		assert_memory_equal(load[1], load[2], links * sizeof(double));
		assert_memory_not_equal(load[0], load[1],
		                        links * sizeof(double));
		assert_number(sum[1], sum[0], table[i].mean * sum[0]);
		assert_number(most[1], most[0], table[i].most * most[0]);
	}
	for (int k = 0; k < 3; k++)
		free(load[k]);
	cpl_flows_free(&pairs);
	cpl_network_free(net);
}

/* What turns an upper bound of a path's bytes gives: as many as keep below it. */
static void test_turns_by_bytes(void **state)
{
	static const struct {
		double share; /* of a flow's bytes, on each of 240 paths */
		int turns;
	} table[] = {{1.9, 1}, {2.1, 2}, {9.9, 5}, {49, 25}, {99, 50}};
	struct cpl_network *net = fly(9, 4, 4, 1, 1);
	size_t links = (size_t)net->n_links;
	struct cpl_flows pairs = everybody(net->n_routers);
	int64_t n = pairs.row[pairs.n_from];
	double *load[2], mean = 0;

	for (int64_t m = 0; m < n; m++)
		mean += pairs.bytes[m] / (double)n;
	for (int k = 0; k < 2; k++)
		load[k] = calloc(links, sizeof(double));
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_adaptive_job job = {
		        &pairs, &cpl_routing_adaptive_indirect, {0, 0}};

		for (int k = 0; k < 2; k++) {
			struct cpl_adaptive a = {
			        .net = net, .job = &job, .n_jobs = 1,
			        .load = load[k], .threads = 1,
			        .turns = k ? 0 : table[i].turns,
			        .piece = k ? table[i].share * mean / 240 : 0};

			memset(load[k], 0, links * sizeof(double));
			assert_int_equal(cpl_adaptive_solve(&a, NULL), 0);
		}
		assert_memory_equal(load[0], load[1], links * sizeof(double));
	}
	for (int k = 0; k < 2; k++)
		free(load[k]);
	cpl_flows_free(&pairs);
	cpl_network_free(net);
}

/* Jobs of several sizes and routings one after the other, alone and two at a
 * time: what others left in the buffers changes nothing. */
static void test_reuse(void **state)
{
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct cpl_network *net = some_fly(seed);
		struct cpl_workload *w = cpl_workload_new(net, 1, NULL);

		for (uint64_t i = 0; i < 20; i++) {
			const struct cpl_routing *r = cpl_routing_find(
			        net, names[draw(seed, i, 0, 4)], NULL);
			struct cpl_comm *comm =
			        some_comm(net, draw(seed, i + 20, 1, JOBS), i);
			int *node = some_nodes(comm, 1, 0);
			struct cpl_workload *own =
			        cpl_workload_new(net, 1, NULL);

			cpl_workload_clear(w, NULL);
			for (int k = draw(seed, i + 40, 1, 2); k; k--) {
				assert_true(add(w, r, comm, node) >= 0);
				assert_true(add(own, r, comm, node) >= 0);
			}
			assert_int_equal(cpl_workload_solve(w, NULL), 0);
			assert_int_equal(cpl_workload_solve(own, NULL), 0);
			assert_memory_equal(cpl_workload_load(w)->link,
			                    cpl_workload_load(own)->link,
			                    (size_t)net->n_links *
			                            sizeof(double));
			assert_memory_equal(cpl_workload_sums(w, 0),
			                    cpl_workload_sums(own, 0),
			                    sizeof(struct cpl_job_sums));
			cpl_workload_free(own);
			cpl_comm_free(comm);
			free(node);
		}
		cpl_workload_free(w);
		cpl_network_free(net);
	}
}

/* A job under static-direct crowds one of the links between two groups: an
 * adaptive job beside it takes the others, more so than if added up. */
static void test_sees_the_others(void **state)
{
	struct cpl_network *net = fly(2, 1, 4, 1, 2);
	struct cpl_comm_entry still[] = {{2, 4, 900, 1}};
	struct cpl_comm_entry moves[] = {{0, 6, 400, 1}};
	struct cpl_comm *a = cpl_comm_build(8, still, 1, NULL);
	struct cpl_comm *b = cpl_comm_build(8, moves, 1, NULL);
	int node[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct cpl_load alone, together;
	double max[2] = {0, 0};

	assert_int_equal(cpl_load_init(&alone, net, NULL), 0);
	assert_int_equal(cpl_load_init(&together, net, NULL), 0);
	for (int i = 0; i < 2; i++) {
		struct cpl_load *load = i ? &together : &alone;
		struct cpl_workload *w = cpl_workload_new(net, 1, NULL);

		assert_int_equal(add(w,
		                     i ? &cpl_routing_static_direct
		                       : &cpl_routing_adaptive_direct,
		                     i ? a : b, node),
		                 0);
		if (i)
			assert_int_equal(add(w, &cpl_routing_adaptive_direct, b,
			                     node),
			                 1);
		assert_int_equal(cpl_workload_solve(w, NULL), 0);
		cpl_load_add(load, cpl_workload_load(w), net);
		cpl_workload_free(w);
	}
	for (int64_t l = 0; l < net->n_links; l++) {
		double add = alone.link[l];

		/* The static job's only way. */
		if (together.link[l] >= 900)
			add += 900;
		max[0] = add > max[0] ? add : max[0];
		max[1] = together.link[l] > max[1] ? together.link[l] : max[1];
	}
	assert_number(max[0], 1100, 1e-6);
	/* 200 of 1,100 bytes of a link of 5; the other way has all of 2. */
	assert_number(max[1], 900 + 400 * (10.0 / 11) / (10.0 / 11 + 2), 1e-3);
	cpl_load_free(&alone);
	cpl_load_free(&together);
	cpl_comm_free(a);
	cpl_comm_free(b);
	cpl_network_free(net);
}

/* A job whose messages are made when looked at is the same job. */
static void test_stream(void **state)
{
	static const char text[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"name\": \"s\", \"ranks\": 32, \"phases\": [{\"name\": "
	        "\"p\", \"pattern\": {\"type\": \"stencil\", \"dims\": [4, "
	        "8], \"points\": 5, \"periodic\": true, \"bytes\": 1000}}]}";
	struct cpl_error err = {""};
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "s", &err);
	struct cpl_rows *rows = cpl_rows_new(sig, NULL, &err);
	struct cpl_comm *comm = cpl_rows_comm(rows, &err);
	struct cpl_network *net = fly(4, 2, 2, 2, 1);
	int node[32], seat[16];

	assert_non_null(comm);
	for (int r = 0; r < 32; r++)
		node[r] = seat[r / 2] = 31 - 2 * (r / 2);
	for (int a = 0; a < 5; a++) {
		const struct cpl_routing *routing =
		        cpl_routing_find(net, names[a], NULL);
		struct cpl_job of_rows = {.routing = routing,
		                          .rows = rows,
		                          .node = seat,
		                          .ranks_per_node = 2};
		struct cpl_load load[2];
		double hop_bytes[2];

		for (int i = 0; i < 2; i++) {
			struct cpl_workload *w = cpl_workload_new(net, 2, NULL);
			int job = i ? cpl_workload_add(w, &of_rows, NULL)
			            : add(w, routing, comm, node);

			assert_int_equal(job, 0);
			assert_int_equal(cpl_load_init(&load[i], net, NULL), 0);
			assert_int_equal(cpl_workload_solve(w, NULL), 0);
			cpl_load_add(&load[i], cpl_workload_load(w), net);
			hop_bytes[i] = cpl_workload_sums(w, 0)->hop_bytes;
			cpl_workload_free(w);
		}
		assert_number(hop_bytes[0], hop_bytes[1], 1e-9 * hop_bytes[0]);
		for (int64_t l = 0; l < net->n_links; l++)
			assert_number(load[0].link[l], load[1].link[l], 1e-6);
		cpl_load_free(&load[0]);
		cpl_load_free(&load[1]);
	}
	cpl_network_free(net);
	cpl_comm_free(comm);
	cpl_rows_free(rows);
	cpl_signature_free(sig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_conserves),
	        cmocka_unit_test(test_alone),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_sorted_pairs),
	        cmocka_unit_test(test_turns),
	        cmocka_unit_test(test_turns_by_bytes),
	        cmocka_unit_test(test_reuse),
	        cmocka_unit_test(test_sees_the_others),
	        cmocka_unit_test(test_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
