/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is what select/cons_tres_commplace does at Slurm's hooks
 * (compat/select_hooks.c), besides what the stock plugin inside does. It is called
 * with slurmctld's locks held; nothing here ends the process or waits longer than
 * MaxDecisionTime (LOAD_WAIT_MS at start-up and reconfiguration). */
/* Tests: * in test_select*. */
#pragma once

#include "ctld.h"

/* This is the engine, or NULL before the first cplselect_configure (and always
 * outside slurmctld). */
extern struct cpl_engine *cplselect_engine;

/* This is called when slurmctld starts or is reconfigured. It makes the engine if
 * need be, and (re)reads the configuration and the node table. */
void cplselect_configure(void);
/* This is called when the node table may have changed. */
void cplselect_nodes_changed(void);
/* This gets the running jobs at start-up. */
void cplselect_restore(cplslurm_list *jobs);
/* This is called when slurmctld ends, or was replaced by another. What is in force
 * is in StateDir when it returns, unless DRAIN_WAIT_MS have passed. It needs no
 * lock. */
void cplselect_drain(void);
/* This ends the engine. */
void cplselect_fini(void);

/* This tells the engine the nodes if they may have changed. It returns -1 if it
 * knows none. */
int cplselect_hosts(void);

/* This chooses nodes for a job: a placement of ours, else the stock answer. */
int cplselect_test(struct cplslurm_test *test);
/* This is called after the allocation. It lays out the ranks and notes that the job
 * runs. */
void cplselect_job_begin(struct job_record *job);
/* This is called after a change of the allocation. */
void cplselect_job_resized(struct job_record *job);
/* This tells that the job's processes were suspended, or go on. */
void cplselect_job_suspended(const struct job_record *job, bool stands);
void cplselect_job_end(const struct job_record *job);
/* This permutes the step's task ids as planned; out->data, which travels with its
 * launch, is the caller's. It returns false if it leaves them unchanged. */
bool cplselect_step(struct cplslurm_step *step, struct cpl_engine_layout *out);
/* This is what a job that has started hands over to the manager of its steps, at
 * most limit bytes, to free(). NULL means nothing. */
unsigned char *cplselect_handover(const struct job_record *job, size_t limit,
                                  size_t *size);
