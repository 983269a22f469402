/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "count.h"
#include "peers.h"
#include "pmpi.h"
#include "recorder.h"

#include <stdlib.h>

static uint64_t type_size(MPI_Datatype type)
{
	int size = 0;

	pmpi.Type_size(type, &size);
	return size > 0 ? (uint64_t)size : 0;
}

static uint64_t bytes_of(int64_t count, MPI_Datatype type)
{
	return count > 0 ? (uint64_t)count * type_size(type) : 0;
}

static MPI_Datatype type_at(const void *types, bool fortran, int i)
{
	return fortran ? REC_F2C(Type, ((const MPI_Fint *)types)[i])
	               : ((const MPI_Datatype *)types)[i];
}

/* Destinations of point-to-point calls are in the remote group, if there is one. */
static int destination(struct rec_peers *p, int dest)
{
	return rec_peers_world(p, p->remote_size > 0, dest);
}

void rec_count_send(int64_t count, MPI_Datatype type, int dest, MPI_Comm comm)
{
	struct rec_peers *p =
	        dest == MPI_PROC_NULL ? NULL : rec_peers_comm(comm);

	if (!p)
		return;
	rec_event_among(p);
	rec_add(destination(p, dest), false, bytes_of(count, type), 1);
	rec_unlock();
}

void rec_count_receive(int64_t count, MPI_Datatype type, int source, MPI_Comm comm)
{
	struct rec_peers *p;

	if (!rec_in_events() || source == MPI_PROC_NULL)
		return;
	p = rec_peers_comm(comm);
	if (!p)
		return;
	rec_event_among(p);
	rec_event_from(source == MPI_ANY_SOURCE ? -1 : destination(p, source),
	               bytes_of(count, type));
	rec_unlock();
}

struct sent {
	int world;
	uint64_t bytes, messages;
};

/* These are persistent requests that were not freed yet, and what each start
 * sends. */
struct persistent {
	struct persistent *next;
	uintptr_t key;
	struct sent *sent; /* [n] */
	int64_t n;
};

/* This is what collectives of this thread would send, between rec_capture and
 * rec_captured. */
static __thread struct {
	bool on;
	struct sent *sent;
	int64_t n, room;
} capture;

#define BUCKETS 4096

static struct persistent *bucket[BUCKETS];

