/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/grid.h"

struct grid_group grid_group(const struct train_grid *g, enum grid_kind kind)
{
	int plane = g->tp * g->cp * g->dp;

	switch (kind) {
	case GRID_TP:
		return (struct grid_group){1, g->tp};
	case GRID_CP:
		return (struct grid_group){g->tp, g->cp};
	case GRID_DP:
		return (struct grid_group){g->tp * g->cp, g->dp};
	case GRID_DP_CP:
		return (struct grid_group){g->tp, g->cp * g->dp};
	case GRID_PP:
		return (struct grid_group){plane, g->pp};
	case GRID_EP:
		return (struct grid_group){g->tp, g->ep};
	case GRID_EP_DP:
		return (struct grid_group){g->tp * g->ep,
		                           g->cp * g->dp / g->ep};
	case GRID_EP_TP:
		return (struct grid_group){1, g->tp * g->ep};
	case GRID_EMBEDDING:
		return (struct grid_group){plane * (g->pp - 1),
		                           g->pp > 1 ? 2 : 1};
	case GRID_SHARD:
		return (struct grid_group){g->tp, g->shard};
	case GRID_REPLICA:
		return (struct grid_group){g->tp * g->shard,
		                           g->cp * g->dp / g->shard};
	default:
		return (struct grid_group){1, plane * g->pp};
	}
}

const char *grid_name(enum grid_kind kind)
{
	static const char *const name[] = {
	        [GRID_TP] = "tp_group",       [GRID_CP] = "cp_group",
	        [GRID_DP] = "dp_group",       [GRID_DP_CP] = "dp_cp_group",
	        [GRID_PP] = "pp_group",       [GRID_EP] = "ep_group",
	        [GRID_EP_DP] = "ep_dp_group", [GRID_EP_TP] = "ep_tp_group",
	        [GRID_EMBEDDING] = "embedding_group",
	        [GRID_ALL] = "all",
	        [GRID_SHARD] = "shard_group",
	        [GRID_REPLICA] = "replica_group"};

	return name[kind];
}

const char *grid_operation_name(enum grid_operation operation)
{
	static const char *const name[] = {
	        [GRID_ALL_REDUCE] = "all_reduce",
	        [GRID_ALL_GATHER] = "all_gather",
	        [GRID_REDUCE_SCATTER] = "reduce_scatter",
	        [GRID_BROADCAST] = "broadcast",
	        [GRID_REDUCE] = "reduce",
	        [GRID_ALL_TO_ALL] = "all_to_all",
	        [GRID_SEND_NEXT] = "isend",
	        [GRID_SEND_PREVIOUS] = "isend",
	        [GRID_PASS] = "isend",
	        [GRID_PASS_BACK] = "isend"};

	return name[operation];
}

/* This is what a rank sends to a neighbour, of each byte of the buffer and in how
 * many messages; 0 in one that sends nothing. */
static double share(const struct grid_call *c, int place, double *messages)
{
	int n = c->group.size;

	*messages = 1;
	switch (c->operation) {
	case GRID_ALL_REDUCE:
		*messages = 2.0 * (n - 1);
		return 2.0 * (n - 1) / n;
	case GRID_ALL_GATHER:
	case GRID_REDUCE_SCATTER:
		*messages = n - 1;
		return (n - 1.0) / n;
	case GRID_BROADCAST:
		return (place + 1) % n != c->root;
	case GRID_REDUCE:
		return place != c->root;
	case GRID_SEND_NEXT:
		return place < n - 1;
	case GRID_SEND_PREVIOUS:
		return place > 0;
	default:
		return 1;
	}
}

static int64_t add_message(struct cpl_comm_entry *out, int64_t n,
                           const struct cpl_comm_entry *e)
{
	if (!(e->bytes > 0))
		return n;
	for (int64_t i = 0; i < n; i++)
		if (out[i].to == e->to) {
			out[i].bytes += e->bytes;
			out[i].messages += e->messages;
			return n;
		}
	out[n] = *e;
	return n + 1;
}

static int64_t put_to_all(const struct grid_call *c, int rank, int place,
                          struct cpl_comm_entry *out, int64_t n)
{
	int first = rank - place * c->group.stride, size = c->group.size;
	double bytes = c->repeat * c->bytes / size;

	for (int i = 0; i < size && bytes > 0; i++)
		if (i != place)
			out[n++] = (struct cpl_comm_entry){
			        rank, first + i * c->group.stride, bytes,
			        c->calls};
	return n;
}

int64_t grid_put(const struct grid_call *c, int rank,
                 struct cpl_comm_entry *out, int64_t n)
{
	int size = c->group.size, stride = c->group.stride;
	struct cpl_comm_entry e = {rank, 0, 0, 0};
	int place, other;

	if (size == 1)
		return n;
	place = rank / stride % size;
	if (c->operation == GRID_ALL_TO_ALL)
		return put_to_all(c, rank, place, out, n);
	other = (place + 1) % size;
	if (c->operation == GRID_SEND_PREVIOUS || c->operation == GRID_PASS_BACK)
		other = (place + size - 1) % size;
	e.to = rank + (other - place) * stride;
	e.bytes = c->repeat * (share(c, place, &e.messages) * c->bytes);
	e.messages *= c->calls;
	return add_message(out, n, &e);
}

double grid_sent(const struct grid_call *c)
{
	double bytes = c->repeat * c->bytes;

	if ((c->operation == GRID_PASS || c->operation == GRID_PASS_BACK) &&
	    c->group.size > 1)
		return c->group.size * bytes;
	if (c->operation == GRID_ALL_REDUCE)
		bytes *= 2;
	return (c->group.size - 1) * bytes;
}

json_t *grid_amount(double v)
{
	return v < 9e15 && v == (double)(int64_t)v ? json_integer((int64_t)v)
	                                           : json_real(v);
}

int grid_tell(json_t *list, const struct grid_told *t, struct cpl_error *err)
{
	json_t *row = json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:o}",
	                        "phase", t->phase, "group", grid_name(t->kind),
	                        "collective", t->collective, "size", t->size,
	                        "groups", t->groups, "calls", t->calls, "bytes",
	                        t->bytes, "sent", grid_amount(t->sent));

	return json_array_append_new(list, row) ? cpl_fail_memory(err) : 0;
}
