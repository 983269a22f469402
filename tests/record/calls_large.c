/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls with counts of MPI_Count, on 4 ranks. */
#include <mpi.h>

static char out[64], in[64];
static int rank;

static void point_to_point(void)
{
	MPI_Request request = MPI_REQUEST_NULL;

	if (rank == 0) {
		MPI_Send_c(out, 10, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Isend_c(out, 20, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Send_init_c(out, 30, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
		                &request);
		for (int i = 0; i < 2; i++) {
			MPI_Start(&request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		MPI_Request_free(&request);
	} else if (rank == 1) {
		MPI_Recv_c(in, 10, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
		           MPI_STATUS_IGNORE);
		MPI_Irecv_c(in, 20, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int i = 0; i < 2; i++)
			MPI_Recv_c(in, 30, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
			           MPI_STATUS_IGNORE);
	} else {
		MPI_Sendrecv_c(out, 5, MPI_CHAR, rank ^ 1, 0, in, 5, MPI_CHAR,
		               rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void collective(void)
{
	const MPI_Count up[] = {1, 2, 3, 4}, down[] = {4, 3, 2, 1};
	const MPI_Count ones[] = {1, 1, 1, 1};
	const MPI_Aint from[] = {0, 4, 8, 12};
	const double x[4] = {1, 2, 3, 4};
	MPI_Count some[4] = {0}, sources[4] = {0};
	MPI_Datatype ints[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
	MPI_Request request;
	double y[4];

	MPI_Bcast_c(in, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Gatherv_c(out, rank + 1, MPI_CHAR, in, up, from, MPI_CHAR, 3,
	              MPI_COMM_WORLD);
	MPI_Scatterv_c(out, down, from, MPI_CHAR, in, down[rank], MPI_CHAR, 1,
	               MPI_COMM_WORLD);
	MPI_Allgatherv_c(out, rank + 1, MPI_CHAR, in, up, from, MPI_CHAR,
	                 MPI_COMM_WORLD);
	some[(rank + 1) % 4] = sources[(rank + 3) % 4] = 2;
	MPI_Alltoallv_c(out, some, from, MPI_CHAR, in, sources, from, MPI_CHAR,
	                MPI_COMM_WORLD);
	some[(rank + 1) % 4] = sources[(rank + 3) % 4] = 0;
	some[(rank + 2) % 4] = sources[(rank + 2) % 4] = 1;
	MPI_Alltoallw_c(out, some, from, ints, in, sources, from, ints,
	                MPI_COMM_WORLD);
	MPI_Ireduce_scatter_c(x, y, ones, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
	                      &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce_init_c(x, y, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
	                     MPI_INFO_NULL, &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
}

static void one_sided(void)
{
	MPI_Win window;

	MPI_Win_create(in, sizeof(in), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
	               &window);
	MPI_Win_fence(0, window);
	if (rank == 0)
		MPI_Put_c(out, 6, MPI_CHAR, 3, 0, 6, MPI_CHAR, window);
	if (rank == 1)
		MPI_Get_c(out, 7, MPI_CHAR, 2, 0, 7, MPI_CHAR, window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	point_to_point();
	collective();
	one_sided();
	MPI_Finalize();
	return 0;
}
