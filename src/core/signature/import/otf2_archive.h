/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OTF2 archives, such as Score-P's, through libotf2 (3.0 or newer): what is
 * defined, and the events of each rank. Not in the library: slurmctld shall not
 * load libotf2.
 *
 * Ranks are places in the group COMM_LOCATIONS of MPI, those of events places in
 * their communicator's group. Nothing of an archive is believed.
 */
#ifndef CPL_SIGNATURE_IMPORT_OTF2_ARCHIVE_H
#define CPL_SIGNATURE_IMPORT_OTF2_ARCHIVE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A number of the archive and what we know it by. */
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

/* A function of MPI. */
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
	double ticks;    /* a second's; 0: not stated */
	uint64_t offset; /* time 0, in ticks */
	/* Of reading. */
	struct otf2_table locations, groups, comms, windows, regions, strings;
	uint64_t *location; /* of all, [locations.n] */
	uint64_t *stated;   /* their events */
	char **string;
	int world;  /* of COMM_LOCATIONS, or -1 */
	bool quiet; /* what libotf2 says is no error */
	OTF2_ErrorCallback before;
};

/*
 * Open an archive by its anchor file and read its definitions; names: those of
 * functions, too. 0, or -1 with err, "FILE: ...". cpl_otf2_archive_close in either
 * case. What libotf2 says meanwhile goes to err. O(definitions * log).
 */
int cpl_otf2_archive_open(struct otf2_archive *a, const char *path, bool names,
                      struct cpl_error *err);
void cpl_otf2_archive_close(struct otf2_archive *a);

/* Call `on`, with arg, for all events of a rank in their order, as often as it
 * is asked for. 0, or -1 with err, "FILE: events of rank N: ...": a callback's
 * own, or there are fewer events than are stated. O(events). */
int cpl_otf2_archive_read(struct otf2_archive *a, int rank,
                      const OTF2_EvtReaderCallbacks *on, void *arg);

/* The number by which we know what the archive calls ref; -1: unknown.
 * O(log n). */
int64_t cpl_otf2_find(const struct otf2_table *t, uint64_t ref);

/* The group of a communicator, of a window; NULL: of one rank, or an
 * intercommunicator. */
const struct otf2_group *cpl_otf2_group_of(const struct otf2_archive *a,
                                       uint64_t comm);
const struct otf2_group *cpl_otf2_group_of_window(const struct otf2_archive *a,
                                              uint64_t window);
/* A rank of the group's events in MPI_COMM_WORLD. -1 with err, which names
 * `rank`, whose event it is: there is none. */
int cpl_otf2_world_rank(const struct otf2_archive *a, const struct otf2_group *g,
                    uint32_t of, int rank);
/* The place of a rank of MPI_COMM_WORLD in the group. -1 with err: it has
 * none. */
int cpl_otf2_group_rank(const struct otf2_archive *a,
                        const struct otf2_group *g, int rank);
/* The same of a root that an event of the rank names. */
int cpl_otf2_root_rank(const struct otf2_archive *a, const struct otf2_group *g,
                       uint32_t root, int rank);

/* What a callback returns. */
static inline OTF2_CallbackCode cpl_otf2_code(int rc)
{
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

#endif
