/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cpl_decide() does itself, see decide.h. */
#include "placement/placement.h"

const struct cpl_placement_policy cpl_placement_auto = {
        .name = "auto",
        .summary = "the best of all for the job's traffic",
        .flags = CPL_PLACEMENT_SEARCH | CPL_PLACEMENT_RANDOM,
};

const struct cpl_placement_policy cpl_placement_traffic = {
        .name = "traffic",
        .summary = "a search for the job's traffic, from the best of all on",
        .flags = CPL_PLACEMENT_SEARCH | CPL_PLACEMENT_RANDOM,
};
