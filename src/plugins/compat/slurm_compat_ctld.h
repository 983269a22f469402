/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are Slurm's structures inside slurmctld, for select, switch and job_submit.
 * Data that only slurmctld has is weak, as slurmd and client commands load select
 * plugins, too. */
#pragma once

#include "slurm_compat.h"

#include "src/common/bitstring.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#if CPLSLURM_SERIES < 2302
#include "src/common/select.h"
#include "src/common/slurm_topology.h"
#include "src/slurmctld/slurmctld.h"
typedef struct job_details job_details_t;
#else
#include "src/interfaces/select.h"
#include "src/slurmctld/slurmctld.h"
#endif

#if CPLSLURM_SERIES < 2405
#define CONF_FLAG_ASRU CTL_CONF_ASRU
#endif

/* These parameters end those of job_submit's job_modify. */
#if CPLSLURM_SERIES < 2302
#define CPLSLURM_MODIFY_TAIL uint32_t submit_uid
#else
#define CPLSLURM_MODIFY_TAIL uint32_t submit_uid, char **message
#endif

/* Return the size of the planes in which tasks are dealt to nodes, where -m states
 * it. */
static inline uint16_t cplslurm_plane_size(const job_details_t *details)
{
#if CPLSLURM_SERIES < 2405
	return details->plane_size;
#else
	return details->mc_ptr ? details->mc_ptr->plane_size : NO_VAL16;
#endif
}

/* slurmctld's programs have these, but the public libslurm has not. */
extern int node_record_count __attribute__((weak));
extern node_record_t **node_record_table_ptr __attribute__((weak));
extern cplslurm_list *job_list __attribute__((weak));
extern cplslurm_list *part_list __attribute__((weak));
extern bitstr_t *avail_node_bitmap __attribute__((weak));
extern bitstr_t *idle_node_bitmap __attribute__((weak));
extern time_t control_time __attribute__((weak));
extern slurmctld_config_t slurmctld_config __attribute__((weak));
#if CPLSLURM_SERIES < 2302
extern switch_record_t *switch_record_table __attribute__((weak));
extern int switch_record_cnt __attribute__((weak));
#endif
