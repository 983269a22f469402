/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks in cpuset cgroups, on folders that stand in for the kernel's. */
#include "cgroups.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP1 "v1/slurm/uid_9/job_7/step_0"
#define STEP2 "v2/system.slice/slurmstepd.scope/job_7/step_0"
#define PROC1 "5:cpuset:/slurm/uid_9/job_7/step_0"
#define PROC2 "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_"

/* What is mounted: the types and options of the folders v1, v2 and so on. */
static void mounted(const char *what)
{
	static const struct {
		const char *name, *type, *options;
	} all[] = {
	        {"freezer", "cgroup", "rw,freezer"},
	        {"v1", "cgroup", "rw,cpuset"},
	        {"v2", "cgroup2", "rw"},
	        {"tmp", "tmpfs", "rw,cpuset"},
	};
	char text[4096] = "";

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strstr(what, all[i].name))
			snprintf(text + strlen(text),
			         sizeof(text) - strlen(text),
			         "%s %s/%s %s %s 0 0\n", all[i].type,
			         launch_dir, all[i].name, all[i].type,
			         all[i].options);
	write_file("mounts", text);
}

/* So many CPUs this machine has; 0: as it is. */
static long processors;

long sysconf(int name)
{
	static long (*real)(int);

	if (name == _SC_NPROCESSORS_CONF && processors)
		return processors;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sysconf");
	return real(name);
}

static int clean(void **state)
{
	char command[128];

	snprintf(command, sizeof(command),
	         "cd %s && rm -rf v1 v2 freezer tmp proc mounts", launch_dir);
	cgroups_fail = "";
	cgroups_busy = 0;
	cgroups_log();
	return system(command);
}

/* A step's folders, and one of its tasks as Slurm makes it. */
static void make_step(void)
{
	cgroups_put(STEP1 "/cpuset.mems", "0-1,3\n");
	cgroups_put(STEP1 "/cgroup.procs", "");
	cgroups_put(STEP2 "/user/task_3/cpuset.mems.effective", "0-1,3\n");
	cgroups_put(STEP2 "/user/task_3/cpuset.cpus", "");
	cgroups_put(STEP2 "/user/task_3/cpuset.mems", "");
	cgroups_put(STEP2 "/user/task_13/cpuset.cpus", "");
	cgroups_put(STEP2 "/user/task_special/cpuset.cpus", "");
	mounted("freezer v1 v2 tmp");
}

/* What Slurm's move of a task leaves in /proc; NULL: it fails. */
static int move(void *arg)
{
	if (!arg)
		return -1;
	write_file("proc", arg);
	return 0;
}

static hwloc_bitmap_t nodes(const char *list)
{
	hwloc_bitmap_t set = list ? hwloc_bitmap_alloc() : NULL;

	if (set)
		hwloc_bitmap_list_sscanf(set, list);
	return set;
}

struct confined {
	const char *proc, *moved; /* before, behind Slurm's move */
	const char *mems, *mounted, *fail;
	int rc;
	const char *log, *text; /* of err; NULL: none */
};

static void confine(const struct confined *row,
                    int (*by)(const struct cpltask_confine *, char **,
                              struct cpl_error *))
{
	hwloc_bitmap_t mems = nodes(row->mems);
	struct cpltask_confine want = {.pid = 17,
	                               .job = 7,
	                               .task = 3,
	                               .cpus = "2,5",
	                               .mems = mems,
	                               .move = move,
	                               .arg = (void *)row->moved};
	struct cpl_error err = {""};
	char *made = NULL;

	clean(NULL);
	make_step();
	if (row->mounted)
		mounted(row->mounted);
	if (row->proc)
		cgroups_put("proc", row->proc);
	cgroups_fail = row->fail ? row->fail : "";
	cgroups_errno = EINVAL;
	assert_int_equal(by(&want, &made, &err), row->rc);
	assert_string_equal(cgroups_log(), row->log);
	if (row->text)
		assert_non_null(strstr(err.text, row->text));
	else
		assert_string_equal(err.text, "");
	/* What is told was made, and nothing else. */
	assert_int_equal(cgroups_has(STEP1 "/task_3"),
	                 made != NULL ||
	                         (row->fail && !strcmp(row->fail, "exists")));
	assert_int_equal(made != NULL, !row->rc && row->proc &&
	                                       *row->proc == '5' &&
	                                       strstr(row->proc, "step"));
	if (!row->rc)
		assert_int_equal(cgroups_has(STEP2 "/mark"),
		                 row->moved != NULL);
	free(made);
	hwloc_bitmap_free(mems);
}

