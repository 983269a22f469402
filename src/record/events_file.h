/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This keeps the events of this process, and writes two files: the one in which
 * rank 0 gathers the events of all (COMMPLACE_RECORD_EVENTS), and the part of a
 * rank that ended without MPI_Finalize (COMMPLACE_RECORD_PARTS), or that has
 * sessions. */
#pragma once

#include <mpi.h>

#include "section.h"

/* This begins to keep events if they are asked for. It returns 0, or -1 when memory
 * is out. */
int rec_event_file_begin(void);
/* Time goes on here after it was stopped. */
void rec_event_file_go_on(int64_t now);

/* This is collective, after the last call: sections go to rank 0, which writes the
 * file beside its target and renames it. It says on stderr what fails. Then the
 * events are gone. */
void rec_event_file_gather(struct rec_section *mine, const struct rec_head *head,
                           MPI_Comm comm);

/* This prepares this rank's part, PATH.rankN, for which `fill` makes a section when
 * the process exits or a signal ends it (that only with COMMPLACE_RECORD_PARTS, and
 * nothing without it, unless there are sessions). `fill` may be called in a signal's
 * handler. Handlers that the program sets later replace ours. */
void rec_rank_file_prepare(const char *path, int rank, bool sessions,
                           const struct rec_head *head,
                           void (*fill)(struct rec_section *section));
/* This writes the part now; section.h explains ended. Only the first call writes, and
 * the first one after rec_rank_file_go_on(). It returns 0, or -1. */
int rec_rank_file_write(int ended);
void rec_rank_file_go_on(void);
/* The run ended well, so nothing is to be written any more. */
void rec_rank_file_cancel(void);
