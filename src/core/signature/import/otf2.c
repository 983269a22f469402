/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The matrix of an OTF2 archive. Of collective operations the bytes sent and
 * received are stated, in all by a rank: of a broadcast and a scatter what is
 * received counts, of a reduction to a root and a gather what is sent, of an
 * all-reduce, all-gather and all-to-all of n ranks an n-th of what is sent, of a
 * scan what is received from each rank before.
 */
#include <stdlib.h>

#include "signature/import/calls.h"
#include "signature/import/otf2_archive.h"

/* Entries are added up when there are so many more. */
#define SQUEEZE (INT64_C(1) << 20)

struct counting {
	struct otf2_archive archive;
	struct matrix *out;
	int rank;         /* whose events are read */
	int64_t squeezed; /* entries that were left the last time */
	struct import_calls calls;
};

static int by_pair(const void *a, const void *b)
{
	const struct cpl_comm_entry *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int put(struct counting *c, int from, int to, uint64_t bytes)
{
	struct entry_list *list = &c->out->list;
	struct cpl_comm_entry e = {from, to, (double)bytes, 1};
	int64_t n = 0;

	if (entry_push(list, &e, c->archive.err))
		return -1;
	if (list->n < 2 * c->squeezed + SQUEEZE)
		return 0;
	qsort(list->entry, (size_t)list->n, sizeof(e), by_pair);
	for (int64_t i = 0; i < list->n; i++) {
		if (n && !by_pair(&list->entry[n - 1], &list->entry[i])) {
			list->entry[n - 1].bytes += list->entry[i].bytes;
			list->entry[n - 1].messages += list->entry[i].messages;
		} else {
			list->entry[n++] = list->entry[i];
		}
	}
	c->squeezed = list->n = n;
	return 0;
}

static OTF2_CallbackCode send(struct counting *c, const struct otf2_group *g,
                              uint32_t receiver, uint64_t bytes, bool back)
{
	int to;

	if (!g)
		return OTF2_CALLBACK_SUCCESS;
	to = cpl_otf2_world_rank(&c->archive, g, receiver, c->rank);
	if (to < 0)
		return cpl_otf2_code(-1);
	return cpl_otf2_code(back ? put(c, to, c->rank, bytes)
	                      : put(c, c->rank, to, bytes));
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time,
                                 uint64_t position, void *arg,
                                 OTF2_AttributeList *attributes,
                                 uint32_t receiver, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
	struct counting *c = arg;

	return send(c, cpl_otf2_group_of(&c->archive, comm), receiver, bytes,
	            false);
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location,
                                  OTF2_TimeStamp time, uint64_t position,
                                  void *arg, OTF2_AttributeList *attributes,
                                  uint32_t receiver, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes,
                                  uint64_t request)
{
	struct counting *c = arg;

	return send(c, cpl_otf2_group_of(&c->archive, comm), receiver, bytes,
	            false);
}

static OTF2_CallbackCode on_put(OTF2_LocationRef location, OTF2_TimeStamp time,
                                uint64_t position, void *arg,
                                OTF2_AttributeList *attributes,
                                OTF2_RmaWinRef window, uint32_t remote,
                                uint64_t bytes, uint64_t id)
{
	struct counting *c = arg;

	return send(c, cpl_otf2_group_of_window(&c->archive, window), remote, bytes,
	            false);
}

static OTF2_CallbackCode on_get(OTF2_LocationRef location, OTF2_TimeStamp time,
                                uint64_t position, void *arg,
                                OTF2_AttributeList *attributes,
                                OTF2_RmaWinRef window, uint32_t remote,
                                uint64_t bytes, uint64_t id)
{
	struct counting *c = arg;

	return send(c, cpl_otf2_group_of_window(&c->archive, window), remote, bytes,
	            true);
}

static const struct {
	OTF2_CollectiveOp op;
	enum import_operation operation;
} operations[] = {
        {OTF2_COLLECTIVE_OP_BCAST, IMPORT_BROADCAST},
        {OTF2_COLLECTIVE_OP_GATHER, IMPORT_GATHER},
        {OTF2_COLLECTIVE_OP_GATHERV, IMPORT_GATHER},
        {OTF2_COLLECTIVE_OP_SCATTER, IMPORT_SCATTER},
        {OTF2_COLLECTIVE_OP_SCATTERV, IMPORT_SCATTER},
        {OTF2_COLLECTIVE_OP_ALLGATHER, IMPORT_ALLGATHER},
        {OTF2_COLLECTIVE_OP_ALLGATHERV, IMPORT_ALLGATHER},
        {OTF2_COLLECTIVE_OP_ALLTOALL, IMPORT_ALLTOALL},
        {OTF2_COLLECTIVE_OP_ALLTOALLV, IMPORT_ALLTOALL},
        {OTF2_COLLECTIVE_OP_ALLTOALLW, IMPORT_ALLTOALL},
        {OTF2_COLLECTIVE_OP_ALLREDUCE, IMPORT_ALLREDUCE},
        {OTF2_COLLECTIVE_OP_REDUCE, IMPORT_REDUCE},
        {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, IMPORT_REDUCE_SCATTER},
        {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, IMPORT_REDUCE_SCATTER},
        {OTF2_COLLECTIVE_OP_SCAN, IMPORT_SCAN},
        {OTF2_COLLECTIVE_OP_EXSCAN, IMPORT_SCAN},
};

/* The bytes of a call as struct import_call has them. */
static double bytes_of(const struct import_call *c, int64_t n, uint64_t sent,
                       uint64_t received)
{
	switch (c->operation) {
	case IMPORT_BROADCAST:
	case IMPORT_SCATTER:
		return (double)received;
	case IMPORT_ALLREDUCE:
	case IMPORT_ALLGATHER:
	case IMPORT_ALLTOALL:
		return (double)sent / (double)n;
	case IMPORT_SCAN:
		return (double)received / (c->rank + 1.0);
	default:
		return (double)sent;
	}
}

static OTF2_CallbackCode on_collective(OTF2_LocationRef location,
                                       OTF2_TimeStamp time, uint64_t position,
                                       void *arg, OTF2_AttributeList *attributes,
                                       OTF2_CollectiveOp op, OTF2_CommRef comm,
                                       uint32_t root, uint64_t sent,
                                       uint64_t received)
{
	struct counting *c = arg;
	const struct otf2_group *g = cpl_otf2_group_of(&c->archive, comm);
	struct import_call call = {.calls = 1};
	size_t i = 0, n = sizeof(operations) / sizeof(*operations);

	while (i < n && operations[i].op != op)
		i++;
	if (i == n || !g)
		return OTF2_CALLBACK_SUCCESS;
	call.operation = operations[i].operation;
	call.group = (int)(g - c->archive.group);
	call.rank = cpl_otf2_place(&c->archive, g, c->rank);
	if (call.rank < 0)
		return cpl_otf2_code(-1);
	call.bytes = bytes_of(&call, g->n, sent, received);
	if (root != OTF2_COLLECTIVE_ROOT_NONE) {
		call.root = cpl_otf2_root_place(&c->archive, g, root, c->rank);
		if (call.root < 0)
			return cpl_otf2_code(-1);
	}
	if (c->calls.n && c->calls.n % SQUEEZE == 0)
		import_calls_merge(&c->calls);
	return cpl_otf2_code(import_call_push(&c->calls, &call, c->archive.err));
}

static OTF2_CallbackCode
on_icollective(OTF2_LocationRef location, OTF2_TimeStamp time,
               uint64_t position, void *arg, OTF2_AttributeList *attributes,
               OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
               uint64_t sent, uint64_t received, uint64_t request)
{
	return on_collective(location, time, position, arg, attributes, op,
	                     comm, root, sent, received);
}

static int read_events(struct counting *c)
{
	OTF2_EvtReaderCallbacks *on = OTF2_EvtReaderCallbacks_New();
	int rc = 0;

	if (!on)
		return cpl_fail_memory(c->archive.err);
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(on, on_send);
	OTF2_EvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(on, on_collective);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
	        on, on_icollective);
	OTF2_EvtReaderCallbacks_SetRmaPutCallback(on, on_put);
	OTF2_EvtReaderCallbacks_SetRmaGetCallback(on, on_get);
	for (c->rank = 0; c->rank < c->archive.ranks && !rc; c->rank++)
		rc = cpl_otf2_archive_read(&c->archive, c->rank, on, c);
	OTF2_EvtReaderCallbacks_Delete(on);
	return rc;
}

