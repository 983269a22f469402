/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "options.h"
#include "routing/adaptive.h"
#include "site/state.h"
#include "site_files.h"

static const char help[] =
        "Usage: commplace traffic --network FILE --signature SIG [OPTION]...\n"
        "\n"
        "Evaluate the traffic of one or several jobs on every network link.\n"
        "\n"
        "  --network FILE       network description\n"
        "  --signature SIG      signature file (holds a \"/\" or ends in "
        ".json)\n"
        "                       or profile name; may be given several times,\n"
        "                       each followed by its own options out of:\n"
        "    --placement P      placement policy on the free nodes; linear "
        "when\n"
        "                       nothing is said\n"
        "    --node-file F      or hosts from a file, one a line, in rank "
        "order\n"
        "    --hosts HOSTLIST   or these hosts, in rank order\n"
        "    --ranks-per-node K ranks on each host, consecutive; default 1\n"
        "    --phase NAME       one execution of that phase, not the whole "
        "run\n"
        "  --routing R          SD, SI, AD, AI or AH on a dragonfly, DO or AM "
        "on a\n"
        "                       torus; default: as the network description "
        "states;\n"
        "                       given several times, each is the routing of "
        "its job\n"
        "                       (one before the first --signature: of the "
        "others and\n"
        "                       the running jobs)\n"
        "  --running STATE      JSON file of running jobs: their hosts are "
        "not\n"
        "                       free, their traffic is on the links\n"
        "  --profile-dir DIR    where profiles stand; default: ProfileDir\n"
        "  --seed N             for random placements; default 1\n"
        "  --threads N          of the evaluation (default: all CPUs); what "
        "it\n"
        "                       finds does not depend on them\n"
        "  --links FILE         write class,from,to,bandwidth,bytes of every\n"
        "                       directed link\n"
        "  --plot FILE          write a map of the link loads as SVG\n"
        "  --json               print one JSON object\n"
        "  -h, --help           print this text\n"
        "\n"
        "The options of a job given before the first --signature hold for "
        "all.\n"
        "\n"
        "Examples:\n"
        "  commplace traffic --network edison.json --signature ./milc.json \\\n"
        "      --placement random-routers --ranks-per-node 24\n"
        "  commplace traffic --network torus.json --signature ./a.json \\\n"
        "      --hosts 'n[0-15]' --signature ./b.json --placement RDN --json\n"
        "  commplace traffic --network edison.json --signature ./milc.json \\\n"
        "      --node-file hosts.txt --ranks-per-node 24 --links loads.csv\n";

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
	        {"network", .text = &o->network},
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
	if (!o->network)
		return cmd_usage(self, "--network is missing");
	if (!o->n_jobs)
		return cmd_usage(self, "--signature is missing");
	if (o->n_routings != 1)
		return CMD_OK;
	o->common.routing_name = o->routing;
	for (int i = 0; i < o->n_jobs; i++)
		o->job[i].routing_name = o->routing;
	return CMD_OK;
}

static int add_running(const struct options *o, struct traffic *t,
                       struct cpl_error *err)
{
	const char *dir = cmd_profile_dir(o->profile_dir);
	const struct cpl_routing *routing = t->routing;
	struct cpl_load *load = &t->load;
	struct cpl_state state;
	int rc = 0;

	if (!o->running)
		return 0;
	if (cpl_state_load(o->running, &state, err))
		return -1;
	if (t->workload) {
		rc = cpl_state_workload(&state, t->net, routing, dir,
		                        t->workload, err);
		routing = cpl_routing_by_pairs(routing);
		load = &t->guess;
	}
	if (!rc)
		rc = cpl_state_apply(&state, t->net, routing, dir, t->free,
		                     load, err);
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

/* All jobs' and the running ones'; a workload where any is adaptive. */
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
	if (!adaptive)
		return 0;
	t->workload = cpl_workload_new(t->net, t->threads, err);
	return t->workload ? cpl_load_init(&t->guess, t->net, err) : -1;
}

static int evaluate(const struct options *o, struct traffic *t,
                    struct cpl_error *err)
{
	if (find_routings(o, t, err) || cpl_load_init(&t->load, t->net, err))
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
	cpl_load_free(&t.load);
	cpl_load_free(&t.guess);
	cpl_workload_free(t.workload);
	free(t.free);
	free(o.job);
	cpl_network_free(net);
	return rc;
}

const struct cmd cmd_traffic = {
        .name = "traffic",
        .summary = "evaluate the traffic of jobs on every network link",
        .help = help,
        .run = run,
};
