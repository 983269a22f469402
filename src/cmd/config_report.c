/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "site/resolve.h"

static const char *type_name(const struct cpl_network *net)
{
	return cpl_network_type_name(net->type);
}

static const char *on_error_name(enum cpl_on_error what)
{
	return what == CPL_REJECT ? "reject" : "ignore";
}

/* The mode of a partition that has one of its own; else NULL. */
static const char *own_mode(const struct cpl_config *config,
                            const char *partition)
{
	const struct cpl_partition_rule *rule =
	        cpl_config_partition(config, partition);

	return rule && rule->defaults.mode >= 0
	               ? cpl_mode_name((enum cpl_mode)rule->defaults.mode)
	               : NULL;
}

static json_t *defaults_json(const struct cpl_config *config,
                             const char *partition)
{
	struct cpl_resolved d;

	cpl_resolve_defaults(config, partition, &d);
	return json_pack("{s:s*, s:s*, s:s, s:s, s:i}", "partition", partition,
	                 "mode", own_mode(config, partition), "policy",
	                 d.policy.value, "mapping", d.mapping.value,
	                 "min_nodes", d.min_nodes);
}

static json_t *network_json(const struct site_check *check)
{
	const struct cpl_network *net = check->net;
	json_t *links = json_object();

	for (int i = 0; i < net->n_classes; i++)
		json_object_set_new(links, net->link_class[i].name,
		                    json_integer(net->link_class[i].count *
		                                 net->link_class[i].cables));
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o}", "file",
	                 check->config->network_file, "name",
	                 net->name ? net->name : "", "type", type_name(net),
	                 "routers", net->n_routers, "nodes", check->n_hosts,
	                 "links", links);
}

const char *config_may(int may, char text[CONFIG_MAY_MAX])
{
	snprintf(text, CONFIG_MAY_MAX, "%s%s%s",
	         may & CPL_MAY_PROFILE ? ",profile" : "",
	         may & CPL_MAY_POLICY ? ",policy" : "",
	         may & CPL_MAY_MAPPING ? ",mapping" : "");
	return may == CPL_MAY_ALL ? "all" : *text ? text + 1 : "none";
}

static json_t *override_json(const struct cpl_config *c)
{
	json_t *list = json_array();

	if (c->user_may & CPL_MAY_PROFILE)
		json_array_append_new(list, json_string("profile"));
	if (c->user_may & CPL_MAY_POLICY)
		json_array_append_new(list, json_string("policy"));
	if (c->user_may & CPL_MAY_MAPPING)
		json_array_append_new(list, json_string("mapping"));
	return list;
}

/* Keys of a Match line with their values. */
struct pairs {
	int n;
	struct {
		const char *key;
		char value[256];
	} pair[16];
};

static void __attribute__((format(printf, 3, 4)))
add_pair(struct pairs *to, const char *key, const char *format, ...)
{
	va_list ap;

	to->pair[to->n].key = key;
	va_start(ap, format);
	vsnprintf(to->pair[to->n].value, sizeof(to->pair[0].value), format, ap);
	va_end(ap);
	to->n++;
}

static void add_text(struct pairs *to, const char *key, const char *value)
{
	if (value)
		add_pair(to, key, "%s", value);
}

static void rule_pairs(const struct cpl_match_rule *rule,
                       struct pairs *conditions, struct pairs *settings)
{
	const struct cpl_defaults *d = &rule->defaults;
	const struct cpl_range *nodes = &rule->nodes;
	char may[CONFIG_MAY_MAX];

