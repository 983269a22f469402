/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library as a program sees it: public headers only, linked against what is
 * exported. */
#include <stdbool.h>

#include "unit.h"

#include <commplace/commplace.h>

#include <limits.h>
#include <math.h>
#include <time.h>

/* A ring of eight routers with two nodes each. */
static const char ring[] =
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"ring\","
        "\"type\":\"torus\",\"dims\":[8],\"nodes_per_router\":2,"
        "\"bandwidth\":{\"dim\":[2.0],\"injection\":4.0},"
        "\"nodes\":\"n[0-15]\"}";
/* Ranks 0 and 1, 2 and 3 talk. */
static const char pairs[] =
        "{\"format\":\"commplace-signature\",\"version\":1,\"name\":\"pairs\","
        "\"application\":\"app\",\"ranks\":4,\"phases\":[{\"name\":\"p\","
        "\"weight\":10,\"traffic\":[[0,1,6,1],[2,3,4,1]]}]}";

struct given {
	struct commplace_network *net;
	struct commplace_signature *sig;
};

static int set_up(void **state)
{
	static struct given given;

	given.net = commplace_network_parse(ring, strlen(ring), "ring", NULL);
	given.sig =
	        commplace_signature_parse(pairs, strlen(pairs), "pairs", NULL);
	*state = &given;
	return given.net && given.sig ? 0 : -1;
}

static int tear_down(void **state)
{
	struct given *given = *state;

	commplace_network_free(given->net);
	commplace_signature_free(given->sig);
	return 0;
}

static bool near(double a, double b)
{
	return a > b - 1e-9 && a < b + 1e-9;
}

static void network(void **state)
{
	const struct commplace_network *net = ((struct given *)*state)->net;
	struct commplace_error err = {""};
	int n = -1, *node, begin[16], end[16], class_id[16];
	double bandwidth[16];

	assert_string_equal(commplace_network_name(net), "ring");
	assert_string_equal(commplace_network_type(net), "torus");
	assert_int_equal(commplace_network_nodes(net), 16);
	assert_int_equal(commplace_network_routers(net), 8);
	assert_int_equal(commplace_network_links(net), 16);
	assert_int_equal(commplace_network_classes(net), 1);
	assert_string_equal(commplace_network_class_name(net, 0), "dim0");
	assert_null(commplace_network_class_name(net, 1));
	assert_null(commplace_network_class_name(net, -1));
	assert_string_equal(commplace_network_host(net, 15), "n15");
	assert_null(commplace_network_host(net, 16));
	assert_null(commplace_network_host(net, -1));
	assert_int_equal(commplace_network_node(net, "n3"), 3);
	assert_int_equal(commplace_network_node(net, "n16"), -1);
	for (int64_t link = 0; link < 16; link++) {
		int from = commplace_network_link_from(net, link);
		int to = commplace_network_link_to(net, link);

		assert_true((from + 1) % 8 == to || (to + 1) % 8 == from);
		assert_int_equal(commplace_network_link_class(net, link), 0);
		assert_true(commplace_network_link_bandwidth(net, link) == 2);
	}
	assert_int_equal(commplace_network_link_from(net, 16), -1);
	assert_int_equal(commplace_network_link_to(net, -1), -1);
	assert_int_equal(commplace_network_link_class(net, 16), -1);
	assert_true(commplace_network_link_bandwidth(net, 16) == -1);
	commplace_network_read_links(net, NULL, NULL, NULL, NULL);
	commplace_network_read_links(net, begin, end, class_id, bandwidth);
	for (int link = 0; link < 16; link++) {
		assert_int_equal(begin[link],
		                 commplace_network_link_from(net, link));
		assert_int_equal(end[link],
		                 commplace_network_link_to(net, link));
		assert_int_equal(class_id[link], 0);
		assert_true(bandwidth[link] == 2);
	}
	node = commplace_network_hostlist(net, "n[3,1]", &n, &err);
	assert_non_null(node);
	assert_int_equal(n, 2);
	assert_int_equal(node[0], 3);
	assert_int_equal(node[1], 1);
	free(node);
	assert_null(commplace_network_hostlist(net, "n[3", &n, &err));
	assert_int_equal(n, 0);
	assert_string_not_equal(err.text, "");
	assert_null(commplace_network_hostlist(net, "n3,m3", &n, &err));
	assert_string_equal(err.text, "network ring has no host m3");
}

