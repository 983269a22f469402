/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives of four ranks, written with libotf2 as Score-P writes them, in a
 * folder of the test's own. */
#pragma once

#include <otf2/otf2.h>
#include <stdbool.h>

enum { RANKS = 4 };
/* A location of a thread stands before those of the ranks. */
enum { THREAD = 7, FIRST = 100 };
/* Communicators of all, and of ranks 3, 1 in that order. */
enum { WORLD = 5, TWO = 9, WINDOW = 2 };

/* Make the folder and go there; leave and remove it. For group set-up. */
int sample_into_dir(void **state);
int sample_out_of_dir(void **state);

void good(OTF2_ErrorCode error);

OTF2_Archive *sample_open(const char *name);
/* A rank's writer; sample_end notes how many events it has. */
OTF2_EvtWriter *sample_begin(OTF2_Archive *archive, int rank);
void sample_end(OTF2_Archive *archive, OTF2_EvtWriter *writer, int rank);
/*
 * Definitions, and the end: clocks of so many ticks a second from `offset` on,
 * what an MPI program has, and a region of each name (NULL ends them), the first
 * is 0.
 */
void sample_close(OTF2_Archive *archive, uint64_t ticks, uint64_t offset,
                  bool mpi, const char *const *regions);
