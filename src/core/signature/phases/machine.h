/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a message takes on an idle machine: commplace-machine(5). */
#ifndef CPL_SIGNATURE_PHASES_MACHINE_H
#define CPL_SIGNATURE_PHASES_MACHINE_H

#include <stddef.h>

#include "base/error.h"

/* What lies between two ranks. */
enum cpl_machine_level {
	CPL_BY_CORE,   /* a socket */
	CPL_BY_SOCKET, /* a node */
	CPL_BY_NODE,   /* a router's nodes, or nothing is known of those */
	CPL_BY_ROUTER, /* a group */
	CPL_BY_GROUP,
	CPL_MACHINE_LEVELS
};

/* "core", "socket", "node", "router", "group". */
extern const char *const cpl_machine_level_name[CPL_MACHINE_LEVELS];

struct cpl_machine;

/* NULL with err "FILE: level node: ...". Free with cpl_machine_free. */
struct cpl_machine *cpl_machine_load(const char *path, struct cpl_error *err);
struct cpl_machine *cpl_machine_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err);
void cpl_machine_free(struct cpl_machine *machine);

/*
 * Minimal seconds of a message: between the sizes that were measured linear;
 * below the smallest as that one; beyond the largest, and for a level without a
 * table, by the fit. A level that was not measured is as the next nearer one
 * that was, else as the next further. O(log sizes).
 */
double cpl_machine_seconds(const struct cpl_machine *machine,
                           enum cpl_machine_level level, double bytes);

/*
 * LogGP's L, o and g of a level, seconds: how long a message is on its way while
 * nobody works at it, how long its sender and its receiver do, and the least time
 * from one message to the next. All 0 where they were not measured. O(1).
 */
struct cpl_machine_costs {
	double latency, send, receive, gap;
};

struct cpl_machine_costs cpl_machine_costs(const struct cpl_machine *machine,
                                           enum cpl_machine_level level);

/*
 * How long a message keeps its sender: cpl_machine_seconds without latency and
 * receiver's overhead, but at least the gap and the sender's overhead. Where
 * these were not measured, all of it. O(log sizes).
 */
double cpl_machine_occupancy(const struct cpl_machine *machine,
                             enum cpl_machine_level level, double bytes);

#endif