#define CPUS "task_3/cpuset.cpus=2,5 "
#define V1_BOTH "task_3/cpuset.mems=0-1,3 " CPUS
#define V1_ALL V1_BOTH "task_3/cgroup.procs=17 "
#define LAST PROC2 "3\n"
#define FIRST PROC2 "special\n"

static void test_confine(void **state)
{
	static const struct confined row[] = {
	        {PROC1 "\n", .log = V1_ALL},
	        {PROC1 "\n", .mems = "3-4",
	         .log = V1_BOTH "task_3/cpuset.mems=3 task_3/cgroup.procs=17 "},
	        {PROC1 "\n", .mems = "2", .log = V1_ALL,
	         .text = "step_0/cpuset.mems has none of the task's NUMA"},
	        {PROC1 "\n", .mounted = "freezer v2 tmp", .rc = -1, .log = "",
	         .text = "no cpuset hierarchy is mounted"},
	        {PROC1 "\n", .fail = "cpuset.mems", .rc = -1, .log = "",
	         .text = "task_3/cpuset.mems: cannot write \"0-1,3\": "
	                 "Invalid"},
	        {PROC1 "\n", .fail = "cpuset.cpus", .rc = -1,
	         .log = "task_3/cpuset.mems=0-1,3 ", .text = "cpuset.cpus"},
	        {PROC1 "\n", .fail = "cgroup.procs", .rc = -1, .log = V1_BOTH,
	         .text = "cgroup.procs"},
	        {PROC1 "\n", .fail = "mkdir", .rc = -1, .log = "",
	         .text = "step_0/task_3: Invalid"},
	        {"5:cpuset:/slurm/step_none\n", .rc = -1, .log = "",
	         .text = "step_none/cpuset.mems: No such file"},
	        {"5:cpuset:/slurm\n", .log = ""},
	        {NULL, .rc = -1, .log = "", .text = "/proc/17/cgroup: No"},
	        {FIRST, LAST, .log = "chown task_3 " CPUS},
	        {FIRST, LAST, .mems = "1-2",
	         .log = "chown task_3 " CPUS "task_3/cpuset.mems=1 "},
	        {FIRST, LAST, .mems = "2", .log = "chown task_3 " CPUS,
	         .text = "task_3/cpuset.mems.effective has none"},
	        {FIRST, LAST, .mounted = "freezer v1 tmp", .rc = -1, .log = "",
	         .text = "no cpuset hierarchy"},
	        {FIRST, LAST, .fail = "chown", .rc = -1, .log = "",
	         .text = "task_3: Invalid"},
	        {FIRST, LAST, .fail = "cpuset.cpus", .rc = -1,
	         .log = "chown task_3 ", .text = "cannot write"},
	        {PROC2 "none\n", .moved = PROC2 "13\n", .rc = -1, .log = "",
	         .text = "Slurm cannot move"},
	        {FIRST, NULL, .rc = -1, .log = "", .text = "Slurm cannot move"},
	        {FIRST, PROC2 "13\n", .rc = -1, .log = "",
	         .text = "task_13 is not the task's own"},
	        {FIRST, "0::/\n", .rc = -1, .log = "",
	         .text = " is not the task's own"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		confine(&row[i], cpltask_cgroup_confine);
}

/* Slurm may have been there first. */
static void test_confine_where_slurm_was(void **state)
{
	struct cpltask_confine want = {.pid = 17, .task = 3, .cpus = "2,5"};
	struct cpl_error err = {""};
	char *made;

	make_step();
	cgroups_put(STEP1 "/task_3/cpuset.cpus", "");
	cgroups_put(STEP1 "/task_3/cpuset.mems", "");
	cgroups_put(STEP1 "/task_3/cgroup.procs", "");
	cgroups_put("proc", PROC1 "\n");
	cgroups_fail = "mkdir";
	cgroups_errno = EEXIST;
	assert_int_equal(cpltask_cgroup_confine(&want, &made, &err), 0);
	assert_string_equal(cgroups_log(), V1_ALL);
	assert_non_null(strstr(made, STEP1 "/task_3"));
	free(made);
}

/* A path of a step of just so many characters. */
static const char *confine_at(size_t length, struct cpl_error *err)
{
	struct cpltask_confine want = {.pid = 17, .task = 3, .cpus = "2"};
	char text[2 * PATH_MAX] = "5:cpuset:/";
	size_t at = strlen(text), n;
	char *made;

	n = length - strlen(launch_dir) - strlen("/v1/") - strlen("/step_0");
	memset(text + at, 'a', n);
	strcpy(text + at + n, "/step_0\n");
	mounted("v1");
	write_file("proc", text);
	assert_int_equal(cpltask_cgroup_confine(&want, &made, err), -1);
	return err->text;
}

static void test_long_paths(void **state)
{
	const size_t room = PATH_MAX - sizeof("/task_3");
	struct cpl_error err = {""};

	assert_null(strstr(confine_at(room, &err), "is too long"));
	assert_non_null(strstr(confine_at(room + 1, &err), "is too long"));
}

static int again(const struct cpltask_confine *want, char **made,
                 struct cpl_error *err)
{
	cgroups_put(STEP1 "/task_3/cpuset.cpus", "");
	cgroups_put(STEP1 "/task_3/cpuset.mems", "");
	return cpltask_cgroup_again(want, err);
}

/* Once Slurm has moved the task: in v1 only. */
static void test_confine_again(void **state)
{
	static const struct confined row[] = {
	        {PROC1 "/task_3\n", .rc = 1, .log = "chown task_3 " CPUS,
	         .fail = "exists"},
	        {PROC1 "/task_3\n", .mems = "1", .rc = 1, .fail = "exists",
	         .log = "chown task_3 " CPUS "task_3/cpuset.mems=1 "},
	};
	static const struct {
		const char *proc, *fail;
		int rc;
	} other[] = {
	        {PROC1 "\n", "", 0},
	        {LAST, "", 0},
	        {"5:cpuset:/\n", "", 0},
	        {PROC1 "/task_3\n", "chown", -1},
	        {PROC1 "/task_3\n", "cpuset.cpus", -1},
	};
	struct cpltask_confine want = {.pid = 17, .task = 3, .cpus = "2,5"};
	struct cpl_error err = {""};
	char *made;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		confine(&row[i], again);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		cgroups_put("proc", other[i].proc);
		cgroups_fail = other[i].fail;
		assert_int_equal(again(&want, &made, &err), other[i].rc);
	}
	clean(NULL);
	assert_int_equal(cpltask_cgroup_again(&want, &err), -1);
}

/* Where Slurm puts tasks back among all of their step's. */
static void test_left(void **state)
{
	static const struct {
		const char *proc;
		bool left;
	} row[] = {
	        {PROC1 "/task_3\n", false}, {PROC1 "\n", true},
	        /* By its number in the step, of a heterogeneous job. */
	        {PROC1 "/task_13\n", false}, {LAST, false},
	        {FIRST, true},              {"5:cpuset:/\n", false},
	        {"5:cpuset:/task_4\n", false},
	};
	const struct cpltask_confine want = {.pid = 17, .task = 3};

	make_step();
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		cgroups_put("proc", row[i].proc);
		assert_int_equal(cpltask_cgroup_left(&want), row[i].left);
	}
	clean(NULL);
	assert_false(cpltask_cgroup_left(&want));
}

