/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each allocation of a submission fails once: the job is accepted or refused with
 * a reason, and the next one is as if nothing had been. See
 * tests/tools/failmalloc.c.
 */
#include "submit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void (*arm)(long n);
static long (*disarm)(void);

/* What a submission may need: each row has others among its allocations. */
static const struct row {
	const char *config, *env, *name;
	int rc; /* with memory */
} row[] = {
        {"", "COMM_PROFILE=milc", "x", 0},
        {"", "COMM_PROFILE=milc COMM_PLACEMENT_POLICY=RDG COMM_RANK_MAPPING=best",
         "x", 0},
        {"", "COMM_PROFILE=foo", "x", EINVAL},
        {"", "COMM_PROFILE=broken", "x", EINVAL},
        {"MissingProfile=ignore", "COMM_PROFILE=foo", "x", 0},
        {"Match JobName=va* Profile=vasp Policy=traffic", "", "vasp", 0},
        {"Match JobName=va* Record=%x", "", "vasp", 0},
        {"DefaultPolicy=random-groups\nDefaultMapping=greedyallc", "", "x", 0},
        {"", "COMM_RECORD=new", "x", 0},
        {"UserProfileDir=/tmp/%U", "COMM_PROFILE=milc", "x", 0},
        {"Rescale=yes", "COMM_PROFILE=milc", "x", 0},
};

/* The profile is another file each time, so that it is read again. */
static void change_files(void)
{
	put_file("profiles/milc.json", signature4);
	put_file("profiles/vasp.json", signature4);
}

/* One submission in which the n-th allocation fails. */
static long one_submission(const struct row *r, long n)
{
	struct job j;
	long counted;

	change_files();
	arm(n);
	run(&j, r->env, r->name, 4, NULL);
	counted = disarm();
	if (j.rc && j.rc != EINVAL)
		fail_msg("allocation %ld: %d", n, j.rc);
	if (j.rc)
		assert_non_null(j.message);
	done(&j);
	return counted;
}

static void test_each_allocation_of_a_submission(void **state)
{
	long all = 0;

	if (!arm)
		skip();
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		long n = 1;
		struct job j;

		put_config(row[i].config);
		while (one_submission(&row[i], n) >= n)
			n++;
		/* With memory again it is as if nothing had been. */
		run(&j, row[i].env, row[i].name, 4, NULL);
		if (j.rc != row[i].rc)
			fail_msg("row %zu: %d: %s", i, j.rc,
			         j.message ? j.message : "");
		done(&j);
		assert_true(n > 5);
		all += n - 1;
	}
	print_message("# each of %ld allocations failed once\n", all);
}

/* The same while configuration and network file are read by a submission. */
static void test_each_allocation_of_a_look_at_the_files(void **state)
{
	long n, counted;
	char text[64];

	if (!arm)
		skip();
	for (n = 1;; n++) {
		snprintf(text, sizeof(text), "Seed=%ld", n);
		put_config(text);
		arm(n);
		rc_of("COMM_PROFILE=milc");
		counted = disarm();
		if (counted < n)
			break;
	}
	assert_true(n > 50);
	assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
	print_message("# each of %ld allocations failed once\n", n - 1);
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, submit_start, submit_stop)
	const struct CMUnitTest tests[] = {
	        T(test_each_allocation_of_a_submission),
	        T(test_each_allocation_of_a_look_at_the_files),
	};

	*(void **)&arm = dlsym(RTLD_DEFAULT, "failmalloc_arm");
	*(void **)&disarm = dlsym(RTLD_DEFAULT, "failmalloc_disarm");
#ifndef __SANITIZE_ADDRESS__ /* has an allocator of its own */
	if (!arm && !getenv("CPL_TEST_NO_FAILMALLOC")) {
		setenv("LD_PRELOAD", CPL_TEST_FAILMALLOC, 1);
		setenv("FAILMALLOC_OBJECT", "job_submit_commplace", 1);
		setenv("CPL_TEST_NO_FAILMALLOC", "1", 1);
		execv(argv[0], argv);
	}
#endif
	return cmocka_run_group_tests(tests, load, unload);
}
