/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's structures inside slurmd and slurmstepd, for the task plugin. */
#ifndef CPL_COMPAT_SLURM_COMPAT_SLURMD_H
#define CPL_COMPAT_SLURM_COMPAT_SLURMD_H

#include "slurm_compat.h"

#include "src/slurmd/slurmd/slurmd.h"
#include "src/slurmd/slurmstepd/slurmstepd_job.h"

_Static_assert(sizeof(stepd_step_rec_t) == 768, "stepd_step_rec_t");
_Static_assert(sizeof(slurmd_conf_t) == 488, "slurmd_conf_t");

extern slurmd_conf_t *conf __attribute__((weak));

#endif
