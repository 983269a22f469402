/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accounts for the time of ranks, and lets them go on. */
#include "simulate/simulate_internal.h"

void cpl_sim_fail_memory(struct cpl_simulation *sim)
{
	if (!sim->failed)
		cpl_fail_memory(sim->err);
	sim->failed = true;
}

void cpl_sim_account(struct cpl_simulation *sim, int rank)
{
	struct cpl_rank_state *state = &sim->rank[rank];
	double spent = sim->now - state->since;
	struct cpl_sim_phase *phase;

	if (!state->blocked || !(spent > 0))
		return;
	cpl_timeline_rank(&sim->result->timeline, rank,
	                  state->flying ? CPL_TIMELINE_COMMUNICATION
	                                : CPL_TIMELINE_WAITING,
	                  state->since, sim->now);
	state->since = sim->now;
	phase = &cpl_sim_times_of(sim, rank)->phase[state->phase];
	if (state->flying) {
		cpl_sim_rank_times(sim, rank)->communication += spent;
		phase->communication += spent;
	} else {
		cpl_sim_rank_times(sim, rank)->waiting += spent;
		phase->waiting += spent;
	}
}

void cpl_sim_done_one(struct cpl_simulation *sim, int rank)
{
	struct cpl_rank_state *state = &sim->rank[rank];

	if (--state->open || !state->blocked)
		return;
	cpl_sim_account(sim, rank);
	state->blocked = false;
	cpl_events_add(&sim->events, sim->now, CPL_EVENT_RANK, (uint32_t)rank);
}
