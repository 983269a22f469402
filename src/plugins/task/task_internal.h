/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In slurmd (from 24.05 on in slurmstepd), task/commplace makes CPU masks of a
 * step's local tasks from the profile of the job; in slurmstepd, it makes a cpuset
 * cgroup for each such task. A failure leaves the step to Slurm's own binding. */
/* Tests: * in test_task_*. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "binding/devices.h"
#include "binding/launch.h"
#include "site/store.h"
#include "slurmd.h"

/* This variable from slurmd to slurmstepd, which is gone before the task starts,
 * says that the user left the binding to us. */
#define CPLTASK_FREE "COMMPLACE_FREE"
/* This one says that the masks are ours. */
#define CPLTASK_BOUND "COMMPLACE_BOUND"
/* This one has NUMA nodes as masks, one per local task, but only with BindMemory. */
#define CPLTASK_MEMS "COMMPLACE_MEMS"
/* This one says what variables of local tasks get which adapters, but only with
 * NearNic: "verbs;UCX_NET_DEVICES;mlx5_0;mlx5_1" ("net": interfaces; "yes": none but
 * our own). */
#define CPLTASK_NICS "COMMPLACE_NICS"
/* For tasks of nodes whose CPUs are not real, this has the masks, which are not
 * enforced. */
#define CPLTASK_PLAN "COMMPLACE_PLAN"
/* For the task, this lists the CPUs that it was given. */
#define CPLTASK_CPUS "COMMPLACE_CPUS"
/* And this the adapters near its GPUs. */
#define CPLTASK_NIC "COMMPLACE_NIC"

/* This node's own commplace.conf says this. */
struct cpltask_site {
	char *dir;        /* ProfileDir */
	int64_t deadline; /* of the launch, for what follows */
	/* Of a step that names a profile: */
	bool bind, memory; /* bind its tasks, their memory too */
	char binder[CPL_LAUNCH_NAME_MAX + 1];
	char nic[CPL_LAUNCH_NAME_MAX + 1]; /* as in struct cpl_launch */
};

/* This is for a launch that needs a file, or a step that names a profile (own, else
 * NULL). It waits for launch->patience at most. It returns 0, and then free
 * site->dir, or -1 with err. */
int cpltask_site(const struct cplslurm_launch *launch, const char *own,
                 struct cpltask_site *out, struct cpl_error *err);

/* This returns the profile that a launch names but does not carry, or another one
 * of the folder that the step names (own) and its user may read. It waits until
 * site->deadline. It returns a reference, or NULL with err. */
struct cpl_profile *cpltask_file(const struct cplslurm_launch *launch,
                                 const struct cpltask_site *site,
                                 const struct cpl_launch *told,
                                 const char *own, struct cpl_error *err);
/* This ends the threads and drops what was read. */
void cpltask_file_fini(void);

/* Call set with each variable that CPLTASK_NICS has for a local task. Where one is
 * `taken`, its user has set it. */
void cpltask_nic_variables(const char *nics, int task,
                           bool (*taken)(const char *name, void *arg),
                           void (*set)(const char *name, const char *value,
                                       void *arg),
                           void *arg);

struct cpltask_plan {
	char *masks;   /* "0x1,0x2", one per local task, OS numbers; free() */
	char *mems;    /* likewise its NUMA nodes, NULL: without BindMemory */
	char *nics;    /* CPLTASK_NICS, NULL: without NearNic or adapters */
	bool binding;  /* the CPUs exist: bind; else hand over only */
	char *profile; /* free() */
	const char *binder;
	double cost, cost_packed;
	int n_far; /* tasks that are not near their GPU */
	bool split; /* nothing tells GPUs apart: they share the cores evenly */
};

/* More CPUs configured than slurmd sees (config_overrides)? */
bool cpltask_counts_pretended(void);

/* OS numbers of the CPUs of Slurm's cores "0-3", to be freed; NULL with err. */
hwloc_bitmap_t cpltask_cpus_of_cores(const char *cores, struct cpl_error *err);

/*
 * What is near the GPUs of each local task: those that Slurm binds it to, or, where
 * nobody has bound them, those of the task's number. What is near a GPU gres.conf
 * says (Cores=), else hwloc; see cpl_gpus_near. req has all members but near. 1 with
 * out made, 0: no task has GPUs that are known, -1 with err.
 */
