/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurmctld.h"

#include "src/common/run_in_daemon.h"
#include "src/slurmctld/slurmctld.h"
#if CPLSLURM_SERIES < 2302
#include "src/slurmctld/gres_ctld.h"
#include "src/slurmctld/preempt.h"
#else
#include "src/interfaces/preempt.h"
#include "src/interfaces/switch.h"
#include "src/interfaces/topology.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/licenses.h"
#if CPLSLURM_SERIES < 2405
#include "src/slurmctld/gres_ctld.h"
#define SWITCH_INIT switch_init
#else
#include "src/stepmgr/gres_stepmgr.h"
#define SWITCH_INIT switch_g_init
#endif
#endif

/* slurmctld's own data, which plugins see as weak symbols. */
bitstr_t *avail_node_bitmap, *idle_node_bitmap, *share_node_bitmap;
cplslurm_list *job_list, *part_list;
slurmctld_config_t slurmctld_config;
time_t control_time = 1; /* it is in charge */
int slurmctld_tres_cnt = 4;
#if CPLSLURM_SERIES >= 2505
uint32_t slurm_daemon = IS_SLURMCTLD;
#endif

/*
 * Its functions: no preemption, no licences; GRES are not counted. Those that
 * no header here declares as plugins know them are warned of.
 */
int drain_nodes(char *nodes, char *reason, uint32_t reason_uid)
{
	return 0;
}

static int has_id(void *x, void *key)
{
	return ((job_record_t *)x)->job_id == *(uint32_t *)key;
}

job_record_t *find_job_record(uint32_t job_id)
{
	return list_find_first(job_list, has_id, &job_id);
}

uint16_t slurm_job_preempt_mode(job_record_t *job_ptr)
{
	return PREEMPT_MODE_OFF;
}

#if CPLSLURM_SERIES < 2405
#define GRES(function) gres_ctld_##function
#else
#define GRES(function) gres_stepmgr_##function
#endif

int GRES(job_alloc)(cplslurm_list *job_gres_list,
                    cplslurm_list **job_alloc_gres_list,
                    cplslurm_list *node_gres_list, int node_cnt, int node_index,
                    int node_offset, uint32_t job_id, char *node_name,
                    bitstr_t *core_bitmap, bool new_alloc)
{
	return 0;
}

int GRES(job_alloc_whole_node)(cplslurm_list *job_gres_list,
                               cplslurm_list **job_alloc_gres_list,
                               cplslurm_list *node_gres_list, int node_cnt,
                               int node_index, int node_offset, uint32_t job_id,
                               char *node_name, bitstr_t *core_bitmap,
                               bool new_alloc)
{
	return 0;
}

int GRES(job_dealloc)(cplslurm_list *job_gres_list,
                      cplslurm_list *node_gres_list, int node_offset,
                      uint32_t job_id, char *node_name, bool old_job,
                      bool resize)
{
	return 0;
}

void GRES(job_merge)(cplslurm_list *from_job_gres_list,
                     bitstr_t *from_job_node_bitmap,
                     cplslurm_list *to_job_gres_list,
                     bitstr_t *to_job_node_bitmap)
{
}

void GRES(set_node_tres_cnt)(cplslurm_list *gres_list, uint64_t *tres_cnt,
                             bool locked)
{
}

#if CPLSLURM_SERIES < 2302

void gres_ctld_job_build_details(cplslurm_list *job_gres_list,
                                 uint32_t *gres_detail_cnt,
                                 char ***gres_detail_str, char **total_gres_str)
{
}

bool job_overlap_and_running(bitstr_t *node_map, job_record_t *job_ptr)
{
	return false;
}

#else

void GRES(job_build_details)(cplslurm_list *job_gres_list, char *nodes,
                             uint32_t *gres_detail_cnt,
                             char ***gres_detail_str, char **total_gres_str)
{
}

bool job_overlap_and_running(bitstr_t *node_map, cplslurm_list *license_list,
                             job_record_t *job_ptr)
{
	return false;
}

#if CPLSLURM_SERIES >= 2405

uint16_t job_mgr_determine_cpus_per_core(job_details_t *details, int node_inx)
{
	const multi_core_data_t *mc = details->mc_ptr;
	uint16_t threads = node_record_table_ptr[node_inx]->tpc;
	uint16_t cpus = threads;

	if ((slurm_conf.select_type_param & CR_ONE_TASK_PER_CORE) &&
	    details->min_gres_cpu > 0)
		return threads;
	if (mc && cplslurm_stated(mc->ntasks_per_core))
		cpus = (uint16_t)MIN(cpus, mc->ntasks_per_core *
		                                   details->cpus_per_task);
	if (mc && cplslurm_stated(mc->threads_per_core))
		cpus = MIN(cpus, mc->threads_per_core);
	return cpus;
}

