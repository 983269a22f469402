/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs in Slurm's public headers, which the SPANK plugin needs alone. */
#ifndef CPL_COMPAT_SLURM_PUBLIC_H
#define CPL_COMPAT_SLURM_PUBLIC_H

#include <slurm/slurm_version.h>

#define CPLSLURM_SERIES                                                        \
	(SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER) * 100 +                     \
	 SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER))

/* Renamed in 25.11. */
#if CPLSLURM_SERIES >= 2511
#define CR_MEMORY SELECT_MEMORY
#define CR_PACK_NODES SELECT_PACK_NODES
#define CR_ONE_TASK_PER_CORE SELECT_ONE_TASK_PER_CORE
#endif

#endif
