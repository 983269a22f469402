/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "graph/contract.h"
#include "mapping/best/chain.h"

int cpl_best_nodes_init(struct cpl_best_nodes *nodes,
                        const struct cpl_map_request *req, const int *rank_host,
                        struct cpl_error *err)
{
	*nodes = (struct cpl_best_nodes){.req = *req};
	nodes->ones = malloc((size_t)req->n_hosts * sizeof(*nodes->ones));
	if (!nodes->ones)
		return cpl_fail_memory(err);
	for (int h = 0; h < req->n_hosts; h++)
		nodes->ones[h] = 1;
	nodes->comm =
	        cpl_comm_contract(req->comm, rank_host, req->n_hosts, 0, err);
	if (nodes->comm)
		nodes->graph = cpl_comm_symmetric(nodes->comm, err);
	nodes->req.comm = nodes->comm;
	nodes->req.graph = nodes->graph;
	nodes->req.slots = nodes->ones;
	return nodes->graph ? 0 : -1;
}

void cpl_best_nodes_free(struct cpl_best_nodes *nodes)
{
	cpl_comm_free(nodes->comm);
	cpl_comm_free(nodes->graph);
	free(nodes->ones);
}

void cpl_best_move_nodes(struct cpl_best_chain *chain, const int *from)
{
	for (int r = 0; r < chain->best->req->comm->ranks; r++)
		chain->trial[r] = chain->layout[from[r]];
	cpl_best_consider(chain);
}
