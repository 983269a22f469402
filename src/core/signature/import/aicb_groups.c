/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/aicb_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

#define MAX_MESSAGES (INT64_C(1) << 23)
#define MAX_LOOKED_AT (INT64_C(1) << 27)

/* This fits the sizes that no row states: there are no such groups, or they are of
 * all the ranks that are left. */
static void guess_sizes(struct aicb *a, struct train_grid *g)
{
	const int *size = a->size;
	int64_t ranks, inner;

	g->tp = size[GRID_TP] ? size[GRID_TP] : 1;
	if (!size[GRID_TP] && size[GRID_EP] && size[GRID_EP_TP])
		g->tp = size[GRID_EP_TP] / size[GRID_EP];
	g->tp = g->tp ? g->tp : 1;
	g->cp = size[GRID_CP] ? size[GRID_CP] : 1;
	g->dp = size[GRID_DP];
	g->pp = size[GRID_PP];
	inner = (int64_t)g->tp * g->cp;
	if (!g->dp && size[GRID_DP_CP])
		g->dp = size[GRID_DP_CP] / g->cp;
	ranks = a->ranks ? a->ranks : size[GRID_ALL];
	if (!ranks)
		ranks = inner * (g->dp ? g->dp : 1) * (g->pp ? g->pp : 1);
	if (ranks > CPL_SIGNATURE_MAX_RANKS)
		ranks = 0; /* which the check refuses */
	if (!g->pp && (g->dp || a->sends))
		g->pp = (int)(ranks / (inner * (g->dp ? g->dp : 1)));
	g->pp = g->pp ? g->pp : 1;
	if (!g->dp)
		g->dp = (int)(ranks / inner / g->pp);
	a->ranks = (int)ranks;
}

static int check_experts(const struct aicb *a, struct train_grid *g,
                         struct cpl_error *err)
{
	const int *size = a->size;
	int same = g->cp * g->dp;
	bool used = a->used[GRID_EP] || a->used[GRID_EP_DP] ||
	            a->used[GRID_EP_TP];

	g->ep = size[GRID_EP] ? size[GRID_EP] : size[GRID_EP_TP] / g->tp;
	if (!g->ep && size[GRID_EP_DP])
		g->ep = same / size[GRID_EP_DP];
	if (!g->ep && used)
		return cpl_fail(err, "no row states the size of ep_group; "
		                     "--ep does");
	g->ep = g->ep ? g->ep : 1;
	if (same % g->ep ||
	    (size[GRID_EP_DP] && size[GRID_EP_DP] != same / g->ep) ||
	    (size[GRID_EP_TP] && size[GRID_EP_TP] != g->ep * g->tp))
		return cpl_fail(err,
		                "groups of %d experts do not divide the %d "
		                "ranks that have the same tp and pp",
		                g->ep, same);
	if (a->used[GRID_EP_TP] && g->cp > 1)
		return cpl_fail(err, "ep_tp_group and cp_group together are "
		                     "unknown");
	return 0;
}

int aicb_find_grid(struct aicb *a, struct cpl_error *err)
{
	struct train_grid *g = &a->grid;

	if (!a->n_rows)
		return cpl_fail(err, "has no operations of groups");
	guess_sizes(a, g);
	if ((double)g->tp * g->cp * g->dp * g->pp != a->ranks || !g->dp ||
	    (a->size[GRID_DP_CP] && a->size[GRID_DP_CP] != g->cp * g->dp) ||
	    (a->size[GRID_ALL] && a->size[GRID_ALL] != a->ranks))
		return cpl_fail(err,
		                "groups of tp %d, cp %d, dp %d and pp %d do "
		                "not make the %d ranks",
		                g->tp, g->cp, g->dp, g->pp,
		                a->size[GRID_ALL] ? a->size[GRID_ALL]
		                                  : a->ranks);
	return check_experts(a, g, err);
}

