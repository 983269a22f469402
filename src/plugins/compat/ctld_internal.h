/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files behind ctld.h share, with Slurm's records open. */
#ifndef CPL_COMPAT_CTLD_INTERNAL_H
#define CPL_COMPAT_CTLD_INTERNAL_H

#include "ctld.h"
#include "slurm_compat_ctld.h"

/* Said with DebugFlags=SelectType, whatever SlurmctldDebug is. */
#define cplslurm_debug(...)                                                    \
	do {                                                                   \
		if (slurm_conf.debug_flags & DEBUG_FLAG_SELECT_TYPE)           \
			info("commplace: " __VA_ARGS__);                       \
	} while (0)

/*
 * Find select_cons_tres.so along PluginDir, check that it is of our version,
 * resolve its symbols and call its init(). A second call only calls init()
 * again, as Slurm itself does. 0, or -1 with err.
 */
int cplslurm_stock_load(struct cpl_error *err);
/* Call the stock fini() and drop the handle. */
void cplslurm_stock_unload(void);

/* From init() of a plugin of slurmctld: what can be told of its structures
 * before there are any. -1 with err: it is not to be loaded. */
int cplslurm_ctld_check(struct cpl_error *err);
/*
 * Are this slurmctld's structures those that we were built with (layout.h):
 * what a job is made of, what a step is? Where they are not, everything is left
 * to Slurm. False for NULL. O(1).
 */
bool cplslurm_layout_is_ours(const job_record_t *job);
bool cplslurm_step_is_ours(const step_record_t *step);

#if CPLSLURM_SERIES < 2505
/* Does slurmctld end, or give way to another that is in charge from then on?
 * Later series have no hook in which it could be asked. */
bool cplslurm_is_leaving(void);
#endif

/* Are steps laid out by us? From 24.05 on switch/commplace does it. */
bool cplslurm_lays_out(void);

/* What of a step over a whole job says where its ranks go. */
struct cplslurm_spread {
	const uint16_t *cpus; /* [n] of each node */
	int n;
	uint32_t dist; /* as slurm.h has them */
	uint16_t cpus_per_task;
	uint16_t plane; /* of SLURM_DIST_PLANE; else tasks per node */
	/* [n], NULL: nodes in their order; from 26.05 on. */
	const uint32_t *node_ranks;
};
/*
 * rank_host[ranks] as slurmctld lays them out. -1: it does not, or memory.
 * O(ranks + nodes * CPUs of a node).
 */
int cplslurm_lay_out(const struct cplslurm_spread *over, int ranks,
                     int *rank_host);
/* The same of a job that begins. */
int cplslurm_layout_of(void *job, int ranks, int *rank_host);
/* Is it a user's own, as a job states it? */
bool cplslurm_own_distribution(uint32_t dist);

/* Do the job's ranks stay in Slurm's order: its user's, or nothing of ours lays
 * them out? */
bool cplslurm_keeps_order(const job_record_t *job_ptr);

/*
 * Tell srun and salloc, with their job's allocation, what slurmctld has it
 * recorded as: by their own options they know what their users asked for only. A
 * batch script has it in its environment, and Slurm gives variables to a
 * component of a heterogeneous job by other names.
 */
void cplslurm_tell_recording(job_record_t *job_ptr);

/* Set a variable of those that Slurm adds to a job's, and counts in 16 bits. -1:
 * there are as many, or memory. */
int cplslurm_supply(job_details_t *details, const char *name,
                    const char *value);

/* What a call of job_test may change and the next one must find. */
struct cplslurm_saved {
	unsigned char *bit; /* [n] the bitmap */
	int n;
	uint64_t pn_min_memory;
	uint32_t pn_min_cpus, min_cpus, total_cpus;
	time_t start_time;
	uint64_t test_now;
	bool best_switch;
};

/* The arguments of select_p_job_test, and what becomes of the call. */
struct cplslurm_test {
	job_record_t *job;
	bitstr_t *bitmap;
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	cplslurm_list *preemptees, **preempted;
	/* By series, see select_hooks.h. */
	void *reserved, *will_run;
	struct cplslurm_saved before; /* bit: from cplslurm_measure on */
	int rc;                       /* of the stock plugin's last answer */
};

/* Note what a call may change. -1: memory. */
int cplslurm_save(const struct cplslurm_test *test, struct cplslurm_saved *out);
/* What jobs have of the nodes, by node index. Jobs that begin and end have to be
 * told; what changes otherwise makes it to be counted anew: forget. With
 * slurmctld's locks of jobs and nodes held. */
struct cplslurm_usage {
	uint32_t *cpus;
	uint64_t *memory; /* MiB */
};
/* NULL: memory. O(1), after forget O(nodes + jobs + cores of running jobs). */
const struct cplslurm_usage *cplslurm_usage(void);
/* O(cores of the job). */
void cplslurm_usage_began(const job_record_t *job);
void cplslurm_usage_ended(const job_record_t *job);
void cplslurm_usage_forget(void);
/* Cores of core reservations that are kept from the test's job. */
uint32_t cplslurm_reserved_cores(const struct cplslurm_test *test, int node);

/* measure and narrow of struct cpl_engine_scheduler; arg is a test. */
int cplslurm_measure(void *arg, uint32_t *cpus, uint64_t *rank);
void cplslurm_narrow(void *arg, uint32_t *cpus);

/* Tasks that a job states, 0: none. More than an int holds are as many as that:
 * nothing is done for so many. */
static inline int cplslurm_ranks(uint32_t num_tasks)
{
	if (num_tasks == NO_VAL)
		return 0;
	return num_tasks < INT32_MAX ? (int)num_tasks : INT32_MAX;
}

/* The job with its user's options; texts belong to it. */
struct cpl_job_facts cplslurm_job(const job_record_t *job);
/* The indexes of a bitmap's nodes in order, of none where it is NULL; free().
 * NULL: memory. */
int *cplslurm_nodes(const bitstr_t *bitmap, int *n);

#endif