/* What runs in a task's folder goes to its step's. */
static void test_release(void **state)
{
#define ROUND "step_0/cgroup.procs=11 step_0/cgroup.procs=12 "
	static const struct {
		const char *procs;
		int busy;
		const char *log;
		bool stays;
	} row[] = {
	        {"", 0, "", false},
	        {"11\n12\n", 0, "", false},
	        {"11\n12\n", 1, ROUND, false},
	        {"11\n12\n", 4, ROUND ROUND ROUND ROUND, false},
	        {"11\n12\n", 9, ROUND ROUND ROUND ROUND ROUND, true},
	};
	char made[256];

	snprintf(made, sizeof(made), "%s/" STEP1 "/task_3", launch_dir);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		clean(NULL);
		make_step();
		cgroups_put(STEP1 "/task_3/cgroup.procs", row[i].procs);
		cgroups_busy = row[i].busy;
		cpltask_cgroup_release(made);
		assert_string_equal(cgroups_log(), row[i].log);
		assert_int_equal(cgroups_has(STEP1 "/task_3"), row[i].stays);
	}
	/* Busy by what is no process's doing. */
	cgroups_put(STEP1 "/task_3/below/", "");
	cgroups_busy = 0;
	cpltask_cgroup_release(made);
	assert_string_equal(cgroups_log(), "");
}

