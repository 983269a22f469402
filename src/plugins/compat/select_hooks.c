/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm calls these hooks. What does not concern us goes to the stock plugin. */
#include "select_hooks.h"

#include "layout.h"
#include "select_internal.h"

/* Until 24.11 Slurm loads all select plugins, and 109 is the stock one's number.
 * Number 110 was that of select/cray_aries with OTHER_CONS_TRES: core reservations
 * need one of those that clients know as "cons_tres". Later series load SelectType
 * only, and their slurmctld compares its number with 109. */
#if CPLSLURM_SERIES < 2505
const uint32_t plugin_id = 110;
#else
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
#endif
const char plugin_name[] = "commplace: placement by communication, on top of "
                           "select/cons_tres";
const char plugin_type[] = "select/cons_tres_commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Slurm names the hooks in its table of symbols and declares them nowhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define PASS(name, result, parameters, arguments)                              \
	result select_p_##name parameters                                      \
	{                                                                      \
		return cplslurm_stock.name arguments;                          \
	}

CPLSLURM_SELECT_PASS(PASS)

int init(void)
{
	struct cpl_error err = {""};

	if (cplslurm_ctld_check(&err) || cplslurm_stock_load(&err)) {
		error("commplace: %s", err.text);
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

int fini(void)
{
	cplselect_fini();
	cplslurm_usage_forget();
	cplslurm_units_forget();
	cplslurm_stock_unload();
	return SLURM_SUCCESS;
}

int select_p_node_init(void)
{
	int rc = cplslurm_stock.node_init();

	cplslurm_usage_forget();
	cplslurm_units_forget();
	cplselect_configure();
	return rc;
}

int select_p_job_test(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes,
                      uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
                      cplslurm_list *preemptees, cplslurm_list **preempted,
                      CPLSLURM_TEST_TAIL)
{
	struct cplslurm_test test = {
	        .job = job,
	        .bitmap = bitmap,
	        .min_nodes = min_nodes,
	        .max_nodes = max_nodes,
	        .req_nodes = req_nodes,
	        .mode = mode,
	        .preemptees = preemptees,
	        .preempted = preempted,
	        .reserved = reserved,
#if CPLSLURM_SERIES >= 2411
	        .will_run = will_run,
#endif
	};

	return cplselect_test(&test);
}

int select_p_job_begin(job_record_t *job_ptr)
{
	int rc = cplslurm_stock.job_begin(job_ptr);

	if (rc == SLURM_SUCCESS && cplslurm_layout_is_ours(job_ptr)) {
		cplslurm_usage_began(job_ptr);
		cplslurm_tell_recording(job_ptr);
		cplselect_job_begin(job_ptr);
	}
	return rc;
}

int select_p_job_expand(job_record_t *from_job_ptr, job_record_t *to_job_ptr)
{
	int rc = cplslurm_stock.job_expand(from_job_ptr, to_job_ptr);

	cplslurm_usage_forget();
	cplselect_job_resized(from_job_ptr);
	cplselect_job_resized(to_job_ptr);
	return rc;
}

int select_p_job_resized(job_record_t *job_ptr, node_record_t *node_ptr)
{
	int rc = cplslurm_stock.job_resized(job_ptr, node_ptr);

	cplslurm_usage_forget();
	cplselect_job_resized(job_ptr);
	return rc;
}

int select_p_job_fini(job_record_t *job_ptr)
{
	if (cplslurm_layout_is_ours(job_ptr))
		cplslurm_usage_ended(job_ptr);
	cplselect_job_end(job_ptr);
	return cplslurm_stock.job_fini(job_ptr);
}

int select_p_job_suspend(job_record_t *job_ptr, bool indf_susp)
{
	cplslurm_usage_forget();
	cplselect_job_suspended(job_ptr, true);
	return cplslurm_stock.job_suspend(job_ptr, indf_susp);
}

int select_p_job_resume(job_record_t *job_ptr, bool indf_susp)
{
	cplslurm_usage_forget();
	cplselect_job_suspended(job_ptr, false);
	return cplslurm_stock.job_resume(job_ptr, indf_susp);
}

int select_p_reconfigure(void)
{
	int rc = cplslurm_stock.reconfigure();

	cplslurm_usage_forget();
	cplslurm_units_forget();
	/* Slurm calls this for a changed partition or debug flag, too; changes that
	 * bring another slurm.conf go through node_init. */
	cplselect_nodes_changed();
#if CPLSLURM_SERIES >= 2302
	/* This is the last call of a start, when the jobs are known. */
	if (&job_list && job_list)
		cplselect_restore(job_list);
#endif
	return rc;
}

#if CPLSLURM_SERIES < 2505
/* Slurm calls this now and then, and when slurmctld ends or gives way to another. */
int select_p_state_save(char *dir)
{
	if (cplslurm_is_leaving())
		cplselect_drain();
	return cplslurm_stock.state_save(dir);
}
#endif

#if CPLSLURM_SERIES < 2302
int select_p_job_init(cplslurm_list *jobs)
{
	int rc = cplslurm_stock.job_init(jobs);

	cplslurm_usage_forget();
	cplselect_restore(jobs);
	return rc;
}

bitstr_t *select_p_step_pick_nodes(job_record_t *job, select_jobinfo_t *info,
                                   uint32_t n, bitstr_t **avail)
{
	return cplslurm_stock.step_pick_nodes(job, NULL, n, avail);
}
#endif

#if CPLSLURM_SERIES < 2405
int select_p_step_start(step_record_t *step)
{
	int rc = cplslurm_stock.step_start(step);

	if (rc == SLURM_SUCCESS)
		cplslurm_attach(step);
	return rc;
}
#endif

#if CPLSLURM_SERIES >= 2605
void select_p_job_mem_reduce(job_record_t *job)
{
	cplslurm_usage_forget();
	cplslurm_stock.job_mem_reduce(job);
}
#endif
