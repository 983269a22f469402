/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "options.h"
#include "routing/adaptive/adaptive.h"
#include "site/state.h"
#include "site_files.h"

struct options {
	const char *network, *routing, *running, *links, *plot, *profile_dir;
	int n_routings; /* how often --routing is there */
	int64_t seed, threads;
	bool json;
	bool where_said;           /* this job's hosts or placement */
	struct traffic_job common; /* options before the first --signature */
	struct traffic_job *job;
	int n_jobs;
};

static int new_job(const struct cmd *self, void *into, const char *option,
                   const char *value)
{
	struct options *o = into;
	struct traffic_job *grown =
	        realloc(o->job, ((size_t)o->n_jobs + 1) * sizeof(*grown));

	if (!grown)
		return cmd_failf(self, "out of memory");
	o->job = grown;
	o->job[o->n_jobs] = o->common;
	o->where_said = false;
	o->job[o->n_jobs++].signature = value;
	return CMD_OK;
}

/* The job that the last --signature began. */
static struct traffic_job *last_job(struct options *o)
{
	return o->n_jobs ? &o->job[o->n_jobs - 1] : &o->common;
}

static int take_phase(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	last_job(into)->phase = value;
	return CMD_OK;
}

static int take_routing(const struct cmd *self, void *into, const char *option,
                        const char *value)
{
	struct options *o = into;

	last_job(o)->routing_name = o->routing = value;
	o->n_routings++;
	return CMD_OK;
}

static int take_ranks_per_node(const struct cmd *self, void *into,
                               const char *option, const char *value)
{
	return job_traffic_take_ranks(self, option, value,
	                              &last_job(into)->ranks_per_node);
}

static int take_where(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	struct options *o = into;
	struct traffic_job *job = last_job(o);

	if (o->where_said)
		return cmd_usage(self, "--placement, --node-file and --hosts "
		                       "exclude each other");
	o->where_said = true;
	job->placement = job->node_file = job->hosts = NULL;
	if (!strcmp(option, "--placement"))
		job->placement = value;
	else if (!strcmp(option, "--hosts"))
		job->hosts = value;
	else
		job->node_file = value;
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"network", .text = &o->network, .needed = true},
	        {"signature", .take = new_job, .into = o},
	        {"placement", .take = take_where, .into = o},
	        {"node-file", .take = take_where, .into = o},
	        {"hosts", .take = take_where, .into = o},
	        {"ranks-per-node", .take = take_ranks_per_node, .into = o},
	        {"phase", .take = take_phase, .into = o},
	        {"routing", .take = take_routing, .into = o},
	        {"running", .text = &o->running},
	        {"profile-dir", .text = &o->profile_dir},
	        {"seed", .integer = &o->seed, .low = 0, .high = INT64_MAX},
	        {"threads", .integer = &o->threads, .low = 1,
	         .high = CPL_PARALLEL_MAX},
	        {"links", .text = &o->links},
	        {"plot", .text = &o->plot},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table);

	if (rc)
		return rc;
	if (!o->n_jobs)
		return cmd_usage(self, "--signature is missing");
	if (o->n_routings != 1)
		return CMD_OK;
	o->common.routing_name = o->routing;
	for (int i = 0; i < o->n_jobs; i++)
		o->job[i].routing_name = o->routing;
	return CMD_OK;
}

/* As jobs of the workload where any routing is adaptive, else each summed up on
 * its own. */
static int add_running(const struct options *o, struct traffic *t,
                       struct cpl_error *err)
{
	const char *dir = cmd_profile_dir(o->profile_dir);
	const struct cpl_routing *routing = t->routing;
	struct cpl_load load = {0};
	struct cpl_state state;
	int rc = 0;

	if (!o->running)
		return 0;
	if (cpl_state_load(o->running, &state, err))
		return -1;
	if (t->guess) {
		rc = cpl_state_workload(&state, t->net, routing, dir,
		                        t->workload, err);
		routing = cpl_routing_by_flow(routing);
	}
	if (!rc)
		rc = cpl_load_init(&load, t->net, err);
	if (!rc)
		rc = cpl_state_apply(&state, t->net, routing, dir, t->free,
		                     &load, err);
	if (!rc)
		cpl_workload_clear(t->guess ? t->guess : t->workload, &load);
	cpl_load_free(&load);
	cpl_state_free(&state);
	return rc ? cpl_fail_prefix(err, "%s: ", o->running) : 0;
}

static const struct cpl_routing *find_routing(
        const struct options *o, const struct traffic *t, const char *name,
        const struct cpl_routing *(*find)(const struct cpl_network *,
                                          const char *, struct cpl_error *),
        struct cpl_error *err)
{
	const struct cpl_routing *routing = find(t->net, name, err);

	if (!routing)
		cpl_fail_prefix(err, "%s: ", name ? "--routing" : o->network);
	return routing;
}

/* All jobs' and the running ones', and the workloads. */
static int find_routings(const struct options *o, struct traffic *t,
                         struct cpl_error *err)
{
	bool adaptive;

	t->routing = find_routing(o, t, o->common.routing_name,
	                          cpl_routing_find, err);
	if (!t->routing)
		return -1;
	adaptive = o->running && cpl_routing_is_adaptive(t->routing);
	for (int i = 0; i < t->n_jobs; i++) {
		struct traffic_job *job = &t->job[i];

		job->routing = find_routing(o, t, job->routing_name,
		                            cpl_routing_find, err);
		job->placing = find_routing(o, t, job->routing_name,
		                            cpl_routing_find_quick, err);
		if (!job->routing || !job->placing)
			return -1;
		t->mixed = t->mixed || job->routing != t->job[0].routing;
		adaptive = adaptive || cpl_routing_is_adaptive(job->routing);
	}
	t->workload = cpl_workload_new(t->net, t->threads, err);
	if (t->workload && adaptive)
		t->guess = cpl_workload_new(t->net, t->threads, err);
	return t->workload && (t->guess || !adaptive) ? 0 : -1;
}

static int evaluate(const struct options *o, struct traffic *t,
                    struct cpl_error *err)
{
	if (find_routings(o, t, err))
		return -1;
	t->free = malloc((size_t)t->net->n_nodes);
	if (!t->free)
		return cpl_fail_memory(err);
	for (int node = 0; node < t->net->n_nodes; node++)
		t->free[node] = t->net->node_name[node] != NULL;
	return add_running(o, t, err) ? -1 : traffic_evaluate(t, err);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {.seed = 1,
	                    .threads = cpl_parallel_cpus(),
	                    .common.ranks_per_node = 1};
	struct traffic t = {.net = NULL};
	struct cpl_network *net = NULL;
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (rc != CMD_OK)
		goto out;
	t.n_jobs = o.n_jobs;
	t.job = o.job;
	t.profile_dir = o.profile_dir;
	t.seed = (uint64_t)o.seed;
	t.threads = (int)o.threads;
	t.net = net = cpl_network_load(o.network, &err);
	if (!net || evaluate(&o, &t, &err) ||
	    (o.links && traffic_write_links(&t, o.links, &err)) ||
	    (o.plot && traffic_plot(&t, o.plot, &err)))
		rc = cmd_fail(self, &err);
	else if (o.json)
		rc = traffic_print_json(self, &t);
	else
		rc = traffic_print_text(self, &t);
out:
	traffic_release(&t);
	cpl_workload_free(t.workload);
	cpl_workload_free(t.guess);
	free(t.free);
	free(o.job);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_traffic = {"traffic", run};
