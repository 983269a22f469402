/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/calls.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "signature/pattern/pattern.h"

#define MAX_MESSAGES (INT64_C(1) << 27)

static const struct import_name names[] = {
        {"Bcast", IMPORT_BROADCAST, false},
        {"Broadcast", IMPORT_BROADCAST, false},
        {"Reduce", IMPORT_REDUCE, false},
        {"Allreduce", IMPORT_ALLREDUCE, false},
        {"Reduce_scatter", IMPORT_REDUCE_SCATTER, true},
        {"Reduce_scatter_block", IMPORT_REDUCE_SCATTER, false},
        {"ReduceScatter", IMPORT_REDUCE_SCATTER, false},
        {"Scan", IMPORT_SCAN, false},
        {"Exscan", IMPORT_SCAN, false},
        {"Gather", IMPORT_GATHER, false},
        {"Gatherv", IMPORT_GATHER, true},
        {"Scatter", IMPORT_SCATTER, false},
        {"Scatterv", IMPORT_SCATTER, true},
        {"Allgather", IMPORT_ALLGATHER, false},
        {"Allgatherv", IMPORT_ALLGATHER, true},
        {"Alltoall", IMPORT_ALLTOALL, false},
        {"Alltoallv", IMPORT_ALLTOALL, true},
        {"Alltoallw", IMPORT_ALLTOALL, true},
        {"Barrier", IMPORT_BARRIER, false},
};

static const char *without_prefix(const char *mpi)
{
	return strncasecmp(mpi, "MPI_", 4) ? mpi : mpi + 4;
}

const struct import_name *import_collective(const char *mpi)
{
	const char *name = without_prefix(mpi);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(name, names[i].name) ||
		    (strchr("Ii", *name) && *name &&
		     !strcasecmp(name + 1, names[i].name)))
			return &names[i];
	return NULL;
}

bool import_sends(const char *mpi)
{
	static const char *const send[] = {
	        "Send",   "Ssend",  "Rsend",    "Bsend",
	        "Isend",  "Issend", "Irsend",   "Ibsend",
	        "Sendrecv", "Sendrecv_replace", "Isendrecv",
	        "Isendrecv_replace"};
	const char *name = without_prefix(mpi);

	for (size_t i = 0; i < sizeof(send) / sizeof(*send); i++)
		if (!strcasecmp(name, send[i]))
			return true;
	return false;
}

bool import_ring(enum import_operation operation, int n, double *factor,
                 double *messages)
{
	*messages = n - 1.0;
	switch (operation) {
	case IMPORT_ALLREDUCE:
		*factor = 2 * (n - 1.0) / n;
		*messages = 2 * (n - 1.0);
		return true;
	case IMPORT_ALLGATHER:
	case IMPORT_REDUCE_SCATTER:
		*factor = n - 1.0;
		return true;
	case IMPORT_BROADCAST:
	case IMPORT_REDUCE:
		*factor = (n - 1.0) / n;
		*messages = 1;
		return true;
	default:
		return false;
	}
}

int import_call_push(struct import_calls *calls, const struct import_call *call,
                     struct cpl_error *err)
{
	if (cpl_array_grow(&calls->call, calls->n, sizeof(*call), err))
		return -1;
	calls->call[calls->n++] = *call;
	return 0;
}

int import_group_rank(const struct import_group *group, int rank)
{
	int low = 0, high = group->n;

	if (!group->rank)
		return rank < group->n ? rank : -1;
	CPL_BISECT(low, high, middle, group->rank[middle] < rank);
	return low < group->n && group->rank[low] == rank ? low : -1;
}

static CPL_SORT_BY(compare, struct import_call, CPL_UP(group),
                   CPL_UP(operation), CPL_UP(root), CPL_UP(rank), CPL_UP(bytes))

/* This adds up what one rank called with the same ranks. */
static void merge_calls(struct import_calls *calls)
{
	int64_t n = 0;

	if (calls->n)
		qsort(calls->call, (size_t)calls->n, sizeof(*calls->call),
		      compare);
	for (int64_t i = 0; i < calls->n; i++) {
		struct import_call *last = n ? &calls->call[n - 1] : NULL;
		const struct import_call *c = &calls->call[i];

		if (last && last->group == c->group &&
		    last->operation == c->operation && last->root == c->root &&
		    last->rank == c->rank) {
			last->bytes += c->bytes;
			last->calls += c->calls;
		} else {
			calls->call[n++] = *c;
		}
	}
	calls->n = n;
}

/* This gives what the rank sends, between places of the group; the caller has room
 * for group->n + 32. */
static int64_t messages_of(const struct import_call *c,
                           const struct import_group *group,
                           struct cpl_comm_entry *out)
{
	static const struct {
		const char *operation, *algorithm;
	} table[] = {
	        [IMPORT_BROADCAST] = {"broadcast", "binomial"},
	        [IMPORT_REDUCE] = {"reduce", "binomial"},
	        [IMPORT_ALLREDUCE] = {"allreduce", "recursive-doubling"},
	        [IMPORT_REDUCE_SCATTER] = {"reduce-scatter", "pairwise"},
	        [IMPORT_GATHER] = {"gather", "binomial"},
	        [IMPORT_SCATTER] = {"scatter", "binomial"},
	        [IMPORT_ALLGATHER] = {"allgather", "ring"},
	        [IMPORT_ALLTOALL] = {"alltoall", "pairwise"},
	};
	const char *algorithm;

	if (c->operation == IMPORT_SCAN) {
		out[0] = (struct cpl_comm_entry){c->rank, c->rank + 1, c->bytes,
		                                 1.0};
		return c->rank + 1 < group->n;
	}
	algorithm = table[c->operation].algorithm;
	if (c->operation == IMPORT_ALLREDUCE && group->n & (group->n - 1))
		algorithm = "ring";
	return pattern_collective_row(table[c->operation].operation, algorithm,
	                              group->n, c->root, c->rank, c->bytes,
	                              out);
}

static int expand(const struct import_call *c, const struct import_group *group,
                  struct cpl_comm_entry *room, struct entry_list *out,
                  struct cpl_error *err)
{
	int64_t n;

	if (c->operation == IMPORT_BARRIER || !(c->bytes > 0))
		return 0;
	n = messages_of(c, group, room);
	for (int64_t i = 0; i < n; i++) {
		struct cpl_comm_entry *e = &room[i];

		if (!(e->bytes <= SIGNATURE_MAX_AMOUNT))
			return cpl_fail(err, "collective operations have more "
			                     "than 1e18 bytes");
		e->messages *= c->calls;
		if (group->rank) {
			e->from = group->rank[e->from];
			e->to = group->rank[e->to];
		}
		if (out->n >= MAX_MESSAGES)
			return cpl_fail(err,
			                "collective operations have more than "
			                "%lld messages",
			                (long long)MAX_MESSAGES);
		if (entry_push(out, e, err))
			return -1;
	}
	return 0;
}

int import_calls_expand(struct import_calls *calls,
                        const struct import_group *group,
                        struct entry_list *out, struct cpl_error *err)
{
	struct cpl_comm_entry *room = NULL;
	int widest = 0, rc = 0;

	if (!calls->n)
		return 0;
	merge_calls(calls);
	for (int64_t i = 0; i < calls->n; i++) {
		int n = group[calls->call[i].group].n;

		widest = n > widest ? n : widest;
	}
	room = malloc(((size_t)widest + 32) * sizeof(*room));
	if (!room)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < calls->n && !rc; i++) {
		const struct import_call *c = &calls->call[i];

		rc = expand(c, &group[c->group], room, out, err);
	}
	free(room);
	return rc;
}
