/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The site around the engine: whose jobs it decides on, its files and counters,
 * what is said of a decision.
 */
#include "engine_fixture.h"

#include <fcntl.h>
#include <time.h>

#include "base/printable.h"

/* Is the scheduler asked anything for this job? */
static bool is_ours(const struct cpl_job_facts *job)
{
	struct cpl_engine_request req = request(1, NULL, NULL, 2);

	all_free();
	fake.wanted = 2;
	req.job = *job;
	return ask(&req) != CPL_ENGINE_NONE;
}

static void test_what_concerns_us(void **state)
{
	static const struct {
		const char *config;
		struct cpl_job_facts job;
		bool ours;
	} row[] = {
	        {"", {.name = "x"}, false},
	        {"", {.name = "x", .mapping = "linear"}, false},
	        {"", {.name = "x", .profile = "a8"}, true},
	        {"", {.name = "x", .policy = "linear"}, true},
	        {"", {.name = "x", .profile = "none"}, false},
	        {"Mode=off", {.name = "x", .profile = "a8"}, false},
	        {"Mode=observe", {.name = "x", .profile = "a8"}, true},
	        {"UserMayOverride=policy",
	         {.name = "x", .profile = "a8"},
	         false},
	        {"UserMayOverride=policy",
	         {.name = "x", .policy = "linear"},
	         true},
	        {"DefaultPolicy=auto", {.name = "x"}, true},
	        {"Partition=big DefaultPolicy=auto", {.name = "x"}, false},
	        {"Partition=big DefaultPolicy=auto",
	         {.name = "x", .partition = "big"},
	         true},
	        {"Match JobName=va* Profile=a8", {.name = "vasp"}, true},
	        {"Match JobName=va* Profile=a8", {.name = "namd"}, false},
	        {"Match JobName=va* Profile=a8",
	         {.name = "vasp", .profile = "none"},
	         false},
	        /* fault 18 */
	        {"Partition=big DefaultPolicy=none\n"
	         "Match JobName=va* Profile=a8",
	         {.name = "vasp", .partition = "big"},
	         false},
	        {"Partition=big DefaultPolicy=none",
	         {.profile = "a8", .partition = "big"},
	         false},
	        {"Partition=big DefaultPolicy=none",
	         {.profile = "a8", .partition = "small"},
	         true},
	        {"Mode=off\nPartition=big Mode=on",
	         {.profile = "a8", .partition = "big"},
	         true},
	        {"Mode=off\nPartition=big Mode=on",
	         {.profile = "a8", .partition = "small"},
	         false},
	        {"Partition=big Mode=off",
	         {.profile = "a8", .partition = "big"},
	         false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		config(row[i].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		if (is_ours(&row[i].job) != row[i].ours)
			fail_msg("row %zu", i);
	}
}

static void test_a_broken_file_changes_nothing(void **state)
{
	struct cpl_job_facts job = {.name = "x", .profile = "a8"};
	struct cpl_error err = {""};

	put("commplace.conf", "Mode=of\n");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), -1);
	assert_non_null(strstr(err.text, "commplace.conf:1: "));
	assert_true(is_ours(&job));
	assert_non_null(strstr(logged, "the configuration in force stays"));
	config("");
	put("network.json", "{");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), -1);
	assert_non_null(strstr(err.text, "network.json"));
	assert_true(is_ours(&job));
}

static void slow_file(struct cpl_request *head)
{
	usleep(200000);
}

/* A file that is being read is waited for; one that hangs is not. */
static void test_waits_for_files_that_are_slow(void **state)
{
	struct cpl_request *slow[2];

	for (int i = 0; i < 2; i++) {
		slow[i] = calloc(1, sizeof(*slow[i]));
		assert_non_null(slow[i]);
		slow[i]->run = slow_file;
		assert_int_equal(cpl_worker_queue(engine->clerk.worker,
		                                  CPL_QUEUE_LOAD, slow[i],
		                                  false, NULL),
		                 0);
		usleep(50000);
		config(i ? "Mode=off" : "Mode=observe");
		assert_int_equal(
		        cpl_engine_load(engine, i ? 10 : WAIT_MS, NULL),
		        i ? -1 : 0);
	}
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(engine->desk.snapshot->config->mode, CPL_MODE_OFF);
}

/* fault 31: the site's default has nothing to say of these jobs. */
static void test_defaults_that_do_nothing_are_silent(void **state)
{
	struct cpl_engine_request req = request(1, NULL, NULL, 4);

	all_free();
	config("DefaultPolicy=auto");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	fake.wanted = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_null(engine->desk.decided);
	config("DefaultPolicy=linear");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	req = request(1, NULL, NULL, 1);
	assert_int_equal(ask(&req), CPL_ENGINE_NONE);
	/* Who asks gets an answer, and so do jobs with a profile. */
	req.job.policy = "linear";
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_non_null(strstr(record()->reason, "MinNodes=2"));
}