static struct persistent **find_persistent(uintptr_t key)
{
	uint64_t h = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
	struct persistent **at = &bucket[h >> 52];

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

/* The caller holds the lock. This takes over `sent`, and drops it where memory is
 * out. */
static void keep(MPI_Request request, struct sent *sent, int64_t n)
{
	struct persistent **at = find_persistent((uintptr_t)request), *s = *at;

	if (!s)
		s = *at = calloc(1, sizeof(*s));
	if (!s) {
		free(sent);
		return;
	}
	free(s->sent);
	s->key = (uintptr_t)request;
	s->sent = sent;
	s->n = n;
}

void rec_count_init(int64_t count, MPI_Datatype type, int dest, MPI_Comm comm,
                    MPI_Request request)
{
	struct sent *sent;
	struct rec_peers *p;

	if (dest == MPI_PROC_NULL)
		return;
	sent = malloc(sizeof(*sent));
	p = sent ? rec_peers_comm(comm) : NULL;
	if (!p) {
		free(sent);
		return;
	}
	*sent = (struct sent){destination(p, dest), bytes_of(count, type), 1};
	keep(request, sent, 1);
	rec_unlock();
}

void rec_capture(void)
{
	capture.on = true;
	capture.sent = NULL;
	capture.n = capture.room = 0;
}

void rec_captured(MPI_Request request)
{
	capture.on = false;
	rec_lock();
	keep(request, capture.sent, capture.n);
	rec_unlock();
}

/* Where memory is out it is not kept. */
static void put_captured(int world, uint64_t bytes, uint64_t messages)
{
	if (capture.n == capture.room) {
		int64_t room = capture.room ? 2 * capture.room : 8;
		struct sent *more =
		        realloc(capture.sent, (size_t)room * sizeof(*more));

		if (!more)
			return;
		capture.sent = more;
		capture.room = room;
	}
	capture.sent[capture.n++] = (struct sent){world, bytes, messages};
}

void rec_count_start(MPI_Request request)
{
	const struct persistent *s;

	rec_lock();
	s = *find_persistent((uintptr_t)request);
	for (int64_t i = 0; s && i < s->n; i++)
		rec_add(s->sent[i].world, false, s->sent[i].bytes,
		        s->sent[i].messages);
	rec_unlock();
}

void rec_count_free(MPI_Request request)
{
	struct persistent **at, *s;

	rec_lock();
	at = find_persistent((uintptr_t)request);
	s = *at;
	if (s)
		*at = s->next;
	rec_unlock();
	if (s)
		free(s->sent);
	free(s);
}

static void one_sided(uint64_t bytes, int target, MPI_Win window, bool inward)
{
	struct rec_peers *p =
	        target == MPI_PROC_NULL ? NULL : rec_peers_window(window);

	if (!p)
		return;
	rec_event_among(p);
	rec_add(rec_peers_world(p, false, target), inward, bytes, 1);
	rec_unlock();
}

void rec_count_put(int64_t count, MPI_Datatype type, int target, MPI_Win window)
{
	one_sided(bytes_of(count, type), target, window, false);
}

void rec_count_get(int64_t count, MPI_Datatype type, int target, MPI_Win window)
{
	one_sided(bytes_of(count, type), target, window, true);
}

void rec_count_fetch(int64_t count, MPI_Datatype type, int64_t result_count,
                     MPI_Datatype result_type, int target, MPI_Op op,
                     MPI_Win window)
{
	if (op != pmpi.no_op)
		rec_count_put(count, type, target, window);
	rec_count_get(result_count, result_type, target, window);
}

static void emit(void *context, bool remote, int to, uint64_t bytes,
                 uint64_t messages)
{
	int world = rec_peers_world(context, remote, to);

	if (capture.on)
		put_captured(world, bytes, messages);
	else
		rec_add(world, false, bytes, messages);
}

static struct rec_coll coll_of(struct rec_peers *p)
{
	return (struct rec_coll){
	        .rank = p->rank,
	        .size = p->size,
	        .remote_size = p->remote_size,
	        .emit = emit,
	        .context = p,
	};
}

static int root_of(const struct rec_peers *p, int root)
{
	if (p->remote_size && root == MPI_ROOT)
		return REC_ROOT_SELF;
	return root == MPI_PROC_NULL ? REC_ROOT_NONE : root;
}

/* This counts the ranks of the group that the messages go to. */
static int n_targets(const struct rec_peers *p)
{
	return p->remote_size ? p->remote_size : p->size;
}

/* This sets up `c`, `p` and `root` around a call of collectives.h. */
#define COLLECTIVE(comm, given_root, call)                                     \
	do {                                                                   \
		struct rec_peers *p = rec_peers_comm(comm);                    \
		if (!p)                                                        \
			return;                                                \
		struct rec_coll coll = coll_of(p);                             \
		const struct rec_coll *c = &coll;                              \
		rec_event_among(p);                                            \
		int at = root_of(p, given_root);                               \
		(void)at;                                                      \
		call;                                                          \
		rec_unlock();                                                  \
	} while (0)

void rec_count_barrier(MPI_Comm comm)
{
	COLLECTIVE(comm, 0, rec_barrier(c));
}

void rec_count_bcast(int64_t count, MPI_Datatype type, int root, MPI_Comm comm)
{
	if (root != MPI_PROC_NULL)
		COLLECTIVE(comm, root, rec_bcast(c, at, bytes_of(count, type)));
}

void rec_count_reduce(int64_t count, MPI_Datatype type, int root, MPI_Comm comm)
{
	if (root >= 0)
		COLLECTIVE(comm, root,
		           rec_reduce(c, at, bytes_of(count, type)));
}

void rec_count_allreduce(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0, rec_allreduce(c, bytes_of(count, type)));
}

void rec_count_scan(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0, rec_scan(c, bytes_of(count, type)));
}

/* The root's send arguments mean nothing under MPI_IN_PLACE. */
static bool sends_to_root(const struct rec_peers *p, int root)
{
	return root >= 0 && (p->remote_size || root != p->rank);
}

void rec_count_gather(int64_t count, MPI_Datatype type, int root, MPI_Comm comm)
{
	COLLECTIVE(comm, root,
	           if (sends_to_root(p, at))
	                   rec_gather(c, at, bytes_of(count, type)));
}

void rec_count_gatherv(int64_t count, MPI_Datatype type, int root, MPI_Comm comm)
{
	COLLECTIVE(comm, root,
	           if (sends_to_root(p, at))
	                   rec_gatherv(c, at, bytes_of(count, type)));
}

static void scatter(const struct rec_peers *p, const struct rec_coll *c,
                    int root, int64_t send_count, MPI_Datatype send_type,
                    int64_t recv_count, MPI_Datatype recv_type)
{
	if (p->remote_size ? root == REC_ROOT_SELF : root == p->rank)
		rec_scatter(c, root, bytes_of(send_count, send_type));
	else if (!p->remote_size)
		rec_scatter(c, root, bytes_of(recv_count, recv_type));
}

void rec_count_scatter(int64_t send_count, MPI_Datatype send_type, int64_t recv_count,
                       MPI_Datatype recv_type, int root, MPI_Comm comm)
{
	COLLECTIVE(comm, root,
	           scatter(p, c, at, send_count, send_type, recv_count,
	                   recv_type));
}

static void scatterv(const struct rec_peers *p, const struct rec_coll *c,
                     int root, struct rec_counts counts, MPI_Datatype type)
{
	struct rec_blocks blocks = {.count = counts};

	if (root != (p->remote_size ? REC_ROOT_SELF : p->rank))
		return;
	blocks.size = type_size(type);
	rec_scatterv(c, root, &blocks);
}

