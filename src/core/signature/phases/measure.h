/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This makes a commplace-machine(5) from measured transfer times. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "signature/phases/machine.h"

/* This returns the level between two different hosts, CPL_BY_NODE or further, or -1
 * with err if a host is not known. */
typedef int cpl_between_hosts(void *arg, const char *a, const char *b,
                              struct cpl_error *err);

/* This is what was measured of one level. */
struct cpl_measured_level {
	int pairs, sizes; /* pairs 0: the level was not measured */
	double latency, per_byte;
	double error; /* largest error of the fit, relative to a time */
	bool has_costs;
	/* its latency is what is left of the fit's */
	struct cpl_machine_costs costs;
	double bytes[2], seconds[2]; /* the smallest and the largest size */
};

/*
 * This reads lines "commplace-transfer ..." of a text, see src/record/transfer.c,
 * and passes over others. It makes a machine of that name (NULL: none) with the
 * shortest time of all pairs of a level and size, the least overheads and gap of
 * all (lines "costs", which older programs do not print), and the straight line,
 * neither part of it below 0, with the least sum of squares of (line - time) /
 * time. Ranks that are not bound to a socket have the sockets of a node between
 * them. If between is NULL, hosts that differ are nodes. out tells what was found
 * of each level. It returns NULL with err "SOURCE:LINE: ...". It costs O(lines *
 * log ranks).
 */
json_t *cpl_machine_measure(const char *text, size_t length, const char *source,
                            const char *name, cpl_between_hosts *between,
                            void *arg,
                            struct cpl_measured_level out[CPL_MACHINE_LEVELS],
                            struct cpl_error *err);
