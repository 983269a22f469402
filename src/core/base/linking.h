/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a program was linked: whether a recorder can be loaded into it. */
#pragma once

#include <stdbool.h>

/* This is said of a program, after its name. */
#define CPL_MPI_INSIDE                                                         \
	"has its MPI library linked in statically: nothing can be loaded into " \
	"it that records; link it with the shared one"

/* This tells whether the file is a program with MPI and the C library linked in: it
 * may be run, asks for no loader (or may ask) and knows the name MPI_Init. What cannot
 * be read is none. It reads such programs only, O(size). */
bool cpl_file_has_mpi(const char *path, bool may_ask);
