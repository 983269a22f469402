/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_submit_internal.h"

const char plugin_name[] = "commplace submit check";
const char plugin_type[] = "job_submit/commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern int init(void)
{
	return SLURM_SUCCESS;
}

extern int fini(void)
{
	cplsubmit_profiles_fini();
	cplsubmit_site_fini();
	return SLURM_SUCCESS;
}

extern int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **message)
{
	return cplsubmit_check(job, message);
}

extern int job_modify(job_desc_msg_t *job, job_record_t *record,
                      uint32_t submit_uid)
{
	return SLURM_SUCCESS;
}