	add_text(conditions, "JobName", rule->job_name);
	add_text(conditions, "Partition", rule->partition);
	add_text(conditions, "QOS", rule->qos);
	add_text(conditions, "Account", rule->account);
	add_text(conditions, "User", rule->user);
	if (nodes->high == INT32_MAX)
		add_pair(conditions, "Nodes", "%d-", nodes->low);
	else if (nodes->high && nodes->low == nodes->high)
		add_pair(conditions, "Nodes", "%d", nodes->low);
	else if (nodes->high)
		add_pair(conditions, "Nodes", "%d-%d", nodes->low, nodes->high);
	add_text(conditions, "Command", rule->command);
	add_text(settings, "Profile", rule->profile);
	if (d->mode >= 0)
		add_text(settings, "Mode",
		         cpl_mode_name((enum cpl_mode)d->mode));
	add_text(settings, "DefaultPolicy", d->policy);
	add_text(settings, "DefaultMapping", d->mapping);
	add_text(settings, "MappingWithoutProfile", d->order);
	if (d->order_reaches >= 0)
		add_text(settings, "OrderReaches",
		         cpl_order_reaches_name(
		                 (enum cpl_order_reaches)d->order_reaches));
	if (d->objective >= 0)
		add_text(settings, "Objective",
		         cpl_objective_name((enum cpl_objective)d->objective));
	if (d->max_decision_ms >= 0)
		add_pair(settings, "MaxDecisionTime", "%dms",
		         d->max_decision_ms);
	if (d->min_nodes >= 0)
		add_pair(settings, "MinNodes", "%d", d->min_nodes);
	add_text(settings, "KeepWhole", d->keep_whole);
	if (d->keep_price >= 0)
		add_pair(settings, "KeepWholePrice", "%d", d->keep_price);
	if (d->segment >= 0)
		add_text(settings, "SegmentFromSignature",
		         d->segment ? "yes" : "no");
	add_text(settings, "Record", d->record);
	if (d->record_one_in >= 0)
		add_pair(settings, "RecordOneIn", "%d", d->record_one_in);
	if (d->trial >= 0)
		add_pair(settings, "Trial", "%d", d->trial);
	if (d->user_may >= 0)
		add_text(settings, "UserMayOverride",
		         config_may(d->user_may, may));
}

static json_t *pairs_json(const struct pairs *from)
{
	json_t *out = json_object();

	for (int i = 0; i < from->n; i++)
		json_object_set_new(out, from->pair[i].key,
		                    json_string(from->pair[i].value));
	return out;
}

static const char *pairs_text(const struct pairs *from, char *text, size_t size)
{
	size_t n = 0;

	for (int i = 0; i < from->n && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s=%s",
		                      i ? " " : "", from->pair[i].key,
		                      from->pair[i].value);
	return text;
}

static json_t *rule_json(const struct cpl_match_rule *rule)
{
	struct pairs conditions = {.n = 0}, settings = {.n = 0};

	rule_pairs(rule, &conditions, &settings);
	return json_pack("{s:i, s:s*, s:s*, s:o, s:o}", "line", rule->line,
	                 "job_name", rule->job_name, "profile", rule->profile,
	                 "conditions", pairs_json(&conditions), "settings",
	                 pairs_json(&settings));
}

static const char *objective(const struct site_check *check)
{
	const struct cpl_config *c = check->config;

	return cpl_objective_name(cpl_objective_for(
	        c->objective, cpl_routing_find(check->net, c->routing, NULL)));
}

