/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Point-to-point calls and those that begin, end and control recording. */
#include "count.h"
#include "wrap.h"

REC_WRAP(Send,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm),
         (buf, count, datatype, dest, tag, comm),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Bsend,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm),
         (buf, count, datatype, dest, tag, comm),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Ssend,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm),
         (buf, count, datatype, dest, tag, comm),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Rsend,
         (const void *ibuf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm),
         (ibuf, count, datatype, dest, tag, comm),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Isend,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Ibsend,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Issend,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Irsend,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Sendrecv,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
          int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
          int source, int recvtag, MPI_Comm comm, MPI_Status *status),
         (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
          recvtype, source, recvtag, comm, status),
         rec_count_send(sendcount, sendtype, dest, comm))
REC_WRAP(Sendrecv_replace,
         (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
          int source, int recvtag, MPI_Comm comm, MPI_Status *status),
         (buf, count, datatype, dest, sendtag, source, recvtag, comm, status),
         rec_count_send(count, datatype, dest, comm))
REC_WRAP(Send_init,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_init(count, datatype, dest, comm, *request))
REC_WRAP(Bsend_init,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_init(count, datatype, dest, comm, *request))
REC_WRAP(Ssend_init,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_init(count, datatype, dest, comm, *request))
REC_WRAP(Rsend_init,
         (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
          MPI_Comm comm, MPI_Request *request),
         (buf, count, datatype, dest, tag, comm, request),
         rec_count_init(count, datatype, dest, comm, *request))
REC_WRAP(Start, (MPI_Request * request), (request), rec_count_start(*request))
REC_WRAP(Startall, (int count, MPI_Request array_of_requests[]),
         (count, array_of_requests),
         for (int i = 0; i < count; i++) rec_count_start(array_of_requests[i]))
