/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Only public headers are included, since the SPANK plugin has no others. */
#include "commplace-config.h"

#include "layout.h"

#include <dlfcn.h>
#include <link.h>
#include <slurm/slurm.h>

/* It is weak, since only Slurm's own programs have it. */
extern slurm_conf_t slurm_conf __attribute__((weak));

size_t cplslurm_conf_size(void)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!&slurm_conf)
		return 0;
	/* A program may keep the name to itself, or the linker's own marks, which
	 * have no size, may be at the same place. */
	return dladdr1(&slurm_conf, &info, (void **)&symbol, RTLD_DL_SYMENT) &&
	                       symbol && symbol->st_size &&
	                       info.dli_saddr == &slurm_conf
	               ? symbol->st_size
	               : sizeof(slurm_conf);
}
