/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a network is cut into for policies that care for whole units, by name:
 * "router" or another level's, "domain" (of accelerators), a number (1: routers, 2: the next coarser level
 * ...), on a torus the sides of boxes ("4x4x2"), or "auto": the smallest units
 * that traffic inside need not leave, the domains where there are some, else the
 * routers or on a torus its boxes of all sides but the longest one.
 */
#pragma once

#include "graph/arena.h"
#include "network/network.h"

#define CPL_CUT_AUTO "auto"

/* Routers, domains, the units of a level, or boxes of a torus. */
struct cpl_cut {
	const char *name; /* as it was asked for */
	bool routers, domains;
	const struct cpl_level *level;
	int side[CPL_NETWORK_MAX_DIMS]; /* of a box, where it is neither */
};

/* May that be the name of units of some network? */
bool cpl_cut_is_spelled(const char *name);
/* The check of POLICY:NAME: 0, or -1 with err; net NULL: of the spelling alone. */
int cpl_cut_check(const struct cpl_network *net, const char *policy,
                  const char *name, struct cpl_error *err);

/* 0, or -1 with err, which lists what this network has. Holds as long as name
 * and network. */
int cpl_cut_find(const struct cpl_network *net, const char *name,
                 struct cpl_cut *out, struct cpl_error *err);

/*
 * The units, and what is free of them. A unit is whole if it has free nodes and
 * no others; ports without a node do not count.
 */
struct cpl_whole_units {
	int n;
	int *unit;   /* [n_nodes] */
	int *free;   /* [n] nodes */
	bool *whole; /* [n] */
	int *taken;  /* [n] 0 between calls */
	struct cpl_arena arena;
};

/* free: [n_nodes], 1: may be had. 0, or -1 with err (memory). O(nodes). */
int cpl_whole_units_open(struct cpl_whole_units *out,
                         const struct cpl_network *net,
                         const unsigned char *free, const struct cpl_cut *cut,
                         struct cpl_error *err);

/* How many whole units a job on these distinct free nodes breaks, by taking
 * some but not all of their nodes. O(n). */
int cpl_whole_units_broken(struct cpl_whole_units *units, const int *node,
                           int n);
void cpl_whole_units_close(struct cpl_whole_units *units);
