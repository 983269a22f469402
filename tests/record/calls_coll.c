/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "calls.h"

#include <stddef.h>

#define BYTE MPI_BYTE

/* The blocking call, or the non-blocking one and a wait. */
#define CALL(name, ...)                                                        \
	do {                                                                   \
		MPI_Request request_;                                          \
		if (nonblocking) {                                             \
			MPI_I##name(__VA_ARGS__, &request_);                   \
			wait_for(&request_);                                   \
		} else {                                                       \
			MPI_##name(__VA_ARGS__);                               \
		}                                                              \
	} while (0)
/* With upper case names, since MPI_Ibcast has a small b. */
#define MPI_IBarrier MPI_Ibarrier
#define MPI_IBcast MPI_Ibcast
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_INeighbor_allgather MPI_Ineighbor_allgather
#define MPI_INeighbor_allgatherv MPI_Ineighbor_allgatherv
#define MPI_INeighbor_alltoall MPI_Ineighbor_alltoall
#define MPI_INeighbor_alltoallv MPI_Ineighbor_alltoallv
#define MPI_INeighbor_alltoallw MPI_Ineighbor_alltoallw

static const int places[16] = {0,   16,  32,  48,  64,  80,  96,  112,
                               128, 144, 160, 176, 192, 208, 224, 240};

static void barrier(int nonblocking)
{
	CALL(Barrier, WORLD);
}

static void bcast(int nonblocking)
{
	CALL(Bcast, out, 10, MPI_INT, 2, WORLD);
}

static void reduce(int nonblocking)
{
	CALL(Reduce, rank == 1 ? MPI_IN_PLACE : out, in, 3, MPI_DOUBLE, MPI_SUM,
	     1, WORLD);
}

static void allreduce(int nonblocking)
{
	CALL(Allreduce, MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, WORLD);
}

static void gather(int nonblocking)
{
	if (rank == 1)
		CALL(Gather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 10, BYTE,
		     1, WORLD);
	else
		CALL(Gather, out, 10, BYTE, NULL, 0, MPI_DATATYPE_NULL, 1,
		     WORLD);
}

static void gatherv(int nonblocking)
{
	static const int counts[] = {0, 1, 2, 3, 4};

	CALL(Gatherv, out, rank, BYTE, in, counts, places, BYTE, 2, WORLD);
}

static void scatter(int nonblocking)
{
	if (rank == 3)
		CALL(Scatter, out, 10, BYTE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
		     3, WORLD);
	else
		CALL(Scatter, NULL, 0, MPI_DATATYPE_NULL, in, 10, BYTE, 3,
		     WORLD);
}

static void scatterv(int nonblocking)
{
	static const int counts[] = {5, 6, 7, 0, 9};

	CALL(Scatterv, out, counts, places, BYTE, in, counts[rank], BYTE, 4,
	     WORLD);
}

static void allgather(int nonblocking)
{
	CALL(Allgather, out, 4, BYTE, in, 1, MPI_INT, WORLD);
}

static void allgatherv(int nonblocking)
{
	static const int counts[] = {1, 0, 3, 4, 5};

	CALL(Allgatherv, out, counts[rank], BYTE, in, counts, places, BYTE,
	     WORLD);
}

static void alltoall(int nonblocking)
{
	CALL(Alltoall, out, 8, BYTE, in, 2, MPI_INT, WORLD);
}

static void alltoall_in_place(int nonblocking)
{
	CALL(Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT,
	     WORLD);
}

/* To rank d: 10 * rank + d bytes, but nothing between ranks 0 and 1. */
static void alltoallv(int nonblocking)
{
	int send[3], recv[3];

	for (int i = 0; i < 3; i++) {
		send[i] = rank + i == 1 ? 0 : 10 * rank + i;
		recv[i] = rank + i == 1 ? 0 : 10 * i + rank;
	}
	CALL(Alltoallv, out, send, places, BYTE, in, recv, places, BYTE, WORLD);
}

