/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time of an MPI call in the recorder's worst case: rounds of an 8-byte
 * MPI_Isend to oneself, MPI_Recv and MPI_Wait, which take next to nothing.
 * Prints nanoseconds a call, the least of TIMES times ROUNDS rounds.
 * bench-record runs it.
 */
#include <mpi.h>
#include <stdio.h>

#include "cpu_time.h"

#define TIMES 20
#define ROUNDS 20000

static double rounds(void)
{
	double begin = cpu_seconds(), out = 1, in;
	MPI_Request request;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Isend(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request);
		MPI_Recv(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF,
		         MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return (cpu_seconds() - begin) / (3.0 * ROUNDS);
}

int main(int argc, char **argv)
{
	double least = 1;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < TIMES; i++) {
		double seconds = rounds();

		least = seconds < least ? seconds : least;
	}
	printf("%.1f\n", 1e9 * least);
	MPI_Finalize();
	return 0;
}
