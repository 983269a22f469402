/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks stay where their run before had them, against all nodes tried one by one. */
#include "unit.h"

#include "decide_setting.h"
#include "mapping/quick.h"
#include "mapping/rank_groups.h"
#include "placement/bounds.h"
#include "placement/repair.h"

#define PER_NODE 2

/* What the layout comes to, ranks of host h on node[h]. */
static double cost(const struct setting *s, const struct cpl_former *f,
                   const int *node, struct cpl_figures *out)
{
	struct cpl_rank_groups groups;
	struct cpl_evaluator ev;
	struct cpl_error err = {""};

	assert_int_equal(cpl_rank_groups_given(&groups, s->net, s->comm,
	                                       f->rank_host, f->n_nodes, &err),
	                 0);
	assert_int_equal(cpl_evaluator_open(&ev, s->net, s->routing,
	                                    s->req.background, s->req.rates,
	                                    groups.hosts->n_entries, true, &err),
	                 0);
	assert_int_equal(cpl_evaluate(&ev, groups.hosts, node, out, &err), 0);
	cpl_evaluator_close(&ev);
	cpl_rank_groups_free(&groups);
	return cpl_objective_first(s->req.wish.objective, &out->metrics,
	                           out->sums.hop_bytes);
}

/* Of all nodes in the place of host h the least. */
static double least(const struct setting *s, const struct cpl_former *f,
                    const int *node, int h)
{
	struct cpl_figures figures;
	int at[MAX_NODES];
	double best = -1;

	memcpy(at, node, (size_t)f->n_nodes * sizeof(int));
	for (int i = 0; i < s->net->n_nodes; i++) {
		bool taken = !s->free_node[i];
		double now;

		for (int k = 0; k < f->n_nodes; k++)
			taken |= node[k] == i;
		if (taken)
			continue;
		at[h] = i;
		now = cost(s, f, at, &figures);
		if (best < 0 || now < best)
			best = now;
	}
	return best;
}

/* What is decided for the job of the last run, which the caller frees. */
static struct cpl_former run(struct setting *s, struct cpl_decision *first)
{
	s->req.wish.mapper = &cpl_mapper_quick;
	decide(s, first);
	if (!first->rank_host) {
		first->rank_host =
		        malloc((size_t)s->comm->ranks * sizeof(int));
		for (int r = 0; r < s->comm->ranks; r++)
			first->rank_host[r] = r / PER_NODE;
	}
	return (struct cpl_former){.n_nodes = first->n_nodes,
	                           .ranks = s->comm->ranks,
	                           .node = first->node,
	                           .rank_host = first->rank_host,
	                           .serial = 1};
}

static void test_one_gone(void **state)
{
	static const enum cpl_objective objective[] = {
	        CPL_OBJECTIVE_MAX, CPL_OBJECTIVE_MEAN, CPL_OBJECTIVE_HOP_BYTES};
	int taken = 0, left = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct cpl_decision first, fresh, now;
		struct cpl_former former;
		struct cpl_figures figures;
		struct setting s;
		int gone;
		double cheapest;

		set_up(&s, seed % 2 ? dragonfly_text : torus_text,
		       6 + (int)seed % 9, PER_NODE, seed % 4 < 2 ? "auto" : "traffic",
		       seed);
		s.req.wish.objective = objective[seed % 3];
		former = run(&s, &first);
		gone = (int)(seed % (uint64_t)former.n_nodes);
		s.free_node[former.node[gone]] = 0;
		/* Others have taken and given back nodes since. */
		for (int i = 0; i < s.net->n_nodes; i++)
			if (i != former.node[gone] && !(i % 7 == (int)seed % 7))
				s.free_node[i] |= seed % 5 == 0;
		decide(&s, &fresh);
		assert_false(fresh.repaired.judged);
		s.req.former = &former;
		decide(&s, &now);
		assert_true(now.repaired.judged);
		check_nodes(&s, &now);
		cheapest = least(&s, &former, former.node, gone);
		if (strcmp(now.candidate[now.chosen].policy->name, "repair")) {
			assert_true(now.repaired.worse > CPL_REPAIR_WORSE);
			assert_memory_equal(now.node, fresh.node,
			                    (size_t)fresh.n_nodes * sizeof(int));
			assert_int_equal(now.n_candidates, fresh.n_candidates);
			left++;
		} else {
			assert_true(now.repaired.worse <= CPL_REPAIR_WORSE);
			for (int h = 0; h < former.n_nodes; h++)
				assert_int_equal(now.node[h] == former.node[h],
				                 h != gone);
			assert_memory_equal(now.rank_host, former.rank_host,
			                    (size_t)former.ranks * sizeof(int));
			assert_true(cost(&s, &former, now.node, &figures) <=
			            cheapest * (1 + 1e-9));
			assert_float_equal(now.candidate[now.chosen]
			                           .mapped.metrics.max_congestion,
			                   figures.metrics.max_congestion, 1e-9);
			taken++;
		}
		cpl_decision_free(&first);
		cpl_decision_free(&fresh);
		cpl_decision_free(&now);
		tear_down(&s);
	}
	print_message("# %d repaired, %d decided afresh\n", taken, left);
	assert_true(taken > 10);
	assert_true(left > 3);
}

