/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that may run in the scheduler's order of ranks, whatever was mapped. */
#include "unit.h"

#include "base/random.h"
#include "mapping/quick.h"
#include "placement/decide.h"

#define NODES 64
#define PER_NODE 2
#define DRAWS 24

static const char *const network[] = {
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"df\","
        "\"type\":\"dragonfly\",\"groups\":4,\"rows\":2,\"columns\":4,"
        "\"nodes_per_router\":2,\"global_links_per_group_pair\":2,"
        "\"nodes\":\"n[0-63]\"}",
        "{\"format\":\"commplace-network\",\"version\":1,\"name\":\"t\","
        "\"type\":\"torus\",\"dims\":[4,4,4],\"wrap\":[true,true,true],"
        "\"nodes_per_router\":1,\"nodes\":\"n[0-63]\"}"};

struct setting {
	struct cpl_network *net;
	struct cpl_comm *comm;
	unsigned char is_free[NODES];
	int stock[NODES], turn[NODES];
	struct cpl_decide_request req;
};

/* A grid of ranks with its own number of columns, that blocks do not follow. */
static struct cpl_comm *grid(int ranks, int columns)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)ranks * 4 * sizeof(*entry));
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int r = 0; r < ranks; r++) {
		const int to[] = {r + 1, r - 1, r + columns, r - columns};

		for (int k = 0; k < 4; k++)
			entry[n++] = (struct cpl_comm_entry){
			        r, (to[k] + ranks) % ranks, k < 2 ? 900 : 1300,
			        1};
	}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	return comm;
}

static const int *sorts_by;

static int by_turn(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return sorts_by ? sorts_by[x] - sorts_by[y] : x - y;
}

static void sort(const struct setting *s, int *node, int n)
{
	sorts_by = s->req.turn;
	qsort(node, (size_t)n, sizeof(*node), by_turn);
}

/* Draw i: machine, free nodes, job; odd ones in a turn that is not by id. */
static void set_up(struct setting *s, int i, const char *policy)
{
	uint64_t seed = (uint64_t)i + 1;
	struct cpl_error err = {""};
	int n = 8 + i % 5 * 3;

	memset(s, 0, sizeof(*s));
	s->net = cpl_network_parse(network[i / 2 % 2],
	                           strlen(network[i / 2 % 2]), "test", &err);
	if (!s->net)
		fail_msg("%s", err.text);
	s->comm = grid(n * PER_NODE, 3 + i % 4);
	for (int k = 0; k < NODES; k++) {
		s->is_free[k] =
		        cpl_random_below(seed, 9, (uint64_t)k, 100) >= 35;
		s->turn[k] = k * 37 % NODES;
	}
	s->req = (struct cpl_decide_request){
	        .place = {.net = s->net,
	                  .free = s->is_free,
	                  .n_nodes_wanted = n,
	                  .seed = seed},
	        .wish.policy = cpl_placement_find(NULL, policy, NULL),
	        .routing = cpl_routing_find(s->net, NULL, &err),
	        .comm = s->comm,
	        .ranks_per_node = PER_NODE,
	        .wish.mapper = &cpl_mapper_quick,
	        .wish.objective = i % 4 == 3 ? CPL_OBJECTIVE_TIME
	                                     : (enum cpl_objective)(i % 4),
	        .turn = i % 2 ? s->turn : NULL,
	};
	assert_int_equal(
	        cpl_placement_best_fit.place(&s->req.place, s->stock, &err), 0);
	sort(s, s->stock, n);
}

static void tear_down(struct setting *s)
{
	cpl_comm_free(s->comm);
	cpl_network_free(s->net);
}

/* In blocks on these nodes in the scheduler's order. */
static struct cpl_figures plain(const struct setting *s, const int *node)
{
	int n = s->req.place.n_nodes_wanted, in_turn[NODES];
	struct cpl_error err = {""};
	struct cpl_candidate c;

	memcpy(in_turn, node, (size_t)n * sizeof(*node));
	sort(s, in_turn, n);
	assert_int_equal(cpl_decide_evaluate(&s->req, in_turn, &c, &err), 0);
	return cpl_candidate_in_blocks(&c);
}

