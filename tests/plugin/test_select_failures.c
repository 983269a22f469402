/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever fails inside, the job gets the stock nodes and slurmctld lives on:
 * files, budget, memory (see tests/tools/failmalloc.c).
 */
#include "commplace-config.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "controller.h"
#include "oracle.h"

/* A file system that hangs, and while set, a record takes so long to get its
 * name: a slow disk. */
static atomic_int slow_rename_ms;
static int before_rename(const char *to);
#define OWN_OPEN strstr(path, "slow")
#define OWN_RENAME before_rename(to)
#include "../tools/own_files.h"

static int before_rename(const char *to)
{
	if (strstr(to, "/running/") || strstr(to, "/ended/"))
		usleep((useconds_t)slow_rename_ms * 1000);
	return 0;
}

static const struct job_options usual = {
        .nodes = 4,
        .tasks = 16,
        .exclusive = true,
        .profile = "ring16",
        .policy = "random-groups",
};

static job_record_t *filler;

static void fill(void)
{
	const struct job_options options = {
	        .nodes = 3, .exclusive = true, .nodelist = "n[1,17,40]"};

	filler = controller_job(&options);
	free(controller_run(filler));
	assert_non_null(filler->job_resrcs);
}

static int set_up(void **state)
{
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	fill();
	return 0;
}

