/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map.h"

#include <inttypes.h>
#include <stdlib.h>

#include "algorithms.h"
#include "base/parallel.h"
#include "graph/contract.h"
#include "options.h"

struct options {
	struct job_options job;
	const char *hosts, *hosts_file, *slots, *algorithm, *compare;
	const char *output, *rank_weights, *plot;
	struct map_repair repair;
	int64_t ranks_per_node, seed; /* ranks_per_node 0: not given */
	int64_t processes;            /* of a task */
	int64_t work;                 /* 0: not given */
	double deadline;              /* seconds, < 0: none */
	int64_t threads;
	int format;
	bool json, raw;
};

/* What is wrong with the options; NULL: nothing. */
static const char *missing_of_map(const struct options *o)
{
	if (!o->job.signature)
		return "--signature is missing";
	if (o->repair.failed || o->repair.free)
		return "--failed and --free are for --repair";
	if (!o->algorithm && !o->compare)
		return "--algorithm is missing";
	if (o->algorithm && o->compare)
		return "--algorithm and --compare exclude each other";
	if (o->compare && (o->format || o->output || o->plot))
		return "--compare prints a table, or --json; --format, "
		       "--plot and -o do not go with it";
	if (!o->hosts == !o->hosts_file)
		return "one of --hosts and --hosts-file is needed";
	if (o->slots && o->ranks_per_node)
		return "--slots and --ranks-per-node exclude each other";
	if (o->raw && o->compare)
		return "--compare shows algorithms as they are; --raw is "
		       "for --algorithm";
	if (o->json && o->format != MAP_TABLE && o->format != MAP_JSON)
		return "--json and --format exclude each other";
	return NULL;
}

static const char *missing_of_repair(const struct options *o)
{
	if (!o->job.signature)
		return "--signature is missing";
	if (!o->repair.failed)
		return "--repair needs --failed";
	if (o->algorithm || o->compare || o->hosts || o->hosts_file ||
	    o->slots || o->ranks_per_node || o->rank_weights || o->raw ||
	    o->plot)
		return "--repair takes hosts and ranks from its file; "
		       "--algorithm, --compare, --hosts, --slots, "
		       "--ranks-per-node, --rank-weights, --raw and --plot do "
		       "not go with it";
	if (o->json && o->format != MAP_TABLE && o->format != MAP_JSON)
		return "--json and --format exclude each other";
	return NULL;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	static const char *const formats[] = {[MAP_TABLE] = "table",
	                                      [MAP_JSON] = "json",
	                                      [MAP_HOSTFILE] = "hostfile",
	                                      [MAP_RANKFILE] = "rankfile",
	                                      [MAP_MACHINEFILE] = "machinefile",
	                                      [MAP_MPICH] = "mpich",
	                                      [MAP_SLURM] = "slurm",
	                                      [MAP_TORCHRUN] = "torchrun",
	                                      [MAP_RAY] = "ray",
	                                      NULL};
	const struct cmd_option table[] = {
	        JOB_OPTIONS(o->job),
	        {"hosts", .text = &o->hosts},
	        {"hosts-file", .text = &o->hosts_file},
	        {"slots", .text = &o->slots},
	        {"rank-weights", .text = &o->rank_weights},
	        {"algorithm", .text = &o->algorithm},
	        {"compare", .text = &o->compare},
	        {"ranks-per-node", .integer = &o->ranks_per_node, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"processes-per-task", .integer = &o->processes, .low = 1,
	         .high = CPL_SIGNATURE_MAX_RANKS},
	        {"raw", .flag = &o->raw},
	        {"seed", .integer = &o->seed, .low = 0, .high = INT64_MAX},
	        {"work", .integer = &o->work, .low = 1,
	         .high = INT64_C(1) << 40},
	        {"deadline", .number = &o->deadline, .least = 0, .most = 1e9},
	        {"threads", .integer = &o->threads, .low = 1,
	         .high = CPL_PARALLEL_MAX},
	        {"format", .choice = &o->format, .choices = formats},
	        {"repair", .text = &o->repair.old},
	        {"failed", .text = &o->repair.failed},
	        {"free", .text = &o->repair.free},
	        {"plot", .text = &o->plot},
	        {"output", .text = &o->output},
	        {"json", .flag = &o->json},
	        {0},
	};
	const char *missing;
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS);

	if (rc)
		return rc;
	missing = o->repair.old ? missing_of_repair(o) : missing_of_map(o);
	if (missing)
		return cmd_usage(self, "%s", missing);
	if (o->json)
		o->format = MAP_JSON;
	if (o->format == MAP_TABLE && o->output)
		return cmd_usage(self, "-o is for --json and --format");
	return CMD_OK;
}

