/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Fortran interfaces: mpif.h and `use mpi` (mpi_send_, mpi_send__) and
 * `use mpi_f08` (mpi_send_f08_, as Open MPI 4 names them). Their libraries
 * call PMPI_Send, so the wrappers of the C interface never see them. All
 * arguments are addresses and go on as they are to pmpi_send_, so that
 * MPI_IN_PLACE, MPI_BOTTOM and the like need no care; only counting converts
 * handles. f08 handles are structures of one integer: the same addresses.
 */
#include "count.h"
#include "wrap.h"

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
#define TYPE(a) pmpi.Type_f2c(*(const MPI_Fint *)(a))
#define COMM(a) pmpi.Comm_f2c(*(const MPI_Fint *)(a))
#define WIN(a) pmpi.Win_f2c(*(const MPI_Fint *)(a))
#define OP(a) pmpi.Op_f2c(*(const MPI_Fint *)(a))
#define REQUEST(a) pmpi.Request_f2c(*(const MPI_Fint *)(a))

/* MPI_IN_PLACE of Fortran is a variable that the library knows by address. */
static bool in_place(const void *buffer)
{
	static const char *const name[] = {
	        "mpi_fortran_in_place_", "mpi_fortran_in_place__",
	        "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"};
	static const void *address[sizeof(name) / sizeof(*name)];
	static int looked_up;
	const int n = sizeof(name) / sizeof(*name);

	if (!__atomic_load_n(&looked_up, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < n; i++)
			__atomic_store_n(&address[i], rec_symbol(name[i]),
			                 __ATOMIC_RELAXED);
		__atomic_store_n(&looked_up, 1, __ATOMIC_RELEASE);
	}
	for (int i = 0; i < n; i++)
		if (buffer && address[i] == buffer)
			return true;
	return false;
}

/* One symbol. f08 callers may leave out ierror: it is NULL then. */
#define SYMBOL(symbol, n, count)                                               \
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
		if (rec_leave(start) && rc == MPI_SUCCESS)                     \
			count(A##n);                                           \
	}

