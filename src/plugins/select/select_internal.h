/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between Slurm's types and the engine's. Called from the hooks with
 * slurmctld's locks held; nothing here ends the process or waits longer than
 * MaxDecisionTime (start-up and reconfiguration: LOAD_WAIT_MS). What is no
 * decision of ours is passed on to the stock select/cons_tres inside.
 */
#ifndef CPL_PLUGINS_SELECT_INTERNAL_H
#define CPL_PLUGINS_SELECT_INTERNAL_H

#include "slurm_compat_ctld.h"

#include "base/error.h"
#include "site/engine.h"

/* Said with DebugFlags=SelectType, whatever SlurmctldDebug is. */
#define cplselect_debug(...)                                                   \
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
	struct saved before; /* bit: from cplselect_measure on */
	int rc;              /* of the stock plugin's last answer */
};

/* The stock plugin's functions; valid after cplselect_stock_load. */
extern slurm_select_ops_t cplselect_stock;

/*
 * Find select_cons_tres.so along PluginDir, check that it is of our version,
 * resolve its symbols and call its init(). A second call only calls init()
 * again, as Slurm itself does. 0, or -1 with err.
 */
int cplselect_stock_load(struct cpl_error *err);
/* Call the stock fini() and drop the handle. */
void cplselect_stock_unload(void);

/* The engine; NULL before the first cplselect_configure (always so outside
 * slurmctld). */
extern struct cpl_engine *cplselect_engine;

/* slurmctld starts or is reconfigured: make the engine if need be, (re)read
 * the configuration and the node table. */
void cplselect_configure(void);
/* The node table may have changed. */
void cplselect_nodes_changed(void);
/* End the engine. */
void cplselect_fini(void);

/* The indexes of a bitmap's nodes in order, of none where it is NULL; free().
 * NULL: memory. */
int *cplselect_nodes(const bitstr_t *bitmap, int *n);
/* Tell the engine the nodes if they may have changed. -1: it knows none. */
int cplselect_hosts(void);

/* select_p_job_test: a placement of ours, else the stock answer. */
int cplselect_job_test(struct job_test *test);
/* Note what a call may change. -1: memory. */
int cplselect_save(const struct job_test *test, struct saved *out);

/* measure and narrow of struct cpl_engine_scheduler; arg is a job_test. */
int cplselect_measure(void *arg, uint32_t *cpus, unsigned char *preferred);
void cplselect_narrow(void *arg, uint32_t *cpus);

/* After the allocation: lay out the ranks, note the job as running. */
void cplselect_job_begin(job_record_t *job_ptr);
/* After a change of the allocation. */
void cplselect_job_resized(job_record_t *job_ptr);
/* Running jobs at start-up. */
void cplselect_job_init(List jobs);
/* Permute the step's task ids as planned and attach what travels. */
void cplselect_step_start(step_record_t *step_ptr);

/* The job with its user's options; texts belong to job_ptr. */
struct cpl_job_facts cplselect_describe(const job_record_t *job_ptr);

/* A jobinfo that holds this (malloc(), taken); NULL: memory, not taken. */
select_jobinfo_t *cplselect_jobinfo_new(void *data, uint32_t size);

#endif
