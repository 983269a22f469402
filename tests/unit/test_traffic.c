/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "brute.h"
#include "number.h"
#include "signature/signature.h"
#include "add_traffic.h"
#include "traffic/traffic.h"

static struct cpl_network *load_network(const char *name)
{
	struct cpl_error err = {""};
	struct cpl_network *net;
	char path[512];

	snprintf(path, sizeof(path), NETWORKS "/%s.json", name);
	net = cpl_network_load(path, &err);
	if (!net)
		fail_msg("%s", err.text);
	return net;
}

static struct cpl_comm *build(int ranks, struct cpl_comm_entry *entry, int n)
{
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(ranks, entry, n, &err);

	assert_non_null(comm);
	return comm;
}

/* Evaluate into a fresh load. */
static void evaluate(const struct cpl_network *net, const struct cpl_comm *comm,
                     const int *rank_node, struct cpl_load *load,
                     struct cpl_job_sums *sums)
{
	struct cpl_error err = {""};

	assert_int_equal(cpl_load_init(load, net, &err), 0);
	add_traffic(net, cpl_routing_find(net, NULL, &err), comm, rank_node, load, sums);
}

/* The tables of tests/golden/links, in rank order of the hosts file. */
static void check_table(const char *network, const char *name)
{
	struct cpl_network *net = load_network(network);
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	struct cpl_load load;
	char path[512], line[256], class[32];
	int rank_node[64], ranks = 0, from, to;
	double bytes;
	FILE *file;

	snprintf(path, sizeof(path), TABLES "/%s.json", name);
	sig = cpl_signature_load(path, &err);
	if (!sig)
		fail_msg("%s", err.text);
	comm = cpl_signature_total(sig, &err);
	snprintf(path, sizeof(path), TABLES "/%s.hosts", name);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '#')
			rank_node[ranks++] = cpl_network_node(net, line);
	}
	fclose(file);
	assert_int_equal(ranks, comm->ranks);
	evaluate(net, comm, rank_node, &load, NULL);
	snprintf(path, sizeof(path), TABLES "/%s.table", name);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		int64_t link = 0;

		if (sscanf(line, "%31s %d %d %lf", class, &from, &to, &bytes) <
		            4 ||
		    class[0] == '#')
			continue;
		while (link < net->n_links && (net->link_from[link] != from ||
		                               net->link_to[link] != to))
			link++;
		assert_true(link < net->n_links);
		assert_string_equal(
		        net->link_class[net->link_class_of[link]].name, class);
		assert_number(load.link[link], bytes, 0);
		load.link[link] = 0;
	}
	fclose(file);
	for (int64_t link = 0; link < net->n_links; link++)
		assert_number(load.link[link], 0, 0);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	cpl_network_free(net);
}

static void test_hand_written_tables(void **state)
{
	check_table("torus-4x4x4", "torus-4x4x4");
	check_table("quickstart", "dragonfly-4x2x2x2");
}

#define RANDOM_CASES 30
#define RANDOM_MESSAGES 200

