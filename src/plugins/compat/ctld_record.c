/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctld_internal.h"

#include <limits.h>
#include <string.h>

#include "signature/signature.h"

void cplslurm_tell_recording(job_record_t *job_ptr)
{
	static const struct {
		const char *name, *as;
		size_t max; /* Its reader has no use for longer ones. */
	} what[] = {
	        {"COMM_RECORD", "SLURM_SPANK_COMM_RECORD",
	         CPL_PROFILE_NAME_MAX},
	        {"COMM_RECORD_STORE", "COMM_RECORD_STORE", PATH_MAX},
	};
	job_details_t *details = job_ptr->details;

	if (job_ptr->batch_flag || job_ptr->het_job_id || !details)
		return;
	for (int i = 0; i < 2; i++) {
		const char *value =
		        cplslurm_env(job_ptr->spank_job_env,
		                     job_ptr->spank_job_env_size, what[i].name);

		if (value && strlen(value) <= what[i].max)
			cplslurm_supply(details, what[i].as, value);
	}
}
