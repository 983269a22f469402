/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This turns arguments of MPI calls into traffic. There is a function for each kind
 * of call, which is called after the call succeeded. Bytes are count times
 * MPI_Type_size. collectives.h states the algorithms of collectives. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives.h"

/* This is one message of this rank to dest. */
void rec_count_send(int64_t count, MPI_Datatype type, int dest, MPI_Comm comm);

/* A receive sends nothing, but the events are told its source. */
void rec_count_receive(int64_t count, MPI_Datatype type, int source, MPI_Comm comm);

/* Persistent sends (of partitioned ones, all parts in one message) are kept by
 * request, and counted at each start. */
void rec_count_init(int64_t count, MPI_Datatype type, int dest, MPI_Comm comm,
                    MPI_Request request);
/* What one thread counts between these two is kept by request, too. That is for
 * persistent collectives. */
void rec_capture(void);
void rec_captured(MPI_Request request);
void rec_count_start(MPI_Request request);
void rec_count_free(MPI_Request request); /* is called before MPI_Request_free */

/* One-sided operations go out from origin to target, or in from target to origin. */
void rec_count_put(int64_t count, MPI_Datatype type, int target, MPI_Win window);
void rec_count_get(int64_t count, MPI_Datatype type, int target, MPI_Win window);
/* These go both ways, but out only unless op is MPI_NO_OP. */
void rec_count_fetch(int64_t count, MPI_Datatype type, int64_t result_count,
                     MPI_Datatype result_type, int target, MPI_Op op,
                     MPI_Win window);

void rec_count_barrier(MPI_Comm comm);
void rec_count_bcast(int64_t count, MPI_Datatype type, int root, MPI_Comm comm);
void rec_count_reduce(int64_t count, MPI_Datatype type, int root, MPI_Comm comm);
void rec_count_allreduce(int64_t count, MPI_Datatype type, MPI_Comm comm);
void rec_count_scan(int64_t count, MPI_Datatype type, MPI_Comm comm);
void rec_count_gather(int64_t count, MPI_Datatype type, int root, MPI_Comm comm);
void rec_count_gatherv(int64_t count, MPI_Datatype type, int root, MPI_Comm comm);
void rec_count_scatter(int64_t send_count, MPI_Datatype send_type, int64_t recv_count,
                       MPI_Datatype recv_type, int root, MPI_Comm comm);
void rec_count_scatterv(struct rec_counts counts, MPI_Datatype type, int root,
                        MPI_Comm comm);
void rec_count_allgather(int64_t send_count, MPI_Datatype send_type, int64_t recv_count,
                         MPI_Datatype recv_type, MPI_Comm comm);
void rec_count_allgatherv(int64_t send_count, MPI_Datatype send_type,
                          struct rec_counts recv_counts, MPI_Datatype recv_type,
                          MPI_Comm comm);
/* in_place means MPI_IN_PLACE: the receive arguments hold for sending, too. */
void rec_count_alltoall(bool in_place, int64_t send_count, MPI_Datatype send_type,
                        int64_t recv_count, MPI_Datatype recv_type, MPI_Comm comm);
void rec_count_alltoallv(bool in_place, struct rec_counts send_counts,
                         MPI_Datatype send_type, struct rec_counts recv_counts,
                         MPI_Datatype recv_type, MPI_Comm comm);
/* types is MPI_Datatype[], or MPI_Fint[] from Fortran. */
void rec_count_alltoallw(bool in_place, struct rec_counts send_counts,
                         const void *send_types, struct rec_counts recv_counts,
                         const void *recv_types, bool fortran, MPI_Comm comm);
void rec_count_reduce_scatter(struct rec_counts counts, MPI_Datatype type,
                              MPI_Comm comm);
void rec_count_reduce_scatter_block(int64_t count, MPI_Datatype type,
                                    MPI_Comm comm);
/* They count Neighbor_allgather(v) and Neighbor_alltoall; _alltoallv; _alltoallw. */
void rec_count_neighbor(int64_t count, MPI_Datatype type, MPI_Comm comm);
void rec_count_neighborv(struct rec_counts counts, MPI_Datatype type, MPI_Comm comm);
void rec_count_neighborw(struct rec_counts counts, const void *types, bool fortran,
                         MPI_Comm comm);
