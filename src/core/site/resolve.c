/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/resolve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mapping/mapping.h"
#include "placement/placement.h"

#define NAME_SHOWN 64

static bool is_none(const char *policy)
{
	return !strcasecmp(policy, CPL_POLICY_NONE);
}

static struct cpl_choice general(const struct cpl_config *config,
                                 const char *key, const char *value)
{
	int line = cpl_config_line(config, key);

	return (struct cpl_choice){
	        value, line ? CPL_FROM_SITE : CPL_FROM_BUILT_IN, line};
}

static struct cpl_choice of_partition(const struct cpl_partition_rule *rule,
                                      const char *value)
{
	return (struct cpl_choice){value, CPL_FROM_PARTITION, rule->line};
}

static struct cpl_choice user(const char *value)
{
	return (struct cpl_choice){value, CPL_FROM_USER, 0};
}

/* What holds where rule does, before a job is looked at. */
static void defaults(const struct cpl_config *config,
                     const struct cpl_partition_rule *rule,
                     struct cpl_resolved *out)
{
	out->mode = config->mode;
	out->policy = general(config, "DefaultPolicy", config->defaults.policy);
	out->mapping =
	        general(config, "DefaultMapping", config->defaults.mapping);
	out->min_nodes = config->defaults.min_nodes;
	if (!rule)
		return;
	if (rule->defaults.mode >= 0)
		out->mode = (enum cpl_mode)rule->defaults.mode;
	if (rule->defaults.policy)
		out->policy = of_partition(rule, rule->defaults.policy);
	if (rule->defaults.mapping)
		out->mapping = of_partition(rule, rule->defaults.mapping);
	if (rule->defaults.min_nodes >= 0)
		out->min_nodes = rule->defaults.min_nodes;
}

/* DefaultPolicy=none of a partition is more than the lack of a default. */
static bool kept_stock(const struct cpl_choice *policy)
{
	return policy->source == CPL_FROM_PARTITION && is_none(policy->value);
}

static const struct cpl_partition_rule *rule_of(const struct cpl_config *config,
                                                const char *name, size_t length)
{
	char text[256];

	if (length >= sizeof(text))
		return NULL;
	memcpy(text, name, length);
	text[length] = '\0';
	return cpl_config_partition(config, text);
}

/* Of several partitions Slurm has not chosen yet. */
static void choose_partition(const struct cpl_config *config,
                             const struct cpl_job_facts *job,
                             struct cpl_resolved *out)
{
	const char *name = job->partition;

	defaults(config, NULL, out);
	for (bool first = true; name && *name; first = false) {
		struct cpl_resolved here = *out;
		size_t n = strcspn(name, ",");

		defaults(config, rule_of(config, name, n), &here);
		here.partition = name;
		here.partition_length = (int)n;
		if (first)
			*out = here;
		if (here.mode != CPL_MODE_OFF && !kept_stock(&here.policy)) {
			*out = here;
			return;
		}
		name += n + (name[n] == ',');
	}
}

static void check_overrides(const struct cpl_config *config,
                            const struct cpl_job_facts *job,
                            struct cpl_resolved *out)
{
	const struct {
		const char *value;
		bool allowed;
		const char *option, *what;
	} rule[] = {
	        {job->profile, config->user_profile, "--comm-profile",
	         "profile"},
	        {job->policy, config->user_policy, "--placement-policy",
	         "policy"},
	        {job->mapping, config->user_mapping, "--rank-mapping",
	         "mapping"},
	};

	for (size_t i = 0; i < sizeof(rule) / sizeof(*rule); i++) {
		if (!rule[i].value || rule[i].allowed)
			continue;
		cpl_fail(&out->refusal,
		         "this site does not let users choose the %s "
		         "(UserMayOverride in commplace.conf); leave out %s",
		         rule[i].what, rule[i].option);
		return;
	}
}

static void check_names(const struct cpl_network *net,
                        const struct cpl_job_facts *job,
                        struct cpl_resolved *out)
{
	struct cpl_error *err = &out->refusal;

