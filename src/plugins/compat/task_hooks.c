/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the hooks, see task_internal.h and task_commplace(8). */
#include "commplace-config.h"

#include "layout.h"
#include "layout_fields.h"
#include "slurm_compat_slurmd.h"
#include "task_internal.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/common/log.h"

const char plugin_name[] = "commplace: bind tasks by how they communicate";
const char plugin_type[] = "task/commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

#define USER_BINDING                                                           \
	(CPU_BIND_TO_THREADS | CPU_BIND_TO_CORES | CPU_BIND_TO_SOCKETS |       \
	 CPU_BIND_TO_LDOMS | CPU_BIND_NONE | CPU_BIND_RANK | CPU_BIND_MAP |    \
	 CPU_BIND_MASK | CPU_BIND_LDRANK | CPU_BIND_LDMAP | CPU_BIND_LDMASK)

#define USER_MEMORY                                                            \
	(MEM_BIND_NONE | MEM_BIND_RANK | MEM_BIND_MAP | MEM_BIND_MASK |        \
	 MEM_BIND_LOCAL)

/* The log gets so many characters of a list of masks. */
#define MAX_LOGGED 512

/* slurmstepd keeps the directories that it has made here, by local task. */
static char **made;
static uint32_t n_made;

/* A line of the log is for people, who do not read the masks of hundreds of tasks;
 * --cpu-bind=verbose prints each. */
static int masks_to_log(const char *masks)
{
	int end = (int)strlen(masks);

	if (end > MAX_LOGGED)
		for (end = MAX_LOGGED; end && masks[end] != ',';)
			end--;
	return end;
}

static struct cplslurm_layout daemon_conf = CPLSLURM_LAYOUT(slurmd_conf_t);
static struct cplslurm_layout launch_request =
        CPLSLURM_LAYOUT(launch_tasks_request_msg_t);
static struct cplslurm_layout batch_request =
        CPLSLURM_LAYOUT(batch_job_launch_msg_t);
static struct cplslurm_layout stepd = CPLSLURM_LAYOUT(stepd_step_rec_t);
static struct cplslurm_layout stepd_task =
        CPLSLURM_LAYOUT(stepd_step_task_info_t);

static bool conf_is_ours(void)
{
	return cplslurm_is_ours(&daemon_conf, &conf ? conf : NULL);
}

static bool launch_is_ours(const launch_tasks_request_msg_t *req)
{
	return conf_is_ours() && cplslurm_is_ours(&launch_request, req);
}

static bool step_is_ours(const stepd_step_rec_t *job)
{
	return conf_is_ours() && cplslurm_is_ours(&stepd, job);
}

static const struct cpl_field in_slurmd[] = {
        CPLSLURM_NODE_FIELDS(CPLSLURM_FIELD_AT)};
static const struct cpl_field in_slurmstepd[] = {
        CPLSLURM_NODE_FIELDS(CPLSLURM_FIELD_AT)
        CPLSLURM_STEPD_FIELDS(CPLSLURM_FIELD_AT)};

/* slurmd looks at the program of slurmstepd, too: each step starts one, which leaves
 * alone what slurmd has left alone. */
static void probe_programs(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0 || !cplslurm_in_slurmd())
		return;
	path[n] = '\0';
	cplslurm_layout_probe(path, in_slurmd,
	                      sizeof(in_slurmd) / sizeof(*in_slurmd));
	slash = strrchr(path, '/');
	if (!slash || snprintf(slash, sizeof(path) - (size_t)(slash - path),
	                       "/slurmstepd") >=
	                      (int)(sizeof(path) - (size_t)(slash - path)))
		return;
	cplslurm_layout_probe(path, in_slurmstepd,
	                      sizeof(in_slurmstepd) / sizeof(*in_slurmstepd));
}

/* Slurm declares the hooks nowhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Slurm loads no plugin that lacks one of these. */
#define NOTHING(hook, ...)                                                     \
	int task_p_##hook(__VA_ARGS__)                                         \
	{                                                                      \
		return SLURM_SUCCESS;                                          \
	}
