/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "options.h"

#define MAX_SEEDS 10000

struct options {
	const char *network, *placements, *routings, *plot;
	struct compare_job common; /* options before the first --signature */
	bool together, classes, json;
	struct compare *compare;
};

static int new_job(const struct cmd *self, void *into, const char *option,
                   const char *value)
{
	struct options *o = into;
	struct compare *c = o->compare;
	struct compare_job *grown =
	        realloc(c->job, ((size_t)c->n_jobs + 1) * sizeof(*grown));

	if (!grown)
		return cmd_failf(self, "out of memory");
	c->job = grown;
	c->job[c->n_jobs] = o->common;
	c->job[c->n_jobs++].signature = value;
	return CMD_OK;
}

/* The job that the last --signature began. */
static struct compare_job *last_job(struct options *o)
{
	struct compare *c = o->compare;

	return c->n_jobs ? &c->job[c->n_jobs - 1] : &o->common;
}

static int take_phase(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	last_job(into)->phase = value;
	return CMD_OK;
}

static int take_ranks_per_node(const struct cmd *self, void *into,
                               const char *option, const char *value)
{
	return job_traffic_take_ranks(self, option, value,
	                              &last_job(into)->ranks_per_node);
}

/* Signatures without --ranks-per-node have that of the only one that has it,
 * 1 where none has. */
static int fill_ranks_per_node(const struct cmd *self, struct compare *c)
{
	int given = 0, value = 1;

	for (int i = 0; i < c->n_jobs; i++)
		if (c->job[i].ranks_per_node) {
			value = c->job[i].ranks_per_node;
			given++;
		}
	for (int i = 0; i < c->n_jobs; i++) {
		if (c->job[i].ranks_per_node)
			continue;
		if (given > 1)
			return cmd_usage(self,
			                 "--ranks-per-node: %d signatures have "
			                 "one of their own, but not '%.60s'; "
			                 "one before the first holds for all",
			                 given, c->job[i].signature);
		c->job[i].ranks_per_node = value;
	}
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o, struct compare *c)
{
	int64_t seed = 1, n_seeds = 1, threads = cpl_parallel_cpus();
	const struct cmd_option table[] = {
	        {"network", .text = &o->network, .needed = true},
	        {"signature", .take = new_job, .into = o},
	        {"ranks-per-node", .take = take_ranks_per_node, .into = o},
	        {"phase", .take = take_phase, .into = o},
	        {"workload", .flag = &o->together},
	        {"placements", .text = &o->placements},
	        {"routings", .text = &o->routings},
	        {"running", .text = &c->running},
	        {"profile-dir", .text = &c->profile_dir},
	        {"seed", .integer = &seed, .low = 0, .high = INT64_MAX},
	        {"seeds", .integer = &n_seeds, .low = 1, .high = MAX_SEEDS},
	        {"threads", .integer = &threads, .low = 1,
	         .high = CPL_PARALLEL_MAX},
	        {"classes", .flag = &o->classes},
	        {"plot", .text = &o->plot},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table);

	if (rc)
		return rc;
	c->seed = (uint64_t)seed;
	c->n_seeds = (int)n_seeds;
	c->threads = (int)threads;
	if (!c->n_jobs)
		return cmd_usage(self, "--signature is missing");
	return fill_ranks_per_node(self, c);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct compare c = {.seed = 0};
	struct options o = {
	        .placements = "all", .routings = "all", .compare = &c};
	struct cpl_network *net = NULL;
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o, &c);

	if (rc != CMD_OK)
		goto out;
	c.net = net = cpl_network_load(o.network, &err);
	if (!net || compare_placements(&c, o.placements, &err) ||
	    compare_routings(&c, o.routings, &err) ||
	    compare_evaluate(&c, o.together, &err) ||
	    (o.plot && compare_plot(&c, o.classes, o.plot, &err)))
		rc = cmd_fail(self, &err);
	else if (o.json)
		rc = compare_print_json(self, &c);
	else
		rc = compare_print_text(self, &c, o.classes);
out:
	compare_release(&c);
	free(c.job);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_compare = {"compare", run};
