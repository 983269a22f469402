/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step's select_jobinfo carries the excerpt of the job's profile: slurmctld
 * answers srun with it, srun launches with it, slurmd hands it to
 * task/commplace. Jobs have none, and slurmctld keeps none.
 */
#include "adapter.h"

#include <stdlib.h>
#include <string.h>

#include "src/common/pack.h"
#include "src/common/run_in_daemon.h"

#define MAGIC 0x43504a49

struct select_jobinfo {
	uint32_t magic, size;
	void *data; /* malloc() */
};

static select_jobinfo_t *jobinfo_new(void *data, uint32_t size)
{
	select_jobinfo_t *jobinfo = calloc(1, sizeof(*jobinfo));

	if (!jobinfo)
		return NULL;
	jobinfo->magic = MAGIC;
	jobinfo->data = data;
	jobinfo->size = size;
	return jobinfo;
}

int adapter_jobinfo_free(select_jobinfo_t *jobinfo)
{
	if (!jobinfo)
		return SLURM_SUCCESS;
	if (jobinfo->magic != MAGIC)
		return SLURM_ERROR;
	jobinfo->magic = ~(uint32_t)MAGIC;
	free(jobinfo->data);
	free(jobinfo);
	return SLURM_SUCCESS;
}

/*
 * The answer to srun is made from a copy of the step's. It takes the data
 * along, so that neither saved state nor `squeue --steps` has to carry it.
 */
select_jobinfo_t *adapter_jobinfo_copy(select_jobinfo_t *jobinfo)
{
	select_jobinfo_t *copy = NULL;

	if (!jobinfo || !jobinfo->data)
		return NULL;
	copy = jobinfo_new(jobinfo->data, jobinfo->size);
	if (!copy)
		return NULL;
	jobinfo->data = NULL;
	jobinfo->size = 0;
	return copy;
}

int adapter_jobinfo_get(select_jobinfo_t *jobinfo, int type, void *data)
{
	struct cplslurm_excerpt *out = data;

	if (type != CPLSLURM_JOBDATA_EXCERPT || !jobinfo || !jobinfo->data)
		return SLURM_ERROR;
	out->data = jobinfo->data;
	out->size = jobinfo->size;
	return SLURM_SUCCESS;
}

int adapter_jobinfo_drop(select_jobinfo_t *jobinfo)
{
	if (jobinfo) {
		free(jobinfo->data);
		jobinfo->data = NULL;
		jobinfo->size = 0;
	}
	return SLURM_SUCCESS;
}

int adapter_jobinfo_pack(select_jobinfo_t *jobinfo, buf_t *buffer)
{
	packmem(jobinfo ? jobinfo->data : NULL, jobinfo ? jobinfo->size : 0,
	        buffer);
	return SLURM_SUCCESS;
}

int adapter_jobinfo_unpack(select_jobinfo_t **jobinfo, buf_t *buffer)
{
	char *data;
	void *copy;
	uint32_t size;

	*jobinfo = NULL;
	if (unpackmem_ptr(&data, &size, buffer) != SLURM_SUCCESS)
		return SLURM_ERROR;
	/* What a client or an old state says is nothing to slurmctld. */
	if (!size || size > CPL_EXCERPT_MAX_BYTES || running_in_slurmctld())
		return SLURM_SUCCESS;
	copy = malloc(size);
	if (!copy)
		return SLURM_SUCCESS;
	memcpy(copy, data, size);
	*jobinfo = jobinfo_new(copy, size);
	if (!*jobinfo)
		free(copy);
	return SLURM_SUCCESS;
}

void adapter_step_excerpt(step_record_t *step_ptr)
{
	const slurm_step_layout_t *layout = step_ptr->step_layout;
	dynamic_plugin_data_t *jobinfo = step_ptr->select_jobinfo;
	struct cpl_engine_job job;
	struct cpl_error err = {""};
	unsigned char *data;
	size_t size = 0;

	if (!adapter_engine || !layout || !layout->tids || !layout->tasks ||
	    !jobinfo || jobinfo->data || !step_ptr->job_ptr ||
	    step_ptr->step_id.step_id > SLURM_MAX_NORMAL_STEP_ID)
		return;
	job = adapter_describe(step_ptr->job_ptr);
	struct cpl_excerpt_step step = {
	        .ranks = (int)layout->task_cnt,
	        .n_nodes = (int)layout->node_cnt,
	        .tasks = layout->tasks,
	        .ids = layout->tids,
	};
	data = cpl_engine_excerpt(adapter_engine, &job, &step, &size, &err);
	if (data) {
		jobinfo->data = jobinfo_new(data, (uint32_t)size);
		if (!jobinfo->data) {
			free(data);
			cpl_fail_memory(&err);
		}
	}
	if (err.text[0])
		log_flag(SELECT_TYPE,
		         "commplace: %pS launches without its profile: %s",
		         step_ptr, err.text);
}
