/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This reads OTF2 archives, such as Score-P's, through libotf2 (3.0 or newer): the
 * definitions, and the events of each rank. It is not in the library, since
 * slurmctld shall not load libotf2.
 *
 * Ranks are places in MPI's group COMM_LOCATIONS, and those of events are places in
 * their communicator's group. Nothing in an archive is trusted.
 */
#pragma once

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* This maps a number of the archive to ours. */
struct otf2_known {
	uint64_t ref;
	int64_t number;
};

struct otf2_table {
	struct otf2_known *item; /* sorted by ref when all are in */
	int64_t n;
};

struct otf2_group {
	uint64_t *member;
	int64_t n;
	OTF2_GroupType type;
	bool world_ranks;         /* in events, instead of places */
	struct otf2_table places; /* rank -> place */
	int *rank;                /* [n] */
};

/* This is a function of MPI. */
struct otf2_region {
	OTF2_StringRef name;
	char *text; /* the name; NULL: it has none */
};

struct otf2_archive {
	struct cpl_error *err;
	const char *path;
	bool is_open;
	OTF2_Reader *reader;
	int ranks;
	int64_t n_groups, n_regions, n_strings;
	struct otf2_group *group;
	struct otf2_region *region;
	double ticks;    /* ticks of a second; 0: not stated */
	uint64_t offset; /* time 0, in ticks */
	/* These are needed while reading. */
	struct otf2_table locations, groups, comms, windows, regions, strings;
	uint64_t *location; /* of all, [locations.n] */
	uint64_t *stated;   /* the number of their events */
	char **string;
	int world;  /* index of COMM_LOCATIONS, or -1 */
	bool quiet; /* what libotf2 says is no error now */
	OTF2_ErrorCallback before;
};

/* This opens an archive by its anchor file and reads its definitions, and with
 * names also those of functions. It returns 0, or -1 with err, "FILE: ...", which
 * has what libotf2 says meanwhile. Call cpl_otf2_archive_close in either case. It
 * costs O(definitions * log). */
int cpl_otf2_archive_open(struct otf2_archive *a, const char *path, bool names,
                      struct cpl_error *err);
void cpl_otf2_archive_close(struct otf2_archive *a);

/* This calls `on` with arg for all events of a rank in their order. It may be
 * called several times. It returns 0, or -1 with err, "FILE: events of rank N:
 * ...", for a callback's own error or if there are fewer events than stated. It
 * costs O(events). */
int cpl_otf2_archive_read(struct otf2_archive *a, int rank,
                      const OTF2_EvtReaderCallbacks *on, void *arg);

/* This returns our number of what the archive calls ref, or -1 if it is unknown. It
 * costs O(log n). */
int64_t cpl_otf2_find(const struct otf2_table *t, uint64_t ref);

/* This returns the group of a communicator or of a window, or NULL if it has one
 * rank or is an intercommunicator. */
const struct otf2_group *cpl_otf2_group_of(const struct otf2_archive *a,
                                       uint64_t comm);
const struct otf2_group *cpl_otf2_group_of_window(const struct otf2_archive *a,
                                              uint64_t window);
/* This returns the rank in MPI_COMM_WORLD of a rank of the group's events, or -1
 * with err naming `rank`, whose event it is, if there is none. */
int cpl_otf2_world_rank(const struct otf2_archive *a, const struct otf2_group *g,
                    uint32_t of, int rank);
/* This returns the place in the group of a rank of MPI_COMM_WORLD, or -1 with err
 * if it has none. */
int cpl_otf2_group_rank(const struct otf2_archive *a,
                        const struct otf2_group *g, int rank);
/* This does the same for a root that an event of the rank names. */
int cpl_otf2_root_rank(const struct otf2_archive *a, const struct otf2_group *g,
                       uint32_t root, int rank);

/* A callback returns this. */
static inline OTF2_CallbackCode cpl_otf2_code(int rc)
{
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}
