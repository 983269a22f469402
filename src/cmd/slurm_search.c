/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "slurm_search.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "slurm_shell.h"

#define SITE "commplace.conf"

static bool is_set(const char *text)
{
	return text && *text;
}

/* The file of that name in the folder where it is there, to free(). */
static char *there(const char *folder, const char *name)
{
	char *path = is_set(folder) ? cpl_path_join(folder, name, NULL) : NULL;

	if (path && !access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

char *slurm_search_conf(const struct slurm_search *search)
{
	char *path = is_set(search->env)
	                     ? strdup(search->env)
	                     : there(search->built_in, "slurm.conf");

	if (!path)
		path = there(search->fetched, "slurm.conf");
	if (!path && !is_set(search->server))
		path = there(search->cache, "slurm.conf");
	return path;
}

static bool is_same(const char *a, const char *b)
{
	char *x = is_set(a) ? realpath(a, NULL) : NULL;
	char *y = x && is_set(b) ? realpath(b, NULL) : NULL;
	bool same = y && !strcmp(x, y);

	cpl_free_all(x, y);
	return same;
}

/* Jobs on such a node have SLURM_CONF in slurmd's folder, wherever that is. */
static bool is_fetched(const struct slurm_search *search, const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return is_same(folder, search->fetched) ||
	       is_same(folder, search->cache) ||
	       (slash && !strcmp(slash, "/conf-cache"));
}

/* The folder of a path, to free(). */
static char *folder_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}

static char *of_slurmctld(const struct slurm_search *search,
                          struct cpl_error *err)
{
	char *conf = search->ask ? search->ask(err) : NULL;
	char *folder = folder_of(conf);
	char *site = there(folder, SITE);

	if (conf && !site)
		cpl_fail(err,
		         "nor is there one beside slurmctld's %s on this host",
		         conf);
	cpl_free_all(folder, conf);
	return site;
}

char *slurm_search_site(const struct slurm_search *search,
                        struct cpl_error *err)
{
	char *conf = slurm_search_conf(search), *folder = folder_of(conf);
	bool fetched =
	        folder ? is_fetched(search, folder) : is_set(search->server);
	char *site = there(folder, SITE);

	if (!site && folder && !fetched)
		site = cpl_path_join(folder, SITE, NULL);
	if (!site && fetched)
		site = there(search->built_in, SITE);
	if (!site && fetched)
		site = of_slurmctld(search, err);
	if (!site)
		site = cpl_path_join(search->built_in, SITE, NULL);
	cpl_free_all(folder, conf);
	return site;
}

/* Slurm's own line "SLURM_CONF = PATH". */
static char *ask_slurmctld(struct cpl_error *err)
{
	char *text = slurm_shell_ok("scontrol show config", err), *at, *path;

	if (!text)
		return NULL;
	at = strstr(text, "\nSLURM_CONF ");
	at = at ? strchr(at, '/') : NULL;
	path = at ? strndup(at, strcspn(at, " \t\n")) : NULL;
	if (!path)
		cpl_fail(err, "scontrol show config names no SLURM_CONF");
	free(text);
	return path;
}

struct slurm_search slurm_search_here(void)
{
	return (struct slurm_search){
	        .env = getenv("SLURM_CONF"),
	        .built_in = CPL_SLURM_CONF_DIR,
	        .fetched = "/run/slurm/conf",
	        .cache = "/var/spool/slurmd/conf-cache",
	        .server = getenv("SLURM_CONF_SERVER"),
	        .ask = ask_slurmctld,
	};
}
