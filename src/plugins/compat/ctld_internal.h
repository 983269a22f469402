/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files behind ctld.h share this, with Slurm's records open to them. */
#pragma once

#include "ctld.h"
#include "slurm_compat_ctld.h"

/* This is logged with DebugFlags=SelectType, whatever SlurmctldDebug is. */
#define cplslurm_debug(...)                                                    \
	do {                                                                   \
		if (slurm_conf.debug_flags & DEBUG_FLAG_SELECT_TYPE)           \
			info("commplace: " __VA_ARGS__);                       \
	} while (0)

/* Find select_cons_tres.so along PluginDir, check that it is of our version, resolve
 * its symbols and call its init(). A second call only calls init() again, as Slurm
 * itself does. Return 0, or -1 with err. */
int cplslurm_stock_load(struct cpl_error *err);
/* Call the stock plugin's fini() and drop its handle. */
void cplslurm_stock_unload(void);

/* In init() of a plugin of slurmctld, check what can be told of its structures
 * before there are any. Return 0, or -1 with err where the plugin is not to be
 * loaded. */
int cplslurm_ctld_check(struct cpl_error *err);
/* Tell whether this slurmctld's structures are those that we were built with
 * (layout.h), as far as a job, or a step, is made of them. Where they are not,
 * everything is left to Slurm. The answer to NULL is false. O(1). */
bool cplslurm_layout_is_ours(const job_record_t *job);
bool cplslurm_step_is_ours(const step_record_t *step);

#if CPLSLURM_SERIES < 2505
/* Tell whether slurmctld ends, or gives way to another that is in charge from then
 * on. Later series have no hook in which this could be asked. */
bool cplslurm_is_leaving(void);
#endif

/* Tell whether we lay out steps. From 24.05 on switch/commplace does it. */
bool cplslurm_lays_out(void);

/* These parts of a step over a whole job say where its ranks go. */
struct cplslurm_spread {
	const uint16_t *cpus; /* [n], by node */
	int n;
	uint32_t dist; /* It has the values of slurm.h. */
	uint16_t cpus_per_task;
	/* It is a plane's size with SLURM_DIST_PLANE, else a node's tasks. */
	uint16_t plane;
	/* From 26.05 on it has [n], by node; with NULL nodes stay in their order. */
	const uint32_t *node_ranks;
};
/* Fill rank_host[ranks] as slurmctld lays the ranks out. Return 0, or -1 where it
 * would not, or memory is out. O(ranks + nodes * CPUs of a node). */
int cplslurm_lay_out(const struct cplslurm_spread *over, int ranks,
                     int *rank_host);
/* Do the same for a job that begins. */
int cplslurm_layout_of(void *job, int ranks, int *rank_host);
/* Tell whether dist, as a job states it, is its user's own choice. */
bool cplslurm_own_distribution(uint32_t dist);

/* Tell whether the job's ranks stay in Slurm's order, because its user stated one or
 * because nothing of ours lays them out. */
bool cplslurm_keeps_order(const job_record_t *job_ptr);

/* Tell srun and salloc, with their job's allocation, what slurmctld has it recorded
 * as: by their own options they know only what their users asked for. A batch script
 * has it in its environment already, and to a component of a heterogeneous job Slurm
 * gives variables by other names, so both are left out. */
void cplslurm_tell_recording(job_record_t *job_ptr);

/* Set one of the variables that Slurm adds to a job's and counts in 16 bits. Return
 * 0, or -1 where there are as many, or memory is out. */
int cplslurm_supply(job_details_t *details, const char *name,
                    const char *value);

/* A call of job_test may change these, and the next one must find them as before. */
struct cplslurm_saved {
	unsigned char *bit; /* [n], the bitmap */
	int n;
	int first, end; /* Its nodes are in first .. end - 1. */
	uint64_t pn_min_memory;
	uint32_t pn_min_cpus, min_cpus, total_cpus;
	time_t start_time;
	uint64_t test_now;
	bool best_switch;
};

/* These are the arguments of select_p_job_test and what becomes of the call. */
struct cplslurm_test {
	job_record_t *job;
	bitstr_t *bitmap;
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	cplslurm_list *preemptees, **preempted;
	/* Their types depend on the series, see select_hooks.h. */
	void *reserved, *will_run;
	char rules[128]; /* It is what cplslurm_bound has filled in. */
	struct cplslurm_saved before; /* Its bit is set from cplslurm_measure on. */
	int rc;                       /* It is the stock plugin's last answer. */
};

/* Note what a call may change. Return 0, or -1 where memory is out. O(nodes from the
 * bitmap's first to its last). */
