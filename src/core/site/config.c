/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/config.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/suggest.h"
#include "binding/binding.h"
#include "mapping/mapping.h"
#include "routing/routing.h"
#include "signature/signature.h"

#define MAX_BYTES (1ULL << 20)
#define MAX_DECISION_MS 60000
#define NO_POLICY "none"

/* What the pairs of the current line are about. */
enum subject { GENERAL, PARTITION, MATCH };

struct parser {
	struct cpl_config *config;
	int line;
	enum subject subject;
	struct cpl_partition_rule *partition;
	struct cpl_match_rule *match;
	unsigned seen, seen_in_line; /* bits: index into keys[] */
	struct cpl_error *err;
};

static int set_text(struct parser *p, char **out, const char *value)
{
	free(*out);
	*out = strdup(value);
	return *out ? 0 : cpl_fail_memory(p->err);
}

static int set_path(struct parser *p, char **out, const char *key,
                    const char *value)
{
	if (value[0] != '/')
		return cpl_fail(p->err,
		                "%s=%s is a relative path; give one that "
		                "starts with /",
		                key, value);
	return set_text(p, out, value);
}

/* Index of value in words, or -1 with err that lists them. */
static int choice(struct parser *p, const char *key, const char *value,
                  const char *const *words)
{
	char list[256] = "";

	for (int i = 0; words[i]; i++) {
		size_t n = strlen(list);

		if (!strcasecmp(value, words[i]))
			return i;
		snprintf(list + n, sizeof(list) - n, "%s%s",
		         i == 0         ? ""
		         : words[i + 1] ? ", "
		                        : " or ",
		         words[i]);
	}
	return cpl_fail(p->err, "%s=%s is not known; use %s", key, value, list);
}

static int whole_number(struct parser *p, const char *key, const char *value,
                        uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end)
		return cpl_fail(p->err, "%s=%s is not a whole number", key,
		                value);
	if (errno || *out < low || *out > high)
		return cpl_fail(p->err, "%s=%s must lie in %llu to %llu", key,
		                value, (unsigned long long)low,
		                (unsigned long long)high);
	return 0;
}

static int set_network_file(struct parser *p, const char *value)
{
	return set_path(p, &p->config->network_file, "NetworkFile", value);
}

static int set_profile_dir(struct parser *p, const char *value)
{
	return set_path(p, &p->config->profile_dir, "ProfileDir", value);
}

static int set_state_dir(struct parser *p, const char *value)
{
	return set_path(p, &p->config->state_dir, "StateDir", value);
}

static int set_mode(struct parser *p, const char *value)
{
	static const char *const words[] = {"on", "observe", "off", NULL};
	int i = choice(p, "Mode", value, words);

	p->config->mode = (enum cpl_mode)(i < 0 ? 0 : i);
	return i < 0 ? -1 : 0;
}

static struct cpl_defaults *defaults(struct parser *p)
{
	return p->subject == PARTITION ? &p->partition->defaults
	                               : &p->config->defaults;
}

static int set_policy(struct parser *p, const char *value)
{
	const struct cpl_placement_policy *const *all = cpl_placement_all();
	const char *words[64] = {"auto", "traffic", NO_POLICY};
	char list[CPL_ERROR_MAX / 2] = "auto, traffic, " NO_POLICY;
	const char *nearest;
	int n = 3;

	if (cpl_placement_name_known(value) || !strcasecmp(value, NO_POLICY))
		return set_text(p, &defaults(p)->policy, value);
	for (int i = 0; all[i] && n < 63; i++) {
		size_t used = strlen(list);

		words[n++] = all[i]->name;
		if (!strstr(list, all[i]->name))
			snprintf(list + used, sizeof(list) - used, ", %s",
			         all[i]->name);
	}
	nearest = cpl_suggest(value, words);
	if (nearest)
		return cpl_fail(p->err,
		                "DefaultPolicy=%s is not a placement policy; "
		                "did you mean %s?",
		                value, nearest);
	return cpl_fail(p->err,
	                "DefaultPolicy=%s is not a placement policy; use one "
	                "of %s",
	                value, list);
}

/* The command may have it; the plugins read the same file. */
static int refuse_scotch(struct parser *p, const char *value)
{
	return strcasecmp(value, "scotch")
	               ? 0
	               : cpl_fail(p->err, "the plugins lack scotch; use best");
}

