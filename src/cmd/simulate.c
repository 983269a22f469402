/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job_inputs.h"
#include "options.h"
#include "simulate/trace.h"

#define MAX_SECONDS 1e12

#define PLOT_BINS 480

struct files {
	const char *level, *arbitration, *links, *ranks;
	int64_t executions, channels, bins, most_calls;
};

static int take_start(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	struct cpl_error err = {""};

	return cmd_number(option, value, 0, MAX_SECONDS,
	                  &job_list_last(into)->start, &err)
	               ? cmd_fail(self, &err)
	               : CMD_OK;
}

/* CLASS=VALUE. */
static int take_class(const struct cmd *self, struct class_values *values,
                      const char *option, const char *value,
                      const char *what)
{
	size_t n = strcspn(value, "=");
	struct class_value *v = &values->of[values->n];
	struct cpl_error err = {""};

	if (!n || n >= sizeof(v->class) || !value[n])
		return cmd_failf(self,
		                 "%s: '%.60s' must be a class of links and %s",
		                 option, value, what);
	if (values->n > CPL_NETWORK_MAX_CLASSES)
		return cmd_failf(self, "%s: more than %d of them", option,
		                 values->n);
	if (cmd_number(option, value + n + 1, 0, 1e12, &v->value, &err))
		return cmd_fail(self, &err);
	memcpy(v->class, value, n);
	v->class[n] = 0;
	values->n++;
	return CMD_OK;
}

static int take_energy(const struct cmd *self, void *into, const char *option,
                       const char *value)
{
	return take_class(self, into, option, value,
	                  "joules, as in row=1e-10");
}

static int take_latency(const struct cmd *self, void *into, const char *option,
                        const char *value)
{
	return take_class(self, into, option, value,
	                  "seconds, as in global=1e-7");
}

/* RANKS=LATENCY,BANDWIDTH, a level of nodes, behind the smaller ones. */
static int take_inside(const struct cmd *self, void *into, const char *option,
                       const char *value)
{
	struct cpl_sim_options *o = into;
	struct cpl_sim_inside *in = &o->inside[o->n_inside];
	int before = o->n_inside ? in[-1].ranks : 1;
	char part[3][32];
	struct cpl_error err = {""};
	int64_t ranks;

	if (sscanf(value, "%31[^=]=%31[^,],%31[^,]", part[0], part[1],
	           part[2]) != 3 ||
	    strlen(part[0]) + strlen(part[1]) + strlen(part[2]) + 2 !=
	            strlen(value))
		return cmd_failf(self,
		                 "%s: '%.60s' must be ranks, seconds and "
		                 "bytes/s, as in 8=3e-7,1e10",
		                 option, value);
	if (o->n_inside == CPL_SIM_MAX_INSIDE)
		return cmd_failf(self, "%s: more than %d of them", option,
		                 CPL_SIM_MAX_INSIDE);
	if (cmd_int(option, part[0], 1, INT32_MAX, &ranks, &err) ||
	    cmd_number(option, part[1], 0, MAX_SECONDS, &in->latency, &err) ||
	    cmd_number(option, part[2], 0, DBL_MAX, &in->bandwidth, &err))
		return cmd_fail(self, &err);
	if (o->n_inside && (ranks == before || ranks % before))
		return cmd_failf(self,
		                 "%s: %d ranks must be a multiple of the %d "
		                 "of the level before",
		                 option, (int)ranks, before);
	in->ranks = (int)ranks;
	o->n_inside++;
	return CMD_OK;
}

