/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_submit_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"
#include "placement/placement.h"
#include "signature/signature.h"

/* Names shown to somebody who mistyped one. */
#define NAMES_SHOWN 20

extern char *default_part_name __attribute__((weak));

/* The submission fails with "Invalid argument" below our own line. */
static int refuse(char **message, const char *text)
{
	xfree(*message);
	xstrfmtcat(*message, "commplace: %s", text);
	return EINVAL;
}

static void note(char **message, const char *text)
{
	xstrfmtcat(*message, "%scommplace: %s", *message ? "\n" : "", text);
}

static void append(char ***array, uint32_t *count, const char *name,
                   const char *value)
{
	char *entry = NULL;

	xstrfmtcat(entry, "%s=%s", name, value);
	/* Slurm keeps a NULL behind such arrays. */
	xrealloc(*array, (*count + 2) * sizeof(**array));
	(*array)[(*count)++] = entry;
	(*array)[*count] = NULL;
}

/* As if the user had given the flag: slurmctld, and the batch script's
 * environment, from which steps take it. */
static void attach(job_desc_msg_t *job, const char *profile)
{
	append(&job->spank_job_env, &job->spank_job_env_size, "COMM_PROFILE",
	       profile);
	if (job->script && job->environment &&
	    !cplslurm_env(job->environment, job->env_size, "COMM_PROFILE"))
		append(&job->environment, &job->env_size, "COMM_PROFILE",
		       profile);
}

/* Ranks of the job as far as they are known now, or 0. */
static uint32_t ranks_of(const job_desc_msg_t *job)
{
	if (job->num_tasks != NO_VAL)
		return job->num_tasks;
	/* slurmctld does this sum after us. */
	if (job->ntasks_per_node != NO_VAL16 && job->min_nodes != NO_VAL)
		return (uint32_t)job->ntasks_per_node * job->min_nodes;
	return 0;
}

static void list_profiles(const char *dir, char **text)
{
	char **name = NULL;
	int n = cpl_profile_list(dir, &name, NULL);

	if (n < 0)
		return;
	xstrfmtcat(*text, n ? "; there are: " : "; there are none");
	for (int i = 0; i < n; i++) {
		if (i < NAMES_SHOWN)
			xstrfmtcat(*text, "%s%s", i ? ", " : "", name[i]);
		free(name[i]);
	}
	free(name);
	if (n > NAMES_SHOWN)
		xstrfmtcat(*text, " and %d more", n - NAMES_SHOWN);
	xstrcat(*text, " (commplace signature list)");
}

static int check_overrides(const struct cpl_config *config,
                           const struct cplslurm_wish *wish, char **message)
{
	const struct {
		const char *value;
		bool allowed;
		const char *option, *what;
	} rule[] = {
	        {wish->profile, config->user_profile, "--comm-profile",
	         "profile"},
	        {wish->policy, config->user_policy, "--placement-policy",
	         "policy"},
	        {wish->mapping, config->user_mapping, "--rank-mapping",
	         "mapping"},
	};
	struct cpl_error err = {{0}};

	for (size_t i = 0; i < sizeof(rule) / sizeof(*rule); i++) {
		if (!rule[i].value || rule[i].allowed)
			continue;
		cpl_fail(&err,
		         "this site does not let users choose the %s "
		         "(UserMayOverride in commplace.conf); leave out %s",
		         rule[i].what, rule[i].option);
		return refuse(message, err.text);
	}
	return SLURM_SUCCESS;
}

static int check_names(const struct cpl_config *config,
                       const struct cplslurm_wish *wish, char **message)
{
	enum cpl_network_type type;
	struct cpl_error err = {{0}};

	if (wish->policy && strcasecmp(wish->policy, "auto") &&
	    strcasecmp(wish->policy, "traffic")) {
		bool known = cplsubmit_network_type(config, &type);

		if (known && !cpl_placement_find(type, wish->policy, &err)) {
			cpl_fail_prefix(&err, "--placement-policy: ");
			return refuse(message, err.text);
		}
		if (!known && !cpl_placement_name_known(wish->policy)) {
			cpl_fail(&err, "--placement-policy: no policy '%.64s'",
			         wish->policy);
			return refuse(message, err.text);
		}
	}
	if (wish->mapping && !cpl_mapper_find(wish->mapping, &err)) {
		cpl_fail_prefix(&err, "--rank-mapping: ");
		return refuse(message, err.text);
	}
	return SLURM_SUCCESS;
}

