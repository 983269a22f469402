/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "job_submit_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"
#include "placement/placement.h"
#include "signature/signature.h"

/* Names shown to somebody who mistyped one. */
#define NAMES_SHOWN 20

/* The verdict's text grows by a formatted piece, or stays as it is. */
static void add(char **text, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

static void add(char **text, const char *fmt, ...)
{
	char *piece, *longer;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&piece, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (!*text) {
		*text = piece;
		return;
	}
	if (asprintf(&longer, "%s%s", *text, piece) >= 0) {
		free(*text);
		*text = longer;
	}
	free(piece);
}

/* The submission fails with "Invalid argument" below our own line. */
static int refuse(struct cplsubmit_verdict *verdict, const char *text)
{
	free(verdict->message);
	verdict->message = NULL;
	add(&verdict->message, "commplace: %s", text);
	verdict->rc = EINVAL;
	return -1;
}

static void note(struct cplsubmit_verdict *verdict, const char *text)
{
	add(&verdict->message, "%scommplace: %s", verdict->message ? "\n" : "",
	    text);
}

static void list_profiles(const char *dir, char **text)
{
	char **name = NULL;
	int n = cpl_profile_list(dir, &name, NULL);

	if (n < 0)
		return;
	add(text, n ? "; there are: " : "; there are none");
	for (int i = 0; i < n; i++) {
		if (i < NAMES_SHOWN)
			add(text, "%s%s", i ? ", " : "", name[i]);
		free(name[i]);
	}
	free(name);
	if (n > NAMES_SHOWN)
		add(text, " and %d more", n - NAMES_SHOWN);
	add(text, " (commplace signature list)");
}

static int check_overrides(const struct cpl_config *config,
                           const struct cplsubmit_request *wish,
                           struct cplsubmit_verdict *verdict)
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
		return refuse(verdict, err.text);
	}
	return 0;
}

static int check_names(const struct cpl_config *config,
                       const struct cplsubmit_request *wish,
                       struct cplsubmit_verdict *verdict)
{
	enum cpl_network_type type;
	struct cpl_error err = {{0}};

	if (wish->policy && strcasecmp(wish->policy, "auto") &&
	    strcasecmp(wish->policy, "traffic")) {
		bool known = cplsubmit_network_type(config, &type);

		if (known && !cpl_placement_find(type, wish->policy, &err)) {
			cpl_fail_prefix(&err, "--placement-policy: ");
			return refuse(verdict, err.text);
		}
		if (!known && !cpl_placement_name_known(wish->policy)) {
			cpl_fail(&err, "--placement-policy: no policy '%.64s'",
			         wish->policy);
			return refuse(verdict, err.text);
		}
	}
	if (wish->mapping && !cpl_mapper_find(wish->mapping, &err)) {
		cpl_fail_prefix(&err, "--rank-mapping: ");
		return refuse(verdict, err.text);
	}
	return 0;
}

/* A profile that the user asked for. */
static int check_profile(const struct cpl_config *config,
                         const struct cplsubmit_request *job,
                         const char *profile, struct cplsubmit_verdict *verdict)
{
	struct cpl_error err = {{0}};
	int64_t job_ranks = job->ranks;
	enum cplsubmit_found found;
	char *text = NULL;
	int ranks = 0, rc = 0;
	bool reject;

	found = cplsubmit_profile(config, profile, &ranks, &err);
	if (found == CPLSUBMIT_OK && (!job_ranks || job_ranks == ranks))
		return 0;
	if (found == CPLSUBMIT_OK) {
		reject = config->rank_mismatch == CPL_REJECT;
		add(&text,
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
		add(&text, "%s", err.text);
		if (found == CPLSUBMIT_MISSING)
			list_profiles(config->profile_dir, &text);
		if (!reject)
			add(&text, "; the job goes on without a profile");
	}
	if (reject)
		rc = refuse(verdict, text);
	else
		note(verdict, text);
	free(text);
	return rc;
}

/*
 * The profile that a Match rule of the site gives a job, or NULL. The user did
 * not ask for it, so nothing about it can make the job fail.
 */
static const char *matched(const struct cpl_config *config,
                           const struct cplsubmit_request *job)
{
	const char *profile;
	struct cpl_error err = {{0}};
	int64_t job_ranks = job->ranks;
	int ranks = 0;

	if (!job->job_name)
		return NULL;
	profile = cpl_config_match(config, job->job_name);
	if (!profile)
		return NULL;
	if (cplsubmit_profile(config, profile, &ranks, &err) != CPLSUBMIT_OK) {
		info("job_submit/commplace: Match rule for job name %s: %s",
		     job->job_name, err.text);
		return NULL;
	}
	if (config->rank_mismatch == CPL_REJECT && job_ranks &&
	    job_ranks != ranks)
		return NULL;
	return profile;
}

/* Options that do nothing for a job whose traffic is unknown. */
static void without_profile(const struct cplsubmit_request *job,
                            struct cplsubmit_verdict *verdict)
{
	struct cpl_error text = {{0}};

	if (job->policy && (!strcasecmp(job->policy, "auto") ||
	                    !strcasecmp(job->policy, "traffic"))) {
		cpl_fail(&text,
		         "--placement-policy=%s chooses by a profile; without "
		         "--comm-profile the job gets Slurm's own nodes",
		         job->policy);
		note(verdict, text.text);
	}
	if (job->mapping) {
		cpl_fail(&text, "--rank-mapping has no effect without "
		                "--comm-profile");
		note(verdict, text.text);
	}
}

static void comment(const struct cpl_config *config,
                    const struct cplsubmit_request *job, const char *profile,
                    char **text)
{
	const char *policy = job->policy;

	if (!policy)
		policy = cpl_config_defaults(config, job->partition).policy;
	if (!policy)
		policy = "auto";
	add(text, "commplace:");
	if (profile)
		add(text, " profile=%s", profile);
	add(text, " policy=%s", policy);
	if (job->mapping)
		add(text, " mapping=%s", job->mapping);
	if (config->mode == CPL_MODE_OBSERVE)
		add(text, " (observed)");
}

void cplsubmit_decide(const struct cplsubmit_request *job,
                      struct cplsubmit_verdict *verdict)
{
	struct cpl_error err = {{0}};
	const struct cpl_config *config = cplsubmit_config(&err);
	const char *profile;
	bool opted_out;

	memset(verdict, 0, sizeof(*verdict));
	if (!config) {
		if (!job->profile && !job->policy && !job->mapping)
			return;
		cpl_fail_prefix(&err, "not in force, the job goes on without "
		                      "it: ");
		note(verdict, err.text);
		return;
	}
	if (config->mode == CPL_MODE_OFF)
		return;
	opted_out = job->profile && !strcmp(job->profile, CPL_PROFILE_NONE);
	if (check_overrides(config, job, verdict) ||
	    check_names(config, job, verdict) ||
	    (job->profile && !opted_out &&
	     check_profile(config, job, job->profile, verdict)))
		return;
	profile = opted_out ? NULL : job->profile;
	if (!profile && !opted_out) {
		profile = matched(config, job);
		if (profile)
			verdict->attach = strdup(profile);
	}
	if (!profile)
		without_profile(job, verdict);
	if (profile || job->policy)
		comment(config, job, profile, &verdict->comment);
}