static int take_queue(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	static const char *const names[] = {"none", "sender", "both"};
	enum cpl_sim_queue *queue = into;

	for (int i = 0; i < 3; i++)
		if (!strcmp(names[i], value)) {
			*queue = (enum cpl_sim_queue)i;
			return CMD_OK;
		}
	return cmd_failf(self, "%s: '%.60s' must be none, sender or both",
	                 option, value);
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct simulate *s, struct files *files)
{
	struct job_list *jobs = &s->jobs;
	struct cpl_sim_options *o = &s->options;
	const struct cmd_option table[] = {
	        {"network", .text = &jobs->network, .needed = true},
	        {"signature", .take = job_list_add, .into = jobs},
	        {"trace", .take = job_list_add, .into = jobs},
	        {"ranks-per-node", .take = job_list_take_ranks, .into = jobs},
	        {"phase", .take = job_list_take_phase, .into = jobs},
	        {"placement", .take = job_list_take_where, .into = jobs},
	        {"node-file", .take = job_list_take_where, .into = jobs},
	        {"hosts", .take = job_list_take_where, .into = jobs},
	        {"rank-file", .take = job_list_take_where, .into = jobs},
	        {"start", .take = take_start, .into = jobs},
	        {"level", .text = &files->level},
	        {"routing", .text = &s->routing},
	        {"executions", .integer = &files->executions, .low = 1,
	         .high = 1000000000},
	        {"most-calls", .integer = &files->most_calls, .low = 1,
	         .high = INT64_C(1000000000000000)},
	        {"speed", .number = &o->speed, .least = 1e-9, .most = 1e9},
	        {"overhead", .number = &o->overhead, .least = 0,
	         .most = MAX_SECONDS},
	        {"byte-overhead", .number = &o->byte_overhead, .least = 0,
	         .most = MAX_SECONDS},
	        {"overhead-queue", .take = take_queue, .into = &o->queue},
	        {"link-latency", .number = &o->link_latency, .least = 0,
	         .most = MAX_SECONDS},
	        {"router-latency", .number = &o->router_latency, .least = 0,
	         .most = MAX_SECONDS},
	        {"class-latency", .take = take_latency, .into = &s->latency},
	        {"memory", .number = &o->memory, .least = 0, .most = DBL_MAX},
	        {"inside", .take = take_inside, .into = o},
	        {"eager", .number = &o->eager, .least = 0, .most = DBL_MAX},
	        {"tolerance", .number = &o->tolerance, .least = 0, .most = 1},
	        {"packet", .number = &o->packet, .least = 1, .most = 1e12},
	        {"buffer", .number = &o->buffer, .least = 0, .most = 1e15},
	        {"channels", .integer = &files->channels, .low = 1, .high = 64},
	        {"energy", .take = take_energy, .into = &s->energy},
	        {"arbitration", .text = &files->arbitration},
	        {"profile-dir", .text = &jobs->profile_dir},
	        {"seed", .integer = &jobs->seed, .low = 0, .high = INT64_MAX},
	        {"links", .text = &files->links},
	        {"ranks", .text = &files->ranks},
	        {"timeline", .integer = &files->bins, .low = 2, .high = 65536},
	        {"plot", .text = &jobs->plot},
	        {"json", .flag = &jobs->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	if (!jobs->n)
		return cmd_usage(self, "--signature or --trace is missing");
	o->in_order = !strcmp(files->arbitration, "fcfs");
	if (!o->in_order && strcmp(files->arbitration, "round-robin"))
		return cmd_failf(self,
		                 "--arbitration: '%.60s' must be round-robin "
		                 "or fcfs",
		                 files->arbitration);
	o->executions = (int)files->executions;
	o->lanes = (int)files->channels;
	s->timeline = files->bins;
	o->bins = jobs->plot ? PLOT_BINS : 0;
	if (files->bins)
		o->bins = (int)files->bins;
	o->seed = (uint64_t)jobs->seed;
	return CMD_OK;
}

static int find_level(struct simulate *s, const char *name,
                      struct cpl_error *err)
{
	const struct cpl_entry *entry = cpl_registry_find(
	        &cpl_sim_levels, name, strlen(name), NULL, NULL);
	char names[CPL_ERROR_MAX / 2];

	if (!entry)
		return cpl_fail(err, "--level: '%.60s' must be one of %s", name,
		                cpl_registry_names(&cpl_sim_levels, 0, NULL,
		                                   NULL, names, sizeof(names)));
	s->options.level = (const struct cpl_sim_level *)entry;
	return 0;
}

/* Each rank's node. */
static int rank_nodes(struct job_traffic *job, const struct cpl_network *net,
                      unsigned char *free_nodes, struct cpl_error *err)
{
	int n;

	job->node =
	        cmd_hosts(net, job->rank_file, NULL, job->rank_file, &n, err);
	if (!job->node)
		return -1;
	if (n != job->ranks)
		return cpl_fail(err,
		                "%s: %d hosts; signature %.60s has %d ranks",
		                job->rank_file, n, job->sig->name, job->ranks);
	for (int i = 0; i < n; i++)
		free_nodes[job->node[i]] = 0;
	return 0;
}

/* Take the hosts that are given, or choose some by what the jobs before put on
 * the links, as `traffic` does. */
static int place_job(struct simulate *s, struct job_traffic *job,
                     struct cpl_workload *before, unsigned char *free_nodes,
                     struct cpl_error *err)
{
	struct cpl_scene scene = {.net = s->net,
	                          .routing = job->quick,
	                          .load = cpl_workload_load(before)};
	struct cpl_job placed;

	if (job->rank_file ? rank_nodes(job, s->net, free_nodes, err)
	    : job->hosts || job->node_file
	            ? job_traffic_given(job, s->net, free_nodes, err)
	            : job_traffic_choose(job, &scene, (uint64_t)s->jobs.seed,
	                                free_nodes, err))
		return -1;
	placed = job_traffic_placed(job, job->quick);
	if (job->rank_file)
		placed.ranks_per_node = 1; /* a node is listed for each */
	return cpl_workload_add(before, &placed, err) < 0 ? -1 : 0;
}

static int place_all(struct simulate *s, struct cpl_error *err)
{
	struct cpl_workload *before = cpl_workload_new(s->net, 1, err);
	unsigned char *free_nodes =
	        before ? cmd_usable_nodes(s->net, err) : NULL;
	const struct job_list *list = &s->jobs;
	int rc = free_nodes ? 0 : -1;

	for (int given = 1; given >= 0; given--)
		for (int i = 0; i < list->n && !rc; i++) {
			struct job_traffic *job = &list->job[i];
			bool has =
			        job->hosts || job->node_file || job->rank_file;

			if (given == has)
				rc = place_job(s, job, before, free_nodes, err);
		}
	cpl_workload_free(before);
	free(free_nodes);
	return rc;
}

/* How packets choose their paths, where `name` says that, itself or by the
 * routing of the traffic model that it stands for. */
static const struct cpl_sim_routing *find_choice(const char *name)
{
	const struct cpl_sim_routing *c = (const void *)cpl_registry_find(
	        &cpl_sim_routings, name, strlen(name), NULL, NULL);

	for (int i = 0; !c; i++) {
		const struct cpl_sim_routing *next =
		        (const void *)cpl_registry_at(&cpl_sim_routings, i);

		if (!next)
			break;
		if (next->stands_for && !strcmp(next->stands_for, name))
			c = next;
	}
	return c;
}

static int find_routings(struct simulate *s, struct cpl_error *err)
{
	bool packets = s->options.level == &cpl_sim_packet;
	const char *name = s->routing;
	const struct cpl_routing *stated, *quick;

	if (packets && name)
		s->options.choice = find_choice(name);
	if (s->options.choice)
		name = NULL;
	stated = s->options.choice ? cpl_routing_minimal(s->net)
	                           : cpl_routing_find(s->net, name, err);
	quick = cpl_routing_find_quick(s->net, name, err);
	if (!stated || !quick)
		return cpl_fail_prefix(
		        err,
		        "%s: ", s->routing ? "--routing" : s->jobs.network);
	if (packets && !s->options.choice)
		s->options.choice = find_choice(stated->name);
	if (!s->options.choice)
		s->options.choice = &cpl_sim_static;
	s->options.routing = cpl_routing_by_flow(s->net, stated);
	for (int i = 0; i < s->jobs.n; i++) {
		s->jobs.job[i].routing = stated;
		s->jobs.job[i].quick = cpl_routing_by_flow(s->net, quick);
	}
	return 0;
}

static void show_progress(void *arg, double now, int64_t messages)
{
	fprintf(stderr, "\r%.6g s simulated, %lld messages ", now,
	        (long long)messages);
}

static int simulate(struct simulate *s, struct cpl_error *err)
{
	const struct job_list *list = &s->jobs;
	struct cpl_sim_job *job = calloc((size_t)list->n, sizeof(*job));
	int **rank_node = calloc((size_t)list->n, sizeof(*rank_node));
	int rc = job && rank_node ? 0 : cpl_fail_memory(err);

	for (int i = 0; i < list->n && !rc; i++) {
		const struct job_traffic *from = &list->job[i];

		rank_node[i] = malloc((size_t)from->ranks * sizeof(int));
		if (!rank_node[i])
			rc = cpl_fail_memory(err);
		for (int r = 0; r < from->ranks && !rc; r++)
			rank_node[i][r] =
			        from->node[from->rank_file
			                           ? r
			                           : r / from->ranks_per_node];
		job[i] = (struct cpl_sim_job){.sig = from->sig,
		                              .trace = from->trace,
		                              .phase = from->phase,
		                              .rank_node = rank_node[i],
		                              .start = from->start};
	}
	if (isatty(STDERR_FILENO))
		s->options.progress = show_progress;
	if (!rc)
		rc = cpl_simulate(&s->options, job, list->n, &s->result, err);
	if (s->options.progress && s->result.events >= 1000000)
		fputs("\r\033[K", stderr);
	for (int i = 0; i < list->n && rank_node; i++)
		free(rank_node[i]);
	cpl_free_all(rank_node, job);
	return rc;
}

/* Loops of a small trace may have any number of rounds. */
static int check_traces(const struct job_list *jobs, int64_t most,
                        struct cpl_error *err)
{
	for (int i = 0; i < jobs->n; i++) {
		const struct job_traffic *job = &jobs->job[i];
		double size = job->trace ? cpl_trace_size(job->trace) : 0;

		if (size > (double)most)
			return cpl_fail(err,
			                "trace %.60s: %.3g calls and messages, "
			                "more than the %.3g of --most-calls; "
			                "allow more, or simulate the phases "
			                "that commplace signature phases finds "
			                "in it",
			                job->sig->name, size, (double)most);
	}
	return 0;
}

/* The number of a class, behind them all that of nodes' links; -1: there is
 * none of that name. */
static int class_number(const struct cpl_network *net, const char *name)
{
	int k = 0;

	while (k < net->n_classes && strcmp(net->link_class[k].name, name) != 0)
		k++;
	return k < net->n_classes || !strcmp(name, "injection") ? k : -1;
}

static int check_class_values(const struct simulate *s,
                              const struct class_values *values,
                              const char *option, struct cpl_error *err)
{
	for (int i = 0; i < values->n; i++) {
		const char *name = values->of[i].class;

		if (class_number(s->net, name) < 0)
			return cpl_fail(err, "%s: %s has no links '%s'", option,
			                s->net->name, name);
		for (int k = 0; k < i; k++)
			if (!strcmp(values->of[k].class, name))
				return cpl_fail(err, "%s: %s twice", option,
				                name);
	}
	return 0;
}

/* Options come before what the network states; --class-latency before --link-latency. */
static int class_latencies(struct simulate *s, struct cpl_error *err)
{
	const struct class_values *v = &s->latency;
	struct cpl_sim_options *o = &s->options;
	bool stated = !isnan(o->link_latency);

	if (check_class_values(s, v, "--class-latency", err))
		return -1;
	for (int k = 0; k <= s->net->n_classes; k++)
		s->class_latency[k] = stated ? o->link_latency
		                             : s->net->class_latency[k];
	for (int i = 0; i < v->n; i++)
		s->class_latency[class_number(s->net, v->of[i].class)] =
		        v->of[i].value;
	cpl_sim_set_latencies(o, s->class_latency);
	if (isnan(o->router_latency))
		o->router_latency = s->net->router_latency;
	return 0;
}

static int evaluate(struct simulate *s, const struct files *files,
                    struct cpl_error *err)
{
	if (find_level(s, files->level, err) || check_class_values(s, &s->energy, "--energy", err) ||
	    class_latencies(s, err) ||
	    find_routings(s, err) || job_list_open(&s->jobs, err) ||
	    job_list_wishes(&s->jobs, s->net, err) ||
	    check_traces(&s->jobs, files->most_calls, err) ||
	    place_all(s, err) || simulate(s, err))
		return -1;
	return simulate_write(s, files->links, files->ranks, s->jobs.plot, err);
}

static int run_simulate(const struct cmd *self, int argc, char **argv)
{
	struct files files = {.level = "flow",
	                      .arbitration = "round-robin",
	                      .executions = 1,
	                      .channels = 1,
	                      .most_calls = 1000000000};
	struct simulate s = {
	        .jobs = {JOB_LIST_DEFAULTS, .common.ranks_per_node = 1},
	        .options = {CPL_SIM_DEFAULTS, .link_latency = NAN,
	                    .router_latency = NAN},
	};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &s, &files);

	if (rc != CMD_OK)
		goto out;
	s.options.net = s.net = cpl_network_load(s.jobs.network, &err);
	if (!s.net || evaluate(&s, &files, &err))
		rc = cmd_fail(self, &err);
	else if (s.jobs.json)
		rc = simulate_print_json(self, &s);
	else
		rc = simulate_print_text(self, &s);
out:
	cpl_sim_result_free(&s.result);
	job_list_free(&s.jobs);
	cpl_network_free(s.net);
	return rc;
}

const struct cmd cmd_simulate = {"simulate", run_simulate};
