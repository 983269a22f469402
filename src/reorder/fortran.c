/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are MPI_CART_CREATE and MPI_GRAPH_CREATE of mpif.h, `use mpi` and `use
 * mpi_f08`, whose libraries call PMPI_Cart_create. It calls that ask for another
 * order go on to our MPI_Cart_create, all others go unchanged to pmpi_cart_create_.
 * f08 handles are structures of one integer, so they have the same addresses. */
#include <stdlib.h>

#include "record/pmpi.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(MPI_Fint) == sizeof(int),
               "integers of Fortran calls are read as int");

#ifdef MPI_Comm_f2c
static MPI_Comm to_c(MPI_Fint comm)
{
	return MPI_Comm_f2c(comm);
}

static MPI_Fint to_fortran(MPI_Comm comm)
{
	return MPI_Comm_c2f(comm);
}
#else
static MPI_Comm to_c(MPI_Fint comm)
{
	return REC_REAL(__typeof__(PMPI_Comm_f2c), "MPI_Comm_f2c")(comm);
}

static MPI_Fint to_fortran(MPI_Comm comm)
{
	return REC_REAL(__typeof__(PMPI_Comm_c2f), "MPI_Comm_c2f")(comm);
}
#endif

/* C's order of a grid is Fortran's, as in the MPI libraries. */
static int cart(const MPI_Fint *comm, const MPI_Fint *n_dims,
                const MPI_Fint *dim, const MPI_Fint *periodic, MPI_Fint *out)
{
	int n = *n_dims > 0 ? *n_dims : 0, rc = MPI_ERR_OTHER;
	int *wrap = malloc(((size_t)n + 1) * sizeof(*wrap));
	MPI_Comm made;

	if (!wrap)
		return rc;
	/* Compilers have different values of .TRUE., none of them 0. */
	for (int d = 0; d < n; d++)
		wrap[d] = periodic[d] != 0;
	rc = MPI_Cart_create(to_c(*comm), *n_dims, dim, wrap, 1, &made);
	if (rc == MPI_SUCCESS)
		*out = to_fortran(made);
	free(wrap);
	return rc;
}

static int graph(const MPI_Fint *comm, const MPI_Fint *n,
                 const MPI_Fint *index, const MPI_Fint *edge, MPI_Fint *out)
{
	MPI_Comm made;
	int rc = MPI_Graph_create(to_c(*comm), *n, index, edge, 1, &made);

	if (rc == MPI_SUCCESS)
		*out = to_fortran(made);
	return rc;
}

/* This makes one symbol. f08 callers may leave out ierror, which is NULL then. */
#define SYMBOL(symbol, function)                                               \
	EXPORT void symbol(MPI_Fint *comm, MPI_Fint *n, MPI_Fint *first,       \
	                   MPI_Fint *second, MPI_Fint *asked, MPI_Fint *out,   \
	                   MPI_Fint *ierror);                                  \
	EXPORT void symbol(MPI_Fint *comm, MPI_Fint *n, MPI_Fint *first,       \
	                   MPI_Fint *second, MPI_Fint *asked, MPI_Fint *out,   \
	                   MPI_Fint *ierror)                                   \
	{                                                                      \
		void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,   \
		             MPI_Fint *, MPI_Fint *, MPI_Fint *) =             \
		        REC_REAL(void(MPI_Fint *, MPI_Fint *, MPI_Fint *,      \
		                      MPI_Fint *, MPI_Fint *, MPI_Fint *,      \
		                      MPI_Fint *),                             \
		                 #symbol);                                     \
		MPI_Fint rc = MPI_ERR_OTHER;                                   \
                                                                               \
		if (*asked)                                                    \
			rc = function(comm, n, first, second, out);            \
		else if (real)                                                 \
			real(comm, n, first, second, asked, out, &rc);         \
		if (ierror)                                                    \
			*ierror = rc;                                          \
	}

SYMBOL(mpi_cart_create_, cart)
SYMBOL(mpi_cart_create__, cart)
SYMBOL(mpi_cart_create_f08_, cart)
SYMBOL(mpi_graph_create_, graph)
SYMBOL(mpi_graph_create__, graph)
SYMBOL(mpi_graph_create_f08_, graph)
