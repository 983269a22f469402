/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/accelerators.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph/arena.h"

/* A job's messages while they are told apart. */
struct telling {
	const struct cpl_network *net;
	const struct cpl_comm *comm;
	bool spread;    /* ranks use all accelerators of their node */
	const int *node; /* [ranks] */
	int *number;    /* [ranks] accelerator of the node, where not spread */
	struct cpl_load *load;
	struct cpl_job_sums *sums;
	struct cpl_comm *out;
	struct cpl_arena arena;
};

static int open_ranks(struct telling *t, struct cpl_error *err)
{
	int per_node = t->net->accelerators.per_node;
	int *next = cpl_arena_take(&t->arena, t->net->n_nodes, sizeof(*next));

	t->number = cpl_arena_take(&t->arena, t->comm->ranks,
	                           sizeof(*t->number));
	if (t->arena.failed)
		return cpl_fail_memory(err);
	for (int r = 0; r < t->comm->ranks; r++)
		t->number[r] = next[t->node[r]]++ % per_node;
	return 0;
}

/* Add bytes from a rank, or to it, to its accelerator's links. */
static void add_end(const struct telling *t, double *value, int rank,
                    double bytes)
{
	int n = t->net->accelerators.per_node;
	int64_t first = cpl_network_accelerator(t->net, t->node[rank]);

	if (!t->spread) {
		value[first + t->number[rank]] += bytes;
		return;
	}
	for (int k = 0; k < n; k++)
		value[first + k] += bytes / n;
}

static bool same_node(const struct telling *t, int a, int b)
{
	int split = t->net->accelerators.split;

	return t->node[a] / split == t->node[b] / split;
}

/* Does the message stay off the network? With `add` it is added then. */
static bool stays(const struct telling *t, int a, int b, double bytes, bool add)
{
	bool node = same_node(t, a, b);
	bool near = !node && cpl_network_share_domain(t->net, t->node[a],
	                                              t->node[b]);
	int kind = node ? cpl_accelerators_inside(t->net, t->node[a])
	                : CPL_INSIDE_DOMAIN;

	if (!node && !near)
		return !(bytes > 0);
	if (!add)
		return true;
	t->sums->bytes += bytes;
	t->sums->bytes_in_node += node ? bytes : 0;
	t->sums->bytes_in_domain += near ? bytes : 0;
	if (kind < 0 || !(bytes > 0) ||
	    (node && !t->spread && t->number[a] == t->number[b]))
		return true;
	add_end(t, t->load->out[kind], a, bytes);
	add_end(t, t->load->in[kind], b, bytes);
	return true;
}

/* With PXN the bytes pass the accelerator of the sender's node that has the
 * ports of the receiver's. */
static void pass(const struct telling *t, int a, int b, double bytes)
{
	const struct cpl_accelerators *acc = &t->net->accelerators;
	int kind = cpl_accelerators_inside(t->net, t->node[a]);

	if (!acc->pxn || kind < 0)
		return;
	if (t->spread) {
		add_end(t, t->load->out[kind], a, bytes * acc->passes);
		add_end(t, t->load->in[kind], a, bytes * acc->passes);
		return;
	}
	if (!memcmp(acc->port[t->number[a]], acc->port[t->number[b]],
	            (size_t)acc->ports))
		return;
	add_end(t, t->load->out[kind], a, bytes);
	t->load->in[kind][cpl_network_accelerator(t->net, t->node[a]) +
	                  t->number[b]] += bytes;
}

/* The i-th port of the accelerators that a message from a to b leaves by, and
 * arrives at. */
static int port_from(const struct telling *t, int a, int b, int i)
{
	const struct cpl_accelerators *acc = &t->net->accelerators;

	return acc->port[t->number[acc->pxn ? b : a]][i];
}

static int port_to(const struct telling *t, int b, int i)
{
	return t->net->accelerators.port[t->number[b]][i];
}

/* Messages of the ranks' own, or those of their ports by affinity. */
static bool by_affinity(const struct telling *t)
{
	return t->net->port_use == CPL_PORTS_AFFINITY && !t->spread &&
	       t->net->n_ports > 1;
}

static struct cpl_comm *open_out(int ranks, int64_t entries,
                                 struct cpl_error *err)
{
	struct cpl_comm *out = calloc(1, sizeof(*out));
	size_t n = (size_t)entries + 1;

	if (out) {
		out->ranks = ranks;
		out->row = calloc((size_t)ranks + 2, sizeof(*out->row));
		out->to = malloc(n * sizeof(*out->to));
		out->bytes = malloc(n * sizeof(*out->bytes));
		out->messages = malloc(n * sizeof(*out->messages));
	}
	if (out && out->row && out->to && out->bytes && out->messages)
		return out;
	cpl_comm_free(out);
	cpl_fail_memory(err);
	return NULL;
}

