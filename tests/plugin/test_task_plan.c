/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The task plugin's launch hook on hand-made requests, without daemons. The
 * two functions of slurmd that it asks for the allocation are ours.
 */
#include "task_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "src/common/job_options.h"
#include "src/common/list.h"
#include "src/common/select.h"
#include "src/slurmd/common/xcpuinfo.h"

#include "signature/excerpt.h"

int task_p_slurmd_launch_request(launch_tasks_request_msg_t *req,
                                 uint32_t node_id, char **err_msg);
int task_p_post_set_affinity(stepd_step_rec_t *job, uint32_t node_tid);
int task_p_pre_launch(stepd_step_rec_t *job);
int fini(void);

static slurmd_conf_t slurmd;
slurmd_conf_t *conf = &slurmd;
static const char *credential; /* cores of the step on this node */
static char dir[] = "/tmp/commplace-task.XXXXXX";

void format_core_allocs(slurm_cred_t *cred, char *node_name, uint16_t cpus,
                        char **job_cores, char **step_cores,
                        uint64_t *job_memory, uint64_t *step_memory)
{
	*job_cores = xstrdup(credential);
	*step_cores = credential ? xstrdup(credential) : NULL;
}

/* On a regular machine: all threads of each core. */
int xcpuinfo_abs_to_mac(char *cores, char **cpus)
{
	hwloc_bitmap_t in = hwloc_bitmap_alloc(), out = hwloc_bitmap_alloc();
	char *text = NULL;
	int core;

	hwloc_bitmap_list_sscanf(in, cores);
	hwloc_bitmap_foreach_begin(core, in)
	        hwloc_bitmap_set_range(out, (unsigned)(core * slurmd.threads),
	                               (core + 1) * slurmd.threads - 1);
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_list_asprintf(&text, out);
	*cpus = xstrdup(text);
	free(text);
	hwloc_bitmap_free(in);
	hwloc_bitmap_free(out);
	return 0;
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void write_config(const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "ProfileDir=%s\n%s\n", dir, more);
	write_file("commplace.conf", text);
}

