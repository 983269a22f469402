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

#define FORWARD(type, hook, function, params, args)                            \
	type select_p_##hook params                                            \
	{                                                                      \
		return cplselect_stock.function args;                          \
	}
#define PASS(type, name, params, args) FORWARD(type, name, name, params, args)
#define PASS_INFO(type, name, params, args)                                    \
	FORWARD(type, select_##name, name, params, args)

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

PASS(int, state_save, (char *dir_name), (dir_name))
PASS(int, state_restore, (char *dir_name), (dir_name))
PASS(int, job_ready, (job_record_t * job_ptr), (job_ptr))
PASS(int, job_signal, (job_record_t * job_ptr, int signal), (job_ptr, signal))
PASS(int, step_finish, (step_record_t * step_ptr, bool killing_step),
     (step_ptr, killing_step))
PASS(bitstr_t *, step_pick_nodes,
     (job_record_t * job_ptr, select_jobinfo_t *step_jobinfo,
      uint32_t node_count, bitstr_t **avail_nodes),
     (job_ptr, NULL, node_count, avail_nodes))
PASS_INFO(int, nodeinfo_pack,
          (select_nodeinfo_t * nodeinfo, buf_t *buffer,
           uint16_t protocol_version),
          (nodeinfo, buffer, protocol_version))
PASS_INFO(int, nodeinfo_unpack,
          (select_nodeinfo_t * *nodeinfo, buf_t *buffer,
           uint16_t protocol_version),
          (nodeinfo, buffer, protocol_version))
PASS_INFO(select_nodeinfo_t *, nodeinfo_alloc, (void), ())
PASS_INFO(int, nodeinfo_free, (select_nodeinfo_t * nodeinfo), (nodeinfo))
PASS_INFO(int, nodeinfo_set_all, (void), ())
PASS_INFO(int, nodeinfo_set, (job_record_t * job_ptr), (job_ptr))
PASS_INFO(int, nodeinfo_get,
          (select_nodeinfo_t * nodeinfo, enum select_nodedata_type dinfo,
           enum node_states state, void *data),
          (nodeinfo, dinfo, state, data))
PASS_INFO(char *, jobinfo_sprint,
          (select_jobinfo_t * jobinfo, char *buf, size_t size, int mode),
          (NULL, buf, size, mode))
PASS_INFO(char *, jobinfo_xstrdup, (select_jobinfo_t * jobinfo, int mode),
          (NULL, mode))
PASS(int, get_info_from_plugin,
     (enum select_plugindata_info dinfo, job_record_t *job_ptr, void *data),
     (dinfo, job_ptr, data))
PASS(int, update_node_config, (int index), (index))
PASS(bitstr_t *, resv_test,
     (resv_desc_msg_t * resv_desc_ptr, uint32_t node_cnt,
      bitstr_t *avail_bitmap, bitstr_t **core_bitmap),
     (resv_desc_ptr, node_cnt, avail_bitmap, core_bitmap))

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

int select_p_job_fini(job_record_t *job_ptr)
{
	if (cplselect_engine)
		cpl_engine_end(cplselect_engine, job_ptr->job_id);
	return cplselect_stock.job_fini(job_ptr);
}

int select_p_job_suspend(job_record_t *job_ptr, bool indf_susp)
{
	if (cplselect_engine)
		cpl_engine_suspended(cplselect_engine, job_ptr->job_id, true);
	return cplselect_stock.job_suspend(job_ptr, indf_susp);
}

int select_p_job_resume(job_record_t *job_ptr, bool indf_susp)
{
	if (cplselect_engine)
		cpl_engine_suspended(cplselect_engine, job_ptr->job_id, false);
	return cplselect_stock.job_resume(job_ptr, indf_susp);
}

int select_p_step_start(step_record_t *step_ptr)
{
	int rc = cplselect_stock.step_start(step_ptr);

	if (rc == SLURM_SUCCESS)
		cplselect_step_start(step_ptr);
	return rc;
}

int select_p_reconfigure(void)
{
	int rc = cplselect_stock.reconfigure();

	/* Also for a changed partition or debug flag: those that bring another
	 * slurm.conf go through node_init. */
	cplselect_nodes_changed();
	return rc;
}
