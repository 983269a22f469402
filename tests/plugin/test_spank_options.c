/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPANK plugin in a program that stands in for Slurm: it defines the
 * spank_* functions that the plugin calls and loads the real .so.
 */
#include "spank.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 8

static spank_context_t context_now;
static struct spank_option registered[MAX];
static char registered_name[MAX][64];
static int n_registered;
static char control[1024], task[1024], logged[4096];
static int fail_control;

/* Slurm's side. */
spank_context_t spank_context(void)
{
	return context_now;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *option)
{
	assert_true(n_registered < MAX);
	registered[n_registered] = *option;
	snprintf(registered_name[n_registered], sizeof(registered_name[0]),
	         "%s", option->name);
	registered[n_registered].name = registered_name[n_registered];
	n_registered++;
	return ESPANK_SUCCESS;
}

static void put(char *list, size_t size, const char *name, const char *value)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s=%s", n ? " " : "", name, value);
}

spank_err_t spank_job_control_setenv(spank_t sp, const char *name,
                                     const char *value, int overwrite)
{
	assert_int_equal(overwrite, 1);
	if (fail_control)
		return ESPANK_ERROR;
	put(control, sizeof(control), name, value);
	return ESPANK_SUCCESS;
}

static int overwritten; /* the last variable of a task */

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value,
                         int overwrite)
{
	overwritten = overwrite;
	put(task, sizeof(task), name, value);
	return ESPANK_SUCCESS;
}

static const char *copies; /* SLURM_SPANK_COMM_PROFILE in the job's env */

spank_err_t spank_getenv(spank_t sp, const char *name, char *value, int size)
{
	if (!copies || strcmp(name, "SLURM_SPANK_COMM_PROFILE"))
		return ESPANK_ENV_NOEXIST;
	if (snprintf(value, (size_t)size, "%s", copies) >= size)
		return ESPANK_NOSPACE;
	return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
	size_t n = strlen(logged);
	va_list ap;

	va_start(ap, format);
	vsnprintf(logged + n, sizeof(logged) - n, format, ap);
	va_end(ap);
}

void slurm_debug(const char *format, ...)
{
}

static void *handle;
static spank_f *plugin_init, *plugin_post_opt;

static const char *const variable[] = {"COMM_PROFILE", "COMM_PLACEMENT_POLICY",
                                       "COMM_RANK_MAPPING"};

/* A fresh process image of the plugin: its state is process-wide. */
static int load(void **state)
{
	handle = spank_open();
	plugin_init = spank_entry(handle, "init");
	plugin_post_opt = spank_entry(handle, "init_post_opt");
	n_registered = 0;
	fail_control = 0;
	control[0] = task[0] = logged[0] = '\0';
	for (size_t i = 0; i < 3; i++)
		unsetenv(variable[i]);
	return 0;
}

static int unload(void **state)
{
	dlclose(handle);
	return 0;
}

static int give(const char *name, const char *value, int remote)
{
	for (int i = 0; i < n_registered; i++)
		if (!strcmp(registered[i].name, name))
			return registered[i].cb(registered[i].val, value,
			                        remote);
	fail_msg("--%s is not registered", name);
	return -1;
}

static void symbols(void **state)
{
	assert_string_equal(dlsym(handle, "plugin_name"), "commplace");
	assert_string_equal(dlsym(handle, "plugin_type"), "spank");
	assert_int_equal(*(unsigned *)dlsym(handle, "plugin_version"),
	                 SLURM_VERSION_NUMBER);
	assert_null(dlsym(handle, "cpl_placement_find"));
}

static void contexts(void **state)
{
	static const struct {
		spank_context_t context;
		int options;
	} row[] = {
	        {S_CTX_LOCAL, 4},         {S_CTX_REMOTE, 4},
	        {S_CTX_ALLOCATOR, 4},     {S_CTX_SLURMD, 0},
	        {S_CTX_ERROR, 0},         {S_CTX_JOB_SCRIPT, 0},
	        {(spank_context_t)99, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		n_registered = 0;
		context_now = row[i].context;
		assert_int_equal(plugin_init(NULL, 0, NULL), 0);
		assert_int_equal(n_registered, row[i].options);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
	}
	assert_string_equal(control, "");
	assert_string_equal(logged, "");
}

static void arguments(void **state)
{
	char *av[] = {"config=/etc/x"};

	context_now = S_CTX_ALLOCATOR;
	assert_int_equal(plugin_init(NULL, 1, av), 0);
	assert_non_null(strstr(logged, "unknown argument 'config=/etc/x'"));
	assert_int_equal(n_registered, 4);
}

static void values(void **state)
{
	static const struct {
		const char *option, *value;
		int rc;
		const char *message; /* part of the line */
	} row[] = {
	        {"comm-profile", "milc", 0, ""},
	        {"comm-profile", "none", 0, ""},
	        {"comm-profile", "a.B-9_c", 0, ""},
	        {"comm-profile", "", -1, "--comm-profile:"},
	        {"comm-profile", "../etc/passwd", -1, "--comm-profile:"},
	        {"comm-profile", ".hidden", -1, "--comm-profile:"},
	        {"comm-profile", "a b", -1, "--comm-profile:"},
	        {"comm-profile", "a\nb", -1, "--comm-profile:"},
	        {"comm-profile", NULL, -1, "a value is missing"},
	        {"placement-policy", "auto", 0, ""},
	        {"placement-policy", "traffic", 0, ""},
	        {"placement-policy", "RDG", 0, ""},
	        {"placement-policy", "random-groups", 0, ""},
	        {"placement-policy", "best", -1,
	         "no placement policy 'best'; it must be one of auto, traffic, "
	         "linear"},
	        {"placement-policy", "", -1, "no placement policy"},
	        {"rank-mapping", "greedyallc", 0, ""},
	        {"rank-mapping", "default", 0, ""},
	        {"rank-mapping", "fastest", -1, "greedyallc"},
	        {"comm-record", "milc", 0, ""},
	        {"comm-record", "none", 0, ""},
	        {"comm-record", "../x", -1, "--comm-record:"},
	        {"comm-record", "", -1, "--comm-record:"},
	};

	context_now = S_CTX_ALLOCATOR;
	plugin_init(NULL, 0, NULL);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		logged[0] = '\0';
		assert_int_equal(give(row[i].option, row[i].value, 0),
		                 row[i].rc);
		if (row[i].rc) {
			assert_non_null(strstr(logged, row[i].message));
			assert_null(strchr(logged, '\n'));
		} else {
			assert_string_equal(logged, "");
		}
	}
}

