/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program on a library of MPI stubs (-DLIBRARY: that library), as serial
 * builds of applications have it: there is no profiling interface below it.
 */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Send(const void *buffer, int count, int type, int to, int tag,
             int comm);
int MPI_Finalize(void);

#ifdef LIBRARY
int MPI_Init(int *argc, char ***argv)
{
	return 0;
}

int MPI_Send(const void *buffer, int count, int type, int to, int tag, int comm)
{
	printf("%d %d %d %d %d\n", count, type, to, tag, comm);
	return 0;
}

int MPI_Finalize(void)
{
	return 0;
}
#else
int main(int argc, char **argv)
{
	return MPI_Init(&argc, &argv) || MPI_Send(argv, 1, 2, 3, 4, 5) ||
	       MPI_Finalize();
}
#endif
