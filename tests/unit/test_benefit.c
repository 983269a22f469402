/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "base/random.h"
#include "benefit/benefit.h"
#include "benefit/notes.h"
#include "benefit/sequence.h"

#define HEAD "profile,ranks,nodes,arm,seconds\n"

static void test_parse(void **state)
{
	static const char text[] =
	        "arm,seconds,profile,nodes,ranks,merit,predicted,time,energy,"
	        "partition\r\n"
	        "\n"
	        "stock,1e2,milc,4,64,,,7,,large\r\n"
	        "commplace,90.5,milc,4,64,3,0.05,,12,";
	struct cpl_trial_jobs jobs = {0};
	struct cpl_error err = {""};

	(void)state;
	assert_int_equal(cpl_trial_jobs_parse(&jobs, text, strlen(text), "t",
	                                      &err),
	                 0);
	assert_int_equal(jobs.n, 2);
	assert_string_equal(jobs.job[0].profile, "milc");
	assert_string_equal(jobs.job[0].partition, "large");
	assert_int_equal(jobs.job[0].arm, CPL_ARM_STOCK);
	assert_int_equal(jobs.job[0].ranks, 64);
	assert_int_equal(jobs.job[0].nodes, 4);
	assert_int_equal(jobs.job[0].time, 7);
	assert_true(isnan(jobs.job[0].predicted));
	assert_true(jobs.job[0].value[CPL_MEASURE_MERIT] == 0);
	assert_int_equal(jobs.job[1].arm, CPL_ARM_PLACED);
	assert_true(jobs.job[1].value[CPL_MEASURE_SECONDS] == 90.5);
	assert_true(jobs.job[1].value[CPL_MEASURE_ENERGY] == 12);
	assert_true(jobs.job[1].value[CPL_MEASURE_MERIT] == 3);
	assert_true(jobs.job[1].predicted == 0.05);
	assert_int_equal(jobs.job[1].time, 1);
	cpl_trial_jobs_free(&jobs);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"", "no job below a first line"},
	        {HEAD, "no job below a first line"},
	        {"profile,ranks,nodes,arm\n", "t:1: no column seconds"},
	        {"profile,ranks,nodes,arm,seconds,colour\n", "'colour'"},
	        {"profile,ranks,nodes,arm,seconds,arm\n", "a second column"},
	        {HEAD "a,1,1,stock\n", "t:2: 4 fields, the head has 5"},
	        {HEAD "a,1,1,stock,1,1\n", "t:2: 6 fields, the head has 5"},
	        {HEAD "a,1,1,control,1\n", "t:2: arm is 'control'"},
	        {HEAD ",1,1,stock,1\n", "t:2: profile is ''"},
	        {HEAD "\xff,1,1,stock,1\n", "t:2: profile is"},
	        {HEAD "a,0,1,stock,1\n", "t:2: ranks is '0'"},
	        {HEAD "a,2147483648,1,stock,1\n", "t:2: ranks is"},
	        {HEAD "a,1,1.5,stock,1\n", "t:2: nodes is '1.5'"},
	        {HEAD "a,1,1,stock,-1\n", "t:2: seconds is '-1'"},
	        {HEAD "a,1,1,stock,0\n", "t:2: seconds is '0'"},
	        {HEAD "a,1,1,stock,nan\n", "t:2: seconds is 'nan'"},
	        {HEAD "a,1,1,stock,inf\n", "t:2: seconds is 'inf'"},
	        {HEAD "a,1,1,stock,1e308\n", "t:2: seconds is '1e308'"},
	        {HEAD "a,1,1,stock,1e-308\n", "t:2: seconds is '1e-308'"},
	        {HEAD "a,1,1,stock,\n", "t:2: seconds is ''"},
	        {HEAD "a,1,1,stock,1s\n", "t:2: seconds is '1s'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_trial_jobs jobs = {0};
		struct cpl_error err = {""};

		assert_int_equal(cpl_trial_jobs_parse(&jobs, row[i].text,
		                                      strlen(row[i].text), "t",
		                                      &err),
		                 -1);
		if (!strstr(err.text, row[i].message))
			fail_msg("'%s' for '%s'", err.text, row[i].text);
		cpl_trial_jobs_free(&jobs);
	}
}

