/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What select/cons_tres_commplace does at Slurm's hooks (compat/select_hooks.c),
 * besides what the stock plugin inside does. Called with slurmctld's locks held;
 * nothing here ends the process or waits longer than MaxDecisionTime (start-up
 * and reconfiguration: LOAD_WAIT_MS).
 */
/* Tests: * in test_select*. */
#ifndef CPL_PLUGINS_SELECT_INTERNAL_H
#define CPL_PLUGINS_SELECT_INTERNAL_H

#include "ctld.h"

/* The engine; NULL before the first cplselect_configure (always so outside
 * slurmctld). */
extern struct cpl_engine *cplselect_engine;

/* slurmctld starts or is reconfigured: make the engine if need be, (re)read
 * the configuration and the node table. */
void cplselect_configure(void);
/* The node table may have changed. */
void cplselect_nodes_changed(void);
/* Running jobs at start-up. */
void cplselect_restore(cplslurm_list *jobs);
/* slurmctld ends, or has given way to another: what is in force is in StateDir
 * when this returns, or DRAIN_WAIT_MS have passed. Needs no lock. */
void cplselect_drain(void);
/* End the engine. */
void cplselect_fini(void);

/* Tell the engine the nodes if they may have changed. -1: it knows none. */
int cplselect_hosts(void);

/* Nodes for a job: a placement of ours, else the stock answer. */
int cplselect_test(struct cplslurm_test *test);
/* After the allocation: lay out the ranks, note the job as running. */
void cplselect_job_begin(struct job_record *job);
/* After a change of the allocation. */
void cplselect_job_resized(struct job_record *job);
/* The job's processes stand still, or go on. */
void cplselect_job_suspended(const struct job_record *job, bool stands);
void cplselect_job_end(const struct job_record *job);
/* Permute the step's task ids as planned; out->data, what travels with its
 * launch, is the caller's. False: it is left as it is. */
bool cplselect_step(struct cplslurm_step *step, struct cpl_engine_layout *out);
/* What a job that has begun hands over to the manager of its steps: at most
 * limit bytes, free(). NULL: nothing. */
unsigned char *cplselect_handover(const struct job_record *job, size_t limit,
                                  size_t *size);

#endif
