/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters over restarts. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/json.h"
#include "site/counters.h"

static char dir[] = "/tmp/commplace-counters-XXXXXX";
#include "in_dir.h"

#define MS INT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct cpl_counters counters, seen;

static int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	counters = seen = (struct cpl_counters){.since = 0};
	return 0;
}

static int tear_down(void **state)
{
	unlink(in_dir("counters.json"));
	rmdir(in_dir("counters.json"));
	return rmdir(dir);
}

static int merge(int64_t now, struct cpl_error *err)
{
	return cpl_counters_merge(&counters, &seen, in_dir("counters.json"),
	                          now, err);
}

static struct cpl_counters on_file(void)
{
	struct cpl_error err = {""};
	struct cpl_counters out;

	assert_int_equal(
	        cpl_counters_load(in_dir("counters.json"), &out, &err), 0);
	assert_string_equal(err.text, "");
	return out;
}

static void buckets(void **state)
{
	static const struct {
		int64_t ns;
		int bucket;
	} row[] = {
	        {-5, 0},           {0, 0},       {100000, 0},
	        {100001, 1},       {MS, 3},      {MS + 1, 4},
	        {20 * MS, 7},      {5000 * MS, CPL_TIME_BOUNDS - 1},
	        {5000 * MS + 1, CPL_TIME_BOUNDS}, {INT64_MAX / 4, CPL_TIME_BOUNDS},
	};

	for (size_t i = 0; i < COUNT(row); i++) {
		struct cpl_counters c = {.since = 0};
		const struct cpl_histogram *t = &c.time[CPL_TIME_HELD_STEP];

		cpl_observe(&c, CPL_TIME_HELD_STEP, row[i].ns);
		assert_int_equal(t->bucket[row[i].bucket], 1);
		assert_int_equal(cpl_histogram_count(t), 1);
		assert_int_equal(t->sum, row[i].ns > 0 ? row[i].ns : 0);
		assert_int_equal(t->longest, t->sum);
	}
	for (int i = 1; i < CPL_TIME_BOUNDS; i++)
		assert_true(cpl_counters_bound(i) > cpl_counters_bound(i - 1));
}

/* Labels must be names in metrics, and tell apart. */
static void names(void **state)
{
	for (int i = 0; i < CPL_COUNTERS; i++) {
		struct cpl_counter_name a = cpl_counter_name(i);

		assert_int_equal(strspn(a.what, "abcdefghijklmnopqrstuvwxyz_"),
		                 strlen(a.what));
		assert_int_equal(!a.label, !a.value);
		for (int k = 0; k < i; k++) {
			struct cpl_counter_name b = cpl_counter_name(k);

			assert_true(strcmp(a.what, b.what) ||
			            (a.value && strcmp(a.value, b.value)));
		}
	}
	for (int i = 1; i < CPL_REASONS; i++)
		assert_non_null(cpl_reason_kind(i));
}

static void counts_survive(void **state)
{
	struct cpl_counters file;

	cpl_count(&counters, CPL_COUNT_PLACED);
	cpl_count(&counters, CPL_COUNT_REASON + CPL_REASON_LATE);
	cpl_observe(&counters, CPL_TIME_DECISION, 3 * MS);
	assert_int_equal(merge(1000, NULL), 0);
	assert_int_equal(merge(1001, NULL), 0);
	file = on_file();
	assert_int_equal(file.since, 1000);
	assert_int_equal(file.count[CPL_COUNT_PLACED], 1);
	assert_int_equal(file.count[CPL_COUNT_REASON + CPL_REASON_LATE], 1);
	assert_int_equal(file.time[CPL_TIME_DECISION].bucket[5], 1);
	assert_int_equal(file.time[CPL_TIME_DECISION].longest, 3 * MS);
	/* Another process goes on. */
	counters = seen = (struct cpl_counters){.since = 0};
	cpl_count(&counters, CPL_COUNT_PLACED);
	cpl_observe(&counters, CPL_TIME_DECISION, 2 * MS);
	assert_int_equal(merge(2000, NULL), 0);
	file = on_file();
	assert_int_equal(file.since, 1000);
	assert_int_equal(file.count[CPL_COUNT_PLACED], 2);
	assert_int_equal(cpl_histogram_count(&file.time[CPL_TIME_DECISION]), 2);
	assert_int_equal(file.time[CPL_TIME_DECISION].sum, 5 * MS);
	assert_int_equal(file.time[CPL_TIME_DECISION].longest, 3 * MS);
}

/* The file removed: from zero, the longest time too. */
static void reset(void **state)
{
	struct cpl_counters file;

	cpl_count(&counters, CPL_COUNT_STOCK);
	cpl_observe(&counters, CPL_TIME_DECISION, 900 * MS);
	assert_int_equal(merge(1000, NULL), 0);
	assert_int_equal(unlink(in_dir("counters.json")), 0);
	/* Nothing new: nothing is written. */
	assert_int_equal(merge(1500, NULL), 0);
	assert_int_equal(access(in_dir("counters.json"), F_OK), -1);
	cpl_count(&counters, CPL_COUNT_STOCK);
	cpl_observe(&counters, CPL_TIME_DECISION, 4 * MS);
	assert_int_equal(merge(2000, NULL), 0);
	file = on_file();
	assert_int_equal(file.since, 2000);
	assert_int_equal(file.count[CPL_COUNT_STOCK], 1);
	assert_int_equal(file.time[CPL_TIME_DECISION].longest, 4 * MS);
}

