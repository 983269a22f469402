/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This tells how long a message takes on an idle machine, see
 * commplace-machine(5). */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* The levels say what lies between two ranks. */
enum cpl_machine_level {
	CPL_BY_CORE,   /* of one socket */
	CPL_BY_SOCKET, /* of one node */
	CPL_BY_NODE,   /* of a router, or nothing is known of routers */
	CPL_BY_ROUTER, /* of one group */
	CPL_BY_GROUP,
	CPL_MACHINE_LEVELS
};

/* The names are "core", "socket", "node", "router", "group". */
extern const char *const cpl_machine_level_name[CPL_MACHINE_LEVELS];

struct cpl_machine;

/* This returns NULL with err "FILE: level node: ...". Free the result with
 * cpl_machine_free. */
struct cpl_machine *cpl_machine_load(const char *path, struct cpl_error *err);
struct cpl_machine *cpl_machine_parse(const char *text, size_t length,
                                      const char *name, struct cpl_error *err);
void cpl_machine_free(struct cpl_machine *machine);

/* This returns the minimal seconds of a message. They are linear between the sizes
 * that were measured, constant below the smallest, and follow the fit beyond the
 * largest and for a level without a table. A level that was not measured is like
 * the next nearer one that was, or else like the next further one. It costs O(log
 * sizes). */
double cpl_machine_seconds(const struct cpl_machine *machine,
                           enum cpl_machine_level level, double bytes);

/* These are LogGP's L, o and g of a level in seconds: how long a message is on its
 * way while nobody works at it, how long its sender and its receiver work, and the
 * least time from one message to the next. All are 0 where they were not measured.
 * It costs O(1). */
struct cpl_machine_costs {
	double latency, send, receive, gap;
};

struct cpl_machine_costs cpl_machine_costs(const struct cpl_machine *machine,
                                           enum cpl_machine_level level);

/* This returns how long a message keeps its sender: cpl_machine_seconds without
 * latency and the receiver's overhead, but at least the gap and the sender's
 * overhead. Where these were not measured it is all of it. It costs O(log sizes). */
double cpl_machine_occupancy(const struct cpl_machine *machine,
                             enum cpl_machine_level level, double bytes);
