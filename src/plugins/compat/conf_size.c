/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Public headers only: the SPANK plugin has no others. */
#include "commplace-config.h"

#include "layout.h"

#include <dlfcn.h>
#include <link.h>
#include <slurm/slurm.h>

/* Where the program has it: Slurm's own do. */
extern slurm_conf_t slurm_conf __attribute__((weak));

size_t cplslurm_conf_size(void)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!&slurm_conf)
		return 0;
	/* A program may keep the name to itself; or the linker's own marks,
	 * which have no size, are at the same place. */
	return dladdr1(&slurm_conf, &info, (void **)&symbol, RTLD_DL_SYMENT) &&
	                       symbol && symbol->st_size &&
	                       info.dli_saddr == &slurm_conf
	               ? symbol->st_size
	               : sizeof(slurm_conf);
}