/* Of any length, by option and by Slurm's copy: refused, in slurmstepd left out,
 * and not repeated. */
static void long_values(void **state)
{
	static const char *const name[] = {"comm-profile", "placement-policy",
	                                   "rank-mapping", "comm-record"};
	static const size_t sizes[] = {129, 4096, 1 << 20, 16 << 20};

	for (int i = 0; i < 4 * 4 * 2; i++) {
		bool inside = i >= 16;
		size_t size = sizes[i / 4 % 4];
		char *value = malloc(size + 1);

		assert_non_null(value);
		memset(value, 'a', size);
		value[size] = '\0';
		unload(state);
		assert_int_equal(load(state), 0);
		context_now = inside ? S_CTX_REMOTE : S_CTX_LOCAL;
		copies = inside ? value : NULL;
		plugin_init(NULL, 0, NULL);
		assert_int_equal(give(name[i % 4], value, inside),
		                 inside ? 0 : -1);
		assert_true(strlen(logged) < 1024);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
		assert_string_equal(control, "");
		assert_string_equal(task, "");
		copies = NULL;
		free(value);
	}
}

/* In sbatch, salloc and srun. */
static void handed_on(void **state)
{
	static const spank_context_t c[] = {S_CTX_ALLOCATOR, S_CTX_LOCAL};

	for (size_t i = 0; i < 2; i++) {
		control[0] = '\0';
		n_registered = 0;
		context_now = c[i];
		plugin_init(NULL, 0, NULL);
		/* The environment's value first, the command line's last. */
		assert_int_equal(give("comm-profile", "old", 0), 0);
		assert_int_equal(give("comm-profile", "milc", 0), 0);
		assert_int_equal(give("rank-mapping", "linear", 0), 0);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
		assert_string_equal(
		        control, "COMM_PROFILE=milc COMM_RANK_MAPPING=linear");
		assert_string_equal(getenv("COMM_PROFILE"), "milc");
		assert_string_equal(getenv("COMM_RANK_MAPPING"), "linear");
		assert_null(getenv("COMM_PLACEMENT_POLICY"));
		assert_string_equal(task, "");
	}
}

static void nothing_given(void **state)
{
	setenv("COMM_PROFILE", "users-own", 1);
	context_now = S_CTX_ALLOCATOR;
	plugin_init(NULL, 0, NULL);
	assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(control, "");
	assert_string_equal(getenv("COMM_PROFILE"), "users-own");
}

static void opted_out(void **state)
{
	setenv("COMM_PROFILE", "outer", 1);
	context_now = S_CTX_ALLOCATOR;
	plugin_init(NULL, 0, NULL);
	assert_int_equal(give("comm-profile", "none", 0), 0);
	assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(control, "COMM_PROFILE=none");
	assert_null(getenv("COMM_PROFILE"));
}

static void cannot_hand_on(void **state)
{
	context_now = S_CTX_ALLOCATOR;
	plugin_init(NULL, 0, NULL);
	assert_int_equal(give("comm-profile", "milc", 0), 0);
	fail_control = 1;
	assert_int_equal(plugin_post_opt(NULL, 0, NULL), -1);
	assert_non_null(strstr(logged, "--comm-profile"));
}

/* slurmstepd: never an error, only the environment of the tasks. */
static void remote(void **state)
{
	context_now = S_CTX_REMOTE;
	plugin_init(NULL, 0, NULL);
	assert_int_equal(give("comm-profile", "milc", 1), 0);
	assert_int_equal(give("placement-policy", "no-such", 1), 0);
	assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(task, "COMM_PROFILE=milc");
	assert_string_equal(control, "");
	assert_string_equal(logged, "");
	assert_null(getenv("COMM_PROFILE"));
}

/* sbatch --export=NONE: only Slurm's copy came along. */
static void remote_copy(void **state)
{
	static const struct {
		const char *copy, *option, *task;
	} row[] = {
	        {"milc", NULL, "COMM_PROFILE=milc"},
	        {"milc", "other", "COMM_PROFILE=other"},
	        {"milc", "none", ""},
	        {"none", NULL, ""},
	        {"../x", NULL, ""},
	        {NULL, NULL, ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		unload(state);
		assert_int_equal(load(state), 0);
		copies = row[i].copy;
		context_now = S_CTX_REMOTE;
		plugin_init(NULL, 0, NULL);
		if (row[i].option)
			give("comm-profile", row[i].option, 1);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
		assert_string_equal(task, row[i].task);
		if (*task)
			assert_int_equal(overwritten, row[i].option != NULL);
	}
	copies = NULL;
}

#define T(f) cmocka_unit_test_setup_teardown(f, load, unload)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(symbols),        T(contexts),  T(arguments),     T(values),
	        T(long_values),    T(handed_on), T(nothing_given), T(opted_out),
	        T(cannot_hand_on), T(remote),    T(remote_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
