/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "simulate/simulate_internal.h"
#include "traffic/ports.h"

/* progress is called once in this many events. */
#define PROGRESS_EVENTS 1000000
/* Sums of times, and times weights, remain numbers below this. */
#define MAX_SECONDS 1e100

/* Opens what the ranks do. Returns the number of phases, or -1 with err. */
static int open_program(struct cpl_simulation *sim,
                        struct cpl_sim_job_state *job)
{
	const struct cpl_sim_job *of = job->of;

	if (of->trace) {
		job->trace = cpl_trace_new(of->trace, sim->err);
		return job->trace ? 1
		                  : cpl_fail_prefix(sim->err, "trace %.60s: ",
		                                    of->sig->name);
	}
	if (cpl_program_init(&job->program, of->sig, of->phase,
	                     sim->options->executions, sim->err))
		return -1;
	return job->program.n_phases;
}

static int open_job(struct cpl_simulation *sim, int number,
                    const struct cpl_sim_job *of)
{
	struct cpl_sim_job_state *job = &sim->job[number];
	struct cpl_sim_job_times *times = &sim->result->job[number];
	int ranks = of->sig->ranks, n_phases;

	job->of = of;
	job->first = sim->n_ranks;
	job->running = job->n_ranks = ranks;
	n_phases = open_program(sim, job);
	if (n_phases < 0)
		return -1;
	times->start = of->start;
	times->rank = calloc((size_t)ranks, sizeof(*times->rank));
	times->phase = calloc((size_t)n_phases + 1, sizeof(*times->phase));
	if (!times->rank || !times->phase)
		return cpl_fail_memory(sim->err);
	times->n_ranks = ranks;
	times->n_phases = n_phases;
	if (job->trace)
		times->phase[0] = (struct cpl_sim_phase){
		        .name = "trace", .weight = 1, .executions = 1};
	for (int p = 0; p < job->program.n_phases; p++) {
		const struct cpl_program_phase *phase = &job->program.phase[p];

		times->phase[p].name = phase->of->name;
		times->phase[p].weight = phase->of->weight;
		times->phase[p].executions = phase->executions;
	}
	sim->n_ranks += ranks;
	return 0;
}

/* Gives each rank its node, port and first event. */
static int start_job(struct cpl_simulation *sim, int number, int *cable)
{
	const struct cpl_sim_job_state *job = &sim->job[number];
	const struct cpl_network *net = sim->net;
	int ranks = job->n_ranks;

	if (cpl_sim_ports(net) == 1 &&
	    cpl_port_pin(net, job->of->rank_node, net->n_nodes, ranks, cable,
	                 sim->err))
		return -1;
	for (int r = 0; r < ranks; r++) {
		struct cpl_rank_state *rank = &sim->rank[job->first + r];
		int node = job->of->rank_node[r];

		sim->rank_job[job->first + r] = number;
		rank->node = node;
		rank->cable = cpl_sim_ports(net) == 1 ? cable[r]
		                                      : node * net->n_ports;
		rank->phase = -1;
		rank->oldest = -1;
		cpl_events_add(&sim->events, job->of->start, CPL_EVENT_RANK,
		               (uint32_t)(job->first + r));
	}
	return 0;
}

/* Numbers each job's ranks of a node. */
static int open_slots(struct cpl_simulation *sim)
{
	int *next = cpl_arena_take(&sim->arena, sim->net->n_nodes,
	                           sizeof(*next));
	int *job = cpl_arena_take(&sim->arena, sim->net->n_nodes, sizeof(*job));

	if (sim->arena.failed)
		return cpl_fail_memory(sim->err);
	for (int r = 0; r < sim->n_ranks; r++) {
		int node = sim->rank[r].node;

		if (job[node] != sim->rank_job[r] + 1)
			next[node] = 0;
		job[node] = sim->rank_job[r] + 1;
		sim->rank[r].slot = next[node]++;
	}
	return 0;
}

static int open_ranks(struct cpl_simulation *sim)
{
	int *cable = cpl_arena_take(&sim->arena, sim->n_ranks, sizeof(*cable));

	sim->rank_job = cpl_arena_take(&sim->arena, sim->n_ranks,
	                               sizeof(*sim->rank_job));
	sim->rank =
	        cpl_arena_take(&sim->arena, sim->n_ranks, sizeof(*sim->rank));
	if (sim->arena.failed)
		return cpl_fail_memory(sim->err);
	for (int j = 0; j < sim->n_jobs; j++)
		if (start_job(sim, j, cable))
			return -1;
	return sim->options->n_inside ? open_slots(sim) : 0;
}

