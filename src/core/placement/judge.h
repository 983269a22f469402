/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement/decide.h"

/*
 * Place and evaluate out's candidates, first without, then with their rank
 * order, search on from the best where the last candidate is "traffic", and
 * leave the nodes and the rank order of the best in out: the points of decide.h.
 * Candidate `stock` is req->stock. 0, or -1 with err, with out->node and
 * ->rank_host to be freed in either case.
 */
int cpl_judge(const struct cpl_decide_request *req, struct cpl_decision *out,
              struct cpl_error *err);
