/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/contract.h"
#include "placement/decide_internal.h"

static struct cpl_comm *between_hosts(const struct cpl_comm *comm, int per_node,
                                      int n_hosts, struct cpl_error *err)
{
	int *host = malloc((size_t)comm->ranks * sizeof(*host));
	struct cpl_comm *hosts = NULL;

	if (!host) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int r = 0; r < comm->ranks; r++)
		host[r] = r / per_node;
	hosts = cpl_comm_contract(comm, host, n_hosts, CPL_CONTRACT_INSIDE,
	                          err);
	free(host);
	return hosts;
}

int cpl_evaluator_init(struct cpl_evaluator *ev,
                       const struct cpl_decide_request *req,
                       struct cpl_error *err)
{
	*ev = (struct cpl_evaluator){.req = req};
	ev->hosts = between_hosts(req->comm, req->ranks_per_node,
	                          req->place.n_nodes_wanted, err);
	if (!ev->hosts)
		return -1;
	ev->workload = cpl_workload_new(req->place.net, 1, err);
	return ev->workload ? 0 : -1;
}

int cpl_evaluator_run(struct cpl_evaluator *ev, const int *node,
                      struct cpl_metrics *metrics, struct cpl_job_sums *sums,
                      struct cpl_error *err)
{
	struct cpl_job job = {
	        .routing = ev->req->routing, .comm = ev->hosts, .node = node};

	return cpl_workload_evaluate(ev->workload, &job, ev->req->background,
	                             metrics, sums, err);
}

void cpl_evaluator_free(struct cpl_evaluator *ev)
{
	cpl_comm_free(ev->hosts);
	cpl_workload_free(ev->workload);
}
