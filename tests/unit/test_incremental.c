/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "flow.h"
#include "number.h"
#include "traffic/incremental.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "
#define NODES " \"nodes\": \"n[0-31]\"}"
#define RANKS 41

/* 32 nodes each; bandwidths that do not divide evenly. */
static const struct machine {
	const char *text, *routing;
} machines[] = {
        {HEAD "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
              "\"columns\": 2, \"nodes_per_router\": 2, "
              "\"global_links_per_group_pair\": 1," NODES,
         "SD"},
        {HEAD "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
              "\"columns\": 2, \"nodes_per_router\": 2, "
              "\"global_links_per_group_pair\": 2," NODES,
         "static-indirect-sampled"},
        {HEAD
         "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 2, "
         "\"columns\": 4, \"nodes_per_router\": 2, "
         "\"global_links_per_group_pair\": 7, \"bandwidth\": {\"row\": "
         "5.25, \"column\": 15.75, \"global\": 4.7, \"injection\": 16}," NODES,
         "SD"},
        {HEAD "\"type\": \"torus\", \"dims\": [4, 2, 4], \"wrap\": [true, "
              "true, false], \"nodes_per_router\": 1, \"bandwidth\": "
              "{\"dim\": [3, 7, 9], \"injection\": 11}," NODES,
         "DO"},
        {HEAD "\"type\": \"torus\", \"dims\": [4, 4], \"wrap\": [true, true], "
              "\"nodes_per_router\": 2," NODES,
         "adaptive-minimal"},
        {HEAD "\"type\": \"fattree\", \"levels\": [{\"down\": 4, \"up\": 2, "
              "\"links\": 1}, {\"down\": 2, \"up\": 3, \"links\": 2}], "
              "\"nodes_per_router\": 4," NODES,
         NULL},
        {HEAD "\"type\": \"haec\", \"dims\": [4, 4, 2]," NODES, NULL},
        {HEAD "\"type\": \"graph\", \"routers\": 4, \"node_routers\": 4, "
              "\"nodes_per_router\": 8, \"links\": [[0, 1], [1, 2, 5], "
              "[1, 2, 3], [2, 3], [3, 0]]," NODES,
         NULL},
};

/* Relative. */
#define assert_close(got, want)                                                \
	do {                                                                   \
		double value = (want);                                         \
                                                                               \
		assert_number(got, value, 1e-9 * fabs(value));                 \
	} while (0)

#define N_MACHINES (int)(sizeof(machines) / sizeof(machines[0]))

struct setting {
	struct cpl_network *net;
	const struct cpl_routing *routing;
	struct cpl_comm *comm;
	struct cpl_load background;
	struct cpl_incremental *inc;
	int node[RANKS];
	uint64_t seed, draws;
};

static int draw(struct setting *s, int n)
{
	return (int)cpl_random_below(s->seed, 3, s->draws++, (uint64_t)n);
}

/* Fractions, traffic of a rank with itself and entries without bytes too. */
static struct cpl_comm *random_traffic(struct setting *s)
{
	struct cpl_comm_entry entry[RANKS * 5];
	struct cpl_comm *comm;

	for (int i = 0; i < RANKS * 5; i++)
		entry[i] = (struct cpl_comm_entry){
		        i / 5, draw(s, RANKS),
		        i % 5 ? (double)draw(s, 1000000) / 7 : 0, 1};
	comm = cpl_comm_build(RANKS, entry, RANKS * 5, NULL);
	assert_non_null(comm);
	return comm;
}

static void set_up(struct setting *s, int machine, uint64_t seed)
{
	struct cpl_error err = {""};

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->net = parse_network(machines[machine].text);
	s->routing = flow_routing(s->net, machines[machine].routing);
	s->comm = random_traffic(s);
	assert_int_equal(cpl_load_init(&s->background, s->net, &err), 0);
	for (int64_t l = 0; l < s->net->n_links; l++)
		s->background.link[l] = (double)(l % 3) * 12345;
	for (int i = 0; i < s->net->n_nodes; i++)
		s->background.ejection[i] = 1e5 * (i % 5);
	for (int r = 0; r < RANKS; r++)
		s->node[r] = draw(s, s->net->n_nodes);
	s->inc = cpl_incremental_new(s->net, s->routing, s->comm, s->node,
	                             seed % 2 ? &s->background : NULL, &err);
	if (!s->inc)
		fail_msg("%s", err.text);
}

static void tear_down(struct setting *s)
{
	cpl_incremental_free(s->inc);
	cpl_load_free(&s->background);
	cpl_comm_free(s->comm);
	cpl_network_free(s->net);
}

