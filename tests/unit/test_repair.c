/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks stay where their run before had them, against all nodes tried one by one. */
#include "unit.h"

#include "decide_setting.h"
#include "mapping/quick.h"
#include "mapping/rank_groups.h"
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

enum when {
	ANOTHER_SIZE,
	ANOTHER_POLICY,
	NO_MAPPER,
	MAY_NOT_ARRIVE,
	BY_TIME,
	AS_A_WHOLE,
	REQUIRES,
	FIVE_GONE,
	N_WHEN
};

static void test_when_not(void **state)
{
	(void)state;
	for (enum when when = 0; when < N_WHEN; when++) {
		struct cpl_decision first, now;
		struct cpl_error err = {""};
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
		else if (when == BY_TIME)
			s.req.wish.objective = CPL_OBJECTIVE_TIME;
		else if (when == AS_A_WHOLE)
			s.req.wish.objective = CPL_OBJECTIVE_ISOLATION;
		else if (when == REQUIRES)
			s.req.place.required = former.node,
			s.req.place.n_required = 1;
		for (int h = 0; h < 5 && when == FIVE_GONE; h++)
			s.free_node[former.node[h]] = 0;
		/* That objective needs phases, which the job has not. */
		if (when == AS_A_WHOLE) {
			assert_int_equal(cpl_decide(&s.req, &now, &err), -1);
		} else {
			decide(&s, &now);
			assert_false(now.repaired.judged);
			cpl_decision_free(&now);
		}
		cpl_decision_free(&first);
		tear_down(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_one_gone),
	        cmocka_unit_test(test_none_gone),
	        cmocka_unit_test(test_when_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
