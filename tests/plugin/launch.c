/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/common/list.h"

#include "site/launch.h"

slurmd_conf_t *conf;
const char *credential;
char launch_dir[] = "/tmp/commplace-task.XXXXXX";

void format_core_allocs(slurm_cred_t *cred, char *node_name, uint16_t cpus,
                        char **job_cores, char **step_cores,
                        uint64_t *job_memory, uint64_t *step_memory)
{
	*job_cores = xstrdup(credential);
	*step_cores = credential ? xstrdup(credential) : NULL;
}

/* Steps have no GPUs, but in tests of these. */
__attribute__((weak)) void get_cred_gres(slurm_cred_t *cred, char *node,
                                         cplslurm_list **job,
                                         cplslurm_list **step)
{
}

void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", launch_dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

void write_config(const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "ProfileDir=%s\n%s\n", launch_dir, more);
	write_file("commplace.conf", text);
}

struct cplslurm_excerpt carried;
bool nothing_sent;
/* The last two: of one launch slurmctld may be asked twice. */
static unsigned char *made, *made_before;

static int credential_stub;
int credential_locks;
bool no_arguments;
slurm_cred_t *const launch_credential = (slurm_cred_t *)&credential_stub;

static struct cpl_store_answer find(const char *dir, const char *name)
{
	struct cpl_worker *worker = cpl_worker_new(NULL);
	struct cpl_store *store = cpl_store_new(worker, NULL, NULL, NULL);
	const int64_t deadline = cpl_now() + 20 * INT64_C(1000000000);
	struct cpl_store_answer found;

	assert_non_null(store);
	cpl_store_find(store,
	               &(struct cpl_store_query){
	                       .dir = dir, .name = name, .deadline = deadline},
	               &found);
	assert_true(cpl_worker_stop(worker, deadline, NULL, NULL));
	cpl_store_free(store);
	cpl_worker_free(worker);
	return found;
}

/* As slurmctld's engine has it. */
static void send_along(const launch_tasks_request_msg_t *req,
                       struct cplslurm_excerpt *out)
{
	struct cplslurm_options options =
	        cplslurm_options(req->spank_job_env, req->spank_job_env_size);
	struct cpl_job_facts job = {
	        .profile = options.profile,
	        .name = cplslurm_env(req->env, req->envc, "SLURM_JOB_NAME"),
	};
	struct cpl_launch_step step = {
	        .ranks = (int)req->ntasks,
	        .n_nodes = (int)req->nnodes,
	        .tasks = req->tasks_to_launch,
	        .ids = req->global_task_ids,
	        .part = req->het_job_id != NO_VAL,
	};
	struct cpl_store_answer found;
	struct cpl_resolved want;
	struct cpl_config *config;
	struct cpl_error err = {""};
	char path[256];
	size_t size = 0;

	if (!job.profile)
		job.profile = cplslurm_options(req->env, req->envc).profile;
	snprintf(path, sizeof(path), "%s/commplace.conf", launch_dir);
	config = cpl_config_load(path, NULL);
	free(made_before);
	made_before = made;
	made = NULL;
	if (!config)
		return;
	cpl_resolve(config, NULL, &job, &want);
	if (want.binding.value) {
		found = find(config->profile_dir, want.profile.value);
		made = cpl_site_launch(config, &want, &found, &step,
		                       CPL_LAUNCH_MAX_BYTES, &size, &err);
		cpl_profile_drop(found.profile);
	}
	cpl_config_free(config);
	*out = (struct cplslurm_excerpt){made, (uint32_t)size};
}

/* False: nothing. 23.11 has no way for it. */
__attribute__((unused)) static bool ask(const launch_tasks_request_msg_t *req,
                struct cplslurm_excerpt *out)
{
	if (nothing_sent)
		return false;
	*out = carried;
	if (!carried.data)
		send_along(req, out);
	return out->data;
}

#if CPLSLURM_SERIES < 2302

static dynamic_plugin_data_t jobinfo;