static int set_up(void **state)
{
	char path[256];

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/slurm.conf", dir);
	setenv("SLURM_CONF", path, 1);
	write_config("");
	write_file("pairs4.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"pairs4\", \"ranks\": 4, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 2, \"time\": 1, \"compute_time\": 0,"
	           "\"traffic\": [[0,2,100,1],[3,1,100,1],[0,1,1,1]]}]}");
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	fini();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

struct machine {
	int sockets, cores, threads, cpus;
	int seen; /* CPUs that slurmd's hwloc sees; fewer: pretended */
};

static void set_machine(const struct machine *m)
{
	char tree[64];

	slurmd.node_name = "n0";
	slurmd.sockets = (uint16_t)m->sockets;
	slurmd.cores = (uint16_t)m->cores;
	slurmd.threads = (uint16_t)m->threads;
	slurmd.cpus = (uint16_t)m->cpus;
	slurmd.block_map_size = (uint16_t)m->seen;
	snprintf(tree, sizeof(tree), "pack:%d core:%d pu:%d", m->sockets,
	         m->cores, m->threads);
	setenv("HWLOC_SYNTHETIC", tree, 1);
	cpltask_plan_fini();
}

static uint16_t to_launch[2];
static uint32_t ids[2][4];
static uint32_t *id_rows[2] = {ids[0], ids[1]};

static launch_tasks_request_msg_t *new_request(int tasks, uint32_t *id)
{
	launch_tasks_request_msg_t *req = xmalloc(sizeof(*req));

	req->step_id.job_id = 7;
	req->nnodes = 1;
	req->ntasks = (uint32_t)tasks;
	to_launch[0] = (uint16_t)tasks;
	for (int i = 0; i < tasks && i < 4; i++)
		ids[0][i] = id ? id[i] : (uint32_t)i;
	req->tasks_to_launch = to_launch;
	req->global_task_ids = id_rows;
	req->cpus_per_task = 1;
	req->het_job_id = NO_VAL;
	req->job_core_spec = NO_VAL16;
	req->env = env_array_create();
	env_array_append(&req->env, "COMM_PROFILE", "pairs4");
	req->envc = envcount(req->env);
	return req;
}

static void free_request(launch_tasks_request_msg_t *req)
{
	env_array_free(req->env);
	FREE_NULL_LIST(req->options);
	xfree(req->cpu_bind);
	xfree(req);
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
		rc = cpltask_plan(req, 0, &plan, &err);
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
		rc = cpltask_plan(req, 0, &plan, &err);
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
	assert_int_equal(cpltask_plan(req, 1, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x4,0x1,0x8");
	cpltask_plan_free(&plan);
	ids[1][2] = 4;
	assert_int_equal(cpltask_plan(req, 1, &plan, &err), -1);
	assert_string_equal(err.text, "task id 4 in a step of 4 tasks");
	assert_int_equal(cpltask_plan(req, 2, &plan, &err), 0);
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
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);

	req->spank_job_env = job_env;
	req->spank_job_env_size = 1;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
	cpltask_plan_free(&plan);

	/* The step's own option comes first. */
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "absent");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), -1);
	assert_non_null(strstr(err.text, "absent.json: No such file"));
	FREE_NULL_LIST(req->options);
	req->options = job_options_create();
	job_options_append(req->options, 0, "comm-profile:commplace", "none");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);

	write_config("UserMayOverride=none\n"
	             "Match JobName=lmp* Profile=pairs4");
	env_array_append(&req->env, "SLURM_JOB_NAME", "lmp-17");
	req->envc = envcount(req->env);
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
	assert_string_equal(plan.profile, "pairs4");
	cpltask_plan_free(&plan);
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
	        {"pairs4", "Bogus=1", "Bogus"},
	        {"link", "", "is a symbolic link"},
	        {"folder", "", "is no regular file"},
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
	snprintf(path, sizeof(path), "%s/link.json", dir);
	assert_int_equal(symlink("pairs4.json", path), 0);
	snprintf(path, sizeof(path), "%s/folder.json", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};

		write_config(row[i].config);
		env_array_overwrite(&req->env, "COMM_PROFILE", row[i].profile);
		assert_int_equal(cpltask_plan(req, 0, &plan, &err), -1);
		if (!strstr(err.text, row[i].error))
			fail_msg("'%s' lacks '%s'", err.text, row[i].error);
		/* The hook leaves the step as it was. */
		assert_int_equal(task_p_slurmd_launch_request(req, 0, NULL),
		                 SLURM_SUCCESS);
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
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);
	req->step_id.step_id = SLURM_INTERACTIVE_STEP;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);
	req->step_id.step_id = 3;
	write_config("DefaultBinding=none");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);
	write_config("Mode=observe");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);
	write_config("Mode=off");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 0);
	write_config("");
	req->job_core_spec = CORE_SPEC_THREAD | 1;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), -1);
	req->job_core_spec = 1;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
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
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x4,0x8");
	cpltask_plan_free(&plan);
	env_array_overwrite(&req->env, "COMM_PROFILE", "part");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x4,0x8");
	cpltask_plan_free(&plan);
	/* A step over this component only. */
	req->het_job_ntasks = 2;
	req->het_job_task_offset = 0;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
	cpltask_plan_free(&plan);
	env_array_overwrite(&req->env, "COMM_PROFILE", "hetero");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), -1);
	assert_string_equal(err.text,
	                    "profile hetero is of 4 ranks, the step has 2");
	/* Nonsense of a client. */
	req->het_job_ntasks = 4;
	req->het_job_task_offset = 3;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), -1);
	req->het_job_task_offset = NO_VAL;
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), -1);
	free_request(req);
}

/* In the place of slurmd's select plugin. */
static struct cplslurm_excerpt carried;

int select_g_select_jobinfo_get(dynamic_plugin_data_t *jobinfo,
                                enum select_jobdata_type type, void *data)
{
	struct cplslurm_excerpt *out = data;

	if ((int)type != CPLSLURM_JOBDATA_EXCERPT || !carried.data)
		return SLURM_ERROR;
	*out = carried;
	return SLURM_SUCCESS;
}

int select_g_select_jobinfo_set(dynamic_plugin_data_t *jobinfo,
                                enum select_jobdata_type type, void *data)
{
	if ((int)type == CPLSLURM_JOBDATA_EXCERPT)
		carried.data = NULL;
	return SLURM_SUCCESS;
}