int cplslurm_save(const struct cplslurm_test *test, struct cplslurm_saved *out);
/* Set the bitmap as it was. */
void cplslurm_give_back(const struct cplslurm_saved *saved, bitstr_t *bitmap);
/* Jobs have so much of each node, by index. The functions below must be told of jobs
 * that begin and end; after any other change, forget has all counted anew. Call them
 * with slurmctld's locks of jobs and nodes held. */
struct cplslurm_usage {
	uint32_t *cpus;
	uint64_t *memory; /* MiB */
	/* So many of its running jobs let no other job have nodes of its block or
	 * leaf switch, in the topology of that index (before 25.05: 0). */
	uint16_t *keepers;
	int *topology;
};
/* Return NULL where memory is out. O(1), after forget O(nodes + jobs + cores of
 * running jobs). */
const struct cplslurm_usage *cplslurm_usage(void);
/* Both cost O(cores of the job). */
void cplslurm_usage_began(const job_record_t *job);
void cplslurm_usage_ended(const job_record_t *job);
void cplslurm_usage_forget(void);
/* Return how many cores core reservations keep from the test's job. */
uint32_t cplslurm_reserved_cores(const struct cplslurm_test *test, int node);

/* Fill in what the stock plugin keeps the test's job to: rules, units and by_stock
 * of the request, in texts that hold until the next test or forget. Call forget
 * after any change of nodes or topology. O(nodes) after it, else O(1). */
void cplslurm_bound(struct cplslurm_test *test, struct cpl_engine_request *req);
/* Tell whether the job is of a partition in topology/block. */
bool cplslurm_in_blocks(const struct cplslurm_test *test);
void cplslurm_units_forget(void);

/* These are measure and narrow of struct cpl_engine_scheduler; arg is a test. */
int cplslurm_measure(void *arg, uint32_t *cpus, uint64_t *rank,
                     struct cpl_engine_span *span);
void cplslurm_narrow(void *arg, uint32_t *cpus);

/* Return the tasks that a job states, 0 for none. More than an int holds become
 * INT32_MAX, since nothing is done for so many. */
static inline int cplslurm_ranks(uint32_t num_tasks)
{
	if (num_tasks == NO_VAL)
		return 0;
	return num_tasks < INT32_MAX ? (int)num_tasks : INT32_MAX;
}

/* Return the job with its user's options, whose texts belong to it. */
struct cpl_job_facts cplslurm_job(const job_record_t *job);
/* This is the word that has a bitmap's bit, the first of a word being its lowest.
 * Headers of later series do not tell how bitmaps are kept. */
#if CPLSLURM_SERIES < 2302 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CPLSLURM_BIT_WORD(bitmap, bit)                                         \
	((uint64_t)(bitmap)[BITSTR_OVERHEAD + (bit) / 64])
#endif
/* Return where the last node of a bitmap, which may be NULL, is followed by none, and
 * in *first its first one: 0 and 0 of an empty one. O(nodes / 64) at the most. */
static inline int cplslurm_end(const bitstr_t *bitmap, int *first)
{
	int64_t at = bitmap ? bit_ffs((bitstr_t *)bitmap) : -1;

	*first = at < 0 ? 0 : (int)at;
	return at < 0 ? 0 : (int)bit_fls((bitstr_t *)bitmap) + 1;
}
/* Tell whether the bitmap has the node. */
static inline bool cplslurm_has(const bitstr_t *bitmap, int node)
{
#ifdef CPLSLURM_BIT_WORD
	return CPLSLURM_BIT_WORD(bitmap, node) >> node % 64 & 1;
#else
	return bit_test((bitstr_t *)bitmap, node);
#endif
}
/* Return the first node of a bitmap from `at` on and before end, else end. O(nodes
 * between / 64) where Slurm's header tells how bitmaps are kept. */
static inline int cplslurm_next(const bitstr_t *bitmap, int at, int end)
{
#ifdef CPLSLURM_BIT_WORD
	while (at < end && !(CPLSLURM_BIT_WORD(bitmap, at) >> at % 64))
		at += 64 - at % 64;
	if (at < end)
		at += __builtin_ctzll(CPLSLURM_BIT_WORD(bitmap, at) >> at % 64);
	return MIN(at, end);
#else
	while (at < end && !bit_test((bitstr_t *)bitmap, at))
		at++;
	return at;
#endif
}
/* Return the indexes of a bitmap's nodes in order, none where it is NULL, to be
 * freed. Return NULL where memory is out. As cplslurm_next, and O(its nodes). */
int *cplslurm_nodes(const bitstr_t *bitmap, int *n);
