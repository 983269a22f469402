/* SPDX-License-Identifier: GPL-2.0-or-later */
/* task_commplace.so as Slurm's loader sees it. */
#include "slurm_compat.h"
#include "slurm_compat_slurmd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define PLUGIN CPL_TEST_BUILDDIR "/.libs/task_commplace.so"

/* In the order of slurm_task_ops_t. */
static const char *const hooks[] = {"task_p_slurmd_batch_request",
                                    "task_p_slurmd_launch_request",
                                    "task_p_slurmd_suspend_job",
                                    "task_p_slurmd_resume_job",
                                    "task_p_pre_setuid",
                                    "task_p_pre_set_affinity",
                                    "task_p_set_affinity",
                                    "task_p_post_set_affinity",
                                    "task_p_pre_launch",
                                    "task_p_post_term",
                                    "task_p_post_step",
                                    "task_p_add_pid"};
static const char *const others[] = {"plugin_name", "plugin_type",
                                     "plugin_version", "init", "fini"};

static void test_loads_lazily_without_slurmd(void **state)
{
	void *plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_LOCAL);
	static char order[] = "task/commplace,task/affinity";
	int (*start)(void), (*stop)(void);

	if (!plugin)
		fail_msg("%s", dlerror());
	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++)
		if (!dlsym(plugin, hooks[i]))
			fail_msg("no symbol %s", hooks[i]);
	assert_string_equal(dlsym(plugin, "plugin_type"), "task/commplace");
	assert_non_null(dlsym(plugin, "plugin_name"));
	assert_int_equal(*(const uint32_t *)dlsym(plugin, "plugin_version"),
	                 SLURM_VERSION_NUMBER);
	*(void **)&start = dlsym(plugin, "init");
	*(void **)&stop = dlsym(plugin, "fini");
	slurm_conf.task_plugin = order;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(start(), SLURM_SUCCESS);
		assert_int_equal(stop(), SLURM_SUCCESS);
	}
	assert_int_equal(dlclose(plugin), 0);
}

static int known(const char *name)
{
	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++)
		if (!strcmp(name, hooks[i]))
			return 1;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return 1;
	return 0;
}

static void test_exports_nothing_else(void **state)
{
	FILE *nm = popen("nm -D --defined-only " PLUGIN, "r");
	char line[512], name[256];
	size_t n = 0;

	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm)) {
		assert_int_equal(sscanf(line, "%*s %*s %255s", name), 1);
		if (!known(name))
			fail_msg("exports %s", name);
		n++;
	}
	assert_int_equal(pclose(nm), 0);
	assert_int_equal(n, sizeof(hooks) / sizeof(*hooks) +
	                            sizeof(others) / sizeof(*others));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_loads_lazily_without_slurmd),
	        cmocka_unit_test(test_exports_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