static int set_mapping(struct parser *p, const char *value)
{
	if (refuse_scotch(p, value) || !cpl_mapper_find(value, p->err))
		return cpl_fail_prefix(p->err, "DefaultMapping: ");
	return set_text(p, &defaults(p)->mapping, value);
}

static int set_binding(struct parser *p, const char *value)
{
	if (refuse_scotch(p, value) || (strcmp(value, CPL_BINDING_NONE) &&
	                                !cpl_binder_find(value, p->err)))
		return cpl_fail_prefix(p->err, "DefaultBinding: ");
	return set_text(p, &p->config->binding, value);
}

static int set_bind_memory(struct parser *p, const char *value)
{
	static const char *const words[] = {"no", "yes", NULL};
	int i = choice(p, "BindMemory", value, words);

	p->config->bind_memory = i == 1;
	return i < 0 ? -1 : 0;
}

static int set_objective(struct parser *p, const char *value)
{
	if (cpl_objective_parse(value, &p->config->objective, p->err))
		return cpl_fail_prefix(p->err, "Objective: ");
	return 0;
}

/* Whether it suits the network is known once that is loaded. */
static int set_routing(struct parser *p, const char *value)
{
	const struct cpl_routing *const *all = cpl_routing_all();
	char list[CPL_ERROR_MAX / 2] = "";

	for (int i = 0; all[i]; i++) {
		size_t n = strlen(list);

		if (!strcasecmp(value, all[i]->name) ||
		    !strcasecmp(value, all[i]->short_name))
			return set_text(p, &p->config->routing, value);
		snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
		         all[i]->name);
	}
	return cpl_fail(p->err, "Routing=%s is not known; use one of %s", value,
	                list);
}

static int set_max_decision_time(struct parser *p, const char *value)
{
	char number[16];
	size_t n = strspn(value, "0123456789");
	const char *unit = value + n;
	uint64_t scale = 1, v;

	if (!strcasecmp(unit, "s"))
		scale = 1000;
	else if (*unit && strcasecmp(unit, "ms"))
		n = 0;
	if (n == 0 || n >= sizeof(number))
		return cpl_fail(p->err,
		                "MaxDecisionTime=%s is not a time; use "
		                "milliseconds such as 200 or 200ms, or seconds "
		                "such as 2s",
		                value);
	memcpy(number, value, n);
	number[n] = '\0';
	v = strtoull(number, NULL, 10);
	if (v < 1 || v > MAX_DECISION_MS / scale)
		return cpl_fail(p->err,
		                "MaxDecisionTime=%s must lie in 1ms to 60s",
		                value);
	p->config->max_decision_ms = (int)(v * scale);
	return 0;
}

static int set_min_nodes(struct parser *p, const char *value)
{
	uint64_t v;

	if (whole_number(p, "MinNodes", value, 1, 16777216, &v))
		return -1;
	defaults(p)->min_nodes = (int)v;
	return 0;
}

static int set_on_error(struct parser *p, const char *key, const char *value,
                        enum cpl_on_error *out)
{
	static const char *const words[] = {"ignore", "reject", NULL};
	int i = choice(p, key, value, words);

	*out = i > 0 ? CPL_REJECT : CPL_IGNORE;
	return i < 0 ? -1 : 0;
}

static int set_missing_profile(struct parser *p, const char *value)
{
	return set_on_error(p, "MissingProfile", value,
	                    &p->config->missing_profile);
}

static int set_rank_mismatch(struct parser *p, const char *value)
{
	return set_on_error(p, "RankMismatch", value,
	                    &p->config->rank_mismatch);
}

static int set_user_may_override(struct parser *p, const char *value)
{
	static const char *const names[] = {"profile", "policy", "mapping"};
	struct cpl_config *c = p->config;
	bool on[3] = {false, false, false};
	const char *word = value;

	if (!strcasecmp(value, "all")) {
		on[0] = on[1] = on[2] = true;
	} else if (strcasecmp(value, "none")) {
		for (;;) {
			size_t n = strcspn(word, ",");
			int i = 0;

			while (i < 3 && (strlen(names[i]) != n ||
			                 strncasecmp(names[i], word, n)))
				i++;
			if (i == 3)
				return cpl_fail(p->err,
				                "UserMayOverride=%s: \"%.*s\" "
				                "is not known; use all, none, "
				                "or a list of profile, policy "
				                "and mapping",
				                value, (int)n, word);
			if (on[i])
				return cpl_fail(p->err,
				                "UserMayOverride=%s names %s "
				                "twice",
				                value, names[i]);
			on[i] = true;
			if (!word[n])
				break;
			word += n + 1;
		}
	}
	c->user_profile = on[0];
	c->user_policy = on[1];
	c->user_mapping = on[2];
	return 0;
}