static int open_simulation(struct cpl_simulation *sim,
                           const struct cpl_sim_job *job)
{
	struct cpl_sim_result *result = sim->result;
	int64_t ranks = 0;

	if (sim->net->accelerators.per_node)
		return cpl_fail(sim->err, "network %.60s has accelerators, "
		                          "whose links are not simulated",
		                sim->net->name);
	sim->job = cpl_arena_take(&sim->arena, sim->n_jobs, sizeof(*sim->job));
	result->job = calloc((size_t)sim->n_jobs + 1, sizeof(*result->job));
	if (!sim->job || !result->job)
		return cpl_fail_memory(sim->err);
	result->n_jobs = sim->n_jobs;
	for (int j = 0; j < sim->n_jobs; j++)
		ranks += job[j].sig->ranks;
	if (ranks > INT32_MAX / 2)
		return cpl_fail(sim->err, "more than %d ranks", INT32_MAX / 2);
	for (int j = 0; j < sim->n_jobs; j++)
		if (open_job(sim, j, &job[j]))
			return -1;
	if (cpl_load_init(&result->bytes, sim->net, sim->err) ||
	    cpl_load_init(&result->busy, sim->net, sim->err) ||
	    cpl_load_init(&result->stalled, sim->net, sim->err) ||
	    cpl_sim_transfers_init(sim) || cpl_sim_costs_init(sim))
		return -1;
	if (sim->options->bins &&
	    cpl_timeline_init(&result->timeline, sim->options->bins,
	                      sim->n_ranks, cpl_times_links(sim->net),
	                      sim->err))
		return -1;
	return open_ranks(sim);
}

static void handle(struct cpl_simulation *sim, struct cpl_event event)
{
	int item = (int)event.item;

	switch (event.kind) {
	case CPL_EVENT_RANK:
		cpl_sim_run_rank(sim, item);
		break;
	case CPL_EVENT_START:
		sim->options->level->start(sim, item);
		break;
	case CPL_EVENT_TAKEN:
		cpl_sim_delivered(sim, item);
		break;
	case CPL_EVENT_ARRIVED:
		cpl_sim_sent(sim, item);
		cpl_sim_delivered(sim, item);
		break;
	default:
		sim->options->level->event(sim, event.kind, event.item);
	}
}

static int run_events(struct cpl_simulation *sim)
{
	const struct cpl_sim_options *o = sim->options;
	struct cpl_event event;

	while (cpl_events_take(&sim->events, &event)) {
		sim->now = cpl_event_time(event);
		if (!(sim->now <= MAX_SECONDS))
			return cpl_fail(sim->err,
			                "it takes longer than %g seconds",
			                MAX_SECONDS);
		handle(sim, event);
		if (sim->events.failed)
			cpl_sim_fail_memory(sim);
		if (sim->failed)
			return -1;
		if (++sim->result->events % PROGRESS_EVENTS == 0 && o->progress)
			o->progress(o->arg, sim->now, sim->result->messages);
	}
	/* An event that was lost may have been the last. */
	return sim->events.failed ? cpl_fail_memory(sim->err)
	                          : cpl_sim_stuck(sim);
}

/* Adds up the phases; the whole run has `weight` executions of each. */
static void add_up(struct cpl_sim_job_times *job)
{
	double before = job->start;

	for (int p = 0; p < job->n_phases; p++) {
		struct cpl_sim_phase *phase = &job->phase[p];

		phase->seconds = fmax(phase->end - before, 0);
		before = fmax(phase->end, before);
		job->run += phase->seconds * phase->weight / phase->executions;
		phase->compute /= job->n_ranks;
		phase->communication /= job->n_ranks;
		phase->waiting /= job->n_ranks;
	}
}

static void finish(struct cpl_simulation *sim)
{
	struct cpl_sim_result *result = sim->result;
	const struct cpl_latencies *l = &sim->latencies;

	for (int j = 0; j < sim->n_jobs; j++) {
		struct cpl_sim_job_times *job = &result->job[j];

		if (job->end > result->seconds)
			result->seconds = job->end;
		add_up(job);
	}
	result->latency = (struct cpl_sim_latency){
	        .n = l->n,
	        .min = l->min,
	        .mean = l->n ? l->sum / (double)l->n : 0,
	        .max = l->max,
	        .q1 = cpl_latencies_quantile(l, 0.25),
	        .median = cpl_latencies_quantile(l, 0.5),
	        .q3 = cpl_latencies_quantile(l, 0.75),
	        .p99 = cpl_latencies_quantile(l, 0.99),
	};
}

int cpl_simulate(const struct cpl_sim_options *options,
                 const struct cpl_sim_job *job, int n_jobs,
                 struct cpl_sim_result *result, struct cpl_error *err)
{
	struct cpl_simulation *sim = calloc(1, sizeof(*sim));
	int rc = -1;

	*result = (struct cpl_sim_result){0};
	if (!sim)
		return cpl_fail_memory(err);
	sim->options = options;
	sim->net = options->net;
	sim->result = result;
	sim->err = err;
	sim->n_jobs = n_jobs;
	if (!open_simulation(sim, job)) {
		rc = options->level->open(sim) ? -1 : run_events(sim);
		options->level->close(sim);
	}
	if (!rc)
		finish(sim);
	for (int j = 0; j < n_jobs && sim->job; j++) {
		cpl_program_free(&sim->job[j].program);
		cpl_trace_free(sim->job[j].trace);
	}
	cpl_sim_transfers_free(sim);
	cpl_sim_costs_free(sim);
	cpl_events_free(&sim->events);
	cpl_arena_free(&sim->arena);
	free(sim);
	return rc;
}

void cpl_sim_result_free(struct cpl_sim_result *result)
{
	for (int j = 0; j < result->n_jobs; j++) {
		cpl_free_all(result->job[j].phase, result->job[j].rank);
	}
	free(result->job);
	cpl_load_free(&result->bytes);
	cpl_load_free(&result->busy);
	cpl_load_free(&result->stalled);
	cpl_timeline_free(&result->timeline);
	*result = (struct cpl_sim_result){0};
}
