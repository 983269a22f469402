/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

#include "slurm_compat.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

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
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	/* A program may keep it to itself. */
	if (!dladdr1(&slurm_conf, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol || info.dli_saddr != &slurm_conf ||
	    symbol->st_size == sizeof(slurm_conf))
		return 0;
	return cpl_fail(err,
	                "built for Slurm " SLURM_VERSION_STRING
	                ", whose slurm_conf_t has %zu bytes; here it has %zu: "
	                "build commplace for this release",
	                sizeof(slurm_conf), (size_t)symbol->st_size);
}