static bool better(const struct setting *s, const struct cpl_figures *a,
                   const struct cpl_figures *b)
{
	enum cpl_objective by = s->req.wish.objective;
	int order = cpl_objective_compare(
	        cpl_objective_first(by, &a->metrics, a->sums.hop_bytes),
	        cpl_objective_first(by, &b->metrics, b->sums.hop_bytes));

	return order ? order < 0 : cpl_figures_better(CPL_OBJECTIVE_MAX, a, b);
}

/* What nodes are chosen by beside the objective. */
static double whole(const struct cpl_figures *f)
{
	return f->metrics.max_congestion * f->metrics.mean_congestion *
	       f->metrics.seconds;
}

/* Is the decision worse than stock where its rank order does not arrive? */
static bool loses(const struct setting *s, const struct cpl_decision *d)
{
	struct cpl_figures ours = plain(s, d->node);
	struct cpl_figures stock = plain(s, s->stock);

	return better(s, &stock, &ours);
}

static double either(const struct cpl_candidate *c)
{
	return whole(&c->mapped) * whole(&c->plain);
}

static void decide(const struct setting *s, struct cpl_decision *d)
{
	struct cpl_error err = {""};

	if (cpl_decide(&s->req, d, &err))
		fail_msg("%s", err.text);
}

static const char *const policy[] = {"auto", "traffic"};

/* Fault 80: nodes that are good with a rank order only are a loss without. */
static void test_never_worse_than_stock_in_blocks(void **state)
{
	for (int p = 0; p < 2; p++) {
		int lost = 0, ordered = 0;

		for (int i = 0; i < 2 * DRAWS; i++) {
			struct cpl_decision d;
			struct setting s;

			set_up(&s, i / 2, policy[p]);
			/* Known, or with best-fit in its place. */
			if (i % 2)
				s.req.stock = s.stock;
			else if (s.req.turn)
				s.req.turn = NULL;
			sort(&s, s.stock, s.req.place.n_nodes_wanted);
			decide(&s, &d);
			lost += loses(&s, &d);
			cpl_decision_free(&d);
			s.req.order = CPL_ORDER_MAY;
			decide(&s, &d);
			assert_false(loses(&s, &d));
			ordered += d.candidate[d.chosen].is_mapped;
			cpl_decision_free(&d);
			tear_down(&s);
		}
		assert_true(lost > 0);
		assert_true(ordered > 0);
	}
}

/* Which are barred, by what, and that of the others the best is taken. */
static void test_the_best_of_those_is_taken(void **state)
{
	int barred = 0;

	for (int i = 0; i < DRAWS; i++) {
		const struct cpl_candidate *c, *chosen;
		struct cpl_figures stock;
		struct cpl_decision d;
		struct setting s;

		set_up(&s, i, "auto");
		s.req.stock = s.stock;
		s.req.order = CPL_ORDER_MAY;
		stock = plain(&s, s.stock);
		decide(&s, &d);
		chosen = &d.candidate[d.chosen];
		assert_false(chosen->barred);
		for (c = d.candidate; c < d.candidate + d.n_candidates; c++) {
			assert_true(c->evaluated);
			assert_int_equal(c->barred,
			                 better(&s, &stock, &c->plain) ||
			                         whole(&stock) * (1 + 1e-9) <
			                                 whole(&c->plain));
			barred += c->barred;
			if (!c->barred && c->is_mapped)
				assert_true(either(c) >=
				            either(chosen) * (1 - 1e-9));
		}
		cpl_decision_free(&d);
		tear_down(&s);
	}
	assert_true(barred > 0);
}

