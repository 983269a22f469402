/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's jobs, nodes and steps in slurmctld as the engine has them. What
 * Slurm's records hold is known below this header only (ctld_internal.h);
 * above it they are handed on unopened. Called with slurmctld's locks held.
 */
/* Tests: conf_size in test_conf_guard; ctld_guard in test_select_guard;
 * ctld_* select_* in test_select*; ctld_layout in test_spread; ctld_install
 * slurm_compat in test_compat; slurm_share in test_select_charge; slurmd_* in
 * test_task_*; submit_hooks in test_job_submit; switch_* in
 * slurm/t51-switch.t. */
#ifndef CPL_COMPAT_CTLD_H
#define CPL_COMPAT_CTLD_H

#include "daemon.h"
#include "site/engine.h"

/* Slurm's records of a job and of a step. */
struct job_record;
struct cplslurm_step;
/* The arguments of select_p_job_test, and what becomes of the call. */
struct cplslurm_test;

/* A test for now, or for when the job could start, of nodes that may be chosen?
 * Else it is the stock plugin's alone. */
bool cplslurm_test_is_choice(const struct cplslurm_test *test);
/* What the stock plugin says to these arguments. */
int cplslurm_ask(const struct cplslurm_test *test);
/* The stock plugin's last answer, told to the log (DebugFlags=SelectType) with
 * what led to it. */
int cplslurm_answer(const struct cplslurm_test *test, const char *why);
/* What the job asks for, all but the scheduler's budget; required is
 * [n_required], malloc()ed by this. -1: out of memory. */
int cplslurm_request(const struct cplslurm_test *test,
                     struct cpl_engine_request *req, int **required);
/* The calls of a decision: with arg = a test. */
extern const struct cpl_engine_scheduler cplslurm_scheduler;
/* free() what cplslurm_measure has noted. */
void cplslurm_test_done(struct cplslurm_test *test);

int64_t cplslurm_job_id(const struct job_record *job);
/* The job with its user's options; texts belong to it. False: it is not known
 * what its record holds. */
bool cplslurm_facts(const struct job_record *job, struct cpl_job_facts *out);

/* The indexes of a job's nodes in order; free(). NULL: none, or memory. */
int *cplslurm_job_hosts(const struct job_record *job, int *n);
/* What a job that begins has got. False: nothing that concerns us. host is to be
 * freed. */
struct cplslurm_start {
	struct cpl_engine_allocation got;
	int *host;
	char shown[32];
};
bool cplslurm_start(struct job_record *job, struct cplslurm_start *out);
/* Tell the job's user and the log. */
void cplslurm_tell(struct job_record *job, const struct cpl_engine_notice *notice);

/* Bytes that the order of a job's ranks may take: several variables
 * (mapping/rank_order.h) where spank_commplace.so takes them away again before
 * they reach a program, in batch jobs. */
size_t cplslurm_order_max(const struct job_record *job);
/* Put the order of a job's ranks into what its script will find in its
 * environment, for spank_commplace.so there; NULL: none, nor that of a run before.
 * That of a component of a heterogeneous job goes to the script of the first. */
void cplslurm_give_order(struct job_record *job, const char *order);

/* Running and suspended jobs of a list; free() them. NULL: memory. */
struct cpl_engine_live *cplslurm_live(cplslurm_list *jobs, int *n);

/* slurmctld reads its jobs and nodes since it has been started or, a backup,
 * takes the place of another that is gone: not since it is reconfigured. O(1).
 */
bool cplslurm_takes_charge(void);

/* Say which of our plugins slurm.conf leaves out, and what that means. */
void cplslurm_say_missing(void);
/* The cluster's name, and whether its users may see each other's jobs. */
const char *cplslurm_cluster(bool *private_jobs);
/* Names by node index, NULL where there is none; free() the array only. */
const char **cplslurm_hosts(int *n);

/*
 * A step that is laid out: lay it out as planned by `by`, which gets arg and
 * fills out, and log what came of it. False: it is no step of ours. out->data
 * is the caller's. Also where Slurm's stepmgr makes the steps, without an
 * engine.
 */
bool cplslurm_step(struct cplslurm_step *step,
                   void (*by)(const void *arg,
                              const struct cpl_engine_step *step,
                              struct cpl_engine_layout *out),
                   const void *arg, struct cpl_engine_layout *out);

#endif
