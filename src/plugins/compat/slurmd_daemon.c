/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm_compat_slurmd.h"

#include <pthread.h>
#include <string.h>

#include "src/common/run_in_daemon.h"

#if CPLSLURM_SERIES < 2405

bool cplslurm_sent(const launch_tasks_request_msg_t *req,
                   struct cplslurm_excerpt *out)
{
	return req->select_jobinfo && req->select_jobinfo->data &&
	       !select_g_select_jobinfo_get(req->select_jobinfo,
	                                    CPLSLURM_JOBDATA_EXCERPT, out);
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

bool cplslurm_sent(const launch_tasks_request_msg_t *req,
                   struct cplslurm_excerpt *out)
{
	slurm_cred_arg_t *arg =
	        req->cred ? slurm_cred_get_args(req->cred) : NULL;
	dynamic_plugin_data_t *step = arg ? arg->switch_step : NULL;
	/* Only slurmstepd unpacks it, by the plugin that is SwitchType. */
	const struct cplslurm_switch *info =
	        step && slurm_conf.switch_type &&
	                        !strcmp(slurm_conf.switch_type,
	                                "switch/commplace")
	                ? step->data
	                : NULL;
	bool found = info && info->magic == CPLSLURM_SWITCH_MAGIC && info->size;

	if (found)
		*out = (struct cplslurm_excerpt){info->data, info->size};
	if (arg)
		slurm_cred_unlock_args(req->cred);
	return found;
}

void cplslurm_sent_drop(launch_tasks_request_msg_t *req)
{
}

void cplslurm_launch_user(const launch_tasks_request_msg_t *req, uint32_t *uid,
                          uint32_t *gid)
{
	slurm_cred_arg_t *arg =
	        req->cred ? slurm_cred_get_args(req->cred) : NULL;

	*uid = arg ? arg->uid : NO_VAL;
	*gid = arg ? arg->gid : NO_VAL;
	if (arg)
		slurm_cred_unlock_args(req->cred);
}

#endif

/* xdaemon() forks twice. */
#define DAEMON_FORKS 2

static void (*to_start)(void);
static int forks;

static void in_child(void)
{
	if (++forks == DAEMON_FORKS && to_start)
		to_start();
}

void cplslurm_when_daemon(void (*start)(void))
{
	/* A program that is no part of slurmd has no conf. */
	if (!&conf || !conf || !conf->spooldir || running_in_slurmstepd())
		return;
	/* From 23.11 on it is in the background by then. */
	if (!conf->daemonize || CPLSLURM_SERIES >= 2311) {
		start();
		return;
	}
	if (!to_start && pthread_atfork(NULL, NULL, in_child))
		return;
	to_start = start;
}