void rec_count_scatterv(struct rec_counts counts, MPI_Datatype type, int root,
                        MPI_Comm comm)
{
	COLLECTIVE(comm, root, scatterv(p, c, at, counts, type));
}

void rec_count_allgather(int64_t send_count, MPI_Datatype send_type, int64_t recv_count,
                         MPI_Datatype recv_type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0,
	           rec_allgather(c, p->remote_size
	                                    ? bytes_of(send_count, send_type)
	                                    : bytes_of(recv_count, recv_type)));
}

static void allgatherv(const struct rec_peers *p, const struct rec_coll *c,
                       int64_t send_count, MPI_Datatype send_type,
                       struct rec_counts recv_counts, MPI_Datatype recv_type)
{
	struct rec_blocks blocks = {
	        .count = recv_counts,
	        .size = type_size(recv_type),
	};

	rec_allgatherv(c, p->remote_size ? bytes_of(send_count, send_type) : 0,
	               &blocks);
}

void rec_count_allgatherv(int64_t send_count, MPI_Datatype send_type,
                          struct rec_counts recv_counts, MPI_Datatype recv_type,
                          MPI_Comm comm)
{
	COLLECTIVE(comm, 0,
	           allgatherv(p, c, send_count, send_type, recv_counts,
	                      recv_type));
}

void rec_count_alltoall(bool in_place, int64_t send_count, MPI_Datatype send_type,
                        int64_t recv_count, MPI_Datatype recv_type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0,
	           rec_alltoall(c, in_place ? bytes_of(recv_count, recv_type)
	                                    : bytes_of(send_count, send_type)));
}

void rec_count_alltoallv(bool in_place, struct rec_counts send_counts,
                         MPI_Datatype send_type, struct rec_counts recv_counts,
                         MPI_Datatype recv_type, MPI_Comm comm)
{
	struct rec_blocks blocks = {
	        .count = in_place ? recv_counts : send_counts,
	        .size = type_size(in_place ? recv_type : send_type),
	};

	COLLECTIVE(comm, 0, rec_alltoallv(c, &blocks));
}

static void alltoallw(const struct rec_peers *p, const struct rec_coll *c,
                      struct rec_counts counts, const void *types, bool fortran)
{
	int n = n_targets(p);
	uint64_t *size = malloc(sizeof(*size) * (size_t)n);
	struct rec_blocks blocks = {.count = counts, .sizes = size};

	if (!size)
		return;
	/* The types of empty blocks need not be valid. */
	for (int i = 0; i < n; i++)
		size[i] = rec_count_at(counts, i) > 0
		                  ? type_size(type_at(types, fortran, i))
		                  : 0;
	rec_alltoallv(c, &blocks);
	free(size);
}

void rec_count_alltoallw(bool in_place, struct rec_counts send_counts,
                         const void *send_types, struct rec_counts recv_counts,
                         const void *recv_types, bool fortran, MPI_Comm comm)
{
	COLLECTIVE(comm, 0,
	           alltoallw(p, c, in_place ? recv_counts : send_counts,
	                     in_place ? recv_types : send_types, fortran));
}

void rec_count_reduce_scatter(struct rec_counts counts, MPI_Datatype type,
                              MPI_Comm comm)
{
	struct rec_blocks blocks = {.count = counts, .size = type_size(type)};

	COLLECTIVE(comm, 0, rec_reduce_scatter(c, &blocks));
}

void rec_count_reduce_scatter_block(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0, rec_reduce_scatter_block(c, bytes_of(count, type)));
}

/* If counts is NULL, each neighbour gets one message of `bytes`. */
static void neighbours(struct rec_peers *p, MPI_Comm comm,
                       const struct rec_counts *counts, uint64_t bytes,
                       const void *types, bool fortran)
{
	if (rec_peers_neighbours(p, comm))
		return;
	for (int i = 0; i < p->n_out; i++) {
		int64_t count = counts ? rec_count_at(*counts, i) : 1;
		uint64_t block = bytes;

		if (p->out[i] == MPI_PROC_NULL || count <= 0)
			continue;
		if (types)
			block = type_size(type_at(types, fortran, i));
		block *= (uint64_t)count;
		if (block)
			emit(p, false, p->out[i], block, 1);
	}
}

void rec_count_neighbor(int64_t count, MPI_Datatype type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0, (void)c;
	           neighbours(p, comm, NULL, bytes_of(count, type), NULL, 0));
}

void rec_count_neighborv(struct rec_counts counts, MPI_Datatype type, MPI_Comm comm)
{
	COLLECTIVE(comm, 0, (void)c;
	           neighbours(p, comm, &counts, type_size(type), NULL, 0));
}

void rec_count_neighborw(struct rec_counts counts, const void *types, bool fortran,
                         MPI_Comm comm)
{
	COLLECTIVE(comm, 0, (void)c;
	           neighbours(p, comm, &counts, 0, types, fortran));
}
