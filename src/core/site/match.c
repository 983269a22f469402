/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of Match lines. */
#include "site/match.h"

#include <ctype.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "site/config_internal.h"
#include "site/site_internal.h"

#define ENTRY_MAX 256

/* cpl_fits for one condition; condition NULL: there is none. */
static enum cpl_fit fits(const char *condition, const char *fact,
                         bool (*test)(const char *condition, const char *fact))
{
	if (!condition)
		return CPL_FITS;
	if (!fact || !*fact)
		return CPL_MAY_FIT;
	return test(condition, fact) ? CPL_FITS : CPL_FITS_NOT;
}

static bool is_like(const char *pattern, const char *text)
{
	return !fnmatch(pattern, text, 0);
}

static bool is_one_of(const char *list, const char *text)
{
	char entry[ENTRY_MAX];

	while (cpl_config_next(&list, entry, sizeof(entry)))
		if (is_like(entry, text))
			return true;
	return false;
}

/* A pattern without "/" is for the last part of the path. */
static bool is_command(const char *pattern, const char *command)
{
	return is_like(pattern,
	               strchr(pattern, '/') ? command : cpl_path_base(command));
}

static enum cpl_fit fits_user(const struct cpl_match_rule *rule,
                              const struct cpl_job_facts *job)
{
	if (!rule->user)
		return CPL_FITS;
	if (!job->has_uid)
		return CPL_MAY_FIT;
	for (int i = 0; i < rule->n_uids; i++)
		if (rule->uid[i] == job->uid)
			return CPL_FITS;
	return CPL_FITS_NOT;
}

static enum cpl_fit fits_nodes(const struct cpl_range *range, int nodes)
{
	if (!range->high)
		return CPL_FITS;
	if (nodes <= 0)
		return CPL_MAY_FIT;
	return nodes >= range->low && nodes <= range->high ? CPL_FITS
	                                                   : CPL_FITS_NOT;
}

enum cpl_fit cpl_match_fits(const struct cpl_match_rule *rule,
                            const struct cpl_job_facts *job,
                            const char *partition)
{
	const enum cpl_fit all[] = {
	        fits(rule->job_name, job->name, is_like),
	        fits(rule->command, job->command, is_command),
	        fits(rule->partition, partition, is_one_of),
	        fits(rule->qos, job->qos, is_one_of),
	        fits(rule->account, job->account, is_one_of),
	        fits_user(rule, job),
	        fits_nodes(&rule->nodes, job->nodes),
	};
	enum cpl_fit worst = CPL_FITS;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] < worst)
			worst = all[i];
	return worst;
}

static bool same_conditions(const struct cpl_match_rule *a,
                            const struct cpl_match_rule *b)
{
	return same_text(a->job_name, b->job_name) &&
	       same_text(a->command, b->command) &&
	       same_text(a->partition, b->partition) &&
	       same_text(a->qos, b->qos) && same_text(a->account, b->account) &&
	       same_text(a->user, b->user) && a->nodes.low == b->nodes.low &&
	       a->nodes.high == b->nodes.high;
}

static bool shares_setting(uint64_t keys)
{
	const struct cpl_config_key *key;

	for (int i = 0; (key = cpl_config_key(i)); i++)
		if (keys & UINT64_C(1) << i &&
		    !(key->where & 1u << CPL_SCOPE_CONDITION))
			return true;
	return false;
}

const struct cpl_match_rule *
config_match_before(const struct cpl_config *config,
                    const struct cpl_match_rule *rule)
{
	for (const struct cpl_match_rule *one = config->match; one < rule;
	     one++)
		if (shares_setting(one->keys & rule->keys) &&
		    same_conditions(one, rule))
			return one;
	return NULL;
}

int cpl_match_user(const char *name, uint32_t *uid)
{
	struct passwd entry, *found = NULL;
	size_t size = 1 << 14;
	char *buffer = malloc(size), *end;
	unsigned long number = strtoul(name, &end, 10);
	int rc;

	if (!buffer)
		return -1;
	/* As with sbatch --uid, a text of digits is taken as a name first. */
	rc = getpwnam_r(name, &entry, buffer, size, &found);
	if (!rc && found)
		*uid = found->pw_uid;
	free(buffer);
	if (found)
		return 0;
	if (*end || !isdigit((unsigned char)*name) || number > UINT32_MAX)
		return 1;
	*uid = (uint32_t)number;
	return 0;
}

static int find_users(struct cpl_match_rule *rule, const char *path,
                      void (*say)(void *arg, const char *text), void *arg)
{
	const char *list = rule->user;
	char name[ENTRY_MAX], text[CPL_ERROR_MAX];

	free(rule->uid);
	rule->n_uids = 0;
	rule->uid = calloc(strlen(list) + 1, sizeof(*rule->uid));
	if (!rule->uid)
		return -1;
	while (cpl_config_next(&list, name, sizeof(name))) {
		int rc = cpl_match_user(name, &rule->uid[rule->n_uids]);

		if (rc < 0)
			return -1;
		rule->n_uids += !rc;
		if (!rc)
			continue;
		snprintf(text, sizeof(text),
		         "%s:%d: User: there is no user %s here", path,
		         rule->line, name);
		say(arg, text);
	}
	return 0;
}

int cpl_config_find_users(struct cpl_config *config,
                          void (*say)(void *arg, const char *text), void *arg,
                          struct cpl_error *err)
{
	for (int i = 0; i < config->n_matches; i++)
		if (config->match[i].user &&
		    find_users(&config->match[i], config->path, say, arg))
			return cpl_fail_memory(err);
	return 0;
}