int cpltask_near(const struct cplslurm_launch *launch,
                 const struct cpl_bind_request *req, struct cpl_gpu_near *out,
                 struct cpl_error *err);
/* CPLTASK_NICS for these tasks, to be freed; *out is NULL where there are no adapters.
 * names: nic of struct cpl_launch. 0, or -1 with err. */
int cpltask_nics(const struct cpl_gpu_near *near, const char *names, char **out,
                 struct cpl_error *err);
/* Drop what hwloc said. */
void cpltask_near_fini(void);

/*
 * The plan for the tasks of a launch. 1 and the plan made; 0: none is wanted
 * (slurmctld sent nothing, or --comm-profile=none); -1 with err. Whether its
 * user stated a binding is for the caller to look at.
 */
int cpltask_plan(const struct cplslurm_launch *launch,
                 struct cpltask_plan *plan, struct cpl_error *err);
void cpltask_plan_free(struct cpltask_plan *plan);
/* Drop the node's topology and the kept profiles. */
void cpltask_plan_fini(void);

/* The which-th of the comma-separated masks; NULL when there is none such. */
hwloc_bitmap_t cpltask_mask(const char *masks, int which);

enum cpltask_cgroup { CPLTASK_NO_CGROUP, CPLTASK_V1, CPLTASK_V2 };

/*
 * The cpuset hierarchy in the text of /proc/PID/cgroup: path (size bytes)
 * below its mount. None outside of a step's directory (".../step_0", in v2
 * ".../step_0/user/task_special"), as without ConstrainCores.
 */
enum cpltask_cgroup cpltask_cgroup_find(const char *text, char *path,
                                        size_t size);

struct cpltask_confine {
	pid_t pid;
	uint32_t job;
	int task;
	const char *cpus;          /* a list, "0,4-7" */
	hwloc_const_bitmap_t mems; /* NULL: the memory that the step has */
	int (*move)(void *arg); /* v2: Slurm's move to a directory of its own */
	void *arg;
};

/*
 * Confine a process to CPUs, and to those of the NUMA nodes that its step has.
 * v1: in a new directory task_ID of the step's, whose path goes into *made for
 * cpltask_cgroup_release (NULL: nothing made); v2: in the directory that move
 * puts the process into. 0 also when the process is in no step's cpuset, with a
 * text in err when only the memory could not be confined; -1 with err, the
 * process then being where it was.
 */
int cpltask_cgroup_confine(const struct cpltask_confine *want, char **made,
                           struct cpl_error *err);

/* Has Slurm moved the task out of that directory since? In 23.11 and 24.05 task/cgroup
 * puts each task among all of its step's: confine it anew. */
bool cpltask_cgroup_left(const struct cpltask_confine *want);

/* The same in v1 where Slurm has undone it: from 24.11 on task/cgroup moves each
 * task to a directory with all of the step's CPUs. 1: confined; 0: nothing to
 * do; -1 with err. */
int cpltask_cgroup_again(const struct cpltask_confine *want,
                         struct cpl_error *err);

/* For spank_commplace.so, in slurmstepd: all task plugins are done with a local
 * task. From 23.02 on. */
void cpltask_forked(uint32_t node_tid);

/* Call found for the step's directory in each hierarchy that has one: its path,
 * to be changed at will, and the number of directories above it that are the
 * job's or the user's. step: "0", in a heterogeneous job "0+1". */
void cpltask_cgroup_of_step(const char *node, uint32_t uid, uint32_t job,
                            const char *step,
                            void (*found)(char *dir, int above, void *arg),
                            void *arg);

/* Call found for each task of the node that was confined: its job, step and, in
 * v1, user. */
void cpltask_cgroup_steps(const char *node,
                          void (*found)(uint32_t job, const char *step,
                                        uint32_t uid));

/* Remove a directory made above; what still runs in it goes to the step's. */
void cpltask_cgroup_release(const char *made);

/* In slurmd: once the step's slurmstepd is gone, end what it left of the step's
 * processes and remove its cgroups. */
void cpltask_sweep_later(const struct cplslurm_step_id *id, uint32_t uid);
/* The same for the steps that an earlier slurmd left, running or not. */
void cpltask_sweep_init(void);
void cpltask_sweep_fini(void);
