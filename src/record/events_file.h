/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of this process; the file in which rank 0 gathers those of all
 * (COMMPLACE_RECORD_EVENTS); and the part of a rank that ended without
 * MPI_Finalize (COMMPLACE_RECORD_PARTS).
 */
#ifndef CPL_RECORD_EVENTS_FILE_H
#define CPL_RECORD_EVENTS_FILE_H

#include <mpi.h>

#include "section.h"

/* When they are asked for, begin to keep events. 0, or -1: no memory. */
int rec_event_file_begin(void);
/* Time goes on here after it was stopped. */
void rec_event_file_go_on(int64_t now);

/*
 * Collective, after the last call: sections go to rank 0, which writes the file
 * beside its target and renames it. Says on stderr what fails. Then the events
 * are gone.
 */
void rec_event_file_gather(struct rec_section *mine, const struct rec_head *head,
                           MPI_Comm comm);

/*
 * Have this rank's part, PATH.rankN, be written by `fill`'s section when the
 * process exits or a signal ends it. `fill` may be called in a signal's
 * handler. Handlers of the program's own that come later take ours away.
 */
void rec_rank_file_prepare(const char *path, int rank,
                           const struct rec_head *head,
                           void (*fill)(struct rec_section *section));
/* Now; ended as in section.h. Only the first call writes. 0, or -1. */
int rec_rank_file_write(int ended);
/* The run ended well: nothing is to be written any more. */
void rec_rank_file_cancel(void);

#endif