static void signature(void **state)
{
	const struct commplace_signature *sig = ((struct given *)*state)->sig;

	assert_string_equal(commplace_signature_name(sig), "pairs");
	assert_string_equal(commplace_signature_application(sig), "app");
	assert_int_equal(commplace_signature_ranks(sig), 4);
	assert_int_equal(commplace_signature_phases(sig), 1);
	assert_string_equal(commplace_signature_phase_name(sig, 0), "p");
	assert_true(commplace_signature_phase_weight(sig, 0) == 10);
	assert_null(commplace_signature_phase_name(sig, 1));
	assert_true(commplace_signature_phase_weight(sig, -1) == 0);
}

/* What was made of entries, and of a file that was written of it. */
static void matrix(void **state)
{
	static const int from[] = {1, 0, 0, 2}, to[] = {0, 2, 1, 2};
	static const int64_t rows[] = {0, 2, 3, 4};
	static const double bytes[] = {5, 7.5, 1, 9}, twice[] = {1, 2, 3, 4};
	static const char path[] = "test_library.json.tmp";
	struct commplace_error err = {""};
	struct commplace_signature *made = commplace_signature_make(
	        "made", 3, 4, from, to, bytes, twice, &err);
	struct commplace_signature *read;

	assert_non_null(made);
	assert_int_equal(commplace_signature_write(made, path, &err), 0);
	read = commplace_signature_load(path, &err);
	remove(path);
	assert_non_null(read);
	for (int i = 0; i < 2; i++) {
		const struct commplace_signature *sig = i ? read : made;

		assert_int_equal(commplace_signature_ranks(sig), 3);
		assert_int_equal(commplace_signature_phases(sig), 1);
		assert_memory_equal(commplace_signature_phase_rows(sig, 0),
		                    rows, sizeof(rows));
		assert_int_equal(commplace_signature_phase_to(sig, 0)[0], 1);
		assert_int_equal(commplace_signature_phase_to(sig, 0)[3], 2);
		assert_true(commplace_signature_phase_bytes(sig, 0)[1] == 7.5);
		assert_true(commplace_signature_phase_messages(sig, 0)[0] == 3);
		assert_null(commplace_signature_phase_rows(sig, 1));
	}
	assert_int_equal(
	        commplace_signature_write(made, "/no/such/dir/x", &err), -1);
	assert_non_null(strstr(err.text, "/no/such/dir"));
	commplace_signature_free(made);
	commplace_signature_free(read);
}

static void matrix_refused(void **state)
{
	static const struct {
		const char *name;
		int ranks, from, to;
		double bytes, messages;
		const char *why;
	} cases[] = {
	        {"a", 0, 0, 0, 1, 1, "ranks: 0 is outside"},
	        {"a", INT_MAX, 0, 0, 1, 1, "ranks: 2147483647 is outside"},
	        {"a", 2, 2, 0, 1, 1, "entry 0: 2 sends"},
	        {"a", 2, 0, -1, 1, 1, "to -1"},
	        {"a", 2, 0, 1, -1, 1, "sends -1 bytes"},
	        {"a", 2, 0, 1, NAN, 1, "nan bytes"},
	        {"a", 2, 0, 1, 1, 2e18, "in 2e+18 messages"},
	        {"", 2, 0, 1, 1, 1, "name"},
	};
	struct commplace_error err = {""};
	struct commplace_signature *none;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_null(commplace_signature_make(
		        cases[i].name, cases[i].ranks, 1, &cases[i].from,
		        &cases[i].to, &cases[i].bytes, &cases[i].messages,
		        &err));
		assert_non_null(strstr(err.text, cases[i].why));
	}
	assert_null(commplace_signature_make("a", 2, -1, NULL, NULL, NULL, NULL,
	                                     &err));
	none = commplace_signature_make("a", 2, 0, NULL, NULL, NULL, NULL,
	                                &err);
	assert_non_null(none);
	assert_int_equal(commplace_signature_phase_rows(none, 0)[2], 0);
	commplace_signature_free(none);
}

static void errors(void **state)
{
	struct commplace_error err = {""};

	assert_null(commplace_network_load("/no/such/file", &err));
	assert_non_null(strstr(err.text, "/no/such/file"));
	assert_null(commplace_network_load("/no/such/file", NULL));
	assert_null(commplace_network_parse("{", 1, "a text", &err));
	assert_non_null(strstr(err.text, "a text"));
	assert_null(commplace_signature_load("/no/such/file", &err));
	assert_null(commplace_signature_parse("[]", 2, "a text", &err));
	assert_non_null(strstr(err.text, "a text"));
	commplace_network_free(NULL);
	commplace_signature_free(NULL);
	commplace_options_free(NULL);
	commplace_traffic_free(NULL);
	commplace_placement_free(NULL);
	commplace_mapping_free(NULL);
	commplace_binding_free(NULL);
}

