/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dragonflies with groups of several kinds: paths inside a group. */
#ifndef CPL_ROUTING_KINDS_DIRECT_H
#define CPL_ROUTING_KINDS_DIRECT_H

#include "network/dragonfly/dragonfly_kinds.h"
#include "routing/local_paths.h"

/* Evenly over the shortest paths between two routers of a group, as a list of
 * links with their parts of `part`; how many. O(1). */
int cpl_kinds_local(const struct cpl_dfkinds *df, const struct cpl_dfkind_at *a,
                    const struct cpl_dfkind_at *b, double part,
                    struct cpl_share share[CPL_LOCAL_LINKS]);

#endif