static int set_seed(struct parser *p, const char *value)
{
	return whole_number(p, "Seed", value, 0, INT64_MAX, &p->config->seed);
}

static int set_job_name(struct parser *p, const char *value)
{
	const struct cpl_config *c = p->config;

	for (int i = 0; i < c->n_matches; i++)
		if (c->match[i].job_name &&
		    !strcmp(c->match[i].job_name, value))
			return cpl_fail(p->err,
			                "JobName=%s stands in an earlier Match "
			                "line, which always wins; remove one",
			                value);
	return set_text(p, &p->match->job_name, value);
}

static int set_profile(struct parser *p, const char *value)
{
	if (cpl_profile_name_check(value, p->err))
		return cpl_fail_prefix(p->err, "Profile: ");
	return set_text(p, &p->match->profile, value);
}

static const struct key {
	const char *name;
	unsigned subjects; /* bit 1 << enum subject */
	int (*set)(struct parser *p, const char *value);
} keys[] = {
        {"NetworkFile", 1 << GENERAL, set_network_file},
        {"ProfileDir", 1 << GENERAL, set_profile_dir},
        {"StateDir", 1 << GENERAL, set_state_dir},
        {"Mode", 1 << GENERAL, set_mode},
        {"DefaultPolicy", 1 << GENERAL | 1 << PARTITION, set_policy},
        {"DefaultMapping", 1 << GENERAL | 1 << PARTITION, set_mapping},
        {"DefaultBinding", 1 << GENERAL, set_binding},
        {"BindMemory", 1 << GENERAL, set_bind_memory},
        {"Objective", 1 << GENERAL, set_objective},
        {"Routing", 1 << GENERAL, set_routing},
        {"MaxDecisionTime", 1 << GENERAL, set_max_decision_time},
        {"MinNodes", 1 << GENERAL | 1 << PARTITION, set_min_nodes},
        {"MissingProfile", 1 << GENERAL, set_missing_profile},
        {"RankMismatch", 1 << GENERAL, set_rank_mismatch},
        {"UserMayOverride", 1 << GENERAL, set_user_may_override},
        {"Seed", 1 << GENERAL, set_seed},
        {"JobName", 1 << MATCH, set_job_name},
        {"Profile", 1 << MATCH, set_profile},
};

#define N_KEYS ((int)(sizeof(keys) / sizeof(keys[0])))

static int unknown_key(struct parser *p, const char *name)
{
	static const char *const where[] = {"", " in a Partition line",
	                                    " in a Match line"};
	const char *words[N_KEYS + 1];
	char list[CPL_ERROR_MAX / 2] = "";
	const char *nearest;
	int n = 0;

	for (int i = 0; i < N_KEYS; i++) {
		size_t used = strlen(list);

		if (!(keys[i].subjects & 1u << p->subject))
			continue;
		snprintf(list + used, sizeof(list) - used, "%s%s",
		         n ? ", " : "", keys[i].name);
		words[n++] = keys[i].name;
	}
	words[n] = NULL;
	nearest = cpl_suggest(name, words);
	if (nearest)
		return cpl_fail(p->err, "unknown key %s%s; did you mean %s?",
		                name, where[p->subject], nearest);
	return cpl_fail(p->err, "unknown key %s%s; the keys are %s", name,
	                where[p->subject], list);
}

static int start_partition(struct parser *p, const char *value)
{
	struct cpl_config *c = p->config;
	void *more;

	for (int i = 0; i < c->n_partitions; i++)
		if (!strcmp(c->partition[i].partition, value))
			return cpl_fail(p->err,
			                "Partition=%s is given twice; put all "
			                "its keys into one line",
			                value);
	more = realloc(c->partition,
	               ((size_t)c->n_partitions + 1) * sizeof(*c->partition));
	if (!more)
		return cpl_fail_memory(p->err);
	c->partition = more;
	p->partition = &c->partition[c->n_partitions++];
	*p->partition = (struct cpl_partition_rule){.defaults.min_nodes = -1};
	p->subject = PARTITION;
	return set_text(p, &p->partition->partition, value);
}