static CPL_SORT_BY(compare, struct aicb_row, CPL_UP(step), CPL_UP(kind),
                   CPL_UP(operation), CPL_UP(root), CPL_UP(low), CPL_UP(high),
                   CPL_UP(received))

/* This adds up rows that are alike. */
static int merge(struct aicb *a, struct cpl_error *err)
{
	int64_t n = 0;

	qsort(a->row, (size_t)a->n_rows, sizeof(*a->row), compare);
	for (int64_t i = 0; i < a->n_rows; i++) {
		struct aicb_row *last = n ? &a->row[n - 1] : NULL;
		const struct aicb_row *r = &a->row[i];

		if (!last || compare(last, r)) {
			a->row[n++] = *r;
			continue;
		}
		last->bytes += r->bytes;
		last->calls += r->calls;
		if (last->bytes > (int64_t)SIGNATURE_MAX_AMOUNT ||
		    last->calls > (int64_t)SIGNATURE_MAX_AMOUNT)
			return cpl_fail(err, "%s has more than 1e18 bytes",
			                grid_name(r->kind));
	}
	a->n_rows = n;
	return 0;
}

/* Whatever way they go, messages between stages are one phase. */
static bool is_send(enum grid_operation operation)
{
	return operation == GRID_SEND_NEXT || operation == GRID_SEND_PREVIOUS;
}

static bool alike(const struct aicb_row *a, const struct aicb_row *b)
{
	return a->step == b->step && a->kind == b->kind &&
	       (a->operation == b->operation ||
	        (is_send(a->operation) && is_send(b->operation)));
}

/* Sends that the same ranks tell of at both ends count where there are more; the
 * other end's is the next row, or the one before. */
static bool is_told(const struct aicb *a, int64_t i)
{
	const struct aicb_row *r = &a->row[i], *other = r + 1;
	bool both;

	if (!is_send(r->operation))
		return false;
	/* What some of the ranks receive, others send. */
	if (r->received &&
	    (r->low > 0 || (r->high >= 0 && r->high < a->ranks - 1)))
		return true;
	if (r->received)
		other = r - 1;
	both = other >= a->row && other < a->row + a->n_rows &&
	       alike(r, other) && other->operation == r->operation &&
	       other->low == r->low && other->high == r->high &&
	       other->received != r->received;
	return both && (r->received ? other->bytes >= r->bytes
	                            : other->bytes > r->bytes);
}

static struct grid_call call_of(const struct aicb *a, const struct aicb_row *r)
{
	double steps = r->step && a->steps ? (double)a->steps : 1;

	return (struct grid_call){.group = grid_group(&a->grid, r->kind),
	                          .operation = r->operation,
	                          .root = r->root,
	                          .bytes = (double)r->bytes / steps,
	                          .repeat = 1,
	                          .calls = (double)r->calls / steps};
}

/* A rank of a stage between the first and the last has no part in the embedding. */
static bool is_member(const struct aicb *a, const struct aicb_row *r, int rank)
{
	int stage = rank / (a->ranks / a->grid.pp);

	return r->kind != GRID_EMBEDDING || stage == 0 ||
	       stage == a->grid.pp - 1;
}

/* This puts a row's messages into the phase's list, and how many bytes these are
 * into *sent. */
static int expand(struct aicb *a, const struct aicb_row *r,
                  struct entry_list *list, double *sent, struct cpl_error *err)
{
	struct grid_call call = call_of(a, r);
	int high = r->high < 0 ? a->ranks - 1 : r->high, size = call.group.size;
	struct cpl_comm_entry *room;
	int64_t members = 0;
	int rc = 0;

