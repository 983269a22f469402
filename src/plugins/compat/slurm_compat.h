/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Here are Slurm's own headers, and what all of this folder shares beyond daemon.h.
 * It is for this folder only, as are slurm_compat_ctld.h and slurm_compat_slurmd.h
 * with the structures of slurmctld, and of slurmd and slurmstepd. */
#pragma once

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

/* The SPANK plugin registers under this name, which is part of variable names. */
#define CPLSLURM_SPANK_NAME "commplace"

/* Return the limit, or 0 where Slurm has "not stated". */
static inline uint16_t cplslurm_stated(uint16_t limit)
{
	return limit == NO_VAL16 || limit == INFINITE16 ? 0 : limit;
}

/* Return a copy from Slurm's allocator, whose own functions end the process where
 * memory is out. This returns NULL then. */
char *cplslurm_copy(const char *text);

/* Put text into an AdminComment of Slurm's allocator, see site/comment.h. It stays as
 * it is where memory is out. */
void cplslurm_comment(char **comment, const char *text);

/* Set a variable in an array of n "NAME=value" strings of Slurm's allocator, with a
 * NULL behind it. Return 0, or -1 where memory is out and nothing is changed.
 * O(n). */
int cplslurm_set_env(char ***env, uint32_t *n, const char *name,
                     const char *value);
/* Do the same for an array that is counted by its NULL alone. */
int cplslurm_put_env(char ***env, const char *name, const char *value);
/* Return the number of strings before the NULL, 0 where env is NULL. O(n). */
uint32_t cplslurm_count_env(char *const *env);
/* Do as cplslurm_env for an array that is counted by its NULL alone. */
const char *cplslurm_get_env(char *const *env, const char *name);
/* Take a variable away, however often it is there (Slurm's own function
 * overlooks the second of two in a row). O(n). */
void cplslurm_unset_env(char **env, const char *name);

/* Tell whether srun marks a distribution that nobody stated
 * (SLURM_DIST_NO_PACK_NODES, see spank_commplace.c) in this job. Then a step without
 * the mark is in its user's own. */
#define CPLSLURM_MARKS "COMM_DISTRIBUTION"
#define CPLSLURM_MARKS_OFFERED "offered" /* srun could mark. */
#define CPLSLURM_MARKS_MADE "marked"
bool cplslurm_marks(char *const *env, uint32_t n);

/* Tell whether srun's options in a submit line (the words that Slurm was started
 * with, joined by spaces) state -m. What the program is given is not looked at. This
 * is for sruns that do not mark. O(length). */
bool cplslurm_states_distribution(const char *line);

/* For this type select_g_select_jobinfo_get() of a launch request's select_jobinfo
 * gives what the launch carries of the job's profile (binding/launch.h):
 * SLURM_SUCCESS and a filled struct cplslurm_excerpt, whose data belongs to the
 * request. Set for the same type drops it. Stock select plugins answer
 * SLURM_ERROR. */
#define CPLSLURM_JOBDATA_EXCERPT 0x4350

/* A credential may carry so much: libjwt of auth/slurm puts it on the stack of
 * slurmctld's thread. */
#define CPLSLURM_SWITCH_MAX (64 << 10)
/* So many bytes of a step's data reach its nodes. In 23.11 none do, as it sends srun
 * no select_jobinfo any more and has no data of ours in its credentials yet. */
#define CPLSLURM_TRAVELS (CPLSLURM_SERIES < 2405 ? 1 : CPLSLURM_SWITCH_MAX)

/* Open a file of the first folder of PluginDir where dlopen() can. Return NULL where
 * none can, with dlerror() if there is a PluginDir. */
void *cplslurm_open_plugin(const char *file, int flags);