/* Nothing is gone: all stays, where nothing is better by much. */
static void test_none_gone(void **state)
{
	struct cpl_decision first, now;
	struct cpl_former former;
	struct setting s;

	(void)state;
	set_up(&s, dragonfly_text, 8, PER_NODE, "auto", 3);
	former = run(&s, &first);
	s.req.former = &former;
	decide(&s, &now);
	assert_string_equal(now.candidate[now.chosen].policy->name, "repair");
	assert_true(now.repaired.worse <= 1e-9 && now.repaired.worse >= -1e-9);
	assert_memory_equal(now.node, former.node,
	                    (size_t)former.n_nodes * sizeof(int));
	cpl_decision_free(&first);
	cpl_decision_free(&now);
	tear_down(&s);
}

/* What a decision goes by besides figures on minimal paths. */
enum by { STATED, BY_TIME, INTERFERENCE, ISOLATION, N_BY };

/* What the job comes to by itself on these nodes, with that order. */
static double alone(const struct setting *s, enum by by, const int *node,
                    const int *rank_host, double reference)
{
	struct cpl_times_space *space;
	struct cpl_times_result seconds;
	struct cpl_times *times;
	struct cpl_workload *w;
	const struct cpl_times_rate *rate;
	struct cpl_metrics m;
	int64_t n;
	double sum;
	struct cpl_job job = {.routing = s->req.stated,
	                      .comm = s->comm,
	                      .node = node,
	                      .rank_host = rank_host,
	                      .ranks_per_node = PER_NODE};

	if (by == STATED) {
		w = cpl_workload_new(s->net, 1, NULL);
		assert_int_equal(cpl_workload_evaluate(w, &job,
		                                       s->req.background, &m,
		                                       NULL, NULL),
		                 0);
		cpl_workload_free(w);
		return m.max_congestion;
	}
	space = cpl_times_space_new(s->net, s->routing, NULL);
	times = cpl_times_open(s->req.phase, 1, s->comm->ranks, NULL);
	assert_int_equal(cpl_times_order(times, rank_host, PER_NODE,
	                                 s->req.place.n_nodes_wanted, NULL),
	                 0);
	assert_int_equal(cpl_times_put(times, space, node, NULL), 0);
	cpl_times_judge(times, s->req.rates, false, &seconds);
	rate = cpl_times_rates(times, &n);
	sum = by == BY_TIME ? seconds.seconds
	      : by == ISOLATION
	              ? (double)cpl_harm_shared(s->req.harm, rate, n)
	              : s->req.wish.own_weight * seconds.seconds / reference +
	                        s->req.wish.others_weight *
	                                cpl_harm_by(s->req.harm, rate, n);
	cpl_times_close(times);
	cpl_times_space_free(space);
	return sum;
}

/* By whatever decisions go, the repaired layout is within 2 % of the fresh plan or is
 * not taken, as it is when looked at anew. */