/* Counts what leaves in row[rank + 1], or, once these are added up, puts it. */
static void tell(struct telling *t, bool put)
{
	const struct cpl_comm *comm = t->comm;
	bool split = by_affinity(t);
	int n = split ? t->net->n_ports : 1;
	int parts = split ? t->net->accelerators.ports : 1;

	for (int a = 0; a < comm->ranks; a++)
		for (int64_t e = comm->row[a]; e < comm->row[a + 1]; e++) {
			int b = comm->to[e];

			if (stays(t, a, b, comm->bytes[e], put))
				continue;
			if (put)
				pass(t, a, b, comm->bytes[e]);
			for (int i = 0; i < parts; i++) {
				int p = split ? port_from(t, a, b, i) : 0;
				int q = split ? port_to(t, b, i) : 0;
				int64_t *row = &t->out->row[a * n + p + 1];

				if (put) {
					t->out->to[*row] = b * n + q;
					t->out->bytes[*row] =
					        comm->bytes[e] / parts;
					t->out->messages[*row] =
					        comm->messages
					                ? comm->messages[e] /
					                          parts
					                : 0;
				}
				++*row;
			}
		}
}

/* Makes t->out. */
static int make_out(struct telling *t, struct cpl_error *err)
{
	bool split = by_affinity(t);
	int n = split ? t->net->n_ports : 1;
	int parts = split ? t->net->accelerators.ports : 1;
	int64_t sum = 0;

	if (t->comm->ranks > (INT_MAX - 2) / n)
		return cpl_fail(err, "%d ranks with %d ports each are too many",
		                t->comm->ranks, n);
	t->out = open_out(t->comm->ranks * n, t->comm->n_entries * parts, err);
	if (!t->out)
		return -1;
	tell(t, false);
	/* Each row begins where the next count is put. */
	for (int r = 1; r <= t->out->ranks; r++) {
		int64_t count = t->out->row[r];

		t->out->row[r] = sum;
		sum += count;
	}
	tell(t, true);
	t->out->n_entries = sum;
	return 0;
}

/* *rest of what was told apart: who is where, by which cable. */
static int make_rest(struct telling *t, const struct cpl_job *job,
                     struct cpl_port_job *rest, struct cpl_error *err)
{
	bool split = by_affinity(t);
	int n = split ? t->net->n_ports : 1;
	size_t ranks = (size_t)t->out->ranks + 1;

	if (t->net->n_ports > 1 && !split) {
		int rc = cpl_port_job_make(rest, t->net, job, t->out, err);

		if (!rc && rest->comm == t->out)
			rest->made = t->out;
		else
			cpl_comm_free(t->out);
		t->out = NULL;
		return rc;
	}
	*rest = (struct cpl_port_job){.comm = t->out, .made = t->out};
	t->out = NULL;
	rest->node = malloc(ranks * sizeof(*rest->node));
	rest->cable = malloc(ranks * sizeof(*rest->cable));
	if (!rest->node || !rest->cable) {
		cpl_port_job_free(rest);
		return cpl_fail_memory(err);
	}
	for (int r = 0; r < rest->comm->ranks; r++) {
		rest->node[r] = t->node[r / n];
		rest->cable[r] = rest->node[r] * n + r % n;
	}
	return 0;
}

int cpl_accelerators_take(const struct cpl_network *net,
                          const struct cpl_job *job,
                          const struct cpl_comm *comm, struct cpl_load *load,
                          struct cpl_job_sums *sums, struct cpl_port_job *rest,
                          struct cpl_error *err)
{
	struct telling t = {.net = net,
	                    .comm = comm,
	                    .load = load,
	                    .sums = sums,
	                    .spread = job->of_hosts ||
	                              net->accelerators.split > 1};
	int *node = cpl_arena_take_raw(&t.arena, comm->ranks, sizeof(*node));
	int rc = -1;

	*rest = (struct cpl_port_job){0};
	if (cpl_out_of_memory(t.arena.failed, err))
		goto out;
	for (int r = 0; r < comm->ranks; r++)
		node[r] = cpl_job_node(job, r);
	t.node = node;
	if ((!t.spread && open_ranks(&t, err)) || make_out(&t, err))
		goto out;
	rc = make_rest(&t, job, rest, err);
out:
	cpl_comm_free(t.out);
	return cpl_arena_end(&t.arena, rc, err);
}
