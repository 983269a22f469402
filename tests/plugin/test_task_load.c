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

#define MAX_SYMBOLS 64
#define STOCK CPL_TEST_STOCK_DIR "/task_affinity.so"

/* The last one for spank_commplace.so, from 23.02 on. */
static const char *const others[] = {"plugin_name",    "plugin_type",
                                     "plugin_version", "init",
                                     "fini",           "cpltask_forked"};

static void test_loads_lazily_without_slurmd(void **state)
{
	void *plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_LOCAL);
	static char order[] = "task/commplace,task/affinity";
	int (*begin)(void), (*end)(void);

	if (!plugin)
		fail_msg("%s", dlerror());
	assert_string_equal(dlsym(plugin, "plugin_type"), "task/commplace");
	assert_non_null(dlsym(plugin, "plugin_name"));
	assert_int_equal(*(const uint32_t *)dlsym(plugin, "plugin_version"),
	                 SLURM_VERSION_NUMBER);
	*(void **)&begin = dlsym(plugin, "init");
	*(void **)&end = dlsym(plugin, "fini");
	slurm_conf.task_plugin = order;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(begin(), SLURM_SUCCESS);
		assert_int_equal(end(), SLURM_SUCCESS);
	}
	assert_int_equal(dlclose(plugin), 0);
}

static bool is_hook(const char *name)
{
	return !strncmp(name, "task_p_", 7);
}

static bool known(const char *name)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return true;
	return is_hook(name);
}

/* Symbols of a plugin, sorted, into name[]. */
static int symbols(const char *plugin, bool (*which)(const char *),
                   char name[][64])
{
	char command[512], line[256];
	int n = 0;
	FILE *nm;

	snprintf(command, sizeof(command),
	         "nm -D --defined-only %s | grep -v ' _' | sort -k3", plugin);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm)) {
		assert_true(n < MAX_SYMBOLS);
		assert_int_equal(sscanf(line, "%*s %*s %63s", name[n]), 1);
		n += which(name[n]);
	}
	assert_int_equal(pclose(nm), 0);
	return n;
}

static bool is_any(const char *name)
{
	return true;
}

/* Without one of the hooks Slurm does not load a plugin. */
static void test_exports_the_hooks_and_nothing_else(void **state)
{
	static char stock[MAX_SYMBOLS][64], ours[MAX_SYMBOLS][64];
	int n = symbols(STOCK, is_hook, stock);

	assert_true(n >= 8);
	assert_int_equal(symbols(PLUGIN, is_hook, ours), n);
	for (int i = 0; i < n; i++)
		assert_string_equal(ours[i], stock[i]);
	n = symbols(PLUGIN, is_any, ours);
	for (int i = 0; i < n; i++)
		if (!known(ours[i]))
			fail_msg("exports %s", ours[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_loads_lazily_without_slurmd),
	        cmocka_unit_test(test_exports_the_hooks_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
