/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fhgreedy and its refinements share (Deveci, Kaya, Ucar, Catalyurek,
 * IPDPS 2015).
 */
#ifndef CPL_MAPPING_FHGREEDY_H
#define CPL_MAPPING_FHGREEDY_H

#include "mapping/clusters.h"

/* Algorithm 1 with N_BFS 0 and 1, the one of fewer hop-bytes. A whole layout.
 * 0, or -1 with err (memory). O(n * (n + degree * n)). */
int cpl_fhgreedy_assign(struct cpl_clusters *clusters, int *target_of,
                        struct cpl_error *err);

#endif
