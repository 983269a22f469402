/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/resolve.h"

#include <string.h>

#include "mapping/mapping.h"
#include "placement/placement.h"
#include "site/match.h"

static struct cpl_choice general(const struct cpl_config *config,
                                 const char *key, const char *value)
{
	int line = cpl_config_line(config, key);

	return (struct cpl_choice){
	        value, line ? CPL_FROM_SITE : CPL_FROM_BUILT_IN, line};
}

static struct cpl_choice user(const char *value)
{
	return (struct cpl_choice){value, CPL_FROM_USER, 0};
}

static struct cpl_origin general_origin(const struct cpl_config *config,
                                        const char *key)
{
	int line = cpl_config_line(config, key);

	return (struct cpl_origin){line ? CPL_FROM_SITE : CPL_FROM_BUILT_IN,
	                           line};
}

/* What holds before a partition or a job is looked at. */
struct settings {
	struct cpl_resolved *out;
	struct cpl_choice order; /* MappingWithoutProfile */
	int may_open;            /* what users may yet be let choose */
};

static void set_general(struct settings *s, const struct cpl_config *config)
{
	struct cpl_resolved *out = s->out;
	const struct cpl_defaults *d = &config->defaults;

	out->mode = config->mode;
	out->mode_from = general_origin(config, "Mode");
	out->policy = general(config, "DefaultPolicy", d->policy);
	out->mapping = general(config, "DefaultMapping", d->mapping);
	s->order = general(config, "MappingWithoutProfile", d->order);
	out->min_nodes = d->min_nodes;
	out->min_nodes_from = general_origin(config, "MinNodes");
	out->wish.objective = config->objective;
	out->wish.own_weight = config->own_weight;
	out->wish.others_weight = config->others_weight;
	out->objective_from = general_origin(config, "Objective");
	out->max_decision_ms = config->max_decision_ms;
	out->max_decision_from = general_origin(config, "MaxDecisionTime");
	out->user_may = config->user_may;
	out->user_may_from = general_origin(config, "UserMayOverride");
	out->keep_whole = general(config, "KeepWhole", d->keep_whole);
	out->wish.keep_price = config->keep_price;
	out->keep_price_from = general_origin(config, "KeepWholePrice");
	out->order_reaches = config->order_reaches;
	out->order_reaches_from = general_origin(config, "OrderReaches");
	out->record = general(config, "Record", d->record);
	out->record_one_in = config->record_one_in;
	out->record_one_in_from = general_origin(config, "RecordOneIn");
	out->segment = config->segment;
	out->segment_from = general_origin(config, "SegmentFromSignature");
	out->trial = config->trial;
	out->trial_from = general_origin(config, "Trial");
	s->may_open = 0;
}

static void set_number(int value, struct cpl_origin from, int *out,
                       struct cpl_origin *out_from)
{
	if (value < 0)
		return;
	*out = value;
	*out_from = from;
}

/* What a line sets wins over what was set before. */
static void set_line(struct settings *s, const struct cpl_defaults *d,
                     enum cpl_source source, int line)
{
	struct cpl_resolved *out = s->out;
	struct cpl_origin from = {source, line};
	int mode = (int)out->mode, objective = (int)out->wish.objective;
	int reaches = (int)out->order_reaches;

