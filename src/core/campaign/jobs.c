/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/jobs.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/none.h"
#include "base/printable.h"
#include "base/random.h"

#define VALUE_MAX 256
#define KEY_MAX 32
#define N_KEYS 16 /* more than there are */

/* This is one Key=Value of a line, where the value may be in quotes. */
struct pair {
	char key[KEY_MAX];
	char value[VALUE_MAX];
};

static void rule_free(struct cpl_jobs_rule *rule)
{
	cpl_free_all(rule->name, rule->user, rule->account, rule->partition,
	             rule->qos, rule->class, rule->signature);
}

void cpl_jobs_free(struct cpl_jobs *jobs)
{
	for (int i = 0; i < jobs->n_rules; i++)
		rule_free(&jobs->rule[i]);
	free(jobs->rule);
	*jobs = (struct cpl_jobs){0};
}

static int take_pair(struct cpl_lines *in, struct pair *out)
{
	size_t n = 0;
	char quote = 0;

	while (in->p < in->line_end && *in->p != '=' && *in->p != ' ' &&
	       *in->p != '\t' && n + 1 < sizeof(out->key))
		out->key[n++] = *in->p++;
	out->key[n] = '\0';
	cpl_printable(out->key);
	if (!n || in->p == in->line_end || *in->p != '=')
		return cpl_fail(in->err, "'%s': Key=Value is expected",
		                out->key);
	in->p++;
	if (in->p < in->line_end && *in->p == '"')
		quote = *in->p++;
	for (n = 0; in->p < in->line_end &&
	            (quote ? *in->p != quote
	                   : *in->p != ' ' && *in->p != '\t' && *in->p != '\r');
	     in->p++) {
		if (n + 1 == sizeof(out->value))
			return cpl_fail(in->err, "%s: longer than %d bytes",
			                out->key, VALUE_MAX - 1);
		out->value[n++] = *in->p;
	}
	out->value[n] = '\0';
	if (quote && in->p++ == in->line_end)
		return cpl_fail(in->err, "%s: the quotation has no end",
		                out->key);
	if (!n || strlen(out->value) != n || !cpl_is_printable(out->value))
		return cpl_fail(in->err, "%s: %s", out->key,
		                n ? "has characters that cannot be printed"
		                  : "the value is missing");
	return 0;
}

static int take_number(const struct pair *pair, double low, double high,
                       double *out, struct cpl_error *err)
{
	char *end;

	errno = 0;
	*out = strtod(pair->value, &end);
	if (end == pair->value || *end || !isfinite(*out) ||
	    strspn(pair->value, "+-.0123456789eE") != strlen(pair->value))
		return cpl_fail(err, "%s: '%s' is not a number", pair->key,
		                pair->value);
	if (*out < low || *out > high)
		return cpl_fail(err, "%s: %s is outside %g .. %.10g", pair->key,
		                pair->value, low, high);
	return 0;
}

/* This reads 64, 64-512, 64- or -512. */
static int take_nodes(const struct pair *pair, struct cpl_jobs_rule *rule,
                      struct cpl_error *err)
{
	const char *text = pair->value;
	long low = 1, high = CPL_LOG_MAX_NODES;
	char *end = NULL;

	if (strspn(text, "0123456789-") != strlen(text) || strlen(text) > 17)
		goto bad;
	if (*text != '-') {
		low = high = strtol(text, &end, 10);
		text = end;
	}
	if (*text == '-') {
		high = CPL_LOG_MAX_NODES;
		if (*++text) {
			high = strtol(text, &end, 10);
			text = end;
		} else if (!end) {
			goto bad;
		}
	}
	if (*text || low < 1 || high < low || high > CPL_LOG_MAX_NODES)
		goto bad;
	rule->low = (int)low;
	rule->high = (int)high;
	return 0;
bad:
	return cpl_fail(err, "Nodes: '%s' is no number or range of nodes",
	                pair->value);
}

static int take_text(char **field, const struct pair *pair,
                     struct cpl_error *err)
{
	*field = strdup(pair->value);
	return *field ? 0 : cpl_fail_memory(err);
}

static int take_condition(const struct pair *pair, struct cpl_jobs_rule *rule,
                          bool *taken, struct cpl_error *err)
{
	const struct {
		const char *key;
		char **field;
	} text[] = {{"Name", &rule->name},
	            {"User", &rule->user},
	            {"Account", &rule->account},
	            {"Partition", &rule->partition},
	            {"QOS", &rule->qos}};

	*taken = true;
	if (!strcasecmp(pair->key, "Nodes"))
		return take_nodes(pair, rule, err);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (!strcasecmp(pair->key, text[i].key))
			return take_text(text[i].field, pair, err);
	*taken = false;
	return 0;
}

static int take_traffic(const struct pair *pair, struct cpl_jobs_rule *rule,
                        bool *taken, struct cpl_error *err)
{
	double number = 0;
	int rc = 0;

	*taken = true;
	if (!strcasecmp(pair->key, "Class"))
		return take_text(&rule->class, pair, err);
	if (!strcasecmp(pair->key, "Signature"))
		return take_text(&rule->signature, pair, err);
	if (!strcasecmp(pair->key, "Options"))
		return cpl_asked_read(pair->value, &rule->asked, err)
		               ? cpl_fail_prefix(err, "Options: ")
		               : 0;
	if (!strcasecmp(pair->key, "Pattern")) {
		if (cpl_is_none(pair->value))
			return 0;
		rule->pattern = cpl_jobs_pattern_find(pair->value, err);
		return rule->pattern ? 0 : -1;
	}
	if (!strcasecmp(pair->key, "Share")) {
		rc = take_number(pair, 0, 100, &number, err);
		rule->share = number / 100;
	} else if (!strcasecmp(pair->key, "RanksPerNode")) {
		rc = take_number(pair, 1, CPL_JOBS_MAX_RANKS_PER_NODE, &number,
		                 err);
		rule->ranks_per_node = rc ? 0 : (int)number;
		if (!rc && rule->ranks_per_node != number)
			rc = cpl_fail(err, "RanksPerNode: %s is no whole number",
			              pair->value);
	} else {
		*taken = false;
	}
	return rc;
}