static void alltoallw(int nonblocking)
{
	const int counts[3] = {1, 2, 3};
	const int mine[3] = {rank + 1, rank + 1, rank + 1};
	MPI_Datatype to[3] = {MPI_INT, MPI_DOUBLE, MPI_SHORT};
	MPI_Datatype from[3] = {to[rank], to[rank], to[rank]};

	CALL(Alltoallw, out, counts, places, to, in, mine, places, from, WORLD);
}

static void alltoallw_in_place(int nonblocking)
{
	const int counts[3] = {rank + 0, rank + 1, rank + 2};
	MPI_Datatype type[3] = {MPI_INT, MPI_INT, MPI_INT};

	CALL(Alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, in, counts, places,
	     type, WORLD);
}

static void reduce_scatter(int nonblocking)
{
	static const int counts[] = {1, 2, 0, 4, 5};

	CALL(Reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, WORLD);
}

static void reduce_scatter_block(int nonblocking)
{
	CALL(Reduce_scatter_block, out, in, 3, MPI_INT, MPI_SUM, WORLD);
}

static void scan(int nonblocking)
{
	CALL(Scan, out, in, 2, MPI_INT, MPI_SUM, WORLD);
	CALL(Exscan, out, in, 1, MPI_INT, MPI_SUM, WORLD);
}

/* Every neighbourhood call: 1 + 10 + 100 + 1000 + 4000 bytes a neighbour. */
static void neighbours(MPI_Comm comm, int nonblocking)
{
	int alltoallv[8], allgatherv[8], alltoallw[8], at[8];
	MPI_Datatype type[8];
	MPI_Aint far[8];

	for (int i = 0; i < 8; i++) {
		allgatherv[i] = 10;
		alltoallv[i] = 1000;
		alltoallw[i] = 500;
		type[i] = MPI_DOUBLE;
		far[i] = at[i] = 4096 * i;
	}
	CALL(Neighbor_allgather, out, 1, BYTE, in, 1, BYTE, comm);
	CALL(Neighbor_allgatherv, out, 10, BYTE, in, allgatherv, at, BYTE,
	     comm);
	CALL(Neighbor_alltoall, out, 100, BYTE, in, 100, BYTE, comm);
	CALL(Neighbor_alltoallv, out, alltoallv, at, BYTE, in, alltoallv, at,
	     BYTE, comm);
	CALL(Neighbor_alltoallw, out, alltoallw, far, type, in, alltoallw, far,
	     type, comm);
}

/* 2 x 3, the second dimension a ring. */
static void cart(int nonblocking)
{
	MPI_Comm comm;

	MPI_Cart_create(WORLD, 2, (int[]){2, 3}, (int[]){0, 1}, 0, &comm);
	neighbours(comm, nonblocking);
	MPI_Comm_free(&comm);
}

/* A star: rank 0 and each of the others. */
static void graph(int nonblocking)
{
	MPI_Comm comm;

	MPI_Graph_create(WORLD, 4, (int[]){3, 4, 5, 6},
	                 (int[]){1, 2, 3, 0, 0, 0}, 0, &comm);
	neighbours(comm, nonblocking);
	MPI_Comm_free(&comm);
}

/* A one-way ring, with sizes by neighbour. */
static void dist_graph(int nonblocking)
{
	int from[2] = {(rank + 3) % 4, (rank + 2) % 4};
	int to[2] = {(rank + 1) % 4, (rank + 2) % 4};
	const int counts[2] = {2, 3}, weight[2] = {1, 1};
	const MPI_Aint at[2] = {0, 64};
	const MPI_Datatype type[2] = {MPI_INT, MPI_DOUBLE};
	MPI_Comm comm;

	MPI_Dist_graph_create_adjacent(WORLD, 2, from, weight, 2, to, weight,
	                               MPI_INFO_NULL, 0, &comm);
	CALL(Neighbor_allgather, out, 100, BYTE, in, 100, BYTE, comm);
	CALL(Neighbor_alltoallv, out, counts, places, BYTE, in, counts, places,
	     BYTE, comm);
	CALL(Neighbor_alltoallw, out, counts, at, type, in, counts, at, type,
	     comm);
	MPI_Comm_free(&comm);
}

