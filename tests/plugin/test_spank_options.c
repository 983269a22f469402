/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPANK plugin in a program that stands in for Slurm: it defines the
 * spank_* functions that the plugin calls and loads the real .so.
 */
#include "commplace-config.h"

#include "spank.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static const char *home, *preloaded, *nccl;
static const char *copies; /* SLURM_SPANK_COMM_PROFILE in the job's env */

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	put(task, sizeof(task), name, "");
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *value, int size)
{
	if (!strcmp(name, "LD_PRELOAD") || !strcmp(name, "HOME") ||
	    !strcmp(name, "NCCL_PROFILER_PLUGIN")) {
		const char *held = *name == 'H'   ? home
		                   : *name == 'N' ? nccl
		                                  : preloaded;

		if (!held)
			return ESPANK_ENV_NOEXIST;
		return snprintf(value, (size_t)size, "%s", held) < size
		               ? ESPANK_SUCCESS
		               : ESPANK_NOSPACE;
	}
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

void slurm_info(const char *format, ...)
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
	        {"placement-policy", "linear:4", -1, "takes no option"},
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

/* What commands do when they end. */
static int n_exits;

int on_exit(void (*function)(int, void *), void *arg)
{
	n_exits++;
	return 0;
}

/* salloc and srun keep what is recorded, unless the job around it does, which is
 * sbatch's. */
static void who_keeps(void **state)
{
	static const struct {
		spank_context_t context;
		const char *program, *job, *of_job, *name;
		int exits;
	} row[] = {
	        {S_CTX_LOCAL, "srun", NULL, NULL, "app", 1},
	        {S_CTX_LOCAL, "srun", "7", NULL, "app", 1},
	        {S_CTX_LOCAL, "srun", "7", "other", "app", 1},
	        {S_CTX_LOCAL, "srun", "7", "app", "app", 0},
	        {S_CTX_LOCAL, "srun", NULL, "app", "app", 1},
	        {S_CTX_LOCAL, "srun", NULL, NULL, "none", 0},
	        {S_CTX_ALLOCATOR, "salloc", NULL, NULL, "app", 1},
	        {S_CTX_ALLOCATOR, "salloc", "7", "app", "app", 1},
	        {S_CTX_ALLOCATOR, "sbatch", NULL, NULL, "app", 0},
	};
	char *own = program_invocation_short_name;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		unload(state);
		unsetenv("SLURM_JOB_ID");
		unsetenv("SLURM_SPANK_COMM_RECORD");
		assert_int_equal(load(state), 0);
		context_now = row[i].context;
		program_invocation_short_name = (char *)row[i].program;
		n_exits = 0;
		if (row[i].job)
			setenv("SLURM_JOB_ID", row[i].job, 1);
		if (row[i].of_job)
			setenv("SLURM_SPANK_COMM_RECORD", row[i].of_job, 1);
		plugin_init(NULL, 0, NULL);
		assert_int_equal(give("comm-record", row[i].name, 0), 0);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
		if (n_exits != row[i].exits)
			fail_msg("row %zu: %d", i, n_exits);
	}
	program_invocation_short_name = own;
	unsetenv("SLURM_JOB_ID");
	unsetenv("SLURM_SPANK_COMM_RECORD");
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
	        {"milc", "None", ""},
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

#define R CPL_TEST_RECORDER
#define P CPL_TEST_NCCL_PLUGIN

static bool installed, installed_nccl;

int access(const char *path, int mode)
{
	return (!strcmp(path, R) && installed) ||
	                       (!strcmp(path, P) && installed_nccl)
	               ? 0
	               : -1;
}

/* NCCL's plugin, whose variable may be the user's. */
static void recording_nccl(void **state)
{
#define OUT                                                                    \
	"COMMPLACE_RECORD_DIR=/h/.commplace/recording "                        \
	"COMMPLACE_RECORD_NAME=app "
	static const struct {
		const char *name, *before, *task;
		bool mpi, is_said;
	} row[] = {
	        {"app", NULL, OUT "NCCL_PROFILER_PLUGIN=" P, false, false},
	        {"app", NULL, OUT "LD_PRELOAD=" R " NCCL_PROFILER_PLUGIN=" P,
	         true, false},
	        {"app", "", OUT "NCCL_PROFILER_PLUGIN=" P, false, false},
	        {"app", P, OUT, false, false},
	        {"app", "none", OUT, false, true},
	        {"none", "none", "", true, false},
	        {"none", P, "NCCL_PROFILER_PLUGIN", true, false},
	};

	installed_nccl = true;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		installed = row[i].mpi;
		unload(state);
		assert_int_equal(load(state), 0);
		home = "/h";
		nccl = row[i].before;
		context_now = S_CTX_REMOTE;
		plugin_init(NULL, 0, NULL);
		give("comm-record", row[i].name, 1);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
		assert_memory_equal(task, row[i].task, strlen(row[i].task));
		assert_int_equal(strstr(task, "NCCL") != NULL,
		                 strstr(row[i].task, "NCCL") != NULL);
		assert_int_equal(strstr(logged, "what NCCL sends is not "
		                                "recorded") != NULL,
		                 row[i].is_said);
	}
#undef OUT
	installed_nccl = false;
	home = nccl = NULL;
}

