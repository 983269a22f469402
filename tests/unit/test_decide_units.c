/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of the machine that decisions keep whole. */
#include <math.h>

#include "unit.h"

#include "decide_setting.h"
#include "mapping/quick.h"

/* Broken units told by looking at every node of the machine. */
static int count_broken(const struct setting *s, const int *unit_of,
                        const int *node)
{
	int broken = 0;

	for (int u = 0; u < s->net->n_nodes; u++) {
		int all = 0, can = 0, taken = 0;

		for (int i = 0; i < s->net->n_nodes; i++) {
			if (unit_of[i] != u)
				continue;
			all++;
			can += s->free_node[i];
			for (int k = 0; k < s->req.place.n_nodes_wanted; k++)
				taken += node[k] == i;
		}
		broken += all && can == all && taken && taken < all;
	}
	return broken;
}

/* By what candidates are compared first, as far as it is told. */
static bool first_number(const struct setting *s, const struct cpl_decision *d,
                         int i, double *out)
{
	const struct cpl_candidate *c = &d->candidate[i];
	const struct cpl_figures block = cpl_candidate_in_blocks(c);
	const struct cpl_figures *f = s->req.wish.mapper ? &c->mapped : &block;
	double of_others[2];

	if (!(s->req.wish.mapper ? c->is_mapped : c->evaluated))
		return false;
	switch (s->req.wish.objective) {
	case CPL_OBJECTIVE_MEAN:
		*out = f->metrics.mean_congestion;
		break;
	case CPL_OBJECTIVE_HOP_BYTES:
		*out = f->sums.hop_bytes;
		break;
	case CPL_OBJECTIVE_BUSIEST:
		*out = fmax(f->metrics.max_congestion,
		            f->metrics.max_injection);
		break;
	case CPL_OBJECTIVE_TIME:
		*out = f->metrics.seconds;
		break;
	case CPL_OBJECTIVE_INTERFERENCE:
	case CPL_OBJECTIVE_ISOLATION:
		worth(s, d, i, of_others);
		*out = of_others[0];
		break;
	default:
		*out = f->metrics.max_congestion;
	}
	return true;
}

#define KEEP_GRAPH                                                             \
	"{\"format\":\"commplace-network\",\"version\":1,\"name\":\"g\","          \
	"\"type\":\"graph\",\"routers\":14,\"nodes_per_router\":4,\"links\":[["    \
	"0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,8],[8,9],[9,10],[10,11]," \
	"[11,12],[12,13],[13,0],[1,0],[0,13],[13,7],[7,0],[4,11],[11,4]],"     \
	"\"nodes\":\"n[0-55]\"}"
#define KEEP_TREE                                                              \
	"{\"format\":\"commplace-network\",\"version\":1,\"name\":\"f\","          \
	"\"type\":\"fattree\",\"leaves\":16,\"nodes_per_router\":4,"              \
	"\"levels\":[{\"down\":4,\"up\":2},{\"down\":4,\"up\":2}],\"nodes\":"      \
	"\"n[0-63]\"}"

static int dragonfly_router(int node) { return node / 2; }
static int dragonfly_group(int node) { return node / 16; }
static int by_four(int node) { return node / 4; }
static int tree_quarter(int node) { return node / 16; }
static int torus_plane(int node) { return node / 16; }
static int torus_box(int node)
{
	return node % 4 / 2 + node / 4 % 4 / 2 * 2 + node / 16 / 2 * 4;
}

/*
 * What is broken is what looking at every node tells; the price is kept; of
 * those that it allows none breaks fewer, and of those none is better; with a
 * price of 0 and without the option the answer is as good as can be.
 */
