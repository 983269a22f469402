/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "add_traffic.h"
#include "base/random.h"
#include "flow.h"
#include "number.h"
#include "traffic/moves.h"

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
	struct cpl_moves moves;
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
	if (cpl_moves_init(&s->moves, s->net, s->routing, NULL, 0, NULL,
	                   &err) ||
	    cpl_moves_job(&s->moves, s->comm, s->node, true, &err) ||
	    cpl_moves_watch(&s->moves, seed % 2 ? &s->background : NULL,
	                    NULL, &err))
		fail_msg("%s", err.text);
}

static void tear_down(struct setting *s)
{
	cpl_moves_free(&s->moves);
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
		cpl_moves_move(&s->moves, a, s->node[a]);
		return;
	case 1:
		a = draw(s, RANKS);
		b = draw(s, RANKS);
		cpl_moves_swap(&s->moves, a, b);
		if (a != b) {
			int node = s->node[a];

			s->node[a] = s->node[b];
			s->node[b] = node;
		}
		return;
	default:
		a = draw(s, s->net->n_nodes);
		b = draw(s, s->net->n_nodes);
		for (int r = 0; r < RANKS; r++) {
			if (s->node[r] == a)
				s->node[r] = b;
			else if (s->node[r] == b)
				s->node[r] = a;
			cpl_moves_move(&s->moves, r, s->node[r]);
		}
	}
}

/* With what is tentative, background included. */
static double congestion(const struct cpl_moves *m, int64_t l)
{
	double bytes = m->load[l] + m->change[l];

	if (m->watched)
		bytes += m->watched->link[l];
	return bytes / cpl_network_link_bandwidth(m->net, l);
}

/* By the loads of the links, and as the summary has it. */
static void metrics(struct cpl_moves *m, struct cpl_metrics *out)
{
	const struct cpl_load_summary *all = cpl_moves_links(m);
	struct cpl_load load;

	assert_int_equal(cpl_load_init(&load, m->net, NULL), 0);
	for (int64_t l = 0; l < m->net->n_links; l++)
		load.link[l] = congestion(m, l) *
		               cpl_network_link_bandwidth(m->net, l);
	cpl_traffic_metrics(m->net, &load, NULL, out);
	assert_close(out->max_congestion, all->max);
	assert_close(out->mean_congestion * (double)m->net->n_links, all->sum);
	out->max_congestion = all->max;
	cpl_load_free(&load);
}

static double hop_bytes(const struct cpl_moves *m)
{
	return m->hop_bytes + m->more_hop_bytes;
}

/* All numbers are those of a full evaluation. */
static void check(struct setting *s)
{
	const struct cpl_load *background = s->seed % 2 ? &s->background : NULL;
	struct cpl_error err = {""};
	struct cpl_load load;
	struct cpl_metrics want, got;
	struct cpl_job_sums want_sums;
	int64_t busiest = cpl_moves_busiest(&s->moves);

	assert_int_equal(cpl_load_init(&load, s->net, &err), 0);
	assert_memory_equal(s->moves.node, s->node,
	                    sizeof(s->node));
	add_traffic(s->net, s->routing, s->comm, s->node, &load,
	                &want_sums);
	cpl_traffic_metrics(s->net, &load, background, &want);
	metrics(&s->moves, &got);
	assert_close(got.max_congestion, want.max_congestion);
	assert_close(got.mean_congestion, want.mean_congestion);
	assert_close(got.nonzero_average, want.nonzero_average);
	assert_close(got.nonzero_variance, want.nonzero_variance);
	assert_close(hop_bytes(&s->moves), want_sums.hop_bytes);
	for (int64_t l = 0; l < s->net->n_links; l++) {
		double bytes =
		        load.link[l] + (background ? background->link[l] : 0);

		assert_close(congestion(&s->moves, l),
		             bytes / cpl_network_link_bandwidth(s->net, l));
	}
	assert_true(congestion(&s->moves, busiest) ==
	            got.max_congestion);
	cpl_load_free(&load);
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
				cpl_moves_keep(&s.moves);
			if (k % 20 == 0)
				check(&s);
		}
		check(&s);
		tear_down(&s);
	}
}

static void snapshot(struct setting *s, struct cpl_load_summary *all,
                     double *sum, double *each)
{
	*all = *cpl_moves_links(&s->moves);
	*sum = hop_bytes(&s->moves);
	for (int64_t l = 0; l < s->net->n_links; l++)
		each[l] = congestion(&s->moves, l);
}