static void test_as_decided(void **state)
{
	static const enum cpl_objective objective[] = {
	        CPL_OBJECTIVE_MAX, CPL_OBJECTIVE_TIME,
	        CPL_OBJECTIVE_INTERFERENCE, CPL_OBJECTIVE_ISOLATION};
	int taken[N_BY] = {0}, left = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 80; seed++) {
		enum by by = (enum by)(seed % N_BY);
		struct cpl_decision first, fresh, now;
		struct cpl_phase phase = {.weight = 1};
		struct cpl_former former;
		struct cpl_harm *others;
		struct cpl_load rates;
		struct setting s;
		double reference, plan, kept;
		int stock[MAX_NODES];

		set_up(&s, dragonfly_text, 6 + (int)seed % 9, PER_NODE,
		       seed % 8 < 4 ? "auto" : "traffic", seed);
		others = run_others(&s, &rates);
		phase.comm = s.comm;
		s.req.wish.objective = objective[by];
		s.req.wish.own_weight = s.req.wish.others_weight = 1;
		if (by == STATED) {
			s.req.stated = cpl_routing_find(
			        s.net, "adaptive-hybrid", NULL);
		} else {
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.rates = &rates;
			s.req.harm = others;
		}
		former = run(&s, &first);
		s.free_node[former.node[seed % (uint64_t)former.n_nodes]] = 0;
		if (by == STATED) {
			decide(&s, &fresh);
			s.req.stock = memcpy(stock, fresh.node,
			                     (size_t)fresh.n_nodes * sizeof(int));
			cpl_decision_free(&fresh);
		}
		decide(&s, &fresh);
		reference = cpl_decision_reference(&fresh);
		s.req.former = &former;
		decide(&s, &now);
		assert_true(now.repaired.judged);
		check_nodes(&s, &now);
		plan = alone(&s, by, fresh.node, fresh.rank_host, reference);
		kept = alone(&s, by, now.node, now.rank_host, reference);
		if (strcmp(now.candidate[now.chosen].policy->name, "repair")) {
			assert_true(now.repaired.worse > CPL_REPAIR_WORSE);
			assert_float_equal(kept, plan, plan * 1e-9);
			left++;
		} else {
			assert_true(kept <= plan * (1 + CPL_REPAIR_WORSE + 1e-9));
			assert_float_equal(kept, plan * (1 + now.repaired.worse),
			                   1e-6 * plan + 1e-9);
			taken[by]++;
		}
		cpl_decision_free(&first);
		cpl_decision_free(&fresh);
		cpl_decision_free(&now);
		cpl_harm_free(others);
		cpl_load_free(&rates);
		tear_down(&s);
	}
	for (int by = 0; by < N_BY; by++) {
		print_message("# %d of 20 repaired\n", taken[by]);
		assert_true(taken[by] > 0);
	}
	assert_true(left > 0);
}

/* Segments of 4 in units of 8: the rank stays in its unit, on the node of least cost
 * there or in another that the job may have. */
static void test_bounds(void **state)
{
	char units[400] = "";
	int repaired = 0, none = 0;

	(void)state;
	for (int u = 0; u < 8; u++)
		sprintf(units + strlen(units), "%sb%d:n[%d-%d]", u ? " " : "", u,
		        8 * u, 8 * u + 7);
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct cpl_decision first, now;
		struct cpl_figures figures;
		struct cpl_former former;
		struct cpl_bounds bounds;
		struct setting s;
		int gone, count[8], at[MAX_NODES];
		double best = -1;

		set_up(&s, seed % 2 ? dragonfly_text : torus_text, 8, PER_NODE,
		       "auto", seed);
		assert_int_equal(
		        cpl_bounds_read(&bounds, s.net,
		                        seed % 4 < 2 ? "blocks=1,segment=4"
		                                     : "switches=3",
		                        units, NULL),
		        0);
		s.req.place.bounds = &bounds;
		former = run(&s, &first);
		gone = (int)(seed % 8);
		s.free_node[former.node[gone]] = 0;
		memcpy(at, former.node, 8 * sizeof(int));
		for (int i = 0; i < s.net->n_nodes; i++) {
			bool taken = !s.free_node[i];

			for (int k = 0; k < 8; k++)
				taken |= former.node[k] == i;
			at[gone] = i;
			if (taken || !cpl_bounds_hold(&bounds, at, 8, count))
				continue;
			cost(&s, &former, at, &figures);
			if (best < 0 || figures.metrics.max_congestion < best)
				best = figures.metrics.max_congestion;
		}
		s.req.former = &former;
		decide(&s, &now);
		assert_int_equal(now.repaired.judged, best >= 0);
		assert_true(cpl_bounds_hold(&bounds, now.node, 8, count));
		if (!strcmp(now.candidate[now.chosen].policy->name, "repair")) {
			cost(&s, &former, now.node, &figures);
			assert_true(figures.metrics.max_congestion <=
			            best * (1 + 1e-9));
			repaired++;
		}
		none += best < 0;
		cpl_decision_free(&first);
		cpl_decision_free(&now);
		cpl_bounds_free(&bounds);
		tear_down(&s);
	}
	print_message("# %d of 40 repaired, %d have no node\n", repaired, none);
	assert_true(repaired > 5);
	assert_true(none > 0);
}

