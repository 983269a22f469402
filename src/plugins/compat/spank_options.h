/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SPANK plugin takes from here what it needs of Slurm's structures. */
#pragma once

#include <slurm/spank.h>
#include <stdbool.h>

/* Register --name=NAME, for which Slurm calls take with number, the value and
 * whether this is slurmstepd. Return false where Slurm refuses the option. */
bool cplslurm_spank_register(spank_t sp, const char *name, const char *usage,
                             int number,
                             int (*take)(int number, const char *value,
                                         int remote));

/* In slurmstepd, tell whether the step is that of a batch script. */
bool cplslurm_spank_is_batch(spank_t sp);

/* Tell whether a step that states nothing of it has SLURM_DIST_NO_PACK_NODES. It is
 * false also where this program does not say, or its slurm_conf is another one. */
bool cplslurm_spank_default_is_no_pack(void);
