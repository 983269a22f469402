/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "mapping/mapping.h"
#include "mapping/rank_order.h"
#include "options.h"
#include "placement/placement.h"
#include "site/record.h"
#include "site/sample.h"
#include "site/state.h"
#include "site_files.h"

/* The others are enum cpl_rank_file, from 1 on. */
#define FORMAT_TEXT 0

struct options {
	const char *state_dir, *config, *state_out, *html;
	int format;
	bool json;
	int64_t job;
	const char *shown_as; /* instead: "17_3", "17+1" */
	int64_t wait;         /* seconds for the record to come, -1: default */
};

/* The controller writes a record after the decision; the job may be running by
 * then. */
#define OWN_JOB_WAIT_S 10
#define POLL_NS 20000000L

/* Is this process part of the job? */
static bool is_own_job(const struct options *o)
{
	const char *text = getenv("SLURM_JOB_ID");

	return text && !o->shown_as && *text &&
	       strtoll(text, NULL, 10) == o->job;
}

/* "17_3" of an array, "17+1" of a heterogeneous job? */
static bool is_shown_id(const char *text)
{
	static const char digits[] = "0123456789";
	size_t first = strspn(text, digits), second;

	if (!first || (text[first] != '_' && text[first] != '+'))
		return false;
	second = strspn(text + first + 1, digits);
	return second && !text[first + 1 + second];
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	static const char *const formats[] = {
	        "text",
	        [1 + CPL_RANK_HOSTFILE] = "hostfile",
	        [1 + CPL_RANK_RANKFILE] = "rankfile",
	        [1 + CPL_RANK_MACHINEFILE] = "machinefile",
	        [1 + CPL_RANK_MPICH] = "mpich",
	        [1 + CPL_RANK_FILES] = NULL,
	};
	const struct cmd_option table[] = {
	        {"json", .flag = &o->json},
	        {"format", .choice = &o->format, .choices = formats},
	        {"state-dir", .text = &o->state_dir},
	        {"config", .text = &o->config},
	        {"state", .text = &o->state_out},
	        {"html", .text = &o->html},
	        {"wait", .integer = &o->wait, .low = 0, .high = 3600},
	        {0},
	};
	struct cpl_error err = {{0}};
	int rc;

	o->wait = -1;
	rc = cmd_options(self, argc, argv, table, CMD_WORDS);
	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "which job? give its id");
	if (optind + 1 < argc)
		return cmd_usage(self, "one job at a time");
	if (is_shown_id(argv[optind]))
		o->shown_as = argv[optind];
	else if (cmd_int("JOBID", argv[optind], 1, UINT32_MAX, &o->job, &err))
		return cmd_fail(self, &err);
	if (o->wait < 0)
		o->wait = is_own_job(o) ? OWN_JOB_WAIT_S : 0;
	if (o->json + (o->format != FORMAT_TEXT) + (o->html != NULL) > 1)
		return cmd_usage(self, "--json, --format and --html exclude "
		                       "each other");
	return CMD_OK;
}

/* A record's rank plan, one rank after the other. */
static int print_ranks(const struct cmd *self, const struct cpl_record *r,
                       int format)
{
	if (!r->ranks || r->outcome != CPL_OUTCOME_PLACED)
		return cmd_failf(self,
		                 "job %" PRId64 " has no rank order of its "
		                 "own (%s%s%s); Slurm's holds",
		                 r->job, cpl_outcome_name(r->outcome),
		                 *r->reason ? ": " : "", r->reason);
	if (cpl_rank_file_write(stdout, (enum cpl_rank_file)(format - 1),
	                        r->host, r->n_hosts, r->rank_host, r->ranks,
	                        NULL))
		return cmd_fail_memory(self);
	return CMD_OK;
}

