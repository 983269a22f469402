/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A layout in domains (domain_layout.h) made better by simulated annealing. */
#pragma once

#include "mapping/domain_layout.h"

/* What a layout comes to; of[ranks] is used up. 0, or -1 with err. O(entries log
 * entries). */
int cpl_domain_cost_of(const struct cpl_domain_layout *how, const int *rank_host, int *of,
                       struct cpl_domain_cost *out, struct cpl_error *err);

/* From a layout to one with fewer bytes between domains and no port above most_port,
 * if such a one is found; of[ranks] is used up. 0, or -1 with err. O(entries log
 * entries + work). */
int cpl_domain_search(const struct cpl_domain_layout *how, double most_port,
                      int *rank_host, int *of, struct cpl_error *err);
