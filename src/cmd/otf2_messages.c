/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "otf2_messages.h"

#include "record/collectives.h"

/* A message of the rank (inward: to it, one-sided). 0, or -1 with err. */
static int put_message(struct otf2_rank *r, int peer, bool inward,
                       uint64_t bytes, uint64_t messages)
{
	rec_events_message(&r->events, peer, inward, bytes, messages);
	return rec_table_add(inward ? &r->in : &r->out, peer, bytes, messages)
	               ? cpl_fail_memory(r->archive->err)
	               : 0;
}

static void among(struct otf2_rank *r, const struct otf2_group *g)
{
	int64_t i = g - r->archive->group;

	if (r->communicator[i] < 0)
		r->communicator[i] = rec_events_communicator(
		        &r->events, r->hash[i], (uint32_t)g->n);
	rec_events_on(&r->events, (uint16_t)r->communicator[i]);
}

/* To another rank, or inward. */
static OTF2_CallbackCode send(struct otf2_rank *r, OTF2_TimeStamp time,
                              const char *function, const struct otf2_group *g,
                              uint32_t receiver, uint64_t bytes, bool inward)
{
	int rc = cpl_otf2_rank_at(r, time, function), to;

	if (rc <= 0)
		return cpl_otf2_code(rc);
	if (g) {
		to = cpl_otf2_world_rank(r->archive, g, receiver, r->rank);
		if (to < 0)
			return cpl_otf2_code(-1);
		among(r, g);
		rc = put_message(r, to, inward, bytes, 1);
	}
	cpl_otf2_rank_done(r);
	return cpl_otf2_code(rc < 0 ? -1 : 0);
}

/* A receive; done NULL: its message never came. */
static OTF2_CallbackCode receive(struct otf2_rank *r, OTF2_TimeStamp time,
                                 const char *function,
                                 const struct otf2_done *done)
{
	const struct otf2_group *g =
	        done ? cpl_otf2_group_of(r->archive, done->comm) : NULL;
	int rc = cpl_otf2_rank_at(r, time, function), from;

	if (rc <= 0)
		return cpl_otf2_code(rc);
	if (g) {
		from = cpl_otf2_world_rank(r->archive, g, done->rank, r->rank);
		if (from < 0)
			return cpl_otf2_code(-1);
		among(r, g);
		rec_events_from(&r->events, from, done->received);
	}
	cpl_otf2_rank_done(r);
	return OTF2_CALLBACK_SUCCESS;
}

static const struct operation {
	OTF2_CollectiveOp op;
	const char *function, *later;
} operations[] = {
        {OTF2_COLLECTIVE_OP_BARRIER, "Barrier", "Ibarrier"},
        {OTF2_COLLECTIVE_OP_BCAST, "Bcast", "Ibcast"},
        {OTF2_COLLECTIVE_OP_GATHER, "Gather", "Igather"},
        {OTF2_COLLECTIVE_OP_GATHERV, "Gatherv", "Igatherv"},
        {OTF2_COLLECTIVE_OP_SCATTER, "Scatter", "Iscatter"},
        {OTF2_COLLECTIVE_OP_SCATTERV, "Scatterv", "Iscatterv"},
        {OTF2_COLLECTIVE_OP_ALLGATHER, "Allgather", "Iallgather"},
        {OTF2_COLLECTIVE_OP_ALLGATHERV, "Allgatherv", "Iallgatherv"},
        {OTF2_COLLECTIVE_OP_ALLTOALL, "Alltoall", "Ialltoall"},
        {OTF2_COLLECTIVE_OP_ALLTOALLV, "Alltoallv", "Ialltoallv"},
        {OTF2_COLLECTIVE_OP_ALLTOALLW, "Alltoallw", "Ialltoallw"},
        {OTF2_COLLECTIVE_OP_ALLREDUCE, "Allreduce", "Iallreduce"},
        {OTF2_COLLECTIVE_OP_REDUCE, "Reduce", "Ireduce"},
        {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, "Reduce_scatter",
         "Ireduce_scatter"},
        {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, "Reduce_scatter_block",
         "Ireduce_scatter_block"},
        {OTF2_COLLECTIVE_OP_SCAN, "Scan", "Iscan"},
        {OTF2_COLLECTIVE_OP_EXSCAN, "Exscan", "Iexscan"},
};

/* What a rank sends in an operation goes through here. */
struct emitting {
	struct otf2_rank *rank;
	const struct otf2_group *group;
	int rc;
};

static void emit(void *context, bool remote, int to, uint64_t bytes,
                 uint64_t messages)
{
	struct emitting *e = context;

	e->rc |= put_message(e->rank, e->group->rank[to], false, bytes,
	                     messages);
}

