/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Through this header the engine sees Slurm's jobs, nodes and steps in slurmctld.
 * Only the files below it know what Slurm's records hold (ctld_internal.h); above it
 * they are handed on unopened. Call all of it with slurmctld's locks held. */
/* Tests: conf_size in test_conf_guard; ctld_guard in test_select_guard;
 * ctld_* select_* in test_select*; ctld_layout in test_spread; ctld_install
 * slurm_compat in test_compat; slurm_share in test_select_charge; slurmd_* in
 * test_task_*; submit_hooks in test_job_submit; switch_* in
 * slurm/t51-switch.t. */
#pragma once

#include "daemon.h"
#include "site/engine.h"

/* These are Slurm's records of a job and of a step. */
struct job_record;
struct cplslurm_step;
/* It has the arguments of select_p_job_test, and what becomes of the call. */
struct cplslurm_test;

/* Tell whether this is a test for now, or for when the job could start, of nodes
 * that may be chosen. Any other is the stock plugin's alone. */
bool cplslurm_test_is_choice(const struct cplslurm_test *test);
/* Return what the stock plugin says to these arguments. */
int cplslurm_ask(const struct cplslurm_test *test);
/* Return the stock plugin's last answer, and log it (DebugFlags=SelectType) with
 * what led to it. */
int cplslurm_answer(const struct cplslurm_test *test, const char *why);
/* Fill req with what the job asks for, all but the scheduler's budget; required is
 * [n_required], malloc()ed by this. Return 0, or -1 where memory is out. */
int cplslurm_request(struct cplslurm_test *test,
                     struct cpl_engine_request *req, int **required);
/* A decision makes these calls, with a test as arg. */
extern const struct cpl_engine_scheduler cplslurm_scheduler;
/* Free what cplslurm_measure has noted. */
void cplslurm_test_done(struct cplslurm_test *test);

int64_t cplslurm_job_id(const struct job_record *job);
/* Fill out with the job and its user's options, whose texts belong to it. Return
 * false where it is not known what its record holds. */
bool cplslurm_facts(const struct job_record *job, struct cpl_job_facts *out);

/* Return a job's nodes' indexes in order, to be freed; NULL for none or no
 * memory. */
int *cplslurm_job_hosts(const struct job_record *job, int *n);
/* A job that begins has got this, and host is to be freed. The function returns
 * false where nothing of it concerns us. */
struct cplslurm_start {
	struct cpl_engine_allocation got;
	int *host;
	char shown[32];
};
bool cplslurm_start(struct job_record *job, struct cplslurm_start *out);
/* Tell the job's user and the log of notice. */
void cplslurm_tell(struct job_record *job, const struct cpl_engine_notice *notice);

/* Put the order of a job's ranks into its script's environment for
 * spank_commplace.so there; with NULL there is none, nor that of an earlier run.
 * That of a component of a heterogeneous job goes to the script of the first. */
void cplslurm_give_order(struct job_record *job, const char *order);

/* Return the running and suspended jobs of a list, to be freed; NULL: no memory. */
struct cpl_engine_live *cplslurm_live(cplslurm_list *jobs, int *n);

/* Tell whether slurmctld reads its jobs and nodes because it has been started or, as
 * a backup, takes the place of another that is gone, rather than is reconfigured.
 * O(1). */
bool cplslurm_takes_charge(void);

/* Log which of our plugins slurm.conf leaves out, and what that means. */
void cplslurm_say_missing(void);
/* Return the cluster's name, and whether users are not to see each other's jobs. */
const char *cplslurm_cluster(bool *private_jobs);
/* Return nodes' names by index, NULL where there is none; free the array only. */
const char **cplslurm_hosts(int *n);

/* Lay out a step as planned by `by`, which gets arg and fills out, and log what came
 * of it. Return false where it is no step of ours. out->data is the caller's. This
 * works without an engine, too, where Slurm's stepmgr makes the steps. */
bool cplslurm_step(struct cplslurm_step *step,
                   void (*by)(const void *arg,
                              const struct cpl_engine_step *step,
                              struct cpl_engine_layout *out),
                   const void *arg, struct cpl_engine_layout *out);
