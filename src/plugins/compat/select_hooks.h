/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Here are the hooks of a select plugin by series of Slurm, which has declared them
 * in no header since 23.11: X(name, result, parameters, arguments) is for the symbol
 * select_p_<name>. From these lists come the table of the stock plugin's functions,
 * the names that are looked up in it, and the functions that only pass on. */
#pragma once

#include "ctld_internal.h"

/* Behind its lists of preemptees job_test has reservations' cores, and from 24.11 on
 * the times of a test for later. */
#if CPLSLURM_SERIES < 2302
#define CPLSLURM_TEST_TAIL bitstr_t *reserved
#define CPLSLURM_TEST_TAIL_ARGS reserved
#elif CPLSLURM_SERIES < 2411
#define CPLSLURM_TEST_TAIL resv_exc_t *reserved
#define CPLSLURM_TEST_TAIL_ARGS reserved
#else
#define CPLSLURM_TEST_TAIL resv_exc_t *reserved, will_run_data_t *will_run
#define CPLSLURM_TEST_TAIL_ARGS reserved, will_run
#endif

/* All series have these, and ours do more than pass on. */
#define CPLSLURM_SELECT_OWN(X)                                                 \
	X(node_init, int, (void), ())                                          \
	X(job_test, int,                                                       \
	  (job_record_t * job, bitstr_t * bitmap, uint32_t min_nodes,          \
	   uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,              \
	   cplslurm_list *preemptees, cplslurm_list **preempted,               \
	   CPLSLURM_TEST_TAIL),                                                \
	  (job, bitmap, min_nodes, max_nodes, req_nodes, mode, preemptees,     \
	   preempted, CPLSLURM_TEST_TAIL_ARGS))                                \
	X(job_begin, int, (job_record_t * job), (job))                         \
	X(job_expand, int, (job_record_t * from, job_record_t * to),           \
	  (from, to))                                                          \
	X(job_resized, int, (job_record_t * job, node_record_t * node),        \
	  (job, node))                                                         \
	X(job_fini, int, (job_record_t * job), (job))                          \
	X(job_suspend, int, (job_record_t * job, bool indefinitely),           \
	  (job, indefinitely))                                                 \
	X(job_resume, int, (job_record_t * job, bool indefinitely),            \
	  (job, indefinitely))                                                 \
	X(reconfigure, int, (void), ())

/* This is ours until 24.11, where the switch plugin has no hook for it that is
 * always called. */
#if CPLSLURM_SERIES < 2505
#define CPLSLURM_SELECT_SAVE(X) X(state_save, int, (char *dir), (dir))
#else
#define CPLSLURM_SELECT_SAVE(X)
#endif

#define PASS_ALL(X)                                                            \
	X(job_ready, int, (job_record_t * job), (job))                         \
	X(select_nodeinfo_set_all, int, (void), ())                            \
	X(select_nodeinfo_set, int, (job_record_t * job), (job))

/* Slurm has these until 24.11. */
#define PASS_2411(X)                                                           \
	X(state_restore, int, (char *dir), (dir))                              \
	X(step_finish, int, (step_record_t * step, bool killing),              \
	  (step, killing))                                                     \
	X(select_nodeinfo_pack, int,                                           \
	  (select_nodeinfo_t * info, buf_t * buffer, uint16_t version),        \
	  (info, buffer, version))                                             \
	X(select_nodeinfo_unpack, int,                                         \
	  (select_nodeinfo_t * *info, buf_t * buffer, uint16_t version),       \
	  (info, buffer, version))                                             \
	X(select_nodeinfo_alloc, select_nodeinfo_t *, (void), ())              \
	X(select_nodeinfo_free, int, (select_nodeinfo_t * info), (info))       \
	X(select_nodeinfo_get, int,                                            \
	  (select_nodeinfo_t * info, enum select_nodedata_type what,           \
	   enum node_states state, void *data),                                \
	  (info, what, state, data))                                           \
	X(get_info_from_plugin, int,                                           \
	  (enum select_plugindata_info what, job_record_t * job, void *data),  \
	  (what, job, data))

/* This is ours, too, where there is no switch/commplace. */
#define START(X) X(step_start, int, (step_record_t * step), (step))

