/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signature for another number of ranks, where its pattern is one of a grid.
 *
 * Recognised is traffic that looks the same from every rank of a grid of 1 to 4
 * dimensions (the last one fastest): neighbours at most RESCALE_REACH away in
 * each axis, across borders or not (halo exchange, rings, shifts), and
 * all-to-all along whole axes (transposes). The numbers of ranks along the axes
 * are tried out: MPI_Dims_create makes others than users do.
 *
 * The other size is what MPI_Dims_create makes of it, where it made the recorded
 * one; else a grid of the same proportions, as far as its number of ranks allows. What a rank sends to a neighbour, and along an axis in all,
 * stays: each rank has as much to compute as before (weak scaling).
 */
#ifndef CPL_SIGNATURE_RESCALE_H
#define CPL_SIGNATURE_RESCALE_H

#include "base/error.h"
#include "graph/comm.h"
#include "signature/signature.h"

#define RESCALE_DIMS 4
#define RESCALE_REACH 2
/* Where the grid leaves a larger part of the traffic unexplained, it is no
 * grid. */
#define RESCALE_MAX_ERROR 0.1
/* Entries, ranks, and neighbours at borders, that are looked at while grids are
 * tried: anybody may have the scheduler rescale a profile. */
#define RESCALE_MAX_STEPS 3e8

/* A shorter axis does not tell neighbours from all-to-all, nor whether there
 * are borders: it can keep its length only. */
#define RESCALE_MIN_AXIS 4

struct cpl_rescaled {
	int n_dims;
	int from[RESCALE_DIMS], to[RESCALE_DIMS];
	/* The distance of the grid's traffic from the recorded one at the
	 * recorded size, as cpl_comm_distance, all phases by their weights. */
	double error;
	/* The steps that were taken: at most RESCALE_MAX_STEPS and those of one
	 * more grid; set where it failed, too. */
	double steps;
};

/*
 * sig for so many ranks: to cpl_signature_free. Times and weights stay, and
 * "rescaled" of its "recorded" tells of it. max_bytes: of memory that its
 * matrices, with the run's and its graph, may take; 0: no limit. NULL with err:
 * no such pattern, no such grid of so many ranks, or too large. O(grids *
 * pairs), of large matrices O(grids * 20,000), with grids * (1 + neighbours) *
 * 625 at most; and O(phases * (pairs + ranks)). Grids of more axes are left out
 * where all with so many would take more than RESCALE_MAX_STEPS, and err says
 * so: of numbers of ranks with very many divisors, or rows with very many
 * entries.
 */
struct cpl_signature *cpl_signature_rescale(const struct cpl_signature *sig,
                                            int ranks, uint64_t max_bytes,
                                            struct cpl_rescaled *how,
                                            struct cpl_error *err);

#endif