/* Collectives among three ranks in reversed order. */
static void sub_collectives(int nonblocking)
{
	MPI_Comm comm;

	MPI_Comm_split(WORLD, rank % 2, -rank, &comm);
	CALL(Bcast, out, 5, BYTE, 0, comm);
	CALL(Allgather, out, 1, BYTE, in, 1, BYTE, comm);
	MPI_Comm_free(&comm);
}

/* Ranks 0, 1 and 2, 3, 4. */
static MPI_Comm make_inter(void)
{
	MPI_Comm local, inter;

	MPI_Comm_split(WORLD, rank > 1, rank, &local);
	MPI_Intercomm_create(local, 0, WORLD, rank > 1 ? 0 : 2, 0, &inter);
	MPI_Comm_free(&local);
	return inter;
}

static void inter_sends(int nonblocking)
{
	MPI_Comm inter = make_inter();

	if (rank == 0)
		MPI_Send(out, 8, BYTE, 2, 0, inter);
	else if (rank == 4)
		MPI_Recv(in, 8, BYTE, 0, 0, inter, IGNORE);
	else if (rank == 3)
		MPI_Ssend(out, 5, BYTE, 1, 0, inter);
	else if (rank == 1)
		MPI_Recv(in, 5, BYTE, 1, 0, inter, IGNORE);
	MPI_Comm_free(&inter);
}

/* Root of a rooted call in the first group's rank r. */
static int root_in_first(int r)
{
	return rank > 1 ? r : rank == r ? MPI_ROOT : MPI_PROC_NULL;
}

static void inter_rooted(int nonblocking)
{
	MPI_Comm inter = make_inter();

	CALL(Bcast, out, 1, BYTE, root_in_first(0), inter);
	CALL(Reduce, out, in, 1, MPI_INT, MPI_SUM, root_in_first(1), inter);
	CALL(Gather, out, 10, BYTE, in, 10, BYTE, root_in_first(1), inter);
	CALL(Scatter, out, 100, BYTE, in, 100, BYTE, root_in_first(0), inter);
	MPI_Comm_free(&inter);
}

static void inter_all(int nonblocking)
{
	MPI_Comm inter = make_inter();

	CALL(Barrier, inter);
	CALL(Allreduce, out, in, 25, MPI_INT, MPI_SUM, inter);
	MPI_Comm_free(&inter);
}

static void inter_each(int nonblocking)
{
	MPI_Comm inter = make_inter();
	int mine = rank > 1 ? 2 : 1;

	CALL(Allgather, out, mine, BYTE, in, 3 - mine, BYTE, inter);
	CALL(Alltoall, out, 10 * mine, BYTE, in, 10 * (3 - mine), BYTE, inter);
	MPI_Comm_free(&inter);
}

static void inter_reduce_scatter(int nonblocking)
{
	MPI_Comm inter = make_inter();

	CALL(Reduce_scatter_block, out, in, rank > 1 ? 2 : 3, MPI_INT, MPI_SUM,
	     inter);
	MPI_Comm_free(&inter);
}

const struct calls collective_calls[] = {
        {"barrier", barrier},
        {"bcast", bcast},
        {"reduce", reduce},
        {"allreduce", allreduce},
        {"gather", gather},
        {"gatherv", gatherv},
        {"scatter", scatter},
        {"scatterv", scatterv},
        {"allgather", allgather},
        {"allgatherv", allgatherv},
        {"alltoall", alltoall},
        {"alltoall-in-place", alltoall_in_place},
        {"alltoallv", alltoallv},
        {"alltoallw", alltoallw},
        {"alltoallw-in-place", alltoallw_in_place},
        {"reduce-scatter", reduce_scatter},
        {"reduce-scatter-block", reduce_scatter_block},
        {"scan", scan},
        {"cart", cart},
        {"graph", graph},
        {"dist-graph", dist_graph},
        {"sub-collectives", sub_collectives},
        {"inter-sends", inter_sends},
        {"inter-rooted", inter_rooted},
        {"inter-all", inter_all},
        {"inter-each", inter_each},
        {"inter-reduce-scatter", inter_reduce_scatter},
        {NULL, NULL},
};
