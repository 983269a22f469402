/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for slurmctld: a machine of n[0-63] with 4 cores each in a
 * dragonfly of 4 groups x 2 rows x 4 columns x 2 nodes, and as much of
 * slurmctld's data as a select plugin looks at. One per process; failures of
 * the set-up end the process.
 */
#pragma once

#include "slurm_compat_ctld.h"

#define MACHINE_NODES 64
#define MACHINE_CORES 4

/* Bytes that a job's record has more than we know (0). */
extern size_t controller_job_extra;
/* Before controller_start: threads of a core (1), and further words of the
 * line of n[32-63], "Gres=gpu:2". */
extern int controller_threads;
extern const char *controller_gres;

/* The temporary folder of this run: slurm.conf, commplace.conf,
 * network.json, profiles/, state/. */
extern char controller_dir[];

/* Make the folder and its files and bring up the machine with SelectType
 * select/TYPE. */
void controller_start(const char *type);
/* End the plugin and remove the folder. */
void controller_stop(void);
/* select_g_fini and everything up to select_g_job_init again, as a restart of
 * slurmctld would do; jobs stay. */
void controller_restart(void);
/* scontrol reconfigure: what slurmctld calls when it reads slurm.conf again. */
void controller_reconfigure(void);
/* scontrol update partition, setdebugflags: select_g_reconfigure alone. */
void controller_update(void);

/* Write a file below the folder. */
void controller_write(const char *name, const char *text);
/* commplace.conf with these further lines. */
void controller_config(const char *lines);
/* profiles/NAME.json: a ring of `ranks` ranks plus pairs at distance `far`. */
void controller_profile(const char *name, int ranks, int far);

/* What a test says of a job; 0 means not stated. */
struct job_options {
	int nodes, max_nodes; /* -N nodes[-max_nodes] */
	int tasks;            /* -n */
	int tasks_per_node;
	int cpus_per_task;
	bool exclusive;
	const char *nodelist; /* -w */
	const char *exclude;  /* -x */
	const char *profile, *policy, *mapping;
	bool contiguous;
	const char *partition;
	int memory; /* MB a node */
	int tasks_per_core, threads_per_core;
	int core_spec, tasks_per_socket;
	int switches; /* --switches */
	bool spread;  /* --spread-job */
	bool exclusive_user; /* --exclusive=user */
	const char *gres;    /* --gres=gpu:1 */
	uint32_t dist;       /* -m to sbatch */
	const char *record;  /* --comm-record */
	const char *marks;   /* "marked", "offered": see spank_commplace.c */
};

/* Cores kept from the next calls of job_test by a reservation, or NULL. */
extern bitstr_t *controller_reserved;

/* A pending job; ids count up from 1. */
job_record_t *controller_job(const struct job_options *options);
/* Free the record (of a job that is not running). */
void controller_job_free(job_record_t *job);

/* RUN_NOW's bitmap for a job: nodes that are idle or partly taken. */
bitstr_t *controller_candidates(const job_record_t *job);
/* One call of job_test as slurmctld makes it. The bitmap is the answer. */
int controller_test(job_record_t *job, uint16_t mode, bitstr_t *bitmap);
/* The same call straight to the stock plugin. */
int controller_stock_test(job_record_t *job, uint16_t mode, bitstr_t *bitmap);

/* RUN_NOW and, when it succeeds, start. "" or the ranged list of nodes. */
char *controller_run(job_record_t *job);
/* What the stock plugin would answer now, without starting anything. */
char *controller_stock_nodes(job_record_t *job);
/* End a running job and free it. */
void controller_end(job_record_t *job);
/* The running job with this id, or NULL. */
job_record_t *controller_find(uint32_t id);

/* A step of a running job over all its nodes with `tasks` tasks in the default
 * distribution, through select_g_step_start. Text of rank -> node, comma
 * separated; free() it. */
char *controller_step(job_record_t *job, int tasks, uint32_t dist,
                      const char *submit_line);

/* "n[0-3]" of a bitmap; free() it. */
char *controller_names(const bitstr_t *bitmap);