/* Ranks 0 and 1 three routers apart, 2 and 3 on one node. */
static void traffic(void **state)
{
	struct given *given = *state;
	static const int node[] = {0, 6, 8, 8}, block[] = {0, 2}, none[] = {16};
	struct commplace_error err = {""};
	struct commplace_traffic *t =
	        commplace_traffic_new(given->net, 1, &err);
	struct commplace_numbers numbers;
	double sum = 0;

	assert_non_null(t);
	assert_int_equal(commplace_traffic_add_ranks(t, given->sig, node, NULL,
	                                             &err),
	                 0);
	/* 0 and 1, 2 and 3 share a node. */
	assert_int_equal(commplace_traffic_add(t, given->sig, block, 2, 2,
	                                       "adaptive-minimal", &err),
	                 1);
	assert_int_equal(
	        commplace_traffic_add(t, given->sig, block, 2, 1, NULL, &err),
	        -1);
	assert_string_equal(err.text,
	                    "4 ranks do not fit 2 nodes with 1 ranks each");
	assert_int_equal(
	        commplace_traffic_add(t, given->sig, none, 1, 4, NULL, &err),
	        -1);
	assert_string_equal(err.text, "network ring has no node 16");
	assert_int_equal(
	        commplace_traffic_add(t, given->sig, block, 2, 2, "SD", &err),
	        -1);
	assert_non_null(strstr(err.text, "dimension-order"));
	assert_true(commplace_traffic_hop_bytes(t, 0) == 0);
	assert_int_equal(commplace_traffic_evaluate(t, &err), 0);
	assert_int_equal(commplace_traffic_evaluate(t, &err), -1);
	assert_int_equal(commplace_traffic_add_ranks(t, given->sig, node, NULL,
	                                             &err),
	                 -1);

	assert_true(near(commplace_traffic_max_congestion(t), 30));
	assert_true(near(commplace_traffic_mean_congestion(t), 90. / 16));
	assert_true(near(commplace_traffic_nonzero_average(t), 30));
	assert_true(near(commplace_traffic_nonzero_variance(t), 0));
	assert_true(near(commplace_traffic_max_injection(t), 15));
	assert_true(near(commplace_traffic_hop_bytes(t, 0), 180));
	assert_true(near(commplace_traffic_bytes_on_network(t, 0), 60));
	assert_true(near(commplace_traffic_bytes_in_node(t, 0), 40));
	assert_true(near(commplace_traffic_max_dilation(t, 0), 3));
	assert_true(near(commplace_traffic_bytes_in_node(t, 1), 100));
	assert_true(commplace_traffic_bytes_in_node(t, 2) == 0);
	for (int64_t link = 0; link < 16; link++)
		sum += commplace_traffic_link_bytes(t)[link];
	assert_true(near(sum, 180));
	assert_true(near(commplace_traffic_injection_bytes(t)[0], 60));
	assert_true(near(commplace_traffic_ejection_bytes(t)[6], 60));
	assert_int_equal(commplace_traffic_numbers(t, COMMPLACE_ALL_LINKS,
	                                           &numbers, &err),
	                 0);
	assert_int_equal(numbers.count, 16);
	assert_int_equal(numbers.used, 3);
	assert_true(near(numbers.max, 60) && near(numbers.min, 0));
	assert_true(near(numbers.median, 0) && near(numbers.mean, 180. / 16));
	assert_int_equal(commplace_traffic_numbers(t, COMMPLACE_EJECTION,
	                                           &numbers, &err),
	                 0);
	assert_int_equal(numbers.used, 1);
	assert_int_equal(commplace_traffic_numbers(t, 1, &numbers, &err), -1);
	assert_string_equal(err.text, "network ring has no link class 1");
	commplace_traffic_free(t);
	assert_null(commplace_traffic_new(given->net, 0, &err));
}