#if CPLSLURM_SERIES < 2302
NOTHING(pre_setuid, stepd_step_rec_t *job)
NOTHING(pre_set_affinity, stepd_step_rec_t *job, uint32_t node_tid)
NOTHING(set_affinity, stepd_step_rec_t *job, uint32_t node_tid)
#elif CPLSLURM_SERIES >= 2605
NOTHING(update_mem_limit, stepd_step_rec_t *job, uint64_t job_mem,
        uint64_t step_mem)
#endif
#if CPLSLURM_SERIES < 2411
NOTHING(slurmd_suspend_job, uint32_t job_id)
NOTHING(slurmd_resume_job, uint32_t job_id)
#endif
NOTHING(add_pid, pid_t pid)

int init(void)
{
	struct cpl_error err = {""};
	const char *others;

	if (cplslurm_conf_check(&err)) {
		error("commplace: %s", err.text);
		return SLURM_ERROR;
	}
	probe_programs();
	others = slurm_conf.task_plugin;
	if (others && strncmp(others, plugin_type, sizeof(plugin_type) - 1))
		error("commplace: TaskPlugin=%s: task/commplace must come "
		      "first, or it takes Slurm's own binding for the user's",
		      others);
	if (conf_is_ours())
		cpltask_sweep_init();
	return SLURM_SUCCESS;
}

int fini(void)
{
	cpltask_sweep_fini();
	cpltask_plan_fini();
	for (uint32_t i = 0; i < n_made; i++)
		free(made[i]);
	free(made);
	made = NULL;
	n_made = 0;
	return SLURM_SUCCESS;
}

/* A job inherits what its user's environment claims, a nested step what the
 * task around it was told. */
static void clear_environment(char **env, uint32_t *n)
{
	static const char *const ours[] = {CPLTASK_FREE, CPLTASK_BOUND,
	                                   CPLTASK_MEMS, CPLTASK_PLAN,
	                                   CPLTASK_CPUS, CPLTASK_NICS,
	                                   CPLTASK_NIC};

	if (!env)
		return;
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		cplslurm_unset_env(env, ours[i]);
	*n = cplslurm_count_env(env);
}

int task_p_slurmd_batch_request(batch_job_launch_msg_t *req)
{
	if (cplslurm_is_ours(&batch_request, req))
		clear_environment(req->environment, &req->envc);
	return SLURM_SUCCESS;
}

/* --hint=nomultithread comes as --cpu-bind=threads with a further bit. */
static bool is_users(const launch_tasks_request_msg_t *req)
{
	uint32_t binding = req->cpu_bind_type & USER_BINDING;

	return binding &&
	       (binding != CPU_BIND_TO_THREADS ||
	        !(req->cpu_bind_type & CPU_BIND_ONE_THREAD_PER_CORE));
}

/* These parts of a step say how its tasks are bound: those of a launch request, or
 * of a step in slurmstepd. */
struct bound {
	char **masks, ***env;
	uint32_t memory; /* It is mem_bind_type. */
};

static int mark_bound(const struct bound *to, const struct cpltask_plan *plan)
{
	if (cplslurm_put_env(to->env, CPLTASK_BOUND, "1"))
		return -1;
	if (!plan->mems || (to->memory & USER_MEMORY) ||
	    !cplslurm_put_env(to->env, CPLTASK_MEMS, plan->mems))
		return 0;
	cplslurm_unset_env(*to->env, CPLTASK_BOUND);
	return -1;
}

/* Put the masks in the place of Slurm's own; where CPUs are pretended, only tell
 * them. Return 0, or -1 where memory is out and all is as it was. */
static int put_masks(const struct bound *to, const struct cpltask_plan *plan)
{
	char *masks;

	if (!plan->binding)
		return cplslurm_put_env(to->env, CPLTASK_PLAN, plan->masks);
	masks = cplslurm_copy(plan->masks);
	if (!masks || mark_bound(to, plan)) {
		xfree(masks);
		return -1;
	}
	xfree(*to->masks);
	*to->masks = masks;
	return 0;
}

/* The same, with what tasks are told of adapters. */
static int bind_by(const struct bound *to, const struct cpltask_plan *plan)
{
	if (plan->nics && cplslurm_put_env(to->env, CPLTASK_NICS, plan->nics))
		return -1;
	if (!put_masks(to, plan))
		return 0;
	cplslurm_unset_env(*to->env, CPLTASK_NICS);
	return -1;
}

