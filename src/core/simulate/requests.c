/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rank waits for some transfers now, and for others by later calls. */
#include "base/array.h"
#include "simulate/simulate_internal.h"

static int new_request(struct cpl_simulation *sim)
{
	int i = sim->free_request;

	if (i >= 0) {
		sim->free_request = sim->request[i].next;
	} else {
		if (sim->n_requests == INT32_MAX ||
		    cpl_array_grow(&sim->request, sim->n_requests,
		                   sizeof(*sim->request), sim->err)) {
			cpl_sim_fail_memory(sim);
			return -1;
		}
		i = sim->n_requests++;
	}
	sim->request[i] = (struct cpl_sim_request){.next = -1};
	return i;
}

static void free_request(struct cpl_simulation *sim, int i)
{
	sim->request[i].next = sim->free_request;
	sim->free_request = i;
}

void cpl_sim_request(struct cpl_simulation *sim, int rank)
{
	struct cpl_rank_state *state = &sim->rank[rank];
	int i = new_request(sim);

	if (i < 0)
		return;
	if (state->oldest < 0)
		state->oldest = i;
	else
		sim->request[state->newest].next = i;
	state->newest = i;
}

int cpl_sim_hold(struct cpl_simulation *sim, int rank, unsigned flags)
{
	struct cpl_rank_state *state = &sim->rank[rank];

	if (flags & CPL_OP_LATER) {
		sim->request[state->newest].open++;
		return state->newest;
	}
	state->open++;
	return CPL_REQUEST_CALL;
}

void cpl_sim_release(struct cpl_simulation *sim, int rank, int request)
{
	if (request == CPL_REQUEST_NONE)
		return;
	if (request != CPL_REQUEST_CALL) {
		if (--sim->request[request].open ||
		    !sim->request[request].joined)
			return;
		free_request(sim, request);
	}
	cpl_sim_done_one(sim, rank);
}

void cpl_sim_join_oldest(struct cpl_simulation *sim, int rank)
{
	struct cpl_rank_state *state = &sim->rank[rank];
	int i = state->oldest;

	if (i < 0)
		return;
	state->oldest = sim->request[i].next;
	if (!sim->request[i].open) {
		free_request(sim, i);
		return;
	}
	sim->request[i].joined = true;
	state->open++;
}