	if (d->policy)
		out->policy = (struct cpl_choice){d->policy, source, line};
	if (d->mapping)
		out->mapping = (struct cpl_choice){d->mapping, source, line};
	if (d->order)
		s->order = (struct cpl_choice){d->order, source, line};
	if (d->keep_whole)
		out->keep_whole =
		        (struct cpl_choice){d->keep_whole, source, line};
	if (d->record)
		out->record = (struct cpl_choice){d->record, source, line};
	set_number(d->record_one_in, from, &out->record_one_in,
	           &out->record_one_in_from);
	set_number(d->segment, from, &out->segment, &out->segment_from);
	set_number(d->trial, from, &out->trial, &out->trial_from);
	set_number(d->keep_price, from, &out->wish.keep_price,
	           &out->keep_price_from);
	set_number(d->mode, from, &mode, &out->mode_from);
	out->mode = (enum cpl_mode)mode;
	set_number(d->objective, from, &objective, &out->objective_from);
	out->wish.objective = (enum cpl_objective)objective;
	set_number(d->order_reaches, from, &reaches, &out->order_reaches_from);
	out->order_reaches = (enum cpl_order_reaches)reaches;
	set_number(d->min_nodes, from, &out->min_nodes, &out->min_nodes_from);
	set_number(d->max_decision_ms, from, &out->max_decision_ms,
	           &out->max_decision_from);
	set_number(d->user_may, from, &out->user_may, &out->user_may_from);
	if (d->user_may >= 0)
		s->may_open = 0;
}

/* A rule that may fit, once more is known of the job. */
static void leave_open(struct settings *s, const struct cpl_match_rule *rule)
{
	s->out->open = true;
	if (rule->profile)
		s->out->profile_open = true;
	if (rule->defaults.user_may > 0)
		s->may_open |= rule->defaults.user_may;
}

static void set_rule(struct settings *s, const struct cpl_match_rule *rule)
{
	set_line(s, &rule->defaults, CPL_FROM_MATCH, rule->line);
	if (!rule->profile)
		return;
	s->out->profile_open = false;
	s->out->profile = (struct cpl_choice){
	        cpl_is_none(rule->profile) ? NULL : rule->profile,
	        CPL_FROM_MATCH, rule->line};
}

/* The first rule that fits wins, so it comes last. */
static void set_rules(struct settings *s, const struct cpl_config *config,
                      const struct cpl_job_facts *job, const char *partition)
{
	for (int i = config->n_matches - 1; i >= 0; i--) {
		const struct cpl_match_rule *rule = &config->match[i];
		enum cpl_fit fit = cpl_match_fits(rule, job, partition);

		if (fit == CPL_FITS)
			set_rule(s, rule);
		else if (fit == CPL_MAY_FIT)
			leave_open(s, rule);
	}
}

/* DefaultPolicy=none of a line for some jobs is more than the lack of a
 * default. */
static bool kept_stock(const struct cpl_choice *policy)
{
	return (policy->source == CPL_FROM_PARTITION ||
	        policy->source == CPL_FROM_MATCH) &&
	       cpl_is_none(policy->value);
}

/* All that lines say of a job in this partition (NULL: not known). */
static void set_all(struct settings *s, const struct cpl_config *config,
                    const struct cpl_job_facts *job, const char *partition)
{
	const struct cpl_partition_rule *rule =
	        cpl_config_partition(config, partition);

	set_general(s, config);
	if (rule)
		set_line(s, &rule->defaults, CPL_FROM_PARTITION, rule->line);
	set_rules(s, config, job, partition);
}

/* Of several partitions Slurm has not chosen yet. */
static void choose_partition(struct settings *s,
                             const struct cpl_config *config,
                             const struct cpl_job_facts *job)
{
	struct cpl_resolved *out = s->out;
	const char *list = job->partition;
	struct settings first = *s;
	struct cpl_resolved first_out, start = *out;
	char name[256];
	bool any = false;

	while (list && *list) {
		const char *at = list;

		cpl_config_next(&list, name, sizeof(name));
		*out = start;
		set_all(s, config, job, name);
		out->partition = at;
		out->partition_length = (int)strcspn(at, ",");
		if (out->mode != CPL_MODE_OFF && !kept_stock(&out->policy))
			return;
		if (any)
			continue;
		first = *s;
		first_out = *out;
		any = true;
	}
	if (any) {
		*s = first;
		*out = first_out;
	} else {
		set_all(s, config, job, NULL);
	}
}

