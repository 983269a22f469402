/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_commplace.so in the place of slurmctld: hand-made job
 * descriptions against files in a folder of its own. Slurm's log functions are
 * replaced to read what the plugin logs.
 */
#pragma once

#include "slurm_compat_ctld.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

extern char dir[];
extern char logged[8192];
extern int log_lines, log_infos, log_errors;
extern const char signature4[];

/* The plugin and its hooks. */
extern void *handle;
extern int (*submit)(job_desc_msg_t *, uint32_t, char **);
extern int (*modify)(job_desc_msg_t *, job_record_t *, CPLSLURM_MODIFY_TAIL);
extern int (*plugin_init)(void);
extern int (*plugin_fini)(void);

/* Fixtures: of a group, and of a test: a network, profiles milc and vasp of 4
 * ranks, damaged and broken. */
int load(void **state);
int unload(void **state);
int submit_start(void **state);
int submit_stop(void **state);

/* Path of a file of the folder; one of two texts in turn. */
const char *in_dir(const char *name);
/* Each file gets a time of its own, so that a rewrite is always a change. */
void put_file(const char *name, const char *text);
/* commplace.conf with these further lines, and time to read files unless they
 * say how much. */
void put_config(const char *more);

struct job {
	job_desc_msg_t *d; /* of Slurm's allocator, as slurmctld's */
	char *message;
	int rc;
};

/* env: "A=1 B=2"; tasks 0: not given. */
void run(struct job *j, const char *env, const char *name, uint32_t tasks,
         const char *partition);
/* The same in the partition main; with a script or without. */
void run_as(struct job *j, bool batch, const char *env, const char *name,
            uint32_t tasks);
void append_env(struct job *j, const char *entry);
void done(struct job *j);
bool has(char **array, uint32_t n, const char *entry);
/* rc of a job of 4 tasks with this env. */
int rc_of(const char *env);