/* It does not arrive: nodes in the scheduler's order, ranks in blocks. */
static void test_without_it(void **state)
{
	for (int i = 0; i < 2 * DRAWS; i++) {
		int in_turn[NODES], n;
		struct cpl_figures ours, told;
		struct cpl_decision d;
		struct setting s;

		set_up(&s, i / 2, policy[i % 2]);
		n = s.req.place.n_nodes_wanted;
		s.req.stock = s.stock;
		s.req.order = CPL_ORDER_NOT;
		decide(&s, &d);
		assert_null(d.rank_host);
		assert_true(d.mapped);
		memcpy(in_turn, d.node, sizeof(*d.node) * (size_t)n);
		sort(&s, in_turn, n);
		assert_memory_equal(in_turn, d.node,
		                    sizeof(*d.node) * (size_t)n);
		cpl_candidate_figures(&d.candidate[d.chosen], &told);
		s.req.order = CPL_ORDER_REACHES;
		assert_false(loses(&s, &d));
		ours = plain(&s, d.node);
		assert_false(better(&s, &ours, &told));
		assert_false(better(&s, &told, &ours));
		cpl_decision_free(&d);
		tear_down(&s);
	}
}

static bool after_n_looks(void *arg)
{
	return --*(int *)arg < 0;
}

/* Wherever the budget ends, and by a team of threads the same. */
static void test_cut_short(void **state)
{
	for (int i = 0; i < DRAWS; i++)
		for (int looks = 0; looks < 60; looks += 7) {
			struct cpl_decision d;
			struct setting s;
			int left = looks;

			set_up(&s, i, policy[i % 2]);
			s.req.stock = s.stock;
			s.req.order = CPL_ORDER_MAY;
			s.req.expired = after_n_looks;
			s.req.expired_arg = &left;
			decide(&s, &d);
			s.req.expired = NULL;
			assert_false(loses(&s, &d));
			cpl_decision_free(&d);
			tear_down(&s);
		}
}

static void test_by_a_team(void **state)
{
	for (int i = 0; i < DRAWS; i++) {
		struct cpl_error err = {""};
		struct cpl_decision a, b;
		struct setting s;

		set_up(&s, i, policy[i % 2]);
		s.req.order = CPL_ORDER_MAY;
		decide(&s, &a);
		s.req.team = cpl_team_new(3, &err);
		assert_non_null(s.req.team);
		decide(&s, &b);
		cpl_team_free(s.req.team);
		assert_int_equal(a.chosen, b.chosen);
		assert_memory_equal(a.node, b.node,
		                    sizeof(*a.node) * (size_t)a.n_nodes);
		cpl_decision_free(&a);
		cpl_decision_free(&b);
		tear_down(&s);
	}
}

/* The least work that a decision is not cut short with. */
static long least_work(struct setting *s, const char *by,
                       enum cpl_order order)
{
	long low = 0, high = 1L << 40;

	s->req.wish.policy = cpl_placement_find(NULL, by, NULL);
	s->req.order = order;
	while (high - low > 1) {
		struct cpl_decision d;

		s->req.work = low + (high - low) / 2;
		decide(s, &d);
		*(d.cut_short ? &low : &high) = s->req.work;
		cpl_decision_free(&d);
	}
	return high;
}

/* Nodes that are out of turn are evaluated once more, which counts like all that
 * is: in a decision between two, and of what a search finds. */
static void test_work_is_counted(void **state)
{
	for (int i = 0; i < DRAWS; i++) {
		struct setting s;
		long by[2], without[2], with[2];

		set_up(&s, i, "auto");
		s.req.stock = s.stock;
		s.req.wish.mapper = NULL;
		for (int k = 0; k < 2; k++) {
			enum cpl_order order = k ? CPL_ORDER_MAY
			                         : CPL_ORDER_REACHES;

			by[k] = least_work(&s, "random-nodes", order);
			without[k] = least_work(&s, "auto", order);
			with[k] = least_work(&s, "traffic", order);
		}
		assert_int_equal(2 * by[1], 3 * by[0]);
		assert_true(with[1] - without[1] > with[0] - without[0]);
		tear_down(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_never_worse_than_stock_in_blocks),
	        cmocka_unit_test(test_the_best_of_those_is_taken),
	        cmocka_unit_test(test_without_it),
	        cmocka_unit_test(test_cut_short),
	        cmocka_unit_test(test_by_a_team),
	        cmocka_unit_test(test_work_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