/* Random traffic of ranks on random nodes, against the enumeration. */
static void check_random(const struct cpl_network *net, uint64_t seed)
{
	struct cpl_comm_entry entry[RANDOM_MESSAGES];
	int ranks = 2 * net->n_nodes, *rank_node = calloc((size_t)ranks, 4);
	double *want = calloc((size_t)net->n_links + 1, sizeof(*want));
	double hop_bytes = 0, sum = 0, farthest = 0, in_node = 0, all = 0;
	struct cpl_job_sums sums;
	struct cpl_comm *comm;
	struct cpl_load load;

	assert_non_null(want);
	for (int r = 0; r < ranks; r++)
		rank_node[r] = (int)cpl_random_below(seed, 1, (uint64_t)r,
		                                     (uint64_t)net->n_nodes);
	for (int i = 0; i < RANDOM_MESSAGES; i++) {
		uint64_t at = 3 * (uint64_t)i, n = (uint64_t)ranks;
		struct cpl_comm_entry *e = &entry[i];
		int from, to, hops;

		e->from = (int)cpl_random_below(seed, 2, at, n);
		e->to = (int)cpl_random_below(seed, 2, at + 1, n);
		e->bytes = (double)cpl_random_below(seed, 2, at + 2, 1000000);
		e->messages = 1;
		from = rank_node[e->from];
		to = rank_node[e->to];
		all += e->bytes;
		if (from == to) {
			in_node += e->bytes;
			continue;
		}
		hops = brute_add(net, from / net->nodes_per_router,
		                 to / net->nodes_per_router, e->bytes, want);
		hop_bytes += hops * e->bytes;
		if (hops > farthest && e->bytes > 0)
			farthest = hops;
	}
	comm = build(ranks, entry, RANDOM_MESSAGES);
	evaluate(net, comm, rank_node, &load, &sums);
	for (int64_t link = 0; link < net->n_links; link++) {
		if (load.link[link] < want[link] * (1 - 1e-12) - 1e-6 ||
		    load.link[link] > want[link] * (1 + 1e-12) + 1e-6)
			fail_msg("seed %d: link %d, %d -> %d: %.17g, not %.17g",
			         (int)seed, (int)link, net->link_from[link],
			         net->link_to[link], load.link[link],
			         want[link]);
		sum += load.link[link];
	}
	/* Bytes are conserved: each is on as many links as it has hops. */
	assert_number(sum, hop_bytes, 1e-9 * hop_bytes);
	assert_number(sums.hop_bytes, hop_bytes, 1e-12 * hop_bytes);
	assert_number(sums.max_dilation, farthest, 0);
	assert_number(sums.bytes, all, 0);
	assert_number(sums.bytes_in_node, in_node, 0);
	assert_number(sums.bytes_on_network, all - in_node, 0);
	sum = 0;
	for (int node = 0; node < net->n_nodes; node++)
		sum += load.injection[node];
	assert_number(sum, all - in_node, 0);
	sum = 0;
	for (int node = 0; node < net->n_nodes; node++)
		sum += load.ejection[node];
	assert_number(sum, all - in_node, 0);
	cpl_load_free(&load);
	cpl_comm_free(comm);
	free(rank_node);
	free(want);
}

static int draw(uint64_t seed, uint64_t counter, int low, int high)
{
	return low + (int)cpl_random_below(seed, 9, counter,
	                                   (uint64_t)(high - low + 1));
}

static void check_random_text(const char *text, uint64_t seed)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", &err);

	if (!net)
		fail_msg("%s: %s", text, err.text);
	check_random(net, seed);
	cpl_network_free(net);
}

static void test_random_dragonflies(void **state)
{
	for (uint64_t seed = 0; seed < RANDOM_CASES; seed++) {
		int groups = draw(seed, 0, 1, 5), rows = draw(seed, 1, 1, 4);
		int columns = draw(seed, 2, 1, 4), ports = draw(seed, 3, 1, 3);
		int k = draw(seed, 4, 1, 3);
		char text[512];

		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-network\", \"version\": 1, "
		         "\"type\": \"dragonfly\", \"groups\": %d, "
		         "\"rows\": %d, \"columns\": %d, "
		         "\"nodes_per_router\": %d, "
		         "\"global_links_per_group_pair\": %d, "
		         "\"nodes\": \"n[0-%d]\"}",
		         groups, rows, columns, ports, k,
		         groups * rows * columns * ports - 1);
		check_random_text(text, seed);
	}
}

static void test_random_tori(void **state)
{
	for (uint64_t seed = 0; seed < RANDOM_CASES; seed++) {
		int n_dims = draw(seed, 0, 1, 4), ports = draw(seed, 1, 1, 2);
		char dims[64] = "", wrap[64] = "", text[512];
		int routers = 1;

		for (int d = 0; d < n_dims; d++) {
			int n = draw(seed, 10 + (uint64_t)d, 1, 5);

			routers *= n;
			sprintf(dims + strlen(dims), "%s%d", d ? "," : "", n);
			sprintf(wrap + strlen(wrap), "%s%s", d ? "," : "",
			        draw(seed, 20 + (uint64_t)d, 0, 1) ? "true"
			                                           : "false");
		}
		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-network\", \"version\": 1, "
		         "\"type\": \"torus\", \"dims\": [%s], "
		         "\"wrap\": [%s], \"nodes_per_router\": %d, "
		         "\"nodes\": \"n[0-%d]\"}",
		         dims, wrap, ports, routers * ports - 1);
		check_random_text(text, seed);
	}
}

