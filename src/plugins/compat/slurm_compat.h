/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's own headers, and what all of this folder shares beyond daemon.h. For
 * this folder only, as are slurm_compat_ctld.h and slurm_compat_slurmd.h with
 * the structures of slurmctld, and of slurmd and slurmstepd.
 */
#ifndef CPL_COMPAT_SLURM_COMPAT_H
#define CPL_COMPAT_SLURM_COMPAT_H

#include "commplace-config.h"

#include "config.h"

#include "daemon.h"
#include "series.h"

#if CPLSLURM_SERIES != 2205 && CPLSLURM_SERIES != 2311 &&                      \
        CPLSLURM_SERIES != 2405 && CPLSLURM_SERIES != 2411 &&                  \
        CPLSLURM_SERIES != 2505 && CPLSLURM_SERIES != 2511 &&                  \
        CPLSLURM_SERIES != 2605 && CPLSLURM_SERIES != 2611
#error "not a series of Slurm that series.h knows"
#endif

#include "src/common/slurm_xlator.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/common/env.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* Name under which the SPANK plugin registers, part of variable names. */
#define CPLSLURM_SPANK_NAME "commplace"

/* 0 where Slurm has "not stated". */
static inline uint16_t cplslurm_stated(uint16_t limit)
{
	return limit == NO_VAL16 || limit == INFINITE16 ? 0 : limit;
}

/* A text of Slurm's allocator, whose own functions end the process where memory
 * is out; NULL: it is. */
char *cplslurm_copy(const char *text);

/*
 * Set a variable in an array of n "NAME=value" strings of Slurm's allocator,
 * with a NULL behind it. 0, or -1: out of memory, and nothing is changed. O(n).
 */
int cplslurm_set_env(char ***env, uint32_t *n, const char *name,
                     const char *value);
/* The same of an array that is counted by its NULL alone. */
int cplslurm_put_env(char ***env, const char *name, const char *value);
/* Strings before the NULL; of none where env is NULL. O(n). */
uint32_t cplslurm_count_env(char *const *env);
/* As cplslurm_env, of an array that is counted by its NULL alone. */
const char *cplslurm_get_env(char *const *env, const char *name);
/* Take a variable away, however often it is there (Slurm's own function
 * overlooks the second of two in a row). O(n). */
void cplslurm_unset_env(char **env, const char *name);

/*
 * Does srun mark a distribution that nobody stated (SLURM_DIST_NO_PACK_NODES,
 * see spank_commplace.c) in this job? Then a step without the mark is in its
 * user's own.
 */
#define CPLSLURM_MARKS "COMM_DISTRIBUTION"
#define CPLSLURM_MARKS_OFFERED "offered" /* it could */
#define CPLSLURM_MARKS_MADE "marked"
bool cplslurm_marks(char *const *env, uint32_t n);

/*
 * Do the options of srun in a submit line (the words that Slurm was started
 * with, joined by spaces) state -m? What the program is given is none of them.
 * For sruns that do not mark. O(length).
 */
bool cplslurm_states_distribution(const char *line);

/*
 * What a step's launch carries of the job's profile (binding/launch.h), as
 * select_g_select_jobinfo_get() of a launch request's select_jobinfo gives it
 * for this type: SLURM_SUCCESS and a struct cplslurm_excerpt, whose data
 * belongs to the request, filled. Set for the same type drops it. Stock select
 * plugins answer SLURM_ERROR.
 */
#define CPLSLURM_JOBDATA_EXCERPT 0x4350

/* What a credential may carry: libjwt of auth/slurm puts it on the stack of
 * slurmctld's thread. */
#define CPLSLURM_SWITCH_MAX (64 << 10)
/* Bytes of a step's data that reach its nodes: none of 23.11, which sends srun
 * no select_jobinfo any more and has no data of ours in its credentials yet. */
#define CPLSLURM_TRAVELS (CPLSLURM_SERIES < 2405 ? 1 : CPLSLURM_SWITCH_MAX)

/* dlopen() a file of the first folder of PluginDir where that is possible;
 * NULL: dlerror(), if there is a PluginDir. */
void *cplslurm_open_plugin(const char *file, int flags);

#endif
