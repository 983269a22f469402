/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctld_internal.h"
#include "layout.h"
#include "layout_fields.h"

static struct cplslurm_layout job_layout = CPLSLURM_MARKED(job_record_t, JOB_MAGIC);
static struct cplslurm_layout details = CPLSLURM_MARKED(job_details_t, DETAILS_MAGIC);
static struct cplslurm_layout part = CPLSLURM_MARKED(part_record_t, PART_MAGIC);
static struct cplslurm_layout node = CPLSLURM_MARKED(node_record_t, NODE_MAGIC);
static struct cplslurm_layout resources = CPLSLURM_LAYOUT(job_resources_t);
static struct cplslurm_layout step_record = CPLSLURM_MARKED(step_record_t, STEP_MAGIC);
static struct cplslurm_layout ranks = CPLSLURM_LAYOUT(slurm_step_layout_t);

int cplslurm_ctld_check(struct cpl_error *err)
{
	static const struct cpl_field field[] = {
	        CPLSLURM_CTLD_FIELDS(CPLSLURM_FIELD_AT)};

	if (cplslurm_conf_check(err))
		return -1;
	/* Other programs load us, too, and have no such records. */
	if (&job_list)
		cplslurm_layout_probe("/proc/self/exe", field,
		                      sizeof(field) / sizeof(*field));
	return 0;
}

static const node_record_t *some_node(void)
{
	if (node.found == CPLSLURM_UNKNOWN)
		for (int i = 0; i < node_record_count; i++)
			if (node_record_table_ptr[i])
				return node_record_table_ptr[i];
	return NULL;
}

bool cplslurm_layout_is_ours(const job_record_t *job)
{
	/* The job is looked at first, since what follows is read through it. */
	return job && cplslurm_is_ours(&job_layout, job) &&
	       cplslurm_is_ours(&details, job->details) &&
	       cplslurm_is_ours(&part, job->part_ptr) &&
	       cplslurm_is_ours(&resources, job->job_resrcs) &&
	       cplslurm_is_ours(&node, some_node());
}

bool cplslurm_step_is_ours(const step_record_t *step)
{
	return cplslurm_is_ours(&step_record, step) &&
	       cplslurm_layout_is_ours(step->job_ptr) &&
	       cplslurm_is_ours(&ranks, step->step_layout);
}