static char found[4096];

static void found_dir(char *dir, int above, void *arg)
{
	assert_ptr_equal(arg, found);
	snprintf(found + strlen(found), sizeof(found) - strlen(found),
	         "%s %d\n", dir + strlen(launch_dir) + 1, above);
}

static void found_step(uint32_t job, const char *step, uint32_t uid)
{
	snprintf(found + strlen(found), sizeof(found) - strlen(found),
	         "%u.%s of %u\n", job, step, uid);
}

static void test_folders_of_a_step(void **state)
{
#define SCOPE "v2/system.slice/slurmstepd.scope"
	static const struct {
		const char *mounted, *node, *step, *found;
	} row[] = {
	        {"freezer v1 v2 tmp", "n9", "0",
	         "freezer/slurm/uid_9/job_7/step_0 2\n"
	         "v1/slurm/uid_9/job_7/step_0 2\n" SCOPE
	         "/job_7/step_0 1\n" SCOPE "/sA1/step_0 1\n"},
	        {"v1", "n9", "0", "v1/slurm/uid_9/job_7/step_0 2\n"},
	        {"v2", "n9", "1+2", SCOPE "/job_7/step_1+2 1\n"},
	        {"v2", "n9", "5", ""},
	        {"tmp", "n9", "0", ""},
	        /* Where each slurmd of a host has its own. */
	        {"v1 v2", "n0", "0",
	         "v1/slurm_n0/uid_9/job_7/step_0 2\n"
	         "v2/system.slice/n0_slurmstepd.scope/job_7/step_0 1\n"},
	        /* CgroupSlice. */
	        {"v2", "n1", "0",
	         "v2/jobs.slice/n1_slurmstepd.scope/job_7/step_0 1\n"},
	        {"freezer", "n0", "0", "freezer/slurm/uid_9/job_7/step_0 2\n"},
	        {"", "n0", "0", ""},
	};

	make_step();
	cgroups_put("freezer/slurm/uid_9/job_7/step_0/", "");
	cgroups_put("tmp/slurm/uid_9/job_7/step_0/", "");
	cgroups_put("v1/slurm_n0/uid_9/job_7/step_0/", "");
	cgroups_put("v2/system.slice/n0_slurmstepd.scope/job_7/step_0/", "");
	cgroups_put("v2/jobs.slice/n1_slurmstepd.scope/job_7/step_0/", "");
	cgroups_put(SCOPE "/job_7/step_1+2/", "");
	/* By their marks, where paths have no number of the job. */
	cgroups_put(SCOPE "/sA1/step_0/mark", "7");
	cgroups_put(SCOPE "/sA2/step_0/mark", "8");
	cgroups_put(SCOPE "/sA3/step_0/mark", "");
	cgroups_put(SCOPE "/sA4/step_0/mark", "seven");
	cgroups_put(SCOPE "/sA5/step_0/", "");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		mounted(row[i].mounted);
		*found = '\0';
		cpltask_cgroup_of_step(row[i].node, 9, 7, row[i].step,
		                       found_dir, found);
		assert_string_equal(found, row[i].found);
	}
	clean(NULL);
	cpltask_cgroup_of_step("n0", 9, 7, "0", found_dir, found);
	assert_string_equal(found, "");
}

