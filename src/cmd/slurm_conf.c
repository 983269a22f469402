/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "slurm_conf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "site_files.h"
#include "slurm_search.h"
#include "slurm_shell.h"

#define MAX_BYTES (64ULL << 20)
#define MAX_DEPTH 4

static const char *const key_name[SLURM_KEYS] = {
        [SLURM_USER] = "SlurmUser",
        [SLURM_SELECT] = "SelectType",
        [SLURM_TASK] = "TaskPlugin",
        [SLURM_SWITCH] = "SwitchType",
        [SLURM_JOB_SUBMIT] = "JobSubmitPlugins",
        [SLURM_PLUGIN_DIR] = "PluginDir",
        [SLURM_PLUGSTACK] = "PlugStackConfig",
        [SLURM_STORE_FLAGS] = "AccountingStoreFlags",
};

const char *slurm_key_name(enum slurm_key key)
{
	return key_name[key];
}

void slurm_conf_free(struct slurm_conf *conf)
{
	if (!conf)
		return;
	for (int i = 0; i < conf->n_partitions; i++)
		free(conf->partition[i]);
	free(conf->partition);
	for (int i = 0; i < SLURM_KEYS; i++)
		free(conf->value[i]);
	cpl_free_all(conf->path, conf);
}

/* The value of a key at the beginning of a line, NULL: another key. */
static char *value_of(const char *line, const char *key, bool equals)
{
	size_t n = strlen(key);

	if (strncasecmp(line, key, n))
		return NULL;
	line += n;
	if (!equals && !isspace((unsigned char)*line))
		return NULL;
	while (isspace((unsigned char)*line))
		line++;
	if (equals && *line++ != '=')
		return NULL;
	while (isspace((unsigned char)*line))
		line++;
	n = strcspn(line, " \t\r\n#");
	return n ? strndup(line, n) : NULL;
}

static int add_partitions(struct slurm_conf *conf, const char *text)
{
	struct cpl_hostlist list = {0};
	int rc = 0;

	if (!strcasecmp(text, "DEFAULT") ||
	    cpl_hostlist_parse(&list, text, NULL))
		return 0;
	for (int i = 0; i < list.count && !rc; i++) {
		char *name = strdup(list.name[i]);

		if (name &&
		    !cpl_array_grow(&conf->partition, conf->n_partitions,
		                    sizeof(name), NULL)) {
			conf->partition[conf->n_partitions++] = name;
		} else {
			free(name);
			rc = -1;
		}
	}
	cpl_hostlist_free(&list);
	return rc;
}

static int read_conf(struct slurm_conf *conf, const char *path, int depth);

/* Relative names are relative to the folder of slurm.conf. */
static int include(struct slurm_conf *conf, const char *name, int depth)
{
	char *path =
	        name[0] == '/' ? strdup(name) : cmd_beside(conf->path, name);
	int rc = path ? read_conf(conf, path, depth) : -1;

	free(path);
	return rc;
}

/* Keep the value if it is that of a key. "slurm(64030)" is scontrol's. */
static void read_key(struct slurm_conf *conf, const char *line)
{
	char *value;

	for (int i = 0; i < SLURM_KEYS; i++) {
		value = value_of(line, key_name[i], true);
		if (!value)
			continue;
		if (i == SLURM_USER)
			value[strcspn(value, "(")] = '\0';
		free(conf->value[i]);
		conf->value[i] = value;
		return;
	}
}

static int read_line(struct slurm_conf *conf, const char *line, int depth)
{
	char *value;
	int rc = 0;

	while (isspace((unsigned char)*line))
		line++;
	if ((value = value_of(line, "PartitionName", true))) {
		rc = add_partitions(conf, value);
	} else if ((value = value_of(line, "Include", false))) {
		rc = include(conf, value, depth + 1);
	} else {
		read_key(conf, line);
	}
	free(value);
	return rc;
}

/* Changes and frees the text. */
static int read_text(struct slurm_conf *conf, char *text, int depth)
{
	char *save = NULL;
	int rc = 0;

	if (!text)
		return -1;
	/* A line that goes on. */
	for (char *s = text; (s = strstr(s, "\\\n"));)
		s[0] = s[1] = ' ';
	for (char *line = strtok_r(text, "\n", &save); line && !rc;
	     line = strtok_r(NULL, "\n", &save))
		rc = read_line(conf, line, depth);
	free(text);
	return rc;
}

static int read_conf(struct slurm_conf *conf, const char *path, int depth)
{
	size_t length;

	return depth < MAX_DEPTH ? read_text(conf,
	                                     cpl_file_read(path, MAX_BYTES,
	                                                   &length, NULL),
	                                     depth)
	                         : -1;
}

static int ask_slurmctld(struct slurm_conf *conf, struct cpl_error *err)
{
	static const char *const command[] = {"scontrol show config",
	                                      "scontrol -a -o show partitions"};
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = read_text(conf, slurm_shell_ok(command[i], err), 0);
	return rc;
}

struct slurm_conf *slurm_conf_running(struct cpl_error *err)
{
	struct slurm_conf *conf = calloc(1, sizeof(*conf));

	if (!conf)
		return cpl_fail_null_memory(err);
	conf->is_read = !ask_slurmctld(conf, err);
	if (conf->is_read)
		return conf;
	slurm_conf_free(conf);
	return NULL;
}

/* The file, NULL where slurmctld alone has it, or without memory. */
static char *find(const struct slurm_search *here, const char *commplace_conf)
{
	char *beside = here->env && *here->env
	                       ? NULL
	                       : cmd_beside(commplace_conf, "slurm.conf"),
	     *found;

	if (beside && !access(beside, F_OK))
		return beside;
	found = slurm_search_conf(here);
	if (found || (here->server && *here->server)) {
		free(beside);
		return found;
	}
	return beside;
}

struct slurm_conf *slurm_conf_load(const char *commplace_conf)
{
	const struct slurm_search here = slurm_search_here();
	struct slurm_conf *conf = calloc(1, sizeof(*conf));
	char *path = find(&here, commplace_conf);

	if (!conf) {
		free(path);
		return NULL;
	}
	conf->path = path;
	if (path)
		conf->is_read = !read_conf(conf, path, 0);
	else if (here.server &&
	         asprintf(&conf->path, "slurmctld of SLURM_CONF_SERVER=%s",
	                  here.server) >= 0)
		conf->is_read = !ask_slurmctld(conf, NULL);
	else
		conf->path = NULL;
	if (conf->path)
		return conf;
	slurm_conf_free(conf);
	return NULL;
}
