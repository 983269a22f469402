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

/* Said with DebugFlags=SelectType, whatever SlurmctldDebug is. */
#define adapter_debug(...)                                                     \
	do {                                                                   \
		if (slurm_conf.debug_flags & DEBUG_FLAG_SELECT_TYPE)           \
			info("commplace: " __VA_ARGS__);                       \
	} while (0)

/* What a call of job_test may change and the next one must find. */
struct saved {
	unsigned char *bit; /* [n] the bitmap */
	int n;
	uint64_t pn_min_memory;
	uint32_t pn_min_cpus, min_cpus, total_cpus;
	time_t start_time;
	uint64_t test_now;
	bool best_switch;
};

/* The arguments of select_p_job_test, and what becomes of the call. */
struct job_test {
	job_record_t *job_ptr;
	bitstr_t *bitmap;
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	List preemptee_candidates;
	List *preemptee_job_list;
	bitstr_t *exc_core_bitmap;
	struct saved before; /* bit: from adapter_measure on */
	int rc;              /* of the stock plugin's last answer */
};

/* The engine; NULL before the first adapter_configure (always so outside
 * slurmctld). */
extern struct cpl_engine *adapter_engine;

/* slurmctld starts or is reconfigured: make the engine if need be, (re)read
 * the configuration and the node table. */
void adapter_configure(void);
/* The node table may have changed. */
void adapter_nodes_changed(void);
/* End the engine. */
void adapter_fini(void);

/* Tell the engine the nodes if they may have changed. -1: it knows none. */
int adapter_hosts(void);

/* select_p_job_test: a placement of ours, else the stock answer. */
int adapter_job_test(struct job_test *test);
/* Note what a call may change. -1: memory. */
int adapter_save(const struct job_test *test, struct saved *out);

/* measure and narrow of struct cpl_engine_scheduler; arg is a job_test. */
int adapter_measure(void *arg, uint32_t *cpus, unsigned char *preferred);
void adapter_narrow(void *arg, uint32_t *cpus);

/* After the allocation: plan the ranks, note the job as running. */
void adapter_job_begin(job_record_t *job_ptr);
/* After a change of the allocation. */
void adapter_job_resized(job_record_t *job_ptr);
/* The job's processes stand still, or go on. */
void adapter_job_suspended(const job_record_t *job_ptr, bool stands);
/* Running jobs at start-up. */
void adapter_job_init(List jobs);
/* Permute the step's task ids as planned and attach what travels. */
void adapter_step_start(step_record_t *step_ptr);

/* The job with its user's wishes; texts belong to job_ptr. */
struct cpl_engine_job adapter_describe(const job_record_t *job_ptr);

/* A jobinfo that holds this (malloc(), taken); NULL: memory, not taken. */
select_jobinfo_t *adapter_jobinfo_new(void *data, uint32_t size);
/* select_p_select_jobinfo_*; drop: forget the data. */
int adapter_jobinfo_free(select_jobinfo_t *jobinfo);
select_jobinfo_t *adapter_jobinfo_copy(select_jobinfo_t *jobinfo);
int adapter_jobinfo_get(select_jobinfo_t *jobinfo, int type, void *data);
int adapter_jobinfo_drop(select_jobinfo_t *jobinfo);
int adapter_jobinfo_pack(select_jobinfo_t *jobinfo, buf_t *buffer);
int adapter_jobinfo_unpack(select_jobinfo_t **jobinfo, buf_t *buffer);

#endif
