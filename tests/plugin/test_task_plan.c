/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The task plugin's plans for hand-made launch requests, without daemons. */
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/common/job_options.h"
#include "src/common/list.h"

#include "binding/launch.h"

#define OWN_OPEN true
#define COUNTED !strncmp(path, launch_dir, strlen(launch_dir))
#include "../tools/own_files.h"

/* hwloc's, until memory is out. */
static bool no_memory;

int hwloc_bitmap_taskset_asprintf(char **out, hwloc_const_bitmap_t set)
{
	int n = hwloc_bitmap_taskset_snprintf(NULL, 0, set);

	*out = no_memory ? NULL : malloc((size_t)n + 1);
	return *out ? hwloc_bitmap_taskset_snprintf(*out, (size_t)n + 1, set)
	            : -1;
}

static const struct machine flat4 = {1, 4, 1, 4, 4};
static const struct machine two_by_two = {2, 2, 1, 4, 2};
static const struct machine threaded = {2, 2, 2, 8, 8};
static const struct machine eight = {1, 4, 2, 8, 8};
static const struct machine core_is_cpu = {2, 2, 2, 4, 8};

static void test_plans(void **state)
{
	static const struct {
		const struct machine *machine;
		const char *cores;
		int cpus_per_task, flags;
		const char *masks, *error;
	} row[] = {
	        /* Pairs 0-2 and 1-3 go side by side. */
	        {&two_by_two, "0-3", 1, 0, "0x1,0x4,0x2,0x8", NULL},
	        {&flat4, "0-3", 1, 0, "0x1,0x2,0x4,0x8", NULL},
	        {&threaded, "0-3", 1, 0, "0x3,0x30,0xc,0xc0", NULL},
	        {&threaded, "0-3", 2, 0, "0x3,0x30,0xc,0xc0", NULL},
	        {&core_is_cpu, "0-3", 1, 0, "0x3,0x30,0xc,0xc0", NULL},
	        /* srun's default leaves cpus_per_task open. */
	        {&threaded, "0-3", NO_VAL16, 0, "0x3,0x30,0xc,0xc0", NULL},
	        /* Two cores for four tasks: threads. */
	        {&threaded, "0,2", 1, 0, "0x1,0x10,0x2,0x20", NULL},
	        {&threaded, "0-3", 1, CPU_BIND_ONE_THREAD_PER_CORE,
	         "0x1,0x10,0x4,0x40", NULL},
	        {&threaded, "0,2", 1, CPU_BIND_ONE_THREAD_PER_CORE, NULL,
	         "4 ranks do not fit"},
	        {&core_is_cpu, "0,2", 1, 0, NULL, "4 ranks do not fit"},
	        {&threaded, "0-3", 4, 0, NULL, "4 ranks do not fit"},
	        {&flat4, NULL, 1, 0, NULL, "no cores of this node"},
	        {&flat4, "", 1, 0, NULL, "no cores of this node"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};
		int rc;

		set_machine(row[i].machine);
		credential = row[i].cores;
		req->cpus_per_task = (uint16_t)row[i].cpus_per_task;
		req->cpu_bind_type = (uint16_t)row[i].flags;
		rc = plan_of(req, 0, &plan, &err);
		if (row[i].masks) {
			if (rc != 1)
				fail_msg("row %d: %s", (int)i, err.text);
			assert_string_equal(plan.masks, row[i].masks);
			/* Not this machine's CPUs. */
			assert_false(plan.binding);
			assert_true(plan.cost <= plan.cost_packed);
		} else {
			assert_int_equal(rc, -1);
			if (!strstr(err.text, row[i].error))
				fail_msg("row %d: %s", (int)i, err.text);
		}
		cpltask_plan_free(&plan);
		free_request(req);
	}
}