/* A profile that the user asked for. */
static int check_profile(const struct cpl_config *config,
                         const job_desc_msg_t *job, const char *profile,
                         char **message)
{
	struct cpl_error err = {{0}};
	int64_t job_ranks = ranks_of(job);
	enum cplsubmit_found found;
	char *text = NULL;
	int ranks = 0, rc = SLURM_SUCCESS;
	bool reject;

	found = cplsubmit_profile(config, profile, &ranks, &err);
	if (found == CPLSUBMIT_OK && (!job_ranks || job_ranks == ranks))
		return SLURM_SUCCESS;
	if (found == CPLSUBMIT_OK) {
		reject = config->rank_mismatch == CPL_REJECT;
		xstrfmtcat(text,
		           "profile '%s' was recorded at %d ranks, the job has "
		           "%lld%s",
		           profile, ranks, (long long)job_ranks,
		           reject ? "; take the profile of that size or run "
		                    "it with as many ranks"
		                  : "; it is placed without the profile");
	} else {
		/* A bad name is refused in any case: it is no name. */
		reject = found == CPLSUBMIT_BAD_NAME ||
		         config->missing_profile == CPL_REJECT;
		xstrcat(text, err.text);
		if (found == CPLSUBMIT_MISSING)
			list_profiles(config->profile_dir, &text);
		if (!reject)
			xstrcat(text, "; the job goes on without a profile");
	}
	if (reject)
		rc = refuse(message, text);
	else
		note(message, text);
	xfree(text);
	return rc;
}

/*
 * The profile that a Match rule of the site gives a job, or NULL. The user did
 * not ask for it, so nothing about it can make the job fail.
 */
static const char *matched(const struct cpl_config *config,
                           const job_desc_msg_t *job)
{
	const char *profile;
	struct cpl_error err = {{0}};
	int64_t job_ranks = ranks_of(job);
	int ranks = 0;

	if (!job->name)
		return NULL;
	profile = cpl_config_match(config, job->name);
	if (!profile)
		return NULL;
	if (cplsubmit_profile(config, profile, &ranks, &err) != CPLSUBMIT_OK) {
		info("job_submit/commplace: Match rule for job name %s: %s",
		     job->name, err.text);
		return NULL;
	}
	if (config->rank_mismatch == CPL_REJECT && job_ranks &&
	    job_ranks != ranks)
		return NULL;
	return profile;
}

static const char *default_policy(const struct cpl_config *config,
                                  const job_desc_msg_t *job)
{
	const char *list = job->partition;
	char name[256];
	size_t length;

	if (!list || !*list)
		list = &default_part_name ? default_part_name : NULL;
	length = list ? strcspn(list, ",") : 0;
	if (!length || length >= sizeof(name))
		return cpl_config_defaults(config, NULL).policy;
	memcpy(name, list, length);
	name[length] = '\0';
	return cpl_config_defaults(config, name).policy;
}

static void comment(const struct cpl_config *config, job_desc_msg_t *job,
                    const char *profile, const struct cplslurm_wish *wish)
{
	const char *policy = wish->policy;

	if (!policy)
		policy = default_policy(config, job);
	if (!policy)
		policy = profile ? "auto" : "default";
	xstrfmtcat(job->admin_comment,
	           "%scommplace:", job->admin_comment ? "; " : "");
	if (profile)
		xstrfmtcat(job->admin_comment, " profile=%s", profile);
	xstrfmtcat(job->admin_comment, " policy=%s", policy);
	if (wish->mapping)
		xstrfmtcat(job->admin_comment, " mapping=%s", wish->mapping);
	if (config->mode == CPL_MODE_OBSERVE)
		xstrcat(job->admin_comment, " (observed)");
}

int cplsubmit_check(job_desc_msg_t *job, char **message)
{
	struct cplslurm_wish wish =
	        cplslurm_wish(job->spank_job_env, job->spank_job_env_size);
	struct cpl_error err = {{0}};
	const struct cpl_config *config = cplsubmit_config(&err);
	const char *profile;
	bool opted_out;
	int rc;

	if (!config) {
		if (!wish.profile && !wish.policy && !wish.mapping)
			return SLURM_SUCCESS;
		cpl_fail_prefix(&err, "not in force, the job goes on without "
		                      "it: ");
		note(message, err.text);
		return SLURM_SUCCESS;
	}
	if (config->mode == CPL_MODE_OFF)
		return SLURM_SUCCESS;
	opted_out = wish.profile && !strcmp(wish.profile, CPL_PROFILE_NONE);
	rc = check_overrides(config, &wish, message);
	if (rc == SLURM_SUCCESS)
		rc = check_names(config, &wish, message);
	if (rc == SLURM_SUCCESS && wish.profile && !opted_out)
		rc = check_profile(config, job, wish.profile, message);
	if (rc != SLURM_SUCCESS)
		return rc;
	profile = opted_out ? NULL : wish.profile;
	if (!profile && !opted_out) {
		profile = matched(config, job);
		if (profile)
			attach(job, profile);
	}
	if (profile || wish.policy || wish.mapping)
		comment(config, job, profile, &wish);
	return SLURM_SUCCESS;
}