/* "2,2,1": one number for each host. */
static int parse_slots(const char *text, struct mapped *m,
                       struct cpl_error *err)
{
	int n = cmd_int_list("--slots", text, 0, CPL_SIGNATURE_MAX_RANKS,
	                     m->slots, m->n_hosts, err);

	if (n >= 0 && n != m->n_hosts)
		return cpl_fail(
		        err,
		        "--slots: %d numbers for %d hosts; give one for each",
		        n, m->n_hosts);
	return n < 0 ? -1 : 0;
}

/* Block order: full hosts first, the rest on the last that is needed. With
 * weights every host has the slots that the options say. */
static int fill_slots(const struct options *o, const struct job_inputs *in,
                      struct mapped *m, struct cpl_error *err)
{
	int64_t left = in->comm->ranks;
	int64_t k = o->ranks_per_node;

	m->slots = calloc((size_t)m->n_hosts, sizeof(*m->slots));
	if (!m->slots)
		return cpl_fail_memory(err);
	if (o->slots)
		return parse_slots(o->slots, m, err);
	for (int r = 0; m->weight && r < in->comm->ranks; r++)
		left += m->weight[r] - 1;
	if (!k)
		k = (left + m->n_hosts - 1) / m->n_hosts;
	if (left > k * m->n_hosts)
		return cpl_fail(err,
		                "%" PRId64 " %s do not fit %d hosts with "
		                "--ranks-per-node %" PRId64,
		                left, m->weight ? "slots of ranks" : "ranks",
		                m->n_hosts, k);
	for (int h = 0; h < m->n_hosts; h++) {
		m->slots[h] = (int)(left < k && !m->weight ? left : k);
		left -= left < k ? left : k;
	}
	return 0;
}

/* The time at which the mapper at hand has to stop. */
struct budget {
	double seconds, end;
};

static bool past(void *arg)
{
	return cpl_clock() > ((const struct budget *)arg)->end;
}

static void start_budget(void *arg)
{
	struct budget *budget = arg;

	budget->end = cpl_clock() + budget->seconds;
}

static int make_request(const struct options *o, const struct job_inputs *in,
                        struct mapped *m, struct budget *budget,
                        struct cpl_error *err)
{
	m->host = cmd_hosts_once(in->net, o->hosts ? "--hosts" : o->hosts_file,
	                         o->hosts, o->hosts_file, &m->n_hosts, err);
	if (!m->host)
		return -1;
	if (!m->n_hosts)
		return cpl_fail(err, "--hosts: names no host");
	if (o->rank_weights) {
		m->weight =
		        map_read_weights(o->rank_weights, in->comm->ranks, err);
		if (!m->weight)
			return cpl_fail_prefix(err, "--rank-weights: ");
	}
	if (fill_slots(o, in, m, err))
		return -1;
	m->request = (struct cpl_map_request){
	        .net = in->net,
	        .routing = in->routing,
	        .comm = in->comm,
	        .n_hosts = m->n_hosts,
	        .host = m->host,
	        .slots = m->slots,
	        .weight = m->weight,
	        .grid = m->grid,
	        .option = o->algorithm ? cpl_mapper_option(o->algorithm) : NULL,
	        .background = in->background,
	        .rates = in->running,
	        .objective = in->objective,
	        .seed = (uint64_t)o->seed,
	        /* Where only a deadline is given, all of its time may be
	         * used. */
	        .work = !o->work && o->deadline >= 0 ? INT64_MAX : o->work,
	        .expired = o->deadline >= 0 ? past : NULL,
	        .expired_arg = budget,
	        .seconds = o->deadline >= 0 ? o->deadline : 0,
	        .threads = (int)o->threads,
	        .raw = o->raw,
	};
	budget->seconds = o->deadline;
	return 0;
}

