/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This reads from a launch request what the rooms above need of it. */
#include "layout.h"
#include "slurm_compat_slurmd.h"

#include <stdlib.h>
#include <string.h>

#if CPLSLURM_SERIES < 2302

#define PATIENCE 500 /* slurmd holds locks while it waits. */

static struct cplslurm_excerpt sent(const launch_tasks_request_msg_t *req)
{
	struct cplslurm_excerpt out = {NULL, 0};

	if (req->select_jobinfo && req->select_jobinfo->data &&
	    select_g_select_jobinfo_get(req->select_jobinfo,
	                                CPLSLURM_JOBDATA_EXCERPT, &out))
		out.data = NULL;
	return out;
}

void cplslurm_sent_drop(launch_tasks_request_msg_t *req)
{
	if (req->select_jobinfo && req->select_jobinfo->data)
		select_g_select_jobinfo_set(req->select_jobinfo,
		                            CPLSLURM_JOBDATA_EXCERPT, NULL);
}

void cplslurm_launch_user(const launch_tasks_request_msg_t *req, uint32_t *uid,
                          uint32_t *gid)
{
	*uid = req->uid;
	*gid = req->gid;
}

#else

#define PATIENCE 2000 /* Only the step's own slurmstepd waits. */

static struct cplslurm_layout credential = CPLSLURM_LAYOUT(slurm_cred_arg_t);

/* slurm_cred_get_args() locks even where it has nothing to give, so the lock is
 * always given back: else whoever frees the credential would wait for ever. */
static slurm_cred_arg_t *open_credential(const launch_tasks_request_msg_t *req)
{
	return req->cred ? slurm_cred_get_args(req->cred) : NULL;
}

static void close_credential(const launch_tasks_request_msg_t *req)
{
	if (req->cred)
		slurm_cred_unlock_args(req->cred);
}

#if CPLSLURM_SERIES < 2405
static struct cplslurm_excerpt sent(const launch_tasks_request_msg_t *req)
{
	return (struct cplslurm_excerpt){NULL, 0};
}
#else
static struct cplslurm_excerpt sent(const launch_tasks_request_msg_t *req)
{
	struct cplslurm_excerpt out = {NULL, 0};
	slurm_cred_arg_t *arg = open_credential(req);
	dynamic_plugin_data_t *step =
	        arg && cplslurm_is_ours(&credential, arg) ? arg->switch_step
	                                                  : NULL;
	/* Only slurmstepd unpacks this, by the plugin that SwitchType names. */
	const struct cplslurm_switch *info =
	        step && slurm_conf.switch_type &&
	                        !strcmp(slurm_conf.switch_type,
	                                "switch/commplace")
	                ? step->data
	                : NULL;

	if (info && info->magic == CPLSLURM_SWITCH_MAGIC && info->size)
		out = (struct cplslurm_excerpt){info->data, info->size};
	close_credential(req);
	return out;
}
#endif

void cplslurm_sent_drop(launch_tasks_request_msg_t *req)
{
}

void cplslurm_launch_user(const launch_tasks_request_msg_t *req, uint32_t *uid,
                          uint32_t *gid)
{
	slurm_cred_arg_t *arg = open_credential(req);
	bool known = arg && cplslurm_is_ours(&credential, arg);

	*uid = known ? arg->uid : NO_VAL;
	*gid = known ? arg->gid : NO_VAL;
	close_credential(req);
}

#endif

static const char option_name[] = "comm-profile:" CPLSLURM_SPANK_NAME;

static int is_profile_option(void *x, void *key)
{
	struct job_option_info *info = x;

	return info->option && !strcmp(info->option, option_name);
}

static const char *asked_profile(const launch_tasks_request_msg_t *req)
{
	struct job_option_info *info = NULL;
	const char *name;

	if (req->options)
		info = list_find_first(req->options, is_profile_option, NULL);
	if (info && info->optarg && *info->optarg)
		return info->optarg;
	name = cplslurm_options(req->spank_job_env, req->spank_job_env_size)
	               .profile;
	return name ? name : cplslurm_options(req->env, req->envc).profile;
}

bool cplslurm_launch(const launch_tasks_request_msg_t *req, uint32_t node_id,
                     struct cplslurm_launch *out)
{
	if (req->step_id.step_id > SLURM_MAX_NORMAL_STEP_ID ||
	    node_id >= req->nnodes || req->tasks_to_launch[node_id] == 0)
		return false;
	*out = (struct cplslurm_launch){
	        .id = cplslurm_step_id(&req->step_id),
	        .node = node_id,
	        .ranks = (int)req->ntasks,
	        .tasks = req->tasks_to_launch[node_id],
	        .task_id = req->global_task_ids[node_id],
	        .is_part = req->het_job_id && req->het_job_id != NO_VAL,
	        .all_ranks = req->het_job_ntasks,
	        .first_rank = req->het_job_task_offset,
	        .gids = req->gids,
	        .n_gids = req->ngids,
	        .profile = asked_profile(req),
	        .partition = cplslurm_env(req->env, req->envc,
	                                  "SLURM_JOB_PARTITION"),
	        .cpus_per_task = cplslurm_stated(req->cpus_per_task)
	                                 ? req->cpus_per_task
	                                 : 1,
	        .ranks_per_core = cplslurm_stated(req->ntasks_per_core),
	        .ranks_per_socket = cplslurm_stated(req->ntasks_per_socket),
	        .one_thread =
	                (req->cpu_bind_type & CPU_BIND_ONE_THREAD_PER_CORE) ||
	                req->threads_per_core == 1,
	        .overcommit = req->flags & LAUNCH_OVERCOMMIT,
	        .thread_spec = req->job_core_spec != NO_VAL16 &&
	                       (req->job_core_spec & CORE_SPEC_THREAD),
	        .sent = sent(req),
	        .request = req,
	        .patience = PATIENCE,
	};
	cplslurm_launch_user(req, &out->uid, &out->gid);
	return true;
}

char *cplslurm_allowed_cores(const struct cplslurm_launch *launch)
{
	const launch_tasks_request_msg_t *req = launch->request;
	char *job_cores = NULL, *cores = NULL, *copy = NULL;
	uint64_t job_memory = 0, step_memory = 0;

	if (!req->cred)
		return NULL;
	format_core_allocs(req->cred, conf->node_name, conf->cpus, &job_cores,
	                   &cores, &job_memory, &step_memory);
	if (cores && *cores)
		copy = strdup(cores);
	xfree(job_cores);
	xfree(cores);
	return copy;
}