void node_mgr_make_node_blocked(job_record_t *job_ptr, bool set)
{
}

#endif

cplslurm_list *license_copy(cplslurm_list *license_list_src)
{
	return NULL;
}

int license_job_test_with_list(job_record_t *job_ptr, time_t when, bool reboot,
#if CPLSLURM_SERIES < 2411
                               cplslurm_list *license_list)
#else
                               cplslurm_list *license_list,
                               bool check_preempt_licenses)
#endif
{
	return SLURM_SUCCESS;
}

bool license_list_overlap(cplslurm_list *list_1, cplslurm_list *list_2)
{
	return false;
}

#if CPLSLURM_SERIES < 2505

int license_job_return_to_list(job_record_t *job_ptr,
                               cplslurm_list *license_list)
{
	return SLURM_SUCCESS;
}

#else

int license_job_return_to_list(job_record_t *job_ptr,
                               cplslurm_list *license_list, bool locked,
                               bool future)
{
	return SLURM_SUCCESS;
}

cplslurm_list *cluster_license_copy(void)
{
	return NULL;
}

bool license_list_overlap_non_hres(cplslurm_list *list_1, cplslurm_list *list_2)
{
	return false;
}

licenses_t *license_find_rec_by_id(cplslurm_list *license_list,
                                   licenses_id_t id)
{
	return NULL;
}

#if CPLSLURM_SERIES >= 2511
uint16_t hres_select_find_leaf(hres_select_t *hres_select, int node_inx)
{
	return 0;
}

void hres_pre_select(job_record_t *job_ptr, bool test_only)
{
}
#endif

bool acct_policy_is_job_preempt_exempt(job_record_t *job_ptr)
{
	return false;
}

#endif
#endif

int slurmctld_bitmap(char *names, bitstr_t **bitmap)
{
#if CPLSLURM_SERIES < 2411
	return node_name2bitmap(names, false, bitmap);
#else
	return node_name2bitmap(names, false, bitmap, NULL);
#endif
}

int slurmctld_restore(cplslurm_list *jobs)
{
#if CPLSLURM_SERIES < 2505
	int rc = select_g_state_restore("");

	return rc == SLURM_SUCCESS ? select_g_job_init(jobs) : rc;
#else
	return SLURM_SUCCESS;
#endif
}

int slurmctld_gres(job_record_t *job, const char *gres)
{
	job_details_t *details = job->details;
	char *per_node = NULL;
	int rc;

#if CPLSLURM_SERIES < 2405
	xstrfmtcat(per_node, CPLSLURM_SERIES < 2302 ? "gres:%s" : "gres/%s",
	           gres);
	rc = gres_job_state_validate(
	        NULL, NULL, NULL, per_node, NULL, NULL, NULL,
	        &details->num_tasks, &details->min_nodes, &details->max_nodes,
	        &details->ntasks_per_node, NULL, NULL, &details->cpus_per_task,
	        &details->ntasks_per_tres, &job->gres_list_req);
#else
	gres_job_state_validate_t in = {
	        .num_tasks = &details->num_tasks,
	        .min_nodes = &details->min_nodes,
	        .max_nodes = &details->max_nodes,
	        .min_cpus = &details->min_cpus,
	        .ntasks_per_node = &details->ntasks_per_node,
	        .ntasks_per_socket = &details->mc_ptr->ntasks_per_socket,
	        .sockets_per_node = &details->mc_ptr->sockets_per_node,
	        .cpus_per_task = &details->cpus_per_task,
	        .ntasks_per_tres = &details->ntasks_per_tres,
	        .gres_list = &job->gres_list_req,
	};

	xstrfmtcat(per_node, "gres/%s", gres);
	in.tres_per_node = per_node;
	rc = gres_job_state_validate(&in);
#endif
	xfree(per_node);
	return rc;
}

#if CPLSLURM_SERIES < 2302

const char slurmctld_conf[] = "";

void slurmctld_partition(part_record_t *part)
{
}

int slurmctld_start(void)
{
	return select_g_init(1);
}

int slurmctld_stop(void)
{
	return select_g_fini();
}

int slurmctld_nodes(void)
{
	return SLURM_SUCCESS;
}

int slurmctld_job_test(void *plugins, const struct slurmctld_test *test)
{
	typeof(select_g_job_test) *call = plugins ? plugins : select_g_job_test;
	cplslurm_list *preemptees = NULL;

	return call(test->job, test->bitmap, test->min, test->max, test->req,
	            test->mode, NULL, &preemptees, (bitstr_t *)test->reserved);
}

#else

