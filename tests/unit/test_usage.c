/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What records tell of profiles: jobs, the last of them, what was gained. */
#include "commplace-config.h"
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "site/usage.h"

static char dir[] = "/tmp/commplace-usage-XXXXXX";
#include "in_dir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PLACED "\"outcome\":\"placed\","
#define P2 "\"profile\":\"p\",\"hosts\":[\"a\"],\"rank_host\":[0,0],"

/* The first few still run, the others have ended. */
#define RUNNING 4
static const char *const record[] = {
        PLACED P2 "\"seconds\":1,\"stock_seconds\":2,\"time\":5",
        PLACED "\"profile\":\"p\",\"hosts\":[\"a\"],\"rank_host\":[0],"
               "\"map_max_after\":1,\"stock_max_congestion\":4",
        PLACED "\"profile\":\"\",\"seconds\":1,\"stock_seconds\":2",
        PLACED "\"profile\":\"b\"",
        PLACED P2 "\"seconds\":3,\"stock_seconds\":4,\"time\":9",
        "\"outcome\":\"stock\"," P2 "\"seconds\":1,\"stock_seconds\":4,"
        "\"time\":7",
        PLACED "\"seconds\":1,\"stock_seconds\":4",
        PLACED "\"profile\":\"a\",\"map_max_after\":3,\"time\":1,"
               "\"stock_mapped_max_congestion\":6,"
               "\"stock_max_congestion\":100",
        /* Seconds of one of both do not compare. */
        PLACED "\"profile\":\"c\",\"seconds\":1,\"map_max_after\":3,"
               "\"stock_max_congestion\":4",
        PLACED "\"profile\":\"d\",\"stock_seconds\":1,\"map_max_after\":3,"
               "\"stock_max_congestion\":4",
        /* Nor does congestion. */
        PLACED "\"profile\":\"e\",\"map_max_after\":3",
        PLACED "\"profile\":\"f\",\"stock_max_congestion\":3",
};

static const struct cpl_usage want[] = {
        {"", 0, 1, 0, 0.5, 1},   {"a", 0, 1, 1, 0.5, 1},
        {"b", 0, 1, 0, 0, 0},    {"c", 0, 1, 0, 0.25, 1},
        {"d", 0, 1, 0, 0.25, 1}, {"e", 0, 1, 0, 0, 0},
        {"f", 0, 1, 0, 0, 0},    {"p", 1, 1, 0, 0.75, 1},
        {"p", 2, 3, 9, 0.75, 2},
};

static const char *name_of(size_t i)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s/%zu.json",
	         i < RUNNING ? "running" : "ended", i + 1);
	return name;
}

static void test_jobs_of_profiles(void **state)
{
	struct cpl_error err = {""};
	struct cpl_usage *got;
	int n = cpl_usage_read(dir, &got, &err);

	assert_string_equal(err.text, "");
	assert_int_equal(n, COUNT(want));
	for (int i = 0; i < n; i++) {
		const struct cpl_usage *g = &got[i], *w = &want[i];

		if (strcmp(g->profile, w->profile) || g->ranks != w->ranks ||
		    g->jobs != w->jobs || g->last != w->last ||
		    g->gain != w->gain || g->gains != w->gains)
			fail_msg("row %d: %s %d %d %lld %g %d", i, g->profile,
			         g->ranks, g->jobs, (long long)g->last, g->gain,
			         g->gains);
	}
	cpl_usage_free(got, n);
}

static void test_no_folder(void **state)
{
	struct cpl_error err = {""};
	struct cpl_usage *got;

	assert_int_equal(cpl_usage_read("/nowhere", &got, &err), -1);
	assert_null(got);
	assert_string_equal(err.text, "/nowhere: No such file or directory");
}

static int set_up(void **state)
{
	if (!mkdtemp(dir) || mkdir(in_dir("running"), 0755) ||
	    mkdir(in_dir("ended"), 0755))
		return -1;
	for (size_t i = 0; i < COUNT(record); i++) {
		char text[1024];

		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-decision\",\"version\":1,"
		         "\"job\":%zu,%s}",
		         i + 1, record[i]);
		put(name_of(i), text);
	}
	return 0;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < COUNT(record); i++)
		unlink(in_dir(name_of(i)));
	return rmdir(in_dir("running")) | rmdir(in_dir("ended")) | rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_jobs_of_profiles),
	        cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