/* fault 28: of observed jobs, too, what they would have got. */
static void test_observed_jobs_tell_what_would_be(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "random-groups", 4);
	struct cpl_engine_notice notice;

	all_free();
	fake.wanted = 4;
	config("Mode=observe");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	fake_begin(engine, 1, &fake, &notice);
	assert_non_null(strstr(notice.text, "stock (Mode=observe) profile=a8 "
	                                    "would be policy=random-groups "
	                                    "nodes=n["));
	assert_non_null(strstr(notice.text, " max congestion "));
	assert_non_null(strstr(notice.text, " (stock "));
	/* Of ranks nothing is known here. */
	req = request(2, NULL, "linear", 4);
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	fake_begin(engine, 2, &fake, &notice);
	assert_non_null(strstr(notice.text, " would be policy=linear"));
	assert_null(strstr(logged, "memory"));
}

/* A profile that is not quite the job's: its notice tells. */
static void test_what_is_told_of_profiles(void **state)
{
	static const struct {
		const char *name, *recorded, *told;
		int ranks;
	} row[] = {
	        {"ring", "", " (rescaled from 16 ranks, fit error 0.0 %)", 24},
	        {"drift",
	         "\"recorded\": {\"installed\": {\"distance\": 0.5}}, ",
	         " (drifts: 50.0 % from the one before)", 16},
	};

	config("Rescale=yes");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	for (int i = 0; i < 2; i++) {
		struct cpl_engine_request req =
		        request(i + 1, row[i].name, "linear", 4);
		struct cpl_engine_notice notice;
		char file[64], text[512];

		snprintf(file, sizeof(file), "%s.json", row[i].name);
		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-signature\", "
		         "\"version\": 1, %s\"ranks\": 16, \"phases\": "
		         "[{\"pattern\": {\"type\": \"stencil\", \"dims\": "
		         "[16], \"points\": 3, \"periodic\": true, "
		         "\"bytes\": 9}}]}",
		         row[i].recorded);
		put(file, text);
		all_free();
		fake.wanted = 4;
		req.ranks = row[i].ranks;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		fake_begin(engine, i + 1, &fake, &notice);
		if (!strstr(notice.text, row[i].told))
			fail_msg("%s", notice.text);
	}
}

/* What a user calls a profile gets as it is into no log and no comment. */
static void test_names_are_made_printable(void **state)
{
	static const char *const name[] = {
	        "a\nslurmctld: error: b", "a\033[2J", "a\xc2\x9b" "2J",
	        "a\xe2\x80\xae" "b", "a\xff", "a\r\tb", "../a\x7f"};

	all_free();
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct cpl_engine_request req =
		        request((int64_t)i + 1, name[i], "linear", 4);
		struct cpl_engine_scheduler scheduler = fake_scheduler(&fake);
		struct cpl_engine_notice notice;
		char text[512] = "";

		logged[0] = '\0';
		assert_int_equal(cpl_engine_decide(engine, &req, &scheduler,
		                                   text, sizeof(text)),
		                 CPL_ENGINE_STOCK);
		assert_non_null(strstr(text, "stock: "));
		assert_true(cpl_is_printable(text));
		fake_begin(engine, req.job.id, &fake, &notice);
		assert_non_null(strstr(notice.text, "commplace: stock ("));
		assert_true(cpl_is_printable(notice.text));
		for (char *line = logged; *line; line++)
			if (*line == '\n')
				*line = ' ';
		assert_true(cpl_is_printable(logged));
	}
}

