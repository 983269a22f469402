/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with phases that are known: OUTER steps, in each a halo exchange in
 * a ring and a solver of 10 rounds, an allreduce and computing in each.
 *
 *   loops STEPS MICROSECONDS [SLOW-RANK FACTOR] [ENDING]
 *
 * MICROSECONDS is what a round computes (asleep: ranks share CPUs), in
 * SLOW-RANK FACTOR times as much. ENDING, after the steps, of rank 1: "exit"
 * without MPI_Finalize, "abort" by MPI_Abort, or the number of a signal.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HALO 8192 /* doubles */
#define ROUNDS 10

static void compute(double microseconds)
{
	struct timespec t = {(time_t)(microseconds / 1e6),
	                     (long)(microseconds * 1e3) % 1000000000};

	nanosleep(&t, NULL);
}

/* Rank 1 ends when the others have done all, too: MPI ends a rank that waits for
 * one that is gone. Each leaves a file, since calls of MPI would be recorded. */
static void wait_for_others(int rank, int size)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "loops.%d", rank);
	fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	close(fd);
	for (int r = 0; rank == 1 && r < size; r++) {
		snprintf(name, sizeof(name), "loops.%d", r);
		while (access(name, F_OK))
			compute(1e4);
	}
}

static void end(const char *how, int rank, int size)
{
	wait_for_others(rank, size);
	if (rank == 1) {
		if (!strcmp(how, "exit"))
			exit(3);
		if (!strcmp(how, "abort"))
			MPI_Abort(MPI_COMM_WORLD, 4);
		raise(atoi(how));
	}
	for (;;)
		compute(1e6);
}

int main(int argc, char **argv)
{
	static double out[HALO], in[2][HALO];
	int steps = atoi(argv[1]), rank, size;
	double time = atof(argv[2]), sum, part = 1;
	MPI_Request request[4];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 4 && rank == atoi(argv[3]))
		time *= atof(argv[4]);
	for (int step = 0; step < steps; step++) {
		int right = (rank + 1) % size, left = (rank + size - 1) % size;

		MPI_Irecv(in[0], HALO, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
		          &request[0]);
		MPI_Irecv(in[1], HALO, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
		          &request[1]);
		MPI_Isend(out, HALO, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
		          &request[2]);
		MPI_Isend(out, HALO, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
		          &request[3]);
		MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
		for (int i = 0; i < ROUNDS; i++) {
			compute(time);
			MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM,
			              MPI_COMM_WORLD);
		}
	}
	if (argc > 5 || argc == 4)
		end(argv[argc - 1], rank, size);
	MPI_Finalize();
	return 0;
}
