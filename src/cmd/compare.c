/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"

#define MAX_SEEDS 10000

struct options {
	const char *placements, *routings, *time_model;
	bool together, classes;
};

/* Signatures without --ranks-per-node have that of the only one that has it,
 * 1 where none has. */
static int fill_ranks_per_node(const struct cmd *self, struct job_list *list)
{
	int given = 0, value = 1;

	for (int i = 0; i < list->n; i++)
		if (list->job[i].ranks_per_node) {
			value = list->job[i].ranks_per_node;
			given++;
		}
	for (int i = 0; i < list->n; i++) {
		if (list->job[i].ranks_per_node)
			continue;
		if (given > 1)
			return cmd_usage(self,
			                 "--ranks-per-node: %d signatures have "
			                 "one of their own, but not '%.60s'; "
			                 "one before the first holds for all",
			                 given, list->job[i].signature);
		list->job[i].ranks_per_node = value;
	}
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o, struct compare *c)
{
	const struct cmd_option table[] = {
	        JOB_LIST_OPTIONS(&c->jobs),
	        {"workload", .flag = &o->together},
	        {"placements", .text = &o->placements},
	        {"routings", .text = &o->routings},
	        {"seeds", .integer = &c->n_seeds, .low = 1, .high = MAX_SEEDS},
	        {"classes", .flag = &o->classes},
	        {"time-model", .text = &o->time_model},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	if (!c->jobs.n)
		return cmd_usage(self, "--signature is missing");
	return fill_ranks_per_node(self, &c->jobs);
}

/* What --placements or --routings chooses from. */
struct compare_choice {
	const char *option;
	const struct cpl_registry *names;
	/* Is it among "all"? */
	bool (*in_all)(const struct cpl_network *net,
	               const struct cpl_entry *entry);
	const struct cpl_entry *(*find)(const struct cpl_network *net,
	                                const char *name,
	                                struct cpl_error *err);
};

static bool placement_in_all(const struct cpl_network *net,
                             const struct cpl_entry *entry)
{
	const struct cpl_placement_policy *policy = (const void *)entry;

	return policy->place && !(policy->flags & CPL_PLACEMENT_CLASS) &&
	       cpl_placement_takes(policy, net->type);
}

static const struct cpl_entry *find_placement(const struct cpl_network *net,
                                              const char *name,
                                              struct cpl_error *err)
{
	const struct cpl_placement_policy *policy =
	        cpl_placement_find(net->type, name, err);

	if (!policy || !policy->check)
		return (const void *)policy;
	cpl_fail(err, "placement policy '%.64s' cannot be compared; see "
	              "`commplace place`",
	         name);
	return NULL;
}

static bool routing_in_all(const struct cpl_network *net,
                           const struct cpl_entry *entry)
{
	return cpl_routing_takes((const void *)entry, net) &&
	       !(entry->flags & CPL_ROUTING_SAMPLED);
}

static const struct cpl_entry *find_routing(const struct cpl_network *net,
                                            const char *name,
                                            struct cpl_error *err)
{
	return (const void *)cpl_routing_find(net, name, err);
}

static const struct compare_choice placements = {
        "--placements", &cpl_placements, placement_in_all, find_placement};
static const struct compare_choice routings = {"--routings", &cpl_routings,
                                               routing_in_all, find_routing};

static void add_once(const struct cpl_entry **list, int *n,
                     const struct cpl_entry *entry)
{
	for (int i = 0; i < *n; i++)
		if (list[i] == entry)
			return;
	list[(*n)++] = entry;
}

/* One name of the list, or "all". */
static int choose_one(const struct compare_choice *from,
                      const struct cpl_network *net, const char *name,
                      const struct cpl_entry **list, int *n,
                      struct cpl_error *err)
{
	const struct cpl_entry *entry;

	if (!strcasecmp(name, "all")) {
		for (int i = 0; (entry = cpl_registry_at(from->names, i)); i++)
			if (from->in_all(net, entry))
				add_once(list, n, entry);
		return 0;
	}
	entry = from->find(net, name, err);
	if (!entry)
		return cpl_fail_prefix(err, "%s: ", from->option);
	add_once(list, n, entry);
	return 0;
}

/* What a comma-separated list names, each once, for the caller to free; NULL
 * with err. */
static const struct cpl_entry **choose(const struct compare_choice *from,
                                       const struct cpl_network *net,
                                       const char *names, int *n,
                                       struct cpl_error *err)
{
	char *text = strdup(names), *rest = text, *name;
	const struct cpl_entry **list;
	int most = 0, rc = 0;

	while (cpl_registry_at(from->names, most))
		most++;
	list = calloc((size_t)most, sizeof(*list));
	if (!text || !list)
		rc = cpl_fail_memory(err);
	while (!rc && (name = strsep(&rest, ",")))
		rc = *name ? choose_one(from, net, name, list, n, err)
		           : cpl_fail(err,
		                      "%s: '%.60s' has an empty name; give "
		                      "NAME,NAME,... or all",
		                      from->option, names);
	free(text);
	if (!rc)
		return list;
	free(list);
	return NULL;
}

static int run_compare(const struct cmd *self, int argc, char **argv)
{
	struct compare c = {.n_seeds = 1, .jobs = {JOB_LIST_DEFAULTS}};
	struct options o = {.placements = "all", .routings = "all"};
	struct cpl_network *net = NULL;
	struct cpl_learned *learned = NULL;
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o, &c);

	if (rc != CMD_OK)
		goto out;
	c.net = net = cpl_network_load(c.jobs.network, &err);
	if (net && o.time_model)
		c.learned = learned = cpl_learned_load(o.time_model, &err);
	if (!net || (o.time_model && !learned) ||
	    !(c.placement = choose(&placements, net, o.placements,
	                           &c.n_placements, &err)) ||
	    !(c.routing = choose(&routings, net, o.routings, &c.n_routings,
	                         &err)) ||
	    compare_evaluate(&c, o.together, &err) ||
	    (c.jobs.plot && compare_plot(&c, o.classes, c.jobs.plot, &err)))
		rc = cmd_fail(self, &err);
	else if (c.jobs.json)
		rc = compare_print_json(self, &c);
	else
		rc = compare_print_text(&c, o.classes);
out:
	for (int i = 0; i < c.n_cases; i++)
		free(c.cases[i].name);
	cpl_free_all(c.cases, c.row, c.placement, c.routing);
	job_list_free(&c.jobs);
	cpl_learned_free(learned);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_compare = {"compare", run_compare};
