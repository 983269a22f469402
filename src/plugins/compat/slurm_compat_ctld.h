/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's structures inside slurmctld, for select and job_submit. Data that
 * only slurmctld has is weak: select plugins are loaded by slurmd and by every
 * client command too.
 */
#ifndef CPL_COMPAT_SLURM_COMPAT_CTLD_H
#define CPL_COMPAT_SLURM_COMPAT_CTLD_H

#include "slurm_compat.h"

#include "src/common/bitstring.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/select.h"
#include "src/slurmctld/slurmctld.h"

_Static_assert(sizeof(job_record_t) == 1048, "job_record_t");
_Static_assert(sizeof(struct job_details) == 504, "struct job_details");
_Static_assert(sizeof(node_record_t) == 472, "node_record_t");
_Static_assert(sizeof(part_record_t) == 328, "part_record_t");
_Static_assert(sizeof(step_record_t) == 392, "step_record_t");
_Static_assert(sizeof(slurm_select_ops_t) == 37 * sizeof(void *),
               "slurm_select_ops_t");

/* In slurmctld's programs, but not in the public libslurm's. */
extern int node_record_count __attribute__((weak));
extern node_record_t **node_record_table_ptr __attribute__((weak));
extern bitstr_t *idle_node_bitmap __attribute__((weak));

#endif
