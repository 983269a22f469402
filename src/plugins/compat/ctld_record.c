/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctld_internal.h"

void cplslurm_tell_recording(job_record_t *job_ptr)
{
	static const char *const name[][2] = {
	        {"COMM_RECORD", "SLURM_SPANK_COMM_RECORD"},
	        {"COMM_RECORD_STORE", "COMM_RECORD_STORE"},
	};
	job_details_t *details = job_ptr->details;

	if (job_ptr->batch_flag || job_ptr->het_job_id || !details)
		return;
	for (int i = 0; i < 2; i++) {
		const char *value =
		        cplslurm_env(job_ptr->spank_job_env,
		                     job_ptr->spank_job_env_size, name[i][0]);
		uint32_t n = details->env_cnt;

		if (value && !cplslurm_set_env(&details->env_sup, &n,
		                               name[i][1], value))
			details->env_cnt = (uint16_t)n;
	}
}