/* In the place of slurmd's select plugin. */
int select_g_select_jobinfo_get(dynamic_plugin_data_t *info,
                                enum select_jobdata_type type, void *data)
{
	return (int)type == CPLSLURM_JOBDATA_EXCERPT && ask(info->data, data)
	               ? SLURM_SUCCESS
	               : SLURM_ERROR;
}

int select_g_select_jobinfo_set(dynamic_plugin_data_t *info,
                                enum select_jobdata_type type, void *data)
{
	if ((int)type == CPLSLURM_JOBDATA_EXCERPT)
		carried.data = NULL;
	return SLURM_SUCCESS;
}

static void address(launch_tasks_request_msg_t *req)
{
	jobinfo.data = req;
	req->select_jobinfo = &jobinfo;
}

void set_user(launch_tasks_request_msg_t *req, uid_t uid, gid_t gid)
{
	req->uid = uid;
	req->gid = gid;
}

int task_p_slurmd_launch_request(launch_tasks_request_msg_t *req,
                                 uint32_t node_id, char **err_msg);
int task_p_post_set_affinity(stepd_step_rec_t *job, uint32_t node_tid);

int launch_bind(launch_tasks_request_msg_t *req, uint32_t node)
{
	return task_p_slurmd_launch_request(req, node, NULL);
}

int launch_confine(stepd_step_rec_t *step, uint32_t task)
{
	return task_p_post_set_affinity(step, task);
}

#else

#if CPLSLURM_SERIES >= 2405
static const launch_tasks_request_msg_t *addressed;
static struct cplslurm_switch info = {.magic = CPLSLURM_SWITCH_MAGIC};
static dynamic_plugin_data_t door = {.data = &info};
#endif
static slurm_cred_arg_t *arguments;

/* In the place of slurmstepd's credential, which switch/commplace has opened.
 */
slurm_cred_arg_t *slurm_cred_get_args(slurm_cred_t *cred)
{
	assert_ptr_equal(cred, launch_credential);
	credential_locks++;
	if (no_arguments)
		return NULL;
#if CPLSLURM_SERIES >= 2405
	struct cplslurm_excerpt excerpt = {0};

	arguments->switch_step = ask(addressed, &excerpt) ? &door : NULL;
	info.data = (void *)excerpt.data;
	info.size = excerpt.size;
#endif
	return arguments;
}

void slurm_cred_unlock_args(slurm_cred_t *cred)
{
	credential_locks--;
}

static void address(launch_tasks_request_msg_t *req)
{
#if CPLSLURM_SERIES >= 2405
	static char type[] = "switch/commplace";

	slurm_conf.switch_type = type;
	addressed = req;
#endif
	if (!arguments)
		arguments = xmalloc(sizeof(*arguments));
	arguments->uid = 0;
	arguments->gid = 0;
}

void set_user(launch_tasks_request_msg_t *req, uid_t uid, gid_t gid)
{
	arguments->uid = uid;
	arguments->gid = gid;
}

int task_p_slurmd_launch_request(launch_tasks_request_msg_t *req,
                                 uint32_t node_id, char **err_msg);
int task_p_pre_setuid(stepd_step_rec_t *job);
int task_p_pre_launch_priv(stepd_step_rec_t *job, uint32_t node_tid,
                           uint32_t global_tid);

int launch_bind(launch_tasks_request_msg_t *req, uint32_t node)
{
	stepd_step_rec_t *step;
	int rc = task_p_slurmd_launch_request(req, node, NULL);

	if (rc != SLURM_SUCCESS)
		return rc;
	assert_int_equal(req->envc, envcount(req->env));
	step = xmalloc(sizeof(*step));
	step->step_id = req->step_id;
	step->msg = req;
	step->nodeid = node;
	step->env = req->env;
	step->cpu_bind_type = req->cpu_bind_type;
	step->cpu_bind = req->cpu_bind;
	step->mem_bind_type = req->mem_bind_type;
	rc = task_p_pre_setuid(step);
	req->env = step->env;
	req->envc = envcount(req->env);
	req->cpu_bind_type = step->cpu_bind_type;
	req->cpu_bind = step->cpu_bind;
	xfree(step);
	return rc;
}

