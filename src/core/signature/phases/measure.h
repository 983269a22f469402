/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making a commplace-machine(5) from transfer times that were measured. */
#ifndef CPL_SIGNATURE_PHASES_MEASURE_H
#define CPL_SIGNATURE_PHASES_MEASURE_H

#include <jansson.h>
#include <stddef.h>

#include "signature/phases/machine.h"

/* What lies between two hosts that differ: CPL_BY_NODE or further; -1 with err:
 * a host is not known. */
typedef int cpl_between_hosts(void *arg, const char *a, const char *b,
                              struct cpl_error *err);

/* Of one level. */
struct cpl_measured_level {
	int pairs, sizes; /* measured; pairs 0: not this level */
	double latency, per_byte;
	double error; /* of the fit, the largest part of a time */
	bool has_costs;
	struct cpl_machine_costs costs; /* latency: what is left of the fit's */
	double bytes[2], seconds[2]; /* the smallest and the largest size */
};

/*
 * Lines "commplace-transfer ..." of a text, see src/record/transfer.c, others
 * are passed over. As a machine of that name (NULL: none), with the shortest
 * time of all pairs of a level and size, the least overheads and gap of all (lines
 * "costs", which older programs do not print), and a straight line through them that
 * has the least sum of squares of (line - time) / time, neither part of it below
 * 0. Ranks that are not bound to a socket have the sockets of a node between
 * them. between NULL: hosts that differ are nodes. What was found of each level
 * into out. NULL with err "SOURCE:LINE: ...". O(lines * log ranks).
 */
json_t *cpl_machine_measure(const char *text, size_t length, const char *source,
                            const char *name, cpl_between_hosts *between,
                            void *arg,
                            struct cpl_measured_level out[CPL_MACHINE_LEVELS],
                            struct cpl_error *err);

#endif