static void test_options(void **state)
{
	static const struct {
		const struct machine *machine;
		const char *cores;
		int cpus_per_task, threads_per_core, per_core, per_socket;
		bool overcommit;
		const char *masks, *error;
	} row[] = {
	        /* --hint=nomultithread, --threads-per-core=1 */
	        {&threaded, "0-3", 1, 1, 0, 0, false, "0x1,0x10,0x4,0x40", 0},
	        {&threaded, "0,2", 1, 1, 0, 0, false, NULL, "do not fit"},
	        {&threaded, "0,2", 1, 1, 0, 0, true, "0x1,0x10,0x1,0x10", 0},
	        {&threaded, "0-3", 1, 2, 0, 0, false, "0x3,0x30,0xc,0xc0", 0},
	        /* Two tasks to a core, as many as allowed or not. */
	        {&threaded, "0,2", 1, 0, 2, 0, false, "0x1,0x10,0x2,0x20", 0},
	        {&threaded, "0,2", 1, 0, INFINITE16, NO_VAL16, false,
	         "0x1,0x10,0x2,0x20", 0},
	        {&threaded, "0,2", 1, 0, 1, 0, false, NULL, "do not fit"},
	        {&threaded, "0-1", 1, 0, 0, 0, false, "0x1,0x4,0x2,0x8", 0},
	        {&threaded, "0-1", 1, 0, 0, 2, false, NULL, "room for 2"},
	        {&threaded, "0-3", 1, 0, 0, 2, false, "0x3,0x30,0xc,0xc0", 0},
	        /* Two threads of one core to one task. */
	        {&eight, "0-3", 2, 0, 0, 0, false, "0x3,0xc,0x30,0xc0", 0},
	        {&flat4, "0-1", 1, 0, 0, 0, true, "0x1,0x2,0x1,0x2", 0},
	        {&flat4, "0", 1, 0, 0, 0, true, "0x1,0x1,0x1,0x1", 0},
	        {&two_by_two, "1,2", 1, 0, 0, 0, true, "0x2,0x4,0x2,0x4", 0},
	        {&threaded, "0-3", 4, 0, 0, 0, true, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};
		int rc;

		set_machine(row[i].machine);
		credential = row[i].cores;
		req->cpus_per_task = (uint16_t)row[i].cpus_per_task;
		req->threads_per_core = (uint16_t)row[i].threads_per_core;
		req->ntasks_per_core = (uint16_t)row[i].per_core;
		req->ntasks_per_socket = (uint16_t)row[i].per_socket;
		req->flags = row[i].overcommit ? LAUNCH_OVERCOMMIT : 0;
		rc = plan_of(req, 0, &plan, &err);
		if (row[i].masks &&
		    (rc != 1 || strcmp(plan.masks, row[i].masks)))
			fail_msg("row %d: %s %s", (int)i,
			         rc == 1 ? plan.masks : "", err.text);
		if (row[i].error &&
		    (rc != -1 || !strstr(err.text, row[i].error)))
			fail_msg("row %d: %d %s", (int)i, rc, err.text);
		if (rc == 1)
			assert_null(plan.mems);
		cpltask_plan_free(&plan);
		free_request(req);
	}
}

