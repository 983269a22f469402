/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This table has the series of Slurm, and where in this folder what differs between
 * them stands. CPLSLURM_SERIES is 2411 for 24.11; a micro release never matters
 * here, since its headers are what is compiled against. To add a series, see
 * doc/adding-a-slurm-series.md.
 *
 *                     22.05 23.11 24.05 24.11 25.05 25.11 26.05 26.11
 *   tested with       .8    .11   .8    .5    .8    .7    .5    rc1
 *   hooks of select   36    31    31    31    12    12    13    13   select_hooks.h
 *   hooks of switch   -     -     18    19    20    21    22    22   switch_hooks.h
 *   hooks of task     12    10    10    8     8     8     9     9    task_hooks.c
 *   plugin_id select  110   110   110   110   109   109   109   109  select_hooks.c
 *   job_test's tail   cores resv_exc_t  and will_run_data_t          select_hooks.h
 *   steps laid out by select select switch  ...                      select_hooks.c
 *   a step's data in  launch none  signed credential                 slurmd_launch.c
 *     most of it      512 KiB 0    64 KiB                            slurm_compat.h
 *   launch has uid    yes   no: its credential                       slurmd_launch.c
 *   masks made by     slurmd slurmstepd                              task_hooks.c
 *   cgroups v2 by     job id                            SLUID        cgroup_names.h
 *   restores jobs in  job_init reconfigure                           select_hooks.c
 *   plugins load      before slurmd forks, after it                  slurmd_daemon.c
 *   whole_node is     a number     bits                              ctld_nodes.c
 *   size of planes in job_details_t multi_core_data_t                slurm_compat_ctld.h
 *   leaf switches by  table none  a printed topology                 ctld_units.c
 *   segments          no    no    yes                                ctld_units.c
 *   kept apart        no    no    no    no    no    yes   yes   yes  ctld_units.c
 *   ranks of nodes    -     -     -     -     -     -     yes   yes  ctld_layout.c
 *   job_modify tells  log   the user                                 slurm_compat_ctld.h
 *   CR_ is SELECT_    -     -     -     -     -     yes   yes   yes  below
 *   fini() is         int   int   int   int   int   void  void  void
 *
 * Which fields of Slurm's structures are used is in layout_fields.h; their
 * offsets and sizes are the compiler's, from the headers at hand, and are
 * compared with a daemon's own when it loads a plugin (layout.h).
 *
 * The rooms above may include daemon.h, ctld.h, slurmd.h, cgroup_names.h,
 * slurm_share.h and spank_options.h. Slurm calls *_hooks.c, by plugin. slurm_compat*
 * and ctld_internal.h open Slurm's own structures, for this folder only.
 */
#pragma once

#include <slurm/slurm_version.h>

#define CPLSLURM_SERIES                                                        \
	(SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER) * 100 +                     \
	 SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER))

#if CPLSLURM_SERIES >= 2511
#define CR_MEMORY SELECT_MEMORY
#define CR_PACK_NODES SELECT_PACK_NODES
#define CR_ONE_TASK_PER_CORE SELECT_ONE_TASK_PER_CORE
#endif
