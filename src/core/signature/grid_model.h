/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the traffic of a matrix is in a grid of ranks: neighbours, and all-to-all
 * along whole axes, that look the same from every rank (signature/rescale.h).
 */
#ifndef CPL_SIGNATURE_GRID_MODEL_H
#define CPL_SIGNATURE_GRID_MODEL_H

#include "signature/rescale.h"

/* Offsets of neighbours: all with -2 .. 2 in each of four axes. */
#define GRID_MAX_NEAR 625

struct grid {
	int n_dims, ranks;
	int dim[RESCALE_DIMS], stride[RESCALE_DIMS];
};

/* What the traffic of a matrix is in a grid. */
struct grid_model {
	struct grid grid;
	bool open[RESCALE_DIMS]; /* neighbours end at the borders */
	int n_near;
	struct near {
		int offset[RESCALE_DIMS];
		double bytes, messages; /* of each pair */
	} near[GRID_MAX_NEAR];
	/* All-to-all along an axis, for each pair; 0: none. */
	double axis_bytes[RESCALE_DIMS], axis_messages[RESCALE_DIMS];
};

/* Ranks that stand alike to the borders of the grid have the same neighbours. */
#define GRID_CLASSES 625 /* as many as offsets */

/* Sums by offset: its code is that of the rank it leads to from rank 0. */
struct grid_sums {
	double *bytes, *messages; /* [ranks] zeros between two grids */
	int *code, n_codes;       /* [ranks] those that are not 0 */
	/* By class in the sample: a rank of it, and how many there are. */
	int first[GRID_CLASSES], rows[GRID_CLASSES], n_classes;
	/* By neighbour: bytes across borders of an axis, and what they would be
	 * without borders. */
	double across[RESCALE_DIMS], expected[RESCALE_DIMS];
};

/* The rows that are looked at: all, or some all over the matrix. */
struct grid_sample {
	const struct cpl_comm *comm;
	int n;
};

/* Strides and ranks by the lengths; the last axis is the fastest. */
void grid_set_strides(struct grid *g);
int grid_coordinate(const struct grid *g, int rank, int axis);

/* Does the offset lead somewhere from this rank? */
bool grid_model_has(const struct grid_model *m, int from, const int *offset);

/* Entries of its rows. O(rows). */
double grid_sample_entries(const struct grid_sample *s);

/* The model of the sample in m->grid; sums is scratch. -1: memory. O(entries and
 * rows of the sample + neighbours * classes). */
int grid_model_find(struct grid_model *m, const struct grid_sample *s,
                    struct grid_sums *sums);

/* Sum of |model - recorded| to *apart and of both to *both; near: [ranks]
 * zeros, and so afterwards. A rank's traffic to itself counts for nobody. The
 * same cost. */
void grid_model_compare(const struct grid_model *m,
                        const struct grid_sample *s, double *near,
                        double weight, double *apart, double *both);

#endif