/* Tasks are ranks from here on, each with so many consecutive ones of the
 * signature. */
static int make_tasks(const struct options *o, struct job_inputs *in,
                      struct mapped *m, struct cpl_error *err)
{
	int each = m->processes = (int)o->processes, ranks = in->comm->ranks;
	struct cpl_rank_grid grid;
	struct cpl_comm *tasks;
	int *task;

	if (cpl_phases_groups(in->sig->phase, in->sig->n_phases, &grid) &&
	    cpl_rank_grid_contract(&grid, each, &m->groups))
		m->grid = &m->groups;
	if (each == 1)
		return 0;
	if (ranks % each)
		return cpl_fail(err,
		                "--processes-per-task %d: the signature's %d "
		                "ranks are no multiple",
		                each, ranks);
	task = malloc((size_t)ranks * sizeof(*task));
	for (int r = 0; task && r < ranks; r++)
		task[r] = r / each;
	tasks = task ? cpl_comm_contract(in->comm, task, ranks / each,
	                                 CPL_CONTRACT_INSIDE, err)
	             : NULL;
	if (!task)
		cpl_fail_memory(err);
	free(task);
	if (!tasks)
		return -1;
	cpl_comm_free(in->comm);
	in->comm = tasks;
	return 0;
}

static int map(const struct options *o, const struct job_inputs *in,
               struct mapped *m, struct cpl_error *err)
{
	const struct cpl_mapper *mapper =
	        cpl_mapper_find_in(CMD_MAPPERS, o->algorithm, err);
	double start = cpl_clock();
	struct budget budget;

	if (!mapper)
		return cpl_fail_prefix(err, "--algorithm: ");
	if (make_request(o, in, m, &budget, err))
		return -1;
	budget.end = start + o->deadline;
	if (cpl_map(mapper, &m->request, &m->result, err))
		return -1;
	m->seconds = cpl_clock() - start;
	m->algorithm = o->algorithm;
	return 0;
}

static int compare(const struct cmd *self, const struct options *o,
                   const struct job_inputs *in, struct mapped *m)
{
	struct cpl_error err = {""};
	struct budget budget;

	if (make_request(o, in, m, &budget, &err) ||
	    cpl_map_check(&m->request, &err))
		return cmd_fail(self, &err);
	return map_compare(self, &m->request, o->compare, o->json,
	                   m->request.expired ? start_budget : NULL);
}

static int repair(const struct cmd *self, const struct options *o,
                  const struct job_inputs *in, struct mapped *m)
{
	struct map_repair how = o->repair;

	how.format = (enum map_format)o->format;
	how.output = o->output;
	m->request.seed = (uint64_t)o->seed;
	return map_repair(self, &how, in, m);
}

static int run_map(const struct cmd *self, int argc, char **argv)
{
	struct options o = {
	        .seed = 1,
	        .deadline = -1,
	        .processes = 1,
	        .threads = cpl_parallel_cpus(),
	};
	struct cpl_error err = {""};
	struct job_inputs in = {0};
	struct mapped m = {0};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (job_inputs_load(&in, &o.job, &err) ||
	    make_tasks(&o, &in, &m, &err))
		rc = cmd_fail(self, &err);
	else if (o.repair.old)
		rc = repair(self, &o, &in, &m);
	else if (o.compare)
		rc = compare(self, &o, &in, &m);
	else if (map(&o, &in, &m, &err) ||
	         (o.plot && map_plot(o.plot, o.job.signature, &in, &m, &err)))
		rc = cmd_fail(self, &err);
	else
		rc = map_write(self, o.format, o.output, &in, &m);
	cpl_map_result_free(&m.result);
	cpl_free_all(m.host, m.slots, m.weight);
	job_inputs_free(&in);
	return rc;
}

const struct cmd cmd_map = {"map", run_map};