static int expand(struct counting *c)
{
	const struct otf2_archive *a = &c->archive;
	struct import_group *group =
	        calloc((size_t)a->n_groups + 1, sizeof(*group));
	int rc;

	if (!group)
		return cpl_fail_memory(a->err);
	for (int64_t g = 0; g < a->n_groups; g++)
		group[g] = (struct import_group){(int)a->group[g].n,
		                                 a->group[g].rank};
	rc = import_calls_expand(&c->calls, group, &c->out->list, a->err);
	free(group);
	return rc ? cpl_fail_prefix(a->err, "%s: ", a->path) : 0;
}

struct cpl_signature *cpl_signature_import_otf2(const char *path,
                                                const char *name,
                                                const char *application,
                                                struct cpl_error *err)
{
	struct matrix m = {.lost = "times and the order of messages, algorithms "
	                           "of collectives (trees and rings are taken), "
	                           "intercommunicators"};
	struct counting c = {.out = &m};
	struct cpl_signature *sig = NULL;

	if (!cpl_otf2_archive_open(&c.archive, path, false, err)) {
		m.ranks = c.archive.ranks;
		if (!read_events(&c) && !expand(&c))
			sig = import_finish(&m, "otf2", path, name, application,
			                    err);
	}
	cpl_otf2_archive_close(&c.archive);
	free(c.calls.call);
	free(m.list.entry);
	return sig;
}