static void placement(void **state)
{
	struct given *given = *state;
	static const int few[] = {3, 9, 10, 15}, busy[] = {0, 8, 2, 10};
	static const int beside[] = {3, 4, 5, 7, 9, 11, 12, 13};
	struct commplace_traffic *t;
	struct commplace_error err = {""};
	struct commplace_options *o = commplace_options_new(&err);
	struct commplace_placement *p;
	bool has_auto = false;
	const char *name;

	assert_non_null(o);
	p = commplace_placement_choose(given->net, given->sig, 4, 1, "linear",
	                               NULL, &err);
	assert_non_null(p);
	for (int i = 0; i < 4; i++)
		assert_int_equal(commplace_placement_nodes(p)[i], i);
	assert_true(near(commplace_placement_hop_bytes(p), 0));
	assert_true(near(commplace_placement_max_congestion(p), 0));
	commplace_placement_free(p);
	assert_int_equal(commplace_options_free_nodes(o, few, 4, &err), 0);
	assert_int_equal(commplace_options_objective(o, "hop-bytes", &err), 0);
	p = commplace_placement_choose(given->net, given->sig, 4, 1, "auto", o,
	                               &err);
	assert_non_null(p);
	assert_true(commplace_placement_hop_bytes(p) > 0);
	assert_true(commplace_placement_mean_congestion(p) > 0);
	assert_non_null(commplace_placement_policy(p));
	commplace_placement_free(p);
	/* Beside a job whose pairs are on routers 0 and 4, 1 and 5. */
	t = commplace_traffic_new(given->net, 1, &err);
	assert_int_equal(commplace_traffic_add(t, given->sig, busy, 4, 1, NULL,
	                                       &err),
	                 0);
	assert_int_equal(commplace_traffic_evaluate(t, &err), 0);
	assert_int_equal(commplace_options_background(o, t, &err), 0);
	assert_int_equal(commplace_options_free_nodes(o, beside, 8, &err), 0);
	for (int i = 0; i < 2; i++) {
		static const char *const by[] = {"interference", "isolation"};

		assert_int_equal(commplace_options_objective(o, by[i], &err),
		                 0);
		p = commplace_placement_choose(given->net, given->sig, 4, 1,
		                               "traffic", o, &err);
		assert_non_null(p);
		/* Pairs on one router, where nobody else is heard. */
		assert_true(near(commplace_placement_hop_bytes(p), 0));
		commplace_placement_free(p);
	}
	assert_int_equal(commplace_options_background(o, NULL, &err), 0);
	commplace_traffic_free(t);
	assert_int_equal(commplace_options_free_nodes(o, few, 4, &err), 0);
	assert_int_equal(commplace_options_objective(o, "hop-bytes", &err), 0);
	assert_null(commplace_placement_choose(given->net, given->sig, 5, 1,
	                                       "linear", o, &err));
	assert_null(commplace_placement_choose(given->net, given->sig, 4, 1,
	                                       "liner", o, &err));
	assert_non_null(strstr(err.text, "linear"));
	assert_int_equal(commplace_options_objective(o, "beauty", &err), -1);
	assert_int_equal(commplace_options_objective(o, "learned", &err), -1);
	assert_int_equal(commplace_options_free_nodes(o, few, 0, &err), -1);
	assert_int_equal(commplace_options_routing(o, "SD", &err), 0);
	assert_null(commplace_placement_choose(given->net, given->sig, 4, 1,
	                                       "linear", o, &err));
	for (int i = 0; (name = commplace_placement_policy_name(given->net, i));
	     i++)
		has_auto |= !strcmp(name, "auto");
	assert_true(has_auto);
	commplace_options_free(o);
}