static void damaged(void **state)
{
	static const char *const text[] = {
	        "",
	        "{",
	        "[]",
	        "{\"format\": \"commplace-decision\", \"version\": 1}",
	        "{\"format\": \"commplace-counters\", \"version\": 1, "
	        "\"decisions\": 3}",
	        "{\"format\": \"commplace-counters\", \"version\": 1, "
	        "\"cut_short\": -1}",
	        "{\"format\": \"commplace-counters\", \"version\": 1, "
	        "\"cut_short\": 9223372036854775807}",
	        "{\"format\": \"commplace-counters\", \"version\": 1, "
	        "\"decisions\": {\"placed\": 1.5}}",
	};

	for (size_t i = 0; i < COUNT(text); i++) {
		struct cpl_error err = {""};
		struct cpl_counters file;

		put("counters.json", text[i]);
		assert_int_equal(cpl_counters_load(in_dir("counters.json"),
		                                   &file, &err),
		                 -1);
		assert_non_null(strstr(err.text, "counters.json:"));
		err.text[0] = '\0';
		cpl_count(&counters, CPL_COUNT_CUT_SHORT);
		assert_int_equal(merge(1000, &err), 0);
		assert_non_null(strstr(err.text, "begin anew"));
		assert_int_equal(on_file().count[CPL_COUNT_CUT_SHORT], 1);
	}
}

/* Times of a file of ours: each number of them. */
static void damaged_times(void **state)
{
	static const struct {
		const char *sum, *longest, *bucket, *message;
	} row[] = {
	        {"1", "1", "7", NULL},
	        {"-1", "1", "7", "\"decision\": \"sum_ns\" is -1"},
	        {"1", "-1", "7", "\"decision\": \"longest_ns\" is -1"},
	        {"1", "1", "7, 7", "\"buckets\" are not 16 numbers"},
	        {"1", "1", "-1", "bucket 16 is no count"},
	        {"1", "1", "\"7\"", "bucket 16 is no count"},
	        {"1", "1", "9223372036854775807", "bucket 16 is no count"},
	};

	for (size_t i = 0; i < COUNT(row); i++) {
		struct cpl_error err = {""};
		struct cpl_counters out;
		char text[1024];
		int n = snprintf(text, sizeof(text),
		                 "{\"format\": \"commplace-counters\", "
		                 "\"version\": 1, \"bounds_ns\": [");

		for (int b = 0; b < CPL_TIME_BOUNDS; b++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			              "%s%.0f", b ? ", " : "",
			              1e9 * cpl_counters_bound(b));
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		              "], \"decision\": {\"sum_ns\": %s, "
		              "\"longest_ns\": %s, \"buckets\": "
		              "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,%s]}}",
		              row[i].sum, row[i].longest, row[i].bucket);
		assert_int_equal(cpl_counters_parse(text, (size_t)n, "c", &out,
		                                    &err),
		                 row[i].message ? -1 : 0);
		if (!strstr(err.text, row[i].message ? row[i].message : ""))
			fail_msg("row %zu: %s", i, err.text);
		assert_int_equal(out.time[CPL_TIME_DECISION].bucket[15],
		                 row[i].message ? 0 : 7);
	}
}

/* Of another version: what is known is kept. */
static void other_versions(void **state)
{
	struct cpl_counters file;

	put("counters.json",
	    "{\"format\": \"commplace-counters\", \"version\": 1, "
	    "\"since\": 7, \"decisions\": {\"placed\": 5, \"dreamt\": 2}, "
	    "\"moons\": 3, \"bounds_ns\": [1, 2], \"decision\": {\"buckets\": "
	    "[1, 2, 3]}}");
	file = on_file();
	assert_int_equal(file.since, 7);
	assert_int_equal(file.count[CPL_COUNT_PLACED], 5);
	assert_int_equal(cpl_histogram_count(&file.time[CPL_TIME_DECISION]), 0);
}

/* What cannot be written is not lost. */
static void not_writable(void **state)
{
	struct cpl_error err = {""};

	assert_int_equal(mkdir(in_dir("counters.json"), 0755), 0);
	cpl_count(&counters, CPL_COUNT_PLACED);
	assert_int_equal(merge(1000, &err), -1);
	assert_non_null(strstr(err.text, "counters.json:"));
	rmdir(in_dir("counters.json"));
	assert_int_equal(symlink("/etc/passwd", in_dir("counters.json")), 0);
	assert_int_equal(merge(1000, &err), -1);
	unlink(in_dir("counters.json"));
	cpl_count(&counters, CPL_COUNT_PLACED);
	assert_int_equal(merge(1000, NULL), 0);
	assert_int_equal(on_file().count[CPL_COUNT_PLACED], 2);
}

#define THREADS 4
#define TIMES 20000

static void *count_many(void *arg)
{
	for (int i = 0; i < TIMES; i++) {
		cpl_count(&counters, CPL_COUNT_PLACED);
		cpl_observe(&counters, CPL_TIME_HELD_TEST, i % 7 * MS);
	}
	return NULL;
}

static void threads(void **state)
{
	pthread_t thread[THREADS];
	struct cpl_counters file;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
		        pthread_create(&thread[i], NULL, count_many, NULL), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(merge(1000 + i, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(merge(2000, NULL), 0);
	file = on_file();
	assert_int_equal(file.count[CPL_COUNT_PLACED], THREADS * TIMES);
	assert_int_equal(cpl_histogram_count(&file.time[CPL_TIME_HELD_TEST]),
	                 THREADS * TIMES);
	assert_int_equal(file.time[CPL_TIME_HELD_TEST].longest, 6 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(buckets),
	        cmocka_unit_test(names),
	        cmocka_unit_test_setup_teardown(counts_survive, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(reset, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(damaged, set_up, tear_down),
	        cmocka_unit_test(damaged_times),
	        cmocka_unit_test_setup_teardown(other_versions, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(not_writable, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(threads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
