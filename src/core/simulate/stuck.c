/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes ranks that wait for ever. */
#include <stdio.h>

#include "simulate/simulate_internal.h"

#define NAMED 3 /* so many ranks */

/* Does the rank wait for this end now? */
static bool waits(const struct cpl_simulation *sim, int request)
{
	return request == CPL_REQUEST_CALL ||
	       (request >= 0 && sim->request[request].joined);
}

/* The awaited transfer with the lowest other rank; NULL: all are under way. */
static const struct cpl_transfer *unmatched(const struct cpl_simulation *sim,
                                            int rank)
{
	const struct cpl_transfer *found = NULL;
	int least = 0;

	for (size_t b = 0; b < 2 * ((size_t)sim->waiting.mask + 1); b++)
		for (int t = sim->waiting.first[b]; t >= 0;
		     t = sim->transfer[t].next) {
			const struct cpl_transfer *a = &sim->transfer[t];
			bool sends = a->flags & CPL_TRANSFER_SENT;
			int other = sends ? a->to : a->from;

			if (a->flags & CPL_TRANSFER_STARTED ||
			    (sends ? a->from : a->to) != rank ||
			    !waits(sim, sends ? a->send_request
			                      : a->receive_request) ||
			    (found && other >= least))
				continue;
			found = a;
			least = other;
		}
	return found;
}

/* Writes "rank 3 of milc in Recv, its call 7: its receive ... has no send". */
static int describe(const struct cpl_simulation *sim, int rank, char *text,
                    size_t size)
{
	const struct cpl_sim_job_state *job = &sim->job[sim->rank_job[rank]];
	const struct cpl_transfer *t = unmatched(sim, rank);
	char call[64] = "";
	int n;

	if (job->trace)
		cpl_trace_where(job->trace, rank - job->first, call,
		                sizeof(call));
	n = snprintf(text, size, "rank %d of %.30s%s: ", rank - job->first,
	             job->of->sig->name, call);
	text += n;
	size -= (size_t)n;
	if (!t)
		return n + snprintf(text, size,
		                    "its message is stuck on the network");
	if (t->flags & CPL_TRANSFER_SENT)
		return n + snprintf(text, size,
		                    "its send to rank %d has no receive",
		                    t->to - job->first);
	if (t->from == CPL_OP_ANY)
		return n + snprintf(text, size,
		                    "its receive from any rank has no send");
	return n + snprintf(text, size,
	                    "its receive from rank %d has no send",
	                    t->from - job->first);
}

int cpl_sim_stuck(struct cpl_simulation *sim)
{
	char text[2 * CPL_ERROR_MAX] = ""; /* long enough for any numbers */
	int n = 0, stuck = 0;

	for (int rank = 0; rank < sim->n_ranks; rank++) {
		if (!sim->rank[rank].open || stuck++ >= NAMED)
			continue;
		if (stuck > 1)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "; ");
		n += describe(sim, rank, text + n, sizeof(text) - (size_t)n);
	}
	if (!stuck)
		return 0;
	if (stuck > NAMED)
		snprintf(text + n, sizeof(text) - (size_t)n, "; %d more",
		         stuck - NAMED);
	return cpl_fail(sim->err, "deadlock: %s", text);
}