	if (r->root >= size)
		return cpl_fail(err, "%s: rank %d of %d is the root",
		                grid_name(r->kind), r->root, size);
	if (!r->bytes)
		return 0;
	a->looked_at += high - r->low + 1;
	if (a->looked_at > MAX_LOOKED_AT)
		return cpl_fail(err, "has operations of more than %lld ranks "
		                     "together",
		                (long long)MAX_LOOKED_AT);
	room = malloc((size_t)size * sizeof(*room));
	if (!room)
		return cpl_fail_memory(err);
	for (int rank = r->low; rank <= high && !rc; rank++) {
		int64_t n = 0;

		if (is_member(a, r, rank)) {
			n = grid_put(&call, rank, room, 0);
			members++;
		}
		if (n > MAX_MESSAGES - list->n)
			rc = cpl_fail(err, "has more than %lld messages",
			              (long long)MAX_MESSAGES);
		for (int64_t i = 0; i < n && !rc; i++) {
			rc = entry_push(list, &room[i], err);
			/* Not each rank of the stages has one to send to. */
			*sent += is_send(r->operation) ? room[i].bytes : 0;
		}
	}
	if (!is_send(r->operation))
		*sent += grid_sent(&call) * (double)members / size;
	free(room);
	return rc;
}

/* What a rank does by the file, and how many bytes all send for it. */
static int tell(const struct aicb *a, struct matrix *out, const char *phase,
                const struct aicb_row *r, int64_t n, double sent,
                struct cpl_error *err)
{
	json_int_t bytes[2] = {0, 0}, calls[2] = {0, 0};
	double steps = r->step && a->steps ? (double)a->steps : 1;
	struct grid_told told = {.phase = phase,
	                         .kind = r->kind,
	                         .size = grid_group(&a->grid, r->kind).size,
	                         .sent = sent * steps};

	told.groups = r->kind == GRID_EMBEDDING ? a->ranks / a->grid.pp
	                                        : a->ranks / told.size;
	for (int64_t i = 0; i < n; i++) {
		bytes[r[i].received] += r[i].bytes;
		calls[r[i].received] += r[i].calls;
	}
	for (int received = 0; received < 2; received++) {
		if (!calls[received])
			continue;
		told.collective =
		        received ? "irecv" : grid_operation_name(r->operation);
		told.calls = json_integer(calls[received]);
		told.bytes = json_integer(bytes[received]);
		if (grid_tell(out->communication, &told, err))
			return -1;
		told.sent = 0; /* what is received is sent by another */
	}
	return 0;
}

static int make_phase(struct aicb *a, struct matrix *out, int64_t first,
                      int64_t n, struct cpl_error *err)
{
	const struct aicb_row *r = &a->row[first];
	struct import_phase *p;
	double sent = 0;

	if (cpl_array_grow(&out->phase, out->n_phases, sizeof(*p), err))
		return -1;
	p = &out->phase[out->n_phases++];
	memset(p, 0, sizeof(*p));
	p->weight = r->step && a->steps ? (double)a->steps : 1;
	snprintf(p->name, sizeof(p->name), "%s.%s.%s",
	         r->step ? "step" : "init", grid_name(r->kind),
	         grid_operation_name(r->operation));
	for (int64_t i = 0; i < n; i++)
		if (!is_told(a, first + i) &&
		    expand(a, &r[i], &p->list, &sent, err))
			return -1;
	if (tell(a, out, p->name, r, n, sent, err))
		return -1;
	if (!p->list.n)
		out->n_phases--;
	return 0;
}

int aicb_make_phases(struct aicb *a, struct matrix *out, struct cpl_error *err)
{
	int64_t n;

	out->communication = json_array();
	if (!out->communication)
		return cpl_fail_memory(err);
	if (merge(a, err))
		return -1;
	for (int64_t i = 0; i < a->n_rows; i += n) {
		n = 1;
		while (i + n < a->n_rows && alike(&a->row[i], &a->row[i + n]))
			n++;
		if ((a->row[i].step || !out->step) &&
		    make_phase(a, out, i, n, err))
			return -1;
	}
	if (!out->n_phases)
		return cpl_fail(err, "says of no rank that it sends anything%s",
		                out->step ? " in a step" : "");
	return 0;
}