static int print_json(const struct cmd *self, const struct cpl_record *r,
                      bool ended, const char *replay)
{
	struct cpl_error err = {{0}};
	json_t *root = cpl_record_to_json(r, &err), *ranks;

	if (!root)
		return cmd_fail(self, &err);
	ranks = json_array();
	for (int i = 0; i < r->ranks; i++)
		json_array_append_new(ranks,
		                      json_string(r->host[r->rank_host[i]]));
	if (json_object_set_new(root, "rank_to_host", ranks) ||
	    json_object_set_new(root, "ended", json_boolean(ended)) ||
	    (replay &&
	     json_object_set_new(root, "replay", json_string(replay)))) {
		json_decref(root);
		return cmd_fail_memory(self);
	}
	return cmd_print_json(self, root);
}

static int add_option(FILE *to, const char *name, const char *value)
{
	char *quoted;

	if (!value || !*value)
		return 0;
	quoted = cmd_shell_quote(value);
	if (!quoted)
		return -1;
	fprintf(to, " %s %s", name, quoted);
	free(quoted);
	return 0;
}

/* What rank order candidates were judged with: a mapper's, blocks, or NULL for
 * what `place` does by itself. */
static const char *order_of(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (r->candidate[i].mapped)
			return r->mapping;
	return (r->profile || r->volume_profile > 0) &&
	                       cpl_placement_is_search(r->policy_asked)
	               ? cpl_mapper_linear.name
	               : NULL;
}

/* The stock nodes, if they were a candidate, or NULL. */
static const char *judged_stock(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (!strcmp(r->candidate[i].policy, cpl_placement_stock.name))
			return r->stock_hosts;
	return NULL;
}

/* The file of the profile, as far as it is known where profiles are; to
 * free(). */
static char *profile_of(const struct cpl_record *r,
                        const struct cpl_config *config)
{
	const struct cpl_profile_dirs dirs = cmd_profile_dirs(config, NULL);
	const struct cpl_profile_wanted wanted = cpl_record_profile(r);

	return config ? cpl_profiles_file(&dirs, &wanted, NULL)
	              : strdup(r->profile);
}

/*
 * The `commplace place` command line that repeats the decision, for the caller
 * to free; NULL when nothing was decided or memory is out. config may be NULL
 * (names are then not turned into paths). state is the file for --running.
 */
static char *replay_of(const struct cpl_record *r,
                       const struct cpl_config *config, const char *state_dir,
                       const char *state)
{
	char *text = NULL, *signature = NULL, *sample = NULL;
	size_t size;
	FILE *to;
	int bad;

	/* A profile that was rescaled is in no file, nor is a sample that was
	 * not kept. */
	if ((r->measured && !r->sample) || !r->network_file ||
	    !*r->network_file || !r->policy_asked || !r->n_candidates ||
	    r->recorded_ranks)
		return NULL;
	to = open_memstream(&text, &size);
	if (!to)
		return NULL;
	if (r->volume_profile <= 0 && r->profile)
		signature = profile_of(r, config);
	if (r->sample)
		sample = cpl_sample_path(state_dir, r->sample, NULL);
	fprintf(to, "commplace place");
	bad = add_option(to, "--network", r->network_file);
	bad |= add_option(to, "--signature", signature);
	fprintf(to, " --nodes %d", r->nodes_wanted);
	if (r->volume_profile > 0)
		fprintf(to, " --volume %.17g", r->volume_profile);
	else
		fprintf(to, " --ranks-per-node %d", r->ranks_per_node);
	bad |= add_option(to, "--policy", r->policy_asked);
	bad |= add_option(to, "--rank-mapping", order_of(r));
	if (cpl_record_order(r) != CPL_ORDER_REACHES)
		bad |= add_option(to, "--order-reaches", r->order_reaches);
	bad |= add_option(to, "--stock", judged_stock(r));
	bad |= add_option(to, "--objective", r->objective);
	bad |= add_option(to, "--time-model", r->time_model);
	if (r->own_weight > 0 || r->others_weight > 0)
		fprintf(to, " --own-weight %.0f --others-weight %.0f",
		        r->own_weight, r->others_weight);
	bad |= add_option(to, "--keep-whole", r->keep_whole);
	if (r->keep_whole)
		fprintf(to, " --keep-whole-price %d", r->keep_price);
	/* The network's own routing is what candidates are judged by in the
	 * end. */
	if (!r->stated_routing)
		bad |= add_option(to, "--routing", r->routing);
	if (config)
		fprintf(to, " --seed %" PRIu64, config->seed);
	bad |= add_option(to, "--free", r->free_hosts);
	bad |= add_option(to, "--require", r->required_hosts);
	bad |= add_option(to, "--rules", r->rules);
	bad |= add_option(to, "--units", r->units);
	if (r->n_background)
		bad |= add_option(to, "--running",
		                  state ? state : EXPLAIN_STATE);
	bad |= add_option(to, "--sample", sample);
	bad |= r->sample && !sample;
	cpl_free_all(signature, sample);
	if (fclose(to) || bad) {
		free(text);
		return NULL;
	}
	return text;
}

