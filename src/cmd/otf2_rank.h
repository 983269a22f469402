/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of one rank of an OTF2 archive: what otf2_calls.h says of them. */
#pragma once

#include "otf2_match.h"
#include "record/events.h"
#include "record/table.h"
#include "signature/import/otf2_archive.h"

/* The functions that the recorder records, without "MPI_". */
extern const char *const cpl_otf2_function[];
extern const uint32_t cpl_otf2_functions;

struct otf2_rank {
	struct otf2_archive *archive;
	int *function;    /* [regions of the archive] */
	uint64_t *hash;   /* [groups] of their ranks in order */
	OTF2_EvtReaderCallbacks *ask, *tell;
	/* Of the rank that is read. */
	int rank;
	struct otf2_match match;
	struct rec_events events;
	struct rec_table out, in;
	int *communicator; /* [groups] its number in events; -1: none yet */
	int64_t begin, end; /* ns */
	uint64_t mpi_time;
	uint64_t backward;
	int64_t most_backward; /* ns */
	bool has_calls, has_events, finalized;
	/* Where it is. */
	bool started, begun; /* begun: a collective operation, in no region */
	int64_t now;
	int64_t asked, answered; /* requests and completions so far */
	int depth;               /* regions of MPI inside of each other */
	int current;             /* function; see otf2_rank.c */
	int64_t since;           /* when it began */
};

/* NULL: memory. The archive must live as long. Callbacks of messages are to be set
 * in ask and tell, see otf2_messages.h. */
struct otf2_rank *cpl_otf2_rank_new(struct otf2_archive *archive);
void cpl_otf2_rank_free(struct otf2_rank *r);

/* Read a rank's calls in place of those before. 0, or -1 with the archive's
 * err. */
int cpl_otf2_rank_read(struct otf2_rank *r, int rank);

/* For the callbacks of messages: time goes on. 0, or -1 with err. */
int cpl_otf2_rank_tick(struct otf2_rank *r, OTF2_TimeStamp time);
/*
 * Something happens: in the call that is under way, or where there
 * is none that is recorded in one of `function`. 1; 0: the rank is at its end; -1
 * with err. Then cpl_otf2_rank_done.
 */
int cpl_otf2_rank_at(struct otf2_rank *r, OTF2_TimeStamp time, const char *function);
void cpl_otf2_rank_done(struct otf2_rank *r);
/* The next thing that happens began here. 0, or -1 with err. */
int cpl_otf2_rank_begin(struct otf2_rank *r, OTF2_TimeStamp time);