/* Where routers or groups are to be kept whole a repair breaks no more of them than the
 * fresh plan does, and what it costs is told of the set without the wish. */
static void test_kept_whole(void **state)
{
	int repaired = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		const char *name = seed % 2 ? "router" : "group";
		struct cpl_decision first, fresh, now;
		struct cpl_whole_units units;
		struct cpl_former former;
		struct cpl_error err = {""};
		struct setting s;
		const struct cpl_candidate *c;

		set_up(&s, dragonfly_text, 8, PER_NODE, "auto", seed);
		assert_int_equal(cpl_cut_find(s.net, name, &s.req.wish.keep,
		                              &err),
		                 0);
		s.req.wish.keep_price = 100;
		former = run(&s, &first);
		s.free_node[former.node[seed % 8]] = 0;
		decide(&s, &fresh);
		s.req.former = &former;
		decide(&s, &now);
		c = &now.candidate[now.chosen];
		assert_true(c->broken <= fresh.candidate[fresh.chosen].broken);
		assert_int_equal(cpl_whole_units_open(&units, s.net, s.free_node,
		                                      &s.req.wish.keep, &err),
		                 0);
		assert_int_equal(cpl_whole_units_broken(&units, now.node, 8),
		                 c->broken);
		cpl_whole_units_close(&units);
		if (!strcmp(c->policy->name, "repair")) {
			repaired++;
			assert_true(now.repaired.worse <= CPL_REPAIR_WORSE);
			assert_true(now.price >= 0);
		}
		cpl_decision_free(&first);
		cpl_decision_free(&fresh);
		cpl_decision_free(&now);
		tear_down(&s);
	}
	print_message("# %d of 40 repaired\n", repaired);
	assert_true(repaired > 5);
}

/* The node that a job is to have may be one that it had. */
static void test_required(void **state)
{
	struct cpl_decision first, now;
	struct cpl_former former;
	struct setting s;
	int other = 0;

	(void)state;
	set_up(&s, torus_text, 9, PER_NODE, "auto", 5);
	former = run(&s, &first);
	s.req.former = &former;
	s.req.place.required = former.node;
	s.req.place.n_required = 1;
	decide(&s, &now);
	assert_true(now.repaired.judged);
	cpl_decision_free(&now);
	for (int h = 0; h < former.n_nodes; h++)
		if (!s.free_node[other] || former.node[h] == other) {
			other++;
			h = -1;
		}
	s.req.place.required = &other;
	decide(&s, &now);
	assert_false(now.repaired.judged);
	cpl_decision_free(&first);
	cpl_decision_free(&now);
	tear_down(&s);
}

enum when {
	ANOTHER_SIZE,
	ANOTHER_POLICY,
	NO_MAPPER,
	MAY_NOT_ARRIVE,
	FIVE_GONE,
	N_WHEN
};

static void test_when_not(void **state)
{
	(void)state;
	for (enum when when = 0; when < N_WHEN; when++) {
		struct cpl_decision first, now;
		struct cpl_former former;
		struct setting s;

		set_up(&s, torus_text, 9, PER_NODE, "auto", 5);
		former = run(&s, &first);
		s.req.former = &former;
		if (when == ANOTHER_SIZE)
			s.req.place.n_nodes_wanted = 10;
		else if (when == ANOTHER_POLICY)
			s.req.wish.policy = &cpl_placement_linear;
		else if (when == NO_MAPPER)
			s.req.wish.mapper = NULL;
		else if (when == MAY_NOT_ARRIVE)
			s.req.order = CPL_ORDER_NOT;
		for (int h = 0; h < 5 && when == FIVE_GONE; h++)
			s.free_node[former.node[h]] = 0;
		decide(&s, &now);
		assert_false(now.repaired.judged);
		cpl_decision_free(&now);
		cpl_decision_free(&first);
		tear_down(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_one_gone),
	        cmocka_unit_test(test_none_gone),
	        cmocka_unit_test(test_as_decided),
	        cmocka_unit_test(test_bounds),
	        cmocka_unit_test(test_kept_whole),
	        cmocka_unit_test(test_required),
	        cmocka_unit_test(test_when_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
