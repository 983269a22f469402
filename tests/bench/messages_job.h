/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of bench_simulate and progressive_packet: messages of a list, each
 * sent once. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "signature/signature.h"

/* One phase with n messages of ranks 0 .. ranks - 1, which are reordered. NULL
 * with err. O(n log n). */
static inline struct cpl_signature *messages_job(int ranks,
                                                 struct cpl_comm_entry *message,
                                                 int64_t n,
                                                 struct cpl_error *err)
{
	struct cpl_comm *comm = cpl_comm_build(ranks, message, n, err);
	struct cpl_signature *sig;
	char text[256];

	if (!comm)
		return NULL;
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"bench\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"all\", \"weight\": 1, \"traffic\": []}]}",
	         ranks);
	sig = cpl_signature_parse(text, strlen(text), "bench", err);
	if (!sig) {
		cpl_comm_free(comm);
		return NULL;
	}
	cpl_comm_free(sig->phase->comm);
	sig->phase->comm = comm;
	return sig;
}
