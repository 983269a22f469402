/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "cmd.h"
#include "site_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "site/user_dir.h"
#include "slurm_search.h"

char *cmd_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *beside;

	return asprintf(&beside, "%.*s%s", slash ? (int)(slash - path) + 1 : 0,
	                path, name) < 0
	               ? NULL
	               : beside;
}

char *cmd_config_path(const char *option, struct cpl_error *lacks)
{
	const char *env = getenv("COMMPLACE_CONF");
	const struct slurm_search here = slurm_search_here();

	if (option)
		return strdup(option);
	if (env && *env)
		return strdup(env);
	return slurm_search_site(&here, lacks);
}

struct cpl_config *cmd_config_load(const char *option, struct cpl_error *err)
{
	struct cpl_error why = {""}, lacks = {""};
	char *path = cmd_config_path(option, &lacks);
	struct cpl_config *config = path ? cpl_config_load(path, &why) : NULL;

	if (!path)
		cpl_fail_memory(err);
	else if (!config)
		cpl_fail(err, "%s%s%s", why.text, *lacks.text ? "; " : "",
		         lacks.text);
	free(path);
	return config;
}

const char *cmd_state_dir(const char *state_dir, const char *option,
                          struct cpl_config **config, struct cpl_error *err)
{
	struct cpl_error why = {""};

	*config = cmd_config_load(option, &why);
	if (!*config && option)
		cpl_fail(err, "%s", why.text);
	else if (state_dir)
		return state_dir;
	else if (*config)
		return (*config)->state_dir;
	else
		cpl_fail(err, "%s; say where with --config or --state-dir",
		         why.text);
	return NULL;
}

const char *cmd_profile_dir(const char *option)
{
	static char *dir;
	struct cpl_config *config;

	if (option || dir)
		return option ? option : dir;
	config = cmd_config_load(NULL, NULL);
	if (config)
		dir = strdup(config->profile_dir);
	cpl_config_free(config);
	return dir ? dir : CMD_PROFILE_DIR;
}

char *cmd_user_dir_pattern(void)
{
	const char *env = getenv("COMMPLACE_USER_PROFILES");
	struct cpl_config *config;
	char *pattern = NULL;

	if (env && !cpl_user_dir_check(env, NULL))
		return strdup(env);
	config = cmd_config_load(NULL, NULL);
	if (config && config->user_profile_dir)
		pattern = strdup(config->user_profile_dir);
	cpl_config_free(config);
	return pattern;
}

const char *cmd_user_profile_dir(struct cpl_error *err)
{
	static char *dir;
	char *pattern = dir ? NULL : cmd_user_dir_pattern();
	const char *home = getenv("HOME");

	if (pattern)
		dir = cpl_user_dir(pattern, getuid(), err);
	else if (!dir && home && *home == '/')
		dir = cpl_path_join(home, CPL_USER_DIR_HOME, err);
	else if (!dir)
		cpl_fail(err, "--user: neither UserProfileDir of "
		              "commplace.conf nor $HOME says where");
	free(pattern);
	return dir;
}

double cmd_drift(void)
{
	struct cpl_config *config = cmd_config_load(NULL, NULL);
	int percent = config ? config->drift : CPL_DRIFT_DEFAULT;

	cpl_config_free(config);
	return percent / 100.0;
}

struct cpl_profile_dirs cmd_profile_dirs(const struct cpl_config *config,
                                         const char *option)
{
	return (struct cpl_profile_dirs){
	        .dir = option   ? option
	               : config ? config->profile_dir
	                        : NULL,
	        .user_dir = config ? config->user_profile_dir : NULL,
	        .max_bytes = config ? (uint64_t)config->profile_memory << 20
	                            : UINT64_MAX,
	        .rescale = !config || config->rescale,
	};
}

int cmd_state_profiles(struct cpl_state *state,
                       const struct cpl_profile_dirs *dirs, char **left_out,
                       struct cpl_error *err)
{
	struct cpl_profiles *profiles = cpl_profiles_open(dirs, err);
	int rc = profiles ? cpl_state_profiles(state, profiles, left_out, err)
	                  : -1;

	cpl_profiles_close(profiles);
	return rc;
}

int cmd_write_state(struct cpl_state *state, const struct cpl_config *config,
                    const char *path, int mode, struct cpl_error *err)
{
	const struct cpl_profile_dirs dirs = cmd_profile_dirs(config, NULL);

	for (int i = 0; config && i < state->n_jobs; i++) {
		struct cpl_running_job *job = &state->job[i];
		const struct cpl_profile_wanted wanted = {
		        job->signature, job->ranks, job->own, job->uid};
		char *file;

		if (!job->signature || strchr(job->signature, '/'))
			continue;
		file = cpl_profiles_file(&dirs, &wanted, err);
		if (!file)
			return -1;
		free(job->signature);
		job->signature = file;
	}
	return cpl_state_write(state, path, mode, err);
}

char *cmd_shell_quote(const char *text)
{
	static const char safe[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	        "0123456789_-./,=+:@%";
	size_t length = strlen(text), quotes = 0, n = 0;
	char *out;

	if (length && strspn(text, safe) == length)
		return strdup(text);
	for (const char *p = text; *p; p++)
		quotes += *p == '\'';
	out = malloc(length + 3 * quotes + 3);
	if (!out)
		return NULL;
	out[n++] = '\'';
	for (const char *p = text; *p; p++) {
		if (*p == '\'') {
			memcpy(out + n, "'\\''", 4);
			n += 4;
		} else {
			out[n++] = *p;
		}
	}
	out[n++] = '\'';
	out[n] = '\0';
	return out;
}
