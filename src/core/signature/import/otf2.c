/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OTF2 archives, such as Score-P's, through libotf2 (3.0 or newer). Not in the
 * library: slurmctld shall not load that.
 *
 * Ranks are places in the group COMM_LOCATIONS of MPI, those of events places in
 * their communicator's group. Of collective operations the bytes sent and
 * received are stated, in all by a rank: of a broadcast and a scatter what is
 * received counts, of a reduction to a root and a gather what is sent, of an
 * all-reduce, all-gather and all-to-all of n ranks an n-th of what is sent, of a
 * scan what is received from each rank before.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "signature/import/calls.h"

/* Entries are added up when there are so many more. */
#define SQUEEZE (INT64_C(1) << 20)

/* A number of the archive and what we know it by. */
struct known {
	uint64_t ref;
	int64_t number;
};

struct table {
	struct known *item; /* sorted by ref when all are in */
	int64_t n;
};

struct group {
	uint64_t *member;
	int64_t n;
	OTF2_GroupType type;
	bool world_ranks;    /* in events, instead of places */
	struct table places; /* rank -> place */
	int *rank;           /* [n] */
};

struct archive {
	struct matrix *out;
	struct cpl_error *err;
	struct table locations, groups, comms, windows;
	uint64_t *location; /* of all, [locations.n] */
	struct group *group;
	int64_t n_groups;
	int world;        /* of COMM_LOCATIONS, or -1 */
	int rank;         /* of the location that is read */
	bool quiet;       /* what libotf2 says is no error */
	int64_t squeezed; /* entries that were left the last time */
	struct import_calls calls;
};

static int compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return (x->ref > y->ref) - (x->ref < y->ref);
}

static int push(struct table *t, uint64_t ref, int64_t number,
                struct cpl_error *err)
{
	if (cpl_array_grow(&t->item, t->n, sizeof(*t->item), err))
		return -1;
	t->item[t->n++] = (struct known){ref, number};
	return 0;
}

static void sort(struct table *t)
{
	if (t->n)
		qsort(t->item, (size_t)t->n, sizeof(*t->item), compare);
}

/* -1: unknown. */
static int64_t find(const struct table *t, uint64_t ref)
{
	struct known key = {.ref = ref};
	const struct known *at =
	        t->n ? bsearch(&key, t->item, (size_t)t->n, sizeof(key),
	                       compare)
	             : NULL;

	return at ? at->number : -1;
}

static OTF2_CallbackCode code(int rc)
{
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self,
                                     OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef in)
{
	struct archive *a = arg;

	if (cpl_array_grow(&a->location, a->locations.n, sizeof(*a->location),
	                   a->err))
		return code(-1);
	a->location[a->locations.n] = self;
	/* its rank is known when groups are */
	return code(push(&a->locations, self, -1, a->err));
}

static OTF2_CallbackCode on_group(void *arg, OTF2_GroupRef self,
                                  OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t n, const uint64_t *members)
{
	struct archive *a = arg;
	struct group *g;

	if (paradigm != OTF2_PARADIGM_MPI ||
	    (type != OTF2_GROUP_TYPE_COMM_LOCATIONS &&
	     type != OTF2_GROUP_TYPE_COMM_GROUP))
		return OTF2_CALLBACK_SUCCESS;
	if (push(&a->groups, self, a->n_groups, a->err) ||
	    cpl_array_grow(&a->group, a->n_groups, sizeof(*g), a->err))
		return code(-1);
	g = &a->group[a->n_groups];
	*g = (struct group){.n = n, .type = type};
	g->world_ranks = flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS;
	g->member = malloc(((size_t)n + 1) * sizeof(*g->member));
	g->rank = malloc(((size_t)n + 1) * sizeof(*g->rank));
	a->n_groups++;
	if (!g->member || !g->rank)
		return code(cpl_fail_memory(a->err));
	memcpy(g->member, members, (size_t)n * sizeof(*g->member));
	if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
		a->world = (int)a->n_groups - 1;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *arg, OTF2_CommRef self,
                                 OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct archive *a = arg;

	return code(push(&a->comms, self, group, a->err));
}

static OTF2_CallbackCode on_window(void *arg, OTF2_RmaWinRef self,
                                   OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
	struct archive *a = arg;

	return code(push(&a->windows, self, comm, a->err));
}

