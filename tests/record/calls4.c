/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What MPI 4 adds: persistent collectives and partitioned sends, on 4 ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
	double in[2] = {1, 2}, out[2];
	char bytes[100] = "";
	MPI_Request request[2], part = MPI_REQUEST_NULL;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce_init(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
	                   MPI_INFO_NULL, &request[0]);
	MPI_Bcast_init(bytes, 10, MPI_CHAR, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
	               &request[1]);
	MPI_Start(&request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, request);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	if (rank == 0)
		MPI_Psend_init(bytes, 4, 25, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
		               MPI_INFO_NULL, &part);
	if (rank == 1)
		MPI_Precv_init(bytes, 4, 25, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
		               MPI_INFO_NULL, &part);
	for (int i = 0; i < 2 && rank < 2; i++) {
		MPI_Start(&part);
		for (int p = 0; p < 4 && rank == 0; p++)
			MPI_Pready(p, part);
		MPI_Wait(&part, MPI_STATUS_IGNORE);
	}
	if (rank < 2)
		MPI_Request_free(&part);
	MPI_Finalize();
	return 0;
}
