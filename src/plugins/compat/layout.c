/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

#include "slurm_compat.h"

bool cplslurm_is_ours(struct cplslurm_layout *layout, const void *record)
{
	size_t size;

	if (layout->found != CPLSLURM_UNKNOWN || !record)
		return layout->found != CPLSLURM_ANOTHER;
	size = xsize((void *)record);
	if (size == layout->size) {
		layout->found = CPLSLURM_OURS;
		return true;
	}
	layout->found = CPLSLURM_ANOTHER;
	error("commplace: built for Slurm " SLURM_VERSION_STRING
	      ", whose %s has %zu bytes; here it has %zu: all is left to "
	      "Slurm; build commplace for this release",
	      layout->name, layout->size, size);
	return false;
}

int cplslurm_conf_check(struct cpl_error *err)
{
	size_t here = cplslurm_conf_size();

	return here == sizeof(slurm_conf)
	               ? 0
	               : cpl_fail(err,
	                          "built for Slurm " SLURM_VERSION_STRING
	                          ", whose slurm_conf_t has %zu bytes; here "
	                          "it has %zu: build commplace for this release",
	                          sizeof(slurm_conf), here);
}
