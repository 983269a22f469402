/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the MPI library below the recorder. Nothing of MPI is linked, since the
 * recorder is preloaded into every process that the command starts, and most of
 * those (shells, mpirun) have no MPI library at all. Everything is looked up when
 * it is first needed, also in a library that was loaded outside the global scope
 * (mpi4py). */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* This tells whether the header has persistent collectives and partitioned
 * communication. Open MPI 5 has them, though it states MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define REC_MPI_4 1
#else
#define REC_MPI_4 0
#endif
/* This tells whether it also has calls with large counts. */
#if MPI_VERSION >= 4
#define REC_LARGE 1
#else
#define REC_LARGE 0
#endif
/* This tells whether it has sessions; so has Open MPI 5. */
#ifdef MPI_SESSION_NULL
#define REC_SESSIONS 1
#else
#define REC_SESSIONS 0
#endif

/* This returns a symbol of the program or of an MPI library, or NULL if there is
 * none. */
void *rec_symbol(const char *name);

/* This returns what a wrapper of `name` has to call: P`name` (or p`name`: Fortran),
 * or else the next definition of `name` itself, as a library of MPI stubs has it.
 * If there is neither it says so on stderr and returns NULL. */
void *rec_real(const char *name);

/* This is the function below the wrapper of a symbol, looked up once. */
#define REC_REAL(type, symbol)                                                 \
	({                                                                     \
		static __typeof__(type) *found_;                               \
		__typeof__(type) *real_ =                                      \
		        __atomic_load_n(&found_, __ATOMIC_RELAXED);            \
		if (!real_) {                                                  \
			real_ = (__typeof__(type) *)rec_real(symbol);          \
			__atomic_store_n(&found_, real_, __ATOMIC_RELAXED);    \
		}                                                              \
		real_;                                                         \
	})

/* The recorder itself calls these, the second list where there are sessions; a
 * library without these is as good for other programs. */
#define REC_PMPI_FUNCTIONS(X)                                                  \
	X(Bcast)                                                               \
	X(Cart_shift)                                                          \
	X(Cartdim_get)                                                         \
	X(Comm_create_keyval)                                                  \
	X(Comm_dup)                                                            \
	X(Comm_free)                                                           \
	X(Comm_get_parent)                                                     \
	X(Comm_group)                                                          \
	X(Comm_rank)                                                           \
	X(Comm_remote_group)                                                   \
	X(Comm_remote_size)                                                    \
	X(Comm_set_attr)                                                       \
	X(Comm_set_errhandler)                                                 \
	X(Comm_size)                                                           \
	X(Comm_test_inter)                                                     \
	X(Dist_graph_neighbors)                                                \
	X(Dist_graph_neighbors_count)                                          \
	X(Gather)                                                              \
	X(Get_library_version)                                                 \
	X(Graph_neighbors)                                                     \
	X(Graph_neighbors_count)                                               \
	X(Group_compare)                                                       \
	X(Group_free)                                                          \
	X(Group_rank)                                                          \
	X(Group_size)                                                          \
	X(Group_translate_ranks)                                               \
	X(Recv)                                                                \
	X(Send)                                                                \
	X(Topo_test)                                                           \
	X(Type_size)                                                           \
	X(Win_create_keyval)                                                   \
	X(Win_get_group)                                                       \
	X(Win_set_attr)

#if REC_SESSIONS
#define REC_PMPI_SESSIONS(X)                                                   \
	X(Group_from_session_pset)                                             \
	X(Session_finalize)                                                    \
	X(Session_init)
#else
#define REC_PMPI_SESSIONS(X)
#endif

/* These give C's handle for Fortran's number. MPICH's macros say that both are the
 * same. */
#ifdef MPI_Comm_f2c
#define REC_PMPI_HANDLES(X)
#define REC_F2C(kind, number) MPI_##kind##_f2c(number)
#else
#define REC_PMPI_HANDLES(X)                                                    \
	X(Comm_f2c) X(Op_f2c) X(Request_f2c) X(Type_f2c) X(Win_f2c)
#define REC_F2C(kind, number) pmpi.kind##_f2c(number)
#endif

struct rec_pmpi {
#define X(name) __typeof__(PMPI_##name) *name;
	REC_PMPI_FUNCTIONS(X)
	REC_PMPI_SESSIONS(X)
	REC_PMPI_HANDLES(X)
#undef X
	bool has_sessions;
	MPI_Comm comm_world, comm_null;
	MPI_Datatype byte;
	MPI_Errhandler errors_return;
	MPI_Info no_info;
	MPI_Op no_op;
};

extern struct rec_pmpi pmpi;

/* This fills in `pmpi`. It returns 0, or -1 when the program's MPI library is not
 * of the kind that the recorder was built for. */
int rec_pmpi_load(void);
