/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/contract.h"
#include "placement/decide_internal.h"

static struct cpl_comm *between_seats(const struct cpl_comm *comm, int per_node,
                                      int n_seats, struct cpl_error *err)
{
	int *seat = malloc((size_t)comm->ranks * sizeof(*seat));
	struct cpl_comm *seats = NULL;

	if (!seat) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int r = 0; r < comm->ranks; r++)
		seat[r] = r / per_node;
	seats = cpl_comm_contract(comm, seat, n_seats, CPL_CONTRACT_INSIDE,
	                          err);
	free(seat);
	return seats;
}

int cpl_evaluator_init(struct cpl_evaluator *ev,
                       const struct cpl_decide_request *req,
                       struct cpl_error *err)
{
	*ev = (struct cpl_evaluator){.req = req};
	ev->seats = between_seats(req->comm, req->ranks_per_node,
	                          req->place.n_nodes_wanted, err);
	if (!ev->seats)
		return -1;
	ev->workload = cpl_workload_new(req->place.net, 1, err);
	return ev->workload ? 0 : -1;
}

int cpl_evaluator_run(struct cpl_evaluator *ev, const int *node,
                      struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                      struct cpl_error *err)
{
	struct cpl_job job = {.routing = ev->req->routing,
	                      .comm = ev->seats,
	                      .node = node};

	return cpl_workload_evaluate(ev->workload, &job, ev->req->background,
	                             metrics, sums, err);
}

void cpl_evaluator_free(struct cpl_evaluator *ev)
{
	cpl_comm_free(ev->seats);
	cpl_workload_free(ev->workload);
}