static void mapping(void **state)
{
	struct given *given = *state;
	/* Neighbours of the ring are 0 and 2, 8 and 10. */
	static const int node[] = {0, 8, 2, 10}, same[] = {0, 8, 8, 10};
	struct commplace_error err = {""};
	struct commplace_options *o = commplace_options_new(&err);
	struct commplace_traffic *t =
	        commplace_traffic_new(given->net, 1, &err);
	struct commplace_mapping *m;
	const int *at;

	assert_true(o && t);
	m = commplace_mapping_make(given->net, given->sig, node, 4, 1,
	                           "greedyallc", NULL, &err);
	assert_non_null(m);
	at = commplace_mapping_rank_node(m);
	assert_int_equal(abs(at[0] - at[1]), 2);
	assert_int_equal(abs(at[2] - at[3]), 2);
	assert_false(commplace_mapping_is_default(m));
	assert_true(near(commplace_mapping_max_before(m), 50));
	assert_true(near(commplace_mapping_max_after(m), 30));
	assert_true(near(commplace_mapping_hop_bytes_before(m), 400));
	assert_true(near(commplace_mapping_hop_bytes_after(m), 100));
	commplace_mapping_free(m);
	/* Jobs that run already count. */
	assert_int_equal(commplace_traffic_add(t, given->sig, node, 4, 1, NULL,
	                                       &err),
	                 0);
	assert_int_equal(commplace_traffic_evaluate(t, &err), 0);
	assert_int_equal(commplace_options_background(o, t, &err), 0);
	assert_int_equal(commplace_options_threads(o, 2, &err), 0);
	assert_int_equal(commplace_options_seed(o, 7, &err), 0);
	assert_int_equal(commplace_options_seconds(o, 1, &err), 0);
	m = commplace_mapping_make(given->net, given->sig, node, 4, 1, "best",
	                           o, &err);
	assert_non_null(m);
	assert_true(near(commplace_mapping_max_before(m), 100));
	assert_true(commplace_mapping_max_after(m) <= 80);
	commplace_mapping_free(m);
	assert_null(commplace_mapping_make(given->net, given->sig, same, 4, 1,
	                                   "linear", NULL, &err));
	assert_string_equal(err.text, "node 8 is given twice");
	assert_null(commplace_mapping_make(given->net, given->sig, node, 3, 1,
	                                   "linear", NULL, &err));
	assert_null(commplace_mapping_make(given->net, given->sig, node, 4, 1,
	                                   "lineal", NULL, &err));
	assert_int_equal(commplace_options_threads(o, 0, &err), -1);
	assert_int_equal(commplace_options_seconds(o, -1, &err), -1);
	assert_non_null(commplace_mapping_algorithm(0));
	assert_null(commplace_mapping_algorithm(1000));
	commplace_options_free(o);
	commplace_traffic_free(t);
}

/* Candidates of a placement that is judged with a rank order, and a mapping that
 * is taken as it is. */
static void candidates(void **state)
{
	struct given *given = *state;
	static const int node[] = {0, 2, 8, 10};
	struct commplace_error err = {""};
	struct commplace_options *o = commplace_options_new(&err);
	struct commplace_placement *p;
	struct commplace_mapping *m;
	struct commplace_candidate c;
	int n = 0, chosen = 0;

	assert_non_null(o);
	p = commplace_placement_choose(given->net, given->sig, 4, 1, "auto",
	                               NULL, &err);
	assert_non_null(p);
	assert_null(commplace_placement_rank_node(p));
	commplace_placement_free(p);
	assert_int_equal(commplace_options_rank_mapping(o, "greedyalll", &err),
	                 -1);
	assert_non_null(strstr(err.text, "greedyalll"));
	assert_int_equal(commplace_options_rank_mapping(o, "greedyallc", &err),
	                 0);
	assert_int_equal(commplace_options_free_nodes(o, node, 4, &err), 0);
	p = commplace_placement_choose(given->net, given->sig, 4, 1, "auto", o,
	                               &err);
	assert_non_null(p);
	assert_int_equal(commplace_placement_candidate(p, -1, &c), -1);
	for (; !commplace_placement_candidate(p, n, &c); n++) {
		assert_true(c.evaluated);
		assert_non_null(c.policy);
		if (!c.chosen)
			continue;
		chosen++;
		assert_true(c.max_congestion ==
		            commplace_placement_max_congestion(p));
		assert_string_equal(c.policy, commplace_placement_policy(p));
		assert_true(c.mapped_max_congestion <= c.max_congestion);
		assert_true(c.mapped_max_congestion >= 0);
	}
	assert_true(n > 1);
	assert_int_equal(chosen, 1);
	commplace_placement_free(p);
	/* The default order is best; random ones are not, by most seeds. */
	for (int raw = 0; raw < 2; raw++) {
		int worse = 0;

		assert_int_equal(commplace_options_raw(o, raw, &err), 0);
		for (uint64_t seed = 1; seed <= 8; seed++) {
			commplace_options_seed(o, seed, &err);
			m = commplace_mapping_make(given->net, given->sig, node,
			                           4, 1, "random", o, &err);
			assert_non_null(m);
			worse += commplace_mapping_max_after(m) >
			         commplace_mapping_max_before(m);
			commplace_mapping_free(m);
		}
		assert_int_equal(worse > 0, raw);
	}
	commplace_options_free(o);
}

