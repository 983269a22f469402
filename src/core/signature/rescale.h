/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This makes a signature for another number of ranks if its pattern is one of a
 * grid.
 *
 * It recognises traffic that looks the same from every rank of a grid of 1 to 4
 * dimensions (the last one fastest): neighbours at most RESCALE_REACH away in each
 * axis, across borders or not (halo exchange, rings, shifts), and all-to-all along
 * whole axes (transposes). It tries the numbers of ranks along the axes, since
 * MPI_Dims_create makes others than users do.
 *
 * If MPI_Dims_create makes the recorded grid, the other one is what it makes of the
 * other size; else it has the same proportions as far as its number of ranks
 * allows. What a rank sends to a neighbour, and along an axis in all, stays the
 * same: each rank has as much to compute as before (weak scaling).
 */
#pragma once

#include "base/error.h"
#include "graph/comm.h"
#include "signature/signature.h"

#define RESCALE_DIMS 4
#define RESCALE_REACH 2
/* If a grid leaves a larger part of the traffic unexplained, it is rejected. */
#define RESCALE_MAX_ERROR 0.1
/* So many entries, ranks and neighbours at borders are looked at while grids are
 * tried. There is a limit since anybody may have the scheduler rescale a profile. */
#define RESCALE_MAX_STEPS 3e8

/* A shorter axis does not tell neighbours from all-to-all, nor whether there are
 * borders, so it can only keep its length. */
#define RESCALE_MIN_AXIS 4

struct cpl_rescaled {
	int n_dims;
	int from[RESCALE_DIMS], to[RESCALE_DIMS];
	/* This is the distance of the grid's traffic from the recorded one at the
	 * recorded size, as cpl_comm_distance, with all phases by their weights. */
	double error;
	/* This is the number of steps taken: at most RESCALE_MAX_STEPS and those of
	 * one more grid. It is set after a failure, too. */
	double steps;
};

/*
 * This returns sig for so many ranks, to be freed by cpl_signature_free. Times and
 * weights stay, and "rescaled" in its "recorded" tells of it. max_bytes limits the
 * memory that its matrices take, with the run's and its graph; 0 means no limit. It
 * returns NULL with err if there is no such pattern, no such grid of so many ranks,
 * or it is too large.
 *
 * It costs O(grids * pairs), or O(grids * 20,000) for large matrices, with at most
 * grids * (1 + neighbours) * 625; and O(phases * (pairs + ranks)). Where all grids
 * of one number of axes would take more than RESCALE_MAX_STEPS, grids of more axes
 * are left out and err says so. That happens for numbers of ranks with very many
 * divisors, or rows with very many entries.
 */
struct cpl_signature *cpl_signature_rescale(const struct cpl_signature *sig,
                                            int ranks, uint64_t max_bytes,
                                            struct cpl_rescaled *how,
                                            struct cpl_error *err);
