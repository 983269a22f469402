/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths inside a group, on dragonflies whose groups are of several kinds. */
#pragma once

#include "network/dragonfly/dragonfly_kinds.h"
#include "routing/local_paths.h"

/* Lists the links of the shortest paths between two routers of a group, each
 * with its share of `part`, evenly over paths. Returns their number. O(1). */
int cpl_kinds_local(const struct cpl_dfkinds *df, const struct cpl_dfkind_at *a,
                    const struct cpl_dfkind_at *b, double part,
                    struct cpl_share share[CPL_LOCAL_LINKS]);
