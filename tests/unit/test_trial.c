/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs of a trial, and profiles that it has switched off. */
#include "engine_fixture.h"

#include "site/trial.h"

static void load(const char *lines)
{
	config(lines);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
}

/* The share is what was asked for, and nothing but seed and job counts. */
static void test_draws(void **state)
{
	static const int percent[] = {0, 1, 10, 50, 99};

	(void)state;
	for (size_t i = 0; i < sizeof(percent) / sizeof(*percent); i++) {
		int n = 0, other = 0;

		for (int64_t job = 1; job <= 100000; job++) {
			bool drawn = cpl_trial_draws_stock(1, job, percent[i]);

			assert_int_equal(drawn, cpl_trial_draws_stock(
			                                1, job, percent[i]));
			n += drawn;
			other += drawn !=
			         cpl_trial_draws_stock(2, job, percent[i]);
		}
		assert_true(abs(n - 1000 * percent[i]) <= 600);
		assert_int_equal(other > 0, percent[i] > 0);
	}
}

static void test_arms(void **state)
{
	struct cpl_engine_notice notice;
	int stock = 0;

	(void)state;
	load("Trial=50");
	for (int64_t id = 1; id <= 40; id++) {
		struct cpl_engine_request req = request(id, "a8", NULL, 4);
		bool drawn = cpl_trial_draws_stock(1, id, 50);

		all_free();
		fake.wanted = 4;
		assert_int_equal(ask(&req), drawn ? CPL_ENGINE_STOCK
		                                  : CPL_ENGINE_PLACED);
		assert_string_equal(record()->arm,
		                    drawn ? "stock" : "commplace");
		/* Both arms are decided, and predicted. */
		assert_true(record()->n_candidates > 1);
		assert_true(record()->stock_max_congestion >= 0);
		assert_int_equal(record()->outcome,
		                 drawn ? CPL_OUTCOME_OBSERVED
		                       : CPL_OUTCOME_PLACED);
		if (drawn)
			assert_string_equal(record()->reason_code, "trial");
		fake_begin(engine, id, &fake, &notice);
		assert_int_equal(strstr(notice.text,
		                        "stock (drawn to stay stock "
		                        "(Trial=50)) profile=a8") != NULL,
		                 drawn);
		assert_int_equal(has_layout(id), !drawn);
		stock += drawn;
		cpl_engine_end(engine, id);
	}
	assert_true(stock > 5 && stock < 35);
	assert_int_equal(
	        engine->clerk.counters.count[CPL_COUNT_TRIAL_STOCK], stock);
	assert_int_equal(engine->clerk.counters.count[CPL_COUNT_TRIAL_OURS],
	                 40 - stock);
}

/* What is the user's word, or another's, is no matter of chance. */
static void test_who_is_in_no_trial(void **state)
{
	static const struct {
		const char *lines, *policy, *mapping;
		int required;
		bool own_order, in_trial;
	} row[] = {
	        {"Trial=99", NULL, NULL, 0, false, true},
	        {"Trial=99", "auto", NULL, 0, false, false},
	        {"Trial=99", NULL, "linear", 0, false, false},
	        {"Trial=99", NULL, NULL, 1, false, false},
	        {"Trial=99", NULL, NULL, 0, true, false},
	        {"Trial=0", NULL, NULL, 0, false, false},
	        {"Trial=99 TrialUntil=2001-02-03", NULL, NULL, 0, false, false},
	        {"Trial=99 TrialUntil=2036-02-03T04:05", NULL, NULL, 0, false,
	         true},
	        {"Trial=99\nMatch JobName=job Trial=0", NULL, NULL, 0, false,
	         false},
	        {"Match JobName=job Trial=99", NULL, NULL, 0, false, true},
	        {"Trial=99 UserMayOverride=profile", NULL, NULL, 0, false,
	         true},
	};
	const int first = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_engine_request req =
		        request(7, "a8", row[i].policy, 4);

		load(row[i].lines);
		all_free();
		fake.wanted = 4;
		req.job.mapping = row[i].mapping;
		req.own_order = row[i].own_order;
		req.required = &first;
		req.n_required = row[i].required;
		if (ask(&req) !=
		            (row[i].in_trial ? CPL_ENGINE_STOCK
		                             : CPL_ENGINE_PLACED) ||
		    !record()->arm == row[i].in_trial)
			fail_msg("row %zu: %s", i, record()->reason);
	}
}

static enum cpl_engine_answer ask_a8(void)
{
	struct cpl_engine_request req = request(3, "a8", NULL, 4);