/* One change, in the model's copy of the layout too. */
static void change(struct setting *s)
{
	int a, b;

	switch (draw(s, 3)) {
	case 0:
		a = draw(s, RANKS);
		s->node[a] = draw(s, s->net->n_nodes);
		cpl_incremental_move(s->inc, a, s->node[a]);
		return;
	case 1:
		a = draw(s, RANKS);
		b = draw(s, RANKS);
		cpl_incremental_swap(s->inc, a, b);
		if (a != b) {
			int node = s->node[a];

			s->node[a] = s->node[b];
			s->node[b] = node;
		}
		return;
	default:
		a = draw(s, s->net->n_nodes);
		b = draw(s, s->net->n_nodes);
		cpl_incremental_exchange(s->inc, a, b);
		for (int r = 0; r < RANKS; r++)
			if (s->node[r] == a)
				s->node[r] = b;
			else if (s->node[r] == b)
				s->node[r] = a;
	}
}

/* All numbers are those of a full evaluation. */
static void check(struct setting *s)
{
	const struct cpl_load *background = s->seed % 2 ? &s->background : NULL;
	struct cpl_error err = {""};
	struct cpl_traffic_work *work =
	        cpl_traffic_work_new(s->net, s->comm, &err);
	struct cpl_load load;
	struct cpl_metrics want, got;
	struct cpl_job_sums want_sums, got_sums;
	int64_t busiest = cpl_incremental_busiest(s->inc);

	assert_non_null(work);
	assert_int_equal(cpl_load_init(&load, s->net, &err), 0);
	assert_memory_equal(cpl_incremental_nodes(s->inc), s->node,
	                    sizeof(s->node));
	cpl_traffic_add(s->net, s->routing, s->comm, s->node, work, &load,
	                &want_sums);
	cpl_traffic_metrics(s->net, &load, background, &want);
	cpl_incremental_metrics(s->inc, &got);
	cpl_incremental_sums(s->inc, &got_sums);
	assert_close(got.max_congestion, want.max_congestion);
	assert_close(got.mean_congestion, want.mean_congestion);
	assert_close(got.nonzero_average, want.nonzero_average);
	assert_close(got.nonzero_variance, want.nonzero_variance);
	assert_close(got.max_injection, want.max_injection);
	assert_close(got_sums.bytes, want_sums.bytes);
	assert_close(got_sums.bytes_in_node, want_sums.bytes_in_node);
	assert_close(got_sums.bytes_on_network, want_sums.bytes_on_network);
	assert_close(got_sums.hop_bytes, want_sums.hop_bytes);
	assert_true(got_sums.max_dilation == want_sums.max_dilation);
	for (int64_t l = 0; l < s->net->n_links; l++) {
		double bytes =
		        load.link[l] + (background ? background->link[l] : 0);

		assert_close(cpl_incremental_congestion(s->inc, l),
		             bytes / cpl_network_link_bandwidth(s->net, l));
	}
	assert_true(cpl_incremental_congestion(s->inc, busiest) ==
	            got.max_congestion);
	cpl_load_free(&load);
	cpl_traffic_work_free(work);
}

static void test_changes_equal_full_evaluations(void **state)
{
	for (int i = 0; i < 2 * N_MACHINES; i++) {
		struct setting s;

		set_up(&s, i / 2, (uint64_t)i);
		check(&s);
		for (int k = 0; k < 200; k++) {
			change(&s);
			if (k % 3)
				cpl_incremental_keep(s.inc);
			if (k % 20 == 0)
				check(&s);
		}
		check(&s);
		tear_down(&s);
	}
}

static void snapshot(struct setting *s, struct cpl_load_summary *all,
                     struct cpl_job_sums *sums, double *congestion)
{
	*all = *cpl_incremental_links(s->inc);
	cpl_incremental_sums(s->inc, sums);
	for (int64_t l = 0; l < s->net->n_links; l++)
		congestion[l] = cpl_incremental_congestion(s->inc, l);
}

static void assert_same(struct setting *s, const struct cpl_load_summary *all,
                        const struct cpl_job_sums *sums,
                        const double *congestion)
{
	struct cpl_job_sums now;

	assert_memory_equal(cpl_incremental_links(s->inc), all, sizeof(*all));
	cpl_incremental_sums(s->inc, &now);
	assert_memory_equal(&now, sums, sizeof(now));
	for (int64_t l = 0; l < s->net->n_links; l++)
		assert_true(cpl_incremental_congestion(s->inc, l) ==
		            congestion[l]);
}

/* Undone, whether looked at in between or not; or moved back by hand. */
static void test_back_to_the_same_bits(void **state)
{
	for (int i = 0; i < 2 * N_MACHINES; i++) {
		struct cpl_load_summary all;
		struct cpl_job_sums sums;
		struct setting s;
		double *congestion;
		int node[RANKS];

		set_up(&s, i / 2, 100 + (uint64_t)i);
		congestion =
		        malloc((size_t)s.net->n_links * sizeof(*congestion));
		memcpy(node, s.node, sizeof(node));
		snapshot(&s, &all, &sums, congestion);
		for (int k = 0; k < 100; k++) {
			for (int n = draw(&s, 4); n >= 0; n--) {
				change(&s);
				if (draw(&s, 2))
					cpl_incremental_links(s.inc);
			}
			cpl_incremental_undo(s.inc);
			memcpy(s.node, node, sizeof(node));
			if (k % 10 == 0)
				check(&s);
			assert_same(&s, &all, &sums, congestion);
		}
		for (int k = 0; k < 1000; k++) {
			change(&s);
			cpl_incremental_keep(s.inc);
		}
		for (int r = 0; r < RANKS; r++)
			cpl_incremental_move(s.inc, r, node[r]);
		assert_same(&s, &all, &sums, congestion);
		free(congestion);
		tear_down(&s);
	}
}

