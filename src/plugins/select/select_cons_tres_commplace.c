/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hooks that Slurm calls. What is not ours goes to the stock plugin. */
#include "select_internal.h"

/*
 * The number of select/cray_aries with OTHER_CONS_TRES: the ones that clients
 * know as "cons_tres" are needed for core reservations, and 109 is taken by
 * the stock plugin, which is loaded beside us.
 */
const uint32_t plugin_id = SELECT_PLUGIN_CRAY_CONS_TRES;
const char plugin_name[] = "commplace: placement by communication, on top of "
                           "select/cons_tres";
const char plugin_type[] = "select/cons_tres_commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

_Static_assert(SELECT_PLUGIN_CRAY_CONS_TRES == 110, "plugin_id");

/* Slurm declares the hooks by name only, in its table of symbols. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int init(void)
{
	struct cpl_error err = {""};

	if (cplselect_stock_load(&err)) {
		error("commplace: %s", err.text);
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

int fini(void)
{
	cplselect_fini();
	cplselect_stock_unload();
	return SLURM_SUCCESS;
}

int select_p_state_save(char *dir_name)
{
	return cplselect_stock.state_save(dir_name);
}

int select_p_state_restore(char *dir_name)
{
	return cplselect_stock.state_restore(dir_name);
}

int select_p_job_init(List jobs)
{
	int rc = cplselect_stock.job_init(jobs);

	cplselect_job_init(jobs);
	return rc;
}

int select_p_node_init(void)
{
	int rc = cplselect_stock.node_init();

	cplselect_configure();
	return rc;
}

int select_p_job_test(job_record_t *job_ptr, bitstr_t *bitmap,
                      uint32_t min_nodes, uint32_t max_nodes,
                      uint32_t req_nodes, uint16_t mode,
                      List preemptee_candidates, List *preemptee_job_list,
                      bitstr_t *exc_core_bitmap)
{
	struct job_test test = {
	        .job_ptr = job_ptr,
	        .bitmap = bitmap,
	        .min_nodes = min_nodes,
	        .max_nodes = max_nodes,
	        .req_nodes = req_nodes,
	        .mode = mode,
	        .preemptee_candidates = preemptee_candidates,
	        .preemptee_job_list = preemptee_job_list,
	        .exc_core_bitmap = exc_core_bitmap,
	};

	return cplselect_job_test(&test);
}

int select_p_job_begin(job_record_t *job_ptr)
{
	int rc = cplselect_stock.job_begin(job_ptr);

	if (rc == SLURM_SUCCESS)
		cplselect_job_begin(job_ptr);
	return rc;
}

int select_p_job_ready(job_record_t *job_ptr)
{
	return cplselect_stock.job_ready(job_ptr);
}

int select_p_job_expand(job_record_t *from_job_ptr, job_record_t *to_job_ptr)
{
	int rc = cplselect_stock.job_expand(from_job_ptr, to_job_ptr);

	cplselect_job_resized(from_job_ptr);
	cplselect_job_resized(to_job_ptr);
	return rc;
}

int select_p_job_resized(job_record_t *job_ptr, node_record_t *node_ptr)
{
	int rc = cplselect_stock.job_resized(job_ptr, node_ptr);

	cplselect_job_resized(job_ptr);
	return rc;
}

int select_p_job_signal(job_record_t *job_ptr, int signal)
{
	return cplselect_stock.job_signal(job_ptr, signal);
}

int select_p_job_fini(job_record_t *job_ptr)
{
	if (cplselect_engine)
		cpl_engine_end(cplselect_engine, job_ptr->job_id);
	return cplselect_stock.job_fini(job_ptr);
}

int select_p_job_suspend(job_record_t *job_ptr, bool indf_susp)
{
	cplselect_job_suspended(job_ptr, true);
	return cplselect_stock.job_suspend(job_ptr, indf_susp);
}

int select_p_job_resume(job_record_t *job_ptr, bool indf_susp)
{
	cplselect_job_suspended(job_ptr, false);
	return cplselect_stock.job_resume(job_ptr, indf_susp);
}

bitstr_t *select_p_step_pick_nodes(job_record_t *job_ptr,
                                   select_jobinfo_t *step_jobinfo,
                                   uint32_t node_count, bitstr_t **avail_nodes)
{
	return cplselect_stock.step_pick_nodes(job_ptr, NULL, node_count,
	                                       avail_nodes);
}

int select_p_step_start(step_record_t *step_ptr)
{
	int rc = cplselect_stock.step_start(step_ptr);

	if (rc == SLURM_SUCCESS)
		cplselect_step_start(step_ptr);
	return rc;
}

int select_p_step_finish(step_record_t *step_ptr, bool killing_step)
{
	return cplselect_stock.step_finish(step_ptr, killing_step);
}

int select_p_select_nodeinfo_pack(select_nodeinfo_t *nodeinfo, buf_t *buffer,
                                  uint16_t protocol_version)
{
	return cplselect_stock.nodeinfo_pack(nodeinfo, buffer,
	                                     protocol_version);
}

int select_p_select_nodeinfo_unpack(select_nodeinfo_t **nodeinfo, buf_t *buffer,
                                    uint16_t protocol_version)
{
	return cplselect_stock.nodeinfo_unpack(nodeinfo, buffer,
	                                       protocol_version);
}

select_nodeinfo_t *select_p_select_nodeinfo_alloc(void)
{
	return cplselect_stock.nodeinfo_alloc();
}

int select_p_select_nodeinfo_free(select_nodeinfo_t *nodeinfo)
{
	return cplselect_stock.nodeinfo_free(nodeinfo);
}

int select_p_select_nodeinfo_set_all(void)
{
	return cplselect_stock.nodeinfo_set_all();
}

int select_p_select_nodeinfo_set(job_record_t *job_ptr)
{
	return cplselect_stock.nodeinfo_set(job_ptr);
}

int select_p_select_nodeinfo_get(select_nodeinfo_t *nodeinfo,
                                 enum select_nodedata_type dinfo,
                                 enum node_states state, void *data)
{
	return cplselect_stock.nodeinfo_get(nodeinfo, dinfo, state, data);
}

/* select/cons_tres has no such data; ours is never given to it. */
select_jobinfo_t *select_p_select_jobinfo_alloc(void)
{
	return NULL;
}

