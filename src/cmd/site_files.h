/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where commands find the files of the running site. */
#pragma once

#include "site/config.h"
#include "site/state.h"

/*
 * commplace.conf of this host: the option's value, else $COMMPLACE_CONF, else
 * next to the host's slurm.conf (slurm_search.h). The caller frees it; NULL when
 * memory is out. Where it is not there, `lacks` (or NULL) may say more.
 */
char *cmd_config_path(const char *option, struct cpl_error *lacks);

/* It, read. NULL with err. */
struct cpl_config *cmd_config_load(const char *option, struct cpl_error *err);

/* The file of that name in the folder of path; the same. */
char *cmd_beside(const char *path, const char *name);

/*
 * Where the records of jobs are, for --config and --state-dir: the state
 * directory's value, else the configuration's. *config is that file, for the
 * caller to free; NULL where it cannot be read, which state_dir makes up for
 * unless the option names it. NULL with err.
 */
const char *cmd_state_dir(const char *state_dir, const char *option,
                          struct cpl_config **config, struct cpl_error *err);

/*
 * Where profiles are: the option's value, else ProfileDir of this host's
 * configuration, else its default. Never fails; kept until the program ends.
 */
const char *cmd_profile_dir(const char *option);

/* Where profiles of the user who runs the command are: by
 * cmd_user_dir_pattern, else $HOME/.commplace/profiles. Kept until the program
 * ends. NULL with err. */
const char *cmd_user_profile_dir(struct cpl_error *err);

/* $COMMPLACE_USER_PROFILES, which a job's nodes have of its scheduler, else
 * UserProfileDir of this host's configuration; to free(). NULL: neither. */
char *cmd_user_dir_pattern(void);

/* DriftDistance of this host's configuration, else its built-in value, as a
 * part of 1. */
double cmd_drift(void);

/* Where profiles of a site's jobs are, by its configuration (may be NULL) and
 * --profile-dir (or NULL). */
struct cpl_profile_dirs cmd_profile_dirs(const struct cpl_config *config,
                                         const char *option);

/* What cpl_state_profiles does, for commands that look at one state. */
int cmd_state_profiles(struct cpl_state *state,
                       const struct cpl_profile_dirs *dirs, char **left_out,
                       struct cpl_error *err);

/*
 * Write running jobs as STATE.json with the profiles as paths (where config is
 * known), so that the file means the same to whoever reads it, who is said by
 * mode. Changes the names in state. 0, or -1 with err.
 */
int cmd_write_state(struct cpl_state *state, const struct cpl_config *config,
                    const char *path, int mode, struct cpl_error *err);

/* Text quoted for a shell where it needs to be; the caller frees it. */
char *cmd_shell_quote(const char *text);