/* The radius is where the mixture's martingale reaches 1 / alpha. */
static void test_sequence(void **state)
{
	double precision = 4000, radius = cpl_sequence_radius(4000, 1e12, 0.05);
	double rho = 456, sum = precision + rho;
	double s = radius * precision;
	double before;

	(void)state;
	assert_true(fabs(sqrt(rho / sum) * exp(s * s / (2 * sum)) - 20) < 1e-3);
	/* Few degrees of freedom: wider, then none. */
	before = radius;
	for (double df = 100; df > 8; df /= 2) {
		double wider = cpl_sequence_radius(precision, df, 0.05);

		assert_true(wider > before);
		before = wider;
	}
	assert_true(isinf(cpl_sequence_radius(precision, 1, 0.05)));
	assert_true(isinf(cpl_sequence_radius(0, 100, 0.05)));
	assert_true(cpl_sequence_radius(precision, 1e9, 0.01) > radius);
	precision = cpl_sequence_precision(0.05, 0.05);
	assert_true(fabs(cpl_sequence_radius(precision, 1e12, 0.05) - 0.05) <
	            1e-9);
}

static void add(struct cpl_trial_jobs *jobs, const char *profile, int ranks,
                enum cpl_arm arm, double seconds)
{
	const struct cpl_trial_job job = {.profile = profile,
	                                  .partition = "",
	                                  .ranks = ranks,
	                                  .nodes = 4,
	                                  .arm = arm,
	                                  .value = {seconds},
	                                  .predicted = NAN,
	                                  .beside = NAN,
	                                  .time = jobs->n};
	struct cpl_error err;

	assert_int_equal(cpl_trial_jobs_add(jobs, &job, &err), 0);
}

static double near_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(cpl_random_next(state) >> 11) / 0x1p53;
	return sum;
}

/* n jobs in each arm of a group, of a true gain. */
static void add_group(struct cpl_trial_jobs *jobs, const char *profile,
                      int ranks, int n, double gain, double deviation,
                      uint64_t seed)
{
	uint64_t state = cpl_random_key(seed, 1);

	for (int i = 0; i < 2 * n; i++)
		add(jobs, profile, ranks, i % 2 ? CPL_ARM_PLACED : CPL_ARM_STOCK,
		    1000 * (i % 2 ? 1 - gain : 1) *
		            exp(deviation * near_normal(&state)));
}

static const struct cpl_gain *seconds(const struct cpl_benefit_pool *pool)
{
	return &pool->measure[CPL_MEASURE_SECONDS];
}

static void make(struct cpl_benefit *b, struct cpl_trial_jobs *jobs)
{
	struct cpl_error err = {""};

	assert_int_equal(cpl_benefit_make(b, jobs, 0.05, &err), 0);
}