/* The group of a communicator; NULL: of one rank, or an intercommunicator. */
static struct group *group_of(const struct archive *a, uint64_t comm)
{
	int64_t g = find(&a->comms, comm);

	g = g < 0 ? -1 : find(&a->groups, (uint64_t)g);
	return g < 0 ? NULL : &a->group[g];
}

/* A rank of the group's events in MPI_COMM_WORLD; -1: there is none. */
static int world_rank(const struct archive *a, const struct group *g,
                      uint64_t rank)
{
	if (g->world_ranks)
		return rank < (uint64_t)a->out->ranks ? (int)rank : -1;
	return rank < (uint64_t)g->n ? g->rank[rank] : -1;
}

static int by_pair(const void *a, const void *b)
{
	const struct cpl_comm_entry *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int put(struct archive *a, int from, int to, uint64_t bytes)
{
	struct entry_list *list = &a->out->list;
	struct cpl_comm_entry e = {from, to, (double)bytes, 1};
	int64_t n = 0;

	if (entry_push(list, &e, a->err))
		return -1;
	if (list->n < 2 * a->squeezed + SQUEEZE)
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
	a->squeezed = list->n = n;
	return 0;
}

static OTF2_CallbackCode send(struct archive *a, uint32_t receiver,
                              OTF2_CommRef comm, uint64_t bytes, bool back)
{
	const struct group *g = group_of(a, comm);
	int to = g ? world_rank(a, g, receiver) : -1;

	if (!g)
		return OTF2_CALLBACK_SUCCESS;
	if (to < 0)
		return code(cpl_fail(a->err,
		                     "an event of rank %d names rank %u of a "
		                     "communicator of %lld",
		                     a->rank, receiver, (long long)g->n));
	return code(back ? put(a, to, a->rank, bytes)
	                 : put(a, a->rank, to, bytes));
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time,
                                 uint64_t position, void *arg,
                                 OTF2_AttributeList *attributes,
                                 uint32_t receiver, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
	return send(arg, receiver, comm, bytes, false);
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location,
                                  OTF2_TimeStamp time, uint64_t position,
                                  void *arg, OTF2_AttributeList *attributes,
                                  uint32_t receiver, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes,
                                  uint64_t request)
{
	return send(arg, receiver, comm, bytes, false);
}

/* One-sided: to a rank of the window's communicator, or back from it. */
static OTF2_CallbackCode transfer(struct archive *a, OTF2_RmaWinRef window,
                                  uint32_t remote, uint64_t bytes, bool back)
{
	int64_t comm = find(&a->windows, window);

	return comm < 0 ? OTF2_CALLBACK_SUCCESS
	                : send(a, remote, (OTF2_CommRef)comm, bytes, back);
}

static OTF2_CallbackCode on_put(OTF2_LocationRef location, OTF2_TimeStamp time,
                                uint64_t position, void *arg,
                                OTF2_AttributeList *attributes,
                                OTF2_RmaWinRef window, uint32_t remote,
                                uint64_t bytes, uint64_t id)
{
	return transfer(arg, window, remote, bytes, false);
}

static OTF2_CallbackCode on_get(OTF2_LocationRef location, OTF2_TimeStamp time,
                                uint64_t position, void *arg,
                                OTF2_AttributeList *attributes,
                                OTF2_RmaWinRef window, uint32_t remote,
                                uint64_t bytes, uint64_t id)
{
	return transfer(arg, window, remote, bytes, true);
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
	struct archive *a = arg;
	const struct group *g = group_of(a, comm);
	struct import_call c = {.calls = 1};
	size_t i = 0, n = sizeof(operations) / sizeof(*operations);
	int64_t place;

	while (i < n && operations[i].op != op)
		i++;
	if (i == n || !g)
		return OTF2_CALLBACK_SUCCESS;
	place = find(&g->places, (uint64_t)a->rank);
	if (place < 0)
		return code(cpl_fail(a->err,
		                     "rank %d takes part in a collective "
		                     "operation of a communicator that it is "
		                     "not in",
		                     a->rank));
	c.operation = operations[i].operation;
	c.group = (int)(g - a->group);
	c.rank = (int)place;
	c.bytes = bytes_of(&c, g->n, sent, received);
	if (root != OTF2_COLLECTIVE_ROOT_NONE) {
		int rank = world_rank(a, g, root);

		place = rank < 0 ? -1 : find(&g->places, (uint64_t)rank);
		if (place < 0)
			return code(cpl_fail(a->err,
			                     "a collective operation of rank "
			                     "%d has root %u, which its "
			                     "communicator has not",
			                     a->rank, root));
		c.root = (int)place;
	}
	if (a->calls.n && a->calls.n % SQUEEZE == 0)
		import_calls_merge(&a->calls);
	return code(import_call_push(&a->calls, &c, a->err));
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

/* libotf2 says what is wrong here; the first is the cause. */
static OTF2_ErrorCode on_error(void *arg, const char *file, uint64_t line,
                               const char *function, OTF2_ErrorCode error,
                               const char *format, va_list args)
{
	struct archive *a = arg;
	char text[160];

	vsnprintf(text, sizeof(text), format, args);
	if (!*a->err->text && !a->quiet)
		cpl_fail(a->err, "%s: %s", OTF2_Error_GetDescription(error),
		         text);
	return error;
}

/* 0, or -1 with err, whatever libotf2 said. */
static int check(struct archive *a, OTF2_ErrorCode error, const char *what)
{
	if (error == OTF2_SUCCESS)
		return 0;
	return *a->err->text ? -1
	                     : cpl_fail(a->err, "%s: %s", what,
	                                OTF2_Error_GetDescription(error));
}

static int resolve_group(struct archive *a, struct group *g)
{
	for (int64_t i = 0; i < g->n; i++) {
		uint64_t m = g->type == OTF2_GROUP_TYPE_COMM_LOCATIONS
		                     ? (uint64_t)i
		                     : g->member[i];

		if (m >= (uint64_t)a->out->ranks)
			return cpl_fail(a->err,
			                "a communicator has rank %llu of %d",
			                (unsigned long long)m, a->out->ranks);
		g->rank[i] = (int)m;
		if (push(&g->places, m, i, a->err))
			return -1;
	}
	sort(&g->places);
	return 0;
}

/* Ranks of locations, groups of communicators. */
static int resolve(struct archive *a)
{
	const struct group *world;

	if (a->world < 0 || !a->group[a->world].n)
		return cpl_fail(a->err, "is no trace of an MPI program");
	world = &a->group[a->world];
	if (world->n > CPL_SIGNATURE_MAX_RANKS)
		return cpl_fail(a->err, "has more than %d ranks",
		                CPL_SIGNATURE_MAX_RANKS);
	a->out->ranks = (int)world->n;
	sort(&a->groups);
	sort(&a->comms);
	sort(&a->windows);
	sort(&a->locations);
	for (int64_t r = 0; r < world->n; r++)
		for (int64_t low = 0, high = a->locations.n; low < high;) {
			int64_t middle = low + (high - low) / 2;
			struct known *at = &a->locations.item[middle];

			if (at->ref == world->member[r])
				at->number = r;
			if (at->ref < world->member[r])
				low = middle + 1;
			else
				high = middle;
		}
	for (int64_t g = 0; g < a->n_groups; g++)
		if (resolve_group(a, &a->group[g]))
			return -1;
	return 0;
}

static int read_definitions(struct archive *a, OTF2_Reader *reader)
{
	OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks *on = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_ErrorCode error = OTF2_ERROR_INVALID;
	uint64_t n = 0;

	if (defs && on) {
		OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on,
		                                                  on_location);
		OTF2_GlobalDefReaderCallbacks_SetGroupCallback(on, on_group);
		OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, on_comm);
		OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(on, on_window);
		error = OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, on,
		                                               a);
		if (error == OTF2_SUCCESS)
			error = OTF2_Reader_ReadAllGlobalDefinitions(reader,
			                                             defs, &n);
	}
	OTF2_GlobalDefReaderCallbacks_Delete(on);
	return check(a, error, "definitions") || resolve(a) ? -1 : 0;
}

