/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launchers' files of the SPANK plugin, in a program that stands in for
 * slurmstepd: an environment, a step's node, a beginning and an end.
 */
#include "spank.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX 96

static struct {
	char name[64], *value; /* NULL: unset */
} env[MAX];
static uint32_t node_now;
static char logged[1024], dir[64];

static char **slot(const char *name)
{
	int free_one = -1;

	for (int i = 0; i < MAX; i++) {
		if (!strcmp(env[i].name, name))
			return &env[i].value;
		if (!env[i].name[0] && free_one < 0)
			free_one = i;
	}
	assert_true(free_one >= 0);
	snprintf(env[free_one].name, sizeof(env[0].name), "%s", name);
	return &env[free_one].value;
}

static void put(const char *name, const char *value)
{
	char **at = slot(name);

	free(*at);
	*at = value ? strdup(value) : NULL;
}

/* Slurm's side. */
spank_context_t spank_context(void)
{
	return S_CTX_REMOTE;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *value, int size)
{
	char *now = *slot(name);

	if (!now)
		return ESPANK_ENV_NOEXIST;
	return snprintf(value, (size_t)size, "%s", now) < size ? ESPANK_SUCCESS
	                                                      : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value,
                         int overwrite)
{
	put(name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	put(name, NULL);
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	va_list ap;

	va_start(ap, item);
	*va_arg(ap, uint32_t *) = item == S_JOB_ID ? 17 : node_now;
	va_end(ap);
	return item == S_JOB_ID || item == S_JOB_NODEID ? ESPANK_SUCCESS
	                                                : ESPANK_NOT_AVAIL;
}

void slurm_info(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(logged, sizeof(logged), format, ap);
	va_end(ap);
}

static void *handle;
static spank_f *user_init, *task_init, *leave;

/* A fresh slurmstepd with a job's environment. */
static int load(void **state)
{
	handle = spank_open();
	user_init = spank_entry(handle, "user_init");
	task_init = spank_entry(handle, "task_init");
	leave = spank_entry(handle, "exit");
	logged[0] = '\0';
	node_now = 0;
	strcpy(dir, "/tmp/test_spank_launchers.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	put("TMPDIR", dir);
	put("SLURM_JOB_NODELIST", "n[1,3,9]");
	put("SLURM_JOB_CPUS_PER_NODE", "2(x2),4");
	put("COMMPLACE_RANKS", "n[1,3,9] 2x2,0x2");
	return 0;
}

static int unload(void **state)
{
	dlclose(handle);
	for (int i = 0; i < MAX; i++) {
		free(env[i].value);
		env[i].value = NULL;
	}
	/* Nothing is left in it. */
	return rmdir(dir);
}

static void holds(const char *variable, const char *want)
{
	char text[256] = "";
	FILE *in;

	assert_non_null(*slot(variable));
	in = fopen(*slot(variable), "r");
	assert_non_null(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	assert_string_equal(text, want);
}

static void files_stand_ready_until_the_end(void **state)
{
	char *path;

	assert_int_equal(user_init(NULL, 0, NULL), 0);
	holds("COMMPLACE_HOSTFILE", "n9\nn9\nn1\nn1\n");
	holds("COMMPLACE_RANKFILE", "rank 0=n9 slot=0\nrank 1=n9 slot=1\n"
	                            "rank 2=n1 slot=0\nrank 3=n1 slot=1\n");
	holds("COMMPLACE_MACHINEFILE", "n9:2\nn1:2\n");
	holds("COMMPLACE_RANK_ORDER", "2,3\n0,1\n");
	assert_string_equal(*slot("COMMPLACE_NODES"), "n[9,1]");
	assert_string_equal(logged, "");
	/* A step inside uses those, and leaves them. */
	path = strdup(*slot("COMMPLACE_HOSTFILE"));
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	assert_string_equal(*slot("COMMPLACE_HOSTFILE"), path);
	assert_int_equal(leave(NULL, 0, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

static void elsewhere_none_are_made(void **state)
{
	node_now = 1;
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	assert_null(*slot("COMMPLACE_HOSTFILE"));
	node_now = 0;
	put("COMMPLACE_RANKS", NULL);
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	assert_null(*slot("COMMPLACE_HOSTFILE"));
	assert_string_equal(logged, "");
	assert_int_equal(leave(NULL, 0, NULL), 0);
}

/* What does not agree with the allocation is taken away. */
static void a_plan_of_other_hosts_is_none(void **state)
{
	static const struct {
		const char *ranks, *hosts, *message;
	} row[] = {
	        {"n[1,3,9] 2x2,0x2", "n[1,3]", "n9 is not in the allocation"},
	        {"n[1,3,9] 3", "n[1,3,9]", "no host of rank 0"},
	        {"n[1,3,9] 0", NULL, "SLURM_JOB_NODELIST is not set"},
	        {"n[1,3,9] 1x65536,0,1", "n[1,3,9]",
	         "more than 65535 ranks for n3"},
	        {"n[1,3,9] 0x16777216", "n[1,3,9]",
	         "hosts have at most 196605 ranks"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		put("COMMPLACE_RANKS", row[i].ranks);
		put("SLURM_JOB_NODELIST", row[i].hosts);
		put("COMMPLACE_NODES", "old");
		put("COMMPLACE_HOSTFILE", "/nowhere");
		assert_int_equal(user_init(NULL, 0, NULL), 0);
		assert_non_null(strstr(logged, row[i].message));
		assert_null(*slot("COMMPLACE_RANKS"));
		assert_null(*slot("COMMPLACE_HOSTFILE"));
		assert_null(*slot("COMMPLACE_NODES"));
	}
}

static void a_place_in_the_order_of_nodes(void **state)
{
	static const struct {
		const char *ranks, *node, *place;
	} row[] = {
	        {"n[1,3,9] 2x2,0x2", "n9", "0"},
	        {"n[1,3,9] 2x2,0x2", "n1", "1"},
	        {"n[1,3,9] 2x2,0x2", "n3", NULL},
	        {"n[1,3,9] 2x2,0x2", NULL, NULL},
	        {"n[1,3,9] 2,0,2,0", "n9", NULL},
	        {NULL, "n9", NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		put("COMMPLACE_RANKS", row[i].ranks);
		put("SLURMD_NODENAME", row[i].node);
		put("COMMPLACE_NODE_RANK", "7");
		assert_int_equal(task_init(NULL, 0, NULL), 0);
		if (row[i].place)
			assert_string_equal(*slot("COMMPLACE_NODE_RANK"),
			                    row[i].place);
		else
			assert_null(*slot("COMMPLACE_NODE_RANK"));
	}
}

static void as_many_ranks_as_a_host_may_have(void **state)
{
	put("SLURM_JOB_CPUS_PER_NODE", "65535(x3)");
	put("COMMPLACE_RANKS", "n[1,3,9] 1x65535,0x65535");
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	holds("COMMPLACE_MACHINEFILE", "n3:65535\nn1:65535\n");
	assert_string_equal(logged, "");
	assert_int_equal(leave(NULL, 0, NULL), 0);
}

/* Without a TMPDIR that can be written, /tmp. */
static void tmpdir_that_is_none(void **state)
{
	static const char *const bad[] = {"/nonexistent/x", "relative", NULL};

	for (int i = 0; i < 3; i++) {
		put("TMPDIR", bad[i]);
		put("COMMPLACE_HOSTFILE", NULL);
		assert_int_equal(user_init(NULL, 0, NULL), 0);
		assert_int_equal(strncmp(*slot("COMMPLACE_HOSTFILE"),
		                         "/tmp/commplace-17.", 18),
		                 0);
		holds("COMMPLACE_HOSTFILE", "n9\nn9\nn1\nn1\n");
		assert_int_equal(leave(NULL, 0, NULL), 0);
		assert_int_equal(access(*slot("COMMPLACE_HOSTFILE"), F_OK), -1);
	}
}

/* Nobody learns by slurmstepd's rights whether there is such a file. */
static void a_file_that_only_root_reads_is_not_there(void **state)
{
	char path[96];
	int fd;

	if (geteuid())
		skip();
	snprintf(path, sizeof(path), "%s/secret", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0 && !close(fd) && !chmod(dir, 0777));
	put("COMMPLACE_HOSTFILE", path);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	assert_int_equal(seteuid(0), 0);
	assert_string_not_equal(*slot("COMMPLACE_HOSTFILE"), path);
	assert_int_equal(leave(NULL, 0, NULL), 0);
	assert_int_equal(unlink(path), 0);
}

/* Slots are CPUs: a rankfile asks for no more of them than a host has. */
static void a_rankfile_has_cpus(void **state)
{
	static const struct {
		const char *cpus, *each, *rankfile, *message;
	} row[] = {
	        {"2(x2),4", "2", NULL, "n1 has 2 CPUs of the job for 2 ranks of 2"},
	        {"4,1,4", "2",
	         "rank 0=n9 slot=0-1\nrank 1=n9 slot=2-3\n"
	         "rank 2=n1 slot=0-1\nrank 3=n1 slot=2-3\n",
	         ""},
	        {"2(x3)", NULL,
	         "rank 0=n9 slot=0\nrank 1=n9 slot=1\n"
	         "rank 2=n1 slot=0\nrank 3=n1 slot=1\n",
	         ""},
	        {"2(x3)", "0",
	         "rank 0=n9 slot=0\nrank 1=n9 slot=1\n"
	         "rank 2=n1 slot=0\nrank 3=n1 slot=1\n",
	         ""},
	        {"2,2,1", NULL, NULL, "n9 has 1 CPUs of the job for 2 ranks of 1"},
	        {"2,2", NULL, NULL, "CPUS_PER_NODE=2,2 does not say the CPUs of 3"},
	        {"2(x4)", NULL, NULL, "does not say"},
	        {"2(x", NULL, NULL, "does not say"},
	        {"2(x2)4", NULL, NULL, "does not say"},
	        {"-2(x3)", NULL, NULL, "does not say"},
	        {"2,2,2,2", NULL, NULL, "does not say"},
	        {"all", NULL, NULL, "does not say"},
	        {NULL, NULL, NULL, "SLURM_JOB_CPUS_PER_NODE is not set"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		put("SLURM_JOB_CPUS_PER_NODE", row[i].cpus);
		put("SLURM_CPUS_PER_TASK", row[i].each);
		put("COMMPLACE_HOSTFILE", NULL);
		put("COMMPLACE_RANKFILE", "old");
		logged[0] = '\0';
		assert_int_equal(user_init(NULL, 0, NULL), 0);
		holds("COMMPLACE_HOSTFILE", "n9\nn9\nn1\nn1\n");
		if (row[i].rankfile)
			holds("COMMPLACE_RANKFILE", row[i].rankfile);
		else
			assert_null(*slot("COMMPLACE_RANKFILE"));
		assert_non_null(strstr(logged, row[i].message));
		assert_int_equal(!*logged, !*row[i].message);
		assert_int_equal(leave(NULL, 0, NULL), 0);
	}
}

/* What one variable does not hold goes on in the next; no program has them. */
static void a_long_order_is_in_parts(void **state)
{
	put("COMMPLACE_RANKS", "n[1,3,9] 2x2");
	put("COMMPLACE_RANKS_2", ",0");
	put("COMMPLACE_RANKS_3", "x2");
	put("SLURMD_NODENAME", "n1");
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	holds("COMMPLACE_HOSTFILE", "n9\nn9\nn1\nn1\n");
	assert_int_equal(task_init(NULL, 0, NULL), 0);
	assert_string_equal(*slot("COMMPLACE_NODE_RANK"), "1");
	assert_null(*slot("COMMPLACE_RANKS"));
	assert_null(*slot("COMMPLACE_RANKS_2"));
	assert_null(*slot("COMMPLACE_RANKS_3"));
	holds("COMMPLACE_MACHINEFILE", "n9:2\nn1:2\n");
	assert_int_equal(leave(NULL, 0, NULL), 0);
}

static void components_have_files_of_their_own(void **state)
{
	char *path;

	put("COMMPLACE_RANKS", NULL);
	put("SLURM_HET_SIZE", "3");
	put("COMMPLACE_RANKS_HET_GROUP_0", "n[1,3,9] 2x2,0x2");
	put("SLURM_JOB_NODELIST_HET_GROUP_0", "n[1,3,9]");
	put("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0", "2(x2),4");
	put("COMMPLACE_RANKS_HET_GROUP_2", "n[5,6] 1,0");
	put("SLURM_JOB_NODELIST_HET_GROUP_2", "n[5-6]");
	put("SLURM_JOB_CPUS_PER_NODE_HET_GROUP_2", "1,1");
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	assert_string_equal(logged, "");
	holds("COMMPLACE_HOSTFILE_HET_GROUP_0", "n9\nn9\nn1\nn1\n");
	holds("COMMPLACE_HOSTFILE_HET_GROUP_2", "n6\nn5\n");
	holds("COMMPLACE_RANKFILE_HET_GROUP_2",
	      "rank 0=n6 slot=0\nrank 1=n5 slot=0\n");
	assert_string_equal(*slot("COMMPLACE_NODES_HET_GROUP_2"), "n[6,5]");
	assert_null(*slot("COMMPLACE_HOSTFILE"));
	assert_null(*slot("COMMPLACE_HOSTFILE_HET_GROUP_1"));
	path = strdup(*slot("COMMPLACE_HOSTFILE_HET_GROUP_2"));
	assert_int_equal(leave(NULL, 0, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

/* One that is not of its hosts costs the others nothing. */
static void a_component_of_other_hosts(void **state)
{
	put("COMMPLACE_RANKS", NULL);
	put("SLURM_HET_SIZE", "2");
	put("COMMPLACE_RANKS_HET_GROUP_0", "n[1,3,9] 2x2,0x2");
	put("SLURM_JOB_NODELIST_HET_GROUP_0", "n[1,3]");
	put("COMMPLACE_RANKS_HET_GROUP_1", "n[5,6] 1,0");
	put("SLURM_JOB_NODELIST_HET_GROUP_1", "n[5-6]");
	assert_int_equal(user_init(NULL, 0, NULL), 0);
	assert_non_null(strstr(logged, "n9 is not in the allocation"));
	assert_null(*slot("COMMPLACE_RANKS_HET_GROUP_0"));
	assert_null(*slot("COMMPLACE_HOSTFILE_HET_GROUP_0"));
	holds("COMMPLACE_HOSTFILE_HET_GROUP_1", "n6\nn5\n");
	assert_int_equal(leave(NULL, 0, NULL), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, load, unload)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(files_stand_ready_until_the_end),
	        T(elsewhere_none_are_made),
	        T(a_plan_of_other_hosts_is_none),
	        T(as_many_ranks_as_a_host_may_have),
	        T(a_place_in_the_order_of_nodes),
	        T(tmpdir_that_is_none),
	        T(a_rankfile_has_cpus),
	        T(a_file_that_only_root_reads_is_not_there),
	        T(a_long_order_is_in_parts),
	        T(components_have_files_of_their_own),
	        T(a_component_of_other_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