/* The profile is on slurmctld's host only: its excerpt came along. */
static void test_profile_in_the_launch(void **state)
{
	static const uint16_t tasks[] = {0, 4};
	struct cpl_comm_entry traffic[] = {
	        {0, 2, 100, 1}, {2, 0, 100, 1}, {1, 3, 5, 1}, {3, 1, 5, 1}};
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	dynamic_plugin_data_t jobinfo = {.data = req};
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	struct cpl_comm *graph = cpl_comm_build(4, traffic, 4, NULL);
	struct cpl_excerpt_step step = {4, 2, tasks, id_rows};
	size_t size;
	unsigned char *data;

	for (int i = 0; i < 4; i++)
		ids[1][i] = (uint32_t)i;
	data = cpl_excerpt_write(graph, "absent", &step, CPL_EXCERPT_MAX_BYTES,
	                         &size, &err);
	assert_non_null(data);
	set_machine(&two_by_two);
	credential = "0-3";
	req->select_jobinfo = &jobinfo;
	req->nnodes = 2;
	to_launch[0] = 0;
	to_launch[1] = 4;
	env_array_overwrite(&req->env, "COMM_PROFILE", "absent");
	carried = (struct cplslurm_excerpt){data, (uint32_t)size};
	assert_int_equal(cpltask_plan(req, 1, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x1,0x4,0x2,0x8");
	assert_string_equal(plan.profile, "absent");
	cpltask_plan_free(&plan);
	/* Each way of breaking it leaves the step to Slurm. */
	for (size_t cut = 0; cut < size; cut++) {
		memset(&err, 0, sizeof(err));
		carried.size = (uint32_t)cut;
		assert_int_equal(cpltask_plan(req, 1, &plan, &err), -1);
		assert_non_null(strstr(err.text, "absent.json"));
	}
	carried.size = (uint32_t)size;
	for (size_t at = 0; at < size; at++) {
		memset(&err, 0, sizeof(err));
		data[at] ^= 0x15;
		assert_int_equal(cpltask_plan(req, 1, &plan, &err), -1);
		data[at] ^= 0x15;
	}
	/* The hook logs one line, and a launch has no use for it afterwards. */
	data[size - 1] ^= 1;
	assert_int_equal(task_p_slurmd_launch_request(req, 1, NULL),
	                 SLURM_SUCCESS);
	assert_int_equal(req->cpu_bind_type, 0);
	assert_null(carried.data);
	/* A good file beside a bad excerpt. */
	data[size - 1] ^= 1;
	env_array_overwrite(&req->env, "COMM_PROFILE", "pairs4");
	carried = (struct cplslurm_excerpt){data, (uint32_t)size};
	assert_int_equal(cpltask_plan(req, 1, &plan, &err), 1);
	cpltask_plan_free(&plan);
	req->select_jobinfo = NULL;
	carried.data = NULL;
	free(data);
	cpl_comm_free(graph);
	free_request(req);
}

static void test_memory(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};

	set_machine(&two_by_two);
	setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1", 1);
	slurmd.block_map_size = 4;
	cpltask_plan_fini();
	credential = "0-3";
	write_config("BindMemory=yes");
	assert_int_equal(cpltask_plan(req, 0, &plan, &err), 1);
	assert_string_equal(plan.masks, "0x1,0x4,0x2,0x8");
	assert_string_equal(plan.mems, "0x1,0x2,0x1,0x2");
	cpltask_plan_free(&plan);
	write_config("");
	free_request(req);
}

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
		req->cpu_bind_type = users[i];
		assert_int_equal(task_p_slurmd_launch_request(req, 0, NULL),
		                 SLURM_SUCCESS);
		assert_int_equal(req->cpu_bind_type, users[i]);
		assert_null(req->cpu_bind);
		assert_null(getenvp(req->env, CPLTASK_BOUND));
		assert_null(getenvp(req->env, CPLTASK_PLAN));
		assert_int_equal(req->envc, envcount(req->env));
	}
	req->cpu_bind_type = CPU_BIND_VERBOSE;
	assert_int_equal(task_p_slurmd_launch_request(req, 0, NULL),
	                 SLURM_SUCCESS);
	assert_int_equal(req->cpu_bind_type, CPU_BIND_VERBOSE | CPU_BIND_NONE);
	assert_string_equal(getenvp(req->env, CPLTASK_PLAN), "0x1,0x4,0x2,0x8");
	assert_null(getenvp(req->env, CPLTASK_BOUND));
	assert_int_equal(req->envc, envcount(req->env));
	/* --hint=nomultithread is no binding, --cpu-bind=threads is. */
	req->cpu_bind_type = CPU_BIND_TO_THREADS | CPU_BIND_ONE_THREAD_PER_CORE;
	task_p_slurmd_launch_request(req, 0, NULL);
	assert_int_equal(req->cpu_bind_type,
	                 CPU_BIND_TO_THREADS | CPU_BIND_ONE_THREAD_PER_CORE);
	env_array_append(&req->env, "SLURM_HINT", "nomultithread");
	req->envc = envcount(req->env);
	task_p_slurmd_launch_request(req, 0, NULL);
	assert_int_equal(req->cpu_bind_type,
	                 CPU_BIND_NONE | CPU_BIND_ONE_THREAD_PER_CORE);
	assert_non_null(getenvp(req->env, CPLTASK_PLAN));
	free_request(req);
}