static void test_steps_of_a_node(void **state)
{
	static const struct {
		const char *mounted, *node, *found;
	} row[] = {
	        {"v1", "n9", "7.0 of 9\n"},
	        {"v1", "n0", "4.1+1 of 0\n"},
	        {"v2", "n9", "8.0 of 0\n7.4 of 0\n"},
	        {"v2", "n0", "6.0 of 0\n"},
	        {"v1 v2", "n9", "7.0 of 9\n8.0 of 0\n7.4 of 0\n"},
	        {"tmp freezer", "n9", ""},
	};

	make_step();
	cgroups_put(STEP1 "/task_1/cpuset.cpus", "0\n");
	cgroups_put(STEP1 "/task_2/cpuset.cpus", "\n");
	cgroups_put("v1/slurm/uid_9/job_8/step_0/task_1/cpuset.cpus", "");
	cgroups_put("v1/slurm/uid_9/job_9/step_0/task_1/", "");
	cgroups_put("v1/slurm_n0/uid_0/job_4/step_1+1/task_0/cpuset.cpus", "1");
	cgroups_put("freezer/slurm/uid_9/job_7/step_0/task_1/cpuset.cpus", "1");
	cgroups_put(SCOPE "/sA2/step_0/mark", "8");
	cgroups_put(SCOPE "/job_7/step_1/user/task_0/cpuset.cpus", "\n");
	/* Only those with a number are confined, which is not for here. */
	cgroups_put(SCOPE "/job_7/step_5batch/user/task_0/cpuset.cpus", "");
	cgroups_put(SCOPE "/job_7/step_3batch/user/task_0/", "");
	cgroups_put("v2/system.slice/n0_slurmstepd.scope/job_6/step_0/user/"
	            "task_0/cpuset.cpus",
	            "3\n");
	cgroups_put(SCOPE "/job_7/step_4/user/task_0/cpuset.cpus", "0-3");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		mounted(row[i].mounted);
		*found = '\0';
		cpltask_cgroup_steps(row[i].node, found_step);
		assert_string_equal(found, row[i].found);
	}
}

/* On CPUs that are there tasks are bound, with their memory where the site says
 * so and their user does not. */
static void test_binds(void **state)
{
	static const struct machine two_by_two = {2, 2, 1, 4, 4};
	static const struct {
		const char *config;
		long processors;
		uint16_t memory;
		bool bound, mems;
	} row[] = {
	        {"", 4, 0, true, false},
	        {"", 3, 0, false, false},
	        {"BindMemory=yes", 4, 0, true, true},
	        {"BindMemory=yes", 4, MEM_BIND_VERBOSE, true, true},
	        {"BindMemory=yes", 4, MEM_BIND_LOCAL, true, false},
	        {"BindMemory=yes", 3, 0, false, false},
	};

	setenv("HWLOC_THISSYSTEM", "1", 1);
	set_machine(&two_by_two);
	credential = "0-3";
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		const char *masks;

		write_config(row[i].config);
		processors = row[i].processors;
		req->cpu_bind_type = CPU_BIND_VERBOSE;
		req->mem_bind_type = row[i].memory;
		req->cpu_bind = xstrdup("0xf");
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		masks = row[i].bound ? req->cpu_bind
		                     : getenvp(req->env, CPLTASK_PLAN);
		assert_non_null(masks);
		assert_string_equal(masks, "0x1,0x4,0x2,0x8");
		assert_int_equal(
		        req->cpu_bind_type,
		        CPU_BIND_VERBOSE |
		                (row[i].bound ? CPU_BIND_MASK : CPU_BIND_NONE));
		assert_int_equal(getenvp(req->env, CPLTASK_BOUND) != NULL,
		                 row[i].bound);
		assert_int_equal(getenvp(req->env, CPLTASK_PLAN) != NULL,
		                 !row[i].bound);
		assert_int_equal(getenvp(req->env, CPLTASK_MEMS) != NULL,
		                 row[i].mems);
		assert_int_equal(req->envc, envcount(req->env));
		free_request(req);
	}
	processors = 0;
	unsetenv("HWLOC_THISSYSTEM");
	write_config("");
	cpltask_sweep_fini();
}

