/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The task plugin's hooks in slurmd and slurmstepd, without daemons. */
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/common/job_options.h"
#include "src/common/list.h"

int task_p_slurmd_batch_request(batch_job_launch_msg_t *req);
int task_p_pre_launch(stepd_step_rec_t *job);

static const struct machine two_by_two = {2, 2, 1, 4, 2};

static void test_launch_hook(void **state)
{
	static const uint16_t users[] = {
	        CPU_BIND_TO_THREADS, CPU_BIND_TO_CORES, CPU_BIND_TO_SOCKETS,
	        CPU_BIND_TO_LDOMS,   CPU_BIND_NONE,     CPU_BIND_RANK,
	        CPU_BIND_MAP,        CPU_BIND_MASK,     CPU_BIND_LDRANK,
	        CPU_BIND_LDMAP,      CPU_BIND_LDMASK};
	launch_tasks_request_msg_t *req = new_request(4, NULL);

	set_machine(&two_by_two);
	credential = "0-3";
	env_array_append(&req->env, CPLTASK_BOUND, "1");
	env_array_append(&req->env, CPLTASK_PLAN, "0xff");
	req->envc = envcount(req->env);
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
		/* Later series have fewer. */
		if (!users[i])
			continue;
		req->cpu_bind_type = users[i];
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		assert_int_equal(req->cpu_bind_type, users[i]);
		assert_null(req->cpu_bind);
		assert_null(getenvp(req->env, CPLTASK_BOUND));
		assert_null(getenvp(req->env, CPLTASK_PLAN));
		assert_int_equal(req->envc, envcount(req->env));
	}
	req->cpu_bind_type = CPU_BIND_VERBOSE;
	assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
	assert_int_equal(req->cpu_bind_type, CPU_BIND_VERBOSE | CPU_BIND_NONE);
	assert_string_equal(getenvp(req->env, CPLTASK_PLAN), "0x1,0x4,0x2,0x8");
	assert_null(getenvp(req->env, CPLTASK_BOUND));
	assert_int_equal(req->envc, envcount(req->env));
	/* --hint=nomultithread is no binding, --cpu-bind=threads is. */
	req->cpu_bind_type = CPU_BIND_TO_THREADS | CPU_BIND_ONE_THREAD_PER_CORE;
	launch_bind(req, 0);
	assert_int_equal(req->cpu_bind_type,
	                 CPU_BIND_NONE | CPU_BIND_ONE_THREAD_PER_CORE);
	assert_non_null(getenvp(req->env, CPLTASK_PLAN));
	free_request(req);
}

/* Fault 23: what a job's environment claims of ours reaches no batch step. */
static void test_batch_environment(void **state)
{
	/* A user may say it as often as they like. */
	static const char *const claimed[] = {
	        CPLTASK_BOUND "=1",  CPLTASK_BOUND "=0x3", CPLTASK_BOUND "=",
	        "PATH=/bin",         CPLTASK_MEMS "=0x1",  CPLTASK_PLAN "=0x1",
	        CPLTASK_PLAN "=0x1", CPLTASK_CPUS "=7",    CPLTASK_CPUS "=7",
	        CPLTASK_FREE "=1",   CPLTASK_FREE "=1",
	};
	const size_t n = sizeof(claimed) / sizeof(*claimed);
	batch_job_launch_msg_t *req = xmalloc(sizeof(*req));

	req->environment = xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		req->environment[i] = xstrdup(claimed[i]);
	req->envc = envcount(req->environment);
	assert_int_equal(task_p_slurmd_batch_request(req), SLURM_SUCCESS);
	assert_int_equal(req->envc, 1);
	assert_string_equal(req->environment[0], "PATH=/bin");
	assert_null(req->environment[1]);
	env_array_free(req->environment);
	req->environment = NULL;
	assert_int_equal(task_p_slurmd_batch_request(req), SLURM_SUCCESS);
	xfree(req);
}

