/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/best_chain.h"

int cpl_best_nodes_init(struct cpl_best_nodes *nodes,
                        const struct cpl_map_request *req, const int *rank_host,
                        struct cpl_error *err)
{
	const struct cpl_comm *c = req->comm;
	struct cpl_comm_entry *entry =
	        malloc(((size_t)c->n_entries + 1) * sizeof(*entry));
	int64_t n = 0;

	*nodes = (struct cpl_best_nodes){.req = *req};
	nodes->ones = malloc((size_t)req->n_hosts * sizeof(*nodes->ones));
	if (!entry || !nodes->ones) {
		free(entry);
		return cpl_fail_memory(err);
	}
	for (int h = 0; h < req->n_hosts; h++)
		nodes->ones[h] = 1;
	for (int r = 0; r < c->ranks; r++)
		for (int64_t e = c->row[r]; e < c->row[r + 1]; e++) {
			int from = rank_host[r], to = rank_host[c->to[e]];

			if (from != to)
				entry[n++] = (struct cpl_comm_entry){
				        from, to, c->bytes[e], c->messages[e]};
		}
	nodes->comm = cpl_comm_build(req->n_hosts, entry, n, err);
	free(entry);
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