json_t *site_check_json(const struct site_check *check)
{
	const struct cpl_config *c = check->config;
	const struct slurm_conf *slurm = check->slurm;
	json_t *partitions = json_array(), *matches = json_array();
	json_t *profiles = json_array();

	for (int i = 0; i < c->n_partitions; i++)
		json_array_append_new(
		        partitions,
		        defaults_json(c, c->partition[i].partition));
	for (int i = 0; i < c->n_matches; i++)
		json_array_append_new(matches, rule_json(&c->match[i]));
	for (int i = 0; i < check->n_profiles; i++)
		cpl_json_append(profiles, "{s:s, s:i, s:i}", "name",
		                check->profile[i].name, "ranks",
		                check->profile[i].ranks, "phases",
		                check->profile[i].n_phases);
	return json_pack(
	        "{s:s, s:s, s:o, s:s, s:s, s:s, s:i, s:I, s:s, s:o, s:s, s:o, "
	        "s:o, s:o, s:s, s:s, s:o, s:i, s:i, s:s, s:i, s:s?, s:s?, "
	        "s:s?, "
	        "s:s?, s:i, s:i}",
	        "config", c->path, "mode", cpl_mode_name(c->mode), "network",
	        network_json(check), "routing", check->routing->name,
	        "objective", objective(check), "binding",
	        c->binding, "max_decision_ms", c->max_decision_ms, "seed",
	        (json_int_t)c->seed, "profile_dir", c->profile_dir, "profiles",
	        profiles, "state_dir", c->state_dir, "defaults",
	        defaults_json(c, NULL), "partitions", partitions, "matches",
	        matches, "missing_profile", on_error_name(c->missing_profile),
	        "rank_mismatch", on_error_name(c->rank_mismatch),
	        "user_may_override", override_json(c), "max_pass_ms",
	        c->max_pass_ms, "compare_nodes", c->compare_nodes, "keep_whole",
	        c->defaults.keep_whole, "keep_whole_price", c->keep_price,
	        "time_model", c->time_model, "slurm_conf",
	        slurm && slurm->is_read ? slurm->path : NULL,
	        "user_profile_dir", c->user_profile_dir, "users_read_as",
	        check->reader ? check->reader->name : NULL, "homes",
	        check->homes, "homes_shut", check->homes_shut);
}

static void network_rows(struct cmd_table *t, const struct site_check *check)
{
	const struct cpl_network *net = check->net;
	char text[512] = "";
	size_t n = 0;

	cmd_table_row(t, "network|%s, %s %s", check->config->network_file,
	              type_name(net), net->name ? net->name : "");
	cmd_table_row(t, "nodes|%d on %d routers", check->n_hosts,
	              net->n_routers);
	for (int i = 0; i < net->n_classes && n < sizeof(text); i++)
		n += (size_t)snprintf(
		        text + n, sizeof(text) - n, "%s%s %" PRId64,
		        i ? ", " : "", net->link_class[i].name,
		        net->link_class[i].count * net->link_class[i].cables);
	cmd_table_row(t, "links|%s", text);
}

static void defaults_row(struct cmd_table *t, const struct cpl_config *config,
                         const char *partition, const char *label)
{
	struct cpl_resolved d;

	cpl_resolve_defaults(config, partition, &d);
	cmd_table_row(t, "%s|%s|%s|%d|%s", label, d.policy.value,
	              d.mapping.value, d.min_nodes, cpl_mode_name(d.mode));
}

static int print_defaults(const struct cpl_config *c)
{
	struct cmd_table *t;
	bool modes = false;

	for (int i = 0; i < c->n_partitions; i++)
		modes = modes || own_mode(c, c->partition[i].partition);
	t = cmd_table_new(modes ? "lllrl" : "lllr");
	cmd_table_row(t, "PARTITION|POLICY|MAPPING|MINNODES|MODE");
	for (int i = 0; i < c->n_partitions; i++)
		defaults_row(t, c, c->partition[i].partition,
		             c->partition[i].partition);
	defaults_row(t, c, NULL, c->n_partitions ? "(others)" : "(all)");
	return cmd_table_print(t);
}

static int print_matches(const struct cpl_config *c)
{
	struct cmd_table *t = cmd_table_new("rll");

	cmd_table_row(t, "LINE|MATCH|SETS");
	for (int i = 0; i < c->n_matches; i++) {
		struct pairs conditions = {.n = 0}, settings = {.n = 0};
		char of[512], what[512];

		rule_pairs(&c->match[i], &conditions, &settings);
		cmd_table_row(t, "%d|%s|%s", c->match[i].line,
		              pairs_text(&conditions, of, sizeof(of)),
		              pairs_text(&settings, what, sizeof(what)));
	}
	return cmd_table_print(t);
}