/* This checks that a line has what it must, and sets names of classes. */
static int complete(struct cpl_jobs_rule *rule, struct cpl_error *err)
{
	const char *class;

	if (rule->signature && rule->pattern)
		return cpl_fail(err, "Signature and Pattern; one of them will "
		                     "do");
	class = rule->signature ? rule->signature
	        : rule->pattern ? rule->pattern->name
	                        : "none";
	if (!rule->class && !(rule->class = strdup(class)))
		return cpl_fail_memory(err);
	return 0;
}

/* These are the keys of a line so far, each of them known. */
struct keys {
	char name[N_KEYS][KEY_MAX];
	int n;
};

static int take_once(struct keys *keys, const char *key, struct cpl_error *err)
{
	for (int i = 0; i < keys->n; i++)
		if (!strcasecmp(keys->name[i], key))
			return cpl_fail(err, "%s is there twice", key);
	if (keys->n < N_KEYS)
		strcpy(keys->name[keys->n++], key);
	return 0;
}

static int take_line(struct cpl_lines *in, struct cpl_jobs_rule *rule)
{
	struct keys keys = {.n = 0};
	bool match = cpl_lines_take_word(in, "Match"), mix = false;

	if (!match) {
		mix = cpl_lines_take_word(in, "Mix");
		if (!mix)
			return cpl_fail(in->err, "a line begins with Match or "
			                         "Mix");
		rule->weight = 1;
	}
	while (!cpl_lines_done(in)) {
		struct pair pair;
		bool taken = false;
		int rc = take_pair(in, &pair);

		if (!rc)
			rc = take_once(&keys, pair.key, in->err);
		if (!rc && match)
			rc = take_condition(&pair, rule, &taken, in->err);
		if (!rc && mix && !strcasecmp(pair.key, "Weight")) {
			rc = take_number(&pair, 1e-9, 1e9, &rule->weight,
			                 in->err);
			taken = true;
		}
		if (!rc && !taken)
			rc = take_traffic(&pair, rule, &taken, in->err);
		if (!rc && !taken)
			rc = cpl_fail(in->err,
			              "%s is no key of a line of %s", pair.key,
			              match ? "Match" : "Mix");
		if (rc)
			return -1;
	}
	return complete(rule, in->err);
}

int cpl_jobs_parse(const char *text, size_t length, const char *name,
                   struct cpl_jobs *out, struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of(name, text, length, err);

	*out = (struct cpl_jobs){0};
	while (cpl_lines_next(&in)) {
		struct cpl_jobs_rule rule = {.low = 1,
		                             .high = CPL_LOG_MAX_NODES,
		                             .share = -1,
		                             .ranks_per_node = 1,
		                             .line = in.line};

		if (cpl_lines_done(&in))
			continue;
		if (take_line(&in, &rule) ||
		    cpl_array_grow(&out->rule, out->n_rules, sizeof(rule),
		                   err)) {
			rule_free(&rule);
			cpl_jobs_free(out);
			return cpl_lines_prefix(&in);
		}
		out->rule[out->n_rules++] = rule;
		out->weight += rule.weight;
	}
	if (!out->n_rules)
		return cpl_fail(err, "%s: has no line of Match or Mix", name);
	return 0;
}

int cpl_jobs_load(const char *path, struct cpl_jobs *out,
                  struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, CPL_JOBS_MAX_BYTES, &length, err);
	int rc;

	*out = (struct cpl_jobs){0};
	rc = text ? cpl_jobs_parse(text, length, path, out, err) : -1;
	free(text);
	return rc;
}

static bool holds(const char *pattern, const char *value)
{
	return !pattern || !fnmatch(pattern, value, 0);
}

static bool matches(const struct cpl_jobs_rule *rule,
                    const struct cpl_log_job *job)
{
	return rule->weight == 0 && job->nodes >= rule->low &&
	       job->nodes <= rule->high && holds(rule->name, job->name) &&
	       holds(rule->user, job->user) &&
	       holds(rule->account, job->account) &&
	       holds(rule->partition, job->partition) &&
	       holds(rule->qos, job->qos);
}

const struct cpl_jobs_rule *cpl_jobs_rule_of(const struct cpl_jobs *jobs,
                                             const struct cpl_log_job *job,
                                             uint64_t seed)
{
	const struct cpl_jobs_rule *last = NULL;
	double draw = jobs->weight *
	              ((double)(cpl_random(seed, CPL_STREAM_CAMPAIGN_MIX,
	                                   (uint64_t)job->id) >>
	                        11) /
	               9007199254740992.0);

	for (int i = 0; i < jobs->n_rules; i++)
		if (matches(&jobs->rule[i], job))
			return &jobs->rule[i];
	for (int i = 0; i < jobs->n_rules; i++) {
		if (jobs->rule[i].weight == 0)
			continue;
		last = &jobs->rule[i];
		if (draw < last->weight)
			break;
		draw -= last->weight;
	}
	return last;
}
