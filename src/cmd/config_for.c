/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace config for JOBSPEC`: what commplace.conf says of one job. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/printable.h"
#include "config.h"
#include "signature/signature.h"
#include "site/match.h"
#include "site_files.h"
#include "slurm_shell.h"

/* What squeue prints of a job: the texts of the user are each on a line of its
 * own. */
static const char squeue_format[] = "%P %q %a %U %D\n%j\n%o";

struct asked_job {
	struct cpl_job_facts job;
	const char *user; /* name or number, or NULL */
	char *text[3];    /* of squeue */
};

static bool is_job_id(const char *word)
{
	return isdigit((unsigned char)*word) &&
	       word[strspn(word, "0123456789_+")] == '\0';
}

static int find_user(struct asked_job *a, struct cpl_error *err)
{
	int rc = cpl_match_user(a->user, &a->job.uid);

	if (rc)
		return rc < 0 ? cpl_fail_memory(err)
		              : cpl_fail(err,
		                         "user=%.64s: there is no such user "
		                         "here",
		                         a->user);
	a->job.has_uid = true;
	return 0;
}

/* KEY=VALUE. 0, -1 with err. */
static int take_word(struct asked_job *a, const char *word,
                     struct cpl_error *err)
{
	const struct {
		const char *key, **value;
	} field[] = {
	        {"partition", &a->job.partition}, {"qos", &a->job.qos},
	        {"account", &a->job.account},     {"user", &a->user},
	        {"name", &a->job.name},           {"command", &a->job.command},
	};
	size_t n = strcspn(word, "=");
	const char *value = word[n] ? word + n + 1 : "";
	int64_t nodes;

	if (!*value)
		return cpl_fail(err, "'%.64s' is not KEY=VALUE, nor a job's "
		                     "number by itself",
		                word);
	if (n == 5 && !strncmp(word, "nodes", n)) {
		if (cmd_int("nodes", value, 1, INT32_MAX, &nodes, err))
			return -1;
		a->job.nodes = (int)nodes;
		return 0;
	}
	for (size_t i = 0; i < sizeof(field) / sizeof(*field); i++) {
		if (strlen(field[i].key) != n ||
		    strncmp(field[i].key, word, n))
			continue;
		if (*field[i].value)
			return cpl_fail(err, "%s is given twice", field[i].key);
		*field[i].value = value;
		return 0;
	}
	return cpl_fail(err,
	                "'%.*s' is not known of a job; use partition, qos, "
	                "account, user, name, nodes or command",
	                n > 64 ? 64 : (int)n, word);
}

static const char *known(const char *text)
{
	return text && *text && strcmp(text, "(null)") && strcmp(text, "N/A")
	               ? text
	               : NULL;
}

/* Ask squeue about a job of the cluster's queue. */
static int ask_squeue(struct asked_job *a, const char *id,
                      struct cpl_error *err)
{
	char command[160], *rest, *word[5], *all;
	size_t length;
	int status, n = 0;

	snprintf(command, sizeof(command), "squeue -h -j %.64s -o '%s'", id,
	         squeue_format);
	all = rest = slurm_shell(command, &length, &status, err);
	if (!all)
		return -1;
	while (n < 3 && rest && *rest)
		a->text[n++] = strdup(strsep(&rest, "\n"));
	free(all);
	if (n && !a->text[n - 1])
		return cpl_fail_memory(err);
	if (status || n < 3) {
		if (n)
			cpl_printable(a->text[0]);
		return cpl_fail(err, "job %s: %.200s", id,
		                n && *a->text[0] ? a->text[0]
		                                 : "squeue shows none");
	}
	rest = a->text[0];
	for (int i = 0; i < 5; i++) {
		word[i] = strsep(&rest, " ");
		if (!word[i])
			return cpl_fail(err, "job %s: squeue printed "
			                     "something else",
			                id);
	}
	a->job.partition = known(word[0]);
	a->job.qos = known(word[1]);
	a->job.account = known(word[2]);
	a->user = word[3];
	a->job.nodes = atoi(word[4]);
	a->job.name = known(a->text[1]);
	a->job.command = known(a->text[2]);
	return 0;
}

static int ask(const struct config_for *what, struct asked_job *a,
               struct cpl_error *err)
{
	int first = is_job_id(what->word[0]);

	if (first && ask_squeue(a, what->word[0], err))
		return -1;
	for (int i = first; i < what->n_words; i++) {
		if (first)
			return cpl_fail(err, "'%.64s': a job's number stands "
			                     "alone",
			                what->word[i]);
		if (take_word(a, what->word[i], err))
			return -1;
	}
	a->job.profile = what->profile;
	a->job.policy = what->policy;
	a->job.mapping = what->mapping;
	return a->user ? find_user(a, err) : 0;
}

/* A row of the answer. */
struct answer_row {
	const char *key;
	char value[160];
	const char *from; /* "match" */
	int line;
};

#define ROWS_MAX 32

struct answer {
	const struct cpl_config *config;
	struct cpl_resolved want;
	struct answer_row row[ROWS_MAX];
	int n;
};

static const char *const sources[] = {
        [CPL_FROM_BUILT_IN] = "built-in", [CPL_FROM_SITE] = "general",
        [CPL_FROM_PARTITION] = "partition", [CPL_FROM_MATCH] = "match",
        [CPL_FROM_USER] = "option",         [CPL_FROM_OFF] = "off",
};

static void __attribute__((format(printf, 5, 6)))
add_row(struct answer *a, const char *key, enum cpl_source source, int line,
        const char *format, ...)
{
	struct answer_row *row = &a->row[a->n++];
	va_list ap;

	row->key = key;
	row->from = sources[source];
	row->line = line;
	va_start(ap, format);
	vsnprintf(row->value, sizeof(row->value), format, ap);
	va_end(ap);
	cpl_printable(row->value);
}

static void add_choice(struct answer *a, const char *key,
                       const struct cpl_choice *choice)
{
	add_row(a, key, choice->source, choice->line, "%s",
	        choice->value ? choice->value : "none");
}

static enum cpl_source general_source(const struct answer *a, const char *key)
{
	return cpl_config_line(a->config, key) ? CPL_FROM_SITE
	                                       : CPL_FROM_BUILT_IN;
}

static void add_general(struct answer *a, const char *key, const char *value)
{
	add_row(a, key, general_source(a, key), cpl_config_line(a->config, key),
	        "%s", value);
}

static void add_number(struct answer *a, const char *key, int value)
{
	add_row(a, key, general_source(a, key), cpl_config_line(a->config, key),
	        "%d", value);
}

static const char *on_error(enum cpl_on_error what)
{
	return what == CPL_REJECT ? "reject" : "ignore";
}

static void fill(struct answer *a)
{
	const struct cpl_config *c = a->config;
	const struct cpl_resolved *w = &a->want;
	char may[CONFIG_MAY_MAX];

	add_row(a, "Mode", w->mode_from.source, w->mode_from.line, "%s",
	        cpl_mode_name(w->mode));
	add_choice(a, "Profile", &w->profile);
	add_choice(a, "DefaultPolicy", &w->policy);
	add_choice(a,
	           w->profile.value ? "DefaultMapping"
	                            : "MappingWithoutProfile",
	           &w->mapping);
	add_row(a, "OrderReaches", w->order_reaches_from.source,
	        w->order_reaches_from.line, "%s",
	        cpl_order_reaches_name(w->order_reaches));
	add_choice(a, "DefaultBinding", &w->binding);
	add_general(a, "BindMemory", w->bind_memory ? "yes" : "no");
	if (w->near_nic)
		add_general(a, "NearNic", w->near_nic);
	add_row(a, "Objective", w->objective_from.source,
	        w->objective_from.line, "%s",
	        cpl_objective_name(w->wish.objective));
	add_general(a, "TimeModel", c->time_model ? c->time_model : "none");
	add_number(a, "OwnWeight", c->own_weight);
	add_number(a, "OthersWeight", c->others_weight);
	add_choice(a, "KeepWhole", &w->keep_whole);
	add_row(a, "KeepWholePrice", w->keep_price_from.source,
	        w->keep_price_from.line, "%d", w->wish.keep_price);
	add_row(a, "SegmentFromSignature", w->segment_from.source,
	        w->segment_from.line, "%s", w->segment ? "yes" : "no");
	add_general(a, "Routing", c->routing ? c->routing : "the network's");
	add_row(a, "MaxDecisionTime", w->max_decision_from.source,
	        w->max_decision_from.line, "%dms", w->max_decision_ms);
	add_number(a, "CompareNodes", c->compare_nodes);
	add_row(a, "Seed", general_source(a, "Seed"),
	        cpl_config_line(c, "Seed"), "%" PRIu64, c->seed);
	add_row(a, "MinNodes", w->min_nodes_from.source, w->min_nodes_from.line,
	        "%d", w->min_nodes);
	add_general(a, "MissingProfile", on_error(c->missing_profile));
	add_general(a, "RankMismatch", on_error(c->rank_mismatch));
	add_general(a, "Rescale", c->rescale ? "yes" : "no");
	add_number(a, "DriftDistance", c->drift);
	add_row(a, "UserMayOverride", w->user_may_from.source,
	        w->user_may_from.line, "%s", config_may(w->user_may, may));
	add_choice(a, "Record", &w->record);
	add_row(a, "RecordOneIn", w->record_one_in_from.source,
	        w->record_one_in_from.line, "%d", w->record_one_in);
	add_row(a, "Trial", w->trial_from.source, w->trial_from.line, "%d",
	        w->trial);
	if (c->measured_links)
		add_general(a, "MeasuredLinks", c->measured_links);
	add_general(a, "Unknown", cpl_unknown_name(c->unknown));
	add_general(a, "TrialStop", c->trial_stop ? "yes" : "no");
	add_general(a, "AdminComment", c->admin_comment ? "yes" : "no");
}

/* "FILE:12 (Match)", "built in", "the job's option". */
static void from_text(const struct answer *a, const struct answer_row *row,
                      char *text, size_t size)
{
	static const char *const words[][2] = {
	        {"built-in", "built in"}, {"general", ""},
	        {"partition", "Partition"}, {"match", "Match"},
	        {"option", "the job's option"}, {"off", "left to Slurm"},
	};
	const char *what = "";

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i][0], row->from))
			what = words[i][1];
	if (!row->line)
		snprintf(text, size, "%s", what);
	else
		snprintf(text, size, "%s:%d%s%s%s", a->config->path, row->line,
		         *what ? " (" : "", what, *what ? ")" : "");
}

static int print_text(const struct answer *a, const struct cpl_job_facts *job,
                      bool running)
{
	struct cmd_table *t = cmd_table_new("lll");
	char from[512];

	cmd_table_row(t, "KEY|VALUE|FROM");
	for (int i = 0; i < a->n; i++) {
		from_text(a, &a->row[i], from, sizeof(from));
		cmd_table_row(t, "%s|%s|%s", a->row[i].key, a->row[i].value,
		              from);
	}
	if (cmd_table_print(t))
		return CMD_FAILED;
	if (a->want.refusal.text[0])
		printf("refused: %s\n", a->want.refusal.text);
	if (a->want.note.text[0])
		printf("note: %s\n", a->want.note.text);
	for (int i = 0; i < a->config->n_matches; i++)
		if (cpl_match_fits(&a->config->match[i], job, job->partition) ==
		    CPL_MAY_FIT)
			printf("%s:%d may hold, too: it asks for what is not "
			       "known of the job\n",
			       a->config->path, a->config->match[i].line);
	if (running && !job->profile && !job->policy && !job->mapping)
		printf("Slurm does not show the options --comm-profile, "
		       "--placement-policy and --rank-mapping of a job; give "
		       "them, too, where it has some.\n");
	return CMD_OK;
}

static json_t *to_json(const struct answer *a, const struct cpl_job_facts *job)
{
	json_t *values = json_array(), *open = json_array();

	for (int i = 0; i < a->n; i++)
		cpl_json_append(values, "{s:s, s:s, s:s, s:i}", "key",
		                a->row[i].key, "value", a->row[i].value, "from",
		                a->row[i].from, "line", a->row[i].line);
	for (int i = 0; i < a->config->n_matches; i++)
		if (cpl_match_fits(&a->config->match[i], job, job->partition) ==
		    CPL_MAY_FIT)
			json_array_append_new(
			        open, json_integer(a->config->match[i].line));
	return json_pack("{s:s, s:o, s:o, s:s, s:s}", "config", a->config->path,
	                 "values", values, "may_hold", open, "refused",
	                 a->want.refusal.text, "note", a->want.note.text);
}

/*
 * What job_submit says of the user's profile. Users' own profiles are looked at
 * with their rights only, so where there may be some it is not known whether
 * one is missing.
 */
static void check_profile(struct answer *a)
{
	const struct cpl_config *c = a->config;
	const char *name = a->want.profile.value;
	struct cpl_error err = {""};
	char *path;

	if (a->want.refusal.text[0] || a->want.mode == CPL_MODE_OFF || !name ||
	    a->want.profile.source != CPL_FROM_USER)
		return;
	if (cpl_profile_name_check(name, &err)) {
		a->want.refusal = err;
		return;
	}
	path = c->user_profile_dir
	               ? NULL
	               : cpl_profile_path(c->profile_dir, name, &err);
	if (path && !cpl_file_exists(path) && errno == ENOENT)
		cpl_fail(c->missing_profile == CPL_REJECT ? &a->want.refusal
		                                          : &a->want.note,
		         "no profile '%s' in %s", name, c->profile_dir);
	free(path);
}

static void say(void *arg, const char *text)
{
	cmd_failf(arg, "%s", text);
}

int config_for(const struct cmd *self, const struct config_for *what, bool json)
{
	struct asked_job asked = {.user = NULL};
	struct cpl_config *config = NULL;
	struct cpl_network *net = NULL;
	struct cpl_error err = {""};
	struct answer answer = {.n = 0};
	int rc = CMD_FAILED;

	if (ask(what, &asked, &err))
		goto out;
	config = cmd_config_load(what->path, &err);
	if (!config || cpl_config_find_users(config, say, (void *)self, &err))
		goto out;
	/* The network is loaded only for the names of policies: `check` says
	 * what is wrong with it. */
	net = cpl_network_load(config->network_file, NULL);
	answer.config = config;
	cpl_resolve(config, net, &asked.job, &answer.want);
	check_profile(&answer);
	fill(&answer);
	rc = json ? cmd_print_json(self, to_json(&answer, &asked.job))
	          : print_text(&answer, &asked.job, asked.text[0] != NULL);
out:
	if (err.text[0])
		cmd_fail(self, &err);
	for (int i = 0; i < 3; i++)
		free(asked.text[i]);
	cpl_network_free(net);
	cpl_config_free(config);
	return rc;
}
