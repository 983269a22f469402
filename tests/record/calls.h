/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program with a known traffic: `calls CASE...`, expected/CASE says what. */
#pragma once

#include <mpi.h>

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

extern int rank, size;
extern char out[65536], in[65536]; /* buffers of any type */

struct calls {
	const char *name;
	void (*run)(int nonblocking);
};

extern const struct calls collective_calls[];

void wait_for(MPI_Request *request);