/* One that was not opened, or that is not there: as Slurm alone. */
static void test_credentials(void **state)
{
	for (int i = 0; i < 3; i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);

		set_machine(&two_by_two);
		credential = "0-3";
		no_arguments = i == 1;
		if (i == 2)
			req->cred = NULL;
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		assert_int_equal(credential_locks, 0);
		if (i == 2)
			assert_null(getenvp(req->env, CPLTASK_PLAN));
		no_arguments = false;
		free_request(req);
	}
}

static void read_plan(const char *masks)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&two_by_two);
	credential = "0-3";
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "again");
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, masks);
	cpltask_plan_free(&plan);
	free_request(req);
}

static void test_profiles_are_read_again_when_changed(void **state)
{
#define BEGIN                                                                  \
	"{\"format\": \"commplace-signature\", \"version\": 1,"                \
	"\"name\": \"again\", \"ranks\": 4, \"phases\": [{\"name\":"           \
	"\"all\", \"weight\": 1, \"traffic\": "
	write_file("again.json", BEGIN "[[0,2,100,1],[3,1,100,1]]}]}");
	read_plan("0x1,0x4,0x2,0x8");
	write_file("again.json", BEGIN "[[0,3,5,1]]}]}");
	read_plan("0x1,0x4,0x8,0x2");
}

static void test_task_environment(void **state)
{
	static char mask[] = "0x1,0x30";
	env_t env = {.localid = 1};
	stepd_step_rec_t *job = xmalloc(sizeof(*job));

	job->envtp = &env;
	job->cpu_bind = mask;
	job->env = env_array_create();
	assert_int_equal(task_p_pre_launch(job), SLURM_SUCCESS);
	assert_null(getenvp(job->env, CPLTASK_CPUS));
	env_array_append(&job->env, CPLTASK_BOUND, "1");
	assert_int_equal(task_p_pre_launch(job), SLURM_SUCCESS);
	assert_string_equal(getenvp(job->env, CPLTASK_CPUS), "4-5");
	assert_null(getenvp(job->env, CPLTASK_BOUND));
	env_array_append(&job->env, CPLTASK_PLAN, "0x1,0x2");
	assert_int_equal(task_p_pre_launch(job), SLURM_SUCCESS);
	assert_string_equal(getenvp(job->env, CPLTASK_CPUS), "1");
	assert_non_null(getenvp(job->env, CPLTASK_PLAN));
	env_array_free(job->env);
	job->env = NULL;
	assert_int_equal(task_p_pre_launch(job), SLURM_SUCCESS);
	xfree(job);
}

static void test_nics_of_a_task(void **state)
{
	static const struct {
		const char *told, *users; /* the user's UCX_NET_DEVICES */
		int task;
		const char *nic, *ucx, *other; /* NULL: not set */
	} row[] = {
	        {NULL, NULL, 0, NULL, NULL, NULL},
	        {"verbs;yes;mlx5_0;mlx5_1", NULL, 1, "mlx5_1", NULL, NULL},
	        {"verbs;UCX_NET_DEVICES;mlx5_0;mlx5_1", NULL, 0, "mlx5_0",
	         "mlx5_0:1", NULL},
	        {"verbs;OTHER,UCX_NET_DEVICES;;mlx5_1,mlx5_2", NULL, 1,
	         "mlx5_1,mlx5_2", "mlx5_1:1,mlx5_2:1", "mlx5_1,mlx5_2"},
	        /* One without, the user's own, one that is not there. */
	        {"verbs;UCX_NET_DEVICES;;mlx5_1", NULL, 0, NULL, NULL, NULL},
	        {"verbs;UCX_NET_DEVICES,OTHER;mlx5_1", "all", 0, "mlx5_1",
	         "all", "mlx5_1"},
	        {"net;UCX_NET_DEVICES;hsn0", NULL, 0, "hsn0", "hsn0", NULL},
	        {"net;UCX_NET_DEVICES;hsn0", NULL, 1, NULL, NULL, NULL},
	        {"net;UCX_NET_DEVICES;hsn0", NULL, -1, NULL, NULL, NULL},
	        /* Nonsense. */
	        {"", NULL, 0, NULL, NULL, NULL},
	        {";;", NULL, 0, NULL, NULL, NULL},
	        {"verbs;A=B,,OTHER;mlx5_0", NULL, 0, "mlx5_0", NULL, "mlx5_0"},
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		env_t env = {.localid = row[k].task};
		stepd_step_rec_t *job = xmalloc(sizeof(*job));
		const char *got[3], *want[3] = {row[k].nic, row[k].ucx,
		                                row[k].other};

		job->envtp = &env;
		job->env = env_array_create();
		if (row[k].told)
			env_array_append(&job->env, CPLTASK_NICS, row[k].told);
		if (row[k].users)
			env_array_append(&job->env, "UCX_NET_DEVICES",
			                 row[k].users);
		assert_int_equal(task_p_pre_launch(job), SLURM_SUCCESS);
		got[0] = getenvp(job->env, CPLTASK_NIC);
		got[1] = getenvp(job->env, "UCX_NET_DEVICES");
		got[2] = getenvp(job->env, "OTHER");
		for (int i = 0; i < 3; i++)
			if (!got[i] != !want[i] ||
			    (got[i] && strcmp(got[i], want[i])))
				fail_msg("row %d: %d: %s", (int)k, i,
				         got[i] ? got[i] : "not set");
		assert_null(getenvp(job->env, CPLTASK_NICS));
		env_array_free(job->env);
		xfree(job);
	}
}