#if CPLSLURM_SERIES < 2302

int task_p_post_term(stepd_step_rec_t *job, stepd_step_task_info_t *task);
int task_p_post_step(stepd_step_rec_t *job);

static cpu_set_t affinity;
static int affinities;

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	memset(&affinity, 0, sizeof(affinity));
	memcpy(&affinity, set, size);
	affinities++;
	errno = EINVAL;
	return pid == 17 ? 0 : -1;
}

/* The hooks in slurmstepd: what they make goes with its task, or the step. */
static void test_hooks(void **state)
{
	static const struct {
		const char *proc;
		bool made;
	} row[] = {{PROC1 "\n", true}, {"5:cpuset:/slurm\n", false}};
	static char masks[] = "0x1,0x30,0x2";
	stepd_step_task_info_t *task[3];
	stepd_step_rec_t *step = xmalloc(sizeof(*step));

	step->task = task;
	step->node_tasks = 3;
	step->step_id.job_id = 7;
	step->cpu_bind = masks;
	step->cpu_bind_type = CPU_BIND_MASK;
	step->env = env_array_create();
	env_array_append(&step->env, CPLTASK_BOUND, "1");
	env_array_append(&step->env, CPLTASK_MEMS, "0x1,0x2,0x4");
	for (int i = 0; i < 3; i++) {
		task[i] = xmalloc(sizeof(*task[i]));
		task[i]->id = i;
		task[i]->pid = 17;
	}
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		clean(NULL);
		make_step();
		cgroups_put("proc", row[i].proc);
		affinities = 0;
		launch_confine(step, 1);
		assert_string_equal(
		        cgroups_log(),
		        row[i].made
		                ? "task_1/cpuset.mems=0-1,3 "
		                  "task_1/cpuset.cpus=4-5 "
		                  "task_1/cpuset.mems=1 task_1/cgroup.procs=17 "
		                : "");
		assert_int_equal(affinities, 1);
		assert_int_equal(CPU_COUNT(&affinity), 2);
		assert_true(CPU_ISSET(4, &affinity) && CPU_ISSET(5, &affinity));
		launch_confine(step, 0);
		launch_confine(step, 2);
		/* Once more is as before. */
		launch_confine(step, 0);
		assert_int_equal(affinities, 4);
		for (int k = 0; k < 3; k++) {
			char name[64];

			snprintf(name, sizeof(name), STEP1 "/task_%d", k);
			assert_int_equal(cgroups_has(name), row[i].made);
		}
		task_p_post_term(step, task[1]);
		assert_false(cgroups_has(STEP1 "/task_1"));
		assert_int_equal(cgroups_has(STEP1 "/task_0"), row[i].made);
		task_p_post_term(step, task[1]);
		task_p_post_step(step);
		assert_false(cgroups_has(STEP1 "/task_0"));
		assert_false(cgroups_has(STEP1 "/task_2"));
	}
	/* Where the cpuset fails the affinity is what binds. */
	clean(NULL);
	affinities = 0;
	launch_confine(step, 1);
	assert_int_equal(affinities, 1);
	for (int i = 0; i < 3; i++)
		xfree(task[i]);
	env_array_free(step->env);
	xfree(step);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_confine, clean),
		cmocka_unit_test_setup(test_confine_where_slurm_was, clean),
		cmocka_unit_test_setup(test_long_paths, clean),
		cmocka_unit_test_setup(test_confine_again, clean),
		cmocka_unit_test_setup(test_left, clean),
		cmocka_unit_test_setup(test_release, clean),
		cmocka_unit_test_setup(test_folders_of_a_step, clean),
		cmocka_unit_test_setup(test_steps_of_a_node, clean),
		cmocka_unit_test_setup(test_binds, clean),
#if CPLSLURM_SERIES < 2302
		cmocka_unit_test_setup(test_hooks, clean),
#endif
	};

	return cmocka_run_group_tests(tests, launch_set_up, launch_tear_down);
}