/* All symbols of a call with n arguments before ierror. */
#define FORTRAN(name, n, ...)                                                  \
	static inline void count_##name(P##n)                                  \
	{                                                                      \
		__VA_ARGS__;                                                   \
	}                                                                      \
	SYMBOL(mpi_##name##_, n, count_##name)                                 \
	SYMBOL(mpi_##name##__, n, count_##name)                                \
	SYMBOL(mpi_##name##_f08_, n, count_##name)

/* Non-blocking form: the same and a request. */
#define WITH_REQUEST(name, n, n_request, ...)                                  \
	FORTRAN(name, n, __VA_ARGS__)                                          \
	FORTRAN(i##name, n_request, __VA_ARGS__)

/* Point-to-point */
#define SEND rec_count_send(INT(a2), TYPE(a3), INT(a4), COMM(a6))
WITH_REQUEST(send, 6, 7, SEND)
WITH_REQUEST(bsend, 6, 7, SEND)
WITH_REQUEST(ssend, 6, 7, SEND)
WITH_REQUEST(rsend, 6, 7, SEND)
FORTRAN(sendrecv, 12, rec_count_send(INT(a2), TYPE(a3), INT(a4), COMM(a11)))
FORTRAN(sendrecv_replace, 9,
        rec_count_send(INT(a2), TYPE(a3), INT(a4), COMM(a8)))
#define SEND_INIT                                                              \
	rec_count_init(INT(a2), TYPE(a3), INT(a4), COMM(a6), REQUEST(a7))
FORTRAN(send_init, 7, SEND_INIT)
FORTRAN(bsend_init, 7, SEND_INIT)
FORTRAN(ssend_init, 7, SEND_INIT)
FORTRAN(rsend_init, 7, SEND_INIT)
FORTRAN(start, 1, rec_count_start(REQUEST(a1)))
FORTRAN(startall, 2,
        for (int i = 0; i < INT(a1); i++)
                rec_count_start(REQUEST(INTS(a2) + i)))

/* Collective */
WITH_REQUEST(barrier, 1, 2, rec_count_barrier(COMM(a1)))
WITH_REQUEST(bcast, 5, 6, rec_count_bcast(INT(a2), TYPE(a3), INT(a4), COMM(a5)))
WITH_REQUEST(reduce, 7, 8,
             rec_count_reduce(INT(a3), TYPE(a4), INT(a6), COMM(a7)))
WITH_REQUEST(allreduce, 6, 7, rec_count_allreduce(INT(a3), TYPE(a4), COMM(a6)))
WITH_REQUEST(scan, 6, 7, rec_count_scan(INT(a3), TYPE(a4), COMM(a6)))
WITH_REQUEST(exscan, 6, 7, rec_count_scan(INT(a3), TYPE(a4), COMM(a6)))
WITH_REQUEST(gather, 8, 9,
             rec_count_gather(INT(a2), TYPE(a3), INT(a7), COMM(a8)))
WITH_REQUEST(gatherv, 9, 10,
             rec_count_gatherv(INT(a2), TYPE(a3), INT(a8), COMM(a9)))
WITH_REQUEST(scatter, 8, 9,
             rec_count_scatter(INT(a2), TYPE(a3), INT(a5), TYPE(a6), INT(a7),
                               COMM(a8)))
WITH_REQUEST(scatterv, 9, 10,
             rec_count_scatterv(INTS(a2), TYPE(a4), INT(a8), COMM(a9)))
WITH_REQUEST(allgather, 7, 8,
             rec_count_allgather(INT(a2), TYPE(a3), INT(a5), TYPE(a6),
                                 COMM(a7)))
WITH_REQUEST(allgatherv, 8, 9,
             rec_count_allgatherv(INT(a2), TYPE(a3), INTS(a5), TYPE(a7),
                                  COMM(a8)))
WITH_REQUEST(alltoall, 7, 8,
             rec_count_alltoall(in_place(a1), INT(a2), TYPE(a3), INT(a5),
                                TYPE(a6), COMM(a7)))
WITH_REQUEST(alltoallv, 9, 10,
             rec_count_alltoallv(in_place(a1), INTS(a2), TYPE(a4), INTS(a6),
                                 TYPE(a8), COMM(a9)))
WITH_REQUEST(alltoallw, 9, 10,
             rec_count_alltoallw(in_place(a1), INTS(a2), a4, INTS(a6), a8, true,
                                 COMM(a9)))
WITH_REQUEST(reduce_scatter, 6, 7,
             rec_count_reduce_scatter(INTS(a3), TYPE(a4), COMM(a6)))
WITH_REQUEST(reduce_scatter_block, 6, 7,
             rec_count_reduce_scatter_block(INT(a3), TYPE(a4), COMM(a6)))
WITH_REQUEST(neighbor_allgather, 7, 8,
             rec_count_neighbor(INT(a2), TYPE(a3), COMM(a7)))
WITH_REQUEST(neighbor_allgatherv, 8, 9,
             rec_count_neighbor(INT(a2), TYPE(a3), COMM(a8)))
WITH_REQUEST(neighbor_alltoall, 7, 8,
             rec_count_neighbor(INT(a2), TYPE(a3), COMM(a7)))
WITH_REQUEST(neighbor_alltoallv, 9, 10,
             rec_count_neighborv(INTS(a2), TYPE(a4), COMM(a9)))
WITH_REQUEST(neighbor_alltoallw, 9, 10,
             rec_count_neighborw(INTS(a2), a4, true, COMM(a9)))

/* One-sided */
FORTRAN(put, 8, rec_count_put(INT(a2), TYPE(a3), INT(a4), WIN(a8)))
FORTRAN(rput, 9, rec_count_put(INT(a2), TYPE(a3), INT(a4), WIN(a8)))
FORTRAN(accumulate, 9, rec_count_put(INT(a2), TYPE(a3), INT(a4), WIN(a9)))
FORTRAN(raccumulate, 10, rec_count_put(INT(a2), TYPE(a3), INT(a4), WIN(a9)))
FORTRAN(get, 8, rec_count_get(INT(a2), TYPE(a3), INT(a4), WIN(a8)))
FORTRAN(rget, 9, rec_count_get(INT(a2), TYPE(a3), INT(a4), WIN(a8)))
#define FETCH                                                                  \
	rec_count_fetch(INT(a2), TYPE(a3), INT(a5), TYPE(a6), INT(a7),         \
	                OP(a11), WIN(a12))
FORTRAN(get_accumulate, 12, FETCH)
FORTRAN(rget_accumulate, 13, FETCH)
FORTRAN(fetch_and_op, 7,
        rec_count_fetch(1, TYPE(a3), 1, TYPE(a3), INT(a4), OP(a6), WIN(a7)))
FORTRAN(compare_and_swap, 7, rec_count_put(2, TYPE(a4), INT(a5), WIN(a7));
        rec_count_get(1, TYPE(a4), INT(a5), WIN(a7)))

/* Waiting: only its time is taken. */
FORTRAN(recv, 7, )
FORTRAN(mrecv, 5, )
FORTRAN(probe, 4, )
FORTRAN(iprobe, 5, )
FORTRAN(mprobe, 5, )
FORTRAN(improbe, 6, )
FORTRAN(wait, 2, )
FORTRAN(waitall, 3, )
FORTRAN(waitany, 4, )
FORTRAN(waitsome, 5, )
FORTRAN(test, 3, )
FORTRAN(testall, 4, )
FORTRAN(testany, 5, )
FORTRAN(testsome, 5, )
FORTRAN(win_fence, 2, )
FORTRAN(win_start, 3, )
FORTRAN(win_complete, 1, )
FORTRAN(win_post, 3, )
FORTRAN(win_wait, 1, )
FORTRAN(win_test, 2, )
FORTRAN(win_lock, 4, )
FORTRAN(win_unlock, 2, )
FORTRAN(win_lock_all, 2, )
FORTRAN(win_unlock_all, 1, )
FORTRAN(win_flush, 2, )
FORTRAN(win_flush_all, 1, )
FORTRAN(win_flush_local, 2, )
FORTRAN(win_flush_local_all, 1, )
FORTRAN(comm_dup, 2, )
FORTRAN(comm_split, 4, )
FORTRAN(comm_create, 3, )
FORTRAN(comm_free, 1, )

static void free_request(const void *request)
{
	if (pmpi.Request_f2c)
		rec_count_free(REQUEST(request));
}

/*
 * Beginning, end, control. Here before and after are not the usual ones, so
 * they have a form of their own: what to do before, and after success.
 */
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