static void test_ranks_of_this_node(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&two_by_two);
	credential = "0,2-3";
	req->nnodes = 2;
	to_launch[0] = 1;
	to_launch[1] = 3;
	ids[1][0] = 0;
	ids[1][1] = 1;
	ids[1][2] = 2;
	/* 0 and 2 in one socket, 1 in the other. */
	assert_int_equal(plan_of(req, 1, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x4,0x1,0x8");
	cpltask_plan_free(&plan);
	ids[1][2] = 4;
	assert_int_equal(plan_of(req, 1, &plan, &err), -1);
	assert_string_equal(err.text, "task id 4 in a step of 4 tasks");
	assert_int_equal(plan_of(req, 2, &plan, &err), 0);
	free_request(req);
}

static void test_where_the_profile_comes_from(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	static char env_option[] =
	        "_SLURM_SPANK_OPTION_commplace_comm_profile=pairs4";
	char *job_env[] = {env_option};
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&flat4);
	credential = "0-3";
	unsetenvp(req->env, "COMM_PROFILE");
	req->envc = envcount(req->env);
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);

	req->spank_job_env = job_env;
	req->spank_job_env_size = 1;
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	cpltask_plan_free(&plan);

	/* The step's own option comes first. */
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "absent");
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	assert_non_null(strstr(err.text, "absent.json: No such file"));
	FREE_NULL_LIST(req->options);
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "none");
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);

	write_config("UserMayOverride=none\n"
	             "Match JobName=lmp* Profile=pairs4");
	env_array_append(&req->env, "SLURM_JOB_NAME", "lmp-17");
	req->envc = envcount(req->env);
	assert_int_equal(plan_of(req, 0, &plan, &err), LAUNCH_SENDS);
	if (LAUNCH_SENDS) {
		assert_string_equal(plan.profile, "pairs4");
		cpltask_plan_free(&plan);
	}
	write_config("");
	free_request(req);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *profile, *config, *error;
	} row[] = {
	        {"../../etc/passwd", "", "profile name"},
	        {"large", "", "large.json: No such file"},
	        {"link", "", "is a symbolic link"},
	        {"folder", "", "is a directory"},
	        {"damaged", "", "damaged.json"},
	        {"two", "", "profile two is of 2 ranks, the step has 4"},
	};
	char path[256];

	set_machine(&flat4);
	credential = "0-3";
	write_file("damaged.json", "{");
	write_file("two.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"two\", \"ranks\": 2, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 1, \"traffic\": [[0,1,1,1]]}]}");
	snprintf(path, sizeof(path), "%s/link.json", launch_dir);
	assert_int_equal(symlink("pairs4.json", path), 0);
	snprintf(path, sizeof(path), "%s/folder.json", launch_dir);
	assert_int_equal(mkdir(path, 0755), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};

		write_config(row[i].config);
		env_array_overwrite(&req->env, "COMM_PROFILE", row[i].profile);
		assert_int_equal(plan_of(req, 0, &plan, &err), -1);
		if (!strstr(err.text, row[i].error))
			fail_msg("'%s' lacks '%s'", err.text, row[i].error);
		/* The hook leaves the step as it was. */
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		assert_int_equal(req->cpu_bind_type, 0);
		assert_null(req->cpu_bind);
		free_request(req);
	}
	write_config("");
}

static void test_steps_left_alone(void **state)
{
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	launch_tasks_request_msg_t *req = new_request(4, NULL);

	set_machine(&flat4);
	credential = "0-3";
	req->step_id.step_id = SLURM_EXTERN_CONT;
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);
	req->step_id.step_id = SLURM_INTERACTIVE_STEP;
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);
	req->step_id.step_id = 3;
	write_config("DefaultBinding=none");
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);
	write_config("Mode=observe");
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);
	write_config("Mode=off");
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);
	write_config("");
	req->job_core_spec = CORE_SPEC_THREAD | 1;
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	req->job_core_spec = 1;
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	cpltask_plan_free(&plan);
	free_request(req);
}

/* A component runs tasks 2 and 3 of a step of four, or is a step of its own. */
static void test_heterogeneous_jobs(void **state)
{
	launch_tasks_request_msg_t *req = new_request(2, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&two_by_two);
	credential = "1-3";
	write_file("hetero.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"hetero\", \"ranks\": 4, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 1, \"traffic\": [[2,3,9,1]]}]}");
	write_file("part.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"part\", \"ranks\": 2, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 1, \"traffic\": [[0,1,9,1]]}]}");
	req->het_job_id = 7;
	req->het_job_ntasks = 4;
	req->het_job_task_offset = 2;
	env_array_overwrite(&req->env, "COMM_PROFILE", "hetero");
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x4,0x8");
	cpltask_plan_free(&plan);
	env_array_overwrite(&req->env, "COMM_PROFILE", "part");
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x4,0x8");
	cpltask_plan_free(&plan);
	/* A step over this component only. */
	req->het_job_ntasks = 2;
	req->het_job_task_offset = 0;
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	cpltask_plan_free(&plan);
	env_array_overwrite(&req->env, "COMM_PROFILE", "hetero");
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	assert_string_equal(err.text,
	                    "profile hetero is of 4 ranks, the step has 2");
	/* Nonsense of a client. */
	req->het_job_ntasks = 4;
	req->het_job_task_offset = 3;
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	req->het_job_task_offset = NO_VAL;
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	free_request(req);
}

