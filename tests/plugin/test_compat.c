/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugins read of a job's environment and of slurm.conf's place. */
#include "slurm_compat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "site/config.h"

#define OPTION "_SLURM_SPANK_OPTION_commplace_"

static void assert_text(const char *got, const char *want)
{
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void test_wishes(void **state)
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
	        {{"COMM_POLICY=p", "COMM_RANK_MAPPING=m"}, NULL, "p", "m"},
	        {{OPTION "placement_policy=p"}, NULL, "p", NULL},
	        {{"COMM_PROFILE=a=b"}, "a=b", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		/* NULL entries are holes, not the end. */
		struct cplslurm_wish wish = cplslurm_wish(row[i].env, 4);

		assert_text(wish.profile, row[i].profile);
		assert_text(wish.policy, row[i].policy);
		assert_text(wish.mapping, row[i].mapping);
	}
	assert_null(cplslurm_wish(NULL, 0).profile);
}

static void test_config_stands_beside_slurm_conf(void **state)
{
	static const struct {
		const char *env, *path;
	} row[] = {
	        {"/a/b/slurm.conf", "/a/b/commplace.conf"},
	        {"/slurm.conf", "/commplace.conf"},
	        {"slurm.conf", CPL_CONFIG_DEFAULT_PATH},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_wishes),
	        cmocka_unit_test(test_config_stands_beside_slurm_conf),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
