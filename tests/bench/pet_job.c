/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ten applications in small, for bench-pet: what each does between its calls, it
 * does asleep, so that other work on the machine hardly changes its times.
 *
 *   pet_job APPLICATION STEPS [FACTOR]
 *
 * FACTOR is by what all computes longer.
 *
 * Each has an initialisation (tables from rank 0, a long computation), its steps,
 * and a final part (results to rank 0).
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 16384 /* doubles of a message */
#define MOST_RANKS 64

static int rank, size;
static double factor = 1;
static double out[MOST], in[MOST], all[MOST_RANKS * 64];

/* Asleep: ranks share CPUs. */
static void compute(double milliseconds)
{
	double seconds = factor * milliseconds / 1e3;
	struct timespec t = {(time_t)seconds,
	                     (long)(1e9 * (seconds - floor(seconds)))};

	nanosleep(&t, NULL);
}

/* With the neighbours at a distance in a ring. */
static void halo(int distance, int doubles)
{
	int to = (rank + distance) % size;
	int from = (rank + size - distance % size) % size;

	MPI_Sendrecv(out, doubles, MPI_DOUBLE, to, 1, in, doubles, MPI_DOUBLE,
	             from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(out, doubles, MPI_DOUBLE, from, 2, in, doubles, MPI_DOUBLE,
	             to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void norm(void)
{
	MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(void)
{
	MPI_Gather(out, 64, MPI_DOUBLE, all, 64, MPI_DOUBLE, 0,
	           MPI_COMM_WORLD);
}

static void stencil(int step)
{
	halo(1, 4096);
	compute(12);
	if (step % 5 == 4)
		norm();
	if (step % 10 == 9) {
		compute(10);
		gather();
	}
}

static void conjugate_gradient(int step)
{
	for (int i = 0; i < 5; i++) {
		halo(2, 2048);
		compute(3);
		norm();
		compute(1);
		norm();
	}
	norm();
}

static void multigrid(int step)
{
	for (int level = 4; level > 0; level--) {
		halo(1, 256 << level);
		compute(level);
	}
	norm();
	for (int level = 1; level <= 4; level++) {
		halo(1, 256 << level);
		compute(level);
	}
}

static void fourier(int step)
{
	compute(8);
	MPI_Alltoall(out, 64, MPI_DOUBLE, all, 64, MPI_DOUBLE,
	             MPI_COMM_WORLD);
	compute(8);
	MPI_Alltoall(out, 64, MPI_DOUBLE, all, 64, MPI_DOUBLE,
	             MPI_COMM_WORLD);
	norm();
}

/* A wave from the first rank to the last and back. */
static void wavefront(int step)
{
	for (int way = 1; way >= -1; way -= 2)
		for (int plane = 0; plane < 4; plane++) {
			int from = rank - way, to = rank + way;

			if (from >= 0 && from < size)
				MPI_Recv(in, 128, MPI_DOUBLE, from, plane,
				         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			compute(2);
			if (to >= 0 && to < size)
				MPI_Send(out, 128, MPI_DOUBLE, to, plane,
				         MPI_COMM_WORLD);
		}
	if (step % 6 == 5)
		norm();
}

static void sort_keys(int step)
{
	compute(10);
	MPI_Allreduce(out, in, 1024, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(out, 64, MPI_DOUBLE, all, 64, MPI_DOUBLE,
	             MPI_COMM_WORLD);
	compute(4);
}

/* Neighbours change in each fifth step, by a longer one. */
static void molecules(int step)
{
	halo(1, 1000 + 400 * (step / 5 * 37 % 11));
	compute(10);
	if (step % 5 == 4) {
		compute(8);
		halo(1, 3000 + 100 * (step % 7));
		gather();
	}
	if (step % 10 == 9)
		norm();
}

/* Rank 0 hands out work, of which some takes longer. */
static void farm(int step)
{
	for (int task = 0; task < 3; task++) {
		if (rank) {
			MPI_Recv(in, 16, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD,
			         MPI_STATUS_IGNORE);
			compute(4 + (rank + step + task) % 3);
			MPI_Send(out, 64, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
			continue;
		}
		for (int r = 1; r < size; r++)
			MPI_Send(out, 16, MPI_DOUBLE, r, 3, MPI_COMM_WORLD);
		for (int r = 1; r < size; r++)
			MPI_Recv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 4,
			         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (step % 4 == 3)
		MPI_Bcast(out, 512, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* A solver that needs more rounds in some steps, output now and then. */
static void adaptive(int step)
{
	int rounds = 4 + step * 7 % 5;

	halo(1, 2048);
	for (int i = 0; i < rounds; i++) {
		compute(3);
		norm();
	}
	if (step % 7 == 3) {
		compute(6);
		gather();
	}
}

/* The slow part moves from rank to rank; in each eighth step all is spread anew. */
static void moving_front(int step)
{
	halo(1, 1024);
	compute(step / 3 % size == rank ? 16 : 6);
	norm();
	if (step % 8 == 7) {
		compute(10);
		MPI_Alltoall(out, 64, MPI_DOUBLE, all, 64, MPI_DOUBLE,
		             MPI_COMM_WORLD);
	}
}

static const struct {
	const char *name;
	void (*step)(int step);
} application[] = {
        {"stencil", stencil},
        {"cg", conjugate_gradient},
        {"multigrid", multigrid},
        {"fourier", fourier},
        {"wavefront", wavefront},
        {"sort", sort_keys},
        {"molecules", molecules},
        {"farm", farm},
        {"adaptive", adaptive},
        {"front", moving_front},
};

int main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 0;
	size_t n = sizeof(application) / sizeof(*application), a = 0;

	while (argc > 1 && a < n && strcmp(argv[1], application[a].name))
		a++;
	if (argc < 3 || a == n) {
		fprintf(stderr, "pet_job APPLICATION STEPS [FACTOR]\n");
		return 2;
	}
	if (argc > 3)
		factor = atof(argv[3]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > MOST_RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int table = 0; table < 12; table++) {
		compute(3);
		MPI_Bcast(out, 2048, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	}
	compute(100);
	norm();
	for (int step = 0; step < steps; step++)
		application[a].step(step);
	for (int result = 0; result < 3; result++) {
		compute(10);
		MPI_Reduce(out, in, 256, MPI_DOUBLE, MPI_SUM, 0,
		           MPI_COMM_WORLD);
	}
	compute(30);
	MPI_Finalize();
	return 0;
}
