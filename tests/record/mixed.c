/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An MPI library whose Cartesian topologies are another communicator's: ranks
 * run backwards. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Cart_create(MPI_Comm comm, int n, const int dim[], const int periodic[],
                     int reorder, MPI_Comm *out)
{
	__typeof__(PMPI_Cart_create) *real = dlsym(RTLD_NEXT, "PMPI_Cart_create");
	MPI_Comm backwards;
	int me, rc;

	PMPI_Comm_rank(comm, &me);
	PMPI_Comm_split(comm, 0, -me, &backwards);
	rc = real(backwards, n, dim, periodic, reorder, out);
	PMPI_Comm_free(&backwards);
	return rc;
}