/* Each answer is counted, and why it is the stock one. */
static void test_answers_are_counted(void **state)
{
	static const struct {
		const char *profile, *policy, *option;
		int nodes, ranks;
		bool refuse, observe;
		enum cpl_reason reason; /* none: placed */
	} row[] = {
	        {"a8", "random-groups", .nodes = 4},
	        {"a8", "linear", .nodes = 4, .ranks = 9,
	         .reason = CPL_REASON_RANKS},
	        {"absent", "linear", .nodes = 4, .reason = CPL_REASON_MISSING},
	        {"bad", "linear", .nodes = 4, .reason = CPL_REASON_BROKEN},
	        {NULL, "traffic", .nodes = 4, .reason = CPL_REASON_NO_PROFILE},
	        /* Ranks 2 * i and 2 * i + 1 share a node of four. */
	        {"inner", "auto", .nodes = 4, .reason = CPL_REASON_SILENT},
	        {"inner", "traffic", .nodes = 4, .reason = CPL_REASON_SILENT},
	        {"inner", NULL, .nodes = 4, .reason = CPL_REASON_SILENT},
	        {"inner", "linear", .nodes = 4},
	        {"inner", "auto", .nodes = 8},
	        {"a8", NULL, .nodes = 1, .reason = CPL_REASON_MIN_NODES},
	        {"a8", NULL, "--switches", 4, .reason = CPL_REASON_OPTION},
	        {"a8", NULL, .nodes = HOSTS + 1, .reason = CPL_REASON_NODES},
	        {"a8", "linear", .nodes = 4, .refuse = true,
	         .reason = CPL_REASON_REFUSED},
	        {"a8", "linear", .nodes = 4, .observe = true,
	         .reason = CPL_REASON_OBSERVE},
	};
	const uint64_t *count = engine->clerk.counters.count;

	put("bad.json", "{}");
	put("inner.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, \"ranks\": "
	    "8, \"phases\": [{\"name\": \"p\", \"weight\": 1, \"traffic\": "
	    "[[0, 1, 5, 1], [3, 2, 5, 1], [4, 5, 5, 1], [5, 6, 0, 1]]}]}");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_engine_request req = request(
		        1, row[i].profile, row[i].policy, row[i].nodes);
		bool placed = row[i].reason == CPL_REASON_NONE;
		struct cpl_counters before;

		config(row[i].observe ? "Mode=observe" : "RankMismatch=reject\n"
		                                         "MissingProfile=reject");
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		before = engine->clerk.counters;
		all_free();
		fake.wanted = row[i].nodes;
		fake.refuse_below = row[i].refuse ? HOSTS + 1 : 0;
		req.ranks = row[i].ranks;
		req.stock_reason = row[i].option;
		assert_int_equal(ask(&req) == CPL_ENGINE_PLACED, placed);
		assert_int_equal(count[CPL_COUNT_PLACED] -
		                         before.count[CPL_COUNT_PLACED],
		                 placed);
		assert_int_equal(count[CPL_COUNT_OBSERVED] -
		                         before.count[CPL_COUNT_OBSERVED],
		                 row[i].observe);
		for (int r = 1; r < CPL_REASONS; r++)
			assert_int_equal(
			        count[CPL_COUNT_REASON + r] -
			                before.count[CPL_COUNT_REASON + r],
			        r == (int)row[i].reason);
		assert_int_equal(
		        cpl_histogram_count(
		                &engine->clerk.counters
		                         .time[CPL_TIME_HELD_TEST]) -
		                cpl_histogram_count(
		                        &before.time[CPL_TIME_HELD_TEST]),
		        1);
	}
}

/* They are in StateDir when the engine ends, and go on after it. */
static void test_counters_survive_a_restart(void **state)
{
	struct cpl_counters file;

	for (int i = 1; i <= 2; i++) {
		all_free();
		start(i, "a8", "random-groups", 4, 8);
		cpl_engine_free(engine);
		assert_int_equal(
		        cpl_counters_load(in_dir("state/counters.json"), &file,
		                          NULL),
		        0);
		assert_int_equal(file.count[CPL_COUNT_PLACED], i);
		assert_int_equal(file.count[CPL_COUNT_START_PLACED], i);
		assert_int_equal(
		        cpl_histogram_count(&file.time[CPL_TIME_HELD_START]), i);
		assert_true(file.since > 0);
		set_up_engine();
	}
}

/* The scheduler hands on to another: all is there that it has to find, and
 * after that nothing is written. */
static void test_all_is_written_before_another_reads(void **state)
{
	struct cpl_counters file;
	struct stat before, after;

	all_free();
	start(1, "a8", "random-groups", 4, 8);
	assert_true(cpl_engine_drain(engine, WAIT_MS));
	assert_int_equal(access(in_dir("state/running/1.json"), F_OK), 0);
	assert_int_equal(
	        cpl_counters_load(in_dir("state/counters.json"), &file, NULL),
	        0);
	assert_int_equal(file.count[CPL_COUNT_START_PLACED], 1);
	assert_int_equal(stat(in_dir("state/counters.json"), &before), 0);
	assert_true(cpl_engine_drain(engine, WAIT_MS));
	assert_int_equal(stat(in_dir("state/counters.json"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
}

/* fault 27: a changed table of routes is seen, and which configuration is in
 * force is said. */
static void test_a_changed_table_of_routes_is_seen(void **state)
{
	static const char network[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"graph\", \"routers\": 3, \"links\": [[0, 1], "
	        "[1, 0], [1, 2], [2, 1], [0, 2], [2, 0]], \"routing_table\": "
	        "\"routes\", \"nodes\": \"n[0-2]\"}";
	static const char direct[] =
	        "0 1 1\n1 0 0\n1 2 2\n2 1 1\n0 2 2\n2 0 0\n";
	static const char around[] =
	        "0 1 1\n1 0 0\n1 2 2\n2 1 1\n0 2 1 2\n2 0 1 0\n";
	const struct cpl_route_table *routes;
	struct cpl_error err = {""};

	put("routes", direct);
	put("network.json", network);
	if (cpl_engine_load(engine, WAIT_MS, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(logged, " is in force: Mode=on, "));
	routes = engine->desk.snapshot->net->routes;
	assert_int_equal(routes->start[6] - routes->start[0], 6);
	put("routes", around);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	routes = engine->desk.snapshot->net->routes;
	assert_int_equal(routes->start[6] - routes->start[0], 8);
	/* Nothing changed at all. */
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	    "\"torus\", \"dims\": [4, 4], \"nodes\": \"n[0-15]\"}");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_non_null(strstr(logged, " is in force, unchanged since 20"));
	put("commplace.conf", "Mode=of\n");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), -1);
	assert_non_null(
	        strstr(logged, "the configuration in force stays, that of 20"));
}

/* Into the file that is there, which keeps its time: a change within a tick of
 * the file system's clock. */
static void change_in_place(const char *name, const char *text, time_t when)
{
	const struct timespec at[2] = {{.tv_sec = when}, {.tv_sec = when}};
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_dir(name), at, 0), 0);
}