static struct cpl_launch head = {.own = true, .binder = "treematch"};
static bool full;

/* The profile is on slurmctld's host only: its excerpt came along. */
static void test_profile_in_the_launch(void **state)
{
	static const uint16_t tasks[] = {0, 4};
	struct cpl_comm_entry traffic[] = {
	        {0, 2, 100, 1}, {2, 0, 100, 1}, {1, 3, 5, 1}, {3, 1, 5, 1}};
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	struct cpl_comm *graph = cpl_comm_build(4, traffic, 4, NULL);
	struct cpl_launch_step step = {
	        .ranks = 4, .n_nodes = 2, .tasks = tasks, .ids = id_rows};
	size_t size;
	unsigned char *data;

	if (!LAUNCH_SENDS)
		return;
	for (int i = 0; i < 4; i++)
		ids[1][i] = (uint32_t)i;
	head.kind = CPL_LAUNCH_ROWS;
	strcpy(head.profile, "absent");
	data = cpl_launch_write(&head, graph, &step, CPL_LAUNCH_MAX_BYTES,
	                        &size, &full, &err);
	assert_non_null(data);
	set_machine(&two_by_two);
	credential = "0-3";
	req->nnodes = 2;
	to_launch[0] = 0;
	to_launch[1] = 4;
	env_array_overwrite(&req->env, "COMM_PROFILE", "absent");
	carried = (struct cplslurm_excerpt){data, (uint32_t)size};
	opened = 0;
	assert_int_equal(plan_of(req, 1, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x1,0x4,0x2,0x8");
	assert_string_equal(plan.profile, "absent");
	cpltask_plan_free(&plan);
	/* Each way of breaking it leaves the step to Slurm. */
	for (size_t cut = 1; cut < size; cut++) {
		memset(&err, 0, sizeof(err));
		carried.size = (uint32_t)cut;
		assert_int_equal(plan_of(req, 1, &plan, &err), -1);
		assert_non_null(strstr(err.text, "excerpt of the profile"));
	}
	carried.size = (uint32_t)size;
	for (size_t at = 0; at < size; at++) {
		memset(&err, 0, sizeof(err));
		data[at] ^= 0x15;
		assert_int_equal(plan_of(req, 1, &plan, &err), -1);
		data[at] ^= 0x15;
	}
	assert_int_equal(opened, 0);
	/* The hook logs one line, and a launch has no use for it afterwards. */
	data[size - 1] ^= 1;
	assert_int_equal(launch_bind(req, 1), SLURM_SUCCESS);
	assert_int_equal(req->cpu_bind_type, 0);
	assert_true(LAUNCH_KEEPS || !carried.data);
	/* The step's own profile is this node's to read. */
	data[size - 1] ^= 1;
	env_array_overwrite(&req->env, "COMM_PROFILE", "pairs4");
	carried = (struct cplslurm_excerpt){data, (uint32_t)size};
	assert_int_equal(plan_of(req, 1, &plan, &err), 1);
	assert_string_equal(plan.profile, "pairs4");
	cpltask_plan_free(&plan);
	carried.data = NULL;
	free(data);
	cpl_comm_free(graph);
	free_request(req);
}

/* As for a profile whose rows are too many: by the version of its file. */
static void test_file_of_the_launch(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	unsigned char *data;
	char path[256];
	struct stat st;
	size_t size;

	if (!LAUNCH_SENDS)
		return;
	set_machine(&two_by_two);
	credential = "0-3";
	snprintf(path, sizeof(path), "%s/pairs4.json", launch_dir);
	assert_int_equal(stat(path, &st), 0);
	head.kind = CPL_LAUNCH_FILE;
	strcpy(head.profile, "pairs4");
	head.ranks = 4;
	head.size = st.st_size;
	head.seconds = st.st_mtim.tv_sec;
	head.nanoseconds = st.st_mtim.tv_nsec;
	for (int i = 0; i < 3; i++) {
		head.nanoseconds += i == 1;
		head.ranks -= i == 2;
		data = cpl_launch_write(&head, NULL, NULL, CPL_LAUNCH_MAX_BYTES,
		                        &size, &full, &err);
		carried = (struct cplslurm_excerpt){data, (uint32_t)size};
		assert_int_equal(plan_of(req, 0, &plan, &err), i ? -1 : 1);
		if (i)
			assert_non_null(strstr(
			        err.text,
			        i == 1 ? "pairs4.json: not the version that "
			                 "the controller's host has"
			               : "recorded at 4 ranks"));
		else
			assert_string_equal(plan.masks, "0x1,0x4,0x2,0x8");
		cpltask_plan_free(&plan);
		err.text[0] = '\0';
		free(data);
	}
	carried.data = NULL;
	free_request(req);
}

/* Fault 2: a launch that is none of ours opens no file, so that none can hold
 * it; one that wants a file waits for that as long as it may. */
static void test_files_that_hang(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cplslurm_launch launch;
	struct timespec begin, end;
	long waited;
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	unsigned char *data;
	size_t size;

	set_machine(&two_by_two);
	credential = "0-3";
	nothing_sent = true;
	opened = 0;
	for (int i = 0; i < 2; i++) {
		if (i)
			env_array_overwrite(&req->env, "COMM_PROFILE", "none");
		else
			unsetenvp(req->env, "COMM_PROFILE");
		req->envc = envcount(req->env);
		assert_int_equal(plan_of(req, 0, &plan, &err), 0);
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		assert_int_equal(req->cpu_bind_type, 0);
	}
	assert_int_equal(opened, 0);
	nothing_sent = false;
	env_array_overwrite(&req->env, "COMM_PROFILE", "other");
	req->envc = envcount(req->env);
	head.kind = CPL_LAUNCH_NOTHING;
	strcpy(head.profile, "pairs4");
	data = cpl_launch_write(&head, NULL, NULL, CPL_LAUNCH_MAX_BYTES, &size,
	                        &full, &err);
	carried = (struct cplslurm_excerpt){data, (uint32_t)size};
	hang = true;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(plan_of(req, 0, &plan, &err), -1);
		assert_non_null(strstr(err.text, "does not answer"));
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	waited = (end.tv_sec - begin.tv_sec) * 1000 +
	         (end.tv_nsec - begin.tv_nsec) / 1000000;
	/* Only the first one waits. */
	assert_true(cplslurm_launch(req, 0, &launch));
	assert_true(waited >= launch.patience);
	assert_true(waited < launch.patience + 1500);
	hang = false;
	carried.data = NULL;
	free(data);
	free_request(req);
}

/* A step with a profile of its own, in a job that has none: by the files of the
 * node. */
static void test_own_profile_without_the_job(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&two_by_two);
	credential = "0-3";
	nothing_sent = true;
	unsetenvp(req->env, "COMM_PROFILE");
	req->envc = envcount(req->env);
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "pairs4");
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_string_equal(plan.profile, "pairs4");
	assert_string_equal(plan.masks, "0x1,0x4,0x2,0x8");
	cpltask_plan_free(&plan);
	list_destroy(req->options);
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "none");
	assert_int_equal(plan_of(req, 0, &plan, &err), 0);
	list_destroy(req->options);
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "nosuch");
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	assert_non_null(strstr(err.text, "nosuch"));
	nothing_sent = false;
	free_request(req);
}