static void test_profiles_are_read_again_when_changed(void **state)
{
	int rank[4] = {0, 1, 2, 3};
	struct cpl_error err = {""};
	struct cpl_comm *comm =
	        cpltask_traffic(dir, "pairs4", 4, rank, 4, &err);

	assert_non_null(comm);
	assert_true(comm->bytes[comm->row[0] + 1] == 200); /* weight 2 */
	cpl_comm_free(comm);
	write_file("pairs4.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"pairs4\", \"ranks\": 4, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 1, \"traffic\": [[0,3,5,1]]}]}");
	comm = cpltask_traffic(dir, "pairs4", 4, rank, 4, &err);
	assert_non_null(comm);
	assert_int_equal(comm->n_entries, 1);
	cpl_comm_free(comm);
}

static void test_task_environment(void **state)
{
	static char mask[] = "0x1,0x30";
	env_t env = {.localid = 1};
	stepd_step_rec_t job = {.envtp = &env, .cpu_bind = mask};

	job.env = env_array_create();
	assert_int_equal(task_p_pre_launch(&job), SLURM_SUCCESS);
	assert_null(getenvp(job.env, CPLTASK_CPUS));
	env_array_append(&job.env, CPLTASK_BOUND, "1");
	assert_int_equal(task_p_pre_launch(&job), SLURM_SUCCESS);
	assert_string_equal(getenvp(job.env, CPLTASK_CPUS), "4-5");
	assert_null(getenvp(job.env, CPLTASK_BOUND));
	env_array_append(&job.env, CPLTASK_PLAN, "0x1,0x2");
	assert_int_equal(task_p_pre_launch(&job), SLURM_SUCCESS);
	assert_string_equal(getenvp(job.env, CPLTASK_CPUS), "1");
	assert_non_null(getenvp(job.env, CPLTASK_PLAN));
	env_array_free(job.env);
	job.env = NULL;
	assert_int_equal(task_p_pre_launch(&job), SLURM_SUCCESS);
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
	        {"5:cpuset:/slurm/uid_9/job_1/step_0/task_1\n",
	         CPLTASK_NO_CGROUP, NULL},
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
	stepd_step_task_info_t info = {.pid = getpid()}, *tasks[] = {&info};
	stepd_step_rec_t job = {.task = tasks, .node_tasks = 1};

	assert_int_equal(task_p_post_set_affinity(&job, 0), SLURM_SUCCESS);
	job.env = env_array_create();
	job.cpu_bind_type = CPU_BIND_MASK;
	assert_int_equal(task_p_post_set_affinity(&job, 0), SLURM_SUCCESS);
	/* A mask that is missing is logged, and the task starts. */
	env_array_append(&job.env, CPLTASK_BOUND, "1");
	assert_int_equal(task_p_post_set_affinity(&job, 0), SLURM_SUCCESS);
	env_array_free(job.env);
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
	        cmocka_unit_test(test_memory),
	        cmocka_unit_test(test_launch_hook),
	        cmocka_unit_test(test_profiles_are_read_again_when_changed),
	        cmocka_unit_test(test_task_environment),
	        cmocka_unit_test(test_masks),
	        cmocka_unit_test(test_cgroup_paths),
	        cmocka_unit_test(test_nothing_to_enforce),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
