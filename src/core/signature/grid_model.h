/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This models the traffic of a matrix in a grid of ranks as neighbours and
 * all-to-all along whole axes that look the same from every rank
 * (signature/rescale.h). */
#pragma once

#include "signature/rescale.h"

/* Neighbours have offsets of -2 .. 2 in each of four axes. */
#define GRID_MAX_NEAR 625

struct grid {
	int n_dims, ranks;
	int dim[RESCALE_DIMS], stride[RESCALE_DIMS];
};

struct grid_model {
	struct grid grid;
	bool open[RESCALE_DIMS]; /* neighbours end at the borders */
	int n_near;
	struct near {
		int offset[RESCALE_DIMS];
		double bytes, messages; /* of each pair */
	} near[GRID_MAX_NEAR];
	/* This is the all-to-all along an axis, for each pair; 0 means there is
	 * none. */
	double axis_bytes[RESCALE_DIMS], axis_messages[RESCALE_DIMS];
};

/* Ranks that stand alike to the borders of the grid have the same neighbours. */
#define GRID_CLASSES 625 /* as many as offsets */

/* These are sums by offset. An offset's code is the rank that it leads to from rank
 * 0. */
struct grid_sums {
	double *bytes, *messages; /* [ranks], zero between two grids */
	int *code, n_codes;       /* [ranks], the codes whose sums are not 0 */
	/* For each class in the sample these hold one of its ranks and their
	 * number. */
	int first[GRID_CLASSES], rows[GRID_CLASSES], n_classes;
	/* For each neighbour these are the bytes across the borders of an axis, and
	 * what they would be without borders. */
	double across[RESCALE_DIMS], expected[RESCALE_DIMS];
};

/* These rows are looked at: all of them, or some from all over the matrix. */
struct grid_sample {
	const struct cpl_comm *comm;
	int n;
};

/* This sets the strides and ranks from the lengths; the last axis is the fastest. */
void grid_set_strides(struct grid *g);
int grid_coordinate(const struct grid *g, int rank, int axis);

/* This says whether the offset leads to a rank from this one. */
bool grid_model_has(const struct grid_model *m, int from, const int *offset);

/* This counts the entries of the sample's rows. It costs O(rows). */
double grid_sample_entries(const struct grid_sample *s);

/* This finds the model of the sample in m->grid; sums is scratch space. It returns
 * -1 when memory is out. It costs O(entries and rows of the sample + neighbours *
 * classes). */
int grid_model_find(struct grid_model *m, const struct grid_sample *s,
                    struct grid_sums *sums);

/* This adds |model - recorded| to *apart and the sum of both to *both. near is
 * [ranks] zeros, before and after. A rank's traffic to itself does not count. The
 * cost is the same. */
void grid_model_compare(const struct grid_model *m,
                        const struct grid_sample *s, double *near,
                        double weight, double *apart, double *both);