	all_free();
	fake.wanted = 4;
	return ask(&req);
}

static void test_stop(void **state)
{
	static const char stopped[] =
	        "{\"format\": \"commplace-trial\", \"version\": 1, \"time\": "
	        "9, \"stopped\": [{\"profile\": \"b16\", \"gain\": -0.1}, "
	        "{\"profile\": \"a8\", \"gain\": -0.03, \"low\": -0.05, "
	        "\"high\": -0.01, \"jobs\": 900}]}";
	struct cpl_engine_request req;

	(void)state;
	load("");
	assert_int_equal(ask_a8(), CPL_ENGINE_PLACED);
	mkdir(in_dir("state"), 0755);
	put("state/trial.json", stopped);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_non_null(strstr(logged,
	                       "profile a8: placement is switched off, since "
	                       "its 900 jobs ran 3.0 % longer placed (1.0 to "
	                       "5.0 %) (TrialStop)"));
	assert_int_equal(ask_a8(), CPL_ENGINE_STOCK);
	assert_string_equal(record()->reason_code, "trial_stop");
	assert_null(record()->arm);
	/* The user insists; another profile; the site does not want it. */
	req = request(3, "a8", "auto", 4);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	load("TrialStop=no");
	assert_int_equal(ask_a8(), CPL_ENGINE_PLACED);
	load("");
	assert_int_equal(ask_a8(), CPL_ENGINE_STOCK);
	/* One that is broken stops nothing, one that is gone neither. */
	put("state/trial.json", "{");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_non_null(strstr(logged, "trial.json:1:"));
	assert_int_equal(ask_a8(), CPL_ENGINE_PLACED);
	put("state/trial.json", stopped);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(ask_a8(), CPL_ENGINE_STOCK);
	assert_int_equal(unlink(in_dir("state/trial.json")), 0);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(ask_a8(), CPL_ENGINE_PLACED);
}

#define HEAD "{\"format\": \"commplace-trial\", \"version\": 1, "

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"", "t: is empty"},
	        {"[]", "t: "},
	        {"{\"version\": 1}", "\"format\""},
	        {HEAD "\"stopped\": {}}", "\"stopped\" is not an array"},
	        {HEAD "\"stopped\": [], \"x\": 1}", "x"},
	        {HEAD "\"stopped\": [1]}", "entry 1: is not an object"},
	        {HEAD "\"stopped\": [{}]}", "\"profile\" is missing"},
	        {HEAD "\"stopped\": [{\"profile\": \"a\", \"gain\": 2}]}",
	         "gain"},
	        {HEAD "\"stopped\": [{\"profile\": \"a\", \"jobs\": -1}]}",
	         "jobs"},
	        {HEAD "\"stopped\": [{\"profile\": \"a\", \"colour\": 1}]}",
	         "colour"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_trial_state trial;
		struct cpl_error err = {""};

		assert_int_equal(cpl_trial_parse(row[i].text,
		                                 strlen(row[i].text), "t",
		                                 &trial, &err),
		                 -1);
		if (!strstr(err.text, row[i].message))
			fail_msg("'%s' for %s", err.text, row[i].text);
		assert_int_equal(trial.n, 0);
	}
}

static void test_written_is_read(void **state)
{
	struct cpl_stopped stopped[] = {{(char *)"a8", -0.03, -0.05, -0.01, 9},
	                                {(char *)"b", -1, -2, -0.5, 1}};
	const struct cpl_trial_state trial = {2, stopped};
	struct cpl_trial_state back;
	json_t *root = cpl_trial_json(&trial, 17);

	(void)state;
	assert_non_null(root);
	assert_int_equal(json_dump_file(root, in_dir("trial.json"), 0), 0);
	json_decref(root);
	assert_int_equal(cpl_trial_load(in_dir("trial.json"), &back, NULL), 0);
	assert_int_equal(back.n, 2);
	assert_null(cpl_trial_stopped(&back, "a"));
	assert_null(cpl_trial_stopped(&back, NULL));
	assert_true(cpl_trial_stopped(&back, "a8")->low == -0.05);
	assert_int_equal(cpl_trial_stopped(&back, "b")->jobs, 1);
	cpl_trial_free(&back);
	assert_int_equal(cpl_trial_load(in_dir("none"), &back, NULL), 1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(test_draws),     T(test_arms),
	        T(test_stop),      T(test_who_is_in_no_trial),
	        T(test_refused),   T(test_written_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
