/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's jobs, nodes and steps in slurmctld as the engine has them. What
 * Slurm's records hold is known below this header only; above it they are
 * handed on unopened. Called with slurmctld's locks held.
 */
#ifndef CPL_COMPAT_CTLD_H
#define CPL_COMPAT_CTLD_H

#include "slurm_compat_ctld.h"

#include "base/error.h"
#include "site/engine.h"

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

/*
 * Are this slurmctld's structures those that we were built with? Slurm's
 * allocator knows the sizes of what a job is made of; micro releases have
 * changed them. Looked at once, and said once where they are not: then
 * everything is left to Slurm. NULL: what was found before. O(1).
 */
bool cplslurm_layout_is_ours(const job_record_t *job);

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

/* A test for now, or for when the job could start, of nodes that may be chosen?
 * Else it is the stock plugin's alone. */
bool cplslurm_test_is_choice(const struct cplslurm_test *test);
/* What the stock plugin says to these arguments. */
int cplslurm_ask(const struct cplslurm_test *test);
/* What the job asks for, all but the scheduler's budget; required is
 * [n_required], malloc()ed by this. -1: out of memory. */
int cplslurm_request(const struct cplslurm_test *test,
                     struct cpl_engine_request *req, int **required);
/* The calls of a decision: with arg = a test. */
extern const struct cpl_engine_scheduler cplslurm_scheduler;
/* free() what cplslurm_measure has noted. */
void cplslurm_test_done(struct cplslurm_test *test);

/* Note what a call may change. -1: memory. */
int cplslurm_save(const struct cplslurm_test *test, struct cplslurm_saved *out);
/* What jobs have of the nodes of a bitmap, by node index. 0, or -1: memory.
 * O(nodes + cores of jobs on them). */
struct cplslurm_usage {
	uint32_t *cpus;
	uint64_t *memory; /* MiB */
};
int cplslurm_usage(const bitstr_t *nodes, struct cplslurm_usage *out);
void cplslurm_usage_free(struct cplslurm_usage *usage);
/* Cores of core reservations that are kept from the test's job. */
uint32_t cplslurm_reserved_cores(const struct cplslurm_test *test, int node);

/* measure and narrow of struct cpl_engine_scheduler; arg is a test. */
int cplslurm_measure(void *arg, uint32_t *cpus, unsigned char *preferred);
void cplslurm_narrow(void *arg, uint32_t *cpus);

/* The job with its user's options; texts belong to it. */
struct cpl_job_facts cplslurm_job(const job_record_t *job);
int64_t cplslurm_job_id(const job_record_t *job);

/* The indexes of a bitmap's nodes in order, of none where it is NULL; free().
 * NULL: memory. */
int *cplslurm_nodes(const bitstr_t *bitmap, int *n);
/* Those of a job; none: NULL, too. */
int *cplslurm_job_hosts(const job_record_t *job, int *n);
/* What a job that begins has got. False: nothing that concerns us. host is to be
 * freed. */
struct cplslurm_start {
	struct cpl_engine_allocation got;
	int *host;
	char shown[32];
};
bool cplslurm_start(job_record_t *job, struct cplslurm_start *out);
/* Tell the job's user and the log. */
void cplslurm_tell(job_record_t *job, const struct cpl_engine_notice *notice);

/* Running and suspended jobs of a list; free() them. NULL: memory. */
struct cpl_engine_live *cplslurm_live(cplslurm_list *jobs, int *n);

/* Names by node index, NULL where there is none; free() the array only. */
const char **cplslurm_hosts(int *n);

/*
 * A step that is laid out: lay it out as planned by `by`, which fills out, and
 * log what came of it. False: it is no step of ours. out->data is the
 * caller's.
 */
bool cplslurm_step(step_record_t *step,
                   void (*by)(const struct cpl_engine_step *step,
                              struct cpl_engine_layout *out),
                   struct cpl_engine_layout *out);

#endif
