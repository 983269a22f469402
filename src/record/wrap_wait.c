/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One-sided calls, and calls that only wait: those send nothing, but their
 * time is communication time.
 */
#include "count.h"
#include "wrap.h"

REC_WRAP(Put,
         (const void *origin_addr, int origin_count,
          MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
          int target_count, MPI_Datatype target_datatype, MPI_Win win),
         (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
          target_count, target_datatype, win),
         rec_count_put(origin_count, origin_datatype, target_rank, win))
REC_WRAP(Rput,
         (const void *origin_addr, int origin_count,
          MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
          int target_cout, MPI_Datatype target_datatype, MPI_Win win,
          MPI_Request *request),
         (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
          target_cout, target_datatype, win, request),
         rec_count_put(origin_count, origin_datatype, target_rank, win))
REC_WRAP(Accumulate,
         (const void *origin_addr, int origin_count,
          MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
          int target_count, MPI_Datatype target_datatype, MPI_Op op,
          MPI_Win win),
         (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
          target_count, target_datatype, op, win),
         rec_count_put(origin_count, origin_datatype, target_rank, win))
REC_WRAP(Raccumulate,
         (const void *origin_addr, int origin_count,
          MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
          int target_count, MPI_Datatype target_datatype, MPI_Op op,
          MPI_Win win, MPI_Request *request),
         (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
          target_count, target_datatype, op, win, request),
         rec_count_put(origin_count, origin_datatype, target_rank, win))
REC_WRAP(Get,
         (void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
          int target_rank, MPI_Aint target_disp, int target_count,
          MPI_Datatype target_datatype, MPI_Win win),
         (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
          target_count, target_datatype, win),
         rec_count_get(origin_count, origin_datatype, target_rank, win))
REC_WRAP(Rget,
         (void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
          int target_rank, MPI_Aint target_disp, int target_count,
          MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request),
         (origin_addr, origin_count, origin_datatype, target_rank, target_disp,
          target_count, target_datatype, win, request),
         rec_count_get(origin_count, origin_datatype, target_rank, win))
REC_WRAP(Get_accumulate,
         (const void *origin_addr, int origin_count,
          MPI_Datatype origin_datatype, void *result_addr, int result_count,
          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
          int target_count, MPI_Datatype target_datatype, MPI_Op op,
          MPI_Win win),
         (origin_addr, origin_count, origin_datatype, result_addr, result_count,
          result_datatype, target_rank, target_disp, target_count,
          target_datatype, op, win),
         rec_count_fetch(origin_count, origin_datatype, result_count,
                         result_datatype, target_rank, op, win))
REC_WRAP(Rget_accumulate,
         (const void *origin_addr, int origin_count,
          MPI_Datatype origin_datatype, void *result_addr, int result_count,
          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
          int target_count, MPI_Datatype target_datatype, MPI_Op op,
          MPI_Win win, MPI_Request *request),
         (origin_addr, origin_count, origin_datatype, result_addr, result_count,
          result_datatype, target_rank, target_disp, target_count,
          target_datatype, op, win, request),
         rec_count_fetch(origin_count, origin_datatype, result_count,
                         result_datatype, target_rank, op, win))
REC_WRAP(Fetch_and_op,
         (const void *origin_addr, void *result_addr, MPI_Datatype datatype,
          int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win),
         (origin_addr, result_addr, datatype, target_rank, target_disp, op,
          win),
         rec_count_fetch(1, datatype, 1, datatype, target_rank, op, win))
REC_WRAP(Compare_and_swap,
         (const void *origin_addr, const void *compare_addr, void *result_addr,
          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
          MPI_Win win),
         (origin_addr, compare_addr, result_addr, datatype, target_rank,
          target_disp, win),
         rec_count_put(2, datatype, target_rank, win);
         rec_count_get(1, datatype, target_rank, win))
REC_WRAP(Recv,
         (void *buf, int count, MPI_Datatype datatype, int source, int tag,
          MPI_Comm comm, MPI_Status *status),
         (buf, count, datatype, source, tag, comm, status), )
REC_WRAP(Mrecv,
         (void *buf, int count, MPI_Datatype type, MPI_Message *message,
          MPI_Status *status),
         (buf, count, type, message, status), )
REC_WRAP(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status),
         (source, tag, comm, status), )
REC_WRAP(Iprobe,
         (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
         (source, tag, comm, flag, status), )
REC_WRAP(Mprobe,
         (int source, int tag, MPI_Comm comm, MPI_Message *message,
          MPI_Status *status),
         (source, tag, comm, message, status), )
REC_WRAP(Improbe,
         (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
          MPI_Status *status),
         (source, tag, comm, flag, message, status), )
REC_WRAP(Wait, (MPI_Request * request, MPI_Status *status), (request, status), )
REC_WRAP(Waitall,
         (int count, MPI_Request array_of_requests[],
          MPI_Status *array_of_statuses),
         (count, array_of_requests, array_of_statuses), )
REC_WRAP(Waitany,
         (int count, MPI_Request array_of_requests[], int *index,
          MPI_Status *status),
         (count, array_of_requests, index, status), )
REC_WRAP(Waitsome,
         (int incount, MPI_Request array_of_requests[], int *outcount,
          int array_of_indices[], MPI_Status array_of_statuses[]),
         (incount, array_of_requests, outcount, array_of_indices,
          array_of_statuses), )
REC_WRAP(Test, (MPI_Request * request, int *flag, MPI_Status *status),
         (request, flag, status), )
REC_WRAP(Testall,
         (int count, MPI_Request array_of_requests[], int *flag,
          MPI_Status array_of_statuses[]),
         (count, array_of_requests, flag, array_of_statuses), )
REC_WRAP(Testany,
         (int count, MPI_Request array_of_requests[], int *index, int *flag,
          MPI_Status *status),
         (count, array_of_requests, index, flag, status), )
REC_WRAP(Testsome,
         (int incount, MPI_Request array_of_requests[], int *outcount,
          int array_of_indices[], MPI_Status array_of_statuses[]),
         (incount, array_of_requests, outcount, array_of_indices,
          array_of_statuses), )
REC_WRAP(Win_fence, (int assert, MPI_Win win), (assert, win), )
REC_WRAP(Win_start, (MPI_Group group, int assert, MPI_Win win),
         (group, assert, win), )
REC_WRAP(Win_complete, (MPI_Win win), (win), )
REC_WRAP(Win_post, (MPI_Group group, int assert, MPI_Win win),
         (group, assert, win), )
REC_WRAP(Win_wait, (MPI_Win win), (win), )
REC_WRAP(Win_test, (MPI_Win win, int *flag), (win, flag), )
REC_WRAP(Win_lock, (int lock_type, int rank, int assert, MPI_Win win),
         (lock_type, rank, assert, win), )
REC_WRAP(Win_unlock, (int rank, MPI_Win win), (rank, win), )
REC_WRAP(Win_lock_all, (int assert, MPI_Win win), (assert, win), )
REC_WRAP(Win_unlock_all, (MPI_Win win), (win), )
REC_WRAP(Win_flush, (int rank, MPI_Win win), (rank, win), )
REC_WRAP(Win_flush_all, (MPI_Win win), (win), )
REC_WRAP(Win_flush_local, (int rank, MPI_Win win), (rank, win), )
REC_WRAP(Win_flush_local_all, (MPI_Win win), (win), )
REC_WRAP(Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm), (comm, newcomm), )
REC_WRAP(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm),
         (comm, color, key, newcomm), )
REC_WRAP(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm),
         (comm, group, newcomm), )
REC_WRAP(Comm_free, (MPI_Comm * comm), (comm), )