static int print_profiles(const struct site_check *check)
{
	struct cmd_table *t = cmd_table_new("lrr");

	cmd_table_row(t, "PROFILE|RANKS|PHASES");
	for (int i = 0; i < check->n_profiles; i++)
		cmd_table_row(t, "%s|%d|%d", check->profile[i].name,
		              check->profile[i].ranks,
		              check->profile[i].n_phases);
	return cmd_table_print(t);
}

static void model_row(struct cmd_table *t, const struct cpl_config *c,
                      const struct cpl_model *m)
{
	cmd_table_row(t, "model of time|%s, %s of %d samples, %.1f %% of pairs in "
	                 "order", c->time_model, m->method, m->samples,
	              100 * m->score.concordant);
}

/* Who reads users' own profiles, and which users' that one cannot read. */
static void users_row(struct cmd_table *t, const struct site_check *check)
{
	const struct slurm_reader *reader = check->reader;

	if (!check->config->user_profile_dir)
		return;
	cmd_table_row(t, "users' profiles|%s", check->config->user_profile_dir);
	if (!reader)
		return;
	cmd_table_row(t,
	              "|read with the rights of SlurmUser=%s, not those of "
	              "each user: what is of mode 0700 is not read",
	              reader->name);
	if (check->homes_shut)
		cmd_table_row(t, "|%d of %d homes shut it out; %s",
		              check->homes_shut, check->homes,
		              check->shut.text);
}

/* A configuration that could not be compared may be as wrong as any. */
static void slurm_row(struct cmd_table *t, const struct site_check *check)
{
	const struct slurm_conf *slurm = check->slurm;

	if (slurm && slurm->is_read)
		cmd_table_row(t, "compared with|%s", slurm->path);
	else
		cmd_table_row(t,
		              "not compared|%s cannot be read: partitions and "
		              "the owner of StateDir were not looked at; "
		              "SLURM_CONF says where it is",
		              slurm ? slurm->path : "slurm.conf");
}

int site_check_print(const struct site_check *check)
{
	const struct cpl_config *c = check->config;
	struct cmd_table *t = cmd_table_new("ll");

	cmd_table_row(t, "configuration|%s", c->path);
	cmd_table_row(t, "mode|%s", cpl_mode_name(c->mode));
	network_rows(t, check);
	cmd_table_row(t, "routing|%s", check->routing->name);
	cmd_table_row(t, "objective|%s", objective(check));
	if (check->learned)
		model_row(t, c, cpl_learned_model(check->learned));
	if (!cpl_is_none(c->defaults.keep_whole))
		cmd_table_row(t, "kept whole|%s, at most %d %% worse",
		              c->defaults.keep_whole, c->keep_price);
	cmd_table_row(t, "binding|%s", c->binding);
	cmd_table_row(t, "decision|%d ms at most", c->max_decision_ms);
	cmd_table_row(t, "profiles|%d in %s", check->n_profiles,
	              c->profile_dir);
	users_row(t, check);
	cmd_table_row(t, "a job's profile|missing: %s, other rank count: %s",
	              on_error_name(c->missing_profile),
	              on_error_name(c->rank_mismatch));
	cmd_table_row(t, "users may set|%s%s%s%s", c->user_may ? "" : "nothing",
	              c->user_may & CPL_MAY_PROFILE ? "profile " : "",
	              c->user_may & CPL_MAY_POLICY ? "policy " : "",
	              c->user_may & CPL_MAY_MAPPING ? "mapping" : "");
	cmd_table_row(t, "state|%s", c->state_dir);
	slurm_row(t, check);
	if (cmd_table_print(t))
		return CMD_FAILED;
	putchar('\n');
	if (print_defaults(c))
		return CMD_FAILED;
	if (check->n_profiles) {
		putchar('\n');
		if (print_profiles(check))
			return CMD_FAILED;
	}
	if (!c->n_matches)
		return CMD_OK;
	putchar('\n');
	return print_matches(c);
}
