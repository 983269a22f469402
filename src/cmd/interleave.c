/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace interleave`: when periodic jobs that share links should begin. */
#include "cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "interleave/interleave.h"
#include "interleave/turn.h"
#include "job_inputs.h"
#include "job_traffic.h"
#include "options.h"

/* Executions of a phase in an iteration that are told apart. */
#define MAX_TIMES 64

struct options {
	struct job_list jobs;
	const char *routing;
	int64_t starts, env; /* env: of which job, or 0 */
};

/* A job's iteration. */
struct iteration {
	double period;
	int n_bursts, n_loads, left_out; /* phases that are not part of it */
	struct cpl_burst *burst;
	struct cpl_load *load; /* [n_loads] of each phase */
};

struct interleave {
	const struct options *o;
	struct cpl_network *net;
	unsigned char *free;
	struct iteration *job; /* [jobs.n] */
	struct cpl_interleaving out;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	struct job_list *list = &o->jobs;
	const struct cmd_option table[] = {
	        {"network", .text = &list->network, .needed = true},
	        {"signature", .take = job_list_add, .into = list},
	        {"ranks-per-node", .take = job_list_take_ranks, .into = list},
	        {"placement", .take = job_list_take_where, .into = list},
	        {"node-file", .take = job_list_take_where, .into = list},
	        {"hosts", .take = job_list_take_where, .into = list},
	        {"profile-dir", .text = &list->profile_dir},
	        {"routing", .text = &o->routing},
	        {"starts", .integer = &o->starts, .low = 0, .high = 1000},
	        {"seed", .integer = &list->seed, .low = 0, .high = INT64_MAX},
	        {"env", .integer = &o->env, .low = 1, .high = INT32_MAX},
	        {"json", .flag = &list->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	if (list->n < 2)
		return cmd_usage(self, "two jobs or more are needed, each by a "
		                       "--signature");
	return o->env > list->n ? cmd_usage(self, "--env: there is no such job")
	                        : CMD_OK;
}

/* An iteration has the phases that run about as often as the one that takes
 * longest in all, or more often. */
static double iterations_of(const struct cpl_signature *sig)
{
	const struct cpl_phase *longest = &sig->phase[0];

	for (int i = 1; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];

		if (p->weight * p->time > longest->weight * longest->time)
			longest = p;
	}
	return longest->weight;
}

static int times_of(const struct cpl_phase *phase, double iterations)
{
	double times = floor(phase->weight / iterations + 0.5);

	return times > MAX_TIMES ? MAX_TIMES : (int)times;
}

/* The bytes of so many executions of a phase on the job's nodes. */
static int load_phase(const struct interleave *in, struct job_traffic *job,
                      const struct cpl_phase *phase, double executions,
                      struct cpl_load *load, struct cpl_error *err)
{
	struct cpl_comm *comm = cmd_comm(job->sig, phase->name, err);
	struct cpl_workload *w =
	        comm ? cpl_workload_new(in->net, 1, err) : NULL;
	struct cpl_job placed = {.routing = job->routing,
	                         .comm = comm,
	                         .node = job->node,
	                         .ranks_per_node = job->ranks_per_node};
	int rc = w && cpl_workload_add(w, &placed, err) >= 0 &&
	                         !cpl_workload_solve(w, err) &&
	                         !cpl_load_init(load, in->net, err)
	                 ? 0
	                 : -1;

	if (!rc)
		cpl_load_scale(load, cpl_workload_load(w), executions, in->net);
	cpl_workload_free(w);
	cpl_comm_free(comm);
	return rc;
}

/* Executions in a row, each of which computes and then sends. Where there are
 * more than are told apart, each stands for several. */
static void add_bursts(struct iteration *it, const struct cpl_phase *phase,
                       double each, int times, const struct cpl_load *load)
{
	double seconds = cpl_phase_communication(phase) * each;
	double length = phase->time * each;

	for (int k = 0; k < times; k++) {
		if (seconds > 0)
			it->burst[it->n_bursts++] = (struct cpl_burst){
			        it->period + length - seconds, seconds, load};
		it->period += length;
	}
}

static int read_iteration(struct interleave *in, struct job_traffic *job,
                          struct iteration *it, struct cpl_error *err)
{
	const struct cpl_signature *sig = job->sig;
	double iterations = iterations_of(sig);
	size_t n = (size_t)sig->n_phases;

	it->burst = calloc(n * MAX_TIMES, sizeof(*it->burst));
	it->load = calloc(n, sizeof(*it->load));
	if (!it->burst || !it->load)
		return cpl_fail_memory(err);
	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *phase = &sig->phase[i];
		int times = times_of(phase, iterations);
		double each;

		if (!(phase->time > 0))
			return cpl_fail(err,
			                "%s: phase '%.60s' states no \"time\": "
			                "when it sends is not known",
			                job->signature, phase->name);
		if (!times) {
			it->left_out++;
			continue;
		}
		it->n_loads++;
		each = phase->weight / iterations / times;
		if (load_phase(in, job, phase, each, &it->load[it->n_loads - 1],
		               err))
			return -1;
		add_bursts(it, phase, each, times, &it->load[it->n_loads - 1]);
	}
	return 0;
}

static int find_offsets(struct interleave *in, struct cpl_error *err)
{
	int n = in->o->jobs.n, rc;
	struct cpl_periodic_job *job = calloc((size_t)n, sizeof(*job));

	if (!job)
		return cpl_fail_memory(err);
	for (int i = 0; i < n; i++)
		job[i] = (struct cpl_periodic_job){in->job[i].period,
		                                   in->job[i].n_bursts,
		                                   in->job[i].burst};
	rc = cpl_interleave(in->net, job, n, (int)in->o->starts,
	                    (uint64_t)in->o->jobs.seed, &in->out, err);
	free(job);
	return rc;
}

static int place_jobs(struct interleave *in, struct job_list *list,
                      struct cpl_error *err)
{
	struct cpl_scene scene = {.net = in->net};

	for (int i = 0; i < list->n; i++) {
		struct job_traffic *job = &list->job[i];

		job->routing = job->quick =
		        cpl_routing_find_quick(in->net, in->o->routing, err);
		if (!job->routing)
			return cpl_fail_prefix(err, "%s: ",
			                       in->o->routing ? "--routing"
			                                      : list->network);
		job->routing = cpl_routing_by_flow(in->net, job->routing);
		scene.routing = job->quick;
		if (job->hosts || job->node_file
		            ? job_traffic_given(job, in->net, in->free, err)
		            : job_traffic_choose(job, &scene,
		                                 (uint64_t)list->seed, in->free,
		                                 err))
			return -1;
	}
	return 0;
}

static int work(struct interleave *in, struct job_list *list,
                struct cpl_error *err)
{
	in->net = cpl_network_load(list->network, err);
	in->free = in->net ? cmd_usable_nodes(in->net, err) : NULL;
	in->job = calloc((size_t)list->n, sizeof(*in->job));
	if (!in->free)
		return -1;
	if (!in->job)
		return cpl_fail_memory(err);
	if (job_list_open(list, err) || job_list_wishes(list, in->net, err) ||
	    place_jobs(in, list, err))
		return -1;
	for (int i = 0; i < list->n; i++)
		if (read_iteration(in, &list->job[i], &in->job[i], err))
			return -1;
	return find_offsets(in, err);
}

static double sending(const struct iteration *it)
{
	double seconds = 0;

	for (int b = 0; b < it->n_bursts; b++)
		seconds += it->burst[b].seconds;
	return seconds / it->period;
}

/* What the job's environment says of its turns: its period as a whole part of the
 * circle. False: it meets all others alike. */
static bool environment(const struct interleave *in, int job, char *text,
                        size_t size)
{
	double turns = floor(in->out.circle / in->job[job].period + 0.5);

	*text = '\0';
	if (!in->out.periodic[job])
		return false;
	snprintf(text, size, "COMMPLACE_INTERLEAVE=%.9g:%.9g",
	         in->out.circle / turns * (1 + CPL_TURN_SPARE),
	         in->out.offset[job] * (1 + CPL_TURN_SPARE));
	return true;
}

static int print_env(const struct cmd *self, const struct interleave *in)
{
	struct cpl_error err;
	char text[80];

	if (!environment(in, (int)in->o->env - 1, text, sizeof(text))) {
		cpl_fail(&err, "job %d has a period of its own, and meets the "
		               "others alike whenever it begins",
		         (int)in->o->env);
		return cmd_fail(self, &err);
	}
	puts(text);
	return CMD_OK;
}

static int print_json(const struct cmd *self, const struct interleave *in)
{
	const struct job_list *list = &in->o->jobs;
	json_t *jobs = json_array();

	for (int i = 0; i < list->n; i++) {
		char text[80];
		bool turns = environment(in, i, text, sizeof(text));

		cpl_json_append(
		        jobs, "{s:s, s:i, s:f, s:f, s:b, s:f, s:s*, s:i}",
		        "signature", list->job[i].sig->name, "nodes",
		        list->job[i].n_nodes, "period", in->job[i].period,
		        "communication", sending(&in->job[i]), "periodic",
		        in->out.periodic[i], "offset", in->out.offset[i],
		        "environment", turns ? text : NULL, "phases_left_out",
		        in->job[i].left_out);
	}
	return cmd_print_pack(self, "{s:o, s:f, s:i, s:f, s:f}", "jobs", jobs,
	                      "circle", in->out.circle, "links",
	                      in->out.n_links, "wait_before", in->out.before,
	                      "wait_after", in->out.after);
}

static int print_text(const struct interleave *in)
{
	const struct job_list *list = &in->o->jobs;
	struct cmd_table *t = cmd_table_new("rlrrrr");
	char name[CPL_ERROR_MAX];
	int rc;

	cmd_table_row(t,
	              "JOB|SIGNATURE|NODES|PERIOD (S)|SENDS|START AFTER (S)");
	for (int i = 0; i < list->n; i++) {
		const char *sig = cmd_printable(list->job[i].sig->name, name,
		                                sizeof(name));

		if (in->out.periodic[i])
			cmd_table_row(
			        t, "%d|%s|%d|%.4g|%.0f %%|%.4g", i + 1, sig,
			        list->job[i].n_nodes, in->job[i].period,
			        100 * sending(&in->job[i]), in->out.offset[i]);
		else
			cmd_table_row(t, "%d|%s|%d|%.4g|%.0f %%|any", i + 1,
			              sig, list->job[i].n_nodes,
			              in->job[i].period,
			              100 * sending(&in->job[i]));
	}
	rc = cmd_table_print(t);
	if (rc)
		return rc;
	if (!in->out.n_links)
		printf("\nThere is no link of which they want more than it can "
		       "give.\n");
	else
		printf("\nOn the %d links of which they want more than these "
		       "can give, %.1f %% of the bytes\nwait for other jobs' "
		       "where all begin at once, %.1f %% so.\n",
		       in->out.n_links, 100 * in->out.before,
		       100 * in->out.after);
	return CMD_OK;
}

static void release(struct interleave *in, struct job_list *list)
{
	for (int i = 0; in->job && i < list->n; i++) {
		for (int k = 0; k < in->job[i].n_loads; k++)
			cpl_load_free(&in->job[i].load[k]);
		cpl_free_all(in->job[i].load, in->job[i].burst);
	}
	free(in->job);
	cpl_interleaving_free(&in->out);
	job_list_free(list);
	free(in->free);
	cpl_network_free(in->net);
}

static int run_interleave(const struct cmd *self, int argc, char **argv)
{
	struct options o = {
	        .jobs = {JOB_LIST_DEFAULTS, .common = {.ranks_per_node = 1}},
	        .starts = 7};
	struct interleave in = {.o = &o};
	struct cpl_error err = {""};
	int rc = parse(self, argc, argv, &o);

	if (!rc && work(&in, &o.jobs, &err))
		rc = cmd_fail(self, &err);
	else if (!rc)
		rc = o.env          ? print_env(self, &in)
		     : o.jobs.json ? print_json(self, &in)
		                   : print_text(&in);
	release(&in, &o.jobs);
	return rc;
}

const struct cmd cmd_interleave = {"interleave", run_interleave};