static void tell(const slurm_step_id_t *id, const struct cpltask_plan *plan)
{
	int shown = masks_to_log(plan->masks);
	char far[128] = "";

	if (plan->n_far)
		snprintf(far, sizeof(far), ", %d tasks not near their GPU",
		         plan->n_far);
	if (plan->split)
		strcat(far, ", GPUs not told apart: cores split evenly");
	info("commplace: %ps: %s %s, profile %s, masks %.*s%s, cost %g, packed "
	     "order %g%s",
	     id, plan->binding ? "bound by" : "pretended CPUs, plan",
	     plan->binder, plan->profile, shown, plan->masks,
	     plan->masks[shown] ? ",..." : "", plan->cost, plan->cost_packed,
	     far);
}

/* Return 1 with a plan that is in the step, or 0 for Slurm's own binding, which is
 * logged. */
static int plan_or_leave(const launch_tasks_request_msg_t *req,
                         uint32_t node_id, const struct bound *to,
                         struct cpltask_plan *plan)
{
	struct cpl_error err = {""};
	struct cplslurm_launch launch;
	int rc = 0;

	if (cplslurm_launch(req, node_id, &launch))
		rc = cpltask_plan(&launch, plan, &err);
	if (rc > 0 && bind_by(to, plan)) {
		cpltask_plan_free(plan);
		rc = cpl_fail_memory(&err);
	}
	if (rc < 0)
		info("commplace: %ps: left to Slurm's binding: %s",
		     &req->step_id, err.text);
	return rc > 0;
}

static void sweep_later(const launch_tasks_request_msg_t *req)
{
	struct cplslurm_step_id id = cplslurm_step_id(&req->step_id);
	uint32_t uid, gid;

	cplslurm_launch_user(req, &uid, &gid);
	cpltask_sweep_later(&id, uid);
}

/* Tell if this launch is bound without us; else clear what its user set for us. */
static bool is_left(launch_tasks_request_msg_t *req)
{
	if (!launch_is_ours(req))
		return true;
	clear_environment(req->env, &req->envc);
	if (!is_users(req))
		return false;
	debug("commplace: %ps: --cpu-bind or CpuBind decides", &req->step_id);
	return true;
}

#if CPLSLURM_SERIES < 2302

int task_p_slurmd_launch_request(launch_tasks_request_msg_t *req,
                                 uint32_t node_id, char **err_msg)
{
	const struct bound to = {&req->cpu_bind, &req->env,
	                         req->mem_bind_type};
	struct cpltask_plan plan;

	if (is_left(req))
		return SLURM_SUCCESS;
	if (!plan_or_leave(req, node_id, &to, &plan)) {
		cplslurm_sent_drop(req);
		return SLURM_SUCCESS;
	}
	/* slurmstepd has no use for it. */
	cplslurm_sent_drop(req);
	req->cpu_bind_type &= ~CPU_BIND_TO_THREADS;
	req->cpu_bind_type |= plan.binding ? CPU_BIND_MASK : CPU_BIND_NONE;
	if (plan.binding)
		sweep_later(req);
	req->envc = cplslurm_count_env(req->env);
	tell(&req->step_id, &plan);
	cpltask_plan_free(&plan);
	return SLURM_SUCCESS;
}

#else

/* slurmd has what slurmctld sent in no readable form: slurmstepd plans, and
 * has to know that its user left the binding to us. */
int task_p_slurmd_launch_request(launch_tasks_request_msg_t *req,
                                 uint32_t node_id, char **err_msg)
{
	if (is_left(req))
		return SLURM_SUCCESS;
	sweep_later(req);
	/* task/affinity, which follows, fails on CPUs that do not exist. */
	if (cpltask_counts_pretended() &&
	    cplslurm_options(req->spank_job_env, req->spank_job_env_size)
	            .profile)
		req->cpu_bind_type |= CPU_BIND_NONE;
	/* Without it slurmstepd leaves the step to Slurm's binding. */
	if (cplslurm_put_env(&req->env, CPLTASK_FREE, "1"))
		error("commplace: %ps: out of memory", &req->step_id);
	req->envc = cplslurm_count_env(req->env);
	return SLURM_SUCCESS;
}

