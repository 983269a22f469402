/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the C interface that begin, end and control the recording. */
#include "count.h"
#include "wrap.h"

#define REAL(name) REC_REAL(__typeof__(PMPI_##name), "MPI_" #name)

REC_EXPORT int MPI_Init(int *argc, char ***argv)
{
	__typeof__(PMPI_Init) *real = REAL(Init);
	int rc = real ? real(argc, argv) : MPI_ERR_OTHER;

	if (rc == MPI_SUCCESS)
		rec_begin();
	return rc;
}

REC_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required,
                               int *provided)
{
	__typeof__(PMPI_Init_thread) *real = REAL(Init_thread);
	int rc = real ? real(argc, argv, required, provided) : MPI_ERR_OTHER;

	if (rc == MPI_SUCCESS)
		rec_begin();
	return rc;
}

REC_EXPORT int MPI_Finalize(void)
{
	__typeof__(PMPI_Finalize) *real = REAL(Finalize);

	rec_finish();
	return real ? real() : MPI_ERR_OTHER;
}

/* What comes after the level has no meaning to the library below either. */
REC_EXPORT int MPI_Pcontrol(const int level, ...)
{
	rec_control(level);
	return MPI_SUCCESS;
}

/* The handle is gone after the call, and may be another's by then. */
REC_EXPORT int MPI_Request_free(MPI_Request *request)
{
	__typeof__(PMPI_Request_free) *real = REAL(Request_free);

	if (request)
		rec_count_free(*request);
	return real ? real(request) : MPI_ERR_OTHER;
}
