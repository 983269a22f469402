/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hostlist.h"
#include "options.h"
#include "placement/wish.h"
#include "site_files.h"

#define NAMES_SHOWN 3

void site_check_release(struct site_check *check)
{
	for (int i = 0; i < check->n_profiles; i++)
		free(check->profile[i].name);
	free(check->profile);
	cpl_network_free(check->net);
	cpl_learned_free(check->learned);
	slurm_conf_free(check->slurm);
	slurm_reader_free(check->reader);
	cpl_config_free(check->config);
}

/* cpl_config_load_all's. */
static void say_line(void *arg, const char *text)
{
	struct site_check *check = arg;

	check->say(check->arg, text);
	check->n_problems++;
}

static void problemf(struct site_check *check, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
static void problemf(struct site_check *check, const char *fmt, ...)
{
	char text[CPL_ERROR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say_line(check, text);
}

static void problem(struct site_check *check, const struct cpl_error *err)
{
	say_line(check, err->text);
}

/* Report a problem of a key's value, or of its default. */
static void key_problem(struct site_check *check, const char *key,
                        const struct cpl_error *err)
{
	int line = cpl_config_line(check->config, key);

	if (line)
		problemf(check, "%s:%d: %s: %s", check->config->path, line, key,
		         err->text);
	else
		problemf(check, "%s: %s: %s", check->config->path, key,
		         err->text);
}

/* A name may be known and yet not be for this network. */
static void check_policy(struct site_check *check, const char *policy,
                         int line, const char *what)
{
	struct cpl_error err = {""};

	if (cpl_is_none(policy) ||
	    !cpl_wish_policy(&(struct cpl_wish){0}, check->net, policy, &err))
		return;
	problemf(check, "%s:%d: %s%s", check->config->path, line, what,
	         err.text);
}

static void check_units(struct site_check *check, const char *units, int line,
                        const char *what)
{
	struct cpl_error err = {""};

	if (cpl_wish_units(&(struct cpl_wish){0}, check->net, units, &err))
		problemf(check, "%s:%d: %sKeepWhole: %s", check->config->path,
		         line, what, err.text);
}

static void check_network(struct site_check *check)
{
	const struct cpl_config *c = check->config;
	struct cpl_error err = {""};

	check->net = cpl_network_load(c->network_file, &err);
	if (!check->net) {
		key_problem(check, "NetworkFile", &err);
		return;
	}
	check->routing = cpl_routing_find_quick(check->net, c->routing, &err);
	if (!check->routing)
		key_problem(check, "Routing", &err);
	check->n_hosts = cpl_network_hosts(check->net);
	check_policy(check, c->defaults.policy,
	             cpl_config_line(c, "DefaultPolicy"), "DefaultPolicy: ");
	check_units(check, c->defaults.keep_whole,
	            cpl_config_line(c, "KeepWhole"), "");
	for (int i = 0; i < c->n_partitions; i++) {
		char what[300];

		snprintf(what, sizeof(what), "Partition=%.256s: ",
		         c->partition[i].partition);
		check_policy(check, c->partition[i].defaults.policy,
		             c->partition[i].line, what);
		check_units(check, c->partition[i].defaults.keep_whole,
		            c->partition[i].line, what);
	}
	for (int i = 0; i < c->n_matches; i++) {
		check_policy(check, c->match[i].defaults.policy,
		             c->match[i].line, "Match: DefaultPolicy: ");
		check_units(check, c->match[i].defaults.keep_whole,
		            c->match[i].line, "Match: ");
	}
}

static void check_model(struct site_check *check)
{
	const struct cpl_config *c = check->config;
	struct cpl_error err = {""};

	if (!cpl_config_learned(c))
		return;
	if (c->time_model) {
		check->learned = cpl_learned_load(c->time_model, &err);
		if (!check->learned)
			key_problem(check, "TimeModel", &err);
	} else {
		problemf(check, "%s: Objective=learned needs TimeModel",
		         c->path);
	}
}

/* 0, -1 with err. */
static int add_profile(struct site_check *check, const char *name,
                       struct cpl_error *err)
{
	struct site_profile *p = &check->profile[check->n_profiles];
	struct cpl_signature *sig =
	        cpl_profile_load(check->config->profile_dir, name, err);

	if (!sig)
		return -1;
	p->ranks = sig->ranks;
	p->n_phases = sig->n_phases;
	cpl_signature_free(sig);
	p->name = strdup(name);
	if (!p->name)
		return cpl_fail_memory(err);
	check->n_profiles++;
	return 0;
}

static void check_profiles(struct site_check *check)
{
	struct cpl_error err = {""}, one = {""};
	char **name = NULL;
	int n = cpl_profile_list(check->config->profile_dir, &name, &err);
	int bad = 0;

	if (n < 0) {
		key_problem(check, "ProfileDir", &err);
		return;
	}
	check->profile = calloc((size_t)n + 1, sizeof(*check->profile));
	for (int i = 0; i < n; i++) {
		if (!check->profile)
			cpl_fail_memory(&one);
		if ((!check->profile || add_profile(check, name[i], &one)) &&
		    !bad++)
			err = one;
		free(name[i]);
	}
	free(name);
	if (bad > 1)
		problemf(check, "%d of %d profiles are damaged; the first: %s",
		         bad, n, err.text);
	else if (bad)
		problem(check, &err);
}

/* A pattern that can match nothing but itself, though it begins as one. */
static bool is_open_pattern(const char *pattern)
{
	for (const char *s = pattern; *s; s++) {
		if (*s == '\\' && !*++s)
			return true;
		if (*s != '[')
			continue;
		s++;
		s += *s == '!' || *s == '^';
		s = *s ? strchr(s + 1, ']') : NULL;
		if (!s)
			return true;
	}
	return false;
}

static void check_pattern(struct site_check *check, int line, const char *key,
                          const char *pattern)
{
	if (pattern && is_open_pattern(pattern))
		problemf(check,
		         "%s:%d: %s=%s is not a pattern: \"[\" without "
		         "\"]\", or \"\\\" at its end",
		         check->config->path, line, key, pattern);
}

static void check_patterns(struct site_check *check, int line, const char *key,
                           const char *list)
{
	char entry[256];

	while (cpl_config_next(&list, entry, sizeof(entry)))
		check_pattern(check, line, key, entry);
}

static void check_match(struct site_check *check,
                        const struct cpl_match_rule *match)
{
	const struct cpl_config *c = check->config;
	int k = 0;

	check_pattern(check, match->line, "JobName", match->job_name);
	check_pattern(check, match->line, "Command", match->command);
	check_patterns(check, match->line, "Partition", match->partition);
	check_patterns(check, match->line, "QOS", match->qos);
	check_patterns(check, match->line, "Account", match->account);
	if (cpl_is_none(match->profile))
		return;
	while (k < check->n_profiles &&
	       strcmp(check->profile[k].name, match->profile))
		k++;
	if (k < check->n_profiles)
		return;
	problemf(check,
	         "%s:%d: Match%s%s: profile %s is not in %s, or not one that "
	         "can be used",
	         c->path, match->line, match->job_name ? " JobName=" : "",
	         match->job_name ? match->job_name : "", match->profile,
	         c->profile_dir);
}

/* slurmctld makes the directory where it is missing. */
static void check_state_dir(struct site_check *check,
                            const struct slurm_conf *slurm)
{
	const char *dir = check->config->state_dir;
	const char *name = slurm && slurm->value[SLURM_USER]
	                           ? slurm->value[SLURM_USER]
	                           : "root";
	const struct passwd *user = slurm ? getpwnam(name) : NULL;
	struct cpl_error err = {""};
	struct stat st;

	if (stat(dir, &st)) {
		if (errno != ENOENT)
			cpl_fail(&err, "%s: %s", dir, strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		cpl_fail(&err, "%s: is not a directory", dir);
	} else if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		cpl_fail(&err,
		         "%s: others than its owner may write there (mode "
		         "%03o); use chmod go-w",
		         dir, st.st_mode & 0777);
	} else if (user && user->pw_uid && st.st_uid != user->pw_uid) {
		cpl_fail(&err,
		         "%s: it belongs to user id %u, and SlurmUser=%s has "
		         "to write there",
		         dir, (unsigned)st.st_uid, name);
	}
	if (err.text[0])
		key_problem(check, "StateDir", &err);
}

static bool has_partition(const struct slurm_conf *slurm, const char *pattern)
{
	for (int i = 0; i < slurm->n_partitions; i++)
		if (!fnmatch(pattern, slurm->partition[i], 0))
			return true;
	return false;
}

static void check_partitions(struct site_check *check,
                             const struct slurm_conf *slurm)
{
	const struct cpl_config *c = check->config;

	for (int i = 0; i < c->n_partitions; i++) {
		int k = 0;

		while (k < slurm->n_partitions &&
		       strcmp(slurm->partition[k], c->partition[i].partition))
			k++;
		if (k < slurm->n_partitions)
			continue;
		problemf(check, "%s:%d: Partition=%s: %s has no such partition",
		         c->path, c->partition[i].line,
		         c->partition[i].partition, slurm->path);
	}
	for (int i = 0; i < c->n_matches; i++) {
		const char *list = c->match[i].partition;
		char entry[256];

		while (cpl_config_next(&list, entry, sizeof(entry)))
			if (!has_partition(slurm, entry))
				problemf(check,
				         "%s:%d: Partition=%s: %s has no such "
				         "partition",
				         c->path, c->match[i].line, entry,
				         slurm->path);
	}
}

/* Does one of the names, which commas or white space divide, match the
 * pattern? */
static bool has_name(const char *names, const char *pattern)
{
	static const char between[] = ", \t\r\n";
	char name[256];

	while (names += strspn(names, between), *names) {
		size_t n = strcspn(names, between);

		snprintf(name, sizeof(name), "%.*s", (int)n, names);
		if (!fnmatch(pattern, name, 0))
			return true;
		names += n;
	}
	return false;
}

/* The entries of a Match line's condition `key`, each of which has to be of a
 * name that the option gives. */
static void check_entries(struct site_check *check, int line, const char *key,
                          const char *list, const char *option,
                          const char *names)
{
	char entry[256];

	while (names && cpl_config_next(&list, entry, sizeof(entry)))
		if (!has_name(names, entry))
			problemf(check, "%s:%d: %s=%s: none that %s gives",
			         check->config->path, line, key, entry, option);
}

/* Append a name to "a, b, c ..." as long as few are shown. */
static void show(char *text, size_t size, int shown, const char *name)
{
	size_t n = strlen(text);

	if (shown < NAMES_SHOWN)
		snprintf(text + n, size - n, "%s%s", shown ? ", " : "", name);
	else if (shown == NAMES_SHOWN)
		snprintf(text + n, size - n, " ...");
}

static int compare_nodes(const struct site_check *check, const char *text,
                         struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	char only_slurm[160] = "", only_network[160] = "";
	int in_slurm = 0, in_network = 0;
	unsigned char *seen;

	if (cpl_hostlist_parse(&list, text, err))
		return cpl_fail_prefix(err, "--slurm-nodes: ");
	seen = calloc((size_t)check->net->n_nodes + 1, 1);
	if (!seen) {
		cpl_hostlist_free(&list);
		return cpl_fail_memory(err);
	}
	for (int i = 0; i < list.count; i++) {
		int node = cpl_network_node(check->net, list.name[i]);

		if (node >= 0)
			seen[node] = 1;
		else
			show(only_slurm, sizeof(only_slurm), in_slurm++,
			     list.name[i]);
	}
	for (int i = 0; i < check->net->n_nodes; i++)
		if (check->net->node_name[i] && !seen[i])
			show(only_network, sizeof(only_network), in_network++,
			     check->net->node_name[i]);
	free(seen);
	cpl_hostlist_free(&list);
	if (!in_slurm && !in_network)
		return 0;
	return cpl_fail(err,
	                "%s and Slurm differ: %d nodes in Slurm only%s%s%s, %d "
	                "in the network only%s%s%s",
	                check->config->network_file, in_slurm,
	                in_slurm ? " (" : "", only_slurm, in_slurm ? ")" : "",
	                in_network, in_network ? " (" : "", only_network,
	                in_network ? ")" : "");
}

static int load_config(struct site_check *check, const char *option)
{
	struct cpl_error err = {""}, lacks = {""};
	char *path = cmd_config_path(option, &lacks);

	if (path)
		check->config =
		        cpl_config_load_all(path, say_line, check, &err);
	else
		cpl_fail_memory(&err);
	free(path);
	if (!check->config)
		problem(check, &err);
	if (!check->config && *lacks.text)
		problem(check, &lacks);
	/* It is not known what a line that is wrong would have set. */
	return check->n_problems ? -1 : 0;
}

/* Compare the configuration with slurm.conf, as far as that can be read. */
static void compare_slurm(struct site_check *check)
{
	const char *stores = check->config->user_profile_dir;
	const struct slurm_conf *slurm;

	check->slurm = slurm_conf_load(check->config->path);
	slurm = check->slurm && check->slurm->is_read ? check->slurm : NULL;
	check_state_dir(check, slurm);
	if (!slurm)
		return;
	check_partitions(check, slurm);
	check->reader = stores ? slurm_reader_new(slurm->value[SLURM_USER]) : NULL;
	if (check->reader)
		check->homes_shut = slurm_reader_homes(
		        check->reader, stores, &check->homes, &check->shut);
}

int site_check_run(struct site_check *check, const char *path,
                   const struct slurm_has *has)
{
	struct cpl_error err = {""};

	*check = (struct site_check){.say = check->say, .arg = check->arg};
	if (load_config(check, path))
		return -1;
	check_network(check);
	check_model(check);
	check_profiles(check);
	for (int i = 0; i < check->config->n_matches; i++) {
		const struct cpl_match_rule *m = &check->config->match[i];

		check_match(check, m);
		check_entries(check, m->line, "QOS", m->qos, "--slurm-qos",
		              has->qos);
		check_entries(check, m->line, "Account", m->account,
		              "--slurm-accounts", has->accounts);
	}
	compare_slurm(check);
	if (cpl_config_find_users(check->config, say_line, check, &err))
		problem(check, &err);
	if (has->nodes && check->net &&
	    compare_nodes(check, has->nodes, &err))
		problem(check, &err);
	return check->n_problems ? -1 : 0;
}

static void say_on_stderr(void *arg, const char *text)
{
	const struct cmd *const *self = arg;

	cmd_failf(*self, "%s", text);
}

struct options {
	struct slurm_has has;
	struct config_for what;
	bool json;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"slurm-nodes", .text = &o->has.nodes},
	        {"slurm-qos", .text = &o->has.qos},
	        {"slurm-accounts", .text = &o->has.accounts},
	        {"config", .text = &o->what.path},
	        {"comm-profile", .text = &o->what.profile},
	        {"placement-policy", .text = &o->what.policy},
	        {"rank-mapping", .text = &o->what.mapping},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS);
	bool is_for;

	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "what to do? use `check [FILE]` or `for "
		                       "JOBSPEC`");
	is_for = !strcmp(argv[optind], "for");
	if (!is_for && strcmp(argv[optind], "check"))
		return cmd_usage(self,
		                 "'%.60s' is unknown; use `check [FILE]` or "
		                 "`for JOBSPEC`",
		                 argv[optind]);
	if (is_for && (o->has.nodes || o->has.qos || o->has.accounts))
		return cmd_usage(self, "for: --slurm-nodes, --slurm-qos and "
		                       "--slurm-accounts are of `check`");
	if (!is_for && (o->what.path || o->what.profile || o->what.policy ||
	                o->what.mapping))
		return cmd_usage(self, "check: --config, --comm-profile, "
		                       "--placement-policy and --rank-mapping "
		                       "are of `for`");
	if (is_for && optind + 1 == argc)
		return cmd_usage(self, "for: which job? give its number, or "
		                       "what it asks for, such as "
		                       "partition=large nodes=64");
	if (!is_for && optind + 2 < argc)
		return cmd_usage(self, "check: one file at a time");
	if (is_for) {
		o->what.word = argv + optind + 1;
		o->what.n_words = argc - optind - 1;
	} else {
		o->what.path = argv[optind + 1];
	}
	return CMD_OK;
}

static int run_config(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.json = false};
	struct site_check check = {.say = say_on_stderr, .arg = &self};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (o.what.word)
		return config_for(self, &o.what, o.json);
	if (site_check_run(&check, o.what.path, &o.has))
		rc = CMD_FAILED;
	else if (o.json)
		rc = cmd_print_json(self, site_check_json(&check));
	else
		rc = site_check_print(&check);
	site_check_release(&check);
	return rc;
}

const struct cmd cmd_config = {"config", run_config};