int task_p_pre_setuid(stepd_step_rec_t *job)
{
	const struct bound to = {&job->cpu_bind, &job->env, job->mem_bind_type};
	struct cpltask_plan plan;

	if (!step_is_ours(job) || !launch_is_ours(job->msg) || job->batch ||
	    !job->msg || !cplslurm_get_env(job->env, CPLTASK_FREE))
		return SLURM_SUCCESS;
	cplslurm_unset_env(job->env, CPLTASK_FREE);
	if (!plan_or_leave(job->msg, job->nodeid, &to, &plan))
		return SLURM_SUCCESS;
	/* task/affinity, whose turn is next, goes by these. */
	job->cpu_bind_type &= CPU_BIND_VERBOSE | CPU_BIND_ONE_THREAD_PER_CORE;
	job->cpu_bind_type |= plan.binding ? CPU_BIND_MASK : CPU_BIND_NONE;
	tell(&job->step_id, &plan);
	cpltask_plan_free(&plan);
	return SLURM_SUCCESS;
}

#endif

struct move {
	stepd_step_rec_t *job;
	pid_t pid;
	uint32_t task;
};

static int move_task(void *arg)
{
	struct move *m = arg;

	return cgroup_g_task_addto(CG_CPUS, m->job, m->pid, m->task);
}

static int set_affinity(pid_t pid, hwloc_const_bitmap_t cpus)
{
	int n = hwloc_bitmap_last(cpus) + 1;
	size_t size = CPU_ALLOC_SIZE(n);
	cpu_set_t *set = CPU_ALLOC(n);
	unsigned cpu;
	int rc;

	if (!set)
		return -1;
	CPU_ZERO_S(size, set);
	hwloc_bitmap_foreach_begin(cpu, cpus) CPU_SET_S(cpu, size, set);
	hwloc_bitmap_foreach_end();
	rc = sched_setaffinity(pid, size, set);
	CPU_FREE(set);
	return rc;
}

/* Return room for the paths of all local tasks, or NULL when memory is out. */
static char **made_by(const stepd_step_rec_t *job, uint32_t task)
{
	uint32_t n = job->node_tasks > task ? job->node_tasks : task + 1;
	char **more;

	if (n > n_made) {
		more = realloc(made, n * sizeof(*made));
		if (!more)
			return NULL;
		memset(more + n_made, 0, (n - n_made) * sizeof(*made));
		made = more;
		n_made = n;
	}
	return &made[task];
}

static void release(uint32_t task)
{
	if (task >= n_made || !made[task])
		return;
	cpltask_cgroup_release(made[task]);
	free(made[task]);
	made[task] = NULL;
}

/* Tell whether the step's masks in slurmstepd are ours. */
static bool is_ours(const stepd_step_rec_t *job, uint32_t node_tid)
{
	return step_is_ours(job) &&
	       cplslurm_is_ours(&stepd_task, job->task[node_tid]) &&
	       cplslurm_get_env(job->env, CPLTASK_BOUND) &&
	       (job->cpu_bind_type & CPU_BIND_MASK);
}

/* It answers as cpltask_cgroup_again does, so that confine() can call either. */
static int confine_first(const struct cpltask_confine *want,
                         uint32_t node_tid, struct cpl_error *err)
{
	release(node_tid);
	return cpltask_cgroup_confine(want, &made[node_tid], err) ? -1 : 1;
}

/* global_tid names directories of tasks from 23.02 on. */
static void confine(stepd_step_rec_t *job, uint32_t node_tid,
                    uint32_t global_tid,
                    int (*by)(const struct cpltask_confine *, uint32_t,
                              struct cpl_error *))
{
	struct move move = {job, 0, global_tid};
	hwloc_bitmap_t cpus = NULL, mems = NULL;
	struct cpl_error err = {""};
	char *list = NULL;
	int rc;

