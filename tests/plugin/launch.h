/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for slurmd in tests of the task plugin: its configuration, what a
 * launch is allocated, and hand-made launch requests; and for slurmctld, which
 * sends along what its commplace.conf says of the job's profile. One folder
 * holds both their commplace.conf and the profiles.
 */
#pragma once

#include "slurm_compat_slurmd.h"
#include "task_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define LAUNCH_TASKS 256

int fini(void);

/* What the hooks before the start of a step's tasks make of its request: all of
 * it in slurmd, or from 23.11 on the plan in slurmstepd. SLURM_SUCCESS. */
int launch_bind(launch_tasks_request_msg_t *req, uint32_t node);
/* The hook before a task's start, as root. */
int launch_confine(stepd_step_rec_t *step, uint32_t task);
/* Is anything sent? In 23.11 nodes have the profile of the job's option only. */
#define LAUNCH_SENDS (CPLSLURM_SERIES < 2302 || CPLSLURM_SERIES >= 2405)
/* Does what was sent stay with the launch? In slurmd it is dropped. */
#define LAUNCH_KEEPS (CPLSLURM_SERIES >= 2302)

#define slurmd (*conf)
extern const char *credential; /* cores of the step on this node */
extern char launch_dir[];
extern uint16_t to_launch[2];
extern uint32_t ids[2][LAUNCH_TASKS];
extern uint32_t *id_rows[2];

struct machine {
	int sockets, cores, threads, cpus;
	int seen; /* CPUs that slurmd's hwloc sees; fewer: pretended */
};

/* Group fixtures. A profile pairs4 is there: 0 and 2, 1 and 3 talk. */
int launch_set_up(void **state);
int launch_tear_down(void **state);

void write_file(const char *name, const char *text);
/* commplace.conf of the folder as ProfileDir, and more lines. */
void write_config(const char *more);
/* The node, and hwloc's synthetic tree of it. */
void set_machine(const struct machine *m);
/* So many CPUs are there. */
void see_cpus(int seen);

/* What slurmctld sends; data NULL: it makes it up from the folder's files, the
 * job's profile being the one of the request's environment. */
extern struct cplslurm_excerpt carried;
extern bool nothing_sent; /* it has no plugin of ours */

/* Of one node, with profile pairs4; id NULL: tasks 0, 1, ... */
launch_tasks_request_msg_t *new_request(int tasks, const uint32_t *id);
/* Every request's. */
extern slurm_cred_t *const launch_credential;
/* From 24.05 on it is locked to be read. Locks that are held, and whether there
 * is nothing behind them. */
extern int credential_locks;
extern bool no_arguments;
/* Whose step it is. */
void set_user(launch_tasks_request_msg_t *req, uid_t uid, gid_t gid);
void free_request(launch_tasks_request_msg_t *req);

/* cpltask_plan of a request; 0, too, where it has no tasks to plan for. */
int plan_of(const launch_tasks_request_msg_t *req, uint32_t node,
            struct cpltask_plan *plan, struct cpl_error *err);