/* The loads of running jobs are those of the second. */
static void test_two_changes_at_one_time_are_two(void **state)
{
	static const char form[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
	        "\"columns\": 2, \"nodes_per_router\": 2, "
	        "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": "
	        "%d, \"column\": %d, \"global\": %d, \"injection\": %d}, "
	        "\"nodes\": \"n[0-31]\"}";
	/* Far ahead, so that it is not past while the test runs. */
	time_t now = time(NULL) + 86400;
	double period[2];

	all_free();
	start(5, "a8", "linear", 4, 8);
	for (int i = 0; i < 2; i++) {
		struct cpl_error err = {""};
		const struct running *job;
		char text[512];
		int x = 1 + i;

		snprintf(text, sizeof(text), form, 3 * x, 2 * x, x, 4 * x);
		change_in_place("network.json", text, now);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, &err), 0);
		if (!engine_scene(&engine->ledger, NULL,
		                  cpl_now() + WAIT_MS * 1000000LL, &err))
			fail_msg("%s", err.text);
		job = engine_running_find(&engine->ledger, 5);
		assert_true(job && job->load);
		period[i] = job->load->period;
	}
	assert_true(period[1] == period[0] / 2);
	assert_null(strstr(logged, "unchanged"));
	/* The configuration, too. */
	config("DefaultPolicy=auto");
	for (int i = 0; i < 2; i++) {
		char text[2048];

		snprintf(text, sizeof(text), "NetworkFile=%s/network.json\n"
		                             "ProfileDir=%s\nMode=%s\n",
		         dir, dir, i ? "off #####" : "observe #");
		change_in_place("commplace.conf", text, now);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		assert_int_equal(engine->desk.snapshot->config->mode,
		                 i ? CPL_MODE_OFF : CPL_MODE_OBSERVE);
	}
}

/* A new version of a profile is used from the next look at it on. */
static void test_profiles_are_read_anew_when_they_change(void **state)
{
	struct cpl_engine_request req = request(1, "a8", "auto", 4);

	all_free();
	ask(&req);
	assert_int_equal(record()->ranks, 8);
	profile("a8", 12, 3);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	ask(&req);
	assert_int_equal(record()->ranks, 12);
	assert_int_equal(record()->ranks_per_node, 3);
}

/* One line of text could otherwise take gigabytes in slurmctld. */
static void test_a_huge_pattern_is_left_out(void **state)
{
	struct cpl_engine_request req;

	all_free();
	req = request(1, "huge", "auto", 16);
	put("huge.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, "
	    "\"ranks\": 8192, \"phases\": [{\"pattern\": {\"type\": "
	    "\"collective\", \"operation\": \"alltoall\", \"algorithm\": "
	    "\"pairwise\", \"ranks\": 8192, \"bytes\": 8}}]}");
	assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
	assert_non_null(strstr(record()->reason, "up to 67108864 pairs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_what_concerns_us),
	        T(test_a_broken_file_changes_nothing),
	        T(test_waits_for_files_that_are_slow),
	        T(test_defaults_that_do_nothing_are_silent),
	        T(test_observed_jobs_tell_what_would_be),
	        T(test_what_is_told_of_profiles),
	        T(test_names_are_made_printable),
	        T(test_answers_are_counted),
	        T(test_counters_survive_a_restart),
	        T(test_all_is_written_before_another_reads),
	        T(test_a_changed_table_of_routes_is_seen),
	        T(test_two_changes_at_one_time_are_two),
	        T(test_profiles_are_read_anew_when_they_change),
	        T(test_a_huge_pattern_is_left_out),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