/* Root reads for a step what its user may read only. */
static void test_profiles_of_others(void **state)
{
	/* The last one is beyond the user's own. */
	static gid_t groups[] = {77, 78, 79};
	static const struct {
		mode_t mode;
		uid_t owner;
		gid_t group;
		int rc;
	} row[] = {
	        {0644, 0, 0, 1},    {0640, 0, 0, -1},    {0640, 0, 78, 1},
	        {0640, 0, 1000, 1}, {0400, 1000, 0, 1},  {0044, 1000, 78, -1},
	        {0604, 0, 77, -1},  {0600, 0, 1000, -1}, {0640, 0, 79, -1},
	};
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	char path[256];

	if (getuid())
		skip();
	set_machine(&two_by_two);
	credential = "0-3";
	set_user(req, 1000, 1000);
	req->ngids = 2;
	req->gids = groups;
	write_file("secret.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"s\", \"ranks\": 4, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 1, \"traffic\": [[0,1,1,1]]}]}");
	snprintf(path, sizeof(path), "%s/secret.json", launch_dir);
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "secret");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpltask_plan plan;
		struct cpl_error err = {""};

		assert_int_equal(chown(path, row[i].owner, row[i].group), 0);
		assert_int_equal(chmod(path, row[i].mode), 0);
		if (plan_of(req, 0, &plan, &err) != row[i].rc)
			fail_msg("row %zu: %s", i, err.text);
		if (row[i].rc < 0)
			assert_non_null(
			        strstr(err.text, "is not yours to use"));
		cpltask_plan_free(&plan);
	}
	free_request(req);
}

