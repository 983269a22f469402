/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slurmctld that gives way to another and is in charge again, as a backup is. */
#include "commplace-config.h"
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "controller.h"
#include "slurm_share.h"
#include "slurmctld.h"

#include "site/record.h"
#include "src/slurmctld/slurmctld.h"

#define PLUGIN CPL_TEST_PLUGIN_DIR "/select_cons_tres_commplace.so"

extern time_t control_time;

static char text[1024];

static const char *in_state(const char *name)
{
	snprintf(text, sizeof(text), "%s/state/%s", controller_dir, name);
	return text;
}

/* How slurmctld says it, where it says it to the select plugin. */
static void give_way(void)
{
#if CPLSLURM_SERIES < 2505
	slurmctld_config.shutdown_time = time(NULL);
	select_g_state_save(controller_dir);
	slurmctld_config.shutdown_time = 0;
#else
	void *plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_NOLOAD);
	const struct cplslurm_share *share = dlsym(plugin, CPLSLURM_SHARE_NAME);

	share->drain();
	dlclose(plugin);
#endif
}

static job_record_t *run(void)
{
	const struct job_options options = {
	        .nodes = 4, .tasks = 16, .exclusive = true, .profile = "ring16"};
	job_record_t *job = controller_job(&options);

	free(controller_run(job));
	return job;
}

/* Of a job that runs now: how many jobs it was placed beside. */
static int beside(void)
{
	job_record_t *job = run();
	struct cpl_error err = {""};
	struct cpl_record *record;
	bool ended;
	int n;

	give_way();
	snprintf(text, sizeof(text), "%s/state", controller_dir);
	record = cpl_record_find(text, job->job_id, &ended, &err);
	assert_non_null(record);
	n = record->n_background;
	cpl_record_free(record);
	controller_end(job);
	return n;
}

static void test_a_backup(void **state)
{
	job_record_t *job;
	char name[64];

	controller_start("cons_tres_commplace");
	controller_profile("ring16", 16, 5);
	job = run();
	snprintf(name, sizeof(name), "running/%u.json", job->job_id);
	give_way();
	assert_int_equal(access(in_state(name), F_OK), 0);
	assert_int_equal(access(in_state("counters.json"), F_OK), 0);
	assert_int_equal(beside(), 1);
	/* Another has been in charge, and its disk has lost this. */
	assert_int_equal(unlink(in_state(name)), 0);
	controller_reconfigure();
	assert_int_equal(beside(), 1);
	control_time = 0;
	controller_reconfigure();
	control_time = 1;
	assert_int_equal(beside(), 0);
	controller_end(job);
	controller_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_backup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