/* What a recorded job's tasks are given, and those of a user who declines. */
static void recording(void **state)
{
	static char long_list[8192];
	static const struct {
		const char *name, *home, *before, *task;
	} row[] = {
	        {"none", "/h", NULL, ""},
	        {"none", "/h", "/a", ""},
	        {"none", "/h", R, "LD_PRELOAD="},
	        {"none", "/h", R ":/a", "LD_PRELOAD=/a"},
	        {"none", "/h", "/a:" R, "LD_PRELOAD=/a"},
	        {"none", "/h", "/a:" R ":/b", "LD_PRELOAD=/a:/b"},
	        {"none", "/h", long_list, ""},
#define OUT                                                                    \
	"COMMPLACE_RECORD_DIR=/h/.commplace/recording "                        \
	"COMMPLACE_RECORD_NAME=app"
	        {"app", "/h", NULL, OUT " LD_PRELOAD=" R " COMM_RECORD=app"},
	        {"app", "/h", "/a", OUT " LD_PRELOAD=/a:" R " COMM_RECORD=app"},
	        {"app", "/h", "/a:" R, OUT " COMM_RECORD=app"},
	        {"app", "/h", long_list, OUT " COMM_RECORD=app"},
	        {"app", "h", NULL, "COMM_RECORD=app"},
	        {"app", NULL, NULL, "COMM_RECORD=app"},
	        {"app", long_list, NULL, "COMM_RECORD=app"},
	};

	memset(long_list, '/', sizeof(long_list) - 1);
	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		size_t k = i / 2;
		bool none = !strcmp(row[k].name, "none");

		installed = i % 2 == 0;
		unload(state);
		assert_int_equal(load(state), 0);
		home = row[k].home;
		preloaded = row[k].before;
		context_now = S_CTX_REMOTE;
		plugin_init(NULL, 0, NULL);
		give("comm-record", row[k].name, 1);
		assert_int_equal(plugin_post_opt(NULL, 0, NULL), 0);
		assert_string_equal(task, installed || none
		                                  ? row[k].task
		                                  : "COMM_RECORD=app");
		assert_int_equal(strstr(logged, "the job is not recorded") !=
		                         NULL,
		                 !installed && !none);
	}
	home = preloaded = NULL;
}

static int forked_task, looked_for;
static bool task_plugin;
static spank_err_t item_rc;

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	va_list ap;

	assert_int_equal(item, S_TASK_ID);
	va_start(ap, item);
	*va_arg(ap, int *) = 3;
	va_end(ap);
	return item_rc;
}

void cpltask_forked(uint32_t which);
void cpltask_forked(uint32_t which)
{
	forked_task = (int)which;
}

/* The task plugin beside ours, where it is loaded: this program. */
void *dlopen(const char *path, int flags)
{
	static void *(*real)(const char *, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	if (!path || !strstr(path, "task_commplace"))
		return real(path, flags);
	assert_string_equal(path, CPL_TEST_BUILDDIR "/.libs/task_commplace.so");
	assert_true(flags & RTLD_NOLOAD);
	looked_for++;
	return task_plugin ? real(NULL, RTLD_LAZY) : NULL;
}

/* It hears that a task was forked, from 23.02 on. */
static void forks(void **state)
{
	static const struct {
		bool there;
		spank_err_t rc;
		int task;
	} row[] = {
	        {true, ESPANK_SUCCESS, 3},
	        {false, ESPANK_SUCCESS, -1},
	        {true, ESPANK_BAD_ARG, -1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		spank_f *post_fork = spank_entry(handle, "task_post_fork");
		pid_t pid = fork();
		int status, good = 0;

		task_plugin = row[i].there;
		item_rc = row[i].rc;
		/* In a process each, which looks once. */
		for (int k = 0; !pid && k < 2; k++) {
			forked_task = -1;
			good += !post_fork(NULL, 0, NULL) &&
			        forked_task == row[i].task;
		}
		if (!pid)
			_exit(good != 2 || looked_for != 1);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, load, unload)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(symbols),        T(contexts),  T(arguments),     T(values),
	        T(long_values),    T(handed_on), T(who_keeps), T(nothing_given), T(opted_out),
	        T(cannot_hand_on), T(remote),    T(remote_copy),   T(recording),      T(recording_nccl),
	        T(forks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
