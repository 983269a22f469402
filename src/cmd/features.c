/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace features`: what is known of a job on placements, as a table. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "job_inputs.h"
#include "learn/features.h"
#include "mapping/mapping.h"
#include "options.h"
#include "simulate/simulate.h"

/* Of links, in seconds in which they stood still, from the level packet. */
static const char *const stall_name[] = {"stall", "stall_ao", "stall_to",
                                         "stall_max", "stalls_ao"};
#define STALLS ((int)(sizeof(stall_name) / sizeof(*stall_name)))

struct features {
	const char *network, *signature, *phase, *routing, *placements, *level;
	const char *profile_dir, *output, *mappings;
	const char **rank_file;
	int n_rank_files;
	int64_t ranks_per_node, seeds, seed;
	bool first_links;
	struct cpl_network *net;
	struct cpl_signature *sig;
	struct cpl_comm *comm;
	const struct cpl_phase *of; /* its phases, or one of them once */
	struct cpl_phase once;
	int n_phases, n_nodes;
	unsigned char *free;
	const struct cpl_routing *by_flow;
	struct cpl_sim_options simulate; /* level NULL: not */
	struct cpl_comm *graph;          /* of mappings */
	int *node;                       /* [ranks], n_nodes or fewer used */
	int *rank_node;                  /* [ranks] */
	int *slots;                      /* [n_nodes] */
	int *rank_host;                  /* [ranks], of node[] */
	bool in_order;                   /* rank_host is not used */
	FILE *out;
};

/* Keeps the file for later. */
static int take_rank_file(const struct cmd *self, void *into,
                          const char *option, const char *value)
{
	struct features *f = into;

	if (cpl_array_grow(&f->rank_file, f->n_rank_files,
	                   sizeof(*f->rank_file), NULL))
		return cmd_failf(self, "%s: out of memory", option);
	f->rank_file[f->n_rank_files++] = value;
	return CMD_OK;
}

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
	        {"mappings", .text = &f->mappings},
	        {"rank-file", .take = take_rank_file, .into = f},
	        {"seeds", .integer = &f->seeds, .low = 1, .high = 1000000},
	        {"seed", .integer = &f->seed, .low = 0, .high = INT64_MAX / 2},
	        {"level", .text = &f->level},
	        {"first-links", .flag = &f->first_links},
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
	        .router_latency = f->net->router_latency,
	        CPL_SIM_DEFAULTS,
	        .seed = (uint64_t)f->seed};
	cpl_sim_set_latencies(&f->simulate, f->net->class_latency);
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
	f->node = malloc((size_t)f->sig->ranks * sizeof(int));
	f->rank_node = malloc((size_t)f->sig->ranks * sizeof(int));
	f->rank_host = malloc((size_t)f->sig->ranks * sizeof(int));
	f->slots = malloc((size_t)f->n_nodes * sizeof(int));
	f->graph = f->mappings ? cpl_comm_symmetric(f->comm, err) : NULL;
	if (!f->free || !f->node || !f->rank_node || !f->rank_host ||
	    !f->slots || (f->mappings && !f->graph))
		return cpl_fail_memory(err);
	for (int i = 0; i < f->n_nodes; i++)
		f->slots[i] = (int)f->ranks_per_node;
	f->slots[f->n_nodes - 1] =
	        f->sig->ranks - (f->n_nodes - 1) * (int)f->ranks_per_node;
	if (f->placements && cpl_placement_check_request(
	            &(struct cpl_placement_request){.net = f->net,
	                                            .free = f->free,
	                                            .n_nodes_wanted =
	                                                    f->n_nodes},
	            err))
		return -1;
	return find_level(f, err);
}

static void write_head(const struct features *f)
{
	fputs("network,signature,placement", f->out);
	for (int i = 0; i < CPL_FEATURES; i++)
		fprintf(f->out, ",%s", cpl_feature_name[i]);
	if (f->first_links)
		fputs(",first_max", f->out);
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
		f->rank_node[i] = f->node[f->in_order ? i / f->ranks_per_node
		                                      : f->rank_host[i]];
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
	        .rank_host = f->in_order ? NULL : f->rank_host,
	        .node = f->node};
	double value[CPL_FEATURES], first = 0;

	if (cpl_features(&job, value, err) ||
	    (f->first_links && cpl_feature_first_links(&job, &first, err)))
		return -1;
	cmd_write_field(f->out, f->net->name);
	cmd_write_field(f->out, f->sig->name);
	cmd_write_field(f->out, placement);
	for (int i = 0; i < CPL_FEATURES; i++)
		fprintf(f->out, "%s%.17g", i ? "," : "", value[i]);
	if (f->first_links)
		fprintf(f->out, ",%.17g", first);
	if (f->simulate.level && simulate(f, err))
		return -1;
	putc('\n', f->out);
	return 0;
}

/* Write a row of the ranks on these nodes as a mapper's own answer has them. 1 with
 * err: it cannot order them. */
static int write_mapped(struct features *f, const struct cpl_mapper *mapper,
                        const char *name, const char *placement,
                        struct cpl_error *err)
{
	const struct cpl_map_request req = {.net = f->net,
	                                    .routing = f->by_flow,
	                                    .comm = f->comm,
	                                    .graph = f->graph,
	                                    .n_hosts = f->n_nodes,
	                                    .host = f->node,
	                                    .slots = f->slots,
	                                    .option = cpl_mapper_option(name),
	                                    .seed = (uint64_t)f->seed};
	char label[512];

	if (cpl_map_run(mapper, &req, f->rank_host, err)) {
		cpl_fail_prefix(err, "mapping %.60s: ", name);
		return 1;
	}
	snprintf(label, sizeof(label), "%.250s+%.200s", placement, name);
	f->in_order = false;
	return write_row(f, label, err);
}

/* Write a row for each mapper that can order this job's ranks. */
static int write_all_mapped(struct features *f, const char *placement,
                            struct cpl_error *err)
{
	const struct cpl_mapper *mapper;

	for (int i = 0; (mapper = cpl_mapper_at(i)); i++)
		if (!mapper->endless &&
		    write_mapped(f, mapper, mapper->name, placement, err) < 0)
			return -1;
	return 0;
}

/* Write a row of the nodes, or one for each of --mappings. */
static int write_orders(struct features *f, const char *placement,
                        struct cpl_error *err)
{
	char *names, *next;
	int rc = 0;

	f->in_order = true;
	if (!f->mappings)
		return write_row(f, placement, err);
	if (!strcmp(f->mappings, "all"))
		return write_all_mapped(f, placement, err);
	names = next = strdup(f->mappings);
	if (!names)
		return cpl_fail_memory(err);
	for (char *name; !rc && (name = strsep(&next, ","));)
		rc = write_mapped(f, cpl_mapper_find(name, NULL), name,
		                  placement, err);
	free(names);
	return rc ? -1 : 0;
}

/* Write a row of ranks on the hosts that a file lists, one for each rank. */
static int write_rank_file(struct features *f, const char *path,
                           struct cpl_error *err)
{
	int n = 0, rc = -1;
	int *node = cmd_hosts(f->net, path, NULL, path, &n, err);

	if (node && n != f->sig->ranks)
		cpl_fail(err, "%s: has hosts of %d ranks, the signature %d "
		              "ranks", path, n, f->sig->ranks);
	else if (node)
		rc = cmd_rank_hosts(f->net, node, n, f->node, f->rank_host,
		                    err);
	free(node);
	if (rc < 0)
		return -1;
	f->in_order = false;
	return write_row(f, path, err);
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
		if (write_orders(f, label, err))
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

static int check_mapping(struct features *f, const char *name,
                         struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(name, err);

	(void)f;
	if (!mapper)
		return cpl_fail_prefix(err, "--mappings: ");
	return mapper->endless ? cpl_fail(err,
	                                  "--mappings: %s searches for as "
	                                  "long as it may",
	                                  mapper->name)
	                       : 0;
}

/* Do that with each name of a list. */
static int each_name(struct features *f, const char *list,
                     int (*what)(struct features *f, const char *name,
                                 struct cpl_error *err),
                     struct cpl_error *err)
{
	char *names = strdup(list), *next = names;
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
	bool all = f->placements && !strcmp(f->placements, "all");
	bool every = !f->mappings || !strcmp(f->mappings, "all");

	/* Nothing is printed where a name is wrong. */
	if ((f->placements && !all &&
	     each_name(f, f->placements, check_name, err)) ||
	    (!every && each_name(f, f->mappings, check_mapping, err)))
		return -1;
	write_head(f);
	for (int i = 0; i < f->n_rank_files; i++)
		if (write_rank_file(f, f->rank_file[i], err))
			return -1;
	if (!f->placements)
		return 0;
	return all ? write_all(f, err)
	           : each_name(f, f->placements, write_named, err);
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
	struct features f = {.ranks_per_node = 1,
	                     .seeds = 4,
	                     .seed = 1};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &f);

	if (!f.placements && !f.n_rank_files)
		f.placements = "all";
	if (rc == CMD_OK && (open_all(&f, &err) || write_file(&f, &err)))
		rc = cmd_fail(self, &err);
	cpl_comm_free(f.graph);
	cpl_free_all(f.slots, f.rank_host, f.rank_file, f.node, f.rank_node,
	             f.free);
	cpl_comm_free(f.comm);
	cpl_signature_free(f.sig);
	cpl_network_free(f.net);
	return rc;
}

const struct cmd cmd_features = {"features", run_features};