#if CPLSLURM_SERIES < 2405
const char slurmctld_conf[] = "";
#else
const char slurmctld_conf[] = "SwitchType=switch/commplace\n";
#endif

void slurmctld_partition(part_record_t *part)
{
	part->max_cpus_per_socket = INFINITE;
}

int slurmctld_start(void)
{
	/* As in slurmctld: at a restart topology and switch stay. */
	static bool started;

	if (!started && (topology_g_init() || SWITCH_INIT(false)))
		return SLURM_ERROR;
	started = true;
#if CPLSLURM_SERIES < 2505
	return select_g_init(true);
#else
	return select_g_init();
#endif
}

int slurmctld_stop(void)
{
	return select_g_fini();
}

int slurmctld_nodes(void)
{
	return topology_g_build_config();
}

int slurmctld_job_test(void *plugins, const struct slurmctld_test *test)
{
	typeof(select_g_job_test) *call = plugins ? plugins : select_g_job_test;
	resv_exc_t except = {0};
	cplslurm_list *preemptees = NULL;
	int rc, at = 0;

	if (test->reserved) {
		except.exc_cores =
		        xcalloc(node_record_count, sizeof(bitstr_t *));
		for (int i = 0; i < node_record_count; i++) {
			int cores = node_record_table_ptr[i]->tot_cores;

			except.exc_cores[i] = bit_alloc(cores);
			for (int c = 0; c < cores; c++)
				if (bit_test((bitstr_t *)test->reserved,
				             at + c))
					bit_set(except.exc_cores[i], c);
			at += cores;
		}
	}
	rc = call(test->job, test->bitmap, test->min, test->max, test->req,
#if CPLSLURM_SERIES < 2411
	          test->mode, NULL, &preemptees, &except);
#else
	          test->mode, NULL, &preemptees, &except, NULL);
#endif
	for (int i = 0; test->reserved && i < node_record_count; i++)
		bit_free(except.exc_cores[i]);
	xfree(except.exc_cores);
	return rc;
}

#endif

#if CPLSLURM_SERIES < 2405

int slurmctld_step_start(step_record_t *step)
{
	return select_g_step_start(step);
}

#else

int slurmctld_step_start(step_record_t *step)
{
	dynamic_plugin_data_t *info = NULL;
	int rc;

#if CPLSLURM_SERIES < 2511
	rc = switch_g_build_stepinfo(&info, step->step_layout, step);
	switch_g_free_stepinfo(info);
#else
	rc = switch_g_stepinfo_build(&info, step->job_ptr->switch_jobinfo,
	                             step);
	switch_g_stepinfo_free(info);
#endif
	return rc;
}

#endif

void slurmctld_counted(int node, uint16_t *cpus, uint64_t *memory)
{
#if CPLSLURM_SERIES < 2505
	const node_record_t *record = node_record_table_ptr[node];

	select_g_select_nodeinfo_get(record->select_nodeinfo,
	                             SELECT_NODEDATA_SUBCNT,
	                             NODE_STATE_ALLOCATED, cpus);
	select_g_select_nodeinfo_get(record->select_nodeinfo,
	                             SELECT_NODEDATA_MEM_ALLOC,
	                             NODE_STATE_ALLOCATED, memory);
#elif CPLSLURM_SERIES < 2605
	*cpus = node_record_table_ptr[node]->alloc_cpus;
	*memory = node_record_table_ptr[node]->alloc_memory;
#else
	*cpus = node_select_stats_array[node]->alloc_cpus;
	*memory = node_select_stats_array[node]->alloc_memory;
#endif
}

slurm_step_layout_t *slurmctld_layout(job_record_t *job, int tasks,
                                      uint32_t dist)
{
	uint32_t nodes = job->job_resrcs->nhosts;
	uint16_t per_node[nodes], per_task[nodes];
	slurm_step_layout_req_t req = {
	        .node_list = job->job_resrcs->nodes,
	        .cpus_per_node = per_node,
	        .cpus_per_task = per_task,
	        .num_hosts = nodes,
	        .num_tasks = (uint32_t)tasks,
	        .task_dist = dist,
	        .plane_size = job->details->ntasks_per_node,
	};
#if CPLSLURM_SERIES < 2605
	/* Runs of nodes with as many. */
	uint32_t once[nodes];

	req.cpu_count_reps = req.cpus_task_reps = once;
	for (uint32_t i = 0; i < nodes; i++)
		once[i] = 1;
#endif
	for (uint32_t i = 0; i < nodes; i++) {
		per_node[i] = job->job_resrcs->cpus[i];
		per_task[i] = job->details->cpus_per_task;
	}
	return slurm_step_layout_create(&req);
}