static void assert_same(struct setting *s, const struct cpl_load_summary *all,
                        double sum, const double *each)
{
	assert_memory_equal(cpl_moves_links(&s->moves), all, sizeof(*all));
	assert_true(hop_bytes(&s->moves) == sum);
	for (int64_t l = 0; l < s->net->n_links; l++)
		assert_true(congestion(&s->moves, l) == each[l]);
}

/* What changed, by itself, against the summaries before and now. */
static void check_change(struct setting *s, const struct cpl_load_summary *was)
{
	struct cpl_moves *m = &s->moves;
	int64_t link = draw(s, (int)m->net->n_links);
	struct cpl_load_summary change = cpl_moves_change(m, link, INFINITY);
	struct cpl_load_summary now;
	double max = congestion(m, link);

	for (int i = 0; i < m->n_touched; i++)
		max = fmax(max, congestion(m, m->touched[i]));
	assert_true(change.max == max);
	assert_true(cpl_moves_change(m, -1, INFINITY).max <= max);
	assert_true(cpl_moves_change(m, link, max).max == max);
	assert_true(!(max > 0) ||
	            cpl_moves_change(m, link, max / 2).max > max / 2);
	now = *cpl_moves_links(m);
	assert_number(was->sum + change.sum, now.sum, 1e-9 * was->sum);
	assert_number(was->powers + change.powers, now.powers,
	              1e-9 * (was->powers + now.powers));
}

/* Undone, whether looked at in between or not; or moved back by hand. */
static void test_back_to_the_same_bits(void **state)
{
	for (int i = 0; i < 2 * N_MACHINES; i++) {
		struct cpl_load_summary all;
		struct setting s;
		double *each, sum;
		int node[RANKS];

		set_up(&s, i / 2, 100 + (uint64_t)i);
		each = malloc((size_t)s.net->n_links * sizeof(*each));
		memcpy(node, s.node, sizeof(node));
		snapshot(&s, &all, &sum, each);
		for (int k = 0; k < 100; k++) {
			for (int n = draw(&s, 4); n >= 0; n--) {
				change(&s);
				if (k % 2 && draw(&s, 2))
					cpl_moves_links(&s.moves);
			}
			if (k % 2 == 0)
				check_change(&s, &all);
			cpl_moves_undo(&s.moves);
			memcpy(s.node, node, sizeof(node));
			if (k % 10 == 0)
				check(&s);
			assert_same(&s, &all, sum, each);
		}
		for (int k = 0; k < 1000; k++) {
			change(&s);
			cpl_moves_keep(&s.moves);
		}
		for (int r = 0; r < RANKS; r++)
			cpl_moves_move(&s.moves, r, node[r]);
		assert_same(&s, &all, sum, each);
		free(each);
		tear_down(&s);
	}
}

/* A rank that is lifted and put down is where moves and swaps have it, however
 * many places were tried before. */
static void test_lifted(void **state)
{
	for (int i = 0; i < 2 * N_MACHINES; i++) {
		struct cpl_load_summary all, there;
		struct setting s;
		double *each, *then, sum, far;

		set_up(&s, i / 2, 150 + (uint64_t)i);
		each = malloc(2 * (size_t)s.net->n_links * sizeof(*each));
		then = each + s.net->n_links;
		for (int k = 0; k < 30; k++) {
			int rank = draw(&s, RANKS), home = s.moves.node[rank];

			snapshot(&s, &all, &sum, each);
			for (int tries = 0; tries < 3; tries++) {
				int to = draw(&s, s.net->n_nodes);
				int with = (rank + 1 + draw(&s, RANKS - 1)) %
				           RANKS;

				if (tries % 2)
					cpl_moves_swap(&s.moves, rank, with);
				else
					cpl_moves_move(&s.moves, rank, to);
				snapshot(&s, &there, &far, then);
				cpl_moves_undo(&s.moves);
				cpl_moves_lift(&s.moves, rank);
				cpl_moves_put(&s.moves, rank,
				              draw(&s, s.net->n_nodes));
				cpl_moves_undo(&s.moves);
				if (tries % 2)
					cpl_moves_put_swap(&s.moves, rank, with);
				else
					cpl_moves_put(&s.moves, rank, to);
				assert_same(&s, &there, far, then);
				cpl_moves_undo(&s.moves);
				assert_int_equal(s.moves.node[rank], home);
				cpl_moves_put(&s.moves, rank, home);
				cpl_moves_keep(&s.moves);
				assert_same(&s, &all, sum, each);
			}
			change(&s);
			cpl_moves_keep(&s.moves);
		}
		check(&s);
		free(each);
		tear_down(&s);
	}
}

