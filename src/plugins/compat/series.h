/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The series of Slurm, and where in this folder what differs between them
 * stands. CPLSLURM_SERIES is 2411 for 24.11; a micro release never matters
 * here, its headers are what is compiled against. To add one, see
 * doc/adding-a-slurm-series.md.
 *
 *                      22.05   24.11   25.05   25.11   26.05
 *   tested with        .8      .5      -       -       .5
 *   hooks of select    36      31      12      12      13     select_hooks.h
 *   hooks of switch    -       19      20      21      22     switch_hooks.h
 *   hooks of task      12      8       8       8       9      task_hooks.c
 *   plugin_id select   110     110     109     109     109    select_hooks.c
 *   job_test's tail    cores   resv_exc_t and will_run_data_t select_hooks.h
 *   a step's data      launch  signed credential              slurmd_launch.c
 *     most of it       512 KiB 64 KiB                         slurm_compat.h
 *   masks made by      slurmd  slurmstepd                     task_hooks.c
 *   cgroups v2 by      job id                          SLUID  cgroup_names.h
 *   restores jobs in   job_init  reconfigure                  select_hooks.c
 *   plugins load       before slurmd forks, after it          slurmd_daemon.c
 *   ranks of nodes     -       -       -       -       yes    ctld_layout.c
 *   CR_ is SELECT_     -       -       -       yes     yes    below
 *   fini() is          int     int     int     void    void
 *
 * Sizes of what the plugins read, in bytes: of the release tested with, else
 * of the newest one known. They are those of the headers at hand, and compared
 * with a daemon's own at run time (layout.h).
 *
 *                      22.05.8 24.11.5 25.05.8 25.11.7 26.05.5
 *   job_record_t       1048    1160    1160    1208    1296
 *   job_details_t      504     528     544     544     560
 *   part_record_t      328     360     376     376     368
 *   node_record_t      472     536     568     592     576
 *   step_record_t      392     424     456     456     472
 *   job_resources_t    160     160     160     160     168
 *   slurm_step_layout_t  56    88      80      80      80
 *   job_desc_msg_t     880     912     920     944     952
 *   launch_tasks_...   648     704     696     696     696
 *   stepd_step_rec_t   768     912     920     928     928
 *   slurmd_conf_t      488     4616    4608    4616    4616
 *   slurm_conf_t       1544    1544    1552    1584    1640
 *
 * job_record_t was smaller by 16 bytes in 24.11.0 and by 8 in 26.05.3.
 *
 * The files: daemon.h, ctld.h, slurmd.h, cgroup_names.h, slurm_share.h and
 * spank_options.h are for the rooms above; *_hooks.c are what Slurm calls, by plugin; slurm_compat*
 * and ctld_internal.h are Slurm's own structures, for this folder only.
 */
#ifndef CPL_COMPAT_SERIES_H
#define CPL_COMPAT_SERIES_H

#include <slurm/slurm_version.h>

#define CPLSLURM_SERIES                                                        \
	(SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER) * 100 +                     \
	 SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER))

#if CPLSLURM_SERIES >= 2511
#define CR_MEMORY SELECT_MEMORY
#define CR_PACK_NODES SELECT_PACK_NODES
#define CR_ONE_TASK_PER_CORE SELECT_ONE_TASK_PER_CORE
#endif

#endif
