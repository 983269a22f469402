/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A daemon whose slurm_conf is longer than the one that the plugins were built
 * with: each says so, and is not to be loaded. */
#include "commplace-config.h"
#include <dlfcn.h>
#include <setjmp.h>
#include <slurm/slurm.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Before libslurmfull's. */
struct {
	slurm_conf_t conf;
	char more[8];
} longer __asm__("slurm_conf");

static char logged[512];

int slurm_error(const char *format, ...);
int slurm_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(logged, sizeof(logged), format, ap);
	va_end(ap);
	return 0;
}

static void test_plugins_refuse(void **state)
{
	static const char *const plugin[] = {
	        "select_cons_tres_commplace", "job_submit_commplace",
	        "task_commplace",
#ifdef CPL_TEST_SWITCH
	        "switch_commplace",
#endif
	};
	char sizes[64];

	snprintf(sizes, sizeof(sizes), "has %zu bytes; here it has %zu",
	         sizeof(slurm_conf_t), sizeof(longer));
	for (size_t i = 0; i < sizeof(plugin) / sizeof(*plugin); i++) {
		char path[4096];
		void *handle;
		int (*init)(void);

		logged[0] = '\0';
		snprintf(path, sizeof(path), CPL_TEST_PLUGIN_DIR "/%s.so",
		         plugin[i]);
		handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
		if (!handle)
			fail_msg("%s", dlerror());
		*(void **)&init = dlsym(handle, "init");
		assert_int_equal(init(), SLURM_ERROR);
		if (!strstr(logged, sizes))
			fail_msg("%s says '%s'", plugin[i], logged);
		dlclose(handle);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_plugins_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