	if (err->text[0])
		return;
	if (job->policy) {
		if (net && !cpl_placement_find(net->type, job->policy, err)) {
			cpl_fail_prefix(err, "--placement-policy: ");
			return;
		}
		if (!net && !cpl_placement_named(job->policy)) {
			cpl_fail(err, "--placement-policy: no policy '%.*s'",
			         NAME_SHOWN, job->policy);
			return;
		}
	}
	if (job->mapping && !cpl_mapper_find(job->mapping, err))
		cpl_fail_prefix(err, "--rank-mapping: ");
}

static void choose_profile(const struct cpl_config *config,
                           const struct cpl_job_facts *job,
                           struct cpl_resolved *out)
{
	const struct cpl_match_rule *match;

	if (job->profile && config->user_profile) {
		out->profile = user(strcmp(job->profile, CPL_PROFILE_NONE)
		                            ? job->profile
		                            : NULL);
		return;
	}
	match = cpl_config_match(config, job->name);
	if (match)
		out->profile = (struct cpl_choice){
		        strcmp(match->profile, CPL_PROFILE_NONE)
		                ? match->profile
		                : NULL,
		        CPL_FROM_MATCH, match->line};
}

/* Options that do nothing for a job whose traffic is unknown. */
static void note_without_profile(const struct cpl_job_facts *job,
                                 struct cpl_resolved *out)
{
	if (out->profile.value || out->refusal.text[0])
		return;
	if (job->policy && cpl_placement_is_search(job->policy))
		cpl_fail(&out->note,
		         "--placement-policy=%s chooses by a profile; without "
		         "--comm-profile the job gets Slurm's own nodes",
		         job->policy);
	else if (job->mapping)
		cpl_fail(&out->note, "--rank-mapping has no effect without "
		                     "--comm-profile");
}

/* Nothing of ours, by the site's word. */
static void leave(struct cpl_resolved *out, enum cpl_source source, int line)
{
	struct cpl_choice none = {NULL, source, line};

	out->profile = out->policy = out->mapping = out->binding = none;
}

void cpl_resolve(const struct cpl_config *config, const struct cpl_network *net,
                 const struct cpl_job_facts *job, struct cpl_resolved *out)
{
	memset(out, 0, sizeof(*out));
	out->bind_memory = config->bind_memory;
	out->objective = config->objective;
	choose_partition(config, job, out);
	if (out->mode == CPL_MODE_OFF) {
		leave(out, CPL_FROM_OFF, 0);
		return;
	}
	check_overrides(config, job, out);
	check_names(net, job, out);
	choose_profile(config, job, out);
	if (job->policy && config->user_policy)
		out->policy = user(job->policy);
	if (job->mapping && config->user_mapping)
		out->mapping = user(job->mapping);
	if (kept_stock(&out->policy)) {
		if (job->profile && out->profile.value)
			cpl_fail(&out->note,
			         "partition %.*s is left to Slurm "
			         "(DefaultPolicy=none in commplace.conf); "
			         "--comm-profile has no effect",
			         out->partition_length, out->partition);
		leave(out, CPL_FROM_OFF, out->policy.line);
		return;
	}
	note_without_profile(job, out);
	if (out->policy.source != CPL_FROM_USER && is_none(out->policy.value)) {
		out->policy.value = NULL;
		if (out->profile.value)
			out->policy = (struct cpl_choice){"auto",
			                                  CPL_FROM_BUILT_IN, 0};
	}
	out->binding = general(config, "DefaultBinding", config->binding);
	if (!out->profile.value || out->mode != CPL_MODE_ON ||
	    !strcmp(config->binding, CPL_BINDING_NONE))
		out->binding.value = NULL;
}

void cpl_resolve_defaults(const struct cpl_config *config,
                          const char *partition, struct cpl_resolved *out)
{
	memset(out, 0, sizeof(*out));
	defaults(config, cpl_config_partition(config, partition), out);
}