/* The events of one location. */
static int read_location(struct archive *a, OTF2_Reader *reader,
                         OTF2_LocationRef location,
                         const OTF2_EvtReaderCallbacks *on)
{
	OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, location);
	OTF2_ErrorCode error = OTF2_ERROR_INVALID;
	uint64_t n = 0;

	if (events)
		error = OTF2_Reader_RegisterEvtCallbacks(reader, events, on, a);
	if (error == OTF2_SUCCESS)
		error = OTF2_Reader_ReadAllLocalEvents(reader, events, &n);
	if (events)
		OTF2_Reader_CloseEvtReader(reader, events);
	return check(a, error, "events");
}

/* Local definitions map numbers of events to global ones. A location need have
 * none. */
static void map_locations(OTF2_Reader *reader, struct archive *a)
{
	a->quiet = true;
	if (OTF2_Reader_OpenDefFiles(reader) != OTF2_SUCCESS)
		goto out;
	for (int64_t i = 0; i < a->locations.n; i++) {
		OTF2_DefReader *defs =
		        OTF2_Reader_GetDefReader(reader, a->location[i]);
		uint64_t n = 0;

		if (!defs)
			continue;
		OTF2_Reader_ReadAllLocalDefinitions(reader, defs, &n);
		OTF2_Reader_CloseDefReader(reader, defs);
	}
	OTF2_Reader_CloseDefFiles(reader);
out:
	a->quiet = false;
}