int select_p_select_jobinfo_free(select_jobinfo_t *jobinfo)
{
	return cplselect_jobinfo_free(jobinfo);
}

int select_p_select_jobinfo_set(select_jobinfo_t *jobinfo,
                                enum select_jobdata_type data_type, void *data)
{
	if ((int)data_type == CPLSLURM_JOBDATA_EXCERPT)
		return cplselect_jobinfo_drop(jobinfo);
	return cplselect_stock.jobinfo_set(NULL, data_type, data);
}

int select_p_select_jobinfo_get(select_jobinfo_t *jobinfo,
                                enum select_jobdata_type data_type, void *data)
{
	if ((int)data_type == CPLSLURM_JOBDATA_EXCERPT)
		return cplselect_jobinfo_get(jobinfo, data_type, data);
	return cplselect_stock.jobinfo_get(NULL, data_type, data);
}

select_jobinfo_t *select_p_select_jobinfo_copy(select_jobinfo_t *jobinfo)
{
	return cplselect_jobinfo_copy(jobinfo);
}

int select_p_select_jobinfo_pack(select_jobinfo_t *jobinfo, buf_t *buffer,
                                 uint16_t protocol_version)
{
	return cplselect_jobinfo_pack(jobinfo, buffer);
}

int select_p_select_jobinfo_unpack(select_jobinfo_t **jobinfo, buf_t *buffer,
                                   uint16_t protocol_version)
{
	return cplselect_jobinfo_unpack(jobinfo, buffer);
}

char *select_p_select_jobinfo_sprint(select_jobinfo_t *jobinfo, char *buf,
                                     size_t size, int mode)
{
	return cplselect_stock.jobinfo_sprint(NULL, buf, size, mode);
}

char *select_p_select_jobinfo_xstrdup(select_jobinfo_t *jobinfo, int mode)
{
	return cplselect_stock.jobinfo_xstrdup(NULL, mode);
}

int select_p_get_info_from_plugin(enum select_plugindata_info dinfo,
                                  job_record_t *job_ptr, void *data)
{
	return cplselect_stock.get_info_from_plugin(dinfo, job_ptr, data);
}

int select_p_update_node_config(int index)
{
	return cplselect_stock.update_node_config(index);
}

int select_p_reconfigure(void)
{
	int rc = cplselect_stock.reconfigure();

	/* Also for a changed partition or debug flag: those that bring another
	 * slurm.conf go through node_init. */
	cplselect_nodes_changed();
	return rc;
}

bitstr_t *select_p_resv_test(resv_desc_msg_t *resv_desc_ptr, uint32_t node_cnt,
                             bitstr_t *avail_bitmap, bitstr_t **core_bitmap)
{
	return cplselect_stock.resv_test(resv_desc_ptr, node_cnt, avail_bitmap,
	                                 core_bitmap);
}
