/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks do their operations. */
#include "simulate/simulate_internal.h"

static void leave_phase(struct cpl_simulation *sim, int rank)
{
	struct cpl_rank_state *state = &sim->rank[rank];
	struct cpl_sim_phase *phase;

	if (state->phase < 0)
		return;
	phase = &cpl_sim_times_of(sim, rank)->phase[state->phase];
	if (sim->now > phase->end)
		phase->end = sim->now;
}

/* Messages that the rank's software has still to do go before what it computes.
 * Returns when it is through with them. */
static double after_software(struct cpl_simulation *sim, int rank)
{
	double busy = sim->rank[rank].software - sim->now;

	if (sim->options->queue == CPL_SIM_QUEUE_NONE || !(busy > 0))
		return sim->now;
	cpl_sim_rank_times(sim, rank)->communication += busy;
	cpl_sim_times_of(sim, rank)
	        ->phase[sim->rank[rank].phase]
	        .communication += busy;
	cpl_timeline_rank(&sim->result->timeline, rank,
	                  CPL_TIMELINE_COMMUNICATION, sim->now,
	                  sim->now + busy);
	return sim->now + busy;
}

static void compute(struct cpl_simulation *sim, int rank, double seconds)
{
	double begin = after_software(sim, rank);

	seconds /= sim->options->speed;
	cpl_sim_rank_times(sim, rank)->compute += seconds;
	cpl_timeline_rank(&sim->result->timeline, rank, CPL_TIMELINE_COMPUTE,
	                  begin, begin + seconds);
	cpl_sim_times_of(sim, rank)->phase[sim->rank[rank].phase].compute +=
	        seconds;
	cpl_events_add(&sim->events, begin + seconds, CPL_EVENT_RANK,
	               (uint32_t)rank);
}

static void end(struct cpl_simulation *sim, int rank)
{
	struct cpl_sim_job_state *job = &sim->job[sim->rank_job[rank]];

	leave_phase(sim, rank);
	cpl_sim_rank_times(sim, rank)->end = sim->now;
	if (!--job->running)
		cpl_sim_times_of(sim, rank)->end = sim->now;
}

static struct cpl_op next(struct cpl_simulation *sim, int rank)
{
	struct cpl_sim_job_state *job = &sim->job[sim->rank_job[rank]];
	struct cpl_op op = {.kind = CPL_OP_END};

	if (!job->trace)
		return cpl_program_next(&job->program, rank - job->first,
		                        &sim->rank[rank].at);
	if (cpl_trace_next(job->trace, rank - job->first, &op, sim->err))
		sim->failed = true;
	return op;
}

/* Does the rank have to wait? */
static bool begin_wait(struct cpl_simulation *sim, int rank)
{
	struct cpl_rank_state *state = &sim->rank[rank];

	state->blocked = state->open;
	state->since = sim->now;
	return state->blocked;
}

/* Does operations that take no time. False: the rank waits. */
static bool communicate(struct cpl_simulation *sim, int rank,
                        const struct cpl_op *op)
{
	int first = sim->job[sim->rank_job[rank]].first;

	switch (op->kind) {
	case CPL_OP_SEND:
		cpl_sim_send(sim, rank, rank, first + op->peer, op);
		return true;
	case CPL_OP_GET:
		cpl_sim_send(sim, rank, first + op->peer, rank, op);
		return true;
	case CPL_OP_RECEIVE:
		cpl_sim_receive(sim, rank,
		                op->peer == CPL_OP_ANY ? CPL_OP_ANY
		                                       : first + op->peer,
		                op);
		return true;
	case CPL_OP_REQUEST:
		cpl_sim_request(sim, rank);
		return true;
	case CPL_OP_WAIT_ALL:
		while (sim->rank[rank].oldest >= 0)
			cpl_sim_join_oldest(sim, rank);
		return !begin_wait(sim, rank);
	case CPL_OP_WAIT_OLDEST:
		cpl_sim_join_oldest(sim, rank);
		/* fall through */
	default: /* CPL_OP_WAIT */
		return !begin_wait(sim, rank);
	}
}

void cpl_sim_run_rank(struct cpl_simulation *sim, int rank)
{
	while (!sim->failed) {
		struct cpl_op op = next(sim, rank);

		if (sim->failed)
			return;
		switch (op.kind) {
		case CPL_OP_PHASE:
			leave_phase(sim, rank);
			sim->rank[rank].phase = op.peer;
			break;
		case CPL_OP_COMPUTE:
			compute(sim, rank, op.amount);
			return;
		case CPL_OP_END:
			end(sim, rank);
			return;
		default:
			if (!communicate(sim, rank, &op))
				return;
		}
	}
}
