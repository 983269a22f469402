/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rubik's tiles (Bhatele, Gamblin, Langer, Bremer, Draeger, Hamann, Isaacs,
 * Landge, Levine, Pascucci, Schulz, Still, SC 2012; Jain 2016, 3.1) and the
 * orders of Blue Gene/Q.
 *
 * A slot has coordinates A, B, ..., T. Torus: its dimensions in order; HAEC
 * Box: x, y, board; dragonfly: group, row, column; fat tree: child at each
 * level, the highest first; other graphs: the router. T numbers the slots of a
 * router, host after host. Coordinates count from the lowest that the job has;
 * lengths are those of the box around the job.
 */
#pragma once

#include "network/network.h"

/* Dimensions have the letters A .. and T. */
#define CPL_TILE_MAX_DIMS (CPL_NETWORK_MAX_DIMS + 1)
#define CPL_TILE_MAX_TILTS 4

/*
 * The option is either an order or tiles.
 *
 * "ABCDET" puts ranks in order over the slots sorted by these letters, the last
 * one fastest. "BOX/TILE/ON" takes the ranks as a box (16x16x32, the last
 * dimension fastest) cut into tiles; the k-th TILE goes to the k-th tile ON of
 * the machine (one length for each of A, ..., T), counted with the last
 * dimension fastest both inside and outside of tiles. A further "/tiltAB" or
 * "/tiltAB2" moves, in each tile of the machine, what has coordinate a of A by
 * a (or 2a) along B, cyclically.
 */
struct cpl_tile_option {
	int n_order; /* letters of an order; 0: tiles */
	int order[CPL_TILE_MAX_DIMS]; /* index of a letter; -1: T */
	int n_box, n_on;
	int box[CPL_TILE_MAX_DIMS], tile[CPL_TILE_MAX_DIMS];
	int on[CPL_TILE_MAX_DIMS];
	int n_tilts;
	struct {
		int of, along; /* letters as in order[] */
		int slope;
	} tilt[CPL_TILE_MAX_TILTS];
};

/* Returns 0, or -1 with err. */
int cpl_tile_option_parse(const char *text, struct cpl_tile_option *out,
			  struct cpl_error *err);