/*
 * Of an operation the archive states the bytes sent and received, in all by a
 * rank; collectives.h wants those of one message. Of a broadcast and a scatter
 * what is received counts, of a reduction to a root and a gather what is sent, of
 * an all-reduce, all-gather and all-to-all of n ranks an n-th of what is sent, of a
 * scan what is received from each rank before.
 */
static void expand(const struct rec_coll *c, const struct otf2_done *d, int root)
{
	uint64_t n = (uint64_t)c->size, part = d->sent / n;

	switch (d->op) {
	case OTF2_COLLECTIVE_OP_BARRIER:
		rec_barrier(c);
		break;
	case OTF2_COLLECTIVE_OP_BCAST:
		rec_bcast(c, root, d->received ? d->received : part);
		break;
	case OTF2_COLLECTIVE_OP_GATHER:
		rec_gather(c, root, d->sent);
		break;
	case OTF2_COLLECTIVE_OP_GATHERV:
		rec_gatherv(c, root, d->sent);
		break;
	case OTF2_COLLECTIVE_OP_SCATTER:
		rec_scatter(c, root, d->received);
		break;
	case OTF2_COLLECTIVE_OP_SCATTERV:
		if (c->rank == root)
			rec_alltoall(c, part);
		break;
	case OTF2_COLLECTIVE_OP_ALLGATHER:
		rec_allgather(c, part);
		break;
	case OTF2_COLLECTIVE_OP_ALLGATHERV:
		rec_allgather(c, d->received / n);
		break;
	case OTF2_COLLECTIVE_OP_ALLREDUCE:
		rec_allreduce(c, part);
		break;
	case OTF2_COLLECTIVE_OP_REDUCE:
		rec_reduce(c, root, d->sent);
		break;
	case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
	case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
		rec_reduce_scatter_block(c, part);
		break;
	case OTF2_COLLECTIVE_OP_SCAN:
	case OTF2_COLLECTIVE_OP_EXSCAN:
		rec_scan(c, d->received / ((uint64_t)c->rank + 1));
		break;
	default: /* all-to-all */
		rec_alltoall(c, part);
	}
}

/* The messages of an operation of the group. 0, or -1 with err. */
static int send_all(struct otf2_rank *r, const struct otf2_done *d,
                    const struct otf2_group *g)
{
	struct emitting e = {r, g, 0};
	struct rec_coll c = {
	        .rank = cpl_otf2_group_rank(r->archive, g, r->rank),
	        .size = (int)g->n,
	        .emit = emit,
	        .context = &e};
	int root =
	        d->rank == OTF2_COLLECTIVE_ROOT_NONE
	                ? 0
	                : cpl_otf2_root_rank(r->archive, g, d->rank, r->rank);

	if (c.rank < 0 || root < 0)
		return -1;
	among(r, g);
	expand(&c, d, root);
	return e.rc;
}

/* done NULL: it never ended. Operations that move nothing do not count. */
static OTF2_CallbackCode collective(struct otf2_rank *r, OTF2_TimeStamp time,
                                    const struct otf2_done *d, bool later)
{
	const struct otf2_group *g =
	        d ? cpl_otf2_group_of(r->archive, d->comm) : NULL;
	size_t i = 0, n = sizeof(operations) / sizeof(*operations);
	int rc = 0;

	while (d && i < n && operations[i].op != d->op)
		i++;
	if (!d || i == n) {
		r->begun = false;
		return cpl_otf2_code(cpl_otf2_rank_tick(r, time));
	}
	rc = cpl_otf2_rank_at(r, time,
	                  later ? operations[i].later : operations[i].function);
	if (rc <= 0)
		return cpl_otf2_code(rc);
	rc = g ? send_all(r, d, g) : 0;
	cpl_otf2_rank_done(r);
	return cpl_otf2_code(rc);
}

#define ON_EVENT(name, ...)                                                    \
	static OTF2_CallbackCode name(                                         \
	        OTF2_LocationRef location, OTF2_TimeStamp time,                \
	        uint64_t position, void *arg, OTF2_AttributeList *attributes,  \
	        __VA_ARGS__)

/* The first reading. */
ON_EVENT(ask, uint64_t request)
{
	struct otf2_rank *r = arg;

	return cpl_otf2_code(cpl_otf2_match_ask(&r->match, request, r->archive->err));
}

ON_EVENT(ask_received, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
         uint64_t bytes, uint64_t request)
{
	struct otf2_rank *r = arg;
	const struct otf2_done done = {.outcome = OTF2_RECEIVED,
	                               .comm = comm,
	                               .rank = sender,
	                               .received = bytes};

	return cpl_otf2_code(cpl_otf2_match_answer(&r->match, request, &done,
	                                   r->archive->err));
}