static void test_ratio(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit b;

	(void)state;
	add(&jobs, "a", 64, CPL_ARM_STOCK, 100);
	make(&b, &jobs);
	assert_false(seconds(&b.overall)->known);
	cpl_benefit_free(&b);
	add(&jobs, "a", 64, CPL_ARM_STOCK, 400);
	add(&jobs, "a", 64, CPL_ARM_PLACED, 150);
	add(&jobs, "b", 64, CPL_ARM_PLACED, 1);
	make(&b, &jobs);
	/* Geometric means of 200 and 150; the other group has one arm only. */
	assert_true(fabs(seconds(&b.group[0])->gain - 0.25) < 1e-12);
	assert_true(fabs(seconds(&b.overall)->gain - 0.25) < 1e-12);
	assert_false(seconds(&b.group[0])->bounded);
	assert_int_equal(seconds(&b.overall)->verdict, CPL_GAIN_UNKNOWN);
	assert_false(seconds(&b.group[1])->known);
	assert_int_equal(b.n_groups, 2);
	assert_int_equal(b.overall.jobs[CPL_ARM_STOCK], 2);
	assert_int_equal(b.overall.jobs[CPL_ARM_PLACED], 2);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

static void test_verdicts(void **state)
{
	static const struct {
		double gain;
		enum cpl_gain_verdict verdict;
	} row[] = {{0, CPL_GAIN_UNKNOWN},
	           {0.05, CPL_GAIN_BETTER},
	           {-0.05, CPL_GAIN_WORSE}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_trial_jobs jobs = {0};
		const struct cpl_gain *all;
		struct cpl_benefit b;

		add_group(&jobs, "a", 64, 300, row[i].gain, 0.1, 1);
		add_group(&jobs, "a", 128, 300, row[i].gain, 0.2, 2);
		add_group(&jobs, "b", 64, 300, row[i].gain, 0.1, 3);
		make(&b, &jobs);
		all = seconds(&b.overall);
		assert_int_equal(all->verdict, row[i].verdict);
		assert_true(all->low < row[i].gain && row[i].gain < all->high);
		assert_true(all->low < all->gain && all->gain < all->high);
		assert_int_equal(b.n_groups, 3);
		assert_int_equal(b.n_profiles, 2);
		assert_int_equal(b.profile[0].stop,
		                 row[i].verdict == CPL_GAIN_WORSE);
		assert_true(all->more == 0);
		/* The mean is better known than any group. */
		for (int g = 0; g < 3; g++)
			assert_true(seconds(&b.group[g])->precision <
			            all->precision);
		assert_true(fabs(b.group[1].spread[CPL_ARM_STOCK] - 0.2) < 0.03);
		cpl_benefit_free(&b);
		cpl_trial_jobs_free(&jobs);
	}
}

/* One job that hung for a year does not decide. */
static void test_clipped(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit b;

	(void)state;
	add_group(&jobs, "a", 64, 100, 0.1, 0.1, 1);
	add(&jobs, "a", 64, CPL_ARM_PLACED, 3e7);
	make(&b, &jobs);
	assert_int_equal(b.overall.clipped, 1);
	assert_true(fabs(seconds(&b.overall)->gain - 0.1) < 0.03);
	assert_int_equal(seconds(&b.overall)->verdict, CPL_GAIN_BETTER);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

/* Groups that differ weigh alike, whatever their numbers of jobs are. */
static void test_hierarchy(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	const struct cpl_gain *all;
	struct cpl_benefit b;

	(void)state;
	add_group(&jobs, "a", 64, 2000, 0.3, 0.1, 1);
	add_group(&jobs, "b", 64, 100, -0.3, 0.1, 2);
	make(&b, &jobs);
	all = seconds(&b.overall);
	assert_true(fabs(all->effect - (log(0.7) + log(1.3)) / 2) < 0.02);
	assert_true(all->between > 0.2);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

static void test_drift_and_calibration(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit b;

	(void)state;
	add_group(&jobs, "a", 64, 200, 0.1, 0.1, 1);
	add_group(&jobs, "a", 64, 200, 0.1, 0.1, 2);
	for (int64_t i = 0; i < jobs.n; i++)
		jobs.job[i].predicted = 0.05;
	make(&b, &jobs);
	assert_false(b.drifts);
	assert_int_equal(b.n_calibrated, 1);
	assert_true(fabs(b.slope - log(0.9) / log(0.95)) < 4 * b.slope_error);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
	add_group(&jobs, "a", 64, 200, 0.1, 0.1, 1);
	add_group(&jobs, "a", 64, 200, 0, 0.1, 2);
	make(&b, &jobs);
	assert_true(b.drifts);
	assert_true(fabs(b.half[0].gain - 0.1) < 0.03);
	assert_int_equal(b.n_calibrated, 0);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

/* Jobs whose neighbours are placed run 10 % shorter, in both arms. */
static void test_beside(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit b;

	(void)state;
	add_group(&jobs, "a", 64, 300, 0.2, 0.1, 1);
	make(&b, &jobs);
	assert_false(b.beside.known);
	cpl_benefit_free(&b);
	for (int64_t i = 0; i < jobs.n; i++) {
		struct cpl_trial_job *job = &jobs.job[i];

		job->beside = (double)(i % 5) / 4;
		job->value[CPL_MEASURE_SECONDS] *= pow(0.9, job->beside);
	}
	make(&b, &jobs);
	assert_true(fabs(b.beside.gain - 0.1) < 0.04);
	assert_int_equal(b.beside.verdict, CPL_GAIN_BETTER);
	assert_true(b.beside.low < 0.1 && 0.1 < b.beside.high);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

/* A figure of merit gains by being larger. */
static void test_merit(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit b;
	const struct cpl_gain *merit, *energy;

	(void)state;
	add_group(&jobs, "a", 64, 200, 0.1, 0.05, 1);
	for (int64_t i = 0; i < jobs.n; i++) {
		double t = jobs.job[i].value[CPL_MEASURE_SECONDS];

		jobs.job[i].value[CPL_MEASURE_MERIT] = 1 / t;
	}
	make(&b, &jobs);
	merit = &b.overall.measure[CPL_MEASURE_MERIT];
	energy = &b.overall.measure[CPL_MEASURE_ENERGY];
	assert_true(fabs(merit->gain - (1 / (1 - seconds(&b.overall)->gain) - 1)) <
	            1e-9);
	assert_int_equal(merit->verdict, CPL_GAIN_BETTER);
	assert_true(merit->low < merit->gain && merit->gain < merit->high);
	assert_false(energy->known);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

/* The same jobs in another order, and all times alike. */
static void test_extremes(void **state)
{
	struct cpl_trial_jobs jobs = {0};
	struct cpl_benefit a, b;
	double gain;

	(void)state;
	make(&a, &jobs);
	assert_false(seconds(&a.overall)->known);
	cpl_benefit_free(&a);
	add_group(&jobs, "a", 64, 50, 0.1, 0, 1);
	make(&a, &jobs);
	assert_true(seconds(&a.overall)->bounded);
	gain = seconds(&a.overall)->gain;
	cpl_benefit_free(&a);
	for (int64_t i = 0; i < jobs.n / 2; i++) {
		struct cpl_trial_job swap = jobs.job[i];

		jobs.job[i] = jobs.job[jobs.n - 1 - i];
		jobs.job[jobs.n - 1 - i] = swap;
	}
	make(&b, &jobs);
	assert_true(seconds(&b.overall)->gain == gain);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
	add(&jobs, "a", INT32_MAX, CPL_ARM_STOCK, 1e30);
	add(&jobs, "a", INT32_MAX, CPL_ARM_STOCK, 1e-30);
	add(&jobs, "a", INT32_MAX, CPL_ARM_PLACED, 1e30);
	add(&jobs, "a", INT32_MAX, CPL_ARM_PLACED, 1e-30);
	add(&jobs, "a", INT32_MAX, CPL_ARM_PLACED, 1e30);
	add(&jobs, "a", INT32_MAX, CPL_ARM_STOCK, 1e30);
	make(&b, &jobs);
	assert_int_equal(seconds(&b.overall)->verdict, CPL_GAIN_UNKNOWN);
	cpl_benefit_free(&b);
	cpl_trial_jobs_free(&jobs);
}

static void test_plan(void **state)
{
	struct cpl_trial_plan half = cpl_benefit_plan(0.05, 0.5, 0.2, 10);
	struct cpl_trial_plan tenth = cpl_benefit_plan(0.05, 0.1, 0.2, 10);

	(void)state;
	assert_true(half.jobs > 100 && half.jobs < 1000);
	assert_true(tenth.jobs > 2.7 * half.jobs);
	assert_true(fabs(half.cost - half.jobs * 0.5 * 10 * 0.05) < 1e-9);
	assert_true(half.node_hours < half.jobs * 10);
	assert_true(cpl_benefit_plan(0.02, 0.5, 0.2, 10).jobs > 5 * half.jobs);
}

static void test_notes_are_read(void **state)
{
	static const struct {
		const char *comment, *key;
		double value;
	} row[] = {
	        {"", "merit", 0},
	        {"merit=5", "merit", 5},
	        {"merit=5 merit=6e2", "merit", 600},
	        {"merit=2147483648", "merit", 2147483648.0},
	        {"merit=4294967296.5;x", "merit", 4294967296.5},
	        {"lines\nmerit=7\nmore", "merit", 7},
	        {"summerit=5", "merit", 0},
	        {"x.merit=5", "merit", 0},
	        {"merit=5 merits=6 merit =7", "merit", 5},
	        {"a|b|merit=9|", "merit", 9},
	        {"{\"pods\":[],\"commplace\":\"merit=3 t=4\"}", "t", 4},
	        {"merit=1; commplace: merit=2 a=3; merit=4", "merit", 2},
	        {"commplace: a=3; merit=4 merit=5", "merit", 5},
	        {"merit=0x10", "merit", 0},
	        {"merit=5x", "merit", 0},
	        {"merit=-5", "merit", 0},
	        {"merit=5 merit=0", "merit", 0},
	        {"merit=inf", "merit", 0},
	        {"merit=nan", "merit", 0},
	        {"merit=1e31", "merit", 0},
	        {"merit=1e999", "merit", 0},
	        {"merit=1e", "merit", 0},
	        {"merit=", "merit", 0},
	        {"merit", "merit", 0},
	        {"=5", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		double got = cpl_note_value(row[i].comment, row[i].key);

		if (got < row[i].value || got > row[i].value)
			fail_msg("'%s': %g, not %g", row[i].comment, got,
			         row[i].value);
	}
}

static void test_notes_are_added(void **state)
{
	static const struct {
		const char *comment, *want;
	} row[] = {
	        {NULL, "commplace: t=1"},
	        {"", "commplace: t=1"},
	        {"t=9 of the user", "commplace: t=1"},
	        {"mine; commplace: t=9", "commplace: t=1"},
	        {"mine; commplace: a=2 t=9 b.c=3e5; yours b=1",
	         "commplace: a=2 b.c=3e5 t=1"},
	        {"commplace: a=2\tt2=5\nno=word no 7=7 =8 x= y=1e99z t=",
	         "commplace: a=2 t2=5 t=1"},
	        {"{\"commplace\":\"a=2 t=9\",\"x\":\"b=1\"}",
	         "commplace: a=2 t=1"},
	        {"{\"commplace\":\"a=2", "commplace: a=2 t=1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char *got = cpl_notes_with(row[i].comment, "t", "1");

		assert_non_null(got);
		assert_string_equal(got, row[i].want);
		free(got);
	}
}

static void test_notes_are_checked(void **state)
{
	static const char *const bad_key[] = {"", "7", "-a", ".a", "a b", "a\n",
	                                      "a=", "a;", "a|", "\303\244",
	                                      "k23456789012345678901234567890123"};
	static const char *const good_key[] = {
	        "a", "_", "GFLOP.s-1_x", "k2345678901234567890123456789012"};
	static const char *const bad[] = {"", "x", "5x", "5 ", " 5", "-1", "0",
	                                  "0x10", "inf", "nan", "1e31", "1e-31",
	                                  "5\n", "1,5"};
	struct cpl_error err = {""};
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_key) / sizeof(*bad_key); i++)
		if (!cpl_note_check_key(bad_key[i], strlen(bad_key[i]), &err))
			fail_msg("key '%s'", bad_key[i]);
	for (size_t i = 0; i < sizeof(good_key) / sizeof(*good_key); i++)
		if (cpl_note_check_key(good_key[i], strlen(good_key[i]), &err))
			fail_msg("no key '%s'", good_key[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!cpl_note_number(bad[i], &value, &err))
			fail_msg("number '%s'", bad[i]);
	assert_int_equal(cpl_note_number("2147483648", &value, &err), 0);
	assert_true(value == 2147483648.0);
	assert_int_equal(cpl_note_number("+1.5E-3", &value, &err), 0);
	assert_true(value == 1.5e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_notes_are_read),
	        cmocka_unit_test(test_notes_are_added),
	        cmocka_unit_test(test_notes_are_checked),
	        cmocka_unit_test(test_parse),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_sequence),
	        cmocka_unit_test(test_ratio),
	        cmocka_unit_test(test_verdicts),
	        cmocka_unit_test(test_clipped),
	        cmocka_unit_test(test_hierarchy),
	        cmocka_unit_test(test_drift_and_calibration),
	        cmocka_unit_test(test_beside),
	        cmocka_unit_test(test_merit),
	        cmocka_unit_test(test_extremes),
	        cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