static void check_overrides(const struct settings *s,
                            const struct cpl_job_facts *job)
{
	const struct {
		const char *value;
		int may;
		const char *option, *what;
	} rule[] = {
	        {job->profile, CPL_MAY_PROFILE, "--comm-profile", "profile"},
	        {job->policy, CPL_MAY_POLICY, "--placement-policy", "policy"},
	        {job->mapping, CPL_MAY_MAPPING, "--rank-mapping", "mapping"},
	};
	struct cpl_resolved *out = s->out;

	for (size_t i = 0; i < sizeof(rule) / sizeof(*rule); i++) {
		if (!rule[i].value || out->user_may & rule[i].may)
			continue;
		/* Rather too late than a job refused that may do it. */
		if (s->may_open & rule[i].may) {
			cpl_fail(&out->note,
			         "whether you may choose the %s is known once "
			         "Slurm has settled the job's account, QOS and "
			         "nodes; until then %s is kept, after that it "
			         "may have no effect",
			         rule[i].what, rule[i].option);
			continue;
		}
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
	if (job->policy && cpl_wish_policy(&out->wish, net, job->policy, err))
		cpl_fail_prefix(err, "--placement-policy: ");
	else if (job->mapping && cpl_wish_mapper(&out->wish, job->mapping, err))
		cpl_fail_prefix(err, "--rank-mapping: ");
}

/* The user's options, where they may choose. */
static void set_user(const struct cpl_job_facts *job, struct cpl_resolved *out)
{
	const char *given = out->profile.value;

	out->profile_given =
	        given && (!job->profile || !(out->user_may & CPL_MAY_PROFILE) ||
	                  !strcmp(given, job->profile));
	if (job->profile && out->user_may & CPL_MAY_PROFILE &&
	    !(job->profile_yields && out->profile.source == CPL_FROM_MATCH))
		out->profile =
		        user(cpl_is_none(job->profile) ? NULL : job->profile);
	if (job->policy && out->user_may & CPL_MAY_POLICY)
		out->policy = user(job->policy);
	if (job->mapping && out->user_may & CPL_MAY_MAPPING)
		out->mapping = user(job->mapping);
}

static void set_mapper(struct cpl_resolved *out)
{
	out->wish.mapper = NULL;
	if (out->mapping.value)
		cpl_wish_mapper(&out->wish, out->mapping.value, NULL);
}

/* From here on they are known by what they name. What names nothing is for the
 * decision to tell. */
static void set_wish(const struct cpl_config *config,
                     const struct cpl_network *net, struct cpl_resolved *out)
{
	struct cpl_wish *wish = &out->wish;

	wish->policy = NULL;
	if (out->policy.value)
		cpl_wish_policy(wish, net, out->policy.value, NULL);
	if (net)
		cpl_wish_units(wish, net, out->keep_whole.value, NULL);
	if (net)
		wish->objective = cpl_objective_for(
		        wish->objective,
		        cpl_routing_find(net, config->routing, NULL));
	set_mapper(out);
}

static bool needs_traffic(const struct cpl_wish *wish)
{
	return !wish->mapper || !(wish->mapper->flags & CPL_MAPPER_HOSTS);
}

/* A job whose traffic is unknown: options that do nothing for it, and the order
 * of its ranks. */
static void without_profile(const struct settings *s,
                            const struct cpl_job_facts *job,
                            struct cpl_resolved *out)
{
	bool own = out->mapping.source == CPL_FROM_USER;

	if (out->profile.value)
		return;
	if (!out->refusal.text[0] && job->policy &&
	    cpl_placement_is_search(job->policy))
		cpl_fail(&out->note,
		         "--placement-policy=%s chooses by a profile; without "
		         "--comm-profile the job gets Slurm's own nodes",
		         job->policy);
	else if (!out->refusal.text[0] && own && needs_traffic(&out->wish))
		cpl_fail(&out->note, "--rank-mapping has no effect without "
		                     "--comm-profile, unless it is "
		                     "network-order");
	if (own)
		return;
	if (!needs_traffic(&out->wish) && s->order.source == CPL_FROM_BUILT_IN)
		return;
	out->mapping = s->order;
	if (cpl_is_none(s->order.value))
		out->mapping.value = NULL;
	set_mapper(out);
}

static void note_left(struct cpl_resolved *out)
{
	if (out->policy.source == CPL_FROM_PARTITION)
		cpl_fail(&out->note,
		         "partition %.*s is left to Slurm (DefaultPolicy=none "
		         "in commplace.conf); --comm-profile has no effect",
		         out->partition_length, out->partition);
	else
		cpl_fail(&out->note,
		         "such jobs are left to Slurm (DefaultPolicy=none in "
		         "commplace.conf, line %d); --comm-profile has no "
		         "effect",
		         out->policy.line);
}

/* Nothing of ours, by the site's word. */
static void leave(struct cpl_resolved *out, enum cpl_source source, int line)
{
	struct cpl_choice none = {NULL, source, line};

	out->profile = out->policy = out->mapping = out->binding = none;
	out->record = none;
	out->wish.policy = NULL;
	out->wish.mapper = NULL;
}

static void set_binding(const struct cpl_config *config,
                        struct cpl_resolved *out)
{
	out->binding = general(config, "DefaultBinding", config->binding);
	if (!out->profile.value || out->mode != CPL_MODE_ON ||
	    cpl_is_none(config->binding))
		out->binding.value = NULL;
}

/* What lines say of the job. */
static struct settings begin(const struct cpl_config *config,
                             const struct cpl_job_facts *job,
                             struct cpl_resolved *out)
{
	struct settings s = {.out = out};

	memset(out, 0, sizeof(*out));
	out->bind_memory = config->bind_memory;
	out->near_nic = config->near_nic;
	choose_partition(&s, config, job);
	return s;
}

void cpl_resolve_binding(const struct cpl_config *config,
                         const struct cpl_job_facts *job,
                         struct cpl_resolved *out)
{
	begin(config, job, out);
	set_user(job, out);
	if (out->mode == CPL_MODE_OFF || kept_stock(&out->policy))
		leave(out, CPL_FROM_OFF, out->policy.line);
	else
		set_binding(config, out);
}

void cpl_resolve(const struct cpl_config *config, const struct cpl_network *net,
                 const struct cpl_job_facts *job, struct cpl_resolved *out)
{
	struct settings s = begin(config, job, out);

	if (out->mode == CPL_MODE_OFF) {
		leave(out, CPL_FROM_OFF, 0);
		return;
	}
	if (cpl_is_none(out->keep_whole.value))
		out->keep_whole.value = NULL;
	if (cpl_is_none(out->record.value))
		out->record.value = NULL;
	check_overrides(&s, job);
	check_names(net, job, out);
	set_user(job, out);
	if (kept_stock(&out->policy)) {
		if (job->profile && out->profile.value)
			note_left(out);
		leave(out, CPL_FROM_OFF, out->policy.line);
		return;
	}
	if (out->policy.source != CPL_FROM_USER &&
	    cpl_is_none(out->policy.value)) {
		out->policy.value = NULL;
		if (out->profile.value)
			out->policy = (struct cpl_choice){"auto",
			                                  CPL_FROM_BUILT_IN, 0};
	}
	set_wish(config, net, out);
	without_profile(&s, job, out);
	set_binding(config, out);
}

void cpl_resolve_defaults(const struct cpl_config *config,
                          const char *partition, struct cpl_resolved *out)
{
	const struct cpl_partition_rule *rule =
	        cpl_config_partition(config, partition);
	struct settings s = {.out = out};

	memset(out, 0, sizeof(*out));
	set_general(&s, config);
	if (rule)
		set_line(&s, &rule->defaults, CPL_FROM_PARTITION, rule->line);
}
