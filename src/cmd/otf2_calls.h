/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MPI calls in an OTF2 archive: in all, or each in the form that the recorder's files of
 * events have (signature/phases/events.h): the recorder's own kinds and loops
 * (record/events.h), and its algorithms for collective operations
 * (record/collectives.h), are made of them.
 *
 * A call is a region of MPI with the name of a function that the recorder
 * records, from its Enter to its Leave; what is in no such region (some tools
 * write messages only) is a call without time. A rank begins where it leaves
 * MPI_Init, else with its first event, and ends where it enters MPI_Finalize,
 * else with its last. What a non-blocking receive or collective operation got is
 * told when it is complete; it belongs to the call that asked for it. Of a
 * collective operation only sums are told: parts of different sizes (Gatherv,
 * Alltoallv, ...) are taken as equal. Other threads than a rank's own, and
 * intercommunicators, are left out.
 */
#pragma once

#include <stdint.h>

#include "signature/phases/events.h"
#include "signature/signature.h"

/* What was mended. */
struct otf2_mended {
	uint64_t events; /* whose time lay before that of the event before: they
	                    have that one's now */
	int ranks;       /* with such */
	double most;     /* seconds that a clock ran back */
};

/* NULL with err, "FILE: ...". Free with cpl_run_events_free. O(events), memory
 * by what waits for completion in a rank. */
struct cpl_run_events *cpl_otf2_calls(const char *path, struct otf2_mended *mended,
                                  struct cpl_error *err);

/* What they send in all, as a signature of one phase, see
 * cpl_signature_import; the archive need not say how fast its clock is. O(events +
 * pairs log pairs), memory by the pairs, too. */
struct cpl_signature *cpl_otf2_matrix(const char *path, const char *name,
                                      const char *application,
                                      struct cpl_error *err);