ON_EVENT(ask_completed, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
         uint64_t sent, uint64_t received, uint64_t request)
{
	struct otf2_rank *r = arg;
	const struct otf2_done done = {OTF2_COLLECTIVE, op,   comm,
	                               root,            sent, received};

	return cpl_otf2_code(cpl_otf2_match_answer(&r->match, request, &done,
	                                   r->archive->err));
}

ON_EVENT(ask_cancelled, uint64_t request)
{
	struct otf2_rank *r = arg;
	const struct otf2_done done = {.outcome = OTF2_CANCELLED};

	return cpl_otf2_code(cpl_otf2_match_answer(&r->match, request, &done,
	                                   r->archive->err));
}

void cpl_otf2_messages_ask(OTF2_EvtReaderCallbacks *on)
{
	OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(on, ask);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(on,
	                                                                ask);
	OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(on, ask_received);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
	        on, ask_completed);
	OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(on,
	                                                       ask_cancelled);
}

/* Of the second reading: what became of the next request; NULL: nothing. */
static const struct otf2_done *next_answer(struct otf2_rank *r,
                                           enum otf2_outcome outcome)
{
	int64_t i = -1;

	if (r->asked < r->match.n_asked) /* else it is being written */
		i = r->match.answer[r->asked++];
	return i >= 0 && r->match.done[i].outcome == outcome
	               ? &r->match.done[i]
	               : NULL;
}

/* The next completion, if no request was its; else NULL. */
static const struct otf2_done *next_unasked(struct otf2_rank *r)
{
	int64_t i = r->answered++;

	return i >= r->match.n_done || r->match.answers[i] ? NULL
	                                                   : &r->match.done[i];
}

ON_EVENT(on_send, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
         uint64_t bytes)
{
	struct otf2_rank *r = arg;

	return send(r, time, "Send", cpl_otf2_group_of(r->archive, comm), receiver,
	            bytes, false);
}

ON_EVENT(on_isend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
         uint64_t bytes, uint64_t request)
{
	struct otf2_rank *r = arg;

	return send(r, time, "Isend", cpl_otf2_group_of(r->archive, comm), receiver,
	            bytes, false);
}

ON_EVENT(on_recv, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
         uint64_t bytes)
{
	const struct otf2_done done = {
	        .comm = comm, .rank = sender, .received = bytes};

	return receive(arg, time, "Recv", &done);
}

ON_EVENT(on_irecv_request, uint64_t request)
{
	return receive(arg, time, "Irecv", next_answer(arg, OTF2_RECEIVED));
}

ON_EVENT(on_irecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
         uint64_t bytes, uint64_t request)
{
	const struct otf2_done *done = next_unasked(arg);

	return done ? receive(arg, time, "Irecv", done)
	            : cpl_otf2_code(cpl_otf2_rank_tick(arg, time));
}

ON_EVENT(on_cancelled, uint64_t request)
{
	next_unasked(arg);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_begin(OTF2_LocationRef location,
                                  OTF2_TimeStamp time, uint64_t position,
                                  void *arg, OTF2_AttributeList *attributes)
{
	return cpl_otf2_code(cpl_otf2_rank_begin(arg, time));
}

ON_EVENT(on_collective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
         uint64_t sent, uint64_t received)
{
	const struct otf2_done done = {OTF2_COLLECTIVE, op,   comm,
	                               root,            sent, received};

	return collective(arg, time, &done, false);
}

ON_EVENT(on_collective_request, uint64_t request)
{
	return collective(arg, time, next_answer(arg, OTF2_COLLECTIVE), true);
}

ON_EVENT(on_completed, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
         uint64_t sent, uint64_t received, uint64_t request)
{
	return collective(arg, time, next_unasked(arg), true);
}

ON_EVENT(on_put, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes,
         uint64_t id)
{
	struct otf2_rank *r = arg;

	return send(r, time, "Put", cpl_otf2_group_of_window(r->archive, window),
	            remote, bytes, false);
}

ON_EVENT(on_get, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes,
         uint64_t id)
{
	struct otf2_rank *r = arg;

	return send(r, time, "Get", cpl_otf2_group_of_window(r->archive, window),
	            remote, bytes, true);
}

void cpl_otf2_messages_tell(OTF2_EvtReaderCallbacks *on)
{
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(on, on_send);
	OTF2_EvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
	OTF2_EvtReaderCallbacks_SetMpiRecvCallback(on, on_recv);
	OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(on,
	                                                   on_irecv_request);
	OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(on, on_irecv);
	OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(on,
	                                                       on_cancelled);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(on, on_begin);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(on, on_collective);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
	        on, on_collective_request);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
	        on, on_completed);
	OTF2_EvtReaderCallbacks_SetRmaPutCallback(on, on_put);
	OTF2_EvtReaderCallbacks_SetRmaGetCallback(on, on_get);
}