/* What a step's user may state, at its ends: planned, or left to Slurm. */
static void test_numbers(void **state)
{
	static const uint32_t ends[] = {
	        0,         1,          255,
	        256,       INT16_MAX,  INT16_MAX + 1,
	        65533,     NO_VAL16,   UINT16_MAX,
	        INT32_MAX, 1u << 31,   (1u << 31) + 1,
	        NO_VAL,    UINT32_MAX,
	};
	const size_t n = sizeof(ends) / sizeof(*ends);

	set_machine(&two_by_two);
	credential = "0-3";
	for (size_t i = 0; i < 9 * n; i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		uint16_t *narrow[] = {
		        &req->cpus_per_task,     &req->ntasks_per_core,
		        &req->ntasks_per_socket, &req->threads_per_core,
		        &req->job_core_spec,
		};
		uint32_t *wide[] = {
		        &req->het_job_ntasks,
		        &req->het_job_task_offset,
		        &req->ntasks,
		        &req->flags,
		};
		uint32_t end = ends[i % n];
		struct cpltask_plan plan;
		struct cpl_error err = {""};
		int rc;

		if (i / n < 5)
			*narrow[i / n] = (uint16_t)end;
		else
			*wide[i / n - 5] = end;
		/* Of one part of a heterogeneous job's step, too. */
		if (i % 2)
			req->het_job_id = 7;
		rc = plan_of(req, 0, &plan, &err);
		if (rc == 1 && strlen(plan.masks) > 256)
			fail_msg("row %zu: %s", i, plan.masks);
		if (rc == 1)
			cpltask_plan_free(&plan);
		free_request(req);
	}
}

static void test_memory(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&two_by_two);
	setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1", 1);
	see_cpus(4);
	cpltask_plan_fini();
	credential = "0-3";
	write_config("BindMemory=yes");
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x1,0x4,0x2,0x8");
	assert_string_equal(plan.mems, "0x1,0x2,0x1,0x2");
	cpltask_plan_free(&plan);
	no_memory = true;
	assert_int_equal(plan_of(req, 0, &plan, &err), -1);
	assert_string_equal(err.text, "out of memory");
	assert_null(plan.masks);
	no_memory = false;
	write_config("");
	free_request(req);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_plans),
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_ranks_of_this_node),
	        cmocka_unit_test(test_where_the_profile_comes_from),
	        cmocka_unit_test(test_what_is_refused),
	        cmocka_unit_test(test_steps_left_alone),
	        cmocka_unit_test(test_heterogeneous_jobs),
	        cmocka_unit_test(test_profile_in_the_launch),
	        cmocka_unit_test(test_file_of_the_launch),
	        cmocka_unit_test(test_profiles_of_others),
	        cmocka_unit_test(test_numbers),
	        cmocka_unit_test(test_memory),
	        cmocka_unit_test(test_files_that_hang),
	        cmocka_unit_test(test_own_profile_without_the_job),
	};

	return cmocka_run_group_tests(tests, launch_set_up, launch_tear_down);
}
