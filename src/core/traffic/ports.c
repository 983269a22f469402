/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/ports.h"

#include <limits.h>
#include <stdlib.h>

#include "graph/arena.h"

int cpl_port_pin(const struct cpl_network *net, const int *rank_node, int nodes,
                 int ranks, int *cable, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	int *on = cpl_arena_take(&arena, nodes, sizeof(*on));
	int *next = cpl_arena_take(&arena, nodes, sizeof(*next));

	if (arena.failed)
		return cpl_arena_end(&arena, -1, err);
	for (int r = 0; r < ranks; r++)
		on[rank_node[r]]++;
	for (int r = 0; r < ranks; r++) {
		int node = rank_node[r], i = next[node]++, port;

		port = net->port_use == CPL_PORTS_FIRST ? 0
		       : net->port_use == CPL_PORTS_AFFINITY
		               ? net->accelerators
		                         .port[i % net->accelerators.per_node]
		                              [0]
		       : net->port_use == CPL_PORTS_ROUND_ROBIN
		               ? i % net->n_ports
		               : (int)((int64_t)i * net->n_ports / on[node]);
		cable[r] = node * net->n_ports + port;
	}
	return cpl_arena_end(&arena, 0, err);
}

/* Entries of each: those of port p of a rank are together, by peer. */
static void split_rank(const struct cpl_network *net,
                       const struct cpl_comm *comm, int rank,
                       struct cpl_comm *out)
{
	int n = net->n_ports;

	for (int p = 0; p < n; p++) {
		out->row[rank * n + p] = out->n_entries;
		for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++)
			for (int q = 0; q < n; q++) {
				double part = cpl_network_port_fraction(net, p, q);
				int64_t at = out->n_entries;

				if (!(part > 0))
					continue;
				out->to[at] = comm->to[e] * n + q;
				out->bytes[at] = comm->bytes[e] * part;
				out->messages[at] = comm->messages[e] * part;
				out->n_entries++;
			}
	}
	out->row[rank * n + n] = out->n_entries;
}

/* Split every rank into one for each port. */
static int split(struct cpl_port_job *p, const struct cpl_network *net,
                 const struct cpl_comm *comm, struct cpl_error *err)
{
	int pairs = 0;
	size_t n;

	for (int a = 0; a < net->n_ports; a++)
		for (int b = 0; b < net->n_ports; b++)
			pairs += cpl_network_port_fraction(net, a, b) > 0;
	if (comm->ranks > INT_MAX / net->n_ports)
		return cpl_fail(err, "%d ranks with %d ports each are too many",
		                comm->ranks, net->n_ports);
	p->made = calloc(1, sizeof(*p->made));
	if (!p->made)
		return cpl_fail_memory(err);
	p->made->ranks = comm->ranks * net->n_ports;
	n = (size_t)comm->n_entries * (size_t)pairs + 1;
	p->made->row =
	        malloc(((size_t)p->made->ranks + 1) * sizeof(*p->made->row));
	p->made->to = malloc(n * sizeof(*p->made->to));
	p->made->bytes = malloc(n * sizeof(*p->made->bytes));
	p->made->messages = malloc(n * sizeof(*p->made->messages));
	if (!p->made->row || !p->made->to || !p->made->bytes ||
	    !p->made->messages)
		return cpl_fail_memory(err);
	p->made->row[0] = 0;
	for (int r = 0; r < comm->ranks; r++)
		split_rank(net, comm, r, p->made);
	p->comm = p->made;
	return 0;
}

int cpl_port_job_make(struct cpl_port_job *ports, const struct cpl_network *net,
                      const struct cpl_job *job, const struct cpl_comm *comm,
                      struct cpl_error *err)
{
	bool splits = net->port_use == CPL_PORTS_SPREAD || job->of_hosts;
	struct cpl_port_job p = {.comm = comm};
	size_t n;
	int rc = splits ? split(&p, net, comm, err) : 0;

	n = (size_t)p.comm->ranks + 1;
	p.node = rc ? NULL : malloc(n * sizeof(*p.node));
	p.cable = rc ? NULL : malloc(n * sizeof(*p.cable));
	if (!rc && (!p.node || !p.cable))
		rc = cpl_fail_memory(err);
	for (int r = 0; !rc && r < p.comm->ranks; r++) {
		p.node[r] = cpl_job_node(job, splits ? r / net->n_ports : r);
		p.cable[r] = p.node[r] * net->n_ports + r % net->n_ports;
	}
	if (!rc && !splits)
		rc = cpl_port_pin(net, p.node, net->n_nodes, p.comm->ranks,
		                  p.cable, err);
	if (rc)
		cpl_port_job_free(&p);
	*ports = p;
	return rc;
}

void cpl_port_job_free(struct cpl_port_job *ports)
{
	cpl_comm_free(ports->made);
	cpl_free_all(ports->node, ports->cable);
	*ports = (struct cpl_port_job){0};
}
