/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commplaced is killed, stopped or kept from memory while slurmctld asks it:
 * jobs have the stock nodes meanwhile, nobody waits, and afterwards it knows
 * the jobs that run.
 */
#include "commplace-config.h"
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "controller.h"
#include "oracle.h"

static const struct job_options usual = {
        .nodes = 4,
        .tasks = 16,
        .exclusive = true,
        .profile = "ring16",
        .policy = "random-groups",
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Our child of that name, 0: there is none. */
static pid_t commplaced(void)
{
	DIR *dir = opendir("/proc");
	pid_t found = 0;

	assert_non_null(dir);
	for (struct dirent *e; !found && (e = readdir(dir));) {
		char path[300], state;
		int pid, parent;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f &&
		    fscanf(f, "%d (commplaced) %c %d", &pid, &state, &parent) ==
		            3 &&
		    parent == getpid() && state != 'Z')
			found = pid;
		if (f)
			fclose(f);
	}
	closedir(dir);
	return found;
}

/* Run it; was it placed by us? The record of a job that was is held against
 * what the engine's rules say. */
static bool is_placed(job_record_t *job)
{
	char *nodes = controller_run(job);
	bool ours = job->admin_comment && strstr(job->admin_comment, "policy=");

	assert_string_not_equal(nodes, "");
	free(nodes);
	return ours;
}

static bool runs_placed(void)
{
	job_record_t *job = controller_job(&usual);
	bool ours = is_placed(job);

	controller_end(job);
	return ours;
}

/* Jobs until one is placed, which runs then: some are late on a busy machine.
 */
static job_record_t *placed_job(const struct job_options *options)
{
	double end = seconds() + 20;

	for (;;) {
		job_record_t *job = controller_job(options);

		if (is_placed(job))
			return job;
		controller_end(job);
		assert_true(seconds() < end);
		usleep(20000);
	}
}

/* Until one has read its files, which is not that one. */
static pid_t wait_for_another(pid_t than)
{
	job_record_t *job = placed_job(&usual);
	pid_t pid = commplaced();

	controller_end(job);
	assert_int_not_equal(pid, 0);
	assert_int_not_equal(pid, than);
	return pid;
}

/* Does whoever asks commplaced get to know the job, or no more, before long? What it
 * has read back counts from slurmctld's next call on. */
static bool shows(uint32_t id, bool there)
{
	char line[512];
	double end = seconds() + 20;
	bool shown;

	snprintf(
	        line, sizeof(line),
	        "%s status --tree /jobs/%u --state-dir %s/state >%s/shown 2>&1",
	        CPL_TEST_COMMAND, id, controller_dir, controller_dir);
	do {
		shown = !system(line);
		if (there && !shown)
			runs_placed();
		usleep(10000);
	} while (shown != there && seconds() < end);
	return shown;
}

static void test_killed(void **state)
{
	struct job_options background = usual;
	job_record_t *running, *job;
	pid_t first, second;
	uint32_t id;

	background.nodes = 8;
	running = placed_job(&background);
	assert_true(shows(running->job_id, true));
	first = commplaced();
	assert_int_not_equal(first, 0);
	/* None that begins stays, however long the next job takes. */
	setenv("COMMPLACED", "/bin/false", 1);
	kill(first, SIGKILL);
	assert_false(shows(running->job_id, false));
	assert_false(runs_placed());
	setenv("COMMPLACED", CPL_TEST_COMMPLACED, 1);
	second = wait_for_another(first);
	assert_true(shows(running->job_id, true));
	/* The job that runs is background as if nothing had been. */
	job = placed_job(&usual);
	id = job->job_id;
	controller_end(job);
	oracle_record(id, true);
	/* And it is known when it ends. */
	id = running->job_id;
	controller_end(running);
	oracle_record(id, true);
	assert_false(shows(id, false));
	assert_int_equal(commplaced(), second);
}

static void test_stopped(void **state)
{
	double began;
	pid_t pid;

	pid = wait_for_another(0);
	kill(pid, SIGSTOP);
	began = seconds();
	assert_false(runs_placed());
	/* One call waits; those behind it do not. */
	assert_true(seconds() - began < 5);
	began = seconds();
	for (int i = 0; i < 20; i++)
		assert_false(runs_placed());
	assert_true(seconds() - began < 4);
	kill(pid, SIGCONT);
	assert_int_equal(wait_for_another(0), pid);
}

/* It has no memory for what is asked of it. */
static void test_without_memory(void **state)
{
	struct rlimit limit = {1, 1}, was;
	pid_t pid;

	pid = wait_for_another(0);
	assert_int_equal(prlimit(pid, RLIMIT_AS, NULL, &was), 0);
	limit.rlim_max = was.rlim_max;
	assert_int_equal(prlimit(pid, RLIMIT_AS, &limit, NULL), 0);
	for (int i = 0; i < 20; i++)
		runs_placed();
	pid = commplaced();
	if (pid)
		prlimit(pid, RLIMIT_AS, &was, NULL);
	wait_for_another(0);
}

/* A profile that is new to it, with slurmctld at the same state each time. */
static void test_killed_at_each_call(void **state)
{
	pid_t pid = wait_for_another(0);

	for (int i = 0; i < 4; i++) {
		job_record_t *job = controller_job(&usual);
		char *text;

		if (i == 0)
			kill(pid, SIGKILL);
		is_placed(job);
		if (i == 1)
			kill(pid, SIGKILL);
		text = controller_step(job, 16, SLURM_DIST_BLOCK, "srun ./x");
		/* All ranks, each once. */
		assert_int_equal(strlen(text) > 0, 1);
		free(text);
		if (i == 2)
			kill(pid, SIGKILL);
		controller_end(job);
		if (i == 3) {
			kill(pid, SIGKILL);
			controller_reconfigure();
		}
		pid = wait_for_another(pid);
	}
}

static void test_ends_with_slurmctld(void **state)
{
	pid_t pid = commplaced();

	assert_int_not_equal(pid, 0);
	controller_restart();
	assert_int_not_equal(commplaced(), pid);
	assert_int_equal(kill(pid, 0), -1);
	wait_for_another(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_killed),
	        cmocka_unit_test(test_stopped),
	        cmocka_unit_test(test_without_memory),
	        cmocka_unit_test(test_killed_at_each_call),
	        cmocka_unit_test(test_ends_with_slurmctld),
	};
	int rc;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	controller_config("MaxDecisionTime=1s\nMaxPassTime=60s");
	controller_reconfigure();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	controller_stop();
	return rc;
}