static void test_masks(void **state)
{
	static const struct {
		const char *masks;
		int which;
		const char *list; /* NULL: none */
	} row[] = {
	        {"0x1,0x2", 0, "0"},
	        {"0x1,0x2", 1, "1"},
	        {"0x1,0x2", 2, NULL},
	        {"0xf0000000000000000000,0x3", 0, "76-79"},
	        {"0x0", 0, NULL},
	        {"", 0, NULL},
	        {",0x1", 0, NULL},
	        {"0x1,", 1, NULL},
	        {"zebra", 0, NULL},
	        {NULL, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		hwloc_bitmap_t set = cpltask_mask(row[i].masks, row[i].which);
		char *list = NULL;

		if (!row[i].list) {
			assert_null(set);
			continue;
		}
		assert_non_null(set);
		hwloc_bitmap_list_asprintf(&list, set);
		assert_string_equal(list, row[i].list);
		free(list);
		hwloc_bitmap_free(set);
	}
}

static void test_cgroup_paths(void **state)
{
	static const struct {
		const char *text;
		enum cpltask_cgroup version;
		const char *path;
	} row[] = {
	        {"5:cpuset:/slurm_h0/uid_9/job_1/step_0\n0::/\n", CPLTASK_V1,
	         "/slurm_h0/uid_9/job_1/step_0"},
	        {"0::/init.scope\n3:cpu,cpuset:/s/job_1/step_batch", CPLTASK_V1,
	         "/s/job_1/step_batch"},
	        {"0::/a/job_1/step_0/user/task_special\n", CPLTASK_V2,
	         "/a/job_1/step_0/user/task_special"},
	        /* Not constrained by Slurm: hands off. */
	        {"5:cpuset:/\n0::/a/job_1/step_0/user/task_0\n",
	         CPLTASK_NO_CGROUP, NULL},
	        /* Slurm's own of a task. */
	        {"5:cpuset:/s/uid_9/job_1/step_0/task_1\n", CPLTASK_V1,
	         "/s/uid_9/job_1/step_0/task_1"},
	        {"5:cpuset:/slurm/uid_9/job_1/step_0/task_1/task_1\n",
	         CPLTASK_NO_CGROUP, NULL},
	        {"5:cpuset:/task_1\n", CPLTASK_NO_CGROUP, NULL},
	        {"5:cpuset2:/job_1/step_0\n", CPLTASK_NO_CGROUP, NULL},
	        {"0::/system.slice/slurmd.service\n", CPLTASK_NO_CGROUP, NULL},
	        {"1:name=systemd:/step_0\n", CPLTASK_NO_CGROUP, NULL},
	        {"0::/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	         "/step_0/user/task_0\n",
	         CPLTASK_NO_CGROUP, NULL}, /* longer than the room */
	        {"garbage\n::\n:\n\n", CPLTASK_NO_CGROUP, NULL},
	        {"", CPLTASK_NO_CGROUP, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char path[64];

		assert_int_equal(
		        cpltask_cgroup_find(row[i].text, path, sizeof(path)),
		        row[i].version);
		if (row[i].path)
			assert_string_equal(path, row[i].path);
	}
}

static void test_nothing_to_enforce(void **state)
{
	stepd_step_task_info_t *info = xmalloc(sizeof(*info));
	stepd_step_rec_t *job = xmalloc(sizeof(*job));

	info->pid = getpid();
	job->task = &info;
	job->node_tasks = 1;
	assert_int_equal(launch_confine(job, 0), SLURM_SUCCESS);
	job->env = env_array_create();
	job->cpu_bind_type = CPU_BIND_MASK;
	assert_int_equal(launch_confine(job, 0), SLURM_SUCCESS);
	/* A mask that is missing is logged, and the task starts. */
	env_array_append(&job->env, CPLTASK_BOUND, "1");
	assert_int_equal(launch_confine(job, 0), SLURM_SUCCESS);
	env_array_free(job->env);
	xfree(job);
	xfree(info);
}

static int told[2];

static void tell(void)
{
	pid_t pid = getpid();

	assert_int_equal(write(told[1], &pid, sizeof(pid)), sizeof(pid));
}

/* Threads of slurmd start in the process that stays: this one, or its child's
 * child, as xdaemon() forks, but not in what that forks for its work. From
 * 24.11 on slurmd has forked when it loads us, and where it begins anew. */
static void test_start_of_threads(void **state)
{
	pid_t pid, stays;
	int status;

	assert_int_equal(pipe(told), 0);
	slurmd.spooldir = launch_dir;
	slurmd.daemonize = 0;
	cplslurm_when_daemon(tell);
	assert_int_equal(read(told[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(pid, getpid());

	slurmd.daemonize = 1;
	assert_int_equal(setenv("SLURMD_RECONF", "1", 1), 0);
	cplslurm_when_daemon(tell);
	assert_int_equal(read(told[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(pid, getpid());
	assert_int_equal(unsetenv("SLURMD_RECONF"), 0);

	cplslurm_when_daemon(tell);
	if (CPLSLURM_SERIES >= 2411) {
		assert_int_equal(read(told[0], &pid, sizeof(pid)), sizeof(pid));
		assert_int_equal(pid, getpid());
		slurmd.spooldir = NULL;
		return;
	}
	pid = fork();
	if (!pid) {
		stays = fork();
		if (!stays) {
			stays = fork();
			if (stays > 0)
				waitpid(stays, &status, 0);
			_exit(0);
		}
		waitpid(stays, &status, 0);
		status = write(told[1], &stays, sizeof(stays));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	close(told[1]);
	assert_int_equal(read(told[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(read(told[0], &stays, sizeof(stays)), sizeof(stays));
	assert_int_equal(pid, stays);
	assert_int_equal(read(told[0], &pid, sizeof(pid)), 0);
	close(told[0]);
	slurmd.spooldir = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_launch_hook),
	        cmocka_unit_test(test_batch_environment),
	        cmocka_unit_test(test_credentials),
	        cmocka_unit_test(test_profiles_are_read_again_when_changed),
	        cmocka_unit_test(test_task_environment),
	        cmocka_unit_test(test_nics_of_a_task),
	        cmocka_unit_test(test_masks),
	        cmocka_unit_test(test_cgroup_paths),
	        cmocka_unit_test(test_nothing_to_enforce),
	        cmocka_unit_test(test_start_of_threads),
	};

	return cmocka_run_group_tests(tests, launch_set_up, launch_tear_down);
}
