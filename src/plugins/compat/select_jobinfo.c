/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In 22.05 a step's select_jobinfo carries the excerpt of the job's profile:
 * slurmctld answers srun with it, srun launches with it, slurmd hands it to
 * task/commplace. Jobs have none, and slurmctld keeps none. select/cons_tres has no
 * such data, and ours is never given to it. */
#include "select_hooks.h"

#include "select_internal.h"

#include <stdlib.h>
#include <string.h>

#include "binding/launch.h"
#include "slurmd.h"

#include "src/common/pack.h"
#include "src/common/run_in_daemon.h"

#if CPLSLURM_SERIES < 2302

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* Slurm declares no hooks. */

#define MAGIC 0x43504a49

struct select_jobinfo {
	uint32_t magic, size;
	void *data; /* malloc() */
};

static select_jobinfo_t *new_jobinfo(void *data, uint32_t size)
{
	select_jobinfo_t *jobinfo = calloc(1, sizeof(*jobinfo));

	if (!jobinfo)
		return NULL;
	jobinfo->magic = MAGIC;
	jobinfo->data = data;
	jobinfo->size = size;
	return jobinfo;
}

select_jobinfo_t *select_p_select_jobinfo_alloc(void)
{
	return NULL;
}

int select_p_select_jobinfo_free(select_jobinfo_t *jobinfo)
{
	if (!jobinfo)
		return SLURM_SUCCESS;
	if (jobinfo->magic != MAGIC)
		return SLURM_ERROR;
	jobinfo->magic = ~(uint32_t)MAGIC;
	cpl_free_all(jobinfo->data, jobinfo);
	return SLURM_SUCCESS;
}

/*
 * The answer to srun is made from a copy of the step's. It takes the data
 * along, so that neither saved state nor `squeue --steps` has to carry it.
 */
select_jobinfo_t *select_p_select_jobinfo_copy(select_jobinfo_t *jobinfo)
{
	select_jobinfo_t *copy = NULL;

	if (!jobinfo || !jobinfo->data)
		return NULL;
	copy = new_jobinfo(jobinfo->data, jobinfo->size);
	if (!copy)
		return NULL;
	jobinfo->data = NULL;
	jobinfo->size = 0;
	return copy;
}

int select_p_select_jobinfo_get(select_jobinfo_t *jobinfo,
                                enum select_jobdata_type type, void *data)
{
	struct cplslurm_excerpt *out = data;

	if ((int)type != CPLSLURM_JOBDATA_EXCERPT)
		return cplslurm_stock.select_jobinfo_get(NULL, type, data);
	if (!jobinfo || !jobinfo->data)
		return SLURM_ERROR;
	out->data = jobinfo->data;
	out->size = jobinfo->size;
	return SLURM_SUCCESS;
}

int select_p_select_jobinfo_set(select_jobinfo_t *jobinfo,
                                enum select_jobdata_type type, void *data)
{
	if ((int)type != CPLSLURM_JOBDATA_EXCERPT)
		return cplslurm_stock.select_jobinfo_set(NULL, type, data);
	if (jobinfo) {
		free(jobinfo->data);
		jobinfo->data = NULL;
		jobinfo->size = 0;
	}
	return SLURM_SUCCESS;
}

int select_p_select_jobinfo_pack(select_jobinfo_t *jobinfo, buf_t *buffer,
                                 uint16_t protocol_version)
{
	packmem(jobinfo ? jobinfo->data : NULL, jobinfo ? jobinfo->size : 0,
	        buffer);
	return SLURM_SUCCESS;
}

int select_p_select_jobinfo_unpack(select_jobinfo_t **jobinfo, buf_t *buffer,
                                   uint16_t protocol_version)
{
	char *data;
	void *copy;
	uint32_t size;

	*jobinfo = NULL;
	if (unpackmem_ptr(&data, &size, buffer) != SLURM_SUCCESS)
		return SLURM_ERROR;
	/* slurmctld needs nothing of what a client or an old state says. */
	if (!size || size > CPL_LAUNCH_MAX_BYTES || running_in_slurmctld())
		return SLURM_SUCCESS;
	copy = malloc(size);
	if (!copy)
		return SLURM_SUCCESS;
	memcpy(copy, data, size);
	*jobinfo = new_jobinfo(copy, size);
	if (!*jobinfo)
		free(copy);
	return SLURM_SUCCESS;
}

/* select/cons_tres has no such data, and ours is never given to it. */
char *select_p_select_jobinfo_sprint(select_jobinfo_t *jobinfo, char *text,
                                     size_t size, int mode)
{
	return cplslurm_stock.select_jobinfo_sprint(NULL, text, size, mode);
}

char *select_p_select_jobinfo_xstrdup(select_jobinfo_t *jobinfo, int mode)
{
	return cplslurm_stock.select_jobinfo_xstrdup(NULL, mode);
}

void cplslurm_attach(step_record_t *step)
{
	dynamic_plugin_data_t *jobinfo = step->select_jobinfo;
	struct cpl_engine_layout out;

	if (!cplselect_step((struct cplslurm_step *)step, &out) || !out.data)
		return;
	if (jobinfo && !jobinfo->data)
		jobinfo->data = new_jobinfo(out.data, (uint32_t)out.size);
	else
		jobinfo = NULL;
	if (!jobinfo || !jobinfo->data)
		free(out.data);
}

#else

/* srun is sent nothing of the data here, see series.h. */
void cplslurm_attach(step_record_t *step)
{
	struct cpl_engine_layout out;

	if (cplselect_step((struct cplslurm_step *)step, &out))
		free(out.data);
}

#endif