/* All flows at once, by pairs of stops, come to what ranks bring; again after
 * an undo, and for a job of other size. */
static void test_flows_by_stops(void **state)
{
	for (int i = 0; i < N_MACHINES; i++) {
		struct cpl_error err = {""};
		struct cpl_moves all;
		struct setting s;

		set_up(&s, i, 200 + (uint64_t)i);
		assert_int_equal(cpl_moves_init(&all, s.net, s.routing, NULL, 0,
		                                NULL, &err),
		                 0);
		for (int k = 0; k < 3; k++) {
			int used = 0;

			assert_int_equal(cpl_moves_flows(&all, s.comm, s.node,
			                                 &err),
			                 0);
			assert_close(all.more_hop_bytes, s.moves.hop_bytes);
			for (int64_t l = 0; l < s.net->n_links; l++) {
				assert_close(all.change[l], s.moves.load[l]);
				assert_true(all.mark[l] == (all.change[l] > 0));
				used += all.mark[l];
			}
			assert_int_equal(all.n_touched, used);
			cpl_moves_undo(&all);
			for (int64_t l = 0; l < s.net->n_links; l++)
				assert_true(!all.mark[l] && !all.change[l]);
		}
		cpl_moves_free(&all);
		tear_down(&s);
	}
}

/* By entry as by nodes, while ranks move. */
static void test_parts_of_entries(void **state)
{
	for (int i = 0; i < N_MACHINES; i++) {
		struct setting s;

		set_up(&s, i, 300 + (uint64_t)i);
		for (int k = 0; k < 20; k++) {
			int64_t link = cpl_moves_busiest(&s.moves);
			const int *node = s.moves.node;

			for (int r = 0; r < RANKS; r++)
				for (int64_t e = s.comm->row[r];
				     e < s.comm->row[r + 1]; e++)
					assert_true(
					        cpl_moves_entry_fraction(
					                &s.moves, r, e, link) ==
					        cpl_moves_fraction(
					                &s.moves, node[r],
					                node[s.comm->to[e]],
					                link));
			change(&s);
			cpl_moves_keep(&s.moves);
		}
		tear_down(&s);
	}
}

/* A job leaves nothing behind, and the next one finds what the first found. */
static void test_one_job_after_the_other(void **state)
{
	for (int i = 0; i < 2 * N_MACHINES; i++) {
		struct cpl_error err = {""};
		struct cpl_load_summary all;
		struct setting s;
		double *each, sum;

		set_up(&s, i / 2, 400 + (uint64_t)i);
		each = malloc((size_t)s.net->n_links * sizeof(*each));
		snapshot(&s, &all, &sum, each);
		for (int k = 0; k < 20; k++) {
			cpl_moves_swap(&s.moves, draw(&s, RANKS),
			               draw(&s, RANKS));
			cpl_moves_keep(&s.moves);
		}
		cpl_moves_leave(&s.moves);
		assert_true(s.moves.hop_bytes == 0);
		for (int64_t l = 0; l < s.net->n_links; l++)
			assert_true(s.moves.load[l] == 0);
		assert_int_equal(cpl_moves_job(&s.moves, s.comm, s.node, true,
		                               &err),
		                 0);
		assert_same(&s, &all, sum, each);
		free(each);
		tear_down(&s);
	}
}

/* Arrays of a megabyte and more are those of whoever came before, who leaves flows that
 * were kept and others. */
