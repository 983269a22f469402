/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where values of commplace.conf go: a row for each key of config_keys.txt, which says
 * all else. */
#include "site/config_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"

static const char *const modes[] = {"on", "observe", "off", NULL};
static const char *const unknowns[] = {"measured", "uniform", "off", NULL};
static const char *const by_volumes[] = {"no", "asked", "yes", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const accesses[] = {"slurm", "owner", "all", NULL};
static const char *const auto_yes_no[] = {"auto", "yes", "no", NULL};
static const char *const ignore_reject[] = {"ignore", "reject", NULL};

#define GENERAL (1u << CPL_SCOPE_GENERAL)
#define PARTITION (1u << CPL_SCOPE_PARTITION)
#define MATCH (1u << CPL_SCOPE_MATCH)
#define CONDITION (MATCH | 1u << CPL_SCOPE_CONDITION)
#define ANY (GENERAL | PARTITION | MATCH)
#define PLACE(type, field)                                                     \
	{                                                                      \
		offsetof(type, field),                                         \
		        _Generic(((type *)NULL)->field, char *: true,          \
		                 default: false)                               \
	}
#define AT(field) .general = PLACE(struct cpl_config, field)
/* In the settings of a line: a text, or an int. */
#define ON_LINE(field) .line = PLACE(struct cpl_defaults, field)
#define AT_MATCH(field) .line = PLACE(struct cpl_match_rule, field)

#include "src/core/site/config_keys.inc"

/* clang-format off */
static const struct rule rules[N_KEYS] = {
	[KEY_NetworkFile] = {config_set_path, AT(network_file)},
	[KEY_ProfileDir] = {config_set_path, AT(profile_dir)},
	[KEY_UserProfileDir] = {config_set_user_dir, AT(user_profile_dir)},
	[KEY_StateDir] = {config_set_path, AT(state_dir)},
	[KEY_Mode] = {config_set_choice, AT(mode), ON_LINE(mode), .words = modes},
	[KEY_DefaultPolicy] = {config_set_policy, AT(defaults.policy), ON_LINE(policy)},
	[KEY_DefaultMapping] = {config_set_mapping, AT(defaults.mapping), ON_LINE(mapping), .says_all = true},
	[KEY_MappingWithoutProfile] = {config_set_order, AT(defaults.order), ON_LINE(order), .says_all = true},
	[KEY_OrderReaches] = {config_set_choice, AT(order_reaches), ON_LINE(order_reaches), .words = auto_yes_no},
	[KEY_DefaultBinding] = {config_set_binding, AT(binding), .says_all = true},
	[KEY_BindMemory] = {config_set_flag, AT(bind_memory), .words = no_yes},
	[KEY_NearNic] = {config_set_nic, AT(near_nic)},
	[KEY_Objective] = {config_set_objective, AT(objective), ON_LINE(objective), .says_all = true},
	[KEY_TimeModel] = {config_set_path, AT(time_model)},
	[KEY_Routing] = {config_set_routing, AT(routing)},
	[KEY_MaxDecisionTime] = {config_set_time, AT(max_decision_ms), ON_LINE(max_decision_ms)},
	[KEY_MaxPassTime] = {config_set_time, AT(max_pass_ms)},
	[KEY_CompareNodes] = {config_set_int, AT(compare_nodes), .low = 0, .high = 16777216},
	[KEY_OwnWeight] = {config_set_int, AT(own_weight), .low = 0, .high = 1000},
	[KEY_OthersWeight] = {config_set_int, AT(others_weight), .low = 0, .high = 1000},
	[KEY_KeepWhole] = {config_set_units, AT(defaults.keep_whole), ON_LINE(keep_whole)},
	[KEY_KeepWholePrice] = {config_set_int, AT(keep_price), ON_LINE(keep_price), .low = 0, .high = 1000},
	[KEY_SegmentFromSignature] = {config_set_choice, AT(segment), ON_LINE(segment), .words = no_yes},
	[KEY_MinNodes] = {config_set_int, AT(defaults.min_nodes), ON_LINE(min_nodes), .low = 1, .high = 16777216},
	[KEY_MissingProfile] = {config_set_choice, AT(missing_profile), .words = ignore_reject},
	[KEY_RankMismatch] = {config_set_choice, AT(rank_mismatch), .words = ignore_reject},
	[KEY_Rescale] = {config_set_flag, AT(rescale), .words = no_yes},
	[KEY_Record] = {config_set_record, AT(defaults.record), ON_LINE(record), .says_all = true},
	[KEY_RecordOneIn] = {config_set_int, AT(record_one_in), ON_LINE(record_one_in), .low = 0, .high = 1000000},
	[KEY_DriftDistance] = {config_set_int, AT(drift), .low = 0, .high = 100},
	[KEY_UserMayOverride] = {config_set_override, AT(user_may), ON_LINE(user_may)},
	[KEY_Trial] = {config_set_int, AT(trial), ON_LINE(trial), .low = 0, .high = 99},
	[KEY_TrialUntil] = {config_set_date, AT(trial_until)},
	[KEY_TrialStop] = {config_set_flag, AT(trial_stop), .words = no_yes},
	[KEY_MeasuredLinks] = {config_set_source, AT(measured_links)},
	[KEY_MeasuredMaxAge] = {config_set_int, AT(measured_max_age), .low = 1, .high = 86400},
	[KEY_Unknown] = {config_set_choice, AT(unknown), .words = unknowns},
	[KEY_UnknownVolume] = {config_set_volume, AT(unknown_volume), .low = 1, .high = 1000000000000000},
	[KEY_PlaceByVolume] = {config_set_choice, AT(by_volume), .words = by_volumes},
	[KEY_KeepSamples] = {config_set_int, AT(keep_samples), .low = 0, .high = 1000000},
	[KEY_AdminComment] = {config_set_flag, AT(admin_comment), .words = no_yes},
	[KEY_ProfileMemory] = {config_set_int, AT(profile_memory), .low = 16, .high = 1048576},
	[KEY_Decider] = {config_set_path, AT(decider)},
	[KEY_DeciderMemory] = {config_set_int, AT(decider_memory), .low = 0, .high = 1048576},
	[KEY_RecordAccess] = {config_set_choice, AT(record_access), .words = accesses},
	[KEY_KeepRecords] = {config_set_int, AT(keep_records), .low = 0, .high = 100000000},
	[KEY_KeepRecordsDays] = {config_set_int, AT(keep_days), .low = 0, .high = 36500},
	[KEY_Seed] = {config_set_uint64, AT(seed), .low = 0, .high = INT64_MAX},
	[KEY_JobName] = {config_set_text, AT_MATCH(job_name)},
	[KEY_Partition] = {config_set_list, AT_MATCH(partition)},
	[KEY_QOS] = {config_set_list, AT_MATCH(qos)},
	[KEY_Account] = {config_set_list, AT_MATCH(account)},
	[KEY_User] = {config_set_list, AT_MATCH(user)},
	[KEY_Nodes] = {config_set_range, AT_MATCH(nodes)},
	[KEY_Command] = {config_set_text, AT_MATCH(command)},
	[KEY_Profile] = {config_set_profile, AT_MATCH(profile), .says_all = true},
};
/* clang-format on */

_Static_assert(N_KEYS <= CPL_CONFIG_KEYS_MAX, "CPL_CONFIG_KEYS_MAX");

const struct cpl_config_key *cpl_config_key(int i)
{
	return i >= 0 && i < N_KEYS ? &keys[i] : NULL;
}

int cpl_config_line(const struct cpl_config *config, const char *key)
{
	for (int i = 0; i < N_KEYS; i++)
		if (!strcmp(keys[i].name, key))
			return config->line[i];
	return 0;
}

const char *cpl_mode_name(enum cpl_mode mode)
{
	return modes[mode];
}

const char *cpl_unknown_name(enum cpl_unknown_mode unknown)
{
	return unknowns[unknown];
}

const char *cpl_order_reaches_name(enum cpl_order_reaches reaches)
{
	return auto_yes_no[reaches];
}

int config_key_find(struct config_parser *p, const char *name)
{
	static const char *const where[] = {"", " in a Partition line",
	                                    " in a Match line"};
	const char *words[N_KEYS + 1], *nearest;
	char list[CPL_ERROR_MAX] = "";
	int n = 0;

	for (int i = 0; i < N_KEYS; i++) {
		size_t used = strlen(list);

		if (keys[i].where & MATCH && p->scope != CPL_SCOPE_MATCH &&
		    !(keys[i].where & GENERAL) &&
		    !strcasecmp(name, keys[i].name))
			return cpl_fail(p->err,
			                "%s stands in lines that begin with "
			                "Match",
			                keys[i].name);
		if (!(keys[i].where & 1u << p->scope))
			continue;
		if (!strcasecmp(name, keys[i].name))
			return i;
		snprintf(list + used, sizeof(list) - used, "%s%s",
		         n ? ", " : "", keys[i].name);
		words[n++] = keys[i].name;
	}
	words[n] = NULL;
	nearest = cpl_suggest(name, words);
	if (nearest)
		return cpl_fail(p->err, "unknown key %s%s; did you mean %s?",
		                name, where[p->scope], nearest);
	return cpl_fail(p->err, "unknown key %s%s; the keys are %s", name,
	                where[p->scope], list);
}

int config_key_set(struct config_parser *p, int key, const char *value)
{
	const struct rule *rule = &rules[key];
	char *base = NULL;

	switch (p->scope) {
	case CPL_SCOPE_GENERAL:
		base = (char *)p->config + rule->general.offset;
		break;
	case CPL_SCOPE_PARTITION:
		base = (char *)&p->partition->defaults + rule->line.offset;
		break;
	case CPL_SCOPE_MATCH:
	case CPL_SCOPE_CONDITION:
		base = keys[key].where & GENERAL ? (char *)&p->match->defaults
		                                 : (char *)p->match;
		base += rule->line.offset;
		break;
	}
	p->rule = rule;
	if (rule->set(p, base, value)) {
		if (rule->says_all || cpl_error_is_memory(p->err))
			return cpl_fail_prefix(p->err, "%s: ", keys[key].name);
		return cpl_fail_prefix(p->err, "%s=%s", keys[key].name, value);
	}
	if (p->scope == CPL_SCOPE_GENERAL)
		p->config->line[key] = p->line;
	return 0;
}

int config_set_built_in(struct config_parser *p)
{
	p->scope = CPL_SCOPE_GENERAL;
	for (int i = 0; i < N_KEYS; i++)
		if (*keys[i].built_in &&
		    config_key_set(p, i, keys[i].built_in))
			return -1;
	return 0;
}

/* Keys that lines may share with general lines, and those of Match alone. */
static bool is_setting(int key)
{
	return keys[key].where & GENERAL && keys[key].where & MATCH;
}

static bool is_of_match(int key)
{
	return keys[key].where & MATCH && !(keys[key].where & GENERAL);
}

void config_unset(struct cpl_defaults *defaults)
{
	*defaults = (struct cpl_defaults){0};
	for (int i = 0; i < N_KEYS; i++) {
		void *field = (char *)defaults + rules[i].line.offset;

		if (is_setting(i) && !rules[i].line.text)
			*(int *)field = -1;
	}
}

static void free_text(void *base, const struct place *place)
{
	void *field = (char *)base + place->offset;

	if (place->text)
		free(*(char **)field);
}

void config_free_general(struct cpl_config *config)
{
	for (int i = 0; i < N_KEYS; i++)
		if (keys[i].where & GENERAL)
			free_text(config, &rules[i].general);
}

void config_free_settings(struct cpl_defaults *defaults)
{
	for (int i = 0; i < N_KEYS; i++)
		if (is_setting(i))
			free_text(defaults, &rules[i].line);
}

void config_free_match(struct cpl_match_rule *rule)
{
	for (int i = 0; i < N_KEYS; i++)
		if (is_of_match(i))
			free_text(rule, &rules[i].line);
}
