/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm_compat.h"

#include <stdlib.h>
#include <string.h>

#include "site/config.h"

/* slurm_xlator.h and the allocator macros leave these alone, but Slurm's
 * x-versions would end the process when memory is out. */

const char *cplslurm_env(char *const *env, uint32_t n, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;

	for (uint32_t i = 0; env && i < n; i++) {
		if (!env[i] || strncmp(env[i], name, len) || env[i][len] != '=')
			continue;
		found = env[i][len + 1] ? env[i] + len + 1 : NULL;
	}
	return found;
}

static const char *first_of(char *const *env, uint32_t n,
                            const char *const *names)
{
	const char *value = NULL;

	for (; *names && !value; names++)
		value = cplslurm_env(env, n, *names);
	return value;
}

#define SPANK_OPTION "_SLURM_SPANK_OPTION_" CPLSLURM_SPANK_NAME "_"

struct cplslurm_wish cplslurm_wish(char *const *env, uint32_t n)
{
	static const char *const profile[] = {
	        "COMM_PROFILE", SPANK_OPTION "comm_profile", NULL};
	static const char *const policy[] = {
	        "COMM_PLACEMENT_POLICY", "COMM_POLICY",
	        SPANK_OPTION "placement_policy", NULL};
	static const char *const mapping[] = {
	        "COMM_RANK_MAPPING", SPANK_OPTION "rank_mapping", NULL};
	struct cplslurm_wish wish = {
	        .profile = first_of(env, n, profile),
	        .policy = first_of(env, n, policy),
	        .mapping = first_of(env, n, mapping),
	};

	return wish;
}

char *cplslurm_config_path(void)
{
	static const char name[] = "commplace.conf";
	const char *conf = getenv("SLURM_CONF"), *slash;
	char *path;
	size_t dir;

	if (!conf || !*conf)
		conf = slurm_conf.slurm_conf;
	if (!conf || !(slash = strrchr(conf, '/')))
		return strdup(CPL_CONFIG_DEFAULT_PATH);
	dir = (size_t)(slash - conf) + 1;
	path = malloc(dir + sizeof(name));
	if (!path)
		return NULL;
	memcpy(path, conf, dir);
	memcpy(path + dir, name, sizeof(name));
	return path;
}
