/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * These are the Fortran interfaces: mpif.h and `use mpi` (mpi_send_, mpi_send__)
 * and `use mpi_f08` (mpi_send_f08_; the calls with a buffer are mpi_send_f08ts_
 * where buffers are descriptors, as MPI defines it: Open MPI 6). Their libraries
 * call PMPI_Send, so the wrappers of the C interface never see them. All arguments
 * are addresses and go unchanged to pmpi_send_, so that MPI_IN_PLACE, MPI_BOTTOM
 * and the like need no care; only counting converts handles. f08 handles are
 * structures of one integer, so they have the same addresses.
 */
#include "count.h"
#include "functions.h"
#include "pmpi.h"
#include "recorder.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int),
               "counts of Fortran calls are read as int");

#define P1 void *a1
#define P2 P1, void *a2
#define P3 P2, void *a3
#define P4 P3, void *a4
#define P5 P4, void *a5
#define P6 P5, void *a6
#define P7 P6, void *a7
#define P8 P7, void *a8
#define P9 P8, void *a9
#define P10 P9, void *a10
#define P11 P10, void *a11
#define P12 P11, void *a12
#define P13 P12, void *a13
#define A1 a1
#define A2 A1, a2
#define A3 A2, a3
#define A4 A3, a4
#define A5 A4, a5
#define A6 A5, a6
#define A7 A6, a7
#define A8 A7, a8
#define A9 A8, a9
#define A10 A9, a10
#define A11 A10, a11
#define A12 A11, a12
#define A13 A12, a13

#define INT(a) (*(const int *)(a))
#define INTS(a) ((const int *)(a))
#define COUNTS(a) ((struct rec_counts){(a), false})
#define COUNT(a) (*(const MPI_Count *)(a))
#define TYPE(a) REC_F2C(Type, *(const MPI_Fint *)(a))
#define COMM(a) REC_F2C(Comm, *(const MPI_Fint *)(a))
#define WIN(a) REC_F2C(Win, *(const MPI_Fint *)(a))
#define OP(a) REC_F2C(Op, *(const MPI_Fint *)(a))
#define FORTRAN_TYPES true
#define REQUEST(a) REC_F2C(Request, *(const MPI_Fint *)(a))
/* The descriptors of all compilers begin with the buffer's address. */
#define BUFFER(a) (described ? *(void *const *)(a) : (a))

/* MPI_IN_PLACE of Fortran is a variable that the library knows by its address. */
static bool same_buffer(const void *buffer)
{
	static const char *const name[] = {
	        "mpi_fortran_in_place_", "mpi_fortran_in_place__",
	        "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE",
	        "MPIR_F08_MPI_IN_PLACE"}; /* MPICH's of mpi_f08 */
	static const void *address[sizeof(name) / sizeof(*name)];
	/* MPICH's of mpif.h has its address here after the first call. */
	static const void *const *held;
	static int looked_up;
	const int n = sizeof(name) / sizeof(*name);

	if (!__atomic_load_n(&looked_up, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < n; i++)
			__atomic_store_n(&address[i], rec_symbol(name[i]),
			                 __ATOMIC_RELAXED);
		__atomic_store_n(&held, rec_symbol("MPIR_F_MPI_IN_PLACE"),
		                 __ATOMIC_RELAXED);
		__atomic_store_n(&looked_up, 1, __ATOMIC_RELEASE);
	}
	for (int i = 0; i < n; i++)
		if (buffer && address[i] == buffer)
			return true;
	return buffer && held && *held == buffer;
}

static void start_all(int n, const MPI_Fint *request)
{
	for (int i = 0; i < n; i++)
		rec_count_start(REQUEST(request + i));
}

/* This makes one symbol; described tells whether its buffers are descriptors. f08
 * callers may leave out ierror, which is NULL then. */
#define SYMBOL(symbol, function, n, count, described)                          \
	REC_EXPORT void symbol(P##n, MPI_Fint *ierror);                        \
	REC_EXPORT void symbol(P##n, MPI_Fint *ierror)                         \
	{                                                                      \
		void (*real)(P##n, MPI_Fint *) =                               \
		        REC_REAL(void(P##n, MPI_Fint *), #symbol);             \
		MPI_Fint rc = MPI_ERR_OTHER;                                   \
		int64_t start = rec_enter();                                   \
		if (real)                                                      \
			real(A##n, &rc);                                       \
		if (ierror)                                                    \
			*ierror = rc;                                          \
		if (rec_leave(start) && rc == MPI_SUCCESS) {                   \
			count(described, A##n);                                \
			rec_event(function, start);                            \
		}                                                              \
	}

/* This makes all symbols of a call with n arguments before ierror. */
#define FORTRAN(name, function, n, ...)                                        \
	static inline void count_##name(bool described, P##n)                  \
	{                                                                      \
		__VA_ARGS__;                                                   \
	}                                                                      \
	SYMBOL(mpi_##name##_, function, n, count_##name, false)                \
	SYMBOL(mpi_##name##__, function, n, count_##name, false)               \
	SYMBOL(mpi_##name##_f08_, function, n, count_##name, false)            \
	SYMBOL(mpi_##name##_f08ts_, function, n, count_##name, true)

#define CALL(name, lower, n, params, args, c, ...)                             \
	FORTRAN(lower, REC_##name, n, __VA_ARGS__)
#include "src/record/calls.inc"

static void free_request(const void *request)
{
	if (pmpi.Send) /* recording began at some time */
		rec_count_free(REQUEST(request));
}

/* These things are done before the call, and after its success. */
#define CONTROL_SYMBOL(symbol, params, args, before, after)                    \
	REC_EXPORT void symbol params;                                         \
	REC_EXPORT void symbol params                                          \
	{                                                                      \
		void(*real) params = REC_REAL(void params, #symbol);           \
		MPI_Fint rc = MPI_ERR_OTHER, *at = ierror ? ierror : &rc;      \
		before;                                                        \
		*at = MPI_ERR_OTHER;                                           \
		if (real)                                                      \
			real args;                                             \
		if (*at == MPI_SUCCESS)                                        \
			after;                                                 \
	}
#define CONTROL(name, params, args, before, after)                             \
	CONTROL_SYMBOL(mpi_##name##_, params, args, before, after)             \
	CONTROL_SYMBOL(mpi_##name##__, params, args, before, after)            \
	CONTROL_SYMBOL(mpi_##name##_f08_, params, args, before, after)

CONTROL(init, (MPI_Fint * ierror), (at), (void)0, rec_begin())
CONTROL(init_thread, (P2, MPI_Fint *ierror), (A2, at), (void)0, rec_begin())
CONTROL(finalize, (MPI_Fint * ierror), (at), rec_finish(), (void)0)
CONTROL(abort, (P2, MPI_Fint *ierror), (A2, at), rec_abort(), (void)0)
#if REC_SESSIONS
CONTROL(session_init, (P3, MPI_Fint *ierror), (A3, at), (void)0,
        rec_session_begin())
CONTROL(session_finalize, (P1, MPI_Fint *ierror), (A1, at), rec_session_end(),
        (void)0)
#endif
CONTROL(request_free, (P1, MPI_Fint *ierror), (A1, at), free_request(a1),
        (void)0)

#define PCONTROL(symbol)                                                       \
	REC_EXPORT void symbol(const MPI_Fint *level);                         \
	REC_EXPORT void symbol(const MPI_Fint *level)                          \
	{                                                                      \
		rec_control(*level);                                           \
	}
PCONTROL(mpi_pcontrol_)
PCONTROL(mpi_pcontrol__)
PCONTROL(mpi_pcontrol_f08_)