int launch_confine(stepd_step_rec_t *step, uint32_t task)
{
	return task_p_pre_launch_priv(step, task, task);
}

#endif

int launch_set_up(void **state)
{
	char path[256];

	conf = xmalloc(sizeof(*conf));
	if (!mkdtemp(launch_dir))
		return -1;
	snprintf(path, sizeof(path), "%s/slurm.conf", launch_dir);
	setenv("SLURM_CONF", path, 1);
	write_config("");
	write_file("pairs4.json",
	           "{\"format\": \"commplace-signature\", \"version\": 1,"
	           "\"name\": \"pairs4\", \"ranks\": 4, \"phases\": [{\"name\":"
	           "\"all\", \"weight\": 2, \"time\": 1, \"compute_time\": 0,"
	           "\"traffic\": [[0,2,100,1],[3,1,100,1],[0,1,1,1]]}]}");
	return 0;
}

int launch_tear_down(void **state)
{
	char command[64];

	fini();
	xfree(conf);
	free(made);
	free(made_before);
	made = made_before = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", launch_dir);
	return system(command);
}

/* On a regular machine a CPU's number is its place. */
void see_cpus(int seen)
{
	static uint16_t map[1024];

	assert_true(seen <= (int)(sizeof(map) / sizeof(*map)));
	for (int i = 0; i < seen; i++)
		map[i] = (uint16_t)i;
	slurmd.block_map = map;
	slurmd.block_map_size = (uint16_t)seen;
}

void set_machine(const struct machine *m)
{
	char tree[64];

	slurmd.node_name = "n0";
	slurmd.sockets = (uint16_t)m->sockets;
	slurmd.cores = (uint16_t)m->cores;
	slurmd.threads = (uint16_t)m->threads;
	slurmd.cpus = (uint16_t)m->cpus;
	slurmd.actual_threads = slurmd.threads;
	see_cpus(m->seen);
	snprintf(tree, sizeof(tree), "pack:%d core:%d pu:%d", m->sockets,
	         m->cores, m->threads);
	setenv("HWLOC_SYNTHETIC", tree, 1);
	cpltask_plan_fini();
}

uint16_t to_launch[2];
uint32_t ids[2][LAUNCH_TASKS];
uint32_t *id_rows[2] = {ids[0], ids[1]};

launch_tasks_request_msg_t *new_request(int tasks, const uint32_t *id)
{
	launch_tasks_request_msg_t *req = xmalloc(sizeof(*req));

	req->step_id.job_id = 7;
	req->nnodes = 1;
	req->ntasks = (uint32_t)tasks;
	to_launch[0] = (uint16_t)tasks;
	for (int i = 0; i < tasks && i < LAUNCH_TASKS; i++)
		ids[0][i] = id ? id[i] : (uint32_t)i;
	req->tasks_to_launch = to_launch;
	req->global_task_ids = id_rows;
	req->cpus_per_task = 1;
	req->het_job_id = NO_VAL;
	req->job_core_spec = NO_VAL16;
	req->env = env_array_create();
	env_array_append(&req->env, "COMM_PROFILE", "pairs4");
	req->envc = envcount(req->env);
	req->cred = launch_credential;
	address(req);
	return req;
}

void free_request(launch_tasks_request_msg_t *req)
{
	env_array_free(req->env);
	FREE_NULL_LIST(req->options);
	xfree(req->cpu_bind);
	xfree(req);
}

int plan_of(const launch_tasks_request_msg_t *req, uint32_t node,
            struct cpltask_plan *plan, struct cpl_error *err)
{
	struct cplslurm_launch launch;

	return cplslurm_launch(req, node, &launch)
	               ? cpltask_plan(&launch, plan, err)
	               : 0;
}