static void binding(void **state)
{
	struct given *given = *state;
	static const int rank[] = {0, 2, 1, 3}, twice[] = {1, 1}, high[] = {4};
	static const char topology[] = "pack:2 core:2 pu:2";
	struct commplace_error err = {""};
	struct commplace_options *o = commplace_options_new(&err);
	struct commplace_binding *b;
	const int *cpu[4];
	int n;

	assert_non_null(o);
	b = commplace_binding_make(given->sig, rank, 4, topology, "treematch",
	                           NULL, &err);
	assert_non_null(b);
	for (int i = 0; i < 4; i++) {
		cpu[i] = commplace_binding_cpus(b, i, &n);
		assert_int_equal(n, 2);
		assert_int_equal(cpu[i][1], cpu[i][0] + 1);
	}
	/* Ranks 0 and 1, the first and the third, are on one package. */
	assert_int_equal(cpu[0][0] / 4, cpu[2][0] / 4);
	assert_int_equal(cpu[1][0] / 4, cpu[3][0] / 4);
	assert_null(commplace_binding_cpus(b, 4, &n));
	assert_true(commplace_binding_cost(b) <
	            commplace_binding_cost_packed(b));
	commplace_binding_free(b);
	assert_int_equal(commplace_options_cpus_per_rank(o, 1, &err), 0);
	b = commplace_binding_make(given->sig, rank, 4, topology, "packed", o,
	                           &err);
	assert_non_null(b);
	for (int i = 0; i < 4; i++) {
		cpu[i] = commplace_binding_cpus(b, i, &n);
		assert_int_equal(n, 1);
		assert_int_equal(cpu[i][0], i);
	}
	commplace_binding_free(b);
	assert_int_equal(commplace_options_cores_per_rank(o, 0, &err), -1);
	assert_int_equal(commplace_options_cpus_per_rank(o, 0, &err), -1);
	assert_int_equal(commplace_options_cpus_per_rank(o, 65537, &err), -1);
	assert_int_equal(commplace_options_cores_per_rank(o, 2, &err), 0);
	assert_null(commplace_binding_make(given->sig, rank, 4, topology,
	                                   "packed", o, &err));
	assert_null(commplace_binding_make(given->sig, twice, 2, topology,
	                                   "packed", NULL, &err));
	assert_string_equal(err.text, "rank 1 is given twice");
	assert_null(commplace_binding_make(given->sig, high, 1, topology,
	                                   "packed", NULL, &err));
	assert_null(commplace_binding_make(given->sig, rank, 4, "nonsense:x",
	                                   "packed", NULL, &err));
	assert_null(commplace_binding_make(given->sig, rank, 4, topology,
	                                   "paced", NULL, &err));
	assert_non_null(commplace_binding_algorithm(0));
	assert_null(commplace_binding_algorithm(1000));
	commplace_options_free(o);
}

/* A turn begins when the clock is at it. */
static void turns(void **state)
{
	struct commplace_error err;
	struct commplace_turn *turn;
	struct timespec begin, end;
	double waited, phase;
	char text[64];

	(void)state;
	assert_null(commplace_turn_new("1:1", &err));
	assert_non_null(strstr(err.text, "the offset from 0 to below it"));
	unsetenv("COMMPLACE_INTERLEAVE");
	turn = commplace_turn_new(NULL, &err);
	assert_non_null(turn);
	assert_true(commplace_turn_wait(turn) == 0);
	commplace_turn_free(turn);
	setenv("COMMPLACE_INTERLEAVE", "100:0", 1);
	turn = commplace_turn_new(NULL, &err);
	assert_non_null(turn);
	commplace_turn_free(turn);
	/* The turn was a tenth of a second ago: the next is in as long. */
	clock_gettime(CLOCK_REALTIME, &begin);
	phase = fmod((double)begin.tv_sec + 1e-9 * (double)begin.tv_nsec, 0.2);
	snprintf(text, sizeof(text), "0.2:%.9f", fmod(phase + 0.1, 0.2));
	turn = commplace_turn_new(text, &err);
	assert_non_null(turn);
	waited = commplace_turn_wait(turn);
	clock_gettime(CLOCK_REALTIME, &end);
	assert_true(waited >= 0 && waited < 0.2);
	assert_true((double)(end.tv_sec - begin.tv_sec) +
	                    1e-9 * (double)(end.tv_nsec - begin.tv_nsec) >=
	            waited - 1e-6);
	commplace_turn_free(turn);
	commplace_turn_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(turns),
	        cmocka_unit_test(network),   cmocka_unit_test(signature),
	        cmocka_unit_test(errors),    cmocka_unit_test(traffic),
	        cmocka_unit_test(placement), cmocka_unit_test(mapping),
	        cmocka_unit_test(binding),   cmocka_unit_test(matrix),
	        cmocka_unit_test(candidates),
	        cmocka_unit_test(matrix_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
