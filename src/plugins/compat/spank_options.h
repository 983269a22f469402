/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the SPANK plugin needs of Slurm's structures. */
#ifndef CPL_COMPAT_SPANK_OPTIONS_H
#define CPL_COMPAT_SPANK_OPTIONS_H

#include <slurm/spank.h>
#include <stdbool.h>

/* --name=NAME; Slurm calls take(number, value, in slurmstepd?). False: it is
 * not registered. */
bool cplslurm_spank_register(spank_t sp, const char *name, const char *usage,
                             int number,
                             int (*take)(int number, const char *value,
                                         int remote));

/* In slurmstepd: is it that of a batch script? */
bool cplslurm_spank_is_batch(spank_t sp);

/* Is SLURM_DIST_NO_PACK_NODES what a step has that states nothing of it? False
 * also where this program does not say, or its slurm_conf is another. */
bool cplslurm_spank_default_is_no_pack(void);

#endif
