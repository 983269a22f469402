/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/file.h"
#include "site/config_internal.h"

#define MAX_BYTES (1ULL << 20)

static int start_partition(struct config_parser *p, const char *value)
{
	struct cpl_config *c = p->config;

	for (int i = 0; i < c->n_partitions; i++)
		if (!strcmp(c->partition[i].partition, value))
			return cpl_fail(p->err,
			                "Partition=%s is given twice; put all "
			                "its keys into one line",
			                value);
	/* No partition could have that name. */
	if (strchr(value, ','))
		return cpl_fail(p->err,
		                "Partition=%s names several partitions; give "
		                "each a line, or begin with Match",
		                value);
	if (cpl_array_grow(&c->partition, c->n_partitions,
	                   sizeof(*c->partition), p->err))
		return -1;
	p->partition = &c->partition[c->n_partitions++];
	*p->partition = (struct cpl_partition_rule){
	        .partition = strdup(value),
	        .line = p->line,
	};
	config_unset(&p->partition->defaults);
	p->scope = CPL_SCOPE_PARTITION;
	return p->partition->partition ? 0 : cpl_fail_memory(p->err);
}

static int start_match(struct config_parser *p)
{
	struct cpl_config *c = p->config;

	if (cpl_array_grow(&c->match, c->n_matches, sizeof(*c->match), p->err))
		return -1;
	p->match = &c->match[c->n_matches++];
	*p->match = (struct cpl_match_rule){.line = p->line};
	config_unset(&p->match->defaults);
	p->scope = CPL_SCOPE_MATCH;
	return 0;
}

static int set_pair(struct config_parser *p, const char *name,
                    const char *value, bool first)
{
	uint64_t *seen;
	int key;

	if (!*value)
		return cpl_fail(p->err, "%s has no value", name);
	if (!strcasecmp(name, "Partition") && p->scope != CPL_SCOPE_MATCH) {
		if (!first)
			return cpl_fail(p->err, "Partition must be the first "
			                        "key of its line");
		return start_partition(p, value);
	}
	key = config_key_find(p, name);
	if (key < 0)
		return -1;
	seen = p->scope == CPL_SCOPE_GENERAL ? &p->seen : &p->seen_in_line;
	if (*seen & UINT64_C(1) << key)
		return cpl_fail(p->err, "%s is given twice",
		                cpl_config_key(key)->name);
	*seen |= UINT64_C(1) << key;
	return config_key_set(p, key, value);
}

static char *skip_blanks(char *s)
{
	while (*s && isspace((unsigned char)*s))
		s++;
	return s;
}

/* Cut the value at s out; *next is where the line goes on. */
static int take_value(struct config_parser *p, const char *key, char *s,
                      char **value, char **next)
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

/* Bits of the keys that are conditions of a Match line. */
static uint64_t conditions(void)
{
	const struct cpl_config_key *key;
	uint64_t bits = 0;

	for (int i = 0; (key = cpl_config_key(i)); i++)
		if (key->where & 1u << CPL_SCOPE_CONDITION)
			bits |= UINT64_C(1) << i;
	return bits;
}

static int end_match(struct config_parser *p)
{
	const struct cpl_match_rule *before;

	p->match->keys = p->seen_in_line;
	if (!(p->seen_in_line & conditions()))
		return cpl_fail(p->err, "Match says of no job; add JobName, "
		                        "Partition, QOS, Account, User, Nodes "
		                        "or Command");
	if (!(p->seen_in_line & ~conditions()))
		return cpl_fail(p->err, "Match sets nothing; add Profile, "
		                        "DefaultPolicy or another setting");
	before = config_match_before(p->config, p->match);
	if (before)
		return cpl_fail(p->err,
		                "Match has the conditions of line %d, which "
		                "always wins; remove one",
		                before->line);
	return 0;
}

static int end_line(struct config_parser *p)
{
	if (p->scope == CPL_SCOPE_PARTITION && !p->seen_in_line)
		return cpl_fail(p->err,
		                "Partition=%s sets nothing; add DefaultPolicy, "
		                "DefaultMapping, MinNodes or Mode",
		                p->partition->partition);
	return p->scope == CPL_SCOPE_MATCH ? end_match(p) : 0;
}

