/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mark by which slurmctld tells a distribution that nobody stated (fault
 * 16), in a program that stands in for Slurm's commands: sbatch promises it,
 * srun in the job sets it.
 */
#include "spank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>

#include "series.h"

slurm_conf_t slurm_conf;

static spank_context_t context_now;
static struct spank_option option[8];
static char option_name[8][64];
static int n_options;
static char control[1024];

spank_context_t spank_context(void)
{
	return context_now;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *o)
{
	assert_true(n_options < 8);
	snprintf(option_name[n_options], sizeof(option_name[0]), "%s", o->name);
	option[n_options] = *o;
	option[n_options].name = option_name[n_options];
	n_options++;
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t sp, const char *name,
                                     const char *value, int overwrite)
{
	size_t n = strlen(control);

	snprintf(control + n, sizeof(control) - n, "%s%s=%s", n ? " " : "",
	         name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value,
                         int overwrite)
{
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *value, int size)
{
	return ESPANK_ENV_NOEXIST;
}

void slurm_error(const char *format, ...)
{
}

void slurm_debug(const char *format, ...)
{
}

static const char *const variable[] = {"SLURM_JOB_ID", "SLURM_DISTRIBUTION",
                                       "SLURM_SPANK_COMM_DISTRIBUTION",
                                       "COMM_PROFILE"};

/* A command with this profile option; the plugin's state is process-wide. */
static void run(spank_context_t context, const char *profile)
{
	void *so = spank_open();
	spank_f *init = spank_entry(so, "init");
	spank_f *post_opt = spank_entry(so, "init_post_opt");

	context_now = context;
	n_options = 0;
	control[0] = '\0';
	assert_int_equal(init(NULL, 0, NULL), 0);
	for (int i = 0; profile && i < n_options; i++)
		if (!strcmp(option[i].name, "comm-profile"))
			assert_int_equal(
			        option[i].cb(option[i].val, profile, 0), 0);
	assert_int_equal(post_opt(NULL, 0, NULL), 0);
	dlclose(so);
}

static int clear(void **state)
{
	for (size_t i = 0; i < sizeof(variable) / sizeof(*variable); i++)
		unsetenv(variable[i]);
	memset(&slurm_conf, 0, sizeof(slurm_conf));
	return 0;
}

static const char *distribution(void)
{
	const char *value = getenv("SLURM_DISTRIBUTION");

	return value ? value : "";
}

static void test_sbatch_promises_the_mark(void **state)
{
	run(S_CTX_ALLOCATOR, "milc");
	assert_string_equal(control,
	                    "COMM_DISTRIBUTION=marked COMM_PROFILE=milc");
	/* slurmctld may find that it is one of ours. */
	run(S_CTX_ALLOCATOR, NULL);
	assert_string_equal(control, "COMM_DISTRIBUTION=offered");
	assert_string_equal(distribution(), "");
	/* A mark that says something there. */
	slurm_conf.select_type_param = CR_PACK_NODES;
	run(S_CTX_ALLOCATOR, "milc");
	assert_string_equal(control, "COMM_PROFILE=milc");
	run(S_CTX_ALLOCATOR, NULL);
	assert_string_equal(control, "");
	/* srun's own job says in its record what was stated. */
	slurm_conf.select_type_param = 0;
	run(S_CTX_LOCAL, "milc");
	assert_string_equal(control, "COMM_PROFILE=milc");
	assert_string_equal(distribution(), "");
}

static void in_the_job(void)
{
	setenv("SLURM_JOB_ID", "17", 1);
	setenv("SLURM_SPANK_COMM_DISTRIBUTION", "marked", 1);
}

static void test_srun_in_the_job_sets_it(void **state)
{
	in_the_job();
	run(S_CTX_LOCAL, NULL);
	assert_string_equal(distribution(), "nopack");
}

static void test_srun_leaves_what_was_stated(void **state)
{
	in_the_job();
	setenv("SLURM_DISTRIBUTION", "block", 1);
	run(S_CTX_LOCAL, NULL);
	assert_string_equal(distribution(), "block");
}

static void test_srun_elsewhere_does_not(void **state)
{
	setenv("SLURM_JOB_ID", "17", 1);
	run(S_CTX_LOCAL, NULL);
	assert_string_equal(distribution(), "");
	in_the_job();
	setenv("SLURM_SPANK_COMM_DISTRIBUTION", "offered", 1);
	run(S_CTX_LOCAL, NULL);
	assert_string_equal(distribution(), "");
	in_the_job();
	unsetenv("SLURM_JOB_ID");
	run(S_CTX_LOCAL, NULL);
	assert_string_equal(distribution(), "");
	in_the_job();
	slurm_conf.select_type_param = CR_PACK_NODES;
	run(S_CTX_LOCAL, NULL);
	assert_string_equal(distribution(), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, clear)
	        T(test_sbatch_promises_the_mark),
	        T(test_srun_in_the_job_sets_it),
	        T(test_srun_leaves_what_was_stated),
	        T(test_srun_elsewhere_does_not),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
