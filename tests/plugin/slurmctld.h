/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a stand-in for slurmctld does otherwise in each series of Slurm: the
 * functions that select plugins find there, and calls into libslurmfull. The
 * only place of the tests on it that asks for the series.
 */
#pragma once

#include "slurm_compat_ctld.h"

#if CPLSLURM_SERIES < 2302
#include "src/common/gres.h"
#else
#include "src/interfaces/gres.h"
#endif

/* Lines of slurm.conf that only some series know. */
extern const char slurmctld_conf[];

/* Start and end of the interfaces that decide about nodes. */
int slurmctld_start(void);
int slurmctld_stop(void);
/* When the node table stands. */
int slurmctld_nodes(void);
/* Plugins' own state, where Slurm has them keep one. */
int slurmctld_restore(cplslurm_list *jobs);

/* No limits but those that all series have. */
void slurmctld_partition(part_record_t *part);

/* A hostlist's nodes. */
int slurmctld_bitmap(char *names, bitstr_t **bitmap);
/* --gres=gpu:1, so many on each node. */
int slurmctld_gres(job_record_t *job, const char *gres);

/* select_p_job_test of a plugin; NULL: of SelectType. reserved: cores of the
 * whole machine, or NULL. */
struct slurmctld_test {
	job_record_t *job;
	bitstr_t *bitmap;
	uint32_t min, max, req;
	uint16_t mode;
	const bitstr_t *reserved;
};
int slurmctld_job_test(void *plugins, const struct slurmctld_test *test);

/* What the stock plugin counts of a node as taken; after
 * select_g_select_nodeinfo_set_all(). */
void slurmctld_counted(int node, uint16_t *cpus, uint64_t *memory);

/* The default layout of a job's step, and what Slurm does with it before the
 * step is launched. */
slurm_step_layout_t *slurmctld_layout(job_record_t *job, int tasks,
                                      uint32_t dist);
int slurmctld_step_start(step_record_t *step);