static void test_long_arrays_come_back_as_zeros(void **state)
{
	struct cpl_network *net = parse_network(
	        HEAD "\"type\": \"torus\", \"dims\": [32, 32, 32], "
	             "\"nodes_per_router\": 1, \"nodes\": \"n[0-32767]\"}");
	const struct cpl_routing *routing = cpl_routing_minimal(net);
	struct cpl_error err = {""};

	for (int round = 0; round < 3; round++) {
		const double *load;
		struct cpl_moves moves;

		assert_int_equal(cpl_moves_init(&moves, net, routing, NULL, 0,
		                                NULL, &err),
		                 0);
		assert_int_equal(cpl_moves_watch(&moves, NULL, NULL, &err), 0);
		assert_true(cpl_moves_links(&moves)->sum == 0);
		load = moves.load;
		for (int64_t l = 0; l < net->n_links; l++) {
			assert_true(load[l] == 0 && moves.change[l] == 0);
			assert_false(moves.mark[l] || moves.is_laden[l]);
		}
		for (int i = 0; i < 200; i++) {
			cpl_moves_flow(&moves, 163 * i, 32767 - 97 * i, 1e6);
			if (i == 100)
				cpl_moves_keep(&moves);
		}
		assert_true(cpl_moves_links(&moves)->sum > 0);
		cpl_moves_free(&moves);
	}
	cpl_network_free(net);
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
	struct cpl_moves moves;
	struct cpl_metrics m;
	struct cpl_comm *comm;

	for (int i = 0; i < 4; i++)
		entry[i] = (struct cpl_comm_entry){i, (i + 1) % 4, 0.1, 1};
	comm = cpl_comm_build(4, entry, 4, &err);
	assert_int_equal(cpl_moves_init(&moves, net, flow_routing(net, NULL),
	                                ring, 4, NULL, &err),
	                 0);
	assert_int_equal(cpl_moves_job(&moves, comm, ring, true, &err), 0);
	assert_int_equal(cpl_moves_watch(&moves, NULL, NULL, &err), 0);
	metrics(&moves, &m);
	assert_number(m.nonzero_average, 0.1, 1e-12);
	assert_number(m.mean_congestion, 0.05, 1e-12);
	assert_true(m.nonzero_variance == 0);
	for (int i = 0; i < 4; i++)
		cpl_moves_move(&moves, i, 2);
	metrics(&moves, &m);
	assert_true(m.max_congestion == 0 && m.mean_congestion == 0 &&
	            m.nonzero_average == 0);
	assert_true(hop_bytes(&moves) == 0);
	assert_int_equal(cpl_moves_busiest(&moves), 0);
	cpl_moves_free(&moves);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

static void test_refusals(void **state)
{
	struct cpl_error err = {""};
	struct cpl_moves moves;
	struct setting s;

	set_up(&s, 0, 1);
	assert_int_equal(cpl_moves_init(&moves, s.net,
	                                flow_routing(s.net, "SI"), NULL, 0,
	                                NULL, &err),
	                 -1);
	assert_non_null(strstr(err.text, "'static-indirect'"));
	cpl_moves_free(&moves);
	s.comm->bytes[0] = s.comm->bytes[1] = 1.5e308;
	assert_int_equal(
	        cpl_moves_init(&moves, s.net, s.routing, NULL, 0, NULL, &err),
	        0);
	assert_int_equal(cpl_moves_job(&moves, s.comm, s.node, true, &err), -1);
	assert_non_null(strstr(err.text, "more than a number holds"));
	cpl_moves_free(&moves);
	tear_down(&s);
}

static void test_tree_without_values(void **state)
{
	struct cpl_error err = {""};
	struct cpl_load_tree *tree = cpl_load_tree_new(0, &err);

	assert_non_null(tree);
	cpl_load_tree_sum(tree);
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
		for (int i = 0; i < n; i++)
			cpl_load_tree_put(tree, i, i % 5);
		cpl_load_tree_sum(tree);
		for (uint64_t i = 0; i < 500; i++) {
			double max = 0, sum = 0, powers = 0;
			const struct cpl_load_summary *all;
			int largest = 0;

			cpl_load_tree_set(
			        tree,
			        (int)cpl_random_below(1, 1, i, (uint64_t)n),
			        (double)cpl_random_below(1, 2, i, 6));
			if (i % 7 == 0)
				cpl_load_tree_keep(tree);
			if (i % 7 == 5)
				cpl_load_tree_undo(tree);
			if (i % 50 == 20) {
				cpl_load_tree_put(tree, n / 2, 7);
				cpl_load_tree_sum(tree);
			}
			for (int j = 0; j < n; j++) {
				double x = cpl_load_tree_get(tree, j);

				if (x > max) {
					max = x;
					largest = j;
				}
				sum += x;
				powers += x * x * x * x;
			}
			all = cpl_load_tree_all(tree);
			assert_true(all->max == max);
			assert_number(all->sum, sum, 1e-12);
			assert_number(all->powers, powers, 1e-12);
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
	        cmocka_unit_test(test_lifted),
	        cmocka_unit_test(test_flows_by_stops),
	        cmocka_unit_test(test_parts_of_entries),
	        cmocka_unit_test(test_one_job_after_the_other),
	        cmocka_unit_test(test_long_arrays_come_back_as_zeros),
	        cmocka_unit_test(test_even_and_empty),
	        cmocka_unit_test(test_refusals),
	        cmocka_unit_test(test_tree_without_values),
	        cmocka_unit_test(test_tree_against_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