/* Nothing is left in the work buffers, and ranks in another order load the
 * same links. */
static void test_work_is_reusable(void **state)
{
	struct cpl_network *net = load_network("quickstart");
	struct cpl_comm_entry entry[] = {
	        {0, 1, 0.1, 1}, {1, 2, 0.2, 1}, {2, 0, 0.7, 1}, {2, 1, 0, 1}};
	struct cpl_comm *comm = build(3, entry, 4);
	const int near[] = {0, 1, 2}, far[] = {31, 7, 16};
	const struct cpl_routing *routing = &cpl_routing_static_direct;
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(net, 1, &err);
	struct cpl_job job = {.routing = routing, .comm = comm, .node = far};
	struct cpl_load first, again;

	cpl_load_init(&first, net, &err);
	cpl_load_init(&again, net, &err);
	assert_int_equal(cpl_workload_add(w, &job, &err), 0);
	cpl_load_add(&first, cpl_workload_load(w), net);
	job.node = near;
	assert_int_equal(cpl_workload_add(w, &job, &err), 1);
	cpl_workload_clear(w, NULL);
	job.node = far;
	assert_int_equal(cpl_workload_add(w, &job, &err), 0);
	cpl_load_add(&again, cpl_workload_load(w), net);
	cpl_workload_free(w);
	assert_memory_equal(first.link, again.link,
	                    (size_t)net->n_links * sizeof(double));
	assert_memory_equal(first.injection, again.injection,
	                    (size_t)net->n_nodes * sizeof(double));
	assert_memory_equal(first.ejection, again.ejection,
	                    (size_t)net->n_nodes * sizeof(double));
	cpl_load_add(&again, &first, net);
	for (int64_t i = 0; i < net->n_links; i++)
		assert_number(again.link[i], 2 * first.link[i], 0);
	assert_number(again.injection[31], 0.2, 0);
	assert_number(again.ejection[31], 1.4, 0);
	cpl_load_free(&first);
	cpl_load_free(&again);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* 5 links carry 8, 8, 2, 4, 4 bytes/s at bandwidths 1, 2, 1, 1, 4. */
static void test_metrics(void **state)
{
	static const char text[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"torus\", \"dims\": [2, 2, 2], \"bandwidth\": "
	        "{\"dim\": [1, 2, 4], \"injection\": 5}, "
	        "\"nodes\": \"n[0-7]\"}";
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", &err);
	struct cpl_metrics m;
	struct cpl_load load, background;

	assert_non_null(net);
	cpl_load_init(&load, net, &err);
	cpl_load_init(&background, net, &err);
	cpl_traffic_metrics(net, &load, NULL, &m);
	assert_number(m.max_congestion, 0, 0);
	assert_number(m.nonzero_average, 0, 0);
	assert_number(m.nonzero_variance, 0, 0);
	assert_number(m.max_injection, 0, 0);
	load.link[net->link_class[0].first] = 8;
	load.link[net->link_class[1].first + 3] = 8;
	load.link[net->link_class[2].first + 15] = 4;
	background.link[net->link_class[0].first] = 1;
	background.link[net->link_class[0].first + 1] = 2;
	load.injection[3] = 10;
	background.injection[3] = 5;
	load.ejection[0] = 20;
	cpl_traffic_metrics(net, &load, NULL, &m);
	/* 8, 4, 1 over 48 links. */
	assert_number(m.max_congestion, 8, 0);
	assert_number(m.job_congestion, 8, 0);
	assert_number(m.mean_congestion, 13.0 / 48, 1e-15);
	assert_number(m.nonzero_average, 13.0 / 3, 1e-15);
	assert_number(m.nonzero_variance, 27 - 169.0 / 9, 1e-12);
	assert_number(m.max_injection, 4, 0);
	cpl_traffic_metrics(net, &load, &background, &m);
	/* 9, 2, 4, 1. */
	assert_number(m.max_congestion, 9, 0);
	assert_number(m.mean_congestion, 16.0 / 48, 1e-15);
	assert_number(m.nonzero_average, 4, 0);
	assert_number(m.nonzero_variance, 102.0 / 4 - 16, 1e-12);
	assert_number(m.max_injection, 4, 0);
	assert_number(m.job_congestion, 9, 0);
	/* Where others alone are the busiest: of the job's links the one that
	 * has most with theirs, here the second of its own by itself. */
	background.link[net->link_class[0].first + 1] = 30;
	background.link[net->link_class[1].first + 3] = 12;
	cpl_traffic_metrics(net, &load, &background, &m);
	assert_number(m.max_congestion, 30, 0);
	assert_number(m.job_congestion, 10, 0);
	/* Not known of a job that is on no link. */
	memset(load.link, 0, (size_t)net->n_links * sizeof(*load.link));
	cpl_traffic_metrics(net, &load, &background, &m);
	assert_number(m.max_congestion, 30, 0);
	assert_number(m.job_congestion, 0, 0);
	cpl_load_free(&load);
	cpl_load_free(&background);
	cpl_network_free(net);
}

static void test_class_stats(void **state)
{
	static const struct {
		int n;
		double value[8];
		struct cpl_class_stats want;
	} table[] = {
	        {0, {0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
	        {1, {7}, {1, 1, 7, 7, 7, 7, 7, 7, 7}},
	        {2, {4, 0}, {2, 1, 0, 1, 2, 2, 3, 4, 4}},
	        /* numpy.percentile's answers. */
	        {5, {10, 0, 3, 0, 1}, {5, 3, 0, 0, 1, 2.8, 3, 10, 14}},
	        {8,
	         {8, 1, 7, 2, 6, 3, 5, 4},
	         {8, 8, 1, 2.75, 4.5, 4.5, 6.25, 8, 36}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_class_stats got;
		const struct cpl_class_stats *want = &table[i].want;
		struct cpl_error err = {""};

		assert_int_equal(
		        cpl_class_stats(table[i].value, table[i].n, &got, &err),
		        0);
		assert_int_equal(got.count, want->count);
		assert_int_equal(got.used, want->used);
		assert_number(got.min, want->min, 0);
		assert_number(got.q1, want->q1, 0);
		assert_number(got.median, want->median, 0);
		assert_number(got.mean, want->mean, 1e-15);
		assert_number(got.q3, want->q3, 0);
		assert_number(got.max, want->max, 0);
		assert_number(got.total, want->total, 0);
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double between(const double *sorted, int64_t n, double q)
{
	double at = q * (double)(n - 1);
	int64_t low = (int64_t)at;

	return low + 1 < n ? sorted[low] + (at - (double)low) *
	                                           (sorted[low + 1] -
	                                            sorted[low])
	                   : sorted[low];
}

/* Selection finds what sorting finds: few, many and no different values, in
 * order, reversed, and drawn. */
static void test_class_stats_as_sorted(void **state)
{
	enum { MOST = 3000 };
	static const int sizes[] = {1, 2, 3, 4, 24, 25, 26, 100, MOST};
	static const int values[] = {1, 2, 7, 1000000};
	double value[MOST], sorted[MOST];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t k = 0; k < 4 * 3; k++) {
			int n = sizes[i];
			struct cpl_class_stats got;

			for (int x = 0; x < n; x++)
				value[x] = (double)cpl_random_below(
				        i, k, (uint64_t)x,
				        (uint64_t)values[k % 4]);
			memcpy(sorted, value, (size_t)n * sizeof(*value));
			qsort(sorted, (size_t)n, sizeof(*sorted), ascending);
			for (int x = 0; x < n && k / 4; x++)
				value[x] = k / 4 == 1 ? sorted[x]
				                      : sorted[n - 1 - x];
			assert_int_equal(cpl_class_stats(value, n, &got, NULL),
			                 0);
			assert_true(got.min == sorted[0]);
			assert_true(got.q1 == between(sorted, n, 0.25));
			assert_true(got.median == between(sorted, n, 0.5));
			assert_true(got.q3 == between(sorted, n, 0.75));
			assert_true(got.max == sorted[n - 1]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_hand_written_tables),
	        cmocka_unit_test(test_random_dragonflies),
	        cmocka_unit_test(test_random_tori),
	        cmocka_unit_test(test_work_is_reusable),
	        cmocka_unit_test(test_metrics),
	        cmocka_unit_test(test_class_stats),
	        cmocka_unit_test(test_class_stats_as_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