/* The jobs that were background when the decision was made. */
static int write_state(const struct cmd *self, const struct cpl_record *r,
                       const struct cpl_config *config, const char *state_dir,
                       const char *path)
{
	struct cpl_error err = {{0}};
	struct cpl_state state = {0};
	int rc = CMD_FAILED;

	if (cpl_record_background(r, state_dir, &state, &err) ||
	    cmd_write_state(&state, config, path,
	                    cpl_record_file_mode(state_dir), &err))
		cmd_fail(self, &err);
	else
		rc = CMD_OK;
	cpl_state_free(&state);
	return rc;
}

static struct cpl_record *find(const struct options *o, const char *state_dir,
                               bool *ended, struct cpl_error *err)
{
	return o->shown_as ? cpl_record_find_shown(state_dir, o->shown_as,
	                                           ended, err)
	                   : cpl_record_find(state_dir, o->job, ended, err);
}

/* Read the record, and wait for it where it is not there yet. */
static struct cpl_record *await_record(const struct options *o,
                                       const char *state_dir, bool *ended,
                                       struct cpl_error *err)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int64_t polls = o->wait * (1000000000L / POLL_NS);
	struct cpl_record *record = find(o, state_dir, ended, err);

	while (!record && polls-- > 0) {
		nanosleep(&pause, NULL);
		record = find(o, state_dir, ended, err);
	}
	return record;
}

static int write_html(const struct cmd *self, const struct explained *e,
                      const char *state_dir, const char *path)
{
	struct cpl_error err = {""};
	struct cpl_file_writer *w = cpl_file_open_atomic(path, &err);
	int rc = -1;

	if (w && explain_html(e, cpl_file_stream(w), &err))
		cpl_file_abandon(w);
	else if (w)
		rc = cpl_file_commit(w, cpl_record_file_mode(state_dir), &err);
	return rc ? cmd_fail(self, &err) : CMD_OK;
}

static int run_explain(const struct cmd *self, int argc, char **argv)
{
	struct options o = {0};
	struct cpl_error err = {{0}};
	struct cpl_config *config = NULL;
	struct cpl_record *record = NULL;
	char *replay = NULL;
	const char *state_dir;
	bool ended = false;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	/* With --state-dir the configuration only helps to spell the replay. */
	state_dir = cmd_state_dir(o.state_dir, o.config, &config, &err);
	if (!state_dir)
		return cmd_fail(self, &err);
	record = await_record(&o, state_dir, &ended, &err);
	if (!record) {
		rc = cmd_fail(self, &err);
		goto out;
	}
	if (o.state_out) {
		rc = write_state(self, record, config, state_dir, o.state_out);
		if (rc != CMD_OK)
			goto out;
	}
	replay = replay_of(record, config, state_dir, o.state_out);
	struct explained e = {record,      ended,     replay,
	                      o.state_out, state_dir, config};

	if (o.html)
		rc = write_html(self, &e, state_dir, o.html);
	else if (o.json)
		rc = print_json(self, record, ended, replay);
	else if (o.format != FORMAT_TEXT)
		rc = print_ranks(self, record, o.format);
	else
		rc = explain_text(self, &e);
out:
	free(replay);
	cpl_record_free(record);
	cpl_config_free(config);
	return rc;
}

const struct cmd cmd_explain = {"explain", run_explain};