static int tear_down(void **state)
{
	controller_end(filler);
	return 0;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Until nobody waits for a file any more: one who still does is stuck, and
 * nothing is waited for behind it. */
static void let_go(void)
{
	hang = false;
	while (hanging)
		usleep(1000);
}

/* Run and end the job; its nodes, and what our comment said. */
static char *nodes_of(const struct job_options *options, char *comment,
                      size_t size)
{
	job_record_t *job = controller_job(options);
	uint32_t id = job->job_id;
	char *nodes = controller_run(job);
	bool ours = job->admin_comment != NULL;

	if (comment)
		snprintf(comment, size, "%s", ours ? job->admin_comment : "");
	assert_string_not_equal(nodes, "");
	controller_end(job);
	if (ours && !hang)
		oracle_record(id, true);
	return nodes;
}

static void check_stock(const struct job_options *options, const char *reason)
{
	job_record_t *job = controller_job(options);
	char *stock = controller_stock_nodes(job), comment[1024];
	char *nodes = nodes_of(options, comment, sizeof(comment));

	assert_string_equal(nodes, stock);
	if (reason && !strstr(comment, reason))
		fail_msg("'%s' is not in '%s'", reason, comment);
	free(nodes);
	free(stock);
	controller_job_free(job);
}

/* The same machine and job, and it is placed: the stock nodes above are no
 * coincidence. */
static void check_placed(const struct job_options *options)
{
	job_record_t *job = controller_job(options);
	char *stock = controller_stock_nodes(job), comment[1024];
	char *nodes = nodes_of(options, comment, sizeof(comment));

	if (!strstr(comment, "policy="))
		fail_msg("'%s' is not of ours", comment);
	assert_string_not_equal(nodes, stock);
	free(nodes);
	free(stock);
	controller_job_free(job);
}

static void test_profiles_that_cannot_be_used(void **state)
{
	static const struct {
		const char *profile, *reason;
	} row[] = {
	        {"nosuch", "No such file"},
	        {"broken", "broken.json"},
	        {"folder", "directory"},
	        {"fifo", "not a regular file"},
	        {"ring8", "recorded at 8 ranks, the job has 16"},
	        {"../network", "stock"},
	        {"", NULL},
	};
	char path[512];

	controller_write("profiles/broken.json", "{ \"format\": ");
	snprintf(path, sizeof(path), "%s/profiles/folder.json", controller_dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/profiles/fifo.json", controller_dir);
	assert_int_equal(mkfifo(path, 0644), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job_options options = usual;

		options.profile = row[i].profile;
		options.policy = NULL;
		check_stock(&options, row[i].reason);
	}
	check_placed(&usual);
}

static void test_names_that_are_none(void **state)
{
	struct job_options options = usual;

	options.policy = "nosuch";
	check_stock(&options, "stock");
	options = usual;
	options.mapping = "nosuch";
	check_placed(&options);
}

/* MissingProfile and RankMismatch: a policy that needs no profile goes on. */
static void test_ignored_profiles_leave_the_policy(void **state)
{
	struct job_options options = usual;

	controller_config("MissingProfile=ignore\nMaxDecisionTime=20s");
	controller_reconfigure();
	options.profile = "nosuch";
	check_placed(&options);
	options.policy = "auto";
	check_stock(&options, "needs a profile");
	options.policy = "random-groups";
	options.profile = "ring8";
	check_placed(&options);
	controller_config("RankMismatch=reject\nMaxDecisionTime=20s");
	controller_reconfigure();
	check_stock(&options, "recorded at 8 ranks");
	options.profile = "nosuch";
	check_stock(&options, "No such file");
}

static void test_explicit_options_win(void **state)
{
	struct job_options options = usual;

	options = usual;
	options.dist = SLURM_DIST_ARBITRARY;
	check_stock(&options, "--distribution=arbitrary");
}

static void test_modes_and_limits(void **state)
{
	struct job_options options = usual;

	controller_config("Mode=off");
	controller_reconfigure();
	check_stock(&usual, NULL);
	controller_config("Mode=observe\nMaxDecisionTime=20s");
	controller_reconfigure();
	check_stock(&usual, "observe");
	controller_config("MinNodes=5\nMaxDecisionTime=20s");
	controller_reconfigure();
	check_stock(&usual, "MinNodes=5");
	controller_config("UserMayOverride=none\nMaxDecisionTime=20s");
	controller_reconfigure();
	check_stock(&usual, NULL);
	controller_config("DefaultPolicy=random-groups\nMaxDecisionTime=20s\n"
	                  "Partition=wide DefaultPolicy=random-groups "
	                  "MinNodes=9");
	controller_reconfigure();
	options.profile = options.policy = NULL;
	check_placed(&options);
	options.partition = "wide";
	check_stock(&options, "MinNodes=9");
	controller_config("Match JobName=jo* Profile=ring16\n"
	                  "MaxDecisionTime=20s");
	controller_reconfigure();
	options.policy = "random-groups";
	options.partition = NULL;
	check_placed(&options);
}

/* The old configuration stays until the new one is good. */
static void test_broken_configuration_is_not_taken(void **state)
{
	controller_write("commplace.conf", "Mode=of\n");
	controller_reconfigure();
	check_placed(&usual);
	controller_config("MaxDecisionTime=20s\nRouting=nosuch");
	controller_reconfigure();
	check_placed(&usual);
	controller_write("commplace.conf", "NetworkFile=/nosuch/n.json\n");
	controller_reconfigure();
	check_placed(&usual);
}

/* At start-up there is no old one: all is stock, until it is mended. */
static void test_start_without_a_good_configuration(void **state)
{
	static const char *const bad[] = {
	        "Mode=of\n",
	        "NetworkFile=/nosuch/network.json\n",
	        "",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		controller_write("commplace.conf", bad[i]);
		controller_restart();
		check_stock(&usual, NULL);
	}
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	check_placed(&usual);
}

static const char network_of[] =
        "{ \"format\": \"commplace-network\", \"version\": 1,"
        " \"name\": \"fake\", \"type\": \"dragonfly\", \"groups\": 4,"
        " \"rows\": 2, \"columns\": 4, \"nodes_per_router\": 2,"
        " \"global_links_per_group_pair\": 1, \"nodes\": \"%s\" }\n";

static void use_network(const char *nodes)
{
	char text[1024];

	snprintf(text, sizeof(text), network_of, nodes);
	controller_write("network.json", text);
	controller_reconfigure();
}

/* Nodes that only one side knows are never chosen by us. */
static void test_network_and_slurm_know_other_nodes(void **state)
{
	struct job_options options = usual;
	char *nodes;

	use_network("n[0-15],x[0-47]");
	options.policy = "linear";
	options.nodes = 8;
	options.exclude = "n[2-3]";
	nodes = nodes_of(&options, NULL, 0);
	assert_string_equal(nodes, "n[0,4-10]");
	free(nodes);
	options.exclude = NULL;
	options.nodes = 16;
	check_stock(&options, "not enough nodes of the network");
	options.nodes = 4;
	options.nodelist = "n50";
	check_stock(&options, "required node");
	use_network("x[0-63]");
	check_stock(&usual, "not enough nodes of the network");
	use_network("n[0-63]");
	check_placed(&usual);
}

static void test_budget_is_kept_when_a_file_hangs(void **state)
{
	struct job_options options = usual;
	double begin;

	controller_config("MaxDecisionTime=1s\nMaxPassTime=60s");
	controller_reconfigure();
	check_placed(&usual);
	controller_profile("slow16", 16, 5);
	options.profile = "slow16";
	hang = true;
	begin = seconds();
	check_stock(&options, "MaxDecisionTime");
	/* From the second job on nobody waits. */
	check_stock(&options, "");
	assert_true(seconds() - begin < 10);
	/* A profile in memory serves on. */
	check_placed(&usual);
	let_go();
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	check_placed(&options);
}

/* fault 4: slurmctld's locks are held no longer than for a decision. */
static void test_reconfiguration_while_a_file_hangs(void **state)
{
	char text[1024];
	double begin;

	controller_config("MaxDecisionTime=300ms\nMaxPassTime=60s");
	controller_reconfigure();
	hang = true;
	snprintf(text, sizeof(text), "NetworkFile=%s/slow.json\n",
	         controller_dir);
	controller_write("commplace.conf", text);
	begin = seconds();
	controller_reconfigure();
	controller_reconfigure();
	assert_true(seconds() - begin < 1.5);
	let_go();
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	check_placed(&usual);
}

/* fault 3: decisions do not wait for what is written. */
static void test_a_slow_disk_holds_up_nobody(void **state)
{
	double begin;

	check_placed(&usual);
	slow_rename_ms = 300;
	begin = seconds();
	for (int i = 0; i < 10; i++) {
		job_record_t *job = controller_job(&usual);

		free(controller_run(job));
		controller_end(job);
	}
	/* 20 renames are on their way. */
	assert_true(seconds() - begin < 3);
	slow_rename_ms = 0;
	check_placed(&usual);
}

static void test_plugin_ends_while_a_file_hangs(void **state)
{
	struct job_options options = usual;

	controller_config("MaxDecisionTime=1s\nMaxPassTime=60s");
	controller_reconfigure();
	controller_profile("slow8", 8, 3);
	options.profile = "slow8";
	hang = true;
	check_stock(&options, "MaxDecisionTime");
	controller_restart();
	let_go();
	controller_config("MaxDecisionTime=20s");
	controller_reconfigure();
	check_placed(&usual);
}

static void test_init_and_fini_twice(void **state)
{
	controller_restart();
	controller_restart();
	check_placed(&usual);
}

static void (*arm)(long n);
static long (*disarm)(void);

/* One whole life of a job with the n-th allocation failing. */
static long one_life(long n, const char *stock, const char *placed)
{
	struct job_options options = usual;
	char *nodes, *ranks, name[32], comment[1024];
	job_record_t *job;
	long counted;

	/* A file that was never read. */
	snprintf(name, sizeof(name), "ring16-%ld", n);
	controller_profile(name, 16, 5);
	options.profile = name;
	job = controller_job(&options);
	arm(n);
	nodes = controller_run(job);
	if (strcmp(nodes, stock) && strcmp(nodes, placed))
		fail_msg("allocation %ld: nodes %s", n, nodes);
	ranks = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
	free(ranks);
	controller_end(job);
	counted = disarm();
	free(nodes);
	/* That memory was out is nothing to remember. */
	nodes = nodes_of(&options, comment, sizeof(comment));
	if (strcmp(nodes, placed))
		fail_msg("after allocation %ld: nodes %s, %s", n, nodes, comment);
	free(nodes);
	return counted;
}

static void test_memory_that_runs_out_while_a_job_lives(void **state)
{
	struct job_options background = usual;
	job_record_t *running, *job;
	char *stock, *placed;
	long n, counted = 0;

	if (!arm)
		skip();
	background.nodes = 8;
	running = controller_job(&background);
	free(controller_run(running));
	job = controller_job(&usual);
	stock = controller_stock_nodes(job);
	placed = nodes_of(&usual, NULL, 0);
	assert_string_not_equal(stock, placed);
	for (n = 1;; n++) {
		counted = one_life(n, stock, placed);
		if (counted < n)
			break;
	}
	assert_true(n > 100);
	print_message("# each of %ld allocations failed once\n", n - 1);
	controller_end(running);
	controller_job_free(job);
	free(stock);
	free(placed);
	check_placed(&usual);
}

static void test_memory_that_runs_out_while_files_are_read(void **state)
{
	char text[64];
	long n, counted;

	if (!arm)
		skip();
	for (n = 1;; n++) {
		/* Another content each time, or nothing would be read. */
		snprintf(text, sizeof(text), "MaxDecisionTime=20s\nSeed=%ld",
		         n);
		controller_config(text);
		arm(n);
		controller_reconfigure();
		counted = disarm();
		free(nodes_of(&usual, NULL, 0));
		if (counted < n)
			break;
	}
	assert_true(n > 50);
	print_message("# each of %ld allocations failed once\n", n - 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_profiles_that_cannot_be_used),
	        T(test_names_that_are_none),
	        T(test_ignored_profiles_leave_the_policy),
	        T(test_explicit_options_win),
	        T(test_modes_and_limits),
	        T(test_broken_configuration_is_not_taken),
	        T(test_start_without_a_good_configuration),
	        T(test_network_and_slurm_know_other_nodes),
	        T(test_budget_is_kept_when_a_file_hangs),
	        T(test_reconfiguration_while_a_file_hangs),
	        T(test_a_slow_disk_holds_up_nobody),
	        T(test_plugin_ends_while_a_file_hangs),
	        T(test_init_and_fini_twice),
	        T(test_memory_that_runs_out_while_a_job_lives),
	        T(test_memory_that_runs_out_while_files_are_read),
#undef T
	};
	int rc;

	*(void **)&arm = dlsym(RTLD_DEFAULT, "failmalloc_arm");
	*(void **)&disarm = dlsym(RTLD_DEFAULT, "failmalloc_disarm");
#ifndef __SANITIZE_ADDRESS__ /* has an allocator of its own */
	if (!arm && !getenv("CPL_TEST_NO_FAILMALLOC")) {
		setenv("LD_PRELOAD", CPL_TEST_FAILMALLOC, 1);
		setenv("CPL_TEST_NO_FAILMALLOC", "1", 1);
		execv(argv[0], argv);
	}
#endif
	cmocka_set_message_output(CM_OUTPUT_TAP);
	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	controller_profile("ring8", 8, 3);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	controller_stop();
	return rc;
}