static int read_events(struct archive *a, OTF2_Reader *reader)
{
	OTF2_EvtReaderCallbacks *on = OTF2_EvtReaderCallbacks_New();
	int rc;

	if (!on)
		return cpl_fail_memory(a->err);
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(on, on_send);
	OTF2_EvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
	OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(on, on_collective);
	OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
	        on, on_icollective);
	OTF2_EvtReaderCallbacks_SetRmaPutCallback(on, on_put);
	OTF2_EvtReaderCallbacks_SetRmaGetCallback(on, on_get);
	for (int64_t i = 0; i < a->locations.n; i++)
		OTF2_Reader_SelectLocation(reader, a->location[i]);
	map_locations(reader, a);
	rc = check(a, OTF2_Reader_OpenEvtFiles(reader), "events");
	for (int64_t i = 0; i < a->locations.n && !rc; i++) {
		a->rank = (int)find(&a->locations, a->location[i]);
		/* threads and devices are no ranks */
		if (a->rank >= 0)
			rc = read_location(a, reader, a->location[i], on);
	}
	OTF2_Reader_CloseEvtFiles(reader);
	OTF2_EvtReaderCallbacks_Delete(on);
	return rc;
}

static int expand(struct archive *a)
{
	struct import_group *group =
	        calloc((size_t)a->n_groups + 1, sizeof(*group));
	int rc;

	if (!group)
		return cpl_fail_memory(a->err);
	for (int64_t g = 0; g < a->n_groups; g++)
		group[g] = (struct import_group){(int)a->group[g].n,
		                                 a->group[g].rank};
	rc = import_calls_expand(&a->calls, group, &a->out->list, a->err);
	free(group);
	return rc;
}

static int read_archive(struct archive *a, const char *path)
{
	struct cpl_file_stamp stamp;
	OTF2_ErrorCallback before;
	OTF2_Reader *reader;
	int rc = -1, fd = cpl_file_open(path, CPL_LINKS_FOLLOW,
	                                CPL_JSON_MAX_BYTES, &stamp, a->err);

	if (fd < 0)
		return -1;
	close(fd);
	before = OTF2_Error_RegisterCallback(on_error, a);
	reader = OTF2_Reader_Open(path);
	if (!reader && !*a->err->text)
		cpl_fail(a->err, "is no OTF2 archive that can be opened");
	if (reader && !check(a, OTF2_Reader_SetSerialCollectiveCallbacks(reader),
	                     "open") &&
	    !read_definitions(a, reader) && !read_events(a, reader))
		rc = expand(a);
	if (reader)
		OTF2_Reader_Close(reader);
	OTF2_Error_RegisterCallback(before, NULL);
	return rc ? cpl_fail_prefix(a->err, "%s: ", path) : 0;
}

struct cpl_signature *cpl_signature_import_otf2(const char *path,
                                                const char *name,
                                                const char *application,
                                                struct cpl_error *err)
{
	struct matrix m = {.lost = "times and the order of messages, algorithms "
	                           "of collectives (trees and rings are taken), "
	                           "intercommunicators"};
	struct archive a = {.out = &m, .err = err, .world = -1};
	struct cpl_signature *sig = NULL;

	*err->text = '\0';
	if (!read_archive(&a, path))
		sig = import_finish(&m, "otf2", path, name, application, err);
	for (int64_t g = 0; g < a.n_groups; g++) {
		free(a.group[g].member);
		free(a.group[g].rank);
		free(a.group[g].places.item);
	}
	free(a.group);
	free(a.location);
	free(a.locations.item);
	free(a.groups.item);
	free(a.comms.item);
	free(a.windows.item);
	free(a.calls.call);
	free(m.list.entry);
	return sig;
}