static int start_match(struct parser *p)
{
	struct cpl_config *c = p->config;
	void *more = realloc(c->match,
	                     ((size_t)c->n_matches + 1) * sizeof(*c->match));

	if (!more)
		return cpl_fail_memory(p->err);
	c->match = more;
	p->match = &c->match[c->n_matches++];
	*p->match = (struct cpl_match_rule){NULL, NULL};
	p->subject = MATCH;
	return 0;
}

static int set_pair(struct parser *p, const char *name, const char *value,
                    bool first)
{
	int i = 0;
	unsigned *seen;

	if (!*value)
		return cpl_fail(p->err, "%s has no value", name);
	if (!strcasecmp(name, "Partition")) {
		if (!first)
			return cpl_fail(p->err, "Partition must be the first "
			                        "key of its line");
		return start_partition(p, value);
	}
	while (i < N_KEYS && (!(keys[i].subjects & 1u << p->subject) ||
	                      strcasecmp(name, keys[i].name)))
		i++;
	if (i == N_KEYS)
		return unknown_key(p, name);
	seen = p->subject == GENERAL ? &p->seen : &p->seen_in_line;
	if (*seen & 1u << i)
		return cpl_fail(p->err, "%s is given twice", keys[i].name);
	*seen |= 1u << i;
	return keys[i].set(p, value);
}

static char *skip_blanks(char *s)
{
	while (*s && isspace((unsigned char)*s))
		s++;
	return s;
}

/* Cut the value at s out; *next is where the line goes on. */
static int take_value(struct parser *p, const char *key, char *s, char **value,
                      char **next)
{
	if (*s == '"') {
		char *end = strchr(s + 1, '"');

		if (!end)
			return cpl_fail(p->err,
			                "%s: the closing quote is missing",
			                key);
		if (end[1] && end[1] != '#' && !isspace((unsigned char)end[1]))
			return cpl_fail(p->err,
			                "%s: a space is missing after the "
			                "closing quote",
			                key);
		*value = s + 1;
		*next = end + 1;
		*end = '\0';
		return 0;
	}
	*value = s;
	while (*s && *s != '#' && !isspace((unsigned char)*s))
		s++;
	*next = s;
	if (*s == '#')
		s[1] = '\0';
	else if (*s)
		(*next)++;
	*s = '\0';
	return 0;
}

static int end_line(struct parser *p)
{
	if (p->subject == PARTITION && !p->seen_in_line)
		return cpl_fail(p->err,
		                "Partition=%s sets nothing; add DefaultPolicy, "
		                "DefaultMapping or MinNodes",
		                p->partition->partition);
	if (p->subject == MATCH && (!p->match->job_name || !p->match->profile))
		return cpl_fail(p->err, "Match needs JobName=PATTERN and "
		                        "Profile=NAME");
	return 0;
}

static int parse_line(struct parser *p, char *s)
{
	bool first = true;

	p->subject = GENERAL;
	p->seen_in_line = 0;
	for (s = skip_blanks(s); *s && *s != '#'; s = skip_blanks(s)) {
		char *key = s, *end, *value = NULL;

		while (isalnum((unsigned char)*s) || *s == '_')
			s++;
		end = s;
		s = skip_blanks(s);
		if (*s != '=') {
			if (first && end - key == 5 &&
			    !strncasecmp(key, "Match", 5) && end < s) {
				if (start_match(p))
					return -1;
				first = false;
				continue;
			}
			return cpl_fail(p->err, "\"%.*s\" is not Key=Value",
			                (int)strcspn(key, " \t\r"), key);
		}
		if (end == key)
			return cpl_fail(p->err,
			                "a key is missing before \"=\"");
		*end = '\0';
		s = skip_blanks(s + 1);
		if (take_value(p, key, s, &value, &s) ||
		    set_pair(p, key, value, first))
			return -1;
		first = false;
	}
	return end_line(p);
}

