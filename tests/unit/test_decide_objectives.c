/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What decisions are for: objectives, those of other jobs among them. */
#include "unit.h"

#include "decide_setting.h"
#include "mapping/quick.h"

static void test_objective(void **state)
{
	static const struct {
		enum cpl_objective objective;
		/* max, mean, hop-bytes, seconds, cables, max of the job's */
		double a[6], b[6];
		bool better;
	} table[] = {
	        {CPL_OBJECTIVE_MAX, {1, 9, 9}, {2, 1, 1}, true},
	        {CPL_OBJECTIVE_MAX, {2, 1, 1}, {1, 9, 9}, false},
	        {CPL_OBJECTIVE_MAX, {1, 1, 9}, {1, 2, 1}, true},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1}, {1, 1, 2}, true},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1}, {1, 1, 1}, false},
	        /* Last bits do not decide. */
	        {CPL_OBJECTIVE_MAX, {1 - 1e-12, 2, 1}, {1, 1, 1}, false},
	        {CPL_OBJECTIVE_MEAN, {9, 1, 9}, {1, 2, 1}, true},
	        {CPL_OBJECTIVE_MEAN, {1, 1, 9}, {2, 1, 1}, true},
	        {CPL_OBJECTIVE_HOP_BYTES, {9, 9, 1}, {1, 1, 2}, true},
	        {CPL_OBJECTIVE_HOP_BYTES, {1, 9, 1}, {2, 1, 1}, true},
	        {CPL_OBJECTIVE_HOP_BYTES, {1, 1, 1}, {1, 2, 1}, true},
	        {CPL_OBJECTIVE_MAX, {0, 0, 0}, {0, 0, 0}, false},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1, 1}, {1, 1, 1, 2}, false},
	        {CPL_OBJECTIVE_TIME, {9, 9, 9, 1}, {1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_TIME, {9, 1, 9, 1}, {1, 2, 1, 1}, true},
	        {CPL_OBJECTIVE_TIME, {9, 1, 1, 1}, {1, 1, 2, 1}, true},
	        {CPL_OBJECTIVE_TIME, {1, 1, 1, 1}, {2, 1, 1, 1}, false},
	        {CPL_OBJECTIVE_BUSIEST, {1, 9, 9, 9, 2}, {3, 1, 1, 1, 1}, true},
	        {CPL_OBJECTIVE_BUSIEST, {3, 1, 1, 1, 1}, {1, 9, 9, 9, 2}, false},
	        {CPL_OBJECTIVE_BUSIEST, {1, 1, 1, 1, 4}, {2, 1, 1, 1, 3}, false},
	        {CPL_OBJECTIVE_BUSIEST, {1, 1, 9, 1, 4}, {2, 1, 1, 1, 4}, true},
	        {CPL_OBJECTIVE_BUSIEST, {2, 9, 1, 1, 4}, {2, 1, 2, 1, 4}, true},
	        {CPL_OBJECTIVE_MAX, {1, 1, 1, 1, 9}, {2, 1, 1, 1, 1}, true},
	        /* Another job's link is the busiest whatever is chosen. */
	        {CPL_OBJECTIVE_MAX, {9, 2, 2, 1, 1, 1}, {9, 1, 1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_MAX, {9, 1, 1, 1, 1, 2}, {9, 2, 2, 1, 1, 1}, false},
	        {CPL_OBJECTIVE_MAX, {8, 1, 1, 1, 1, 3}, {9, 1, 1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_MAX, {9, 1, 2, 1, 1, 0}, {9, 2, 1, 1, 1, 2}, true},
	        {CPL_OBJECTIVE_MEAN, {9, 1, 2, 1, 1, 1}, {9, 1, 1, 1, 1, 2}, false},
	};
	struct cpl_error err = {""};
	enum cpl_objective o;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_metrics a = {.max_congestion = table[i].a[0],
		                        .mean_congestion = table[i].a[1],
		                        .max_injection = table[i].a[4],
		                        .job_congestion = table[i].a[5],
		                        .seconds = table[i].a[3]};
		struct cpl_metrics b = {.max_congestion = table[i].b[0],
		                        .mean_congestion = table[i].b[1],
		                        .max_injection = table[i].b[4],
		                        .job_congestion = table[i].b[5],
		                        .seconds = table[i].b[3]};

		assert_int_equal(cpl_objective_better(table[i].objective, &a,
		                                      table[i].a[2], &b,
		                                      table[i].b[2]),
		                 table[i].better);
	}
	for (int i = 0; i <= CPL_OBJECTIVE_ISOLATION; i++) {
		assert_int_equal(
		        cpl_objective_parse(
		                cpl_objective_name((enum cpl_objective)i), &o,
		                &err),
		        0);
		assert_int_equal(o, i);
	}
	assert_int_equal(cpl_objective_parse("speed", &o, &err), -1);
	assert_non_null(strstr(err.text, "mean-congestion"));
}