static int parse_line(struct config_parser *p, char *s)
{
	bool first = true;

	p->seen_in_line = 0;
	for (s = skip_blanks(s); *s && *s != '#'; s = skip_blanks(s)) {
		char *key = s, *end, *value = NULL;

		while (isalnum((unsigned char)*s) || *s == '_')
			s++;
		end = s;
		s = skip_blanks(s);
		if (*s != '=') {
			if (!first || end - key != 5 ||
			    (end == s && *s && *s != '#') ||
			    strncasecmp(key, "Match", 5))
				return cpl_fail(
				        p->err, "\"%.*s\" is not Key=Value",
				        (int)strcspn(key, " \t\r"), key);
			if (start_match(p))
				return -1;
			first = false;
			continue;
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

static int check_characters(struct config_parser *p, const char *s,
                            const char *stop)
{
	for (const char *q = s; q < stop; q++)
		if ((unsigned char)*q < 0x20 && *q != '\t' &&
		    (*q != '\r' || q + 1 != stop))
			return cpl_fail(
			        p->err,
			        "there is a control character in column %d",
			        (int)(q - s) + 1);
	return 0;
}

static void match_clear(struct cpl_match_rule *rule)
{
	config_free_settings(&rule->defaults);
	config_free_match(rule);
	free(rule->uid);
}

/* A line that is wrong must not leave half a rule behind. */
static void drop_rule(struct config_parser *p)
{
	struct cpl_config *c = p->config;

	if (p->scope == CPL_SCOPE_MATCH) {
		match_clear(p->match);
		c->n_matches--;
	} else if (p->scope == CPL_SCOPE_PARTITION &&
	           !p->partition->partition) {
		c->n_partitions--;
	}
}

static int parse_text(struct config_parser *p, char *text, size_t length,
                      void (*say)(void *arg, const char *text), void *arg)
{
	char *s = text, *end = text + length;

	while (s < end) {
		char *newline = memchr(s, '\n', (size_t)(end - s));
		char *stop = newline ? newline : end;

		p->line++;
		*stop = '\0';
		p->scope = CPL_SCOPE_GENERAL;
		if (check_characters(p, s, stop) || parse_line(p, s)) {
			cpl_fail_prefix(p->err, "%s:%d: ", p->config->path,
			                p->line);
			if (!say)
				return -1;
			say(arg, p->err->text);
			drop_rule(p);
			p->err->text[0] = '\0';
		}
		s = stop + 1;
	}
	return 0;
}

/* text[length] is writable. say NULL: the first problem ends it. */
static struct cpl_config *parse(char *text, size_t length, const char *name,
                                const struct config_names *names,
                                void (*say)(void *arg, const char *text),
                                void *arg, struct cpl_error *err)
{
	struct cpl_error none = {""};
	struct config_parser p = {.names = names, .err = err ? err : &none};

	p.config = calloc(1, sizeof(*p.config));
	if (p.config)
		p.config->path = strdup(name);
	if (!p.config || !p.config->path)
		cpl_fail_memory(err);
	else if (!config_set_built_in(&p) &&
	         !parse_text(&p, text, length, say, arg))
		return p.config;
	cpl_config_free(p.config);
	return NULL;
}

static struct cpl_config *load(const char *path,
                               const struct config_names *names,
                               void (*say)(void *arg, const char *text),
                               void *arg, struct cpl_error *err)
{
	struct cpl_config *config;
	size_t length = 0;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);

	if (!text)
		return NULL;
	config = parse(text, length, path, names, say, arg, err);
	free(text);
	return config;
}

struct cpl_config *cpl_config_load_all(const char *path,
                                       void (*say)(void *arg, const char *text),
                                       void *arg, struct cpl_error *err)
{
	return load(path, &config_names, say, arg, err);
}

struct cpl_config *cpl_config_load(const char *path, struct cpl_error *err)
{
	return load(path, &config_names, NULL, NULL, err);
}

struct cpl_config *cpl_config_load_on_node(const char *path,
                                           struct cpl_error *err)
{
	return load(path, NULL, NULL, NULL, err);
}

struct cpl_config *cpl_config_parse(const char *text, size_t length,
                                    const char *name, struct cpl_error *err)
{
	struct cpl_config *config;
	char *copy = malloc(length + 1);

	if (!copy)
		return cpl_fail_null_memory(err);
	memcpy(copy, text, length);
	config = parse(copy, length, name, &config_names, NULL, NULL, err);
	free(copy);
	return config;
}

void cpl_config_free(struct cpl_config *config)
{
	if (!config)
		return;
	for (int i = 0; i < config->n_partitions; i++) {
		free(config->partition[i].partition);
		config_free_settings(&config->partition[i].defaults);
	}
	for (int i = 0; i < config->n_matches; i++)
		match_clear(&config->match[i]);
	cpl_free_all(config->partition, config->match);
	config_free_general(config);
	cpl_free_all(config->path, config);
}

static bool is_on(const struct cpl_defaults *line)
{
	return line->mode >= 0 && line->mode != CPL_MODE_OFF;
}

bool cpl_config_is_off(const struct cpl_config *config)
{
	for (int i = 0; i < config->n_partitions; i++)
		if (is_on(&config->partition[i].defaults))
			return false;
	for (int i = 0; i < config->n_matches; i++)
		if (is_on(&config->match[i].defaults))
			return false;
	return config->mode == CPL_MODE_OFF;
}

bool cpl_config_learned(const struct cpl_config *config)
{
	const int learned = CPL_OBJECTIVE_LEARNED;

	for (int i = 0; i < config->n_partitions; i++)
		if (config->partition[i].defaults.objective == learned)
			return true;
	for (int i = 0; i < config->n_matches; i++)
		if (config->match[i].defaults.objective == learned)
			return true;
	return config->objective == CPL_OBJECTIVE_LEARNED;
}

const struct cpl_partition_rule *
cpl_config_partition(const struct cpl_config *config, const char *partition)
{
	for (int i = 0; partition && i < config->n_partitions; i++)
		if (!strcmp(config->partition[i].partition, partition))
			return &config->partition[i];
	return NULL;
}