	if (!is_ours(job, node_tid))
		return;
	move.pid = job->task[node_tid]->pid;
	cpus = cpltask_mask(job->cpu_bind, (int)node_tid);
	if (cpus)
		hwloc_bitmap_list_asprintf(&list, cpus);
	if (!list || !made_by(job, node_tid)) {
		error("commplace: %ps: task %u: no mask in '%s'", &job->step_id,
		      node_tid, job->cpu_bind);
		goto done;
	}
	mems = cpltask_mask(cplslurm_get_env(job->env, CPLTASK_MEMS),
	                    (int)node_tid);
	struct cpltask_confine want = {
	        .pid = move.pid,
	        .job = job->step_id.job_id,
	        .task = (int)global_tid,
	        .cpus = list,
	        .mems = mems,
	        .move = move_task,
	        .arg = &move,
	};
	rc = by(&want, node_tid, &err);
	if (rc < 0)
		error("commplace: %ps: task %u is bound by affinity only: %s",
		      &job->step_id, node_tid, err.text);
	else if (err.text[0])
		info("commplace: %ps: task %u has the memory of its step: %s",
		     &job->step_id, node_tid, err.text);
	/* Joining a cpuset resets the mask to all of it. */
	if (rc && set_affinity(move.pid, cpus))
		error("commplace: %ps: task %u: cannot bind to %s: %s",
		      &job->step_id, node_tid, list, strerror(errno));
done:
	free(list);
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(mems);
}

#if CPLSLURM_SERIES < 2302

int task_p_post_set_affinity(stepd_step_rec_t *job, uint32_t node_tid)
{
	confine(job, node_tid, node_tid, confine_first);
	return SLURM_SUCCESS;
}

#else

static stepd_step_rec_t *launched;

static int confine_again(const struct cpltask_confine *want,
                         uint32_t node_tid, struct cpl_error *err)
{
	return cpltask_cgroup_left(want) ? confine_first(want, node_tid, err)
	                                 : cpltask_cgroup_again(want, err);
}

int task_p_pre_launch_priv(stepd_step_rec_t *job, uint32_t node_tid,
                           uint32_t global_tid)
{
	launched = job;
	confine(job, node_tid, global_tid, confine_first);
	return SLURM_SUCCESS;
}

void cpltask_forked(uint32_t node_tid)
{
	if (launched && step_is_ours(launched) &&
	    node_tid < launched->node_tasks)
		confine(launched, node_tid, launched->task[node_tid]->gtid,
		        confine_again);
}

#endif

static bool is_set(const char *name, void *arg)
{
	stepd_step_rec_t *job = arg;

	return cplslurm_get_env(job->env, name) != NULL;
}

static void set_variable(const char *name, const char *value, void *arg)
{
	stepd_step_rec_t *job = arg;

	cplslurm_put_env(&job->env, name, value);
}

/* Tell the task its adapters, and put away what it has of the others'. */
static void tell_nics(stepd_step_rec_t *job)
{
	const char *told = cplslurm_get_env(job->env, CPLTASK_NICS);
	char *nics = told ? strdup(told) : NULL;

	cplslurm_unset_env(job->env, CPLTASK_NICS);
	if (nics)
		cpltask_nic_variables(nics, job->envtp->localid, is_set,
		                      set_variable, job);
	free(nics);
}

/* Slurm calls this in the task, as the user. */
int task_p_pre_launch(stepd_step_rec_t *job)
{
	const char *masks = NULL;
	hwloc_bitmap_t cpus;
	char *list = NULL;

	if (!step_is_ours(job) || !job->env || !job->envtp)
		return SLURM_SUCCESS;
	tell_nics(job);
	if (cplslurm_get_env(job->env, CPLTASK_BOUND)) {
		cplslurm_unset_env(job->env, CPLTASK_BOUND);
		cplslurm_unset_env(job->env, CPLTASK_MEMS);
		masks = job->cpu_bind;
	} else {
		masks = cplslurm_get_env(job->env, CPLTASK_PLAN);
	}
	cpus = cpltask_mask(masks, job->envtp->localid);
	if (cpus)
		hwloc_bitmap_list_asprintf(&list, cpus);
	if (list)
		cplslurm_put_env(&job->env, CPLTASK_CPUS, list);
	free(list);
	hwloc_bitmap_free(cpus);
	return SLURM_SUCCESS;
}

int task_p_post_term(stepd_step_rec_t *job, stepd_step_task_info_t *task)
{
	if (cplslurm_is_ours(&stepd_task, task))
		release((uint32_t)task->id);
	return SLURM_SUCCESS;
}

int task_p_post_step(stepd_step_rec_t *job)
{
	for (uint32_t i = 0; i < n_made; i++)
		release(i);
	return SLURM_SUCCESS;
}