static void test_units_are_kept_whole(void **state)
{
	static const struct {
		const char *network, *units;
		int (*unit)(int node);
	} row[] = {
	        {dragonfly_text, "router", dragonfly_router},
	        {dragonfly_text, "group", dragonfly_group},
	        {dragonfly_text, "3", dragonfly_group},
	        {torus_text, "plane", torus_plane},
	        {torus_text, "2x2x2", torus_box},
	        {KEEP_TREE, "1", by_four},
	        {KEEP_TREE, "2", tree_quarter},
	        {KEEP_GRAPH, "router", by_four},
	};
	static const int prices[] = {0, 10, 100};
	static const struct cpl_mapper *const mapper[] = {NULL,
	                                                  &cpl_mapper_quick};
	int n_rows = (int)(sizeof(row) / sizeof(*row)), spared = 0, paid = 0, moved = 0;

	for (int k = 0; k < 36 * n_rows; k++) {
		uint64_t seed = (uint64_t)k / 8 + 1;
		int unit_of[MAX_NODES];
		struct setting s;
		struct cpl_decision d, off;
		struct cpl_load rates;
		struct cpl_harm *others = NULL;
		struct cpl_phase phase = {.weight = 1};
		double best, chosen, other;

		set_up(&s, row[k % n_rows].network, 5 + k % 5, 2,
		       k / 7 % 3 ? "auto" : "traffic", seed);
		/* More of the units whole. */
		for (int i = 0; i < s.net->n_nodes; i++) {
			unit_of[i] = row[k % n_rows].unit(i);
			s.free_node[i] |= unit_of[i] % 4 != 1;
		}
		s.req.wish.objective = (enum cpl_objective)(k / n_rows % 7);
		if (cpl_objective_of_others(s.req.wish.objective)) {
			others = run_others(&s, &rates);
			phase.comm = s.comm;
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.rates = &rates;
			s.req.harm = others;
			s.req.wish.own_weight = s.req.wish.others_weight = 1;
		}
		s.req.wish.mapper = mapper[k / 5 % 2];
		decide(&s, &off);
		assert_int_equal(off.best, off.chosen);
		assert_int_equal(cpl_wish_units(&s.req.wish, s.net,
		                                row[k % n_rows].units, NULL),
		                 0);
		s.req.wish.keep_price = prices[k / 48 % 3];
		decide(&s, &d);
		check_nodes(&s, &d);
		assert_int_equal(d.candidate[d.chosen].broken,
		                 count_broken(&s, unit_of, d.node));
		assert_true(first_number(&s, &d, d.best, &best));
		assert_true(first_number(&s, &d, d.chosen, &chosen));
		assert_true(chosen <=
		            best * (1 + s.req.wish.keep_price / 100.0) *
		                    (1 + 1e-9));
		assert_true(fabs(d.price * best - (chosen - best)) <=
		            1e-6 * best);
		for (int i = 0; i < d.n_candidates; i++) {
			int b = d.candidate[i].broken;

			if (!first_number(&s, &d, i, &other) ||
			    other > best * (1 + s.req.wish.keep_price / 100.0) *
			                    (1 - 1e-9))
				continue;
			assert_true(b >= d.candidate[d.chosen].broken);
			assert_true(b > d.candidate[d.chosen].broken ||
			            chosen <= other * (1 + 1e-9));
		}
		/* The search breaks no more than what it begins at. */
		if (s.req.wish.policy == &cpl_placement_traffic) {
			struct cpl_decision start;
			int last = d.n_candidates - 1;

			s.req.wish.policy = &cpl_placement_auto;
			decide(&s, &start);
			assert_true(d.candidate[last].broken <=
			            start.candidate[start.chosen].broken);
			moved += d.chosen == last;
			cpl_decision_free(&start);
		}
		spared += d.candidate[d.best].broken -
		          d.candidate[d.chosen].broken;
		paid += d.price > 0;
		cpl_decision_free(&off);
		cpl_decision_free(&d);
		cpl_harm_free(others);
		if (others)
			cpl_load_free(&rates);
		tear_down(&s);
	}
	assert_true(spared > 0);
	assert_true(paid > 0);
	assert_true(moved > 0);
}

/* The policy made for it breaks one at the most, and one only where neither the
 * broken ones nor the whole ones are filled. */
static void test_keep_whole_breaks_one_at_most(void **state)
{
	static const struct {
		const char *network, *policy;
		int (*unit)(int node);
		int size;
	} row[] = {
	        {dragonfly_text, "keep-whole:router", dragonfly_router, 2},
	        {dragonfly_text, "keep-whole:group", dragonfly_group, 16},
	        {torus_text, "keep-whole:plane", torus_plane, 16},
	        {torus_text, "keep-whole:2x2x2", torus_box, 8},
	        {KEEP_TREE, "keep-whole:1", by_four, 4},
	        {KEEP_GRAPH, "keep-whole:router", by_four, 4},
	};

	for (int k = 0; k < 240; k++) {
		int unit_of[MAX_NODES], per[MAX_NODES] = {0}, broken;
		int r = k % 6, whole = 0, rest = 0, fill;
		struct setting s;
		struct cpl_decision d;

		set_up(&s, row[r].network, 5 + k % 11, 1, row[r].policy,
		       (uint64_t)k + 1);
		for (int i = 0; i < s.net->n_nodes; i++) {
			unit_of[i] = row[r].unit(i);
			s.free_node[i] |= unit_of[i] % 4 != 1;
			per[unit_of[i]] += s.free_node[i];
		}
		for (int u = 0; u < MAX_NODES; u++)
			if (per[u] == row[r].size)
				whole++;
			else
				rest += per[u];
		assert_int_equal(cpl_wish_units(&s.req.wish, s.net,
		                                strchr(row[r].policy, ':') + 1,
		                                NULL),
		                 0);
		decide(&s, &d);
		check_nodes(&s, &d);
		broken = count_broken(&s, unit_of, d.node);
		fill = s.req.place.n_nodes_wanted / row[r].size;
		fill = fill < whole ? fill : whole;
		assert_int_equal(broken, s.req.place.n_nodes_wanted -
		                                         fill * row[r].size >
		                                 rest);
		assert_int_equal(d.candidate[0].broken, broken);
		cpl_decision_free(&d);
		/* Without a signature it is told, too. */
		s.req.comm = NULL;
		decide(&s, &d);
		assert_int_equal(d.candidate[0].broken, broken);
		cpl_decision_free(&d);
		tear_down(&s);
	}
}

static void test_units_that_there_are_not(void **state)
{
	struct setting s;
	struct cpl_error err = {""};

	set_up(&s, dragonfly_text, 4, 2, "auto", 1);
	assert_int_equal(cpl_wish_units(&s.req.wish, s.net, "group", NULL), 0);
	assert_int_equal(cpl_wish_units(&s.req.wish, s.net, "board", &err), -1);
	assert_non_null(strstr(err.text,
	                       "this network has no units 'board'; it "
	                       "has router"));
	assert_string_equal(s.req.wish.keep.name, "group");
	assert_int_equal(cpl_wish_units(&s.req.wish, s.net, "None", NULL), 0);
	assert_null(s.req.wish.keep.name);
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_units_are_kept_whole),
	        cmocka_unit_test(test_keep_whole_breaks_one_at_most),
	        cmocka_unit_test(test_units_that_there_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
