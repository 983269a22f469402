/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugins read of a job's environment and of slurm.conf's place. */
#include "ctld_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "site/config.h"

#include "src/common/log.h"

#define OPTION "_SLURM_SPANK_OPTION_commplace_"

static void assert_text(const char *got, const char *want)
{
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void test_options(void **state)
{
	static const struct {
		char *env[4];
		const char *profile, *policy, *mapping;
	} row[] = {
	        {{NULL}, NULL, NULL, NULL},
	        {{"COMM_PROFILE=a"}, "a", NULL, NULL},
	        {{OPTION "comm_profile=b"}, "b", NULL, NULL},
	        {{OPTION "comm_profile=b", "COMM_PROFILE=a"}, "a", NULL, NULL},
	        {{"COMM_PROFILE=", OPTION "comm_profile=b"}, "b", NULL, NULL},
	        {{"COMM_PROFILE=a", "COMM_PROFILE=c"}, "c", NULL, NULL},
	        {{"COMM_PROFILES=a", "XCOMM_PROFILE=b", "COMM_PROFILE"},
	         NULL,
	         NULL,
	         NULL},
	        {{"COMM_PLACEMENT_POLICY=p", OPTION "rank_mapping=m"},
	         NULL,
	         "p",
	         "m"},
	        {{"COMM_POLICY=p", "COMM_RANK_MAPPING=m"}, NULL, NULL, "m"},
	        {{OPTION "placement_policy=p"}, NULL, "p", NULL},
	        {{"COMM_PROFILE=a=b"}, "a=b", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		/* NULL entries are holes, not the end. */
		struct cplslurm_options options =
		        cplslurm_options(row[i].env, 4);

		assert_text(options.profile, row[i].profile);
		assert_text(options.policy, row[i].policy);
		assert_text(options.mapping, row[i].mapping);
	}
	assert_null(cplslurm_options(NULL, 0).profile);
}

static void test_config_stands_beside_slurm_conf(void **state)
{
	static const struct {
		const char *env, *path;
	} row[] = {
	        {"/a/b/slurm.conf", "/a/b/commplace.conf"},
	        {"/slurm.conf", "/commplace.conf"},
	        {"slurm.conf", CPL_SLURM_CONF_DIR "/commplace.conf"},
	};
	char *path;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		setenv("SLURM_CONF", row[i].env, 1);
		path = cplslurm_config_path();
		assert_text(path, row[i].path);
		free(path);
	}
	unsetenv("SLURM_CONF");
	slurm_conf.slurm_conf = "/c/slurm.conf";
	path = cplslurm_config_path();
	assert_text(path, "/c/commplace.conf");
	free(path);
}

/* fault 16 */
static void test_options_of_srun_end_at_the_program(void **state)
{
	static const struct {
		const char *line;
		bool stated;
	} row[] = {
	        {NULL, false},
	        {"", false},
	        {"srun", false},
	        {"-m", false},
	        {"srun -m block x", true},
	        {"srun -mblock x", true},
	        {"srun -m", true},
	        {"srun -lm block x", true},
	        {"srun -vlO -m block x", true},
	        {"srun -Jm x", false},
	        {"srun -J m x", false},
	        {"srun -J -m x", false},
	        {"srun -Im x", false},
	        {"srun -I -m block x", true},
	        {"srun -n4 -N 2 x -m block", false},
	        {"srun -n4 x -mblock", false},
	        {"srun - -m block", false},
	        {"srun -- x -m block", false},
	        {"srun --distribution=block x", true},
	        {"srun --distribution block x", true},
	        {"srun --dist=block x", true},
	        {"srun --dist block x", true},
	        {"srun --distributionx=block x", false},
	        {"srun --dis x --dist=block", false},
	        {"srun --exclusive --dist=block x", true},
	        {"srun --exclusive x --dist=block", false},
	        {"srun --excl x --dist=block", false},
	        {"srun --exclusive=user --dist=block x", true},
	        {"srun --exclude n1 --dist=block x", true},
	        {"srun --exclude --dist=block x", false},
	        {"srun --exclude=n1 x --dist=block", false},
	        {"srun --comm-profile=x y -m z", false},
	        {"srun -? -m x", true},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		if (cplslurm_states_distribution(row[i].line) != row[i].stated)
			fail_msg("%s", row[i].line ? row[i].line : "NULL");
}

static void test_marks(void **state)
{
	char *with[] = {"COMM_PROFILE=x", "COMM_DISTRIBUTION=marked"};
	char *offered[] = {"COMM_DISTRIBUTION=offered"};
	uint16_t before = slurm_conf.select_type_param;

	slurm_conf.select_type_param = 0;
	assert_true(cplslurm_marks(with, 2));
	assert_false(cplslurm_marks(with, 1));
	assert_false(cplslurm_marks(offered, 1));
	assert_false(cplslurm_marks(NULL, 0));
	slurm_conf.select_type_param = CR_PACK_NODES;
	assert_false(cplslurm_marks(with, 2));
	slurm_conf.select_type_param = before;
}

static void test_set_env(void **state)
{
	static const struct {
		const char *name, *value;
		uint32_t n;
	} row[] = {{"A", "1", 1}, {"AB", "", 2}, {"A", "22", 2}, {"B", "3", 3}};
	char **env = NULL;
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_int_equal(
		        cplslurm_set_env(&env, &n, row[i].name, row[i].value),
		        0);
		assert_int_equal(n, row[i].n);
		assert_null(env[n]);
	}
	assert_string_equal(env[0], "A=22");
	assert_string_equal(env[1], "AB=");
	assert_string_equal(env[2], "B=3");
	xfree_array(env);
}

static int lines;
static char said[1024];

void slurm_log_var(const log_level_t level, const char *format, ...)
{
	size_t n = strlen(said);
	va_list ap;

	va_start(ap, format);
	vsnprintf(said + n, sizeof(said) - n, format, ap);
	va_end(ap);
	lines++;
}

int slurm_get_log_level(void)
{
	return LOG_LEVEL_DEBUG;
}

/* Plugins are named with their type or without. */
/* Bitmaps of all sizes about the ends of words: thin, thick and full ones. */
static void test_bitmaps(void **state)
{
	for (int i = 0; i < 600; i++) {
		int n = 1 + i / 2, each = i % 2 ? 3 : 67, was = 0, end, first;
		bitstr_t *bitmap = bit_alloc(n);

		for (int k = i % 5; k < n; k += each)
			bit_set(bitmap, k);
		if (i % 7 == 0)
			bit_set_all(bitmap);
		for (int k = n - 1, next = n; k >= 0; k--) {
			if (bit_test(bitmap, k))
				next = k;
			assert_int_equal(cplslurm_next(bitmap, k, n), next);
			assert_int_equal(cplslurm_next(bitmap, k, k), k);
			assert_int_equal(cplslurm_has(bitmap, k), next == k);
			was += next == k;
		}
		end = cplslurm_end(bitmap, &first);
		for (int k = first; k < end; k = cplslurm_next(bitmap, k + 1, end))
			was--;
		assert_int_equal(was, 0);
		bit_free(bitmap);
	}
}

static void test_what_is_missing(void **state)
{
	static char missing[] = "a", has[] = "commplace";
	static const struct {
		const char *list;
		bool named;
	} row[] = {
	        {NULL, false},
	        {"", false},
	        {"commplace", true},
	        {"task/commplace", true},
	        {"task/affinity,task/commplace", true},
	        {"task/commplace,task/affinity", true},
	        {"affinity,commplace,cgroup", true},
	        {"commplacex", false},
	        {"commplac", false},
	        {"xommplace", false},
	        {"task/commplacex", false},
	        {"task/commplac", false},
	        {"task/xommplace", false},
	        {"fask/commplace", false},
	        {"task/", false},
	        {",", false},
	        {",commplace", true},
	        {"task/affinity,task/cgroup", false},
	};
	int least = !cplslurm_lays_out();

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		for (int others = 0; others < 2; others++) {
			slurm_conf.task_plugin = (char *)row[i].list;
			slurm_conf.job_submit_plugins = others ? has : missing;
			lines = *said = 0;
			cplslurm_say_missing();
			if (lines != least + !row[i].named + !others)
				fail_msg("%s: %s", row[i].list, said);
			assert_int_equal(strstr(said, "TaskPlugin") != NULL,
			                 !row[i].named);
		}
	}
	slurm_conf.task_plugin = slurm_conf.job_submit_plugins = NULL;
	/* Not in slurmctld. */
	assert_false(cplslurm_takes_charge());
#if CPLSLURM_SERIES < 2505
	assert_false(cplslurm_is_leaving());
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_what_is_missing),
	        cmocka_unit_test(test_options_of_srun_end_at_the_program),
	        cmocka_unit_test(test_marks),
	        cmocka_unit_test(test_set_env),
	        cmocka_unit_test(test_bitmaps),
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_config_stands_beside_slurm_conf),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
