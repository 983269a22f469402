/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is the C interface: the calls of calls.list, and those that begin, end and
 * control the recording. */
#include "count.h"
#include "functions.h"
#include "pmpi.h"
#include "recorder.h"

#define FORTRAN_TYPES false
#define REQUEST(request) (*(request))

static inline bool same_buffer(const void *buffer)
{
	return buffer == MPI_IN_PLACE;
}

static void start_all(int n, const MPI_Request *request)
{
	for (int i = 0; i < n; i++)
		rec_count_start(request[i]);
}

/* These make arrays of either type. */
static inline struct rec_counts ints(const int *counts)
{
	return (struct rec_counts){counts, false};
}

static inline struct rec_counts longs(const MPI_Count *counts)
{
	_Static_assert(sizeof(*counts) == 8, "rec_count_at reads 64 bits");
	return (struct rec_counts){counts, true};
}

#define COUNTS(p) _Generic((p), const int *: ints, const MPI_Count *: longs)(p)

#define REAL(name) REC_REAL(__typeof__(PMPI_##name), "MPI_" #name)

/* A wrapper calls the library, then counts. */
#define WRAP(name, function, params, args, counted)                            \
	REC_EXPORT int MPI_##name params                                       \
	{                                                                      \
		__typeof__(PMPI_##name) *real = REAL(name);                    \
		int64_t start;                                                 \
		int rc;                                                        \
		if (!real)                                                     \
			return MPI_ERR_OTHER;                                  \
		start = rec_enter();                                           \
		rc = real args;                                                \
		if (rec_leave(start) && rc == MPI_SUCCESS) {                   \
			counted;                                               \
			rec_event(REC_##function, start);                      \
		}                                                              \
		return rc;                                                     \
	}
#define CALL(name, lower, n, params, args, counted, fortran)                   \
	WRAP(name, name, params, args, counted)
#define LARGE(name, function, params, args, counted)                           \
	WRAP(name, function, params, args, counted)
#include "src/record/calls.inc"

/* These things are done before the call, and after its success. */
#define CONTROL(name, params, args, before, after)                             \
	REC_EXPORT int MPI_##name params                                       \
	{                                                                      \
		__typeof__(PMPI_##name) *real = REAL(name);                    \
		int rc;                                                        \
		before;                                                        \
		rc = real ? real args : MPI_ERR_OTHER;                         \
		if (rc == MPI_SUCCESS)                                         \
			after;                                                 \
		return rc;                                                     \
	}
CONTROL(Init, (int *argc, char ***argv), (argc, argv), (void)0, rec_begin())
CONTROL(Init_thread, (int *argc, char ***argv, int required, int *provided),
        (argc, argv, required, provided), (void)0, rec_begin())
CONTROL(Finalize, (void), (), rec_finish(), (void)0)
CONTROL(Abort, (MPI_Comm comm, int code), (comm, code), rec_abort(), (void)0)
#if REC_SESSIONS
CONTROL(Session_init,
        (MPI_Info info, MPI_Errhandler handler, MPI_Session *session),
        (info, handler, session), (void)0, rec_session_begin())
CONTROL(Session_finalize, (MPI_Session * session), (session), rec_session_end(),
        (void)0)
#endif
/* The handle is gone after the call, and may be another's by then. */
CONTROL(Request_free, (MPI_Request * request), (request),
        if (request) rec_count_free(*request), (void)0)

/* The library below ignores what comes after the level, too. */
REC_EXPORT int MPI_Pcontrol(const int level, ...)
{
	rec_control(level);
	return MPI_SUCCESS;
}
