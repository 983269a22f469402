/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A halo exchange on a grid of ranks, for the recorder: every rank has BYTES times
 * 4, 2 and 1 for its neighbours in the three dimensions, in each of STEPS, and an
 * all-reduce of 8 bytes in every tenth.
 *
 *   halo_job SIDE BYTES STEPS      on SIDE * SIDE * SIDE ranks
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char *in, *out;

static void exchange(MPI_Comm grid, int bytes)
{
	MPI_Request request[12];
	MPI_Status status[12];
	int n = 0;

	for (int dim = 0; dim < 3; dim++) {
		int size = bytes * (4 >> dim), from, to;

		MPI_Cart_shift(grid, dim, 1, &from, &to);
		for (int up = 0; up < 2; up++) {
			MPI_Irecv(in + 4 * bytes * (2 * dim + up), size,
			          MPI_CHAR, up ? from : to, dim, grid,
			          &request[n++]);
			MPI_Isend(out, size, MPI_CHAR, up ? to : from, dim,
			          grid, &request[n++]);
		}
	}
	MPI_Waitall(n, request, status);
}

int main(int argc, char **argv)
{
	const int periodic[3] = {0, 0, 0};
	double mine = 1, sum;
	int dims[3], ranks, side, bytes, steps;
	MPI_Comm grid;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	side = argc == 4 ? atoi(argv[1]) : 0;
	bytes = argc == 4 ? atoi(argv[2]) : 0;
	steps = argc == 4 ? atoi(argv[3]) : 0;
	in = calloc(24, (size_t)bytes + 1);
	out = calloc(4, (size_t)bytes + 1);
	if (side * side * side != ranks || bytes < 1 || !in || !out) {
		fprintf(stderr, "halo_job SIDE BYTES STEPS on SIDE^3 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int d = 0; d < 3; d++)
		dims[d] = side;
	MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &grid);
	for (int i = 0; i < steps; i++) {
		exchange(grid, bytes);
		if (i % 10 == 9)
			MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM,
			              MPI_COMM_WORLD);
	}
	MPI_Comm_free(&grid);
	MPI_Finalize();
	free(in);
	free(out);
	return 0;
}