/* Of the candidates judged to the end the chosen is the best by the objective,
 * whatever its figures; and the objectives choose differently. */
static void test_objectives_of_others(void **state)
{
	static const struct {
		enum cpl_objective objective;
		double own, others;
	} row[] = {
	        {CPL_OBJECTIVE_TIME, 0, 0},
	        {CPL_OBJECTIVE_ISOLATION, 0, 0},
	        {CPL_OBJECTIVE_INTERFERENCE, 1, 0},
	        {CPL_OBJECTIVE_INTERFERENCE, 1, 1},
	        {CPL_OBJECTIVE_INTERFERENCE, 0, 1},
	};
	/* Of the second network node links hold nobody up. */
	static const char *const network[] = {
	        dragonfly_text,
	        "{\"format\":\"commplace-network\",\"version\":1,\"name\":"
	        "\"t\",\"type\":\"torus\",\"dims\":[4,4,4],\"wrap\":[true,"
	        "true,true],\"nodes_per_router\":1,\"bandwidth\":{\"dim\":["
	        "1e9,1e9,1e9],\"injection\":1e11},\"nodes\":\"n[0-63]\"}"};
	static const struct cpl_mapper *const mapper[] = {NULL,
	                                                  &cpl_mapper_quick};
	int isolated = 0, harmless = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		double shared[5], harm[5];

		for (int k = 0; k < 5; k++) {
			struct setting s;
			struct cpl_decision d;
			struct cpl_load rates;
			struct cpl_harm *others;
			struct cpl_phase phase = {.weight = 1};
			double chosen[2], other[2];

			set_up(&s, network[seed % 2], 12, 2,
			       seed % 3 ? "auto" : "traffic", seed);
			others = run_others(&s, &rates);
			phase.comm = s.comm;
			s.req.phase = &phase;
			s.req.n_phases = 1;
			s.req.rates = &rates;
			s.req.harm = others;
			s.req.wish.objective = row[k].objective;
			s.req.wish.own_weight = row[k].own;
			s.req.wish.others_weight = row[k].others;
			s.req.wish.mapper = mapper[seed / 2 % 2];
			decide(&s, &d);
			worth(&s, &d, d.chosen, chosen);
			for (int i = 0; k && i < d.n_candidates; i++) {
				const struct cpl_candidate *c = &d.candidate[i];

				if (!c->evaluated ||
				    (s.req.wish.mapper && !c->is_mapped))
					continue;
				worth(&s, &d, i, other);
				assert_true(chosen[0] <=
				            other[0] * (1 + 1e-9));
				assert_true(chosen[0] < other[0] * (1 - 1e-9) ||
				            chosen[1] <=
				                    other[1] * (1 + 1e-9));
			}
			shared[k] = (double)d.candidate[d.chosen].shared;
			harm[k] = d.candidate[d.chosen].harm;
			cpl_decision_free(&d);
			cpl_harm_free(others);
			cpl_load_free(&rates);
			tear_down(&s);
		}
		isolated += shared[1] < shared[0];
		harmless += harm[4] < harm[2];
	}
	assert_true(isolated > 0);
	assert_true(harmless > 0);
}

static void test_objectives_of_others_need_phases(void **state)
{
	struct setting s;
	struct cpl_decision d;
	struct cpl_error err = {""};

	set_up(&s, dragonfly_text, 4, 2, "auto", 1);
	s.req.wish.objective = CPL_OBJECTIVE_ISOLATION;
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "isolation needs a job's phases"));
	s.req.wish.objective = CPL_OBJECTIVE_LEARNED;
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "learned needs a job's phases"));
	s.req.phase = &(struct cpl_phase){.comm = (void *)s.req.comm,
	                                  .weight = 1};
	s.req.n_phases = 1;
	assert_int_equal(cpl_decide(&s.req, &d, &err), -1);
	assert_non_null(strstr(err.text, "learned needs a model"));
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_objective),
	        cmocka_unit_test(test_objectives_of_others),
	        cmocka_unit_test(test_objectives_of_others_need_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
