/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spots around a spot of a torus or mesh in the order of their distance,
 * so that a search for a near one need not look at all.
 */
#ifndef CPL_MAPPING_RINGS_H
#define CPL_MAPPING_RINGS_H

#include "mapping/mapping_internal.h"

struct cpl_rings {
	const struct cpl_distance *distance; /* NULL: none were made */
	int max;        /* the largest distance */
	int64_t *start; /* [max + 3] offsets of length l are start[l] up to
	                 * start[l + 1] */
	short *offset;  /* [start[max + 1] * n_dims] */
	int *spot_of;   /* [n_routers] spot, or -1 */
};

/*
 * 1 when made; 0 where the network is no torus, its routing's hops are not
 * those of the shorter ways, the job has few of its routers, or there would be
 * too many offsets; -1 with err (memory). O(routers * 2^(mesh dimensions)).
 */
int cpl_rings_init(struct cpl_rings *rings, const struct cpl_distance *distance,
                   struct cpl_error *err);
/* Spot at offset i of a centre spot; -1: none of the job, or beyond a border.
 * O(dimensions). */
int cpl_rings_spot(const struct cpl_rings *rings, int centre, int64_t i);
void cpl_rings_free(struct cpl_rings *rings);

#endif