/* Slurm has these until 24.11, too. In 22.05 they are ours, and a step's data
 * travels by them, see select_jobinfo.c. */
#define STEPS(X)                                                               \
	X(job_init, int, (cplslurm_list * jobs), (jobs))                       \
	X(step_pick_nodes, bitstr_t *,                                         \
	  (job_record_t * job, select_jobinfo_t * info, uint32_t n,            \
	   bitstr_t * *avail),                                                 \
	  (job, info, n, avail))                                               \
	X(select_jobinfo_alloc, select_jobinfo_t *, (void), ())                \
	X(select_jobinfo_free, int, (select_jobinfo_t * info), (info))         \
	X(select_jobinfo_set, int,                                             \
	  (select_jobinfo_t * info, enum select_jobdata_type what,             \
	   void *data),                                                        \
	  (info, what, data))                                                  \
	X(select_jobinfo_get, int,                                             \
	  (select_jobinfo_t * info, enum select_jobdata_type what,             \
	   void *data),                                                        \
	  (info, what, data))                                                  \
	X(select_jobinfo_copy, select_jobinfo_t *, (select_jobinfo_t * info),  \
	  (info))                                                              \
	X(select_jobinfo_pack, int,                                            \
	  (select_jobinfo_t * info, buf_t * buffer, uint16_t version),         \
	  (info, buffer, version))                                             \
	X(select_jobinfo_unpack, int,                                          \
	  (select_jobinfo_t * *info, buf_t * buffer, uint16_t version),        \
	  (info, buffer, version))

#if CPLSLURM_SERIES < 2302
#define CPLSLURM_SELECT_PASS(X)                                                \
	PASS_ALL(X)                                                            \
	PASS_2411(X)                                                           \
	X(job_signal, int, (job_record_t * job, int signal), (job, signal))    \
	X(update_node_config, int, (int index), (index))                       \
	X(resv_test, bitstr_t *,                                               \
	  (resv_desc_msg_t * resv, uint32_t n, bitstr_t * avail,               \
	   bitstr_t * *cores),                                                 \
	  (resv, n, avail, cores))
#define CPLSLURM_SELECT_STEPS(X)                                               \
	START(X)                                                               \
	STEPS(X)                                                               \
	X(select_jobinfo_sprint, char *,                                       \
	  (select_jobinfo_t * info, char *text, size_t size, int mode),        \
	  (info, text, size, mode))                                            \
	X(select_jobinfo_xstrdup, char *, (select_jobinfo_t * info, int mode), \
	  (info, mode))
#elif CPLSLURM_SERIES < 2405
#define CPLSLURM_SELECT_PASS(X) PASS_ALL(X) PASS_2411(X) STEPS(X)
#define CPLSLURM_SELECT_STEPS(X) START(X)
#elif CPLSLURM_SERIES < 2505
#define CPLSLURM_SELECT_PASS(X) PASS_ALL(X) PASS_2411(X) STEPS(X) START(X)
#define CPLSLURM_SELECT_STEPS(X)
#elif CPLSLURM_SERIES < 2605
#define CPLSLURM_SELECT_PASS(X) PASS_ALL(X)
#define CPLSLURM_SELECT_STEPS(X)
#else
#define CPLSLURM_SELECT_PASS(X) PASS_ALL(X)
/* This is ours, too, but it is about no step. */
#define CPLSLURM_SELECT_STEPS(X)                                               \
	X(job_mem_reduce, void, (job_record_t * job), (job))
#endif

#define CPLSLURM_SELECT_HOOKS(X)                                               \
	CPLSLURM_SELECT_OWN(X)                                                 \
	CPLSLURM_SELECT_SAVE(X)                                                \
	CPLSLURM_SELECT_PASS(X)                                                \
	CPLSLURM_SELECT_STEPS(X)

#define CPLSLURM_FIELD(name, result, parameters, arguments)                    \
	result(*name) parameters;
struct cplslurm_select {
	CPLSLURM_SELECT_HOOKS(CPLSLURM_FIELD)
};

/* These are the stock plugin's functions, valid after cplslurm_stock_load. */
extern struct cplslurm_select cplslurm_stock;

/* Before 24.05, lay out a step, and in 22.05 have its jobinfo carry what travels. */
void cplslurm_attach(step_record_t *step);