/* Equal loads have no variance, and none is used once all are on one node. */
static void test_even_and_empty(void **state)
{
	static const int ring[] = {0, 1, 2, 3};
	struct cpl_network *net = parse_network(
	        HEAD "\"type\": \"torus\", \"dims\": [4], \"wrap\": [true], "
	             "\"nodes_per_router\": 1, \"nodes\": \"n[0-3]\"}");
	struct cpl_comm_entry entry[4];
	struct cpl_error err = {""};
	struct cpl_incremental *inc;
	struct cpl_metrics m;
	struct cpl_job_sums sums;
	struct cpl_comm *comm;

	for (int i = 0; i < 4; i++)
		entry[i] = (struct cpl_comm_entry){i, (i + 1) % 4, 0.1, 1};
	comm = cpl_comm_build(4, entry, 4, &err);
	inc = cpl_incremental_new(net, flow_routing(net, NULL), comm, ring,
	                          NULL, &err);
	assert_non_null(inc);
	cpl_incremental_metrics(inc, &m);
	assert_number(m.nonzero_average, 0.1, 1e-12);
	assert_number(m.mean_congestion, 0.05, 1e-12);
	assert_true(m.nonzero_variance == 0);
	for (int i = 0; i < 4; i++)
		cpl_incremental_move(inc, i, 2);
	cpl_incremental_metrics(inc, &m);
	cpl_incremental_sums(inc, &sums);
	assert_true(m.max_congestion == 0 && m.mean_congestion == 0 &&
	            m.nonzero_average == 0 && m.max_injection == 0);
	assert_true(sums.hop_bytes == 0 && sums.bytes_on_network == 0);
	assert_number(sums.bytes_in_node, 0.4, 1e-12);
	assert_int_equal(cpl_incremental_busiest(inc), 0);
	cpl_incremental_free(inc);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

static void test_refusals(void **state)
{
	struct cpl_error err = {""};
	struct setting s;

	set_up(&s, 0, 1);
	assert_null(cpl_incremental_new(s.net, flow_routing(s.net, "SI"),
	                                s.comm, s.node, NULL, &err));
	assert_non_null(strstr(err.text, "'static-indirect'"));
	s.comm->bytes[0] = s.comm->bytes[1] = 1.5e308;
	assert_null(cpl_incremental_new(s.net, s.routing, s.comm, s.node, NULL,
	                                &err));
	assert_non_null(strstr(err.text, "more than a number holds"));
	tear_down(&s);
}

static void test_tree_without_values(void **state)
{
	struct cpl_error err = {""};
	struct cpl_load_tree *tree = cpl_load_tree_new(0, &err);

	assert_non_null(tree);
	assert_true(cpl_load_tree_all(tree)->max == 0);
	assert_int_equal(cpl_load_tree_largest(tree), -1);
	cpl_load_tree_free(tree);
}

/* Sizes around whole fans, compared to a plain loop. */
static void test_tree_against_a_loop(void **state)
{
	static const int sizes[] = {1, 15, 16, 17, 255, 256, 257, 4100};

	for (int k = 0; k < 8; k++) {
		int n = sizes[k];
		struct cpl_error err = {""};
		struct cpl_load_tree *tree = cpl_load_tree_new(n, &err);

		assert_non_null(tree);
		for (uint64_t i = 0; i < 500; i++) {
			double max = 0, sum = 0, powers = 0;
			const struct cpl_load_summary *all;
			int largest = 0, used = 0;

			cpl_load_tree_set(
			        tree,
			        (int)cpl_random_below(1, 1, i, (uint64_t)n),
			        (double)cpl_random_below(1, 2, i, 6));
			if (i % 7 == 0)
				cpl_load_tree_keep(tree);
			if (i % 7 == 5)
				cpl_load_tree_undo(tree);
			for (int j = 0; j < n; j++) {
				double x = cpl_load_tree_get(tree, j);

				if (x > max) {
					max = x;
					largest = j;
				}
				sum += x;
				powers += x * x * x * x;
				used += x > 0;
			}
			all = cpl_load_tree_all(tree);
			assert_true(all->max == max);
			assert_number(all->sum, sum, 1e-12);
			assert_number(all->powers, powers, 1e-12);
			assert_true(all->used == used);
			assert_int_equal(cpl_load_tree_largest(tree), largest);
		}
		cpl_load_tree_free(tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_changes_equal_full_evaluations),
	        cmocka_unit_test(test_back_to_the_same_bits),
	        cmocka_unit_test(test_even_and_empty),
	        cmocka_unit_test(test_refusals),
	        cmocka_unit_test(test_tree_without_values),
	        cmocka_unit_test(test_tree_against_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
