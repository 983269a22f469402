/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace features`: what is known of a job on placements, as a table. */
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "job_inputs.h"
#include "learn/features.h"
#include "options.h"
#include "simulate/simulate.h"

/* Of links, in seconds in which they stood still, from the level packet. */
static const char *const stall_name[] = {"stall", "stall_ao", "stall_to",
                                         "stall_max", "stalls_ao"};
#define STALLS ((int)(sizeof(stall_name) / sizeof(*stall_name)))

struct features {
	const char *network, *signature, *phase, *routing, *placements, *level;
	const char *profile_dir, *output;
	int64_t ranks_per_node, seeds, seed;
	struct cpl_network *net;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	const struct cpl_phase *of; /* its phases, or one of them once */
	struct cpl_phase once;
	int n_phases, n_nodes;
	unsigned char *free;
	const struct cpl_routing *by_flow;
	struct cpl_sim_options simulate; /* level NULL: not */
	int *node;                       /* [n_nodes] */
	int *rank_node;                  /* [ranks] */
	FILE *out;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct features *f)
{
	const struct cmd_option table[] = {
	        {"network", .text = &f->network, .needed = true},
	        {"signature", .text = &f->signature, .needed = true},
	        {"phase", .text = &f->phase},
	        {"ranks-per-node", .integer = &f->ranks_per_node, .low = 1,
	         .high = 65536},
	        {"routing", .text = &f->routing},
	        {"placements", .text = &f->placements},
	        {"seeds", .integer = &f->seeds, .low = 1, .high = 1000000},
	        {"seed", .integer = &f->seed, .low = 0, .high = INT64_MAX / 2},
	        {"level", .text = &f->level},
	        {"profile-dir", .text = &f->profile_dir},
	        {"output", .text = &f->output},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_NO_WORDS);
}

/* The phases that count: all, or one of them, once. */
static int find_phases(struct features *f, struct cpl_error *err)
{
	f->sig = cmd_load_signature(f->signature, f->profile_dir, err);
	f->comm = f->sig ? cmd_comm(f->sig, f->phase, err) : NULL;
	if (!f->comm)
		return -1;
	f->of = f->sig->phase;
	f->n_phases = f->sig->n_phases;
	for (int i = 0; f->phase && i < f->sig->n_phases; i++)
		if (!strcmp(f->sig->phase[i].name, f->phase)) {
			f->once = f->sig->phase[i];
			f->once.weight = 1;
			f->of = &f->once;
			f->n_phases = 1;
			break;
		}
	return 0;
}

static int find_level(struct features *f, struct cpl_error *err)
{
	if (!f->level)
		return 0;
	f->simulate = (struct cpl_sim_options){
	        .net = f->net,
	        .level = (const void *)cpl_registry_find(
	                &cpl_sim_levels, f->level, strlen(f->level), NULL,
	                NULL),
	        .routing = f->by_flow,
	        .choice = &cpl_sim_static,
	        CPL_SIM_DEFAULTS,
	        .seed = (uint64_t)f->seed};
	return f->simulate.level
	               ? 0
	               : cpl_fail(err, "--level: '%.60s' is neither flow nor "
	                               "packet", f->level);
}

static int open_all(struct features *f, struct cpl_error *err)
{
	const struct cpl_routing *quick;

	f->net = cpl_network_load(f->network, err);
	if (!f->net || find_phases(f, err))
		return -1;
	quick = cpl_routing_find_quick(f->net, f->routing, err);
	if (!quick)
		return cpl_fail_prefix(
		        err, "%s: ", f->routing ? "--routing" : f->network);
	f->by_flow = cpl_routing_by_flow(f->net, quick);
	f->free = cmd_usable_nodes(f->net, err);
	f->n_nodes = (int)((f->sig->ranks - 1) / f->ranks_per_node + 1);
	f->node = malloc((size_t)f->n_nodes * sizeof(int));
	f->rank_node = malloc((size_t)f->sig->ranks * sizeof(int));
	if (!f->free || !f->node || !f->rank_node)
		return cpl_fail_memory(err);
	if (cpl_placement_check_request(
	            &(struct cpl_placement_request){.net = f->net,
	                                            .free = f->free,
	                                            .n_nodes_wanted =
	                                                    f->n_nodes},
	            err))
		return -1;
	return find_level(f, err);
}

/* Commas would be columns. */
static void write_text(FILE *out, const char *text)
{
	char buffer[CPL_ERROR_MAX];

	for (const char *c = cmd_printable(text, buffer, sizeof(buffer)); *c;
	     c++)
		putc(*c == ',' ? '_' : *c, out);
	putc(',', out);
}

static void write_head(const struct features *f)
{
	fputs("network,signature,placement", f->out);
	for (int i = 0; i < CPL_FEATURES; i++)
		fprintf(f->out, ",%s", cpl_feature_name[i]);
	for (int i = 0; f->simulate.level == &cpl_sim_packet && i < STALLS; i++)
		fprintf(f->out, ",%s", stall_name[i]);
	fprintf(f->out, "%s\n", f->simulate.level ? ",seconds" : "");
}

static int simulate(struct features *f, struct cpl_error *err)
{
	struct cpl_sim_job job = {.sig = f->sig,
	                          .phase = f->phase,
	                          .rank_node = f->rank_node};
	struct cpl_feature_five five;
	struct cpl_sim_result r;
	int rc;

	for (int i = 0; i < f->sig->ranks; i++)
		f->rank_node[i] = f->node[i / f->ranks_per_node];
	rc = cpl_simulate(&f->simulate, &job, 1, &r, err);
	if (!rc && f->simulate.level == &cpl_sim_packet) {
		rc = cpl_feature_five(r.stalled.link, f->net->n_links, &five,
		                      err);
		fprintf(f->out, ",%.17g,%.17g,%.17g,%.17g,%.17g", five.mean,
		        five.mean_ao, five.mean_to, five.max, five.n_ao);
	}
	if (!rc)
		fprintf(f->out, ",%.17g",
		        f->phase ? r.job->end - r.job->start : r.job->run);
	cpl_sim_result_free(&r);
	return rc;
}

static int write_row(struct features *f, const char *placement,
                     struct cpl_error *err)
{
	const struct cpl_feature_job job = {
	        .net = f->net,
	        .routing = f->by_flow,
	        .comm = f->comm,
	        .phase = f->of,
	        .n_phases = f->n_phases,
	        .ranks_per_node = (int)f->ranks_per_node,
	        .node = f->node};
	double value[CPL_FEATURES];

	if (cpl_features(&job, value, err))
		return -1;
	write_text(f->out, f->net->name);
	write_text(f->out, f->sig->name);
	fputs(placement, f->out);
	for (int i = 0; i < CPL_FEATURES; i++)
		fprintf(f->out, ",%.17g", value[i]);
	if (f->simulate.level && simulate(f, err))
		return -1;
	putc('\n', f->out);
	return 0;
}

/* Write a policy's placement, or one for each seed. */
static int write_policy(struct features *f, const struct cpl_wish *wish,
                        const char *name, struct cpl_error *err)
{
	const struct cpl_placement_policy *policy = wish->policy;
	bool random = policy->flags & CPL_PLACEMENT_RANDOM;
	struct cpl_placement_request req = {.net = f->net,
	                                    .free = f->free,
	                                    .n_nodes_wanted = f->n_nodes,
	                                    .option = wish->option};

	for (int64_t i = 0; i < (random ? f->seeds : 1); i++) {
		char label[256];

		req.seed = (uint64_t)(f->seed + i);
		if (policy->place(&req, f->node, err))
			return cpl_fail_prefix(err,
			                       "placement %s: ", policy->name);
		snprintf(label, sizeof(label), random ? "%.200s:%lld" : "%.200s",
		         name, (long long)req.seed);
		if (write_row(f, label, err))
			return -1;
	}
	return 0;
}

static int check_name(struct features *f, const char *name,
                      struct cpl_error *err)
{
	struct cpl_wish wish = {0};

	if (cpl_wish_policy(&wish, f->net, name, err))
		return cpl_fail_prefix(err, "--placements: ");
	return cpl_wish_searches(&wish)
	               ? cpl_fail(err,
	                          "--placements: %s is a search among the "
	                          "others",
	                          wish.policy->name)
	               : 0;
}

static int write_named(struct features *f, const char *name,
                       struct cpl_error *err)
{
	struct cpl_wish wish = {0};

	return cpl_wish_policy(&wish, f->net, name, err)
	               ? -1
	               : write_policy(f, &wish, name, err);
}

/* Write the placements of each name of --placements. */
static int each_name(struct features *f,
                     int (*what)(struct features *f, const char *name,
                                 struct cpl_error *err),
                     struct cpl_error *err)
{
	char *names = strdup(f->placements), *next = names;
	int rc = names ? 0 : cpl_fail_memory(err);

	for (char *name; !rc && (name = strsep(&next, ","));)
		rc = what(f, name, err);
	free(names);
	return rc;
}

/* Write the placements of all policies that the network has. */
static int write_all(struct features *f, struct cpl_error *err)
{
	const struct cpl_placement_policy *policy;

	for (int i = 0; (policy = cpl_placement_at(i)); i++)
		if (!(policy->flags &
		      (CPL_PLACEMENT_SEARCH | CPL_PLACEMENT_CLASS)) &&
		    cpl_placement_takes(policy, f->net->type) &&
		    write_policy(f, &(struct cpl_wish){.policy = policy},
		                 policy->name, err))
			return -1;
	return 0;
}

static int write_rows(struct features *f, struct cpl_error *err)
{
	bool all = !strcmp(f->placements, "all");

	/* Nothing is printed where a name is wrong. */
	if (!all && each_name(f, check_name, err))
		return -1;
	write_head(f);
	return all ? write_all(f, err) : each_name(f, write_named, err);
}

/* Write all, or nothing where one of them fails. */
static int print_rows(struct features *f, struct cpl_error *err)
{
	size_t size;
	char *text = NULL;
	int rc;

	f->out = open_memstream(&text, &size);
	if (!f->out)
		return cpl_fail_memory(err);
	rc = write_rows(f, err);
	if (fclose(f->out) && !rc)
		rc = cpl_fail_memory(err);
	if (!rc)
		fwrite(text, 1, size, stdout);
	free(text);
	return rc;
}

static int write_file(struct features *f, struct cpl_error *err)
{
	struct cpl_file_writer *writer;

	if (!f->output)
		return print_rows(f, err);
	writer = cpl_file_open_atomic(f->output, err);
	if (!writer)
		return -1;
	f->out = cpl_file_stream(writer);
	if (!write_rows(f, err))
		return cpl_file_commit(writer, 0644, err);
	cpl_file_abandon(writer);
	return -1;
}

static int run_features(const struct cmd *self, int argc, char **argv)
{
	struct features f = {.placements = "all",
	                     .ranks_per_node = 1,
	                     .seeds = 4,
	                     .seed = 1};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &f);

	if (rc == CMD_OK && (open_all(&f, &err) || write_file(&f, &err)))
		rc = cmd_fail(self, &err);
	free(f.node);
	free(f.rank_node);
	free(f.free);
	cpl_comm_free(f.comm);
	cpl_signature_free(f.sig);
	cpl_network_free(f.net);
	return rc;
}

const struct cmd cmd_features = {"features", run_features};
