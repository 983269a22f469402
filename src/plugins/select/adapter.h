/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between Slurm's types and the engine's. Called from the hooks with
 * slurmctld's locks held; nothing here ends the process or waits longer than
 * MaxDecisionTime (start-up and reconfiguration: ADAPTER_LOAD_WAIT_MS).
 */
#ifndef CPL_PLUGINS_SELECT_ADAPTER_H
#define CPL_PLUGINS_SELECT_ADAPTER_H

#include "inner.h"
#include "site/engine.h"

#define ADAPTER_LOAD_WAIT_MS 2000

/* The arguments of select_p_job_test. */
struct job_test {
	job_record_t *job_ptr;
	bitstr_t *bitmap;
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	List preemptee_candidates;
	List *preemptee_job_list;
	bitstr_t *exc_core_bitmap;
};

/* The engine; NULL before the first adapter_configure (always so outside
 * slurmctld). */
extern struct cpl_engine *adapter_engine;

/* Make the engine if need be, (re)read the configuration and the node table. */
void adapter_configure(void);
/* End the engine. */
void adapter_fini(void);

/* Tell the engine the nodes when they changed. -1: it knows none. */
int adapter_hosts(void);

/* select_p_job_test: a placement of ours, else the stock answer. */
int adapter_job_test(const struct job_test *test);

/*
 * The job accepted last and its id then. select_nodes() of slurmctld calls
 * job_test and job_begin under one lock, but the element of a job array that
 * starts may have got another id in between.
 */
struct accepted {
	const job_record_t *job_ptr;
	uint32_t id;
};
extern struct accepted adapter_accepted;

/* What the stock plugin says to these arguments. */
int adapter_inner_test(const struct job_test *test);

/* Free CPUs of the nodes that the job could use now, by what Slurm knows of
 * CPUs, memory and, for jobs that take whole nodes, idleness. */
struct capacity {
	uint32_t *cpus; /* [n] free CPUs, 0: not usable */
	int n;          /* node_record_count */
};
/* Fill out->cpus (malloc) for the nodes in bitmap. -1: memory. */
int adapter_capacity(const struct job_test *test, struct capacity *out);

/* After the allocation: plan the ranks, note the job as running. */
void adapter_job_begin(job_record_t *job_ptr);
/* After a change of the allocation. */
void adapter_job_resized(job_record_t *job_ptr);
/* Running jobs at start-up. */
void adapter_job_init(List jobs);
/* Permute the step's task ids as planned. */
void adapter_step_start(step_record_t *step_ptr);
/* After that: attach the excerpt of the job's profile, see jobinfo.c. */
void adapter_step_excerpt(step_record_t *step_ptr);

/* The job with its user's wishes; texts belong to job_ptr. */
struct cpl_engine_job adapter_describe(const job_record_t *job_ptr);

/* select_p_select_jobinfo_*; drop: forget the excerpt. */
int adapter_jobinfo_free(select_jobinfo_t *jobinfo);
select_jobinfo_t *adapter_jobinfo_copy(select_jobinfo_t *jobinfo);
int adapter_jobinfo_get(select_jobinfo_t *jobinfo, int type, void *data);
int adapter_jobinfo_drop(select_jobinfo_t *jobinfo);
int adapter_jobinfo_pack(select_jobinfo_t *jobinfo, buf_t *buffer);
int adapter_jobinfo_unpack(select_jobinfo_t **jobinfo, buf_t *buffer);

/*
 * Did the user state how tasks are distributed (-m, --distribution,
 * SLURM_DISTRIBUTION) for this step or its job?
 */
bool adapter_explicit_distribution(const step_record_t *step_ptr);

#endif