static int parse_text(struct parser *p, char *text, size_t length)
{
	char *s = text, *end = text + length;

	while (s < end) {
		char *newline = memchr(s, '\n', (size_t)(end - s));
		char *stop = newline ? newline : end;

		p->line++;
		*stop = '\0';
		for (char *q = s; q < stop; q++)
			if ((unsigned char)*q < 0x20 && *q != '\t' &&
			    (*q != '\r' || q + 1 != stop))
				return cpl_fail(p->err,
				                "a control character stands in "
				                "column %d",
				                (int)(q - s) + 1);
		if (parse_line(p, s))
			return -1;
		s = stop + 1;
	}
	return 0;
}

static int set_text_defaults(struct cpl_config *c, const char *name)
{
	c->path = strdup(name);
	c->network_file = strdup("/etc/slurm/commplace/network.json");
	c->profile_dir = strdup("/var/lib/commplace/profiles");
	c->state_dir = strdup("/var/lib/commplace/state");
	c->defaults.mapping = strdup("greedyallc");
	c->defaults.min_nodes = 2;
	c->binding = strdup("treematch");
	c->mode = CPL_MODE_ON;
	c->objective = CPL_OBJECTIVE_MAX;
	c->max_decision_ms = 200;
	c->missing_profile = CPL_REJECT;
	c->rank_mismatch = CPL_IGNORE;
	c->user_profile = c->user_policy = c->user_mapping = true;
	c->seed = 1;
	return c->path && c->network_file && c->profile_dir && c->state_dir &&
	                       c->defaults.mapping && c->binding
	               ? 0
	               : -1;
}

/* text[length] is writable. */
static struct cpl_config *parse(char *text, size_t length, const char *name,
                                struct cpl_error *err)
{
	struct parser p = {.err = err};
	struct cpl_config *config = calloc(1, sizeof(*config));

	if (!config || set_text_defaults(config, name)) {
		cpl_config_free(config);
		cpl_fail_memory(err);
		return NULL;
	}
	p.config = config;
	if (parse_text(&p, text, length)) {
		cpl_fail_prefix(err, "%s:%d: ", name, p.line);
		cpl_config_free(config);
		return NULL;
	}
	return config;
}

struct cpl_config *cpl_config_load(const char *path, struct cpl_error *err)
{
	struct cpl_config *config;
	size_t length = 0;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);

	if (!text)
		return NULL;
	config = parse(text, length, path, err);
	free(text);
	return config;
}

struct cpl_config *cpl_config_parse(const char *text, size_t length,
                                    const char *name, struct cpl_error *err)
{
	struct cpl_config *config;
	char *copy = malloc(length + 1);

	if (!copy) {
		cpl_fail_memory(err);
		return NULL;
	}
	memcpy(copy, text, length);
	config = parse(copy, length, name, err);
	free(copy);
	return config;
}

static void defaults_free(struct cpl_defaults *d)
{
	free(d->policy);
	free(d->mapping);
}

void cpl_config_free(struct cpl_config *config)
{
	if (!config)
		return;
	for (int i = 0; i < config->n_partitions; i++) {
		free(config->partition[i].partition);
		defaults_free(&config->partition[i].defaults);
	}
	for (int i = 0; i < config->n_matches; i++) {
		free(config->match[i].job_name);
		free(config->match[i].profile);
	}
	free(config->partition);
	free(config->match);
	defaults_free(&config->defaults);
	free(config->path);
	free(config->network_file);
	free(config->profile_dir);
	free(config->state_dir);
	free(config->binding);
	free(config->routing);
	free(config);
}

struct cpl_defaults cpl_config_defaults(const struct cpl_config *config,
                                        const char *partition)
{
	struct cpl_defaults d = config->defaults;

	for (int i = 0; partition && i < config->n_partitions; i++) {
		const struct cpl_partition_rule *rule = &config->partition[i];

		if (strcmp(rule->partition, partition))
			continue;
		if (rule->defaults.policy)
			d.policy = rule->defaults.policy;
		if (rule->defaults.mapping)
			d.mapping = rule->defaults.mapping;
		if (rule->defaults.min_nodes >= 0)
			d.min_nodes = rule->defaults.min_nodes;
	}
	if (d.policy && !strcasecmp(d.policy, NO_POLICY))
		d.policy = NULL;
	return d;
}

const char *cpl_config_match(const struct cpl_config *config,
                             const char *job_name)
{
	for (int i = 0; job_name && i < config->n_matches; i++)
		if (!fnmatch(config->match[i].job_name, job_name, 0))
			return config->match[i].profile;
	return NULL;
}
